//! The funnel: which channels wear the suites in `conformance/channel/`, and what concerns this kind only.
#![cfg(not(ysuite_loom))]

#[path = "conformance/channel/mod.rs"]
mod channel;
mod support;

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use channel::{Batching, Kind};
use ysuite::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, Spin, TryRecvError, TrySendError};
use ysuite::mpsc;

channel_ends!(mpsc);
batching_ends!(mpsc);

/// A funnel with a bound for each sender, or none (0).
struct Funnel<const BOUND: usize>;

impl<const BOUND: usize> Kind for Funnel<BOUND> {
    type Sender<T: Send + 'static> = mpsc::Sender<T>;
    type Receiver<T: Send + 'static> = mpsc::Receiver<T>;
    const CAPACITY: Option<usize> = if BOUND == 0 || BOUND == usize::MAX { None } else { Some(BOUND) };
    fn pair<T: Send + 'static>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        if BOUND == 0 { mpsc::unbounded() } else { mpsc::bounded(BOUND) }
    }
    fn asked() -> Option<usize> {
        if BOUND == 0 { None } else { Some(BOUND) }
    }
}

impl<const BOUND: usize> Batching for Funnel<BOUND> {
    type Hiding<T: Send + 'static> = mpsc::Sender<T>;
    type Peeking<T: Send + 'static> = mpsc::Receiver<T>;
    fn batching<T: Send + 'static>() -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        Self::pair()
    }
}

macro_rules! funnels {
    ($($name:ident $bound:expr),* $(,)?) => {
        $(mod $name {
            crate::channel_suite!(super::Funnel<{ $bound }>);
            crate::batching_suite!(super::Funnel<{ $bound }>);
        })*
    };
}

funnels!(unbounded 0, bounded_1 1, bounded_2 2, bounded_7 7, bounded_1024 1024, bounded_usize_max usize::MAX);
