//! `bounded(0)`: a rendezvous of two tasks, and a send without a receiver.

use std::hint::black_box;

use ysuite::{mpmc, spsc};

use crate::operations;
use crate::polled::first_waits;

operations! {
    spsc_between_tasks(messages) {
        let (mut sender, mut receiver) = spsc::bounded(0);
        for message in 0..messages {
            let (received, sent) = first_waits(receiver.recv_async(), sender.send_async(message));
            sent.unwrap();
            black_box(received.unwrap());
        }
    }
    mpmc_between_tasks(messages) {
        let (sender, receiver) = mpmc::bounded(0);
        for message in 0..messages {
            let (received, sent) = first_waits(receiver.recv_async(), sender.send_async(message));
            sent.unwrap();
            black_box(received.unwrap());
        }
    }
    mpmc_made_and_dropped(messages) {
        for _ in 0..messages {
            drop(black_box(mpmc::bounded::<u64>(0)));
        }
    }
    try_send_without_receiver(messages) {
        let (sender, _receiver) = mpmc::bounded(0);
        for message in 0..messages {
            black_box(sender.try_send(message)).unwrap_err();
        }
    }
}
