use core::time::Duration;
use std::os::fd::AsFd;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::end::wait;
use crate::os::pin;
use crate::{Receiver, Sender, pipe};

/// Claim: A peer that says hello just when an end goes to sleep wakes it by what it does next.
#[test]
fn a_hello_behind_the_last_look_is_not_slept_through() {
    let (mut sender, mut receiver) = pipe::<u64>(8).unwrap();
    (0..8).for_each(|message| sender.try_send(message).unwrap());
    sender.set_spin(0);
    let position = sender.writer.position();
    let mut looks = 0;
    let outcome = wait(&mut sender.outlet, None, |outlet| {
        looks += 1;
        // The first look is before it says that it sleeps, the second behind.
        if looks != 2 {
            return (outlet.refresh(position) > 0).then_some(());
        }
        assert!(!receiver.arm(), "it says hello, and has heard one");
        assert_eq!(outlet.refresh(position), 0);
        assert_eq!(receiver.try_recv(), Ok(0));
        let mut told = [PollFd::from_borrowed_fd(outlet.end.as_fd(), PollFlags::IN)];
        assert_eq!(poll(&mut told, Some(&Timespec::default())), Ok(1), "nothing would end its sleep");
        None
    });
    assert!(outcome.is_ok(), "{:?}", outcome.unwrap_err());
}

/// How often a sender looks that is made on one processor, if its receiver is made on another one.
fn looks(sender_on: fn(&[usize]) -> usize, receiver_on: fn(&[usize]) -> usize) -> u32 {
    let (one, other) = crate::os::pair().unwrap();
    // Threads of their own, as they stay there.
    let receiver = thread::spawn(move || {
        pin(receiver_on);
        Receiver::<u64>::from_fd(other).unwrap()
    });
    let mut receiver = receiver.join().unwrap();
    let sender = thread::spawn(move || {
        pin(sender_on);
        Sender::<u64>::from_fd(one, 8).unwrap()
    });
    let mut sender = sender.join().unwrap();
    assert!(sender.try_send(0).is_ok() && receiver.try_recv().is_ok() && sender.try_send(1).is_ok());
    assert_eq!(sender.meet_timeout(Duration::MAX), Ok(true));
    let usual = sender.outlet.end.looks();
    sender.set_spin(7);
    assert_eq!(sender.outlet.end.looks(), 7);
    usual
}

/// Claim: An end whose peer runs on the same processor, and on no other, sleeps at once, unless the program asks for looks.
#[test]
fn an_end_does_not_look_for_a_peer_on_its_own_processor() {
    assert_eq!(looks(|all| all[0], |all| all[0]), 0);
    if thread::available_parallelism().unwrap().get() > 1 {
        assert!(looks(|all| all[0], |all| all[1]) > 0);
    }
    let (sender, _receiver) = pipe::<u64>(8).unwrap();
    assert!(sender.outlet.end.looks() > 0, "not known yet");
}
