//! Questions and answers of bytes between processes: many callers, and one end that receives what they ask.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;
use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd};

use ysuite_shm::{Bytes, BytesCaller, CallError, Funnel, Pending, Question, SendTimeoutError, TrySendError};

use super::many::{Place, Room, named, next_ended, next_of, numbered_seat};
use super::options::ys_shm_options;
use super::{Kind, bytes, code_of, enter, fd, free, open, open_over, place};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_ERANGE, YS_FULL, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

type Asked = Question<Bytes, Bytes>;

/// The end that asks: its questions are received by a ys_shm_questions in another process, which answers each. One thread at a time; it
/// may move between threads. Freed by ys_shm_caller_free.
pub struct ys_shm_caller {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_caller {
    const FREE: &'static str = "ys_shm_caller_free";

    type End = Asking;
}

/// The receiver of the questions of many callers, each of which is a ys_shm_caller in a process of its own. One thread at a time; it
/// may move between threads. Freed by ys_shm_questions_free.
pub struct ys_shm_questions {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_questions {
    const FREE: &'static str = "ys_shm_questions_free";

    type End = Funnel<Asked>;
}

/// A question whose caller waits for its answer. It may be answered at any time, in any order, and outlive its ys_shm_questions. One
/// thread at a time, which need not be that of the ys_shm_questions. Freed by ys_shm_question_free.
pub struct ys_shm_question {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_question {
    const FREE: &'static str = "ys_shm_question_free";

    type End = Asked;
}

/// Why there is no answer; and the call, if it goes on.
fn unanswered<P>(error: CallError<P>, limit: Limit) -> (ys_code, Option<P>) {
    match error {
        CallError::NotYet(call) => (limit.empty(), Some(call)),
        CallError::Unanswered => (ys_code::YS_UNANSWERED, None),
        CallError::Ended(error) => (code_of(error), None),
    }
}

/// A call that the program has the number of.
enum Call {
    UnderWay(Pending),
    /// By an answer that did not fit.
    Ended(Bytes),
}

pub(crate) struct Asking {
    caller: BytesCaller,
    // GROWS: by calls that are under way, of which there is a most, and by answers that did not fit and are not received again.
    calls: HashMap<u64, Call>,
    /// The number of the last one.
    last: u64,
}

/// The number of the last call that was not asked apart from its answer, if that did not fit.
const AT_ONCE: u64 = 0;

impl Asking {
    /// The question, if it may be asked.
    fn fitting<'a>(&self, question: &'a [u8]) -> Result<&'a [u8], ys_code> {
        if question.len() > self.caller.largest() { Err(ys_code::YS_ETOOLONG) } else { Ok(question) }
    }

    fn call(&mut self, question: &[u8], limit: Limit) -> Result<Bytes, ys_code> {
        self.calls.remove(&AT_ONCE);
        let question = self.fitting(question)?;
        let answer = match limit.timeout() {
            Some(time) => self.caller.call_timeout(question, time),
            None => self.caller.call(question),
        };
        answer.map_err(|error| unanswered(error, limit).0)
    }

    fn ask(&mut self, question: &[u8], limit: Limit) -> Result<u64, ys_code> {
        let question = self.fitting(question)?;
        let call = match limit {
            Limit::Now => self.caller.try_ask(question).map_err(|error| match error {
                TrySendError::Full(()) => YS_FULL,
                TrySendError::Ended((), error) => code_of(error),
            }),
            Limit::Within(time) => self.caller.ask_timeout(question, time).map_err(|error| match error {
                SendTimeoutError::Timeout(()) => YS_TIMEOUT,
                SendTimeoutError::Ended((), error) => code_of(error),
            }),
            Limit::Never => self.caller.ask(question).map_err(|error| code_of(error.1)),
        }?;
        // MUTANT: More than one: any number that is new.
        self.last += 1;
        self.calls.insert(self.last, Call::UnderWay(call));
        Ok(self.last)
    }

    fn recv(&mut self, number: u64, room: &mut Room<'_>, limit: Limit) -> Result<(), ys_code> {
        let answer = match self.calls.remove(&number).ok_or(YS_ERANGE)? {
            Call::Ended(answer) => answer,
            Call::UnderWay(call) => self.answer(call, limit).map_err(|(code, call)| {
                self.calls.extend(call.map(|call| (number, Call::UnderWay(call))));
                code
            })?,
        };
        self.put(number, answer, room)
    }

    /// The answer; or why there is none, and the call if it goes on.
    fn answer(&mut self, call: Pending, limit: Limit) -> Result<Bytes, (ys_code, Option<Pending>)> {
        match limit {
            Limit::Now => self.caller.try_recv(call).map_err(|error| unanswered(error, limit)),
            Limit::Within(time) => self.caller.recv_timeout(call, time).map_err(|error| unanswered(error, limit)),
            Limit::Never => self.caller.recv(call).map_err(|error| (unanswered(error, limit).0, None)),
        }
    }

    /// Gives an answer to the program; one that does not fit stays.
    fn put(&mut self, number: u64, answer: Bytes, room: &mut Room<'_>) -> Result<(), ys_code> {
        if room.put(&answer.0) {
            return Ok(());
        }
        self.calls.insert(number, Call::Ended(answer));
        Err(ys_code::YS_ETOOLONG)
    }

    fn arm(&mut self) -> bool {
        let mut is_over = false;
        let mut pending = self.calls.values().filter_map(|call| match call {
            Call::UnderWay(call) => Some(call),
            Call::Ended(_) => {
                is_over = true;
                None
            }
        });
        let is_armed = self.caller.arm(&mut pending);
        is_armed && !is_over
    }

    fn arm_to_recv(&mut self, number: u64) -> Result<bool, ys_code> {
        match self.calls.get(&number) {
            Some(Call::UnderWay(call)) => Ok(self.caller.arm([call])),
            Some(Call::Ended(_)) => Ok(false),
            None => Err(YS_ERANGE),
        }
    }
}

/// Makes a caller over a socket: of ys_shm_connect or ys_shm_questions_seat. It says hello at once. Never blocks.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect returns: that error is returned
/// @param largest the most bytes of a question, rounded up to 8; there is memory for as many of these as calls may be under way,
///     which the other end accepts by its `largest_region`. How long an answer may be that end says
/// @param options how it treats its peer, and how many calls may be under way; NULL: the defaults
/// @param caller receives the caller; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest`, or a number of calls, that cannot be, such as 0; YS_REFUSED_PACKET: no
///     such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_open(
    fd: c_int,
    largest: usize,
    options: *const ys_shm_options,
    caller: *mut *mut ys_shm_caller,
) -> c_int {
    let make = |socket| {
        // SAFETY: by the caller.
        let caller = unsafe { ys_shm_options::read(options) }?.bytes_caller(socket, largest).map_err(code_of)?;
        Ok(Asking { caller, calls: HashMap::new(), last: AT_ONCE })
    };
    // SAFETY: by the caller.
    unsafe { open_over(fd, caller, make) }
}

/// Asks, and waits for the answer, for so long at most; then it gives up.
///
/// An answer that does not fit stays, and `answered` says how much room it needs: it is that of the call number 0, for
/// ys_shm_caller_recv, until the next ys_shm_caller_call. With a room of 0 this waits for an answer, and returns its length.
///
/// @param caller the caller
/// @param question its bytes; NULL if there are none
/// @param length how many
/// @param to where the bytes of the answer are put, which may be where the question is; NULL if there is no room
/// @param room how many bytes there is room for
/// @param answered receives how many bytes the answer has; 0 after any other error than YS_ETOOLONG
/// @param ns nanoseconds; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the answer, or, if `answered` is 0, the question, which is not sent; YS_EMPTY (where ns is
///     0), YS_TIMEOUT: there was no answer; YS_UNANSWERED: the question was dropped; or the channel has ended, and the question may have
///     been received: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_call(
    caller: *mut ys_shm_caller,
    question: *const c_void,
    length: usize,
    to: *mut c_void,
    room: usize,
    answered: *mut usize,
    ns: i64,
) -> c_int {
    let place = Place { to, room, length: answered };
    // SAFETY: by the caller.
    let (true, Some(question)) = (unsafe { (place.open().is_some(), bytes(question, length)) }) else {
        return c_int::from_code(YS_EINVAL);
    };
    let call = |asking: &mut Asking| {
        let found = asking.call(question, Limit::from_nanoseconds(ns)).and_then(|answer| {
            // SAFETY: by the caller. The question, which may be in the same place, is not read any more.
            let mut room = unsafe { place.open() }.ok_or(YS_EINVAL)?;
            asking.put(AT_ONCE, answer, &mut room)
        });
        c_int::from_code(found.err().unwrap_or(YS_OK))
    };
    // SAFETY: by the caller.
    unsafe { enter(caller, call) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a message, and a place for a number, or NULL.
unsafe fn ask(
    caller: *mut ys_shm_caller,
    question: *const c_void,
    length: usize,
    call: *mut u64,
    limit: Limit,
) -> c_int {
    // SAFETY: by the caller.
    let (Some(question), false) = (unsafe { bytes(question, length) }, call.is_null()) else {
        return c_int::from_code(YS_EINVAL);
    };
    // SAFETY: by the caller.
    unsafe { *call = 0 };
    let ask = |asking: &mut Asking| match asking.ask(question, limit) {
        Ok(number) => {
            // SAFETY: by the caller.
            unsafe { *call = number };
            c_int::from_code(YS_OK)
        }
        Err(code) => c_int::from_code(code),
    };
    // SAFETY: by the caller.
    unsafe { enter(caller, ask) }
}

/// Asks, and goes on; waits while as many calls are under way as may be, or the other end has not accepted this caller yet. Several may
/// be under way at once, whose answers come in any order. A call is under way until its answer was received or it was given up.
///
/// @param caller the caller
/// @param question its bytes; NULL if there are none
/// @param length how many
/// @param call receives the number of the call; 0 after an error
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG; or the channel has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the
///     codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_ask(
    caller: *mut ys_shm_caller,
    question: *const c_void,
    length: usize,
    call: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { ask(caller, question, length, call, Limit::Never) }
}

/// Asks if there is nothing to wait for. Never waits.
///
/// @param caller the caller
/// @param question its bytes; NULL if there are none
/// @param length how many
/// @param call receives the number of the call; 0 after an error
/// @return YS_OK; YS_FULL; otherwise as ys_shm_caller_ask
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_try_ask(
    caller: *mut ys_shm_caller,
    question: *const c_void,
    length: usize,
    call: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { ask(caller, question, length, call, Limit::Now) }
}

/// Asks; waits for so long at most.
///
/// @param caller the caller
/// @param question its bytes; NULL if there are none
/// @param length how many
/// @param call receives the number of the call; 0 after an error
/// @param ns nanoseconds; 0: as ys_shm_caller_try_ask; less than 0: for ever
/// @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: it had to wait; otherwise as ys_shm_caller_ask
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_ask_for(
    caller: *mut ys_shm_caller,
    question: *const c_void,
    length: usize,
    call: *mut u64,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { ask(caller, question, length, call, Limit::from_nanoseconds(ns)) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter), and of [`Place::open`].
unsafe fn answer(caller: *mut ys_shm_caller, call: u64, place: Place, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(mut room) = (unsafe { place.open() }) else { return c_int::from_code(YS_EINVAL) };
    let recv = |asking: &mut Asking| c_int::from_code(asking.recv(call, &mut room, limit).err().unwrap_or(YS_OK));
    // SAFETY: by the caller.
    unsafe { enter(caller, recv) }
}

/// Receives the answer of a call; waits until it is there. Then the call is over, as it is after any error but YS_ETOOLONG,
/// YS_EMPTY and YS_TIMEOUT. Answers that were given before the channel has ended are received.
///
/// @param caller the caller
/// @param call the number of the call; 0: that of the last ys_shm_caller_call, whose answer did not fit
/// @param to where the bytes of the answer are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EINVAL; YS_ERANGE: no call of this caller that is not over has this number; YS_ETOOLONG: the answer does not fit, and
///     stays; YS_UNANSWERED: the question was dropped; or the channel has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or
///     YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_recv(
    caller: *mut ys_shm_caller,
    call: u64,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { answer(caller, call, Place { to, room, length }, Limit::Never) }
}

/// Receives the answer of a call if it is there. Never waits.
///
/// @param caller the caller
/// @param call the number of the call
/// @param to where the bytes of the answer are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EMPTY: the call goes on; otherwise as ys_shm_caller_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_try_recv(
    caller: *mut ys_shm_caller,
    call: u64,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { answer(caller, call, Place { to, room, length }, Limit::Now) }
}

/// Receives the answer of a call; waits for so long at most.
///
/// @param caller the caller
/// @param call the number of the call
/// @param to where the bytes of the answer are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @param ns nanoseconds; 0: as ys_shm_caller_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: the call goes on; otherwise as ys_shm_caller_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_recv_for(
    caller: *mut ys_shm_caller,
    call: u64,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { answer(caller, call, Place { to, room, length }, Limit::from_nanoseconds(ns)) }
}

/// Gives a call up. The question is received and answered all the same; until then it counts against those that may be under
/// way. Never waits.
///
/// @param caller the caller
/// @param call the number of the call
/// @return YS_OK; YS_ERANGE: no call of this caller that is not over has this number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_give_up(caller: *mut ys_shm_caller, call: u64) -> c_int {
    let give_up = |asking: &mut Asking| c_int::from_code(asking.calls.remove(&call).map_or(YS_ERANGE, |_| YS_OK));
    // SAFETY: by the caller.
    unsafe { enter(caller, give_up) }
}

/// Whether the channel has ended: no question that is asked now would be received. One system call.
///
/// @param caller the caller
/// @return 1 or 0, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_is_closed(caller: *mut ys_shm_caller) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(caller, |asking| c_int::from(asking.caller.is_disconnected())) }
}

/// The descriptor of the caller, for poll and epoll, after ys_shm_caller_arm. It stays the caller's: never read, written or closed.
///
/// @param caller the caller
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_fd(caller: *mut ys_shm_caller) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(caller, |asking| asking.caller.as_fd().as_raw_fd()) }
}

/// Says that the caller is about to sleep in an event loop: if none of its calls has ended, the descriptor becomes readable when
/// one has, or when the channel ends. Some system calls, and a look at each call.
///
/// @param caller the caller
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_arm(caller: *mut ys_shm_caller) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(caller, |asking| c_int::from(asking.arm())) }
}

/// As ys_shm_caller_arm, for who waits for one call: others may have ended, and not be received yet.
///
/// @param caller the caller
/// @param call the number of the call
/// @return 1: sleep; 0: do not, there is something to be done now; YS_ERANGE: no call of this caller that is not over has this number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_arm_to_recv(caller: *mut ys_shm_caller, call: u64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(caller, |asking| asking.arm_to_recv(call).map_or_else(c_int::from_code, c_int::from)) }
}

/// As ys_shm_caller_arm, for who waits until it may ask.
///
/// @param caller the caller
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_arm_to_ask(caller: *mut ys_shm_caller) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(caller, |asking| c_int::from(asking.caller.arm_to_ask())) }
}

/// Frees a caller, and gives up its calls. Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param caller the caller, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_caller_free(caller: *mut ys_shm_caller) {
    // SAFETY: by the caller.
    unsafe { free(caller) }
}

/// Opens the receiver of the questions of many callers, which connect by its name, by ys_shm_connect, or inherit a
/// ys_shm_questions_seat. They come and go as the senders of a ys_shm_funnel.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param largest the most bytes of an answer, rounded up to 8; there is memory for as many of these as each caller may have calls
///     under way, which that accepts by its `largest_region`. How long a question may be each caller says
/// @param options how it treats its peers, who may connect, and how many questions of one may be without an answer; NULL: the
///     defaults
/// @param questions where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest`, or a number of calls, that cannot be, such as 0; YS_REFUSED_IN_USE,
///     YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_open(
    name: *const c_char,
    largest: usize,
    options: *const ys_shm_options,
    questions: *mut *mut ys_shm_questions,
) -> c_int {
    let make = || {
        // SAFETY: by the caller.
        let (options, name) = unsafe { (ys_shm_options::read(options)?, named(name)?) };
        let options = options.largest_answer(largest);
        // What cannot be is said here, and not to each caller that comes.
        options.funnel_without_name::<Asked>().and_then(|mut funnel| funnel.seat()).map_err(code_of)?;
        let opened = match name {
            Some(name) => options.funnel(name),
            None => options.funnel_without_name(),
        };
        opened.map_err(code_of)
    };
    // SAFETY: by the caller.
    unsafe { open(questions, make) }
}

/// A place for one more caller: a socket for ys_shm_caller_open, for a child to inherit. Only a descriptor without FD_CLOEXEC is
/// inherited: clear it in the child.
///
/// @param questions the receiver
/// @param caller receives the number of that caller
/// @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_seat(questions: *mut ys_shm_questions, caller: *mut u64) -> c_int {
    if caller.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(questions, |questions| numbered_seat(questions.seat(), caller)) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); places, or NULL.
unsafe fn recv(
    questions: *mut ys_shm_questions,
    question: *mut *mut ys_shm_question,
    caller: *mut u64,
    limit: Limit,
) -> c_int {
    if question.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *question = ptr::null_mut() };
    let recv = |questions: &mut Funnel<Asked>| {
        let next = || {
            let (by, question) = next_of(questions, limit)?;
            if !caller.is_null() {
                // SAFETY: by the caller.
                unsafe { *caller = by };
            }
            Ok(question)
        };
        // SAFETY: by the caller.
        unsafe { open(question, next) }
    };
    // SAFETY: by the caller.
    unsafe { enter(questions, recv) }
}

/// Receives a question of any caller; waits while there is none.
///
/// @param questions the receiver
/// @param question receives the question; NULL after an error
/// @param caller receives the number of its caller; NULL: it is not asked for
/// @return YS_OK; YS_EINVAL; YS_CLOSED: all callers of a receiver without a name are gone
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_recv(
    questions: *mut ys_shm_questions,
    question: *mut *mut ys_shm_question,
    caller: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(questions, question, caller, Limit::Never) }
}

/// Receives a question if there is one. Never waits. If there is none it asks the kernel once for more.
///
/// @param questions the receiver
/// @param question receives the question; NULL after an error
/// @param caller receives the number of its caller; NULL: it is not asked for
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_questions_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_try_recv(
    questions: *mut ys_shm_questions,
    question: *mut *mut ys_shm_question,
    caller: *mut u64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(questions, question, caller, Limit::Now) }
}

/// Receives a question; waits for so long at most.
///
/// @param questions the receiver
/// @param question receives the question; NULL after an error
/// @param caller receives the number of its caller; NULL: it is not asked for
/// @param ns nanoseconds; 0: as ys_shm_questions_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_questions_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_recv_for(
    questions: *mut ys_shm_questions,
    question: *mut *mut ys_shm_question,
    caller: *mut u64,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(questions, question, caller, Limit::from_nanoseconds(ns)) }
}

/// The next caller that has ended since this was asked last, in order, as ys_shm_funnel_next_ended.
///
/// @param questions the receiver
/// @param caller receives its number
/// @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
/// @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_next_ended(
    questions: *mut ys_shm_questions,
    caller: *mut u64,
    why: *mut c_int,
) -> c_int {
    if caller.is_null() || why.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(questions, |questions| next_ended(questions.next_ended(), caller, why)) }
}

/// How many callers there are, with those that have connected and have not said yet what they are.
///
/// @param questions the receiver
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_callers(questions: *mut ys_shm_questions) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(questions, |questions| questions.senders() as isize) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_shm_questions_arm. It stays the receiver's: never read, written or
/// closed.
///
/// @param questions the receiver
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_fd(questions: *mut ys_shm_questions) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(questions) }
}

/// Says that the receiver is about to sleep in an event loop, which has received until YS_EMPTY and then asked for callers that have
/// ended: if there is no question, the descriptor becomes readable when there is, or when a caller comes or goes. Some system
/// calls.
///
/// @param questions the receiver
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_arm(questions: *mut ys_shm_questions) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(questions, |questions| c_int::from(questions.arm())) }
}

/// Frees a receiver, and takes its name away. Its callers are told that it is closed; questions that were received can be answered no more.
/// Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param questions the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_questions_free(questions: *mut ys_shm_questions) {
    // SAFETY: by the caller.
    unsafe { free(questions) }
}

/// How many bytes a question has.
///
/// @param question the question
/// @return how many; 0 after an error, with EINVAL in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_question_length(question: *mut ys_shm_question) -> usize {
    // SAFETY: by the caller.
    unsafe { enter(question, |question| question.0.len()) }
}

/// The bytes of a question: a copy of this process's own, which stays until it is answered or freed.
///
/// @param question the question
/// @return the address of its first byte; NULL after an error: it was answered
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_question_bytes(question: *mut ys_shm_question) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { enter(question, |question| question.0.as_ptr().cast::<c_void>()) }
}

/// Answers a question; the caller, if it waits, is woken. If that has given up, or is gone, or the receiver of questions was freed, the
/// answer reaches nobody. Never waits, but for other answers to this caller that are given just now.
///
/// @param question the question, which is freed afterwards
/// @param answer its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: it is not answered yet; YS_CLOSED: it was answered before
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_question_answer(
    question: *mut ys_shm_question,
    answer: *const c_void,
    length: usize,
) -> c_int {
    // SAFETY: by the caller.
    let Some(answer) = (unsafe { bytes(answer, length) }) else { return c_int::from_code(YS_EINVAL) };
    let give = |place: &mut Option<Asked>| {
        if place.as_ref().is_some_and(|question| answer.len() > question.largest()) {
            return c_int::from_code(ys_code::YS_ETOOLONG);
        }
        c_int::from_code(place.take().map_or(YS_CLOSED, |question| {
            question.answer(answer);
            YS_OK
        }))
    };
    // SAFETY: by the caller.
    unsafe { place(question, give) }
}

/// Frees a question. If it was not answered its caller is told so: YS_UNANSWERED. Also in a forked child, for a handle of its
/// parent: there it tells nobody.
///
/// @param question the question, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_question_free(question: *mut ys_shm_question) {
    // SAFETY: by the caller.
    unsafe { free(question) }
}
