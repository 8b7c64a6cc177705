//! What kinds of channels there are.

use std::thread;

use crate::SOON;
use crate::support::executor::block_on;

macro_rules! received_by_either {
    ($bounded:expr, $unbounded:expr, $send:ident, $recv:ident) => {
        for (sender, one) in [$bounded, $unbounded] {
            let other = one.clone();
            (1..3).for_each(|number| sender.$send(number).unwrap());
            assert_eq!((one.$recv().unwrap(), other.$recv().unwrap()), (1, 2));
        }
    };
}

/// A message goes from hand to hand, or not at all.
macro_rules! handed_over {
    ($channel:expr) => {{
        let (sender, receiver) = $channel;
        assert!(sender.try_send(0).is_err());
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv().unwrap(), 1);
        sending.join().unwrap();
    }};
}

tried! {
    timers Timers {
        timer "ysuite::timer" {
            ysuite::timer::after(SOON).recv().unwrap();
            assert_eq!(ysuite::timer::tick(SOON).iter().take(2).count(), 2);
            let (_sender, mut silent) = ysuite::spsc::unbounded::<u8>();
            let mut select = ysuite::signal::ReadySet::new();
            select.add(&mut silent).unwrap();
            let time = select.add_timer(&ysuite::timer::after(SOON)).unwrap();
            // The silent one may be offered once, to be found empty.
            while select.wait() != time {
                assert!(silent.try_recv().is_err());
            }
        }
        crossbeam "crossbeam-channel" {
            crossbeam_channel::after(SOON).recv().unwrap();
            assert_eq!(crossbeam_channel::tick(SOON).iter().take(2).count(), 2);
            let (_sender, silent) = crossbeam_channel::unbounded::<u8>();
            crossbeam_channel::select! {
                recv(silent) -> _ => panic!("nothing was sent"),
                recv(crossbeam_channel::after(SOON)) -> tick => assert!(tick.is_ok()),
            }
        }
    }
    many_receivers Receivers {
        mpmc "ysuite::mpmc" {
            for (sender, one) in [ysuite::mpmc::bounded(2), ysuite::mpmc::unbounded()] {
                let other = one.clone();
                sender.send_batch([1, 2]).unwrap();
                assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 2));
            }
        }
        crossbeam "crossbeam-channel" {
            received_by_either!(crossbeam_channel::bounded(2), crossbeam_channel::unbounded(), send, recv);
        }
        flume "flume" { received_by_either!(flume::bounded(2), flume::unbounded(), send, recv); }
        kanal "kanal" { received_by_either!(kanal::bounded(2), kanal::unbounded(), send, recv); }
        async_channel "async-channel" {
            received_by_either!(async_channel::bounded(2), async_channel::unbounded(), send_blocking, recv_blocking);
        }
    }
    rendezvous Rendezvous {
        mpmc "ysuite::mpmc" { handed_over!(ysuite::mpmc::bounded(0)); }
        crossbeam "crossbeam-channel" { handed_over!(crossbeam_channel::bounded(0)); }
        std "std::sync::mpsc" { handed_over!(std::sync::mpsc::sync_channel(0)); }
        flume "flume" { handed_over!(flume::bounded(0)); }
        kanal "kanal" {
            let (sender, receiver) = kanal::bounded(0);
            assert!(!sender.try_send(0).unwrap());
            let sending = thread::spawn(move || sender.send(1).unwrap());
            assert_eq!(receiver.recv().unwrap(), 1);
            sending.join().unwrap();
        }
    }
    oneshot Oneshot {
        oneshot "ysuite::oneshot" {
            let (sender, receiver) = ysuite::oneshot::channel();
            sender.send(1).unwrap();
            assert_eq!(receiver.recv().unwrap(), 1);
        }
        tokio "tokio::sync::oneshot" {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            sender.send(1).unwrap();
            assert_eq!(receiver.blocking_recv().unwrap(), 1);
        }
    }
    broadcast Broadcast {
        broadcast "ysuite::broadcast" {
            let (sender, mut one) = ysuite::broadcast::bounded(2);
            let mut other = sender.subscribe();
            sender.send(1).unwrap();
            assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 1));
        }
        tokio "tokio::sync::broadcast" {
            let (sender, mut one) = tokio::sync::broadcast::channel(2);
            let mut other = sender.subscribe();
            sender.send(1).unwrap();
            assert_eq!((one.blocking_recv().unwrap(), other.blocking_recv().unwrap()), (1, 1));
        }
    }
    watch Watch {
        watch "ysuite::watch" {
            let (sender, mut receiver) = ysuite::watch::channel(0);
            (1..3).for_each(|number| sender.send(number).unwrap());
            receiver.changed().unwrap();
            assert_eq!(*receiver.borrow_and_update(), 2);
        }
        tokio "tokio::sync::watch" {
            let (sender, mut receiver) = tokio::sync::watch::channel(0);
            (1..3).for_each(|number| sender.send(number).unwrap());
            block_on(receiver.changed()).unwrap();
            assert_eq!(*receiver.borrow_and_update(), 2);
        }
    }
}
