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
        sender.close().await.unwrap();
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
#[should_panic(expected = "poll_ready comes first")]
fn starting_without_room_is_a_documented_panic() {
    use std::pin::Pin;

    use futures_util::Sink;

    let (mut sender, _receiver) = spsc::bounded(1);
    for number in 0..2 {
        Pin::new(&mut sender).start_send(number).unwrap();
    }
}
