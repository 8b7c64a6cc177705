//! `select()`, called anew for each message, and `ReadySet`, which is reused.

use std::hint::black_box;

use ysuite::{mpsc, signal, spsc};

use crate::operations;

operations! {
    anew_over_two(messages) {
        let (mut sender, mut one) = spsc::unbounded();
        let (_other_sender, mut two) = mpsc::unbounded();
        for message in 0..messages {
            sender.send(message).unwrap();
            black_box(ysuite::select().recv(&mut one, |one| one.unwrap()).recv(&mut two, |two| two.unwrap()).wait());
        }
    }
    anew_over_two_with_nothing(messages) {
        let (_sender, mut one) = spsc::unbounded::<u64>();
        let (_other_sender, mut two) = mpsc::unbounded::<u64>();
        for _ in 0..messages {
            let none = ysuite::select().recv(&mut one, |one| one.unwrap()).recv(&mut two, |two| two.unwrap()).try_now();
            assert!(black_box(none).is_none());
        }
    }
    kept_over_two(messages) {
        let (mut sender, mut one) = spsc::unbounded();
        let (_other_sender, mut two) = mpsc::unbounded::<u64>();
        let mut select = signal::ReadySet::new();
        select.add(&mut one).unwrap();
        select.add(&mut two).unwrap();
        for message in 0..messages {
            sender.send(message).unwrap();
            black_box(select.wait());
            black_box(one.try_recv().unwrap());
        }
    }
}
