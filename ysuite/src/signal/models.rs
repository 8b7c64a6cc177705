//! The signalers under the model checker: every interleaving, and every value the memory model allows a load to return,
//! up to three preemptions.
//!
//! The widths of the words are two in a model (see `bits.rs`): 2 ids are one level, 4 are two, 8 are three. A wake-up
//! that is lost shows as a deadlock, a signal that does not bring its past as a race on a cell.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Wake, Waker};

use loom::sync::Notify;
use loom::thread;

use super::attach::attach;
use super::set::SetCore;
use super::{Attach, AttachError, Registration, Signal, TaskSlot, Wait, YSemaphore};
use crate::os::{Bell, Native, Platform};
use crate::sync::{Arc, AtomicBool, AtomicU32, AtomicUsize, Ordering, UnsafeCell};

fn explore(model: impl Fn() + Sync + Send + 'static) {
    explore_up_to(3, model);
}

fn explore_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(model);
}

fn join<const THREADS: usize>(threads: [thread::JoinHandle<()>; THREADS]) {
    for thread in threads {
        thread.join().unwrap();
    }
}

/// What a signaller had done before it signalled. Reading it without having seen the signal is a race.
struct Past(UnsafeCell<u32>);

// SAFETY: written before the signal, read after it was seen; loom reports it if that is not so.
unsafe impl Sync for Past {}

impl Past {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn write(&self) {
        self.0.with_mut(|past| {
            // SAFETY: loom checks that nobody else is here.
            unsafe { *past = 1 }
        });
    }

    fn read(&self) {
        self.0.with(|past| {
            // SAFETY: loom checks that nobody writes.
            assert_eq!(unsafe { *past }, 1);
        });
    }
}

/// A set, and a past for each of its signals.
struct Scene<const IDS: usize> {
    core: Arc<SetCore>,
    pasts: Arc<[Past; IDS]>,
}

impl<const IDS: usize> Scene<IDS> {
    fn new(core: SetCore) -> Self {
        Self { core: Arc::new(core), pasts: Arc::new([(); IDS].map(|()| Past::new())) }
    }

    fn raise(&self, id: usize) -> thread::JoinHandle<()> {
        let (core, pasts) = (Arc::clone(&self.core), Arc::clone(&self.pasts));
        thread::spawn(move || {
            pasts[id].write();
            core.raise(id);
        })
    }

    /// Takes note of what a look has found; each id once.
    fn note(&self, seen: &mut [bool; IDS], signals: impl Iterator<Item = usize>) {
        for id in signals {
            assert!(!core::mem::replace(&mut seen[id], true), "id {id} was raised once and seen twice");
            self.pasts[id].read();
        }
    }
}

/// Two raisers against an owner that only looks: nothing lost, nothing doubled.
fn take_against_raise<const IDS: usize>(core: fn(usize) -> SetCore, ids: [usize; 2]) {
    let scene = Scene::<IDS>::new(core(IDS));
    let raisers = ids.map(|id| scene.raise(id));
    let mut seen = [false; IDS];
    scene.note(&mut seen, scene.core.check());
    scene.note(&mut seen, scene.core.check());
    join(raisers);
    scene.note(&mut seen, scene.core.check());
    assert!(ids.iter().all(|&id| seen[id]), "a signal was lost");
}

/// Two raisers against an owner that sleeps until it has seen both.
fn poll_against_raise<const IDS: usize>(core: fn(usize) -> SetCore, ids: [usize; 2]) {
    let scene = Scene::<IDS>::new(core(IDS));
    let raisers = ids.map(|id| scene.raise(id));
    let mut seen = [false; IDS];
    while !ids.iter().all(|&id| seen[id]) {
        scene.note(&mut seen, scene.core.poll());
    }
    join(raisers);
}

#[test]
fn models_take_against_raise_in_one_word() {
    explore(|| take_against_raise::<2>(SetCore::on_futex, [0, 1]));
}

#[test]
fn models_take_against_raise_in_two_levels() {
    explore(|| take_against_raise::<4>(SetCore::on_futex, [2, 3]));
    explore(|| take_against_raise::<4>(SetCore::on_futex, [1, 3]));
}

#[test]
fn models_take_against_raise_in_three_levels() {
    explore(|| take_against_raise::<8>(SetCore::on_futex, [4, 6]));
}

#[test]
fn models_two_raisers_and_a_sleeper_in_one_word() {
    explore(|| poll_against_raise::<2>(SetCore::on_futex, [0, 1]));
}

#[test]
fn models_two_raisers_and_a_sleeper_in_two_levels() {
    explore(|| poll_against_raise::<4>(SetCore::on_futex, [0, 1]));
    explore(|| poll_against_raise::<4>(SetCore::on_futex, [0, 2]));
}

#[test]
fn models_the_same_id_twice_brings_both_pasts() {
    explore(|| {
        let core = Arc::new(SetCore::on_futex(4));
        let pasts = Arc::new([Past::new(), Past::new()]);
        let raisers = [0, 1].map(|raiser| {
            let (core, pasts) = (Arc::clone(&core), Arc::clone(&pasts));
            thread::spawn(move || {
                pasts[raiser].write();
                core.raise(3);
            })
        });
        assert_eq!(core.poll().collect::<Vec<_>>(), [3]);
        join(raisers);
        // Whichever raise was not in the first look is in this one, unless one look had both.
        let _ = core.check();
        pasts.iter().for_each(Past::read);
    });
}

#[test]
fn models_time_out_against_raise() {
    explore(|| {
        let scene = Scene::<2>::new(SetCore::on_futex(2));
        let raiser = scene.raise(1);
        let mut seen = [false; 2];
        scene.note(&mut seen, scene.core.poll_timeout(Duration::from_secs(1000)));
        if !seen[1] {
            scene.note(&mut seen, scene.core.poll());
        }
        assert!(seen[1]);
        raiser.join().unwrap();
        assert!(scene.core.check().is_empty());
    });
}

/// A receiver with one message at most, and what a channel's core keeps of it.
struct Inbox {
    full: AtomicBool,
    registration: Registration,
}

impl Inbox {
    /// Attached to `id`, and found empty once, as at the end of every attach.
    fn attached(core: &Arc<SetCore>, id: usize) -> Arc<Self> {
        struct Hands(Option<Registration>);
        impl Attach for Hands {
            fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
                self.0 = Some(registration);
                Ok(())
            }
        }
        let mut hands = Hands(None);
        attach(core, &mut hands, id).unwrap();
        Arc::new(Self { full: AtomicBool::new(false), registration: hands.0.unwrap() })
    }

    fn send(&self) {
        // Relaxed, so that only the bits' own orderings can make it visible.
        self.full.store(true, Ordering::Relaxed);
        self.registration.raise();
    }

    /// The receiver's bargain. The message is left where it is.
    fn find_empty(&self) {
        self.registration.lower();
        if self.full.load(Ordering::Relaxed) {
            self.registration.raise();
        }
    }
}

/// A receiver that finds itself empty against a sender to it and a raiser of a neighbour; the owner looks meanwhile.
fn lower_against_raise(core: SetCore, id: usize, neighbour: usize) -> Arc<SetCore> {
    let scene = Scene::<8>::new(core);
    let inbox = Inbox::attached(&scene.core, id);
    inbox.registration.raise();
    let raiser = {
        let (inbox, core, pasts) = (Arc::clone(&inbox), Arc::clone(&scene.core), Arc::clone(&scene.pasts));
        thread::spawn(move || {
            inbox.send();
            pasts[neighbour].write();
            core.raise(neighbour);
        })
    };
    let receiver = {
        let inbox = Arc::clone(&inbox);
        thread::spawn(move || inbox.find_empty())
    };
    let mut seen = [false; 8];
    scene.note(&mut seen, scene.core.check().filter(|&up| up != id));
    raiser.join().unwrap();
    receiver.join().unwrap();
    let up: Vec<_> = scene.core.check().collect();
    assert!(up.contains(&id), "a message is there and its id is not up");
    scene.note(&mut seen, up.into_iter().filter(|&up| up != id));
    assert!(seen[neighbour], "the neighbour's signal was lost");
    // Level-triggered: told again, until the receiver is empty.
    assert_eq!(scene.core.check().collect::<Vec<_>>(), [id]);
    inbox.full.store(false, Ordering::Relaxed);
    inbox.find_empty();
    assert!(scene.core.check().is_empty());
    Arc::clone(&scene.core)
}

#[test]
fn models_lower_against_raise_in_one_word() {
    explore(|| drop(lower_against_raise(SetCore::on_futex(2), 0, 1)));
}

#[test]
fn models_lower_against_raise_in_two_levels() {
    explore(|| drop(lower_against_raise(SetCore::on_futex(4), 0, 1)));
}

#[test]
fn models_lower_against_raise_across_words() {
    explore(|| drop(lower_against_raise(SetCore::on_futex(8), 0, 2)));
}

/// A receiver in another thread lowers while a raise from a third must wake the sleeping owner.
fn lower_beside_a_sleeper(core: SetCore) {
    let scene = Scene::<4>::new(core);
    let inbox = Inbox::attached(&scene.core, 0);
    inbox.registration.raise();
    let raiser = scene.raise(1);
    let receiver = {
        let inbox = Arc::clone(&inbox);
        thread::spawn(move || inbox.find_empty())
    };
    let mut seen = [false; 4];
    while !seen[1] {
        scene.note(&mut seen, scene.core.poll().filter(|&id| id != 0));
        // This owner leaves the receiver to its thread, so it is told again and again: let that thread come.
        thread::yield_now();
    }
    raiser.join().unwrap();
    receiver.join().unwrap();
}

#[test]
fn models_lower_does_not_hide_a_signal_from_a_sleeper() {
    explore(|| lower_beside_a_sleeper(SetCore::on_futex(4)));
}

/// Stands for a descriptor: how many rings are in it.
struct ModelBell {
    rings: Arc<AtomicU32>,
}

impl ModelBell {
    fn set(capacity: usize) -> (SetCore, Arc<AtomicU32>) {
        let rings = Arc::new(AtomicU32::new(0));
        (SetCore::on_bell(capacity, Box::new(Self { rings: Arc::clone(&rings) })), rings)
    }
}

impl AsFd for ModelBell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        unreachable!("a model waits on the counter")
    }
}

impl Bell for ModelBell {
    fn ring(&self) {
        // What a kernel's lock gives, and what the contract of `hush` asks.
        let before = self.rings.fetch_add(1, Ordering::Release);
        assert_eq!(before, 0, "a second ring was written");
        Native::wake(&self.rings, 1);
    }

    fn hush(&self) -> bool {
        self.rings.swap(0, Ordering::Acquire) != 0
    }

    fn wait(&self, timeout: Option<Duration>) {
        // A kernel looks at the newest state, as a read-modify-write does, and a poll that says "readable" comes after
        // the write, see the contract.
        if self.rings.fetch_add(0, Ordering::Acquire) == 0 {
            Native::wait(&self.rings, 0, timeout);
            self.rings.fetch_add(0, Ordering::Acquire);
        }
    }
}

/// Nothing runs any more: readable exactly if something is up, at the latest after one look.
fn at_rest(core: &SetCore, rings: &AtomicU32) {
    if core.any() {
        assert_eq!(rings.load(Ordering::Relaxed), 1, "something is up and the descriptor is not readable");
    }
    let up = !core.check().is_empty() && !core.check().is_empty();
    assert_eq!(rings.load(Ordering::Relaxed), u32::from(up), "readable after a look, and nothing is up");
    core.raise(1);
    assert_eq!(rings.load(Ordering::Relaxed), 1, "a signal that no longer rings");
}

#[test]
fn models_bell_take_against_raise() {
    explore(|| {
        let (core, rings) = ModelBell::set(2);
        let core = Arc::new(core);
        let raisers = [0, 1].map(|id| {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(id))
        });
        let _ = core.check();
        let _ = core.check();
        join(raisers);
        at_rest(&core, &rings);
    });
}

#[test]
fn models_bell_wakes_the_sleeper() {
    explore(|| poll_against_raise::<2>(|capacity| ModelBell::set(capacity).0, [0, 1]));
    explore_up_to(2, || poll_against_raise::<4>(|capacity| ModelBell::set(capacity).0, [0, 1]));
}

#[test]
fn models_bell_lower_does_not_hide_a_signal_from_a_sleeper() {
    explore_up_to(2, || lower_beside_a_sleeper(ModelBell::set(4).0));
}

#[test]
fn models_bell_lower_against_raise() {
    explore(|| {
        let (core, rings) = ModelBell::set(2);
        let core = lower_against_raise(core, 0, 1);
        at_rest(&core, &rings);
    });
}

#[test]
fn models_bell_two_lower_at_once() {
    explore(|| {
        let (core, rings) = ModelBell::set(4);
        let core = Arc::new(core);
        let inboxes = [0, 1].map(|id| Inbox::attached(&core, id));
        inboxes.iter().for_each(|inbox| inbox.registration.raise());
        let sender = {
            let inbox = Arc::clone(&inboxes[0]);
            thread::spawn(move || inbox.send())
        };
        let receivers = inboxes.clone().map(|inbox| thread::spawn(move || inbox.find_empty()));
        sender.join().unwrap();
        join(receivers);
        assert!(core.is_up(0) && !core.is_up(1));
        at_rest(&core, &rings);
    });
}

#[test]
fn models_bell_abandoned_against_raise() {
    explore(|| {
        let (core, rings) = ModelBell::set(2);
        let core = Arc::new(core);
        let raisers = [0, 1].map(|id| {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(id))
        });
        core.abandon();
        join(raisers);
        assert_eq!(rings.load(Ordering::Relaxed), 0, "the descriptor of a set that is gone is readable");
    });
}

#[test]
fn models_release_against_raise_and_claim() {
    explore(|| {
        let core = Arc::new(SetCore::on_futex(4));
        let inbox = Inbox::attached(&core, 3);
        inbox.registration.raise();
        let other = {
            let inbox = Arc::clone(&inbox);
            thread::spawn(move || inbox.registration.release())
        };
        inbox.registration.release();
        let _ = core.check();
        other.join().unwrap();
        assert!(!core.is_up(3));
        assert!(core.check().is_empty());
        drop(Inbox::attached(&core, 3));
        core.raise(3);
        assert_eq!(core.check().collect::<Vec<_>>(), [3]);
        assert!(core.check().is_empty(), "a freed id is taken, not reported");
    });
}

#[test]
fn models_semaphore() {
    explore(|| {
        let mut semaphore = YSemaphore::new();
        let pasts = Arc::new([Past::new(), Past::new()]);
        let raisers = [0, 1].map(|raiser| {
            let (signaler, pasts) = (semaphore.signaler(), Arc::clone(&pasts));
            thread::spawn(move || {
                pasts[raiser].write();
                signaler.signal(0);
            })
        });
        assert_eq!(semaphore.poll().collect::<Vec<_>>(), [0]);
        join(raisers);
        let _ = semaphore.check();
        pasts.iter().for_each(Past::read);
        assert!(semaphore.check().is_empty());
    });
}

#[test]
fn models_semaphore_time_out_against_signal() {
    explore(|| {
        let mut semaphore = YSemaphore::new();
        let signaler = semaphore.signaler();
        let raiser = thread::spawn(move || signaler.signal(0));
        if semaphore.poll_timeout(Duration::from_secs(1000)).is_empty() {
            assert_eq!(semaphore.poll().len(), 1);
        }
        raiser.join().unwrap();
        assert!(semaphore.check().is_empty());
    });
}

/// A task that waits on loom's own notification.
struct ModelTask {
    woken: Notify,
    wakes: AtomicUsize,
}

impl ModelTask {
    fn new() -> (std::sync::Arc<Self>, Waker) {
        let task = std::sync::Arc::new(Self { woken: Notify::new(), wakes: AtomicUsize::new(0) });
        (std::sync::Arc::clone(&task), Waker::from(task))
    }
}

impl Wake for ModelTask {
    fn wake(self: std::sync::Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
        self.woken.notify();
    }
}

#[test]
fn models_task_register_against_wake() {
    explore(|| {
        let slot = Arc::new(TaskSlot::new());
        let past = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let wakers = [0, 1].map(|waker| {
            let (slot, past) = (Arc::clone(&slot), Arc::clone(&past));
            thread::spawn(move || {
                past[waker].store(true, Ordering::Relaxed);
                slot.wake();
            })
        });
        let (task, waker) = ModelTask::new();
        loop {
            slot.register(&waker);
            if past.iter().all(|past| past.load(Ordering::Relaxed)) {
                break;
            }
            task.woken.wait();
            // An executor, too, lets others run before it comes back to a task that has woken itself.
            thread::yield_now();
        }
        join(wakers);
        drop(slot);
        assert_eq!(std::sync::Arc::strong_count(&task), 2, "a waker was leaked or dropped twice");
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&task), 1);
    });
}

#[test]
fn models_task_replaced_against_wake() {
    explore(|| {
        let slot = Arc::new(TaskSlot::new());
        let past = Arc::new(AtomicBool::new(false));
        let (first, first_waker) = ModelTask::new();
        slot.register(&first_waker);
        let waking = {
            let (slot, past) = (Arc::clone(&slot), Arc::clone(&past));
            thread::spawn(move || {
                past.store(true, Ordering::Relaxed);
                slot.wake();
            })
        };
        let (second, second_waker) = ModelTask::new();
        slot.register(&second_waker);
        // The notification may come for no reason; a lost wake-up ends in a deadlock here.
        while !past.load(Ordering::Relaxed) {
            second.woken.wait();
        }
        waking.join().unwrap();
        drop((slot, first_waker, second_waker));
        assert_eq!(std::sync::Arc::strong_count(&first), 1);
        assert_eq!(std::sync::Arc::strong_count(&second), 1);
    });
}

#[test]
fn models_task_taken_against_wake() {
    explore(|| {
        let slot = Arc::new(TaskSlot::new());
        let (task, waker) = ModelTask::new();
        slot.register(&waker);
        let waking = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.wake())
        };
        let taken = slot.take();
        waking.join().unwrap();
        let wakes = task.wakes.load(Ordering::Relaxed);
        assert_eq!(wakes + usize::from(taken.is_some()), 1, "taken and woken, or neither");
        drop((taken, waker, slot));
        assert_eq!(std::sync::Arc::strong_count(&task), 1);
    });
}
