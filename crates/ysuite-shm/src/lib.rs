#![doc = include_str!("../README.md")]
//!
//! # Features
//!
//! None is on by default.
//!
//! * `tokio`: `Async`, an end whose waits are futures.
//! * `mio`: ends are mio's `event::Source`.
//!
//! A time limit that the clock cannot hold, such as `Duration::MAX`, is none.
// Why it is as it is.
//
// **One memfd for each end, sealed `FUTURE_WRITE`.** Its owner alone writes it. So no read-modify-write crosses a process, a
// death leaves nothing half done that another must repair, and a liar spoils its own pages only. A peer's memory is mapped
// if it has the seals, the size and all its pages, of tmpfs: no read of it can fault.
//
// **A position is a claim.** It is loaded once and compared by subtraction with a private copy. The state of a group of
// slots is the position up to which it is published; any other value than this lap's or the last one's breaks the channel.
//
// **Sleeping** (`nap.rs`) needs no word that both write. Seven steps; `nap/models.rs` shows of each that a model deadlocks
// without it.
//
// **No crate wraps the system calls** (`os/sys.rs`). A program with this crate takes 1.2 times the CPU time to compile of one
// with `ysuite`, optimised 6.8 and 5.8 s, and otherwise 5.4 and 5.2; with `rustix` it was 2.7 times.
//
// **A bell is an eventfd in an epoll, for edges.** Nobody reads it: a sleep is one call and a ring is one. Beside pipe(2),
// one way, on one and on two processors: 1.0 and 1.0; with `poll` of three descriptors and a read 1.3 and 1.2; with a socket
// 1.6 and 1.3. The epoll also watches the peer's process and the socket, and is the end's descriptor.
//
// **No cheaper way of sleeping learns of a death.** Each is two calls and one switch a message; one way, on one processor, with
// calls that are inlined and with those of the C library: this epoll 2,250 and 2,950 ns, pipe(2) 2,210 and 2,900, a futex -
// and 2,900, `read` of an eventfd that blocks 1,960 and 2,560. A pipe whose end of file tells of the death would gain 2 %, and a
// forked child that has its writing end would hide the death. A `read` that blocks is told of a death by a thread that watches
// for it, or by a signal, and both belong to the program. The 300 ns between the columns are, for each call, the return behind
// it, on that virtual machine: who returns from `recv` has one in any case.
//
// **An eventfd can be filled by who shares it**, and a write to it made to block; no flag of a write prevents that. A peer of
// the same user could stop this process anyway. For others, and by `careful`, the socket is rung: its `MSG_DONTWAIT` holds.
//
// **Neither end asks or answers.** Each sends a hello when it is used first. So an end that was not used can be given away,
// a sender fills its ring before anybody is there, a busy end keeps no connecting one waiting, and a connection costs no round
// trip.
//
// **Three ways to learn of a death**: the page says *closed*; the process's descriptor, sent in the hello, or of the kernel
// (`SO_PEERPIDFD`) where the peer is not trusted; the hang-up of the socket, which also tells of a peer that executed another
// program.
//
// **A lane for each sender of a funnel**, with pages and a bell of its own, instead of one page and one bell for all: senders
// see nothing of each other, none can take another's wake-ups, and the bell says which lane it is. An idle lane stays armed.
//
// **A sender of many receivers has a page and a bell for each**, as the receiver of a funnel has, beside the memory that it
// writes once for all: so each pair sleeps and wakes as a pipe's ends do, by the same proofs. After each publication it
// reads one word of each receiver. One page for all would be read by all, and its fences promised to all.
//
// **A watch is a seqlock over many places**: a word that says which version is begun, instead of a number in each place. A
// reader fails only where the writer comes round while it copies, and needs no line that the writer reads.
//
// **A lossy broadcast is a seqlock over groups**: the state of a group says that it is entered, before a slot is written
// over. A receiver that was overtaken keeps the newest messages, as many as have room, and half as many each time that it is
// overtaken again at once: a fast sender would else never let it have one.
//
// **A loan is a ticket of a broadcast.** The ring has room for all tickets that can be on their way, so only slots are waited
// for. Who has a slot is in tables, a page of each receiver, and not in a count: `loan/mod.rs`.
//
// **Questions, answers and jobs of bytes have slots of the greatest length**, each with a word that says how many bytes there are, and
// not a ring of records: so a place, a position, a credit and the bits of a worker count messages, whatever they are, and all that is
// proved of them holds. The price is memory for the greatest, used or not; a message moves the lines that it has.
//
// **Standing off.** An end that has caught up with a stream pauses before it looks again. Stream of 8 bytes, in one run: 31
// to 119 ns without, 8.6 with 48 pauses, 5.3 with 120, 6.0 with 300; threads: 5.4. A writer that asks for its lines two groups ahead: 7.6 without, 5.6 with it.
//
// **A writer asks for every line of a later group, and at the ring's end for those at its front**: else each is fetched from the
// reader when it is written. A message of 128 bytes, broadcast into a ring that was read: 27.6 ns with one line, 17.6 with all; a
// stream of 256 bytes: 45.9 and 36.3. Not of long messages: see `ring/typed.rs`.
//
// **Groups are those of `ysuite`**, whose rule is copied, so that this crate does not depend on that one; a test compares. Of
// messages of 41 to 169 bytes each had a state of its own before. Streams of 48, 64, 96 and 128 bytes, bound 65,536: 9.0, 11.7,
// 14.7 and 20.0 ns before, 7.8, 9.8, 12.7 and 17.5 after. The price: one message alone, of 17 to 24 or 41 to 56 bytes, is in
// another line than its state. One way, spinning: 57 and 60 ns before, 65 and 72 after.
#![cfg(target_os = "linux")]
#![allow(clippy::result_large_err, reason = "an end that cannot be given away goes on")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod batch;
mod broadcast;
mod call;
mod end;
mod error;
mod funnel;
mod home;
#[cfg(all(test, not(ysuite_loom)))]
mod hostile;
#[cfg(any(feature = "mio", feature = "tokio"))]
mod integrations;
mod link;
mod listener;
mod loan;
mod nap;
mod options;
mod os;
mod page;
mod pipe;
mod ring;
mod sync;
mod watch;
mod work;

pub use self::broadcast::{BroadcastReceiver, BroadcastSender, BytesBroadcastSender};
pub use self::call::{BytesCaller, Caller, Pending, Question};
pub use self::error::{
    BroadcastError, CallError, Error, LoanError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError,
    TrySendError, Why,
};
pub use self::funnel::{Bytes, Carried, Copied, Ended, Event, Funnel};
#[cfg(feature = "tokio")]
pub use self::integrations::Async;
pub use self::listener::{Listener, connect};
pub use self::loan::{Borrowed, BorrowedReader, Loan, LoanReceiver, LoanSender};
pub use self::options::Options;
pub use self::pipe::{BytesReceiver, BytesSender, IntoIter, Iter, Receiver, Sender, TryIter, pipe, pipe_bytes};
pub use self::watch::{BytesWatchSender, WatchReceiver, WatchSender};
pub use self::work::{BytesWorkSender, Job, WorkReceiver, WorkSender};
#[doc(no_inline)]
pub use zerocopy;

/// A type that can be a message: any bytes are a value of it, and it has no padding by which memory would leak to the
/// peer. Derive `FromBytes`, `IntoBytes`, `Immutable` and `KnownLayout` of [`zerocopy`]. Its alignment is 64 bytes at
/// most.
pub trait Message:
    zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::KnownLayout + Send + 'static
{
}

impl<T> Message for T where
    T: zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::KnownLayout + Send + 'static
{
}
