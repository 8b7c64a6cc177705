//! Questions of others, and the program's answers.

use core::ffi::{c_int, c_void};
use core::ptr;

use ysuite::spsc;
use ysuite_zmq::{Frame, Question};

use super::{Watched, arm, fd, received};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_OK};
use crate::ends::{Kind, bytes, enter, free, open, place};
use crate::limit::Limit;

type Asked = Question<Frame, Vec<u8>>;

/// Receives questions by a bridge: of ys_zmq_answer_open. One thread at a time; it may move between threads. Freed by
/// ys_zmq_questions_free.
pub struct ys_zmq_questions {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_questions {
    const FREE: &'static str = "ys_zmq_questions_free";

    type End = Watched<spsc::Receiver<Asked>>;
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
    let recv = |questions: &mut Watched<spsc::Receiver<Asked>>| {
        let next = || received(&mut questions.end, Limit::from_nanoseconds(ns));
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

/// The bytes of a question, which stay until it is answered or freed.
///
/// @param question the question
/// @param length receives how many; 0 after an error
/// @return the address of the first; NULL after an error, with EINVAL in errno: it was answered
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_question_bytes(question: *mut ys_zmq_question, length: *mut usize) -> *const c_void {
    if length.is_null() {
        return Answer::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *length = 0 };
    let look = |question: &mut Asked| {
        // SAFETY: by the caller.
        unsafe { *length = question.message.len() };
        question.message.as_ptr().cast::<c_void>()
    };
    // SAFETY: by the caller.
    unsafe { enter(question, look) }
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
    let give = |place: &mut Option<Asked>| {
        let given = place.take().map(|question| question.answer(answer.to_vec()).is_ok());
        c_int::from_code(if given == Some(true) { YS_OK } else { YS_CLOSED })
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
