//! Ways of waiting: threads, tasks, descriptors, limits, the first of several.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::support::executor::block_on;
use crate::{SOON, in_tokio};

/// A thread and a task send, a task and a thread receive; then two tasks.
macro_rules! threads_and_tasks {
    ($channel:expr, $send:ident [$($send_async:tt)+], [$($recv_async:tt)+] $recv:ident) => {{
        #[allow(unused_mut)]
        let (sender, mut receiver) = $channel;
        let sending = thread::spawn(move || {
            sender.$send(1).unwrap();
            block_on(sender.$($send_async)+(2)).unwrap();
        });
        assert_eq!((block_on(receiver.$($recv_async)+()).unwrap(), receiver.$recv().unwrap()), (1, 2));
        sending.join().unwrap();
        between_tasks!($channel, [$($send_async)+], [$($recv_async)+]);
    }};
}

/// A receiver in a set whose descriptor is in epoll. Its message is received when epoll reports it.
macro_rules! served_by_epoll {
    ($channel:expr) => {{
        use rustix::event::epoll;
        use ysuite::signal::{Wait, YSocketpair};

        #[allow(unused_mut)]
        let (mut sender, mut receiver) = $channel;
        let mut set = YSocketpair::new().unwrap();
        set.attach(&mut receiver, 3).unwrap();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN).unwrap();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        // The id may be ready at first, for a receiver that has to be found empty.
        while receiver.try_recv().is_err() {
            let mut events = Vec::with_capacity(1);
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
            assert_eq!(events.len(), 1);
            set.check().for_each(|id| assert_eq!(id, 3));
        }
        sending.join().unwrap();
    }};
}

/// A thread waits for two channels, of which one gets a message.
macro_rules! first_of_two {
    ($channel:expr, $select:expr, $($reference:tt)+) => {{
        #[allow(unused_mut)]
        let ((mut sender, mut one), (_idle, mut other)) = ($channel, $channel);
        let sending = thread::spawn(move || { sender.send(1).unwrap(); sender });
        let first = $select.recv($($reference)+ one, |message| message.ok()).recv($($reference)+ other, |_| None).wait();
        assert_eq!(first, Some(1));
        sending.join().unwrap();
    }};
}

tried! {
    tasks Tasks {
        spsc "ysuite::spsc" { between_tasks!(ysuite::spsc::bounded(1), [send_async], [recv_async]); }
        mpsc "ysuite::mpsc" { between_tasks!(ysuite::mpsc::bounded(1), [send_async], [recv_async]); }
        mpmc "ysuite::mpmc" { threads_and_tasks!(ysuite::mpmc::bounded(1), send [send_async], [recv_async] recv); }
        broadcast "ysuite::broadcast" { between_tasks!(ysuite::broadcast::bounded(2), [send_async], [recv_async]); }
        tokio "tokio::sync::mpsc" {
            threads_and_tasks!(tokio::sync::mpsc::channel(1), blocking_send [send], [recv] blocking_recv);
        }
        flume "flume" { threads_and_tasks!(flume::bounded(1), send [send_async], [recv_async] recv); }
        kanal "kanal" { threads_and_tasks!(kanal::bounded(1), send [as_async().send], [as_async().recv] recv); }
        async_channel "async-channel" {
            threads_and_tasks!(async_channel::bounded(1), send_blocking [send], [recv] recv_blocking);
        }
    }
    descriptor Epoll {
        spsc "ysuite::spsc" { served_by_epoll!(ysuite::spsc::unbounded()); }
        mpsc "ysuite::mpsc" { served_by_epoll!(ysuite::mpsc::unbounded()); }
        mpmc "ysuite::mpmc" { served_by_epoll!(ysuite::mpmc::unbounded()); }
        broadcast "ysuite::broadcast" { served_by_epoll!(ysuite::broadcast::bounded(2)); }
    }
    select_with_sends SelectWithSends {
        mpmc "ysuite::mpmc" {
            let ((sender, _full), (other, received)) = (ysuite::mpmc::bounded(1), ysuite::mpmc::unbounded::<u8>());
            for expected in ["sent", "received"] {
                let done = ysuite::select()
                    .send(&sender, 1, |sent| sent.map_or("failed", |()| "sent"))
                    .recv(&received, |message| message.map_or("failed", |_| "received"))
                    .wait();
                assert_eq!(done, expected);
                other.send(2).unwrap();
            }
        }
        crossbeam "crossbeam-channel" {
            let ((sender, _full), (other, received)) =
                (crossbeam_channel::bounded(1), crossbeam_channel::unbounded::<u8>());
            for expected in ["sent", "received"] {
                let done = crossbeam_channel::select! {
                    send(sender, 1) -> sent => sent.map_or("failed", |()| "sent"),
                    recv(received) -> message => message.map_or("failed", |_| "received"),
                };
                assert_eq!(done, expected);
                other.send(2).unwrap();
            }
        }
        tokio "tokio::sync::mpsc" {
            let ((sender, _full), (other, mut received)) =
                (tokio::sync::mpsc::channel(1), tokio::sync::mpsc::unbounded_channel::<u8>());
            in_tokio(async {
                for expected in ["sent", "received"] {
                    let done = tokio::select! {
                        permit = sender.reserve() => permit.map_or("failed", |permit| { permit.send(1); "sent" }),
                        message = received.recv() => message.map_or("failed", |_| "received"),
                    };
                    assert_eq!(done, expected);
                    other.send(2).unwrap();
                }
            });
        }
        flume "flume" {
            let ((sender, _full), (other, received)) = (flume::bounded(1), flume::unbounded::<u8>());
            for expected in ["sent", "received"] {
                let done = flume::Selector::new()
                    .send(&sender, 1, |sent| sent.map_or("failed", |()| "sent"))
                    .recv(&received, |message| message.map_or("failed", |_| "received"))
                    .wait();
                assert_eq!(done, expected);
                other.send(2).unwrap();
            }
        }
    }
    select_over_a_list Select {
        spsc "ysuite::spsc" {
            first_of_two!(ysuite::spsc::unbounded::<u8>(), ysuite::select(), &mut);
            let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| ysuite::spsc::unbounded()).unzip();
            senders[5].send(1).unwrap();
            let received = ysuite::select().recv_any(&mut receivers, |at, message| (at, message.unwrap())).wait();
            assert_eq!(received, (5, 1));
        }
        mpsc "ysuite::mpsc" { first_of_two!(ysuite::mpsc::unbounded::<u8>(), ysuite::select(), &mut); }
        mpmc "ysuite::mpmc" { first_of_two!(ysuite::mpmc::unbounded::<u8>(), ysuite::select(), &); }
        broadcast "ysuite::broadcast" { first_of_two!(ysuite::broadcast::bounded::<u8>(2), ysuite::select(), &mut); }
        mailbox "ysuite::mailbox" {
            let ((_sender, mut idle), mut mailbox) = (ysuite::spsc::unbounded::<u8>(), ysuite::mailbox::Mailbox::new());
            let address = mailbox.address();
            let sending = thread::spawn(move || { address.send(1_u8).unwrap(); address });
            let first = ysuite::select().recv(mailbox.receiving(), |message| message.ok()).recv(&mut idle, |_| None);
            assert_eq!(first.wait(), Some(1_u8));
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

            let (senders, receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| crossbeam_channel::unbounded()).unzip();
            senders[5].send(1).unwrap();
            let mut select = crossbeam_channel::Select::new();
            for receiver in &receivers {
                select.recv(receiver);
            }
            let operation = select.select();
            let at = operation.index();
            assert_eq!((at, operation.recv(&receivers[at]).unwrap()), (5, 1));
        }
        flume "flume" {
            first_of_two!(flume::unbounded::<u8>(), flume::Selector::new(), &);
            let (senders, receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| flume::unbounded()).unzip();
            senders[5].send(1).unwrap();
            let mut selector = flume::Selector::new();
            for (at, receiver) in receivers.iter().enumerate() {
                selector = selector.recv(receiver, move |message| (at, message.unwrap()));
            }
            assert_eq!(selector.wait(), (5, 1));
        }
    }
    limit_of_a_thread Timeouts {
        spsc "ysuite::spsc" { receives_with_a_limit!(ysuite::spsc::unbounded()); }
        mpsc "ysuite::mpsc" { receives_with_a_limit!(ysuite::mpsc::unbounded()); }
        mpmc "ysuite::mpmc" { receives_with_a_limit!(ysuite::mpmc::unbounded()); }
        broadcast "ysuite::broadcast" { receives_with_a_limit!(ysuite::broadcast::bounded(2)); }
        mailbox "ysuite::mailbox" {
            let mut mailbox = ysuite::mailbox::Mailbox::new();
            let address = mailbox.address();
            assert!(mailbox.receive_timeout::<u8>(crate::SOON).is_err());
            address.send(1_u8).unwrap();
            assert_eq!(mailbox.receive_timeout(crate::SOON), Ok(1_u8));
        }
        crossbeam "crossbeam-channel" { receives_with_a_limit!(crossbeam_channel::unbounded()); }
        std "std::sync::mpsc" { receives_with_a_limit!(std::sync::mpsc::channel()); }
        flume "flume" { receives_with_a_limit!(flume::unbounded()); }
        kanal "kanal" { receives_with_a_limit!(kanal::unbounded()); }
    }
    limit_of_a_task TaskTimeouts {
        mpmc "ysuite::mpmc" {
            let (sender, _receiver) = ysuite::mpmc::bounded(1);
            sender.send(1).unwrap();
            let back = Err(ysuite::SendTimeoutError::Timeout(2));
            assert_eq!(in_tokio(sender.send_timeout_async(2, SOON)), back);
            // Any future is a limit.
            assert_eq!(block_on(sender.send_async_until(2, async {})), back);
        }
        broadcast "ysuite::broadcast" {
            let (sender, _receiver) = ysuite::broadcast::bounded(1);
            sender.send(1).unwrap();
            let back = Err(ysuite::SendTimeoutError::Timeout(2));
            assert_eq!(in_tokio(async { sender.send_timeout_async(2, SOON).await }), back);
            assert_eq!(block_on(sender.send_async_until(2, async {})), back);
        }
        tokio "tokio::sync::mpsc" {
            let (sender, _receiver) = tokio::sync::mpsc::channel(1);
            sender.blocking_send(1).unwrap();
            let back = Err(tokio::sync::mpsc::error::SendTimeoutError::Timeout(2));
            assert_eq!(in_tokio(async { sender.send_timeout(2, SOON).await }), back);
        }
    }
    budget Budget {
        mpmc "ysuite::mpmc" {
            let (sender, receiver) = ysuite::mpmc::unbounded();
            sender.send_batch(0..1_000).unwrap();
            assert!(others_had_a_turn(async move {
                for expected in 0..1_000 {
                    assert_eq!(receiver.recv_async().await.unwrap(), expected);
                }
            }));
        }
        tokio "tokio::sync::mpsc" {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            (0..1_000).for_each(|number| sender.send(number).unwrap());
            assert!(others_had_a_turn(async move {
                for expected in 0..1_000 {
                    assert_eq!(receiver.recv().await.unwrap(), expected);
                }
            }));
        }
    }
}

/// Whether another task ran while this one did work that never has to wait.
fn others_had_a_turn(work: impl Future<Output = ()>) -> bool {
    in_tokio(async {
        let ran = Arc::new(AtomicBool::new(false));
        let other = tokio::spawn({
            let ran = ran.clone();
            async move { ran.store(true, Ordering::SeqCst) }
        });
        work.await;
        let before = ran.load(Ordering::SeqCst);
        other.await.unwrap();
        before
    })
}

#[test]
fn without_a_budget_no_other_has_a_turn() {
    assert!(!others_had_a_turn(async {}));
}
