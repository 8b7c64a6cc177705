//! What each operation costs: one entry for each fact, from which the documentation of the methods and the tests are
//! made.
//!
//! `cost!(KIND NAME)` is the line of that fact, for `#[doc = cost!(..)]`. [`ALL`] has the same facts for
//! `tests/allocation/facts.rs`, which measures them. Constants only: nothing of this is in a program that does not
//! read it.

/// What an operation costs in one situation. A field is empty where it does not apply.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The kind and the name, as in `cost!`.
    pub name: &'static str,
    /// The line of the documentation.
    pub text: &'static str,
    /// Whether the operation allocates nothing once it has been performed before.
    pub allocates_nothing: bool,
    /// The largest number of system calls, with one sleep, and without those that yield the CPU; `None` where there is
    /// no such number.
    pub calls: Option<u32>,
}

/// The parts of a line.
macro_rules! cost_part {
    (situation -) => {
        ""
    };
    (situation $text:literal) => {
        concat!(", ", $text)
    };
    (allocates -) => {
        ""
    };
    (allocates no) => {
        " Allocates nothing."
    };
    (allocates (no $text:literal)) => {
        concat!(" Allocates nothing; ", $text, ".")
    };
    (allocates $text:literal) => {
        concat!(" Allocates: ", $text, ".")
    };
    (calls -) => {
        ""
    };
    (calls 0) => {
        " System calls: none."
    };
    (calls (0 $text:literal)) => {
        concat!(" System calls: none; ", $text, ".")
    };
    (calls ($most:literal $text:literal)) => {
        concat!(" System calls: ", $text, ".")
    };
    (calls $text:literal) => {
        concat!(" System calls: ", $text, ".")
    };
    (real_time -) => {
        ""
    };
    (real_time $word:ident) => {
        concat!(" Real-time: ", stringify!($word), ".")
    };
    (real_time $text:literal) => {
        concat!(" Real-time: ", $text, ".")
    };
    (cancel_safe -) => {
        ""
    };
    (cancel_safe $word:ident) => {
        concat!(" Cancel-safe: ", stringify!($word), ".")
    };
    (cancel_safe $text:literal) => {
        concat!(" Cancel-safe: ", $text, ".")
    };
    (nothing no) => {
        true
    };
    (nothing (no $text:literal)) => {
        true
    };
    (nothing $other:tt) => {
        false
    };
    (most 0) => {
        Some(0)
    };
    (most ($most:literal $text:literal)) => {
        Some($most)
    };
    (most $other:tt) => {
        None
    };
}

/// Each entry: the kind and the name; the situation, where a method has several; progress; what it allocates (`no`:
/// nothing); system calls at most, with their number where there is one; whether a real-time thread may call it; and
/// whether its future is cancel-safe. `-` is what does not apply.
macro_rules! facts {
    ($($kind:ident $name:ident: $situation:tt, $progress:literal, $allocates:tt, $calls:tt, $real_time:tt, $cancel_safe:tt;)*) => {
        /// The line of a fact.
        macro_rules! cost {
            $(($kind $name) => {
                concat!(
                    "\n**[Cost](crate#what-the-costs-mean)", cost_part!(situation $situation), ":** ", $progress, ".",
                    cost_part!(allocates $allocates), cost_part!(calls $calls), cost_part!(real_time $real_time),
                    cost_part!(cancel_safe $cancel_safe), "\n",
                )
            };)*
        }

        /// All facts.
        pub const ALL: &[Fact] = &[$(Fact {
            name: concat!(stringify!($kind), " ", stringify!($name)),
            text: cost!($kind $name),
            allocates_nothing: cost_part!(nothing $allocates),
            calls: cost_part!(most $calls),
        }),*];
    };
}

facts! {
    // Senders of spsc and mpsc.
    spsc SEND: "without a bound", "wait-free", "a chunk of up to 60 KiB if none has come back", (6 "1 to wake a sleeping receiver, 1 for a chunk, 4 for a region"), no, -;
    spsc SEND_ROOM: "with room", "wait-free", no, (1 "1 to wake a sleeping receiver"), yes, -;
    spsc SEND_WAIT: "without room", "blocks", no, (3 "1 to wake, 2 for each sleep; to yield"), no, -;
    spsc TRY_SEND_REFUSED: "attached, without room", "wait-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    spsc SEND_TASK: -, "wait-free polls", "as [`send`](Self::send)", (2 "1 to wake, 1 barrier"), -, "yes; the message is dropped";
    mpsc SEND: "without a bound", "wait-free", "a small chunk if none has come back", (6 "1 to wake a sleeping receiver, 1 for a chunk, 4 for a region"), no, -;
    mpsc SEND_ROOM: "with room", "wait-free", (no "its lane grows as it fills for the first time"), (1 "1 to wake a sleeping receiver"), "yes, once its lane has grown", -;
    mpsc SEND_WAIT: "without room", "blocks", no, (3 "1 to wake, 2 for each sleep; to yield"), no, -;
    mpsc TRY_SEND_REFUSED: "attached, without room", "wait-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    mpsc SEND_TASK: -, "wait-free polls", "as [`send`](Self::send)", (2 "1 to wake, 1 barrier"), -, "yes; the message is dropped";
    sender LIKE_SEND: -, "as [`send`](Self::send)", -, -, -, -;
    sender UNWRITE: -, "wait-free", no, 0, yes, -;
    sender FLUSH: -, "wait-free", no, (1 "1 to wake a sleeping receiver"), "yes, except for that call", -;
    sender READY: -, "wait-free polls", (no "the waker may"), (2 "1 to wake, 1 barrier"), -, yes;
    sender RESERVE: "with room", "wait-free", "as [`send`](Self::send)", "as [`send`](Self::send)", "as [`send`](Self::send)", -;
    sender RESERVE_WAIT: "without room", "blocks", no, "as [`send`](Self::send)", no, -;
    sender RESERVE_TASK: -, "wait-free polls", no, (2 "1 to wake, 1 barrier"), -, yes;
    sender PERMIT_SEND: -, "wait-free", no, (1 "1 to wake a sleeping receiver"), "yes, except for that call", -;
    sender SEND_BATCH_TASK: -, "wait-free polls", "as [`send`](Self::send)", (2 "1 to wake, 1 barrier"), -, "yes; the messages taken are sent";
    sender SEND_UNTIL_TASK: -, "wait-free polls", "as [`send`](Self::send)", (2 "1 to wake, 1 barrier"), -, "yes; the message is dropped";
    sender SINK: -, "wait-free polls; `mpmc`: lock-free", "as [`send`](Self::send); in a rendezvous a registration", (2 "1 to wake, 1 barrier"), -, "a fed message may be sent or dropped";
    sender CLOSE: -, "wait-free", no, (1 "1 to wake"), "yes, except for that call", -;
    sender CLOSED: -, "lock-free polls", "3 KiB once, and again for each 64 more that wait at once", -, -, yes;
    sender WAIT_CLOSED: -, "blocks", "3 KiB once, and again for each 64 more that wait at once", (2 "2 for each sleep: barrier, futex"), no, -;
    // Receivers of spsc and mpsc.
    spsc RECV: "with a message", "wait-free", no, (1 "1 to wake a sleeping sender"), yes, -;
    spsc RECV_BACKLOG: "with a backlog, without a bound", "wait-free", "once 1 KiB", "now and then 2 to give back chunks", no, -;
    spsc RECV_WAIT: "without a message", "blocks", no, (2 "2 for each sleep (barrier, futex); to yield"), no, -;
    spsc TRY_RECV: "unattached", "wait-free", no, (1 "1 to wake a sleeping sender"), yes, -;
    spsc TRY_RECV_EMPTY: "attached, empty", "wait-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    spsc RECV_TASK: -, "wait-free polls", (no "the waker may"), (2 "1 to wake, 1 barrier"), -, yes;
    spsc CLOSE: -, "wait-free, a load for every 7 messages or so", no, (2 "1 barrier, 1 for a sender that waits"), no, -;
    spsc LEN: -, "wait-free, a load for every 7 messages or so", no, 0, no, -;
    mpsc RECV: "with a message", "wait-free in the number of active lanes", (no "for more active lanes than before, a table"), (2 "1 to wake a sleeping sender, 1 barrier"), no, -;
    mpsc RECV_BACKLOG: "with a backlog, without a bound", "wait-free in the number of active lanes", "once 1 KiB for a lane", "now and then 2 to give back chunks", no, -;
    mpsc RECV_WAIT: "without a message", "blocks", no, (2 "2 for each sleep (barrier, futex); to yield"), no, -;
    mpsc TRY_RECV: "unattached", "wait-free in the number of active lanes", (no "for more active lanes than before, a table"), (2 "1 to wake a sleeping sender, 1 barrier"), no, -;
    mpsc TRY_RECV_EMPTY: "attached, empty", "wait-free in the number of active lanes", no, (2 "2 the first time (barrier, descriptor), then none"), no, -;
    mpsc RECV_TASK: -, "wait-free polls in the number of active lanes", (no "the waker may"), (2 "1 to wake, 1 barrier"), -, yes;
    mpsc CLOSE: -, "wait-free, a load for every 7 messages or so, and linear in the largest number of senders so far", "a list of the lanes", "1 barrier, 1 for each sender that waits", no, -;
    mpsc LEN: -, "wait-free, a load for every 7 messages or so", no, 0, no, -;
    receiver LIKE_RECV: -, "as [`recv`](Self::recv)", -, -, -, -;
    receiver RECV_BATCH: -, "as [`recv`](Self::recv)", "only in `to`", -, -, -;
    receiver SHRINK: -, "wait-free", no, "1 for each chunk that goes back", no, -;
    receiver LIKE_TRY_RECV: -, "as [`try_recv`](Self::try_recv)", -, -, -, -;
    receiver TRY_RECV_BATCH: -, "as [`try_recv`](Self::try_recv)", "only in `to`", -, -, -;
    receiver RECV_BATCH_TASK: -, "as [`recv_async`](Self::recv_async)", "only in `to`; the waker may", -, -, yes;
    // More of mpsc.
    mpsc CLONE: -, "lock-free", "the lane", 0, no, -;
    mpsc DROP: "on drop", "lock-free", no, (1 "1 to wake a sleeping receiver"), no, -;
    mpsc SHARE: -, "wait-free", no, 0, yes, -;
    mpsc SHARED_DROP: "on drop", "wait-free", no, (1 "the last one: 1 to wake"), yes, -;
    mpsc SHARED_SEND: -, "as [`Sender::send`]", "a thread's first time a lane, then as [`Sender::send`]", "as [`Sender::send`]", no, -;
    mpsc SHARED_TRY_SEND: -, "wait-free", "a thread's first time a lane, then as [`Sender::send`]", "as [`Sender::send`] with room", no, -;
    // mpmc.
    mpmc SEND: "with room", "lock-free", no, "1 to wake a receiver, for a batch more; to yield", yes, -;
    mpmc SEND_UNBOUNDED: "without a bound", "lock-free", "a segment if none is kept", "1 to wake a receiver, for a batch more; 2 for a segment, 4 for a region", no, -;
    mpmc SEND_WAIT: "without room", "blocks", (no "see [Memory](crate::mpmc#memory)"), (4 "1 to wake, 3 for each sleep; to yield"), no, -;
    mpmc TRY_SEND: "with room", "lock-free", no, (1 "1 to wake a receiver; to yield"), yes, -;
    mpmc TRY_SEND_REFUSED: "attached, without room", "lock-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    mpmc SEND_TASK: -, "lock-free polls", (no "the waker may"), (2 "1 to wake, 1 barrier"), -, "yes; a message not sent is dropped";
    mpmc SEND_BATCH_TASK: -, "lock-free polls", (no "the waker may"), "1 to wake each receiver, 1 barrier", -, "yes; a message not sent is still in the iterator, or dropped";
    mpmc SEND_UNTIL_TASK: -, "lock-free polls", (no "the waker and the other future may"), (2 "1 to wake, 1 barrier"), -, "yes; a message not sent is dropped";
    mpmc RECV: "with a message", "lock-free", no, (1 "1 to wake a sender"), yes, -;
    mpmc RECV_BACKLOG: "with a backlog, without a bound", "lock-free", no, "now and then 2 to give back pages", no, -;
    mpmc RECV_WAIT: "without a message", "blocks", (no "see [Memory](crate::mpmc#memory)"), (4 "1 to wake, 3 for each sleep; to yield"), no, -;
    mpmc TRY_RECV: "unattached", "lock-free", no, (1 "1 to wake a sender; to yield"), yes, -;
    mpmc TRY_RECV_EMPTY: "attached, empty", "lock-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    mpmc RECV_TASK: -, "lock-free polls", (no "the waker may"), (2 "1 to wake, 1 barrier"), -, yes;
    mpmc FORCE_SEND: -, "lock-free, except behind a [preempted peer](crate::mpmc#preempted-peers) or while permits hold all the room", no, (1 "1 to wake a receiver; to yield"), no, -;
    mpmc TRY_RESERVE: "with room", "lock-free", no, (1 "1 to wake a sender"), yes, -;
    mpmc PERMIT_DROP: "on drop", "lock-free", no, "1 to wake each sender for which there is room", yes, -;
    mpmc PERMIT_SEND: -, "lock-free, except behind a preempted `force_send`", no, (1 "1 to wake a receiver; to yield"), "yes, except during a `force_send`", -;
    mpmc RESERVE_WAIT: "without room", "blocks", (no "see [Memory](crate::mpmc#memory)"), "as [`send`](Self::send)", no, -;
    mpmc RESERVE_TASK: -, "lock-free polls", (no "the waker may"), (2 "1 to wake, 1 barrier"), -, "yes; it holds nothing";
    mpmc CLOSE: -, "lock-free", no, "1 for each thread that waits", no, -;
    mpmc SHRINK: -, "lock-free", no, "1 for each segment whose pages go back", no, -;
    mpmc CLOSED: -, "lock-free polls", (no "the waker may"), -, -, yes;
    mpmc WAIT_CLOSED: -, "blocks", (no "see [Memory](crate::mpmc#memory)"), (3 "3 for each sleep; to yield"), no, -;
    mpmc UPGRADE: -, "lock-free", no, 0, yes, -;
    mpmc LEN: -, "wait-free", no, 0, yes, -;
    mpmc CLONE: -, "wait-free", no, 0, yes, -;
    // Rendezvous: on the functions that make one.
    rendezvous TRY: "with a capacity of 0: `try_send`, `try_recv`", "a lock, held for some instructions, where a handle of the other side seems to wait", no, (3 "1 to wake, 2 for a lock that is held"), no, -;
    rendezvous WAIT: "with a capacity of 0: `send`, `recv` without a peer", "blocks", "two small blocks", "1 to wake, 2 for a lock that is held, 2 for each sleep; to yield", no, -;
    rendezvous TASK: "with a capacity of 0: futures", "polls with a lock", "two small blocks", (3 "1 to wake, 2 for a lock that is held"), -, "`recv_async`: yes; `send_async`: the message is dropped";
    // oneshot.
    oneshot CHANNEL: -, "as the allocator", "once", 0, no, -;
    oneshot SEND: -, "wait-free", (no "frees"), (1 "1 to wake"), "yes, except for that call", -;
    oneshot DROP: "on drop", "wait-free; a receiver that waits: lock-free", (no "frees"), (1 "1 to wake"), "yes, except for that call", -;
    oneshot RECV: "with the message", "wait-free", (no "frees"), 0, yes, -;
    oneshot RECV_WAIT: "without the message", "blocks", no, "1 for each sleep; to yield", no, -;
    oneshot TRY_RECV_EMPTY: "attached, empty", "wait-free", no, (1 "1 the first time (descriptor), then none"), "yes, except for that call", -;
    oneshot FUTURE: "as a future", "lock-free polls", (no "the waker may"), 0, -, "yes, by reference";
    oneshot CLOSED: -, "lock-free polls", "a box of two words; the waker may", 0, -, yes;
    oneshot WAIT_CLOSED: -, "blocks", no, "1 for each sleep; to yield", no, -;
    oneshot CLOSE: -, "lock-free", no, (1 "1 to wake"), "yes, except for that call", -;
    // watch.
    watch SEND: -, "a lock, held for a move, a closure or a check", no, "1 to wake each receiver that waits; 2 for a lock that is held", no, -;
    watch BORROW: -, "a lock, held for a check, and shared until the value is returned", no, (2 "2 for a lock that is held"), no, -;
    watch WAIT_FOR: "with such a value", "as [`borrow`](Self::borrow)", -, -, -, -;
    watch HAS_CHANGED: -, "wait-free", no, 0, yes, -;
    watch CHANGED: "with a value", "wait-free", no, 0, yes, -;
    watch CHANGED_ATTACHED: "attached, without a new value", "lock-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    watch CHANGED_WAIT: "without a value", "blocks", (no "see [Cost](crate::watch#cost)"), (2 "2 for each sleep; to yield"), no, -;
    watch WAIT_CLOSED: -, "blocks", (no "see [Cost](crate::watch#cost)"), (2 "2 for each sleep"), no, -;
    watch CHANGED_TASK: -, "lock-free polls", (no "the waker may"), (1 "1 barrier"), -, yes;
    watch SUBSCRIBE: -, "wait-free", no, 0, yes, -;
    watch DROP: "on drop", "wait-free", no, "the last handle of a side: 1 for each waiting handle of the other", yes, -;
    // statistics.
    statistics OBSERVER: -, "wait-free", no, 0, yes, -;
    statistics READ: -, "a lock, held for some instructions; for an `mpsc`, as many again for each sender", no, (2 "2 for a lock that is held"), no, -;
    // timer.
    timer TRY_RECV: -, "lock-free", no, (0 "the clock is read"), yes, -;
    timer RECV: "with a tick", "lock-free", no, (0 "the clock is read"), yes, -;
    timer RECV_WAIT: "without a tick", "blocks", no, "1 for each sleep", no, -;
    timer RECV_TASK: -, "lock-free polls", "tokio's timer", 0, -, yes;
    // broadcast.
    broadcast SEND: "with room", "lock-free", no, "1 to wake each receiver that sleeps; to yield", yes, -;
    broadcast SEND_WAIT: "without room", "blocks", (no "see [Cost](crate::broadcast#cost)"), (4 "1 to wake, 3 for each sleep; to yield"), no, -;
    broadcast RECV: "with a message", "lock-free", (no "`Clone` may"), (1 "1 to wake a sender; to yield"), "yes, except for `Clone`", -;
    broadcast RECV_WAIT: "without a message", "blocks", (no "see [Cost](crate::broadcast#cost)"), (4 "1 to wake, 3 for each sleep; to yield"), no, -;
    broadcast TRY_RECV: "unattached", "lock-free", (no "`Clone` may"), (1 "1 to wake a sender; to yield"), "yes, except for `Clone`", -;
    broadcast TRY_RECV_EMPTY: "attached, empty", "lock-free", no, (2 "2 the first time (barrier, descriptor), then none"), "yes, except for those calls", -;
    broadcast SEND_TASK: -, "lock-free polls", (no "the waker may"), "1 to wake each receiver, 1 barrier", -, "yes; a message not sent is dropped";
    broadcast SEND_UNTIL_TASK: -, "lock-free polls", (no "the waker and the other future may"), "1 to wake each receiver, 1 barrier", -, "yes; a message not sent is dropped";
    broadcast SEND_BATCH_TASK: -, "lock-free polls", (no "the waker may; where other senders take the room, a list"), "1 to wake each receiver, 1 barrier", -, "yes; a message not sent is still in the iterator, or dropped";
    broadcast RECV_TASK: -, "lock-free polls", (no "the waker and `Clone` may"), (2 "1 to wake, 1 barrier"), -, yes;
    broadcast TRY_RESERVE: "with room", "lock-free", no, 0, yes, -;
    broadcast PERMIT_DROP: "on drop", "lock-free", no, "1 to wake each sender for which there is room", yes, -;
    broadcast PERMIT_SEND: -, "lock-free, except behind a [preempted peer](crate::broadcast#permits)", no, "1 to wake each receiver that sleeps", yes, -;
    broadcast RESERVE_WAIT: "without room", "blocks", (no "see [Cost](crate::broadcast#cost)"), "as [`send`](Self::send)", no, -;
    broadcast RESERVE_TASK: -, "lock-free polls", (no "the waker may"), (1 "1 barrier"), -, "yes; it holds nothing";
    broadcast CLOSED: -, "lock-free polls", (no "the waker may"), (1 "1 barrier"), -, yes;
    broadcast SUBSCRIBE: -, "lock-free, linear in the receivers", "for 8, 24, 56 .. receivers", 0, no, -;
    broadcast DROP: "on drop", "lock-free, linear in the receivers", no, (1 "1 to wake"), no, -;
    // pool.
    pool TRY_TAKE: -, "lock-free; wait-free if the thread's magazines have a block", (no "see [Cost](crate::pool#cost)"), "1 barrier for each magazine stolen from", yes, -;
    pool TAKE: "with a block", "as [`try_take`](Self::try_take)", -, -, -, -;
    pool TAKE_TASK: -, "lock-free polls", (no "the waker may; see [Cost](crate::pool#cost)"), "1 barrier; 1 to wake", -, "yes; it takes nothing";
    pool TAKE_WAIT: "without a block", "blocks", (no "see [Cost](crate::pool#cost)"), "1 to wake, 3 for each sleep; to yield", no, -;
    pool DROP: "on drop", "lock-free; wait-free if the thread's magazine has room", (no "see [Cost](crate::pool#cost)"), (1 "1 to wake a taker"), yes, -;
    // mailbox.
    mailbox SEND: "without a bound", "wait-free", "a thread's first time a lane, then as an `mpsc`; a box beyond 3 words", (6 "1 to wake the mailbox, 1 for a chunk, 4 for a region"), no, -;
    mailbox SEND_ROOM: "with room, under a bound", "lock-free", "a box beyond 3 words", (1 "1 to wake the mailbox"), "yes, up to 3 words", -;
    mailbox SEND_WAIT: "without room, `Crowding::Block`", "blocks", "a box beyond 3 words", "3 for each sleep; to yield", no, -;
    mailbox SEND_CROWDED: "without room, any other `Crowding`", "lock-free; `DropOldest`: as [`force_send`](crate::mpmc::Sender::force_send)", "a box beyond 3 words", (1 "1 to wake the mailbox; `DropOldest`: to yield"), "yes, except with `DropOldest`", -;
    mailbox RECEIVE: "with a message", "as [`mpsc`](crate::mpsc) or, under a bound, [`mpmc`](crate::mpmc), and linear in the messages set aside", (no "when more are set aside than before, a list"), (2 "1 to wake a sender, 1 barrier"), no, -;
    mailbox RECEIVE_WAIT: "without a message", "blocks", (no "when more are set aside than before, a list"), (2 "2 for each sleep (barrier, futex); to yield"), no, -;
    mailbox RECEIVE_NOW: "with a timeout of zero", "as with a message", (no "when more are set aside than before, a list"), (2 "as `try_recv`"), no, -;
    mailbox CLONE: -, "wait-free", no, 0, yes, -;
    mailbox DROP: "on drop", "wait-free", no, (1 "the last one: 1 to wake"), yes, -;
    mailbox REGISTRY: -, "a lock, held for some instructions, to register also while the table grows", "yes", (2 "2 for a lock that is held"), no, -;
    mailbox EXIT: "on drop", "a lock, held for some instructions", "yes", (2 "2 for a lock that is held"), no, -;
    mailbox SPAWN: -, "a lock, held for some instructions", "yes", "a thread; 2 for a lock that is held", no, -;
    // Signalers and sets.
    signal SIGNAL: -, "wait-free", no, (1 "1 to wake"), "yes, except for that call", -;
    signal CHECK: -, "wait-free; with a descriptor lock-free", (no "many ids: the result does"), "1, in a race more", "yes, except for that call", -;
    signal POLL: -, "blocks", (no "many ids: the result does"), (2 "2 for each sleep"), no, -;
    signal ATTACH: -, "wait-free; `mpmc`, `oneshot`, `broadcast` and `watch`: lock-free", "less than 100 bytes, and the first time [a list](crate::mpmc#memory); a sender of an `mpsc` without a bound: for 64 and more senders", (1 "1"), no, -;
    signal DETACH: -, "wait-free; `mpmc`, `oneshot`, `broadcast` and `watch`: lock-free", no, (2 "1; `mpmc`: 2"), no, -;
    signal ADD_SHARED: -, "lock-free", "a watcher", (1 "1 to wake another that waits"), no, -;
    signal WAIT: -, "blocks; wait-free with a ready id; checks each timer", (no "many ids: the result does"), (2 "2 for each sleep"), no, -;
    select WAIT: "with an operation that can be done", "as that operation", no, "as that operation", "as that operation", -;
    select WAIT_SLEEP: "without one", "blocks", (no "the first time in a thread, and with `recv_any`, a list"), "2 for each sleep, 1 barrier for each handle", no, -;
    // hub.
    hub POST: -, "wait-free", "a chunk, as an `mpsc`; a box for more than three words", (6 "1 to wake a sleeping hub, 1 for a chunk, 4 for a region"), no, -;
    hub CLONE: -, "lock-free", "the lane", 0, no, -;
    hub DROP: "on drop", "lock-free", no, (1 "1 to wake a sleeping hub"), no, -;
    hub AFTER: -, "logarithmic in the timers", "as they grow; a box for more than three words", 0, no, -;
    hub EVERY: -, "logarithmic in the timers", "as they grow; a box", 0, no, -;
    hub CANCEL: -, "logarithmic in the timers", no, 0, no, -;
    hub RECEIVE: -, "wait-free", "a box", (1 "1"), no, -;
    hub WATCH: -, "logarithmic in the number of descriptors", "a box", (1 "1"), no, -;
    hub REMOVE: -, "wait-free; of descriptors logarithmic in their number", no, (1 "1"), no, -;
    hub RUN: "with something to do", "that of the handlers", no, "1 where descriptors are watched, and for each handler of one", no, -;
    hub RUN_WAIT: "without", "blocks", no, (2 "1 for each sleep; before the first sleep after an event, 1 and a barrier"), no, -;
}
