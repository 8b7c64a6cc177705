//! Two threads, each pinned to its CPU, or any number of threads that share some, starting together. The caller waits
//! for all of them.
//!
//! The gate spins, so that no thread is still waking up when the clock starts. It yields if there are more than two
//! threads, or if they share a CPU.

use std::any::Any;
use std::cell::Cell;
use std::marker::PhantomData;
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Once};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::thread::Pid;

use crate::error::{Error, Fault};
use crate::place::{Place, keep_on, pin};

/// The time that a run took, and its number of units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    pub elapsed: Duration,
    pub units: u64,
}

impl Timed {
    pub fn between(start: Instant, end: Instant, units: u64) -> Self {
        Self { elapsed: end.saturating_duration_since(start), units }
    }

    pub fn nanoseconds_per_unit(self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.units.max(1) as f64
    }

    /// The quicker of two, by time per unit.
    pub fn quicker(self, other: Self) -> Self {
        if other.nanoseconds_per_unit() < self.nanoseconds_per_unit() { other } else { self }
    }

    /// The same speed over at least `units` units: for a baseline that split its work between two variants.
    pub fn covering(self, units: u64) -> Self {
        let times = units.div_ceil(self.units.max(1)).max(1);
        Self { elapsed: self.elapsed * times.try_into().unwrap_or(u32::MAX), units: self.units * times }
    }
}

/// The start and the end of one of many threads' work, and its number of units.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub start: Instant,
    pub end: Instant,
    pub units: u64,
}

impl Span {
    /// The whole work, from the first start to the last end.
    pub fn over(spans: &[Self]) -> Timed {
        let start = spans.iter().map(|span| span.start).min();
        let end = spans.iter().map(|span| span.end).max();
        let elapsed = start.zip(end).map_or(Duration::ZERO, |(start, end)| end.saturating_duration_since(start));
        Timed { elapsed, units: spans.iter().map(|span| span.units).sum() }
    }
}

/// Opens when all threads have arrived.
pub struct Gate {
    missing: AtomicIsize,
    /// Polls before a thread yields.
    looks: u32,
}

impl Gate {
    fn new(threads: usize) -> Self {
        // Among hundreds of threads, the ones that have arrived would take the CPUs from the one that starts the
        // others.
        let looks = if threads > 2 { 1 } else { 1024 };
        Self { missing: AtomicIsize::new(threads as isize), looks }
    }

    pub fn pass(&self) {
        // ORDERING: AcqRel: everything that a thread did before its arrival is visible to a thread that saw the arrival
        // (the load below).
        self.missing.fetch_sub(1, Ordering::AcqRel);
        let mut looks = 0u32;
        // ORDERING: Acquire pairs with the fetch_sub of the other threads.
        while self.missing.load(Ordering::Acquire) > 0 {
            looks = looks.wrapping_add(1);
            // Another thread may need this CPU to arrive.
            if looks.is_multiple_of(self.looks) {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Lets every thread pass, because one of the threads will never arrive.
    fn force(&self) {
        // ORDERING: Release pairs with the load in `pass`, as an arrival does. So low that no number of arrivals
        // reaches it.
        self.missing.store(isize::MIN / 2, Ordering::Release);
    }
}

/// Messages of 64 KiB are moved from frame to frame, in a debug build several times per send.
const STACK: usize = 8 << 20;

/// All stacks together. Runs with hundreds of threads have the shortest messages only.
const STACKS: usize = 512 << 20;

fn stack(threads: usize) -> usize {
    STACK.min(STACKS / threads.max(1))
}

/// The time limit of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patience {
    pub base: Duration,
    /// The additional time for each unit.
    pub each: Duration,
}

impl Patience {
    /// Many times the time of the slowest transport. A lost message is found in the first, short runs.
    pub const USUAL: Self = Self { base: Duration::from_secs(60), each: Duration::from_micros(500) };

    /// The setting for runs that are started from this thread.
    pub fn of_this_thread() -> Self {
        PATIENCE.get()
    }

    pub fn over(self, units: u64) -> Duration {
        self.base.saturating_add(self.each.saturating_mul(units.try_into().unwrap_or(u32::MAX)))
    }
}

thread_local! {
    /// Settings for runs that are started from this thread.
    static PATIENCE: Cell<Patience> = const { Cell::new(Patience::USUAL) };
}

/// Waits differently for runs that `work` starts from this thread.
pub fn with_patience<A>(patience: Patience, work: impl FnOnce() -> A) -> A {
    /// Also where `work` panics.
    struct Before(Patience);
    impl Drop for Before {
        fn drop(&mut self) {
            PATIENCE.set(self.0);
        }
    }
    let _before = Before(PATIENCE.replace(patience));
    work()
}

/// Stops a thread permanently. A stuck thread may spin, and would use its CPU during later measurements. No thread can
/// be ended from outside without ending the process. What the thread holds stays held, so this is only for threads that
/// have been given up.
fn put_to_sleep<A>(thread: &JoinHandle<A>) {
    let signal = sleeping_signal();
    if !thread.is_finished() {
        // SAFETY: the thread has been started and not been joined or detached: its handle is here.
        unsafe { libc::pthread_kill(thread.as_pthread_t(), signal) };
    }
}

/// The same for threads whose handles are elsewhere, by the kernel's ids. A thread that has ended is ignored.
pub fn put_ids_to_sleep(ids: impl IntoIterator<Item = Pid>) {
    let (signal, process) = (sleeping_signal(), rustix::process::getpid().as_raw_nonzero().get());
    for id in ids {
        // SAFETY: sends a signal to a thread of this process, or to none; no memory is accessed.
        unsafe { libc::syscall(libc::SYS_tgkill, process, id.as_raw_nonzero().get(), signal) };
    }
}

/// The signal that stops a thread permanently.
fn sleeping_signal() -> libc::c_int {
    /// The thread does not continue its work.
    extern "C" fn sleep(_: libc::c_int) {
        loop {
            // SAFETY: may be called in a handler; it has no conditions.
            unsafe { libc::pause() };
        }
    }
    static INSTALLED: Once = Once::new();
    // No other code in this process uses it.
    let signal = libc::SIGUSR2;
    INSTALLED.call_once(|| {
        let handler: extern "C" fn(libc::c_int) = sleep;
        // SAFETY: the handler calls only `pause`, which is allowed in a handler.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    });
    signal
}

/// Runs `first` and `second` on the two CPUs of `place` and returns what both returned. Each must pass the gate once.
///
/// A panic in either continues in the caller. If two threads do not end, for example after a lost message, they are
/// stopped permanently, and the result is [`Fault::Stuck`]. `units` is the amount of work, and so determines the time
/// limit.
pub fn duet<A, B>(
    place: Place,
    units: u64,
    first: impl FnOnce(&Gate) -> A + Send + 'static,
    second: impl FnOnce(&Gate) -> B + Send + 'static,
) -> Result<(A, B), Fault>
where
    A: Send + 'static,
    B: Send + 'static,
{
    both(place, units, to_the_gate(first), to_the_gate(second))
}

/// As [`duet`], for two functions whose work begins at the gate: the gate is passed for them.
pub fn duet_from_the_gate<A, B>(
    place: Place,
    units: u64,
    first: impl FnOnce() -> A + Send + 'static,
    second: impl FnOnce() -> B + Send + 'static,
) -> Result<(A, B), Fault>
where
    A: Send + 'static,
    B: Send + 'static,
{
    both(place, units, from_the_gate(first), from_the_gate(second))
}

/// As [`duet_from_the_gate`], for two functions whose types are erased already.
pub fn boxed_duet<A, B>(
    place: Place,
    units: u64,
    first: FromTheGate<A>,
    second: FromTheGate<B>,
) -> Result<(A, B), Fault>
where
    A: Send + 'static,
    B: Send + 'static,
{
    both(place, units, from_the_gate(first), from_the_gate(second))
}

fn both<A: 'static, B: 'static>(place: Place, units: u64, first: Work, second: Work) -> Result<(A, B), Fault> {
    let (first, second) = values_of_both(place, units, first, second)?;
    Ok((taken(first), taken(second)))
}

fn values_of_both(place: Place, units: u64, first: Work, second: Work) -> Result<(Value, Value), Fault> {
    let (done, finished) = mpsc::channel();
    let gate = Arc::new(Gate::new(2));
    let first = play(STACK, vec![place.first], gate.clone(), done.clone(), first)?;
    let second = play(STACK, vec![place.second], gate.clone(), done, second).inspect_err(|_| gate.force())?;
    wait_for_all(2, units, &finished).inspect_err(|_| {
        put_to_sleep(&first);
        put_to_sleep(&second);
    })?;
    Ok((ended(first)?, ended(second)?))
}

/// Work that begins when the gate has been passed.
pub type FromTheGate<A> = Box<dyn FnOnce() -> A + Send>;

/// What a thread returns, whatever its type.
type Value = Box<dyn Any + Send>;

/// The work of a thread, which passes the gate once. Boxed, and its value as well: the start and the end of a thread are
/// a lot of code, and would be compiled again for every driver, transport, message and value. The calls through pointers
/// come before the clock starts.
type Work = Box<dyn FnOnce(&Gate) -> Value + Send>;

fn to_the_gate<A: Send + 'static>(work: impl FnOnce(&Gate) -> A + Send + 'static) -> Work {
    Box::new(move |gate| Box::new(work(gate)))
}

fn from_the_gate<A: Send + 'static>(work: impl FnOnce() -> A + Send + 'static) -> Work {
    Box::new(move |gate| {
        gate.pass();
        Box::new(work())
    })
}

/// The value of work that returns this type.
fn taken<A: 'static>(value: Value) -> A {
    match value.downcast() {
        Ok(value) => *value,
        Err(_) => unreachable!("work returns the type that its maker gave it"),
    }
}

/// The work of one thread of an ensemble, and its CPUs.
pub struct Part<A> {
    cpus: Vec<usize>,
    work: Work,
    returns: PhantomData<fn() -> A>,
}

impl<A: Send + 'static> Part<A> {
    /// `work` must pass the gate once.
    pub fn new(cpus: &[usize], work: impl FnOnce(&Gate) -> A + Send + 'static) -> Self {
        Self { cpus: cpus.to_vec(), work: to_the_gate(work), returns: PhantomData }
    }
}

/// Runs every part in a thread of its own and returns their results, in order.
///
/// Panics and lost messages are treated as in [`duet`]. If a thread cannot be started, the parts that were not started
/// are dropped and the others run without them: a part that waits for a dropped handle is disconnected.
pub fn ensemble<A: Send + 'static>(units: u64, parts: Vec<Part<A>>) -> Result<Vec<A>, Fault> {
    let parts = parts.into_iter().map(|part| (part.cpus, part.work)).collect();
    Ok(values_of_all(units, parts)?.into_iter().map(taken).collect())
}

fn values_of_all(units: u64, parts: Vec<(Vec<usize>, Work)>) -> Result<Vec<Value>, Fault> {
    let (done, finished) = mpsc::channel();
    let gate = Arc::new(Gate::new(parts.len()));
    let mut threads = Vec::with_capacity(parts.len());
    let stack = stack(parts.len());
    for (cpus, work) in parts {
        threads.push(play(stack, cpus, gate.clone(), done.clone(), work).inspect_err(|_| gate.force())?);
    }
    drop(done);
    wait_for_all(threads.len(), units, &finished).inspect_err(|_| threads.iter().for_each(put_to_sleep))?;
    threads.into_iter().map(ended).collect()
}

fn play(
    stack: usize,
    cpus: Vec<usize>,
    gate: Arc<Gate>,
    done: mpsc::Sender<()>,
    part: Work,
) -> Result<JoinHandle<Result<Value, Fault>>, Fault> {
    let thread = thread::Builder::new().stack_size(stack).spawn(move || {
        // A thread that cannot be pinned runs its part all the same: its partner is waiting at the gate.
        let pinned = keep_on(&cpus);
        let value = part(&gate);
        let _ = done.send(());
        pinned.map(|()| value)
    })?;
    Ok(thread)
}

fn wait_for_all(threads: usize, units: u64, finished: &mpsc::Receiver<()>) -> Result<(), Fault> {
    let start = Instant::now();
    let patience = PATIENCE.get().over(units);
    for _ in 0..threads {
        match finished.recv_timeout(patience.saturating_sub(start.elapsed())) {
            Err(RecvTimeoutError::Timeout) => return Err(Fault::Stuck { within: patience }),
            // All have finished their work, some of them by a panic, which `join` reports.
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {}
        }
    }
    Ok(())
}

/// The result of a thread that has finished its work. Its panic continues here.
fn ended(thread: JoinHandle<Result<Value, Fault>>) -> Result<Value, Fault> {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Finds out whether `threads` threads can exist at once, by starting them.
///
/// # Errors
///
/// Refuses more threads than the machine has room for.
pub fn rehearse(threads: usize) -> Result<(), Error> {
    start(threads, stack(threads))
}

fn start(threads: usize, stack: usize) -> Result<(), Error> {
    let (starter, release) = mpsc::channel::<()>();
    let release = Arc::new(std::sync::Mutex::new(release));
    let one = |_| {
        let release = release.clone();
        // They wait for one lock, and the one that has it waits for the end.
        let wait = move || drop(release.lock().map(|release| release.recv()));
        thread::Builder::new().stack_size(stack).spawn(wait)
    };
    let mut started = Vec::with_capacity(threads);
    let failed = (0..threads).map(one).find_map(|thread| thread.map(|thread| started.push(thread)).err());
    drop(starter);
    let had = started.len();
    started.into_iter().for_each(|thread| drop(thread.join()));
    failed.map_or(Ok(()), |cause| {
        Err(Error::Refused(format!(
            "{threads} threads are needed and only {had} can be started here ({cause}): see `ulimit -u` and pids.max."
        )))
    })
}

/// Runs `only` on one CPU, in a thread of its own.
pub fn solo<A: Send>(cpu: usize, only: impl FnOnce() -> A + Send) -> Result<A, Fault> {
    let (mut only, mut value) = (Some(only), None);
    alone(cpu, &mut || value = only.take().map(|only| only()))?;
    Ok(value.unwrap_or_else(|| unreachable!("it was called once")))
}

fn alone(cpu: usize, only: &mut (dyn FnMut() + Send)) -> Result<(), Fault> {
    thread::scope(|scope| {
        let only = scope.spawn(move || pin(cpu).map(|()| only()));
        only.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Whether a count of the threads' steps stops growing within seconds: a signal takes a moment, and more on a busy
/// machine.
#[cfg(test)]
pub fn comes_to_rest(steps: &std::sync::atomic::AtomicU64) -> bool {
    (0..200).any(|_| {
        // ORDERING: Relaxed: a number with no other data.
        let before = steps.load(Ordering::Relaxed);
        thread::sleep(Duration::from_millis(50));
        steps.load(Ordering::Relaxed) == before
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_run_and_return() {
        let place = Place::choose(None).unwrap();
        for place in [place, place.together()] {
            let (a, b) = duet(
                place,
                1,
                |gate| {
                    gate.pass();
                    1
                },
                |gate| {
                    gate.pass();
                    "two"
                },
            )
            .unwrap();
            assert_eq!((a, b), (1, "two"));
        }
    }

    fn parts(count: usize, cpus: &[usize], part: impl Fn(usize) -> usize + Copy + Send + 'static) -> Vec<Part<usize>> {
        let one = |number| {
            Part::new(cpus, move |gate| {
                gate.pass();
                part(number)
            })
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn many_threads_share_the_cpus_and_return_in_order() {
        let place = Place::choose(None).unwrap();
        for cpus in [vec![place.first, place.second], vec![place.first]] {
            assert_eq!(ensemble(1, parts(20, &cpus, |number| number)).unwrap(), (0..20).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_thousand_threads_wait_at_the_gate() {
        let place = Place::choose(None).unwrap();
        for cpus in [place.cpus(), vec![place.first]] {
            assert_eq!(ensemble(1, parts(1_025, &cpus, |number| number)).unwrap().len(), 1_025);
        }
        rehearse(1_025).unwrap();
    }

    #[test]
    fn threads_that_cannot_be_started_are_refused_in_one_sentence() {
        // A stack larger than any address space.
        let error = start(3, 1 << 60).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        let sentence = error.to_string();
        assert!(sentence.starts_with("3 threads are needed and only 0 can be started here ("), "{sentence}");
    }

    #[test]
    fn a_part_that_panics_does_not_keep_the_others_from_ending() {
        let place = Place::choose(None).unwrap();
        let parts = parts(5, &[place.first], |number| if number == 3 { panic!("part 3") } else { number });
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ensemble(1, parts))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"part 3"));
    }

    #[test]
    fn a_gate_that_is_forced_lets_early_and_late_threads_pass() {
        let gate = Arc::new(Gate::new(3));
        let waiting = thread::spawn({
            let gate = gate.clone();
            move || gate.pass()
        });
        gate.force();
        waiting.join().unwrap();
        gate.pass();
    }

    #[test]
    fn threads_that_are_stuck_are_given_up_and_take_no_more_time() {
        use std::sync::atomic::AtomicU64;

        static STEPS: AtomicU64 = AtomicU64::new(0);
        const SHORT: Patience = Patience { base: Duration::from_millis(30), each: Duration::ZERO };
        let place = Place::choose(None).unwrap();
        let spin = || {
            loop {
                // ORDERING: Relaxed: a number with no other data.
                STEPS.fetch_add(1, Ordering::Relaxed);
            }
        };
        let stuck =
            |place| -> Result<((), ()), Fault> { with_patience(SHORT, || duet_from_the_gate(place, 1, spin, spin)) };
        for place in [place, place.together()] {
            let fault = stuck(place).unwrap_err();
            assert!(matches!(fault, Fault::Stuck { within } if within == SHORT.base));
            // The known fact, without a cause: nothing was lost here.
            assert_eq!(fault.to_string(), "did not end within 30 ms");
            assert!(comes_to_rest(&STEPS));
        }
        let parts = parts(3, &place.cpus(), |number| {
            if number == 1 {
                thread::park();
                1
            } else {
                number
            }
        });
        let left = with_patience(SHORT, || ensemble(1, parts));
        assert!(matches!(left, Err(Fault::Stuck { .. })));
        // A later run has the usual time limit, and both CPUs.
        let (one, two) = duet_from_the_gate(place, 1, || 1, || 2).unwrap();
        assert_eq!((one, two, PATIENCE.get()), (1, 2, Patience::USUAL));
    }

    #[test]
    fn spans_reach_from_the_first_start_to_the_last_end() {
        let start = Instant::now();
        let span = |from, to, units| Span {
            start: start + Duration::from_nanos(from),
            end: start + Duration::from_nanos(to),
            units,
        };
        let timed = Span::over(&[span(10, 60, 1), span(5, 20, 2), span(30, 50, 4)]);
        assert_eq!(timed, Timed { elapsed: Duration::from_nanos(55), units: 7 });
    }

    #[test]
    fn the_quicker_is_chosen_per_unit() {
        let slow = Timed { elapsed: Duration::from_nanos(100), units: 10 };
        let quick = Timed { elapsed: Duration::from_nanos(200), units: 100 };
        assert_eq!(slow.quicker(quick), quick);
        assert_eq!(quick.quicker(slow), quick);
    }
}
