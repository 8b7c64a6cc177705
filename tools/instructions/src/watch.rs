//! `watch`: the newest value.

use std::hint::black_box;

use ysuite::watch;

use crate::operations;

operations! {
    send_and_borrow_and_update(messages) {
        let (sender, mut receiver) = watch::channel(0);
        for value in 1..=messages {
            sender.send(value).unwrap();
            black_box(*receiver.borrow_and_update());
        }
    }
    changed_with_a_value(messages) {
        let (_sender, mut receiver) = watch::channel(0_u64);
        for _ in 0..messages {
            receiver.mark_changed();
            receiver.changed().unwrap();
        }
    }
    has_changed(messages) {
        let (_sender, receiver) = watch::channel(0_u64);
        for _ in 0..messages {
            black_box(receiver.has_changed().unwrap());
        }
    }
}
