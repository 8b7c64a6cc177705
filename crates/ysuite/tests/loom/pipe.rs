//! The spsc queue, by itself and as a channel.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::queue::ypipe;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore};
use ysuite::spsc;
use ysuite::{RecvTimeoutError, TryRecvError, TrySendError};

use crate::{Counted, model, model_up_to};

/// Claim: `flush` reports a sleeping reader exactly once for each time that the reader has armed the sleep flag.
/// Also: suite ypipe::flush_says_false_once_for_each_time_the_reader_arms,
/// suite spsc::bounded_1::flush_says_false_exactly_when_the_receiver_had_armed.
/// Notices: oneTBB#2136, a read-modify-write is used in place of a full fence, which it is not on AArch64.
#[test]
fn flush_against_a_reader_going_to_sleep() {
    model(|| {
        let (mut writer, mut reader) = ypipe::unbounded();
        let mut asleep = YSemaphore::new();
        let signaler = asleep.signaler();
        let thread = thread::spawn(move || {
            for number in 0..2 {
                writer.write(number).unwrap();
                if !writer.flush() {
                    signaler.signal(0);
                }
            }
            writer
        });
        for expected in 0..2 {
            let number = loop {
                if let Some(number) = reader.read() {
                    break number;
                }
                if reader.arm() {
                    asleep.wait();
                }
            };
            assert_eq!(number, expected);
        }
        thread.join().unwrap();
    });
}

/// Claim: The reader of an spsc queue sees a flushed batch whole or not at all.
/// Also: suite spsc::unbounded::a_batch_is_seen_whole, stress pipe::batches_on_both_sides.
#[test]
fn a_batch_is_seen_whole_or_not_at_all() {
    model(|| {
        let (mut writer, mut reader) = ypipe::unbounded();
        let thread = thread::spawn(move || {
            // Three groups in two chunks; the sixth message is taken back.
            for number in 0..6 {
                writer.write(number).unwrap();
            }
            assert_eq!(writer.unwrite(), Some(5));
            writer.flush();
            writer
        });
        let seen: Vec<i32> = std::iter::from_fn(|| reader.read()).collect();
        assert!(seen.is_empty() || seen == [0, 1, 2, 3, 4], "{seen:?}");
        let mut writer = thread.join().unwrap();
        writer.write(5).unwrap();
        writer.flush();
        let rest: Vec<i32> = std::iter::from_fn(|| reader.read()).collect();
        assert_eq!([seen, rest].concat(), [0, 1, 2, 3, 4, 5]);
    });
}

/// Claim: A batch of whole groups, in several chunks, is received in order by batches that end within a group.
/// Also: suite spsc::batches_of_every_length_and_size, stress pipe::batches_on_both_sides.
#[test]
fn a_batch_of_whole_groups_against_a_receiver_of_batches() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            // Two groups to a chunk, two messages to a group.
            assert_eq!(sender.send_batch(0..9), Ok(9));
            assert_eq!(sender.send_batch(9..11), Ok(2));
        });
        let mut received = Vec::with_capacity(16);
        while receiver.recv_batch(&mut received, 5).is_ok() {}
        thread.join().unwrap();
        assert_eq!(received, Vec::from_iter(0..11));
    });
}

/// Claim: Written messages stay hidden until a flush. The writer can take hidden messages back, newest first, across
/// group and chunk borders, while the reader reads.
/// Also: suite spsc::unbounded::written_messages_are_hidden_until_flushed,
/// suite ypipe::unwriting_over_a_chunk_that_the_reader_then_leaves.
#[test]
fn unwriting_back_over_a_chunk_against_a_reader_at_its_end() {
    model(|| {
        let (mut writer, mut reader) = ypipe::unbounded();
        for number in 0..3 {
            writer.write(number).unwrap();
        }
        writer.flush();
        let thread = thread::spawn(move || {
            for number in 3..6 {
                writer.write(number).unwrap();
            }
            assert_eq!(writer.unwrite(), Some(5));
            assert_eq!(writer.unwrite(), Some(4));
            assert_eq!(writer.unwrite(), Some(3));
            assert_eq!(writer.unwrite(), None);
            writer.write(7).unwrap();
            writer.flush();
            // Writes over the border again, when the reader may have come to it.
            writer.write(8).unwrap();
            writer.flush();
        });
        let mut seen: Vec<i32> = std::iter::from_fn(|| reader.read()).collect();
        thread.join().unwrap();
        seen.extend(std::iter::from_fn(|| reader.read()));
        assert_eq!(seen, [0, 1, 2, 7, 8]);
    });
}

/// Claim: Spent chunks return to the writer. A chunk that is used again reads as empty.
/// Also: unit queue::ypipe::wrapping::chunks_that_were_away_for_half_the_laps_are_empty.
#[test]
fn chunks_go_round() {
    model(|| {
        let (mut writer, mut reader) = ypipe::unbounded();
        let thread = thread::spawn(move || {
            for number in 0..7 {
                writer.write(number).unwrap();
                writer.flush();
            }
            writer
        });
        let mut expected = 0;
        for _ in 0..3 {
            while let Some(number) = reader.read() {
                assert_eq!(number, expected);
                expected += 1;
            }
            thread::yield_now();
        }
        let _writer = thread.join().unwrap();
        while let Some(number) = reader.read() {
            assert_eq!(number, expected);
            expected += 1;
        }
        assert_eq!(expected, 7);
    });
}

/// The reader makes the ring of spent chunks when it gives the first of them back, while the writer may be searching
/// for one.
#[test]
fn the_ring_of_spent_chunks_is_made_while_the_writer_looks_for_it() {
    model(|| {
        let (mut writer, mut reader) = ypipe::unbounded();
        // Writes into the second chunk, so that the reader leaves the first.
        (0..5).for_each(|number| writer.write(number).unwrap());
        writer.flush();
        let thread = thread::spawn(move || {
            // Writes into the third chunk.
            (5..9).for_each(|number| writer.write(number).unwrap());
            writer.flush();
            writer
        });
        let mut seen: Vec<i32> = std::iter::from_fn(|| reader.read()).collect();
        let _writer = thread.join().unwrap();
        seen.extend(std::iter::from_fn(|| reader.read()));
        assert_eq!(seen, (0..9).collect::<Vec<_>>());
    });
}

/// Claim: No wake-up of an `spsc` receiver thread is lost, with light barriers, with fences, and across the switch
/// between them.
/// Also: forbidden membarrier_forbidden_by_a_filter_means_fences, stress pipe::blocking_receives.
/// Notices: event-listener#139, a publisher skips the wake-up while a listener goes to sleep.
#[test]
fn send_against_a_receiver_going_to_sleep() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            // The first send may find a sleeper, the second the switch to the free barrier, the third the free barrier.
            for number in 0..3 {
                sender.send(number).unwrap();
            }
            sender
        });
        for expected in 0..3 {
            assert_eq!(receiver.recv(), Ok(expected));
        }
        thread.join().unwrap();
    });
}

/// Claim: No wake-up of a wait with a time limit is lost: a timeout during a publication takes the message or leaves it
/// in the channel.
/// Also: suite spsc::bounded_1::a_timed_out_wait_does_not_eat_the_wake, stress pipe::timeouts.
#[test]
fn wake_against_timeout() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        // A timed wait in a model ends at any point that the explorer chooses; no message may be lost by that.
        let early = match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(number) => Some(number),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("the sender is alive"),
        };
        let number = early.map_or_else(|| receiver.recv(), Ok);
        assert_eq!(number, Ok(1));
        thread.join().unwrap();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

/// Claim: Dropping the other side wakes a thread or task that waits for a message or for room.
/// Also: model cut::close_against_a_sender_without_room,
/// suite spsc::bounded_1::close_wakes_a_sender_that_waits_for_room.
#[test]
fn the_senders_end_against_a_receiver_going_to_sleep() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            sender.write(1).unwrap();
            drop(sender);
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// In a stream no publication is fenced: only the store of the disconnect orders the messages before it.
///
/// Claim: Dropping the sender publishes hidden messages. The receiver sees the disconnection only after the last
/// message.
/// Also: suite ypipe::the_writers_end_is_seen_behind_its_last_message,
/// suite spsc::unbounded::a_sender_that_goes_publishes_what_was_written.
#[test]
fn the_senders_end_is_seen_behind_the_last_message_of_a_stream() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || (0..2).for_each(|number| sender.send(number).unwrap()));
        let mut received = 0;
        loop {
            match receiver.try_recv() {
                Ok(number) => {
                    assert_eq!(number, received);
                    received += 1;
                }
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        assert_eq!(received, 2);
        thread.join().unwrap();
    });
}

/// Claim: When the receiver is dropped, each message is received, returned or dropped once, by one thread at a time and
/// at once, even if the sender stays idle.
/// Also: suite spsc::unbounded::close_racing_with_send,
/// suite ypipe::what_is_flushed_to_a_reader_that_is_gone_is_dropped_at_once.
#[test]
fn the_receivers_end_against_sending() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, receiver) = spsc::unbounded();
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let mut back = 0;
            for _ in 0..2 {
                back += usize::from(sender.send(Counted(count.clone())).is_err());
            }
            // A message that was not given back was dropped with the receiver, not stranded in the channel.
            (sender, back)
        });
        drop(receiver);
        let (sender, _) = thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 2);
        drop(sender);
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn both_ends_end_at_once() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, receiver) = spsc::unbounded();
        sender.send(Counted(ended.clone())).unwrap();
        sender.write(Counted(ended.clone())).unwrap();
        let thread = thread::spawn(move || drop(sender));
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    });
}

/// Claim: No wake-up for room is lost, for threads and for tasks.
/// Also: model exchange::a_full_ring_against_a_sender_going_to_sleep, stress pipe::one_place_both_ways.
#[test]
fn credits_both_ways() {
    // Three preemptions were tried: 2,099,799 executions, where two take 60,676.
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let thread = thread::spawn(move || {
            for number in 0..3 {
                sender.send(number).unwrap();
            }
        });
        for expected in 0..3 {
            assert_eq!(receiver.recv(), Ok(expected));
        }
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Notices: rust#76220, a send stays blocked after the receiver was dropped.
#[test]
fn the_receivers_end_against_a_sender_without_room() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut sender, receiver) = spsc::bounded(1);
        assert!(sender.try_send(Counted(ended.clone())).is_ok());
        assert!(matches!(sender.try_send(Counted(ended.clone())), Err(TrySendError::Full(_))));
        let count = ended.clone();
        let thread = thread::spawn(move || {
            // This message may still be accepted while the receiver is dropped; the next send finds it gone. Neither
            // blocks.
            let _ = sender.send(Counted(count.clone()));
            sender
        });
        drop(receiver);
        let mut sender = thread.join().unwrap();
        assert!(sender.send(Counted(ended.clone())).is_err());
        assert_eq!(ended.load(Ordering::Relaxed), 4);
    });
}

#[test]
fn attached_lowering_against_raising() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 3).unwrap();
        let thread = thread::spawn(move || {
            sender.send(0).unwrap();
            sender.send(1).unwrap();
            sender
        });
        let mut expected = 0;
        while expected < 2 {
            assert_eq!(set.wait().collect::<Vec<_>>(), [3]);
            while let Ok(number) = receiver.try_recv() {
                assert_eq!(number, expected);
                expected += 1;
            }
        }
        thread.join().unwrap();
    });
}

/// Claim: No wake-up of a receiver attached to a `YPollset` is lost.
/// Also: model funnel::an_attached_mpsc_channel_is_signalled_for_every_lane, stress pipe::attached_to_a_pollset.
#[test]
fn an_attached_receiver_that_leaves_messages_is_signalled_again() {
    // Three preemptions were tried: 3,406,324 executions, where two take 68,985.
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::unbounded();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 0).unwrap();
        let thread = thread::spawn(move || {
            sender.send(0).unwrap();
            sender.send(1).unwrap();
            sender
        });
        // Receives one message for each signal: after each the receiver's id is raised, or the receiver is armed.
        let mut expected = 0;
        while expected < 2 {
            set.wait();
            if let Ok(number) = receiver.recv_timeout(Duration::ZERO) {
                assert_eq!(number, expected);
                expected += 1;
            } else {
                let _ = receiver.peek();
            }
        }
        thread.join().unwrap();
    });
}

/// Claim: No wake-up of a task is lost.
/// Also: model exchange::tasks_on_both_sides_are_woken, stress pipe::tasks_receive.
#[test]
fn a_task_is_woken() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        block_on(async {
            assert_eq!(poll_fn(|context| receiver.poll_recv(context)).await, Ok(1));
            assert_eq!(poll_fn(|context| receiver.poll_recv(context)).await, Ok(2));
            assert!(poll_fn(|context| receiver.poll_recv(context)).await.is_err());
        });
        thread.join().unwrap();
    });
}

/// Claim: No waker outlives its wait, in a channel, a finished future or a dropped handle.
/// Also: suite spsc::unbounded::wakers_are_dropped_with_the_channel,
/// suite mpmc::close::a_task_that_no_longer_waits_for_the_end_leaves_no_waker.
#[test]
fn a_task_is_woken_and_its_future_lets_go_of_it() {
    // With three preemptions this takes minutes.
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        block_on(async {
            assert_eq!(receiver.recv_async().await, Ok(1));
            assert_eq!(receiver.recv_async().await, Ok(2));
            assert!(receiver.recv_async().await.is_err());
        });
        thread.join().unwrap();
    });
}

#[test]
fn a_sending_task_is_woken() {
    // With three preemptions this takes minutes: the future drops its task's waker as well.
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let thread = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(1));
            assert_eq!(receiver.recv(), Ok(2));
        });
        block_on(async {
            sender.send_async(1).await.unwrap();
            sender.send_async(2).await.unwrap();
        });
        thread.join().unwrap();
    });
}
