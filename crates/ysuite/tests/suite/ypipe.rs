//! The queue by itself: what it shows and hides, when it says that the reader sleeps, and what becomes of its messages.
//! That it delivers everything in order is tested as a channel.

use std::thread;

use crate::support::samples::Sample;
use crate::support::{Random, Tally, calls, guarded, panics};
use ysuite::queue::ypipe::{self, Reader, Writer};
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore};

fn pipes<T>() -> Vec<(Writer<T>, Reader<T>)> {
    let mut pipes: Vec<_> = [7, 8, 100, 10_000].map(ypipe::bounded).into();
    pipes.push(ypipe::unbounded());
    pipes
}

#[test]
fn what_is_written_is_hidden_until_flushed() {
    for (mut writer, mut reader) in pipes() {
        for round in 0..50 {
            for message in 0..7 {
                writer.write(round * 7 + message).unwrap();
                assert_eq!((writer.hidden(), writer.len()), (message + 1, 0));
                assert!(reader.read().is_none() && reader.peek().is_none() && reader.is_empty());
            }
            assert!(writer.flush());
            assert_eq!((writer.hidden(), writer.len(), reader.len()), (0, 7, 7));
            for message in 0..7 {
                assert_eq!(reader.peek(), Some(&(round * 7 + message)));
                assert_eq!(reader.read(), Some(round * 7 + message));
            }
            assert!(reader.read().is_none() && writer.is_empty());
        }
    }
}

#[test]
fn flush_says_false_once_for_each_time_the_reader_arms() {
    for (mut writer, mut reader) in pipes() {
        for round in 0..200 {
            assert!(reader.arm(), "nothing is here");
            // To arm twice is to arm once.
            assert!(round % 2 == 0 || reader.arm());
            assert!(writer.flush(), "there was nothing to flush");
            writer.write(1).unwrap();
            writer.write(2).unwrap();
            assert!(!writer.flush(), "the reader sleeps");
            writer.write(3).unwrap();
            assert!(writer.flush(), "that has been said");
            assert!(!reader.arm(), "messages are here");
            assert_eq!((reader.read(), reader.read(), reader.read()), (Some(1), Some(2), Some(3)));
            // An arming that came to nothing is taken back.
            writer.write(4).unwrap();
            assert!(writer.flush());
            assert_eq!(reader.read(), Some(4));
            for message in 0..round {
                writer.write(message).unwrap();
                assert!(writer.flush(), "the reader has not armed");
                assert_eq!(reader.read(), Some(message));
            }
        }
    }
}

#[test]
fn a_bound_is_exact_and_gives_the_message_back() {
    for capacity in [1, 2, 3, 6, 7, 8, 9, 13, 14, 15, 100, 1000] {
        let tally = Tally::of(capacity * 4 + 8);
        let (mut writer, mut reader) = ypipe::bounded(capacity);
        assert_eq!((writer.capacity(), reader.capacity()), (Some(capacity), Some(capacity)));
        for _ in 0..2 {
            tally.some(capacity).for_each(|message| writer.write(message).unwrap());
            let refused = writer.write(tally.next()).unwrap_err();
            assert_eq!(refused.number, tally.made() - 1);
            writer.flush();
            assert!(writer.write(tally.next()).is_err());
            // Read one, write one.
            drop(reader.read());
            writer.write(tally.next()).unwrap();
            assert!(writer.write(tally.next()).is_err());
            writer.flush();
            assert_eq!(std::iter::from_fn(|| reader.read()).count(), capacity);
        }
        drop((writer, reader));
        tally.assert_all_ended();
    }
}

/// Their slots are a byte long.
#[test]
fn messages_of_a_byte_and_of_nothing_are_counted() {
    fn counted<T: Copy>(message: T) {
        for capacity in [1, 5, 55, 56, 57, 200] {
            let (mut writer, mut reader) = ypipe::bounded(capacity);
            for _ in 0..2 {
                for number in 1..=capacity {
                    assert!(writer.write(message).is_ok(), "message {number} of {capacity}");
                    assert_eq!((writer.hidden(), writer.len()), (number, 0));
                }
                assert!(writer.write(message).is_err());
                writer.flush();
                assert_eq!((writer.len(), reader.len()), (capacity, capacity));
                assert_eq!(std::iter::from_fn(|| reader.read()).count(), capacity);
                assert!(writer.is_empty());
            }
        }
    }
    counted(7_u8);
    counted(());
}

#[test]
fn a_capacity_of_nothing_is_a_documented_panic() {
    assert!(panics(|| drop(ypipe::bounded::<u8>(0))).contains("capacity of at least 1"));
}

#[test]
fn batches_are_read_up_to_a_limit() {
    for (mut writer, mut reader) in pipes() {
        (0..7).for_each(|message| writer.write(message).unwrap());
        writer.flush();
        let mut to = vec![100];
        assert_eq!(reader.read_batch(&mut to, 0), 0);
        assert_eq!(reader.read_batch(&mut to, 3), 3);
        assert_eq!(reader.read_batch(&mut to, usize::MAX), 4);
        assert_eq!(reader.read_batch(&mut to, usize::MAX), 0);
        assert_eq!(to, [100, 0, 1, 2, 3, 4, 5, 6]);
    }
}

#[test]
fn the_writers_end_is_seen_behind_its_last_message() {
    for (mut writer, mut reader) in pipes() {
        writer.write(1).unwrap();
        assert!(!reader.is_closed());
        drop(writer);
        assert!(reader.is_closed());
        assert_eq!((reader.len(), reader.read(), reader.read()), (1, Some(1), None));
        assert!(!reader.arm(), "nothing more will come: do not sleep");
    }
}

#[test]
fn the_readers_end_is_seen_and_drops_everything() {
    for way in 0..3 {
        for (mut writer, reader) in pipes() {
            let tally = Tally::of(7);
            tally.some(3).for_each(|message| writer.write(message).unwrap());
            writer.flush();
            tally.some(4).for_each(|message| writer.write(message).unwrap());
            assert!(!writer.is_orphaned());
            drop(reader);
            assert!(writer.is_orphaned());
            assert_eq!(tally.ended(), 3, "what was published; the rest is still the writer's");
            match way {
                0 => assert!(writer.flush(), "a reader that is gone does not sleep"),
                1 => assert_eq!(std::iter::from_fn(|| writer.unwrite()).count(), 4),
                _ => {}
            }
            drop(writer);
            tally.assert_all_ended();
        }
    }
}

/// Claim: A message that panics on drop is dropped once, and all other messages are dropped too.
/// Also: suite spsc::unbounded::panicking_drop_of_an_element_takes_the_rest_along,
/// suite mpsc::endings::a_panicking_drop_in_one_lane_leaves_the_others_in_order.
#[test]
fn a_panicking_drop_is_not_repeated() {
    for explosive in 0..7 {
        for (mut writer, reader) in pipes() {
            let tally = Tally::of(7);
            tally.some(7).for_each(|message| writer.write(message).unwrap());
            writer.flush();
            tally.explode(explosive);
            panics(|| drop(reader));
            drop(writer);
            tally.assert_all_ended();
        }
    }
}

/// Claim: The marks that a reader leaves in groups it has read overwrite no message and do not conflict with the
/// writer.
/// Also: model pipe::chunks_go_round.
#[test]
fn unwriting_over_a_chunk_that_the_reader_then_leaves() {
    // The writer goes back from one chunk into the one before, and fills that again; the reader then reads the last of
    // it. Neither may think that the other has gone on.
    for start in 0..130 {
        for (mut writer, mut reader) in pipes() {
            for message in 0..start {
                writer.write(message).unwrap();
                writer.flush();
                assert_eq!(reader.read(), Some(message));
            }
            for round in 0..5 {
                for hidden in [1, 2, 3, 7] {
                    (0..hidden).for_each(|message| writer.write(message).unwrap());
                    assert_eq!(std::iter::from_fn(|| writer.unwrite()).count(), hidden);
                    writer.write(round).unwrap();
                    writer.flush();
                    assert_eq!((reader.read(), reader.read()), (Some(round), None));
                }
            }
        }
    }
}

#[test]
fn messages_with_a_lifetime_may_be_piped() {
    let text = String::from("borrowed");
    let (mut writer, mut reader) = ypipe::unbounded();
    writer.write(text.as_str()).unwrap();
    writer.flush();
    assert_eq!(reader.read(), Some("borrowed"));
}

#[test]
fn every_shape_keeps_its_place() {
    fn shape<T: Sample>() {
        for bound in [None, Some(1), Some(5)] {
            let (mut writer, mut reader) = bound.map_or_else(ypipe::unbounded::<T>, ypipe::bounded);
            let mut random = Random::new(9);
            let (mut written, mut flushed, mut read) = (0, 0, 0);
            for _ in 0..if size_of::<T>() > 4096 { 60 } else { 600 } {
                match random.below(5) {
                    0 | 1 if writer.write(T::make(written)).is_ok() => written += 1,
                    2 => {
                        if let Some(message) = writer.unwrite() {
                            written -= 1;
                            message.check(written);
                        } else {
                            assert_eq!(written, flushed);
                        }
                    }
                    3 => {
                        assert!(writer.flush());
                        flushed = written;
                    }
                    _ => match reader.read() {
                        Some(message) => {
                            message.check(read);
                            read += 1;
                        }
                        None => assert_eq!(read, flushed),
                    },
                }
                assert_eq!((reader.len(), writer.hidden()), (flushed - read, written - flushed));
            }
        }
    }
    guarded(|| crate::for_every_shape!(shape()));
}

/// Pipes numbers to a thread that sleeps on any waiter in `set`.
fn sleeping_on<W: Wait + Send + 'static>(mut set: W, bell: impl Signal + Send + 'static) {
    guarded(move || {
        const MESSAGES: usize = 5_000;
        let (mut writer, mut reader) = ypipe::unbounded();
        let id = bell.capacity() - 1;
        let thread = thread::spawn(move || {
            let mut random = Random::new(6);
            for message in 0..MESSAGES {
                writer.write(message).unwrap();
                if random.below(5) != 0 || message + 1 == MESSAGES {
                    if !writer.flush() {
                        bell.signal(id);
                    }
                    random.pause();
                }
            }
            writer
        });
        for expected in 0..MESSAGES {
            let message = loop {
                if let Some(message) = reader.read() {
                    break message;
                }
                if reader.arm() {
                    assert!(set.wait().eq([id]));
                }
            };
            assert_eq!(message, expected);
        }
        drop(thread.join().unwrap());
        assert!(reader.is_closed() && !reader.arm());
    });
}

#[test]
fn passive_synchronisation_with_a_semaphore() {
    let set = YSemaphore::new();
    let bell = set.signaler();
    sleeping_on(set, bell);
}

#[test]
fn passive_synchronisation_with_a_pollset() {
    for ids in [31, 5_000] {
        let set = YPollset::with_capacity(ids);
        let bell = set.signaler();
        sleeping_on(set, bell);
    }
}

#[cfg(unix)]
#[test]
fn passive_synchronisation_with_a_socketpair() {
    for backend in crate::support::backends() {
        let set = ysuite::signal::YSocketpair::with_backend(256, backend).unwrap();
        let bell = set.signaler();
        sleeping_on(set, bell);
    }
}

#[test]
fn small_pipes_make_no_system_call() {
    let (mut writer, mut reader) = ypipe::bounded(64);
    let mut pass = || {
        for message in 0..10_000 {
            writer.write(message).unwrap();
            writer.flush();
            assert_eq!(reader.read(), Some(message));
            assert_eq!(reader.read(), None);
        }
        calls()
    };
    // The first in the process to stream asks once whether the kernel has barriers for others.
    let before = pass();
    assert_eq!(pass(), before);
}

#[test]
fn both_ends_say_what_they_are() {
    let (mut writer, reader) = ypipe::unbounded();
    writer.write(1).unwrap();
    assert!(format!("{writer:?}").contains("hidden: 1"), "{writer:?}");
    writer.flush();
    assert!(format!("{reader:?}").contains("len: 1"), "{reader:?}");
}

#[test]
fn what_is_flushed_to_a_reader_that_is_gone_is_dropped_at_once() {
    for (mut writer, reader) in pipes() {
        let tally = Tally::of(1_000);
        drop(reader);
        for round in 1..=1_000 {
            assert!(writer.write(tally.next()).is_ok(), "there is room again");
            assert!(writer.flush());
            assert_eq!(tally.ended(), round, "nothing is kept for nobody");
        }
        drop(writer);
        tally.assert_all_ended();
    }
}
