//! **ypipe**: a wait-free queue for one writer and one reader, with passive synchronisation.
//!
//! A reader that finds nothing *arms* the queue and sleeps by any means. The writer learns at its next
//! [`flush`](Writer::flush) that the reader sleeps, and only then wakes it. The queue itself never sleeps and never
//! wakes a thread: [`crate::spsc`] joins it to a way of sleeping, and so can you, with any [signaler](crate::signal):
//!
//! ```
//! use ysuite::queue::ypipe;
//! use ysuite::signal::{Signal, Wait, YSemaphore};
//!
//! let (mut writer, mut reader) = ypipe::unbounded();
//! let mut asleep = YSemaphore::new();
//! let signaler = asleep.signaler();
//!
//! let thread = std::thread::spawn(move || {
//!     for number in 0..1000 {
//!         writer.write(number).expect("an unbounded queue is never full");
//!         if !writer.flush() {
//!             signaler.signal(0);
//!         }
//!     }
//! });
//!
//! for expected in 0..1000 {
//!     let number = loop {
//!         if let Some(number) = reader.read() {
//!             break number;
//!         }
//!         if reader.arm() {
//!             asleep.wait();
//!         }
//!     };
//!     assert_eq!(number, expected);
//! }
//! thread.join().unwrap();
//! ```
//!
//! # How it works
//!
//! Messages are in chunks of groups. A group is one cache line or several, with a state word and the slots that it
//! describes. Of a group of one line, a reader gets the readiness and the message together, and the two handles share only
//! the lines that they exchange. The writer prefetches lines with write intent before it reaches them. Spent chunks go
//! back to the writer, so a stream allocates nothing; chunks that a burst has taken beyond a reserve are freed.
//!
//! A bound is a count for the same chunks: the writer may be ahead of what the reader has counted as taken by the
//! capacity at most.
//!
//! # When not to use it
//!
//! It cannot serve two writers or two readers, and it does not reorder or drop. Messages [written](Writer::write) and
//! not flushed are hidden until the writer flushes or is dropped. If you use a ypipe by itself, you must wake the
//! reader and notify it of the writer's drop; a channel does both.
//!
//! Sources: Y-suite of ØMQ 0.2 for the queue with passive synchronisation. A state next to the data is common to
//! FastForward (Giacomoni, Moseley, Vachharajani 2008) and its descendants.

mod chunk;
mod chunk_cache;
mod core;
mod cut;
mod idle_reader;
mod in_slot;
mod progress;
mod reader;
mod runs;
#[cfg(feature = "in-place")]
mod window;
#[cfg(all(test, not(ysuite_loom)))]
mod wrapping;
mod writer;

pub(crate) use self::idle_reader::{AtomicSlot, IdleReader};
pub(crate) use self::in_slot::{InSlot, LoosePlace};
pub use self::reader::Reader;
pub(crate) use self::reader::{Reading, UntypedReader};
#[cfg(feature = "in-place")]
#[doc(hidden)]
pub use self::window::{RecvWindow, SendWindow};
pub use self::writer::Writer;
pub(crate) use self::writer::{UntypedWriter, Writing};

use self::chunk::Geometry;
#[cfg(feature = "in-place")]
use self::chunk::Places;
pub(crate) use self::chunk::Shape;
#[doc(hidden)]
pub use self::chunk::SlotClass;
use self::core::{CoreShare, PipeCore};
use crate::statistics::Meter;

/// An unbounded queue. Allocates one small chunk.
#[must_use]
pub fn unbounded<T>() -> (Writer<T>, Reader<T>) {
    ends(None, Geometry::<T>::LAP)
}

/// A queue for at most `capacity` messages, hidden ones included. The bound is exact. If its slots take no more than 1
/// MiB they are allocated here, and nothing is allocated later; a larger queue grows as it fills and then keeps its
/// chunks. `usize::MAX` is no bound.
///
/// # Panics
/// If `capacity` is 0: such a queue could hold nothing.
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Writer<T>, Reader<T>) {
    assert!(capacity > 0, "an spsc queue needs a capacity of at least 1");
    ends(Some(capacity), Geometry::<T>::LAP)
}

/// A queue without room, whose reader finds it closed from the beginning: for a channel that passes its messages
/// elsewhere.
pub(crate) fn nothing<T>() -> (Writer<T>, Reader<T>) {
    let (writer, reader) = ends(Some(0), Geometry::<T>::LAP);
    writer.writing.pretend_closed();
    (writer, reader)
}

/// A queue as [`unbounded`] or [`bounded`], whose messages are counted by `meter`.
pub(crate) fn metered<T>(bound: Option<usize>, meter: &Meter) -> (Writer<T>, Reader<T>) {
    assert!(bound != Some(0), "an spsc queue needs a capacity of at least 1");
    joined(bound, Geometry::<T>::LAP, meter)
}

/// As [`metered`], with slots of a class.
#[cfg(feature = "in-place")]
pub(crate) fn metered_of<T>(class: SlotClass, bound: Option<usize>, meter: &Meter) -> (Writer<T>, Reader<T>) {
    assert!(bound != Some(0), "an spsc queue needs a capacity of at least 1");
    let shape = shape::<T>().of_class(class);
    typed(made_of(PipeCore::new(shape, bound, shape.lap()), meter))
}

fn ends<T>(bound: Option<usize>, lap: usize) -> (Writer<T>, Reader<T>) {
    joined(bound, lap, &Meter::default())
}

/// With chunks of one group, so that each group is of another lap.
#[cfg(all(test, not(ysuite_loom)))]
fn ends_of_small_chunks<T>(bound: Option<usize>, lap: usize) -> (Writer<T>, Reader<T>) {
    typed(made_of(PipeCore::with_chunks(Geometry::<T>::SHAPE, bound, lap, 1), &Meter::default()))
}

fn joined<T>(bound: Option<usize>, lap: usize, meter: &Meter) -> (Writer<T>, Reader<T>) {
    typed(made_of(PipeCore::new(Geometry::<T>::SHAPE, bound, lap), meter))
}

/// The handles of a queue of such messages, which was made just now.
fn typed<T>((writing, reading): (UntypedWriter, UntypedReader)) -> (Writer<T>, Reader<T>) {
    // SAFETY: the callers have made it with the shape of such messages.
    unsafe { (Writer::typed(writing), Reader::typed(reading)) }
}

fn made_of(
    (mut core, chunk, cursor): (PipeCore, chunk::Chunk, reader::ReadCursor),
    meter: &Meter,
) -> (UntypedWriter, UntypedReader) {
    core.progress.join(meter);
    let core = CoreShare::new(core);
    (Writing::new(core.clone(), Some(chunk)), Reading::new(core, cursor))
}

/// A queue of which there may be thousands, most of them idle: no chunk before the first message, and small ones then.
/// It has no active reader; the first publication returns the `tokens` to the writer, whose channel then wakes the
/// receiver.
pub(crate) fn lane(
    shape: &'static Shape,
    bound: Option<usize>,
    tokens: u32,
    meter: &Meter,
) -> (UntypedWriter, IdleReader) {
    let mut core = PipeCore::lane(shape, bound, tokens);
    core.progress.join(meter);
    let core = CoreShare::new(core);
    (Writing::new(core.clone(), None), IdleReader::new(core))
}

/// As [`lane`], for tests.
#[cfg(all(test, not(ysuite_loom)))]
fn lane_of<T>(bound: Option<usize>) -> (Writer<T>, IdleReader) {
    let (writer, idle) = lane(shape::<T>(), bound, 1, &Meter::default());
    // SAFETY: the lane is for such messages.
    (unsafe { Writer::typed(writer) }, idle)
}

/// The shape of a queue of such messages.
pub(crate) fn shape<T>() -> &'static Shape {
    Geometry::<T>::SHAPE
}
