//! Channels and sets of signals in tokio, with one thread and with several.

#[cfg(unix)]
use std::io;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use ::tokio::runtime::{Builder, Runtime};
use futures_util::StreamExt;
#[cfg(unix)]
use ysuite::integrations::tokio::AsyncSocketpair;
#[cfg(unix)]
use ysuite::signal::{Signal, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, spsc, timer};

use crate::support::executor::{Task, poll_once};
use crate::support::{Random, guarded};

fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
        .map(|mut builder| builder.worker_threads(2).enable_all().build().unwrap())
}

#[test]
fn messages_from_threads_to_tasks_and_back() {
    guarded(|| {
        const MESSAGES: usize = 5_000;
        for runtime in runtimes() {
            let (mut there, mut in_task) = spsc::bounded(16);
            let (mut back, mut results) = mpsc::bounded(16);
            let task = runtime.spawn(async move {
                while let Ok(message) = in_task.recv_async().await {
                    back.send_async(message * 2).await.unwrap();
                }
            });
            let thread = thread::spawn(move || {
                let mut random = Random::new(1);
                for message in 0..MESSAGES {
                    there.send(message).unwrap();
                    random.pause();
                }
            });
            let reading = thread::spawn(move || assert!(results.iter().eq((0..MESSAGES).map(|message| message * 2))));
            runtime.block_on(task).unwrap();
            thread.join().unwrap();
            reading.join().unwrap();
        }
    });
}

#[test]
fn tasks_share_an_mpmc_channel() {
    guarded(|| {
        for runtime in runtimes() {
            let (sender, receiver) = mpmc::bounded(4);
            let workers: Vec<_> = (0..5)
                .map(|_| {
                    let receiver = receiver.clone();
                    runtime
                        .spawn(async move { receiver.fold(0, |sum, message: u64| async move { sum + message }).await })
                })
                .collect();
            runtime.block_on(async move {
                for message in 0..2_000 {
                    sender.send_async(message).await.unwrap();
                }
            });
            let mut sum = 0;
            for worker in workers {
                sum += runtime.block_on(worker).unwrap();
            }
            assert_eq!(sum, 1_999_000);
        }
    });
}

#[test]
fn a_receiver_is_a_stream() {
    guarded(|| {
        for runtime in runtimes() {
            let (mut sender, receiver) = mpsc::unbounded();
            let thread = thread::spawn(move || (0..3_000).for_each(|message| sender.send(message).unwrap()));
            let evens = receiver.filter(|message| std::future::ready(message % 2 == 0)).collect::<Vec<i32>>();
            assert!(runtime.block_on(evens).into_iter().eq((0..3_000).step_by(2)));
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_receiver_beside_a_timer_loses_nothing() {
    guarded(|| {
        for runtime in runtimes() {
            let (mut sender, mut receiver) = spsc::unbounded();
            let thread = thread::spawn(move || {
                let mut random = Random::new(2);
                for message in 0..500 {
                    sender.send(message).unwrap();
                    random.pause();
                }
            });
            runtime.block_on(async move {
                let (mut expected, mut ticks) = (0, ::tokio::time::interval(Duration::from_micros(100)));
                loop {
                    // The future that loses is dropped.
                    ::tokio::select! {
                        biased;
                        _ = ticks.tick() => {}
                        message = receiver.recv_async() => match message {
                            Ok(message) => {
                                assert_eq!(message, expected);
                                expected += 1;
                            }
                            Err(_) => break assert_eq!(expected, 500),
                        },
                    }
                }
            });
            thread.join().unwrap();
        }
    });
}

/// Claim: Under tokio no signal of a set is lost.
#[cfg(unix)]
#[test]
fn a_set_of_signals_in_an_event_loop() {
    guarded(|| {
        const MESSAGES: usize = 3_000;
        for runtime in runtimes() {
            let mut threads = Vec::new();
            let mut receivers: Vec<_> = (0..10)
                .map(|seed| {
                    let (mut sender, receiver) = spsc::unbounded();
                    threads.push(thread::spawn(move || {
                        let mut random = Random::new(seed);
                        for message in 0..MESSAGES {
                            sender.send(message).unwrap();
                            random.pause();
                        }
                    }));
                    (receiver, 0)
                })
                .collect();
            let serving = async move {
                let mut set = AsyncSocketpair::new(YSocketpair::new()?)?;
                for (id, (receiver, _)) in receivers.iter_mut().enumerate() {
                    set.attach(receiver, id * 25)?;
                }
                let mut over = 0;
                while over < receivers.len() {
                    for id in set.signals().await? {
                        let (receiver, expected) = &mut receivers[id / 25];
                        // Now and then not completely: it is notified again.
                        for _ in 0..50 {
                            match receiver.try_recv() {
                                Ok(message) => {
                                    assert_eq!(message, *expected);
                                    *expected += 1;
                                }
                                Err(error) if error.is_disconnected() => {
                                    assert_eq!((set.detach(receiver), *expected), (Some(id), MESSAGES));
                                    over += 1;
                                    break;
                                }
                                Err(_) => break,
                            }
                        }
                    }
                }
                io::Result::Ok(())
            };
            runtime.block_on(runtime.spawn(serving)).unwrap().unwrap();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

#[cfg(unix)]
#[test]
fn signals_raised_by_hand_are_taken_once_each() {
    guarded(|| {
        for runtime in runtimes() {
            runtime.block_on(async {
                let mut set = AsyncSocketpair::new(YSocketpair::new().unwrap()).unwrap();
                for round in 0..300 {
                    let signaler = set.get_ref().signaler();
                    let thread = thread::spawn(move || signaler.signal(round % 256));
                    // A future that is dropped has taken nothing: what this one does not see, the next does.
                    let seen = ::tokio::time::timeout(Duration::ZERO, set.signals()).await;
                    let signals = match seen {
                        Ok(signals) => signals.unwrap(),
                        Err(_) => set.signals().await.unwrap(),
                    };
                    assert!(signals.eq([round % 256]));
                    thread.join().unwrap();
                }
            });
            runtime.block_on(async {
                let mut set = AsyncSocketpair::new(YSocketpair::new().unwrap()).unwrap();
                let signaler = set.get_ref().signaler();
                for round in 0..300 {
                    signaler.signal(round % 256);
                    assert!(set.signals().await.unwrap().eq([round % 256]));
                }
                let mut set = set.into_inner();
                signaler.signal(9);
                assert!(ysuite::signal::Wait::check(&mut set).eq([9]));
            });
        }
    });
}

#[test]
fn tasks_share_a_timer() {
    guarded(|| {
        for runtime in runtimes() {
            let timer = timer::tick(Duration::from_millis(1));
            let tasks: Vec<_> = (0..3)
                .map(|_| timer.clone())
                .map(|timer| {
                    runtime.spawn(async move {
                        let mut ticks = Vec::new();
                        for _ in 0..10 {
                            ticks.push(timer.recv_async().await.unwrap());
                        }
                        ticks
                    })
                })
                .collect();
            runtime.block_on(async {
                let mut all = Vec::new();
                for task in tasks {
                    let ticks = task.await.unwrap();
                    assert!(ticks.is_sorted());
                    all.extend(ticks);
                }
                all.sort();
                all.dedup();
                assert_eq!(all.len(), 30, "a tick was received twice");
                let never = timer::never();
                assert!(::tokio::time::timeout(Duration::from_millis(2), never.recv_async()).await.is_err());
            });
        }
    });
}

#[test]
fn a_send_with_a_time_limit_gives_the_message_back() {
    guarded(|| {
        for runtime in runtimes() {
            runtime.block_on(async {
                let (sender, receiver) = mpmc::bounded(1);
                assert_eq!(sender.send_timeout_async(1, Duration::ZERO).await, Ok(()));
                assert_eq!(
                    sender.send_timeout_async(2, Duration::from_millis(1)).await,
                    Err(ysuite::SendTimeoutError::Timeout(2))
                );
                let second = sender.clone();
                let sending = ::tokio::spawn(async move { second.send_timeout_async(3, Duration::MAX).await });
                assert_eq!(receiver.recv_async().await, Ok(1));
                assert_eq!(receiver.recv_async().await, Ok(3));
                assert_eq!(sending.await.unwrap(), Ok(()));
                receiver.close();
                assert!(sender.send_timeout_async(4, Duration::MAX).await.unwrap_err().is_disconnected());
            });
        }
    });
}

#[test]
fn a_pipes_sender_waits_no_longer_than_tokios_clock_says() {
    macro_rules! with_a_limit {
        ($kind:ident) => {
            guarded(|| {
                for runtime in runtimes() {
                    runtime.block_on(async {
                        let (mut sender, mut receiver) = $kind::bounded(1);
                        assert_eq!(sender.send_timeout_async(1, Duration::ZERO).await, Ok(()));
                        let in_vain = sender.send_timeout_async(2, Duration::from_millis(1)).await;
                        assert_eq!(in_vain, Err(ysuite::SendTimeoutError::Timeout(2)));
                        let sending = ::tokio::spawn(async move {
                            let sent = sender.send_timeout_async(3, Duration::MAX).await;
                            (sent, sender)
                        });
                        assert_eq!(receiver.recv_async().await, Ok(1));
                        assert_eq!(receiver.recv_async().await, Ok(3));
                        let (sent, mut sender) = sending.await.unwrap();
                        assert_eq!(sent, Ok(()));
                        sender.send(4).unwrap();
                        let waiting = ::tokio::spawn(async move { sender.send_timeout_async(5, Duration::MAX).await });
                        ::tokio::task::yield_now().await;
                        drop(receiver);
                        assert_eq!(waiting.await.unwrap(), Err(ysuite::SendTimeoutError::Disconnected(5)));
                    });
                }
                // Where there is room no clock is asked, and there need be none.
                let (mut sender, _receiver) = $kind::unbounded();
                let sent = crate::support::executor::block_on(sender.send_timeout_async(1, Duration::from_secs(1)));
                assert_eq!(sent, Ok(()));
            });
        };
    }
    with_a_limit!(spsc);
    with_a_limit!(mpsc);
}

/// Its clock would have it wait for the next tick. Here there is no clock at all.
#[test]
fn a_send_that_may_not_wait_asks_no_clock() {
    macro_rules! without_a_clock {
        ($kind:ident) => {
            #[allow(unused_mut)]
            let (mut sender, _receiver) = $kind::bounded(1);
            for expected in [Ok(()), Err(ysuite::SendTimeoutError::Timeout(7))] {
                let mut sending = std::pin::pin!(sender.send_timeout_async(7, Duration::ZERO));
                assert_eq!(poll_once(&mut sending, &Task::default()), Poll::Ready(expected));
            }
        };
    }
    without_a_clock!(spsc);
    without_a_clock!(mpsc);
    without_a_clock!(mpmc);
    without_a_clock!(broadcast);
}

/// The runtime counts in milliseconds, rounds up, and would panic.
#[test]
fn a_tick_at_the_end_of_the_clock_is_waited_for() {
    let (mut last, mut step) = (Instant::now(), Duration::from_secs(1 << 62));
    while step != Duration::ZERO {
        match last.checked_add(step) {
            Some(later) => last = later,
            None => step /= 2,
        }
    }
    for before in [Duration::ZERO, Duration::from_nanos(999_998), Duration::from_millis(1), Duration::from_secs(1)] {
        let timer = timer::at(last - before);
        for runtime in runtimes() {
            let waiting = async { ::tokio::time::timeout(Duration::from_millis(1), timer.recv_async()).await };
            assert!(runtime.block_on(waiting).is_err());
        }
    }
}
