//! Many senders: order, turns, senders that come and go, lanes that are idle, reused, or too many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use ysuite::mpsc;
use ysuite::select;
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvError, RecvTimeoutError, Spin, TryRecvError};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Counted, Random, Tally, calls, guarded, panics};

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

/// Claim: An `mpsc` channel delivers every message once and keeps the order of each sender.
/// Also: model funnel::two_lanes_raised_at_once_against_a_receiver_going_to_sleep, stress funnel::blocking_receives.
#[test]
fn every_senders_order_is_kept_and_every_message_arrives_once() {
    const SENDERS: usize = 24;
    const MESSAGES: usize = 1_000;
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

/// Claim: `mpsc` senders can connect and disconnect while messages flow.
/// Also: model funnel::a_sender_that_comes_and_goes_against_a_receiver_going_to_sleep,
/// stress funnel::blocking_receives.
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

/// Claim: Senders of an `mpsc` rendezvous that are dropped free their lanes.
#[test]
fn lanes_of_a_rendezvous_are_free_when_their_senders_have_gone() {
    let (sender, mut receiver) = mpsc::bounded(0);
    // Whether the receiver only selects, only sleeps, or is at something else.
    for number in 0..mpsc::MAX_SENDERS + 1_000 {
        drop(sender.try_clone().unwrap());
        assert_eq!(select().recv(&mut receiver, |_| ()).try_now(), None);
        if number % 64 == 0 {
            assert_eq!(select().recv_any(std::slice::from_mut(&mut receiver), |_, _| ()).try_now(), None);
        }
    }
    let sleeping = thread::spawn(move || (receiver.recv(), receiver));
    for _ in 0..mpsc::MAX_SENDERS + 1_000 {
        drop(sender.try_clone().unwrap());
    }
    sender.clone().send(1).unwrap();
    let (received, mut receiver) = sleeping.join().unwrap();
    assert_eq!(received, Ok(1));
    // Closed ones have none either.
    let closed: Vec<_> = (0..mpsc::MAX_SENDERS + 1_000)
        .map(|_| {
            let mut closed = sender.try_clone().unwrap();
            assert!(closed.close());
            closed
        })
        .collect();
    assert!(closed.iter().all(mpsc::Sender::is_disconnected) && !sender.is_disconnected());
    drop((closed, sender));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

/// Claim: Connecting more senders than the limit allows is an error.
/// Also: suite mpsc::limits::an_mpsc_channel_with_a_senders_limit_has_no_more_lanes.
#[test]
fn too_many_senders_are_a_clear_error() {
    let (sender, mut receiver) = mpsc::unbounded::<u8>();
    let mut senders: Vec<_> = (1..mpsc::MAX_SENDERS).map(|_| sender.clone()).collect();
    assert_eq!(sender.try_clone().map(drop), Err(mpsc::TooManySenders));
    let text = mpsc::TooManySenders.to_string();
    assert!(text.contains("senders: 262080"), "{text}");
    assert_eq!(panics(|| drop(sender.clone())), text);
    // A dropped sender makes room when the receiver has polled.
    senders.swap_remove(4_711);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let mut last = sender.try_clone().unwrap();
    last.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    assert!(sender.try_clone().is_err());
    drop((sender, senders, last));
    assert!(receiver.recv().is_err());
}

/// Claim: The receiver does not poll idle lanes.
/// Also: allocation lanes::an_idle_sender_takes_at_most_512_bytes.
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
    // One check for each time the only active lane is empty, and for each turn.
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
    receiver.set_spin(Spin::None);
    let before = calls();
    // Again where the time was over before it could sleep.
    while calls() == before {
        assert!(receiver.recv_timeout(Duration::from_millis(50)).is_err());
    }
    assert!(run(&mut receiver) <= 3 * MESSAGES);
}

/// The same for one lane next to another.
#[test]
fn a_lane_that_stays_empty_is_visited_no_more() {
    const MESSAGES: u64 = 200;
    let (mut sender, mut receiver) = mpsc::unbounded();
    let mut idle = sender.clone();
    idle.send(0).unwrap();
    assert_eq!(receiver.recv(), Ok(0));
    let mut run = || {
        let before = receiver.visits();
        for message in 0..MESSAGES {
            sender.send(message).unwrap();
            assert_eq!(receiver.recv(), Ok(message));
            assert!(receiver.try_recv().is_err());
        }
        receiver.visits() - before
    };
    // Until it is found idle there are two lanes to visit, whether there is a message or not.
    run();
    let visits = run();
    assert!(visits <= 2 * MESSAGES, "{visits} visits");
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

/// Claim: A lane delivers at most one turn of messages while other lanes have messages.
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

fn attached_to<S: Wait + Send + 'static>(mut set: S, mut receiver: mpsc::Receiver<(usize, Counted)>, senders: usize) {
    let mut orders = Orders(vec![None; senders]);
    let mut random = Random::new(5);
    loop {
        assert!(set.wait().eq([3]));
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
            if descriptor && cfg!(any(unix, windows)) {
                #[cfg(any(unix, windows))]
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
fn a_batch_takes_what_every_sender_has_sent() {
    let (mut one, mut receiver) = mpsc::unbounded();
    let mut two = one.clone();
    one.send_batch([1, 2]).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    // It is the first one's turn, and the other's lane has yet to come into view.
    two.send(3).unwrap();
    let mut batch = Vec::new();
    assert_eq!((receiver.try_recv_batch(&mut batch, 9), batch), (Ok(2), vec![2, 3]));
}

#[test]
fn a_look_shows_the_same_message_until_it_is_received() {
    let (mut one, mut receiver) = mpsc::unbounded();
    let mut two = one.clone();
    one.send_batch([1, 2]).unwrap();
    two.send_batch([3, 4]).unwrap();
    for _ in 0..4 {
        let shown = receiver.peek().copied();
        assert!(shown.is_some());
        assert!((0..3).all(|_| receiver.peek().copied() == shown));
        assert_eq!(receiver.recv().ok(), shown);
    }
}

/// More lanes than two levels of the set of those with news have.
#[test]
fn thousands_of_tasks_that_wait_for_room_are_told_and_get_it() {
    const SENDERS: usize = 5_000;
    for closes in [false, true] {
        let (sender, mut receiver) = mpsc::bounded(1);
        let mut senders: Vec<_> = (0..SENDERS).map(|_| (sender.clone(), Task::default())).collect();
        drop(sender);
        for (number, (sender, _)) in senders.iter_mut().enumerate() {
            sender.send(number).unwrap();
        }
        let mut futures: Vec<_> = (SENDERS..)
            .zip(&mut senders)
            .map(|(number, (sender, task))| (Box::pin(sender.send_async(number)), &*task))
            .collect();
        for (future, task) in &mut futures {
            assert!(poll_once(future, task).is_pending());
        }
        if closes {
            receiver.close();
        }
        let mut received = Vec::new();
        while receiver.try_recv_batch(&mut received, usize::MAX).is_ok() {}
        for (future, task) in &mut futures {
            assert_eq!((task.woken(), poll_once(future, task).map(|sent| sent.is_err())), (1, Poll::Ready(closes)));
        }
        drop(futures);
        drop(senders);
        received.extend(&mut receiver);
        received.sort_unstable();
        assert!(received.into_iter().eq(0..if closes { SENDERS } else { 2 * SENDERS }));
    }
}

#[test]
fn a_great_batch_is_taken_from_hundreds_of_lanes() {
    const SENDERS: usize = 130;
    for each in [1, 31, 32, 77] {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..SENDERS).map(|_| sender.clone()).collect();
        for most in [4_095, 4_096, 4_097, usize::MAX] {
            for (id, sender) in senders.iter_mut().enumerate() {
                sender.send_batch((0..each).map(|number| (id, number))).unwrap();
            }
            let mut received = Vec::new();
            while received.len() < SENDERS * each {
                let left = SENDERS * each - received.len();
                assert_eq!(receiver.try_recv_batch(&mut received, most), Ok(left.min(most)));
            }
            assert_eq!(receiver.try_recv_batch(&mut received, most), Err(TryRecvError::Empty));
            // A stable order: of each sender as they were sent.
            received.sort_by_key(|message| message.0);
            assert!(received.into_iter().eq((0..SENDERS).flat_map(|id| (0..each).map(move |number| (id, number)))));
        }
    }
}

#[test]
fn a_look_shows_what_is_received_next_of_however_many_lanes() {
    for lanes in 1..6 {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..lanes).map(|_| sender.clone()).collect();
        for (id, sender) in senders.iter_mut().enumerate() {
            sender.send_batch((0..2 * mpsc::TURN).map(|number| (id, number))).unwrap();
        }
        // Also where a turn ends.
        for _ in 0..lanes * 2 * mpsc::TURN {
            let shown = receiver.peek().copied();
            assert!(shown.is_some());
            assert_eq!(receiver.peek().copied(), shown);
            assert_eq!(receiver.recv().ok(), shown);
        }
        assert_eq!(receiver.peek(), None);
    }
}

#[test]
fn a_turn_is_as_long_however_its_messages_are_received() {
    let (sender, mut receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..2).map(|_| sender.clone()).collect();
    for (id, sender) in senders.iter_mut().enumerate() {
        sender.send_batch((0..2 * mpsc::TURN).map(|_| id)).unwrap();
    }
    let mut received = Vec::new();
    assert_eq!(receiver.try_recv_batch(&mut received, 1), Ok(1));
    while received.len() < 3 * mpsc::TURN {
        received.push(receiver.try_recv().unwrap());
    }
    let runs: Vec<_> = received.chunk_by(|one, next| one == next).map(<[usize]>::len).collect();
    assert_eq!(runs, [mpsc::TURN; 3]);
}

#[test]
fn a_message_is_found_in_whichever_lane_it_is() {
    for lanes in 1..7 {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..lanes).map(|_| sender.clone()).collect();
        // All are active, and from any last one the next is found.
        senders.iter_mut().for_each(|sender| sender.send(0).unwrap());
        assert_eq!(receiver.try_iter().count(), lanes);
        for last in 0..lanes {
            for next in 0..lanes {
                for id in [last, next] {
                    senders[id].send(id).unwrap();
                    assert_eq!(receiver.try_recv(), Ok(id));
                }
            }
        }
    }
}

#[test]
fn a_lane_that_streams_keeps_its_turn_while_an_idle_one_leaves() {
    // More turns than a lane may be empty until it is armed.
    const MESSAGES: usize = 80 * mpsc::TURN;
    for streams in 1..4 {
        let (mut quiet, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..streams).map(|_| quiet.clone()).collect();
        quiet.send((streams, 0)).unwrap();
        for (id, sender) in senders.iter_mut().enumerate() {
            sender.send_batch((0..MESSAGES).map(|number| (id, number))).unwrap();
        }
        let mut next = vec![0; streams + 1];
        for _ in 0..streams * MESSAGES + 1 {
            let (id, number) = receiver.try_recv().unwrap();
            assert_eq!(number, next[id]);
            next[id] += 1;
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        // All are heard as before.
        quiet.send((streams, 1)).unwrap();
        assert_eq!(receiver.try_recv(), Ok((streams, 1)));
        for (id, sender) in senders.iter_mut().enumerate() {
            sender.send((id, MESSAGES)).unwrap();
            assert_eq!(receiver.try_recv(), Ok((id, MESSAGES)));
        }
    }
}

#[test]
fn a_lane_that_is_empty_for_a_moment_is_not_taken_for_an_idle_one() {
    // Two of these are more turns than a lane may be empty until it is armed; one is fewer.
    const MESSAGES: usize = 40 * mpsc::TURN;
    let (mut quiet, mut receiver) = mpsc::unbounded();
    let (mut seldom, mut streaming) = (quiet.clone(), quiet.clone());
    quiet.send(1).unwrap();
    for before in [1, 0] {
        seldom.send(2).unwrap();
        streaming.send_batch((0..MESSAGES).map(|_| 0)).unwrap();
        assert_eq!(receiver.try_iter().count(), MESSAGES + 1 + before);
    }
    // The one that had been empty all the time is armed by now.
    seldom.send(3).unwrap();
    assert_eq!(receiver.try_recv(), Ok(3));
    quiet.send(4).unwrap();
    assert_eq!(receiver.try_recv(), Ok(4));
}
