//! The pool: blocks that are allocated and freed.

use std::hint::black_box;

use ysuite::pool::Pool;

use crate::operations;

operations! {
    taken_and_given_back(messages) {
        let pool = Pool::new(&[(64, 1_024)]).unwrap();
        for _ in 0..messages {
            drop(black_box(pool.take(48)));
        }
    }
    boxed_and_dropped(messages) {
        let pool = Pool::new(&[(64, 1_024)]).unwrap();
        for message in 0..messages {
            drop(black_box(pool.boxed(message)));
        }
    }
    try_take_of_nothing(messages) {
        let pool = Pool::new(&[(64, 1)]).unwrap();
        let all: Vec<_> = std::iter::from_fn(|| pool.try_take(48)).collect();
        for _ in 0..messages {
            assert!(black_box(pool.try_take(48)).is_none());
        }
        drop(all);
    }
}
