//! What is documented as wait-free takes a bounded number of instructions, whatever the other threads do. They run all
//! the time, a thousand times as fast as the counted thread, so that everything possible happens between two of its
//! instructions. The bounds are for unoptimised code, with much slack: a loop that others keep going has none.
//!
//! And costs that are said not to grow: instructions of one receiver among few and among many.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ysuite::pool::Pool;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

use super::steps::{count, count_with};
use super::support::guarded;
use super::support::process::{alone, cpus, pin};
use super::{is_long, messages};

/// The most instructions of a call, in code that is not optimised.
const BOUND: u64 = 20_000;

/// Calls `counted` this many times, each time counting, while each of `others` is called again and again by a thread of
/// its own. Fails if a call had more instructions than the bound.
#[track_caller]
fn bounded_among(times: u64, others: &[&(dyn Fn() + Sync)], mut counted: impl FnMut() -> u64) {
    let over = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        for other in others {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Acquire) {
                    other();
                }
            });
        }
        let most = (0..times).map(|_| counted()).max();
        over.store(true, Ordering::Release);
        most
    });
    let most = most.expect("some calls");
    assert!(most > 10 && most <= BOUND, "a call had {most} instructions");
}

/// The other handle of a channel of one thread, lent to the thread that goes on.
struct Lent<T>(std::sync::Mutex<T>);

impl<T> Lent<T> {
    fn new(end: T) -> Self {
        Self(std::sync::Mutex::new(end))
    }

    /// Does something with it, with any result.
    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) {
        drop(Some(act(&mut self.0.lock().expect("no panic"))));
    }
}

const TIMES: u64 = 12;

/// Claim: `spsc` and `mpsc` sends are wait-free: their number of steps does not depend on the other side (measured in
/// instructions, with a wide bound).
#[test]
fn sends_of_spsc_and_mpsc_channels() {
    guarded(|| {
        let (mut sender, receiver) = spsc::bounded(64);
        let receiver = Lent::new(receiver);
        let mut number = 0_u64;
        bounded_among(messages(TIMES), &[&|| receiver.with(|receiver| receiver.try_recv())], || {
            number += 1;
            match number % 4 {
                0 => count(|| sender.try_send(number)).1,
                1 => count(|| sender.write(number)).1 + count(|| sender.flush()).1,
                2 => count(|| sender.unwrite()).1 + count(|| sender.is_empty()).1,
                // A batch is sent where there is room for it: this thread alone takes room away.
                _ if sender.len() < 60 => count(|| sender.send_batch([number, number])).1,
                _ => count(|| sender.try_reserve().is_ok()).1,
            }
        });
        let (mut sender, mut receiver) = mpsc::bounded(8);
        let mut other = sender.clone();
        // "Wait-free" does not count the allocator, which makes each lane's room.
        for number in 0..32 {
            sender.send(number).unwrap();
            other.send(number).unwrap();
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(number), Ok(number)));
        }
        let receiver = Lent::new(receiver);
        let another = Lent::new(other.clone());
        let crowd: [&(dyn Fn() + Sync); 2] = [&|| receiver.with(|receiver| receiver.try_recv()), &|| {
            another.with(|sender| sender.try_send(1));
        }];
        bounded_among(messages(TIMES), &crowd, || {
            let one = count(|| sender.try_send(number)).1;
            one + count(|| other.try_send(number)).1
        });
    });
}

/// Claim: `spsc` receives are wait-free: their number of steps does not depend on the sender (measured in
/// instructions).
#[test]
fn receives_of_a_pipe() {
    guarded(|| {
        let (sender, mut receiver) = spsc::bounded(64);
        let sender = Lent::new(sender);
        let mut number = 0_u64;
        bounded_among(messages(TIMES), &[&|| sender.with(|sender| sender.try_send(7_u64))], || {
            number += 1;
            match number % 4 {
                // It would wait for one.
                0 if !receiver.is_empty() => count(|| receiver.recv()).1,
                0 | 1 => count(|| receiver.try_recv()).1,
                2 => count(|| receiver.peek().is_some()).1,
                _ => count(|| receiver.len()).1,
            }
        });
    });
}

/// Claim: A oneshot `send` and the drop of its sender are wait-free.
#[test]
fn a_oneshots_send_and_its_senders_end() {
    guarded(|| {
        let waits = Lent::new(None::<oneshot::Receiver<u64>>);
        let look = || {
            waits.with(|receiver| {
                if receiver.as_mut().is_some_and(|receiver| receiver.try_recv().is_ok()) {
                    *receiver = None;
                }
            });
        };
        let mut number = 0;
        bounded_among(messages(TIMES), &[&look], || {
            let (sender, receiver) = oneshot::channel();
            waits.with(|place| *place = Some(receiver));
            number += 1;
            if number % 2 == 0 { count(|| sender.send(number)).1 } else { count(|| drop(sender)).1 }
        });
        // To one that sleeps, or is about to: a system call more.
        bounded_among(messages(TIMES), &[], || {
            let (sender, receiver) = oneshot::channel();
            let thread = thread::spawn(move || receiver.recv());
            let (sent, steps) = count(|| sender.send(7));
            sent.expect("a receiver");
            assert_eq!(thread.join().expect("no panic"), Ok(7));
            steps
        });
    });
}

/// Claim: Signalling is wait-free on a word.
#[test]
fn signals_on_a_word() {
    guarded(|| {
        let semaphore = YSemaphore::new();
        let (signaler, other) = (semaphore.signaler(), semaphore.signaler());
        let semaphore = Lent::new(semaphore);
        bounded_among(
            messages(TIMES),
            &[&|| semaphore.with(|semaphore| drop(semaphore.check())), &|| other.signal(0)],
            || count(|| signaler.signal(0)).1,
        );
        for capacity in [31, 4096] {
            let set = YPollset::with_capacity(capacity);
            let (signaler, other) = (set.signaler(), set.signaler());
            let set = Lent::new(set);
            let crowd: [&(dyn Fn() + Sync); 2] =
                [&|| set.with(|set| set.check().count()), &|| other.signal(capacity - 1)];
            bounded_among(messages(TIMES), &crowd, || count(|| signaler.signal(capacity - 2)).1);
        }
    });
}

/// Not documented as wait-free, but bounded: a descriptor is written once for each sleep.
///
/// Claim: Signalling is lock-free on a descriptor.
#[test]
fn signals_on_a_descriptor() {
    guarded(|| {
        let set = YSocketpair::with_capacity(31).unwrap();
        let (signaler, other) = (set.signaler(), set.signaler());
        let set = Lent::new(set);
        let crowd: [&(dyn Fn() + Sync); 2] = [&|| set.with(|set| set.check().count()), &|| other.signal(30)];
        bounded_among(messages(TIMES), &crowd, || count(|| signaler.signal(29)).1);
    });
}

/// Claim: `len`, `is_empty`, `is_full` and `sender_count` of `mpmc` are wait-free under contention.
#[test]
fn polls_of_an_mpmc_channel_under_a_crowd() {
    guarded(|| {
        for bound in [Some(3), None] {
            let (sender, receiver) = bound.map_or_else(mpmc::unbounded, mpmc::bounded);
            let turn = std::cell::Cell::new(0);
            // Both positions move, and the handles are counted up and down: none of it allocates in the middle of a
            // check.
            let crowd = || {
                turn.set(turn.get() + 1);
                match turn.get() % 3 {
                    0 => drop(sender.clone()),
                    1 => assert!(sender.try_send(1).is_ok()),
                    _ => assert!(receiver.try_recv().is_ok()),
                }
            };
            for _ in 0..3 {
                let looks: [&dyn Fn() -> usize; 4] = [
                    &|| sender.len(),
                    &|| usize::from(receiver.is_empty()),
                    &|| usize::from(sender.is_full()),
                    &|| receiver.sender_count(),
                ];
                for look in looks {
                    let (_, alone) = count(look);
                    let (_, crowded) = count_with(&crowd, look);
                    assert!(crowded <= alone + 100, "{crowded} instructions in a crowd, {alone} alone");
                }
            }
        }
    });
}

#[test]
fn a_look_at_a_watch() {
    guarded(|| {
        let (sender, mut receiver) = watch::channel(0_u64);
        for _ in 0..3 {
            // There is a value for it, and always another.
            receiver.mark_changed();
            let (_, alone) = count(|| (receiver.has_changed().is_ok(), receiver.changed().is_ok()));
            receiver.mark_changed();
            let change = || sender.send_modify(|value| *value += 1);
            let (_, crowded) = count_with(&change, || (receiver.has_changed().is_ok(), receiver.changed().is_ok()));
            assert!(crowded <= alone + 100, "{crowded} instructions among changes, {alone} alone");
        }
    });
}

/// Claim: Allocating and freeing within the magazine of a thread is wait-free.
#[test]
fn a_block_at_hand_in_a_pool() {
    guarded(|| {
        let pool = Pool::new(&[(16, 300)]).unwrap();
        // This thread's magazine has some, and room for some: the others search the depot, and other magazines.
        drop((0..20).map(|_| pool.take(9)).collect::<Vec<_>>());
        let crowd = || drop((0..9).filter_map(|_| pool.try_take(9)).collect::<Vec<_>>());
        bounded_among(messages(TIMES), &[&crowd, &crowd], || {
            let (block, steps) = count(|| pool.try_take(9));
            let block = block.expect("one at hand");
            steps + count(|| drop(block)).1
        });
    });
}

/// The instructions of each receive, among this many receivers; and of each send.
fn broadcast_among(receivers: usize, laps: usize) -> (Vec<u64>, Vec<u64>) {
    const CAPACITY: usize = 4;
    let (sender, mut receiver) = broadcast::bounded(CAPACITY);
    let mut others: Vec<_> = (1..receivers).map(|_| receiver.clone()).collect();
    let (mut receives, mut sends) = (Vec::new(), Vec::new());
    for _ in 0..laps {
        for number in 0..CAPACITY {
            sends.push(count(|| sender.try_send(number)).1);
        }
        for _ in 0..CAPACITY {
            receives.push(count(|| receiver.try_recv()).1);
            // The slowest is at the end of the lap as well.
            others.iter_mut().for_each(|other| assert!(other.try_recv().is_ok()));
        }
    }
    (receives, sends)
}

/// A receiver's way is as long among forty as among four. A sender checks all receivers once for each lap, and every
/// other send is as long as among four.
///
/// Claim: The steps of a broadcast receive do not depend on the number of receivers. A sender scans all cursors once
/// per lap.
#[test]
fn a_broadcast_to_few_and_to_many() {
    if !alone("wait_free::a_broadcast_to_few_and_to_many") {
        return;
    }
    pin(&cpus()[..1]);
    const LAPS: usize = 3;
    let ((few_receives, few_sends), (many_receives, many_sends)) =
        (broadcast_among(4, LAPS), broadcast_among(40, LAPS));
    let most = |steps: &[u64]| steps.iter().copied().max().expect("some");
    let usual = |steps: &[u64]| {
        let mut steps = steps.to_vec();
        steps.sort_unstable();
        steps[steps.len() / 2]
    };
    // Both get quicker while no sleeper is found, so those of later laps may have fewer.
    assert!(usual(&many_receives) <= usual(&few_receives), "{many_receives:?} after {few_receives:?}");
    assert!(most(&many_receives) <= most(&few_receives) + 50, "{} after {}", most(&many_receives), most(&few_receives));
    assert!(usual(&many_sends) <= usual(&few_sends), "{many_sends:?} after {few_sends:?}");
    let long = many_sends.iter().filter(|&&steps| steps > most(&few_sends)).count();
    assert!((1..=LAPS).contains(&long), "{long} sends of {LAPS} laps have checked all receivers");
    if is_long() {
        println!("receive {}, send {}, with a check {}", usual(&many_receives), usual(&many_sends), most(&many_sends));
    }
}
