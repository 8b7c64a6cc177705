//! Names of mailboxes, for threads without an address: register, locate. Any thread. One lock guards two tables, one by
//! name and one by mailbox. A name counts as an address of its mailbox, and is removed when that ends.
//!
//! Each operation takes constant time, except for the growth of a table; when a mailbox ends, once for each of its names.
//! No user code runs under the lock: addresses are dropped after it is released.

use core::fmt;
use core::sync::atomic::Ordering;
use std::collections::HashMap;
use std::error::Error;
use std::sync::PoisonError;
#[cfg(not(ysuite_loom))]
use std::sync::{LazyLock, TryLockError};

use super::inner::{Address, MailboxInner};
use crate::number_map::{NumberMap, give_back_room};
use crate::sync::{Mutex, MutexGuard};

// WAITS: the locks of names, of watchers and of the spare lane: for some instructions of another thread, and for as
//     long as a table takes to grow (for all its own names when a mailbox is dropped); no user code runs under them;
//     test: tests/suite/mailbox/names.rs: threads_that_race_for_a_name
// GROWS: names; bound: memory; each goes by `unregister`, and when its mailbox is dropped; cost: constant; on a
//     mailbox's drop once for each of its own; test: tests/allocation/mailboxes.rs:
//     names_that_are_taken_away_are_forgotten
// REUSED: a name; held by nothing: `locate` returns an address, which belongs to the mailbox that had the name; test:
//     tests/suite/mailbox/names.rs: an_end_takes_its_own_names_and_no_others
struct Names {
    /// The mailbox of each name.
    owners: HashMap<Name, NameOwner>,
    /// The names of each mailbox, by its id; only mailboxes with names.
    names: NumberMap<Vec<Name>>,
}

struct NameOwner {
    address: Address,
    /// Where the name is among those of its mailbox.
    at: usize,
}

/// Shared by both tables. Not the façade's: guarded by the lock, so a model need not explore it.
type Name = std::sync::Arc<str>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Poison is ignored: no panic leaves data under a mailbox's locks inconsistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Names {
    fn new() -> Self {
        Self { owners: HashMap::new(), names: NumberMap::default() }
    }

    fn insert(&mut self, name: &str, address: &Address) {
        let name = Name::from(name);
        let names = self.names.get_or_insert_with(address.inner.id, Vec::new);
        let owner = NameOwner { address: address.clone(), at: names.len() };
        names.push(name.clone());
        self.owners.insert(name, owner);
    }

    // MUTANT: Memory only: an empty list stays until `remove_all` at the end of the mailbox.
    fn remove(&mut self, name: &str) -> Option<Address> {
        let NameOwner { address, at } = self.owners.remove(name)?;
        let id = address.inner.id;
        if let Some(names) = self.names.get_mut(id) {
            names.swap_remove(at);
            // The last one is there now.
            if let Some(moved) = names.get(at).and_then(|name| self.owners.get_mut(name)) {
                moved.at = at;
            }
            if names.is_empty() {
                self.names.remove(id);
            } else if names.len() < names.capacity() / 4 {
                names.shrink_to(2 * names.len());
            }
        }
        give_back_room(&mut self.owners);
        Some(address)
    }

    /// Removes all names of a mailbox.
    fn remove_all(&mut self, id: u64) -> Vec<Address> {
        let names = self.names.remove(id).unwrap_or_default();
        let gone = names.iter().filter_map(|name| Some(self.owners.remove(name)?.address)).collect();
        give_back_room(&mut self.owners);
        gone
    }
}

/// In [`MailboxInner::naming`]: a thread may have given the mailbox a name.
const NAMED: u32 = 1;
/// Also there: the mailbox has ended, and gets no name any more.
const FORGOTTEN: u32 = 2;

#[cfg(not(ysuite_loom))]
static NAMES: LazyLock<Mutex<Names>> = LazyLock::new(|| Mutex::new(Names::new()));

// `lazy_static`: made anew for each execution of a model.
#[cfg(ysuite_loom)]
loom::lazy_static! {
    static ref NAMES: Mutex<Names> = Mutex::new(Names::new());
}

// FINAL: `RegisterError::Ended`: marked under the lock of names, never taken back; test: tests/suite/mailbox/names.rs:
//     an_ended_mailbox_gets_no_name
/// The reason why a name was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// Another mailbox has this name, or this one has it already.
    Taken,
    /// The mailbox has ended.
    Ended,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "this name is taken by another mailbox",
            Self::Ended => "a mailbox that has ended cannot have a name",
        })
    }
}

impl Error for RegisterError {}

// THREAD EXIT: `register`, `locate`, `unregister`, `link` and `unlink` use no thread-local; test:
//     tests/suite/mailbox/thread_locals.rs: names_and_links_at_the_end_of_a_thread
/// Gives a mailbox a name by which every thread can [`locate`] it. A mailbox may have several names. The name is free
/// again when the mailbox ends, or by [`unregister`]; until then the name counts as an address of the mailbox.
///
/// Takes a lock that all names share, for a short time, except where the table of names grows. So do [`locate`] and
/// [`unregister`]. A named mailbox that ends takes it once for each of its names. A thread may call them while its
/// thread-locals are being destroyed.
#[doc = cost!(mailbox REGISTRY)]
///
/// # Errors
/// `Taken` if the name is taken, and `Ended` if the mailbox has ended.
pub fn register(name: &str, address: &Address) -> Result<(), RegisterError> {
    let mut names = lock(&NAMES);
    let is_taken = names.owners.contains_key(name);
    // Under the lock: either `forget` finds the mark, waits for the lock and finds the name; or this finds the mailbox
    // ended.
    // ORDERING: Relaxed; read-modify-writes of one word: one comes first, and the lock hands the tables over.
    if address.inner.naming.fetch_or(if is_taken { 0 } else { NAMED }, Ordering::Relaxed) & FORGOTTEN != 0 {
        return Err(RegisterError::Ended);
    }
    if is_taken {
        return Err(RegisterError::Taken);
    }
    names.insert(name, address);
    Ok(())
}

/// Returns the mailbox with this name, if there is one.
#[doc = cost!(mailbox REGISTRY)]
#[must_use]
pub fn locate(name: &str) -> Option<Address> {
    lock(&NAMES).owners.get(name).map(|owner| owner.address.clone())
}

/// Removes a name, and returns the mailbox that had it.
#[doc = cost!(mailbox REGISTRY)]
pub fn unregister(name: &str) -> Option<Address> {
    lock(&NAMES).remove(name)
}

/// The lock, for a mailbox that ends. `None`: this process is a forked child that has inherited the mailbox, and a
/// thread that the child may not have holds the lock.
fn lock_to_go(inner: &MailboxInner) -> Option<MutexGuard<'_, Names>> {
    #[cfg(not(ysuite_loom))]
    if inner.spare.is_inherited() {
        return match NAMES.try_lock() {
            Ok(names) => Some(names),
            Err(TryLockError::Poisoned(names)) => Some(names.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
    }
    let _ = inner;
    Some(lock(&NAMES))
}

/// Runs this with the lock.
#[cfg(all(test, unix, not(any(ysuite_loom, miri))))]
pub(super) fn held(act: &dyn Fn()) {
    let _names = lock(&NAMES);
    act();
}

// MUTANT: The addresses are dropped at the end of the function anyway; their drop takes no lock.
/// A mailbox ends: removes its names; it will get no other. Takes the lock only if the mailbox has had a name.
pub(super) fn forget(inner: &MailboxInner) {
    // ORDERING: Relaxed, as in `register`.
    if inner.naming.fetch_or(FORGOTTEN, Ordering::Relaxed) & NAMED == 0 {
        return;
    }
    let Some(mut names) = lock_to_go(inner) else { return };
    let gone = names.remove_all(inner.id);
    drop(names);
    // After the lock.
    drop(gone);
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::mailbox::Mailbox;

    /// As in a forked child, where the lock is never released.
    ///
    /// Claim: The termination of a mailbox without a name takes no lock.
    #[test]
    fn a_mailbox_that_has_had_no_name_ends_beside_the_lock() {
        let named = Mailbox::new();
        register("a mailbox that has a name next to one that has none", &named.address()).unwrap();
        // A mailbox that was refused a taken name has had none either.
        let refused = Mailbox::new();
        let taken = register("a mailbox that has a name next to one that has none", &refused.address());
        assert_eq!(taken, Err(RegisterError::Taken));
        let held = lock(&NAMES);
        let (ended, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            drop((Mailbox::new(), refused));
            ended.send("without").unwrap();
            drop(named);
            ended.send("with").unwrap();
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(100)), Ok("without"));
        drop(held);
        assert_eq!(told.recv_timeout(Duration::from_secs(100)), Ok("with"));
        thread.join().unwrap();
        assert!(locate("a mailbox that has a name next to one that has none").is_none());
    }
}
