//! Closing, and the effect of a handle on its channel.

tried! {
    close Close {
        spsc "ysuite::spsc" {
            let (mut sender, mut receiver) = ysuite::spsc::unbounded();
            sender.send(1).unwrap();
            receiver.close();
            assert!(sender.send(2).is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
            assert!(receiver.recv().is_err());
        }
        mpsc "ysuite::mpsc" {
            let (mut sender, mut receiver) = ysuite::mpsc::unbounded();
            sender.send(1).unwrap();
            receiver.close();
            assert!(sender.send(2).is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
            assert!(receiver.recv().is_err());
        }
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded();
            sender.send(1).unwrap();
            assert!(receiver.close());
            assert!(sender.send(2).is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
            assert!(receiver.recv().is_err());
        }
        broadcast "ysuite::broadcast" {
            let (sender, mut receiver) = ysuite::broadcast::bounded(2);
            sender.send(1).unwrap();
            sender.close();
            assert!(sender.send(2).is_err());
            assert_eq!(receiver.recv().unwrap(), 1);
            assert!(receiver.recv().is_err());
        }
        tokios "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            sender.send(1).unwrap();
            receiver.close();
            assert!(sender.send(2).is_err());
            assert_eq!((receiver.blocking_recv(), receiver.blocking_recv()), (Some(1), None));
        }
        kanal "kanal" {
            let (sender, receiver) = kanal::unbounded();
            receiver.close().unwrap();
            assert!(sender.send(2).is_err());
            assert!(receiver.recv().is_err());
        }
        async_channel "async-channel" {
            let (sender, receiver) = async_channel::unbounded();
            sender.send_blocking(1).unwrap();
            assert!(receiver.close());
            assert!(sender.send_blocking(2).is_err());
            assert_eq!(receiver.recv_blocking().unwrap(), 1);
            assert!(receiver.recv_blocking().is_err());
        }
        yring "yring" {
            let (mut sender, mut receiver) = yring::spsc(4);
            sender.push_and_flush(1).unwrap();
            sender.close();
            assert_eq!(receiver.prefetch_and_pop(), Some(1));
            assert!(receiver.is_disconnected());
        }
        concurrent_queue "concurrent-queue" {
            let queue = concurrent_queue::ConcurrentQueue::unbounded();
            queue.push(1).unwrap();
            assert!(queue.close());
            assert!(queue.push(2).is_err());
            assert_eq!(queue.pop().unwrap(), 1);
            assert!(queue.pop().unwrap_err().is_closed());
        }
    }
    weak Weak {
        mpsc "ysuite::mpsc" {
            let (sender, mut receiver) = ysuite::mpsc::unbounded::<u8>();
            let weak = sender.downgrade();
            assert!(weak.upgrade().is_some());
            drop(sender);
            assert!(weak.upgrade().is_none() && receiver.recv().is_err());
        }
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded::<u8>();
            let weak = sender.downgrade();
            assert!(weak.upgrade().is_some());
            drop(sender);
            assert!(weak.upgrade().is_none() && receiver.recv().is_err());
        }
        tokios "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<u8>();
            let weak = sender.downgrade();
            assert!(weak.upgrade().is_some());
            drop(sender);
            assert!(weak.upgrade().is_none() && receiver.blocking_recv().is_none());
        }
        flume "flume" {
            let (sender, receiver) = flume::unbounded::<u8>();
            let weak = sender.downgrade();
            assert!(weak.upgrade().is_some());
            drop(sender);
            assert!(weak.upgrade().is_none() && receiver.recv().is_err());
        }
        async_channel "async-channel" {
            let (sender, receiver) = async_channel::unbounded::<u8>();
            let weak = sender.downgrade();
            assert!(weak.upgrade().is_some());
            drop(sender);
            assert!(weak.upgrade().is_none() && receiver.recv_blocking().is_err());
        }
        crossfire "crossfire" {
            let (sender, receiver) = crossfire::mpsc::bounded_blocking::<u8>(2);
            let weak = sender.downgrade();
            assert!(weak.upgrade::<crossfire::MTx<_>>().is_some());
            drop(sender);
            assert!(weak.upgrade::<crossfire::MTx<_>>().is_none() && receiver.recv().is_err());
        }
    }
}
