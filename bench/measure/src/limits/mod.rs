//! The baselines, the bare primitives without a queue: one file per kind, measured in the same rounds as the
//! transports.
//!
//! A baseline does the least that any transport of its kind must do, with no queue, and with only the checks that keep
//! the compiler from removing work. A figure alone means little. The ratio of a transport to its baseline means the
//! same on every machine.

pub mod atomics;
pub mod bandwidth;
pub mod blocks;
pub mod descriptors;
pub mod floor;
pub mod futex;
pub mod membarrier;
pub mod one_thread;
pub mod pairs;
pub mod priorities;
pub mod signals;
pub mod syscall;

use crate::error::Fault;
use crate::place::Place;
use crate::record::Unit;
use crate::stage::Timed;
use crate::stats::doubt::{FLOOR_MAY_MOVE, OTHERS_MAY_MOVE};

/// The CPUs that a baseline needs for a meaningful figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Two threads that run at the same time.
    TwoCpus,
    /// One CPU is enough; with two it uses the first, or sleeps across both.
    OneCpu,
}

/// One baseline. `run` measures about the given number of units; it may round up.
#[derive(Clone, Copy)]
pub struct Probe {
    pub name: &'static str,
    /// One sentence, without its full stop.
    pub about: &'static str,
    pub unit: Unit,
    pub needs: Needs,
    pub run: fn(Place, u64) -> Result<Timed, Fault>,
}

/// Whether messages that are ranked by the baseline of this name follow each other as fast as they can. Only then is
/// one divided by the time of a message a rate.
pub fn of_streams(name: &str) -> bool {
    [&HAND_OVER, &ONE_THREAD, &EVERY_CPU].iter().any(|probe| probe.name == name) || name.ends_with("handed over")
}

/// Whether the baseline of this name is the wake of a thread that sleeps on another CPU.
fn wakes(name: &str) -> bool {
    [&FUTEX, &EVENTFD, &EPOLL, &IDLE_WAKE].iter().any(|probe| probe.name == name)
}

/// The baseline that shows whether the machine was steady for transports whose own baseline has this name: one of the
/// same kind. A line between two spinning threads moves where a wake does not, and the other way round.
pub fn guard(own: &str) -> &'static Probe {
    match own {
        wake if wakes(wake) => &IDLE_WAKE,
        stream if of_streams(stream) => ALL.iter().find(|probe| probe.name == stream).unwrap_or(&HAND_OVER),
        one_cpu if one_cpu == FUTEX_ONE_CPU.name => &FUTEX_ONE_CPU,
        _ => &TWO_LINE_FLOOR,
    }
}

/// The share by which a guard may move in one round on a machine that is in one state.
pub fn may_move(guard: &str) -> f64 {
    if wakes(guard) || of_streams(guard) { OTHERS_MAY_MOVE } else { FLOOR_MAY_MOVE }
}

impl Probe {
    pub fn fits(&self, place: Place) -> bool {
        self.needs == Needs::OneCpu || !place.one_cpu()
    }
}

pub static TWO_LINE_FLOOR: Probe = Probe {
    name: "two-line baseline",
    about: "A word bounced between two spinning threads, each direction on a cache line of its own",
    unit: Unit::Message,
    needs: Needs::TwoCpus,
    run: floor::two_lines,
};

pub static ONE_LINE_FLOOR: Probe = Probe {
    name: "one-line baseline",
    about: "A word bounced between two spinning threads, both directions on one cache line",
    unit: Unit::Message,
    needs: Needs::TwoCpus,
    run: floor::one_line,
};

pub static HAND_OVER: Probe = Probe {
    name: "memory hand-over",
    about: "Numbers handed over in four blocks of 512 or 8,192 words, whichever is quicker",
    unit: Unit::Message,
    needs: Needs::TwoCpus,
    run: blocks::quicker,
};

pub static ONE_THREAD: Probe = Probe {
    name: "one thread",
    about: "One thread writing to and reading from the same ypipe: the instructions alone",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: one_thread::ypipe,
};

pub static EVERY_CPU: Probe = Probe {
    name: "one thread on every CPU",
    about: "The same on every CPU at once, each with a ypipe of its own: the instructions alone, shared by all",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: one_thread::ypipe_on_every_cpu,
};

pub static BYTES_64: Probe = Probe {
    name: "64 bytes handed over",
    about: "Memory hand-over of this size per message; on one CPU, the same filled and summed in the nearest cache",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: blocks::messages_of::<8>,
};

pub static BYTES_24: Probe = Probe { name: "24 bytes handed over", run: blocks::messages_of::<3>, ..BYTES_64 };

pub static BYTES_256: Probe = Probe { name: "256 bytes handed over", run: blocks::messages_of::<32>, ..BYTES_64 };

pub static BYTES_512: Probe = Probe { name: "512 bytes handed over", run: blocks::messages_of::<64>, ..BYTES_64 };

pub static BYTES_1K: Probe = Probe { name: "1 KiB handed over", run: blocks::messages_of::<128>, ..BYTES_64 };

pub static BYTES_2K: Probe = Probe { name: "2 KiB handed over", run: blocks::messages_of::<256>, ..BYTES_64 };

pub static BYTES_4K: Probe = Probe { name: "4 KiB handed over", run: blocks::messages_of::<512>, ..BYTES_64 };

pub static BYTES_16K: Probe = Probe { name: "16 KiB handed over", run: blocks::messages_of::<2048>, ..BYTES_64 };

pub static BYTES_64K: Probe = Probe { name: "64 KiB handed over", run: blocks::messages_of::<8192>, ..BYTES_64 };

pub static FUTEX: Probe = Probe {
    name: "raw futex",
    about: "Two threads waking each other through a private futex, never spinning",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: futex::ping_pong,
};

pub static FUTEX_ONE_CPU: Probe = Probe {
    name: "raw futex, one CPU",
    about: "The same with both threads on one CPU",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: futex::ping_pong_on_one_cpu,
};

pub static WAKE_BESIDE_NEIGHBOURS: Probe = Probe {
    name: "wake with neighbours",
    about: "From the futex wake to the first instruction of a thread that was asleep, with one on each CPU that only computes: p90",
    unit: Unit::Wake,
    needs: Needs::OneCpu,
    run: futex::wake_beside_neighbours,
};

pub static EVENTFD: Probe = Probe {
    name: "raw eventfd",
    about: "Two threads waking each other through blocking reads of two eventfds",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: descriptors::eventfd,
};

pub static EPOLL: Probe = Probe {
    name: "raw eventfd + epoll",
    about: "The same with an epoll_wait before each read",
    unit: Unit::Message,
    needs: Needs::OneCpu,
    run: descriptors::epoll,
};

pub static IDLE_WAKE: Probe = Probe {
    name: "wake after 200 us",
    about: "From the futex wake to the first instruction of a thread that had slept for 200 us, median",
    unit: Unit::Wake,
    needs: Needs::TwoCpus,
    run: futex::wake_of_an_idle_thread,
};

pub static MEMSET: Probe = Probe {
    name: "memset",
    about: "Filling 64 MiB on one thread",
    unit: Unit::Kibibyte,
    needs: Needs::OneCpu,
    run: bandwidth::memset,
};

pub static MEMCPY: Probe =
    Probe { name: "memcpy", about: "Copying 64 MiB on one thread", run: bandwidth::memcpy, ..MEMSET };

static ALL: &[Probe] = &[
    TWO_LINE_FLOOR,
    ONE_LINE_FLOOR,
    HAND_OVER,
    BYTES_24,
    BYTES_64,
    BYTES_256,
    BYTES_512,
    BYTES_1K,
    BYTES_2K,
    BYTES_4K,
    BYTES_16K,
    BYTES_64K,
    ONE_THREAD,
    EVERY_CPU,
    FUTEX,
    FUTEX_ONE_CPU,
    WAKE_BESIDE_NEIGHBOURS,
    EVENTFD,
    EPOLL,
    IDLE_WAKE,
    Probe {
        name: "membarrier, alone",
        about: "membarrier(2) while no other thread of the measurement exists",
        unit: Unit::Call,
        needs: Needs::OneCpu,
        run: membarrier::alone,
    },
    Probe {
        name: "membarrier, peer asleep",
        about: "membarrier(2) while the other thread sleeps",
        unit: Unit::Call,
        needs: Needs::TwoCpus,
        run: membarrier::peer_asleep,
    },
    Probe {
        name: "membarrier, peer running",
        about: "membarrier(2) while the other thread spins on its CPU",
        unit: Unit::Call,
        needs: Needs::TwoCpus,
        run: membarrier::peer_running,
    },
    Probe {
        name: "fence, private",
        about: "A store and a sequentially consistent fence, on a line no other thread uses",
        unit: Unit::Operation,
        needs: Needs::OneCpu,
        run: atomics::fence_private,
    },
    Probe {
        name: "fence, contended",
        about: "The same on a line the other thread stores to as well",
        unit: Unit::Operation,
        needs: Needs::TwoCpus,
        run: atomics::fence_contended,
    },
    Probe {
        name: "read-modify-write, private",
        about: "An atomic addition on a line no other thread uses",
        unit: Unit::Operation,
        needs: Needs::OneCpu,
        run: atomics::addition_private,
    },
    Probe {
        name: "read-modify-write, contended",
        about: "The same on a line the other thread adds to as well",
        unit: Unit::Operation,
        needs: Needs::TwoCpus,
        run: atomics::addition_contended,
    },
    Probe {
        name: "null system call",
        about: "getppid(2), which does almost nothing",
        unit: Unit::Call,
        needs: Needs::OneCpu,
        run: syscall::null,
    },
    MEMSET,
    MEMCPY,
];

pub fn all() -> &'static [Probe] {
    ALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_guarded_by_its_own() {
        let cases = [
            (&FUTEX, &IDLE_WAKE, OTHERS_MAY_MOVE),
            (&EPOLL, &IDLE_WAKE, OTHERS_MAY_MOVE),
            (&IDLE_WAKE, &IDLE_WAKE, OTHERS_MAY_MOVE),
            (&HAND_OVER, &HAND_OVER, OTHERS_MAY_MOVE),
            (&BYTES_64K, &BYTES_64K, OTHERS_MAY_MOVE),
            (&FUTEX_ONE_CPU, &FUTEX_ONE_CPU, FLOOR_MAY_MOVE),
            (&ONE_LINE_FLOOR, &TWO_LINE_FLOOR, FLOOR_MAY_MOVE),
        ];
        for (own, due, moves) in cases {
            assert_eq!((guard(own.name).name, may_move(due.name)), (due.name, moves), "{}", own.name);
        }
    }

    #[test]
    fn every_baseline_runs_at_least_the_units_it_was_asked_for() {
        let place = Place::choose(None).unwrap();
        for probe in ALL.iter().filter(|probe| probe.fits(place)) {
            match (probe.run)(place, 5) {
                Ok(timed) => assert!(timed.units >= 5, "{}", probe.name),
                // A filter may forbid membarrier; the runner warns and continues.
                Err(Fault::System(cause)) => assert!(probe.name.starts_with("membarrier"), "{}: {cause}", probe.name),
                Err(fault) => panic!("{} {fault}", probe.name),
            }
        }
    }
}
