//! The suite of attached receivers: streams from several threads, to several receivers of one set.

use std::thread;

use ysuite::signal::{Signal, Wait};

use super::{Arrivals, Ends, SetKind, assert_up, attached, stream};
use crate::support::{Random, guarded};

pub(crate) fn streams_of_many_senders_are_received_whole<K: SetKind, R: Ends>(kind: K, ends: R) {
    guarded(move || {
        const EACH: usize = 3_000;
        const BY_HAND: usize = 2;
        let (mut set, signaler) = kind.pair();
        let mut threads = Vec::new();
        let mut receivers = [0, 1, kind.capacity() / 2, kind.capacity() - 1].map(|id| {
            let (sender, receiver) = attached(ends, &mut set, id);
            let streams = stream::<R>(sender, EACH, id, true);
            let arrivals = Arrivals::of(streams.len(), EACH, true);
            threads.extend(streams);
            (id, receiver, arrivals)
        });
        let by_hand = thread::spawn(move || {
            let mut random = Random::new(99);
            for _ in 0..EACH {
                signaler.signal(BY_HAND);
                random.pause();
            }
        });
        let (mut random, mut hands) = (Random::new(5), 0);
        while receivers.iter().any(|(.., arrivals)| !arrivals.is_whole()) || hands == 0 {
            for id in set.wait() {
                if id == BY_HAND {
                    hands += 1;
                    continue;
                }
                let (_, receiver, arrivals) = receivers.iter_mut().find(|(of, ..)| *of == id).expect("an attached id");
                // Stops half way through now and then: the set must report it again.
                for _ in 0..random.below(8) {
                    let Ok((number, _)) = R::try_recv(receiver) else { break };
                    arrivals.note(number);
                }
            }
            random.pause();
        }
        by_hand.join().unwrap();
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        receivers.iter_mut().for_each(|(_, receiver, _)| assert!(R::try_recv(receiver).is_err()));
        drop(receivers);
        assert!(set.check().all(|id| id == BY_HAND));
        assert_up(&mut set, &[]);
    });
}
