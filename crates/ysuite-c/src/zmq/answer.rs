//! Questions of others, and the program's answers.

use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite::signal::YSocketpair;
use ysuite::spsc;
use ysuite_zmq::{Frame, Question, Reply};

use super::parts::{self, Message, Outgoing};
use super::tx::ys_zmq_part;
use super::{Attaches, Watched, arm, fd, received};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_OK, ys_code};
use crate::ends::{Kind, bytes, enter, free, open, place};
use crate::limit::Limit;

/// The channel of a bridge that answers, with messages of one part or of several.
pub(crate) enum Questions {
    Plain(spsc::Receiver<Question<Frame, Vec<u8>>>),
    Lists(spsc::Receiver<Question<Vec<Frame>, Vec<Vec<u8>>>>),
}

impl Attaches for Questions {
    fn attach(&mut self, set: &mut YSocketpair) -> bool {
        match self {
            Self::Plain(receiver) => receiver.attach(set),
            Self::Lists(receiver) => receiver.attach(set),
        }
    }
}

impl Questions {
    fn next(&mut self, limit: Limit) -> Result<Asked, ys_code> {
        match self {
            Self::Plain(receiver) => {
                received(receiver, limit).map(|Question { message, reply }| Asked::new(message, Replies::Plain(reply)))
            }
            Self::Lists(receiver) => {
                received(receiver, limit).map(|Question { message, reply }| Asked::new(message, Replies::Lists(reply)))
            }
        }
    }
}

/// A question, and where its answer goes.
pub(crate) struct Asked {
    message: Message,
    reply: Replies,
}

enum Replies {
    Plain(Reply<Vec<u8>>),
    Lists(Reply<Vec<Vec<u8>>>),
}

fn replied<A: Outgoing>(to: Reply<A>, answer: &[&[u8]]) -> bool {
    A::of(answer).is_some_and(|answer| to.send(answer).is_ok())
}

impl Asked {
    fn new(message: impl Into<Message>, reply: Replies) -> Self {
        Self { message: message.into(), reply }
    }

    /// Whether its answer may have this number of parts.
    fn takes(&self, parts: usize) -> bool {
        parts == 1 || matches!(self.reply, Replies::Lists(_))
    }

    fn answer(self, answer: &[&[u8]]) -> bool {
        match self.reply {
            Replies::Plain(to) => replied(to, answer),
            Replies::Lists(to) => replied(to, answer),
        }
    }
}

/// Receives questions by a bridge: of ys_zmq_answer_open. One thread at a time; it may move between threads. Freed by
/// ys_zmq_questions_free.
pub struct ys_zmq_questions {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_questions {
    const FREE: &'static str = "ys_zmq_questions_free";

    type End = Watched<Questions>;
}

/// A question that waits for its answer. It may be answered at any time, in any order, by any thread, one at a time. Freed by
/// ys_zmq_question_free.
pub struct ys_zmq_question {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_question {
    const FREE: &'static str = "ys_zmq_question_free";

    type End = Asked;
}

/// Receives a question.
///
/// @param questions the receiver
/// @param question receives the question; NULL after an error
/// @param ns nanoseconds to wait while there is none; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; YS_CLOSED: the bridge was closed or has ended
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_questions_recv(
    questions: *mut ys_zmq_questions,
    question: *mut *mut ys_zmq_question,
    ns: i64,
) -> c_int {
    if question.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *question = ptr::null_mut() };
    let recv = |questions: &mut Watched<Questions>| {
        let next = || questions.end.next(Limit::from_nanoseconds(ns));
        // SAFETY: by the caller.
        unsafe { open(question, next) }
    };
    // SAFETY: by the caller.
    unsafe { enter(questions, recv) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_zmq_questions_arm. It stays the receiver's: never read, written or
/// closed.
///
/// @param questions the receiver
/// @return the descriptor; YS_ESYSTEM with the cause in errno: there are no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_questions_fd(questions: *mut ys_zmq_questions) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(questions) }
}

/// Says that an event loop, which has received until YS_EMPTY, is about to sleep: the descriptor becomes readable when there is a
/// question, or the bridge has ended.
///
/// @param questions the receiver
/// @return 1: sleep; 0: do not, there may be something to be done now; or an error, as of ys_zmq_questions_fd
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_questions_arm(questions: *mut ys_zmq_questions) -> c_int {
    // SAFETY: by the caller.
    unsafe { arm(questions) }
}

/// Frees the receiver of questions. The bridge takes no more from the network then; questions that were received can still be answered.
///
/// @param questions the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_questions_free(questions: *mut ys_zmq_questions) {
    // SAFETY: by the caller.
    unsafe { free(questions) }
}

/// The bytes of a question, which stay until it is answered or freed. Of several parts these are the first.
///
/// @param question the question
/// @param length receives how many; 0 after an error
/// @return the address of the first; NULL after an error, with EINVAL in errno: it was answered
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_question_bytes(question: *mut ys_zmq_question, length: *mut usize) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { ys_zmq_question_part(question, 0, length) }
}

/// A part of a question, which stays until it is answered or freed. Of a bridge that was opened without `parts` there is one only.
///
/// @param question the question
/// @param at its index
/// @param length receives how many bytes it has; 0 where there is none
/// @return the address of its first byte; NULL: there are no more parts, or with EINVAL in errno: it was answered
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_question_part(
    question: *mut ys_zmq_question,
    at: usize,
    length: *mut usize,
) -> *const c_void {
    // SAFETY: by the caller.
    let lend = |question: &mut Asked| unsafe { question.message.lend(at, length) };
    // SAFETY: by the caller.
    unsafe { parts::part(length, || enter(question, lend)) }
}

/// Answers a question. Never waits. If the one that asks is gone, or has given up, the answer reaches nobody.
///
/// @param question the question, which is freed afterwards
/// @param answer its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_CLOSED: it was answered before, or the bridge has ended
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_question_answer(
    question: *mut ys_zmq_question,
    answer: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: by the caller.
    let Some(answer) = (unsafe { bytes(answer, length) }) else { return c_int::from_code(YS_EINVAL) };
    // SAFETY: by the caller.
    unsafe { give(question, &[answer]) }
}

/// Answers a question with several parts, as ys_zmq_question_answer. The bridge was opened with `parts`.
///
/// @param question the question, which is freed afterwards
/// @param parts the parts, which are copied
/// @param count how many, at least 1
/// @return as ys_zmq_question_answer; YS_ENOTSUP: answers have one part here
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_question_answer_parts(
    question: *mut ys_zmq_question,
    parts: *const ys_zmq_part,
    count: usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { parts::with(parts, count, |answer| give(question, answer)) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn give(question: *mut ys_zmq_question, answer: &[&[u8]]) -> c_int {
    let give = |place: &mut Option<Asked>| {
        if place.as_ref().is_some_and(|question| !question.takes(answer.len())) {
            return c_int::from_code(YS_ENOTSUP);
        }
        let is_sent = place.take().is_some_and(|question| question.answer(answer));
        c_int::from_code(if is_sent { YS_OK } else { YS_CLOSED })
    };
    // SAFETY: by the caller.
    unsafe { place(question, give) }
}

/// Frees a question. If it was not answered the one that asks is not told: its time runs out there.
///
/// @param question the question, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_question_free(question: *mut ys_zmq_question) {
    // SAFETY: by the caller.
    unsafe { free(question) }
}
