//! The mpmc channel: the suites of every channel, for one sender and one receiver, and what concerns many of them.

use crate::conformance::channel::Kind;
use ysuite::mpmc;

/// A channel for that many messages; without a bound where that is 0.
pub(crate) fn of<T>(capacity: usize) -> (mpmc::Sender<T>, mpmc::Receiver<T>) {
    if capacity == 0 { mpmc::unbounded() } else { mpmc::bounded(capacity) }
}

/// Makes two tests of each function: with the capacity it asks for, and without a bound.
macro_rules! with_and_without_a_bound {
    ($($test:ident),* $(,)?) => {
        mod with_a_bound {
            $(#[test] fn $test() { super::$test(true); })*
        }
        mod without_a_bound {
            $(#[test] fn $test() { super::$test(false); })*
        }
    };
}
#[cfg(target_os = "linux")]
pub(crate) use with_and_without_a_bound;

/// An mpmc channel with a capacity, or none.
#[derive(Clone, Copy)]
pub(crate) struct Exchange(pub(crate) Option<usize>);

impl Kind for Exchange {
    type Sender<T: Send + 'static> = mpmc::Sender<T>;
    type Receiver<T: Send + 'static> = mpmc::Receiver<T>;
    const LENGTH_IS_THERE: bool = false;
    const STOPS_EARLY: bool = true;
    const TELLS_ONE: bool = true;
    fn capacity(self) -> Option<usize> {
        self.0
    }
    fn another<T: Send + 'static>(sender: &mpmc::Sender<T>) -> Option<mpmc::Sender<T>> {
        Some(sender.clone())
    }
    fn pair<T: Send + 'static>(self) -> (mpmc::Sender<T>, mpmc::Receiver<T>) {
        self.0.map_or_else(mpmc::unbounded, mpmc::bounded)
    }
}

macro_rules! exchanges {
    ($($name:ident $capacity:expr),* $(,)?) => {
        $(mod $name {
            crate::channel_suite!(super::Exchange($capacity));
        })*
    };
}

exchanges!(
    no_bound None,
    bounded_1 Some(1),
    bounded_2 Some(2),
    bounded_3 Some(3),
    bounded_7 Some(7),
    bounded_64 Some(64),
    bounded_1024 Some(1024),
);

mod bounded_10000 {
    crate::tests_of!(channel::delivery, super::Exchange(Some(10_000)) => great_batches_arrive_whole, capacity_is_exact);
}

mod checker;
mod close;
mod edges;
mod force;
mod foreign;
mod futures;
mod histories;
mod linear;
mod many;
mod permits;
mod tasks;
mod unbounded;
mod waking;
mod weak;
