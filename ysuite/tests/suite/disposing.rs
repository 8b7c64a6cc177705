//! A receiver whose thread is still dropping what was left: senders find that it is gone all the same. And messages that panic as
//! they are dropped, behind foreign code that has panicked: two panics are one, the first.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Waker};
use std::thread;

use ysuite::{mpmc, mpsc, spsc};

use crate::support::executor::Explosive;
use crate::support::{Tally, guarded, panics};

/// The first that is dropped says so, and takes until it is told to go on.
struct Slow(Option<(Sender<()>, Receiver<()>)>);

impl Drop for Slow {
    fn drop(&mut self) {
        if let Some((begun, goes_on)) = self.0.take() {
            begun.send(()).unwrap();
            goes_on.recv().unwrap();
        }
    }
}

macro_rules! while_messages_are_dropped {
    ($name:ident, $open:expr) => {
        #[test]
        fn $name() {
            guarded(|| {
                let (mut sender, receiver) = $open;
                let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
                assert!(sender.send(Slow(Some((begun, goes_on)))).is_ok());
                let dropping = thread::spawn(move || drop(receiver));
                begins.recv().unwrap();
                assert!(sender.is_disconnected());
                // One may be taken for sent, of each kind: nobody can have told so far.
                let _ = sender.send(Slow(None));
                assert!(sender.send(Slow(None)).is_err());
                assert!(sender.try_send(Slow(None)).is_err());
                assert!(sender.send_batch([Slow(None), Slow(None)]).is_err());
                go_on.send(()).unwrap();
                dropping.join().unwrap();
            });
        }
    };
}

while_messages_are_dropped!(a_pipes_sender_without_a_bound, spsc::unbounded());
while_messages_are_dropped!(a_pipes_sender_with_a_bound, spsc::bounded(50));
while_messages_are_dropped!(a_funnels_sender_without_a_bound, mpsc::unbounded());
while_messages_are_dropped!(a_funnels_sender_with_a_bound, mpsc::bounded(50));

/// Batches are made faster than they are dropped: there is an end to them.
#[test]
fn batches_end_with_the_receiver() {
    guarded(|| {
        let (mut sender, receiver) = spsc::unbounded();
        let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
        assert!(sender.send(Slow(Some((begun, goes_on)))).is_ok());
        let dropping = thread::spawn(move || drop(receiver));
        begins.recv().unwrap();
        let batches = (0..3).filter(|_| sender.send_batch([Slow(None)]).is_ok()).count();
        assert!(batches <= 1, "{batches} batches were sent to nobody");
        go_on.send(()).unwrap();
        dropping.join().unwrap();
    });
}

macro_rules! received_behind_a_waker_that_panics {
    ($name:ident, $open:expr) => {
        #[test]
        #[allow(unused_mut, reason = "ends of an exchange are shared")]
        fn $name() {
            let tally = Tally::of(2);
            tally.explode(0);
            let (mut sender, mut receiver) = $open;
            assert!(sender.send(tally.next()).is_ok());
            {
                let mut sending = pin!(sender.send_async(tally.next()));
                let waker = Explosive::waker();
                assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                // The message has been taken, and nobody gets it.
                assert_eq!(panics(|| drop(receiver.recv())), "this waker panics");
                assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            }
            drop((sender, receiver));
            tally.assert_all_ended();
        }
    };
}

received_behind_a_waker_that_panics!(from_a_pipe_behind_a_waker_that_panics, spsc::bounded(1));
received_behind_a_waker_that_panics!(from_a_funnel_behind_a_waker_that_panics, mpsc::bounded(1));
received_behind_a_waker_that_panics!(from_an_exchange_behind_a_waker_that_panics, mpmc::bounded(1));

#[test]
fn a_message_comes_back_behind_one_that_panics() {
    let tally = Tally::of(2);
    tally.explode_all(0..2);
    let (mut sender, receiver) = spsc::unbounded();
    assert!(sender.write(tally.next()).is_ok());
    drop(receiver);
    assert_eq!(panics(|| drop(sender.send(tally.next()))), "the end of message 0");
    tally.assert_all_ended();
}
