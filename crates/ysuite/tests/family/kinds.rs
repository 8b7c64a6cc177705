//! What kinds of channels there are.

use std::thread;
use std::time::Duration;

use crate::support::executor::block_on;

const SOON: Duration = Duration::from_millis(1);

row! { many_receivers "many receivers, with a bound or without"
    ysuite {
        for (sender, one) in [ysuite::mpmc::bounded(2), ysuite::mpmc::unbounded()] {
            let other = one.clone();
            sender.send_batch([1, 2]).unwrap();
            assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 2));
        }
    }
    crossbeam {
        for (sender, one) in [crossbeam_channel::bounded(2), crossbeam_channel::unbounded()] {
            let other = one.clone();
            (1..3).for_each(|number| sender.send(number).unwrap());
            assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 2));
        }
    }
    flume {
        for (sender, one) in [flume::bounded(2), flume::unbounded()] {
            let other = one.clone();
            (1..3).for_each(|number| sender.send(number).unwrap());
            assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 2));
        }
    }
    kanal {
        for (sender, one) in [kanal::bounded(2), kanal::unbounded()] {
            let other = one.clone();
            (1..3).for_each(|number| sender.send(number).unwrap());
            assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 2));
        }
    }
    async_channel {
        for (sender, one) in [async_channel::bounded(2), async_channel::unbounded()] {
            let other = one.clone();
            (1..3).for_each(|number| sender.send_blocking(number).unwrap());
            assert_eq!((one.recv_blocking().unwrap(), other.recv_blocking().unwrap()), (1, 2));
        }
    }
}

row! { rendezvous "rendezvous"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::bounded(0);
        assert!(sender.try_send(0).is_err());
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv().unwrap(), 1);
        sending.join().unwrap();
    }
    crossbeam {
        let (sender, receiver) = crossbeam_channel::bounded(0);
        assert!(sender.try_send(0).is_err());
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv().unwrap(), 1);
        sending.join().unwrap();
    }
    std {
        let (sender, receiver) = std::sync::mpsc::sync_channel(0);
        assert!(sender.try_send(0).is_err());
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv().unwrap(), 1);
        sending.join().unwrap();
    }
    flume {
        let (sender, receiver) = flume::bounded(0);
        assert!(sender.try_send(0).is_err());
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv().unwrap(), 1);
        sending.join().unwrap();
    }
    kanal {
        let (sender, receiver) = kanal::bounded(0);
        assert!(!sender.try_send(0).unwrap());
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv().unwrap(), 1);
        sending.join().unwrap();
    }
}

row! { oneshot "oneshot"
    ysuite {
        let (sender, receiver) = ysuite::oneshot::channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.recv().unwrap(), 1);
    }
    tokio {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.blocking_recv().unwrap(), 1);
    }
}

row! { broadcast "broadcast"
    ysuite {
        let (sender, mut one) = ysuite::broadcast::bounded(2);
        let mut other = sender.subscribe();
        sender.send(1).unwrap();
        assert_eq!((one.recv().unwrap(), other.recv().unwrap()), (1, 1));
    }
    tokio {
        let (sender, mut one) = tokio::sync::broadcast::channel(2);
        let mut other = sender.subscribe();
        sender.send(1).unwrap();
        assert_eq!((one.blocking_recv().unwrap(), other.blocking_recv().unwrap()), (1, 1));
    }
}

row! { watch "watch"
    ysuite {
        let (sender, mut receiver) = ysuite::watch::channel(0);
        (1..3).for_each(|number| sender.send(number).unwrap());
        receiver.changed().unwrap();
        assert_eq!(*receiver.borrow_and_update(), 2);
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::watch::channel(0);
        (1..3).for_each(|number| sender.send(number).unwrap());
        block_on(receiver.changed()).unwrap();
        assert_eq!(*receiver.borrow_and_update(), 2);
    }
}

row! { timers "timers as channels"
    ysuite {
        ysuite::timer::after(SOON).recv().unwrap();
        assert_eq!(ysuite::timer::tick(SOON).iter().take(2).count(), 2);
        let (_sender, mut silent) = ysuite::spsc::unbounded::<u8>();
        let mut select = ysuite::signal::Select::new();
        select.add(&mut silent).unwrap();
        let time = select.add_timer(&ysuite::timer::after(SOON)).unwrap();
        // The silent one may be offered once, to be found empty.
        while select.wait() != time {
            assert!(silent.try_recv().is_err());
        }
    }
    crossbeam {
        crossbeam_channel::after(SOON).recv().unwrap();
        assert_eq!(crossbeam_channel::tick(SOON).iter().take(2).count(), 2);
        let (_sender, silent) = crossbeam_channel::unbounded::<u8>();
        crossbeam_channel::select! {
            recv(silent) -> _ => panic!("nothing was sent"),
            recv(crossbeam_channel::after(SOON)) -> tick => assert!(tick.is_ok()),
        }
    }
}
