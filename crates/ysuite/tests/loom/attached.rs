//! An attached handle that two threads share: one finds nothing and takes the id down, the other waits meanwhile. When
//! the handle is dropped it leaves no registration that takes a notification, and passes on those that it had.
//!
//! A notification that is lost shows as a waiter that was not woken.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use loom::thread;
use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::signal::{Attach, Wait, YPollset};
use ysuite::spsc;

use crate::model_up_to;

const LONG: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// When the shared handle is dropped.
#[derive(Clone, Copy)]
enum Goes {
    Before,
    Behind,
}

/// Two threads use one attached handle at the same time; then it is dropped, before or after what another handle waits
/// for.
fn shared<E: Attach + Send + Sync + 'static>(
    mut end: E,
    look: fn(&E),
    wait: fn(&E),
    (looks, goes): (u32, Goes),
    begin_to_wait: impl FnOnce(&mut Context<'_>),
    publish: impl FnOnce(),
) {
    let mut set = YPollset::new();
    set.attach(&mut end, 0).unwrap();
    let end = Arc::new(end);
    let looking = {
        let end = end.clone();
        thread::spawn(move || (0..looks).for_each(|_| look(&end)))
    };
    wait(&end);
    looking.join().unwrap();
    let mut end = Arc::into_inner(end);
    if let Goes::Before = goes {
        end = None;
    }
    let woken = Arc::new(Woken::default());
    begin_to_wait(&mut Context::from_waker(&Waker::from(woken.clone())));
    publish();
    drop(end);
    assert!(woken.0.load(Ordering::Relaxed) > 0, "the waiter was not notified");
}

fn receivers(capacity: usize, goes: (u32, Goes)) {
    let (sender, receiver) = mpmc::bounded::<u32>(capacity);
    let mut other = receiver.clone();
    let look = |receiver: &Receiver<u32>| assert!(receiver.try_recv().is_err());
    let wait = |receiver: &Receiver<u32>| assert!(receiver.recv_timeout(LONG).is_err());
    let mut sending = None;
    let waiting = |context: &mut Context<'_>| assert!(other.poll_recv(context).is_pending());
    shared(receiver, look, wait, goes, waiting, || {
        let mut future = Box::pin(sender.send_async(7));
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        sending = Some(future);
    });
}

fn senders(goes: (u32, Goes)) {
    let (sender, receiver) = mpmc::bounded::<u32>(1);
    let other = sender.clone();
    let mut sending = Box::pin(other.send_async(4));
    sender.send(1).unwrap();
    let look = |sender: &Sender<u32>| assert!(sender.try_send(2).is_err());
    let wait = |sender: &Sender<u32>| assert!(sender.send_timeout(3, LONG).is_err());
    let waiting = |context: &mut Context<'_>| assert!(sending.as_mut().poll(context).is_pending());
    shared(sender, look, wait, goes, waiting, || assert_eq!(receiver.try_recv(), Ok(1)));
}

/// Claim: An attached handle that several threads share leaves no armed slot, and passes its notification on.
#[test]
fn a_shared_mpmc_receiver_leaves_no_registration() {
    model_up_to(2, || receivers(1, (1, Goes::Before)));
}

#[test]
fn a_shared_mpmc_receiver_passes_on_its_notifications() {
    model_up_to(2, || receivers(1, (1, Goes::Behind)));
}

#[test]
fn a_shared_mpmc_sender_leaves_no_registration() {
    model_up_to(2, || senders((1, Goes::Before)));
}

#[test]
fn a_shared_mpmc_sender_passes_on_its_notifications() {
    model_up_to(2, || senders((1, Goes::Behind)));
}

#[test]
fn a_shared_rendezvous_receiver_leaves_no_registration() {
    model_up_to(2, || receivers(0, (1, Goes::Before)));
}

/// The second poll finds what the first and the other thread have left.
#[test]
fn a_shared_mpmc_receiver_that_polls_twice() {
    for goes in [Goes::Before, Goes::Behind] {
        model_up_to(3, move || receivers(1, (2, goes)));
    }
}

/// When a handle was polled whose set must be notified, and whose task has nothing to do any more.
#[derive(Clone, Copy)]
enum Polled {
    BeforeItIsAttached,
    InItsSet,
}

/// It waits by its set, and was polled before, in vain: the task's slot takes no notification that is meant for the
/// set. If it took one both sides would sleep, which is a deadlock. The other side stays: its drop would notify the set
/// as well.
fn polled<E: Attach, R: Send + 'static>(
    mut end: E,
    at: Polled,
    poll: fn(&mut E),
    look: fn(&mut E) -> bool,
    satisfy: impl FnOnce() -> R + Send + 'static,
) {
    let mut set = YPollset::with_capacity(1);
    if let Polled::InItsSet = at {
        set.attach(&mut end, 0).unwrap();
    }
    poll(&mut end);
    let other = thread::spawn(satisfy);
    if let Polled::BeforeItIsAttached = at {
        set.attach(&mut end, 0).unwrap();
    }
    while !look(&mut end) {
        set.wait();
    }
    drop(other.join().unwrap());
}

fn polled_receiver(capacity: usize, at: Polled) {
    let (sender, receiver) = mpmc::bounded::<u32>(capacity);
    let poll = |receiver: &mut Receiver<u32>| {
        assert!(receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_pending());
    };
    polled(
        receiver,
        at,
        poll,
        |receiver| receiver.try_recv().is_ok(),
        move || {
            sender.send(7).unwrap();
            sender
        },
    );
}

#[test]
fn a_receiver_that_was_polled_before_it_is_attached() {
    model_up_to(2, || polled_receiver(1, Polled::BeforeItIsAttached));
}

#[test]
fn a_receiver_that_was_polled_in_its_set() {
    model_up_to(2, || polled_receiver(1, Polled::InItsSet));
}

#[test]
fn a_receiver_of_a_rendezvous_that_was_polled_before_it_is_attached() {
    model_up_to(2, || polled_receiver(0, Polled::BeforeItIsAttached));
}

#[test]
fn a_sender_of_a_rendezvous_that_was_polled_before_it_is_attached() {
    model_up_to(2, || {
        let (sender, mut receiver) = spsc::bounded::<u32>(0);
        let poll = |sender: &mut spsc::Sender<u32>| {
            assert!(sender.poll_ready(&mut Context::from_waker(Waker::noop())).is_pending());
        };
        polled(
            sender,
            Polled::BeforeItIsAttached,
            poll,
            |sender| sender.try_send(7).is_ok(),
            move || {
                assert_eq!(receiver.recv(), Ok(7));
                receiver
            },
        );
    });
}
