use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::end::wait;
use crate::pipe;

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
