//! A select over a list that is known only when the program runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ysuite::select::list::{self, Selectable, first};
use ysuite::{RecvError, SendError};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, timer};

use crate::support::guarded;

const SHORT: Duration = Duration::from_micros(200);

#[test]
fn ends_of_any_types_stand_in_one_list() {
    let (mut pipe, mut pipe_in) = spsc::unbounded::<u8>();
    let (full, full_in) = mpmc::bounded(1);
    let (_news, mut news_in) = broadcast::bounded::<String>(1);
    let (answer, mut answer_in) = oneshot::channel::<[u64; 9]>();
    full.send(1).unwrap();
    let (mut one, mut two, mut three, mut four) =
        (list::recv(&mut pipe_in), list::send(&full, 2), list::recv(&mut news_in), list::recv(&mut answer_in));
    let mut all: [&mut dyn Selectable; 4] = [&mut one, &mut two, &mut three, &mut four];
    assert_eq!(first(&mut all).try_now(), None);
    assert_eq!(first(&mut all).wait_timeout(SHORT), None);
    pipe.send(7).unwrap();
    assert_eq!(first(&mut all).wait(), 0);
    let untaken = catch_unwind(AssertUnwindSafe(|| first(&mut all).try_now()));
    assert!(untaken.is_err(), "its result would be lost");
    assert_eq!((one.result(), one.result()), (Some(Ok(7)), None));
    // Again, with another.
    answer.send([3; 9]).unwrap();
    assert_eq!(first(&mut [&mut one, &mut two, &mut three, &mut four]).wait(), 3);
    assert_eq!(four.result(), Some(Ok([3; 9])));
    assert_eq!(full_in.recv(), Ok(1));
    assert_eq!(first(&mut [&mut one, &mut two]).wait_deadline(Instant::now() + Duration::from_secs(30)), Some(1));
    assert_eq!((two.result(), full_in.recv()), (Some(Ok(())), Ok(2)));
    // It has sent its message, and is never possible again.
    assert_eq!(first(&mut [&mut one, &mut two]).wait_timeout(SHORT), None);
    assert_eq!(first(&mut []).try_now(), None);
    drop(pipe);
    assert_eq!(first(&mut [&mut one, &mut two]).wait(), 0);
    assert_eq!(one.result(), Some(Err(RecvError)));
}

#[test]
fn a_message_that_is_not_sent_is_still_there() {
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(Arc::new(1)).unwrap();
    let message = Arc::new(2);
    let mut sending = list::send(&sender, message.clone());
    assert_eq!(first(&mut [&mut sending]).wait_timeout(SHORT), None);
    drop(sending);
    assert_eq!(Arc::strong_count(&message), 1);
    let mut sending = list::send(&sender, message.clone());
    assert_eq!(first(&mut [&mut sending]).try_now(), None);
    assert_eq!(sending.into_message().as_ref(), Some(&message));
    let mut sending = list::send(&sender, message.clone());
    drop(receiver);
    assert_eq!(first(&mut [&mut sending]).wait(), 0);
    assert_eq!(sending.result(), Some(Err(SendError(message.clone()))));
    assert_eq!(sending.into_message(), None);
    assert_eq!(Arc::strong_count(&message), 1);
}

#[test]
fn a_result_that_nobody_takes_ends_with_its_operation() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let message = Arc::new(1);
    sender.send(message.clone()).unwrap();
    let mut receiving = list::recv(&mut receiver);
    assert_eq!(first(&mut [&mut receiving]).wait(), 0);
    assert_eq!(Arc::strong_count(&message), 2);
    drop(receiving);
    assert_eq!(Arc::strong_count(&message), 1);
}

/// Each thread waits to send and to receive, at the same rendezvous: they meet in pairs, and nobody meets itself.
#[test]
fn lists_meet_at_a_rendezvous() {
    guarded(|| {
        const ROUNDS: usize = 500;
        let (sender, receiver) = mpmc::bounded(0);
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let (sender, receiver) = (sender.clone(), receiver.clone());
                thread::spawn(move || {
                    for round in 0..ROUNDS {
                        let (mut sending, mut receiving) =
                            (list::send(&sender, (number, round)), list::recv(&receiver));
                        match first(&mut [&mut sending, &mut receiving]).wait() {
                            0 => assert_eq!(sending.result(), Some(Ok(()))),
                            _ => assert_eq!(receiving.result().unwrap().unwrap(), (1 - number, round)),
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_long_list_is_served_from_any_place_in_it() {
    guarded(|| {
        const ENDS: usize = 2_000;
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..ENDS).map(|_| mpsc::unbounded::<usize>()).unzip();
        let sending = thread::spawn(move || {
            for number in 0..200 {
                senders[number * 997 % ENDS].send(number).unwrap();
                thread::sleep(SHORT / 10);
            }
            senders
        });
        let mut operations: Vec<_> = receivers.iter_mut().map(list::recv).collect();
        let mut got = Vec::new();
        while got.len() < 200 {
            let mut all: Vec<&mut dyn Selectable> =
                operations.iter_mut().map(|operation| operation as &mut dyn Selectable).collect();
            let at = first(&mut all).wait();
            let number = operations[at].result().unwrap().unwrap();
            assert_eq!(number * 997 % ENDS, at);
            got.push(number);
        }
        got.sort_unstable();
        assert!(got.into_iter().eq(0..200));
        drop(sending.join().unwrap());
    });
}

#[test]
fn a_biased_list_goes_by_its_order() {
    let channels = [0, 1, 2].map(|_| mpmc::unbounded());
    for _ in 0..20 {
        channels.iter().for_each(|(sender, _)| sender.send(()).unwrap());
    }
    let mut log = Vec::new();
    for _ in 0..60 {
        let [mut one, mut two, mut three] = channels.each_ref().map(|(_, receiver)| list::recv(receiver));
        log.push(first(&mut [&mut one, &mut two, &mut three]).biased().wait());
    }
    assert!(log.is_sorted(), "{log:?}");
    let unbiased = (0..200).map(|_| {
        channels.iter().for_each(|(sender, _)| sender.send(()).unwrap());
        let [mut one, mut two, mut three] = channels.each_ref().map(|(_, receiver)| list::recv(receiver));
        first(&mut [&mut one, &mut two, &mut three]).wait()
    });
    let unbiased: Vec<_> = unbiased.collect();
    assert!((0..3).all(|at| unbiased.contains(&at)));
}

#[test]
fn a_tick_ends_the_wait_of_a_list() {
    guarded(|| {
        let beats = timer::tick(SHORT);
        let (_sender, mut receiver) = spsc::unbounded::<u8>();
        let (mut beat, mut message) = (list::recv(&beats), list::recv(&mut receiver));
        for _ in 0..20 {
            assert_eq!(first(&mut [&mut message, &mut beat]).wait(), 1);
            assert!(beat.result().unwrap().unwrap() <= Instant::now());
        }
    });
}

/// The second to leave wakes nobody, and leaves all the same.
#[test]
fn a_waker_that_panics_as_a_list_leaves_keeps_no_message_of_another() {
    use std::task::{Context, Wake, Waker};
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker");
        }
    }
    let (sender, receiver) = mpmc::bounded(1);
    let (other, other_in) = mpmc::unbounded();
    let waker = Waker::from(Arc::new(Panics));
    let mut waiting = Box::pin(receiver.recv_async());
    thread::scope(|scope| {
        let selecting = scope.spawn(|| {
            let (mut one, mut two) = (list::recv(&receiver), list::recv(&other_in));
            catch_unwind(AssertUnwindSafe(|| first(&mut [&mut one, &mut two]).wait()))
        });
        thread::sleep(SHORT * 20);
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        other.send(1).unwrap();
        drop(selecting.join().unwrap());
    });
    drop(waiting);
    sender.send(5).unwrap();
    assert_eq!(receiver.recv(), Ok(5));
}
