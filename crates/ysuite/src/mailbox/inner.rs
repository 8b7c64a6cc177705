//! [`MailboxInner`]: the state that a mailbox and its addresses share. Any thread; lock-free, except sends that wait
//! for room, and relations.
//!
//! Addresses are counted, because a mailbox without an address must not wait. A `MailboxInner` that another mailbox or
//! a lane keeps is not counted.

// The model checker's `thread_local!` takes no `const`.
#![allow(clippy::missing_const_for_thread_local)]

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::envelope::Envelope;
use super::watchers::Watchers;
use crate::channel::InboxSender;
use crate::channel::mpsc::Sender;
use crate::os::ForkLock;
use crate::sync::{Arc, thread_local};

/// How a send behaves if a bounded mailbox has no room for the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crowding {
    /// The sender waits until there is room. A thread does not wait for ever for its own mailbox: sending to that fails
    /// with [`SendError::Full`](super::SendError::Full).
    ///
    /// A mailbox belongs to the thread that was started for it, or otherwise to the thread that last received from it.
    /// For that thread the send fails at once.
    ///
    /// A thread that was the last to use a mailbox (by any method, such as `address`) and has not received from it may
    /// be about to move it to another thread, or may have done so. It waits for room for a second, once. If no other
    /// thread has used the mailbox by then, the mailbox belongs to this thread. A thread to which a mailbox is moved is
    /// known from its first use of it.
    Block,
    /// The send fails, and [`SendError::Full`](super::SendError::Full) contains the message.
    Error,
    /// The message is dropped, and the send succeeds.
    DropNewest,
    /// The message is sent, and the oldest message that no receive has seen is dropped. If a thread was preempted in
    /// the middle of taking that message out, or of putting it in, the send waits until that thread continues. See
    /// [`force_send`](crate::mpmc::Sender::force_send), which has the same bounds.
    DropOldest,
}

/// The bound of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) capacity: usize,
    pub(super) crowding: Crowding,
}

/// What [`MailboxInner::last_user`] is when that thread has received from the mailbox.
pub(super) fn receiving(thread: u64) -> u64 {
    // MUTANT: The additional bit is set anyway.
    thread << 1 | 1
}

/// The state that a mailbox and its addresses share.
pub(crate) struct MailboxInner {
    /// Never reused in this process.
    pub(super) id: u64,
    pub(super) name: Option<Box<str>>,
    pub(super) sender: InboxSender<Envelope>,
    pub(super) bound: Option<Bound>,
    pub(super) watchers: Watchers<Address>,
    /// The thread that would wait for itself: twice the number of the thread that used the mailbox last, plus one if
    /// that thread received from it. 0 or 1: not known. Only kept with a bound.
    pub(super) last_user: AtomicU64,
    /// For notices from threads that find no lane of their own because all lanes are in use. `None` once the mailbox
    /// has ended.
    pub(super) spare: ForkLock<Option<Sender<Envelope>>>,
    /// Flags for the registry: [`NAMED` and `FORGOTTEN`](super::registry).
    pub(super) naming: AtomicU32,
}

impl MailboxInner {
    // REUSED: a mailbox's id is never reused: 64 bits; by construction: a counter that is only added to
    pub(super) fn new(name: Option<Box<str>>, bound: Option<Bound>, sender: InboxSender<Envelope>) -> Self {
        // Not the façade's: a model need not explore it.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // MUTANT: Numbers only have to differ and to grow.
        // ORDERING: Relaxed; guards nothing, and pairs with nothing: the numbers only have to differ.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let Ok(spare) = sender.ordinary() else { unreachable!("it is the first lane") };
        Self {
            id,
            name,
            sender,
            bound,
            watchers: Watchers::new(),
            last_user: AtomicU64::new(0),
            spare: ForkLock::new(Some(spare)),
            naming: AtomicU32::new(0),
        }
    }

    // MUTANT: Speed only: without a bound the reader of the mailbox is never checked. Killed only by
    // `a_thread_never_waits_for_itself`.
    /// The calling thread receives from the mailbox.
    #[inline(always)]
    pub(super) fn is_read_here(&self) {
        if self.bound.is_some() {
            // ORDERING: Relaxed; pairs with nothing: a thread need only recognise the number that it stored itself.
            self.last_user.store(receiving(this_thread()), Ordering::Relaxed);
        }
    }

    // MUTANT: Killed only by `a_thread_never_waits_for_itself_before_its_first_receive_either` and
    // `a_thread_that_has_given_its_mailbox_away_waits_for_room`.
    /// The calling thread uses the mailbox, and may move it to another.
    #[inline(always)]
    pub(super) fn is_used_here(&self) {
        if self.bound.is_some() {
            let me = this_thread();
            // ORDERING: Relaxed; pairs with nothing: a thread need only recognise the number that it stored itself.
            if self.last_user.load(Ordering::Relaxed) != receiving(me) {
                // ORDERING: Relaxed; pairs with nothing: only the thread that has the mailbox stores.
                self.last_user.store(me << 1, Ordering::Relaxed);
            }
        }
    }

    // MUTANT: The guard is dropped at the end of the function anyway.
    /// The mailbox has ended: its spare lane is freed.
    pub(super) fn close(&self) {
        let spare = self.spare.lock_to_go().and_then(|mut spare| spare.take());
        // After the lock.
        drop(spare);
    }
}

/// The address of a [`Mailbox`](super::Mailbox): one word, shared and cloned freely. Addresses are compared and ordered
/// by their mailbox (the older one is less).
///
/// The messages that one thread sends to one mailbox arrive in the order in which it sent them, also through different
/// clones of the address. The same holds for urgent messages among themselves. Between threads there is no order,
/// unless the mailbox has a bound.
#[doc = cost!(mailbox DROP)]
pub struct Address {
    pub(super) inner: Arc<MailboxInner>,
}

impl Address {
    pub(super) fn new(inner: Arc<MailboxInner>) -> Self {
        inner.sender.enter();
        Self { inner }
    }
}

impl Clone for Address {
    /// Another address of the same mailbox.
    #[doc = cost!(mailbox CLONE)]
    fn clone(&self) -> Self {
        Self::new(self.inner.clone())
    }
}

// USER CODE: none (it notifies the mailbox, whose sleep flag has no waker but that of a select)
impl Drop for Address {
    fn drop(&mut self) {
        self.inner.sender.leave();
    }
}

// THREAD EXIT: `NUMBER` has no destructor, so it stays: a `send` to a full mailbox that blocks waits where the mailbox
//     is another thread's; test: tests/suite/mailbox/thread_locals.rs:
//     a_thread_that_is_ending_waits_for_room_where_it_is_not_the_owner
// THREAD EXIT: to a mailbox of the thread's own it returns `Full`; where thread-locals are emulated it waits
//     (documented); test: tests/suite/mailbox/thread_locals.rs: a_thread_that_is_ending_does_not_wait_for_itself
thread_local! {
    // Without a destructor: if the system has native thread-locals this lives until the thread has ended.
    static NUMBER: Cell<u64> = Cell::new(0);
}

// MUTANT: Killed only by `a_thread_never_waits_for_itself`.
/// The number of the calling thread, which no other thread ever has. 0: not known, on a system with emulated
/// thread-locals while they are being destroyed. Wait-free.
pub(super) fn this_thread() -> u64 {
    NUMBER.try_with(|number| if number.get() == 0 { begin(number) } else { number.get() }).unwrap_or(0)
}

// REUSED: a thread's number is never reused, though a mailbox may keep it after its thread: 64 bits; by construction: a
//     counter that is only added to
// MUTANT: Numbers only have to differ and to grow. Killed only by `a_thread_never_waits_for_itself`.
#[cold]
fn begin(number: &Cell<u64>) -> u64 {
    // Not the façade's: a model need not explore it.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // ORDERING: Relaxed; guards nothing, and pairs with nothing: the numbers only have to differ.
    number.set(NEXT.fetch_add(1, Ordering::Relaxed));
    number.get()
}

#[cfg(all(test, not(any(ysuite_loom, miri))))]
mod tests {
    use std::time::Duration;

    use crate::channel::mpsc::Sender;
    use crate::mailbox::{Builder, Crowding, Envelope, LinkTerminated, Mailbox, OwnerTerminated, SendError};

    /// All lanes that are left.
    fn fill(mailbox: &Mailbox) -> Vec<Sender<Envelope>> {
        core::iter::from_fn(|| mailbox.inner().sender.ordinary().ok()).collect()
    }

    /// Another thread has each of the locks that a mailbox takes when it ends: its own, and that of a mailbox it
    /// watches.
    #[test]
    #[cfg(unix)]
    fn a_forked_child_drops_mailboxes_whose_locks_another_thread_has() {
        use crate::mailbox::{locate, register};
        use crate::os::child_can;
        let (mut watching, watched) = (Mailbox::new(), Mailbox::new());
        watching.link(&watched.address());
        register("a mailbox of a forked parent", &watching.address()).unwrap();
        let (inner, other) = (watching.inner().clone(), watched.inner().clone());
        let mut both = Some((watching, watched));
        type Hold<'a> = &'a (dyn Fn(&dyn Fn()) + Sync);
        let holds: [Hold<'_>; 4] = [
            &|held| inner.spare.held(held),
            &|held| inner.watchers.held(held),
            &|held| other.watchers.held(held),
            &|held| crate::mailbox::registry::held(held),
        ];
        for hold in holds {
            assert!(child_can(|held| hold(held), || drop(both.take())));
        }
        drop(both);
        assert!(locate("a mailbox of a forked parent").is_none());
    }

    #[test]
    fn an_end_is_told_where_there_are_as_many_lanes_as_there_can_be() {
        for bound in [None, Some(2)] {
            let builder = Builder::new();
            let mut watching =
                bound.map_or_else(|| builder.clone(), |bound| builder.clone().bounded(bound, Crowding::Error)).build();
            let address = watching.address();
            let [linked, owned, both] = [(); 3].map(|()| Mailbox::new());
            [&linked, &both].into_iter().for_each(|other| watching.link(&other.address()));
            [&owned, &both].into_iter().for_each(|other| watching.set_owner(other.inner()));
            let lanes = fill(&watching);
            assert_eq!(lanes.len(), crate::channel::mpsc::MAX_SENDERS - 1, "all except the spare one");
            if bound.is_none() {
                assert_eq!(address.send(1_u8), Err(SendError::Full(1)), "there is no lane for this thread");
            } else {
                address.send(1_u8).unwrap();
            }
            drop((linked, owned, both));
            if bound.is_some() {
                // With a bound it comes after the messages as well.
                assert_eq!(watching.receive_only::<u8>(), Ok(1));
            }
            assert!(watching.receive_timeout::<LinkTerminated>(Duration::ZERO).is_ok());
            assert!(watching.receive_timeout::<OwnerTerminated>(Duration::ZERO).is_ok());
            assert!(watching.receive_timeout::<OwnerTerminated>(Duration::ZERO).is_ok());
            assert!(watching.receive_timeout::<LinkTerminated>(Duration::ZERO).is_ok());
            assert_eq!(watching.set_aside(), 0);
            drop(lanes);
        }
    }

    #[test]
    fn the_spare_lane_goes_with_its_mailbox_though_an_address_is_left() {
        let mailbox = Mailbox::new();
        let address = mailbox.address();
        assert!(address.inner.spare.lock().is_some());
        drop(mailbox);
        assert!(address.inner.spare.lock().is_none());
    }
}
