//! Who is told when a mailbox ends: those linked to it, and those it owns.
//!
//! Any thread. Rare, so behind a lock, which is held for some instructions and never while anything is sent, woken or
//! dropped. The end of a mailbox and a new link meet in it: either the link is found by the end, or it finds the end.

use core::fmt;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::PoisonError;

use super::address::Address;
use super::envelope::Envelope;
use super::inner::MailboxInner;
use crate::foreign::Panics;
use crate::sync::{Arc, Mutex, MutexGuard};

/// The text of the panic that a mailbox has ended in, if it has.
pub(super) type PanicText = Option<std::sync::Arc<str>>;

/// What the watched is to the watcher.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Link,
    Owner,
}

/// The watchers of one mailbox.
pub(super) struct Watchers(Mutex<WatchersState>);

enum WatchersState {
    /// By id.
    Alive(BTreeMap<u64, Watcher>),
    Ended(PanicText),
}

struct Watcher {
    /// Counts: while there is somebody to tell it something, a mailbox may wait.
    address: Address,
    link: bool,
    owner: bool,
}

impl Watchers {
    pub(super) fn new() -> Self {
        Self(Mutex::new(WatchersState::Alive(BTreeMap::new())))
    }

    fn lock(&self) -> MutexGuard<'_, WatchersState> {
        // Nothing in here panics half way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on `watcher` is told.
    ///
    /// # Errors
    /// What it is to be told, if the mailbox has ended already.
    pub(super) fn add(&self, watcher: &Arc<MailboxInner>, relation: Relation) -> Result<(), PanicText> {
        match &mut *self.lock() {
            WatchersState::Alive(watchers) => {
                let new = || Watcher { address: Address::new(watcher.clone()), link: false, owner: false };
                let entry = watchers.entry(watcher.id()).or_insert_with(new);
                match relation {
                    Relation::Link => entry.link = true,
                    Relation::Owner => entry.owner = true,
                }
                Ok(())
            }
            WatchersState::Ended(panic) => Err(panic.clone()),
        }
    }

    /// The watcher `id` is no longer told.
    pub(super) fn remove(&self, id: u64) {
        let removed = match &mut *self.lock() {
            WatchersState::Alive(watchers) => watchers.remove(&id),
            WatchersState::Ended(_) => None,
        };
        // Behind the lock.
        drop(removed);
    }

    /// The watcher `id` is no longer told as one that is linked.
    pub(super) fn unlink(&self, id: u64) {
        let removed = match &mut *self.lock() {
            WatchersState::Alive(watchers) => match watchers.get_mut(&id) {
                Some(watcher) if watcher.owner => {
                    watcher.link = false;
                    None
                }
                _ => watchers.remove(&id),
            },
            WatchersState::Ended(_) => None,
        };
        drop(removed);
    }

    /// The mailbox has ended: tells all its watchers. As owner it is told of first.
    pub(super) fn end(&self, ended: &Arc<MailboxInner>, panic: &PanicText) {
        let before = core::mem::replace(&mut *self.lock(), WatchersState::Ended(panic.clone()));
        let WatchersState::Alive(watchers) = before else { return };
        // Looking for a lane gives up others. A mailbox that is ending at this moment may leave it to such a lane to drop
        // what is in it.
        let mut panics = Panics::none();
        for watcher in watchers.into_values() {
            for (relation, is_so) in [(Relation::Owner, watcher.owner), (Relation::Link, watcher.link)] {
                if is_so {
                    panics.catch(|| watcher.address.inner().tell(notice(ended, relation, panic.clone())));
                }
            }
        }
    }
}

/// The letter that tells a watcher.
pub(super) fn notice(ended: &Arc<MailboxInner>, relation: Relation, panic: PanicText) -> Envelope {
    let address = Address::new(ended.clone());
    match relation {
        Relation::Link => Envelope::notice(LinkTerminated { address, panic }),
        Relation::Owner => Envelope::notice(OwnerTerminated { address, panic }),
    }
}

macro_rules! terminations {
    ($($(#[$doc:meta])* $name:ident $what:literal)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name {
            address: Address,
            panic: PanicText,
        }

        impl $name {
            /// Whose mailbox has ended.
            #[must_use]
            pub fn address(&self) -> &Address {
                &self.address
            }

            /// The text of the panic that its thread has ended in, if it has.
            #[must_use]
            pub fn panic_message(&self) -> Option<&str> {
                self.panic.as_deref()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match &self.panic {
                    None => write!(f, concat!($what, " {} has ended"), self.address),
                    Some(panic) => write!(f, concat!($what, " {} has panicked: {}"), self.address, panic),
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("address", &self.address).field("panic", &self.panic).finish()
            }
        }

        impl Error for $name {}
    )*};
}

terminations! {
    /// A mailbox that this one is [linked](super::Mailbox::link) to has ended. Comes after all that its thread had sent,
    /// and sending to it fails from then on.
    LinkTerminated "linked"
    /// The owner of this mailbox has ended: see [`spawn`](super::Mailbox::spawn). Comes after all that its thread had
    /// sent, and sending to it fails from then on.
    OwnerTerminated "owner"
}
