//! The signalers, alone and with a receiver attached.

use std::hint::black_box;

use ysuite::signal::{Signal, Wait, YPollset, YSemaphore, YSocketpair};
use ysuite::{mpmc, spsc};

use crate::operations;

operations! {
    ysemaphore_signal_and_poll(messages) {
        let mut set = YSemaphore::new();
        let signaler = set.signaler();
        for _ in 0..messages {
            signaler.signal(0);
            black_box(set.wait());
        }
    }
    ypollset_signal_and_poll(messages) {
        let mut set = YPollset::new();
        let signaler = set.signaler();
        for _ in 0..messages {
            signaler.signal(0);
            black_box(set.wait());
        }
    }
    ysocketpair_signal_and_check(messages) {
        let mut set = YSocketpair::new().unwrap();
        let signaler = set.signaler();
        for _ in 0..messages {
            signaler.signal(0);
            black_box(set.check());
        }
    }
    ypollset_of_spsc(messages) {
        let mut set = YPollset::new();
        let (mut sender, mut receiver) = spsc::unbounded();
        set.attach(&mut receiver, 0).unwrap();
        for message in 0..messages {
            sender.send(message).unwrap();
            black_box(set.wait());
            black_box(receiver.try_recv().unwrap());
            receiver.try_recv().unwrap_err();
        }
    }
    ypollset_of_mpmc(messages) {
        let mut set = YPollset::new();
        let (sender, mut receiver) = mpmc::bounded(8);
        set.attach(&mut receiver, 0).unwrap();
        for message in 0..messages {
            sender.send(message).unwrap();
            black_box(set.wait());
            black_box(receiver.try_recv().unwrap());
            receiver.try_recv().unwrap_err();
        }
    }
}
