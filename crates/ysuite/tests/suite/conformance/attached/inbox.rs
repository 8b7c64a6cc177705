//! The smallest receiver that keeps the bargain of `Attach`, so that sets can be tested without a channel; and what only
//! the registration in its hands can show.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use ysuite::TryRecvError;
use ysuite::signal::{Attach, AttachError, Registration, SignalSet};

use super::{Ends, Looked, Message, SetKind, assert_up, attached, send};
use crate::support::Random;

/// Makes one `#[test]` of every function of this file, and of the suite of attached receivers for an inbox, for the set
/// given.
#[macro_export]
macro_rules! inbox_suite {
    ($set:expr) => {
        $crate::tests_of!(attached::inbox, $set =>
            raising_after_release_does_nothing, releasing_twice_is_releasing_once);
        $crate::tests_of!(attached::levels, $set, $crate::conformance::attached::inbox::Inboxes =>
            every_id_may_have_a_receiver);
        $crate::attached_suite!($set, $crate::conformance::attached::inbox::Inboxes);
    };
}

/// A queue behind a lock, and the registration.
#[derive(Default)]
pub(crate) struct Inbox {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    messages: Mutex<VecDeque<Message>>,
    registration: Mutex<Option<Arc<Registration>>>,
}

/// Sends to an inbox for as long as there is one.
#[derive(Clone)]
pub(crate) struct Outbox {
    shared: Weak<Shared>,
}

impl Shared {
    fn registration(&self) -> Option<Arc<Registration>> {
        self.registration.lock().unwrap().clone()
    }
}

impl Inbox {
    fn registration(&self) -> Arc<Registration> {
        self.shared.registration().expect("attached")
    }

    fn take(&self) -> Option<Message> {
        self.shared.messages.lock().unwrap().pop_front()
    }
}

/// The one way of making an inbox, with its outbox.
#[derive(Clone, Copy)]
pub(crate) struct Inboxes;

impl Ends for Inboxes {
    type Sender = Outbox;
    type Receiver = Inbox;
    const WAYS: usize = 1;
    fn pair(self) -> (Outbox, Inbox) {
        let inbox = Inbox::default();
        (Outbox { shared: Arc::downgrade(&inbox.shared) }, inbox)
    }
    fn another(sender: &Outbox) -> Option<Outbox> {
        Some(sender.clone())
    }
    fn send(sender: &mut Outbox, message: Message) -> bool {
        let Some(shared) = sender.shared.upgrade() else { return false };
        shared.messages.lock().unwrap().push_back(message);
        shared.registration().inspect(|registration| registration.raise());
        true
    }
    fn send_by(sender: &mut Outbox, _: usize, message: Message) {
        assert!(Self::send(sender, message));
    }
    fn try_recv(inbox: &mut Inbox) -> Result<Message, TryRecvError> {
        let found = inbox.take().or_else(|| {
            let registration = inbox.shared.registration()?;
            registration.lower();
            // A message that came before `lower` may have had its signal taken down.
            let message = inbox.take()?;
            registration.raise();
            Some(message)
        });
        found.ok_or(TryRecvError::Empty)
    }
    fn look(inbox: &mut Inbox, _: &mut Random) -> Looked {
        let is_down = Self::try_recv(inbox).is_err();
        Looked { taken: usize::from(!is_down), is_down }
    }
}

impl Attach for Inbox {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        let mut place = self.shared.registration.lock().unwrap();
        if place.is_some() {
            return Err(AttachError::AlreadyAttached);
        }
        registration.raise();
        *place = Some(Arc::new(registration));
        Ok(())
    }

    fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
        self.shared.registration().inspect(|registration| look(registration));
    }

    fn detach(&mut self) -> bool {
        let own = self.shared.registration.lock().unwrap().take();
        own.inspect(|registration| registration.release()).is_some()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.detach();
    }
}

pub(crate) fn raising_after_release_does_nothing<K: SetKind>(kind: K) {
    let mut set = kind.set();
    let (_outbox, inbox) = attached(Inboxes, &mut set, 2);
    let registration = inbox.registration();
    registration.release();
    registration.raise();
    assert!(!registration.is_up());
    assert_up(&mut set, &[]);
    let (_outbox, other) = attached(Inboxes, &mut set, 2);
    registration.lower();
    registration.release();
    drop(inbox);
    assert!(other.registration().is_up(), "the old registration has touched the id of the new one");
    assert!(!registration.is_up(), "the id is another's");
    assert_up(&mut set, &[2]);
}

pub(crate) fn releasing_twice_is_releasing_once<K: SetKind>(kind: K) {
    let mut set = kind.set();
    let (_outbox, inbox) = attached(Inboxes, &mut set, 2);
    let registration = inbox.registration();
    assert!(format!("{registration:?}").contains("id: 2"));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| registration.release());
        }
    });
    let (mut outbox, other) = attached(Inboxes, &mut set, 2);
    drop((registration, inbox));
    send::<Inboxes>(&mut outbox, 1);
    assert_eq!(set.attach(&mut Inbox::default(), 2), Err(AttachError::IdTaken { id: 2 }));
    assert!(other.registration().is_up());
}
