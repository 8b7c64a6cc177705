//! Signals: none of the sets allocates when it is signalled, polled or checked.

use std::task::{Context, Waker};
use std::time::Duration;

use crate::counting::{allocations, held};
use ysuite::signal::{Attach, Signal, Wait, YPollset, YSemaphore};
#[cfg(unix)]
use ysuite::signal::{Backend, YSocketpair};
use ysuite::{mpmc, mpsc, spsc};

fn allocates_nothing(capacity: usize, mut set: impl Wait, signaler: &impl Signal) {
    // Spread over four words at most: what every set promises. 256 ids are never more.
    let ids: Vec<_> = if capacity <= 256 { (0..capacity).collect() } else { vec![0, 63, 300, 301, 900, 1900] };
    let before = allocations();
    for _ in 0..10 {
        ids.iter().for_each(|&id| signaler.signal(id));
        assert_eq!(set.wait().count(), ids.len());
        set.check();
        set.wait_timeout(Duration::from_nanos(1));
    }
    assert_eq!(allocations(), before);
}

/// Claim: Signalling and polling allocate nothing.
#[test]
fn signalling_and_polling_allocate_nothing() {
    let semaphore = YSemaphore::new();
    let signaler = semaphore.signaler();
    allocates_nothing(1, semaphore, &signaler);
    for capacity in [31, 32, 31 * 64, 4096, 31 * 64 * 64 + 1] {
        let set = YPollset::with_capacity(capacity);
        let signaler = set.signaler();
        allocates_nothing(capacity, set, &signaler);
    }
    #[cfg(unix)]
    for backend in [Backend::default(), Backend::Socketpair] {
        for capacity in [31, 256, 5_000] {
            let set = YSocketpair::with_backend(capacity, backend).unwrap();
            let signaler = set.signaler();
            allocates_nothing(capacity, set, &signaler);
        }
    }
}

/// What this thread holds after a handle has been in a set, has done this, and has left it.
fn left<E: Attach>(end: &mut E, within: fn(&mut E)) -> i64 {
    let mut set = YPollset::new();
    set.attach(end, 3).unwrap();
    within(end);
    assert_eq!(set.detach(end), Some(3));
    drop(set);
    held()
}

#[test]
fn an_end_that_leaves_its_set_keeps_nothing_of_it() {
    fn keeps_nothing<S, E: Attach>((others, mut end): (S, E), wait: fn(&mut E), rest: fn(&mut E)) {
        // What it needs to wait is made.
        wait(&mut end);
        let before = left(&mut end, |_| ());
        // Also where it has come to rest there, and may be called.
        assert_eq!(left(&mut end, rest), before);
        // It goes while it is in one, at rest.
        let mut set = YPollset::new();
        set.attach(&mut end, 3).unwrap();
        rest(&mut end);
        drop((end, others));
    }
    macro_rules! receiver {
        ($channel:expr) => {
            keeps_nothing(
                $channel,
                |receiver| assert!(receiver.poll_recv(&mut Context::from_waker(Waker::noop())).is_pending()),
                |receiver| assert!(receiver.try_recv().is_err()),
            );
        };
    }
    let round = || {
        receiver!(spsc::bounded::<u32>(4));
        receiver!(mpsc::bounded::<u32>(4));
        receiver!(mpmc::bounded::<u32>(4));
        let (mut sender, receiver) = spsc::bounded::<u32>(1);
        sender.send(1).unwrap();
        keeps_nothing(
            (receiver, sender),
            |sender| assert!(sender.poll_ready(&mut Context::from_waker(Waker::noop())).is_pending()),
            |sender| assert!(sender.try_send(2).is_err()),
        );
    };
    // The first time something may be made that stays.
    round();
    let before = held();
    round();
    assert_eq!(held(), before);
}
