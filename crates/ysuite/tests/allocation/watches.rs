//! The watch, and timers: after the first wait nothing is allocated.

use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use crate::counting::allocations;
use crate::requests;
use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{timer, watch};

#[test]
fn changes_and_looks_allocate_nothing() {
    let (sender, mut receiver) = watch::channel([0; 100]);
    let mut round = |round| {
        sender.send([round; 100]).unwrap();
        sender.send_modify(|value| value[0] += 1);
        assert_eq!((receiver.changed(), receiver.borrow_and_update()[0]), (Ok(()), round + 1));
        assert!(receiver.changed_timeout(Duration::ZERO).is_err());
        drop((sender.subscribe(), receiver.clone(), sender.clone()));
    };
    // The process asks the kernel once what barriers there are.
    (0..100).for_each(&mut round);
    let before = requests();
    (0..1_000).for_each(round);
    assert_eq!(requests(), before);
}

#[test]
fn waits_allocate_the_first_time() {
    let (sender, mut receiver) = watch::channel(0);
    let mut other = sender.subscribe();
    let mut set = YPollset::new();
    set.attach(&mut other, 1).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut round = |value| {
        assert!(receiver.poll_changed(&mut context).is_pending());
        assert!(receiver.changed_timeout(Duration::from_nanos(1)).is_err());
        assert!(set.wait_timeout(Duration::from_nanos(1)).is_empty() || value == 1);
        assert_eq!((other.has_changed(), sender.wait_closed_timeout(Duration::from_nanos(1))), (Ok(false), false));
        sender.send(value).unwrap();
        assert_eq!((*other.borrow_and_update(), receiver.poll_changed(&mut context).is_ready()), (value, true));
    };
    round(1);
    let before = allocations();
    (2..100).for_each(round);
    assert_eq!(allocations(), before);
}

/// Claim: Waiting for a timer allocates nothing.
#[test]
fn timers_allocate_nothing_when_they_are_waited_for() {
    let beats = timer::tick(Duration::from_micros(50));
    let mut select = ReadySet::new();
    let beat = select.add_timer(&beats).unwrap();
    let before = allocations();
    for _ in 0..20 {
        assert_eq!(select.wait(), beat);
        assert!(beats.try_recv().is_ok_and(|due| due <= Instant::now()));
        assert!(beats.recv().is_ok());
    }
    assert_eq!(allocations(), before);
}
