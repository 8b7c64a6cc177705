//! The features of competitors that README.md does not compare.

use std::task::{Context, Poll, Waker};
use std::thread;

use ringbuf::traits::{Consumer, Observer, Producer, Split};

use crate::{SOON, in_tokio};

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
            let (received, polls) = in_tokio(polls(receiver.recv(), || sender.try_send(1).unwrap()));
            assert!(received == Ok(1) && polls < 10, "{polls}");
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(2);
            let (received, polls) = in_tokio(polls(receiver.recv(), || sender.try_send(1).unwrap()));
            assert!(received == Ok(1) && polls < 10, "{polls}");
        }
    }
    tasks Tasks {
        rapidfire "rapidfire" { between_tasks!(rapidfire::mpsc::bounded(1), [send], [recv]); }
        tachyonix "tachyonix" { between_tasks!(tachyonix::channel(1), [send], [recv]); }
        crossfire "crossfire" { between_tasks!(crossfire::mpmc::bounded_async(1), [send], [recv]); }
        thingbuf "thingbuf" { between_tasks!(thingbuf::mpsc::channel(1), [send], [recv]); }
    }
    select Select {
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
            thread::spawn(move || other.try_send(1).unwrap()).join().unwrap();
            sender.try_send(2).unwrap();
            assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(1), Ok(2)]);
        }
        tachyonix "tachyonix" {
            let (sender, mut receiver) = tachyonix::channel(2);
            let other = sender.clone();
            thread::spawn(move || other.try_send(1).unwrap()).join().unwrap();
            sender.try_send(2).unwrap();
            assert_eq!([receiver.try_recv(), receiver.try_recv()], [Ok(1), Ok(2)]);
        }
    }
    receivers Receivers {
        rapidfire "rapidfire" {
            let (sender, receiver) = rapidfire::unbounded();
            let other = receiver.clone();
            (1..3).for_each(|number| sender.try_send(number).unwrap());
            assert_eq!(thread::spawn(move || other.try_recv()).join().unwrap(), Ok(1));
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
    in_place InPlace {
        gil "gil" {
            let (mut sender, mut receiver) = gil::spsc::channel(std::num::NonZeroUsize::new(4).unwrap());
            sender.send(1);
            assert_eq!(receiver.read_guard().as_slice(), [1]);
            assert_eq!(receiver.recv(), 1);
        }
        thingbuf "thingbuf" {
            let (sender, receiver) = thingbuf::mpsc::blocking::channel(2);
            sender.send(1).unwrap();
            assert_eq!(*receiver.recv_ref().unwrap(), 1);
        }
        rtrb "rtrb" {
            let (mut sender, mut receiver) = rtrb::RingBuffer::new(2);
            sender.push(1).unwrap();
            assert_eq!((receiver.peek().copied(), receiver.pop()), (Ok(1), Ok(1)));
        }
        ringbuf "ringbuf" {
            let (mut sender, mut receiver) = ringbuf::HeapRb::new(2).split();
            sender.try_push(1).unwrap();
            assert_eq!((receiver.as_slices().0, receiver.occupied_len()), (&[1][..], 1));
            assert_eq!(receiver.try_pop(), Some(1));
        }
    }
    permits Permits {
        thingbuf "thingbuf" {
            let (sender, receiver) = thingbuf::mpsc::blocking::channel(1);
            let mut place = sender.send_ref().unwrap();
            assert!(sender.try_send(2).is_err());
            *place = 1;
            drop(place);
            assert_eq!(receiver.recv(), Some(1));
        }
        rtrb "rtrb" {
            let (mut sender, mut receiver) = rtrb::RingBuffer::new(2);
            let room = sender.write_chunk_uninit(2).unwrap();
            assert_eq!(room.fill_from_iter([1, 2]), 2);
            assert_eq!((receiver.pop(), receiver.pop()), (Ok(1), Ok(2)));
        }
    }
    limits Timeouts {
        crossfire "crossfire" { receives_with_a_limit!(crossfire::mpmc::bounded_blocking(2)); }
        fanring "fanring" { receives_with_a_limit!(fanring::mpmc::channel(2)); }
        nexus_channel "nexus-channel" { receives_with_a_limit!(nexus_channel::channel(2)); }
        thingbuf "thingbuf" { receives_with_a_limit!(thingbuf::mpsc::blocking::channel(2)); }
    }
    close Close {
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
    weak Weak {
        crossfire "crossfire" {
            let (sender, receiver) = crossfire::mpsc::bounded_blocking::<u8>(2);
            let weak = sender.downgrade();
            assert!(weak.upgrade::<crossfire::MTx<_>>().is_some());
            drop(sender);
            assert!(weak.upgrade::<crossfire::MTx<_>>().is_none() && receiver.recv().is_err());
        }
    }
}
