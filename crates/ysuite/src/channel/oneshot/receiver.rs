//! The receiver of a oneshot channel. One thread at a time.
//!
//! The steps, and what each side owns after each, are the table of [`handshake`](super::handshake). Taking a message
//! that is there, and dropping the receiver, are wait-free. Beginning or giving up a wait is lock-free.
//!
//! An attached receiver is armed for its set from the moment it is attached, because a message comes only once. So when
//! it finds nothing it takes the id down and checks once more, and the sender raises the id.

use core::fmt;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

use super::handshake::{
    HUNG_UP, LEFT, OVER, RECEIVER_ARMED, RECEIVER_MARKS, SENDER_ARMED, SENDER_MARKS, SENDER_SLEEPS, SENT,
    wait_for_sender,
};
use super::operations::OneshotReceive;
use super::shared::{Callee, OneshotLink, SetPlace, Tie};
use crate::channel::coop::poll_within_budget;
use crate::channel::error::{self, RecvError, RecvTimeoutError, TryRecvError};
use crate::channel::identity::tell_end;
use crate::channel::iter::Receive;
#[cfg(feature = "in-place")]
use crate::channel::stop::{SleepingPlace, Stop};
use crate::foreign::{Foreign, Panics};
use crate::operation;
use crate::os::Deadline;
use crate::signal::{Attach, AttachError, Registration, TaskSlot};
use crate::sync::Arc;

/// The receiver of the [channel](super), and a future of the message. Its drop drops a message that is there, and makes
/// sending fail.
///
/// As a future it is ready with the message, or with an error when the sender has disconnected without a message. It
/// may be polled again after that, and by reference. So `(&mut receiver).await` loses nothing when it is given up, for
/// instance in a `select!`. Only the task that polled last is woken. Its waker is kept until it is woken, another task
/// polls, or the receiver is dropped.
#[doc = cost!(oneshot FUTURE)]
#[doc = cost!(oneshot DROP)]
pub struct Receiver<T> {
    /// Without a link: spent, or closed.
    tie: Tie<T>,
    /// The set that this receiver is attached to.
    set: Option<Arc<SetPlace>>,
}

/// What a receiver that has left must still run, all of it user code.
struct Leftovers {
    /// The callee that this receiver has taken back.
    own: Option<Callee>,
    /// The task of the sender, which waited for this.
    sender: Option<Box<Waker>>,
}

impl<T> Receiver<T> {
    #[inline]
    pub(super) fn new(link: OneshotLink<T>) -> Self {
        Self { tie: Tie::new(link), set: None }
    }

    /// Receives the message; waits until it is there.
    ///
    /// Blocks the thread: a task awaits the receiver itself.
    ///
    /// Where the message is not there this polls for a while, if that has paid on this thread, and then sleeps.
    /// `recv_timeout(Duration::MAX)` does the same for a receiver that is only borrowed.
    #[doc = cost!(oneshot RECV)]
    #[doc = cost!(oneshot RECV_WAIT)]
    ///
    /// # Errors
    /// When the sender has disconnected without a message, and on a receiver that has returned its message before.
    #[inline]
    #[doc(alias = "blocking_recv")]
    pub fn recv(self) -> Result<T, RecvError> {
        if let (Some(link), None) = (self.tie.link(), &self.set) {
            if self.word() == SENT {
                mem::forget(self);
                // SAFETY: there is nothing but the message in the word, so this receiver owns it and all the memory.
                return Ok(unsafe { take_all(link) });
            }
        }
        self.recv_by_waiting()
    }

    /// By value: receiving a message that is there leaves nothing to be dropped.
    #[cold]
    #[inline(never)]
    fn recv_by_waiting(mut self) -> Result<T, RecvError> {
        let answer = self.recv_until(|| Deadline::Never).map_err(|_| RecvError);
        // What is left of this receiver is user code: the waker of a task that waits in addition to a set. A message
        // that is being returned would leak if that panicked then.
        Panics::answer_behind(answer, || drop(self))
    }

    /// Receives the message if it is there. On an unattached receiver it needs no fence. An attached receiver that
    /// finds nothing takes its id down.
    #[doc = cost!(oneshot RECV)]
    #[doc = cost!(oneshot TRY_RECV_EMPTY)]
    ///
    /// # Errors
    /// `Empty` when there is no message yet. `Disconnected` when there will be none, or it has been returned before.
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let answer = match self.tie.link() {
            Some(link) => {
                let word = self.rest(link);
                self.settle(link, word).ok_or(TryRecvError::Empty)?
            }
            None => Err(self.tell_the_end()),
        };
        if answer.is_err() {
            tell_end(self);
        }
        Ok(answer?)
    }

    /// Receives the message; waits for it for at most `timeout`. `Duration::MAX` means no limit.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// When the timeout has passed, and when there will be no message, or it has been returned before.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(|| Deadline::after(timeout))
    }

    /// Receives the message; waits for it until `deadline` at most. A message that is there is received even after the
    /// deadline.
    #[doc = cost!(receiver LIKE_RECV)]
    ///
    /// # Errors
    /// When the deadline has passed, and when there will be no message, or it has been returned before.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(|| Deadline::At(deadline))
    }

    /// The message, in its slot, if it is there. Never blocks.
    #[doc = cost!(receiver LIKE_TRY_RECV)]
    pub fn peek(&mut self) -> Option<&T> {
        let link = self.tie.link()?;
        // SAFETY: where the sender has sent, this receiver owns the message, and is borrowed as long as the result.
        (self.rest(link) & SENT != 0).then(|| unsafe { link.message() })
    }

    /// Whether the message is not there: not yet, or not any more. Wait-free: a load.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.word() & SENT == 0
    }

    // MUTANT: One more check of the word gives the same result.
    /// Whether the sender has disconnected. Sending also disconnects it, so the message may still be here. Also true
    /// once this receiver is spent or closed. Wait-free: a load.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.tie.link().is_none() || self.word() & OVER != 0
    }

    // USER CODE: `wake` of the sender's task, `wake` (by `close`) or `Drop` of the receiver's waker, `Drop` of the
    //     message; so also in `Leftovers::run` and `dispose`. This handle has disconnected, and no longer uses the
    //     channel; re-entrance: may use the sender; panic: all pieces run, then the first panic propagates; test:
    //     tests/suite/oneshot/foreign.rs: two_wakers_that_panic_as_the_receiver_goes_are_one_panic,
    //     tests/suite/oneshot/endings.rs: a_message_that_panics_as_it_goes_ends_the_channel_all_the_same
    /// Closes the channel: from now on sending fails. Wakes a sender that waits for that, and a task that has polled
    /// this receiver. True: this call has closed it. False: the sender has sent or has disconnected, or it was closed
    /// before; a message that was sent stays here.
    #[doc = cost!(oneshot CLOSE)]
    pub fn close(&mut self) -> bool {
        let Some(link) = self.tie.link() else { return false };
        // SAFETY: this receiver has not disconnected.
        let Ok(leftovers) = (unsafe { leave(link) }) else { return false };
        self.leave_with(Tie::closed());
        // The task that closes need not be the task that waits.
        leftovers.run(Callee::call, &mut Panics::none());
        true
    }

    /// Takes this receiver out of its set: its id is down, and free. False: it was in no set. A message stays, and it
    /// can be attached again, to any set.
    ///
    /// A sender that is about to raise the id may still do so once. The next owner of the id must treat that as a
    /// spurious signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        let Some(place) = self.set.take() else { return false };
        // MUTANT: The registration releases its id when it is dropped at the end of this block.
        place.registration.release();
        let waiting = place.task.take();
        let Some(link) = self.tie.link() else { return true };
        match waiting {
            // A task that waits in addition to the set continues to wait. Where the sender has disconnected it may not
            // have found that task.
            Some(waker) => drop(self.arm_anew(link, Callee::Task(waker)).map(Callee::call)),
            None => drop(self.take_callee(link)),
        }
        true
    }

    /// The word; 0 once this receiver is spent.
    #[inline]
    pub(super) fn word(&self) -> u32 {
        // SAFETY: this receiver has not disconnected, so the memory is there.
        self.tie.link().map_or(0, |link| unsafe { link.handshake() }.look())
    }

    pub(super) fn link(&self) -> Option<OneshotLink<T>> {
        self.tie.link()
    }

    /// The message, or the error that there will be none. `None`: neither yet.
    pub(super) fn answer(&mut self) -> Option<Result<T, RecvError>> {
        let Some(link) = self.tie.link() else { return Some(Err(self.tell_the_end())) };
        let word = self.word();
        self.settle(link, word)
    }

    /// The task that is registered waits no longer.
    pub(super) fn forget_task(&mut self) {
        match &self.set {
            Some(place) => drop(place.task.take()),
            None => drop(self.tie.link().and_then(|link| self.take_callee(link))),
        }
    }

    fn recv_until(&mut self, deadline: impl FnOnce() -> Deadline) -> Result<T, RecvTimeoutError> {
        let word = self.word();
        match self.tie.link().and_then(|link| self.settle(link, word)) {
            Some(answer) => answer.map_err(RecvTimeoutError::from),
            None => self.recv_slowly(deadline()),
        }
    }

    #[cold]
    #[inline(never)]
    fn recv_slowly(&mut self, deadline: Deadline) -> Result<T, RecvTimeoutError> {
        let mut place = Foreign::none();
        match operation::block(OneshotReceive::new(self), &mut *place, deadline) {
            Some(outcome) => Ok(error::received(outcome, &mut place)?),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// As [`recv_timeout`](Self::recv_timeout); `None` means no limit. Also ends when `stop` is set, as if the timeout
    /// had passed.
    #[cfg(feature = "in-place")]
    pub(in crate::channel) fn recv_or_stop(
        &mut self,
        timeout: Option<Duration>,
        stop: &Stop,
    ) -> Result<T, RecvTimeoutError> {
        let word = self.word();
        if let Some(answer) = self.tie.link().and_then(|link| self.settle(link, word)) {
            return answer.map_err(RecvTimeoutError::from);
        }
        let Some(link) = self.tie.link() else { return Err(self.tell_the_end().into()) };
        let deadline = timeout.map_or(Deadline::Never, Deadline::after);
        {
            // SAFETY: this receiver has not disconnected, so the memory is there. It stays there until this receiver
            //     disconnects, which it does below.
            let (handshake, _enlisted) = unsafe {
                let handshake = link.handshake();
                (handshake, stop.enlist(SleepingPlace::Handshake(handshake.into())))
            };
            wait_for_sender(handshake, deadline, || stop.is_set());
        }
        let word = self.word();
        self.settle(link, word).map_or(Err(RecvTimeoutError::Timeout), |answer| answer.map_err(RecvTimeoutError::from))
    }

    // USER CODE: `Drop` of a waker that the sender has left: of a leaked future, or of `poll_closed`; the message is in
    //     its slot, the mark is gone; re-entrance: anything but this receiver; panic: propagates; the next receive gets
    //     the message; test: tests/suite/oneshot/foreign.rs:
    //     a_senders_waker_that_panics_when_it_is_dropped_costs_no_message
    // MUTANT: Speed only: the slow path gives the same result and frees the memory.
    /// The result that the word holds, if it does: then this receiver is spent.
    #[inline]
    fn settle(&mut self, link: OneshotLink<T>, word: u32) -> Option<Result<T, RecvError>> {
        if word == SENT {
            self.spend();
            // SAFETY: there is nothing but the message in the word, so this receiver owns it and all the memory.
            return Some(Ok(unsafe { take_all(link) }));
        }
        if word & OVER == 0 { None } else { Some(self.settle_slowly(link, word)) }
    }

    /// The sender has disconnected. It notifies, or has left its waker, or sends nothing.
    #[cold]
    #[inline(never)]
    fn settle_slowly(&mut self, link: OneshotLink<T>, word: u32) -> Result<T, RecvError> {
        if word & SENDER_ARMED != 0 {
            // SAFETY: the sender has disconnected, so this receiver owns its waker. A waker's drop may panic: the
            //     message is still in its slot then, and this receiver is unchanged.
            drop(unsafe { take_senders_waker(link) });
        }
        self.spend();
        // SAFETY: the sender has disconnected, and this receiver owns what is there. Then nothing is left.
        unsafe {
            let answer = if word & SENT != 0 { Ok(link.take_message()) } else { Err(RecvError) };
            let_go(link, word);
            answer
        }
    }

    /// The outcome is returned, and this receiver releases the memory.
    #[inline]
    fn spend(&mut self) {
        self.leave_with(Tie::SPENT);
    }

    /// The caller gets the disconnection from a receiver without a link.
    #[cold]
    fn tell_the_end(&mut self) -> RecvError {
        // MUTANT: A receiver in its drop is not polled again.
        self.tie = Tie::SPENT;
        RecvError
    }

    /// There will be no message any more, and this receiver releases the memory, or has done so.
    #[inline]
    fn leave_with(&mut self, tie: Tie<T>) {
        self.tie = tie;
        if let Some(place) = &self.set {
            // A disconnected receiver keeps its id until it leaves the set. The sender may not have raised it yet, or
            // has nothing to report.
            place.registration.raise();
        }
    }

    // MUTANT: Speed only: to take an id down that is down changes nothing.
    /// The word, after an attached receiver has found nothing: takes its id down, and checks once more.
    #[inline]
    fn rest(&self, link: OneshotLink<T>) -> u32 {
        // SAFETY: this receiver has not disconnected, so the memory is there.
        let word = unsafe { link.handshake() }.look();
        match &self.set {
            Some(place) if word & OVER == 0 && place.registration.is_up() => self.rest_in(place),
            _ => word,
        }
    }

    #[cold]
    fn rest_in(&self, place: &SetPlace) -> u32 {
        // The sender disconnects first and raises the id then. If this undoes its raise, the disconnection is seen
        // below; otherwise the raise comes after this.
        place.registration.lower();
        let word = self.word();
        if word & OVER != 0 {
            place.registration.raise();
        }
        word
    }

    // USER CODE: `Clone` of the new waker, then `Drop` of the one it replaces, in `arm_anew` too; at the clone the old
    //     one is armed, at the drop the new one; re-entrance: may send, or drop the sender; panic: propagates; the
    //     message stays; test: tests/suite/oneshot/foreign.rs:
    //     a_waker_that_panics_when_it_is_dropped_leaves_the_receiver_as_it_should_be, tests/suite/oneshot/foreign.rs:
    //     a_waker_may_drop_either_end
    // MUTANT: One more check of the word gives the same result. Killed only by
    // `a_task_waits_for_one_answer_after_the_other`.
    /// Registers the task to be woken when the sender disconnects. True: it has disconnected already. The word was
    /// `word`.
    pub(super) fn register(&self, link: OneshotLink<T>, word: u32, waker: &Waker) -> bool {
        if let Some(place) = &self.set {
            // The sender notifies the set's slot, since this receiver was attached.
            place.task.register(waker);
            return self.word() & OVER != 0;
        }
        if word & RECEIVER_ARMED != 0 {
            // SAFETY: this receiver has put the marked callee there.
            return !unsafe { link.will_wake(waker) } && self.arm_anew(link, Callee::Task(waker.clone())).is_some();
        }
        // The first task, as a rule. The waker goes right into its slot, not by way of the stack.
        // SAFETY: this receiver has not disconnected. Without its mark it owns the callee's slot, which is empty. Where
        //     the mark is refused the sender has seen none, so this receiver still owns what it has put there.
        let refused = unsafe {
            link.put_callee(Callee::Task(waker.clone()));
            (!link.handshake().mark(RECEIVER_ARMED, OVER)).then(|| link.take_callee())
        };
        refused.is_some()
    }

    // MUTANT: In a race: the sender ends and takes the old waker while another task polls. Killed only by the model
    // `only_the_task_that_polled_last_is_woken`.
    /// Replaces the current callee, unless the sender has disconnected: then the new callee comes back. The old callee
    /// is dropped last: user code.
    #[must_use = "a callee that comes back is to be called, or its task polled"]
    #[cold]
    #[inline(never)]
    fn arm_anew(&self, link: OneshotLink<T>, callee: Callee) -> Option<Callee> {
        let replaced = self.take_callee(link);
        // SAFETY: this receiver has not disconnected, so the memory is there. With a mark that could not be taken back
        //     the sender, which notifies, owns the slot. Without a mark this receiver owns it, and it is empty. Where
        //     the mark is refused the sender has seen none, so this receiver still owns what it has put there.
        let back = unsafe {
            if link.handshake().look() & RECEIVER_ARMED != 0 {
                Some(callee)
            } else {
                link.put_callee(callee);
                (!link.handshake().mark(RECEIVER_ARMED, OVER)).then(|| link.take_callee())
            }
        };
        // The drops of both are user code. The one that comes back is dropped here only while unwinding.
        Panics::answer_behind(back, || drop(replaced))
    }

    // MUTANT: In a race: the sender ends and takes the waker while another task polls. Killed only by the model
    // `only_the_task_that_polled_last_is_woken`.
    /// Takes back the callee that the sender would notify, if there is one, unless the sender has disconnected.
    fn take_callee(&self, link: OneshotLink<T>) -> Option<Callee> {
        // SAFETY: this receiver has not disconnected, so the memory is there.
        let handshake = unsafe { link.handshake() };
        if handshake.look() & RECEIVER_ARMED == 0 || !handshake.unmark(RECEIVER_ARMED, OVER) {
            return None;
        }
        // SAFETY: put there before it was marked. The mark has been taken back, so the sender will not take it.
        Some(unsafe { link.take_callee() })
    }
}

// MUTANT: In a race: the sender is dropped while the receiver notifies it. Killed only by the model
// `both_ends_go_at_once_while_tasks_wait_for_both`.
/// Takes the message and frees the memory. The sender is through.
///
/// # Safety
/// The word was [`SENT`], without a mark. This receiver is through except for this.
#[inline]
unsafe fn take_all<T>(link: OneshotLink<T>) -> T {
    // SAFETY: the sender has disconnected, and notifies nothing: this receiver owns message and memory.
    unsafe {
        let message = link.take_message();
        link.free();
        message
    }
}

/// Drops the message in its slot, and frees the memory, also where that panics. The sender is through.
///
/// # Safety
/// As [`take_all`].
#[inline]
unsafe fn drop_all<T>(link: OneshotLink<T>) {
    struct Memory<T>(OneshotLink<T>);
    impl<T> Drop for Memory<T> {
        #[inline]
        fn drop(&mut self) {
            // SAFETY: as `drop_all`; the message is no longer there.
            unsafe { self.0.free() };
        }
    }
    let _memory = Memory(link);
    // SAFETY: the sender has disconnected, and notifies nothing: this receiver owns message and memory.
    unsafe { link.drop_message() };
}

// MUTANT: In a race: the other handle is dropped between the receiver's check and its drop. Killed only by the models
// `both_ends_go_at_once` and `a_send_against_a_receiver_going_to_sleep`.
/// Releases the memory after the sender, which has disconnected: the word was `word`.
///
/// # Safety
/// This receiver is through, and all that was there has been taken out.
#[inline]
unsafe fn let_go<T>(link: OneshotLink<T>, word: u32) {
    // SAFETY: a sender that notifies takes this receiver's marks away when it is through. It frees the memory then if
    //     it finds that this receiver has left. A sender that does not notify any more, or never did, leaves it to this
    //     receiver.
    unsafe {
        if word & RECEIVER_MARKS != 0 {
            link.last_use();
            if link.handshake().end(LEFT) & RECEIVER_MARKS != 0 {
                return;
            }
        }
        link.free();
    }
}

/// Takes the waker of a sender that waited for the receiver's disconnection, and then sent all the same.
///
/// # Safety
/// The sender has disconnected, with [`SENDER_ARMED`] in the word. This receiver has not disconnected.
#[cold]
#[inline(never)]
unsafe fn take_senders_waker<T>(link: OneshotLink<T>) -> Box<Waker> {
    // SAFETY: the waker was put there before it was marked, and belongs to this receiver, now that the sender has
    //     disconnected. The mark is removed, so that it is taken once.
    unsafe {
        link.handshake().called(SENDER_ARMED);
        link.take_sender()
    }
}

// MUTANT: In a race: the other handle is dropped between the receiver's check and its drop. Killed only by the model
// `both_ends_go_at_once_while_tasks_wait_for_both`.
/// Disconnects this receiver, unless the sender has disconnected: then returns the word as an error. Notifies the
/// sender's thread if it waits.
///
/// # Safety
/// This receiver has not disconnected. It is through if this succeeds.
#[cold]
#[inline(never)]
unsafe fn leave<T>(link: OneshotLink<T>) -> Result<Leftovers, u32> {
    // SAFETY: this receiver has not disconnected, so the memory is there. The callee is copied before the step that
    //     takes the mark back, because that may be the last use of the memory; only this receiver writes there. If that
    //     step succeeds the sender will not take it, so the copy is the callee. With its marks in the word the sender
    //     leaves the memory to this receiver, and also its waker, where it is marked, until the marks are taken away.
    unsafe {
        let handshake = link.handshake();
        let copy = (handshake.look() & RECEIVER_ARMED != 0).then(|| link.copy_callee());
        link.last_use();
        let before = handshake.leave()?;
        let own = copy.map(|copy| copy.assume_init());
        let marks = before & SENDER_MARKS;
        let sender = (marks & SENDER_ARMED != 0).then(|| link.take_sender());
        if marks & SENDER_SLEEPS != 0 {
            handshake.wake();
        }
        if marks != 0 {
            link.last_use();
            if handshake.called(marks) & HUNG_UP != 0 {
                link.free();
            }
        }
        Ok(Leftovers { own, sender })
    }
}

impl Leftovers {
    /// `own`: what becomes of the callee that waits for this receiver.
    fn run(self, own: fn(Callee), panics: &mut Panics) {
        if let Some(waker) = self.sender {
            panics.catch(|| waker.wake());
        }
        if let Some(callee) = self.own {
            panics.catch(|| own(callee));
        }
    }
}

impl<T> Receiver<T> {
    /// What is left to do at last, each piece of user code by itself.
    #[cold]
    #[inline(never)]
    fn dispose(&mut self) {
        let mut panics = Panics::none();
        let place = self.set.take();
        if let Some(link) = mem::replace(&mut self.tie, Tie::SPENT).link() {
            // SAFETY: this receiver has not disconnected, and is through. Where the sender has disconnected, this
            //     receiver owns what is there.
            unsafe {
                match leave(link) {
                    Ok(leftovers) => leftovers.run(drop, &mut panics),
                    Err(word) => {
                        let waker = (word & SENDER_ARMED != 0).then(|| take_senders_waker(link));
                        if word & SENT != 0 {
                            panics.catch(|| link.drop_message());
                        }
                        let_go(link, word);
                        panics.catch(|| drop(waker));
                    }
                }
            }
        }
        if let Some(place) = place {
            // MUTANT: The registration releases its id when it is dropped.
            place.registration.release();
            panics.catch(|| drop(place.task.take()));
        }
    }
}

impl<T> Drop for Receiver<T> {
    // MUTANT: Speed only: the slow path drops and frees the same.
    #[inline]
    fn drop(&mut self) {
        if let (Some(link), None) = (self.tie.link(), &self.set) {
            let word = self.word();
            // A sender that is through, and has left at most its message.
            if word == SENT || word == HUNG_UP {
                // SAFETY: without a mark in the word this receiver owns all of the memory; the message, if it was sent,
                //     is there.
                return unsafe { if word == SENT { Panics::in_drop(|| drop_all(link)) } else { link.free() } };
            }
        }
        if self.tie.link().is_some() || self.set.is_some() {
            self.dispose();
        }
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    // WAITS: a task here, a set in `rest_in`; ends: the waker, or the id is raised; it does not spin; test:
    //     tests/loom/oneshot.rs: a_send_against_a_task, tests/loom/oneshot.rs:
    //     a_send_against_an_attached_receiver_that_rests
    /// Lock-free.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        poll_within_budget(context, |context| {
            let Some(link) = this.tie.link() else { return Poll::Ready(Err(this.tell_the_end())) };
            let mut word = this.word();
            if word & OVER == 0 && this.register(link, word, context.waker()) {
                word = this.word();
            }
            this.settle(link, word).map_or(Poll::Pending, Poll::Ready)
        })
    }
}

/// Terminated once the message was received, or an error has reported that there will be none. A receiver that has
/// [closed](Receiver::close) its channel is polled once more.
#[cfg(feature = "stream")]
impl<T> futures_core::FusedFuture for Receiver<T> {
    fn is_terminated(&self) -> bool {
        self.tie.is_spent()
    }
}

/// The id is up while the message may be there, and once the receiver is disconnected: until it leaves the set.
impl<T> Attach for Receiver<T> {
    // USER CODE: `Clone`, `wake` and `Drop` of the waker of a task that waits alongside the set, in `detach` too; the
    //     receiver is in the set and armed for it, or it has left, and its id is free; re-entrance: may use the sender;
    //     panic: propagates out of the call, which is done; that task may have to poll again; test:
    //     tests/suite/oneshot/attached.rs: a_task_waits_beside_a_set_and_goes_on_when_the_receiver_leaves_it
    // MUTANT: Speed only: the slow path finds neither a link nor a set.
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        if self.set.is_some() {
            return Err(AttachError::AlreadyAttached);
        }
        registration.raise();
        let place = Arc::new(SetPlace { registration, task: TaskSlot::default() });
        self.set = Some(Arc::clone(&place));
        let Some(link) = self.tie.link() else { return Ok(()) };
        let waiting = self.take_callee(link);
        // Where the sender has disconnected it notifies nothing; the id is up.
        drop(self.arm_anew(link, Callee::Set(Arc::clone(&place))));
        // A task that waits continues to wait, in addition to the set.
        if let Some(Callee::Task(waker)) = waiting {
            place.task.register(&waker);
            if self.word() & OVER != 0 {
                place.task.wake();
            }
        }
        Ok(())
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        if let Some(place) = &self.set {
            look(&place.registration);
        }
    }

    fn detach(&mut self) -> bool {
        Receiver::detach(self)
    }
}

impl<T> Receive for Receiver<T> {
    type Message = T;

    // MUTANT: Never called: only iterators call it, and a oneshot has none.
    fn next_waiting(&mut self) -> Option<T> {
        self.recv_until(|| Deadline::Never).ok()
    }

    fn look(&mut self) -> Option<T> {
        let (link, word) = (self.tie.link()?, self.word());
        if word & SENT == 0 { None } else { self.settle(link, word)?.ok() }
    }

    // MUTANT: Speed only: how long a hub spins. The hub checks for the message before it parks.
    fn has_message(&mut self) -> bool {
        !self.is_empty()
    }

    fn try_next(&mut self) -> Result<T, TryRecvError> {
        self.try_recv()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("is_empty", &self.is_empty())
            .field("is_disconnected", &self.is_disconnected())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::SENT;
    use crate::channel::oneshot;
    use crate::signal::{Wait, YPollset};

    #[test]
    fn a_sender_that_ends_before_the_id_is_taken_down_has_it_up_again() {
        let (sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 4).unwrap();
        // The receiver has polled before that, and found nothing.
        sender.send(1).unwrap();
        let place = receiver.set.as_ref().unwrap();
        assert_eq!(receiver.rest_in(place), SENT);
        assert!(set.check().eq([4]));
        assert_eq!(receiver.peek(), Some(&1));
    }
}
