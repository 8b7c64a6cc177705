//! `select()` with ends of every kind, timers among them, and in an order of the caller's.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::RecvError;
use ysuite::{broadcast, mpmc, mpsc, oneshot, select, spsc, timer, watch};

use crate::support::executor::{Task, poll_once};
use crate::support::guarded;

const SHORT: Duration = Duration::from_micros(200);
const LONG: Duration = Duration::from_secs(30);

#[test]
fn each_kind_can_be_the_one_that_is_chosen() {
    guarded(|| {
        for chosen in 0..7 {
            let (mut pipe, mut pipe_in) = spsc::unbounded();
            let (mut funnel, mut funnel_in) = mpsc::unbounded();
            let (exchange, exchange_in) = mpmc::unbounded();
            let (news, mut news_in) = broadcast::bounded(1);
            let (answer, mut answer_in) = oneshot::channel();
            let (value, mut value_in) = watch::channel(0);
            let never = timer::never();
            let soon = timer::after(SHORT);
            let tick = if chosen == 6 { &soon } else { &never };
            let sending = thread::spawn(move || {
                thread::sleep(SHORT);
                match chosen {
                    0 => pipe.send(0).unwrap(),
                    1 => funnel.send(1).unwrap(),
                    2 => exchange.send(2).unwrap(),
                    3 => news.send(3).unwrap(),
                    4 => {
                        answer.send(4).unwrap();
                        return (pipe, funnel, exchange, news, None, value);
                    }
                    5 => value.send(5).unwrap(),
                    _ => {}
                }
                (pipe, funnel, exchange, news, Some(answer), value)
            });
            let got = select()
                .recv(&mut pipe_in, |got: Result<i32, _>| got.unwrap())
                .recv(&mut funnel_in, |got: Result<i32, _>| got.unwrap())
                .recv(&exchange_in, |got: Result<i32, _>| got.unwrap())
                .recv(&mut news_in, |got: Result<i32, _>| got.unwrap())
                .recv(&mut answer_in, |got: Result<i32, _>| got.unwrap())
                .recv(&mut value_in, |got| got.map(|()| 5).unwrap())
                .recv(tick, |got| got.map(|due| if due <= Instant::now() { 6 } else { -1 }).unwrap())
                .wait();
            assert_eq!(got, chosen);
            drop(sending.join().unwrap());
        }
    });
}

#[test]
fn a_oneshot_is_selected_once_and_then_has_ended() {
    let (sender, mut receiver) = oneshot::channel();
    assert_eq!(select().recv(&mut receiver, |got: Result<u8, _>| got).try_now(), None);
    sender.send(7).unwrap();
    assert_eq!(select().recv(&mut receiver, |got| got).wait(), Ok(7));
    assert_eq!(select().recv(&mut receiver, |got| got).wait(), Err(RecvError));
    let (sender, mut receiver) = oneshot::channel::<u8>();
    drop(sender);
    assert_eq!(select().recv(&mut receiver, |got| got).wait(), Err(RecvError));
}

/// A waker that counts how often it is dropped.
struct Counted(Arc<AtomicU32>);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The task that polled before has given its place to the select.
#[test]
fn a_select_that_leaves_a_oneshot_forgets_its_task() {
    let (sender, mut receiver) = oneshot::channel();
    let dropped = Arc::new(AtomicU32::new(0));
    let waker = Waker::from(Arc::new(Counted(dropped.clone())));
    assert!(pin!(&mut receiver).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    // Where the time is up before it waits, it has not had the place.
    let has_waited = (0..12).any(|more| {
        let select = select().recv(&mut receiver, |got: Result<u8, _>| got);
        assert_eq!(select.wait_timeout(SHORT * 2_u32.pow(more)), None);
        dropped.load(Ordering::Relaxed) == 1
    });
    assert!(has_waited);
    let task = Task::default();
    assert!(poll_once(&mut receiver, &task).is_pending());
    sender.send(1).unwrap();
    assert_eq!((task.woken(), poll_once(&mut receiver, &task)), (1, Poll::Ready(Ok(1))));
}

#[test]
fn a_value_that_a_select_was_told_of_counts_as_seen() {
    let (sender, mut receiver) = watch::channel(1);
    let mut seen = || select().recv(&mut receiver, |changed| changed.is_ok()).try_now();
    assert_eq!(seen(), None);
    sender.send(2).unwrap();
    sender.send(3).unwrap();
    assert_eq!((seen(), seen()), (Some(true), None));
    drop(sender);
    assert_eq!(select().recv(&mut receiver, |changed| changed).wait(), Err(RecvError));
    assert_eq!(*receiver.borrow(), 3);
}

#[test]
fn a_tick_is_selected_by_one_of_those_that_wait_for_it() {
    guarded(|| {
        const TICKS: u32 = 40;
        let beats = timer::tick(SHORT);
        let taken = AtomicU32::new(0);
        let (_sender, receiver) = mpmc::bounded::<u8>(1);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while taken.load(Ordering::Relaxed) < TICKS {
                        let tick = select().recv(&beats, Result::ok).recv(&receiver, |_| None).wait().expect("a tick");
                        assert!(tick <= Instant::now());
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
    });
}

/// Neither its own limit nor the tick that another has taken ends a wait too early.
#[test]
fn a_tick_that_another_has_taken_ends_no_wait() {
    guarded(|| {
        for _ in 0..50 {
            let once = timer::after(SHORT);
            let (mut sender, mut receiver) = spsc::unbounded();
            thread::scope(|scope| {
                let takers = [0; 2].map(|_| scope.spawn(|| select().recv(&once, |tick| tick).wait_timeout(SHORT * 20)));
                let last = scope.spawn(|| {
                    select().recv(&once, |_| "tick").recv(&mut receiver, |word: Result<&str, _>| word.unwrap()).wait()
                });
                let taken = takers.map(|taker| taker.join().unwrap());
                sender.send("word").unwrap();
                let others = usize::from(last.join().unwrap() == "tick");
                assert_eq!(taken.iter().flatten().count() + others, 1);
            });
        }
    });
}

#[test]
fn a_limit_before_the_tick_ends_the_wait() {
    let far = timer::after(LONG);
    assert_eq!(select().recv(&far, |_| "tick").wait_timeout(SHORT), None);
    assert_eq!(select().recv(&far, |_| "tick").after(SHORT, || "time").wait(), "time");
    assert_eq!(select().recv(&far, |_| "tick").try_now(), None);
    let due = timer::at(Instant::now());
    assert_eq!(select().recv(&due, |_| "tick").try_now(), Some("tick"));
    assert_eq!(select().recv(&due, |_| "tick").recv(&far, |_| "far").wait_timeout(SHORT), None);
}

#[test]
fn a_biased_select_chooses_the_first_that_is_possible() {
    let (first, first_in) = mpmc::unbounded();
    let (second, second_in) = mpmc::unbounded();
    let mut slice = [0, 1, 2].map(|_| mpmc::unbounded::<usize>());
    for number in 0..50 {
        first.send(number).unwrap();
        second.send(number).unwrap();
        slice.iter().for_each(|(sender, _)| sender.send(number).unwrap());
    }
    let mut receivers = slice.each_mut().map(|(_, receiver)| receiver.clone());
    let mut log = Vec::new();
    for _ in 0..250 {
        log.push(
            select()
                .recv(&first_in, |_| 0)
                .recv_any(&mut receivers, |at, _| 1 + at)
                .recv(&second_in, |_| 4)
                .biased()
                .wait(),
        );
    }
    assert!(log.is_sorted(), "{log:?}");
    assert!((0..5).all(|case| log.iter().filter(|chosen| **chosen == case).count() == 50));
}

/// What wakes it may be any of them.
#[test]
fn a_biased_select_sleeps_as_any_other() {
    guarded(|| {
        let (mut first, mut first_in) = spsc::unbounded();
        let (mut second, mut second_in) = spsc::unbounded();
        let receiving = thread::spawn(move || {
            let mut next = || select().recv(&mut first_in, |got| got).recv(&mut second_in, |got| got).biased().wait();
            (0..400).map(|_| next().unwrap()).collect::<Vec<u32>>()
        });
        for number in 0..400 {
            if number % 2 == 0 {
                first.send(number).unwrap()
            } else {
                second.send(number).unwrap()
            }
            if number % 8 == 0 {
                thread::sleep(SHORT / 4);
            }
        }
        let mut got = receiving.join().unwrap();
        got.sort_unstable();
        assert!(got.into_iter().eq(0..400));
    });
}
