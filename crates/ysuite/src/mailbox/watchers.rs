//! The watchers of a mailbox, which are notified when it ends: those linked to it, and those it owns.
//!
//! Any thread. Rare, so guarded by a lock. It is held for some instructions, and never while a thread sends, wakes or
//! drops anything. The lock orders the termination of a mailbox and a new link: either the termination notifies the
//! link, or the link finds that the mailbox has ended.

use crate::foreign::Panics;
use crate::number_map::NumberMap;
use crate::os::ForkLock;

/// The text of the panic in which a mailbox's thread has ended, if it has.
pub(super) type PanicText = Option<std::sync::Arc<str>>;

/// The relation of the watched mailbox to the watcher. The termination of an owner is reported before that of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Owner = 1,
    Link = 2,
}

struct Watcher<A> {
    /// It counts: the watcher may wait for the notice.
    address: A,
    /// The sum of its relations.
    relations: u8,
}

/// By id.
type WatcherMap<A> = NumberMap<Watcher<A>>;

// GROWS: watchers of a mailbox; bound: mailboxes that watch; each goes when the watcher ends or unlinks, all on drop;
//     cost: constant; on drop once for each; test: tests/allocation/mailboxes.rs:
//     watchers_that_have_ended_are_forgotten
/// The watchers of one mailbox, with their addresses; once it has ended, the text of its panic.
pub(super) struct Watchers<A>(ForkLock<Result<WatcherMap<A>, PanicText>>);

impl<A> Watchers<A> {
    pub(super) fn new() -> Self {
        Self(ForkLock::new(Ok(WatcherMap::default())))
    }

    /// Adds the watcher `id`.
    ///
    /// # Errors
    /// If the mailbox has ended already: the text of its panic.
    pub(super) fn add(&self, id: u64, address: impl FnOnce() -> A, relation: Relation) -> Result<(), PanicText> {
        let mut watchers = self.0.lock();
        let watchers = watchers.as_mut().map_err(|panic| panic.clone())?;
        let new = || Watcher { address: address(), relations: 0 };
        watchers.get_or_insert_with(id, new).relations |= relation as u8;
        Ok(())
    }

    /// Runs this with the lock.
    #[cfg(all(test, unix, not(any(ysuite_loom, miri))))]
    pub(super) fn held(&self, act: &dyn Fn()) {
        self.0.held(act);
    }

    // MUTANT: The address is dropped at the end of the function anyway; its drop takes no lock.
    /// Removes the watcher `id`, as far as it has these relations.
    pub(super) fn remove<const N: usize>(&self, id: u64, relations: [Relation; N]) {
        let Some(mut watchers) = self.0.lock_to_go() else { return };
        let removed = watchers.as_mut().ok().and_then(|watchers| {
            let watcher = watchers.get_mut(id)?;
            relations.into_iter().for_each(|relation| watcher.relations &= !(relation as u8));
            if watcher.relations != 0 {
                return None;
            }
            watchers.remove(id)
        });
        drop(watchers);
        // After the lock.
        drop(removed);
    }

    // USER CODE: `Drop` of messages in the lane of a mailbox that is being dropped, while the lane is found in its
    //     table; each watcher is notified by itself; re-entrance: may link and unlink, as the mailbox is already marked
    //     as ended; panic: propagates when all are notified; test: tests/suite/mailbox/relations.rs:
    //     many_messages_that_panic_at_an_end_are_one_panic_and_no_loss
    /// The mailbox has ended: calls `tell` for each relation of each of its watchers.
    pub(super) fn end(&self, panic: &PanicText, tell: impl Fn(&A, Relation)) {
        let before = self.0.lock_to_go().map(|mut watchers| core::mem::replace(&mut *watchers, Err(panic.clone())));
        let Some(Ok(watchers)) = before else { return };
        // Caught: sending may sweep lanes, and a lane may have to drop the messages of a mailbox that is ending. That
        // is user code.
        let mut panics = Panics::none();
        for Watcher { address, relations } in watchers.into_values() {
            for relation in [Relation::Owner, Relation::Link] {
                if relations & relation as u8 != 0 {
                    panics.catch(|| tell(&address, relation));
                }
            }
        }
    }
}
