//! Drops of single senders, of the last one, of the receiver; panics; and a fork.

use std::task::Context;
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::mpsc;
use ysuite::{RecvError, SendError, TryRecvError};

use crate::support::executor::{Explosive, Task, block_on};
use crate::support::{Tally, guarded, panics};

/// Claim: `len` counts the messages of all lanes in every state.
/// Also: suite mpsc::bounded_2::lengths_stay_sane_while_closing.
#[test]
fn lengths_count_all_lanes_however_they_stand() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let mut others: Vec<_> = (0..200).map(|_| sender.clone()).collect();
    for round in 1..4 {
        // Armed ones, active ones, one whose turn it is.
        assert_eq!((receiver.is_empty(), receiver.len()), (true, 0));
        others.iter_mut().skip(round).step_by(2).for_each(|other| other.send(0).unwrap());
        sender.send(0).unwrap();
        assert_eq!((receiver.len(), receiver.is_empty(), sender.len()), (101 - round / 2, false, 1));
        assert_eq!(receiver.recv(), Ok(0));
        others[0].send(0).unwrap();
        assert_eq!((receiver.len(), receiver.is_empty()), (101 - round / 2, false));
        assert_eq!(receiver.try_iter().count(), 101 - round / 2);
    }
    // Hidden messages count when their sender goes.
    others.iter_mut().for_each(|other| other.write(1).unwrap());
    assert!(receiver.is_empty());
    drop(others);
    assert_eq!((receiver.len(), receiver.is_disconnected()), (200, false));
    drop(sender);
    assert!(receiver.is_disconnected());
    assert_eq!(receiver.iter().count(), 200);
    assert!(receiver.is_empty());
}

#[test]
fn long_lanes_are_counted_whosever_turn_it_is() {
    for long in 0..2 {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders = [sender.clone(), sender.clone()];
        senders[1 - long].send(0).unwrap();
        senders[long].send_batch(0..100).unwrap();
        assert_eq!((receiver.len(), receiver.is_empty()), (101, false));
        for left in (0..101).rev() {
            assert!(receiver.recv().is_ok());
            assert_eq!((receiver.len(), receiver.is_empty()), (left, left == 0));
        }
    }
    // Next to a lane that is not yet visible.
    let (mut one, mut receiver) = mpsc::unbounded();
    let mut two = one.clone();
    one.send_batch(0..100).unwrap();
    assert_eq!(receiver.recv(), Ok(0));
    two.send(0).unwrap();
    assert_eq!((receiver.is_empty(), receiver.len()), (false, 100));
}

#[test]
fn the_last_sender_disconnects() {
    let (sender, mut receiver) = mpsc::unbounded();
    let (one, mut two) = (sender.clone(), sender.clone());
    drop((sender, one));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let three = two.clone();
    two.send(1).unwrap();
    drop(two);
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
    drop(three);
    assert_eq!(receiver.recv(), Err(RecvError));
}

#[test]
fn a_receiver_that_goes_wakes_every_sender_that_waits() {
    guarded(|| {
        const SENDERS: usize = 8;
        for round in 0..20 {
            let tally = Tally::of(SENDERS * 3);
            let (sender, receiver) = mpsc::bounded(2);
            let threads: Vec<_> = (0..SENDERS)
                .map(|id| {
                    let (mut sender, tally) = (sender.clone(), tally.clone());
                    thread::spawn(move || match id % 3 {
                        0 => tally.some(3).any(|message| sender.send(message).is_err()),
                        1 => tally.some(3).any(|message| block_on(sender.send_async(message)).is_err()),
                        _ => sender.send_batch(tally.some(3)).is_err(),
                    })
                })
                .collect();
            if round % 2 == 0 {
                thread::sleep(Duration::from_millis(2));
            }
            drop(receiver);
            threads.into_iter().for_each(|thread| assert!(thread.join().is_ok()));
            drop(sender);
            tally.assert_all_ended();
        }
    });
}

#[test]
fn a_waker_that_panics_does_not_keep_the_others_from_being_woken() {
    let (mut one, receiver) = mpsc::bounded(1);
    let mut two = one.clone();
    let tally = Tally::of(2);
    one.send(tally.next()).unwrap();
    two.send(tally.next()).unwrap();
    let (explosive, task) = (Explosive::waker(), Task::default());
    assert!(one.poll_ready(&mut Context::from_waker(&explosive)).is_pending());
    assert!(two.poll_ready(&mut Context::from_waker(&task.waker())).is_pending());
    assert_eq!(panics(|| drop(receiver)), "this waker panics");
    assert_eq!(task.woken(), 1);
    tally.assert_all_ended();
    assert!(one.is_disconnected() && two.is_disconnected());
}

#[test]
fn a_sender_that_goes_lets_go_of_its_task_and_the_next_one_is_its_own() {
    // The next sender has the same lane's number, and so its bells.
    let (mut one, mut receiver) = mpsc::bounded(1);
    let mut next = one.clone();
    let task = Task::default();
    for round in 0..3 {
        one.send(round).unwrap();
        assert!(one.poll_ready(&mut Context::from_waker(&task.waker())).is_pending());
        assert_eq!(task.held(), 1);
        drop(one);
        assert_eq!((task.held(), task.woken()), (0, 0), "the receiver stays, and the task need not");
        assert_eq!((receiver.recv(), receiver.try_recv()), (Ok(round), Err(TryRecvError::Empty)));
        one = next.clone();
        std::mem::swap(&mut one, &mut next);
    }
}

#[test]
fn a_sender_that_comes_after_the_end_has_bells_of_its_own() {
    // The receiver's are in use by the receiver, which may be just going.
    let (sender, receiver) = mpsc::bounded(1);
    drop(receiver);
    for spin in [Spin::None, Spin::Adaptive] {
        let mut late = sender.clone();
        late.set_spin(spin);
        let task = Task::default();
        assert!(late.poll_ready(&mut Context::from_waker(&task.waker())).is_ready());
        assert_eq!(late.write(1), Ok(()), "there is room, and nobody to use it");
        assert_eq!((late.write(2), late.send(3)), (Err(SendError(2)), Err(SendError(3))));
        assert_eq!(block_on(late.send_async(4)), Err(SendError(4)));
        drop(late);
        assert_eq!((task.held(), task.woken()), (0, 0));
    }
}

#[test]
fn a_panicking_drop_in_one_lane_leaves_the_others_in_order() {
    let tally = Tally::of(30);
    let (sender, receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..3).map(|_| sender.clone()).collect();
    senders.iter_mut().for_each(|sender| tally.some(10).for_each(|message| sender.send(message).unwrap()));
    tally.explode(13);
    panics(|| drop(receiver));
    // The rest of this lane, and the other lanes, at once.
    tally.assert_all_ended();
    drop(senders);
    tally.assert_all_ended();
}

#[test]
fn a_receiving_thread_that_panics_with_messages_in_hand() {
    guarded(|| {
        const SENDERS: usize = 4;
        const MESSAGES: usize = 20_000;
        let tally = Tally::of(SENDERS * MESSAGES);
        let (sender, mut receiver) = mpsc::bounded(50);
        let threads: Vec<_> = (0..SENDERS)
            .map(|_| {
                let (mut sender, tally) = (sender.clone(), tally.clone());
                thread::spawn(move || tally.some(MESSAGES).all(|message| sender.send(message).is_ok()))
            })
            .collect();
        let thread = thread::spawn(move || {
            let mut batch = Vec::new();
            receiver.recv_batch(&mut batch, 40).unwrap();
            receiver.recv_batch(&mut batch, 40).unwrap();
            panic!("as intended, with {} messages in hand", batch.len());
        });
        assert!(thread.join().is_err());
        threads.into_iter().for_each(|thread| assert!(!thread.join().unwrap(), "a send must fail"));
        drop(sender);
        tally.assert_all_ended();
    });
}

#[test]
fn a_panicking_sender_thread_leaves_the_others_alone() {
    guarded(|| {
        let tally = Tally::of(200);
        let (mut sender, mut receiver) = mpsc::unbounded();
        let (mut other, source) = (sender.clone(), tally.clone());
        let thread = thread::spawn(move || {
            drop(other.send_batch((0..100).map(|index| {
                assert!(index < 60, "in mid-batch");
                source.next()
            })));
        });
        assert!(thread.join().is_err());
        tally.some(40).for_each(|message| sender.send(message).unwrap());
        assert_eq!(receiver.try_iter().count(), 100);
        assert_eq!(receiver.try_recv().map(drop), Err(TryRecvError::Empty));
        drop(sender);
        assert!(receiver.recv().is_err());
        tally.assert_all_ended();
    });
}

/// Claim: A batch of one `mpsc` sender stays together. Hidden messages stay with the sender that wrote them.
/// Also: suite mpsc::unbounded::a_batch_is_seen_whole, stress funnel::batches_on_both_sides.
#[test]
fn a_hidden_batch_stays_with_the_sender_that_hid_it() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    sender.write(1).unwrap();
    let mut clone = sender.clone();
    assert_eq!(clone.unwrite(), None);
    clone.send(2).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2]);
    assert!(sender.flush(), "no thread sleeps");
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn what_a_sender_hid_wakes_the_receiver_as_the_sender_goes_though_others_stay() {
    let (sender, mut receiver) = mpsc::unbounded();
    let task = Task::default();
    for round in 1..4 {
        let mut other = sender.clone();
        other.write(round).unwrap();
        assert!(receiver.poll_recv(&mut Context::from_waker(&task.waker())).is_pending());
        drop(other);
        assert_eq!((task.woken(), receiver.try_recv()), (round, Ok(round)));
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_forked_child_does_not_disturb_the_parent() {
    guarded(|| {
        let (mut sender, receiver) = mpsc::bounded(8);
        let mut other = sender.clone();
        // The first message of a lane allocates, which a child must not.
        sender.send(100).unwrap();
        other.send(100).unwrap();
        let thread = thread::spawn(move || receiver.into_iter().filter(|number| *number != 100).collect::<Vec<_>>());
        for round in 0..4 {
            // Asleep, or on the way: the child inherits the words that say so, and no thread that sleeps.
            thread::sleep(Duration::from_millis(round));
            let sender = if round % 2 == 0 { &mut sender } else { &mut other };
            // SAFETY: sending allocates and locks nothing here, and does not unwind.
            let sent = unsafe { crate::support::process::forked_child_can(|| sender.send(round).is_ok()) };
            assert!(sent, "the child could not send to its own copy");
            sender.send(round).unwrap();
        }
        drop((sender, other));
        let mut received = thread.join().unwrap();
        received.sort_unstable();
        assert_eq!(received, [0, 1, 2, 3]);
    });
}
