//! `crossfire`: the blocking interface of its `spsc`, `mpsc` and `mpmc`.
//!
//! Arrays or linked blocks derived from crossbeam's. A thread that has to wait pauses and yields some ten times, longer
//! each time, and then parks. The documentation recommends the module that fits the numbers of handles, since each is
//! made for its own. It also recommends a call of `detect_backoff_cfg` at the start, which matters where the program
//! has one CPU. The call affects the whole program, so it comes before the first channel.

use ::crossfire::{MRx, MTx, Rx, Tx, detect_backoff_cfg, mpmc, mpsc, spsc};
use ybench_measure::ends_by_cloning;
use ybench_measure::transport::spinning::places;
use ybench_measure::transport::{Ends, Traits};

use crate::end::{blocking, channels};

const COMMON: Traits = crate::COMMON;

pub(crate) fn detected<C>(open: impl FnOnce() -> C) -> C {
    // Does nothing the second time.
    detect_backoff_cfg();
    open()
}

channels! {
    SpscUnbounded: "crossfire-spsc", "crossfire's spsc without a bound", {},
        Tx<spsc::List<M>>, Rx<spsc::List<M>>, detected(spsc::unbounded_blocking);
    SpscBounded: "crossfire-spsc-1k", "crossfire's spsc with room for 1,024 messages", { bounded: true, },
        Tx<spsc::Array<M>>, Rx<spsc::Array<M>>, detected(|| spsc::bounded_blocking(1_024));
    SpscRoomy: "crossfire-spsc-64k", "crossfire's spsc with room for 65,536 messages", { bounded: true, variant: true, },
        Tx<spsc::Array<M>>, Rx<spsc::Array<M>>, detected(|| spsc::bounded_blocking(places::<M>(65_536)));
    MpscUnbounded: "crossfire-mpsc", "crossfire's mpsc without a bound", { senders: Ends::Many, },
        MTx<mpsc::List<M>>, Rx<mpsc::List<M>>, detected(mpsc::unbounded_blocking);
    MpscBounded: "crossfire-mpsc-1k", "crossfire's mpsc with room for 1,024 messages",
        { senders: Ends::Many, bounded: true, },
        MTx<mpsc::Array<M>>, Rx<mpsc::Array<M>>, detected(|| mpsc::bounded_blocking(1_024));
    MpmcUnbounded: "crossfire-mpmc", "crossfire's mpmc without a bound", { senders: Ends::Many, receivers: Ends::Many, },
        MTx<mpmc::List<M>>, MRx<mpmc::List<M>>, detected(mpmc::unbounded_blocking);
    MpmcBounded: "crossfire-mpmc-1k", "crossfire's mpmc with room for 1,024 messages",
        { senders: Ends::Many, receivers: Ends::Many, bounded: true, },
        MTx<mpmc::Array<M>>, MRx<mpmc::Array<M>>, detected(|| mpmc::bounded_blocking(1_024));
    MpmcRoomy: "crossfire-mpmc-64k", "crossfire's mpmc with room for 65,536 messages",
        { senders: Ends::Many, receivers: Ends::Many, bounded: true, variant: true, },
        MTx<mpmc::Array<M>>, MRx<mpmc::Array<M>>, detected(|| mpmc::bounded_blocking(places::<M>(65_536)));
}
ends_by_cloning!(senders: MpscUnbounded, MpscBounded);
ends_by_cloning!(both: MpmcUnbounded, MpmcBounded, MpmcRoomy);
blocking!(
    send: Tx<spsc::List<M>>, Tx<spsc::Array<M>>, MTx<mpsc::List<M>>, MTx<mpsc::Array<M>>, MTx<mpmc::List<M>>,
        MTx<mpmc::Array<M>>;
    // That of an mpsc's list is of the same type.
    recv: Rx<spsc::List<M>>, Rx<spsc::Array<M>>, Rx<mpsc::Array<M>>, MRx<mpmc::List<M>>,
        MRx<mpmc::Array<M>>
);
