//! Names of mailboxes, for those who have no address: register, locate. Any thread; behind one lock, held for a look into
//! a table. A name keeps its mailbox from running out of addresses, and ends with it.

use core::fmt;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::PoisonError;

use super::address::Address;
use super::post::Post;
use crate::sync::{Mutex, MutexGuard};

type Names = BTreeMap<Box<str>, Address>;

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
/// # Errors
/// When the name is taken, and when the mailbox has ended.
pub fn register(name: &str, address: &Address) -> Result<(), RegisterError> {
    let mut names = names();
    // By the lock: either its end finds the name, or it is found ended here.
    if address.post().is_forgotten() {
        return Err(RegisterError::Ended);
    }
    if names.contains_key(name) {
        return Err(RegisterError::Taken);
    }
    names.insert(name.into(), address.clone());
    Ok(())
}

/// The mailbox with this name, if there is one.
#[must_use]
pub fn locate(name: &str) -> Option<Address> {
    names().get(name).cloned()
}

/// Takes a name away, from whichever mailbox has it, and returns that.
pub fn unregister(name: &str) -> Option<Address> {
    names().remove(name)
}

/// A mailbox ends: it has no name any more, and will get none.
pub(super) fn forget(post: &Post) {
    let mut gone = Vec::new();
    let mut names = names();
    post.forget();
    names.retain(|_, address| {
        let stays = address.post().id() != post.id();
        if !stays {
            gone.push(address.clone());
        }
        stays
    });
    drop(names);
    // Behind the lock.
    drop(gone);
}
