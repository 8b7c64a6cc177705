//! The notices that a mailbox has ended: messages to those that [watch](super::watchers) it. Any thread.

use core::fmt;
use std::error::Error;

use super::envelope::Envelope;
use super::inner::{Address, MailboxInner};
use super::watchers::{PanicText, Relation};
use crate::sync::Arc;

// FINAL: `LinkTerminated`, `OwnerTerminated`: sent when sending to the mailbox already fails; once for each link; test:
//     tests/suite/mailbox/relations.rs: the_end_of_a_link_comes_behind_its_last_message
/// The message that notifies a watcher.
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
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            address: Address,
            panic: PanicText,
        }

        impl $name {
            /// Returns the mailbox that has ended.
            #[must_use]
            pub fn address(&self) -> &Address {
                &self.address
            }

            /// Returns the text of the panic in which its thread ended, if it did.
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

        impl Error for $name {}
    )*};
}

terminations! {
    /// A mailbox that this one is [linked](super::Mailbox::link) to has ended. Comes after all ordinary messages that
    /// its thread had sent, and sending to it fails from then on.
    LinkTerminated "linked"
    /// The owner of this mailbox has ended: see [`spawn`](super::Mailbox::spawn). Comes after all ordinary
    /// messages that its thread had sent, and sending to it fails from then on.
    OwnerTerminated "owner"
}
