//! What others can do while one thread is stopped, at any point of an operation: everything that is documented as
//! lock-free, or as never waiting for a preempted thread. And races of a few instructions, at each point.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::pool::Pool;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};
use ysuite::{mpmc, watch};

use super::steps::{everywhere, first, stopped_at};
use super::support::executor::Task;
use super::support::guarded;
use super::support::process::{is_asleep, thread_id};

/// How many operations the others do while one is stopped.
const OTHERS: u64 = 12;

/// One thread is stopped in the operation `act` of an mpmc channel that has two messages; the others send and receive.
/// In an unbounded channel each of their sends succeeds, in a bounded one until it is full. A channel that is reported
/// empty or full is so except for the stopped operation.
fn an_exchange(bound: Option<usize>, act: fn(&mpmc::Sender<u64>, &mpmc::Receiver<u64>) -> (u64, u64)) {
    guarded(move || {
        everywhere(67, |instruction| {
            let (sender, receiver) = bound.map_or_else(mpmc::unbounded, mpmc::bounded);
            sender.send_batch([1, 2]).unwrap();
            let ((sent, received), others) = stopped_at(
                instruction,
                || {},
                || act(&sender, &receiver),
                || {
                    let (mut sent, mut received) = (0, 0);
                    for _ in 0..OTHERS {
                        sent += u64::from(sender.try_send(7).is_ok());
                        assert!(bound.is_some() || sent == OTHERS || sent > 0);
                        received += receiver.try_recv().map_or(0, |_| 1);
                        assert!(receiver.len() <= bound.unwrap_or(usize::MAX));
                    }
                    // Both made progress: the stopped thread has one slot at most.
                    assert!(sent >= bound.map_or(OTHERS, |bound| bound as u64 - 3), "{sent} were sent");
                    (sent, received)
                },
            );
            let (others_sent, others_received) = others.unwrap_or_default();
            let left = receiver.try_iter().count() as u64;
            assert_eq!(2 + sent + others_sent, left + received + others_received, "at instruction {instruction}");
            others.is_some()
        });
    });
}

fn send(sender: &mpmc::Sender<u64>, _receiver: &mpmc::Receiver<u64>) -> (u64, u64) {
    (u64::from(sender.try_send(3).is_ok()), 0)
}

fn receive(_sender: &mpmc::Sender<u64>, receiver: &mpmc::Receiver<u64>) -> (u64, u64) {
    (0, u64::from(receiver.try_recv().is_ok()))
}

/// Claim: `mpmc` `send` is lock-free: wherever other threads are stopped, some thread makes progress.
#[test]
fn in_a_send_of_an_mpmc_channel() {
    an_exchange(Some(8), send);
}

/// Claim: `mpmc` `recv` is lock-free: wherever other threads are stopped, some thread makes progress.
#[test]
fn in_a_receive_of_an_mpmc_channel() {
    an_exchange(Some(8), receive);
}

#[test]
fn in_a_send_of_an_unbounded_mpmc_channel() {
    an_exchange(None, send);
}

#[test]
fn in_a_receive_of_an_unbounded_mpmc_channel() {
    an_exchange(None, receive);
}

/// The others have every block except the one in transit, and those that the thread holds.
///
/// Claim: Allocating and freeing pool blocks is lock-free.
#[test]
fn in_a_taker_of_a_pool() {
    for gives_back in [false, true] {
        guarded(move || {
            everywhere(149, |instruction| {
                let pool = Pool::new(&[(16, 6)]).unwrap();
                // Its first use of a pool is made before; it takes from the depot, or from the magazine of this thread.
                drop((0..4).map(|_| pool.take(9)).collect::<Vec<_>>());
                let block = gives_back.then(|| pool.take(9));
                let (block, others) = stopped_at(
                    instruction,
                    || drop(pool.try_take(9)),
                    || match block {
                        Some(block) => {
                            drop(block);
                            None
                        }
                        None => pool.try_take(9),
                    },
                    || {
                        let mut taken = 0;
                        for _ in 0..OTHERS {
                            let all: [_; 6] = std::array::from_fn(|_| pool.try_take(9));
                            taken = all.iter().flatten().count().max(taken);
                        }
                        taken
                    },
                );
                assert!(others.is_none_or(|taken| taken >= 2), "{others:?} were taken");
                drop(block);
                let all: [_; 6] = std::array::from_fn(|_| pool.try_take(9));
                assert!(all.iter().all(Option::is_some), "a block is lost at instruction {instruction}");
                others.is_some()
            });
        });
    }
}

/// The set is found, and others signal it, while a signaler is stopped; its own signal comes when it goes on.
fn a_set<W: Wait, S: Signal + Sync>(set: impl Fn() -> (W, S, S) + Send + 'static, id: usize) {
    guarded(move || {
        everywhere(29, |instruction| {
            let (mut set, signaler, other) = set();
            let ((), others) = stopped_at(
                instruction,
                || {},
                || signaler.signal(id),
                || {
                    let (mut found, mut own) = (false, 0);
                    for _ in 0..OTHERS {
                        other.signal(0);
                        let up: [bool; 2] = {
                            let mut up = [false; 2];
                            set.check().for_each(|found| up[usize::from(found == id && id != 0)] = true);
                            up
                        };
                        own += u64::from(up[0]);
                        found |= up[1];
                    }
                    assert_eq!(own, OTHERS, "the others' signals");
                    found
                },
            );
            let later = set.wait_timeout(Duration::ZERO).any(|found| found == id);
            if id != 0 {
                assert!(later != others.unwrap_or(false), "at instruction {instruction}: the signal was found {later}");
            }
            others.is_some()
        });
    });
}

/// A set, and two that signal it.
macro_rules! set {
    ($set:expr) => {
        || {
            let set = $set;
            let (one, other) = (set.signaler(), set.signaler());
            (set, one, other)
        }
    };
}

#[test]
fn in_a_signaler() {
    a_set(set!(YSemaphore::new()), 0);
    a_set(set!(YPollset::new()), 7);
    a_set(set!(YPollset::with_capacity(4096)), 4_000);
    a_set(set!(YSocketpair::new().unwrap()), 7);
}

/// A sender is stopped within its change, or with the lock: receivers still read, wait and are notified.
///
/// Claim: `has_changed`, waiting and waking do not take the lock of a watched value.
/// Also: faults wait_free::a_look_at_a_watch.
#[test]
fn in_a_change_of_a_watched_value() {
    guarded(|| {
        everywhere(97, |instruction| {
            let (sender, receiver) = watch::channel(0);
            let (mut early, mut late) = (receiver.clone(), receiver);
            early.mark_changed();
            let ((), others) = stopped_at(
                instruction,
                || {},
                || sender.send_modify(|value| *value += 1),
                || {
                    for _ in 0..OTHERS {
                        assert!(early.has_changed().is_ok());
                        early.mark_changed();
                        assert!(early.changed().is_ok());
                        let _ = late.changed_timeout(Duration::ZERO);
                        let _ = late.poll_changed(&mut std::task::Context::from_waker(&Task::default().waker()));
                    }
                },
            );
            others.is_some()
        });
    });
}

/// While a thread waits and is woken, another has the lock: if it were taken, no thread would go on.
#[test]
fn waiting_at_a_watch_and_being_woken_while_the_lock_is_held() {
    /// A task whose waker has another thread take the lock, and returns when it has it.
    struct Locks(std::sync::mpsc::Sender<()>, std::sync::Mutex<std::sync::mpsc::Receiver<()>>);
    impl std::task::Wake for Locks {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.send(()).expect("a thread that locks");
            self.1.lock().expect("no panic").recv().expect("a lock");
        }
    }
    guarded(|| {
        let (sender, receiver) = watch::channel(0);
        let (mut task, mut thread_too) = (receiver.clone(), receiver);
        let (ask, asked) = std::sync::mpsc::channel();
        let (has, locked) = std::sync::mpsc::channel();
        let (wakes, woken) = std::sync::mpsc::channel();
        let (is_locked, waiting) = (AtomicBool::new(false), AtomicI32::new(0));
        // The task has the first slot of the list, so it is called first.
        let waker = std::task::Waker::from(std::sync::Arc::new(Locks(ask, std::sync::Mutex::new(locked))));
        assert!(task.poll_changed(&mut std::task::Context::from_waker(&waker)).is_pending());
        let locker = sender.clone();
        thread::scope(|scope| {
            let (is_locked, waiting) = (&is_locked, &waiting);
            scope.spawn(move || {
                thread_too.set_spin(ysuite::Spin::None);
                waiting.store(thread_id(), Ordering::Release);
                thread_too.changed().unwrap();
                assert!(is_locked.load(Ordering::Acquire), "it was woken before the lock was taken: nothing was tried");
                assert_eq!(thread_too.has_changed(), Ok(false));
                wakes.send(()).unwrap();
            });
            scope.spawn(move || {
                asked.recv().unwrap();
                locker.send_modify(|_| {
                    is_locked.store(true, Ordering::Release);
                    has.send(()).unwrap();
                    woken.recv().unwrap();
                });
            });
            // A thread that is not there yet would find the value that the lock had already changed.
            while !is_asleep(waiting.load(Ordering::Acquire)) {
                thread::yield_now();
            }
            sender.send_modify(|value| *value += 1);
        });
    });
}

/// The state of a full channel of this capacity, and of a message that is forced into it by a thread that was stopped
/// after this instruction while another closed the channel and received.
struct Overtaken {
    stood_still: bool,
    was_sent: bool,
    to_be_received: usize,
}

fn overtake(capacity: usize, instruction: u64) -> Overtaken {
    let (sender, receiver) = mpmc::bounded(capacity);
    sender.send_batch(0..capacity as u64).unwrap();
    let (forced, others) = stopped_at(
        instruction,
        || {},
        || sender.force_send(9),
        || {
            receiver.close();
            receiver.try_recv().is_ok()
        },
    );
    let to_be_received = receiver.try_iter().count() + usize::from(others == Some(true));
    let came_back = !matches!(forced, Ok(None));
    assert_eq!(to_be_received + usize::from(came_back), capacity + 1, "at instruction {instruction}");
    Overtaken { stood_still: others.is_some(), was_sent: forced.is_ok(), to_be_received }
}

/// A message is forced into a full channel while another thread closes it and receives: one message more than the
/// capacity is received at most, and that happens; each is dropped once.
///
/// Claim: A `force_send` that a close and a receiver overtake leaves at most one message more than the capacity.
#[test]
fn in_a_force_that_a_close_and_a_receiver_overtake() {
    guarded(|| {
        let capacity = 2;
        // From that instruction on its place is claimed, and the close comes too late.
        let claimed = first(20_000, |instruction| overtake(capacity, instruction).was_sent).expect("a force");
        let (mut at, mut most) = (claimed, 0);
        let step = if super::is_long() { 1 } else { 97 };
        loop {
            let overtaken = overtake(capacity, at);
            most = most.max(overtaken.to_be_received);
            if !overtaken.stood_still {
                break;
            }
            at += step;
        }
        assert_eq!(most, capacity + 1, "the receiver has come too late everywhere");
    });
}

/// An observer is stopped at any point of its snapshot: messages go through, and waiting threads are woken.
///
/// Claim: A stopped observer delays no send, receive or wait.
#[cfg(feature = "statistics")]
#[test]
fn in_a_look_of_an_observer() {
    use ysuite::{mpsc, spsc};

    guarded(|| {
        let (mut pipe, mut pipe_in) = spsc::bounded(3);
        let (mut lane, mut funnel_in) = mpsc::bounded(3);
        let (exchange, exchange_in) = mpmc::bounded(3);
        for observer in [pipe.observer(), lane.observer(), exchange.observer()] {
            everywhere(97, |instruction| {
                let (before, others) = stopped_at(
                    instruction,
                    || {},
                    || observer.statistics().sent,
                    || {
                        for number in 0..OTHERS {
                            pipe.send(number).unwrap();
                            lane.send(number).unwrap();
                            exchange.send(number).unwrap();
                            assert_eq!(
                                (pipe_in.recv(), funnel_in.recv(), exchange_in.recv()),
                                (Ok(number), Ok(number), Ok(number))
                            );
                        }
                        assert!(pipe_in.recv_timeout(Duration::from_micros(1)).is_err());
                        assert!(funnel_in.recv_timeout(Duration::from_micros(1)).is_err());
                        assert!(exchange_in.recv_timeout(Duration::from_micros(1)).is_err());
                    },
                );
                assert!(observer.statistics().sent >= before);
                others.is_some()
            });
        }
    });
}
