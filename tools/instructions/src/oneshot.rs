//! `oneshot`: each message has a channel of its own, made and dropped with it.

use std::hint::black_box;

use ysuite::oneshot;

use crate::operations;
use crate::polled::first_waits;

operations! {
    made_sent_and_received(messages) {
        for message in 0..messages {
            let (sender, receiver) = oneshot::channel();
            sender.send(message).unwrap();
            black_box(receiver.recv().unwrap());
        }
    }
    made_awaited_and_sent(messages) {
        for message in 0..messages {
            let (sender, receiver) = oneshot::channel();
            let (received, sent) = first_waits(receiver, async move { sender.send(message) });
            sent.unwrap();
            black_box(received.unwrap());
        }
    }
    made_and_dropped(messages) {
        for _ in 0..messages {
            drop(black_box(oneshot::channel::<u64>()));
        }
    }
}
