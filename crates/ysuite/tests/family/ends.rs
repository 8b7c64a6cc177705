//! Closing, and what a handle knows of the others.

use std::thread;

use crate::support::executor::block_on;

macro_rules! closed_by_dropping {
    ($channel:expr) => {{
        let (sender, receiver) = $channel;
        let leaving = thread::spawn(|| drop(receiver));
        block_on(sender.closed());
        leaving.join().unwrap();
    }};
}

/// A weak sender is upgraded while there is a sender.
macro_rules! weak {
    ($channel:expr, $recv:ident) => {{
        #[allow(unused_mut)]
        let (sender, mut receiver) = $channel;
        let weak = sender.downgrade();
        assert!(weak.upgrade().is_some());
        drop(sender);
        assert!(weak.upgrade().is_none());
        assert_eq!(receiver.$recv().into_iter().next(), None);
    }};
}

macro_rules! counted {
    ($channel:expr, $sender_count:ident, $count:ident) => {{
        let (sender, receiver) = $channel;
        let _other = sender.clone();
        assert_eq!((sender.$sender_count(), receiver.$count()), (2, 2));
    }};
}

macro_rules! told_apart {
    ($channel:expr) => {{
        let ((sender, _receiver), (stranger, _)) = ($channel, $channel);
        assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&stranger));
    }};
}

tried! {
    close Close {
        spsc "ysuite::spsc" { closed!(ysuite::spsc::unbounded(), send, recv); }
        mpsc "ysuite::mpsc" { closed!(ysuite::mpsc::unbounded(), send, recv); }
        mpmc "ysuite::mpmc" { closed!(ysuite::mpmc::unbounded(), send, recv); }
        broadcast "ysuite::broadcast" {
            let (sender, mut receiver) = ysuite::broadcast::bounded(2);
            sender.send(1).unwrap();
            sender.close();
            assert!(sender.send(2).is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
            assert!(receiver.recv().is_err());
        }
        tokio "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            sender.send(1).unwrap();
            receiver.close();
            assert!(sender.send(2).is_err());
            assert_eq!(receiver.blocking_recv(), Some(1));
            assert_eq!(receiver.blocking_recv(), None);
        }
        kanal "kanal" {
            let (sender, receiver) = kanal::unbounded();
            receiver.close().unwrap();
            assert!(sender.send(2).is_err());
            assert!(receiver.recv().is_err());
        }
        async_channel "async-channel" { closed!(async_channel::unbounded(), send_blocking, recv_blocking); }
    }
    closed Closed {
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded::<u8>();
            let leaving = thread::spawn(|| drop(receiver));
            block_on(sender.closed());
            sender.wait_closed();
            leaving.join().unwrap();
        }
        broadcast "ysuite::broadcast" { closed_by_dropping!(ysuite::broadcast::bounded::<u8>(1)); }
        tokio "tokio::sync::mpsc" { closed_by_dropping!(tokio::sync::mpsc::unbounded_channel::<u8>()); }
        async_channel "async-channel" { closed_by_dropping!(async_channel::unbounded::<u8>()); }
    }
    weak_senders Weak {
        mpsc "ysuite::mpsc" { weak!(ysuite::mpsc::unbounded::<u8>(), recv); }
        mpmc "ysuite::mpmc" { weak!(ysuite::mpmc::unbounded::<u8>(), recv); }
        broadcast "ysuite::broadcast" { weak!(ysuite::broadcast::bounded::<u8>(1), recv); }
        tokio "tokio::sync::mpsc" { weak!(tokio::sync::mpsc::unbounded_channel::<u8>(), blocking_recv); }
        flume "flume" { weak!(flume::unbounded::<u8>(), recv); }
        async_channel "async-channel" { weak!(async_channel::unbounded::<u8>(), recv_blocking); }
    }
    senders_counted SendersCounted {
        mpmc "ysuite::mpmc" { counted!(ysuite::mpmc::unbounded::<u8>(), sender_count, sender_count); }
        broadcast "ysuite::broadcast" { counted!(ysuite::broadcast::bounded::<u8>(1), sender_count, sender_count); }
        tokio "tokio::sync::mpsc" {
            counted!(tokio::sync::mpsc::unbounded_channel::<u8>(), strong_count, sender_strong_count);
        }
        flume "flume" { counted!(flume::unbounded::<u8>(), sender_count, sender_count); }
        kanal "kanal" { counted!(kanal::unbounded::<u8>(), sender_count, sender_count); }
        async_channel "async-channel" { counted!(async_channel::unbounded::<u8>(), sender_count, sender_count); }
    }
    same_channel SameChannel {
        mpmc "ysuite::mpmc" { told_apart!(ysuite::mpmc::unbounded::<u8>()); }
        broadcast "ysuite::broadcast" { told_apart!(ysuite::broadcast::bounded::<u8>(1)); }
        crossbeam "crossbeam-channel" { told_apart!(crossbeam_channel::unbounded::<u8>()); }
        tokio "tokio::sync::mpsc" { told_apart!(tokio::sync::mpsc::unbounded_channel::<u8>()); }
        flume "flume" { told_apart!(flume::unbounded::<u8>()); }
        async_channel "async-channel" { told_apart!(async_channel::unbounded::<u8>()); }
    }
}
