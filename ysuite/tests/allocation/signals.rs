//! Signals: none of the sets allocates when it is signalled, polled or looked at.

use std::time::Duration;

use crate::counting::allocations;
#[cfg(unix)]
use ysuite::signal::{Backend, YSocketpair};
use ysuite::signal::{Signal, Wait, YPollset, YSemaphore};

fn allocates_nothing(capacity: usize, mut set: impl Wait, signaler: &impl Signal) {
    // Spread over four words at most: what every set promises. 256 ids are never more.
    let ids: Vec<_> = if capacity <= 256 { (0..capacity).collect() } else { vec![0, 63, 300, 301, 900, 1900] };
    let before = allocations();
    for _ in 0..10 {
        ids.iter().for_each(|&id| signaler.signal(id));
        assert_eq!(set.poll().count(), ids.len());
        set.check();
        set.poll_timeout(Duration::from_nanos(1));
    }
    assert_eq!(allocations(), before);
}

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
