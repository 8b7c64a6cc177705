//! **Mailboxes**: any message to any thread. A thread that has a [`Mailbox`] receives values of all types, by type, in the
//! order it likes; whoever has its [`Address`] sends them, from any thread, urgent ones ahead of the others; and threads
//! learn of each other's end. The interface is that of D's `std.concurrency`, as far as it makes sense here.
//!
//! ```
//! use ysuite::mailbox::{self, Address, Mailbox};
//! use ysuite::receive;
//!
//! let adder = mailbox::spawn(|mailbox| {
//!     let mut sum = 0;
//!     // Ends when nobody has the address any more.
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
//! [`spawn`] starts a thread with a mailbox. A thread that is there already makes one with [`Mailbox::new`]: the main
//! thread, one of a pool, one that another library has started. Sending needs none.
//!
//! # Order
//!
//! * The ordinary messages of one thread to one mailbox arrive in the order in which it sent them, through whichever
//!   addresses; the urgent ones ([`send_priority`](Address::send_priority)) among themselves as well. Only what a thread
//!   sends while its own local values are being destroyed has no order.
//! * Between threads there is no order, also none by cause and effect: a message sent because of another may arrive
//!   before it. A mailbox with a bound has one order for all its ordinary messages.
//! * Urgent messages come before ordinary ones, but not for ever: after [`URGENT_TURN`] of them in a row, the next receive
//!   is offered the ordinary ones first, all that were set aside and up to 128 new ones. Nor can urgent messages that nobody
//!   asks for: after 128 of them the search goes on with an ordinary one.
//! * A message that no handler is for is *set aside*, and stays before all that are behind it. Each receive looks at what is
//!   set aside from the beginning, so a mailbox that sets thousands aside and never asks for them gets slow.
//!
//! # Ends
//!
//! A mailbox ends with the function that was spawned, or when it is dropped. Sending then gives the value back. The messages
//! in it are dropped; each message is received or dropped exactly once, or comes back. Those linked to it are told with
//! [`LinkTerminated`], those it owns with [`OwnerTerminated`]: ordinary messages, behind all that its thread has sent, with the
//! text of its panic if it ended in one. A receive that has no handler for such an end returns it as an error.
//!
//! When nobody has an address, and nobody whose end it waits for is left, and nobody whom it owns, nothing can come any more:
//! receiving is an error, [`ReceiveError::Disconnected`], as with channels. (A message on its way that holds the address counts
//! as somebody. So does one that was [spawned](Mailbox::spawn) by the mailbox, until it has ended: it reaches its
//! [owner](Mailbox::owner).) This is for good, unless the mailbox itself undoes it: by giving its
//! [address](Mailbox::address) away once more, by a [link](Mailbox::link), or by spawning.
//!
//! Two that wait for nothing but each other, or each other's end, wait for ever: so does one that waits for those it owns,
//! while they wait for it. Who has something else to do tells them by a message that it needs no more.
//!
//! # At the end of a thread
//!
//! All of this can also be used while a thread's local values are being destroyed: sending, receiving, making mailboxes,
//! spawning, links, names. What such a thread sends has no order, and each of its messages has a lane of its own until it is
//! received. (On systems whose thread-locals are emulated it is not known then which thread this is: it waits for room
//! also in a mailbox of its own.)
//!
//! # Panics
//!
//! A message whose `drop` panics does so where it is dropped: in the sender that makes room by dropping it, or in the end of
//! the mailbox, when all others are dropped and whoever is to be told of the end has been told; of several panics the
//! first goes on. A thread that sends to a mailbox, or ends, while that one ends may have to drop what it has sent there; at
//! the end of a thread such a panic goes no further.
//!
//! # What it costs
//!
//! Each thread has a lane of the [funnel](crate::mpsc) to each mailbox that it sends to; it finds it in a table of its own. So
//! sending is wait-free and streams run without read-modify-writes, as in the funnel. A lane takes 512 bytes and a few
//! chunks. It ends with the thread, or with the mailbox: then its memory is freed when that thread sends there again, or
//! first sends to so many other mailboxes that it looks for lanes to give up. Lanes that are empty and were not used for
//! long are given up there as well, so a thread keeps at most 64, or twice as many as it uses. Clones of an address cost
//! nothing but a count.
//!
//! A value of up to three words travels in the message; a larger or over-aligned one in a box. A bounded mailbox is an
//! [exchange](crate::mpmc) instead of lanes, and sending executes a full fence.
//!
//! # When not to use it
//!
//! For one type of message a channel is faster and is checked by the compiler: that nobody asks for what somebody sends is
//! found out here only when it happens. For functions to be run, sockets and timers there are event loops. Where messages
//! must be received by several threads, or awaited by a task: these are channels' business.
//!
//! # As in D
//!
//! | `std.concurrency` | here | different |
//! |---|---|---|
//! | `spawn` | [`spawn`], [`Builder::spawn`] | a closure, and a thread handle if wanted; nobody owns it |
//! | `spawn` inside a thread with an owner | [`Mailbox::spawn`] | the owner is named, not found out |
//! | `spawnLinked` | [`Mailbox::spawn_linked`] | [`link`](Mailbox::link) and [`unlink`](Mailbox::unlink) also later, and between any two |
//! | `Tid` | [`Address`] | compared, ordered, hashed, printed; counted |
//! | `thisTid` | [`Mailbox::address`] | only threads with a mailbox have one |
//! | `ownerTid`, `TidMissingException` | [`Mailbox::owner`] | an `Option` |
//! | `send` | [`Address::send`] | says whether the mailbox has ended; several values are a tuple |
//! | `prioritySend` | [`Address::send_priority`] | cannot starve the others |
//! | `PriorityMessageException` | – | an urgent message that nobody asks for is set aside like any other |
//! | `receive` | [`receive!`](crate::receive), [`Mailbox::receive`] | handlers may `break`, `return` and use `?` |
//! | a handler that returns `false` | `where` in [`receive!`](crate::receive) | asked before, not by handling |
//! | a handler for `Variant` | a catch-all, with an [`Envelope`] | |
//! | `receiveTimeout` | [`receive_timeout!`](crate::receive_timeout), [`Mailbox::receive_timeout`] | an error says why |
//! | `receiveOnly!(A, B)` | [`Mailbox::receive_only`]`::<(A, B)>` | |
//! | `MessageMismatch` | [`ReceiveError::Mismatch`] | the message is not lost |
//! | `LinkTerminated`, `OwnerTerminated` | the same, as messages or [`ReceiveError`]s | with the panic's text |
//! | `setMaxMailboxSize` | [`Builder::bounded`] | from the beginning; what is set aside does not count |
//! | `OnCrowding.block`, `throwException`, `ignore` | [`Crowding::Block`], `Error`, `DropNewest` | and `DropOldest`; a thread never blocks itself |
//! | `MailboxFull` | [`SendError::Full`] | with the message |
//! | a function for `onCrowdingDoThis` | – | `Error` leaves the choice to the sender |
//! | `register`, `unregister`, `locate` | [`register`], [`unregister`], [`locate`] | a taken name is an error |
//! | only `shared` and `immutable` data | `Send + 'static` | checked by the compiler |
//! | `Scheduler`, `FiberScheduler`, `Generator` | – | threads are the system's; iterators are the language's |
//! | `initOnce` | `std::sync::OnceLock` | |

mod address;
mod builder;
mod envelope;
mod error;
mod inner;
mod macros;
#[allow(clippy::module_inception)]
mod mailbox;
mod outbox;
mod registry;
mod relations;
mod search;

pub use self::address::Address;
pub use self::builder::{Builder, spawn};
pub use self::envelope::Envelope;
pub use self::error::{ReceiveError, SendError};
pub use self::inner::Crowding;
pub use self::mailbox::Mailbox;
pub use self::registry::{RegisterError, locate, register, unregister};
pub use self::relations::{LinkTerminated, OwnerTerminated};
#[doc(hidden)]
pub use self::search::Search;
pub use self::search::URGENT_TURN;
