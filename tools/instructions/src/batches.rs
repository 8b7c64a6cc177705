//! Batches of 32 messages of several sizes.

/// The operations of a channel that the expression `$made` opens.
macro_rules! of_a_channel {
    ($made:expr) => {
        use crate::operations;

        operations! {
            batches_of_8_bytes(messages) {
                of_messages!($made, messages, 1);
            }
            batches_of_24_bytes(messages) {
                of_messages!($made, messages, 3);
            }
            batches_of_64_bytes(messages) {
                of_messages!($made, messages, 8);
            }
            batches_of_256_bytes(messages) {
                of_messages!($made, messages, 32);
            }
        }
    };
}

/// Batches of 32 messages of `$words` words.
macro_rules! of_messages {
    ($made:expr, $messages:ident, $words:literal) => {
        #[allow(unused_mut)]
        let (mut sender, mut receiver) = $made;
        let mut batch = Vec::with_capacity(32);
        for _ in 0..$messages / 32 {
            sender.send_batch((0..32_u64).map(|message| [message; $words])).unwrap();
            receiver.recv_batch(&mut batch, 32).unwrap();
            core::hint::black_box(&mut batch).clear();
        }
    };
}

pub(crate) mod spsc_batches {
    of_a_channel!(ysuite::spsc::unbounded());
}

pub(crate) mod mpmc_bounded_batches {
    of_a_channel!(ysuite::mpmc::bounded(crate::CAPACITY));
}

pub(crate) mod mpmc_unbounded_batches {
    of_a_channel!(ysuite::mpmc::unbounded());
}
