use std::thread;

use crate::os::pin;
use crate::{BroadcastReceiver, BroadcastSender};

/// How often a sender looks that is made on the first processor, if its two receivers are made on these.
fn looks(receivers_on: [fn(&[usize]) -> usize; 2]) -> u32 {
    // Threads of their own, as they stay there.
    let sender = thread::spawn(|| {
        pin(|all| all[0]);
        let mut sender = BroadcastSender::<u64>::without_name(8).unwrap();
        let seats = [sender.seat().unwrap(), sender.seat().unwrap()];
        (sender, seats)
    });
    let (mut sender, seats) = sender.join().unwrap();
    let receivers: Vec<_> = receivers_on
        .into_iter()
        .zip(seats)
        .map(|(on, seat)| {
            let receiver = thread::spawn(move || {
                pin(on);
                BroadcastReceiver::<u64>::from_fd(seat).unwrap()
            });
            receiver.join().unwrap()
        })
        .collect();
    sender.serve();
    assert_eq!(sender.receivers(), receivers.len());
    let usual = sender.crowd.looks();
    sender.set_spin(7);
    assert_eq!(sender.crowd.looks(), 7);
    usual
}

/// Claim: The sender of a broadcast sleeps at once if all its receivers run on its own processor, and on no other.
#[test]
fn a_sender_looks_unless_all_receivers_are_on_its_processor() {
    assert_eq!(looks([|all| all[0], |all| all[0]]), 0);
    if thread::available_parallelism().unwrap().get() > 1 {
        assert!(looks([|all| all[0], |all| all[1]]) > 0);
    }
}
