//! **The pool**: messages of any size up to a bound, in blocks of memory that are made once, taken by any thread, sent
//! anywhere, and freed by whoever has them last.
//!
//! ```
//! use ysuite::pool::{Message, Pool};
//! use ysuite::spsc;
//!
//! // 1,000 blocks for up to 64 bytes, 100 for up to 4 KiB.
//! let pool = Pool::new(&[(64, 1_000), (4_096, 100)])?;
//! let (mut sender, mut receiver) = spsc::unbounded::<Message>();
//! let thread = std::thread::spawn(move || receiver.iter().map(|message| message.len()).sum::<usize>());
//! for len in [5, 64, 65, 4_000] {
//!     let mut message = pool.take(len); // waits while no block is free
//!     message.fill(7);
//!     sender.send(message).unwrap(); // one pointer
//! }
//! drop(sender);
//! assert_eq!(thread.join().unwrap(), 5 + 64 + 65 + 4_000);
//! # Ok::<(), ysuite::pool::PoolError>(())
//! ```
//!
//! # When to use it
//!
//! Where messages are too long to be copied into a channel (beyond some 128 bytes), or of many lengths, and one thread
//! makes what another throws away: what allocators are slow at. And where memory must be bounded: an exhausted pool says
//! so, or makes the taker wait.
//!
//! # When not to use it
//!
//! * Short messages of one type: send them by value.
//! * Where the right number of blocks cannot be known: a class that is exhausted does not grow, and does not borrow from
//!   a larger one, since a flood of small messages would then starve the large.
//! * Between processes: a pool is memory of one.
//!
//! # What is promised
//!
//! | operation | progress | allocates | system calls, at most |
//! |---|---|---|---|
//! | [`try_take`](Pool::try_take), [`try_boxed`](Pool::try_boxed) | lock-free; wait-free while this thread has a block at hand | no¹ | 0; short of blocks: 1 barrier for each magazine it must steal from |
//! | [`take`](Pool::take), [`boxed`](Pool::boxed) with a block | as above | no¹ | 0 |
//! | `take`, `boxed` without, and with a time-out | blocks | no² | 1 to wake, 3 for each sleep, 2 to give way |
//! | dropping a message or a box | lock-free; wait-free while this thread's magazine has room | no¹ | 1 to wake one that waits |
//!
//! ¹ A thread's first use of any pool has its thread-locals registered, for which the system may allocate. And a thread has
//! up to two magazines of a class: more than 16 threads at work on one need more of them, 11 KiB for each 16.
//!
//! ² The first time that 1, 65, 129 .. wait at once for one class: 3 KiB.
//!
//! **All blocks can be taken.** Each thread keeps some free blocks at hand, but no free block is out of reach: one that
//! finds nothing elsewhere takes those of other threads, whatever these are doing. `None` means that none was found in any
//! place there is. (While others take and give back at that very moment, a block may move from a place that has not been
//! looked at to one that has.) A thread that ends leaves its blocks to all. Nothing waits for a thread that has been preempted.
//!
//! **Which block.** That of the smallest class with room. The block that this thread has freed last is taken first, since
//! its memory is in the caches.
//!
//! # Memory
//!
//! Everything is in place when the pool is made. Each block takes, beyond its bytes rounded up to a multiple of 64, another
//! 64 for its header; with less than 64 bytes it takes 64 in all for up to 40 bytes, and 128 for more. Its bytes are aligned
//! to 64, or to 8 where there are less than 64. To that come 5 bytes for each block's place in a magazine (more where there
//! are fewer than 512 blocks), and 11 KiB for each class. It ends with the last handle and the last message, whichever goes
//! last; places in magazines stay until the threads that had them end or use another pool.
//!
//! # Forking
//!
//! A forked child has a copy of the pool, in which only what other threads had in their hands at that moment is lost. It
//! may take, drop, and must not wait.

mod block;
mod boxed;
mod class;
mod core;
mod depot;
mod error;
mod group;
mod handle;
mod magazine;
mod marks;
mod message;
mod thread_cache;

pub use self::boxed::PoolBox;
pub use self::class::ClassStats;
pub use self::error::{PoolError, TooLong};
pub use self::handle::Pool;
pub use self::message::Message;
