//! Questions, and the answers of others to them.

use core::ffi::{c_int, c_void};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::task::Wake;

use ysuite::signal::{Signal, Signaler, Wait, YSocketpair};
use ysuite::{SendTimeoutError, TrySendError};
use ysuite_zmq::{Asker, Frame, Pending, Unanswered};

use super::parts::{self, Message, Outgoing};
use super::tx::ys_zmq_part;
use super::{Lent, code};
use crate::code::{
    Answer, YS_CLOSED, YS_EINVAL, YS_ENOTSUP, YS_ERANGE, YS_ESYSTEM, YS_FULL, YS_OK, YS_TIMEOUT, ys_code,
};
use crate::ends::{Kind, bytes, enter, free, open, refuse};
use crate::errno;
use crate::limit::{Clock, Limit};

/// Asks by a bridge: of ys_zmq_ask_open. One thread at a time; it may move between threads, and ys_zmq_asker_clone makes one for
/// another thread. Freed by ys_zmq_asker_free.
pub struct ys_zmq_asker {
    _opaque: [u8; 0],
}

impl Kind for ys_zmq_asker {
    const FREE: &'static str = "ys_zmq_asker_free";

    type End = Asking;
}

/// Asks, with messages of one part or of several.
#[derive(Clone)]
pub(super) enum Askers {
    Plain(Asker<Vec<u8>, Frame>),
    Lists(Asker<Vec<Vec<u8>>, Vec<Frame>>),
}

/// A question that was asked.
enum Asked {
    Plain(Pending<Frame>),
    Lists(Pending<Vec<Frame>>),
    /// What was found as the program was about to sleep.
    Over(Result<Message, Unanswered>),
}

impl Asked {
    /// The outcome, if it is there; otherwise the waker is woken when it is.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Message, Unanswered>> {
        match self {
            Self::Plain(pending) => Pin::new(pending).poll(context).map(|answer| answer.map(Into::into)),
            Self::Lists(pending) => Pin::new(pending).poll(context).map(|answer| answer.map(Into::into)),
            Self::Over(outcome) => Poll::Ready(core::mem::replace(outcome, Err(Unanswered::Closed))),
        }
    }
}

/// The descriptor by which an event loop waits.
struct Bell {
    set: YSocketpair,
    waker: Waker,
}

struct Rings(Signaler);

impl Wake for Rings {
    fn wake(self: Arc<Self>) {
        self.0.signal(0);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.signal(0);
    }
}

pub(crate) struct Asking {
    asker: Askers,
    // GROWS: by questions that are asked and whose answers are not received; the bridge limits them.
    calls: HashMap<u64, Asked>,
    /// The number of the last one.
    last: u64,
    /// What the program was lent.
    answer: Message,
    /// Since the program has asked for a descriptor.
    bell: Option<Bell>,
    /// Rings the bell when there is room for a question.
    room: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// Why there is no answer.
#[cold]
fn unanswered(why: Unanswered) -> ys_code {
    refuse(&why);
    match why {
        Unanswered::TimedOut => ys_code::YS_UNANSWERED,
        Unanswered::Disconnected => ys_code::YS_DIED,
        Unanswered::Malformed(_) => ys_code::YS_BROKEN,
        _ => YS_CLOSED,
    }
}

fn begun<Q: Outgoing, A: Send>(
    asker: &Asker<Q, A>,
    question: &[&[u8]],
    clock: &mut Clock,
) -> Result<Pending<A>, ys_code> {
    let question = Q::of(question).ok_or(YS_ENOTSUP)?;
    match clock.left() {
        None => asker.begin(question).map_err(unanswered),
        Some(time) if time.is_zero() => asker.try_begin(question).map_err(|error| match error {
            TrySendError::Full(_) => YS_FULL,
            TrySendError::Disconnected(_) => YS_CLOSED,
        }),
        Some(time) => asker.begin_timeout(question, time).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => YS_TIMEOUT,
            SendTimeoutError::Disconnected(_) => YS_CLOSED,
        }),
    }
}

fn answer<A: Into<Message>>(pending: &mut Pending<A>, limit: Limit, clock: &mut Clock) -> Result<Message, ys_code> {
    let found = match clock.left() {
        None => pending.wait_timeout(Duration::MAX),
        Some(time) if time.is_zero() => pending.try_get(),
        Some(time) => pending.wait_timeout(time),
    };
    found.ok_or(limit.empty())?.map(Into::into).map_err(unanswered)
}

impl Asking {
    pub(super) fn new(asker: Askers) -> Self {
        Self { asker, calls: HashMap::new(), last: 0, answer: Message::default(), bell: None, room: None }
    }

    fn bell(&mut self) -> Result<&mut Bell, ys_code> {
        if self.bell.is_none() {
            let set = YSocketpair::with_capacity(1).map_err(|cause| {
                errno::set_from(&cause);
                YS_ESYSTEM
            })?;
            let waker = Waker::from(Arc::new(Rings(set.signaler())));
            self.bell = Some(Bell { set, waker });
        }
        self.bell.as_mut().ok_or(YS_ESYSTEM)
    }

    /// Whether the bell has not rung, for whatever was armed. The descriptor is not readable any more.
    fn is_silent(&mut self) -> Result<bool, ys_code> {
        Ok(self.bell()?.set.check().next().is_none())
    }

    /// Whether an event loop may sleep until this question is over.
    fn arm(&mut self, call: u64) -> Result<bool, ys_code> {
        let waker = self.bell()?.waker.clone();
        let asked = self.calls.get_mut(&call).ok_or(YS_ERANGE)?;
        if let Poll::Ready(outcome) = asked.poll(&mut Context::from_waker(&waker)) {
            *asked = Asked::Over(outcome);
            return Ok(false);
        }
        // Last: what rings from now on makes the descriptor readable.
        self.is_silent()
    }

    /// Whether an event loop may sleep until it may ask.
    fn arm_to_ask(&mut self) -> Result<bool, ys_code> {
        let waker = self.bell()?.waker.clone();
        let mut room: Pin<Box<dyn Future<Output = ()> + Send>> = match &self.asker {
            Askers::Plain(asker) => Box::pin(asker.room()),
            Askers::Lists(asker) => Box::pin(asker.room()),
        };
        let waits = room.as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        self.room = waits.then_some(room);
        Ok(self.is_silent()? && waits)
    }

    fn begin(&mut self, question: &[&[u8]], clock: &mut Clock) -> Result<Asked, ys_code> {
        // It waits for room that this question may take.
        self.room = None;
        match &self.asker {
            Askers::Plain(asker) => begun(asker, question, clock).map(Asked::Plain),
            Askers::Lists(asker) => begun(asker, question, clock).map(Asked::Lists),
        }
    }

    /// The answer is kept. Where the time is over first, the question goes on.
    fn finish(&mut self, pending: &mut Asked, limit: Limit, clock: &mut Clock) -> Result<(), ys_code> {
        self.answer = match pending {
            Asked::Plain(pending) => answer(pending, limit, clock)?,
            Asked::Lists(pending) => answer(pending, limit, clock)?,
            Asked::Over(outcome) => core::mem::replace(outcome, Err(Unanswered::Closed)).map_err(unanswered)?,
        };
        Ok(())
    }

    /// Asks, and puts the number of the question.
    ///
    /// # Safety
    /// A place.
    unsafe fn ask(&mut self, question: &[&[u8]], call: *mut u64, ns: i64) -> c_int {
        code(self.begin(question, &mut Clock::new(Limit::from_nanoseconds(ns))).map(|pending| {
            // MUTANT: More than one: any number that is new.
            self.last += 1;
            self.calls.insert(self.last, pending);
            // SAFETY: by the caller.
            unsafe { *call = self.last };
        }))
    }
}

/// Asks, and waits for the answer, for so long at most; then it gives up. The answer is lent until the next call of this function or
/// ys_zmq_asker_recv for this asker.
///
/// @param asker the asker
/// @param question its bytes; NULL if there are none
/// @param length how many
/// @param answer receives the address of the first byte of the answer; NULL after an error
/// @param answered receives how many bytes it has; 0 after an error
/// @param ns nanoseconds; less than 0: as long as the bridge's own time for an answer
/// @return YS_OK; YS_EINVAL; YS_FULL, YS_EMPTY (where ns is 0), YS_TIMEOUT: there was no answer within `ns`; YS_UNANSWERED: there was
///     none in the bridge's time; YS_DIED: the connection has ended before one came, and the question may have been received; YS_BROKEN:
///     the answer has several parts; YS_CLOSED: the bridge has ended
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_call(
    asker: *mut ys_zmq_asker,
    question: *const c_void,
    length: usize,
    answer: *mut *const c_void,
    answered: *mut usize,
    ns: i64,
) -> c_int {
    let lent = Lent { bytes: answer, length: answered };
    // SAFETY: by the caller.
    let (Some(question), Some(lent)) = (unsafe { (bytes(question, length), lent.open()) }) else {
        return c_int::from_code(YS_EINVAL);
    };
    let call = |asking: &mut Asking| {
        let limit = Limit::from_nanoseconds(ns);
        let mut clock = Clock::new(limit);
        let asked = asking.begin(&[question], &mut clock);
        let done = asked.and_then(|mut pending| asking.finish(&mut pending, limit, &mut clock));
        // SAFETY: by the caller. The answer stays where it is until the next one.
        code(done.map(|()| unsafe { lent.put(asking.answer.first()) }))
    };
    // SAFETY: by the caller.
    unsafe { enter(asker, call) }
}

/// Asks, and goes on. Several questions may be under way at once, whose answers come in any order.
///
/// @param asker the asker
/// @param question its bytes; NULL if there are none
/// @param length how many
/// @param call receives the number of the question, from 1 on; 0 after an error
/// @param ns nanoseconds to wait while as many questions are without an answer as the bridge allows; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_EINVAL; YS_FULL (where ns is 0), YS_TIMEOUT: it had to wait; YS_CLOSED: the bridge has ended
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_ask(
    asker: *mut ys_zmq_asker,
    question: *const c_void,
    length: usize,
    call: *mut u64,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    let (Some(question), false) = (unsafe { bytes(question, length) }, call.is_null()) else {
        return c_int::from_code(YS_EINVAL);
    };
    // SAFETY: by the caller.
    unsafe { *call = 0 };
    // SAFETY: by the caller.
    let ask = |asking: &mut Asking| unsafe { asking.ask(&[question], call, ns) };
    // SAFETY: by the caller.
    unsafe { enter(asker, ask) }
}

/// Asks a question of several parts, as ys_zmq_asker_ask. The bridge was opened with `parts`.
///
/// @param asker the asker
/// @param parts the parts, which are copied
/// @param count how many, at least 1
/// @param call as of ys_zmq_asker_ask
/// @param ns as of ys_zmq_asker_ask
/// @return as ys_zmq_asker_ask; YS_ENOTSUP: questions have one part here
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_ask_parts(
    asker: *mut ys_zmq_asker,
    parts: *const ys_zmq_part,
    count: usize,
    call: *mut u64,
    ns: i64,
) -> c_int {
    if call.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *call = 0 };
    let ask = |question: &[&[u8]]| {
        // SAFETY: by the caller.
        let ask = |asking: &mut Asking| unsafe { asking.ask(question, call, ns) };
        // SAFETY: by the caller.
        unsafe { enter(asker, ask) }
    };
    // SAFETY: by the caller.
    unsafe { parts::with(parts, count, ask) }
}

/// A part of the answer that was received last, lent as that is.
///
/// @param asker the asker
/// @param at its index; 0: that which was lent
/// @param length receives how many bytes it has; 0 where there is none
/// @return the address of its first byte; NULL: there are no more parts, or with EINVAL in errno: an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_part(asker: *mut ys_zmq_asker, at: usize, length: *mut usize) -> *const c_void {
    // SAFETY: by the caller.
    let lend = |asking: &mut Asking| unsafe { asking.answer.lend(at, length) };
    // SAFETY: by the caller.
    unsafe { parts::part(length, || enter(asker, lend)) }
}

/// Receives the answer of a question that was asked by this asker; lent as of ys_zmq_asker_call. Then the question is over, as it is
/// after any error but YS_EMPTY and YS_TIMEOUT.
///
/// @param asker the asker
/// @param call the number of the question
/// @param answer receives the address of the first byte of the answer; NULL after an error
/// @param length receives how many bytes it has; 0 after an error
/// @param ns nanoseconds; 0: never waits; less than 0: as long as the bridge's own time for an answer
/// @return YS_ERANGE: no question of this asker that is not over has this number; YS_EMPTY (where ns is 0), YS_TIMEOUT: the question goes
///     on; otherwise as ys_zmq_asker_call
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_recv(
    asker: *mut ys_zmq_asker,
    call: u64,
    answer: *mut *const c_void,
    length: *mut usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    let Some(lent) = (unsafe { Lent { bytes: answer, length }.open() }) else { return c_int::from_code(YS_EINVAL) };
    let recv = |asking: &mut Asking| {
        let limit = Limit::from_nanoseconds(ns);
        let Some(mut pending) = asking.calls.remove(&call) else { return c_int::from_code(YS_ERANGE) };
        let done = asking.finish(&mut pending, limit, &mut Clock::new(limit));
        if done == Err(limit.empty()) {
            asking.calls.insert(call, pending);
        }
        // SAFETY: by the caller. The answer stays where it is until the next one.
        code(done.map(|()| unsafe { lent.put(asking.answer.first()) }))
    };
    // SAFETY: by the caller.
    unsafe { enter(asker, recv) }
}

/// Gives a question up. If it was not sent yet it will not be. Never waits.
///
/// @param asker the asker
/// @param call the number of the question
/// @return YS_OK; YS_ERANGE: no question of this asker that is not over has this number
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_give_up(asker: *mut ys_zmq_asker, call: u64) -> c_int {
    let give_up = |asking: &mut Asking| c_int::from_code(asking.calls.remove(&call).map_or(YS_ERANGE, |_| YS_OK));
    // SAFETY: by the caller.
    unsafe { enter(asker, give_up) }
}

/// The descriptor of the asker, for poll and epoll, after ys_zmq_asker_arm. It stays the asker's: never read, written or closed.
///
/// @param asker the asker
/// @return the descriptor; YS_ESYSTEM with the cause in errno: none is left
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_fd(asker: *mut ys_zmq_asker) -> c_int {
    let fd = |asking: &mut Asking| asking.bell().map_or_else(c_int::from_code, |bell| bell.set.as_fd().as_raw_fd());
    // SAFETY: by the caller.
    unsafe { enter(asker, fd) }
}

/// Says that the asker is about to sleep in an event loop, which has found YS_EMPTY for this question: the descriptor becomes readable
/// when it has an answer, or will have none. Who waits for several questions calls this for each, and where it says 0 tries all of them
/// again.
///
/// @param asker the asker
/// @param call the number of the question
/// @return 1: sleep; 0: do not, there is something to be done now; YS_ERANGE: no question of this asker that is not over has this number;
///     YS_ESYSTEM with the cause in errno: no descriptor is left
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_arm(asker: *mut ys_zmq_asker, call: u64) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(asker, |asking| asking.arm(call).map_or_else(c_int::from_code, c_int::from)) }
}

/// As ys_zmq_asker_arm, for who has found YS_FULL, and waits until it may ask.
///
/// @param asker the asker
/// @return 1: sleep; 0: do not, there is something to be done now; YS_ESYSTEM with the cause in errno: no descriptor is left
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_arm_to_ask(asker: *mut ys_zmq_asker) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(asker, |asking| asking.arm_to_ask().map_or_else(c_int::from_code, c_int::from)) }
}

/// Makes another asker of the same bridge, without the questions of this one.
///
/// @param asker the asker
/// @param to receives the other; NULL after an error
/// @return YS_OK; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_clone(asker: *mut ys_zmq_asker, to: *mut *mut ys_zmq_asker) -> c_int {
    // SAFETY: by the caller.
    let clone = |asking: &mut Asking| unsafe { open(to, || Ok(Asking::new(asking.asker.clone()))) };
    // SAFETY: by the caller.
    unsafe { enter(asker, clone) }
}

/// Frees an asker, and gives up its questions.
///
/// @param asker the asker, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_zmq_asker_free(asker: *mut ys_zmq_asker) {
    // SAFETY: by the caller.
    unsafe { free(asker) }
}
