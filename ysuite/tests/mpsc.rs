//! The funnel: which channels wear the suites in `conformance/channel/`, and what concerns this kind only.
#![cfg(not(ysuite_loom))]

#[path = "conformance/channel/mod.rs"]
mod channel;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use channel::{Batching, Kind};
use support::executor::{Explosive, Task, block_on};
use support::{Counted, Random, Tally, guarded, panics};
use ysuite::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, Spin, TryRecvError, TrySendError};
use ysuite::mpsc;
use ysuite::signal::{Wait, YPollset};

channel_ends!(mpsc);
batching_ends!(mpsc);

/// A funnel with a bound for each sender, or none (0).
struct Funnel<const BOUND: usize>;

impl<const BOUND: usize> Kind for Funnel<BOUND> {
    type Sender<T: Send + 'static> = mpsc::Sender<T>;
    type Receiver<T: Send + 'static> = mpsc::Receiver<T>;
    const CAPACITY: Option<usize> = if BOUND == 0 || BOUND == usize::MAX { None } else { Some(BOUND) };
    fn pair<T: Send + 'static>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        if BOUND == 0 { mpsc::unbounded() } else { mpsc::bounded(BOUND) }
    }
    fn asked() -> Option<usize> {
        if BOUND == 0 { None } else { Some(BOUND) }
    }
}

impl<const BOUND: usize> Batching for Funnel<BOUND> {
    type Hiding<T: Send + 'static> = mpsc::Sender<T>;
    type Peeking<T: Send + 'static> = mpsc::Receiver<T>;
    fn batching<T: Send + 'static>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        Self::pair()
    }
}

macro_rules! funnels {
    ($($name:ident $bound:expr),* $(,)?) => {
        $(mod $name {
            crate::channel_suite!(super::Funnel<{ $bound }>);
            crate::batching_suite!(super::Funnel<{ $bound }>);
        })*
    };
}

funnels!(unbounded 0, bounded_1 1, bounded_2 2, bounded_7 7, bounded_1024 1024, bounded_usize_max usize::MAX);

/// Many senders, each on a thread of its own, and what each has sent so far.
fn on_threads(
    sender: &mpsc::Sender<(usize, Counted)>,
    senders: usize,
    messages: usize,
    tally: &Tally,
) -> Vec<thread::JoinHandle<()>> {
    let spawn = |id: usize| {
        let (mut sender, tally) = (sender.clone(), tally.clone());
        thread::spawn(move || {
            let mut random = Random::new(id as u64 + 1);
            let mut left = messages;
            while left > 0 {
                let some = (1 + random.below(20)).min(left);
                match random.below(4) {
                    0 => assert_eq!(sender.send_batch(tally.some(some).map(|message| (id, message))).ok(), Some(some)),
                    1 => (0..some).for_each(|_| sender.write((id, tally.next())).unwrap()),
                    2 => (0..some).for_each(|_| sender.send((id, tally.next())).unwrap()),
                    _ => (0..some).for_each(|_| block_on(sender.send_async((id, tally.next()))).unwrap()),
                }
                left -= some;
                random.pause();
            }
        })
    };
    (0..senders).map(spawn).collect()
}

/// What has arrived of each sender: its messages come in the order of their numbers.
struct Orders(Vec<Option<usize>>);

impl Orders {
    fn note(&mut self, (id, message): &(usize, Counted)) {
        assert!(self.0[*id].is_none_or(|last| last < message.number), "sender {id} is out of order");
        self.0[*id] = Some(message.number);
    }
}

#[test]
fn every_senders_order_is_kept_and_every_message_arrives_once() {
    const SENDERS: usize = 24;
    const MESSAGES: usize = 2_000;
    for bound in [None, Some(1), Some(40)] {
        guarded(move || {
            let tally = Tally::of(SENDERS * MESSAGES);
            let (sender, mut receiver) = bound.map_or_else(mpsc::unbounded, mpsc::bounded);
            let threads = on_threads(&sender, SENDERS, MESSAGES, &tally);
            drop(sender);
            let (mut orders, mut batch, mut random) = (Orders(vec![None; SENDERS]), Vec::new(), Random::new(99));
            loop {
                let received = match random.below(4) {
                    0 => receiver.recv().map(|message| batch.push(message)),
                    1 => block_on(receiver.recv_async()).map(|message| batch.push(message)),
                    2 => match receiver.recv_timeout(Duration::from_micros(random.next() % 50)) {
                        Ok(message) => {
                            batch.push(message);
                            Ok(())
                        }
                        Err(RecvTimeoutError::Timeout) => Ok(()),
                        Err(RecvTimeoutError::Disconnected) => Err(RecvError),
                    },
                    _ => receiver.recv_batch(&mut batch, 1 + random.below(300)).map(drop),
                };
                batch.drain(..).for_each(|message| orders.note(&message));
                if received.is_err() {
                    break;
                }
                random.pause();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(tally.made(), SENDERS * MESSAGES);
            tally.assert_all_ended();
        });
    }
}

#[test]
fn senders_come_and_go_while_messages_flow() {
    guarded(|| {
        const THREADS: usize = 4;
        const ROUNDS: usize = 3_000;
        let tally = Tally::of((THREADS * 4 + 2) * ROUNDS);
        let (sender, receiver) = mpsc::unbounded();
        let churn = |id: usize| {
            let (sender, tally) = (sender.clone(), tally.clone());
            thread::spawn(move || {
                let mut random = Random::new(id as u64 + 10);
                for round in 0..ROUNDS {
                    let mut short = sender.clone();
                    for _ in 0..random.below(5) {
                        short.send((id * ROUNDS + round, tally.next())).unwrap();
                    }
                    // Some are dropped by another thread than the one they were made by.
                    if round % 100 == 0 {
                        thread::spawn(move || drop(short)).join().unwrap();
                    }
                }
            })
        };
        let threads: Vec<_> = (0..THREADS).map(churn).collect();
        let (mut steady, steadily) = (sender, tally.clone());
        let flowing = thread::spawn(move || {
            for _ in 0..ROUNDS * 2 {
                steady.send((THREADS * ROUNDS, steadily.next())).unwrap();
            }
        });
        let mut orders = Orders(vec![None; THREADS * ROUNDS + 1]);
        receiver.into_iter().for_each(|message| orders.note(&message));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        flowing.join().unwrap();
        tally.assert_all_ended();
    });
}

#[test]
fn lanes_are_reused() {
    // More than there may be at a time.
    let (sender, mut receiver) = mpsc::unbounded();
    for number in 0..mpsc::MAX_SENDERS + 1_000 {
        let mut short = sender.clone();
        if number % 3 != 0 {
            short.send(number).unwrap();
        }
        drop(short);
        assert_eq!(receiver.try_recv().ok(), (number % 3 != 0).then_some(number));
    }
    // Of a disconnected channel there may be any number.
    drop(receiver);
    for number in 0..mpsc::MAX_SENDERS + 1_000 {
        assert!(sender.clone().send(number).is_err());
    }
}

#[test]
fn too_many_senders_are_a_clear_error() {
    let (sender, mut receiver) = mpsc::unbounded::<u8>();
    let mut senders: Vec<_> = (1..mpsc::MAX_SENDERS).map(|_| sender.clone()).collect();
    assert_eq!(sender.try_clone().map(drop), Err(mpsc::TooManySenders));
    let text = mpsc::TooManySenders.to_string();
    assert!(text.contains("262080 senders"), "{text}");
    assert_eq!(panics(|| drop(sender.clone())), text);
    // One that is gone makes room when the receiver has looked.
    senders.swap_remove(4_711);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let mut last = sender.try_clone().unwrap();
    last.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    assert!(sender.try_clone().is_err());
    drop((sender, senders, last));
    assert!(receiver.recv().is_err());
}

#[test]
fn idle_lanes_are_not_looked_at() {
    const IDLE: u64 = 1_024;
    const MESSAGES: u64 = 20_000;
    let (mut sender, mut receiver) = mpsc::unbounded();
    let mut idle: Vec<_> = (0..IDLE).map(|_| sender.clone()).collect();
    let mut run = |receiver: &mut mpsc::Receiver<u64>| {
        let before = receiver.visits();
        for message in 0..MESSAGES {
            sender.send(message).unwrap();
            assert_eq!(receiver.recv(), Ok(message));
            assert!(receiver.try_recv().is_err());
        }
        receiver.visits() - before
    };
    // One look for each time the only active lane is empty, and for each turn.
    assert!(run(&mut receiver) <= 3 * MESSAGES);
    // Those that have sent something are active until they are found idle.
    idle.iter_mut().for_each(|idle| idle.send(9).unwrap());
    assert_eq!(receiver.try_iter().take(IDLE as usize).count(), IDLE as usize);
    let visits = run(&mut receiver);
    assert!(visits <= IDLE * 200 + 3 * MESSAGES, "{visits} visits");
    assert!(run(&mut receiver) <= 3 * MESSAGES);
    // And when there has been nothing at all, they are armed before the receiver sleeps.
    idle.iter_mut().for_each(|idle| idle.send(9).unwrap());
    assert_eq!(receiver.try_iter().take(IDLE as usize).count(), IDLE as usize);
    assert!(receiver.recv_timeout(Duration::from_micros(1)).is_err());
    assert!(run(&mut receiver) <= 3 * MESSAGES);
}

#[test]
fn any_of_many_idle_senders_wakes_a_sleeping_receiver() {
    guarded(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..1_000).map(|_| sender.clone()).collect();
        let arrived = Arc::new(AtomicUsize::new(0));
        let told = arrived.clone();
        let thread = thread::spawn(move || {
            for expected in 0..300 {
                assert_eq!(receiver.recv(), Ok(expected));
                told.store(expected + 1, Ordering::Release);
            }
            receiver
        });
        for message in 0..300 {
            thread::sleep(Duration::from_micros(100));
            senders[message * 7919 % 1_000].send(message).unwrap();
            // Different senders' messages have no order.
            while arrived.load(Ordering::Acquire) <= message {
                thread::yield_now();
            }
        }
        let mut receiver = thread.join().unwrap();
        drop((sender, senders));
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn no_sender_gives_more_than_a_turn_while_others_have_messages() {
    const MESSAGES: usize = 10 * mpsc::TURN;
    for way in 0..3 {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..5).map(|_| sender.clone()).collect();
        for (id, sender) in senders.iter_mut().enumerate() {
            sender.send_batch((0..MESSAGES).map(|number| (id, number))).unwrap();
        }
        let mut received: Vec<(usize, usize)> = Vec::new();
        while received.len() < 5 * MESSAGES {
            match way {
                0 => received.push(receiver.recv().unwrap()),
                1 => drop(receiver.recv_batch(&mut received, usize::MAX)),
                _ => drop(receiver.try_recv_batch(&mut received, mpsc::TURN - 1)),
            }
        }
        // As long as all have some: each run of one sender's is no longer than a turn.
        let mut counts = [0; 5];
        for run in received.chunk_by(|one, next| one.0 == next.0) {
            if counts.iter().all(|count| *count < MESSAGES) {
                assert!(run.len() <= mpsc::TURN, "{} messages in a run", run.len());
            }
            counts[run[0].0] += run.len();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= mpsc::TURN);
        }
        assert_eq!(counts, [MESSAGES; 5]);
    }
}

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
fn a_panicking_drop_in_one_lane_leaves_the_others_in_order() {
    let tally = Tally::of(30);
    let (sender, receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..3).map(|_| sender.clone()).collect();
    senders.iter_mut().for_each(|sender| tally.some(10).for_each(|message| sender.send(message).unwrap()));
    tally.explode(13);
    panics(|| drop(receiver));
    // The other lanes were emptied; the rest of this one may wait for its sender's end.
    assert!(tally.ended() >= 24);
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

#[test]
fn a_hidden_batch_stays_with_the_sender_that_hid_it() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    sender.write(1).unwrap();
    let mut clone = sender.clone();
    assert_eq!(clone.unwrite(), None);
    clone.send(2).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2]);
    assert!(sender.flush(), "nobody sleeps");
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
}

fn attached_to<S: Wait + Send + 'static>(mut set: S, mut receiver: mpsc::Receiver<(usize, Counted)>, senders: usize) {
    let mut orders = Orders(vec![None; senders]);
    let mut random = Random::new(5);
    loop {
        assert!(set.poll().eq([3]));
        for _ in 0..1 + random.below(300) {
            match receiver.try_recv() {
                Ok(message) => orders.note(&message),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }
}

#[test]
fn attached_to_a_set_of_signals() {
    const SENDERS: usize = 6;
    const MESSAGES: usize = 3_000;
    for descriptor in [false, true] {
        guarded(move || {
            let tally = Tally::of(SENDERS * MESSAGES);
            let (sender, mut receiver) = mpsc::unbounded();
            let threads = on_threads(&sender, SENDERS, MESSAGES, &tally);
            drop(sender);
            if descriptor && cfg!(unix) {
                #[cfg(unix)]
                {
                    let mut set = ysuite::signal::YSocketpair::new().unwrap();
                    set.attach(&mut receiver, 3).unwrap();
                    attached_to(set, receiver, SENDERS);
                }
            } else {
                let mut set = YPollset::new();
                set.attach(&mut receiver, 3).unwrap();
                attached_to(set, receiver, SENDERS);
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            tally.assert_all_ended();
        });
    }
}

#[test]
fn an_attached_id_is_up_until_all_lanes_are_found_empty() {
    let (sender, mut receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..100).map(|_| sender.clone()).collect();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 7).unwrap();
    // At first too: there may be messages already.
    assert!(set.check().eq([7]) && receiver.try_recv().is_err() && set.check().is_empty());
    for round in 0..3 {
        senders.iter_mut().skip(round).step_by(3).take(33).for_each(|sender| sender.send(round).unwrap());
        for left in (0..33).rev() {
            assert!(set.poll().eq([7]));
            assert_eq!((receiver.recv(), receiver.len()), (Ok(round), left));
        }
        assert!(set.check().eq([7]), "it does not know yet that it is empty");
        assert!(receiver.try_recv().is_err());
        assert!(set.check().is_empty());
    }
    drop(receiver);
    assert!(set.check().is_empty());
}

#[test]
fn a_capacity_of_nothing_is_a_documented_panic() {
    assert!(panics(|| drop(mpsc::bounded::<u8>(0))).contains("capacity of at least 1 for each sender"));
}

#[test]
fn a_bound_is_each_senders_own() {
    let (mut one, mut receiver) = mpsc::bounded(3);
    let mut two = one.clone();
    (0..3).for_each(|message| one.try_send(message).unwrap());
    assert!(one.is_full() && !two.is_full());
    (0..3).for_each(|message| two.try_send(message).unwrap());
    assert_eq!((one.capacity(), two.capacity(), receiver.capacity()), (Some(3), Some(3), Some(3)));
    assert_eq!(receiver.len(), 6);
    assert!(one.try_send(9).unwrap_err().is_full() && two.try_send(9).unwrap_err().is_full());
    assert_eq!(receiver.try_iter().count(), 6);
}

#[test]
fn both_ends_say_what_they_are() {
    let (sender, receiver) = mpsc::bounded::<u8>(8);
    assert!(format!("{sender:?}").starts_with("Sender {") && format!("{receiver:?}").starts_with("Receiver {"));
}

#[test]
fn messages_may_borrow() {
    let text = String::from("borrowed");
    let (sender, mut receiver) = mpsc::bounded(2);
    thread::scope(|scope| {
        for _ in 0..3 {
            let (mut sender, text) = (sender.clone(), text.as_str());
            scope.spawn(move || (0..10).for_each(|_| sender.send(text).unwrap()));
        }
        (0..30).for_each(|_| assert_eq!(receiver.recv(), Ok("borrowed")));
    });
}

#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_forked_child_does_not_disturb_the_parent() {
    // The C library's, which std links already.
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(child: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
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
            // SAFETY: the child does nothing but what allocates and locks nothing, and ends without unwinding.
            let child = unsafe { fork() };
            if child == 0 {
                let sent = sender.send(round).is_ok();
                // SAFETY: it ends here.
                unsafe { _exit(if sent { 0 } else { 1 }) };
            }
            let mut status = -1;
            // SAFETY: a child of this process, and a place for its status.
            assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "the child could not send to its own copy");
            sender.send(round).unwrap();
        }
        drop((sender, other));
        let mut received = thread.join().unwrap();
        received.sort_unstable();
        assert_eq!(received, [0, 1, 2, 3]);
    });
}
