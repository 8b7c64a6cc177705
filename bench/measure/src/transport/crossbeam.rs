//! `crossbeam-channel`: `unbounded()` and `bounded(1024)`, both with a blocking `recv`.
//!
//! ```text
//!   sender thread   send ----> blocks of slots, or a ring of 1,024 ----> recv   receiver thread
//! ```

use crossbeam_channel as crossbeam;

use super::channels::{blocking, channels};
use super::{Ends, Traits, ends_by_cloning};

const COMMON: Traits = Traits { senders: Ends::Many, receivers: Ends::Many, ..Traits::COMMON };

channels! { of crossbeam:
    Unbounded: "crossbeam-unbounded", "crossbeam-channel without a bound", { ..COMMON }, crossbeam::unbounded();
    Bounded: "crossbeam-bounded", "crossbeam-channel with room for 1,024 messages",
        { bounded: true, ..COMMON }, crossbeam::bounded(1024);
}
ends_by_cloning!(both: Unbounded, Bounded);
blocking!(send: crossbeam::Sender<M>; recv: crossbeam::Receiver<M>);
