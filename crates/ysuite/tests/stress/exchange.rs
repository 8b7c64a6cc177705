//! The stress test for wake-ups lost in the mpmc channel: bursts from several senders to several receivers, and after
//! each burst silence until all of it has arrived. Bursts are long enough for the publishers to give up their fences,
//! and now and then a waiter leaves after it was notified. Then histories, as many as there is time for, checked one by
//! one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use ysuite::mpmc::{self, Receiver};
use ysuite::signal::{Wait, YPollset, YSocketpair};
use ysuite::{RecvTimeoutError, SendTimeoutError};

use super::histories::{Large, Script, closing_history, histories};
use super::support::executor::{Task, poll_once};
use super::{
    Account, Bursts, Entry, Gaps, Limits, Progress, block_on, goes_on, guard, is_long, rounds_with_sleeps,
    send_by_all_ways, time,
};

/// One way of receiving all messages; calls the function for each.
type Receive = fn(Receiver<u64>, &mut Gaps, &mut dyn FnMut());

/// A stress test, by its numbers of senders and receivers and its capacity; 0 is no bound.
#[derive(Clone, Copy)]
struct Stress {
    name: &'static str,
    senders: u64,
    receivers: u64,
    capacity: usize,
    receive: Receive,
}

impl Stress {
    fn run(self) {
        rounds_with_sleeps(self.name, Limits::ONE_ROUND, |seed, account| self.round(seed, account));
    }

    fn round(self, seed: u64, account: &Arc<Account>) {
        let progress = Arc::new(Progress::default());
        guard(self.name, progress.clone());
        let (sender, receiver) = if self.capacity == 0 { mpmc::unbounded() } else { mpmc::bounded(self.capacity) };
        let receiving: Vec<_> = (0..self.receivers)
            .map(|who| {
                let (receiver, counted, account) = (receiver.clone(), progress.clone(), account.clone());
                thread::spawn(move || {
                    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + who));
                    (self.receive)(receiver, &mut gaps, &mut || {
                        counted.arrived.fetch_add(1, Ordering::AcqRel);
                    });
                    entry.end(&gaps, &account);
                })
            })
            .collect();
        drop(receiver);
        let bursts = Arc::new(Bursts::of(self.senders));
        let sending: Vec<_> = (0..self.senders)
            .map(|who| {
                let (sender, counted, account) = (sender.clone(), progress.clone(), account.clone());
                let bursts = bursts.clone();
                thread::spawn(move || {
                    let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed * 100 + 50 + who));
                    for burst in 1..=400 {
                        let messages = 1 + gaps.random.below(130) as u64;
                        send_by_all_ways!(sender, messages, gaps);
                        bursts.end(burst, messages, 1, &counted, &mut gaps);
                    }
                    entry.end(&gaps, &account);
                })
            })
            .collect();
        drop(sender);
        let ended = sending.into_iter().chain(receiving).all(|thread| thread.join().is_ok());
        progress.end();
        assert!(ended, "{}: a thread has failed", self.name);
        assert_eq!(progress.arrived.load(Ordering::Acquire), bursts.sent());
    }
}

fn blocking(receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut()) {
    while receiver.recv().is_ok() {
        note();
        gaps.pass();
        receiver.set_spin(gaps.spin());
    }
}

/// Leaves again and again: by time-outs, by dropped futures, by dropped receivers whose task or set waits.
fn leaving(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut()) {
    let mut batch = Vec::new();
    loop {
        match gaps.random.below(5) {
            0 => {
                let mut future = Box::pin(receiver.recv_async());
                match poll_once(&mut future, &Task::default()) {
                    std::task::Poll::Ready(Ok(_)) => note(),
                    std::task::Poll::Ready(Err(_)) => return,
                    std::task::Poll::Pending => gaps.pass(),
                }
            }
            1 => {
                let mut clone = receiver.clone();
                let mut set = YPollset::new();
                set.attach(&mut clone, 5).expect("a free id");
                if clone.try_recv().is_ok() {
                    note();
                }
                gaps.pass();
            }
            2 => {
                let again = receiver.clone();
                drop(std::mem::replace(&mut receiver, again));
                match receiver.poll_recv(&mut std::task::Context::from_waker(&Task::default().waker())) {
                    std::task::Poll::Ready(Ok(_)) => note(),
                    std::task::Poll::Ready(Err(_)) => return,
                    std::task::Poll::Pending => gaps.pass(),
                }
            }
            3 => match receiver.recv_batch(&mut batch, 1 + gaps.random.below(20)) {
                Ok(_) => batch.drain(..).for_each(|_| note()),
                Err(_) => return,
            },
            _ => match receiver.recv_timeout(Duration::from_micros(gaps.random.next() % 60)) {
                Ok(_) => note(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            },
        }
    }
}

fn tasks(receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut()) {
    while block_on(receiver.recv_async()).is_ok() {
        note();
        gaps.pass();
    }
}

/// Each receiver is in a set of its own; some sets have a descriptor.
fn attached(mut receiver: Receiver<u64>, gaps: &mut Gaps, note: &mut dyn FnMut()) {
    let mut set: Box<dyn Wait> = if gaps.random.below(2) == 0 {
        let mut set = YPollset::new();
        set.attach(&mut receiver, 3).expect("a free id");
        Box::new(set)
    } else {
        let mut set = YSocketpair::new().expect("descriptors");
        set.attach(&mut receiver, 3).expect("a free id");
        Box::new(set)
    };
    loop {
        assert!(set.wait().eq([3]));
        for _ in 0..1 + gaps.random.below(30) {
            match receiver.try_recv() {
                Ok(_) => note(),
                Err(error) if error.is_empty() => break,
                Err(_) => return,
            }
            gaps.pass();
        }
    }
}

#[test]
fn two_by_two() {
    Stress { name: "mpmc, 2 by 2", senders: 2, receivers: 2, capacity: 64, receive: blocking }.run();
}

#[test]
fn three_by_three_with_few_places() {
    Stress { name: "mpmc, 3 by 3, little room", senders: 3, receivers: 3, capacity: 2, receive: blocking }.run();
}

#[test]
fn three_by_three_without_a_bound() {
    Stress { name: "mpmc, 3 by 3, no bound", senders: 3, receivers: 3, capacity: 0, receive: blocking }.run();
}

#[test]
fn receivers_that_leave_without_a_bound() {
    Stress { name: "mpmc, receivers that leave, no bound", senders: 2, receivers: 3, capacity: 0, receive: leaving }
        .run();
}

#[test]
fn sets_share_without_a_bound() {
    Stress { name: "mpmc, sets, no bound", senders: 2, receivers: 3, capacity: 0, receive: attached }.run();
}

#[test]
fn receivers_that_leave() {
    Stress { name: "mpmc, receivers that leave", senders: 2, receivers: 3, capacity: 100, receive: leaving }.run();
}

#[test]
fn tasks_share() {
    Stress { name: "mpmc, tasks", senders: 1, receivers: 3, capacity: 7, receive: tasks }.run();
}

#[test]
fn sets_share() {
    Stress { name: "mpmc, sets", senders: 2, receivers: 3, capacity: 20, receive: attached }.run();
}

#[test]
fn histories_are_linearizable() {
    let (rounds, start, mut turns) = (histories_of_a_turn(), Instant::now(), 0);
    while goes_on(turns, 1, 1, start) {
        for (threads, operations) in [(2, 8), (3, 6)] {
            for capacity in 0..=4 {
                for forces in [false, true] {
                    let seed = 100_000 * turns + 1_000 * threads as u64 + 10 * u64::from(forces) + capacity as u64;
                    histories::<u64>(Script { threads, capacity, operations, forces }, rounds as usize, seed);
                }
            }
            let script = Script { threads, capacity: 0, operations, forces: false };
            histories::<Large>(script, rounds as usize, 100_000 * turns + threads as u64);
        }
        turns += 1;
    }
    let operations = turns * 11 * rounds * (4 * 8 + 6 * 6);
    println!("mpmc: {operations} operations in linearizable histories");
}

/// How many histories of each script a turn has; there is one turn, unless it is to go on for a time.
fn histories_of_a_turn() -> u64 {
    if is_long() && time().is_none() { 60_000 } else { 200 }
}

#[test]
fn histories_of_channels_that_are_closed_are_linearizable() {
    let (rounds, start, mut turns) = (histories_of_a_turn(), Instant::now(), 0);
    while goes_on(turns, 1, 1, start) {
        for seed in turns * rounds..(turns + 1) * rounds {
            let script = Script { threads: 2, capacity: 1 + seed as usize % 4, operations: 6, forces: seed % 8 < 4 };
            closing_history::<u64>(script, seed + 5_000);
        }
        turns += 1;
    }
    println!("mpmc: {} linearizable histories of channels that are closed", turns * rounds);
}
