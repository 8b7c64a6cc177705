#![warn(missing_docs)]
#![cfg_attr(docsrs, feature(doc_cfg))]
//! Fast channels between the threads of one process that block, `await` or plug into an event loop.
//!
//! Every kind follows one idea, **passive synchronisation**: by default a sender notifies no receiver. A receiver sets
//! a flag before it parks. The sender finds the flag with its next message, and only then pays for a wake-up. A stream
//! through an `spsc` or `mpsc` runs without system calls, locks, fences and read-modify-writes. An idle receiver costs
//! nothing.
//!
//! ```
//! let (mut sender, mut receiver) = ysuite::spsc::unbounded();
//! std::thread::spawn(move || {
//!     for number in 0..10 {
//!         sender.send(number).unwrap();
//!     }
//! });
//! assert_eq!(receiver.iter().sum::<i32>(), 45);
//! ```
//!
//! # Which channel?
//!
//! | kind | senders to receivers | a send or receive that need not wait | when it must wait | order and loss |
//! |---|---|---|---|---|
//! | [`spsc`] | 1 to 1 | wait-free; no system call; allocates only without a bound | parks | FIFO; nothing is lost |
//! | [`mpsc`] | many to 1 | wait-free; senders never contend | parks | FIFO of each sender; nothing is lost |
//! | [`mpmc`] | many to many | lock-free | parks; the bound can be 0 (rendezvous) | one order; `force_send` replaces the oldest |
//! | [`oneshot`] | 1 to 1, once | wait-free; one allocation for the channel | parks | – |
//! | [`broadcast`] | many to many, each gets all | lock-free; a receiver clones the message | parks; lossy: never | one order; lossy: a slow receiver learns how many it missed |
//! | [`watch`] | many to many | a lock for the time of a move | parks until the value changes | the newest value only |
//! | [`timer`] | the clock to many | lock-free | parks until the tick | missed ticks are skipped |
//! | [`mailbox`] | any thread to 1, by type | wait-free; with a bound lock-free | as its `Crowding` says | FIFO of each thread; priority messages first |
//! | [`pool`] | memory for messages | lock-free | parks, or returns `None` | – |
//!
//! Besides channels there are:
//!
//! * [`select`](select()) completes the first of several operations that is ready.
//! * [`signal::ReadySet`] and the [signalers](signal) report which of many attached handles is ready. They wake a thread,
//!   or make a descriptor readable for `poll` and `epoll`.
//! * The `hub` (a feature) is an event loop for channels, descriptors, timers and functions.
//! * [`queue::ypipe`] is the bare queue, for a program that parks in its own way.
//!
//! The project's guide has recipes, and describes what a full channel does.
//!
//! # One channel, several ways to wait
//!
//! | the receiver | wakes by | for |
//! |---|---|---|
//! | [`recv`](spsc::Receiver::recv), [`recv_timeout`](spsc::Receiver::recv_timeout), [`recv_batch`](spsc::Receiver::recv_batch) | futex | a thread that does nothing else |
//! | [`recv_async`](spsc::Receiver::recv_async), [`poll_recv`](spsc::Receiver::poll_recv) | the task's waker | any `async` runtime |
//! | attached to a [`YPollset`](signal::YPollset) | futex | a thread that serves many channels |
//! | added to a [`ReadySet`](signal::ReadySet) | futex | a thread that waits for the first of a few |
//! | attached to a [`YSocketpair`](signal::YSocketpair) | a descriptor | a thread that serves channels and sockets |
//! | given to a hub | a descriptor | the same, with the loop, timers and posted functions |
//! | [`Spin::Forever`](Spin) | nothing | a thread that owns its CPU |
//!
//! # Guarantees
//!
//! A message is delivered or dropped exactly once, in whatever order the handles are dropped and whatever panics. No
//! `try_*` waits for another thread, except for the lock of a rendezvous (`bounded(0)`). If another thread is in the
//! middle of a cell, the `try_*` of `mpmc` and `broadcast` poll for some microseconds, yield a few times, and give up.
//!
//! # Rendezvous
//!
//! A channel with a bound of 0 holds nothing: a message goes from hand to hand. `send` returns when a receiver has the
//! message, and `recv` returns the message of a sender that waits. The `bounded` of `spsc`, `mpsc` and `mpmc` support
//! it, with all ways of waiting. `len` is 0, and `capacity` is `Some(0)`. Such a channel is both empty and full, and a
//! peek finds nothing.
//!
//! * `try_send` succeeds only where a receiver *waits*: in `recv`, in a future of `recv_async`, or in a
//!   [`select`](select()). `try_recv` likewise needs a sender that waits. So two threads that only try never
//!   exchange a message.
//! * A handle that is attached to a set or polled (`poll_recv`, `poll_ready`) does not wait. It is *notified* of a
//!   handle that waits: its id goes up, or its task is woken, and then it tries. Two such handles never exchange a
//!   message either. A handle that was polled may then wait in another way, such as `recv_timeout`. Its task is then
//!   not woken until it polls again.
//! * A future of `send_async` that is dropped before it is ready has not sent its message, which is dropped with it.
//!   The exception is a message that a receiver has just taken. A future of `recv_async` that is dropped has taken
//!   nothing. A message that it was just being handed goes to the next receiver, before all others. So a receiver of an
//!   `mpmc` may get the disconnection and still find a message later. That happens where another receiver's future is
//!   dropped after it was handed a message.
//! * A future that is *forgotten* (`mem::forget`) while it waits stays in line. A forgotten future of `recv_async`
//!   swallows a message, and its sender's call returns as if the message had been received.
//! * There are no hidden messages: `write` hands over at once, as `send` does, and `send_batch` hands its messages over
//!   one by one.
//! * Waiting handles are served in turn, under a lock that is held for some instructions. A thread that is preempted
//!   there delays the other threads of its channel, also in `try_send` and `try_recv`.
//!
//! # What the costs mean
//!
//! Each method states its **Cost**, once for each situation. What does not apply is left out.
//!
//! * Progress counts steps, without the allocator and the kernel.
//! * *System calls* are the largest number. A *region* of the kernel's memory holds some thirty chunks or segments.
//! * *To yield*: [`Spin::Adaptive`](Spin) yields before a sleep, up to 16 times where other threads want the
//!   CPU. Shared handles, a rendezvous and a sender of an `mpsc` yield twice more.
//! * *Real-time*: whether a thread with deadlines can rely on the call.
//! * *Cancel-safe*: what becomes of a future that is dropped.
//!
//! Two actions come once in a process, and are not counted. The first wait reads the number of CPUs: three calls. The
//! 262,144th fence without a sleeper registers for the kernel's barrier: two calls, some 10 ms with several threads.
//! [`prepare`] performs both earlier.
//!
//! # Panics of user code
//!
//! A call may run user code: the waker of a task that it wakes or forgets, a message's `Drop` or `Clone`, an iterator,
//! a closure. If user code panics, the call panics, also if its own documentation has no `# Panics`. Any call that
//! sends, receives, publishes, closes or drops may run a waker. Before the panic continues, the operation is completed,
//! all other waiters are woken, and the remaining messages are dropped. If several panic, the first panic continues.
//! The call's return value is dropped.
//!
//! # Forking
//!
//! A forked child shares the descriptors of its parent's signalers and none of its threads. The child must not use
//! channels or signalers made before the fork. It may drop them, as far as it may free memory, and its parent does not
//! notice: only the process that made a descriptor touches it.
//!
//! There is an exception: a set that is in an event loop of tokio or calloop. Its drop takes it out of the poller that
//! parent and child share, so the child must forget it. If a thread of the parent was using that handle, or one that
//! shares its channel's lock, the child may keep some of its memory.
//!
//! # Features
//!
//! Each kind of channel is a feature, and compiles without the others: `spsc`, `mpsc`, `mpmc`, `oneshot`, `broadcast`,
//! `watch`, `timer`, `pool`, `mailbox`. So are `select` and `signal`, which has sets of signals and descriptors. On by
//! default are `spsc`, `mpsc`, `mpmc`, `oneshot`, `select` and `signal`; `full` has all of these. None of them compiles
//! another crate. A crate that needs only one kind compiles fastest with `default-features = false`.
//!
//! The others are off by default. Without them this interface has no type of another library.
//!
//! * `hub`: the hub, over mio (Unix).
//! * `stream`: receivers implement `futures_core::Stream`.
//! * `futures`: includes `stream`; a sender's `sink()` and `into_sink()` are a `futures_sink::Sink`.
//! * `tokio`: includes `stream`; a task of tokio can wait for a timer (with `timer`), and on Unix for a set of signals; sends
//!   have a time limit. tokio's cooperative budget counts a task's sends and receives, so a task that always finds a message
//!   lets other tasks run.
//! * `mio`: a set of signals is an `event::Source` of mio (Unix).
//! * `calloop`: a set of signals, and a receiver, are an `EventSource` of calloop (Unix).
//! * `statistics`: the counts of each `spsc`, `mpsc` and `mpmc` (sent, received, the high-water mark, sleeps, wake-ups,
//!   how often it was full). Any thread may read them from an observer. The sender of an `spsc` then stores a count in
//!   a line of its own for each message. Every channel makes one or two more allocations; each sender of an `mpsc` takes
//!   some 300 bytes.

// What only some of the kinds use is unused where they are not compiled.
#![cfg_attr(
    not(all(feature = "full", feature = "in-place")),
    allow(dead_code, unreachable_pub, unused_imports, unused_macros)
)]

#[doc(hidden)]
#[macro_use]
pub mod facts;

mod block;
mod channel;
mod foreign;
#[cfg(all(feature = "hub", unix))]
pub mod hub;
#[cfg(any(feature = "mailbox", all(feature = "hub", unix)))]
mod inline_box;
#[cfg(any(feature = "stream", feature = "futures", feature = "tokio", feature = "mio", feature = "calloop"))]
pub mod integrations;
#[cfg(feature = "mailbox")]
pub mod mailbox;
mod number_map;
mod operation;
#[doc(hidden)]
pub mod os;
mod passive;
#[cfg(feature = "pool")]
pub mod pool;
pub mod queue;
#[cfg(all(test, ysuite_loom))]
#[path = "../tests/loom/runner.rs"]
mod runner;
pub mod signal;
#[cfg(not(feature = "statistics"))]
mod statistics;
#[cfg(feature = "statistics")]
pub mod statistics;
mod sync;
#[cfg(all(test, not(ysuite_loom)))]
mod tests;
mod unwind;
mod wait;

/// Performs now the work that the library otherwise does once in a process, when it is first worth it. It registers
/// with the kernel for its barrier (Linux: `membarrier`), and reads the number of CPUs.
///
/// No other call needs it. It is for a program in which this work must delay no message: see [what the costs
/// mean](crate#what-the-costs-mean).
///
/// Blocks for some microseconds in a process with one thread, and for some 10 ms in any other. It does not block in a
/// process that has registered already. Makes at most five system calls; none the second time. Allocates nothing. Any
/// thread may call it, at any time. If the kernel refuses there is no error: publishers continue with fences.
///
/// ```
/// // At the beginning of the program, before there are other threads.
/// ysuite::prepare();
/// let (mut sender, mut receiver) = ysuite::spsc::bounded(8);
/// std::thread::spawn(move || sender.send(1));
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[inline]
pub fn prepare() {
    os::prepare();
}

#[doc(hidden)]
pub use channel::Reserve;
#[cfg(feature = "broadcast")]
pub use channel::broadcast;
pub use channel::future;
#[cfg(feature = "in-place")]
#[doc(hidden)]
pub use channel::in_place;
pub use channel::iter;
#[cfg(feature = "mpmc")]
pub use channel::mpmc;
#[cfg(feature = "mpsc")]
pub use channel::mpsc;
#[cfg(feature = "oneshot")]
pub use channel::oneshot;
#[cfg(feature = "select")]
pub use channel::select::{self, start::select};
#[cfg(feature = "spsc")]
pub use channel::spsc;
#[cfg(feature = "timer")]
pub use channel::timer;
#[cfg(feature = "watch")]
pub use channel::watch;
#[cfg(feature = "futures")]
#[doc(hidden)]
pub use channel::{Fed, Feed};
pub use channel::{
    Permit, Permits, RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, TryRecvError,
    TryReserveError, TrySendError,
};
pub use wait::Spin;

/// The examples of the project's front page and guide are tests as well.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct FrontPage;
    #[doc = include_str!("../../../docs/guide/README.md")]
    struct GuidePage;
    #[doc = include_str!("../../../docs/guide/recipes.md")]
    struct RecipesPage;
    #[doc = include_str!("../../../docs/guide/waiting.md")]
    struct WaitingPage;
}
