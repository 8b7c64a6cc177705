//! A oneshot: one allocation for the channel, and none for sending, receiving or waiting as a task.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

use ysuite::oneshot;
use ysuite::signal::YPollset;

use crate::counting::held;
use crate::requests;

/// Claim: A oneshot channel is one allocation.
/// Also: unit channel::oneshot::shared::tests::a_channel_for_a_word_is_forty_bytes.
#[test]
fn a_channel_is_one_allocation_and_nothing_else_allocates() {
    let (allocations, calls) = requests();
    let (sender, mut receiver) = oneshot::channel();
    assert_eq!(requests(), (allocations + 1, calls));
    assert!(Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    sender.send([7_u64; 100]).unwrap();
    assert!(receiver.recv().is_ok_and(|message| message == [7; 100]));
    assert_eq!(requests(), (allocations + 1, calls));
}

#[test]
fn a_sender_that_waits_as_a_task_allocates_a_box_and_keeps_it() {
    let (mut sender, receiver) = oneshot::channel::<u8>();
    let (allocations, calls) = requests();
    for _ in 0..10 {
        assert!(sender.poll_closed(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(requests(), (allocations + 1, calls));
    drop(receiver);
}

#[test]
fn whichever_end_goes_last_frees_the_channel() {
    // Bits of what happens before the handles are dropped: see below.
    for case in 0..64 {
        let before = held();
        let (mut sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        let context = &mut Context::from_waker(Waker::noop());
        if case & 1 != 0 {
            assert!(Pin::new(&mut receiver).poll(context).is_pending());
        }
        if case & 2 != 0 {
            assert!(sender.poll_closed(context).is_pending());
        }
        if case & 4 != 0 {
            set.attach(&mut receiver, 3).unwrap();
        }
        let send = move || {
            if case & 8 != 0 {
                let _ = sender.send([7_u64; 100]);
            }
        };
        let mut receive = move || {
            if case & 16 != 0 {
                receiver.close();
            } else {
                let _ = receiver.try_recv();
            }
        };
        if case & 32 != 0 {
            send();
            receive();
        } else {
            receive();
            send();
        }
        drop((receive, set));
        assert_eq!(held(), before, "case {case}");
    }
}

#[test]
fn a_receiver_that_joins_a_set_behind_the_senders_end_frees_the_channel() {
    for case in 0..8 {
        let before = held();
        let (sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        if case & 1 != 0 {
            sender.send(7_u64).unwrap();
        } else {
            drop(sender);
        }
        set.attach(&mut receiver, 3).unwrap();
        if case & 2 != 0 {
            assert_eq!(receiver.try_recv().is_ok(), case & 1 != 0);
        }
        if case & 4 != 0 {
            assert!(receiver.detach());
        }
        drop((receiver, set));
        assert_eq!(held(), before, "case {case}");
    }
}
