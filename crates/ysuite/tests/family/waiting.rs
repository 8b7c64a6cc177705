//! Ways of waiting: threads, tasks, descriptors, limits, the first of several.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::in_tokio;
use crate::support::executor::block_on;

const SOON: Duration = Duration::from_millis(1);

row! { threads_and_tasks "threads and tasks at one channel"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::bounded(1);
        let sending = thread::spawn(move || {
            sender.send(1).unwrap();
            block_on(sender.send_async(2)).unwrap();
        });
        assert_eq!((block_on(receiver.recv_async()).unwrap(), receiver.recv().unwrap()), (1, 2));
        sending.join().unwrap();
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let sending = thread::spawn(move || {
            sender.blocking_send(1).unwrap();
            block_on(sender.send(2)).unwrap();
        });
        assert_eq!((block_on(receiver.recv()).unwrap(), receiver.blocking_recv().unwrap()), (1, 2));
        sending.join().unwrap();
    }
    flume {
        let (sender, receiver) = flume::bounded(1);
        let sending = thread::spawn(move || {
            sender.send(1).unwrap();
            block_on(sender.send_async(2)).unwrap();
        });
        assert_eq!((block_on(receiver.recv_async()).unwrap(), receiver.recv().unwrap()), (1, 2));
        sending.join().unwrap();
    }
    kanal {
        let (sender, receiver) = kanal::bounded(1);
        let sending = thread::spawn(move || {
            sender.send(1).unwrap();
            block_on(sender.as_async().send(2)).unwrap();
        });
        assert_eq!((block_on(receiver.as_async().recv()).unwrap(), receiver.recv().unwrap()), (1, 2));
        sending.join().unwrap();
    }
    async_channel {
        let (sender, receiver) = async_channel::bounded(1);
        let sending = thread::spawn(move || {
            sender.send_blocking(1).unwrap();
            block_on(sender.send(2)).unwrap();
        });
        assert_eq!((block_on(receiver.recv()).unwrap(), receiver.recv_blocking().unwrap()), (1, 2));
        sending.join().unwrap();
    }
}

row! { descriptor "a descriptor for `epoll`"
    ysuite {
        use rustix::event::epoll;
        use ysuite::signal::{Wait, YSocketpair};

        let (mut sender, mut receiver) = ysuite::spsc::unbounded();
        let mut set = YSocketpair::new().unwrap();
        set.attach(&mut receiver, 3).unwrap();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        epoll::add(&epoll, &set, epoll::EventData::new_u64(0), epoll::EventFlags::IN).unwrap();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        // The id may be up at first, for a receiver that is to be found empty.
        while receiver.try_recv().is_err() {
            let mut events = Vec::with_capacity(1);
            epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None).unwrap();
            assert_eq!(events.len(), 1);
            set.check().for_each(|id| assert_eq!(id, 3));
        }
        sending.join().unwrap();
    }
}

row! { select_with_sends "select, sends among its cases"
    ysuite {
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
    crossbeam {
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
    tokio {
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
    flume {
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

row! { select_over_a_list "select over a list of receivers"
    ysuite {
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| ysuite::spsc::unbounded()).unzip();
        senders[5].send(1).unwrap();
        let received = ysuite::select().recv_any(&mut receivers, |at, message| (at, message.unwrap())).wait();
        assert_eq!(received, (5, 1));
    }
    crossbeam {
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
    flume {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..8).map(|_| flume::unbounded()).unzip();
        senders[5].send(1).unwrap();
        let mut selector = flume::Selector::new();
        for (at, receiver) in receivers.iter().enumerate() {
            selector = selector.recv(receiver, move |message| (at, message.unwrap()));
        }
        assert_eq!(selector.wait(), (5, 1));
    }
}

row! { limit_of_a_thread "a thread receives with a time limit"
    ysuite {
        let (_sender, receiver) = ysuite::mpmc::unbounded::<u8>();
        assert!(receiver.recv_timeout(SOON).is_err());
    }
    crossbeam {
        let (_sender, receiver) = crossbeam_channel::unbounded::<u8>();
        assert!(receiver.recv_timeout(SOON).is_err());
    }
    std {
        let (_sender, receiver) = std::sync::mpsc::channel::<u8>();
        assert!(receiver.recv_timeout(SOON).is_err());
    }
    flume {
        let (_sender, receiver) = flume::unbounded::<u8>();
        assert!(receiver.recv_timeout(SOON).is_err());
    }
    kanal {
        let (_sender, receiver) = kanal::unbounded::<u8>();
        assert!(receiver.recv_timeout(SOON).is_err());
    }
}

row! { limit_of_a_task "a task sends with a time limit, and has its message back"
    ysuite {
        let (sender, _receiver) = ysuite::mpmc::bounded(1);
        sender.send(1).unwrap();
        let back = Err(ysuite::mpmc::SendTimeoutError::Timeout(2));
        assert_eq!(in_tokio(sender.send_timeout_async(2, SOON)), back);
        // Any future is a limit.
        assert_eq!(block_on(sender.send_async_until(2, async {})), back);
    }
    tokio {
        let (sender, _receiver) = tokio::sync::mpsc::channel(1);
        sender.blocking_send(1).unwrap();
        let back = Err(tokio::sync::mpsc::error::SendTimeoutError::Timeout(2));
        assert_eq!(in_tokio(async { sender.send_timeout(2, SOON).await }), back);
    }
}

row! { budget "counts against tokio's budget"
    ysuite {
        let (sender, receiver) = ysuite::mpmc::unbounded();
        sender.send_batch(0..1_000).unwrap();
        assert!(others_had_a_turn(async move {
            for expected in 0..1_000 {
                assert_eq!(receiver.recv_async().await.unwrap(), expected);
            }
        }));
    }
    tokio {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        (0..1_000).for_each(|number| sender.send(number).unwrap());
        assert!(others_had_a_turn(async move {
            for expected in 0..1_000 {
                assert_eq!(receiver.recv().await.unwrap(), expected);
            }
        }));
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
