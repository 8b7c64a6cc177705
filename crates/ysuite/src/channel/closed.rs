//! Closing an spsc or mpsc channel without dropping a handle, and waiting for the receiver's disconnection. Written
//! once for both.
//!
//! Closing is wait-free, except for the drops of messages that were hidden. Waiting blocks, or registers a task. Any
//! number of threads and tasks may wait by one sender. They cost the receiver nothing before it disconnects: they are
//! in a list of their own, which it checks once.
//!
//! Cannot: reopen a channel.

use core::ptr;
use core::task::Waker;

use super::future::UntilReady;
use super::receive::{ReadingEnd, Receiving};
use super::send::{SenderLink, Sending};
use crate::foreign::Panics;
use crate::os::Deadline;
use crate::sync::{AtomicPtr, Ordering, fence};
use crate::wait::many::{ManyWait, SharedEnd, notify_all};
use crate::wait::one::{self};
use crate::wait::{SharedBackoff, Spin, WaitList};

/// The waiters for the disconnection of a receiver. Takes a word until there is one.
pub(super) struct EndWatchers {
    /// Null before the first wait; made once.
    list: AtomicPtr<WatcherList>,
}

/// The list, and its functions by their addresses: a program in which nothing waits for a disconnection links none of
/// them, though every receiver calls them.
struct WatcherList {
    list: WaitList,
    notify_all: fn(&WaitList),
    free: unsafe fn(*mut Self),
}

impl WatcherList {
    fn make() -> *mut Self {
        // SAFETY: by the caller of `free`, which is called with what this returns, once.
        let free = |list| drop(unsafe { Box::from_raw(list) });
        Box::into_raw(Box::new(Self { list: WaitList::new(), notify_all, free }))
    }
}

impl EndWatchers {
    pub(super) fn none() -> Self {
        Self { list: AtomicPtr::new(ptr::null_mut()) }
    }

    // MUTANT: Killed only by `waiting_for_the_receivers_end`.
    fn list(&self) -> Option<&WatcherList> {
        // ORDERING: Acquire pairs with the Release in `list_or_new`: the list is made.
        let list = self.list.load(Ordering::Acquire);
        // SAFETY: null, or a box's that was stored once, and lives as long as `self`.
        unsafe { list.as_ref() }
    }

    // MUTANT: Speed only: the exchange refuses a second list, which is then dropped.
    #[cold]
    fn list_or_new(&self) -> &WaitList {
        if self.list().is_none() {
            let made = WatcherList::make();
            // ORDERING: Release pairs with the Acquire in `list`: the list is made. Relaxed on failure: `list`
            //     acquires.
            let put = self.list.compare_exchange(ptr::null_mut(), made, Ordering::Release, Ordering::Relaxed);
            if put.is_err() {
                // SAFETY: made above, and no other thread has its address, as the exchange has failed.
                unsafe { ((*made).free)(made) };
            }
        }
        &self.list().expect("made just now").list
    }

    // USER CODE: wakers of tasks that wait until the receiver has disconnected; the disconnect is visible before the
    //     first is woken; re-entrance: any operation; panic: the others are woken, then it propagates. The drop is of a
    //     list in which nothing waits; test: tests/suite/conformance/channel/closing.rs:
    //     tasks_wait_for_the_receivers_end
    // MUTANT: In a race: a thread makes the list while the receiver closes. Killed only by the model
    // `a_thread_that_waits_for_the_end_against_a_receiver_that_closes`.
    /// The receiver has closed the channel, or has disconnected: all that wait for that are notified. Wakers are user
    /// code: the first panic continues when all have been notified.
    pub(super) fn tell(&self) {
        // ORDERING: pairs with the fence in `WaitList::arm`, which comes after the list is made: either the
        //     waiter's check finds the receiver's disconnection, or the list is found here.
        fence(Ordering::SeqCst);
        if let Some(watchers) = self.list() {
            (watchers.notify_all)(&watchers.list);
        }
    }
}

impl Drop for EndWatchers {
    // MUTANT: Killed only by `a_list_of_waiters_for_the_disconnect_is_freed_with_the_channel`.
    fn drop(&mut self) {
        // ORDERING: Relaxed; `&mut self`: the owner that drops this has synchronised with all other threads.
        let list = self.list.load(Ordering::Relaxed);
        if !list.is_null() {
            // SAFETY: `list_or_new` has made it, and `&mut self` excludes all other threads.
            unsafe { ((*list).free)(list) };
        }
    }
}

/// The disconnection of a receiver, as its senders wait for it.
pub(in crate::channel) struct AwaitedEnd<'a, T, L: SenderLink<T>>(pub(super) &'a Sending<T, L>);

impl<T, L: SenderLink<T>> Clone for AwaitedEnd<'_, T, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, L: SenderLink<T>> Copy for AwaitedEnd<'_, T, L> {}

impl<T, L: SenderLink<T>> SharedEnd for AwaitedEnd<'_, T, L> {
    fn list(&self) -> &WaitList {
        self.0.end.link.end_watchers().list_or_new()
    }

    fn is_ready(&self) -> bool {
        self.0.is_over()
    }

    /// A notified waiter leaves nothing to others: all are notified.
    fn supply(&self) -> usize {
        0
    }
}

impl<T, L: SenderLink<T>> Sending<T, L> {
    // USER CODE: `Drop` of messages that a flush drops, then the receiver's waker; the queue is closed; re-entrance:
    //     other threads may use the handle; panic: each runs whatever the other does; propagates after this handle is
    //     closed. For a rendezvous: `tell_end`, after the rendezvous is closed; test:
    //     tests/suite/conformance/channel/closing.rs: panicking_drops_at_the_cut
    // MUTANT: Speed only: the wait begins with the same check.
    /// Flushes, and closes this sender. True: sending was still possible.
    pub(super) fn close(&mut self) -> bool {
        let was_open = !self.is_over();
        // The flush may drop messages, which is user code, and so is the receiver's waker.
        let mut panics = Panics::none();
        panics.catch(|| {
            self.flush();
        });
        panics.catch(|| self.end.meeting.end());
        // Out before the close, when its lane may become another sender's; woken after it.
        let waker = self.end.link.forget();
        panics.catch(|| self.end.end());
        self.end.writer.end();
        panics.catch(|| waker.into_iter().for_each(Waker::wake));
        was_open
    }

    // MUTANT: Speed only: the wait begins with the same check.
    pub(super) fn closed(&self) -> UntilReady<AwaitedEnd<'_, T, L>> {
        if self.is_over() { UntilReady::over() } else { UntilReady::new(AwaitedEnd(self)) }
    }

    // MUTANT: Speed only: the wait begins with the same check. The spin before it finds the disconnection sooner.
    /// Blocks until the receiver disconnects (true), or until the deadline has passed (false).
    pub(super) fn wait_closed(&self, deadline: impl FnOnce() -> Deadline) -> bool {
        if self.is_over() {
            return true;
        }
        // The disconnection is seldom near: polling for it would be a waste.
        let backoff = SharedBackoff::new();
        backoff.set(Spin::None);
        ManyWait::new(AwaitedEnd(self), false).block(&backoff, deadline())
    }
}

impl<E: ReadingEnd> Receiving<E> {
    /// True: it was open.
    pub(super) fn close(&mut self) -> bool {
        if self.end.is_closed() {
            // It is disconnected, or this is a rendezvous.
            return self.meeting.close(|| self.end.tell_end()).unwrap_or(false);
        }
        let mut panics = Panics::none();
        panics.catch(|| self.end.close());
        // The disconnection concerns this receiver's set and task as well: another thread than the waiting one may
        // close it.
        one::registration(&self.end).inspect(|registration| registration.raise());
        panics.catch(|| self.end.target().task.wake());
        true
    }
}
