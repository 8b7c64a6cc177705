//! [`Mailbox`]: the receiving side. One thread at a time; may be moved to another.

use core::fmt;

use super::aside::Aside;
use super::envelope::{Envelope, Rank};
use super::inner::{Address, Bound, MailboxInner};
use super::registry;
use super::relations::{LinkTerminated, OwnerTerminated, notice};
use super::watchers::{PanicText, Relation};
use crate::channel::{Inbox, Spin};
use crate::number_map::NumberMap;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;

// USER CODE: `Drop` of all messages in `inbox` and `aside`; sending fails from then on (in a lane that is emptied later
//     it may still succeed, and the message is dropped with it); re-entrance: may send here, and gets the message back,
//     or loses it with the others; panic: the others are dropped, watchers notified, names freed, then it propagates;
//     test: tests/suite/mailbox.rs: a_message_whose_drop_panics_affects_no_other
// THREAD EXIT: making a mailbox, receiving, clones and drops of addresses, and the mailbox's drop work as ever: tables
//     are trees, which need no random state; test: tests/suite/mailbox/thread_locals.rs:
//     sending_and_receiving_at_the_end_of_a_thread
/// Receives messages of any type, from every thread that has its [`Address`]. Dropping it drops its messages, makes
/// sending fail, and notifies the mailboxes that are linked to it and those it owns.
///
/// [`receive`](Self::receive) and [`receive_only`](Self::receive_only) receive one type; [`receive!`](crate::receive)
/// has handlers for several types, and [`receive_any`](Self::receive_any) receives whatever comes.
#[doc = cost!(mailbox EXIT)]
pub struct Mailbox {
    // Dropped in this order: sending fails from then on, then the messages are dropped, then the watchers are notified.
    pub(super) inbox: Inbox<Envelope>,
    pub(super) aside: Aside,
    relations: Relations,
}

// GROWS: mailboxes that this one watches; each goes when this one is notified of its termination, or unlinks; cost:
//     constant; test: tests/allocation/mailboxes.rs: what_a_mailbox_has_been_told_of_is_forgotten
/// The relations of a mailbox to others. Dropping this notifies them that the mailbox has ended.
struct Relations {
    inner: Arc<MailboxInner>,
    /// An address, which counts: this mailbox may still send to its owner.
    owner: Option<Address>,
    /// The mailboxes whose termination is reported to this one, by id.
    watched: NumberMap<Arc<MailboxInner>>,
    panic: PanicText,
}

impl Drop for Relations {
    // MUTANT: The catch runs before any unwinding. Killed only by
    // `a_mailbox_that_was_not_spawned_says_that_its_thread_panics`.
    fn drop(&mut self) {
        if self.panic.is_none() && std::thread::panicking() {
            self.panic = Some("(its text is not known)".into());
        }
        registry::forget(&self.inner);
        for watched in self.watched.values() {
            watched.watchers.remove(self.inner.id, [Relation::Owner, Relation::Link]);
        }
        self.inner.close();
        let Self { inner, panic, .. } = self;
        inner.watchers.end(panic, |watcher, relation| watcher.inner.tell(notice(inner, relation, panic.clone())));
    }
}

impl Mailbox {
    /// Makes a mailbox without a bound, for the calling thread or the one to which it is moved. It has no owner.
    /// [`Builder`](super::Builder) makes other mailboxes.
    #[must_use]
    pub fn new() -> Self {
        Self::with(None, None)
    }

    pub(super) fn with(name: Option<Box<str>>, bound: Option<Bound>) -> Self {
        let (sender, inbox) = Inbox::new(bound.map(|bound| bound.capacity));
        let inner = Arc::new(MailboxInner::new(name, bound, sender));
        let relations = Relations { inner, owner: None, watched: NumberMap::default(), panic: None };
        Self { inbox, aside: Aside::default(), relations }
    }

    /// The shared state, after recording that the calling thread uses the mailbox.
    pub(super) fn here(&self) -> &Arc<MailboxInner> {
        // MUTANT: Killed only by `a_thread_never_waits_for_itself_before_its_first_receive_either`.
        self.inner().is_used_here();
        self.inner()
    }

    /// The mailbox's thread has panicked.
    pub(super) fn panicked(&mut self, text: &str) {
        self.relations.panic = Some(text.into());
    }

    #[inline(always)]
    pub(super) fn inner(&self) -> &Arc<MailboxInner> {
        &self.relations.inner
    }

    /// Returns another address of this mailbox. This works also after [`Disconnected`](super::ReceiveError::Disconnected):
    /// from then on it can receive again.
    #[must_use]
    pub fn address(&self) -> Address {
        Address::new(self.here().clone())
    }

    // MUTANT: Killed only by `a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it`.
    /// Returns the mailbox that [spawned](Self::spawn) this one, until this one is notified of its termination. `None`
    /// without an owner.
    #[must_use]
    pub fn owner(&self) -> Option<Address> {
        self.here();
        self.relations.owner.clone()
    }

    // MUTANT: Killed only by `a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it`.
    /// Links this mailbox to `to`: when that mailbox ends, this one receives [`LinkTerminated`], once, after all
    /// ordinary messages that the other's thread has sent. If the other has ended already, this one receives the notice
    /// at once, before the messages it has not seen. A link works in one direction: two mailboxes that need notices of
    /// each other both link.
    #[doc = cost!(mailbox REGISTRY)]
    pub fn link(&mut self, to: &Address) {
        self.here();
        self.watch(to.inner.clone(), Relation::Link);
    }

    /// Undoes a [`link`](Self::link). A [`LinkTerminated`] may already have been sent.
    #[doc = cost!(mailbox REGISTRY)]
    pub fn unlink(&mut self, from: &Address) {
        from.inner.watchers.remove(self.here().id, [Relation::Link]);
        if self.relations.owner.as_ref().is_none_or(|owner| owner != from) {
            self.unwatch(from);
        }
    }

    fn unwatch(&mut self, address: &Address) {
        self.relations.watched.remove(address.inner.id);
    }

    pub(super) fn set_owner(&mut self, owner: &Arc<MailboxInner>) {
        self.relations.owner = Some(Address::new(owner.clone()));
        self.watch(owner.clone(), Relation::Owner);
    }

    fn watch(&mut self, inner: Arc<MailboxInner>, relation: Relation) {
        let watcher = self.inner();
        match inner.watchers.add(watcher.id, || Address::new(watcher.clone()), relation) {
            Ok(()) => drop(self.relations.watched.insert(inner.id, inner)),
            Err(panic) => {
                self.aside.push(notice(&inner, relation, panic), Rank::Ordinary);
                // It comes by no lane, so no other code raises the id of a mailbox in a set.
                self.inbox.registration().inspect(|registration| registration.raise());
            }
        }
    }

    /// A notice has come: the mailbox that has ended is not watched any more.
    #[cold]
    pub(super) fn note(&mut self, envelope: &Envelope) {
        let owner = envelope.downcast_ref().map(OwnerTerminated::address);
        if owner.is_some() {
            self.relations.owner = None;
        }
        if let Some(ended) = owner.or_else(|| envelope.downcast_ref().map(LinkTerminated::address)) {
            self.unwatch(ended);
        }
    }

    // MUTANT: Killed only by `a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it`.
    /// Returns the number of messages that were passed over, and wait for a matching receive. A bound does not count
    /// them.
    #[must_use]
    pub fn set_aside(&self) -> usize {
        self.here();
        self.aside.len()
    }

    // MUTANT: Killed only by `a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it`.
    /// Sets how long to spin before sleeping, from the next wait on. The default is [`Spin::Adaptive`].
    pub fn set_spin(&mut self, spin: Spin) {
        self.here();
        self.inbox.set_spin(spin);
    }

    // MUTANT: Killed only by `a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it`.
    /// Takes this mailbox out of the set to which it is attached: its id is down, and free. Returns false if it was in
    /// no set. Its messages stay, and it can be attached again, to any set.
    ///
    /// A sender that is about to raise the id may still do so once: the next owner of the id must expect a spurious
    /// signal.
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self) -> bool {
        self.here();
        self.inbox.detach()
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Self::new()
    }
}

/// In a set of signals the id is up while there may be a message that no receive has seen. It goes down when a receive
/// that does not wait finds none. Messages that were set aside do not count.
impl Attach for Mailbox {
    // MUTANT: Killed only by `a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it`.
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.here();
        self.inbox.attach(registration)
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.inbox.registration().inspect(|registration| look(registration));
    }

    fn detach(&mut self) -> bool {
        Self::detach(self)
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("is", &format_args!("mailbox {}", self.inner().id))
            .field("set_aside", &self.set_aside())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::Mailbox;

    #[test]
    fn a_link_that_is_taken_back_is_forgotten_and_an_owner_is_not() {
        let (mut mailbox, owner, linked) = (Mailbox::new(), Mailbox::new(), Mailbox::new());
        for is_owned in [false, true] {
            if is_owned {
                mailbox.set_owner(owner.inner());
            }
            mailbox.link(&linked.address());
            mailbox.unlink(&linked.address());
            assert_eq!(mailbox.relations.watched.len(), usize::from(is_owned));
        }
        mailbox.link(&owner.address());
        mailbox.unlink(&owner.address());
        assert_eq!(mailbox.relations.watched.len(), 1);
    }
}
