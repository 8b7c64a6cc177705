//! Tasks, the first of several channels, event loops, time limits.

use std::thread;

use ysuite::signal::{Wait, YSocketpair};

use crate::{SOON, block_on};

/// A receiver in a set whose descriptor is in epoll. Its message is received when epoll reports it.
macro_rules! served_by_epoll {
    ($sender:ident, $receiver:ident) => {
        use rustix::event::epoll;
        let mut set = YSocketpair::new().unwrap();
        set.attach(&mut $receiver, 3).unwrap();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN).unwrap();
        let sending = thread::spawn(move || $sender.send(1).unwrap());
        // The id may be ready at first, for a receiver that has to be found empty.
        while $receiver.try_recv().is_err() {
            let mut events = Vec::with_capacity(1);
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
            set.check().for_each(|id| assert_eq!(id, 3));
        }
        sending.join().unwrap();
    };
}

tried! {
    tasks Tasks {
        spsc "ysuite::spsc" {
            let (mut sender, mut receiver) = ysuite::spsc::bounded(1);
            let received = async { [receiver.recv_async().await, receiver.recv_async().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send_async(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        mpsc "ysuite::mpsc" {
            let (mut sender, mut receiver) = ysuite::mpsc::bounded(1);
            let received = async { [receiver.recv_async().await, receiver.recv_async().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send_async(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::bounded(1);
            let received = async { [receiver.recv_async().await, receiver.recv_async().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send_async(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        broadcast "ysuite::broadcast" {
            let (sender, mut receiver) = ysuite::broadcast::bounded(2);
            let received = async { [receiver.recv_async().await, receiver.recv_async().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send_async(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        tokios "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Option::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        flume "flume" {
            let (sender, receiver) = flume::bounded(1);
            let received = async { [receiver.recv_async().await, receiver.recv_async().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send_async(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        kanal "kanal" {
            let (sender, receiver) = kanal::bounded_async(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        async_channel "async-channel" {
            let (sender, receiver) = async_channel::bounded(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        crossfire "crossfire" {
            let (sender, receiver) = crossfire::mpmc::bounded_async(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        thingbuf "thingbuf" {
            let (sender, receiver) = thingbuf::mpsc::channel(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Option::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
    }
    select Select {
        spsc "ysuite::spsc" {
            let ((mut sender, mut one), (_idle, mut other)) = (ysuite::spsc::unbounded(), ysuite::spsc::unbounded::<u8>());
            let sending = thread::spawn(move || sender.send(1).unwrap());
            let first = ysuite::select().recv(&mut one, |message| message.ok()).recv(&mut other, |_| None).wait();
            assert_eq!(first, Some(1));
            sending.join().unwrap();
        }
        mpsc "ysuite::mpsc" {
            let ((mut sender, mut one), (_idle, mut other)) = (ysuite::mpsc::unbounded(), ysuite::mpsc::unbounded::<u8>());
            let sending = thread::spawn(move || { sender.send(1).unwrap(); sender });
            let first = ysuite::select().recv(&mut one, |message| message.ok()).recv(&mut other, |_| None).wait();
            assert_eq!(first, Some(1));
            sending.join().unwrap();
        }
        mpmc "ysuite::mpmc" {
            let ((sender, one), (_idle, other)) = (ysuite::mpmc::unbounded(), ysuite::mpmc::unbounded::<u8>());
            let sending = thread::spawn(move || { sender.send(1).unwrap(); sender });
            let first = ysuite::select().recv(&one, |message| message.ok()).recv(&other, |_| None).wait();
            assert_eq!(first, Some(1));
            sending.join().unwrap();
        }
        crossbeam "crossbeam-channel" {
            let ((sender, one), (_idle, other)) = (crossbeam_channel::unbounded(), crossbeam_channel::unbounded::<u8>());
            let sending = thread::spawn(move || { sender.send(1).unwrap(); sender });
            let first = crossbeam_channel::select! {
                recv(one) -> message => message.ok(),
                recv(other) -> _ => None,
            };
            assert_eq!(first, Some(1));
            sending.join().unwrap();
        }
        flume "flume" {
            let ((sender, one), (_idle, other)) = (flume::unbounded(), flume::unbounded::<u8>());
            let sending = thread::spawn(move || { sender.send(1).unwrap(); sender });
            let first = flume::Selector::new().recv(&one, |message| message.ok()).recv(&other, |_| None).wait();
            assert_eq!(first, Some(1));
            sending.join().unwrap();
        }
        crossfire "crossfire" {
            let ((sender, one), (_idle, other)) =
                (crossfire::mpmc::bounded_blocking::<u8>(1), crossfire::mpmc::bounded_blocking::<u8>(1));
            let sending = thread::spawn(move || { sender.send(1).unwrap(); sender });
            let mut select = crossfire::select::Select::new();
            select.add(&one);
            select.add(&other);
            let ready = select.select().unwrap();
            assert!(ready == one);
            assert_eq!(one.read_select(ready).unwrap(), 1);
            sending.join().unwrap();
        }
    }
    descriptor Epoll {
        spsc "ysuite::spsc" {
            let (mut sender, mut receiver) = ysuite::spsc::unbounded();
            served_by_epoll!(sender, receiver);
        }
        mpsc "ysuite::mpsc" {
            let (mut sender, mut receiver) = ysuite::mpsc::unbounded();
            served_by_epoll!(sender, receiver);
        }
        mpmc "ysuite::mpmc" {
            let (sender, mut receiver) = ysuite::mpmc::unbounded();
            served_by_epoll!(sender, receiver);
        }
    }
    limits Timeouts {
        spsc "ysuite::spsc" {
            let (mut sender, mut receiver) = ysuite::spsc::unbounded();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        mpsc "ysuite::mpsc" {
            let (mut sender, mut receiver) = ysuite::mpsc::unbounded();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        broadcast "ysuite::broadcast" {
            let (sender, mut receiver) = ysuite::broadcast::bounded(2);
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        std "std::sync::mpsc" {
            let (sender, receiver) = std::sync::mpsc::channel();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        crossbeam "crossbeam-channel" {
            let (sender, receiver) = crossbeam_channel::unbounded();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        flume "flume" {
            let (sender, receiver) = flume::unbounded();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        kanal "kanal" {
            let (sender, receiver) = kanal::unbounded();
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        crossfire "crossfire" {
            let (sender, receiver) = crossfire::mpmc::bounded_blocking(2);
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        fanring "fanring" {
            let (mut sender, mut receiver) = fanring::mpmc::channel(2);
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        nexus_channel "nexus-channel" {
            let (sender, receiver) = nexus_channel::channel(2);
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
        thingbuf "thingbuf" {
            let (sender, receiver) = thingbuf::mpsc::blocking::channel(2);
            assert!(receiver.recv_timeout(SOON).is_err());
            sender.send(1).unwrap();
            assert_eq!(receiver.recv_timeout(SOON).unwrap(), 1);
        }
    }
}
