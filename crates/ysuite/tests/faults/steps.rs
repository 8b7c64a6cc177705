//! One thread, instruction by instruction: the processor traps after each of them, and the handler counts, or stops the
//! thread there while another tries what it can. So "wait-free" is a count of instructions, "lock-free" is what others
//! can do while a thread is stopped at any point, and a race of some instructions is tested at each of them.
//!
//! A thread that is counted is a thousand times as slow as the others: to it they are everywhere at once. So the short form
//! tries few instructions, and others in every run.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::SystemTime;

/// What this thread is doing between two instructions.
#[derive(Clone, Copy)]
struct Stepping {
    /// How many instructions have been counted.
    count: u64,
    /// The instruction after which the thread is to stop.
    stop: u64,
    /// The channel on which it reports that, and is told to go on.
    gate: *const Gate,
}

thread_local! {
    static STEPPING: Cell<Stepping> = const { Cell::new(Stepping { count: 0, stop: u64::MAX, gate: std::ptr::null() }) };
}

thread_local! {
    /// What is done between each two instructions of this thread.
    static BETWEEN: Cell<Option<*const (dyn Fn() + 'static)>> = const { Cell::new(None) };
}

/// Where a thread is stopped.
#[derive(Default)]
pub(crate) struct Gate {
    stands: AtomicBool,
    open: AtomicBool,
}

impl Gate {
    fn stand(&self) {
        self.stands.store(true, Ordering::Release);
        while !self.open.load(Ordering::Acquire) {
            // A system call of the kernel's: nothing is locked or allocated, as a handler must not.
            rustix::thread::sched_yield();
        }
    }
}

extern "C" fn trapped(_number: i32) {
    if let Some(between) = BETWEEN.get() {
        // SAFETY: it is there as long as it is set; see `count_with`.
        unsafe { (*between)() };
    }
    // A cell of a thread that needs no making and no end, as a handler may use it.
    STEPPING.with(|stepping| {
        let mut now = stepping.get();
        now.count += 1;
        stepping.set(now);
        if now.count == now.stop {
            // SAFETY: where a stop is set, the gate lives until the stepped call is over.
            unsafe { &*now.gate }.stand();
        }
    });
}

/// Runs `act` instruction by instruction, and counts them.
fn stepped<R>(stop: u64, gate: *const Gate, act: impl FnOnce() -> R) -> (R, u64) {
    unsafe extern "C" {
        fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    }
    const TRAP: i32 = 5;
    // SAFETY: the handler uses what a handler may.
    unsafe { signal(TRAP, trapped) };
    STEPPING.set(Stepping { count: 0, stop, gate });
    // SAFETY: sets the trap flag; the kernel turns each trap into a signal, which is handled.
    unsafe { std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
    let result = act();
    // SAFETY: clears it.
    unsafe { std::arch::asm!("pushfq", "and qword ptr [rsp], -257", "popfq") };
    (result, STEPPING.get().count)
}

/// How many instructions `act` takes. It must not panic.
pub(crate) fn count<R>(act: impl FnOnce() -> R) -> (R, u64) {
    stepped(u64::MAX, std::ptr::null(), act)
}

/// As [`count`], with calls of `between` between each two instructions: other threads' steps happen there, so a loop
/// that they can keep going never ends. It neither panics nor allocates, unless `act` does not allocate.
pub(crate) fn count_with<R>(between: &(dyn Fn() + '_), act: impl FnOnce() -> R) -> (R, u64) {
    let between: *const (dyn Fn() + '_) = between;
    // SAFETY: only the lifetime is another; the pointer is taken away before the reference ends.
    BETWEEN.set(Some(unsafe { std::mem::transmute::<*const (dyn Fn() + '_), *const (dyn Fn() + 'static)>(between) }));
    let counted = count(act);
    BETWEEN.set(None);
    counted
}

/// Runs `act` on a thread of its own, which stops after the instruction of that number while `others` runs here. `warm`
/// runs on that thread first, so that its thread-local data exists: a thread that is stopped within the allocator
/// blocks others. Returns what both have returned; nothing of `others` if `act` has fewer instructions.
pub(crate) fn stopped_at<A: Send, B>(
    instruction: u64,
    warm: impl FnOnce() + Send,
    act: impl FnOnce() -> A + Send,
    others: impl FnOnce() -> B,
) -> (A, Option<B>) {
    preempted_at(instruction, warm, act, |_| others())
}

/// As [`stopped_at`], but `others` itself decides when the stopped thread may go on.
pub(crate) fn preempted_at<A: Send, B>(
    instruction: u64,
    warm: impl FnOnce() + Send,
    act: impl FnOnce() -> A + Send,
    others: impl FnOnce(&dyn Fn()) -> B,
) -> (A, Option<B>) {
    let (gate, over) = (Gate::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let (gate, over) = (&gate, &over);
        let thread = scope.spawn(move || {
            warm();
            let (result, _) = stepped(instruction, gate, act);
            over.store(true, Ordering::Release);
            result
        });
        while !gate.stands.load(Ordering::Acquire) && !over.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let result = gate.stands.load(Ordering::Acquire).then(|| others(&|| gate.open.store(true, Ordering::Release)));
        gate.open.store(true, Ordering::Release);
        (thread.join().expect("no panic"), result)
    })
}

/// Calls `round` with the number of an instruction at which a thread is to be stopped, until a round reports that the
/// thread has fewer: each instruction in the long form; in the short one a sample, different in every run.
pub(crate) fn everywhere(each: u64, mut round: impl FnMut(u64) -> bool) {
    let each = if super::is_long() { 1 } else { each };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").subsec_micros();
    let (mut at, mut stops) = (1 + u64::from(now) % each, 0);
    while round(at) {
        at += each;
        stops += 1;
    }
    assert!(stops > 1, "the thread was stopped {stops} times");
}

/// The first instruction at which a round returns true, if all later ones do so as well; `None`: no instruction does.
pub(crate) fn first(most: u64, mut round: impl FnMut(u64) -> bool) -> Option<u64> {
    let (mut least, mut beyond) = (1, most);
    while least < beyond {
        let middle = (least + beyond) / 2;
        if round(middle) { beyond = middle } else { least = middle + 1 }
    }
    (least < most).then_some(least)
}
