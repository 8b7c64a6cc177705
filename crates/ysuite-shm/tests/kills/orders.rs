//! Two processes in each order of their first system calls: one runs to one of them, then the other to one of its own;
//! then the first until it sleeps, and then both. Whatever the order, all messages arrive, and nobody sleeps for ever.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use ysuite_shm::{
    BroadcastError, BroadcastReceiver, BroadcastSender, Error, LoanError, LoanReceiver, LoanSender, TryRecvError,
    WatchReceiver, WatchSender, WorkReceiver, WorkSender, connect,
};

use crate::kinds::{Bytes, Careful, Kind, Pipe, join};
use crate::process::{Child, guard, here};
use crate::{process, remains, watch};

/// More than have room.
const MESSAGES: u64 = 20;
/// Where a process is told to run to its end.
const ALL: u64 = u64::MAX;

/// How an end waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// In a call that blocks.
    Blocks,
    /// As an event loop does: it arms, and waits for its descriptor.
    Polls,
}

fn wait_for(end: &impl AsFd) {
    let mut found = libc::pollfd { fd: end.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives as long as the call.
    unsafe { libc::poll(&raw mut found, 1, -1) };
}

fn send_all<K: Kind>(mut sender: K::Sender, manner: Manner) {
    K::set_spin(&mut sender, 0);
    for message in 0..MESSAGES {
        match manner {
            Manner::Blocks => assert_eq!(K::send(&mut sender, message, Duration::MAX), Ok(())),
            Manner::Polls => {
                while !K::try_send(&mut sender, message) {
                    if K::arm(&mut sender, message) {
                        wait_for(&sender);
                    }
                }
            }
        }
    }
    here();
}

fn receive_all<K: Kind>(mut receiver: K::Receiver, manner: Manner) {
    K::set_receiver_spin(&mut receiver, 0);
    for message in 0..MESSAGES {
        let received = match manner {
            Manner::Blocks => K::recv(&mut receiver, Duration::MAX).unwrap(),
            Manner::Polls => loop {
                if let Some(received) = K::try_recv(&mut receiver).unwrap() {
                    break received;
                }
                if K::arm_receiver(&mut receiver) {
                    wait_for(&receiver);
                }
            },
        };
        assert_eq!(received, message, "in order");
    }
    here();
}

/// A sender, which has a name before its receiver is started, and a receiver, which has said hello before the sender looks.
fn broadcast_pair(manner: Manner) -> [Body; 2] {
    let name = watch::name();
    let to = name.clone();
    let sends = move || {
        let mut sender = BroadcastSender::bind(&to, 8).unwrap();
        here();
        sender.set_spin(0);
        sender.serve();
        assert_eq!(sender.receivers(), 1);
        for message in 0..MESSAGES {
            match manner {
                Manner::Blocks => sender.send(message),
                Manner::Polls => {
                    while sender.try_send(message).is_err() {
                        if sender.arm() {
                            wait_for(&sender);
                        }
                    }
                }
            }
        }
        here();
    };
    let receives = move || {
        let mut receiver = BroadcastReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
        here();
        receiver.set_spin(0);
        for message in 0..MESSAGES {
            let received = match manner {
                Manner::Blocks => receiver.recv(),
                Manner::Polls => loop {
                    match receiver.try_recv() {
                        Err(BroadcastError::Empty) if receiver.arm() => wait_for(&receiver),
                        Err(BroadcastError::Empty) => {}
                        received => break received,
                    }
                },
            };
            assert_eq!(received, Ok(message), "in order");
        }
        here();
    };
    [Box::new(sends), Box::new(receives)]
}

/// As [`broadcast_pair`]: the receiver is told of the last value, whichever it has had before.
fn watch_pair(manner: Manner) -> [Body; 2] {
    let name = watch::name();
    let to = name.clone();
    let sends = move || {
        let mut sender = WatchSender::bind(&to, 0).unwrap();
        here();
        sender.serve();
        assert_eq!(sender.receivers(), 1);
        (1..=MESSAGES).for_each(|value| sender.send(value));
        here();
    };
    let receives = move || {
        let mut receiver = WatchReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
        here();
        receiver.set_spin(0);
        while receiver.latest() != Some(MESSAGES) {
            match manner {
                Manner::Blocks => _ = receiver.recv().unwrap(),
                Manner::Polls => match receiver.try_recv() {
                    Err(TryRecvError::Empty) if receiver.arm() => wait_for(&receiver),
                    received => assert_ne!(received, Err(TryRecvError::Ended(Error::Died))),
                },
            }
        }
        here();
    };
    [Box::new(sends), Box::new(receives)]
}

fn give_all(mut sender: WorkSender<u64>, manner: Manner) {
    sender.set_spin(0);
    sender.serve();
    assert_eq!(sender.workers(), 1);
    for job in 0..MESSAGES {
        match manner {
            Manner::Blocks => sender.send(job).unwrap(),
            Manner::Polls => {
                while sender.try_send(job).is_err() {
                    if sender.arm() {
                        wait_for(&sender);
                    }
                }
            }
        }
    }
    while manner == Manner::Polls && !sender.settle_timeout(Duration::ZERO).unwrap() {
        if sender.arm_to_settle() {
            wait_for(&sender);
        }
    }
    sender.settle().unwrap();
    assert_eq!(sender.finished(), MESSAGES);
    here();
}

fn work_off(mut worker: WorkReceiver<u64>, manner: Manner) {
    worker.set_spin(0);
    let (mut given_back, mut finished) = (std::collections::HashSet::new(), 0);
    while finished < MESSAGES {
        if manner == Manner::Polls && worker.arm() {
            wait_for(&worker);
        }
        let received = match manner {
            Manner::Blocks => Ok(worker.recv().unwrap()),
            Manner::Polls => worker.try_recv(),
        };
        match received {
            Ok(job) if *job % 3 == 0 && given_back.insert(*job) => {}
            Ok(job) => {
                job.finish();
                finished += 1;
            }
            Err(error) => assert_eq!(error, TryRecvError::Empty),
        }
    }
    here();
}

/// As [`broadcast_pair`]. The sender waits for room, and at the end for all jobs; the worker gives each third back once.
fn work_pair(manner: Manner) -> [Body; 2] {
    let name = watch::name();
    let to = name.clone();
    let sends = move || {
        let sender = WorkSender::bind(&to, 3).unwrap();
        here();
        give_all(sender, manner);
    };
    let receives = move || {
        let worker = WorkReceiver::from_fd(connect(&name).unwrap()).unwrap();
        here();
        work_off(worker, manner);
    };
    [Box::new(sends), Box::new(receives)]
}

fn poll_for_loan(sender: &mut LoanSender, is_large: bool) {
    loop {
        match if is_large { sender.try_large(8) } else { sender.try_loan(8) }.map(drop) {
            Ok(()) => return,
            Err(error) => assert_eq!(error, LoanError::Dry),
        }
        if if is_large { sender.arm_large() } else { sender.arm() } {
            wait_for(sender);
        }
    }
}

fn lend_all(mut sender: LoanSender, manner: Manner) {
    sender.set_spin(0);
    sender.serve();
    assert_eq!(sender.receivers(), 1);
    for message in 0..MESSAGES {
        // Each fourth has memory of its own.
        let is_large = message % 4 == 3;
        if manner == Manner::Polls {
            poll_for_loan(&mut sender, is_large);
        }
        let mut loan = if is_large { sender.large(8) } else { sender.loan(8) }.unwrap();
        loan.write(0, &message);
        loan.send().unwrap();
    }
    here();
}

/// As [`broadcast_pair`]. The receiver holds one that it has received until it has the next.
fn loan_pair(manner: Manner) -> [Body; 2] {
    let name = watch::name();
    let to = name.clone();
    let sends = move || {
        let sender = LoanSender::bind(&to, 2, 8).unwrap();
        here();
        lend_all(sender, manner);
    };
    let receives = move || {
        let mut receiver = LoanReceiver::from_fd(connect(&name).unwrap()).unwrap();
        here();
        receiver.set_spin(0);
        let mut held = None;
        for message in 0..MESSAGES {
            let borrowed = match manner {
                Manner::Blocks => receiver.recv().unwrap(),
                Manner::Polls => loop {
                    match receiver.try_recv() {
                        Err(TryRecvError::Empty) if receiver.arm() => wait_for(&receiver),
                        Err(TryRecvError::Empty) => {}
                        received => break received.unwrap(),
                    }
                },
            };
            assert_eq!(borrowed.read(0), Some(message), "in order");
            drop(held.replace(borrowed));
        }
        here();
    };
    [Box::new(sends), Box::new(receives)]
}

/// Where a process has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    Call,
    /// It is about to sleep.
    Sleep,
    End,
}

/// Runs to this number of entries into calls, and returns from them, unless it is about to sleep before.
fn run_to(child: &Child, stops: u64) -> At {
    for _ in 0..stops {
        if !child.to_next_call() {
            return At::End;
        }
        let registers = child.registers();
        let limit = match registers.orig_rax as libc::c_long {
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => registers.r10,
            libc::SYS_poll => registers.rdx,
            _ => 0,
        };
        if limit as i32 == -1 {
            return At::Sleep;
        }
    }
    At::Call
}

/// What a process does; it stops where both begin, and at its end.
type Body = Box<dyn FnOnce()>;

/// A receiver and a sender, as [`attempt`] starts them.
fn pair_of<K: Kind + 'static>(manner: Manner) -> [Body; 2] {
    let (to, from) = K::places();
    let receives = move || {
        let receiver = K::receiver(from).unwrap();
        here();
        receive_all::<K>(receiver, manner);
    };
    let sends = move || {
        let sender = join::<K>(to, || false).unwrap().unwrap();
        here();
        send_all::<K>(sender, manner);
    };
    [Box::new(receives), Box::new(sends)]
}

/// One of two that were started in turn to one of its calls, the other to one of its own, and both on. Whether there are
/// such calls.
fn attempt(bodies: [Body; 2], is_last_first: bool, stops: [u64; 2]) -> [bool; 2] {
    let [one, other] = bodies.map(|body| Child::traced(body).stopped());
    let (first, second) = if is_last_first { (other, one) } else { (one, other) };
    let mut at = [run_to(&first, stops[0]), run_to(&second, stops[1])];
    let are_inside = at.map(|at| at == At::Call);
    if at[0] == At::Call {
        at[0] = run_to(&first, ALL);
    }
    let both = [(first, at[0]), (second, at[1])].map(|(child, at)| {
        if at != At::End {
            child.go_on();
        }
        (child, at)
    });
    for (child, at) in both {
        // Killed then.
        drop(if at == At::End { child } else { child.stopped() });
    }
    are_inside
}

fn orders(bodies: impl Fn() -> [Body; 2], is_last_first: bool, name: &'static str, stride: u64) -> u64 {
    let (mut all, mut first, mut is_inside) = (0, 0, true);
    while is_inside {
        let mut second = 0;
        loop {
            process::now(name, 1_000 * first + second);
            let inside = attempt(bodies(), is_last_first, [first, second]);
            all += 1;
            is_inside = inside[0];
            if !inside[1] {
                break;
            }
            second += stride;
        }
        first += 1;
    }
    all
}

/// `whose`: who is started first, and who then.
fn all_orders(kind: &str, whose: [&str; 2], bodies: fn(Manner) -> [Body; 2], wanted: &str, stride: u64) {
    for (manner, how) in [(Manner::Blocks, "sleep"), (Manner::Polls, "are polled")] {
        for (is_last_first, who) in [(true, whose[1]), (false, whose[0])] {
            let name = format!("{kind}: orders of calls of ends that {how}, the {who} first");
            if name.contains(wanted) {
                guard(300);
                let before = remains::count();
                let orders = orders(|| bodies(manner), is_last_first, name.clone().leak(), stride);
                remains::assert_same(&before, &name);
                println!("{name}: {orders}");
            }
        }
    }
}

/// Not of a funnel: it turns a sender away that says nothing for a second.
pub(crate) fn run(wanted: &str, stride: Option<u64>) {
    let stride = stride.map_or(3, |_| 1);
    all_orders(Pipe::NAME, ["receiver", "sender"], pair_of::<Pipe>, wanted, stride);
    all_orders(Careful::NAME, ["receiver", "sender"], pair_of::<Careful>, wanted, stride);
    all_orders(Bytes::NAME, ["receiver", "sender"], pair_of::<Bytes>, wanted, stride);
    all_orders("broadcast", ["sender", "receiver"], broadcast_pair, wanted, stride);
    all_orders("watch", ["sender", "receiver"], watch_pair, wanted, stride);
    all_orders("work", ["sender", "worker"], work_pair, wanted, stride);
    all_orders("loan", ["sender", "receiver"], loan_pair, wanted, stride);
}
