//! The one-shot select: several operations, and one is done.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::executor::{Task, poll_once};
use crate::support::{Random, Tally, guarded, panics};
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvError, SendError, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc, select, spsc};

const SHORT: Duration = Duration::from_micros(200);

#[test]
fn the_first_that_can_be_done_is_done() {
    let (mut pipe, mut pipe_in) = spsc::unbounded();
    let (mut funnel, mut funnel_in) = mpsc::bounded(1);
    let (exchange, exchange_in) = mpmc::bounded(1);
    let mut log = Vec::new();
    for step in 0..5 {
        match step {
            0 => pipe.send(10).unwrap(),
            1 => funnel.send("eleven").unwrap(),
            2 => exchange.send('c').unwrap(),
            _ => {}
        }
        log.push(
            select()
                .recv(&mut pipe_in, |number: Result<u8, _>| format!("{number:?}"))
                .recv(&mut funnel_in, |word| format!("{word:?}"))
                .recv(&exchange_in, |letter| format!("{letter:?}"))
                .after(SHORT, || "-".to_owned())
                .wait(),
        );
    }
    assert_eq!(log, ["Ok(10)", "Ok(\"eleven\")", "Ok('c')", "-", "-"]);
    drop(funnel);
    let end = select().recv(&mut pipe_in, |_| None).recv(&mut funnel_in, Some).wait();
    assert_eq!(end, Some(Err(RecvError)));
}

#[test]
fn sending_and_receiving_together() {
    let (mut full, mut full_in) = spsc::bounded(1);
    let (sender, receiver) = mpmc::bounded(1);
    full.send(1).unwrap();
    // No room, and no message.
    let mut kept = Some(2);
    let none = |kept: &mut Option<i32>, full: &mut spsc::Sender<i32>| {
        select()
            .send_from(full, kept, |sent| sent.map_err(|error| error.0))
            .recv(&receiver, |_: Result<u8, _>| panic!("nobody has sent"))
            .wait_timeout(SHORT)
    };
    assert_eq!(none(&mut kept, &mut full), None);
    assert_eq!(kept, Some(2));
    assert_eq!(full_in.recv(), Ok(1));
    assert_eq!(none(&mut kept, &mut full), Some(Ok(())));
    assert_eq!((kept, full_in.recv()), (None, Ok(2)));
    // An empty place is never sent from.
    assert_eq!(none(&mut kept, &mut full), None);
    // Those that are gone.
    drop(full_in);
    kept = Some(3);
    assert_eq!(none(&mut kept, &mut full), Some(Err(3)));
    assert_eq!(select().send(&mut full, 4, |sent| sent).try_now(), Some(Err(SendError(4))));
    assert_eq!(select().send(&sender, 5, |sent| sent).try_now(), Some(Ok(())));
    assert_eq!(select().send(&sender, 6, |sent| sent).try_now(), None);
    drop(receiver);
    assert_eq!(select().send(&sender, 7, |sent| sent).wait(), Err(SendError(7)));
}

#[test]
fn what_can_be_done_is_done_though_the_deadline_has_passed() {
    let (sender, receiver) = mpmc::bounded(1);
    sender.send(7).unwrap();
    assert_eq!(select().recv(&receiver, |got| got).wait_deadline(Instant::now()), Some(Ok(7)));
    assert_eq!(select().recv(&receiver, |got| got).wait_deadline(Instant::now()), None);
}

#[test]
fn those_that_wait_at_a_rendezvous_are_met_without_waiting() {
    let (sender, receiver) = mpmc::bounded(0);
    let task = Task::default();
    let mut sending = Box::pin(sender.send_async(7));
    assert!(poll_once(&mut sending, &task).is_pending());
    assert_eq!(select().recv(&receiver, |got| got).try_now(), Some(Ok(7)));
    assert_eq!(poll_once(&mut sending, &task), Poll::Ready(Ok(())));
    let mut receiving = Box::pin(receiver.recv_async());
    assert!(poll_once(&mut receiving, &task).is_pending());
    assert_eq!(select().send(&sender, 8, |sent| sent).try_now(), Some(Ok(())));
    assert_eq!(poll_once(&mut receiving, &task), Poll::Ready(Ok(8)));
}

#[test]
fn what_was_not_sent_is_dropped_or_stays() {
    let tally = Tally::of(4);
    let (mut sender, _receiver) = spsc::bounded(1);
    sender.send(tally.next()).unwrap();
    let (mut other, mut other_in) = spsc::unbounded();
    other.send(1).unwrap();
    let mut place = Some(tally.next());
    let ended = tally.ended();
    select()
        .recv(&mut other_in, |number| {
            // Not before the function has run.
            assert_eq!((number, tally.ended()), (Ok(1), ended));
        })
        .send(&mut sender, tally.next(), |_| panic!("there is no room"))
        .wait();
    assert_eq!(tally.ended(), ended + 1);
    assert!(select().send_from(&mut sender, &mut place, drop).wait_timeout(SHORT).is_none());
    assert!(place.is_some() && tally.ended() == ended + 1);
    assert!(select().send(&mut sender, tally.next(), drop).wait_deadline(Instant::now()).is_none());
    assert_eq!(tally.ended(), ended + 2);
}

#[test]
fn nothing_to_wait_for() {
    assert_eq!(select::<u8>().try_now(), None);
    assert_eq!(select::<u8>().wait_timeout(SHORT), None);
    assert_eq!(select::<u8>().after(SHORT, || 1).wait(), 1);
    assert_eq!(select::<u8>().after(Duration::MAX, || 1).deadline(Instant::now(), || 2).wait(), 2);
    // A timeout counts at any position among the operations.
    let (_sender, receiver) = mpmc::bounded::<u8>(1);
    assert_eq!(select().after(SHORT, || 1).recv(&receiver, |_| 2).wait_timeout(Duration::MAX), Some(1));
    let mut none: [spsc::Receiver<u8>; 0] = [];
    assert_eq!(select().recv_any(&mut none, |_, _| 1).after(SHORT, || 2).wait(), 2);
}

/// Claim: The same handle may appear in a select twice.
#[test]
fn the_same_end_twice() {
    let (sender, receiver) = mpmc::bounded(4);
    assert_eq!(select().recv(&receiver, |_| 1).recv(&receiver, |_: Result<u8, _>| 2).wait_timeout(SHORT), None);
    (0..4).for_each(|number| sender.send(number).unwrap());
    // Each operation counts, and one is done.
    for expected in 0..4 {
        let received = select().recv(&receiver, |number| number).recv(&receiver, |number| number).wait();
        assert_eq!(received, Ok(expected));
    }
    // Both handles of one channel: what is sent is in the channel, and received by the next.
    let mut log = Vec::new();
    for _ in 0..4 {
        log.push(
            select().send(&sender, 7, |sent| sent.map(|()| 0).unwrap()).recv(&receiver, |got| got.unwrap()).wait(),
        );
    }
    assert!(log.contains(&0));
    // A select never meets itself.
    let (gives, takes) = mpmc::bounded(0);
    let met = select().send(&gives, 1, |_| "sent").recv(&takes, |_| "received").wait_timeout(SHORT);
    assert_eq!(met, None);
    assert_eq!(takes.try_recv(), Err(TryRecvError::Empty));
}

/// How often each of `ways` was chosen, with this average.
fn evenly(ways: usize, mut choose: impl FnMut() -> usize) {
    const EACH: usize = 2_000;
    let mut chosen = vec![0; ways];
    (0..ways * EACH).for_each(|_| chosen[choose()] += 1);
    assert!(chosen.iter().all(|&times| (EACH * 8 / 10..EACH * 12 / 10).contains(&times)), "{chosen:?}");
}

/// Claim: `select()` chooses evenly among the operations that are possible.
#[test]
fn all_that_can_be_done_are_chosen_evenly() {
    let (mut a, mut a_in) = spsc::unbounded();
    let (b, b_in) = mpmc::bounded(8);
    let (mut c, mut c_in) = mpsc::unbounded();
    evenly(3, || {
        a.send(()).unwrap();
        c.send(()).unwrap();
        let chosen = select().recv(&mut a_in, |_| 0).send(&b, 9, |_| 1).recv(&mut c_in, |_| 2).wait();
        let _ = (a_in.try_iter().count(), b_in.try_iter().count(), c_in.try_iter().count());
        chosen
    });
    for ends in [2, 3, 7, 19, 64] {
        let mut many: Vec<_> = (0..ends).map(|_| spsc::unbounded()).collect();
        many.iter_mut().for_each(|(sender, _)| sender.send(0).unwrap());
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = many.into_iter().unzip();
        evenly(ends, || {
            let chosen = select().recv_any(&mut receivers, |at, _| at).wait();
            senders[chosen].send(0).unwrap();
            chosen
        });
    }
    // Of two that are ready among many, at any positions.
    for (ends, ready) in [(5, [0, 1]), (12, [3, 4]), (64, [0, 32])] {
        let mut many: Vec<_> = (0..ends).map(|_| spsc::unbounded()).collect();
        ready.iter().for_each(|&at| many[at].0.send(0).unwrap());
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = many.into_iter().unzip();
        evenly(2, || {
            let chosen = select().recv_any(&mut receivers, |at, _| at).wait();
            senders[chosen].send(0).unwrap();
            usize::from(chosen == ready[1])
        });
    }
}

#[test]
fn a_select_made_anew_each_time_chooses_evenly() {
    use ysuite::signal::ReadySet;
    for ends in [2, 5, 40] {
        let mut receivers: Vec<_> = (0..ends).map(|_| spsc::unbounded::<u8>()).collect();
        evenly(ends, || {
            let mut select = ReadySet::with_capacity(64);
            let ids: Vec<_> = receivers.iter_mut().map(|(_, receiver)| select.add(receiver).unwrap()).collect();
            let named = select.wait();
            let chosen = ids.iter().position(|&id| id == named).unwrap();
            receivers.iter_mut().for_each(|(_, receiver)| assert!(receiver.detach()));
            chosen
        });
    }
}

#[test]
fn streams_of_many_kinds_are_received_whole() {
    guarded(|| {
        const EACH: usize = 1_500;
        let (mut a, mut a_in) = spsc::bounded(3);
        let (mut b, mut b_in) = mpsc::unbounded();
        let (c, c_in) = mpmc::bounded(2);
        let (mut d, mut d_in) = spsc::bounded(0);
        fn paced(seed: u64, mut send: impl FnMut(usize) + Send + 'static) -> thread::JoinHandle<()> {
            thread::spawn(move || {
                let mut random = Random::new(seed);
                for number in 0..EACH {
                    send(number);
                    random.pause();
                }
            })
        }
        let threads = [
            paced(1, move |number| a.send(number).unwrap()),
            paced(2, move |number| b.send(number).unwrap()),
            paced(3, move |number| c.send(number).unwrap()),
            paced(4, move |number| d.send(number).unwrap()),
        ];
        let (mut next, mut over) = ([0; 4], [false; 4]);
        let mut random = Random::new(5);
        while over != [true; 4] {
            // Disconnected handles are left out in turn, so that the select goes on sleeping.
            let outcome = match random.below(2) {
                0 if !over[0] && !over[2] => {
                    select().recv(&mut a_in, |got| (0, got)).recv(&c_in, |got| (2, got)).wait_timeout(SHORT)
                }
                _ if !over[1] && !over[3] => {
                    select().recv(&mut b_in, |got| (1, got)).recv(&mut d_in, |got| (3, got)).wait_timeout(SHORT)
                }
                _ => select()
                    .recv(&mut a_in, |got| (0, got))
                    .recv(&mut b_in, |got| (1, got))
                    .recv(&c_in, |got| (2, got))
                    .recv(&mut d_in, |got| (3, got))
                    .after(SHORT, || (4, Err(RecvError)))
                    .try_now(),
            };
            match outcome {
                None | Some((4, _)) => {}
                Some((at, Ok(number))) => {
                    assert_eq!(number, next[at]);
                    next[at] += 1;
                }
                Some((at, Err(RecvError))) => over[at] = true,
            }
        }
        assert_eq!(next, [EACH; 4]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn selects_that_face_each_other_meet() {
    guarded(|| {
        const ROUNDS: usize = 3_000;
        // Each offers what the other wants, over two channels.
        let (to_a, a_in) = mpmc::bounded(0);
        let (to_b, b_in) = mpmc::bounded(0);
        let run = |to: mpmc::Sender<usize>, from: mpmc::Receiver<usize>| {
            thread::spawn(move || {
                let (mut sent, mut received) = (0, 0);
                while sent < ROUNDS || received < ROUNDS {
                    let mut place = (sent < ROUNDS).then_some(sent);
                    let select = select().send_from(&to, &mut place, |outcome| {
                        outcome.unwrap();
                        true
                    });
                    let did_send = if received < ROUNDS {
                        select
                            .recv(&from, |got| {
                                assert_eq!(got, Ok(received));
                                false
                            })
                            .wait()
                    } else {
                        select.wait()
                    };
                    if did_send { sent += 1 } else { received += 1 }
                }
            })
        };
        let threads = [run(to_a, b_in), run(to_b, a_in)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn many_selects_at_one_rendezvous() {
    guarded(|| {
        const EACH: usize = 500;
        let (sender, receiver) = mpmc::bounded(0);
        let (stop, stopped) = mpmc::bounded::<()>(1);
        let receivers: Vec<_> = (0..3)
            .map(|_| {
                let (receiver, stopped) = (receiver.clone(), stopped.clone());
                thread::spawn(move || {
                    let mut received = 0;
                    while select().recv(&receiver, |got: Result<usize, _>| got.is_ok()).recv(&stopped, |_| false).wait()
                    {
                        received += 1;
                    }
                    received
                })
            })
            .collect();
        let senders: Vec<_> = (0..3)
            .map(|_| {
                let sender = sender.clone();
                thread::spawn(move || {
                    for number in 0..EACH {
                        let mut place = Some(number);
                        while select()
                            .send_from(&sender, &mut place, |sent| sent.unwrap())
                            .wait_timeout(SHORT)
                            .is_none()
                        {}
                    }
                })
            })
            .collect();
        senders.into_iter().for_each(|thread| thread.join().unwrap());
        drop(stop);
        assert_eq!(receivers.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 3 * EACH);
    });
}

/// Claim: An attached handle can be used in a select and stays attached.
#[test]
fn an_attached_end_may_be_selected_and_stays_attached() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 5).unwrap();
    assert!(receiver.try_recv().is_err());
    assert_eq!(select().recv(&mut receiver, |got: Result<u8, _>| got).wait_timeout(SHORT), None);
    sender.send(1).unwrap();
    assert_eq!(set.wait().collect::<Vec<_>>(), [5]);
    assert_eq!(select().recv(&mut receiver, |got| got).wait(), Ok(1));
    assert!(receiver.try_recv().is_err() && set.check().is_empty());
    sender.send(2).unwrap();
    assert_eq!((set.wait().collect::<Vec<_>>(), receiver.try_recv()), (vec![5], Ok(2)));
}

#[test]
fn a_function_may_select_again_and_may_panic() {
    let (mut sender, mut receiver) = spsc::unbounded();
    (0..3).for_each(|number| sender.send(number).unwrap());
    let (other, other_in) = mpmc::bounded::<u8>(1);
    let nested = select()
        .recv(&mut receiver, |got| {
            let none = select().recv(&other_in, |_| ()).wait_timeout(SHORT);
            (got, none)
        })
        .wait();
    assert_eq!(nested, (Ok(0), None));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        select().recv(&mut receiver, |_| panic!("as the test wants it")).recv(&other_in, |_| ()).wait()
    }));
    assert!(caught.is_err());
    assert_eq!(select().recv(&mut receiver, |got| got).wait(), Ok(2));
    drop(other);
}

/// A select that waits in line is a waiter, for those that only want a notification.
macro_rules! attached_ends_are_told {
    ($kind:ident) => {
        guarded(|| {
            let (mut sender, mut receiver) = $kind::bounded(0);
            let mut set = YPollset::new();
            set.attach(&mut sender, 1).unwrap();
            assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
            let thread = thread::spawn(move || select().recv(&mut receiver, |got| got).wait());
            loop {
                assert!(set.wait().eq([1]));
                if sender.try_send(7).is_ok() {
                    break;
                }
            }
            assert_eq!(thread.join().unwrap(), Ok(7));
        });
        guarded(|| {
            let (mut sender, mut receiver) = $kind::bounded(0);
            let mut set = YPollset::new();
            set.attach(&mut receiver, 1).unwrap();
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            let thread = thread::spawn(move || select().send(&mut sender, 7, |sent| sent).wait());
            loop {
                assert!(set.wait().eq([1]));
                if let Ok(message) = receiver.try_recv() {
                    assert_eq!(message, 7);
                    break;
                }
            }
            assert_eq!(thread.join().unwrap(), Ok(()));
        });
    };
}

#[test]
fn a_select_that_stands_in_line_tells_attached_ends() {
    attached_ends_are_told!(spsc);
    attached_ends_are_told!(mpsc);
    attached_ends_are_told!(mpmc);
}

#[test]
fn the_end_of_a_rendezvous_is_its_own_operations() {
    guarded(|| {
        for which in [0, 1, 2] {
            let [(one, one_in), (two, two_in), (three, three_in)] = [0; 3].map(|_| mpmc::bounded::<u8>(0));
            let mut senders = [Some(one), Some(two), Some(three)];
            let thread = thread::spawn(move || {
                select()
                    .recv(&one_in, |got| (0, got))
                    .recv(&two_in, |got| (1, got))
                    .recv(&three_in, |got| (2, got))
                    .wait()
            });
            // Most likely it waits in all three lines by then.
            thread::sleep(10 * SHORT);
            drop(senders[which].take());
            assert_eq!(thread.join().unwrap(), (which, Err(RecvError)));
        }
    });
}

#[test]
fn any_of_several_rendezvous_is_met() {
    guarded(|| {
        let (senders, mut receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| mpmc::bounded(0)).unzip();
        for (at, sender) in senders.iter().enumerate() {
            thread::scope(|scope| {
                let selecting = scope.spawn(|| select().recv_any(&mut receivers, |at, got| (at, got)).wait());
                // Most likely it waits in all three lines by then.
                thread::sleep(10 * SHORT);
                sender.send(at).unwrap();
                assert_eq!(selecting.join().unwrap(), (at, Ok(at)));
            });
        }
        // Selects on both sides, which find each other at work.
        thread::scope(|scope| {
            let selecting = scope.spawn(|| {
                for number in 0..3_000 {
                    let chosen = select().recv_any(&mut receivers, |at, got| (at, got)).wait();
                    assert_eq!(chosen, (number % 3, Ok(number)));
                }
            });
            for number in 0..3_000 {
                assert_eq!(select().send(&senders[number % 3], number, |sent| sent).wait(), Ok(()));
            }
            selecting.join().unwrap();
        });
        // And the disconnect of one, as of a single receiver.
        thread::scope(|scope| {
            let selecting = scope.spawn(|| select().recv_any(&mut receivers, |at, got| (at, got)).wait());
            thread::sleep(10 * SHORT);
            senders[2].close();
            assert_eq!(selecting.join().unwrap(), (2, Err(RecvError)));
        });
    });
}

/// A waker that panics, and counts how often a thread has called it.
struct Bursts(thread::ThreadId, AtomicUsize);

impl Wake for Bursts {
    fn wake(self: Arc<Self>) {
        if thread::current().id() == self.0 {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
        panic!("as the test wants it");
    }
}

/// Claim: If a waker panics while one case of a select leaves, all cases leave, and no message of another case is
/// moved.
/// Also: suite select::senders::watchers_that_go_all_pass_on_what_they_were_told_though_wakers_panic.
#[test]
fn a_waker_that_panics_as_a_case_leaves_keeps_no_message_of_another() {
    guarded(|| {
        let (ring_in, ring) = mpmc::bounded(8);
        let (meet_in, meet) = mpmc::bounded(0);
        // Sent once the select waits in line, and so has registered everywhere.
        let (mut set, mut told) = (YPollset::new(), meet.clone());
        set.attach(&mut told, 0).unwrap();
        assert_eq!(told.try_recv(), Err(TryRecvError::Empty));
        let mine = ring.clone();
        let selecting = thread::spawn(move || {
            let mut place = Some(7);
            let selected = catch_unwind(AssertUnwindSafe(|| {
                select().send_from(&meet_in, &mut place, |_| 0).recv(&mine, |number| number.unwrap()).wait()
            }));
            (selected.is_err(), place)
        });
        assert!(set.wait().eq([0]));
        loop {
            let bursts = Arc::new(Bursts(thread::current().id(), AtomicUsize::new(0)));
            let waker = Waker::from(bursts.clone());
            let mut behind = [0; 2].map(|_| Box::pin(ring.recv_async()));
            for future in &mut behind {
                assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
            // Two of three are notified. Of the two messages the select takes one; of the other it notifies the one
            // that is left.
            assert!(catch_unwind(AssertUnwindSafe(|| ring_in.send_batch([1, 2]))).is_err());
            if bursts.1.load(Ordering::SeqCst) == 1 {
                assert_eq!(selecting.join().unwrap(), (true, Some(7)));
                break;
            }
            // Both of the others: they take the messages, and all begins anew.
            for future in &mut behind {
                assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            }
        }
        drop(meet);
    });
}

/// Claim: A result is dropped once if user code panics before it is returned.
/// Also: suite hub::panics::what_is_refused_goes_with_a_handler_whose_end_panics,
/// suite mpmc::tasks::a_message_that_comes_back_ends_with_a_stop_whose_drop_panics.
#[test]
fn a_result_ends_once_where_the_end_of_another_case_panics() {
    for receives_first in [false, true] {
        let tally = Tally::of(2);
        tally.explode(0);
        let ((mut full, _full_in), (mut sender, mut receiver)) = (spsc::bounded(1), spsc::bounded(1));
        let explosive = tally.next();
        assert!(full.send(None).is_ok() && sender.send(tally.next()).is_ok());
        let text = panics(|| {
            let selected = if receives_first {
                select().recv(&mut receiver, Result::ok).send(&mut full, Some(explosive), |_| None).wait()
            } else {
                select().send(&mut full, Some(explosive), |_| None).recv(&mut receiver, Result::ok).wait()
            };
            drop(selected);
        });
        assert_eq!(text, "the end of message 0");
        tally.assert_all_ended();
    }
}

#[test]
fn of_several_cases_that_panic_at_their_ends_the_first_goes_on() {
    /// Panics, also while unwinding.
    struct Wild(&'static str);
    impl Drop for Wild {
        fn drop(&mut self) {
            panic!("{}", self.0);
        }
    }
    let (one, _one_in) = mpmc::bounded::<Wild>(1);
    let (other, _other_in) = mpmc::bounded::<Wild>(1);
    for channel in [&one, &other] {
        assert!(channel.send(Wild("in the channel")).is_ok());
    }
    let nothing = |_: Result<(), SendError<Wild>>| unreachable!("there is no room");
    let (full, more) = (&one, &other);
    let text = panics(|| _ = select().send(full, Wild("a"), nothing).send(more, Wild("b"), nothing).try_now());
    assert_eq!(text, "b");
    assert_eq!(panics(|| drop(select().send(full, Wild("c"), nothing).send(more, Wild("d"), nothing))), "d");
    // A function that panics, before and after what was not done.
    let (to, from) = mpmc::bounded(1);
    let received = |_: Result<u8, RecvError>| -> () { panic!("in the function") };
    for is_last in [false, true] {
        to.send(1).unwrap();
        let text = panics(|| {
            if is_last {
                select().send(full, Wild("e"), nothing).recv(&from, received).wait();
            } else {
                select().recv(&from, received).send(full, Wild("f"), nothing).wait();
            }
        });
        assert_eq!(text, "in the function");
    }
    std::mem::forget((one, _one_in, other, _other_in));
}

/// More handles than a word has bits, and lengths that the steps of a random order divide.
#[test]
fn of_hundreds_of_ends_the_one_that_can_be_received_from_is_found() {
    for ends in [63, 64, 65, 128, 130, 323] {
        let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..ends).map(|_| spsc::unbounded()).unzip();
        let ((_silent, mut before), (sender, behind)) = (spsc::unbounded::<usize>(), mpmc::unbounded::<usize>());
        let mut chosen = || {
            let among = select().recv(&mut before, |got| (ends + 1, got)).recv_any(&mut receivers, |at, got| (at, got));
            among.recv(&behind, |got| (ends, got)).wait_timeout(Duration::ZERO)
        };
        for (at, sender) in senders.iter_mut().enumerate() {
            sender.send(at).unwrap();
            assert_eq!(chosen(), Some((at, Ok(at))));
        }
        sender.send(7).unwrap();
        assert_eq!((chosen(), chosen()), (Some((ends, Ok(7))), None));
    }
}

#[test]
fn any_of_hundreds_of_ends_wakes_a_select_that_waits() {
    const ENDS: usize = 130;
    macro_rules! wakes {
        ($make:expr) => {{
            #[allow(unused_mut)]
            let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..ENDS).map(|_| $make).unzip();
            let received = &AtomicUsize::new(0);
            thread::scope(|scope| {
                let selecting = scope.spawn(move || {
                    for number in 0..ENDS {
                        let chosen = select().recv_any(&mut receivers, |at, got| (at, got)).wait();
                        // All of them once, in an order that comes to every word.
                        assert_eq!(chosen, (number * 77 % ENDS, Ok(number)));
                        received.store(number + 1, Ordering::Release);
                    }
                });
                for number in 0..ENDS {
                    while received.load(Ordering::Acquire) < number && !selecting.is_finished() {
                        thread::yield_now();
                    }
                    senders[number * 77 % ENDS].send(number).unwrap();
                }
            });
        }};
    }
    guarded(|| {
        wakes!(spsc::unbounded());
        wakes!(mpsc::unbounded());
        wakes!(mpmc::bounded(1));
        wakes!(mpmc::bounded(0));
        wakes!(spsc::bounded(0));
    });
}

/// As a case of one receiver.
#[test]
fn a_select_of_any_of_several_tells_attached_ends() {
    guarded(|| {
        let ((mut sender, receiver), (_silent, silent_in)) = (mpmc::bounded(0), mpmc::bounded(0));
        let mut set = YPollset::new();
        set.attach(&mut sender, 1).unwrap();
        assert_eq!(sender.try_send(7), Err(TrySendError::Full(7)));
        let mut receivers = [silent_in, receiver];
        let thread = thread::spawn(move || select().recv_any(&mut receivers, |at, got| (at, got)).wait());
        loop {
            assert!(set.wait().eq([1]));
            if sender.try_send(7).is_ok() {
                break;
            }
        }
        assert_eq!(thread.join().unwrap(), (1, Ok(7)));
    });
}

#[test]
fn a_select_of_any_of_several_that_has_given_up_is_not_woken() {
    let (mut sender, receiver) = spsc::unbounded::<u8>();
    let mut receivers = [receiver];
    assert_eq!(select().recv_any(&mut receivers, |_, got| got).wait_timeout(SHORT), None);
    sender.write(1).unwrap();
    assert!(sender.flush(), "nobody sleeps there any more");
    assert_eq!(receivers[0].recv(), Ok(1));
}

macro_rules! room_is_waited_for {
    ($ends:expr) => {
        guarded(|| {
            #[allow(unused_mut)]
            let (mut full, mut full_in) = $ends;
            full.send(1).unwrap();
            // Sent once the select waits in line, and so has registered everywhere.
            let (mut told, meet) = mpmc::bounded::<u8>(0);
            let mut set = YPollset::new();
            set.attach(&mut told, 0).unwrap();
            assert_eq!(told.try_send(0), Err(TrySendError::Full(0)));
            let selecting = thread::spawn(move || {
                select().send(&mut full, 2, |sent| sent).recv(&meet, |_| panic!("nobody sends")).wait()
            });
            assert!(set.wait().eq([0]));
            assert_eq!(full_in.recv(), Ok(1));
            assert_eq!(selecting.join().unwrap(), Ok(()));
        });
    };
}

#[test]
fn a_select_that_waits_for_room_is_woken_by_room() {
    room_is_waited_for!(spsc::bounded(1));
    room_is_waited_for!(mpsc::bounded(1));
    room_is_waited_for!(mpmc::bounded(1));
}

#[test]
fn an_operation_beside_any_of_several_is_done() {
    let ((_silent, silent_in), (sender, receiver)) = (mpmc::bounded::<u8>(1), mpmc::bounded::<u8>(1));
    sender.send(7).unwrap();
    let mut receivers = [silent_in];
    let chosen = select().recv(&receiver, |got| (1, got)).recv_any(&mut receivers, |at, got| (at, got)).try_now();
    assert_eq!(chosen, Some((1, Ok(7))));
}

#[test]
fn each_operation_is_counted_once_where_a_select_is_shown() {
    let ((sender, receiver), (_other, other_in)) = (mpmc::bounded::<u8>(1), mpmc::bounded::<u8>(1));
    let mut receivers = [other_in, receiver.clone()];
    let selecting = select().recv(&receiver, |_| ()).send(&sender, 1, |_| ()).recv_any(&mut receivers, |_, _| ());
    assert_eq!(format!("{selecting:?}"), "Selecting { operations: 4, .. }");
    assert_eq!(format!("{:?}", select::<()>()), "Selecting { operations: 0, .. }");
}

/// One message goes from one channel to the other and back, and at each moment one of them has it.
#[test]
fn a_try_finds_the_message_that_another_thread_moves() {
    const TRIES: usize = 20_000;
    guarded(|| {
        let ((left, left_in), (right, right_in)) = (mpmc::bounded(1), mpmc::bounded(1));
        left.send(7).unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // Into the other one first. Where the select has taken what was here, there are two of it, and then one.
                    let _ = right.try_send(7);
                    let _ = left_in.try_recv();
                    let _ = left.try_send(7);
                    let _ = right_in.try_recv();
                }
            });
            for number in 0..TRIES {
                // It gives back what it takes before the other thread can find both empty: into the channel where it was. Where
                // that is full the other thread has put one there.
                let found = if number % 2 == 0 {
                    select().recv(&left_in, |got| (&left, got)).recv(&right_in, |got| (&right, got)).try_now()
                } else {
                    let moment = Duration::ZERO;
                    select()
                        .recv(&left_in, |got| Some((&left, got)))
                        .recv(&right_in, |got| Some((&right, got)))
                        .after(moment, || None)
                        .wait()
                };
                let (from, got) = found.expect("there was one at each moment");
                let _ = from.try_send(got.unwrap());
            }
            is_over.store(true, Ordering::Relaxed);
        });
    });
}

#[test]
fn a_message_to_send_may_borrow() {
    let text = String::from("of this function");
    let (sender, receiver) = mpmc::bounded::<&str>(2);
    let (mut pipe, mut pipe_in) = spsc::bounded::<&str>(1);
    for _ in 0..2 {
        let word = text.as_str();
        assert_eq!(select().send(&sender, word, |sent| sent).try_now(), Some(Ok(())));
    }
    select().send(&sender, text.as_str(), |_| ()).send(&mut pipe, &text[..2], |sent| sent.unwrap()).wait();
    assert_eq!(
        (receiver.recv(), receiver.recv(), pipe_in.recv()),
        (Ok("of this function"), Ok("of this function"), Ok("of"))
    );
}
