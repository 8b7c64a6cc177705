//! The stress test of hubs: one or two threads post functions, and send messages that the hub receives, in bursts.
//! After each burst they are silent until all of it has been served. So functions flow while receivers are idle,
//! receivers while no thread posts, and everything is armed before a sleep. In a chase the hub stays awake until the
//! last but one of its messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::Spin;
use ysuite::hub::{Handle, Hub};
use ysuite::iter::Receive;
use ysuite::signal::Attach;
use ysuite::{mpsc, spsc};

use super::{Account, Bursts, Entry, Gaps, Limits, Message, Progress, guard, rounds_with_sleeps};

/// One way of running a hub until it is stopped.
type Run = fn(&mut Hub, &mut Gaps);

struct Ends {
    handle: Handle,
    pipe: spsc::Sender<Message>,
    funnel: mpsc::Sender<Message>,
}

fn stress(name: &'static str, kinds: usize, run: Run) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |seed, account| round(name, kinds, run, seed * 100, account));
}

/// `kinds`: 1 for functions only, 2 with messages of spsc channels, 3 with those of an mpsc channel too.
fn round(name: &'static str, kinds: usize, run: Run, seed: u64, account: &Arc<Account>) {
    let progress = Arc::new(Progress::default());
    guard(name, progress.clone());
    let mut hub = Hub::new().expect("descriptors");
    let (funnel, received) = mpsc::unbounded();
    receive(&mut hub, received, &progress, false);
    let senders = 1 + seed / 100 % 2;
    let bursts = Arc::new(Bursts::of(senders));
    let sending: Vec<_> = (0..senders)
        .map(|who| {
            let (pipe, received) = spsc::unbounded();
            receive(&mut hub, received, &progress, true);
            let ends = Ends { handle: hub.handle(), pipe, funnel: funnel.clone() };
            let (bursts, progress) = (bursts.clone(), progress.clone());
            thread::spawn(move || send_bursts(ends, kinds, Gaps::new(seed + 10 + who), &bursts, &progress))
        })
        .collect();
    let (handle, account) = (hub.handle(), account.clone());
    let running = thread::spawn(move || {
        let (entry, mut gaps) = (Entry::begin(), Gaps::new(seed));
        run(&mut hub, &mut gaps);
        entry.end(&gaps, &account);
    });
    let sent = sending.into_iter().all(|thread| thread.join().is_ok());
    assert!(sent, "{name}: a sending thread has failed");
    handle.stop().expect("a hub");
    assert!(running.join().is_ok(), "{name}: the hub's thread has failed");
    progress.end();
    assert_eq!(progress.arrived.load(Ordering::Acquire), bursts.sent());
}

/// Has the hub count the messages of a receiver; those of one sender come in its order.
fn receive(
    hub: &mut Hub,
    receiver: impl Receive<Message = Message> + Attach + Send + 'static,
    progress: &Arc<Progress>,
    of_one: bool,
) {
    let (progress, mut expected) = (progress.clone(), 0);
    let source = hub.receive(receiver, move |hub, message| {
        let Ok(message) = message else { return };
        assert!(!of_one || message.number == expected, "{} instead of {expected}", message.number);
        expected += 1;
        served(hub, message, &progress);
    });
    assert!(source.is_ok(), "a place for a receiver");
}

fn served(hub: &mut Hub, message: Message, progress: &Progress) {
    hub.set_spin(match message {
        Message { behind: 2.., .. } => Spin::Forever,
        Message { number, behind: 0 } if number % 3 == 0 => Spin::Adaptive,
        _ => Spin::None,
    });
    progress.arrived.fetch_add(1, Ordering::AcqRel);
}

fn send_bursts(mut ends: Ends, kinds: usize, mut gaps: Gaps, bursts: &Bursts, progress: &Arc<Progress>) {
    let called = Arc::new(AtomicU64::new(0));
    let (mut posted, mut piped) = (0, 0);
    for burst in 1..=600 {
        // A chase is of one kind, and long enough for the publisher to choose the free barrier.
        let chase = gaps.random.below(2) == 0;
        let only = chase.then(|| gaps.random.below(kinds));
        let messages = 1 + if chase { 70 + gaps.random.below(60) } else { gaps.random.below(60) } as u64;
        for left in (0..messages).rev() {
            let behind = if chase { left } else { 0 };
            match only.unwrap_or_else(|| gaps.random.below(kinds)) {
                0 => {
                    let (called, progress) = (called.clone(), progress.clone());
                    let message = Message { number: posted, behind };
                    let function = move |hub: &mut Hub| {
                        assert_eq!(called.fetch_add(1, Ordering::Relaxed), message.number);
                        served(hub, message, &progress);
                    };
                    assert!(ends.handle.post(function).is_ok(), "a hub");
                    posted += 1;
                }
                1 => {
                    ends.pipe.send(Message { number: piped, behind }).expect("a receiver");
                    piped += 1;
                }
                _ => ends.funnel.send(Message { number: left, behind }).expect("a receiver"),
            }
            if chase { gaps.breathe() } else { gaps.pass() }
        }
        bursts.end(burst, messages, 1, progress, &mut gaps);
    }
}

fn without_end(hub: &mut Hub, _gaps: &mut Gaps) {
    hub.run().expect("a poller");
}

/// With timers in between (some ring), and time limits (most are longer than the wait).
fn turn_by_turn(hub: &mut Hub, gaps: &mut Gaps) {
    while !hub.is_stopped() {
        if gaps.random.below(8) == 0 {
            hub.after(Duration::from_micros(gaps.random.next() % 3_000), |_| {});
        }
        let limit = match gaps.random.below(8) {
            0 => Some(Duration::from_micros(gaps.random.next() % 60)),
            1 => Some(Duration::from_secs(100)),
            _ => None,
        };
        hub.run_once(limit).expect("a poller");
        gaps.pass();
    }
}

/// The host sleeps, and the hub's descriptor wakes it.
fn by_a_host(hub: &mut Hub, gaps: &mut Gaps) {
    while !hub.is_stopped() {
        let limit = hub.timeout().map(|limit| Timespec::try_from(limit).expect("a short time"));
        match poll(&mut [PollFd::new(&*hub, PollFlags::IN)], limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("{error}"),
        }
        hub.dispatch().expect("a poller");
        gaps.pass();
    }
}

#[test]
fn posted_functions() {
    stress("hub, functions", 1, without_end);
}

#[test]
fn functions_and_messages() {
    stress("hub, functions and messages", 3, without_end);
}

#[test]
fn turns_and_timers() {
    stress("hub, turn by turn", 2, turn_by_turn);
}

#[test]
fn hosted_by_a_loop() {
    stress("hub, in a loop of its host's", 3, by_a_host);
}
