//! `spsc` and `mpsc`, with and without a bound: the same operations of each.

/// The operations of a channel that the expression `$made` opens.
macro_rules! of_a_channel {
    ($made:expr) => {
        use std::hint::black_box;
        use std::time::Duration;

        use crate::polled::{at_once, first_waits};
        use crate::{BURST, operations};

        operations! {
            send_and_recv(messages) {
                let (mut sender, mut receiver) = $made;
                for message in 0..messages {
                    sender.send(message).unwrap();
                    black_box(receiver.recv().unwrap());
                }
            }
            try_send_and_try_recv(messages) {
                let (mut sender, mut receiver) = $made;
                for message in 0..messages {
                    sender.try_send(message).unwrap();
                    black_box(receiver.try_recv().unwrap());
                }
            }
            send_and_recv_in_bursts(messages) {
                let (mut sender, mut receiver) = $made;
                for _ in 0..messages / BURST {
                    (0..BURST).for_each(|message| sender.send(message).unwrap());
                    for _ in 0..BURST {
                        black_box(receiver.recv().unwrap());
                    }
                }
            }
            try_send_and_try_recv_in_bursts(messages) {
                let (mut sender, mut receiver) = $made;
                for _ in 0..messages / BURST {
                    (0..BURST).for_each(|message| sender.try_send(message).unwrap());
                    for _ in 0..BURST {
                        black_box(receiver.try_recv().unwrap());
                    }
                }
            }
            send_batch_and_recv_batch_of_32(messages) {
                let (mut sender, mut receiver) = $made;
                let mut batch = Vec::with_capacity(32);
                for _ in 0..messages / 32 {
                    sender.send_batch(0..32).unwrap();
                    receiver.recv_batch(&mut batch, 32).unwrap();
                    black_box(&mut batch).clear();
                }
            }
            write_32_flush_and_recv(messages) {
                let (mut sender, mut receiver) = $made;
                for _ in 0..messages / 32 {
                    (0..32).for_each(|message| sender.write(message).unwrap());
                    sender.flush();
                    for _ in 0..32 {
                        black_box(receiver.recv().unwrap());
                    }
                }
            }
            reserve_send_and_peek_consume(messages) {
                let (mut sender, mut receiver) = $made;
                for message in 0..messages {
                    sender.reserve().unwrap().send(message).unwrap();
                    black_box(receiver.peek());
                    receiver.consume(1);
                }
            }
            reserve_send_with_and_recv(messages) {
                let (mut sender, mut receiver) = $made;
                for message in 0..messages {
                    sender.reserve().unwrap().send_with(|| message).unwrap();
                    black_box(receiver.recv().unwrap());
                }
            }
            send_async_and_recv_async(messages) {
                let (mut sender, mut receiver) = $made;
                at_once(async {
                    for message in 0..messages {
                        sender.send_async(message).await.unwrap();
                        black_box(receiver.recv_async().await.unwrap());
                    }
                });
            }
            recv_async_that_waits_and_send(messages) {
                let (mut sender, mut receiver) = $made;
                for message in 0..messages {
                    let (received, sent) = first_waits(receiver.recv_async(), async { sender.send(message) });
                    sent.unwrap();
                    black_box(received.unwrap());
                }
            }
            try_recv_of_nothing(messages) {
                let (_sender, mut receiver) = $made;
                for _ in 0..messages {
                    let nothing: Result<u64, _> = receiver.try_recv();
                    black_box(nothing).unwrap_err();
                }
            }
            recv_timeout_of_nothing(messages) {
                let (_sender, receiver) = $made;
                let mut receiver = receiver;
                for _ in 0..messages {
                    let nothing: Result<u64, _> = receiver.recv_timeout(Duration::ZERO);
                    black_box(nothing).unwrap_err();
                }
            }
            len(messages) {
                let (mut sender, receiver) = $made;
                sender.send(0_u64).unwrap();
                for _ in 0..messages {
                    black_box(receiver.len());
                }
            }
        }
    };
}

pub(crate) mod spsc {
    of_a_channel!(ysuite::spsc::unbounded());
}

pub(crate) mod spsc_bounded {
    of_a_channel!(ysuite::spsc::bounded(crate::CAPACITY));
}

pub(crate) mod mpsc {
    of_a_channel!(ysuite::mpsc::unbounded());
}

pub(crate) mod mpsc_bounded {
    of_a_channel!(ysuite::mpsc::bounded(crate::CAPACITY));
}

/// The operations that only one of the two has: handles that are made, refused and dropped.
pub(crate) mod handles {
    use std::hint::black_box;

    use ysuite::{mpsc, spsc};

    use crate::operations;

    operations! {
        spsc_made_and_dropped(messages) {
            for _ in 0..messages {
                drop(black_box(spsc::unbounded::<u64>()));
            }
        }
        spsc_try_send_without_room(messages) {
            let (mut sender, _receiver) = spsc::bounded(1);
            sender.send(0).unwrap();
            for message in 0..messages {
                black_box(sender.try_send(message)).unwrap_err();
            }
        }
        spsc_write_and_unwrite(messages) {
            let (mut sender, _receiver) = spsc::unbounded();
            for message in 0..messages {
                sender.write(message).unwrap();
                black_box(sender.unwrite());
            }
        }
        mpsc_clone_and_drop(messages) {
            let (sender, _receiver) = mpsc::unbounded::<u64>();
            for _ in 0..messages {
                drop(black_box(sender.clone()));
            }
        }
        mpsc_of_four_senders(messages) {
            let (sender, mut receiver) = mpsc::unbounded();
            let mut senders = [sender.clone(), sender.clone(), sender.clone(), sender];
            for _ in 0..messages / 4 {
                senders.iter_mut().for_each(|sender| sender.send(0).unwrap());
                for _ in 0..4 {
                    black_box(receiver.recv().unwrap());
                }
            }
        }
        mpsc_shared_send_and_recv(messages) {
            let (sender, mut receiver) = mpsc::unbounded();
            let sender = sender.share();
            for message in 0..messages {
                sender.send(message).unwrap();
                black_box(receiver.recv().unwrap());
            }
        }
        mpsc_downgrade_and_upgrade(messages) {
            let (sender, _receiver) = mpsc::unbounded::<u64>();
            for _ in 0..messages {
                drop(black_box(sender.downgrade().upgrade()));
            }
        }
    }
}
