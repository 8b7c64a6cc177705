//! The receiver closes its spsc channel: both sides agree on the last message, whichever comes first, and each message
//! has one owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;
use ysuite::spsc;
use ysuite::{RecvError, TryRecvError};
use ysuite::{SendError, TrySendError};

use crate::runner::model_with;
use crate::{Counted, model, model_up_to};

/// All that the receiver still gets; then it learns that nothing more will come.
fn rest<T>(receiver: &mut spsc::Receiver<T>) -> Vec<T> {
    let length = receiver.len();
    let rest: Vec<T> = std::iter::from_fn(|| receiver.recv().ok()).collect();
    assert_eq!((rest.len(), receiver.len()), (length, 0));
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Disconnected)));
    rest
}

/// Claim: On close, sender and receiver agree on one cut. Messages below it are received; messages beyond it return to
/// the sender.
/// Also: suite spsc::bounded_1::close_racing_with_every_send, stress closing::spsc_channels_that_their_receiver_closes.
/// Notices: tokio#4225, a close races with a send, and the message is neither received nor returned.
#[test]
fn close_against_sending_one_by_one() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            // Over the borders of a group and of a chunk; what is refused once is refused ever after.
            let sent: Vec<_> = (0..5).map(|number| sender.send(number)).collect();
            let accepted = sent.iter().take_while(|sent| sent.is_ok()).count();
            for (number, sent) in sent.into_iter().enumerate().skip(accepted) {
                assert!(matches!(sent, Err(SendError(back)) if back == number));
            }
            (sender, accepted)
        });
        assert!(receiver.close());
        assert!(!receiver.close() && receiver.is_disconnected());
        let received = rest(&mut receiver);
        let (mut sender, accepted) = thread.join().unwrap();
        assert!(received.into_iter().eq(0..accepted));
        assert!(sender.is_disconnected() && sender.send(9).is_err());
        assert_eq!((sender.len(), receiver.recv()), (0, Err(RecvError)));
    });
}

#[test]
fn close_against_sending_while_messages_are_there() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        (0..3).for_each(|number| sender.send(number).unwrap());
        assert_eq!(receiver.recv(), Ok(0));
        let thread = thread::spawn(move || {
            let accepted = (3..6).take_while(|number| sender.send(*number).is_ok()).count();
            (sender, 3 + accepted)
        });
        assert!(receiver.close());
        let received = rest(&mut receiver);
        let (sender, accepted) = thread.join().unwrap();
        assert!(received.into_iter().eq(1..accepted));
        drop(receiver);
        drop(sender);
    });
}

/// Claim: The cut of a close never divides a batch.
/// Also: model in_place::runs_against_a_close, suite spsc::unbounded::hidden_messages_at_the_close.
#[test]
fn close_against_a_batch() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        sender.send(0).unwrap();
        let thread = thread::spawn(move || {
            // Three groups in two chunks.
            let sent = sender.send_batch(1..6);
            (sender, sent)
        });
        assert!(receiver.close());
        let mut received = Vec::new();
        while receiver.recv_batch(&mut received, 9).is_ok() {}
        let (_sender, sent) = thread.join().unwrap();
        match sent {
            Ok(sent) => assert_eq!((sent, received), (5, (0..6).collect())),
            Err(SendError(back)) => assert_eq!((back, received), ((1..6).collect(), vec![0])),
        }
    });
}

/// Claim: Messages that are hidden at a close return to the sender or are sent as a whole.
/// Also: suite spsc::unbounded::hidden_messages_at_the_close.
#[test]
fn close_against_hidden_messages_and_the_senders_end() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, mut receiver) = spsc::unbounded();
        let count = ended.clone();
        let thread = thread::spawn(move || {
            (0..3).for_each(|_| assert!(sender.write(Counted(count.clone())).is_ok()));
            drop(sender);
        });
        receiver.close();
        let received = rest(&mut receiver).len();
        assert!(received == 0 || received == 3);
        thread.join().unwrap();
        assert_eq!((ended.load(Ordering::Relaxed), receiver.len()), (3, 0));
    });
}

#[test]
fn close_against_sending_with_a_bound() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(2);
        sender.send(0).unwrap();
        let thread = thread::spawn(move || {
            let mut accepted = 1;
            while sender.send(accepted).is_ok() {
                accepted += 1;
            }
            assert!(matches!(sender.try_send(9), Err(TrySendError::Disconnected(9))));
            (sender, accepted)
        });
        assert!(receiver.close());
        let received = rest(&mut receiver);
        let (_sender, accepted) = thread.join().unwrap();
        assert!(received.into_iter().eq(0..accepted));
    });
}

#[test]
fn close_against_a_sender_without_room() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, mut receiver) = spsc::bounded(1);
        assert!(sender.send(Counted(ended.clone())).is_ok());
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let sent = sender.send(Counted(count));
            (sender, sent.is_ok())
        });
        assert!(receiver.close());
        let received = rest(&mut receiver).len();
        let (sender, sent) = thread.join().unwrap();
        assert_eq!((received, ended.load(Ordering::Relaxed)), (1 + usize::from(sent), 2));
        drop(sender);
    });
}

#[test]
fn close_then_drop_against_sending() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, mut receiver) = spsc::unbounded();
        assert!(sender.send(Counted(ended.clone())).is_ok());
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let mut back = 0;
            for _ in 0..3 {
                back += usize::from(sender.send(Counted(count.clone())).is_err());
            }
            (sender, back)
        });
        receiver.close();
        drop(receiver.try_recv());
        drop(receiver);
        let (sender, _) = thread.join().unwrap();
        // Every message was given back, received, or dropped with the receiver; none is stranded.
        assert_eq!(ended.load(Ordering::Relaxed), 4);
        drop(sender);
        assert_eq!(ended.load(Ordering::Relaxed), 4);
    });
}

/// Claim: When a close races with the drop of either handle, each message has exactly one owner.
/// Also: suite spsc::unbounded::close_and_drop_racing_with_every_send.
#[test]
fn close_against_the_senders_end() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            let sent = sender.send(1).is_ok();
            sender.close();
            assert!(sender.send(2).is_err() && !sender.close());
            sent
        });
        receiver.close();
        let received = rest(&mut receiver);
        assert_eq!(received.len(), usize::from(thread.join().unwrap()));
    });
}

/// The sender has proposed the cut, and takes back what it has written after it, while the receiver still reads how far
/// the channel reaches, in the chunk of those messages. Fewer preemptions do not reach that state.
fn close_against_writing_beyond_the_cut(write: fn(&mut spsc::Sender<usize>)) {
    model_with(3, move || {
        let (mut sender, mut receiver) = spsc::unbounded();
        (0..2).for_each(|number| sender.send(number).unwrap());
        let thread = thread::spawn(move || {
            let accepted = 2 + usize::from(sender.send(2).is_ok());
            write(&mut sender);
            drop(sender);
            accepted
        });
        receiver.close();
        let received = rest(&mut receiver);
        assert!(received.len() >= thread.join().unwrap());
        assert!(received.into_iter().enumerate().all(|(index, number)| index == number));
    });
}

/// The last place of a chunk, and the first of the next.
fn write_across_a_border(sender: &mut spsc::Sender<usize>) {
    (3..5).for_each(|number| sender.write(number).unwrap());
}

/// Claim: A writer that takes back messages beyond the cut frees no chunk that the closing reader may still read.
/// Also: suite spsc::unbounded::the_senders_end_beyond_the_cut_racing_with_the_close.
#[test]
fn close_against_the_senders_end_beyond_the_cut() {
    close_against_writing_beyond_the_cut(write_across_a_border);
}

/// The chunk is used again before the sender goes.
#[test]
fn close_against_writing_again_beyond_the_cut() {
    close_against_writing_beyond_the_cut(|sender| {
        write_across_a_border(sender);
        sender.flush();
        // Not where these were sent: the numbers would be out of turn.
        if sender.is_disconnected() {
            write_across_a_border(sender);
        }
    });
}
