//! An attached end that two threads share: one finds nothing and takes the id down, the other waits meanwhile. When the end
//! goes it leaves no place behind that takes a notification, and passes on what it was told.
//!
//! A notification that is lost shows as a waiter that was not woken.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use loom::thread;
use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::signal::{Attach, YPollset};

use crate::model_up_to;

const LONG: Duration = Duration::from_secs(1);

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// When the shared end goes.
#[derive(Clone, Copy)]
enum Goes {
    Before,
    Behind,
}

/// Two threads use one attached end at the same time; then it goes, before or behind what another end waits for.
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
    assert!(woken.0.load(Ordering::Relaxed) > 0, "the one who waits was not told");
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

#[test]
fn a_shared_receiver_of_an_exchange_leaves_no_place_behind() {
    model_up_to(2, || receivers(1, (1, Goes::Before)));
}

#[test]
fn a_shared_receiver_of_an_exchange_passes_on_what_it_was_told() {
    model_up_to(2, || receivers(1, (1, Goes::Behind)));
}

#[test]
fn a_shared_sender_of_an_exchange_leaves_no_place_behind() {
    model_up_to(2, || senders((1, Goes::Before)));
}

#[test]
fn a_shared_sender_of_an_exchange_passes_on_what_it_was_told() {
    model_up_to(2, || senders((1, Goes::Behind)));
}

#[test]
fn a_shared_receiver_of_a_rendezvous_leaves_no_place_behind() {
    model_up_to(2, || receivers(0, (1, Goes::Before)));
}

/// The second look finds what the first and the other thread have left.
#[test]
fn a_shared_receiver_of_an_exchange_that_looks_twice() {
    for goes in [Goes::Before, Goes::Behind] {
        model_up_to(3, move || receivers(1, (2, goes)));
    }
}
