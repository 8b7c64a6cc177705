//! A real-time thread that needs a step of a thread which it has preempted: both have one CPU. The other one can go on only if
//! the real-time thread sleeps; a yield gives the CPU to no thread of lower priority.
//!
//! The kernel watches: it ends the process if a real-time thread has used a fifth of a second without having slept. If
//! real time is not permitted there is nothing to test.
//!
//! Claim: A real-time thread that needs a step of a thread it has preempted sleeps.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use rustix::process::{Resource, Rlimit, setrlimit};
use ysuite::mailbox::{Builder, Crowding};
use ysuite::{mpmc, spsc};

use super::processors::in_real_time;
use super::steps::{everywhere, preempted_at};
use super::support::executor::block_on;
use super::support::guarded;
use super::support::process::{alone, cpus, pin};

/// In microseconds.
const AT_MOST: u64 = 200_000;

/// Runs `test` where it can show something, in a process of its own.
fn watched(test: &str, act: impl FnOnce() + Send + 'static) {
    if !alone(test) {
        return;
    }
    guarded(|| {
        if in_real_time(|| {}).is_none() {
            println!("real time is not permitted here");
            return;
        }
        setrlimit(Resource::Rttime, Rlimit { current: Some(AT_MOST), maximum: Some(AT_MOST) }).unwrap();
        act();
    });
}

/// A thread that is stopped somewhere in `act` may go on, once `urgent` runs as a real-time thread on its CPU. Returns
/// whether it was stopped.
fn urgently<A: Send>(instruction: u64, act: impl FnOnce() -> A + Send, urgent: impl FnOnce()) -> bool {
    let all = cpus();
    let one = &all[..1];
    let (_, stood) = preempted_at(
        instruction,
        || pin(one),
        act,
        |go_on| {
            pin(one);
            in_real_time(|| {
                go_on();
                urgent();
            })
            .expect("it was permitted a moment ago");
            pin(&all);
        },
    );
    stood.is_some()
}

/// Messages that are in the channel.
const FULL: usize = 2;

fn full(held: usize) -> (mpmc::Sender<u64>, mpmc::Receiver<u64>) {
    let (sender, receiver) = mpmc::bounded(FULL + held);
    (0..FULL as u64).for_each(|number| sender.send(number).unwrap());
    (sender, receiver)
}

#[test]
fn a_forced_message_behind_a_receiver() {
    watched("real_time::a_forced_message_behind_a_receiver", || {
        everywhere(67, |instruction| {
            let (sender, receiver) = full(0);
            urgently(instruction, || receiver.try_recv().unwrap(), || _ = sender.force_send(7).unwrap())
        });
    });
}

#[test]
fn a_forced_message_behind_a_sender() {
    watched("real_time::a_forced_message_behind_a_sender", || {
        everywhere(67, |instruction| {
            let (sender, receiver) = full(0);
            receiver.recv().unwrap();
            // The stopped thread has the last cell; the second forced message comes to it.
            let urgent = || (0..2).for_each(|number| _ = sender.force_send(number).unwrap());
            urgently(instruction, || sender.try_send(7).is_ok(), urgent)
        });
    });
}

#[test]
fn a_forced_message_behind_another() {
    watched("real_time::a_forced_message_behind_another", || {
        everywhere(67, |instruction| {
            let (sender, _receiver) = full(0);
            let urgent = || (0..3).for_each(|number| _ = sender.force_send(number).unwrap());
            urgently(instruction, || sender.force_send(7).unwrap(), urgent)
        });
    });
}

#[test]
fn a_permits_message_behind_a_forced_one() {
    watched("real_time::a_permits_message_behind_a_forced_one", || {
        everywhere(67, |instruction| {
            let (sender, _receiver) = full(1);
            let permit = sender.try_reserve().unwrap();
            urgently(instruction, || sender.force_send(7).unwrap(), || permit.send(8).unwrap())
        });
    });
}

#[test]
fn a_mailboxes_message_in_the_oldest_ones_place() {
    watched("real_time::a_mailboxes_message_in_the_oldest_ones_place", || {
        everywhere(67, |instruction| {
            let mut mailbox = Builder::new().bounded(FULL, Crowding::DropOldest).build();
            let address = mailbox.address();
            (0..FULL).for_each(|number| address.send(number).unwrap());
            urgently(
                instruction,
                || _ = mailbox.receive::<usize>(),
                || (0..3).for_each(|_| address.send(7_usize).unwrap()),
            )
        });
    });
}

/// The sender is about to wake the task, which has its message by then, and waits for the next.
#[test]
fn a_task_that_registers_while_it_is_woken() {
    watched("real_time::a_task_that_registers_while_it_is_woken", || {
        everywhere(67, |instruction| {
            let (mut sender, mut receiver) = spsc::bounded(2);
            let mut receiving = pin!(async { [receiver.recv_async().await, receiver.recv_async().await] });
            assert!(receiving.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            let send = || (7..9).for_each(|number| sender.send(number).unwrap());
            urgently(instruction, send, || assert_eq!(block_on(receiving), [Ok(7), Ok(8)]))
        });
    });
}
