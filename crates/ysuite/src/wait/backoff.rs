//! How long to spin before sleeping: how often to poll for what is waited for. A [`Backoff`] has one owner at a time, a
//! [`SharedBackoff`] any number; neither blocks.
//!
//! A sleep and a wake-up cost from a few microseconds to some tens of them (virtual machines). Spinning for about as
//! long beforehand is worth it if it saves them often enough, and worth nothing if it does not (the competitive
//! argument for spinning: Karlin, Li, Manasse and Owicki 1991). So the waiting handle remembers how long its sleeps
//! take, wake-up included, and whether spinning has paid lately.

// Not `crate::sync`'s: what they hold guards nothing, and a model need not explore it.
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::yields::{Yielded, Yields};
use crate::os::{Deadline, cpus, known_cpus, yield_now};
use crate::sync::spin_loop;

/// What a waiting handle does before it sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spin {
    /// Sleep at once. The least work for the CPU, the most for the kernel.
    None,
    /// Spin for about as long as a wake-up takes, as long as that pays; hardly at all where it does not, and not at all
    /// on a single CPU. In between, and before it sleeps, the thread yields its CPU to other threads that are ready to
    /// run. The right choice unless something is known about the traffic.
    #[default]
    Adaptive,
    /// Never sleep. For a thread that owns its CPU; two such threads on one CPU are hopelessly slow.
    Forever,
}

/// A long spin, where the length of sleeps is not known. About one wake-up on bare metal.
const WAKE: Duration = Duration::from_micros(5);
/// The number of polls in a spin that is always affordable.
const FEW: u32 = 1;
/// Sleeps without a long spin after which a long spin is tried again. Doubled each time that it was in vain.
const PROBE: u16 = 64;
/// The most sleeps between two such trials.
const SELDOM: u16 = 1024;
/// The longest spin that is ever tried; a longer sleep is not worth spinning for.
const LONGEST: Duration = Duration::from_micros(100);
/// The unit, in nanoseconds, in which shared handles remember how long sleeps take. With it a sleep of 2 ms fits: much
/// longer than any that is worth a spin.
const SLEPT: u32 = 64;
/// The scale of `worth`: spinning has always paid.
const ALWAYS: u16 = 256;

/// How many times a waiting thread yields its CPU before it sleeps.
const YIELDS: u32 = if cfg!(ysuite_loom) { 0 } else { 2 };

/// How many times it yields instead of spinning where there are more handles than CPUs.
const WAYS: u32 = if cfg!(ysuite_loom) { 0 } else { 16 };

/// How long the other side of a stream is to get ahead: some dozen messages.
const AHEAD: Duration = Duration::from_micros(1);
/// The same where each message has lines of its own, which take longer to move.
const FAR_AHEAD: Duration = Duration::from_micros(2);
/// A message of at most this many bytes shares its line with others.
pub(crate) const SMALL: usize = 32;
/// How long a spin lasts before the thread yields, to find out whether other threads are ready to run. What comes at
/// once comes within it.
const UNASKED: Duration = Duration::from_micros(1);

/// The most time that a thread which has not been preempted needs for a few memory accesses.
const MOMENT: Duration = Duration::from_micros(2);
/// How many times a thread that must not wait yields its CPU to a thread that may have been preempted.
const MOMENTS: u32 = if cfg!(ysuite_loom) { 0 } else { 4 };

/// A waiting handle's memory of whether spinning pays. It is small because there are many idle handles: two words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    /// The setting of the handle's user.
    pub(crate) spin: Spin,
    /// After how many sleeps the next long spin comes, while spinning is not worth it, in `PROBE`s.
    probes: u8,
    /// Moving average, 0 to `ALWAYS`.
    worth: u16,
    /// Such sleeps since the last long spin.
    skipped: u16,
    /// How many nanoseconds sleeps take, as a moving average; zero before the first.
    slept: u32,
    yields: Yields,
}

impl Backoff {
    pub(crate) const fn new() -> Self {
        Self { spin: Spin::Adaptive, probes: 1, worth: ALWAYS, skipped: 0, slept: 0, yields: Yields::new() }
    }

    // MUTANT: Speed only: what is remembered of long sleeps. An additional bit is set anyway in a new word.
    /// Packs this into one word, for handles that several threads may use at once.
    pub(crate) fn to_bits(self) -> u64 {
        let slept = u64::from(self.slept / SLEPT).min((1 << 15) - 1);
        self.spin as u64
            | u64::from(self.worth) << 2
            | u64::from(self.skipped) << 11
            | u64::from(self.probe()) << 22
            | u64::from(self.yields.to_bits()) << 33
            | slept << 49
    }

    /// Unpacks what [`to_bits`](Self::to_bits) has packed.
    pub(crate) fn from_bits(bits: u64) -> Self {
        let spin = match bits & SPIN_BITS {
            0 => Spin::None,
            1 => Spin::Adaptive,
            _ => Spin::Forever,
        };
        let field = |from: u32, bits_wide: u32| ((bits >> from) as u32 & ((1 << bits_wide) - 1)) as u16;
        let slept = SLEPT * (bits >> 49) as u32;
        let yields = Yields::from_bits(field(33, 16));
        let probes = (field(22, 11) / PROBE) as u8;
        Self { spin, probes, worth: field(2, 9), skipped: field(11, 11), slept, yields }
    }

    /// After how many sleeps the next long spin comes.
    const fn probe(&self) -> u16 {
        self.probes as u16 * PROBE
    }

    // MUTANT: Speed only: when to pause after a stream, and whether to spin.
    /// Whether spinning is allowed, and any use, as far as is known without a system call: with a single CPU it is
    /// none.
    pub(crate) fn may_spin(&self) -> bool {
        self.spin != Spin::None && known_cpus() != 1
    }

    // MUTANT: Speed only: when to pause after a stream.
    /// Pauses a handle in a stream that has caught up with the other side and is about to wait. It leaves the lines of
    /// both alone for a moment, so that the other side gets ahead. Otherwise the two would share a line again a few
    /// messages later, and move each line to and fro until then. It does not pause if the handle is to sleep at once,
    /// nor shortly before a deadline. `bytes`: of a message.
    #[cold]
    #[inline(never)]
    pub(crate) fn stand_back(&self, deadline: Deadline, bytes: usize) {
        if self.may_spin() && deadline.left().is_none_or(|left| left > WAKE) {
            (0..spins_in(if bytes > SMALL { FAR_AHEAD } else { AHEAD })).for_each(|_| spin_loop());
        }
    }

    /// Yields the CPU to other threads a few times, unless this handle is to sleep at once or never. For handles of
    /// which there may be more than CPUs: the thread that is waited for may then be waiting for this thread's CPU,
    /// above all where there is a single one. On that CPU, it fills or empties the queue as far as it can, which is not
    /// possible with a wake-up per message. True: `ready` has become true.
    pub(crate) fn yield_now(&self, deadline: Deadline, mut ready: impl FnMut() -> bool) -> bool {
        self.yields(YIELDS, deadline, &mut ready)
    }

    /// As [`yield_now`](Self::yield_now), instead of a spin: where there are more handles than CPUs, a thread that
    /// spins keeps the CPU from one that it waits for.
    pub(crate) fn give_way(&self, deadline: Deadline, mut ready: impl FnMut() -> bool) -> bool {
        self.yields(WAYS, deadline, &mut ready)
    }

    fn yields(&self, times: u32, deadline: Deadline, ready: &mut impl FnMut() -> bool) -> bool {
        if self.spin != Spin::Adaptive || deadline.is_over() {
            return false;
        }
        for _ in 0..times {
            yield_now();
            if ready() {
                return true;
            }
        }
        false
    }

    /// Spins until `ready` is true or spinning is no longer worth it, but not beyond the deadline; calls `ready` once
    /// where that has passed. After a moment it yields the CPU, and continues to spin only if no other thread used it:
    /// a thread that spins while others wait for its CPU may keep the one that it waits for from running. Returns the
    /// last result of `ready`.
    pub(crate) fn spin(&mut self, deadline: Deadline, mut ready: impl FnMut() -> bool) -> bool {
        // MUTANT: Speed only: what is learned about the length of sleeps.
        self.spin_and_yield(deadline, self.spin == Spin::Adaptive, &mut ready)
    }

    /// As [`spin`](Self::spin), without a yield: for a thread that serves more than what it spins on.
    #[cfg(all(feature = "hub", unix))]
    pub(crate) fn spin_only(&mut self, deadline: Deadline, mut ready: impl FnMut() -> bool) -> bool {
        self.spin_and_yield(deadline, false, &mut ready)
    }

    // MUTANT: Speed only: how long to spin and yield.
    /// Common code of all handles: a handle's `ready` is called in three places here, which is compiled once.
    fn spin_and_yield(&mut self, deadline: Deadline, yields: bool, ready: &mut dyn FnMut() -> bool) -> bool {
        let left = deadline.left();
        if left == Some(Duration::ZERO) {
            return ready();
        }
        let (looks, in_vain) = self.plan(left);
        if self.spin == Spin::Forever {
            loop {
                if spins(looks, ready) {
                    return true;
                }
                if deadline.is_over() {
                    return false;
                }
            }
        }
        let unasked = match yields {
            false => looks,
            true if self.yields.is_due() => looks.min(FEW),
            true => looks.min(spins_in(UNASKED)),
        };
        if spins(unasked, ready) {
            return true;
        }
        let yielded = if yields { self.yields.give(left, ready) } else { Yielded::Alone };
        match yielded {
            Yielded::Alone if spins(looks - unasked, ready) => true,
            // A spin that only a yield has ended has not paid.
            found => {
                *self = Self { yields: self.yields, ..in_vain };
                found == Yielded::Found
            }
        }
    }

    // MUTANT: Speed only: how long to spin, and how soon spins that help become frequent again.
    /// How many times a spin polls (one without end: before it reads the clock), and what to remember if all polls are
    /// in vain. Until then this remembers a spin that pays. Separate from `spin`, which is compiled for each handle.
    fn plan(&mut self, left: Option<Duration>) -> (u32, Self) {
        let before = *self;
        let wanted = match self.spin {
            Spin::None => return (0, before),
            Spin::Forever => return (64, before),
            // With a single CPU no other thread can do anything while this one spins.
            Spin::Adaptive if cpus() == 1 => 0,
            Spin::Adaptive => self.spins(),
        };
        let looks = left.map_or(wanted, |left| wanted.min(spins_in(left).max(FEW)));
        let in_vain = Self { worth: self.worth - self.worth.div_ceil(8), ..*self };
        self.worth += (ALWAYS - self.worth) / 8;
        // A spin in vain that the deadline cuts short teaches nothing.
        (looks, if looks < wanted { before } else { in_vain })
    }

    // MUTANT: Speed only: how often sleeps are measured.
    /// Runs `sleep`, and learns how long sleeps take where that is of interest: reading a clock has a cost. `sleep`
    /// returns whether it was woken. If it ended because its time was up, its length is not used.
    #[inline]
    pub(crate) fn time(&mut self, sleep: impl FnOnce() -> bool) -> bool {
        let is_curious = self.spin == Spin::Adaptive && (self.is_worth() || self.skipped % 8 == 0);
        let start = is_curious.then(Instant::now);
        let woken = sleep();
        if let (true, Some(start)) = (woken, start) {
            self.slept_since(start);
        }
        woken
    }

    // MUTANT: Speed only: how the average sleep is computed, and so how long spins are.
    #[inline(never)]
    fn slept_since(&mut self, start: Instant) {
        // A longer one than 4 s is not worth spinning for either.
        let time = u32::try_from(start.elapsed().as_nanos()).unwrap_or(u32::MAX);
        self.slept = if self.slept == 0 { time } else { self.slept - self.slept / 8 + time / 8 };
    }

    // MUTANT: Speed only: when spinning counts as worthwhile.
    #[inline]
    fn is_worth(&self) -> bool {
        self.worth >= ALWAYS / 4
    }

    // MUTANT: Speed only: how often to try again whether spinning helps.
    /// The number of polls of a spin in this wait.
    fn spins(&mut self) -> u32 {
        // Two handles that sleep until the other one replies never stop sleeping if neither spins for longer than it
        // takes the other to wake up and reply. So the spin is as long as the sleeps are, and now and then it is
        // longer.
        let slept = Duration::from_nanos(self.slept.into());
        let mut time = slept;
        if self.is_worth() {
            self.probes = 1;
        } else if self.skipped < self.probe() {
            self.skipped += 1;
            return FEW;
        } else {
            self.skipped = 0;
            self.probes = (self.probes * 2).min((SELDOM / PROBE) as u8);
            // If this spin pays, the next is worth it as well.
            self.worth = ALWAYS / 4;
            time *= 2;
        }
        spins_in(if slept <= LONGEST { time.clamp(WAKE, LONGEST) } else { WAKE })
    }
}

// MUTANT: Speed only: how long spins and their pauses are.
/// Polls `looks` times, with a pause after each poll in vain.
fn spins(looks: u32, ready: &mut dyn FnMut() -> bool) -> bool {
    for _ in 0..looks {
        if ready() {
            return true;
        }
        spin_loop();
    }
    false
}

// MUTANT: Speed only: how long to poll for a thread that is in the middle of an operation; the next call finds its
// result. Killed only by the models `a_sender_in_the_middle_against_a_receiver_that_was_polled` and
// `a_receiver_in_the_middle_against_a_sender_that_was_in_a_set`.
/// For a thread that must not wait while another is in the middle of an operation, which usually takes some
/// nanoseconds. Spins for a moment, then yields its CPU a few times, so that the other thread can use it if it has been
/// preempted. Returns the last result of `ready`.
#[cold]
pub(crate) fn spin_for_a_moment(mut ready: impl FnMut() -> bool) -> bool {
    for _ in 0..spins_in(MOMENT) {
        spin_loop();
        if ready() {
            return true;
        }
    }
    let mut moments = MOMENTS;
    while moments != 0 {
        moments -= 1;
        yield_now();
        if ready() {
            return true;
        }
    }
    false
}

// MUTANT: Speed only: how many polls a spin has.
/// The number of polls, with a pause after each, that fit into a time: the pause instruction takes from 10 to 150
/// cycles.
#[inline(never)]
fn spins_in(time: Duration) -> u32 {
    // No lock: a process that is forked while another thread holds it would wait for that thread without end.
    static PAUSE_NANOS: AtomicU32 = AtomicU32::new(0);
    if cfg!(any(ysuite_loom, miri)) {
        return 1;
    }
    // ORDERING: Relaxed; the number guards nothing but itself.
    let mut pause = PAUSE_NANOS.load(Ordering::Relaxed);
    if pause == 0 {
        pause = measured_pause();
        // ORDERING: Relaxed; the number guards nothing but itself.
        PAUSE_NANOS.store(pause, Ordering::Relaxed);
    }
    // No division of 128 bits: it is a function of its own, and no spin is as long.
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    u32::try_from(nanos / u64::from(pause)).unwrap_or(u32::MAX)
}

// MUTANT: Speed only: how long a pause is taken to be.
/// How long a pause takes, in nanoseconds.
#[cold]
fn measured_pause() -> u32 {
    const PAUSES: u32 = 64;
    let start = Instant::now();
    for _ in 0..PAUSES {
        spin_loop();
    }
    // An interrupt during the measurement would make the pause seem long; no processor pauses for more than this bound.
    (start.elapsed() / PAUSES).as_nanos().clamp(1, 100) as u32
}

/// In the packed form: how a handle is to spin.
const SPIN_BITS: u64 = 3;

/// The [`Backoff`] of a handle that several threads may use at once. Lock-free. Where two threads learn at the same
/// time, one result may be lost. The spin setting is always the last one, whichever threads wait meanwhile.
pub(crate) struct SharedBackoff(AtomicU64);

impl SharedBackoff {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Backoff::new().to_bits()))
    }

    /// For a clone of the handle.
    pub(crate) fn again(&self) -> Self {
        // ORDERING: Relaxed; the word guards nothing but itself.
        Self(AtomicU64::new(self.0.load(Ordering::Relaxed)))
    }

    pub(crate) fn set(&self, spin: Spin) {
        self.change(|bits| bits & !SPIN_BITS | spin as u64);
    }

    /// See [`Backoff::stand_back`].
    pub(crate) fn stand_back(&self, deadline: Deadline, bytes: usize) {
        self.recall().stand_back(deadline, bytes);
    }

    #[inline]
    pub(crate) fn recall(&self) -> Backoff {
        // ORDERING: Relaxed; the word guards nothing but itself.
        Backoff::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Stores what a wait has learned, except the spin setting at its start: that may have changed by now.
    #[inline]
    pub(crate) fn keep(&self, backoff: Backoff) {
        let learned = backoff.to_bits() & !SPIN_BITS;
        self.change(|bits| bits & SPIN_BITS | learned);
    }

    fn change(&self, to: impl Fn(u64) -> u64) {
        // ORDERING: Relaxed; the word guards nothing but itself.
        let mut bits = self.0.load(Ordering::Relaxed);
        // ORDERING: Relaxed twice, as above.
        while let Err(other) = self.0.compare_exchange(bits, to(bits), Ordering::Relaxed, Ordering::Relaxed) {
            bits = other;
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::cell::Cell;

    use super::*;

    /// The number of polls of a wait that is in vain, or of one that pays.
    fn looks(backoff: &mut Backoff, pays: bool) -> u32 {
        let (looks, in_vain) = backoff.plan(None);
        if !pays {
            *backoff = in_vain;
        }
        looks
    }

    /// Where polls are always in vain there are hardly any: some long spins until that is known. After that, trials
    /// become ever rarer, and each is no longer than the longest spin.
    ///
    /// Claim: Unsuccessful polls become rarer and successful ones continue. The spin duration adapts at run time.
    #[test]
    fn looks_that_are_in_vain_become_few_and_those_that_pay_stay() {
        if cpus() == 1 {
            return;
        }
        for slept in [0, 3_000, 90_000, 5_000_000] {
            let mut backoff = Backoff { slept, ..Backoff::new() };
            let bound = if u128::from(slept) <= LONGEST.as_nanos() { LONGEST } else { WAKE };
            let long: Vec<u32> =
                (0..20_000).map(|_| looks(&mut backoff, false)).filter(|&looks| looks != FEW).collect();
            assert!((5..=50).contains(&long.len()), "{} long spins in vain", long.len());
            assert!(long.iter().all(|&looks| looks <= spins_in(bound)), "{long:?}");
            assert!((0..=SELDOM).any(|_| looks(&mut backoff, false) != FEW), "it is not tried again");
            // It pays again, and that is found out within the longest time between two trials.
            assert!((0..=SELDOM).any(|_| looks(&mut backoff, true) != FEW));
            assert!((0..1_000).all(|_| looks(&mut backoff, true) != FEW));
        }
        assert_eq!(looks(&mut Backoff { spin: Spin::None, ..Backoff::new() }, false), 0);
        // No spin is longer than what is left until the deadline.
        let (looks, _) = Backoff::new().plan(Some(Duration::from_nanos(300)));
        assert!(looks <= spins_in(Duration::from_nanos(300)).max(FEW));
    }

    #[test]
    fn what_a_shared_end_remembers_fits_into_its_bits() {
        let shared = SharedBackoff::new();
        for spin in [Spin::None, Spin::Adaptive, Spin::Forever] {
            for (worth, skipped, probes) in [(0, SELDOM, (SELDOM / PROBE) as u8), (ALWAYS / 4, 1, 2), (ALWAYS, 0, 1)] {
                for slept in [0, SLEPT, SLEPT * ((1 << 15) - 1)] {
                    for yields in [Yields::new(), Yields::from_bits(u16::MAX)] {
                        let backoff = Backoff { spin, probes, worth, skipped, slept, yields };
                        shared.set(spin);
                        shared.keep(backoff);
                        for kept in [shared.recall(), shared.again().recall()] {
                            assert_eq!(format!("{kept:?}"), format!("{backoff:?}"));
                        }
                    }
                }
            }
        }
        shared.set(Spin::None);
        assert_eq!((shared.recall().spin, shared.recall().worth), (Spin::None, ALWAYS));
    }

    /// Claim: A change of the spin setting takes effect even if another thread waits on the same handle.
    #[test]
    fn what_is_set_while_another_thread_waits_at_the_same_end_stays() {
        let shared = SharedBackoff::new();
        // One thread begins to wait, another sets the handle, and the first is woken.
        let mut waiting = shared.recall();
        shared.set(Spin::None);
        waiting.slept += SLEPT;
        shared.keep(waiting);
        assert_eq!((shared.recall().spin, shared.recall().slept), (Spin::None, waiting.slept));
        assert_eq!(shared.again().recall().spin, Spin::None);
    }

    #[test]
    fn a_spin_says_what_it_was_told_last() {
        for last in [1, 2, 3, 10, 30, 100, 300] {
            for spin in [Spin::Adaptive, Spin::Forever] {
                let mut looks = 0;
                let found = Backoff { spin, ..Backoff::new() }.spin(Deadline::Never, || {
                    looks += 1;
                    looks == last
                });
                assert_eq!(found, looks == last, "after {looks} polls");
                assert!(found || spin == Spin::Adaptive);
            }
        }
        let mut looks = 0;
        assert!(!Backoff::new().spin(Deadline::Passed, || {
            looks += 1;
            false
        }));
        assert_eq!(looks, 1, "without time it polls once");
    }

    #[test]
    fn only_who_adapts_and_has_time_yields_its_cpu() {
        // That is a call of the system, once in a process.
        let _ = cpus();
        let before = crate::os::calls();
        let mut none = Backoff { spin: Spin::None, ..Backoff::new() };
        assert!(!none.spin(Deadline::Never, || panic!("it is to sleep at once")));
        for (backoff, deadline) in [
            (none, Deadline::Never),
            (Backoff { spin: Spin::Forever, ..none }, Deadline::Never),
            (Backoff::new(), Deadline::Passed),
        ] {
            assert!(!backoff.yield_now(deadline, || panic!("it has not yielded")));
            assert!(!backoff.give_way(deadline, || panic!("it has not yielded")));
        }
        assert_eq!(crate::os::calls(), before);
        assert!(Backoff::new().yield_now(Deadline::Never, || true));
        assert_eq!(crate::os::calls(), before + 1);
        assert!(!Backoff::new().spin(Deadline::Never, || false));
        assert!(crate::os::calls() > before + 1, "before it sleeps it yields to others");
    }

    #[test]
    fn sleeps_too_long_to_measure_stay_the_longest() {
        let Some(start) = Instant::now().checked_sub(Duration::from_secs(5)) else { return };
        for slept in [0, u32::MAX] {
            let mut backoff = Backoff { slept, ..Backoff::new() };
            backoff.slept_since(start);
            assert_eq!(backoff.slept, u32::MAX);
        }
    }

    /// How long it should spin according to that: each time while spinning is worth it, else now and then.
    #[test]
    fn a_sleep_that_was_ended_by_a_call_is_measured() {
        let takes_time = |woken| {
            let start = Instant::now();
            while start.elapsed().is_zero() {}
            woken
        };
        for (spin, worth, skipped, measures) in [
            (Spin::Adaptive, ALWAYS, 1, true),
            (Spin::Adaptive, 0, 1, false),
            (Spin::Adaptive, 0, 8, true),
            (Spin::None, ALWAYS, 0, false),
        ] {
            let mut backoff = Backoff { spin, worth, skipped, ..Backoff::new() };
            // One whose time was up says nothing.
            assert!(!backoff.time(|| takes_time(false)));
            assert_eq!(backoff.slept, 0);
            assert!(backoff.time(|| takes_time(true)));
            assert_eq!(backoff.slept != 0, measures, "{backoff:?}");
        }
    }

    #[test]
    fn a_spin_is_as_long_as_sleeps_are_that_are_worth_it() {
        if cpus() == 1 || cfg!(miri) {
            return;
        }
        let spin = |slept| Backoff { slept, ..Backoff::new() }.plan(None).0;
        let longest = LONGEST.as_nanos() as u32;
        let is_so = || {
            let short = spin(0);
            spin(10_000) > short && spin(longest) > spin(10_000) && spin(longest + 1) == short
        };
        // Each of the first threads that need it measures how long a pause takes.
        assert!((0..10).any(|_| is_so()));
    }

    #[test]
    fn a_trial_that_pays_makes_the_next_spin_worth_it_and_one_in_vain_is_made_up_for() {
        if cpus() == 1 || cfg!(miri) {
            return;
        }
        let mut backoff = Backoff { worth: 0, skipped: PROBE, ..Backoff::new() };
        for _ in 0..100 {
            assert_ne!(looks(&mut backoff, true), FEW);
        }
        for number in 0..100 {
            assert_ne!(looks(&mut backoff, number % 8 != 0), FEW, "after one in vain");
        }
    }

    #[test]
    fn spins_in_vain_are_remembered() {
        let mut backoff = Backoff::new();
        for _ in 0..20 {
            assert!(!backoff.spin(Deadline::Never, || false));
        }
        assert!(!backoff.is_worth(), "{backoff:?}");
    }

    #[test]
    fn what_the_first_look_finds_takes_no_yield() {
        if cpus() == 1 {
            return;
        }
        let before = crate::os::calls();
        assert!(Backoff::new().spin(Deadline::Never, || true));
        assert_eq!(crate::os::calls(), before);
    }

    #[test]
    fn a_change_that_another_thread_comes_before_is_made_of_what_that_has_left() {
        let (shared, tries) = (SharedBackoff::new(), Cell::new(0));
        shared.change(|bits| {
            tries.set(tries.get() + 1);
            assert!(tries.get() < 1_000, "it tries without end");
            if tries.get() == 1 {
                shared.set(Spin::None);
            }
            bits | 1 << 49
        });
        assert_eq!((shared.recall().spin, shared.recall().slept), (Spin::None, SLEPT));
    }
}
