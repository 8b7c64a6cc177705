//! **Mailboxes**: any message to any thread. The thread that has a [`Mailbox`] receives values of all types, by type,
//! in any order. Every thread that has its [`Address`] sends them, urgent ones ahead of the others. Threads can be
//! notified of each other's termination. The interface is that of D's `std.concurrency`, as far as it makes sense here.
//!
//! ```
//! use ysuite::mailbox::{self, Address, Mailbox};
//! use ysuite::receive;
//!
//! let adder = mailbox::spawn(|mailbox| {
//!     let mut sum = 0;
//!     // Ends when the last address is dropped.
//!     while let Ok(()) = receive!(mailbox => {
//!         number: i64 => sum += number,
//!         client: Address => client.send(sum).expect("it waits"),
//!     }) {}
//! });
//!
//! let mut mailbox = Mailbox::new();
//! (1..=10_i64).for_each(|number| adder.send(number).unwrap());
//! adder.send(mailbox.address()).unwrap();
//! assert_eq!(mailbox.receive::<i64>(), Ok(55));
//! ```
//!
//! # Threads
//!
//! [`spawn`] starts a thread with a mailbox. Any other thread makes one with [`Mailbox::new`]: the main thread, a
//! thread of a pool, a thread started by another library. Sending needs no mailbox.
//!
//! # Order
//!
//! * The ordinary messages of one thread to one mailbox arrive in the order in which it sent them, through all
//!   addresses. The same holds for urgent messages ([`send_priority`](Address::send_priority)) among themselves. Only
//!   messages that a thread sends while its thread-locals are being destroyed have no order.
//! * Between threads there is no order, not even causal order: a message sent because of another may arrive before it.
//!   A mailbox with a bound has one order for all its ordinary messages.
//! * A message whose `send` has returned is found, also by a receive with a time limit of zero. But in a mailbox with a
//!   bound, an ordinary message is found [only when the older ones are complete](crate::mpmc#preempted-peers).
//! * Urgent messages come before ordinary ones, but cannot starve them. After [`URGENT_TURN`] of them in a row, the
//!   next receive is offered the ordinary ones first: all that were set aside and up to 128 new ones. After 128 urgent
//!   messages without a handler, the search continues with an ordinary one.
//! * A message without a handler is *set aside*, and stays before all later messages. Each receive checks the messages
//!   set aside from the beginning. So a mailbox that sets thousands aside and never receives them becomes slow.
//!
//! # Termination
//!
//! A mailbox ends with the function that was spawned, or when it is dropped. Sending then fails, and the error contains
//! the value. The messages in the mailbox are dropped; each message is received, dropped or returned exactly once. The
//! mailboxes linked to it receive [`LinkTerminated`], and those it owns receive [`OwnerTerminated`]. These notices are
//! ordinary messages, after all ordinary ones that its thread has sent. They contain the text of its panic if it ended
//! in one. A receive that has no handler for such a notice returns it as an error.
//!
//! If a mailbox has no address left, is linked to no living mailbox and owns none, no message can come any more.
//! Receiving then fails with [`ReceiveError::Disconnected`], as with channels. An address inside a message that is not
//! yet received counts. So does a mailbox that this one [spawned](Mailbox::spawn), until it has ended: it has the
//! address of its [owner](Mailbox::owner). Only the mailbox itself can change this: by giving its
//! [address](Mailbox::address) away again, by a [link](Mailbox::link), or by spawning.
//!
//! Two mailboxes that wait only for each other, or for each other's termination, wait for ever. So does a mailbox that
//! waits for those it owns while they wait for it. An owner that no longer needs them sends them a message that says
//! so.
//!
//! # Thread exit
//!
//! A thread may use the whole interface while its thread-locals are being destroyed: sending, receiving, making
//! mailboxes, spawning, links, names. Its messages then have no order, and each has a lane of its own until it is
//! received. On systems with emulated thread-locals the thread is not recognised then: it waits for room also in its
//! own mailbox. On Windows no thread starts before that destruction is over: to wait there for one that was spawned
//! there is to wait for ever, as with `std` alone.
//!
//! # Panics
//!
//! A message whose `drop` panics does so where it is dropped: in a sender that makes room by dropping it, or in the
//! drop of the mailbox, after all other messages are dropped and all watchers are notified. Of several panics the first
//! propagates. If a mailbox ends while a thread sends to it, or exits, that thread may have to drop the messages it has
//! sent there. At thread exit such a panic does not propagate.
//!
//! # What it costs
//!
//! Each thread has a lane of the [`mpsc`](crate::mpsc) to each mailbox to which it sends, and finds it in a table of
//! its own. So sending is wait-free, and streams run without read-modify-writes, as in an `mpsc`. A lane takes 512
//! bytes and a few chunks. It ends with the thread, or with the mailbox. In the second case its memory is freed when
//! that thread sends there again, or when the thread sweeps its lanes because it has too many. A sweep also frees lanes
//! that are empty and unused since the last sweep, so a thread keeps at most 64 lanes, or twice the number that it
//! uses. Cloning an address costs only a count.
//!
//! A value of up to three words travels in the message; a larger or over-aligned one in a box. A bounded mailbox is an
//! [`mpmc`](crate::mpmc) instead of lanes, and sending executes a full fence.
//!
//! # When not to use it
//!
//! For one type of message a channel is faster, and the compiler checks it. Here, a message of a type without a handler
//! shows only at run time. For posted functions, sockets and timers use an event loop. For several receiving threads,
//! or a task that awaits messages, use a channel.
//!
//! # Compared with D
//!
//! | `std.concurrency` | here | different |
//! |---|---|---|
//! | `spawn` | [`spawn`], [`Builder::spawn`] | a closure, and a thread handle if wanted; no owner |
//! | `spawn` inside a thread with an owner | [`Mailbox::spawn`] | the owner is explicit |
//! | `spawnLinked` | [`Mailbox::spawn_linked`] | [`link`](Mailbox::link) and [`unlink`](Mailbox::unlink) also later, between any two |
//! | `Tid` | [`Address`] | compared, ordered, hashed, printed; counted |
//! | `thisTid` | [`Mailbox::address`] | only threads with a mailbox have one |
//! | `ownerTid`, `TidMissingException` | [`Mailbox::owner`] | an `Option` |
//! | `send` | [`Address::send`] | an error if the mailbox has ended; several values are a tuple |
//! | `prioritySend` | [`Address::send_priority`] | cannot starve the others |
//! | `PriorityMessageException` | – | an urgent message without a handler is set aside like any other |
//! | `receive` | [`receive!`](crate::receive), [`Mailbox::receive`] | handlers may `break`, `return` and use `?` |
//! | a handler that returns `false` | `where` in [`receive!`](crate::receive) | checked before the handler runs |
//! | a handler for `Variant` | a catch-all, or [`Mailbox::receive_any`], with an [`Envelope`] | |
//! | `receiveTimeout` | [`receive_timeout!`](crate::receive_timeout), [`Mailbox::receive_timeout`] | an error says why |
//! | `receiveOnly!(A, B)` | [`Mailbox::receive_only`]`::<(A, B)>` | |
//! | `MessageMismatch` | [`ReceiveError::Mismatch`] | the message is not lost |
//! | `LinkTerminated`, `OwnerTerminated` | the same, as messages or [`ReceiveError`]s | with the panic's text |
//! | `setMaxMailboxSize` | [`Builder::bounded`] | from the beginning; messages set aside do not count |
//! | `OnCrowding.block`, `throwException`, `ignore` | [`Crowding::Block`], `Error`, `DropNewest` | and `DropOldest`; a thread never blocks itself |
//! | `MailboxFull` | [`SendError::Full`] | with the message |
//! | a function for `onCrowdingDoThis` | – | `Error` leaves the choice to the sender |
//! | `register`, `unregister`, `locate` | [`register`], [`unregister`], [`locate`] | a taken name is an error |
//! | only `shared` and `immutable` data | `Send + 'static` | checked by the compiler |
//! | `Scheduler`, `FiberScheduler`, `Generator` | – | threads are the system's; iterators are the language's |
//! | `initOnce` | `std::sync::OnceLock` | |

mod address;
mod aside;
mod builder;
#[cfg(feature = "select")]
mod case;
mod envelope;
mod error;
mod inner;
mod macros;
#[allow(clippy::module_inception)]
mod mailbox;
#[cfg(feature = "select")]
mod operations;
mod outbox;
mod receive_error;
mod receiving;
mod registry;
mod relations;
mod search;
mod sending;
mod watchers;

pub use self::aside::URGENT_TURN;
pub use self::builder::{Builder, spawn};
#[cfg(feature = "select")]
pub use self::case::ToReceive;
pub use self::envelope::Envelope;
pub use self::error::SendError;
pub use self::inner::{Address, Crowding};
pub use self::mailbox::Mailbox;
pub use self::receive_error::ReceiveError;
pub use self::registry::{RegisterError, locate, register, unregister};
pub use self::relations::{LinkTerminated, OwnerTerminated};
#[doc(hidden)]
pub use self::search::Search;
