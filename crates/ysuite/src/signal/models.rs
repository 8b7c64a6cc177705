//! The signalers under the model checker: every interleaving, and every value the memory model allows a load to return,
//! up to three preemptions.
//!
//! The widths of the words are two in a model (see `bits.rs`): 2 ids are one level, 4 are two, 8 are three. A lost
//! wake-up shows as a deadlock; a signal that does not make its past visible shows as a race on a cell.

mod bits;
#[cfg(any(unix, windows))]
mod doorbell;
mod task;

use core::time::Duration;

use loom::thread;

use super::attach::attach;
use super::set::SetCore;
use super::{Attach, AttachError, Registration, Signal, Wait, YSemaphore};
use crate::runner::model;
use crate::sync::{Arc, AtomicBool, Ordering, UnsafeCell};

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
            // SAFETY: only the raiser writes, before it signals; loom checks that no other thread is here.
            unsafe { *past = 1 }
        });
    }

    fn read(&self) {
        self.0.with(|past| {
            // SAFETY: the raiser has written before it signalled; loom checks that no thread writes now.
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

    /// Notes what a poll has found; each id once.
    fn note(&self, seen: &mut [bool; IDS], signals: impl Iterator<Item = usize>) {
        for id in signals {
            assert!(!core::mem::replace(&mut seen[id], true), "id {id} was raised once and seen twice");
            self.pasts[id].read();
        }
    }
}

/// Two raisers against an owner that only checks: no signal is lost, none is doubled.
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
        scene.note(&mut seen, scene.core.poll(None));
    }
    join(raisers);
}

/// Claim: The next poll sees each raised signal, at every depth of the set, and takes it once.
/// Also: suite signal::pollset_4096::many_threads_and_every_id_is_seen_once.
#[test]
fn models_take_against_raise_in_one_word() {
    model(|| take_against_raise::<2>(SetCore::on_futex, [0, 1]));
}

#[test]
fn models_take_against_raise_in_two_levels() {
    model(|| take_against_raise::<4>(SetCore::on_futex, [2, 3]));
    model(|| take_against_raise::<4>(SetCore::on_futex, [1, 3]));
}

#[test]
fn models_take_against_raise_in_three_levels() {
    model(|| take_against_raise::<8>(SetCore::on_futex, [4, 6]));
}

/// Claim: A signal wakes the sleeping owner of a set.
/// Also: suite signal::semaphore::ping_pong_loses_no_signal.
#[test]
fn models_two_raisers_and_a_sleeper_in_one_word() {
    model(|| poll_against_raise::<2>(SetCore::on_futex, [0, 1]));
}

#[test]
fn models_two_raisers_and_a_sleeper_in_two_levels() {
    model(|| poll_against_raise::<4>(SetCore::on_futex, [0, 1]));
    model(|| poll_against_raise::<4>(SetCore::on_futex, [0, 2]));
}

/// Two threads raise the same signal, each after a store of its own that nothing else orders. An owner that sleeps
/// until it has seen both stores never wakes up if one signal is lost in the other, or comes without its past.
fn both_pasts_come(raise: impl Fn() + Clone + Send + 'static, mut poll: impl FnMut()) {
    let pasts = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let raisers = [0, 1].map(|raiser| {
        let (raise, pasts) = (raise.clone(), Arc::clone(&pasts));
        thread::spawn(move || {
            // ORDERING: Relaxed, so that only the signal's own orderings can make the store visible.
            pasts[raiser].store(true, Ordering::Relaxed);
            raise();
        })
    });
    // ORDERING: Relaxed, so that only the signal's own orderings can make the stores visible.
    while !pasts.iter().all(|past| past.load(Ordering::Relaxed)) {
        poll();
    }
    join(raisers);
}

/// Claim: A thread that takes a signal sees everything done before it was raised, also by a thread whose raise was
/// merged into another one.
/// Also: suite signal::pollset_31::a_signal_brings_its_past.
#[test]
fn models_the_same_id_twice_brings_both_pasts() {
    for capacity in [2, 4] {
        model(move || {
            let core = Arc::new(SetCore::on_futex(capacity));
            let raising = Arc::clone(&core);
            both_pasts_come(move || raising.raise(1), || assert!(core.poll(None).eq([1])));
        });
    }
}

/// Also if another thread has put the bit up, and is not yet done with the summary above it.
#[test]
fn models_a_raise_is_seen_by_the_next_look() {
    model(|| {
        let core = Arc::new(SetCore::on_futex(4));
        let other = {
            let core = Arc::clone(&core);
            thread::spawn(move || core.raise(3))
        };
        core.raise(3);
        assert_eq!(core.check().collect::<Vec<_>>(), [3]);
        core.raise(2);
        assert!(core.check().any(|id| id == 2));
        other.join().unwrap();
    });
}

/// Claim: A signal that races with the timeout of a poll is found by this poll or the next.
/// Also: suite signal::pollset_31::time_out_racing_a_signal_loses_nothing.
#[test]
fn models_time_out_against_raise() {
    model(|| {
        let scene = Scene::<2>::new(SetCore::on_futex(2));
        let raiser = scene.raise(1);
        let mut seen = [false; 2];
        scene.note(&mut seen, scene.core.poll(Some(Duration::from_secs(1000))));
        if !seen[1] {
            scene.note(&mut seen, scene.core.poll(None));
        }
        assert!(seen[1]);
        raiser.join().unwrap();
        assert!(scene.core.check().is_empty());
    });
}

/// A queue of one message at most, with the registration of its receiver.
struct ModelQueue {
    full: AtomicBool,
    registration: Registration,
}

impl ModelQueue {
    /// An empty queue, whose receiver is attached to `id`.
    fn attached(core: &Arc<SetCore>, id: usize) -> Arc<Self> {
        struct ModelReceiver(Option<Registration>);
        impl Attach for ModelReceiver {
            fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
                self.0 = Some(registration);
                Ok(())
            }
            fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
                self.0.as_ref().inspect(|registration| look(registration));
            }
            fn detach(&mut self) -> bool {
                self.0.take().is_some()
            }
        }
        let mut receiver = ModelReceiver(None);
        attach(core, &mut receiver, id).unwrap();
        Arc::new(Self { full: AtomicBool::new(false), registration: receiver.0.unwrap() })
    }

    fn send(&self) {
        // ORDERING: Relaxed, so that only the bits' own orderings can make it visible.
        self.full.store(true, Ordering::Relaxed);
        self.registration.raise();
    }

    /// What an attached receiver does when it finds nothing: lowers its id, checks again, and raises it if a message
    /// has come. The message stays in the queue.
    fn find_empty(&self) {
        self.registration.lower();
        // ORDERING: Relaxed, so that only the bits' own orderings can make the message visible.
        if self.full.load(Ordering::Relaxed) {
            self.registration.raise();
        }
    }
}

/// A receiver finds its queue empty while another thread sends to it and raises a neighbour's id; the owner checks
/// meanwhile.
fn lower_against_raise(core: SetCore, id: usize, neighbour: usize) -> Arc<SetCore> {
    let scene = Scene::<8>::new(core);
    let queue = ModelQueue::attached(&scene.core, id);
    queue.registration.raise();
    let raiser = {
        let (queue, core, pasts) = (Arc::clone(&queue), Arc::clone(&scene.core), Arc::clone(&scene.pasts));
        thread::spawn(move || {
            queue.send();
            pasts[neighbour].write();
            core.raise(neighbour);
        })
    };
    let receiver = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || queue.find_empty())
    };
    let mut seen = [false; 8];
    scene.note(&mut seen, scene.core.check().filter(|&up| up != id));
    raiser.join().unwrap();
    receiver.join().unwrap();
    let up: Vec<_> = scene.core.check().collect();
    assert!(up.contains(&id), "a message is there and its id is not up");
    scene.note(&mut seen, up.into_iter().filter(|&up| up != id));
    assert!(seen[neighbour], "the neighbour's signal was lost");
    // Level-triggered: reported again, until the receiver finds itself empty.
    assert_eq!(scene.core.check().collect::<Vec<_>>(), [id]);
    // ORDERING: Relaxed; all other threads have been joined.
    queue.full.store(false, Ordering::Relaxed);
    queue.find_empty();
    assert!(scene.core.check().is_empty());
    Arc::clone(&scene.core)
}

/// Claim: Lowering an id hides no raise of it or of a neighbour, in any word or level.
/// Also: unit signal::models::doorbell::models_doorbell_lower_does_not_hide_a_signal_from_a_sleeper.
#[test]
fn models_lower_against_raise_in_one_word() {
    model(|| drop(lower_against_raise(SetCore::on_futex(2), 0, 1)));
}

#[test]
fn models_lower_against_raise_in_two_levels() {
    model(|| drop(lower_against_raise(SetCore::on_futex(4), 0, 1)));
}

#[test]
fn models_lower_against_raise_across_words() {
    model(|| drop(lower_against_raise(SetCore::on_futex(8), 0, 2)));
}

/// A receiver in a second thread lowers its id while a raise from a third thread must wake the sleeping owner.
fn lower_beside_a_sleeper(core: SetCore) {
    let scene = Scene::<4>::new(core);
    let queue = ModelQueue::attached(&scene.core, 0);
    queue.registration.raise();
    let raiser = scene.raise(1);
    let receiver = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || queue.find_empty())
    };
    let mut seen = [false; 4];
    while !seen[1] {
        scene.note(&mut seen, scene.core.poll(None).filter(|&id| id != 0));
        // Id 0 is reported until the receiver's thread has lowered it: lets that thread run.
        thread::yield_now();
    }
    raiser.join().unwrap();
    receiver.join().unwrap();
}

#[test]
fn models_lower_does_not_hide_a_signal_from_a_sleeper() {
    model(|| lower_beside_a_sleeper(SetCore::on_futex(4)));
}

#[test]
fn models_release_against_raise_and_claim() {
    model(|| {
        let core = Arc::new(SetCore::on_futex(4));
        let queue = ModelQueue::attached(&core, 3);
        queue.registration.raise();
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.registration.release())
        };
        queue.registration.release();
        let _ = core.check();
        other.join().unwrap();
        assert!(!core.bits.is_up(3));
        assert!(core.check().is_empty());
        drop(ModelQueue::attached(&core, 3));
        core.raise(3);
        assert_eq!(core.check().collect::<Vec<_>>(), [3]);
        assert!(core.check().is_empty(), "a freed id is taken, not reported");
    });
}

/// Notices: ØMQ 0.2, a mutex is unlocked by another thread than the one that locked it.
#[test]
fn models_semaphore() {
    model(|| {
        let mut semaphore = YSemaphore::new();
        let signaler = semaphore.signaler();
        both_pasts_come(move || signaler.signal(0), || assert!(semaphore.wait().eq([0])));
    });
}

#[test]
fn models_semaphore_time_out_against_signal() {
    model(|| {
        let mut semaphore = YSemaphore::new();
        let signaler = semaphore.signaler();
        let raiser = thread::spawn(move || signaler.signal(0));
        if semaphore.wait_timeout(Duration::from_secs(1000)).is_empty() {
            assert_eq!(semaphore.wait().len(), 1);
        }
        raiser.join().unwrap();
        assert!(semaphore.check().is_empty());
    });
}
