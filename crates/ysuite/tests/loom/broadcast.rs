//! The broadcast under the model checker: a message for receivers that fall asleep in every way, room for senders against
//! the slowest receiver's moving on, leaving and joining, and the place of a message that is copied against its overwriting.
//!
//! A lost wake-up shows as a deadlock. A message that is overwritten while it is copied, or taken out while another
//! thread copies it, shows as a race on its cell. If a model is about messages a sender stays alive: its drop would
//! wake all receivers, and hide a lost wake-up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::TrySendError;
use ysuite::broadcast::{self, Receiver, RecvError, Sender, TryRecvError};
use ysuite::signal::{Wait, YPollset};

use crate::model_up_to;

/// A message that counts itself and its copies, all that there are.
struct Copied {
    number: u32,
    alive: Arc<AtomicUsize>,
}

impl Copied {
    fn new(number: u32, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { number, alive: alive.clone() }
    }
}

impl Clone for Copied {
    fn clone(&self) -> Self {
        Self::new(self.number, &self.alive)
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

fn expect(mut receiver: Receiver<u32>, messages: u32) -> thread::JoinHandle<()> {
    thread::spawn(move || (0..messages).for_each(|message| assert_eq!(receiver.recv(), Ok(message))))
}

/// Sends, with the sender alive until the receivers have ended.
fn send(sender: &Sender<u32>, messages: u32) -> thread::JoinHandle<()> {
    let sender = sender.clone();
    thread::spawn(move || (0..messages).for_each(|message| sender.send(message).unwrap()))
}

/// Claim: One broadcast message wakes every sleeping receiver, each once.
/// Also: suite broadcast::waiting::one_message_wakes_every_receiver_that_sleeps,
/// stress broadcast::every_way_of_waiting.
#[test]
fn a_message_against_two_receivers_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let threads = [expect(receiver.clone(), 1), send(&sender, 1)];
        assert_eq!(receiver.recv(), Ok(0));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn the_free_barrier_against_a_receiver_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(4);
        let thread = send(&sender, 3);
        (0..3).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        thread.join().unwrap();
    });
}

/// A receiver that waits for an unfinished message is woken by the sender of that one.
///
/// Claim: A receiver that waits for an unfinished message is woken by the sender of that message.
#[test]
fn two_senders_against_a_receiver_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let second = sender.clone();
        let third = sender.clone();
        let threads = [thread::spawn(move || second.send(1).unwrap()), thread::spawn(move || third.send(2).unwrap())];
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(sender);
    });
}

#[test]
fn all_receivers_see_one_order() {
    model_up_to(1, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let mut other = receiver.clone();
        let second = sender.clone();
        let sending = thread::spawn(move || second.send(1).unwrap());
        let seeing = thread::spawn(move || [other.recv().unwrap(), other.recv().unwrap()]);
        sender.send(2).unwrap();
        let mine = [receiver.recv().unwrap(), receiver.recv().unwrap()];
        assert_eq!(seeing.join().unwrap(), mine);
        sending.join().unwrap();
    });
}

/// Claim: A broadcast receiver that waits as a task or as a thread is woken by a message.
/// Also: suite broadcast::attached::every_attached_receiver_gets_every_message.
#[test]
fn a_message_against_a_task_and_a_thread() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let threads = [expect(receiver.clone(), 1), send(&sender, 1)];
        assert_eq!(block_on(receiver.recv_async()), Ok(0));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_message_against_a_receiver_that_is_polled() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let thread = send(&sender, 2);
        for message in 0..2 {
            assert_eq!(block_on(std::future::poll_fn(|context| receiver.poll_recv(context))), Ok(message));
        }
        thread.join().unwrap();
    });
}

/// A receiver that finds a sender in the middle waits a moment: in a model, for one step, and a sender takes no more. It does so
/// unless it is in a set.
fn a_moment_for_a_sender_in_the_middle(before: impl Fn(&mut Receiver<u32>) + Sync + Send + 'static) {
    model_up_to(2, move || {
        let (sender, mut receiver) = broadcast::bounded(2);
        before(&mut receiver);
        // The sender begins: the explorer finds more by what a thread has read that was written before.
        let thread = thread::spawn(move || {
            let is_there = !receiver.is_empty();
            let received = receiver.try_recv();
            assert!(received == Ok(0) || !is_there);
            receiver
        });
        sender.send(0).unwrap();
        thread.join().unwrap();
    });
}

#[test]
fn a_sender_in_the_middle_against_a_receiver_that_was_polled() {
    a_moment_for_a_sender_in_the_middle(|receiver| {
        assert!(receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_pending());
    });
}

#[test]
fn a_sender_in_the_middle_against_a_receiver_that_was_in_a_set() {
    a_moment_for_a_sender_in_the_middle(|receiver| {
        let mut set = YPollset::new();
        set.attach(receiver, 3).unwrap();
        assert!(receiver.detach());
    });
}

/// Claim: An attached broadcast receiver is signalled for a new message.
#[test]
fn a_message_against_an_attached_receiver() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        let thread = send(&sender, 2);
        let mut got = 0;
        while got < 2 {
            assert!(set.wait().eq([1]));
            while let Ok(message) = receiver.try_recv() {
                assert_eq!(message, got);
                got += 1;
            }
        }
        thread.join().unwrap();
    });
}

/// Claim: A broadcast sender without room wakes when room appears, as a thread or a task. If it leaves, it passes its
/// notification on.
/// Also: suite broadcast::waiting::a_sender_is_woken_by_whatever_makes_room.
#[test]
fn a_full_ring_against_a_sender_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let thread = send(&sender, 3);
        (0..3).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        thread.join().unwrap();
    });
}

#[test]
fn a_full_ring_against_the_slower_of_two_receivers() {
    model_up_to(1, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let threads = [expect(receiver.clone(), 2), send(&sender, 2)];
        (0..2).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_full_ring_against_a_task_that_sends() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let second = sender.clone();
        let thread = thread::spawn(move || {
            block_on(async {
                second.send_async(0).await.unwrap();
                second.send_async(1).await.unwrap();
            });
        });
        (0..2).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        thread.join().unwrap();
        drop(sender);
    });
}

#[test]
fn a_full_ring_against_the_slowest_receiver_leaving() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let slow = receiver.clone();
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let second = sender.clone();
        let thread = thread::spawn(move || second.send(1).unwrap());
        drop(slow);
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
        drop(sender);
    });
}

/// The new receiver sees all that was sent after its first message, and is not overtaken.
///
/// Claim: A scan of all reader cursors misses no receiver that joins meanwhile.
/// Also: suite broadcast::random::receivers_come_and_go_in_several_threads,
/// stress broadcast::receivers_that_come_and_go.
#[test]
fn a_full_ring_against_a_receiver_that_joins() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let sending = send(&sender, 2);
        let joining = sender.clone();
        let thread = thread::spawn(move || {
            let mut receiver = joining.subscribe();
            let mut last = None;
            for _ in 0..2 {
                if let Ok(message) = receiver.try_recv() {
                    assert!(last.is_none_or(|last| message == last + 1));
                    last = Some(message);
                }
            }
        });
        (0..2).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        sending.join().unwrap();
        thread.join().unwrap();
    });
}

/// The clone is at the same message, however soon the original moves on and goes.
#[test]
fn a_full_ring_against_a_clone() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        sender.send(0).unwrap();
        let sending = sender.clone();
        let thread = thread::spawn(move || sending.send(1).unwrap());
        let mut clone = receiver.clone();
        assert_eq!(receiver.recv(), Ok(0));
        drop(receiver);
        assert_eq!(clone.recv(), Ok(0));
        assert_eq!(clone.recv(), Ok(1));
        thread.join().unwrap();
    });
}

/// A receiver that is alone takes messages out; one that joins meanwhile finds none of those.
///
/// Claim: A lone broadcast receiver takes messages out instead of copying them. A receiver that joins finds none of
/// those.
#[test]
fn a_receiver_that_is_alone_against_one_that_joins() {
    model_up_to(2, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = broadcast::bounded(2);
        let joining = sender.clone();
        let thread = thread::spawn(move || drop(joining.subscribe().try_recv()));
        let count = alive.clone();
        let sending = thread::spawn(move || {
            (0..2).for_each(|number| assert!(sender.send(Copied::new(number, &count)).is_ok()));
        });
        for number in 0..2 {
            assert_eq!(receiver.recv().map_err(drop).unwrap().number, number);
        }
        thread.join().unwrap();
        sending.join().unwrap();
        drop(receiver);
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

/// Receives what is there; returns how many messages came, and how many were missed.
fn follow(receiver: &mut Receiver<Copied>, looks: usize) -> u64 {
    let mut next = 0;
    for _ in 0..looks {
        match receiver.try_recv() {
            Ok(message) => {
                assert_eq!(u64::from(message.number), next);
                next += 1;
            }
            Err(TryRecvError::Lagged(missed)) => {
                assert!(missed > 0);
                next += missed;
            }
            Err(_) => {}
        }
    }
    next
}

/// Claim: A broadcast message is not overwritten while a receiver copies it.
/// Also: suite broadcast::foreign::a_copy_in_a_lossy_channel_keeps_its_place_until_it_is_made.
#[test]
fn a_lossy_ring_is_not_written_over_while_a_message_is_copied() {
    model_up_to(2, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = broadcast::lossy(1);
        let quiet = receiver.clone();
        let count = alive.clone();
        let thread = thread::spawn(move || {
            for number in 0..4 {
                // `Full` where the copying takes too long.
                if sender.try_send(Copied::new(number, &count)).is_err() {
                    break;
                }
            }
        });
        follow(&mut receiver, 3);
        thread.join().unwrap();
        drop((receiver, quiet));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_lossy_ring_against_a_receiver_that_is_alone() {
    model_up_to(2, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (sender, mut receiver) = broadcast::lossy(1);
        let count = alive.clone();
        let thread = thread::spawn(move || {
            (0..4).for_each(|number| assert!(sender.send(Copied::new(number, &count)).is_ok()));
        });
        let mut next = follow(&mut receiver, 2);
        loop {
            match receiver.recv() {
                Ok(message) => {
                    assert_eq!(u64::from(message.number), next);
                    next += 1;
                }
                Err(RecvError::Lagged(missed)) => next += missed,
                Err(RecvError::Disconnected) => break,
            }
        }
        assert_eq!(next, 4);
        thread.join().unwrap();
        drop(receiver);
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

/// A clone of a receiver that is being pushed on is pushed on as well.
#[test]
fn a_lossy_ring_against_a_clone() {
    model_up_to(2, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = broadcast::lossy(1);
        assert!(sender.send(Copied::new(0, &alive)).is_ok());
        let count = alive.clone();
        let thread = thread::spawn(move || {
            (1..4).for_each(|number| drop(sender.try_send(Copied::new(number, &count))));
        });
        let mut clone = receiver.clone();
        follow(&mut clone, 2);
        thread.join().unwrap();
        drop((receiver, clone));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_lossy_ring_against_a_receiver_that_joins() {
    model_up_to(2, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = broadcast::lossy(1);
        let joining = sender.clone();
        let count = alive.clone();
        let thread = thread::spawn(move || {
            (0..3).for_each(|number| drop(sender.try_send(Copied::new(number, &count))));
        });
        let mut joined = joining.subscribe();
        drop(joined.try_recv());
        drop(joined.try_recv());
        thread.join().unwrap();
        drop((receiver, joined, joining));
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

/// The receiver that has finished its copy wakes the sender that has come to it.
#[test]
fn a_lossy_ring_against_a_sender_that_waits_for_a_copy() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::lossy(1);
        let quiet = receiver.clone();
        let second = sender.clone();
        let thread = thread::spawn(move || (0..4).for_each(|message| second.send(message).unwrap()));
        let mut next = 0;
        while next < 4 {
            match receiver.recv() {
                Ok(message) => {
                    assert_eq!(message, next);
                    next += 1;
                }
                Err(RecvError::Lagged(missed)) => next += missed as u32,
                Err(RecvError::Disconnected) => panic!("there is a sender"),
            }
        }
        thread.join().unwrap();
        drop((sender, quiet));
    });
}

#[test]
fn the_last_senders_end_against_two_receivers_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded::<u32>(1);
        let mut other = receiver.clone();
        let second = sender.clone();
        let thread = thread::spawn(move || assert_eq!(other.recv(), Err(RecvError::Disconnected)));
        let ending = thread::spawn(move || {
            drop(second);
            drop(sender);
        });
        assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
        thread.join().unwrap();
        ending.join().unwrap();
    });
}

/// In a stream no publication is fenced: only the store of the disconnect orders the messages before it.
///
/// Claim: A broadcast receiver sees a close or disconnection only after all messages.
/// Also: suite broadcast::endings::a_closed_channel_gives_what_was_sent_and_takes_nothing_more.
#[test]
fn the_last_senders_end_is_seen_behind_what_another_has_sent() {
    model_up_to(3, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        // From here on no publisher promises fences.
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let other = sender.clone();
        let threads = [thread::spawn(move || other.send(1).unwrap()), thread::spawn(move || drop(sender))];
        let mut received = 0;
        loop {
            match receiver.try_recv() {
                Ok(_) => received += 1,
                Err(TryRecvError::Disconnected) => break,
                Err(_) => thread::yield_now(),
            }
        }
        assert_eq!(received, 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// What a sender has claimed before another closes the channel is received.
#[test]
fn closing_against_sending() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let second = sender.clone();
        let thread = thread::spawn(move || second.send(1).is_ok());
        assert!(sender.close());
        let received = receiver.recv();
        assert_eq!(thread.join().unwrap(), received == Ok(1));
        assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
        assert!(!receiver.close());
    });
}

/// Claim: Dropping the last broadcast receiver wakes senders that wait for room or for the disconnection.
/// Also: suite broadcast::endings::the_last_receiver_releases_the_senders_that_wait.
#[test]
fn the_last_receivers_end_against_a_sender_without_room() {
    model_up_to(3, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = broadcast::bounded(1);
        assert!(sender.try_send(Copied::new(0, &alive)).is_ok());
        assert!(matches!(sender.try_send(Copied::new(1, &alive)), Err(TrySendError::Full(_))));
        let count = alive.clone();
        let thread = thread::spawn(move || {
            assert!(sender.send(Copied::new(2, &count)).is_err());
            sender
        });
        drop(receiver);
        drop(thread.join().unwrap());
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn the_last_of_two_receivers_against_a_sender_that_waits_for_their_end() {
    model_up_to(2, || {
        let (sender, receiver) = broadcast::bounded::<u32>(1);
        let other = receiver.clone();
        let thread = thread::spawn(move || drop(other));
        let waiting = thread::spawn(move || {
            sender.wait_closed();
            assert_eq!(sender.receiver_count(), 0);
        });
        drop(receiver);
        thread.join().unwrap();
        waiting.join().unwrap();
    });
}

#[test]
fn a_sender_whose_time_is_up_passes_the_wake_on() {
    model_up_to(1, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        sender.send(0).unwrap();
        let (second, third) = (sender.clone(), sender.clone());
        let waiting = thread::spawn(move || second.send(1).unwrap());
        let leaving = thread::spawn(move || third.send_timeout(2, Duration::from_secs(1)).is_ok());
        assert_eq!(receiver.recv(), Ok(0));
        if leaving.join().unwrap() {
            receiver.recv().unwrap();
        }
        waiting.join().unwrap();
        drop(sender);
    });
}

/// Claim: Broadcast batches reach batch receivers. A batch larger than the capacity is sent as room appears.
/// Also: suite broadcast::bounds::a_batch_larger_than_the_capacity_goes_as_there_is_room.
#[test]
fn a_batch_against_receivers_of_batches() {
    model_up_to(1, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let mut other = receiver.clone();
        let collect = |receiver: &mut Receiver<u32>| {
            let mut received = Vec::new();
            while receiver.recv_batch(&mut received, 2).is_ok() {}
            received
        };
        let thread = thread::spawn(move || collect(&mut other));
        let sending = thread::spawn(move || assert_eq!(sender.send_batch(0..3), Ok(3)));
        assert_eq!(collect(&mut receiver), [0, 1, 2]);
        assert_eq!(thread.join().unwrap(), [0, 1, 2]);
        sending.join().unwrap();
    });
}

/// Until the new receiver's start is known it holds up the sender, which goes to sleep. It stays, and so notifies the
/// sender by nothing else.
#[test]
fn a_full_ring_against_a_receiver_that_joins_and_stays() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let sending = send(&sender, 2);
        let joining = sender.clone();
        let thread = thread::spawn(move || {
            let mut receiver = joining.subscribe();
            drop(joining);
            let mut last = None;
            while let Ok(message) = receiver.recv() {
                assert!(last.is_none_or(|last| message == last + 1));
                last = Some(message);
            }
        });
        (0..2).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
        sending.join().unwrap();
        // The disconnect, which wakes all, comes after what is tested.
        drop(sender);
        thread.join().unwrap();
    });
}

#[test]
fn an_eviction_against_a_receiver_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded::<u32>(1);
        let (id, evicting) = (receiver.id(), sender.clone());
        let thread = thread::spawn(move || assert!(evicting.evict(id)));
        assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
        thread.join().unwrap();
    });
}

/// The cell of a message is free when its last reader has been evicted, and the sender that waits for that is notified.
#[test]
fn an_eviction_against_a_sender_going_to_sleep() {
    model_up_to(2, || {
        let (sender, stuck) = broadcast::bounded(1);
        let mut stays = sender.subscribe();
        sender.send(0).unwrap();
        assert_eq!(stays.recv(), Ok(0));
        let thread = send(&sender, 1);
        assert!(sender.evict(stuck.id()));
        thread.join().unwrap();
        assert_eq!(stays.recv(), Ok(0));
    });
}

#[test]
fn an_eviction_of_the_last_receiver_against_waiters_for_that() {
    model_up_to(1, || {
        let (sender, mut stuck) = broadcast::bounded(1);
        sender.send(0).unwrap();
        let (full, closed) = (sender.clone(), sender.clone());
        let id = stuck.id();
        let threads = [thread::spawn(move || _ = full.send(1)), thread::spawn(move || closed.wait_closed())];
        assert!(sender.evict(id));
        let received = stuck.recv();
        assert!(received.is_err(), "{received:?}");
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A thread that gets a sender can send, and what it sends is received.
#[test]
fn an_upgrade_against_the_last_senders_drop() {
    model_up_to(3, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        let weak = sender.downgrade();
        let upgrading = thread::spawn(move || weak.upgrade().is_some_and(|sender| sender.send(1).is_ok()));
        drop(sender);
        let received = receiver.recv().is_ok();
        assert_eq!(received, upgrading.join().unwrap());
    });
}
