//! Handles that are attached to a set: what the threads that share one handle hand over to each other, and what the
//! thread that wakes a handle of one thread finds.
//!
//! Claim: Threads that share an attached handle lower its id one after another. Disarming comes after arming, and a
//! wake mode that is found brings its registration.

use loom::thread;

use super::super::WaitList;
use super::super::many::SharedEnd;
use super::super::subscription::Subscriptions;
use super::super::target::{Parker, SIGNAL};
use crate::runner::model_up_to;
use crate::signal::{Attach, AttachError, Registration, Wait, YPollset};
use crate::statistics::Meter;
use crate::sync::{Arc, Handed};

/// A handle that finds nothing.
#[derive(Clone, Copy)]
struct Empty<'a> {
    list: &'a WaitList,
    /// What the thread does whenever it comes to the list.
    comes: &'a dyn Fn(),
    /// Called at each poll for messages, or for room.
    looks: &'a dyn Fn(),
}

impl SharedEnd for Empty<'_> {
    fn list(&self) -> &WaitList {
        (self.comes)();
        self.list
    }

    fn is_ready(&self) -> bool {
        (self.looks)();
        false
    }

    fn supply(&self) -> usize {
        0
    }
}

/// A handle that threads share, and what one of them had done.
struct Shared {
    list: WaitList,
    subscriptions: Subscriptions,
    past: Handed,
    /// Written at each poll, by the thread that takes the id down.
    looked: Handed,
}

impl Shared {
    /// In the set that is returned, with its id up.
    fn attached() -> (Arc<Self>, YPollset) {
        let mut set = YPollset::with_capacity(1);
        let mut shared = Self {
            list: WaitList::new(),
            subscriptions: Subscriptions::default(),
            past: Handed::default(),
            looked: Handed::default(),
        };
        set.attach(&mut shared, 0).unwrap();
        (Arc::new(shared), set)
    }

    fn rest(&self) {
        assert!(!self.subscriptions.rest(Empty { list: &self.list, comes: &|| (), looks: &|| self.looked.written() }));
    }
}

impl Attach for Shared {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        self.subscriptions.attach(Empty { list: &self.list, comes: &|| (), looks: &|| () }, registration)
    }

    fn with_registration(&self, _: &mut dyn FnMut(&Registration)) {
        unreachable!("it stays in its set")
    }

    fn detach(&mut self) -> bool {
        unreachable!("it stays in its set")
    }
}

#[test]
fn one_thread_after_another_takes_the_id_down() {
    model_up_to(2, || {
        let (shared, _set) = Shared::attached();
        let other = shared.clone();
        let other = thread::spawn(move || other.rest());
        shared.rest();
        other.join().unwrap();
    });
}

/// It comes to the list to disarm the slot, and must find it armed there.
#[test]
fn who_answers_for_an_arming_comes_after_it() {
    model_up_to(2, || {
        let (shared, _set) = Shared::attached();
        let other = shared.clone();
        let other = thread::spawn(move || {
            let end = Empty { list: &other.list, comes: &|| other.past.read(), looks: &|| () };
            other.subscriptions.disarm_all(end)
        });
        shared.past.written();
        shared.rest();
        assert!(!other.join().unwrap(), "no thread has notified it");
    });
}

/// A handle of one thread.
struct Sleeper(Arc<Parker>);

impl Attach for Sleeper {
    fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
        // SAFETY: this is the handle's own thread, which uses no registration meanwhile.
        unsafe { self.0.target.set_registration(registration) };
        Ok(())
    }

    fn with_registration(&self, _: &mut dyn FnMut(&Registration)) {
        unreachable!("it stays in its set")
    }

    fn detach(&mut self) -> bool {
        unreachable!("it stays in its set")
    }
}

#[test]
fn who_takes_the_token_of_an_attached_end_finds_its_registration() {
    model_up_to(2, || {
        let (mut sleeper, mut set) = (Sleeper(Arc::new(Parker::new(Meter::default()))), YPollset::with_capacity(1));
        let parker = sleeper.0.clone();
        let waker = thread::spawn(move || parker.wake());
        set.attach(&mut sleeper, 0).unwrap();
        // SAFETY: this is the handle's own thread, and the handle stays attached.
        unsafe { sleeper.0.target.deposit() };
        sleeper.0.word.arm(SIGNAL);
        if waker.join().unwrap() {
            assert!(set.check().eq([0]), "the token was taken and the id is down");
        }
    });
}
