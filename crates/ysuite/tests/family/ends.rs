//! Closing, and what a handle knows of the others.

use std::thread;

use crate::support::executor::block_on;

row! { close "closed without dropping a handle"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded();
        sender.send(1).unwrap();
        assert!(receiver.close());
        assert!(sender.send(2).is_err());
        assert_eq!(receiver.recv().unwrap(), 1);
        assert!(receiver.recv().is_err());
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        sender.send(1).unwrap();
        receiver.close();
        assert!(sender.send(2).is_err());
        assert_eq!(receiver.blocking_recv(), Some(1));
        assert_eq!(receiver.blocking_recv(), None);
    }
    kanal {
        let (sender, receiver) = kanal::unbounded();
        receiver.close().unwrap();
        assert!(sender.send(2).is_err());
        assert!(receiver.recv().is_err());
    }
    async_channel {
        let (sender, receiver) = async_channel::unbounded();
        sender.send_blocking(1).unwrap();
        assert!(receiver.close());
        assert!(sender.send_blocking(2).is_err());
        assert_eq!(receiver.recv_blocking().unwrap(), 1);
        assert!(receiver.recv_blocking().is_err());
    }
}

row! { closed "a sender waits for the receivers' end"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded::<u8>();
        let leaving = thread::spawn(|| drop(receiver));
        block_on(sender.closed());
        sender.wait_closed();
        leaving.join().unwrap();
    }
    tokio {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<u8>();
        let leaving = thread::spawn(|| drop(receiver));
        block_on(sender.closed());
        leaving.join().unwrap();
    }
    async_channel {
        let (sender, receiver) = async_channel::unbounded::<u8>();
        let leaving = thread::spawn(|| drop(receiver));
        block_on(sender.closed());
        leaving.join().unwrap();
    }
}

row! { weak_senders "weak senders"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded::<u8>();
        let weak = sender.downgrade();
        assert!(weak.upgrade().is_some());
        drop(sender);
        assert!(weak.upgrade().is_none());
        assert!(receiver.recv().is_err());
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<u8>();
        let weak = sender.downgrade();
        assert!(weak.upgrade().is_some());
        drop(sender);
        assert!(weak.upgrade().is_none());
        assert!(receiver.blocking_recv().is_none());
    }
    flume {
        let (sender, receiver) = flume::unbounded::<u8>();
        let weak = sender.downgrade();
        assert!(weak.upgrade().is_some());
        drop(sender);
        assert!(weak.upgrade().is_none());
        assert!(receiver.recv().is_err());
    }
    async_channel {
        let (sender, receiver) = async_channel::unbounded::<u8>();
        let weak = sender.downgrade();
        assert!(weak.upgrade().is_some());
        drop(sender);
        assert!(weak.upgrade().is_none());
        assert!(receiver.recv_blocking().is_err());
    }
}

row! { senders_counted "senders are counted"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded::<u8>();
        let _other = sender.clone();
        assert_eq!((sender.sender_count(), receiver.sender_count()), (2, 2));
    }
    tokio {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<u8>();
        let _other = sender.clone();
        assert_eq!((sender.strong_count(), receiver.sender_strong_count()), (2, 2));
    }
    flume {
        let (sender, receiver) = flume::unbounded::<u8>();
        let _other = sender.clone();
        assert_eq!((sender.sender_count(), receiver.sender_count()), (2, 2));
    }
    kanal {
        let (sender, receiver) = kanal::unbounded::<u8>();
        let _other = sender.clone();
        assert_eq!((sender.sender_count(), receiver.sender_count()), (2, 2));
    }
    async_channel {
        let (sender, receiver) = async_channel::unbounded::<u8>();
        let _other = sender.clone();
        assert_eq!((sender.sender_count(), receiver.sender_count()), (2, 2));
    }
}

row! { same_channel "`same_channel`"
    ysuite {
        let ((sender, _receiver), (stranger, _)) = (ysuite::mpmc::unbounded::<u8>(), ysuite::mpmc::unbounded());
        assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&stranger));
    }
    crossbeam {
        let ((sender, _receiver), (stranger, _)) = (crossbeam_channel::unbounded::<u8>(), crossbeam_channel::unbounded());
        assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&stranger));
    }
    tokio {
        let channel = tokio::sync::mpsc::unbounded_channel::<u8>;
        let ((sender, _receiver), (stranger, _)) = (channel(), channel());
        assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&stranger));
    }
    flume {
        let ((sender, _receiver), (stranger, _)) = (flume::unbounded::<u8>(), flume::unbounded());
        assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&stranger));
    }
    async_channel {
        let ((sender, _receiver), (stranger, _)) = (async_channel::unbounded::<u8>(), async_channel::unbounded());
        assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&stranger));
    }
}
