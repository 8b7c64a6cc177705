//! `bounded(0)`: two tasks that meet, and nobody to meet.

use std::hint::black_box;

use ysuite::{mpmc, spsc};

use crate::operations;
use crate::polled::first_waits;

operations! {
    spsc_tasks_meet(messages) {
        let (mut sender, mut receiver) = spsc::bounded(0);
        for message in 0..messages {
            let (received, sent) = first_waits(receiver.recv_async(), sender.send_async(message));
            sent.unwrap();
            black_box(received.unwrap());
        }
    }
    mpmc_tasks_meet(messages) {
        let (sender, receiver) = mpmc::bounded(0);
        for message in 0..messages {
            let (received, sent) = first_waits(receiver.recv_async(), sender.send_async(message));
            sent.unwrap();
            black_box(received.unwrap());
        }
    }
    try_send_to_nobody(messages) {
        let (sender, _receiver) = mpmc::bounded(0);
        for message in 0..messages {
            black_box(sender.try_send(message)).unwrap_err();
        }
    }
}
