//! A signal by itself, with no message and no sleeping thread: the cost of raising one, and of polling a set with one
//! raised.
//!
//! ```text
//!   one thread     signal set 0, signal set 1 ... set 63 | poll set 0, poll set 1 ... set 63 | again
//!   two CPUs       the first raises all of them          | the second polls them             | in turn
//! ```
//!
//! A signal that is raised already costs less than one that is not, and a single one is too short for a clock. Hence
//! there are many sets, each raised once, then each polled once. Only one of the two is timed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};

use super::{Needs, Probe};
use crate::error::Fault;
use crate::place::Place;
use crate::record::Unit;
use crate::stage::{Timed, duet, solo};

const SETS: usize = 64;

/// One of the three signalers, as its waiting side.
trait Kind: Wait + Send + 'static {
    fn make() -> io::Result<(Self, impl Signal + Send + 'static)>
    where
        Self: Sized;
}

macro_rules! kind {
    ($kind:ty, $made:expr) => {
        impl Kind for $kind {
            fn make() -> io::Result<(Self, impl Signal + Send + 'static)> {
                let set: Self = $made;
                let signaler = set.signaler();
                Ok((set, signaler))
            }
        }
    };
}

kind!(YSemaphore, Self::new());
kind!(YPollset, Self::new());
kind!(YSocketpair, Self::new()?);

/// The timed operation.
const SIGNAL: bool = true;
const POLL: bool = false;

fn raise(signalers: &[impl Signal]) -> Duration {
    let start = Instant::now();
    signalers.iter().for_each(|signaler| signaler.signal(0));
    start.elapsed()
}

/// No thread sleeps in these: every set has a signal raised.
fn find(sets: &mut [impl Wait]) -> Result<Duration, Fault> {
    let start = Instant::now();
    let found: usize = sets.iter_mut().map(|set| set.wait().count()).sum();
    let elapsed = start.elapsed();
    if found == SETS { Ok(elapsed) } else { Err(Fault::Lost { expected: SETS - found.min(SETS) }) }
}

type Ends<K, S> = (Vec<K>, Vec<S>);

fn ends<K: Kind>() -> io::Result<Ends<K, impl Signal + Send + 'static>> {
    (0..SETS).map(|_| K::make()).collect::<io::Result<Vec<_>>>().map(|pairs| pairs.into_iter().unzip())
}

fn timed(elapsed: Duration, turns: u64) -> Timed {
    Timed { elapsed, units: turns * SETS as u64 }
}

fn turns(calls: u64) -> u64 {
    calls.div_ceil(SETS as u64).max(1)
}

fn alone<K: Kind, const WHAT: bool>(place: Place, calls: u64) -> Result<Timed, Fault> {
    let (mut sets, signalers) = ends::<K>()?;
    solo(place.first, move || {
        let mut elapsed = Duration::ZERO;
        for _ in 0..turns(calls) {
            let (raised, found) = (raise(&signalers), find(&mut sets)?);
            elapsed += if WHAT == SIGNAL { raised } else { found };
        }
        Ok(timed(elapsed, turns(calls)))
    })?
}

fn across<K: Kind, const WHAT: bool>(place: Place, calls: u64) -> Result<Timed, Fault> {
    let (mut sets, signalers) = ends::<K>()?;
    // Even while the first thread raises, odd while the second polls.
    let turn = Arc::new(CachePadded::new(AtomicU64::new(0)));
    let others = turn.clone();
    let (raised, found) = duet(
        place,
        calls,
        move |gate| {
            gate.pass();
            let mut elapsed = Duration::ZERO;
            for now in 0..turns(calls) {
                wait_for(&turn, 2 * now);
                elapsed += raise(&signalers);
                // ORDERING: Release pairs with the Acquire in `wait_for`.
                turn.store(2 * now + 1, Ordering::Release);
            }
            elapsed
        },
        move |gate| {
            gate.pass();
            let mut elapsed = Ok::<_, Fault>(Duration::ZERO);
            for now in 0..turns(calls) {
                wait_for(&others, 2 * now + 1);
                let found = find(&mut sets);
                // ORDERING: Release pairs with the Acquire in `wait_for`.
                others.store(2 * now + 2, Ordering::Release);
                // The other thread gets its turns in any case.
                elapsed = elapsed.and_then(|elapsed| Ok(elapsed + found?));
            }
            elapsed
        },
    )?;
    let found = found?;
    Ok(timed(if WHAT == SIGNAL { raised } else { found }, turns(calls)))
}

fn wait_for(turn: &AtomicU64, wanted: u64) {
    // ORDERING: Acquire pairs with the Release of the thread whose turn it was.
    while turn.load(Ordering::Acquire) < wanted {
        std::hint::spin_loop();
    }
}

const fn probe(name: &'static str, needs: Needs, run: fn(Place, u64) -> Result<Timed, Fault>) -> Probe {
    let about = match needs {
        Needs::OneCpu => "A signal raised, or a poll that finds one, on one thread and never a reader asleep",
        Needs::TwoCpus => "The same between two CPUs: one raises, the other polls, never asleep",
    };
    Probe { name, about, unit: Unit::Call, needs, run }
}

/// One signaler: its signal and its poll, on one thread and between two CPUs.
macro_rules! probes {
    ($name:literal, $kind:ty) => {
        [
            probe(concat!($name, " signal"), Needs::OneCpu, alone::<$kind, SIGNAL>),
            probe(concat!($name, " poll"), Needs::OneCpu, alone::<$kind, POLL>),
            probe(concat!($name, " signal, two CPUs"), Needs::TwoCpus, across::<$kind, SIGNAL>),
            probe(concat!($name, " poll, two CPUs"), Needs::TwoCpus, across::<$kind, POLL>),
        ]
    };
}

/// In the order of the article on y-suite.
pub static ALL: [[Probe; 4]; 3] =
    [probes!("ysemaphore", YSemaphore), probes!("ypollset", YPollset), probes!("ysocketpair", YSocketpair)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signal_is_found_by_one_poll_on_one_cpu_and_on_two() {
        let place = Place::choose(None).unwrap();
        for probe in ALL.iter().flatten().filter(|probe| probe.fits(place)) {
            let timed = (probe.run)(place, 100).unwrap();
            assert_eq!(timed.units, 128, "{}", probe.name);
        }
    }

    #[test]
    fn a_signal_that_no_poll_finds_is_a_fault() {
        let (mut sets, signalers) = ends::<YPollset>().unwrap();
        raise(&signalers);
        // Two signals of one set are raised where one is due.
        sets[0].signaler().signal(1);
        assert!(matches!(find(&mut sets), Err(Fault::Lost { .. })));
    }
}
