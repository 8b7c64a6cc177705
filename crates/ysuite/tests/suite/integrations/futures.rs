//! Senders as sinks and receivers as streams, with the combinators of futures.

use std::future::Future;
use std::task::{Context, Poll};
use std::thread;

use futures_util::stream::FusedStream;
use futures_util::{FutureExt, SinkExt, StreamExt, stream};
use ysuite::SendError;
use ysuite::{broadcast, mpmc, mpsc, spsc, watch};

use crate::support::executor::{Explosive, Task, block_on, poll_once};
use crate::support::{Tally, guarded, panics};

#[test]
fn a_stream_is_forwarded_into_a_sink() {
    guarded(|| {
        for capacity in [1, 2, 7, 1_000] {
            let (sender, receiver) = spsc::bounded(capacity);
            let (next, mut last) = mpsc::bounded(capacity);
            let first = thread::spawn(move || block_on(stream::iter(0..2_000).map(Ok).forward(sender.into_sink())));
            let second =
                thread::spawn(move || block_on(receiver.map(|number| Ok(number * 2)).forward(next.into_sink())));
            assert!(last.iter().eq((0..2_000).map(|number| number * 2)));
            // Forwarding ends with what it forwards, and drops the sink.
            assert_eq!((first.join().unwrap(), second.join().unwrap()), (Ok(()), Ok(())));
        }
    });
}

/// Claim: A message fed to a sink is hidden until the sink is flushed.
#[test]
fn what_is_fed_is_hidden_until_it_is_flushed() {
    let (mut sender, mut receiver) = spsc::unbounded();
    block_on(async {
        for number in 0..5 {
            sender.sink().feed(number).await.unwrap();
        }
        assert!(receiver.is_empty());
        sender.sink().flush().await.unwrap();
        assert!(receiver.try_iter().eq(0..5));
        sender.sink().send(9).await.unwrap();
        assert_eq!(receiver.recv(), Ok(9));
        sender.sink().feed(10).await.unwrap();
        sender.sink().close().await.unwrap();
        assert_eq!(receiver.recv(), Ok(10));
    });
}

#[test]
fn a_full_sink_shows_what_it_hides_and_waits() {
    let (mut sender, mut receiver) = spsc::bounded(2);
    block_on(async {
        sender.sink().feed(0).await.unwrap();
        sender.sink().feed(1).await.unwrap();
    });
    let task = Task::default();
    let mut sink = sender.sink();
    let mut feeding = sink.feed(2);
    assert!(poll_once(&mut feeding, &task).is_pending());
    assert_eq!((receiver.recv(), task.woken()), (Ok(0), 1));
    assert!(poll_once(&mut feeding, &task).is_ready());
    drop(sink);
    // The sender's own, which is as good: flushing never waits.
    sender.flush();
    assert!(receiver.try_iter().eq([1, 2]));
}

#[test]
fn a_sink_without_a_receiver_is_an_error_and_loses_nothing_twice() {
    let tally = Tally::of(4);
    let (mut sender, receiver) = mpsc::bounded(4);
    block_on(async {
        sender.sink().feed(tally.next()).await.unwrap();
        sender.sink().feed(tally.next()).await.unwrap();
        drop(receiver);
        assert!(sender.sink().feed(tally.next()).await.is_err());
        assert_eq!(sender.sink().flush().await, Err(SendError(())));
        assert!(sender.sink().send(tally.next()).await.is_err());
    });
    drop(sender);
    tally.assert_all_ended();
}

#[test]
fn a_message_that_was_received_was_sent_even_if_the_receiver_is_gone_then() {
    let (mut sender, mut receiver) = spsc::unbounded();
    block_on(async {
        assert_eq!(sender.sink().send(1).await, Ok(()));
        assert_eq!(receiver.recv(), Ok(1));
        drop(receiver);
        // Nothing is hidden, so nothing is lost.
        assert_eq!(sender.sink().flush().await, Ok(()));
        assert_eq!(sender.sink().close().await, Ok(()));
        assert_eq!(sender.sink().send(2).await, Err(SendError(())));
    });
    let (mut sender, mut receiver) = mpsc::bounded(2);
    block_on(async {
        sender.sink().feed(1).await.unwrap();
        sender.sink().feed(2).await.unwrap();
        sender.flush();
        assert!(receiver.try_iter().eq([1, 2]));
        sender.sink().feed(3).await.unwrap();
        drop(receiver);
        // This one is lost, and each query reports that.
        for _ in 0..2 {
            assert_eq!(sender.sink().flush().await, Err(SendError(())));
            assert_eq!(sender.sink().close().await, Err(SendError(())));
        }
    });
    // Also where the sender's own flush has lost it.
    let (mut sender, receiver) = spsc::unbounded();
    block_on(async {
        sender.sink().feed(1).await.unwrap();
        drop(receiver);
        sender.flush();
        assert_eq!(sender.sink().flush().await, Err(SendError(())));
    });
}

#[test]
fn a_receiver_that_goes_as_soon_as_it_has_the_message_makes_no_error() {
    guarded(|| {
        for _ in 0..2_000 {
            let (mut sender, mut receiver) = spsc::unbounded();
            let thread = thread::spawn(move || receiver.recv());
            let sent = block_on(sender.sink().send(1));
            assert_eq!((sent, thread.join().unwrap()), (Ok(()), Ok(1)));
        }
    });
}

#[test]
fn a_sink_of_a_broadcast_waits_for_the_slowest_and_takes_its_turn() {
    let (sender, mut receiver) = broadcast::bounded(1);
    let mut slow = receiver.clone();
    let tasks = [(); 2].map(|()| Task::default());
    let (mut one, mut other) = (sender.clone().into_sink(), sender.clone().into_sink());
    assert!(poll_once(&mut one.send(1), &tasks[0]).is_ready());
    assert!(poll_once(&mut one.send(2), &tasks[0]).is_pending());
    assert!(poll_once(&mut other.send(3), &tasks[1]).is_pending());
    assert_eq!((receiver.recv(), tasks[0].woken()), (Ok(1), 0));
    assert_eq!((slow.recv(), tasks[0].woken(), tasks[1].woken()), (Ok(1), 1, 0));
    // It goes with its message, and the turn is the other's.
    drop(one);
    assert_eq!((tasks[0].held(), tasks[1].woken()), (0, 1));
    assert!(poll_once(&mut other.flush(), &tasks[1]).is_ready());
    assert_eq!((receiver.recv(), slow.recv(), tasks[1].held()), (Ok(3), Ok(3), 0));
    // A missing receiver is an error; a borrowed sender goes on.
    drop((receiver, slow));
    assert_eq!(poll_once(&mut other.send(4), &tasks[1]), Poll::Ready(Err(SendError(()))));
    let mut late = sender.subscribe();
    block_on(other.send(5)).unwrap();
    block_on(other.close()).unwrap();
    assert_eq!((late.recv(), late.sender_count()), (Ok(5), 1));
}

#[test]
fn a_sink_of_a_broadcast_that_waits_ends_with_the_last_receiver() {
    let (mut sender, receiver) = broadcast::bounded(1);
    let (tally, task) = (Tally::of(2), Task::default());
    let mut sink = sender.sink();
    let (first, second) = (std::sync::Arc::new(tally.next()), std::sync::Arc::new(tally.next()));
    assert!(poll_once(&mut sink.send(first), &task).is_ready());
    let mut sending = sink.send(second);
    assert!(poll_once(&mut sending, &task).is_pending());
    drop(receiver);
    assert_eq!(task.woken(), 1);
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Err(SendError(()))));
    drop(sink);
    drop(sender);
    tally.assert_all_ended();
}

#[test]
fn sinks_of_a_broadcast_lose_nothing_and_keep_their_orders() {
    guarded(|| {
        let (sender, receiver) = broadcast::bounded(2);
        let receivers = [receiver.clone(), receiver].map(|mut receiver| {
            thread::spawn(move || {
                let mut next = [0; 3];
                for (by, number) in receiver.iter() {
                    let by: usize = by;
                    assert_eq!(number, next[by]);
                    next[by] += 1;
                }
                next
            })
        });
        let threads: Vec<_> = (0..3)
            .map(|by| {
                let sink = sender.clone().into_sink();
                thread::spawn(move || block_on(stream::iter((0..500).map(|number| Ok((by, number)))).forward(sink)))
            })
            .collect();
        drop(sender);
        threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        receivers.into_iter().for_each(|receiver| assert_eq!(receiver.join().unwrap(), [500; 3]));
    });
}

#[test]
#[should_panic(expected = "poll_ready comes first")]
fn starting_without_room_is_a_documented_panic() {
    use std::pin::Pin;

    use futures_util::Sink;

    let (mut sender, _receiver) = spsc::bounded(1);
    for number in 0..2 {
        Pin::new(&mut sender.sink()).start_send(number).unwrap();
    }
}

/// All kinds of sinks, and bounds; `stream` is what comes out.
macro_rules! for_all_sinks {
    (|$sender:ident, $receiver:ident| $body:block) => {
        for capacity in [Some(0), Some(1), Some(2), Some(100), None] {
            for_all_sinks!(capacity, spsc, |$sender, $receiver| $body);
            for_all_sinks!(capacity, mpsc, |$sender, $receiver| $body);
            for_all_sinks!(capacity, mpmc, |$sender, $receiver| $body);
        }
    };
    ($capacity:ident, $kind:ident, |$sender:ident, $receiver:ident| $body:block) => {{
        #[allow(unused_mut)]
        let (mut $sender, mut $receiver) = $capacity.map_or_else($kind::unbounded, $kind::bounded);
        $body
    }};
}

#[test]
fn any_sender_forwards_a_stream_to_its_end() {
    guarded(|| {
        for_all_sinks!(|sender, receiver| {
            let thread = thread::spawn(move || block_on(stream::iter(0..300).map(Ok).forward(sender.into_sink())));
            // A receiver that is a stream is only notified of a sender that waits: the sink waits with its message.
            assert!(block_on(receiver.by_ref().collect::<Vec<_>>()).into_iter().eq(0..300));
            assert_eq!(thread.join().unwrap(), Ok(()));
        });
        for_all_sinks!(|sender, receiver| {
            let thread = thread::spawn(move || {
                block_on(async {
                    let mut sink = sender.sink();
                    sink.send_all(&mut stream::iter((0..50).map(Ok))).await?;
                    for number in 50..100 {
                        sink.feed(number).await?;
                        sink.flush().await?;
                    }
                    drop(sink);
                    for number in 100..150 {
                        sender.sink().send(number).await?;
                    }
                    Ok::<_, SendError<()>>(())
                })
            });
            assert!(receiver.iter().eq(0..150));
            assert_eq!(thread.join().unwrap(), Ok(()));
        });
    });
}

#[test]
fn a_closed_sink_refuses_and_its_receiver_learns_of_the_end() {
    guarded(|| {
        for_all_sinks!(|sender, receiver| {
            let thread = thread::spawn(move || receiver.iter().collect::<Vec<_>>());
            block_on(async {
                let mut sink = sender.into_sink();
                sink.send(1).await.unwrap();
                sink.feed(2).await.unwrap();
                sink.close().await.unwrap();
                // The sender is gone already, and the sink is still there.
                assert_eq!(thread.join().unwrap(), [1, 2]);
                assert_eq!((sink.send(3).await, sink.feed(4).await), (Err(SendError(())), Err(SendError(()))));
                assert_eq!((sink.flush().await, sink.close().await), (Ok(()), Ok(())));
            });
        });
        // A borrowed sender: an spsc sender is closed, one of many goes on.
        let (mut sender, mut receiver) = mpsc::bounded(3);
        let mut other = sender.clone();
        block_on(sender.sink().close()).unwrap();
        assert!(sender.send(1).is_err() && other.send(2).is_ok() && receiver.recv() == Ok(2));
        let (mut sender, receiver) = mpmc::bounded(3);
        block_on(sender.sink().close()).unwrap();
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    });
}

/// Claim: A sink that waits for room ends when its receiver is dropped.
#[test]
fn a_receiver_that_goes_ends_a_sink_that_waits() {
    guarded(|| {
        for_all_sinks!(|sender, receiver| {
            let Some(capacity) = sender.capacity() else { continue };
            let tally = Tally::of(capacity + 3);
            let task = Task::default();
            let mut sink = sender.sink();
            for _ in 0..capacity {
                assert!(poll_once(&mut sink.send(tally.next()), &task).is_ready());
            }
            let mut sending = sink.send(tally.next());
            assert!(poll_once(&mut sending, &task).is_pending());
            assert_eq!(task.woken(), 0);
            receiver.close();
            drop(receiver);
            assert!(task.woken() >= 1);
            assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Err(SendError(()))));
            drop(sending);
            assert_eq!(poll_once(&mut sink.send(tally.next()), &task), Poll::Ready(Err(SendError(()))));
            drop(sink);
            assert_eq!(task.held(), 0);
            drop((sender, tally.next()));
            tally.assert_all_ended();
        });
    });
}

#[test]
fn a_sink_that_goes_takes_what_waits_with_it_and_hands_its_turn_on() {
    // In a rendezvous it leaves the line.
    let tally = Tally::of(1);
    let (mut sender, mut receiver) = spsc::bounded(0);
    let task = Task::default();
    let mut sink = sender.sink();
    assert!(poll_once(&mut sink.send(tally.next()), &task).is_pending());
    drop(sink);
    tally.assert_all_ended();
    assert!(receiver.try_recv().is_err() && task.held() == 0);
    // A notification of room that it does not use is the next sender's.
    let (mut sender, receiver) = mpmc::bounded(1);
    let other = sender.clone();
    sender.send(0).unwrap();
    let tasks = [Task::default(), Task::default()];
    let mut sink = sender.sink();
    assert!(poll_once(&mut sink.send(1), &tasks[0]).is_pending());
    let mut sending = Box::pin(other.send_async(2));
    assert!(poll_once(&mut sending, &tasks[1]).is_pending());
    assert_eq!((receiver.recv(), tasks[0].woken(), tasks[1].woken()), (Ok(0), 1, 0));
    drop(sink);
    assert_eq!((tasks[1].woken(), tasks[0].held()), (1, 0));
    assert!(poll_once(&mut sending, &tasks[1]).is_ready());
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2]);
}

/// Its sender wanted a notification of a receiver: now the message waits for one, and another sender is notified of the
/// next.
#[test]
fn a_sink_whose_message_stands_in_line_takes_no_turn() {
    let (mut one, mut receiver) = mpsc::bounded(0);
    let mut two = one.clone();
    let (first, second, task) = (Task::default(), Task::default(), Task::default());
    assert!(one.poll_ready(&mut Context::from_waker(&first.waker())).is_pending());
    assert!(two.poll_ready(&mut Context::from_waker(&second.waker())).is_pending());
    let mut sink = one.sink();
    assert!(poll_once(&mut sink.feed(1), &task).is_ready());
    assert_eq!(receiver.try_recv(), Ok(1));
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut receiving, &task).is_pending());
    assert_eq!((first.woken(), second.woken()), (0, 1));
    assert_eq!(two.try_send(2), Ok(()));
    assert_eq!(poll_once(&mut receiving, &task), Poll::Ready(Ok(2)));
}

#[test]
fn a_sink_that_goes_while_it_waits_for_room_leaves_no_waker() {
    macro_rules! goes {
        ($kind:ident) => {
            let (mut sender, mut receiver) = $kind::bounded(1);
            sender.send(0).unwrap();
            let task = Task::default();
            let mut sink = sender.sink();
            assert!(poll_once(&mut sink.send(1), &task).is_pending());
            drop(sink);
            assert_eq!(task.held(), 0);
            assert_eq!((receiver.recv(), task.woken()), (Ok(0), 0));
        };
    }
    goes!(spsc);
    goes!(mpsc);
}

#[test]
fn a_sink_of_many_senders_keeps_one_message_until_there_is_room() {
    let (mut sender, receiver) = mpmc::bounded(1);
    let task = Task::default();
    let mut sink = sender.sink();
    assert!(poll_once(&mut sink.feed(1), &task).is_ready());
    assert_eq!(receiver.len(), 1, "sent at once");
    assert!(poll_once(&mut sink.feed(2), &task).is_ready());
    assert!(poll_once(&mut sink.feed(3), &task).is_pending());
    assert!(poll_once(&mut sink.flush(), &task).is_pending());
    assert_eq!((receiver.recv(), task.woken()), (Ok(1), 1));
    assert!(poll_once(&mut sink.flush(), &task).is_ready());
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn a_sink_that_keeps_a_message_takes_no_other() {
    use std::pin::Pin;

    use futures_util::Sink;

    let (mut sender, receiver) = mpmc::bounded(1);
    let mut sink = sender.sink();
    for number in 0..2 {
        Pin::new(&mut sink).start_send(number).unwrap();
    }
    let text = panics(|| Pin::new(&mut sink).start_send(2).unwrap());
    assert!(text.contains("poll_ready comes first"), "{text}");
    // What it keeps is still to come.
    assert_eq!(receiver.recv(), Ok(0));
    assert!(poll_once(&mut sink.flush(), &Task::default()).is_ready());
    assert_eq!((receiver.recv(), receiver.is_empty()), (Ok(1), true));
}

#[test]
fn sinks_that_share_a_bound_lose_nothing_and_keep_their_orders() {
    guarded(|| {
        for capacity in [0, 1, 3] {
            let (sender, receiver) = mpmc::bounded(capacity);
            let threads: Vec<_> = (0..3)
                .map(|by| {
                    let sink = sender.clone().into_sink();
                    thread::spawn(move || block_on(stream::iter((0..500).map(|number| Ok((by, number)))).forward(sink)))
                })
                .collect();
            drop(sender);
            let mut next = [0; 3];
            for (by, number) in &receiver {
                assert_eq!(number, next[by]);
                next[by] += 1;
            }
            assert_eq!(next, [500; 3]);
            threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
        }
    });
}

#[test]
#[should_panic(expected = "poll_ready comes first")]
fn feeding_a_rendezvous_twice_is_the_same_panic() {
    use futures_util::Sink;

    let (mut sender, _receiver) = spsc::bounded(0);
    let mut sink = sender.sink();
    for number in 0..2 {
        std::pin::Pin::new(&mut sink).start_send(number).unwrap();
    }
}

/// By method syntax, with the extension traits in scope: none is an inherent method of a receiver.
#[test]
fn names_of_streams_are_not_those_of_receivers() {
    let (mut sender, receiver) = mpsc::unbounded();
    sender.send_batch(0..10).unwrap();
    drop(sender);
    let mut rest = receiver.skip(1);
    assert_eq!(block_on(rest.next()), Some(1));
    let evens = rest.filter(|number| std::future::ready(number % 2 == 0)).map(|number| number * 10);
    assert_eq!(block_on(evens.take(3).collect::<Vec<_>>()), [20, 40, 60]);
}

/// It hands its turn on to one whose waker panics, and the message that it keeps panics as it goes: two panics are one.
#[test]
fn a_sink_whose_message_panics_behind_a_waker_that_does_goes_with_one_panic() {
    let tally = Tally::of(3);
    let (mut sender, receiver) = mpmc::bounded(1);
    let other = sender.clone();
    assert!(sender.send(tally.next()).is_ok());
    let task = Task::default();
    let mut sink = sender.sink();
    assert!(poll_once(&mut sink.send(tally.next()), &task).is_pending());
    let mut sending = Box::pin(other.send_async(tally.next()));
    assert!(sending.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
    assert_eq!((receiver.recv().unwrap().number, task.woken()), (0, 1));
    tally.explode(1);
    assert_eq!(panics(|| drop(sink)), "this waker panics");
    assert_eq!(tally.ended(), 2);
    drop(sending);
    tally.assert_all_ended();
}

/// What comes by a stream until `futures::select!` has said that it is over, as users write it: the branch of a stream that is
/// terminated is passed over, so one that was before its `None` never ends this loop.
async fn told_by_a_select<T>(mut stream: impl FusedStream<Item = T> + Unpin) -> Vec<T> {
    let (mut got, mut turns) = (Vec::new(), 0);
    assert!(!stream.is_terminated(), "`None` was not returned yet");
    loop {
        turns += 1;
        assert!(turns < 100, "the branch is passed over");
        futures_util::select! {
            message = stream.next() => match message {
                Some(message) => got.push(message),
                None => break,
            },
            () = std::future::ready(()).fuse() => assert!(!stream.is_terminated(), "`None` was not returned yet"),
        }
    }
    assert!(stream.is_terminated());
    assert_eq!(stream.next().await.map(|_| ()), None);
    assert!(stream.is_terminated());
    // No branch of this select is left: as users end a loop of theirs.
    futures_util::select! {
        _ = stream.next() => panic!("a stream that is over is asked again"),
        complete => {}
    }
    got
}

/// A receiver whose sender has gone.
fn deserted<S, R>((sender, receiver): (S, R)) -> R {
    drop(sender);
    receiver
}

#[test]
fn a_select_of_futures_is_told_of_the_end_of_every_kind_of_channel() {
    macro_rules! check {
        ($(|$number:ident, $sender:ident| $channel:expr, $send:expr;)*) => {$({
            for messages in [0, 2] {
                #[allow(unused_mut, reason = "of some channels a shared sender is enough")]
                let (mut $sender, receiver) = $channel;
                for $number in 0..messages {
                    $send;
                }
                drop($sender);
                let got = block_on(told_by_a_select(receiver));
                assert!(got.iter().copied().eq(0..messages), "{}: {got:?}", stringify!($channel));
            }
        })*};
    }
    guarded(|| {
        check! {
            |number, sender| spsc::unbounded(), sender.send(number).unwrap();
            |number, sender| spsc::bounded(2), sender.send(number).unwrap();
            |number, sender| mpsc::unbounded(), sender.send(number).unwrap();
            |number, sender| mpsc::bounded(2), sender.send(number).unwrap();
            |number, sender| mpmc::unbounded(), sender.send(number).unwrap();
            |number, sender| mpmc::bounded(2), sender.send(number).unwrap();
            |number, sender| broadcast::bounded(2), sender.send(number).unwrap();
            |number, sender| broadcast::lossy(2), sender.send(number).unwrap();
        }
        // A rendezvous has nothing to hand over once its sender is gone; of a board there is one value at most.
        assert!(block_on(told_by_a_select(deserted(spsc::bounded::<u8>(0)))).is_empty());
        assert!(block_on(told_by_a_select(deserted(mpsc::bounded::<u8>(0)))).is_empty());
        assert!(block_on(told_by_a_select(deserted(mpmc::bounded::<u8>(0)))).is_empty());
        let (sender, receiver) = watch::channel(0);
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(block_on(told_by_a_select(receiver)), [1]);
        assert!(block_on(told_by_a_select(deserted(watch::channel(0)))).is_empty());
    });
}

/// Each is a stream of its own, and each is notified.
#[test]
fn a_clone_of_a_stream_that_has_ended_has_not() {
    guarded(|| {
        macro_rules! check {
            ($($channel:expr),*) => {$({
                let (sender, mut receiver) = $channel;
                drop(sender);
                assert!(!receiver.is_terminated() && !receiver.clone().is_terminated());
                assert_eq!(block_on(receiver.next()), None::<u8>);
                let mut clone = receiver.clone();
                assert!(receiver.is_terminated() && !clone.is_terminated());
                assert_eq!(block_on(clone.next()), None);
                assert!(clone.is_terminated());
            })*};
        }
        check!(mpmc::bounded(1), mpmc::unbounded(), mpmc::bounded(0), broadcast::bounded(1), watch::channel(0));
    });
}

/// What another method has reported of the disconnect does not change the stream's result.
#[test]
fn an_end_that_was_told_otherwise_is_told_by_the_stream_as_well() {
    guarded(|| {
        let (sender, mut receiver) = spsc::bounded::<u8>(1);
        drop(sender);
        assert!(receiver.recv().is_err() && receiver.try_recv().is_err() && block_on(receiver.recv_async()).is_err());
        assert!(block_on(told_by_a_select(receiver)).is_empty());
        let (sender, receiver) = mpmc::bounded::<u8>(1);
        drop(sender);
        assert!(receiver.recv().is_err() && receiver.try_recv().is_err() && block_on(receiver.recv_async()).is_err());
        assert!(block_on(told_by_a_select(receiver)).is_empty());
        let (sender, mut receiver) = watch::channel(7);
        drop(sender);
        assert!(receiver.changed().is_err());
        assert_eq!(block_on(receiver.next()), None);
        receiver.mark_changed();
        assert_eq!(block_on(told_by_a_select(receiver)), [7]);
    });
}
