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
//! * [`select`] completes the first of several operations that is ready.
//! * [`signal::Select`] and the [signalers](signal) report which of many attached handles is ready. They wake a thread,
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
//! | added to a [`Select`](signal::Select) | futex | a thread that waits for the first of a few |
//! | attached to a [`YSocketpair`](signal::YSocketpair) | a descriptor | a thread that serves channels and sockets |
//! | given to a hub | a descriptor | the same, with the loop, timers and posted functions |
//! | [`Spin::Forever`](channel::Spin) | nothing | a thread that owns its CPU |
//!
//! # Guarantees
//!
//! "Wait-free" counts steps. It does not include the allocator or the kernel. A system call is made only in the
//! situation named.
//!
//! | operation | progress | allocates | system calls, at most | real-time | cancel-safe |
//! |---|---|---|---|---|---|
//! | `send` (unbounded), `flush`, `send_batch` | wait-free | a chunk of 64 KiB if none has come back | 1 to wake a sleeping receiver; 1 for a chunk¹² | no (allocates) | – |
//! | `try_send`, `send` with room (bounded) | wait-free | no¹ | 1 to wake a sleeping receiver | yes¹ | – |
//! | `try_send`, `try_reserve`, attached, without room | wait-free; `mpmc`: lock-free | no¹ | 2 the first time (barrier, descriptor), then 0 | yes, except for those calls | – |
//! | `send` without room | blocks | no¹ | 1 to wake, 2 for each sleep; to yield¹¹ | no | – |
//! | `send_async` | wait-free polls | no¹ | 1 to wake, 1 barrier | – | yes, the message is dropped |
//! | `write`, `unwrite` | as `send` | as `send` | as `send` | as `send` | – |
//! | `try_reserve`, `try_reserve_many`, a permit's `send` and `commit` | wait-free | as `send` | as `send` | as `send` | – |
//! | `reserve`, `reserve_many` without room | blocks | no¹ | as `send` | no | – |
//! | `reserve_async`, `reserve_many_async` | wait-free polls | no¹ | 1 to wake, 1 barrier | – | yes |
//! | `send_batch_async`, `send_async_until` | wait-free polls | as `send` | 1 to wake, 1 barrier | – | yes: the messages taken are sent; the message is dropped |
//! | a `sink()`: fed, flushed, closed (`mpmc` too) | wait-free polls; `mpmc`: lock-free | as `send`; in a rendezvous a registration | 1 to wake, 1 barrier | – | a fed message may be sent or dropped |
//! | `close` of a sender (`spsc`, `mpsc`) | wait-free | no | 1 to wake | yes, except for that call | – |
//! | `wait_closed`; `closed` | blocks; lock-free polls | 3 KiB once, and again for each 64 more that wait at once | 2 for each sleep: barrier, futex | no | yes |
//! | `recv`, `recv_batch` with a message | wait-free | no (`recv_batch`: the `Vec`) | 1 to wake a sleeping sender | yes | – |
//! | `spsc` without a bound: the same, with a backlog | wait-free | once 1 KiB | now and then 2 to give back chunks | no | – |
//! | `recv`, `recv_timeout` without | blocks | no | 2 for each sleep: barrier, futex; to yield¹¹ | no | – |
//! | `try_recv`, `peek`, unattached | wait-free | no | 0; 1 to wake a sleeping sender | yes | – |
//! | `try_recv`, `peek`, attached, empty | wait-free | no | 2 the first time (barrier, descriptor), then 0 | yes, except for those calls | – |
//! | `recv_async`, `poll_recv`, `recv_batch_async` | wait-free polls | no (the waker may; the `Vec`) | 1 barrier | – | yes |
//! | `peek_run`, `consume` | as `try_recv` | no | as `try_recv` | as `try_recv` | – |
//! | `close` of a receiver (`spsc`, `mpsc`) | wait-free, a load for every 7 messages or so; `mpsc`: and linear in the largest number of senders so far | `mpsc`: a list of the lanes | 1 barrier, 1 for each sender that waits | no | – |
//! | `mpsc`: `send` and its like | as above | as above, in small chunks | as above; without room to yield¹¹ | no (allocates) | – |
//! | `mpsc`: `recv` and its like | wait-free in the number of active lanes | as above, and to keep track of more active lanes than before | as above | no² | as above |
//! | `mpsc`: `clone`, `upgrade`, `drop` of a sender | lock-free | the lane | `drop`: 1 to wake a sleeping receiver | no | – |
//! | `mpsc`: `share`, `downgrade`, and their clones | wait-free | no | 0; `drop` of the last `SharedSender`: 1 to wake | yes | – |
//! | `mpsc`: `SharedSender::send` and its like | as `mpsc`'s `send` | a thread's first time a lane, then as `mpsc` | as `mpsc`'s `send` | no (allocates) | – |
//! | `len`, `is_empty` on a receiver | wait-free, a load for every 7 messages or so | no | 0 | no | – |
//! | `mpmc`: `try_send`, `send` with room, `send_batch` | lock-free | no | 1 to wake a receiver⁴; to yield | yes | – |
//! | `mpmc` without a bound: `send`, `send_batch` | lock-free | a segment⁸ if none is kept | 1 to wake a receiver⁴; 2 for a segment¹² | no (allocates) | – |
//! | `mpmc` without a bound: `recv` and its like | as below | as below | as below; now and then 2 to give back pages⁸ | no | as below |
//! | `mpmc`: `send` without room, `recv` without a message | blocks | no³ | 1 to wake, 3 for each sleep; to yield¹¹ | no | – |
//! | `mpmc`: `recv`, `recv_batch` with a message | lock-free | no (`recv_batch`: the `Vec`) | 1 to wake a sender⁴ | yes | – |
//! | `mpmc`: `try_recv`, unattached | lock-free | no | 0; 1 to wake a sender⁴; to yield | yes | – |
//! | `mpmc`: `try_recv`, attached, empty | lock-free | no | 2 the first time (barrier, descriptor), then 0 | yes, except for those calls | – |
//! | `mpmc`: `send_async`, `recv_async`, `poll_recv` | lock-free polls | no³ (the waker may) | 1 to wake, 1 barrier | – | yes, a message not sent is dropped |
//! | `mpmc`: `recv_batch_async`, `send_batch_async`, `send_async_until` | lock-free polls | no³ (the `Vec`, the waker, the other future may) | 1 to wake, 1 barrier | – | yes, a message not sent is dropped, or still in the iterator |
//! | `mpmc`: `force_send` | lock-free⁹ | no³ | 1 to wake a receiver; to yield⁹ | no⁹ | – |
//! | `mpmc`: `try_reserve`, `try_reserve_many`, a permit's `drop` | lock-free | no | 1 to wake a sender⁴ | yes | – |
//! | `mpmc`: a permit's `send` | lock-free⁹ | no | 1 to wake a receiver; to yield⁹ | yes, except during a `force_send`⁹ | – |
//! | `mpmc`: `reserve` and its like without room | blocks (`async`: lock-free polls) | no³ | as `send` without room | no | yes, holds nothing |
//! | `mpmc`: `close` | lock-free | no | 1 for each thread that waits | no | – |
//! | `mpmc`: `closed`, `wait_closed` | blocks (`async`: lock-free polls) | no³ (the waker may) | 3 for each sleep; to yield¹¹ | no | yes |
//! | `mpmc`: `upgrade` | lock-free | no | 0 | yes | – |
//! | `mpmc`: `len`, `is_empty`, `is_full`, `sender_count`, `clone`, `downgrade` | wait-free | no | 0 | yes | – |
//! | `oneshot`: `channel` | as the allocator | 1 | 0 | no (allocates) | – |
//! | `oneshot`: `send`, `drop` of either handle | wait-free; `drop` of a receiver that waits: lock-free | no (frees) | 1 to wake | yes, except for that call | – |
//! | `oneshot`: `recv`, `try_recv`, `recv_timeout` with the message | wait-free | no (frees) | 0 | yes | – |
//! | `oneshot`: `recv`, `recv_timeout`, `wait_closed` without | blocks | no | 1 for each sleep; to yield¹¹ | no | – |
//! | `oneshot`: `try_recv`, `peek`, attached, empty | wait-free | no | 1 the first time (descriptor), then 0 | yes, except for that call | – |
//! | `oneshot`: the receiver as a future | lock-free polls | no (the waker may) | 0 | – | yes, by reference |
//! | `oneshot`: `closed`, `poll_closed` | lock-free polls | a box of two words (the waker may) | 0 | – | yes |
//! | `oneshot`: `close` | lock-free | no | 1 to wake | yes, except for that call | – |
//! | `watch`: `send` and its like, `borrow` and its like | a lock, held for a move, a closure or a check | no | 1 to wake each receiver that waits; 2 for a lock that is held | no | – |
//! | `watch`: `has_changed`; `changed` with a value | wait-free | no | 0 | yes | – |
//! | `watch`: the same, attached, without a new value | lock-free | no | 2 the first time (barrier, descriptor), then 0 | yes, except for those calls | – |
//! | `watch`: `changed`, `wait_for` without a value, `wait_closed` | blocks | no³ | 2 for each sleep; to yield¹¹ (not `wait_closed`) | no | – |
//! | `watch`: `changed_async`, `poll_changed`, `closed` | lock-free polls | no³ (the waker may) | 1 barrier | – | yes |
//! | `watch`: `subscribe`, `clone`, `drop` | wait-free | no | `drop` of the last handle of a side: 1 for each waiting handle of the other | yes | – |
//! | `observer` (feature `statistics`), its `clone` and `drop` | wait-free | no | 0 | yes | – |
//! | `Observer::statistics` | a lock, held for some instructions; for an `mpsc`, as many again for each sender | no | 0; 2 for a lock that is held | no | – |
//! | `timer`: `try_recv`, `len` | lock-free | no | 0; the clock is read | yes | – |
//! | `timer`: `recv` without a tick | blocks | no | 1 for each sleep | no | – |
//! | `timer`: `recv_async` (feature `tokio`) | lock-free polls | tokio's timer | 0 | – | yes |
//! | `broadcast`: `try_send`, `send` with room, `send_batch` | lock-free⁷ | no | 1 to wake each receiver that sleeps; to yield | yes | – |
//! | `broadcast`: `send` without room, `recv` without a message | blocks | no³ | 1 to wake, 3 for each sleep; to yield¹¹ | no | – |
//! | `broadcast`: `recv`, `recv_batch` with a message, `try_recv`, unattached | lock-free⁷ | no (`recv_batch`: the `Vec`; `Clone` may) | 1 to wake a sender; to yield | yes, except for `Clone` | – |
//! | `broadcast`: `try_recv`, attached, empty | lock-free | no | 2 the first time (barrier, descriptor), then 0 | yes, except for those calls | – |
//! | `broadcast`: `send_async`, `recv_async`, `poll_recv`, `closed` | lock-free polls | no³ (the waker may) | 1 to wake, 1 barrier | – | yes, a message not sent is dropped |
//! | `broadcast`: `subscribe`, `clone`, `drop` of a receiver | lock-free, linear in the receivers | for 8, 24, 56 .. receivers | 1 to wake | no | – |
//! | `pool`: `try_take`, `try_boxed` | lock-free; wait-free if the thread's magazines have a block | no⁵ | 1 barrier for each magazine stolen from | yes | – |
//! | `pool`: `take`, `boxed` without a block | blocks | no³ | 1 to wake, 3 for each sleep; to yield¹¹ | no | – |
//! | `pool`: `drop` of a message or box | lock-free; wait-free if the thread's magazine has room | no⁵ | 1 to wake a taker | yes | – |
//! | `mailbox`: `send`, `send_priority`, no bound | wait-free | the first time a lane, then as `mpsc`; a box beyond 3 words | 1 to wake the mailbox | no (allocates) | – |
//! | `mailbox`: `send` with room, under a bound | lock-free | a box beyond 3 words | 1 to wake the mailbox | yes, up to 3 words | – |
//! | `mailbox`: `send` without room, `Crowding::Block` | blocks | as above³ | 3 for each sleep; to yield¹¹ | no | – |
//! | `mailbox`: the same, any other `Crowding` | lock-free⁶ | as above | 1 to wake the mailbox; `DropOldest`: to yield⁶ | yes, except with `DropOldest`⁶ | – |
//! | `mailbox`: a receive with a message | as `mpsc` or `mpmc`, and linear in the messages set aside | when more are set aside than before | as `mpsc` or `mpmc` | no² | – |
//! | `mailbox`: a receive without | blocks | as above | 2 for each sleep: barrier, futex; to yield¹¹ | no | – |
//! | `mailbox`: a receive with a timeout of zero | as with a message | as above | as `try_recv` | no² | – |
//! | `mailbox`: `clone`, `drop` of an address | wait-free | no | 0; `drop` of the last: 1 to wake | yes | – |
//! | `mailbox`: `spawn`, `link`, `register`, `locate`, exit | a lock, held for some instructions | yes | 2 for a lock that is held; a thread | no | – |
//! | `signal` | wait-free | no | 1 to wake | yes, except for that call | – |
//! | `check` | wait-free; with a descriptor lock-free | no (many ids: the result) | 1, in a race more | yes, except for that call | – |
//! | `poll`, `poll_timeout` | blocks | as `check` | 2 for each sleep | no | – |
//! | `attach`, `detach` | wait-free (`mpmc`, `oneshot`, `broadcast`, `watch`: lock-free) | `attach`: less than 100 bytes³; a sender of an `mpsc` without a bound: for 64 and more senders | 1 (`mpmc`: `detach` 2) | no | – |
//! | `Select`: `add_shared`, `remove_shared` | lock-free | a watcher³ | 1 to wake another that waits | no | – |
//! | `Select`: `wait`, `wait_timeout` | blocks; wait-free with a ready id; checks each timer | as `check` | 2 for each sleep | no | – |
//! | `select()`: `wait`, with an operation that can be done | as that operation | no | as that operation | as that operation | – |
//! | `select()`: `wait` without, `wait_timeout` | blocks | the first time in a thread; `recv_any` | 2 for each sleep, 1 barrier for each handle | no | – |
//! | `bounded(0)`: `try_send`, `try_recv` | a lock, held for some instructions¹⁰ | no | 1 to wake; 2 for a lock that is held | no | – |
//! | `bounded(0)`: `send`, `recv` without a peer, futures | blocks; polls with a lock¹⁰ | two small blocks | as above, 2 for each sleep; to yield¹¹ | no | `recv_async`: yes; `send_async`: the message is dropped |
//! | `hub::Handle`: `post` | wait-free | a chunk, as `mpsc`; a box for more than three words | 1 to wake a sleeping hub | no (allocates) | – |
//! | `hub::Handle`: `clone`, `drop` | lock-free | the lane | `drop`: 1 to wake a sleeping hub | no | – |
//! | `Hub`: `after`, `at`, `every`, `cancel` | logarithmic in the timers | a box for more than three words, for `every` always; as they grow | 0 | no | – |
//! | `Hub`: `receive`; `watch`, `remove` | `receive`: wait-free; of descriptors logarithmic in their number | a box | 1 | no | – |
//! | `Hub`: `run_once` with something to do | that of the handlers | no | 1 where descriptors are watched, and for each handler of one | no | – |
//! | `Hub`: `run_once` without | blocks | no | 1 for each sleep; before the first sleep after an event, 1 and a barrier | no | – |
//!
//! ¹ The sender of a bounded channel whose slots take more than 1 MiB allocates as the channel grows, and then never
//! again. The same holds for each lane of a bounded `mpsc`. No receiver allocates.
//!
//! Two actions that a process performs once are not in the table. The first thread that waits reads the number of CPUs,
//! with three system calls. The publisher that executes the 262,144th fence of the process while no thread slept
//! registers for the kernel's barrier. It makes two system calls, and waits some 10 ms for them in a process with
//! several threads. A program that cannot afford this delay later calls [`prepare`] first.
//!
//! ² It frees the lanes of dropped senders, and arms lanes that have long been empty: at most one barrier for all of
//! them. With senders that stay and stream it does neither.
//!
//! ³ When 1, 65, 129 .. of one side wait at once for the first time: 3 KiB. At 65, and for each 4,096 more, a further
//! kilobyte or two.
//!
//! ⁴ While tasks or attached receivers wait, a batch wakes one of them for each of its messages.
//!
//! ⁵ A thread's first use of a pool registers its thread-locals; more than 16 threads on one class: 11 KiB for each 16.
//!
//! ⁶ `DropOldest` yields to a thread that was preempted in the middle of a send or receive there, until that thread
//! continues, as `force_send` does⁹.
//!
//! ⁷ A sender checks the position of each receiver once for each lap (bounded), or at least for each eighth of a lap
//! (lossy). A receiver's time does not depend on the number of receivers.
//!
//! ⁸ 64 KiB, for messages that are not larger. The thread that empties the last slot of a segment cleans up segments
//! that have been read: its own, and those that other threads leave to it meanwhile. That takes some microseconds.
//! While a backlog shrinks, that thread gives back the pages of two segments for each segment that has been read.
//!
//! ⁹ It yields to a thread that was preempted in the cell that it needs, until that thread continues. A permit's `send`
//! does so only for a `force_send`. It yields 32 times, and then sleeps for 50 µs to 0.8 ms at a time, so that a thread
//! of lower priority gets the CPU of a real-time thread meanwhile. The time until that thread continues has no bound:
//! threads of a priority between the two may keep it from the CPU. A `force_send` blocks while permits hold all the
//! room.
//!
//! ¹⁰ Only where a handle of the other side seems to wait.
//!
//! ¹¹ [`Spin::Adaptive`](channel::Spin) yields the CPU before a sleep: once, and up to 16 times where other threads
//! want the CPU. Shared handles, a rendezvous and a sender of an `mpsc` yield twice more. `Spin::None` and
//! `Spin::Forever` do not yield.
//!
//! ¹² Also 4 for a region of the kernel's memory, which holds some thirty chunks or segments. A chunk or segment that
//! is freed gives its pages back to the kernel. This holds also if the program has locked them (`mlockall`), on Linux
//! 5.18 or later.
//!
//! A message is delivered or dropped exactly once, in whatever order the handles are dropped and whatever panics. No
//! `try_*` waits for another thread, except for the lock of a rendezvous (`bounded(0)`). If another thread is in the
//! middle of a cell, the `try_*` of `mpmc` and `broadcast` poll for some microseconds, yield a few times, and give up.
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
//! No feature is on by default. Without features this interface has no type of another library.
//!
//! * `hub`: the hub, over mio (Unix).
//! * `stream`: receivers implement `futures_core::Stream`.
//! * `futures`: includes `stream`; a sender's `sink()` and `into_sink()` are a `futures_sink::Sink`.
//! * `tokio`: includes `stream`; a task of tokio can wait for a set of signals and for a timer; sends have a time
//!   limit. tokio's cooperative budget counts a task's sends and receives, so a task that always finds a message lets
//!   other tasks run (Unix).
//! * `mio`: a set of signals is an `event::Source` of mio (Unix).
//! * `calloop`: a set of signals, and a receiver, are an `EventSource` of calloop (Unix).
//! * `statistics`: the counts of each `spsc`, `mpsc` and `mpmc` (sent, received, the high-water mark, sleeps, wake-ups,
//!   how often it was full). Any thread may read them from an observer. The sender of an `spsc` then stores a count in
//!   a line of its own for each message. Every channel, and each sender of an `mpsc`, makes one more allocation.

#[doc(hidden)]
#[macro_use]
pub mod facts;

mod block;
pub mod channel;
mod foreign;
#[cfg(all(feature = "hub", unix))]
pub mod hub;
mod inline_box;
#[cfg(any(feature = "stream", feature = "futures", feature = "tokio", feature = "mio", feature = "calloop"))]
pub mod integrations;
pub mod mailbox;
#[doc(hidden)]
pub mod os;
mod passive;
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
/// No other call needs it. It is for a program in which this work must delay no message: see the note below the table
/// of [guarantees](crate#guarantees).
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

#[cfg(feature = "in-place")]
#[doc(hidden)]
pub use channel::in_place;
pub use channel::{broadcast, mpmc, mpsc, oneshot, select, spsc, timer, watch};

/// The examples of the project's front page are tests as well.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct FrontPage;
