//! The receiver of a watch channel. Each belongs to one thread or task at a time, which it notifies of every new value;
//! `borrow` and `has_changed` may be shared.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::time::Instant;

use super::operations::WatchChange;
use super::shared::{NOTHING, Share, Unseen, WatchShared};
use super::{RecvError, RecvTimeoutError, Ref};
use crate::channel::Spin;
use crate::channel::coop::poll_within_budget;
use crate::channel::future::{OwnedFuture, OwnedOperation};
use crate::channel::identity::{impl_identity, tell_end};
use crate::foreign::{Foreign, Panics};
use crate::operation::{self, Readiness, Task};
use crate::os::Deadline;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;
use crate::wait::many::ManyWait;
use crate::wait::{SharedBackoff, Subscriptions};

/// A receiver of the [channel](super). Every receiver sees the newest value, and knows whether it has seen it before. A
/// clone has seen the same value as its original.
#[doc = cost!(watch DROP)]
pub struct Receiver<T> {
    /// With the last handle the value is dropped, which is user code.
    pub(super) shared: Foreign<Arc<WatchShared<T>>>,
    /// The version that this receiver has seen, or `NOTHING`.
    pub(super) seen: u64,
    pub(super) backoff: SharedBackoff,
    /// Present once this receiver has been polled or attached.
    pub(super) subscriptions: Option<Box<Subscriptions>>,
    /// As a stream it has returned `None`.
    #[cfg(feature = "stream")]
    pub(super) has_ended: bool,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<WatchShared<T>>, seen: u64) -> Self {
        Self {
            shared: Foreign::new(shared),
            seen,
            backoff: SharedBackoff::new(),
            subscriptions: None,
            #[cfg(feature = "stream")]
            has_ended: false,
        }
    }

    /// Borrows the value. It does not count as seen. Waits for a sender that [holds the lock](super#the-lock). A thread
    /// may hold several borrows at once, and must not send while it holds one.
    #[doc = cost!(watch BORROW)]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.borrow(Some(self.seen)).0
    }

    /// Borrows the value, which then counts as seen. Waits for a sender that [holds the lock](super#the-lock), as
    /// [`borrow`](Self::borrow). An attached receiver takes its id down.
    #[doc = cost!(watch BORROW)]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let (value, version) = self.shared.borrow(Some(self.seen));
        self.seen = version;
        rest(&self.shared, self.seen, self.subscriptions.as_deref());
        value
    }

    // MUTANT: Speed only: one more check, or one less: a value that came meanwhile has raised the id again.
    /// Whether there is a value that this receiver has not seen. Never blocks, and needs no fence. An attached receiver
    /// may take its id down.
    #[doc = cost!(watch HAS_CHANGED)]
    #[doc = cost!(watch CHANGED_ATTACHED)]
    ///
    /// # Errors
    /// When it has seen the value, and all senders have disconnected.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let news = || self.shared.news(self.seen).inspect_err(|_| tell_end(self));
        if let Some(_version) = news()? {
            return Ok(true);
        }
        // A value may have arrived while the id was being taken down.
        let found = rest(&self.shared, self.seen, self.subscriptions.as_deref());
        Ok(found && news()?.is_some())
    }

    /// From now on the value counts as not seen: the next [`changed`](Self::changed) returns at once. An attached
    /// receiver's id goes up.
    pub fn mark_changed(&mut self) {
        self.seen = NOTHING;
        // There is an unseen value, whether or not all senders have disconnected.
        #[cfg(feature = "stream")]
        {
            self.has_ended = false;
        }
        Attach::with_registration(self, &mut |registration| registration.raise());
    }

    /// From now on the current value counts as seen. Lock-free. An attached receiver takes its id down.
    pub fn mark_unchanged(&mut self) {
        self.see();
    }

    /// Waits for a value that this receiver has not seen. From then on it counts as seen, and a later value ends the
    /// next wait. So read the value afterwards.
    ///
    /// Where there is none it spins for a while (see [`set_spin`](Self::set_spin)) and then sleeps in the kernel.
    #[doc = cost!(watch CHANGED)]
    #[doc = cost!(watch CHANGED_ATTACHED)]
    #[doc = cost!(watch CHANGED_WAIT)]
    ///
    /// # Errors
    /// When it has seen the value, and all senders have disconnected.
    pub fn changed(&mut self) -> Result<(), RecvError> {
        self.changed_until(|| Deadline::Never).map_err(|_| RecvError)
    }

    /// As [`changed`](Self::changed), but waits for at most `timeout`. `Duration::MAX` means no limit.
    ///
    /// # Errors
    /// When the timeout has passed, and when it has seen the value and all senders have disconnected.
    pub fn changed_timeout(&mut self, timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.changed_until(|| Deadline::after(timeout))
    }

    /// As [`changed`](Self::changed), but waits until `deadline` at most.
    ///
    /// # Errors
    /// When the deadline has passed, and when it has seen the value and all senders have disconnected.
    pub fn changed_deadline(&mut self, deadline: Instant) -> Result<(), RecvTimeoutError> {
        self.changed_until(|| Deadline::At(deadline))
    }

    /// As [`changed`](Self::changed), for a task. Needs no particular runtime.
    ///
    /// Where the future is dropped before it is ready, no value counts as seen.
    #[doc = cost!(watch CHANGED_TASK)]
    ///
    /// # Errors
    /// When it has seen the value, and all senders have disconnected.
    pub fn changed_async(&mut self) -> ChangedFuture<'_, T> {
        ChangedFuture(Task::new(WatchChange::new(self), Foreign::none()))
    }

    /// As [`changed_async`](Self::changed_async), with a future that owns this receiver, and returns it with the result.
    #[doc = cost!(watch CHANGED_TASK)]
    ///
    /// # Errors
    /// As [`changed_async`](Self::changed_async).
    pub fn changed_owned_async(self) -> OwnedFuture<Self>
    where
        T: 'static,
    {
        OwnedFuture::new(self, ())
    }

    // MUTANT: A version that is the last one has been observed already.
    /// As [`changed`](Self::changed), or registers the task to be woken when there may be a value. Allocates the first
    /// time. Only the task that polled this receiver last is woken.
    #[doc = cost!(watch CHANGED_TASK)]
    ///
    /// # Errors
    /// When it has seen the value, and all senders have disconnected.
    pub fn poll_changed(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        let outcome = ready!(self.poll_unseen(context));
        if outcome.is_ok() {
            self.see();
        }
        Poll::Ready(outcome)
    }

    /// As [`poll_changed`](Self::poll_changed), but the value does not count as seen.
    pub(super) fn poll_unseen(&mut self, context: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        poll_within_budget(context, |context| {
            let end = self.shared.unseen(self.seen);
            loop {
                // Its slot may be armed by an earlier poll.
                if let Some(subscriptions) = &self.subscriptions {
                    subscriptions.disarm_task(end);
                }
                match self.shared.news(self.seen) {
                    Ok(Some(_)) => return Poll::Ready(Ok(())),
                    Ok(None) => self.subscriptions.get_or_insert_default().arm_task(end, context.waker()),
                    Err(error) => return Poll::Ready(Err(error)),
                }
                if matches!(self.shared.news(self.seen), Ok(None)) {
                    return Poll::Pending;
                }
            }
        })
    }

    /// Waits for a value that `predicate` accepts, beginning with the current value, seen or not. The values that it
    /// has refused count as seen, and so does the one that is returned. `predicate` never sees values that are replaced
    /// too soon.
    ///
    /// `predicate` runs while no sender can change the value. It must not send into this channel: that waits for ever.
    #[doc = cost!(watch WAIT_FOR)]
    #[doc = cost!(watch CHANGED_WAIT)]
    ///
    /// # Errors
    /// When `predicate` has refused the last value, and all senders have disconnected.
    ///
    /// # Panics
    /// When `predicate` panics: the value counts as seen.
    pub fn wait_for(&mut self, predicate: impl FnMut(&T) -> bool) -> Result<Ref<'_, T>, RecvError> {
        self.wait_for_until(Deadline::Never, predicate).map_err(|_| RecvError)
    }

    /// As [`wait_for`](Self::wait_for), but waits for at most `timeout`. `Duration::MAX` means no limit.
    ///
    /// # Errors
    /// When the timeout has passed, and when `predicate` has refused the last value and all senders have disconnected.
    pub fn wait_for_timeout(
        &mut self,
        timeout: Duration,
        predicate: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvTimeoutError> {
        self.wait_for_until(Deadline::after(timeout), predicate)
    }

    /// As [`wait_for`](Self::wait_for), but waits until `deadline` at most.
    ///
    /// # Errors
    /// When the deadline has passed, and when `predicate` has refused the last value and all senders have disconnected.
    pub fn wait_for_deadline(
        &mut self,
        deadline: Instant,
        predicate: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvTimeoutError> {
        self.wait_for_until(Deadline::At(deadline), predicate)
    }

    /// As [`wait_for`](Self::wait_for), for a task. Needs no particular runtime.
    ///
    /// Where the future is dropped before it is ready, only values that `predicate` has refused count as seen. Where
    /// values arrive as fast as it refuses them, the task yields after some.
    #[doc = cost!(watch CHANGED_TASK)]
    ///
    /// # Errors
    /// When `predicate` has refused the last value, and all senders have disconnected.
    pub fn wait_for_async<F: FnMut(&T) -> bool>(&mut self, predicate: F) -> WaitForFuture<'_, T, F> {
        let Self { shared, seen, subscriptions, .. } = self;
        let predicate = Some(Foreign::new(predicate));
        WaitForFuture { wait: None, predicate, shared, seen, subscriptions: subscriptions.as_deref() }
    }

    /// Sets how this receiver spins before it sleeps, from the next wait on. The default is [`Spin::Adaptive`].
    pub fn set_spin(&mut self, spin: Spin) {
        self.backoff.set(spin);
    }

    /// Whether all senders have disconnected: the current value is the last. Wait-free.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.shared.is_closed()
    }

    /// Takes this receiver out of its set: its id is down, and free. False: it was in no set. It can be attached again,
    /// to any set.
    ///
    /// A sender that was about to raise the id may still do so once. The next owner of the id must treat that as a
    /// spurious signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        let end = self.shared.unseen(self.seen);
        self.subscriptions.as_mut().is_some_and(|subscriptions| subscriptions.detach(end))
    }

    /// The current value counts as seen from now on.
    fn see(&mut self) {
        see(&self.shared, &mut self.seen, self.subscriptions.as_deref());
    }

    // MUTANT: Speed only: the wait that follows checks first as well.
    fn changed_until(&mut self, deadline: impl FnOnce() -> Deadline) -> Result<(), RecvTimeoutError> {
        if self.shared.news(self.seen)?.is_none() {
            let waited = operation::block(WatchChange::new(self), &mut None, deadline());
            return Ok(waited.ok_or(RecvTimeoutError::Timeout)??);
        }
        self.see();
        Ok(())
    }

    // USER CODE: the caller's predicate, in `wait_for_async` too; the lock is held for reading, and the value counts as
    //     seen; re-entrance: may borrow; must not send, which would wait for ever; panic: the lock is freed; test:
    //     tests/suite/watch/foreign.rs: a_predicate_that_panics_has_seen_the_value
    // USER CODE: `Drop` of the predicate's captures; the value counts as seen, and a local holds the lock for reading;
    //     re-entrance: as of the predicate; panic: the lock is freed; test: tests/suite/watch/foreign.rs:
    //     a_predicate_whose_end_panics_keeps_no_sender_out
    // MUTANT: In a race: values arrive as fast as they are refused. Killed only by
    // `values_that_keep_coming_delay_no_disconnect_and_no_turn`.
    // Fields are borrowed one by one: the value that is returned borrows `shared` from its read on.
    fn wait_for_until(
        &mut self,
        deadline: Deadline,
        mut predicate: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvTimeoutError> {
        let mut is_last = false;
        let found = loop {
            let (value, version) = self.shared.borrow(Some(self.seen));
            self.seen = version;
            rest(&self.shared, self.seen, self.subscriptions.as_deref());
            if predicate(&value) {
                break value;
            }
            drop(value);
            if is_last {
                // The disconnection is reported as such.
                self.shared.news(self.seen)?;
                return Err(RecvTimeoutError::Timeout);
            }
            unseen_until(&self.shared, self.seen, &self.backoff, deadline)?;
            // Before the read: a value that is there at the deadline is passed to the predicate, and none after it,
            // however fast they arrive.
            is_last = deadline.is_over();
        };
        // As in `wait_for_async`.
        drop(predicate);
        Ok(found)
    }

    /// Waits for a value that this receiver has not seen; it does not count as seen.
    pub(super) fn wait_unseen(&self) -> Result<(), RecvTimeoutError> {
        unseen_until(&self.shared, self.seen, &self.backoff, Deadline::Never)
    }

    /// Whether there is a value that this receiver has not seen. Only polls: an attached receiver keeps its id up.
    pub(super) fn has_unseen(&self) -> bool {
        matches!(self.shared.news(self.seen), Ok(Some(_)))
    }

    /// A clone of the value, which then counts as seen. An attached receiver keeps its id up.
    pub(super) fn clone_unseen(&mut self) -> T
    where
        T: Clone,
    {
        let share = self.shared.share();
        Self::clone_share(&mut self.seen, share)
    }

    /// As [`clone_unseen`](Self::clone_unseen). `None`: a sender holds the lock.
    pub(super) fn try_clone_unseen(&mut self) -> Option<T>
    where
        T: Clone,
    {
        let share = self.shared.try_share()?;
        Some(Self::clone_share(&mut self.seen, share))
    }

    fn clone_share(seen: &mut u64, share: Share<'_, T>) -> T
    where
        T: Clone,
    {
        let clone = share.cloned();
        *seen = share.version;
        // The value may have been replaced meanwhile, and is dropped then, which is user code.
        Panics::answer_behind(clone, || drop(share))
    }
}

/// The current value counts as seen.
pub(super) fn see<T>(shared: &WatchShared<T>, seen: &mut u64, subscriptions: Option<&Subscriptions>) {
    *seen = shared.version();
    rest(shared, *seen, subscriptions);
}

/// An attached receiver has seen the value: takes its id down, arms, and checks once more. True: there is another
/// value, or the disconnection, and the id is up.
fn rest<T>(shared: &WatchShared<T>, seen: u64, subscriptions: Option<&Subscriptions>) -> bool {
    subscriptions.is_some_and(|subscriptions| subscriptions.rest(shared.unseen(seen)))
}

// WAITS: for a value that was not seen; ends: that, the last sender has disconnected, the deadline; spin: `None` parks at
//     once, `Adaptive` polls, yields, parks, `Forever` polls for ever; a change notifies all waiters; test:
//     tests/suite/watch/waiting.rs: one_value_wakes_all_threads_that_wait
/// Blocks until there is a value that was not seen.
fn unseen_until<T>(
    shared: &WatchShared<T>,
    seen: u64,
    backoff: &SharedBackoff,
    deadline: Deadline,
) -> Result<(), RecvTimeoutError> {
    let waited = operation::block(Readiness::new(shared.unseen(seen), backoff), &mut (), deadline);
    waited.ok_or(RecvTimeoutError::Timeout)?;
    shared.news(seen)?;
    Ok(())
}

/// A wait of a task for a value: see [`changed_async`](Receiver::changed_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct ChangedFuture<'a, T>(Task<WatchChange<'a, T>>);

impl<T> Future for ChangedFuture<'_, T> {
    type Output = Result<(), RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), RecvError>> {
        let Self(task) = self.get_mut();
        poll_within_budget(context, |context| Pin::new(&mut *task).poll(context))
    }
}

impl<T> fmt::Debug for ChangedFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangedFuture").finish_non_exhaustive()
    }
}

impl<T: 'static> OwnedOperation for Receiver<T> {
    type Argument = ();
    type Outcome = Result<(), RecvError>;
    type Future<'a> = ChangedFuture<'a, T>;

    fn begin(&mut self, (): ()) -> ChangedFuture<'_, T> {
        self.changed_async()
    }
}

/// A wait of a task for a value that is accepted: see [`wait_for_async`](Receiver::wait_for_async).
#[must_use = "futures do nothing unless they are polled"]
pub struct WaitForFuture<'a, T, F> {
    /// For a value after the one that was refused.
    wait: Option<ManyWait<Unseen<'a, T>>>,
    /// `None` once a value was accepted.
    predicate: Option<Foreign<F>>,
    shared: &'a WatchShared<T>,
    seen: &'a mut u64,
    subscriptions: Option<&'a Subscriptions>,
}

impl<'a, T, F: FnMut(&T) -> bool> WaitForFuture<'a, T, F> {
    fn poll_accepted(&mut self, context: &mut Context<'_>) -> Poll<Result<Ref<'a, T>, RecvError>> {
        /// This many checks without a wait are one turn of the task.
        const TURN: u32 = 64;
        for _ in 0..TURN {
            if let Some(wait) = &mut self.wait {
                ready!(wait.poll(context));
                self.wait = None;
                self.shared.news(*self.seen)?;
            }
            let predicate = self.predicate.as_mut().expect("a future is not polled when it has been ready");
            let (value, version) = self.shared.borrow(Some(*self.seen));
            *self.seen = version;
            rest(self.shared, *self.seen, self.subscriptions);
            if predicate(&value) {
                // User code, while the value is a local: a value being returned would leak, and its lock with it, if that
                // panicked.
                self.predicate = None;
                return Poll::Ready(Ok(value));
            }
            drop(value);
            self.wait = Some(ManyWait::new(self.shared.unseen(*self.seen), false));
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<'a, T, F: FnMut(&T) -> bool> Future for WaitForFuture<'a, T, F> {
    type Output = Result<Ref<'a, T>, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        poll_within_budget(context, |context| this.poll_accepted(context))
    }
}

// Neither the value nor the predicate is pinned in it.
impl<T, F> Unpin for WaitForFuture<'_, T, F> {}

impl<T, F> fmt::Debug for WaitForFuture<'_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForFuture").finish_non_exhaustive()
    }
}

impl<T> Receiver<T> {
    /// The number of senders. May be out of date at once. Wait-free.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.senders()
    }

    /// The number of receivers. May be out of date at once. Wait-free.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers()
    }

    /// Whether both are handles of the same channel. So does `==`, and the hash is the channel's. Wait-free.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self == other
    }
}

impl_identity!(Receiver);

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("senders", &self.sender_count())
            .field("receivers", &self.receiver_count())
            .finish_non_exhaustive()
    }
}

impl<T> Clone for Receiver<T> {
    /// Another receiver, which has seen the same value as this one. It is attached to no set.
    #[doc = cost!(watch SUBSCRIBE)]
    fn clone(&self) -> Self {
        self.shared.add_receiver();
        Self {
            shared: Foreign::new(self.shared.clone()),
            seen: self.seen,
            backoff: self.backoff.again(),
            subscriptions: None,
            #[cfg(feature = "stream")]
            has_ended: false,
        }
    }
}

// USER CODE: `Drop` of the waker of the task that polled; its slots are given back; re-entrance: may use other handles;
//     panic: the receiver is counted out, then it propagates; test: tests/suite/watch/foreign.rs:
//     a_receiver_whose_wakers_drop_panics_is_gone_all_the_same
impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut panics = Panics::none();
        // User code: a waker that is dropped.
        if let Some(subscriptions) = &mut self.subscriptions {
            panics.catch(|| subscriptions.unregister(self.shared.unseen(self.seen)));
        }
        panics.catch(|| self.shared.remove_receiver());
    }
}

impl<T> Attach for Receiver<T> {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        let end = self.shared.unseen(self.seen);
        self.subscriptions.get_or_insert_default().attach(end, registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.subscriptions
            .as_ref()
            .inspect(|subscriptions| subscriptions.with_registration(self.shared.unseen(self.seen), look));
    }

    fn detach(&mut self) -> bool {
        Receiver::detach(self)
    }
}
