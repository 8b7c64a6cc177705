//! The suite of every signaler: what `Signal` and `Wait` promise. What takes several threads is in `waking.rs`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ysuite::signal::{IdOutOfRange, Signal, Signals, Wait};

use crate::support::calls;

/// A kind of signaler; a value is one way of making it: with that capacity.
pub(crate) trait Kind: Copy + Send + Sync + 'static {
    type Set: Wait + Send + 'static;
    type Signaler: Signal + Clone + Send + Sync + 'static;
    /// System calls that a poll makes when it has taken the last signal: one where a descriptor must be read.
    const CALLS_OF_A_TAKE: u64;
    fn capacity(self) -> usize;
    fn set(self) -> Self::Set;
    fn signaler(set: &Self::Set) -> Self::Signaler;
    fn pair(self) -> (Self::Set, Self::Signaler) {
        let set = self.set();
        let signaler = Self::signaler(&set);
        (set, signaler)
    }
    /// Ids worth testing one by one: the first and last of words, and of the set.
    fn corners(self) -> Vec<usize> {
        let corners = [0, 1, 29, 30, 31, 32, 62, 63, 64, 65, 127, 128, 254, 255, 256, 1983, 1984, 4095, 4096, 126_975];
        let last = [self.capacity() - 1, self.capacity() / 2];
        let ids: BTreeSet<_> = corners.into_iter().chain(last).filter(|&id| id < self.capacity()).collect();
        ids.into_iter().collect()
    }
}

/// Makes one `#[test]` of every function of this suite, and of its half with threads in `waking.rs`, for the kind given.
#[macro_export]
macro_rules! signal_suite {
    ($kind:expr) => {
        $crate::tests_of!(signal, $kind =>
            a_fresh_set_is_empty,
            same_id_signalled_twice_is_not_the_next_id,
            check_on_an_empty_set_is_empty,
            high_ids_do_not_overflow,
            ids_come_ascending_and_are_counted,
            every_id_can_be_up_at_once,
            ids_out_of_range_are_a_clear_error,
            a_poll_with_something_up_does_not_sleep,
            time_outs_come_back_empty,
            a_time_out_is_slept_through,
            a_timeout_that_finds_something_returns_it,
            idle_looks_make_no_system_call,
            raising_what_is_up_makes_no_system_call,
            signalers_outlive_the_set,
            generic_code_needs_no_type);
        $crate::tests_of!(waking, $kind =>
            duration_max_is_for_ever_and_ends_with_a_signal,
            a_sleeper_is_woken,
            ping_pong_loses_no_signal,
            time_out_racing_a_signal_loses_nothing,
            many_threads_and_every_id_is_seen_once,
            a_signal_brings_its_past,
            one_wake_up_per_sleep,
            a_set_moves_between_threads,
            signal_handlers_do_not_end_a_poll);
    };
}

pub(crate) fn list(signals: Signals) -> Vec<usize> {
    signals.collect()
}

pub(crate) fn a_fresh_set_is_empty<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    assert_eq!(signaler.capacity(), kind.capacity());
    assert!(set.check().is_empty());
    assert!(set.wait_timeout(Duration::ZERO).is_empty());
}

/// Notices: ØMQ 0.2, the same id signalled twice through a descriptor arrives as the next id.
pub(crate) fn same_id_signalled_twice_is_not_the_next_id<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for id in kind.corners() {
        for _ in 0..5 {
            signaler.signal(id);
        }
        assert_eq!(list(set.wait()), [id]);
        assert!(set.check().is_empty());
        signaler.signal(id);
        signaler.clone().signal(id);
        assert_eq!(list(set.check()), [id]);
        assert!(set.check().is_empty());
    }
}

/// Notices: ØMQ 0.2, `check` of an empty socket pair fails an assertion.
pub(crate) fn check_on_an_empty_set_is_empty<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for _ in 0..3 {
        let mut signals = set.check();
        assert_eq!((signals.is_empty(), signals.len(), signals.next()), (true, 0, None));
        signaler.signal(0);
        assert!(!set.check().is_empty());
    }
}

/// Notices: ØMQ 0.2, the shift `1 << id` overflows for high ids.
pub(crate) fn high_ids_do_not_overflow<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for id in kind.corners() {
        signaler.signal(id);
        assert_eq!(list(set.check()), [id]);
        signaler.signal(id);
        assert_eq!(list(set.wait()), [id]);
        signaler.signal(id);
        assert_eq!(list(set.wait_timeout(Duration::MAX)), [id]);
    }
}

pub(crate) fn ids_come_ascending_and_are_counted<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    let ids = kind.corners();
    for &id in ids.iter().rev() {
        signaler.signal(id);
    }
    let mut signals = set.check();
    assert_eq!(signals.len(), ids.len());
    assert_eq!(format!("{signals:?}"), format!("Signals {:?}", ids.iter().collect::<BTreeSet<_>>()));
    for (taken, &id) in ids.iter().enumerate() {
        assert_eq!(signals.size_hint(), (ids.len() - taken, Some(ids.len() - taken)));
        assert_eq!(signals.next(), Some(id));
    }
    assert_eq!((signals.next(), signals.len(), signals.next()), (None, 0, None));
}

pub(crate) fn every_id_can_be_up_at_once<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for _ in 0..2 {
        (0..kind.capacity()).for_each(|id| signaler.signal(id));
        assert!(set.check().eq(0..kind.capacity()));
        assert!(set.check().is_empty());
    }
}

pub(crate) fn ids_out_of_range_are_a_clear_error<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for id in [kind.capacity(), kind.capacity() + 1, 1 << 31, usize::MAX] {
        let error = signaler.try_signal(id).unwrap_err();
        assert_eq!(error, IdOutOfRange { id, capacity: kind.capacity() });
        let panic = catch_unwind(AssertUnwindSafe(|| signaler.signal(id))).unwrap_err();
        let message = panic.downcast_ref::<String>().expect("a formatted panic");
        assert_eq!(*message, error.to_string());
        assert!(message.contains(&id.to_string()) && message.contains(&kind.capacity().to_string()), "{message}");
    }
    assert!(set.check().is_empty());
    assert_eq!(signaler.try_signal(kind.capacity() - 1), Ok(()));
    assert_eq!(list(set.check()), [kind.capacity() - 1]);
}

pub(crate) fn a_poll_with_something_up_does_not_sleep<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for _ in 0..100 {
        signaler.signal(0);
        let before = calls();
        assert_eq!(list(set.wait()), [0]);
        assert_eq!(calls() - before, K::CALLS_OF_A_TAKE);
    }
}

pub(crate) fn time_outs_come_back_empty<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for nanoseconds in [0, 1, 999, 1_000, 50_000, 999_999, 1_000_001, 3_000_000] {
        assert!(set.wait_timeout(Duration::from_nanos(nanoseconds)).is_empty());
        // And the sleep has left nothing.
        signaler.signal(0);
        assert_eq!(list(set.check()), [0]);
        assert!(set.check().is_empty());
    }
}

pub(crate) fn a_time_out_is_slept_through<K: Kind>(kind: K) {
    let (mut set, _signaler) = kind.pair();
    let before = calls();
    assert!(set.wait_timeout(Duration::from_millis(5)).is_empty());
    // The kernel may end a sleep for no reason. A thread that polls instead of sleeping makes thousands.
    assert!(calls() - before <= 10, "{} calls", calls() - before);
}

pub(crate) fn a_timeout_that_finds_something_returns_it<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(3600), Duration::MAX] {
        signaler.signal(0);
        assert_eq!(list(set.wait_timeout(timeout)), [0]);
    }
}

pub(crate) fn idle_looks_make_no_system_call<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    for _ in 0..2 {
        let before = calls();
        for _ in 0..1_000 {
            assert!(set.check().is_empty());
            assert!(set.wait_timeout(Duration::ZERO).is_empty());
        }
        assert_eq!(calls(), before);
        signaler.signal(0);
        assert_eq!(list(set.check()), [0]);
    }
}

/// Claim: Raising an id that is already raised makes no system call.
pub(crate) fn raising_what_is_up_makes_no_system_call<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    signaler.signal(0);
    let before = calls();
    for _ in 0..1_000 {
        kind.corners().into_iter().for_each(|id| signaler.signal(id));
    }
    assert_eq!(calls(), before);
    assert_eq!(list(set.check()), kind.corners());
    assert!(calls() - before <= K::CALLS_OF_A_TAKE);
}

pub(crate) fn signalers_outlive_the_set<K: Kind>(kind: K) {
    let (mut set, signaler) = kind.pair();
    signaler.signal(0);
    set.check();
    drop(set);
    let before = calls();
    for _ in 0..100 {
        signaler.clone().signal(kind.capacity() - 1);
        assert_eq!(signaler.try_signal(0), Ok(()));
    }
    assert_eq!(calls(), before, "a signal without a set must not cost a system call");
    assert_eq!(signaler.capacity(), kind.capacity());
}

pub(crate) fn generic_code_needs_no_type<K: Kind>(kind: K) {
    fn relay(from: &mut dyn Wait, to: &dyn Signal) -> usize {
        from.check().map(|id| to.signal(id)).count()
    }
    let ((mut left, to_left), (mut right, to_right)) = (kind.pair(), kind.pair());
    kind.corners().into_iter().for_each(|id| to_left.signal(id));
    assert_eq!(relay(&mut left, &to_right), kind.corners().len());
    assert_eq!(relay(&mut left, &to_right), 0);
    assert_eq!(list(right.check()), kind.corners());
}
