//! Threads that panic while they hold a handle, in the middle of a batch, with a permit, in a handler. The other side
//! is woken and notified, as when a handle is dropped, and every message is dropped once.
//!
//! Claim: Threads that panic with a handle, in a batch, with permits or in handlers lose no message of others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::hub::Hub;
use ysuite::mailbox::{self, LinkTerminated, Mailbox};
use ysuite::pool::Pool;
use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{broadcast, mpmc, mpsc, oneshot, receive, select, spsc, watch};

use super::messages;
use super::support::executor::block_on;
use super::support::{Counted, Random, Tally, guarded};

/// Silences the panics that are meant.
fn quietly() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if panic.payload().downcast_ref::<Meant>().is_none() {
                usual(panic);
            }
        }));
    });
}

struct Meant;

/// Ends this thread by a panic, with all that it holds.
fn fall() -> ! {
    std::panic::panic_any(Meant)
}

/// A thread that ends by a panic.
fn falling(act: impl FnOnce() + Send + 'static) -> thread::JoinHandle<()> {
    quietly();
    thread::spawn(move || {
        act();
        fall();
    })
}

/// Many rounds of one: `act` gets a tally of `messages` messages, and a number that is different in each round.
fn rounds(act: impl Fn(&Tally, &mut Random) + Send + 'static) {
    guarded(move || {
        for round in 0..messages(60) {
            let tally = Tally::of(200);
            act(&tally, &mut Random::new(round));
            tally.assert_all_ended();
        }
    });
}

/// The receiver waits; the sender panics, after some messages, with others hidden, and while making a batch.
macro_rules! a_sender_falls {
    ($name:ident, $channel:expr) => {
        #[test]
        #[allow(unused_mut)] // Handles of an mpmc channel are shared.
        fn $name() {
            rounds(|tally, random| {
                let (mut sender, mut receiver) = $channel;
                let (all, sent) = (tally.clone(), random.below(5));
                let after = Duration::from_micros(random.next() % 100);
                let thread = falling(move || {
                    (0..sent).for_each(|_| sender.send(all.next()).expect("a receiver"));
                    thread::sleep(after);
                    let _ = sender.send_batch((0..5).map(|number| if number == 3 { fall() } else { all.next() }));
                });
                let received = std::iter::from_fn(|| receiver.recv().ok()).map(|message: Counted| message.number);
                let received: Vec<_> = received.collect();
                assert!(received.iter().copied().eq(0..received.len()) && received.len() >= sent, "{received:?}");
                assert!(thread.join().is_err());
            });
        }
    };
}

a_sender_falls!(a_sender_of_a_pipe_falls_in_a_batch, spsc::unbounded());
a_sender_falls!(a_sender_of_a_bounded_pipe_falls_in_a_batch, spsc::bounded(2));
a_sender_falls!(a_sender_of_a_funnel_falls_in_a_batch, mpsc::unbounded());
a_sender_falls!(a_sender_of_a_bounded_funnel_falls_in_a_batch, mpsc::bounded(2));
a_sender_falls!(a_sender_of_an_exchange_falls_in_a_batch, mpmc::unbounded());
a_sender_falls!(a_sender_of_a_bounded_exchange_falls_in_a_batch, mpmc::bounded(2));
a_sender_falls!(a_sender_of_a_rendezvous_falls_in_a_batch, mpmc::bounded(0));

/// A sender waits for room; the receiver falls while it holds what it has taken.
macro_rules! a_receiver_falls {
    ($name:ident, $channel:expr) => {
        #[test]
        #[allow(unused_mut)] // Handles of an mpmc channel are shared.
        fn $name() {
            rounds(|tally, random| {
                let (mut sender, mut receiver) = $channel;
                let (take, spins) = (random.below(4), random.below(2) == 0);
                let thread = falling(move || {
                    receiver.set_spin(if spins { Spin::Adaptive } else { Spin::None });
                    let mut held = Vec::new();
                    while held.len() < take {
                        receiver.recv_batch(&mut held, take).expect("a sender");
                    }
                    fall();
                });
                let mut sent = 0;
                while sent < 100 && sender.send(tally.next()).is_ok() {
                    sent += 1;
                }
                assert!(sent >= take && sent < 100, "{sent} of {take}");
                assert!(sender.send(tally.next()).is_err());
                assert!(thread.join().is_err());
            });
        }
    };
}

a_receiver_falls!(a_receiver_of_a_pipe_falls, spsc::bounded(2));
a_receiver_falls!(a_receiver_of_a_funnel_falls, mpsc::bounded(2));
a_receiver_falls!(a_receiver_of_an_exchange_falls, mpmc::bounded(2));
a_receiver_falls!(a_receiver_of_a_rendezvous_falls, mpmc::bounded(0));

#[test]
fn both_ends_fall_at_once() {
    rounds(|tally, random| {
        let (mut sender, mut receiver) = spsc::bounded(3);
        let (all, few) = (tally.clone(), random.below(9));
        let one = falling(move || {
            for _ in 0..few {
                if sender.send(all.next()).is_err() {
                    break;
                }
            }
            let _ = sender.write(all.next());
        });
        let few = random.below(9);
        let other = falling(move || (0..few).for_each(|_| drop(receiver.recv())));
        assert!(one.join().is_err() && other.join().is_err());
    });
}

/// The room that a panicking thread held is free again, and threads that wait for it are woken.
#[test]
fn permits_fall_with_their_threads() {
    rounds(|tally, random| {
        let (sender, receiver) = mpmc::bounded(4);
        let (mut pipe, mut pipe_in) = spsc::bounded::<u8>(2);
        let (mine, all) = (sender.clone(), tally.clone());
        let (tell, told) = oneshot::channel();
        let after = Duration::from_micros(random.next() % 100);
        let thread = falling(move || {
            let mut held = mine.try_reserve_many(4).expect("places");
            assert!(held.next().expect("a permit").send(all.next()).is_ok());
            let _permit = pipe.try_reserve_many(2).expect("places");
            tell.send(()).expect("a thread that waits");
            thread::sleep(after);
            fall();
        });
        told.recv().unwrap();
        (0..3).for_each(|_| sender.send(tally.next()).unwrap());
        drop(sender);
        assert_eq!(receiver.iter().count(), 4);
        assert!(pipe_in.recv().is_err());
        assert!(thread.join().is_err());
    });
}

#[test]
fn ends_of_a_broadcast_fall() {
    rounds(|_, random| {
        let (sender, mut receiver) = broadcast::bounded(2);
        let (mut other, mine) = (receiver.clone(), sender.clone());
        let numbers = random.below(9) as u64;
        // It is the slowest: the senders wait for it, until it is no more.
        let slow = falling(move || assert!(other.recv().is_ok_and(|number| number == 0) || numbers == 0));
        let send = falling(move || (0..numbers).for_each(|number| mine.send(number).expect("a receiver")));
        let thread = thread::spawn(move || {
            let mut received = Vec::new();
            while let Ok(number) = receiver.recv() {
                received.push(number);
            }
            received
        });
        drop(sender);
        // With nothing sent, the slow one falls without a message.
        assert!(slow.join().is_err() && send.join().is_err());
        assert!(thread.join().unwrap().into_iter().eq(0..numbers));
    });
}

/// The value that a panicking closure has left is there, the lock is free, and every receiver is notified.
#[test]
fn a_change_of_a_watched_value_falls() {
    rounds(|_, _| {
        let (sender, mut receiver) = watch::channel(0);
        let mine = sender.clone();
        let thread = falling(move || {
            mine.send_modify(|value| {
                *value = 1;
                fall();
            });
        });
        receiver.changed().unwrap();
        assert_eq!(*receiver.borrow_and_update(), 1);
        sender.send(2).unwrap();
        assert_eq!(*receiver.borrow_and_update(), 2);
        assert!(thread.join().is_err());
        let waiting = thread::spawn(move || receiver.changed().is_err());
        let last = falling(move || drop(sender));
        assert!(waiting.join().unwrap() && last.join().is_err());
    });
}

#[test]
fn ends_of_a_oneshot_fall() {
    rounds(|tally, _| {
        let (answer, answered) = oneshot::channel::<Counted>();
        let thread = falling(move || {
            let _answer = answer;
            fall();
        });
        assert!(answered.recv().is_err());
        assert!(thread.join().is_err());
        let (mut answer, answered) = oneshot::channel::<Counted>();
        let thread = falling(move || {
            let _answered = answered;
            fall();
        });
        answer.wait_closed();
        assert!(answer.send(tally.next()).is_err());
        assert!(thread.join().is_err());
    });
}

/// A mailbox that is linked to a panicking thread is notified, after all that the thread has sent.
#[test]
fn an_owner_of_a_mailbox_falls() {
    quietly();
    rounds(|_, _| {
        let mut mailbox = Mailbox::new();
        let back = mailbox.address();
        let other = mailbox.spawn_linked(move |own| {
            back.send(7_u64).unwrap();
            assert_eq!(own.receive::<u32>(), Ok(3));
            fall()
        });
        other.send(3_u32).unwrap();
        let mut said = 0;
        receive!(mailbox => { number: u64 => said = number, }).unwrap();
        let mut ended = false;
        receive!(mailbox => { end: LinkTerminated => ended = *end.address() == other, }).unwrap();
        assert!(said == 7 && ended);
        assert!(other.send(4_u32).is_err());
    });
    drop(mailbox::spawn(|_| {}));
}

/// The closure of a select runs after its operation: a message that it was given is dropped with it.
#[test]
fn a_selects_closure_falls() {
    rounds(|tally, _| {
        let (sender, receiver) = mpmc::bounded(1);
        let (mut pipe, mut pipe_in) = spsc::bounded::<Counted>(1);
        sender.send(tally.next()).unwrap();
        let thread =
            falling(move || select().recv(&receiver, |_message| fall()).recv(&mut pipe_in, |_message| fall()).wait());
        assert!(thread.join().is_err());
        assert!(sender.send(tally.next()).is_err() && pipe.send(tally.next()).is_err());
    });
}

/// The sets of a panicking thread are gone, the handles are not: they were not its own.
#[test]
fn owners_of_sets_fall() {
    rounds(|tally, _| {
        let (mut sender, mut receiver) = spsc::unbounded();
        for turn in 0..2 {
            let all = tally.clone();
            receiver = thread::scope(|scope| {
                let inner = scope.spawn(|| {
                    let result = catch_unwind(AssertUnwindSafe(|| {
                        if turn == 0 {
                            let mut set = YPollset::new();
                            set.attach(&mut receiver, 3).unwrap();
                            sender.send(all.next()).unwrap();
                            assert_eq!(set.wait().collect::<Vec<_>>(), [3]);
                            fall();
                        } else {
                            let mut set = ReadySet::new();
                            let id = set.add(&mut receiver).unwrap();
                            sender.send(all.next()).unwrap();
                            assert_eq!(set.wait(), id);
                            fall();
                        }
                    }));
                    assert!(result.is_err());
                    receiver
                });
                inner.join().unwrap()
            });
            drop(receiver.recv().unwrap());
            receiver.detach();
        }
    });
}

/// A handler falls, and the hub with it or not: its owner may catch it and serve on.
#[test]
fn a_handler_of_a_hub_falls() {
    quietly();
    rounds(|tally, _| {
        let (mut sender, receiver) = spsc::unbounded();
        let mut hub = Hub::new().unwrap();
        let served = Arc::new(AtomicUsize::new(0));
        let counted = served.clone();
        hub.receive(receiver, move |_, message: Result<Counted, _>| {
            if message.is_ok() && counted.fetch_add(1, Ordering::Relaxed) == 2 {
                fall();
            }
        })
        .unwrap();
        let handle = hub.handle();
        handle.post(|_| fall()).unwrap_or_else(|_| panic!("a hub"));
        let all = tally.clone();
        // The receiver goes with its handler, perhaps before all is sent.
        let thread = thread::spawn(move || (0..5).for_each(|_| drop(sender.send(all.next()))));
        drop(handle);
        // Twice: the function, and the handler.
        let mut falls = 0;
        while catch_unwind(AssertUnwindSafe(|| hub.run().unwrap())).is_err() {
            falls += 1;
        }
        thread.join().unwrap();
        // The hub disposes of a handler that has panicked, and of its receiver; no thread waits for that.
        assert!(falls == 2 && served.load(Ordering::Relaxed) >= 3, "{falls} falls, {served:?}");
    });
}

/// The blocks that a falling thread had at hand are the others'.
#[test]
fn a_taker_of_a_pool_falls() {
    rounds(|_, _| {
        let pool = Pool::new(&[(16, 8)]).unwrap();
        for _ in 0..4 {
            let mine = pool.clone();
            let thread = falling(move || {
                let _held: Vec<_> = (0..8).map(|_| mine.take(16)).collect();
                fall();
            });
            // One at a time: two that gather would wait for each other.
            (0..20).for_each(|_| drop(pool.take(9)));
            assert!(thread.join().is_err());
            let all: Vec<_> = std::iter::from_fn(|| pool.try_take(9)).collect();
            assert_eq!(all.len(), 8);
        }
    });
}

/// A task that falls in a poll is dropped by its executor: what its futures held is given back.
#[test]
fn tasks_fall_between_two_polls() {
    rounds(|tally, _| {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(tally.next()).unwrap();
        let (mine, all) = (sender.clone(), tally.clone());
        let thread = falling(move || {
            block_on(async move {
                let mut sending = Box::pin(mine.send_async(all.next()));
                std::future::poll_fn(|context| {
                    assert!(sending.as_mut().poll(context).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
                fall();
            });
        });
        assert!(thread.join().is_err());
        assert_eq!(receiver.recv().map(|message| message.number), Ok(0));
        sender.send(tally.next()).unwrap();
        assert_eq!(receiver.recv().map(|message| message.number), Ok(2));
    });
}
