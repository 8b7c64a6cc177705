//! Two processes in each order of their first system calls: one runs to one of them, then the other to one of its own;
//! then the first until it sleeps, and then both. Whatever the order, all messages arrive, and nobody sleeps for ever.

use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use crate::kinds::{Bytes, Careful, Kind, Pipe, join};
use crate::process::{Child, guard, here};
use crate::{process, remains};

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

/// The first to one of its calls, the second to one of its own, and both on. Whether there are such calls.
fn attempt<K: Kind>(manner: Manner, is_sender_first: bool, stops: [u64; 2]) -> [bool; 2] {
    let (to, from) = K::places();
    let receiver = Child::traced(|| {
        let receiver = K::receiver(from).unwrap();
        here();
        receive_all::<K>(receiver, manner);
    });
    let receiver = receiver.stopped();
    let sender = Child::traced(|| {
        let sender = join::<K>(to, || false).unwrap().unwrap();
        here();
        send_all::<K>(sender, manner);
    });
    let sender = sender.stopped();
    let (first, second) = if is_sender_first { (sender, receiver) } else { (receiver, sender) };
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

fn orders<K: Kind>(manner: Manner, is_sender_first: bool, name: &'static str, stride: u64) -> u64 {
    let (mut all, mut first, mut is_inside) = (0, 0, true);
    while is_inside {
        let mut second = 0;
        loop {
            process::now(name, 1_000 * first + second);
            let inside = attempt::<K>(manner, is_sender_first, [first, second]);
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

fn all_orders<K: Kind>(wanted: &str, stride: u64) {
    for (manner, how) in [(Manner::Blocks, "sleep"), (Manner::Polls, "are polled")] {
        for (is_sender_first, who) in [(true, "sender"), (false, "receiver")] {
            let name = format!("{}: orders of calls of ends that {how}, the {who} first", K::NAME);
            if name.contains(wanted) {
                guard(300);
                let before = remains::count();
                let orders = orders::<K>(manner, is_sender_first, name.clone().leak(), stride);
                remains::assert_same(&before, &name);
                println!("{name}: {orders}");
            }
        }
    }
}

/// Not of a funnel: it turns a sender away that says nothing for a second.
pub(crate) fn run(wanted: &str, stride: Option<u64>) {
    let stride = stride.map_or(3, |_| 1);
    all_orders::<Pipe>(wanted, stride);
    all_orders::<Careful>(wanted, stride);
    all_orders::<Bytes>(wanted, stride);
}
