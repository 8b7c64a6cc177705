//! How long to look before sleeping. One owner at a time; never blocks.
//!
//! A sleep and a wake-up cost from some microseconds to some tens of them (virtual machines), and looking for about as
//! long beforehand is worth it if it often enough saves them, and worth nothing if it does not (the competitive argument
//! for spinning: Karlin, Li, Manasse and Owicki 1991). So the waiting end remembers how long its sleeps take, wake-up
//! included, and whether looking has paid lately.

// Not the façade's: what they hold guards nothing, and a model need not explore it.
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::os::{Deadline, Native, Platform, yield_now};
use crate::sync::spin_loop;

/// What a waiting end does before it goes to sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spin {
    /// Sleep at once. The least work for the CPU, the most for the kernel.
    None,
    /// Look for about as long as a wake-up takes, as long as that pays; hardly at all where it does not, and not at all
    /// on a single CPU. The right choice unless something is known about the traffic.
    #[default]
    Adaptive,
    /// Never sleep. For a thread that owns its CPU; two such threads on one CPU are hopelessly slow.
    Forever,
}

/// A long look, where nothing better is known. About one wake-up on bare metal.
const WAKE: Duration = Duration::from_micros(5);
/// Looks that are always affordable.
const FEW: u32 = 1;
/// After so many sleeps that came without a long look one is tried again; each time in vain, twice as many.
const PROBE: u32 = 64;
/// But never more than so many.
const SELDOM: u32 = 1024;
/// The longest look that is ever tried; longer sleeps are not worth looking for.
const LONGEST: Duration = Duration::from_micros(100);
/// The scale of `worth`: looking has always paid.
const ALWAYS: u32 = 256;

/// How often a thread lets others go first before it sleeps.
const YIELDS: u32 = if cfg!(ysuite_loom) { 0 } else { 2 };

/// What another thread that has not lost its CPU needs at most for a few memory accesses.
const MOMENT: Duration = Duration::from_micros(2);
/// How often one that has lost it is given another, by one that must not wait.
const MOMENTS: u32 = if cfg!(ysuite_loom) { 0 } else { 4 };

/// A waiting end's memory of whether looking pays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    spin: Spin,
    /// Moving average, 0 to `ALWAYS`.
    worth: u32,
    /// Sleeps since the last long look, while looking is not worth it.
    skipped: u32,
    /// After how many of them the next long look comes.
    probe: u32,
    /// How long sleeps take, as a moving average; zero before the first.
    slept: Duration,
}

impl Backoff {
    pub(crate) const fn new() -> Self {
        Self { spin: Spin::Adaptive, worth: ALWAYS, skipped: 0, probe: PROBE, slept: Duration::ZERO }
    }

    /// As one word, for ends that several threads may use at once.
    pub(crate) fn to_bits(self) -> u64 {
        let spin = match self.spin {
            Spin::None => 0,
            Spin::Adaptive => 1,
            Spin::Forever => 2,
        };
        let slept = u64::try_from(self.slept.as_nanos()).unwrap_or(u64::MAX).min((1 << 31) - 1);
        spin | u64::from(self.worth) << 2 | u64::from(self.skipped) << 11 | u64::from(self.probe) << 22 | slept << 33
    }

    /// What [`to_bits`](Self::to_bits) has made.
    pub(crate) fn from_bits(bits: u64) -> Self {
        let spin = match bits & 3 {
            0 => Spin::None,
            1 => Spin::Adaptive,
            _ => Spin::Forever,
        };
        let field = |from: u32, bits_wide: u32| (bits >> from) as u32 & ((1 << bits_wide) - 1);
        let slept = Duration::from_nanos(bits >> 33);
        Self { spin, worth: field(2, 9), skipped: field(11, 11), probe: field(22, 11), slept }
    }

    pub(crate) fn set(&mut self, spin: Spin) {
        self.spin = spin;
    }

    /// Whether looking is allowed at all.
    pub(crate) fn may_look(&self) -> bool {
        self.spin != Spin::None && Native::cpus() != 1
    }

    /// Lets other threads have the CPU first, unless this end is to sleep at once or never: for ends of which there may
    /// be more than CPUs. Then the one that is waited for may be waiting for this one's CPU, also and above all on a
    /// single one, and fills or empties the queue as far as it can, which no wake-up, one at a time, would let it do.
    /// True: something has come of it.
    pub(crate) fn yield_now(&self, deadline: Deadline, mut ready: impl FnMut() -> bool) -> bool {
        if self.spin != Spin::Adaptive || deadline.is_over() {
            return false;
        }
        (0..YIELDS).any(|_| {
            yield_now();
            ready()
        })
    }

    /// Looks until `ready` is true or looking is no longer worth it, but not beyond the deadline, and once where that has
    /// passed. The answer is `ready`'s last. A look that the deadline cuts short teaches nothing.
    pub(crate) fn look(&mut self, deadline: Deadline, mut ready: impl FnMut() -> bool) -> bool {
        let left = deadline.left();
        if left.is_some_and(|left| left.is_zero()) {
            return ready();
        }
        match self.spin {
            Spin::None => false,
            Spin::Forever => loop {
                for _ in 0..64 {
                    if ready() {
                        return true;
                    }
                    spin_loop();
                }
                if deadline.is_over() {
                    return false;
                }
            },
            Spin::Adaptive => {
                // With a single CPU nothing can come while this thread looks.
                let before = *self;
                let wanted = if Native::cpus() == 1 { 0 } else { self.looks() };
                let looks = left.map_or(wanted, |left| wanted.min(looks_in(left).max(FEW)));
                for _ in 0..looks {
                    if ready() {
                        self.worth += (ALWAYS - self.worth) / 8;
                        return true;
                    }
                    spin_loop();
                }
                if looks < wanted {
                    *self = before;
                } else {
                    self.worth -= self.worth.div_ceil(8);
                }
                false
            }
        }
    }

    /// Runs `sleep`, and learns how long sleeps take where that is of interest: clocks are not free. `sleep` says whether
    /// it was woken; where it ended because its time was up, its length says nothing.
    pub(crate) fn time(&mut self, sleep: impl FnOnce() -> bool) -> bool {
        let is_curious = self.spin == Spin::Adaptive && (self.is_worth() || self.skipped % 8 == 0);
        let start = is_curious.then(Instant::now);
        let woken = sleep();
        if let (true, Some(start)) = (woken, start) {
            let time = start.elapsed();
            self.slept = if self.slept.is_zero() { time } else { (self.slept * 7 + time) / 8 };
        }
        woken
    }

    fn is_worth(&self) -> bool {
        self.worth >= ALWAYS / 4
    }

    /// How many looks this wait may take.
    fn looks(&mut self) -> u32 {
        // Two ends that sleep for each other's answer go on sleeping for ever if neither looks for longer than it takes
        // the other to wake up and answer: so the look follows the sleep, and now and then it is longer.
        let mut time = self.slept;
        if self.is_worth() {
            self.probe = PROBE;
        } else if self.skipped < self.probe {
            self.skipped += 1;
            return FEW;
        } else {
            self.skipped = 0;
            self.probe = (self.probe * 2).min(SELDOM);
            // If this one pays, the next is worth it as well.
            self.worth = ALWAYS / 4;
            time *= 2;
        }
        looks_in(if self.slept <= LONGEST { time.clamp(WAKE, LONGEST) } else { WAKE })
    }
}

/// For one that must not wait, where another thread is in the middle of what would let it go on, usually for some
/// nanoseconds: a look as long as any that is always worth it, and a few in between which a thread that has lost its CPU
/// may get this one. The answer is `ready`'s last.
#[cold]
pub(crate) fn look_for_a_moment(mut ready: impl FnMut() -> bool) -> bool {
    (0..looks_in(MOMENT)).any(|_| {
        spin_loop();
        ready()
    }) || (0..MOMENTS).any(|_| {
        yield_now();
        ready()
    })
}

/// How many looks with a pause between them fit into a time: the pause instruction takes from 10 to 150 cycles.
fn looks_in(time: Duration) -> u32 {
    // No lock: a process forked while another thread holds it would wait for that thread without end.
    static PAUSE_PICOS: AtomicU32 = AtomicU32::new(0);
    if cfg!(any(ysuite_loom, miri)) {
        return 1;
    }
    // ORDERING: Relaxed here and below; the number guards nothing but itself.
    let mut pause = PAUSE_PICOS.load(Ordering::Relaxed);
    if pause == 0 {
        pause = measured_pause();
        PAUSE_PICOS.store(pause, Ordering::Relaxed);
    }
    u32::try_from(time.as_nanos() * 1000 / u128::from(pause)).unwrap_or(u32::MAX)
}

/// How long a pause takes, in picoseconds.
#[cold]
fn measured_pause() -> u32 {
    const PAUSES: u32 = 64;
    let start = Instant::now();
    for _ in 0..PAUSES {
        spin_loop();
    }
    // An interrupt within the measurement would make the pause look long: it is bounded by what processors do.
    let nanos = (start.elapsed() / PAUSES).as_nanos().clamp(1, 100) as u32;
    nanos * 1000
}

/// A [`Backoff`] of an end that several threads may use at once. Wait-free. Two threads that learn at the same time may lose
/// what one of them has learned.
pub(crate) struct SharedBackoff(AtomicU64);

impl SharedBackoff {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Backoff::new().to_bits()))
    }

    /// For a clone of the end.
    pub(crate) fn again(&self) -> Self {
        // ORDERING: Relaxed here and below; it guards nothing.
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }

    pub(crate) fn set(&self, spin: Spin) {
        let mut backoff = self.recall();
        backoff.set(spin);
        self.keep(backoff);
    }

    pub(crate) fn recall(&self) -> Backoff {
        Backoff::from_bits(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn keep(&self, backoff: Backoff) {
        self.0.store(backoff.to_bits(), Ordering::Relaxed);
    }
}
