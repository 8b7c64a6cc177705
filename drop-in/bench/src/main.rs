//! The facades beside their originals, in pairs: `cargo run --release -p facade-bench [ROUNDS]`. Prints, for each
//! operation, the best time of either in nanoseconds, and theirs divided by ours. The rounds alternate.
//!
//! For a look: a round takes about a millisecond, so that one of many is undisturbed. Figures to rely on are those of `ybench`.
//!
//! `facade-bench (theirs | ours) NAME TIMES` performs the one operation of that name, and prints nothing: for `valgrind`.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is to be done with the operations.
enum Task {
    /// In rounds.
    Measure(u32),
    /// Ours or theirs, of this name, `n` times.
    Perform(bool, String, u32),
}

impl Task {
    fn of(arguments: &[String]) -> Option<Self> {
        match arguments {
            [] => Some(Self::Measure(200)),
            [rounds] => Some(Self::Measure(rounds.parse().ok()?)),
            [side, name, times] if matches!(side.as_str(), "theirs" | "ours") => {
                Some(Self::Perform(side == "ours", name.clone(), times.parse().ok()?))
            }
            _ => None,
        }
    }

    /// Whether there was an operation of this name.
    fn pair(&self, name: &str, count: u32, theirs: impl Fn(u32), ours: impl Fn(u32)) -> bool {
        match self {
            Self::Measure(rounds) => {
                measure(name, *rounds, count, theirs, ours);
                return true;
            }
            Self::Perform(_, wanted, _) if wanted != name => return false,
            Self::Perform(true, _, times) => ours(*times),
            Self::Perform(false, _, times) => theirs(*times),
        }
        true
    }
}

/// The best of several rounds, in nanoseconds for each operation.
fn measure(name: &str, rounds: u32, count: u32, theirs: impl Fn(u32), ours: impl Fn(u32)) {
    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        for (best, run) in best.iter_mut().zip([&theirs as &dyn Fn(u32), &ours]) {
            let begin = Instant::now();
            run(count);
            *best = (*best).min(begin.elapsed());
        }
    }
    let [theirs, ours] = best.map(|time| time.as_nanos() as f64 / f64::from(count));
    println!("{name:<42} {theirs:>9.1} {ours:>9.1} {:>6.2}", theirs / ours);
}

/// The operations of a crate with crossbeam's interface.
macro_rules! crossbeam {
    ($name:ident, $channel:ident) => {
        mod $name {
            use super::black_box;
            use std::thread;
            use std::time::Duration;
            use $channel::{Receiver, Select, Sender, bounded, select, unbounded};

            pub(crate) fn one_ready(count: u32) {
                let ((sender, receiver), (_idle, idle_in)) = (bounded(8), bounded::<u32>(8));
                for number in 0..count {
                    sender.send(number).unwrap();
                    select! { recv(receiver) -> got => black_box(got), recv(idle_in) -> got => black_box(got) }
                        .unwrap();
                }
            }

            pub(crate) fn send_ready(count: u32) {
                let ((sender, receiver), (_idle, idle_in)) = (bounded(8), bounded::<u32>(8));
                for number in 0..count {
                    select! { send(sender, number) -> sent => sent.unwrap(), recv(idle_in) -> _ => {} }
                    black_box(receiver.recv().unwrap());
                }
            }

            pub(crate) fn nothing(count: u32) {
                let ((_one, one_in), (_two, two_in)) = (bounded::<u32>(8), unbounded::<u32>());
                for _ in 0..count {
                    select! { recv(one_in) -> got => { black_box(got).unwrap(); }, recv(two_in) -> _ => {}, default => {} }
                }
            }

            pub(crate) fn listed(count: u32) {
                let ((sender, receiver), (_idle, idle_in)) = (bounded(8), bounded::<u32>(8));
                let mut select = Select::new();
                let (one, _) = (select.recv(&receiver), select.recv(&idle_in));
                for number in 0..count {
                    sender.send(number).unwrap();
                    let chosen = select.select();
                    assert_eq!(chosen.index(), one);
                    black_box(chosen.recv(&receiver).unwrap());
                }
            }

            /// Each side waits by a select of two.
            pub(crate) fn blocking(count: u32) {
                let ((ping, ping_in), (pong, pong_in)) = (bounded(1), bounded(1));
                let (_idle, idle_in) = bounded::<u32>(1);
                let wait = |receiver: &Receiver<u32>| {
                    select! { recv(receiver) -> got => got.unwrap(), recv(idle_in) -> got => got.unwrap() }
                };
                thread::scope(|scope| {
                    scope.spawn(|| (0..count).for_each(|_| pong.send(wait(&ping_in)).unwrap()));
                    for number in 0..count {
                        ping.send(number).unwrap();
                        black_box(wait(&pong_in));
                    }
                });
            }

            pub(crate) fn alone(count: u32) {
                let (sender, receiver) = bounded(1_024);
                for number in 0..count {
                    sender.send(number).unwrap();
                    black_box(receiver.recv().unwrap());
                }
            }

            fn stream((sender, receiver): (Sender<u32>, Receiver<u32>), count: u32) {
                thread::scope(|scope| {
                    scope.spawn(move || (0..count).for_each(|number| sender.send(number).unwrap()));
                    assert_eq!(receiver.iter().count() as u32, count);
                });
            }

            pub(crate) fn bounded_stream(count: u32) {
                stream(bounded(1_024), count);
            }

            pub(crate) fn unbounded_stream(count: u32) {
                stream(unbounded(), count);
            }

            pub(crate) fn hand(count: u32) {
                stream(bounded(0), count);
            }

            pub(crate) fn make_bounded(count: u32) {
                (0..count).for_each(|_| drop(black_box(bounded::<u64>(1))));
            }

            pub(crate) fn make_hand(count: u32) {
                (0..count).for_each(|_| drop(black_box(bounded::<u64>(0))));
            }

            pub(crate) fn make_unbounded(count: u32) {
                (0..count).for_each(|_| drop(black_box(unbounded::<u64>())));
            }

            pub(crate) fn make_and_use(count: u32) {
                for number in 0..count {
                    let (sender, receiver) = unbounded();
                    sender.send(number).unwrap();
                    assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok(number));
                }
            }
        }
    };
}

crossbeam!(theirs, crossbeam_channel);
crossbeam!(ours, ysuite_crossbeam);

/// The operations of a crate with async-channel's or flume's interface, which have these in common.
macro_rules! simple {
    ($name:ident, $channel:ident, $send:ident, $recv:ident) => {
        mod $name {
            use super::black_box;
            use std::thread;
            use $channel::{bounded, unbounded};

            pub(crate) fn alone(count: u32) {
                let (sender, receiver) = bounded(1_024);
                for number in 0..count {
                    sender.$send(number).unwrap();
                    black_box(receiver.$recv().unwrap());
                }
            }

            pub(crate) fn stream(count: u32) {
                let (sender, receiver) = bounded(1_024);
                thread::scope(|scope| {
                    scope.spawn(move || (0..count).for_each(|number| sender.$send(number).unwrap()));
                    (0..count).for_each(|number| assert_eq!(receiver.$recv(), Ok(number)));
                });
            }

            pub(crate) fn make(count: u32) {
                (0..count).for_each(|_| drop(black_box(unbounded::<u64>())));
            }
        }
    };
}

simple!(their_async, async_channel, send_blocking, recv_blocking);
simple!(our_async, ysuite_async_channel, send_blocking, recv_blocking);
simple!(their_flume, flume, send, recv);
simple!(our_flume, ysuite_flume, send, recv);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(task) = Task::of(&arguments) else {
        eprintln!("facade-bench [ROUNDS]\nfacade-bench (theirs | ours) NAME TIMES");
        std::process::exit(2);
    };
    if let Task::Measure(_) = task {
        println!("{:<42} {:>9} {:>9} {:>6}", "ns per operation, the best of each", "theirs", "ours", "ratio");
    }
    if !every(&task) {
        eprintln!("facade-bench: no operation of this name: {}", arguments[1]);
        std::process::exit(2);
    }
}

/// Whether there was one for this task.
fn every(task: &Task) -> bool {
    let mut is_found = false;
    macro_rules! pairs {
        ($theirs:ident, $ours:ident: $($count:literal $name:literal $run:ident)*) => {
            $(is_found |= task.pair($name, $count, $theirs::$run, $ours::$run);)*
        };
    }
    pairs! { theirs, ours:
        5_000 "select! of two, one ready (with its send)" one_ready
        5_000 "select! of a send (with its receive)" send_ready
        5_000 "select! with default, nothing there" nothing
        5_000 "Select, one ready (with its send)" listed
        500 "blocking select! of two, round trip" blocking
        20_000 "one thread, send and receive" alone
        20_000 "stream, 1,024" bounded_stream
        20_000 "stream, unbounded" unbounded_stream
        500 "stream, capacity 0" hand
        2_000 "bounded(1), made and dropped" make_bounded
        2_000 "bounded(0), made and dropped" make_hand
        2_000 "unbounded, made and dropped" make_unbounded
        2_000 "unbounded, made, used once, dropped" make_and_use
    }
    pairs! { their_async, our_async:
        20_000 "async-channel: one thread" alone
        20_000 "async-channel: stream, 1,024" stream
        2_000 "async-channel: unbounded, made and dropped" make
    }
    pairs! { their_flume, our_flume:
        20_000 "flume: one thread" alone
        20_000 "flume: stream, 1,024" stream
        2_000 "flume: unbounded, made and dropped" make
    }
    is_found
}
