//! Forked children that have copies of a socket: it does not hang up while one of them lives. A peer is told of an end
//! all the same.

use std::os::fd::OwnedFd;
use std::thread;

use ysuite_shm::{
    BroadcastError, BroadcastReceiver, BroadcastSender, CallError, Caller, Error, Funnel, Listener, LoanReceiver,
    LoanSender, Question, Receiver, Sender, WatchReceiver, WatchSender, WorkReceiver, WorkSender, connect, pipe,
};

use crate::process::{Child, Shared};

/// What a child waits for at its end of a socket, and what the wait has ended with.
type Waits = fn(OwnedFd) -> Error;

fn sends(socket: OwnedFd) -> Error {
    let mut sender = Sender::<u64>::from_fd(socket, 8).unwrap();
    sender.set_spin(0);
    loop {
        if let Err(error) = sender.send(1) {
            return error.1;
        }
    }
}

fn receives(socket: OwnedFd) -> Error {
    let mut receiver = Receiver::<u64>::from_fd(socket).unwrap();
    receiver.set_spin(0);
    receiver.recv().unwrap_err()
}

fn calls(socket: OwnedFd) -> Error {
    let mut caller = Caller::<u64, u64>::from_fd(socket).unwrap();
    caller.set_spin(0);
    match caller.call(1) {
        Err(CallError::Ended(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn watches(socket: OwnedFd) -> Error {
    let mut receiver = WatchReceiver::<u64>::from_fd(socket).unwrap();
    receiver.set_spin(0);
    loop {
        if let Err(error) = receiver.recv() {
            return error;
        }
    }
}

fn hears(socket: OwnedFd) -> Error {
    let mut receiver = BroadcastReceiver::<u64>::from_fd(socket).unwrap();
    receiver.set_spin(0);
    match receiver.recv() {
        Err(BroadcastError::Ended(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn works(socket: OwnedFd) -> Error {
    let mut worker = WorkReceiver::<u64>::from_fd(socket).unwrap();
    worker.set_spin(0);
    worker.recv().map(drop).unwrap_err()
}

fn borrows(socket: OwnedFd) -> Error {
    let mut receiver = LoanReceiver::from_fd(socket).unwrap();
    receiver.set_spin(0);
    receiver.recv().map(drop).unwrap_err()
}

/// Runs `waits` in a child, which has a copy of `end` as well; drops `end` when the child sleeps.
fn told<E>(name: &str, (end, socket): (E, OwnedFd), waits: Waits) {
    let result = Shared::new();
    let child = Child::run(|| {
        let error = waits(socket.try_clone().unwrap());
        result.set(if error == Error::Closed { 1 } else { 2 });
    });
    drop(socket);
    child.until_asleep();
    drop(end);
    child.join();
    assert_eq!(result.get(), 1, "{name}: it has heard of a regular end");
}

/// An end that has said hello, and has not met its peer, is dropped: it has no bell of the peer, which sleeps.
pub(crate) fn unmet_ends() {
    let mut funnel = Funnel::<u64>::without_name().unwrap();
    let (_, socket) = funnel.seat().unwrap();
    told("funnel", (funnel, socket), sends);
    let mut funnel = Funnel::<Question<u64, u64>>::without_name().unwrap();
    let (_, socket) = funnel.seat().unwrap();
    told("funnel of questions", (funnel, socket), calls);
    let mut sender = WatchSender::without_name(1_u64).unwrap();
    let socket = sender.seat().unwrap();
    told("watch", (sender, socket), watches);
    let mut sender = BroadcastSender::<u64>::without_name(8).unwrap();
    let socket = sender.seat().unwrap();
    told("broadcast", (sender, socket), hears);
    let mut sender = WorkSender::<u64>::without_name(8).unwrap();
    let socket = sender.seat().unwrap();
    told("work queue", (sender, socket), works);
    let mut sender = LoanSender::without_name(4, 64).unwrap();
    let socket = sender.seat().unwrap();
    told("loans", (sender, socket), borrows);
    let (sender, mut receiver) = pipe::<u64>(8).unwrap();
    assert!(receiver.try_recv().is_err());
    told("receiver of a pipe", (receiver, sender.into_fd().unwrap()), sends);
    let (mut sender, receiver) = pipe::<u64>(8).unwrap();
    assert!(!sender.is_disconnected());
    told("sender of a pipe", (sender, receiver.into_fd().unwrap()), receives);
}

/// A listener is dropped, of which a child has a copy: those that have connected and were not accepted are told, and
/// nobody else connects.
pub(crate) fn listener() {
    let name = format!("kills-{}-copies", std::process::id());
    let (listener, is_over) = (Listener::bind(&name).unwrap(), Shared::new());
    let child = Child::run(|| {
        while is_over.get() == 0 {
            thread::yield_now();
        }
    });
    let mut receiver = Receiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    receiver.set_spin(0);
    let receiver = thread::spawn(move || receiver.recv());
    drop(listener);
    assert_eq!(receiver.join().unwrap(), Err(Error::Died));
    assert!(connect(&name).is_err());
    is_over.set(1);
    child.join();
}
