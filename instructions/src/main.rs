//! Every operation of every channel, by one thread, so many times: what `ci/instructions` counts the instructions of.
//!
//! `cargo run --release -p instructions` names them all, and runs each.
//!
//! Nothing here waits for anybody, so the same program always takes the same instructions. Each operation is a function
//! that is never inlined, and so has a name in a profile. It is called to warm up, then once, and then for twice as many
//! messages, each from a function of its own: the difference of the last two is the messages' alone, without what making and
//! dropping the channel takes. Two operations that belong together, such as a send and its receive, count as one message.

mod broadcast;
mod mailbox;
mod mpmc;
mod oneshot;
mod pipes;
mod polled;
mod pool;
mod rendezvous;
mod select;
mod signals;
mod watch;

use std::hint::black_box;

/// What is counted: its name in a profile, and how it is run for so many messages.
struct Operation {
    name: &'static str,
    run: fn(u64),
}

/// Of a burst, such as a backlog that is sent whole before any of it is received, so many; a whole number of them fits.
const BURST: u64 = 512;
const MESSAGES: u64 = 8 * BURST;

/// The capacity of whatever has a bound.
const CAPACITY: usize = 1_024;

/// Operations of one kind, in the order in which they are written: each with its name, for so many messages.
macro_rules! operations {
    ($($name:ident($messages:ident) $body:block)+) => {
        $(
            #[inline(never)]
            fn $name($messages: u64) $body
        )+

        pub(crate) static ALL: &[crate::Operation] =
            &[$(crate::Operation { name: concat!(module_path!(), "::", stringify!($name)), run: $name }),+];
    };
}
use operations;

static EVERY: &[&[Operation]] = &[
    pipes::spsc::ALL,
    pipes::spsc_bounded::ALL,
    pipes::mpsc::ALL,
    pipes::mpsc_bounded::ALL,
    pipes::ends::ALL,
    mpmc::bounded::ALL,
    mpmc::unbounded::ALL,
    mpmc::with_a_bound::ALL,
    rendezvous::ALL,
    oneshot::ALL,
    broadcast::ALL,
    watch::ALL,
    select::ALL,
    signals::ALL,
    mailbox::ALL,
    pool::ALL,
];

#[inline(never)]
fn warm_up(operation: &Operation) {
    (operation.run)(black_box(MESSAGES));
}

#[inline(never)]
fn once(operation: &Operation) {
    (operation.run)(black_box(MESSAGES));
    black_box(());
}

#[inline(never)]
fn twice(operation: &Operation) {
    (operation.run)(black_box(2 * MESSAGES));
    black_box(());
}

fn main() {
    // As in a process that has had long streams: publishers have given up their fences.
    ysuite::prepare();
    println!("messages {MESSAGES}");
    for operation in EVERY.iter().copied().flatten() {
        println!("operation {}", operation.name);
        warm_up(operation);
        once(operation);
        twice(operation);
    }
}
