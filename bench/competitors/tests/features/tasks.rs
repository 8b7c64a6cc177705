//! Features for tasks only: everything that measurements between threads show of others.

use std::task::{Context, Poll, Waker};

use crate::{SOON, block_on};

/// A future that is polled once, by a task that is never woken.
fn polled<F: Future>(future: F) -> Poll<F::Output> {
    std::pin::pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls of a receiver that waits, until a later message is ready.
async fn polls<R>(received: impl Future<Output = R>, send: impl FnOnce()) -> (R, u32) {
    let mut polls = 0;
    let mut received = std::pin::pin!(received);
    let counted = std::future::poll_fn(|context| {
        polls += 1;
        received.as_mut().poll(context)
    });
    let sent = async {
        tokio::time::sleep(SOON).await;
        send();
    };
    let (received, ()) = tokio::join!(counted, sent);
    (received, polls)
}

tried! {
    sleeps Sleeps {
        rapidfire "rapidfire" {
            let (sender, receiver) = rapidfire::unbounded();
            let (received, polls) = block_on(polls(receiver.recv(), || sender.try_send(1).unwrap()));
            assert!(received == Ok(1) && polls < 10, "{polls}");
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(2);
            let (received, polls) = block_on(polls(receiver.recv(), || sender.try_send(1).unwrap()));
            assert!(received == Ok(1) && polls < 10, "{polls}");
        }
    }
    tasks Tasks {
        rapidfire "rapidfire" {
            let (sender, mut receiver) = rapidfire::mpsc::bounded(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(1);
            let received = async { [receiver.recv().await, receiver.recv().await].map(Result::unwrap) };
            let sent = async { for number in [1, 2] { sender.send(number).await.unwrap() } };
            assert_eq!(block_on(async { tokio::join!(received, sent) }).0, [1, 2]);
        }
    }
    bounded Bounded {
        rapidfire "rapidfire" {
            let (sender, receiver) = rapidfire::bounded(2);
            assert!(polled(sender.send(1)).is_ready() && polled(sender.send(2)).is_ready());
            assert!(polled(sender.send(3)).is_pending());
            assert_eq!(receiver.try_recv(), Ok(1));
            assert!(polled(sender.send(3)).is_ready());
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(2);
            assert!(polled(sender.send(1)).is_ready() && polled(sender.send(2)).is_ready());
            assert!(polled(sender.send(3)).is_pending());
            assert_eq!(receiver.try_recv(), Ok(1));
            assert!(polled(sender.send(3)).is_ready());
        }
    }
    unbounded Unbounded {
        rapidfire "rapidfire" {
            let (sender, receiver) = rapidfire::unbounded();
            assert!((0..200_000).all(|number| polled(sender.send(number)).is_ready()));
            assert_eq!(receiver.len(), 200_000);
        }
    }
    senders Senders {
        rapidfire "rapidfire" {
            let (sender, mut receiver) = rapidfire::mpsc::unbounded();
            let other = sender.clone();
            std::thread::spawn(move || other.try_send(1).unwrap()).join().unwrap();
            sender.try_send(2).unwrap();
            assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(1), Ok(2)]);
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(2);
            let other = sender.clone();
            std::thread::spawn(move || other.try_send(1).unwrap()).join().unwrap();
            sender.try_send(2).unwrap();
            assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(1), Ok(2)]);
        }
    }
    receivers Receivers {
        rapidfire "rapidfire" {
            let (sender, receiver) = rapidfire::unbounded();
            let other = receiver.clone();
            (1..3).for_each(|number| sender.try_send(number).unwrap());
            assert_eq!(std::thread::spawn(move || other.try_recv()).join().unwrap(), Ok(1));
            assert_eq!(receiver.try_recv(), Ok(2));
        }
    }
    one_order OneOrder {
        rapidfire "rapidfire" {
            let (first, receiver) = rapidfire::unbounded();
            let second = first.clone();
            (0..100).for_each(|number| [&first, &second][number % 2].try_send(number).unwrap());
            assert!((0..100).all(|number| receiver.try_recv() == Ok(number)));
        }
        tachyonix "tachyonix" {
            let (first, mut receiver) = tachyonix::channel(100);
            let second = first.clone();
            (0..100).for_each(|number| [&first, &second][number % 2].try_send(number).unwrap());
            assert!((0..100).all(|number| receiver.try_recv() == Ok(number)));
        }
    }
    close Close {
        rapidfire "rapidfire" {
            let (sender, receiver) = rapidfire::unbounded();
            sender.try_send(1).unwrap();
            assert!(receiver.close());
            assert!(sender.try_send(2).is_err());
            assert_eq!(receiver.try_recv(), Ok(1));
            assert!(polled(receiver.recv()) == Poll::Ready(Err(rapidfire::RecvError)));
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(2);
            sender.try_send(1).unwrap();
            receiver.close();
            assert!(sender.try_send(2).is_err());
            assert_eq!(receiver.try_recv(), Ok(1));
            assert!(matches!(polled(receiver.recv()), Poll::Ready(Err(_))));
        }
    }
}
