//! What a mailbox and its addresses share. Any thread; lock-free, but for what a bound makes wait, and for relations.
//!
//! An address is counted, because a mailbox that nobody has the address of must not wait for ever. Who keeps the inner of
//! another (to see its end, or to send to it) does not keep that open.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::PoisonError;

use super::envelope::Envelope;
use super::error::SendError;
use super::outbox::{self, Rank};
use super::relations::Watchers;
use crate::channel::mpsc::Sender;
use crate::channel::{InboxSender, SendTimeoutError, TrySendError};
use crate::sync::{Mutex, MutexGuard, thread, thread_local};

/// What becomes of a message for which a bounded mailbox has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crowding {
    /// Its sender waits until there is room. A thread never waits for ever for a mailbox of its own: to it a full one is an
    /// error, [`SendError::Full`].
    ///
    /// A mailbox belongs to the thread that was started for it, and otherwise to the one that has received from it last:
    /// to that one the error comes at once. A thread that has used a mailbox last (by any method, as `address`) and has not
    /// received from it may be about to give it to another, or have done so. It waits for room for a second, once: if
    /// nobody else has used the mailbox by then, it belongs to that thread. One that gets a mailbox from another is known
    /// by its first use of it.
    Block,
    /// Its sender gets it back, in [`SendError::Full`].
    Error,
    /// It is dropped, and its sender is not told.
    DropNewest,
    /// It is sent, and the oldest is dropped that has not been looked at.
    DropOldest,
}

/// Bounds of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) capacity: usize,
    pub(super) crowding: Crowding,
}

/// So long a thread waits for room in a mailbox that is its own, or that it has given to another thread which has not
/// used it yet.
const OWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Twice the number of the thread that has used a mailbox last, and one more if that has received from it. 0: not known.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LastUser(u64);

impl LastUser {
    fn receiving(thread: u64) -> Self {
        Self(if thread == 0 { 0 } else { thread << 1 | 1 })
    }

    fn using(thread: u64) -> Self {
        Self(thread << 1)
    }
}

pub(crate) struct MailboxInner {
    id: u64,
    name: Option<Box<str>>,
    pub(super) sender: InboxSender<Envelope>,
    pub(super) bound: Option<Bound>,
    pub(super) watchers: Watchers,
    /// Whose the mailbox is, as far as is known: see [`LastUser`]. Of interest where that thread might wait for itself.
    last_user: AtomicU64,
    /// For the ends of others that find no lane of their own, since there are as many as there can be. None after the end.
    spare: Mutex<Option<Sender<Envelope>>>,
    /// It has ended, and has no name any more. Guarded by the registry's lock.
    forgotten: AtomicBool,
}

impl MailboxInner {
    pub(super) fn new(name: Option<Box<str>>, bound: Option<Bound>, sender: InboxSender<Envelope>) -> Self {
        // Not the façade's: a number that guards nothing.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // ORDERING: Relaxed; numbers only have to differ.
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let Ok(spare) = sender.ordinary() else { unreachable!("there is room for the first lane") };
        Self {
            id,
            name,
            sender,
            bound,
            watchers: Watchers::new(),
            last_user: AtomicU64::new(0),
            spare: Mutex::new(Some(spare)),
            forgotten: AtomicBool::new(false),
        }
    }

    /// Never given again in this process.
    #[inline(always)]
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Under the registry's lock: whether the mailbox has ended.
    pub(super) fn is_forgotten(&self) -> bool {
        // ORDERING: Relaxed; the lock orders it.
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Under the registry's lock: the mailbox has ended.
    pub(super) fn forget(&self) {
        // ORDERING: Relaxed; the lock orders it.
        self.forgotten.store(true, Ordering::Relaxed);
    }

    /// The calling thread receives from the mailbox.
    #[inline(always)]
    pub(super) fn is_read_here(&self) {
        if self.bound.is_some() {
            // ORDERING: Relaxed; a thread need only recognise itself.
            self.last_user.store(LastUser::receiving(this_thread()).0, Ordering::Relaxed);
        }
    }

    /// The calling thread has the mailbox, and may give it away.
    #[inline(always)]
    pub(super) fn is_used_here(&self) {
        if self.bound.is_some() {
            let me = this_thread();
            // ORDERING: Relaxed twice; as above, and only the thread that has the mailbox comes here.
            if self.last_user.load(Ordering::Relaxed) != LastUser::receiving(me).0 {
                self.last_user.store(LastUser::using(me).0, Ordering::Relaxed);
            }
        }
    }

    #[inline(always)]
    pub(super) fn send(&self, envelope: Envelope, rank: Rank) -> Result<(), SendError<Envelope>> {
        match &self.bound {
            Some(bound) if rank == Rank::Ordinary => self.send_bounded(bound.crowding, envelope),
            _ => outbox::send(self, rank, envelope),
        }
    }

    /// Tells the mailbox something that no bound may hold up. If it has ended, nothing.
    pub(super) fn tell(&self, notice: Envelope) {
        if let Err(SendError::Full(notice)) = outbox::send(self, Rank::Ordinary, notice) {
            self.tell_by_spare(notice);
        }
    }

    /// There are as many lanes as there can be, none of them the calling thread's: so there is nothing of its own that
    /// this must come behind. Nothing foreign runs under the lock.
    #[cold]
    fn tell_by_spare(&self, notice: Envelope) {
        let mut spare = self.spare();
        let refused = spare.as_mut().map(|spare| spare.send(notice));
        drop(spare);
        // It has ended meanwhile.
        drop(refused);
    }

    /// The mailbox has ended: its spare lane is freed.
    pub(super) fn close(&self) {
        let spare = self.spare().take();
        // Behind the lock.
        drop(spare);
    }

    fn spare(&self) -> MutexGuard<'_, Option<Sender<Envelope>>> {
        // Nothing in here panics half way.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send_bounded(&self, crowding: Crowding, envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let mut back = match self.sender.try_send(envelope) {
            Err(TrySendError::Full(back)) => back,
            sent => return Ok(sent?),
        };
        match crowding {
            Crowding::Error => Err(SendError::Full(back)),
            Crowding::DropNewest => Ok(()),
            Crowding::Block => self.send_waiting(back),
            Crowding::DropOldest => loop {
                let oldest = self.sender.displace();
                match self.sender.try_send(back) {
                    Err(TrySendError::Full(again)) => back = again,
                    sent => return Ok(sent?),
                }
                if oldest.is_none() {
                    // The oldest is being put in, or taken out, by a thread that has lost its CPU.
                    thread::yield_now();
                }
            },
        }
    }

    /// Waits for room, unless the mailbox is the calling thread's.
    #[cold]
    fn send_waiting(&self, mut envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let me = this_thread();
        loop {
            // ORDERING: Relaxed; a thread recognises what it has written itself.
            let last_user = LastUser(self.last_user.load(Ordering::Relaxed));
            if me == 0 || last_user.0 >> 1 != me {
                return Ok(self.sender.send(envelope)?);
            }
            if last_user == LastUser::receiving(me) {
                return Err(SendError::Full(envelope));
            }
            envelope = match self.sender.send_timeout(envelope, OWN_TIMEOUT) {
                Ok(()) => return Ok(()),
                Err(SendTimeoutError::Disconnected(back)) => return Err(SendError::Ended(back)),
                Err(SendTimeoutError::Timeout(back)) => back,
            };
            // ORDERING: Relaxed; as above. It fails where another thread has used the mailbox meanwhile.
            let _ = self.last_user.compare_exchange(
                last_user.0,
                LastUser::receiving(me).0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }
}

thread_local! {
    // Without a destructor: where the system knows thread-locals itself this is there to the thread's very end.
    static NUMBER: Cell<u64> = Cell::new(0);
}

/// A number that no other thread ever has. 0 where nothing can be known any more: on a system whose thread-locals are
/// emulated, while they are being destroyed.
fn this_thread() -> u64 {
    NUMBER.try_with(|number| if number.get() == 0 { begin(number) } else { number.get() }).unwrap_or(0)
}

#[cold]
fn begin(number: &Cell<u64>) -> u64 {
    // Not the façade's: a number that guards nothing.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // ORDERING: Relaxed; numbers only have to differ.
    number.set(NEXT.fetch_add(1, Ordering::Relaxed));
    number.get()
}

#[cfg(all(test, not(any(ysuite_loom, miri))))]
mod tests {
    use std::time::Duration;

    use crate::channel::mpsc::Sender;
    use crate::mailbox::{Builder, Crowding, Envelope, LinkTerminated, Mailbox, OwnerTerminated, SendError};

    /// All lanes that there can be.
    fn fill(mailbox: &Mailbox) -> Vec<Sender<Envelope>> {
        core::iter::from_fn(|| mailbox.inner().sender.ordinary().ok()).collect()
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
            assert_eq!(lanes.len(), crate::channel::mpsc::MAX_SENDERS - 1, "but one, which is kept for ends");
            if bound.is_none() {
                assert_eq!(address.send(1_u8), Err(SendError::Full(1)), "there is no lane for this thread");
            } else {
                address.send(1_u8).unwrap();
            }
            drop((linked, owned, both));
            if bound.is_some() {
                // With a bound it comes behind the messages as well.
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
}
