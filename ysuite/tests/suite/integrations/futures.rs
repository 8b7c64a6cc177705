//! Senders as sinks and receivers as streams, with the combinators of futures.

use std::thread;

use futures_util::{SinkExt, StreamExt, stream};
use ysuite::channel::SendError;
use ysuite::{mpsc, spsc};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Tally, guarded};

#[test]
fn a_stream_is_forwarded_into_a_sink() {
    guarded(|| {
        for capacity in [1, 2, 7, 1_000] {
            let (sender, receiver) = spsc::bounded(capacity);
            let (next, mut last) = mpsc::bounded(capacity);
            let first = thread::spawn(move || block_on(stream::iter(0..2_000).map(Ok).forward(sender)));
            let second = thread::spawn(move || block_on(receiver.map(|number| Ok(number * 2)).forward(next)));
            assert!(last.iter().eq((0..2_000).map(|number| number * 2)));
            // Forwarding ends with what it forwards, and drops the sink.
            assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(()), Ok(())));
        }
    });
}

#[test]
fn what_is_fed_is_hidden_until_it_is_flushed() {
    let (mut sender, mut receiver) = spsc::unbounded();
    block_on(async {
        for number in 0..5 {
            sender.feed(number).await.unwrap();
        }
        assert!(receiver.is_empty());
        SinkExt::flush(&mut sender).await.unwrap();
        assert!(receiver.try_iter().eq(0..5));
        SinkExt::send(&mut sender, 9).await.unwrap();
        assert_eq!(receiver.recv(), Ok(9));
        sender.feed(10).await.unwrap();
        SinkExt::close(&mut sender).await.unwrap();
        assert_eq!(receiver.recv(), Ok(10));
    });
}

#[test]
fn a_full_sink_shows_what_it_hides_and_waits() {
    let (mut sender, mut receiver) = spsc::bounded(2);
    block_on(async {
        sender.feed(0).await.unwrap();
        sender.feed(1).await.unwrap();
    });
    let task = Task::default();
    let mut feeding = sender.feed(2);
    assert!(poll_once(&mut feeding, &task).is_pending());
    assert_eq!((receiver.recv(), task.woken()), (Ok(0), 1));
    assert!(poll_once(&mut feeding, &task).is_ready());
    // The sender's own, which is as good: flushing never waits.
    sender.flush();
    assert!(receiver.try_iter().eq([1, 2]));
}

#[test]
fn a_sink_without_a_receiver_is_an_error_and_loses_nothing_twice() {
    let tally = Tally::of(4);
    let (mut sender, receiver) = mpsc::bounded(4);
    block_on(async {
        sender.feed(tally.next()).await.unwrap();
        sender.feed(tally.next()).await.unwrap();
        drop(receiver);
        assert!(sender.feed(tally.next()).await.is_err());
        assert_eq!(SinkExt::flush(&mut sender).await, Err(SendError(())));
        assert!(SinkExt::send(&mut sender, tally.next()).await.is_err());
    });
    drop(sender);
    tally.assert_all_ended();
}

#[test]
fn a_message_that_was_received_was_sent_even_if_the_receiver_is_gone_then() {
    let (mut sender, mut receiver) = spsc::unbounded();
    block_on(async {
        assert_eq!(SinkExt::send(&mut sender, 1).await, Ok(()));
        assert_eq!(receiver.recv(), Ok(1));
        drop(receiver);
        // Nothing is hidden, so nothing is lost.
        assert_eq!(SinkExt::flush(&mut sender).await, Ok(()));
        assert_eq!(SinkExt::close(&mut sender).await, Ok(()));
        assert_eq!(SinkExt::send(&mut sender, 2).await, Err(SendError(())));
    });
    let (mut sender, mut receiver) = mpsc::bounded(2);
    block_on(async {
        sender.feed(1).await.unwrap();
        sender.feed(2).await.unwrap();
        sender.flush();
        assert!(receiver.try_iter().eq([1, 2]));
        sender.feed(3).await.unwrap();
        drop(receiver);
        // This one is lost, and that is said as often as anybody asks.
        for _ in 0..2 {
            assert_eq!(SinkExt::flush(&mut sender).await, Err(SendError(())));
            assert_eq!(SinkExt::close(&mut sender).await, Err(SendError(())));
        }
    });
    // Also where the sender's own flush has lost it.
    let (mut sender, receiver) = spsc::unbounded();
    block_on(async {
        sender.feed(1).await.unwrap();
        drop(receiver);
        sender.flush();
        assert_eq!(SinkExt::flush(&mut sender).await, Err(SendError(())));
    });
}

#[test]
fn a_receiver_that_goes_as_soon_as_it_has_the_message_makes_no_error() {
    guarded(|| {
        for _ in 0..2_000 {
            let (mut sender, mut receiver) = spsc::unbounded();
            let thread = thread::spawn(move || receiver.recv());
            let sent = block_on(SinkExt::send(&mut sender, 1));
            assert_eq!((sent, thread.join().unwrap()), (Ok(()), Ok(1)));
        }
    });
}

#[test]
#[should_panic(expected = "poll_ready comes first")]
fn starting_without_room_is_a_documented_panic() {
    use std::pin::Pin;

    use futures_util::Sink;

    let (mut sender, _receiver) = spsc::bounded(1);
    for number in 0..2 {
        Pin::new(&mut sender).start_send(number).unwrap();
    }
}
