//! The mpmc channel under the model checker: waiters on either side, against publishers, waiters that leave and handles
//! that are dropped.
//!
//! A wake-up that is lost, or kept by a waiter that leaves, shows as a deadlock; a cell that two threads claim shows as
//! a race on it. If a model is about messages a sender stays alive: its drop would wake all waiters, and hide a lost
//! wake-up.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::mpmc::{self, Receiver, Sender};
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvTimeoutError, TryRecvError, TrySendError};

use crate::{Counted, model_up_to};

fn receive_one(receiver: Receiver<u32>) -> thread::JoinHandle<u32> {
    thread::spawn(move || receiver.recv().unwrap())
}

#[test]
fn publishing_against_two_receivers_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let alive = sender.clone();
        let other = receive_one(receiver.clone());
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            // The second send may find that the publishers no longer promise fences.
            sender.send(2).unwrap();
        });
        let mine = receiver.recv().unwrap();
        assert_eq!(mine + other.join().unwrap(), 3);
        thread.join().unwrap();
        drop(alive);
    });
}

/// Claim: No wake-up in a wait list is lost with the light barrier.
/// Also: model watch::the_free_barrier_against_a_thread_going_to_sleep, stress exchange::two_by_two.
#[test]
fn the_free_barrier_against_a_receiver_going_to_sleep() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(4);
        let alive = sender.clone();
        let thread = thread::spawn(move || (0..3).for_each(|message| sender.send(message).unwrap()));
        (0..3).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected)));
        thread.join().unwrap();
        drop(alive);
    });
}

#[test]
fn two_publishers_against_a_receiver_going_to_sleep() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        let alive = sender.clone();
        let second = sender.clone();
        let threads = [thread::spawn(move || sender.send(1).unwrap()), thread::spawn(move || second.send(2).unwrap())];
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        drop(alive);
    });
}

/// A writer that has claimed a cell and not yet filled it hides the messages after it: a receiver woken for those finds
/// no message, and the late writer must wake one receiver for each message.
///
/// Claim: A message that is still being written hides the messages after it. When its sender is done, it wakes one
/// receiver for each message that has become visible.
/// Also: suite mpmc::waking::with_a_bound::sleeping_threads_wake_each_other_for_a_batch.
#[test]
fn a_preempted_writer_hides_what_is_behind_it_until_it_is_done() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let second = sender.clone();
        let other = receive_one(receiver.clone());
        let late = thread::spawn(move || second.send(2).unwrap());
        sender.send(1).unwrap();
        let mine = receiver.recv().unwrap();
        assert_eq!(mine + other.join().unwrap(), 3);
        late.join().unwrap();
    });
}

/// Each handle begins to search after its own last claim. Two handles have claimed nothing, and others have gone past
/// them. A receiver that finds a sender in the middle waits a moment: in a model, for one step, and a sender takes no
/// more.
///
/// Claim: A handle outside of any set waits briefly for a peer in the middle of an operation, also after it was polled
/// or in a set.
/// Also: model broadcast::a_sender_in_the_middle_against_a_receiver_that_was_in_a_set.
#[test]
fn a_sender_in_the_middle_against_a_receiver_that_was_polled() {
    model_up_to(2, || {
        let (sender, mut receiver) = mpmc::bounded(2);
        assert!(receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_pending());
        let thread = thread::spawn(move || sender.send(7).unwrap());
        let is_there = !receiver.is_empty();
        let received = receiver.try_recv();
        assert!(received == Ok(7) || !is_there);
        thread.join().unwrap();
    });
}

/// The same on the other side, of a sender that was in a set.
#[test]
fn a_receiver_in_the_middle_against_a_sender_that_was_in_a_set() {
    model_up_to(2, || {
        let (mut sender, receiver) = mpmc::bounded(1);
        let mut set = YPollset::new();
        set.attach(&mut sender, 3).unwrap();
        assert!(sender.detach());
        sender.send(7).unwrap();
        let thread = receive_one(receiver.clone());
        let has_room = !sender.is_full();
        let sent = sender.try_send(8);
        assert!(sent.is_ok() || !has_room);
        assert_eq!(thread.join().unwrap(), 7);
        drop(receiver);
    });
}

/// Claim: A handle that remembers the end of its last claim, and was overtaken, still finds what is there.
#[test]
fn ends_that_were_overtaken_find_what_is_there() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        let (late, behind) = (sender.clone(), receiver.clone());
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        let thread = thread::spawn(move || {
            late.send(2).unwrap();
            behind.recv().unwrap()
        });
        sender.send(3).unwrap();
        let mine = receiver.recv().unwrap();
        assert_eq!(mine + thread.join().unwrap(), 5);
        drop(sender);
    });
}

/// Claim: `try_` calls wait only briefly for a peer that is preempted, then return.
/// Also: suite mpmc::foreign::a_wait_without_time_looks_once_and_neither_calls_the_kernel_nor_arms.
/// Notices: crossbeam#997, rust#112723, `try_recv` spins without end on a preempted sender.
#[test]
fn looking_past_a_preempted_peer_ends() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(1);
        let thread = thread::spawn(move || match sender.try_send(1) {
            Ok(()) => sender.try_send(2).map_or_else(|error| assert!(error.is_full()), drop),
            Err(_) => panic!("there was room"),
        });
        for _ in 0..2 {
            match receiver.try_recv() {
                Ok(message) => assert!(message == 1 || message == 2),
                Err(error) => assert!(matches!(error, TryRecvError::Empty | TryRecvError::Disconnected)),
            }
        }
        thread.join().unwrap();
    });
}

/// Waits for one message in a way that may leave without one; a message that it gets all the same it sends again.
fn leaves(sender: Sender<u32>, leave: impl FnOnce() -> Option<u32> + Send + 'static) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        if let Some(message) = leave() {
            sender.send(message).unwrap();
        }
    })
}

/// Claim: A notified waiter whose time is up without a message passes the notification on.
/// Also: suite mpmc::bounded_1::a_timed_out_wait_does_not_eat_the_wake.
#[test]
fn a_receiver_whose_time_is_up_passes_the_wake_on() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let other = receiver.clone();
        let leaving = leaves(sender.clone(), move || match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("there are senders"),
        });
        let second = sender.clone();
        let thread = thread::spawn(move || second.send(7).unwrap());
        assert_eq!(other.recv(), Ok(7));
        leaving.join().unwrap();
        thread.join().unwrap();
    });
}

/// A waker that does nothing.
struct Inert;

impl Wake for Inert {
    fn wake(self: Arc<Self>) {}
}

/// This thread waits first, in a way that can be dropped, and drops the wait while a message comes for it or for the
/// other receiver.
fn dropped_while_it_waits<W>(wait: impl Fn(Receiver<u32>) -> W + Sync + Send + 'static) {
    model_up_to(2, move || {
        let (sender, receiver) = mpmc::bounded(2);
        let waiting = wait(receiver.clone());
        let other = receive_one(receiver);
        let second = sender.clone();
        let thread = thread::spawn(move || second.send(7).unwrap());
        drop(waiting);
        assert_eq!(other.join().unwrap(), 7);
        thread.join().unwrap();
        drop(sender);
    });
}

/// Claim: A dropped future that was notified passes the notification on.
/// Also: suite mpmc::waking::with_a_bound::a_future_that_is_dropped_wakes_the_next_as_often_as_it_takes,
/// suite mpmc::permits::a_future_that_is_dropped_holds_nothing_and_passes_on_what_it_was_told.
#[test]
fn a_dropped_future_passes_the_wake_on() {
    dropped_while_it_waits(|receiver| {
        let waker = Waker::from(Arc::new(Inert));
        let mut future = Box::pin(async move { receiver.recv_async().await });
        assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        future
    });
}

/// Claim: A dropped handle that was notified, polled or attached, passes the notification on.
/// Also: model select::a_dropped_attached_sender_passes_its_signal_on, stress exchange::receivers_that_leave.
#[test]
fn a_dropped_receiver_passes_the_wake_of_its_task_on() {
    dropped_while_it_waits(|mut receiver| {
        let waker = Waker::from(Arc::new(Inert));
        assert_eq!(receiver.poll_recv(&mut Context::from_waker(&waker)), Poll::Pending);
        receiver
    });
}

#[test]
fn a_dropped_attached_receiver_passes_its_signal_on() {
    dropped_while_it_waits(|mut receiver| {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 1).unwrap();
        // Signalled when it is attached; it finds no message, and is a waiter from then on.
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        (receiver, set)
    });
}

#[test]
fn two_attached_receivers_get_everything() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let got = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (mut receiver, got) = (receiver.clone(), got.clone());
                thread::spawn(move || {
                    let mut set = YPollset::new();
                    set.attach(&mut receiver, 0).unwrap();
                    loop {
                        set.wait();
                        match receiver.try_recv() {
                            Ok(_) => drop(got.fetch_add(1, Ordering::Relaxed)),
                            Err(TryRecvError::Empty) => {}
                            Err(TryRecvError::Disconnected) => return,
                        }
                    }
                })
            })
            .collect();
        drop(receiver);
        sender.send(1).unwrap();
        drop(sender);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(got.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_full_ring_against_a_sender_going_to_sleep() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        let thread = thread::spawn(move || (0..3).for_each(|message| sender.send(message).unwrap()));
        for expected in 0..3 {
            assert_eq!(receiver.recv(), Ok(expected));
        }
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
    });
}

/// Notices: tokio#4618, tokio#3652, crossfire#23, a waiter that is cancelled or times out takes a wake-up that was
/// meant for another.
#[test]
fn a_sender_whose_time_is_up_passes_the_wake_on() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let second = sender.clone();
        let waiting = thread::spawn(move || second.send(1).unwrap());
        let leaving = thread::spawn(move || sender.send_timeout(2, Duration::from_secs(1)).is_ok());
        assert_eq!(receiver.recv(), Ok(0));
        if leaving.join().unwrap() {
            receiver.recv().unwrap();
        }
        waiting.join().unwrap();
    });
}

#[test]
fn the_last_senders_end_against_two_receivers_going_to_sleep() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded::<u32>(1);
        let second = sender.clone();
        let other = receiver.clone();
        let thread = thread::spawn(move || assert!(other.recv().is_err()));
        let ending = thread::spawn(move || {
            drop(second);
            drop(sender);
        });
        assert!(receiver.recv().is_err());
        thread.join().unwrap();
        ending.join().unwrap();
    });
}

/// Receives until the channel is disconnected, without ever waiting; returns the number of messages.
fn drain(receiver: &Receiver<u32>) -> usize {
    let mut received = 0;
    loop {
        match receiver.try_recv() {
            Ok(_) => received += 1,
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => return received,
        }
    }
}

/// In a stream no publication is fenced: only the store of the disconnect orders the messages before it.
#[test]
fn the_last_senders_end_is_seen_behind_the_last_message_of_a_stream() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(2);
        // From here on no publisher promises fences.
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let thread = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(drain(&receiver), 1);
        thread.join().unwrap();
    });
}

/// Claim: The disconnection of the last sender is seen only after all messages, including those of other senders.
#[test]
fn the_last_senders_end_is_seen_behind_what_another_has_sent() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(2);
        // From here on no publisher promises fences.
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let other = sender.clone();
        let threads = [thread::spawn(move || other.send(1).unwrap()), thread::spawn(move || drop(sender))];
        assert_eq!(drain(&receiver), 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Claim: Dropping the last `mpmc` receiver wakes the senders that wait for room.
/// Also: suite mpmc::bounded_1::the_receiver_goes_while_a_sender_waits_for_room.
#[test]
fn the_last_receivers_end_against_a_sender_without_room() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(1);
        assert!(sender.try_send(Counted(ended.clone())).is_ok());
        assert!(matches!(sender.try_send(Counted(ended.clone())), Err(TrySendError::Full(_))));
        let count = ended.clone();
        let thread = thread::spawn(move || {
            let _ = sender.send(Counted(count));
            sender
        });
        drop(receiver);
        let sender = thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 3);
        drop(sender);
    });
}

/// Claim: Dropping the last receiver drops each remaining message once, including one that is being written.
/// Also: suite mpmc::many::without_a_bound::the_last_receiver_goes_while_senders_are_at_it,
/// suite mpmc::close::the_messages_of_a_closed_channel_go_with_its_last_receiver.
#[test]
fn the_last_receivers_end_against_sending() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(2);
        let (second, count) = (sender.clone(), ended.clone());
        let thread = thread::spawn(move || drop(second.send(Counted(count))));
        let count = ended.clone();
        let sending = thread::spawn(move || {
            drop(sender.send(Counted(count)));
            sender
        });
        drop(receiver);
        thread.join().unwrap();
        let sender = sending.join().unwrap();
        // No message is stranded in the channel while a sender is alive.
        assert_eq!(ended.load(Ordering::Relaxed), 2);
        drop(sender);
    });
}

/// The last receiver does not depend on what the other has seen: it drops all messages left, however far the other had
/// got.
#[test]
fn the_last_of_two_receivers_against_sending() {
    model_up_to(3, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = mpmc::bounded(2);
        // From here on no publisher promises fences.
        sender.send(Counted(ended.clone())).unwrap();
        drop(receiver.recv());
        let other = receiver.clone();
        let taking = thread::spawn(move || drop(other.try_recv()));
        let count = ended.clone();
        let sending = thread::spawn(move || {
            (0..2).for_each(|_| drop(sender.try_send(Counted(count.clone()))));
            sender
        });
        drop(receiver);
        taking.join().unwrap();
        let sender = sending.join().unwrap();
        // No message is stranded in the channel while a sender is alive.
        assert_eq!(ended.load(Ordering::Relaxed), 3);
        drop(sender);
    });
}

/// Claim: A batch claims several cells at once, for sending and for receiving.
#[test]
fn a_batch_against_a_receiver_of_batches() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        let thread = thread::spawn(move || assert_eq!(sender.send_batch(0..3), Ok(3)));
        let mut received = Vec::new();
        while receiver.recv_batch(&mut received, 2).is_ok() {}
        thread.join().unwrap();
        assert_eq!(received, [0, 1, 2]);
    });
}

/// A batch wakes one thread, which wakes the other.
#[test]
fn a_batch_against_two_receivers_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let alive = sender.clone();
        let other = receive_one(receiver.clone());
        let thread = thread::spawn(move || assert_eq!(sender.send_batch(1..3), Ok(2)));
        let mine = receiver.recv().unwrap();
        assert_eq!(mine + other.join().unwrap(), 3);
        thread.join().unwrap();
        drop(alive);
    });
}

#[test]
fn tasks_on_both_sides_are_woken() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        let thread = thread::spawn(move || {
            block_on(async {
                sender.send_async(1).await.unwrap();
                sender.send_async(2).await.unwrap();
            });
        });
        block_on(async {
            assert_eq!(receiver.recv_async().await, Ok(1));
            assert_eq!(receiver.recv_async().await, Ok(2));
            assert!(receiver.recv_async().await.is_err());
        });
        thread.join().unwrap();
    });
}

/// A waker that counts.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// One of two receivers is late to publish that its cell is empty: a sender woken for the other cell finds no room, and
/// one woken by the late receiver finds room for two. That is an attached sender, which uses one cell by `take` (true),
/// and wakes the other.
fn room_that_comes_late(take: fn(&Sender<u32>) -> bool) {
    model_up_to(2, move || {
        let (sender, receiver) = mpmc::bounded(2);
        (0..2).for_each(|message| sender.send(message).unwrap());
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let mut context = Context::from_waker(&waker);
        let mut waiting = Box::pin(sender.send_async(2));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        let (mut attached, mut set) = (sender.clone(), YPollset::new());
        set.attach(&mut attached, 0).unwrap();
        assert!(attached.try_reserve().is_err());
        let other = receiver.clone();
        let mut late = Some(thread::spawn(move || assert!(other.recv().is_ok())));
        receiver.recv().unwrap();
        let (mut has_taken, mut polled, mut is_sent) = (false, 0, false);
        for _ in 0..4 {
            let count = woken.0.load(Ordering::Relaxed);
            if count != polled && !is_sent {
                polled = count;
                is_sent = waiting.as_mut().poll(&mut context).is_ready();
            }
            has_taken = has_taken || set.check().next().is_some() && take(&attached);
            late.take().into_iter().for_each(|late| late.join().unwrap());
        }
        assert!(is_sent, "a sender sleeps although there is room");
    });
}

#[test]
fn room_that_comes_late_against_an_attached_sender_that_keeps_a_place() {
    room_that_comes_late(|attached| attached.try_reserve().map(std::mem::forget).is_ok());
}

#[test]
fn room_that_comes_late_against_an_attached_sender_that_sends() {
    room_that_comes_late(|attached| attached.try_send(3).is_ok());
}

#[test]
fn room_that_comes_late_against_an_attached_sender_that_waits_no_time() {
    room_that_comes_late(|attached| attached.send_timeout(3, Duration::ZERO).is_ok());
}
