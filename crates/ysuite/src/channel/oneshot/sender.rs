//! The sender of a oneshot channel. One thread at a time.
//!
//! The steps, and what each side owns after each, are the table of [`handshake`](super::handshake). Sending and
//! dropping are wait-free. Waiting for the receiver's disconnection is lock-free to begin and to give up.

use core::fmt;
use core::future::Future;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use super::handshake::{
    HUNG_UP, LEFT, RECEIVER_ARMED, RECEIVER_MARKS, RECEIVER_SLEEPS, SENDER_ARMED, SENDER_MARKS, SENT, wait_for_receiver,
};
use super::shared::OneshotLink;
use crate::channel::error::SendError;
use crate::channel::future::{Closable, ClosedFuture};
#[cfg(feature = "in-place")]
use crate::channel::stop::{SleepingPlace, Stop};
use crate::foreign::{Foreign, Panics};
use crate::os::Deadline;
use crate::wait::one::TaskWait;

/// The sender of the [channel](super). Its drop notifies the receiver that there will be no message.
#[doc = cost!(oneshot DROP)]
pub struct Sender<T> {
    link: OneshotLink<T>,
}

impl<T> Sender<T> {
    #[inline]
    pub(super) fn new(link: OneshotLink<T>) -> Self {
        Self { link }
    }

    // MUTANT: Speed only: the slow path finds no mark and notifies no receiver.
    /// Sends the message. Never waits.
    ///
    /// `Ok` means that the receiver can take the message, not that it will: a receiver that is dropped later drops it.
    #[doc = cost!(oneshot SEND)]
    ///
    /// # Errors
    /// When the receiver has disconnected, or has [closed](super::Receiver::close) the channel. The error returns the
    /// message.
    ///
    /// # Panics
    /// When the waker of the receiver's task panics. The message has been sent then.
    #[inline]
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        let link = ManuallyDrop::new(self).link;
        // SAFETY: this sender has not disconnected so far, so the memory is there and it owns the message's slot. After
        //     the last of these steps nothing is accessed here.
        let before = unsafe {
            link.put_message(message);
            link.last_use();
            link.handshake().end(SENT)
        };
        // The receiver neither waits nor has left, as for most messages.
        if before == 0 {
            return Ok(());
        }
        // SAFETY: the word before says what this sender must still do; nothing of it has been done.
        unsafe { sent(link, before) }
    }

    /// Whether the receiver has disconnected, or has closed the channel: a send would return the message. Wait-free: a
    /// load.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        // SAFETY: this sender has not disconnected, so the memory is there.
        unsafe { self.link.handshake() }.look() & LEFT != 0
    }

    /// Waits until the receiver has disconnected or has closed the channel, so that work whose result is not wanted can
    /// be given up. Needs no particular runtime; the task's waker is kept in a small box.
    ///
    /// A task usually waits for this and for its work at once, and sends if the work is done first.
    #[doc = cost!(oneshot CLOSED)]
    pub fn closed(&mut self) -> ClosedFuture<'_, Self> {
        ClosedFuture::new(UntilLeft(TaskWait { owner: self, forget: |sender| drop(sender.take_waker()) }))
    }

    // USER CODE: `Clone` of the new waker, `Drop` of the one it replaces, of either where the receiver has
    //     disconnected; so also in `closed`. No waker is marked, the slot is empty, and the waker dropped last is a
    //     local; re-entrance: may use the receiver; panic: propagates out of the poll or the future's drop; the sender
    //     can be polled, and can send; test: tests/suite/oneshot/foreign.rs:
    //     a_senders_waker_that_panics_when_it_is_dropped_costs_no_message, tests/suite/oneshot/foreign.rs:
    //     a_waker_that_panics_when_it_is_cloned_leaves_the_one_before_it
    // MUTANT: Arming reads and modifies the same word and finds the disconnection.
    /// Ready when the receiver has disconnected or has closed the channel. Otherwise registers the task to be woken
    /// then.
    ///
    /// Only the task that polled last is woken. Its waker is kept until it is woken, another task polls, this sender is
    /// dropped, or its message has been received.
    #[doc = cost!(oneshot CLOSED)]
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker();
        // An existing box is used again. It is taken out while it is checked: the receiver may take it, and free it.
        let mut known = self.take_waker();
        if self.is_disconnected() {
            return Poll::Ready(());
        }
        let replaced = match known.take() {
            Some(same) if same.will_wake(waker) => {
                known = Some(same);
                None
            }
            // The drop of the old one is user code, also where the new one cannot be cloned.
            Some(other) => {
                let mut other = Foreign::new(other);
                let new = waker.clone();
                let old = core::mem::replace(&mut **other, new);
                known = Some(other.into_inner());
                Some(old)
            }
            None => {
                known = Some(Box::new(waker.clone()));
                None
            }
        };
        let Some(known) = known else { return Poll::Pending };
        // SAFETY: this sender has not disconnected. Without a mark it owns the slot, which is empty. Where the mark is
        //     refused the receiver has seen none, so this sender still owns what it has put there.
        let refused = unsafe {
            self.link.put_sender(known);
            let marked = self.link.handshake().mark(SENDER_ARMED, LEFT);
            (!marked).then(|| self.link.take_sender())
        };
        let is_refused = refused.is_some();
        // The drops of wakers are user code.
        let mut panics = Panics::none();
        panics.catch(|| drop(replaced));
        panics.catch(|| drop(refused));
        if is_refused { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Blocks until the receiver has disconnected or has closed the channel.
    #[doc = cost!(oneshot WAIT_CLOSED)]
    pub fn wait_closed(&mut self) {
        self.wait_closed_until(Deadline::Never);
    }

    /// Blocks until the receiver has disconnected or has closed the channel (true), or the timeout has passed (false).
    /// `Duration::MAX` means no limit.
    #[doc = cost!(oneshot WAIT_CLOSED)]
    pub fn wait_closed_timeout(&mut self, timeout: Duration) -> bool {
        self.wait_closed_until(Deadline::after(timeout))
    }

    // MUTANT: Arming reads and modifies the same word and finds the disconnection.
    fn wait_closed_until(&mut self, deadline: Deadline) -> bool {
        // SAFETY: this sender has not disconnected, so the memory is there.
        self.is_disconnected() || wait_for_receiver(unsafe { self.link.handshake() }, deadline, || false)
    }

    // MUTANT: Arming reads and modifies the same word and finds the disconnection.
    /// As [`wait_closed_timeout`](Self::wait_closed_timeout); `None` means no limit. Also ends when `stop` is set, as
    /// if the timeout had passed.
    #[cfg(feature = "in-place")]
    pub(in crate::channel) fn wait_closed_or_stop(&mut self, timeout: Option<Duration>, stop: &Stop) -> bool {
        if self.is_disconnected() {
            return true;
        }
        let deadline = timeout.map_or(Deadline::Never, Deadline::after);
        // SAFETY: this sender has not disconnected, so the memory is there, and stays there while it is borrowed.
        let (handshake, _enlisted) = unsafe {
            let handshake = self.link.handshake();
            (handshake, stop.enlist(SleepingPlace::Handshake(handshake.into())))
        };
        wait_for_receiver(handshake, deadline, || stop.is_set())
    }

    // MUTANT: Speed only: the slow path finds no mark and does nothing.
    #[inline]
    fn hang_up(&mut self) {
        // SAFETY: this sender has not disconnected so far, so the memory is there. The word says what is still to be
        //     done.
        unsafe {
            self.link.last_use();
            let before = self.link.handshake().end(HUNG_UP);
            if before != 0 {
                hung_up(self.link, before);
            }
        }
    }

    /// This sender has waited for the receiver's disconnection. The drop of its waker is user code, and comes last. The
    /// receiver's waker, which comes before it, may panic as well.
    #[cold]
    #[inline(never)]
    fn hang_up_with_a_waker(&mut self) {
        let waker = self.take_waker();
        let mut panics = Panics::none();
        panics.catch(|| self.hang_up());
        panics.catch(|| drop(waker));
    }

    // MUTANT: In a race: the receiver takes the waker while the sender polls again. Killed only by the model
    // `the_receivers_end_against_a_task_that_gives_up_and_sends`.
    /// Takes back the waker by which this sender waits, if it waits and the receiver does not call it.
    #[cold]
    fn take_waker(&mut self) -> Option<Box<Waker>> {
        // SAFETY: this sender has not disconnected, so the memory is there.
        let handshake = unsafe { self.link.handshake() };
        if handshake.look() & SENDER_ARMED == 0 || !handshake.unmark(SENDER_ARMED, LEFT) {
            return None;
        }
        // SAFETY: put there before it was marked. The mark has been taken back, so the receiver will not take it.
        Some(unsafe { self.link.take_sender() })
    }
}

// MUTANT: Speed only: the slow path finds no mark and notifies no receiver.
/// The word was `before` when the message was sent: the receiver waits, or it has left.
///
/// # Safety
/// That was this sender's step just now, and nothing has been done since.
#[cold]
#[inline(never)]
unsafe fn sent<T>(link: OneshotLink<T>, before: u32) -> Result<(), SendError<T>> {
    if before & LEFT == 0 {
        // SAFETY: as of this function.
        unsafe { call(link, before) };
        return Ok(());
    }
    // SAFETY: the receiver had left, so this sender still owns the message, and the memory until it is through.
    let message = unsafe { link.take_message() };
    // SAFETY: nothing is used any more.
    unsafe { leave_behind(link, before) };
    Err(SendError(message))
}

// MUTANT: In a race: the receiver frees the memory between two steps of the sender. Killed only by the model
// `the_receivers_end_against_a_task_that_gives_up_and_sends`.
/// Releases the memory after a message that has been taken back: the receiver had left when it was sent.
///
/// # Safety
/// This sender has disconnected by [`SENT`], which found `before`, and is through except for this.
unsafe fn leave_behind<T>(link: OneshotLink<T>, before: u32) {
    // SAFETY: a receiver that notifies frees the memory only if it finds that this sender has hung up. A receiver that
    //     does not notify any more, or never did, leaves it to this sender.
    unsafe {
        if before & SENDER_MARKS != 0 {
            link.last_use();
            if link.handshake().end(HUNG_UP) & SENDER_MARKS != 0 {
                return;
            }
        }
        link.free();
    }
}

// USER CODE: `wake` and `Drop` of the waker of the receiver's task, from `send` and `Drop`; it has been taken out,
//     thread and set are notified, and this handle no longer uses the channel: it is the last step; re-entrance: may
//     receive the message, and free the channel; panic: propagates; the message is there, or the disconnect; test:
//     tests/suite/oneshot/foreign.rs: a_waker_that_panics_when_it_is_woken_loses_no_message,
//     tests/suite/oneshot/tasks.rs: a_waker_may_receive_while_it_is_woken
// MUTANT: In a race: the receiver is dropped while the sender notifies it. Killed only by the models
// `the_receivers_end_against_a_task_that_gives_up_and_sends` and `a_send_against_a_receiver_going_to_sleep`.
/// Notifies the receiver in the ways that it had marked when this sender disconnected. Frees the memory if the receiver
/// is through meanwhile.
///
/// # Safety
/// This sender has disconnected, and the word was `before`, without [`LEFT`]; nothing has been done since.
#[inline]
unsafe fn call<T>(link: OneshotLink<T>, before: u32) {
    let marks = before & RECEIVER_MARKS;
    if marks == 0 {
        // The sender's own waker is left to the receiver, and by now so is everything else.
        return;
    }
    // SAFETY: while its marks are in the word the receiver leaves the memory to this sender, and also the callee, where
    //     it is marked. The last step takes the marks away. After it nothing is accessed, unless the receiver has left.
    let callee = unsafe {
        let callee = (marks & RECEIVER_ARMED != 0).then(|| link.take_callee());
        if marks & RECEIVER_SLEEPS != 0 {
            link.handshake().wake();
        }
        link.last_use();
        if link.handshake().called(marks) & LEFT != 0 {
            link.free();
        }
        callee
    };
    // The task last: a waker is user code and may panic.
    if let Some(callee) = callee {
        callee.call();
    }
}

// MUTANT: In a race: the receiver still notifies while the sender frees the memory. Killed only by the model
// `both_ends_go_at_once_while_tasks_wait_for_both`.
/// The word was `before` when this sender hung up: the receiver waits, or it has left.
///
/// # Safety
/// That was this sender's step just now, and nothing has been done since.
#[cold]
#[inline(never)]
unsafe fn hung_up<T>(link: OneshotLink<T>, before: u32) {
    // SAFETY: as in this function. A receiver that still notifies finds that this sender has hung up, and frees the
    //     memory.
    unsafe {
        if before & LEFT == 0 {
            Panics::in_drop(|| call(link, before));
        } else if before & SENDER_MARKS == 0 {
            link.free();
        }
    }
}

/// The wait of a task until the receiver has left.
pub(in crate::channel) struct UntilLeft<'a, T>(TaskWait<'a, Sender<T>>);

impl<T> Future for UntilLeft<'_, T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.get_mut().0.owner.poll_closed(context)
    }
}

impl<T> Closable for Sender<T> {
    type Wait<'a>
        = UntilLeft<'a, T>
    where
        Self: 'a;
}

impl<T> Drop for Sender<T> {
    // MUTANT: Speed only: the slow path finds no waker.
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this sender has not disconnected so far, so the memory is there.
        if unsafe { self.link.handshake() }.look() & SENDER_ARMED != 0 {
            return self.hang_up_with_a_waker();
        }
        self.hang_up();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("is_disconnected", &self.is_disconnected()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::mem::ManuallyDrop;
    use core::time::Duration;

    use super::{SENT, sent};
    use crate::channel::TryRecvError;
    use crate::channel::oneshot;
    use crate::signal::{Wait, YPollset};

    #[test]
    fn a_receiver_that_is_over_before_the_sender_calls_is_named() {
        let (sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 4).unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(set.check().is_empty());
        // The two halves of `send`.
        let link = ManuallyDrop::new(sender).link;
        // SAFETY: as in `send`; its second half comes below.
        let before = unsafe {
            link.put_message(1);
            link.handshake().end(SENT)
        };
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(1));
        assert!(set.check().eq([4]));
        // SAFETY: the word was this before, and nothing has been done since.
        assert!(unsafe { sent(link, before) }.is_ok());
        assert_eq!(set.detach(&mut receiver), Some(4));
        assert!(set.check().is_empty());
    }
}
