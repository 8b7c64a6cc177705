//! Each operation of each channel, run by one thread. `ci/steps/instructions` counts the instructions of each.
//!
//! `cargo run --release -p instructions` names all operations, and runs each.
//!
//! No operation waits for another thread, so the same program always takes the same instructions. Each operation is a
//! function that is never inlined, so it has a name in a profile. It is called once to warm up, once for `MESSAGES`
//! messages, and once for twice that number. Each of these calls comes from a function of its own. The difference of the
//! last two is the cost of the messages alone, without making and dropping the channel. Two operations that belong
//! together, such as a send and its receive, count as one message.

mod batches;
mod broadcast;
mod mailbox;
mod mpmc;
mod oneshot;
mod polled;
mod pool;
mod rendezvous;
mod select;
mod signals;
mod spsc_and_mpsc;
mod watch;

use std::hint::black_box;

/// A counted operation: its name in a profile, and the function that runs it for a number of messages.
struct Operation {
    name: &'static str,
    run: fn(u64),
}

/// The messages of a burst, all sent before the first is received. `MESSAGES` is a multiple of it.
const BURST: u64 = 512;
const MESSAGES: u64 = 8 * BURST;

/// The capacity of each bounded channel.
const CAPACITY: usize = 1_024;

/// Operations of one kind, in source order: each has a name, and a parameter for the number of messages.
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
    spsc_and_mpsc::spsc::ALL,
    spsc_and_mpsc::spsc_bounded::ALL,
    spsc_and_mpsc::mpsc::ALL,
    spsc_and_mpsc::mpsc_bounded::ALL,
    spsc_and_mpsc::handles::ALL,
    mpmc::mpmc_bounded::ALL,
    mpmc::mpmc_unbounded::ALL,
    mpmc::mpmc_with_a_bound::ALL,
    batches::spsc_batches::ALL,
    batches::mpmc_bounded_batches::ALL,
    batches::mpmc_unbounded_batches::ALL,
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
    // The state of a process after long streams: publishers use no fences any more.
    ysuite::prepare();
    println!("messages {MESSAGES}");
    for operation in EVERY.iter().copied().flatten() {
        println!("operation {}", operation.name);
        warm_up(operation);
        once(operation);
        twice(operation);
    }
}
