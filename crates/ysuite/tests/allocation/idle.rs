//! Memory of many channels: what one takes before its first message, and after it; and what a burst leaves. Exact counts
//! of one thread; pages that come from the kernel directly are measured in processes of their own.

use crate::counting::held;
use ysuite::mpsc;

/// Where nothing is counted for statistics, and lines have 64 bytes.
#[cfg(all(target_arch = "x86_64", not(feature = "statistics"), not(ysuite_portable)))]
mod rows {
    use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

    use crate::counting::held;
    use crate::requests;

    /// A row for each kind: the bytes that the ends take, their own sizes included, before and after one message, and how
    /// often the allocator is asked until then.
    #[derive(Debug, PartialEq, Eq)]
    struct Row {
        idle: i64,
        after_one: i64,
        allocations: u64,
    }

    /// Makes channels, and passes a message through each. The second is counted: what a thread or the process has once is
    /// there.
    fn measured<S, R>(make: impl Fn() -> (S, R), pass: impl Fn(&mut S, &mut R)) -> Row {
        let handles = size_of::<(S, R)>() as i64;
        let mut rows = (0..2).map(|_| {
            let (before, (asked, calls)) = (held(), requests());
            let (mut sender, mut receiver) = make();
            let idle = held() - before + handles;
            pass(&mut sender, &mut receiver);
            let after_one = held() - before + handles;
            let (asked_since, calls_since) = requests();
            assert_eq!(calls_since, calls, "a channel of few messages asks the kernel for nothing");
            drop((sender, receiver));
            assert_eq!(held(), before, "a channel that is gone leaves nothing");
            Row { idle, after_one, allocations: asked_since - asked }
        });
        rows.nth(1).expect("two were made")
    }

    #[test]
    fn a_channel_takes_little_before_its_first_message_and_after_it() {
        macro_rules! rows {
            ($wrong:ident: $($open:expr => $idle:literal, $after_one:literal, $allocations:literal;)*) => {$(
                let row = measured(|| $open, |sender, receiver| {
                    sender.send(7_u64).unwrap();
                    assert_eq!(receiver.try_recv().unwrap(), 7);
                });
                let stated = Row { idle: $idle, after_one: $after_one, allocations: $allocations };
                println!("{}: {row:?}", stringify!($open));
                $wrong |= row != stated;
            )*};
        }
        let mut wrong = false;
        rows! {
            wrong:
            spsc::unbounded() => 712, 712, 3;
            spsc::bounded(16) => 1048, 1048, 4;
            mpsc::unbounded() => 696, 1008, 4;
            mpsc::bounded(16) => 696, 1008, 4;
            mpmc::unbounded() => 680, 964, 2;
            mpmc::bounded(16) => 936, 936, 2;
            broadcast::bounded(16) => 992, 992, 3;
        }
        assert!(!wrong, "not as stated: see above");
        let row = measured(
            || watch::channel(0_u64),
            |sender, receiver| {
                sender.send(7).unwrap();
                assert_eq!(*receiver.borrow_and_update(), 7);
            },
        );
        assert_eq!(row, Row { idle: 312, after_one: 312, allocations: 2 }, "watch");
        let row = measured(
            || {
                let (sender, receiver) = oneshot::channel::<u64>();
                (Some(sender), Some(receiver))
            },
            |sender, receiver| {
                sender.take().unwrap().send(7).unwrap();
                assert_eq!(receiver.take().unwrap().recv(), Ok(7));
            },
        );
        assert_eq!(row, Row { idle: 72, after_one: 32, allocations: 1 }, "oneshot");
    }
}

/// A burst of messages, in and out.
macro_rules! burst {
    ($sender:expr, $receiver:expr) => {{
        (0..100_000_u64).for_each(|number| $sender.send(number).unwrap());
        (0..100_000).for_each(|number| assert_eq!($receiver.recv(), Ok(number)));
    }};
}

#[test]
fn a_burst_leaves_less_than_64_kib_in_a_lane() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let before = held();
    for _ in 0..3 {
        burst!(sender, receiver);
        let kept = held() - before;
        assert!(kept <= 64 << 10, "{kept} bytes are kept");
    }
    receiver.shrink_to_fit();
    let kept = held() - before;
    assert!(kept <= 34 << 10, "{kept} bytes are kept when nothing was to be");
    burst!(sender, receiver);
}

/// Kernel pages, which are the process's: nothing else may run in it.
#[cfg(all(target_os = "linux", not(ysuite_portable)))]
mod pages {
    use std::time::Duration;

    use ysuite::{mpmc, spsc};

    use crate::support::process::{alone, resident};

    const CHANNELS: usize = 10;
    /// A receiver sleeps, as nothing comes meanwhile: also one that has no CPU for a while before it does.
    const NAP: Duration = Duration::from_millis(50);
    const KIB: u64 = 1 << 10;

    /// KiB for each of the channels.
    fn kept(before: u64) -> u64 {
        resident().saturating_sub(before) / KIB / CHANNELS as u64
    }

    /// At once after the first; after others when the receiver has waited twice, or at the request.
    #[test]
    fn a_burst_leaves_less_than_64_kib_in_a_pipe() {
        if !alone("idle::pages::a_burst_leaves_less_than_64_kib_in_a_pipe") {
            return;
        }
        let mut channels: Vec<_> = (0..CHANNELS).map(|_| spsc::unbounded()).collect();
        // What the process takes once.
        let (mut sender, mut receiver) = spsc::unbounded();
        burst!(sender, receiver);
        let before = resident();
        channels.iter_mut().for_each(|(sender, receiver)| burst!(sender, receiver));
        let first = kept(before);
        assert!(first <= 72, "{first} KiB after one burst");
        for _ in 0..2 {
            channels.iter_mut().for_each(|(sender, receiver)| burst!(sender, receiver));
        }
        assert!(kept(before) > 500, "there is nothing to be given back");
        for (at, (sender, receiver)) in channels.iter_mut().enumerate() {
            if at % 2 == 0 {
                receiver.shrink_to_fit();
            } else {
                assert!(receiver.recv_timeout(NAP).is_err());
                sender.send(1).unwrap();
                assert_eq!(receiver.recv(), Ok(1));
                assert!(receiver.recv_timeout(NAP).is_err());
            }
        }
        let last = kept(before);
        assert!(last <= 72, "{last} KiB when few messages have come since");
        channels.iter_mut().for_each(|(sender, receiver)| burst!(sender, receiver));
    }

    /// A segment, its marks, and the table of segments.
    #[test]
    fn a_burst_leaves_a_segment_in_an_mpmc_channel() {
        if !alone("idle::pages::a_burst_leaves_a_segment_in_an_mpmc_channel") {
            return;
        }
        let channels: Vec<_> = (0..CHANNELS).map(|_| mpmc::unbounded()).collect();
        let (sender, receiver) = mpmc::unbounded();
        burst!(sender, receiver);
        let before = resident();
        channels.iter().for_each(|(sender, receiver)| burst!(sender, receiver));
        let first = kept(before);
        assert!(first <= 64, "{first} KiB after one burst");
        for _ in 0..2 {
            channels.iter().for_each(|(sender, receiver)| burst!(sender, receiver));
        }
        assert!(kept(before) > 200, "there is nothing to be given back");
        for (at, (sender, receiver)) in channels.iter().enumerate() {
            if at % 2 == 0 {
                receiver.shrink_to_fit();
            } else {
                for _ in 0..2 {
                    assert!(receiver.recv_timeout(NAP).is_err());
                    sender.send(1).unwrap();
                    assert_eq!(receiver.recv(), Ok(1));
                }
                assert!(receiver.recv_timeout(NAP).is_err());
            }
        }
        let last = kept(before);
        assert!(last <= 64, "{last} KiB when few messages have come since");
        channels.iter().for_each(|(sender, receiver)| burst!(sender, receiver));
    }
}
