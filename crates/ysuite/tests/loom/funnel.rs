//! The mpsc channel under the model checker: lanes armed against writes, many with one barrier; senders that come and
//! go against a receiver that sleeps, activates lanes or is dropped. A lane's budget is two messages here, and its
//! patience two visits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::TryRecvError;
use ysuite::mpsc;
use ysuite::signal::{Wait, YPollset};

use crate::{Counted, model, model_up_to};

/// Claim: A new lane starts armed: its first message wakes the receiver, and connecting wakes nothing.
/// Also: suite mpsc::crowds::any_of_many_idle_senders_wakes_a_sleeping_receiver.
#[test]
fn a_lanes_first_write_against_a_receiver_going_to_sleep() {
    model(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut other = sender.clone();
        let thread = thread::spawn(move || {
            // The first send finds the lane armed; the second finds it active, or armed again.
            other.send(0).unwrap();
            other.send(1).unwrap();
            other
        });
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(receiver.recv(), Ok(1));
        drop((thread.join().unwrap(), sender));
    });
}

/// As a function of its own: a model's thread has a small stack, and the channel's functions are inlined at each call.
fn send(sender: &mut mpsc::Sender<u32>, message: u32) {
    sender.send(message).unwrap();
}

/// As [`send`].
fn receive(receiver: &mut mpsc::Receiver<u32>) -> Result<u32, TryRecvError> {
    receiver.try_recv()
}

/// Two active lanes: the first has given up its fences, the second has not.
fn two_active_lanes() -> (mpsc::Sender<u32>, mpsc::Sender<u32>, mpsc::Receiver<u32>) {
    let (mut unfenced, mut receiver) = mpsc::unbounded();
    let mut fenced = unfenced.clone();
    for _ in 0..2 {
        unfenced.send(9).unwrap();
        assert_eq!(receiver.try_recv(), Ok(9));
    }
    fenced.send(9).unwrap();
    assert_eq!(receiver.try_recv(), Ok(9));
    (unfenced, fenced, receiver)
}

/// Claim: The receiver arms all active lanes with one heavy barrier, also when some senders use fences.
/// Also: stress funnel::step_by_step.
#[test]
fn two_lanes_armed_with_one_barrier_while_one_writes() {
    model(|| {
        let (mut writing, resting, mut receiver) = two_active_lanes();
        let thread = thread::spawn(move || {
            writing.send(0).unwrap();
            writing
        });
        assert_eq!(receiver.recv(), Ok(0));
        drop((thread.join().unwrap(), resting));
    });
}

#[test]
fn two_lanes_armed_with_one_barrier_while_the_other_writes() {
    model(|| {
        let (resting, mut writing, mut receiver) = two_active_lanes();
        let thread = thread::spawn(move || {
            writing.send(0).unwrap();
            writing.send(1).unwrap();
            writing
        });
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(receiver.recv(), Ok(1));
        drop((thread.join().unwrap(), resting));
    });
}

#[test]
fn two_lanes_raised_at_once_against_a_receiver_going_to_sleep() {
    // Three threads: with three preemptions the model had not ended after ten minutes.
    model_up_to(1, || {
        let (mut one, mut receiver) = mpsc::unbounded();
        let mut two = one.clone();
        let first = thread::spawn(move || one.send(1).unwrap());
        let second = thread::spawn(move || two.send(2).unwrap());
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        assert!(receiver.recv().is_err());
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// Claim: A lane that stays empty while other lanes deliver is armed meanwhile. Its disconnection is not taken for a
/// message.
/// Also: stress funnel::step_by_step_with_few_places.
#[test]
fn an_idle_lane_is_armed_while_another_flows() {
    model(|| {
        let (mut flowing, mut quiet, mut receiver) = two_active_lanes();
        let thread = thread::spawn(move || {
            quiet.send(7).unwrap();
            quiet
        });
        // More visits than the patience of the quiet lane.
        let mut received: Vec<u32> = Vec::new();
        for number in 0..8 {
            flowing.send(number).unwrap();
            received.push(receiver.recv().unwrap());
        }
        let quiet = thread.join().unwrap();
        received.extend(std::iter::from_fn(|| receiver.try_recv().ok()));
        let at = received.iter().position(|message| *message == 7).expect("the quiet lane's message");
        received.remove(at);
        assert!(received.into_iter().eq(0..8));
        drop((quiet, flowing));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    });
}

/// The end of a lane, which may come just as it is armed, is not mistaken for a message.
#[test]
fn an_idle_lane_ends_while_another_flows() {
    model(|| {
        let (mut flowing, quiet, mut receiver) = two_active_lanes();
        let thread = thread::spawn(move || drop(quiet));
        send(&mut flowing, 0);
        assert_eq!((receive(&mut receiver), receive(&mut receiver)), (Ok(0), Err(TryRecvError::Empty)));
        send(&mut flowing, 1);
        assert_eq!(receive(&mut receiver), Ok(1));
        // The last visit of the quiet lane's patience.
        assert!(receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_pending());
        thread.join().unwrap();
        send(&mut flowing, 2);
        assert_eq!(receive(&mut receiver), Ok(2));
    });
}

/// Both may find the same id free, and one of them gets it.
#[test]
fn two_new_lanes_at_once_have_an_id_each() {
    // One preemption is enough for that, and three threads take long.
    model_up_to(1, || {
        let (sender, mut receiver) = mpsc::unbounded();
        let other = sender.clone();
        // Makes the words of the new ids.
        let idle = sender.clone();
        let threads = [(sender, 1_u32), (other, 2)].map(|(sender, message)| {
            thread::spawn(move || {
                let mut clone = sender.clone();
                clone.send(message).unwrap();
                (sender, clone)
            })
        });
        let senders = threads.map(|thread| thread.join().unwrap());
        let mut received = [receiver.try_recv(), receiver.try_recv()];
        received.sort_unstable_by_key(|message| message.ok());
        assert_eq!(received, [Ok(1), Ok(2)]);
        drop((senders, idle));
    });
}

#[test]
fn a_sender_that_comes_and_goes_against_a_receiver_going_to_sleep() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::unbounded();
        let thread = thread::spawn(move || {
            let mut clone = sender.clone();
            drop(sender);
            clone.send(1).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Claim: An `mpsc` channel disconnects with its last sender, after all messages were received.
/// Also: suite mpsc::endings::the_last_sender_disconnects,
/// suite mpsc::unbounded::what_was_sent_is_received_after_the_sender_is_gone.
#[test]
fn the_last_senders_end_in_an_active_lane() {
    model(|| {
        let (mut sender, mut receiver) = mpsc::unbounded();
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            drop(sender);
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Claim: The id of an ended lane can be reused while its last raise is still in progress.
/// Also: suite mpsc::crowds::lanes_are_reused,
/// suite mpsc::closing::a_closed_senders_place_may_be_anothers_while_it_lives.
#[test]
fn a_closing_lane_against_harvest_and_the_next_owner_of_its_id() {
    model(|| {
        let (mut sender, mut receiver) = mpsc::unbounded();
        let other = sender.clone();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            drop(sender);
        });
        assert_eq!(receiver.recv(), Ok(1));
        // The lane's sender is dropped here or later. Its id may belong to the new lane while its first sender is still
        // raising it.
        assert!(receiver.try_recv().is_err());
        let mut next = other.clone();
        next.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(2));
        drop((next, other));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// The receiver may find the lane closed and empty before the new sender goes on with it, or afterwards.
///
/// Claim: The lane of a dropped sender goes to a new sender or is ended by the receiver: exactly one of the two,
/// without losing a message.
#[test]
fn a_sender_goes_on_with_a_left_lane_against_a_receiver_that_ends_it() {
    model(|| {
        let (mut sender, mut receiver) = mpsc::bounded_for(2, 1);
        sender.send(0).unwrap();
        let weak = sender.share();
        drop(sender);
        let thread = thread::spawn(move || {
            // The only lane is taken out of the places where it was left, or is free again.
            let mut next = weak.sender().expect("there is no other");
            next.send(1).unwrap();
            drop(next);
            let mut last = weak.sender().expect("there is no other");
            drop(weak);
            last.send(2).unwrap_or_else(|_| panic!("the receiver is there"));
        });
        (0..3).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Each message is received once, or dropped once, and the sender is disconnected.
#[test]
fn a_sender_goes_on_with_a_left_lane_against_a_receiver_that_closes_or_goes() {
    for closes in [true, false] {
        model(move || {
            let ended = Arc::new(AtomicUsize::new(0));
            let (mut sender, mut receiver) = mpsc::bounded_for(4, 1);
            sender.send(Counted(ended.clone())).unwrap();
            let shared = sender.share();
            drop(sender);
            let count = ended.clone();
            let thread = thread::spawn(move || {
                let mut next = shared.sender().expect("a closed channel has any number of senders");
                next.send(Counted(count)).is_ok()
            });
            let mut received = 0;
            if closes {
                receiver.close();
                received = receiver.try_iter().count();
            } else {
                drop(receiver);
            }
            let was_sent = thread.join().unwrap();
            if closes {
                assert_eq!(received, 1 + usize::from(was_sent));
            }
            assert_eq!(ended.load(Ordering::Relaxed), 2);
        });
    }
}

/// The lane goes from one sender to the next as it is, whatever the receiver does.
///
/// Claim: An unused lane passes to the next sender unchanged. Senders that come and go without sending share one lane.
/// Also: allocation lanes::senders_that_come_and_go_in_vain_take_one_lane_while_the_receiver_never_looks.
#[test]
fn a_sender_goes_on_with_an_unused_lane_against_a_receiver_going_to_sleep() {
    model(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let unused = sender.clone();
        let thread = thread::spawn(move || {
            drop(unused);
            let mut next = sender.clone();
            drop(sender);
            next.send(1).unwrap();
            next.send(2).unwrap();
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// One thread leaves it, another takes it or makes a new one; each message comes.
#[test]
fn an_unused_lane_is_left_against_a_new_sender() {
    // Three threads.
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::unbounded();
        let (unused, weak) = (sender.clone(), sender.downgrade());
        let leaving = thread::spawn(move || {
            drop(unused);
            drop(sender);
        });
        let coming = thread::spawn(move || weak.upgrade().is_some_and(|mut next| next.send(1).is_ok()));
        let received = receiver.recv();
        leaving.join().unwrap();
        assert_eq!(received.is_ok(), coming.join().unwrap());
        assert!(receiver.recv().is_err());
    });
}

/// Two new senders never get the same one.
#[test]
fn an_unused_lane_is_one_new_senders() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut other = sender.clone();
        // Makes the words of the new ids.
        let idle = sender.clone();
        drop(sender.clone());
        let thread = thread::spawn(move || {
            let mut clone = other.clone();
            clone.send(1).unwrap();
            other.send(2).unwrap();
            (other, clone)
        });
        let mut clone = sender.clone();
        clone.send(3).unwrap();
        let there = thread.join().unwrap();
        let mut received: Vec<i32> = receiver.try_iter().collect();
        received.sort_unstable();
        assert_eq!(received, [1, 2, 3]);
        drop((there, clone, sender, idle));
        assert!(receiver.try_recv().is_err());
    });
}

/// Each message is received once, or dropped once, and the sender is disconnected.
#[test]
fn a_sender_goes_on_with_an_unused_lane_against_a_receiver_that_closes_or_goes() {
    for closes in [true, false] {
        model(move || {
            let ended = Arc::new(AtomicUsize::new(0));
            let (sender, mut receiver) = mpsc::unbounded();
            let unused = sender.clone();
            let count = ended.clone();
            let thread = thread::spawn(move || {
                drop(unused);
                let mut next = sender.clone();
                let was_sent = next.send(Counted(count.clone())).is_ok();
                // After the receiver is dropped it is disconnected.
                (was_sent, next, sender)
            });
            let mut received = 0;
            if closes {
                receiver.close();
                received = receiver.try_iter().count();
            } else {
                drop(receiver);
            }
            let (was_sent, mut next, sender) = thread.join().unwrap();
            if closes {
                assert_eq!(received, usize::from(was_sent));
            }
            assert!(next.is_disconnected() && next.send(Counted(ended.clone())).is_err());
            drop((next, sender));
            assert_eq!(ended.load(Ordering::Relaxed), 2);
        });
    }
}

/// Claim: When the `mpsc` receiver is dropped during sends in several lanes, or while a sender connects, each message
/// is dropped or returned once.
/// Also: suite mpsc::unbounded::close_racing_with_send, suite mpsc::shared::the_receivers_end_is_every_threads.
#[test]
fn the_receivers_end_against_sending_in_two_lanes() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut active, mut receiver) = mpsc::unbounded();
        let mut fresh = active.clone();
        active.send(Counted(ended.clone())).unwrap();
        drop(receiver.recv());
        let count = ended.clone();
        let thread = thread::spawn(move || {
            drop(fresh.send(Counted(count.clone())));
            drop(active.send(Counted(count.clone())));
            (fresh, active)
        });
        drop(receiver);
        let senders = thread.join().unwrap();
        // Every message was given back, or dropped with the receiver; none is stranded.
        assert_eq!(ended.load(Ordering::Relaxed), 3);
        drop(senders);
        assert_eq!(ended.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn the_receivers_end_against_a_new_sender() {
    model(|| {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpsc::unbounded();
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let mut clone = sender.clone();
            drop(clone.send(Counted(count.clone())));
            drop(clone.send(Counted(count.clone())));
            clone
        });
        drop(receiver);
        let mut clone = thread.join().unwrap();
        assert!(clone.is_disconnected());
        assert!(clone.send(Counted(ended.clone())).is_err());
        assert_eq!(ended.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn credits_both_ways_in_a_lane() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpsc::bounded(1);
        let mut lane = sender.clone();
        let thread = thread::spawn(move || {
            lane.send(0).unwrap();
            lane.send(1).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(0));
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
        drop(sender);
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn an_attached_mpsc_channel_is_signalled_for_every_lane() {
    model(|| {
        let (mut one, mut receiver) = mpsc::unbounded();
        let mut two = one.clone();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 3).unwrap();
        assert!(receiver.try_recv().is_err());
        let thread = thread::spawn(move || {
            one.send(1).unwrap();
            two.send(2).unwrap();
            (one, two)
        });
        let mut sum = 0;
        while sum < 3 {
            assert_eq!(set.wait().collect::<Vec<_>>(), [3]);
            while let Ok(number) = receiver.try_recv() {
                sum += number;
            }
        }
        drop(thread.join().unwrap());
    });
}

#[test]
fn an_mpsc_task_is_woken_and_a_timeout_loses_nothing() {
    model(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut lane = sender.clone();
        let thread = thread::spawn(move || {
            lane.send(1).unwrap();
            lane
        });
        let early = receiver.recv_timeout(Duration::from_secs(1)).ok();
        let number = early.map_or_else(|| block_on(receiver.recv_async()), Ok);
        assert_eq!(number, Ok(1));
        drop((thread.join().unwrap(), sender));
    });
}
