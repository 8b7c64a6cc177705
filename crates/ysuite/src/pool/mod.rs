//! **The pool**: messages of any size up to a bound, in blocks of memory that are allocated once. Any thread takes a
//! block and sends it to any other; the last owner frees it.
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
//! Use a pool if messages are too long to be copied into a channel (beyond some 128 bytes), or of many lengths, and one
//! thread allocates what another frees: allocators are slow at that. Use it also if memory must be bounded: with an
//! exhausted pool a take fails, or waits.
//!
//! # When not to use it
//!
//! * Short messages of one type: send them by value.
//! * If the right number of blocks cannot be known: an exhausted class does not grow, and does not borrow from a larger
//!   one, since a flood of small messages would then starve the large.
//! * Between processes: a pool is memory of one process.
//!
//! # Cost
//!
//! A thread's first use of any pool registers its thread-locals, for which the system may allocate. A thread has up to
//! two magazines of a class: more than 16 threads that use one class allocate more magazines, 11 KiB for each 16. The
//! first time that 1, 65, 129 .. threads wait at once for one class, 3 KiB are allocated.
//!
//! # Guarantees
//!
//! **All blocks can be taken.** Each thread keeps some free blocks in its magazines, but every thread can reach every
//! free block: a thread that finds no other steals from the magazines of other threads, also from those that sleep.
//! `None` means that a search of all slots found no block. (While other threads take and free, a block may move from a
//! slot not yet searched to one searched already.) A thread that exits gives its blocks to the depot. No thread waits
//! for a preempted one.
//!
//! **Which block.** A block of the smallest class with room. A thread first takes the block that it freed last, since
//! its memory is in the caches.
//!
//! # Memory
//!
//! All memory is allocated when the pool is made. A block takes its bytes rounded up to a multiple of 64, and another
//! 64 for its header. A block of less than 64 bytes takes 64 in all for up to 40 bytes, and 128 for more. The bytes are
//! aligned to 64, or to 8 if there are less than 64. Each block also takes 5 bytes for its slot in a magazine (more
//! with fewer than 512 blocks), and each class 11 KiB. The blocks are freed when the last handle and the last message
//! are gone. The magazines are freed when the threads that used them exit, or use a pool for which they have no cache.
//!
//! # Forking
//!
//! A forked child has a copy of the pool, without the blocks that other threads had taken at that moment. It may take
//! and drop messages; it must not wait.

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
#[cfg(all(test, ysuite_loom))]
mod models;
mod operations;
mod take;
mod thread_cache;

pub use self::boxed::PoolBox;
pub use self::class::ClassStats;
pub use self::error::{PoolError, TooLong};
pub use self::handle::Pool;
pub use self::message::Message;
pub use self::take::TakeFuture;
#[cfg(feature = "select")]
pub use self::take::Taking;
