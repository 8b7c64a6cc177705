//! `mpmc`, with and without a bound: the same operations of each.

/// The operations of a channel that the expression `$made` opens.
macro_rules! of_a_channel {
    ($made:expr) => {
        use std::hint::black_box;
        use std::time::Duration;

        use ysuite::mpmc::{Receiver, Sender};

        use crate::polled::{at_once, first_waits};
        use crate::{BURST, operations};

        operations! {
            made_and_dropped(messages) {
                for _ in 0..messages {
                    let (sender, receiver) = $made;
                    drop::<(Sender<u64>, Receiver<u64>)>(black_box((sender, receiver)));
                }
            }
            send_and_recv(messages) {
                let (sender, receiver) = $made;
                for message in 0..messages {
                    sender.send(message).unwrap();
                    black_box(receiver.recv().unwrap());
                }
            }
            try_send_and_try_recv(messages) {
                let (sender, receiver) = $made;
                for message in 0..messages {
                    sender.try_send(message).unwrap();
                    black_box(receiver.try_recv().unwrap());
                }
            }
            send_and_recv_in_bursts(messages) {
                let (sender, receiver) = $made;
                for _ in 0..messages / BURST {
                    (0..BURST).for_each(|message| sender.send(message).unwrap());
                    for _ in 0..BURST {
                        black_box(receiver.recv().unwrap());
                    }
                }
            }
            send_batch_and_recv_batch_of_32(messages) {
                let (sender, receiver) = $made;
                let mut batch = Vec::with_capacity(32);
                for _ in 0..messages / 32 {
                    sender.send_batch(0..32).unwrap();
                    receiver.recv_batch(&mut batch, 32).unwrap();
                    black_box(&mut batch).clear();
                }
            }
            send_async_and_recv_async(messages) {
                let (sender, receiver) = $made;
                at_once(async {
                    for message in 0..messages {
                        sender.send_async(message).await.unwrap();
                        black_box(receiver.recv_async().await.unwrap());
                    }
                });
            }
            recv_async_that_waits_and_send(messages) {
                let (sender, receiver) = $made;
                for message in 0..messages {
                    let (received, sent) = first_waits(receiver.recv_async(), async { sender.send(message) });
                    sent.unwrap();
                    black_box(received.unwrap());
                }
            }
            try_recv_of_nothing(messages) {
                let (_sender, receiver) = $made;
                for _ in 0..messages {
                    let nothing: Result<u64, _> = receiver.try_recv();
                    black_box(nothing).unwrap_err();
                }
            }
            recv_timeout_of_nothing(messages) {
                let (_sender, receiver) = $made;
                for _ in 0..messages {
                    let nothing: Result<u64, _> = receiver.recv_timeout(Duration::ZERO);
                    black_box(nothing).unwrap_err();
                }
            }
            len(messages) {
                let (sender, receiver) = $made;
                sender.send(0_u64).unwrap();
                for _ in 0..messages {
                    black_box(receiver.len());
                }
            }
            clone_and_drop(messages) {
                let (sender, receiver) = $made;
                sender.send(0_u64).unwrap();
                for _ in 0..messages {
                    drop(black_box(sender.clone()));
                    drop(black_box(receiver.clone()));
                }
            }
            downgrade_and_upgrade(messages) {
                let (sender, receiver) = $made;
                sender.send(0_u64).unwrap();
                for _ in 0..messages {
                    drop(black_box(sender.downgrade().upgrade()));
                    drop(black_box(receiver.downgrade().upgrade()));
                }
            }
        }
    };
}

pub(crate) mod mpmc_bounded {
    of_a_channel!(ysuite::mpmc::bounded(crate::CAPACITY));
}

pub(crate) mod mpmc_unbounded {
    of_a_channel!(ysuite::mpmc::unbounded());
}

/// The operations that need a bound.
pub(crate) mod mpmc_with_a_bound {
    use std::hint::black_box;

    use ysuite::mpmc;

    use crate::{CAPACITY, operations};

    operations! {
        try_send_without_room(messages) {
            let (sender, _receiver) = mpmc::bounded(1);
            sender.send(0).unwrap();
            for message in 0..messages {
                black_box(sender.try_send(message)).unwrap_err();
            }
        }
        force_send_without_room(messages) {
            let (sender, _receiver) = mpmc::bounded(CAPACITY);
            (0..CAPACITY as u64).for_each(|message| sender.send(message).unwrap());
            for message in 0..messages {
                black_box(sender.force_send(message)).unwrap();
            }
        }
        reserve_send_and_recv(messages) {
            let (sender, receiver) = mpmc::bounded(CAPACITY);
            for message in 0..messages {
                sender.reserve().unwrap().send(message).unwrap();
                black_box(receiver.recv().unwrap());
            }
        }
        reserve_many_send_and_recv_of_32(messages) {
            let (sender, receiver) = mpmc::bounded(CAPACITY);
            for _ in 0..messages / 32 {
                let mut permits = sender.reserve_many(32).unwrap();
                (0..32).for_each(|message| permits.send(message).unwrap());
                for _ in 0..32 {
                    black_box(receiver.recv().unwrap());
                }
            }
        }
    }
}
