//! The cost of the C and C++ binding: our spsc from there compared with our spsc in Rust, in the same rounds.
//!
//! ```text
//! cargo run --release -p ybench-native --features native --example binding [rounds [words]]
//! ```
//!
//! With words: only those comparisons whose headings contain them.
//!
//! In every round each runs once, one after the other, in an order that is rotated from round to round. Each is divided
//! by the first in the same round, which is Rust one by one. The output has medians and quartiles of these ratios, so a
//! machine with other users makes figures wide, not wrong. A missed goal does not end it with an error: the figures are
//! for reading.
//!
//! | file | contents |
//! |---|---|
//! | `foreign` | the loops in C and C++ |
//! | `plain` | the same in Rust |
//! | `rounds` | rounds, ratios and their output |

#[cfg(target_os = "linux")]
mod foreign;
#[cfg(target_os = "linux")]
mod plain;
#[cfg(target_os = "linux")]
mod rounds;

#[cfg(target_os = "linux")]
fn main() {
    measured::all();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod measured {
    use std::time::Instant;

    use ybench_measure::place::{Place, pin};
    use ybench_measure::registry;
    use ybench_measure::scenario::Entry;

    use super::foreign::{self, Binding, Loop};
    use super::plain;
    use super::rounds::{Contender, Rounds};

    /// Messages of a figure in one thread: a few milliseconds.
    const MESSAGES: usize = 1 << 20;
    /// This number is sent before it is received: a stream whose receiver follows closely.
    const BURST: usize = 256;
    /// The messages of one call in batches.
    const BATCH: usize = 32;
    /// Messages of a stream between two threads, and of a ping-pong.
    const STREAMED: u64 = 1 << 21;
    const BOUNCED: u64 = 1 << 15;

    const INLINE: f64 = 1.5;
    const CALLS: f64 = 3.0;
    const RUNS: f64 = 1.15;
    const TWO_THREADS: f64 = 1.15;

    pub(super) fn all() {
        let rounds = Rounds::from_arguments("binding", 21);
        let rounds = &rounds;
        registry::welcome(ybench_native::entries()).expect("no name is there twice");
        two_threads(rounds);
        // From here on this thread does all of the work.
        pin(Place::choose(None).expect("there is a CPU").cpus()[0]).expect("the CPU is one of ours");
        let [c, cpp] = [foreign::of_c(), foreign::of_cpp()];
        one_thread::<1>(rounds, &c[0], &cpp[0]);
        one_thread::<3>(rounds, &c[1], &cpp[1]);
        one_thread::<8>(rounds, &c[2], &cpp[2]);
        one_thread::<16>(rounds, &c[3], &cpp[3]);
    }

    /// Nanoseconds a message, after a few that are not timed.
    fn timed(mut run: impl FnMut(usize) -> bool) -> f64 {
        assert!(run(MESSAGES / 64), "a message was not received as it was sent");
        let start = Instant::now();
        assert!(run(MESSAGES), "a message was not received as it was sent");
        start.elapsed().as_nanos() as f64 / MESSAGES as f64
    }

    fn one_thread<const WORDS: usize>(rounds: &Rounds, c: &'static Binding, cpp: &'static Binding) {
        let bytes = WORDS * size_of::<usize>();
        assert!(c.bytes == bytes && cpp.bytes == bytes, "the tables are in the order of their sizes");
        let there = |name, binding: &'static Binding, window, burst, run: Option<Loop>, goal| {
            let run = run.expect("there is such a loop");
            let time =
                move || foreign::opened(binding, window, |ends| timed(|count| run.call(ends, count, burst, BATCH)));
            Contender::new(name, goal, time)
        };
        let here = |name, burst, run: fn(&mut plain::Ends<WORDS>, usize, usize, usize) -> bool| {
            let time = move || {
                let mut ends = plain::open();
                timed(|count| run(&mut ends, count, burst, BATCH))
            };
            Contender::new(name, None, time)
        };
        rounds.compare(
            &format!("one thread, {bytes} bytes, {BURST} sent and then received: ns for send and receive"),
            &[
                here("Rust, one by one", BURST, plain::one_by_one),
                there("C, inline", c, true, BURST, c.inlined, Some(INLINE)),
                there("C++, inline", cpp, true, BURST, cpp.inlined, Some(INLINE)),
                there("C, calls", c, false, BURST, c.calls, Some(CALLS)),
                there("C, calls with an open window", c, true, BURST, c.calls, None),
                there("C, runs", c, true, BURST, c.runs, Some(RUNS)),
                there("C++, runs", cpp, true, BURST, cpp.runs, Some(RUNS)),
                there("C, runs without a window", c, false, BURST, c.runs, Some(RUNS)),
                here("Rust, permits and peek_run", BURST, plain::in_place),
                there("C, batches of 32", c, true, BURST, c.batches, None),
                here("Rust, batches of 32", BURST, plain::batches),
            ],
        );
        rounds.compare(
            &format!("one thread, {bytes} bytes, each received before the next is sent: ns for send and receive"),
            &[
                here("Rust, one by one", 1, plain::one_by_one),
                there("C, inline", c, true, 1, c.inlined, Some(INLINE)),
                there("C++, inline", cpp, true, 1, cpp.inlined, Some(INLINE)),
                there("C, calls", c, false, 1, c.calls, Some(CALLS)),
            ],
        );
    }

    fn two_threads(rounds: &Rounds) {
        let place = Place::choose(None).expect("there is a CPU");
        let named = |name: &str| registry::named(name).unwrap_or_else(|| panic!("there is no {name}"));
        let of = |about, name, goal, time: fn(&'static Entry, Place) -> f64| {
            let entry = named(name);
            Contender::new(about, goal, move || time(entry, place))
        };
        let all = |time| {
            [
                of("Rust", "spsc", None, time),
                of("C, inline", "ysuite-c-spsc", Some(TWO_THREADS), time),
                of("C++, inline", "ysuite-cpp-spsc", Some(TWO_THREADS), time),
                of("C, calls", "ysuite-c-spsc-by-calls", Some(TWO_THREADS), time),
            ]
        };
        rounds.compare(
            "two threads, a stream of 8 bytes one by one: ns a message",
            &all(|entry, place| {
                let timed = (entry.throughput)(place, STREAMED);
                timed.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name)).nanoseconds_per_unit()
            }),
        );
        rounds.compare(
            "two threads, one message of 8 bytes bounced: ns one way",
            &all(|entry, place| {
                let bounced = (entry.ping_pong)(place, BOUNCED, None);
                bounced.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name)).nanoseconds
            }),
        );
        let batches = |about, name, goal| {
            let entry = named(name);
            Contender::new(about, goal, move || {
                let timed = (entry.batches)(place, STREAMED, BATCH);
                timed.unwrap_or_else(|fault| panic!("{} {fault}", entry.traits.name)).nanoseconds_per_unit()
            })
        };
        rounds.compare(
            "two threads, a stream of 8 bytes 32 at a time: ns a message",
            &[
                batches("Rust", "spsc-batch", None),
                batches("C, runs", "ysuite-c-spsc", Some(TWO_THREADS)),
                batches("C++, runs", "ysuite-cpp-spsc", Some(TWO_THREADS)),
            ],
        );
    }
}
