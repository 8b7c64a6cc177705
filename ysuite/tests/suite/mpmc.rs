//! The exchange: the suites every channel wears, for one sender and one receiver, and what concerns many of them.

use crate::conformance::channel::Kind;
use ysuite::mpmc;

pub(crate) struct Exchange<const CAPACITY: usize>;

impl<const CAPACITY: usize> Kind for Exchange<CAPACITY> {
    type Sender<T: Send + 'static> = mpmc::Sender<T>;
    type Receiver<T: Send + 'static> = mpmc::Receiver<T>;
    const CAPACITY: Option<usize> = Some(CAPACITY);
    const LENGTH_IS_THERE: bool = false;
    const TELLS_ONE: bool = true;
    fn another<T: Send + 'static>(sender: &mpmc::Sender<T>) -> Option<mpmc::Sender<T>> {
        Some(sender.clone())
    }
    fn pair<T: Send + 'static>() -> (mpmc::Sender<T>, mpmc::Receiver<T>) {
        mpmc::bounded(CAPACITY)
    }
}

macro_rules! exchanges {
    ($($name:ident $capacity:expr),* $(,)?) => {
        $(mod $name {
            crate::channel_suite!(super::Exchange<{ $capacity }>);
        })*
    };
}

exchanges!(bounded_1 1, bounded_2 2, bounded_3 3, bounded_7 7, bounded_64 64, bounded_1024 1024);

mod checker;
mod close;
mod edges;
mod force;
mod foreign;
mod histories;
mod linear;
mod many;
mod permits;
mod tasks;
mod waking;
mod weak;
