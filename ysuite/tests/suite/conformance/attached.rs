//! The suite of every set that receivers can be attached to: level-triggered, nothing lost, nothing signalled while the
//! receiver is being read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ysuite::os::calls;
use ysuite::signal::{Attach, AttachError, Registration, Signal, Wait};

use super::Gaps;
use super::signal::{Kind, list};
use crate::support::guarded;

/// A set that receivers can be attached to.
pub(crate) trait AttachKind: Kind {
    fn attach(set: &mut Self::Set, receiver: &mut Inbox, id: usize) -> Result<(), AttachError>;
}

/// Makes one `#[test]` of every function of this suite, for the kind named.
#[macro_export]
macro_rules! attached_suite {
    ($kind:ty) => {
        $crate::tests_of!(attached, $kind:
            an_attached_id_is_up_until_the_receiver_is_empty, half_read_receivers_are_reported_again,
            attached_and_hand_raised_ids_keep_apart, impossible_attachments_are_clear_errors,
            a_refusal_gives_the_claim_back, a_dropped_receiver_frees_its_id, the_set_may_go_first,
            raising_after_release_does_nothing, nothing_is_signalled_while_the_receiver_is_read,
            releasing_twice_is_releasing_once, streams_of_many_senders_are_received_whole);
    };
}

/// The smallest receiver that keeps the bargain of `Attach`: a queue behind a lock, and the registration.
#[derive(Default)]
pub(crate) struct Inbox {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    messages: Mutex<VecDeque<u64>>,
    registration: Mutex<Option<Arc<Registration>>>,
}

#[derive(Clone)]
pub(crate) struct Outbox {
    shared: Arc<Shared>,
}

impl Inbox {
    pub(crate) fn outbox(&self) -> Outbox {
        Outbox { shared: Arc::clone(&self.shared) }
    }

    pub(crate) fn registration(&self) -> Arc<Registration> {
        self.shared.registration().expect("attached")
    }

    fn look(&self) -> Option<u64> {
        self.shared.messages.lock().unwrap().pop_front()
    }

    pub(crate) fn try_recv(&mut self) -> Option<u64> {
        if let Some(message) = self.look() {
            return Some(message);
        }
        let registration = self.shared.registration()?;
        registration.lower();
        // A message that came before `lower` may have had its signal taken down.
        let message = self.look()?;
        registration.raise();
        Some(message)
    }
}

impl Shared {
    fn registration(&self) -> Option<Arc<Registration>> {
        self.registration.lock().unwrap().clone()
    }
}

impl Outbox {
    pub(crate) fn send(&self, message: u64) {
        self.shared.messages.lock().unwrap().push_back(message);
        if let Some(registration) = self.shared.registration() {
            registration.raise();
        }
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
        if let Some(registration) = self.shared.registration() {
            registration.release();
        }
    }
}

fn attached<K: AttachKind>(set: &mut K::Set, id: usize) -> (Inbox, Outbox) {
    let mut inbox = Inbox::default();
    K::attach(set, &mut inbox, id).unwrap();
    assert_eq!(inbox.registration().id(), id);
    let outbox = inbox.outbox();
    (inbox, outbox)
}

pub(crate) fn an_attached_id_is_up_until_the_receiver_is_empty<K: AttachKind>() {
    let mut set = K::set();
    for id in K::corners() {
        let (mut inbox, outbox) = attached::<K>(&mut set, id);
        for round in 0..3 {
            // At first it is up because there may be messages already.
            assert!(inbox.registration().is_up());
            for _ in 0..3 {
                assert_eq!(list(set.check()), [id]);
                assert_eq!(list(set.poll()), [id]);
                assert_eq!(list(set.poll_timeout(Duration::ZERO)), [id]);
            }
            assert_eq!(inbox.try_recv(), (round > 0).then_some(round));
            assert_eq!(inbox.try_recv(), None);
            assert!(!inbox.registration().is_up());
            assert!(set.check().is_empty());
            assert!(set.poll_timeout(Duration::from_micros(1)).is_empty());
            outbox.send(round + 1);
        }
        // What is left behind is dropped with the receiver, and so is its signal.
    }
    assert!(set.check().is_empty());
}

pub(crate) fn half_read_receivers_are_reported_again<K: AttachKind>() {
    let mut set = K::set();
    let last = K::CAPACITY - 1;
    let (mut inbox, outbox) = attached::<K>(&mut set, last);
    assert_eq!(inbox.try_recv(), None);
    (0..5).for_each(|message| outbox.send(message));
    for message in 0..5 {
        assert_eq!(list(set.poll()), [last]);
        assert_eq!(inbox.try_recv(), Some(message));
    }
    // The receiver does not know that it is empty before it has looked.
    assert_eq!(list(set.check()), [last]);
    assert_eq!(inbox.try_recv(), None);
    assert!(set.check().is_empty());
}

pub(crate) fn attached_and_hand_raised_ids_keep_apart<K: AttachKind>() {
    let (mut set, signaler) = K::pair();
    let ids = K::corners();
    let (held, free): (Vec<_>, Vec<_>) = ids.iter().copied().partition(|id| ids.binary_search(id).unwrap() % 2 == 0);
    let mut inboxes: Vec<_> = held.iter().map(|&id| attached::<K>(&mut set, id)).collect();
    free.iter().for_each(|&id| signaler.signal(id));
    assert_eq!(list(set.check()), ids);
    // The ones raised by hand are taken, the others stay.
    assert_eq!(list(set.check()), held);
    free.iter().for_each(|&id| signaler.signal(id));
    inboxes.iter_mut().for_each(|(inbox, _)| assert_eq!(inbox.try_recv(), None));
    assert_eq!(list(set.check()), free);
    assert!(set.check().is_empty());
    inboxes.iter().for_each(|(_, outbox)| outbox.send(1));
    assert_eq!(list(set.poll()), held);
    // Raised by hand, an attached id is reported until the receiver finds itself empty.
    inboxes.iter_mut().for_each(|(inbox, _)| while inbox.try_recv().is_some() {});
    signaler.signal(held[0]);
    assert_eq!(list(set.check()), [held[0]]);
    assert_eq!(list(set.check()), [held[0]]);
    assert_eq!(inboxes[0].0.try_recv(), None);
    assert!(set.check().is_empty());
}

pub(crate) fn impossible_attachments_are_clear_errors<K: AttachKind>() {
    let mut set = K::set();
    let (mut first, outbox) = attached::<K>(&mut set, 3);
    let mut second = Inbox::default();
    for id in [K::CAPACITY, usize::MAX] {
        let error = K::attach(&mut set, &mut second, id).unwrap_err();
        assert_eq!(error, AttachError::IdOutOfRange { id, capacity: K::CAPACITY });
        assert!(error.to_string().contains(&id.to_string()));
        assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);
    }
    let taken = K::attach(&mut set, &mut second, 3).unwrap_err();
    assert_eq!(taken, AttachError::IdTaken { id: 3 });
    let twice = K::attach(&mut set, &mut first, 4).unwrap_err();
    assert_eq!(twice, AttachError::AlreadyAttached);
    let mut other = K::set();
    assert_eq!(K::attach(&mut other, &mut first, 3), Err(AttachError::AlreadyAttached));
    for error in [taken, twice] {
        assert!(!error.to_string().is_empty());
        assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::AlreadyExists);
    }
    // Nothing has changed.
    assert_eq!(list(set.check()), [3]);
    assert!(other.check().is_empty());
    outbox.send(9);
    assert_eq!((first.try_recv(), first.try_recv()), (Some(9), None));
    assert!(set.check().is_empty());
}

pub(crate) fn a_refusal_gives_the_claim_back<K: AttachKind>() {
    let (mut set, signaler) = K::pair();
    let (mut inbox, _outbox) = attached::<K>(&mut set, 0);
    assert_eq!(inbox.try_recv(), None);
    for _ in 0..3 {
        assert_eq!(K::attach(&mut set, &mut inbox, 5), Err(AttachError::AlreadyAttached));
        signaler.signal(5);
        assert_eq!(list(set.check()), [5]);
        assert!(set.check().is_empty(), "id 5 is still claimed");
    }
    let (other, _) = attached::<K>(&mut set, 5);
    assert!(other.registration().is_up());
}

pub(crate) fn a_dropped_receiver_frees_its_id<K: AttachKind>() {
    let (mut set, signaler) = K::pair();
    for id in K::corners() {
        for _ in 0..2 {
            let (inbox, outbox) = attached::<K>(&mut set, id);
            outbox.send(1);
            assert_eq!(list(set.check()), [id]);
            drop(inbox);
            assert!(set.check().is_empty(), "a receiver that is gone holds no message");
            // The sender's late messages concern nobody.
            outbox.send(2);
            assert!(set.check().is_empty());
            signaler.signal(id);
            assert_eq!(list(set.check()), [id]);
            assert!(set.check().is_empty(), "a freed id is taken, not reported");
        }
    }
}

pub(crate) fn the_set_may_go_first<K: AttachKind>() {
    let (mut set, signaler) = K::pair();
    let (mut inbox, outbox) = attached::<K>(&mut set, 7);
    let (mut idle, to_idle) = attached::<K>(&mut set, 8);
    assert_eq!(idle.try_recv(), None);
    drop(set);
    let before = calls();
    for message in 0..3 {
        outbox.send(message);
        to_idle.send(message);
        signaler.signal(9);
        assert_eq!((inbox.try_recv(), inbox.try_recv()), (Some(message), None));
        assert_eq!((idle.try_recv(), idle.try_recv()), (Some(message), None));
    }
    drop((inbox, idle));
    outbox.send(0);
    assert_eq!(calls(), before, "a signal nobody can take must not cost a system call");
}

pub(crate) fn raising_after_release_does_nothing<K: AttachKind>() {
    let mut set = K::set();
    let (inbox, _outbox) = attached::<K>(&mut set, 2);
    let registration = inbox.registration();
    registration.release();
    registration.raise();
    assert!(!registration.is_up());
    assert!(set.check().is_empty());
    let (other, _) = attached::<K>(&mut set, 2);
    registration.lower();
    registration.release();
    drop(inbox);
    assert!(other.registration().is_up(), "the old registration has touched the id of the new one");
    assert_eq!(list(set.check()), [2]);
}

pub(crate) fn nothing_is_signalled_while_the_receiver_is_read<K: AttachKind>() {
    let mut set = K::set();
    let (mut inbox, outbox) = attached::<K>(&mut set, 1);
    assert_eq!(inbox.try_recv(), None);
    outbox.send(0);
    let before = calls();
    for message in 1..1_000 {
        outbox.send(message);
        assert_eq!(list(set.check()), [1]);
        assert_eq!(list(set.poll()), [1]);
        assert_eq!(inbox.try_recv(), Some(message - 1));
    }
    assert_eq!(calls(), before);
    assert_eq!((inbox.try_recv(), inbox.try_recv()), (Some(999), None));
    assert!(calls() - before <= K::CALLS_OF_A_TAKE);
    let before = calls();
    for _ in 0..100 {
        assert_eq!(inbox.try_recv(), None);
        assert!(set.check().is_empty());
    }
    assert_eq!(calls(), before, "looking at an empty receiver again must not cost a system call");
}

pub(crate) fn releasing_twice_is_releasing_once<K: AttachKind>() {
    let mut set = K::set();
    let (inbox, _outbox) = attached::<K>(&mut set, 2);
    let registration = inbox.registration();
    assert!(format!("{registration:?}").contains("id: 2"));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| registration.release());
        }
    });
    let (other, outbox) = attached::<K>(&mut set, 2);
    drop((registration, inbox));
    outbox.send(1);
    assert_eq!(K::attach(&mut set, &mut Inbox::default(), 2), Err(AttachError::IdTaken { id: 2 }));
    assert!(other.registration().is_up());
}

pub(crate) fn streams_of_many_senders_are_received_whole<K: AttachKind>() {
    guarded(|| {
        let (mut set, signaler) = K::pair();
        const MESSAGES: u64 = 5_000;
        let ids = [0, 1, K::CAPACITY / 2, K::CAPACITY - 1];
        let mut inboxes: Vec<_> = ids.iter().map(|&id| (id, attached::<K>(&mut set, id).0, 0)).collect();
        let mut senders: Vec<_> = (0..)
            .zip(&inboxes)
            .map(|(seed, (_, inbox, _))| {
                let outbox = inbox.outbox();
                thread::spawn(move || {
                    let mut gaps = Gaps::new(seed);
                    for message in 0..MESSAGES {
                        outbox.send(message);
                        gaps.pass();
                    }
                })
            })
            .collect();
        // Signals by hand, beside.
        let by_hand = 2;
        senders.push(thread::spawn(move || {
            let mut gaps = Gaps::new(99);
            for _ in 0..MESSAGES {
                signaler.signal(by_hand);
                gaps.pass();
            }
        }));
        let (mut gaps, mut hands) = (Gaps::new(5), 0);
        while inboxes.iter().any(|(.., received)| *received < MESSAGES) || hands == 0 {
            for id in set.poll() {
                if id == by_hand {
                    hands += 1;
                    continue;
                }
                let (_, inbox, received) = inboxes.iter_mut().find(|(of, ..)| *of == id).expect("an attached id");
                // Stop half way through now and then: we must be told again.
                for _ in 0..gaps.below(8) {
                    match inbox.try_recv() {
                        Some(message) => {
                            assert_eq!(message, *received);
                            *received += 1;
                        }
                        None => break,
                    }
                }
            }
        }
        senders.into_iter().for_each(|sender| sender.join().unwrap());
        inboxes.iter_mut().for_each(|(_, inbox, _)| assert_eq!(inbox.try_recv(), None));
        assert!(set.check().all(|id| id == by_hand));
        assert!(set.check().is_empty());
    });
}
