//! A receiver whose thread is still dropping what was left: senders find that it is gone all the same.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use ysuite::{mpsc, spsc};

use crate::support::guarded;

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
