//! [`TaskSlot`]: how an async task sleeps. Holds the waker of the one task that waits, for any thread to wake.
//!
//! `register`: the owner of the waiting side. `wake`, `take`: any thread. All are lock-free. No thread waits for the
//! holder of the slot: it sets a bit instead, which says what the holder still has to do. But an owner that comes while
//! a thread wakes has to come again, and first sleeps for a moment if that thread is not about to leave. User code (a
//! waker's clone, wake and drop) runs only while the slot is free, so it may panic, or use the slot again.
//!
//! Cannot: hold two tasks. The task that registered last is woken.
//!
//! Source: the three states of `AtomicWaker` in futures-rs (Carl Lerche, Alex Crichton), written anew.

use core::task::Waker;

use crate::foreign::Panics;
use crate::os::PeerWait;
use crate::sync::{AtomicU32, Ordering, UnsafeCell, spin_loop};

/// No thread holds the slot: the initial state. Any thread may try to take it.
const WAITING: u32 = 0;
/// The owner holds the slot: it alone may touch the waker.
const REGISTERING: u32 = 1;
/// A waking thread has come. If only this bit is set, that thread holds the slot; together with REGISTERING, it has
/// left the waking to the owner.
const WAKING: u32 = 2;

/// How often a registering thread checks whether a waking thread has left, before it sleeps for a moment.
const LOOKS: u32 = if cfg!(any(ysuite_loom, miri)) { 1 } else { 100 };

/// Room for the waker of one task.
#[derive(Default)]
pub(crate) struct TaskSlot {
    state: AtomicU32,
    /// Belongs to the thread that has moved `state` out of WAITING.
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: the slot owns its waker, which may be woken and dropped on any thread.
unsafe impl Send for TaskSlot {}
// SAFETY: `waker` is touched only by the thread that has moved `state` out of WAITING, until that thread moves it back;
// a waker may be cloned, woken and dropped on any thread.
unsafe impl Sync for TaskSlot {}

impl TaskSlot {
    #[cfg(all(feature = "mpsc", not(ysuite_loom)))]
    pub(crate) const fn new() -> Self {
        Self { state: AtomicU32::new(WAITING), waker: UnsafeCell::new(None) }
    }

    // USER CODE: `Clone` of the new waker, `Drop` of the one it replaces; the slot is free, the handle not armed;
    //     re-entrance: may use the slot and the channel; panic: propagates; the old waker, or the new one, is in the
    //     slot; test: src/signal/task.rs: a_panicking_waker_leaves_the_slot_in_order
    /// Stores `waker` for the next [`TaskSlot::wake`] to wake. Afterwards the caller must check whether there is a
    /// reason to wake already. Clones only if the slot does not hold an equivalent waker.
    ///
    /// For one owner at a time. Two at once break nothing, but one of them is woken at once and has to register again.
    #[inline(never)]
    pub(crate) fn register(&self, waker: &Waker) {
        // The waker is cloned while the slot is free; whether a clone is needed shows only while it is held.
        let mut known = true;
        let held = self.hold(|slot| known = slot.as_ref().is_some_and(|old| old.will_wake(waker)));
        if let Err(old) = held {
            return wake_all(waker, old, None);
        }
        if known {
            return;
        }
        let mut other = Some(waker.clone());
        if let Err(old) = self.exchange(&mut other) {
            wake_all(waker, old, other);
        }
        // The old waker is dropped here, while the slot is free.
    }

    /// As [`register`](Self::register), for a waker that is given. The slot holds none.
    pub(crate) fn put(&self, waker: Waker) {
        let mut waker = Some(waker);
        if let Err(old) = self.exchange(&mut waker) {
            // It is in one place or the other.
            if let Some(waker) = old.or(waker) {
                waker.wake();
            }
        }
    }

    /// Exchanges the waker in the slot for another; as [`hold`](Self::hold).
    fn exchange(&self, waker: &mut Option<Waker>) -> Result<(), Option<Waker>> {
        self.hold(|slot| core::mem::swap(slot, waker))
    }

    // USER CODE: `wake_by_ref` of the new waker, `wake` of the old; the slot is free, and the new one has not been
    //     stored; re-entrance: may use the slot; panic: propagates; the next poll registers again; test:
    //     src/signal/task.rs: a_panicking_waker_leaves_the_slot_in_order
    /// Runs `inside` with the slot held. Returns an error if a waking thread came in between, with the waker that was
    /// in the slot: the caller wakes it, and also the task that registers. That task will check again, and register
    /// again if it must.
    fn hold(&self, inside: impl FnOnce(&mut Option<Waker>)) -> Result<(), Option<Waker>> {
        // ORDERING: Acquire pairs with the Release of `take` and of the compare-exchange below, by which the last
        // holder left; on failure with the read-modify-write of `take`: the task that is woken here sees the reason for
        // the wake.
        if self.state.compare_exchange(WAITING, REGISTERING, Ordering::Acquire, Ordering::Acquire).is_err() {
            self.let_wake();
            return Err(None);
        }
        self.waker.with_mut(|slot| {
            // SAFETY: the compare-exchange has made this thread the holder; `inside` runs no user code that could come
            // back.
            inside(unsafe { &mut *slot });
        });
        // ORDERING: Release hands the waker over to the next holder. Relaxed on failure: the swap below acquires.
        if self.state.compare_exchange(REGISTERING, WAITING, Ordering::Release, Ordering::Relaxed).is_ok() {
            return Ok(());
        }
        // A waking thread has found the slot held and left the waking to this thread, which still holds the slot.
        let old = self.waker.with_mut(|slot| {
            // SAFETY: this thread is the holder until the swap below.
            unsafe { (*slot).take() }
        });
        // ORDERING: Release hands the waker over to the next holder; Acquire pairs with the Release of the
        // read-modify-write in `take`: the task sees the reason for the wake.
        self.state.swap(WAITING, Ordering::AcqRel);
        Err(old)
    }

    /// A waking thread is between two instructions, and the task is polled again at once. If the polling thread had
    /// preempted that thread, it would never get the CPU back from a real-time thread. So this waits a moment for it,
    /// and sleeps once.
    #[cold]
    #[inline(never)]
    fn let_wake(&self) {
        let is_waking = || {
            spin_loop();
            // ORDERING: Relaxed; a hint: the compare-exchange of the next registration acquires. A model need not
            // explore it.
            !cfg!(ysuite_loom) && self.state.load(Ordering::Relaxed) & WAKING != 0
        };
        for _ in 0..LOOKS {
            if !is_waking() {
                return;
            }
        }
        PeerWait::asleep().wait();
    }

    // USER CODE: `wake` and `Drop` of the waker, called by `WakeTarget::wake`; it has been taken out, and message,
    //     futex and signal are done: it is the last step of an operation; re-entrance: may use the channel; panic:
    //     propagates out of the send or receive that woke; a message that was being received is dropped; test:
    //     tests/suite/asynchronous.rs: a_waker_may_use_the_channel, tests/suite/conformance/channel/tasks.rs:
    //     a_waker_that_panics_loses_nothing
    /// Wakes the task that waits, if any; it must register again to be woken again. Any thread.
    #[inline(never)]
    pub(crate) fn wake(&self) {
        if let Some(waker) = self.take() {
            waker.wake();
        }
    }

    /// Takes the waker out. `None` if there is none, or if another thread holds the slot: that thread wakes the task,
    /// or is about to take the waker itself. Any thread.
    #[must_use = "its drop runs user code, and comes last"]
    pub(crate) fn take(&self) -> Option<Waker> {
        // ORDERING: Acquire pairs with the Release by which the last holder left. Release pairs with the Acquires of
        // `hold`: what happened before this wake is visible to the task that registers afterwards.
        if self.state.fetch_or(WAKING, Ordering::AcqRel) != WAITING {
            return None;
        }
        let waker = self.waker.with_mut(|slot| {
            // SAFETY: the state was WAITING, so this thread is the holder until it clears WAKING.
            unsafe { (*slot).take() }
        });
        // ORDERING: Release pairs with the Acquire of the next holder.
        self.state.fetch_and(!WAKING, Ordering::Release);
        waker
    }
}

/// Wakes the task that registers, and also the task that had registered, if that is another. If one wake panics, the
/// other still happens. Then drops a waker that is no longer needed.
#[cold]
#[inline(never)]
fn wake_all(waker: &Waker, old: Option<Waker>, other: Option<Waker>) {
    let mut panics = Panics::none();
    // MUTANT: A task that had registered with the same waker is woken twice.
    if old.as_ref().is_none_or(|old| !old.will_wake(waker)) {
        panics.catch(|| waker.wake_by_ref());
    }
    if let Some(old) = old {
        panics.catch(|| old.wake());
    }
    panics.catch(|| drop(other));
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    //! What user code may do to the slot. `models/task.rs` tests the races.

    use core::cell::Cell;
    use core::task::{RawWaker, RawWakerVTable, Waker};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    // ORDERING: Relaxed in all tests of this module; each runs on one thread.
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::TaskSlot;

    /// What has been done to the wakers of one test. Each of the three panics when its count reaches the limit.
    struct Probe {
        clones: AtomicUsize,
        wakes: AtomicUsize,
        drops: AtomicUsize,
        /// The clone, wake or drop that panics: its number in the order of all three.
        fuse: AtomicUsize,
        /// The slot to which a waking thread comes while a waker is cloned the next time.
        visited: Cell<Option<&'static TaskSlot>>,
    }

    impl Probe {
        fn new() -> &'static Self {
            Box::leak(Box::new(Self {
                clones: AtomicUsize::new(0),
                wakes: AtomicUsize::new(0),
                drops: AtomicUsize::new(0),
                fuse: AtomicUsize::new(usize::MAX),
                visited: Cell::new(None),
            }))
        }

        fn waker(&'static self) -> Waker {
            // SAFETY: the functions below keep to the contract of a raw waker; the data is leaked, so it is never
            // freed.
            unsafe { Waker::from_raw(RawWaker::new(core::ptr::from_ref(self).cast(), &FUNCTIONS)) }
        }

        fn counts(&self) -> (usize, usize, usize) {
            (self.clones.load(Relaxed), self.wakes.load(Relaxed), self.drops.load(Relaxed))
        }

        /// `from_now`: 0 is the next thing done to a waker of this probe.
        fn light(&self, from_now: usize) {
            self.fuse.store(from_now, Relaxed);
        }

        fn burn(&self) {
            let left = self.fuse.load(Relaxed);
            self.fuse.store(left.wrapping_sub(1), Relaxed);
            assert!(left != 0, "as the test wants it");
        }
    }

    static FUNCTIONS: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

    fn probe(data: *const ()) -> &'static Probe {
        // SAFETY: every waker with these functions was made by `Probe::waker`.
        unsafe { &*data.cast() }
    }

    fn clone(data: *const ()) -> RawWaker {
        probe(data).burn();
        probe(data).clones.fetch_add(1, Relaxed);
        probe(data).visited.take().inspect(|slot| slot.state.store(super::WAKING, Relaxed));
        RawWaker::new(data, &FUNCTIONS)
    }

    fn wake(data: *const ()) {
        // It is consumed even if it panics.
        probe(data).drops.fetch_add(1, Relaxed);
        wake_by_ref(data);
    }

    fn wake_by_ref(data: *const ()) {
        probe(data).wakes.fetch_add(1, Relaxed);
        probe(data).burn();
    }

    fn drop_waker(data: *const ()) {
        probe(data).drops.fetch_add(1, Relaxed);
        probe(data).burn();
    }

    #[test]
    fn an_equivalent_waker_is_not_cloned_again() {
        let (probe, slot) = (Probe::new(), TaskSlot::default());
        let waker = probe.waker();
        (0..10).for_each(|_| slot.register(&waker));
        assert_eq!(probe.counts(), (1, 0, 0));
        slot.wake();
        slot.wake();
        assert_eq!(probe.counts(), (1, 1, 1));
        slot.register(&waker);
        assert!(slot.take().is_some_and(|taken| taken.will_wake(&waker)));
        assert!(slot.take().is_none());
        assert_eq!(probe.counts(), (2, 1, 2));
    }

    /// Claim: The task that registered last is woken, also if it was polled once and kept.
    /// Also: suite spsc::unbounded::the_last_task_to_ask_is_woken.
    #[test]
    fn the_task_that_registered_last_is_woken() {
        let (first, second, slot) = (Probe::new(), Probe::new(), TaskSlot::default());
        slot.register(&first.waker());
        slot.register(&second.waker());
        // Both the clone and the original have been dropped.
        assert_eq!(first.counts(), (1, 0, 2));
        slot.wake();
        assert_eq!(first.counts(), (1, 0, 2));
        assert_eq!(second.counts(), (1, 1, 2));
    }

    #[test]
    fn dropping_the_slot_drops_the_waker() {
        let (probe, slot) = (Probe::new(), TaskSlot::default());
        slot.register(&probe.waker());
        assert_eq!(probe.counts(), (1, 0, 1));
        drop(slot);
        assert_eq!(probe.counts(), (1, 0, 2));
    }

    /// Whatever panics, the slot continues to work and every waker is dropped once.
    ///
    /// Claim: A waker whose clone or drop panics leaves the handles in a valid state.
    /// Also: unit channel::mpmc::receiver::tests::a_notified_receiver_notifies_the_next_where_its_wakers_clone_panics,
    /// suite spsc::bounded_1::a_waker_that_panics_when_it_is_dropped_loses_no_end.
    #[test]
    fn a_panicking_waker_leaves_the_slot_in_order() {
        let caught = |action: &dyn Fn()| assert!(catch_unwind(AssertUnwindSafe(action)).is_err());
        let slot = TaskSlot::default();
        let (bad, good) = (Probe::new(), Probe::new());
        let (bad_waker, good_waker) = (bad.waker(), good.waker());

        bad.light(0);
        caught(&|| slot.register(&bad_waker));
        slot.wake();
        assert_eq!(bad.counts(), (0, 0, 0), "a clone that panicked was stored");

        slot.register(&bad_waker);
        bad.light(0);
        caught(&|| slot.wake());
        slot.wake();
        assert_eq!(bad.counts(), (1, 1, 1), "a wake that panicked was repeated");

        slot.register(&bad_waker);
        bad.light(0);
        caught(&|| slot.register(&good_waker));
        assert_eq!(bad.counts(), (2, 1, 2), "a drop that panicked was repeated");
        slot.wake();
        assert_eq!(good.counts(), (1, 1, 1), "the waker that replaced it is lost");

        slot.register(&bad_waker);
        assert_eq!(bad.counts(), (3, 1, 2));
        drop(slot.take());
        assert_eq!(bad.counts(), (3, 1, 3));
    }

    #[test]
    fn of_several_wakers_each_is_woken_and_dropped_though_others_panic() {
        let [first, second, third] = [(); 3].map(|()| Probe::new());
        // Three in one call: none of them may be omitted, and three panics count as one.
        [first, second, third].iter().for_each(|probe| probe.light(0));
        let waker = first.waker();
        let (old, other) = (second.waker(), third.waker());
        let caught = catch_unwind(AssertUnwindSafe(|| super::wake_all(&waker, Some(old), Some(other))));
        assert!(caught.is_err());
        assert_eq!([first, second, third].map(Probe::counts), [(0, 1, 0), (0, 1, 1), (0, 0, 1)]);
        // A waking thread that is between its two instructions.
        slot_of_a_waking_thread().register(&waker);
        assert_eq!(first.counts(), (0, 2, 0));
    }

    fn slot_of_a_waking_thread() -> TaskSlot {
        let slot = TaskSlot::default();
        slot.state.store(super::WAKING, Relaxed);
        slot
    }

    /// An executor may poll the task from within `wake`.
    ///
    /// Claim: A waker may use the channel that calls it.
    /// Also: suite asynchronous::a_waker_may_use_the_channel, suite mpsc::shared::a_waker_may_send_from_within_a_send.
    #[test]
    fn a_wake_may_come_back_into_the_slot() {
        use std::sync::{Arc, Mutex};
        use std::task::Wake;

        struct Task {
            slot: Arc<TaskSlot>,
            wakes: Mutex<usize>,
        }
        impl Wake for Task {
            fn wake(self: Arc<Self>) {
                *self.wakes.lock().unwrap() += 1;
                let wakes = *self.wakes.lock().unwrap();
                if wakes < 3 {
                    self.slot.register(&Waker::from(Arc::clone(&self)));
                    self.slot.wake();
                }
            }
        }
        let slot = Arc::new(TaskSlot::default());
        let task = Arc::new(Task { slot: Arc::clone(&slot), wakes: Mutex::new(0) });
        slot.register(&Waker::from(Arc::clone(&task)));
        slot.wake();
        assert_eq!(*task.wakes.lock().unwrap(), 3);
        assert_eq!(Arc::strong_count(&task), 1);
    }

    #[test]
    fn a_slot_that_another_thread_holds_is_left_to_it() {
        let (probe, slot) = (Probe::new(), TaskSlot::default());
        slot.register(&probe.waker());
        for held in [super::REGISTERING, super::WAKING] {
            slot.state.store(held, Relaxed);
            assert!(slot.take().is_none());
            assert_eq!(slot.state.load(Relaxed), held | super::WAKING);
        }
        // As the other thread leaves it.
        slot.state.store(super::WAITING, Relaxed);
    }

    #[test]
    fn who_registers_while_another_thread_holds_the_slot_leaves_what_is_in_it_alone() {
        for held in [super::REGISTERING, super::WAKING] {
            let ([first, second], slot) = ([(); 2].map(|()| Probe::new()), TaskSlot::default());
            slot.register(&first.waker());
            slot.state.store(held, Relaxed);
            slot.register(&second.waker());
            // Woken at once, to register again.
            assert_eq!([first, second].map(Probe::counts), [(1, 0, 1), (0, 1, 1)]);
            assert_eq!(slot.state.load(Relaxed), held);
            // As the other thread leaves it.
            slot.state.store(super::WAITING, Relaxed);
        }
    }

    #[test]
    fn a_task_is_woken_to_which_a_waking_thread_comes_while_its_waker_is_cloned() {
        let probe = Probe::new();
        let slot: &'static TaskSlot = Box::leak(Box::<TaskSlot>::default());
        probe.visited.set(Some(slot));
        slot.register(&probe.waker());
        // The clone is dropped as well as the original.
        assert_eq!(probe.counts(), (1, 1, 2));
    }

    #[test]
    fn who_holds_the_slot_wakes_for_a_thread_that_comes_meanwhile() {
        let (probe, slot) = (Probe::new(), TaskSlot::default());
        slot.register(&probe.waker());
        let held = slot.hold(|_| assert!(slot.take().is_none()));
        assert!(held.is_err_and(|old| old.is_some()), "the caller does not get the waker to wake");
        assert_eq!((slot.state.load(Relaxed), slot.take().is_none()), (super::WAITING, true));
        assert_eq!(probe.counts(), (1, 0, 2));
    }
}
