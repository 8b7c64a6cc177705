//! tokio's cooperative budget: a task that always finds a message, or room, lets others have their turn.
//!
//! Claim: A task that always finds a message starves no other task under tokio.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use ::tokio::runtime::Builder;
use ::tokio::task::{coop, unconstrained};
use futures_util::{SinkExt, StreamExt};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, timer, watch};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::guarded;

/// Far more than a task may do at once.
const MANY: usize = 5_000;

/// Some operations; each could be ready at once, and has the channels that it needs.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

fn works() -> Vec<(&'static str, Work)> {
    let (mut to, mut from) = spsc::unbounded();
    let (mut filled, mut stream) = spsc::bounded(MANY);
    let (mut many, mut funnel) = mpsc::unbounded();
    let (polled, mut exchange) = mpmc::bounded(MANY);
    let (sender, receiver) = mpmc::bounded(MANY);
    let (board, mut notice) = watch::channel(0);
    (0..MANY).for_each(|number| {
        filled.send(number).unwrap();
        many.send(number).unwrap();
        polled.send(number).unwrap();
    });
    let mut works: Vec<(_, Work)> = vec![
        (
            "spsc",
            Box::pin(async move {
                for number in 0..MANY {
                    to.send_async(number).await.unwrap();
                    assert_eq!(from.recv_async().await, Ok(number));
                }
            }),
        ),
        (
            "spsc, as a stream",
            Box::pin(async move {
                for number in 0..MANY {
                    assert_eq!(stream.next().await, Some(number));
                }
                drop(filled);
            }),
        ),
        (
            "mpsc",
            Box::pin(async move {
                for number in 0..MANY {
                    assert_eq!(poll_fn(|context| funnel.poll_recv(context)).await, Ok(number));
                    many.send_async(number).await.unwrap();
                }
            }),
        ),
        (
            "mpmc, polled",
            Box::pin(async move {
                for number in 0..MANY {
                    assert_eq!(poll_fn(|context| exchange.poll_recv(context)).await, Ok(number));
                }
                drop(polled);
            }),
        ),
        (
            "mpmc",
            Box::pin(async move {
                for number in 0..MANY {
                    sender.send_async(number).await.unwrap();
                    assert_eq!(receiver.recv_async().await, Ok(number));
                }
            }),
        ),
        (
            "watch",
            Box::pin(async move {
                for number in 0..MANY / 2 {
                    board.send(number).unwrap();
                    notice.changed_async().await.unwrap();
                    board.send(number).unwrap();
                    poll_fn(|context| notice.poll_changed(context)).await.unwrap();
                }
            }),
        ),
    ];
    works.extend(more_works());
    works
}

/// What is not one message by one call.
fn more_works() -> Vec<(&'static str, Work)> {
    let (mut to, mut from) = spsc::unbounded();
    let (mut ready, taker) = spsc::bounded::<usize>(1);
    let (mut pipe, mut reader) = spsc::bounded(8);
    let (mut lane, funnel) = mpsc::bounded::<usize>(8);
    let (sender, receiver) = mpmc::bounded(8);
    let (many, readers) = mpmc::bounded::<usize>(8);
    let (mut endless, taken) = mpmc::unbounded();
    let (limited, limits) = mpmc::bounded(1);
    let (all, mut every) = broadcast::bounded(8);
    let (board, mut notice) = watch::channel(7);
    vec![
        (
            "a sink",
            Box::pin(async move {
                for number in 0..MANY {
                    to.sink().send(number).await.unwrap();
                    assert_eq!(from.try_recv(), Ok(number));
                }
            }) as Work,
        ),
        (
            "a sink of many senders",
            Box::pin(async move {
                let mut sink = endless.sink();
                for number in 0..MANY {
                    sink.feed(number).await.unwrap();
                }
                drop(taken);
            }),
        ),
        (
            "poll_ready",
            Box::pin(async move {
                for _ in 0..MANY {
                    poll_fn(|context| ready.poll_ready(context)).await;
                }
                drop(taker);
            }),
        ),
        (
            "batches",
            Box::pin(async move {
                let mut got = Vec::new();
                for number in 0..MANY {
                    assert_eq!(pipe.send_batch_async(&mut [number; 3].into_iter()).await, Ok(3));
                    assert_eq!(reader.recv_batch_async(&mut got, 3).await, Ok(3));
                    assert_eq!(pipe.send_async_until(number, pending::<()>()).await, Ok(()));
                    assert_eq!(reader.try_recv(), Ok(number));
                }
            }),
        ),
        (
            "batches of many",
            Box::pin(async move {
                let mut got = Vec::new();
                for number in 0..MANY {
                    assert_eq!(sender.send_batch_async(&mut [number; 3].into_iter()).await, Ok(3));
                    assert_eq!(receiver.recv_batch_async(&mut got, 3).await, Ok(3));
                }
            }),
        ),
        (
            "with a limit",
            Box::pin(async move {
                for number in 0..MANY {
                    assert_eq!(limited.send_async_until(number, pending::<()>()).await, Ok(()));
                    assert_eq!(limits.try_recv(), Ok(number));
                }
            }),
        ),
        (
            "permits",
            Box::pin(async move {
                for _ in 0..MANY {
                    drop(lane.reserve_async().await.unwrap());
                    drop(lane.reserve_many_async(3).await.unwrap());
                }
                drop(funnel);
            }),
        ),
        (
            "permits of many",
            Box::pin(async move {
                for _ in 0..MANY {
                    drop(many.reserve_async().await.unwrap());
                    drop(many.reserve_many_async(3).await.unwrap());
                }
                drop(readers);
            }),
        ),
        (
            "oneshot",
            Box::pin(async move {
                for number in 0..MANY {
                    let (sender, receiver) = oneshot::channel();
                    sender.send(number).unwrap();
                    assert_eq!(receiver.await, Ok(number));
                }
            }),
        ),
        (
            "watch, for a value of one's choice",
            Box::pin(async move {
                for _ in 0..MANY {
                    assert_eq!(*notice.wait_for_async(|_| true).await.unwrap(), 7);
                }
                drop(board);
            }),
        ),
        (
            "broadcast",
            Box::pin(async move {
                for number in 0..MANY {
                    all.send_async(number).await.unwrap();
                    assert_eq!(every.recv_async().await, Ok(number));
                    all.send(number).unwrap();
                    assert_eq!(poll_fn(|context| every.poll_recv(context)).await, Ok(number));
                }
            }),
        ),
        (
            "timers",
            Box::pin(async move {
                for _ in 0..MANY {
                    timer::after(Duration::ZERO).recv_async().await.unwrap();
                }
            }),
        ),
    ]
}

/// Whether another task has had its turn before this work was done, in a runtime with one thread.
fn others_had_a_turn(work: Work) -> bool {
    let turn = Arc::new(AtomicBool::new(false));
    Builder::new_current_thread().build().unwrap().block_on(async move {
        let other = turn.clone();
        let working = ::tokio::spawn(async move {
            work.await;
            turn.load(Ordering::Relaxed)
        });
        ::tokio::spawn(async move { other.store(true, Ordering::Relaxed) }).await.unwrap();
        working.await.unwrap()
    })
}

#[test]
fn a_task_that_always_finds_a_message_starves_no_other() {
    guarded(|| {
        for (name, work) in works() {
            assert!(others_had_a_turn(work), "{name}");
        }
    });
}

#[test]
fn nothing_is_counted_without_statistics() {
    guarded(|| {
        for (name, work) in works() {
            assert!(!others_had_a_turn(Box::pin(unconstrained(work))), "{name}");
        }
        // Outside of any runtime.
        for (name, mut work) in works() {
            let task = Task::default();
            assert_eq!((poll_once(&mut work, &task), task.woken()), (Poll::Ready(()), 0), "{name}");
        }
    });
}

#[test]
fn to_wait_costs_nothing() {
    guarded(|| {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut sender, mut receiver) = spsc::unbounded();
            let (other, exchange) = mpmc::bounded(2);
            let task = Task::default();
            let mut context = Context::from_waker(std::task::Waker::noop());
            for _ in 0..MANY {
                assert!(poll_once(&mut Box::pin(receiver.recv_async()), &task).is_pending());
                assert!(receiver.poll_recv(&mut context).is_pending());
                assert!(poll_once(&mut Box::pin(exchange.recv_async()), &task).is_pending());
                assert!(coop::has_budget_remaining());
            }
            // Each message is a step. Without one left it is still there at the next turn.
            let mut steps = 0;
            while coop::has_budget_remaining() {
                sender.send(steps).unwrap();
                assert_eq!(receiver.poll_recv(&mut context), Poll::Ready(Ok(steps)));
                steps += 1;
            }
            sender.send(steps).unwrap();
            other.send(steps).unwrap();
            assert!(steps > 1 && receiver.poll_recv(&mut context).is_pending());
            // A second poll makes a step all the same: it could be that of an executor which blocks here. And a third does not.
            assert_eq!(poll_once(&mut Box::pin(exchange.recv_async()), &task), Poll::Ready(Ok(steps)));
            assert!(poll_once(&mut Box::pin(other.send_async(0)), &task).is_pending());
            // The one that is refused is polled again at once.
            assert_eq!(task.woken(), 1);
            other.send(steps).unwrap();
            assert_eq!((receiver.recv_async().await, exchange.recv_async().await), (Ok(steps), Ok(steps)));
            assert_eq!((receiver.len(), exchange.len()), (0, 0));
        });
    });
}

/// An executor that blocks within a task of tokio: the steps of that task are given out anew only where it returns.
#[test]
fn an_executor_that_blocks_within_a_task_gets_on() {
    fn within_a_task(work: impl FnOnce() + Send + 'static) {
        guarded(|| {
            let runtime = Builder::new_current_thread().build().unwrap();
            runtime.block_on(runtime.spawn(async { work() })).unwrap();
        });
    }
    // All that is asked for is there at once, so every one of these is a step.
    for (name, work) in works() {
        println!("{name}");
        within_a_task(|| block_on(work));
    }
    // What has to wait is woken as it should be, with no step left.
    within_a_task(|| {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let thread = std::thread::spawn(move || (0..MANY).for_each(|number| sender.send(number).unwrap()));
        block_on(async {
            for number in 0..MANY {
                assert_eq!(receiver.recv_async().await, Ok(number));
            }
            assert!(receiver.recv_async().await.is_err());
        });
        thread.join().unwrap();
    });
}
