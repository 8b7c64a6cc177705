//! A thread that finds a handle gone sees all that its thread did before: many programs have no other notification, for
//! example if workers drop their senders when they are done, and one thread waits until there is none.
//!
//! What a thread did shows as a cell that it writes; reading it unordered is a race.
//!
//! Claim: A thread that sees a handle as dropped sees what the dropping thread did before.

use core::task::{Context, Waker};
use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::thread;
use ysuite::hub::Hub;
use ysuite::mailbox::{Mailbox, ReceiveError};
use ysuite::{broadcast, mpmc, mpsc, oneshot, watch};

use crate::{model, model_up_to};

/// What a thread did before.
struct Past(UnsafeCell<()>);

// SAFETY: there is nothing in it. The model checker says where it is written and read without an order.
unsafe impl Sync for Past {}
// SAFETY: as above.
unsafe impl Send for Past {}

/// Each thread does something and then drops its handle; if this thread finds that they `are_gone`, it has been done.
fn the_past_of<E: Send + 'static, const ENDS: usize>(
    ends: [E; ENDS],
    go: impl Fn(E) + Copy + Send + 'static,
    are_gone: impl FnOnce() -> bool,
) {
    let pasts = Arc::new([(); ENDS].map(|()| Past(UnsafeCell::new(()))));
    let threads = ends.into_iter().enumerate().map(|(at, end)| {
        let pasts = pasts.clone();
        thread::spawn(move || {
            pasts[at].0.with_mut(|_| ());
            go(end);
        })
    });
    let threads: Vec<_> = threads.collect();
    if are_gone() {
        pasts.iter().for_each(|past| past.0.with(|_| ()));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn the_senders_of_a_broadcast() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded::<u8>(1);
        let ends = [sender.clone(), sender];
        the_past_of(ends, drop, || receiver.try_recv() == Err(broadcast::TryRecvError::Disconnected));
    });
}

#[test]
fn the_receivers_of_a_broadcast() {
    model_up_to(2, || {
        let (sender, receiver) = broadcast::bounded::<u8>(1);
        the_past_of([receiver.clone(), receiver], drop, || sender.is_disconnected());
    });
}

#[test]
fn the_closing_sender_of_a_broadcast() {
    model_up_to(2, || {
        let (sender, _receiver) = broadcast::bounded::<u8>(1);
        let close = |end: broadcast::Sender<u8>| assert!(end.close());
        the_past_of([sender.clone()], close, || sender.try_send(1).is_err());
    });
}

#[test]
fn the_senders_of_an_exchange() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded::<u8>(1);
        the_past_of([sender.clone(), sender], drop, || receiver.try_recv() == Err(ysuite::TryRecvError::Disconnected));
    });
}

#[test]
fn the_senders_of_a_funnel() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::unbounded::<u8>();
        the_past_of([sender.clone(), sender], drop, || receiver.try_recv() == Err(ysuite::TryRecvError::Disconnected));
    });
}

/// By a check without the lock.
#[test]
fn the_receiver_of_a_rendezvous() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded::<u8>(0);
        the_past_of([receiver], drop, || sender.is_disconnected());
    });
}

#[test]
fn the_senders_of_a_watch() {
    model_up_to(2, || {
        let (sender, receiver) = watch::channel(0_u8);
        the_past_of([sender.clone(), sender], drop, || receiver.is_disconnected());
    });
}

#[test]
fn the_receivers_of_a_watch() {
    model_up_to(2, || {
        let (sender, receiver) = watch::channel(0_u8);
        the_past_of([receiver.clone(), receiver], drop, || sender.is_disconnected());
    });
}

#[test]
fn the_receiver_of_a_oneshot_whose_sender_registers_its_task() {
    model(|| {
        let (mut sender, receiver) = oneshot::channel::<u8>();
        let look = || sender.poll_closed(&mut Context::from_waker(Waker::noop())).is_ready();
        the_past_of([receiver], drop, look);
    });
}

#[test]
fn the_addresses_of_a_mailbox() {
    model_up_to(1, || {
        let mut mailbox = Mailbox::new();
        let ends = [mailbox.address(), mailbox.address()];
        the_past_of(ends, drop, || mailbox.receive::<u8>() == Err(ReceiveError::Disconnected));
    });
}

#[test]
fn the_handles_of_a_hub() {
    model_up_to(1, || {
        let mut hub = Hub::new().unwrap();
        let ends = [hub.handle(), hub.handle()];
        the_past_of(ends, drop, || hub.run().is_ok());
    });
}
