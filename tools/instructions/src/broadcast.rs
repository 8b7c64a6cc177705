//! `broadcast`: each message is received by every receiver.

use std::hint::black_box;

use ysuite::broadcast;

use crate::{BURST, CAPACITY, operations};

operations! {
    send_and_recv_by_one(messages) {
        let (sender, mut receiver) = broadcast::bounded(CAPACITY);
        for message in 0..messages {
            sender.send(message).unwrap();
            black_box(receiver.recv().unwrap());
        }
    }
    send_and_recv_by_four(messages) {
        let (sender, receiver) = broadcast::bounded(CAPACITY);
        let mut receivers = [receiver.resubscribe(), receiver.resubscribe(), receiver.resubscribe(), receiver];
        for message in 0..messages {
            sender.send(message).unwrap();
            for receiver in &mut receivers {
                black_box(receiver.recv().unwrap());
            }
        }
    }
    send_and_recv_in_bursts(messages) {
        let (sender, mut receiver) = broadcast::bounded(CAPACITY);
        for _ in 0..messages / BURST {
            (0..BURST).for_each(|message| sender.send(message).unwrap());
            for _ in 0..BURST {
                black_box(receiver.recv().unwrap());
            }
        }
    }
    lossy_send_without_receive(messages) {
        let (sender, _receiver) = broadcast::lossy(CAPACITY);
        for message in 0..messages {
            sender.send(message).unwrap();
        }
    }
    try_recv_of_nothing(messages) {
        let (_sender, mut receiver) = broadcast::bounded::<u64>(CAPACITY);
        for _ in 0..messages {
            black_box(receiver.try_recv()).unwrap_err();
        }
    }
}
