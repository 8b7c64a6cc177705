//! Futures that are made, polled once, and dropped; streams and sinks.

use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};

use crate::life::{Steps, live};
use crate::support::executor::{Task, block_on, poll_once};
use ysuite::{mpsc, oneshot, spsc, watch};

/// Polls a future once, which waits, and drops it.
macro_rules! given_up {
    ($task:expr, $future:expr) => {
        assert!(poll_once(&mut Box::pin($future), $task).is_pending())
    };
}

#[test]
fn a_pipe_that_is_asked_and_left() {
    live("tasks::a_pipe_that_is_asked_and_left", Steps::Calls, |life| {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let task = Task::default();
        let mut batch = Vec::with_capacity(1);
        while life.step() {
            let waker = task.waker();
            let mut context = Context::from_waker(&waker);
            given_up!(&task, receiver.recv_async());
            given_up!(&task, receiver.recv_batch_async(&mut batch, 1));
            assert!(receiver.poll_recv(&mut context).is_pending());
            assert!(receiver.poll_next_unpin(&mut context).is_pending());
            given_up!(&task, sender.closed());
            assert!(sender.poll_ready(&mut context).is_ready());
            let sent = block_on(sender.send_owned_async(1));
            sender = sent.1;
            assert!(sender.poll_ready(&mut context).is_pending());
            given_up!(&task, sender.send_async(2));
            given_up!(&task, sender.send_async_until(2, std::future::pending::<()>()));
            given_up!(&task, sender.send_batch_async(&mut [2].into_iter()));
            given_up!(&task, sender.reserve_async());
            given_up!(&task, sender.reserve_many_async(1));
            let received = block_on(receiver.recv_owned_async());
            receiver = received.1;
            assert_eq!((sent.0, received.0), (Ok(()), Ok(1)));
            block_on(sender.reserve_async()).unwrap().send(2).unwrap();
            assert_eq!(block_on(receiver.recv_batch_async(&mut batch, 1)), Ok(1));
            drop(block_on(sender.reserve_many_async(1)).unwrap());
            batch.clear();
        }
        drop((sender, receiver));
        assert_eq!(task.held(), 0, "wakers of futures that have been dropped");
    });
}

#[test]
fn a_clone_of_each_task() {
    live("tasks::a_clone_of_each_task", Steps::Calls, |life| {
        let (stays, mut receiver) = mpsc::bounded(1);
        let task = Task::default();
        let mut batch = Vec::with_capacity(1);
        while life.step() {
            let waker = task.waker();
            let mut context = Context::from_waker(&waker);
            let sender = stays.clone();
            given_up!(&task, receiver.recv_async());
            given_up!(&task, receiver.recv_batch_async(&mut batch, 1));
            assert!(receiver.poll_recv(&mut context).is_pending());
            assert!(receiver.poll_next_unpin(&mut context).is_pending());
            given_up!(&task, stays.closed());
            given_up!(&task, sender.closed());
            let (sent, mut sender) = block_on(sender.send_owned_async(1));
            assert!(sender.poll_ready(&mut context).is_pending());
            given_up!(&task, sender.send_async(2));
            given_up!(&task, sender.send_async_until(2, std::future::pending::<()>()));
            given_up!(&task, sender.send_batch_async(&mut [2].into_iter()));
            given_up!(&task, sender.reserve_async());
            given_up!(&task, sender.reserve_many_async(1));
            // It goes while its room is waited for.
            if life.number() % 2 == 0 {
                drop(sender);
            } else {
                assert!(sender.close());
            }
            let received = block_on(receiver.recv_owned_async());
            receiver = received.1;
            assert_eq!((sent, received.0), (Ok(()), Ok(1)));
        }
        drop((stays, receiver));
        assert_eq!(task.held(), 0, "wakers of futures that have been dropped");
    });
}

#[test]
fn a_channel_for_each_task() {
    live("tasks::a_channel_for_each_task", Steps::Calls, |life| {
        let task = Task::default();
        while life.step() {
            let waker = task.waker();
            let mut context = Context::from_waker(&waker);
            let (mut reply, mut answer) = oneshot::channel::<u64>();
            assert!(poll_once(&mut answer, &task).is_pending());
            assert!(reply.poll_closed(&mut context).is_pending());
            given_up!(&task, reply.closed());
            let (value, mut seen) = watch::channel(1);
            given_up!(&task, seen.changed_async());
            given_up!(&task, value.closed());
            given_up!(&task, seen.wait_for_async(|value| *value == 2));
            let _ = seen.poll_next_unpin(&mut context);
            match life.number() % 3 {
                0 => assert_eq!((reply.send(1), block_on(answer)), (Ok(()), Ok(1))),
                1 => drop((reply, value)),
                _ => drop((answer, seen)),
            }
        }
        assert_eq!(task.held(), 0, "wakers of futures that have been dropped");
    });
}

#[test]
fn sinks_and_streams() {
    live("tasks::sinks_and_streams", Steps::Few, |life| {
        let (mut pipe, mut pipe_in) = spsc::bounded(1);
        let (mut funnel, mut funnel_in) = mpsc::bounded(1);
        let (mut exchange, mut exchange_in) = ysuite::mpmc::bounded(1);
        let (mut news, mut news_in) = ysuite::broadcast::bounded(1);
        let task = Task::default();
        while life.step() {
            block_on(news.clone().into_sink().send(1)).unwrap();
            given_up!(&task, news.sink().send(2));
            assert_eq!(block_on(news_in.next()), Some(1));
            let mut own = funnel.clone().into_sink();
            let mut other = exchange.clone().into_sink();
            block_on(own.send(1)).unwrap();
            block_on(other.send(1)).unwrap();
            block_on(pipe.sink().send(1)).unwrap();
            // Fed, and given up before it has been sent.
            let _ = own.feed(2).now_or_never();
            given_up!(&task, other.send(2));
            given_up!(&task, pipe.sink().send(2));
            given_up!(&task, exchange.sink().send(2));
            if life.number() % 2 == 0 {
                let _ = own.close().now_or_never();
            }
            drop((own, other));
            block_on(funnel.sink().send(3)).unwrap();
            // Of two senders, so either message may come first.
            assert!(matches!(block_on(funnel_in.next()), Some(1 | 3)));
            assert_eq!((block_on(pipe_in.next()), block_on(exchange_in.next())), (Some(1), Some(1)));
            while pipe_in.next().now_or_never().is_some() {}
            while exchange_in.next().now_or_never().is_some() {}
            while funnel_in.next().now_or_never().is_some() {}
            let (gone, gone_in) = spsc::bounded::<u64>(1);
            let mut gone = gone.into_sink();
            assert!(matches!(gone.poll_ready_unpin(&mut Context::from_waker(&task.waker())), Poll::Ready(Ok(()))));
            drop(gone_in);
        }
        drop((pipe, pipe_in, funnel, funnel_in, exchange, exchange_in, news, news_in));
        assert_eq!(task.held(), 0, "wakers of futures that have been dropped");
    });
}

/// A hundred tasks that wait at once; most are woken by others.
#[test]
fn waiting_for_the_end() {
    live("tasks::waiting_for_the_end", Steps::Calls, |life| {
        let (mut sender, receiver) = spsc::bounded::<u64>(1);
        let (funnel, mut funnel_in) = mpsc::unbounded::<u64>();
        while life.step() {
            assert!(!sender.wait_closed_timeout(Duration::ZERO));
            assert!(!funnel.wait_closed_timeout(Duration::ZERO));
            assert!(sender.closed().now_or_never().is_none());
            assert!(funnel.clone().closed().now_or_never().is_none());
            sender.flush();
            assert!(funnel_in.try_recv().is_err());
        }
        drop(receiver);
    });
}
