//! Names of mailboxes, for those who have no address: register, locate. Any thread; behind one lock, held for a look into
//! two tables, one by name, one by mailbox. A name keeps its mailbox from running out of addresses, and ends with it.
//!
//! Everything takes time in proportion to the logarithm of the number of names; the end of a mailbox once for each of its
//! own. No foreign code runs under the lock: addresses are dropped behind it.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::PoisonError;

use super::address::Address;
use super::inner::MailboxInner;
use crate::sync::{Mutex, MutexGuard};

struct Names {
    /// Whose each name is.
    owners: BTreeMap<Name, Address>,
    /// The names of each mailbox that has some, by its id.
    names: BTreeMap<u64, BTreeSet<Name>>,
}

/// Stands in both tables. Guarded by the lock, so it is no part of a model.
type Name = std::sync::Arc<str>;

impl Names {
    const fn new() -> Self {
        Self { owners: BTreeMap::new(), names: BTreeMap::new() }
    }

    fn insert(&mut self, name: &str, address: &Address) {
        let name = Name::from(name);
        self.names.entry(address.inner().id()).or_default().insert(name.clone());
        self.owners.insert(name, address.clone());
    }

    fn remove(&mut self, name: &str) -> Option<Address> {
        let address = self.owners.remove(name)?;
        let id = address.inner().id();
        if let Some(names) = self.names.get_mut(&id) {
            names.remove(name);
            if names.is_empty() {
                self.names.remove(&id);
            }
        }
        Some(address)
    }

    /// Takes all names of a mailbox away.
    fn remove_all(&mut self, id: u64) -> Vec<Address> {
        let names = self.names.remove(&id).unwrap_or_default();
        names.iter().filter_map(|name| self.owners.remove(name)).collect()
    }
}

#[cfg(not(ysuite_loom))]
static NAMES: Mutex<Names> = Mutex::new(Names::new());

// Made anew for each execution of a model.
#[cfg(ysuite_loom)]
loom::lazy_static! {
    static ref NAMES: Mutex<Names> = Mutex::new(Names::new());
}

/// Why a name was not registered. Nothing has changed.
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

fn names() -> MutexGuard<'static, Names> {
    // Nothing in here panics half way.
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a mailbox a name by which every thread can [`locate`] it. It may have several. The name is free again when the
/// mailbox ends, or by [`unregister`]; until then the mailbox counts as one that somebody has the address of.
///
/// Takes a lock that all names share, for a time in proportion to the logarithm of their number. So do the others here, and
/// the end of a mailbox, once for each name that is its own. All of them can be used while the thread's local values are
/// being destroyed.
///
/// # Errors
/// When the name is taken, and when the mailbox has ended.
pub fn register(name: &str, address: &Address) -> Result<(), RegisterError> {
    let mut names = names();
    // By the lock: either its end finds the name, or it is found ended here.
    if address.inner().is_forgotten() {
        return Err(RegisterError::Ended);
    }
    if names.owners.contains_key(name) {
        return Err(RegisterError::Taken);
    }
    names.insert(name, address);
    Ok(())
}

/// The mailbox with this name, if there is one.
#[must_use]
pub fn locate(name: &str) -> Option<Address> {
    names().owners.get(name).cloned()
}

/// Takes a name away, from whichever mailbox has it, and returns that.
pub fn unregister(name: &str) -> Option<Address> {
    names().remove(name)
}

/// A mailbox ends: it has no name any more, and will get none.
pub(super) fn forget(inner: &MailboxInner) {
    let mut names = names();
    inner.forget();
    let gone = names.remove_all(inner.id());
    drop(names);
    // Behind the lock.
    drop(gone);
}
