//! The facts of the documentation, measured: an operation allocates nothing where its `Cost` line says so, and makes
//! no more system calls than it says.
//!
//! One thread performs each operation, so no other thread sleeps. Where the fact counts a wake-up, the other side is
//! attached to a set with a descriptor, which takes the same one call.

use std::collections::BTreeSet;
use std::fs;
use std::future::{Future, pending};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::SinkExt;
use ysuite::Spin;
use ysuite::facts::{ALL, Fact};
use ysuite::hub::{Hub, Interest};
use ysuite::mailbox::{self, Builder, Crowding, Mailbox};
use ysuite::pool::Pool;
use ysuite::signal::{Attach, ReadySet, Signal, Wait, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, oneshot, select, spsc, timer, watch};

use crate::requests;

/// Facts that are not measured, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("sender LIKE_SEND", "names another fact"),
    ("sender RESERVE", "names another fact"),
    ("sender RESERVE_WAIT", "blocks without a time limit"),
    ("sender CLOSED", "allocates, and states no number of calls"),
    ("spsc RECV_BACKLOG", "allocates, and states no number of calls"),
    ("mpsc RECV_BACKLOG", "allocates, and states no number of calls"),
    ("mpsc CLOSE", "allocates, and states no number of calls"),
    ("receiver LIKE_RECV", "names another fact"),
    ("receiver RECV_BATCH", "names another fact"),
    ("receiver LIKE_TRY_RECV", "names another fact"),
    ("receiver TRY_RECV_BATCH", "names another fact"),
    ("receiver RECV_BATCH_TASK", "names another fact"),
    ("mpsc SHARED_SEND", "names another fact"),
    ("mpsc SHARED_TRY_SEND", "names another fact"),
    ("mpmc SEND_UNBOUNDED", "allocates, and states no number of calls"),
    ("mpmc RESERVE_WAIT", "blocks without a time limit"),
    ("broadcast RESERVE_WAIT", "blocks without a time limit"),
    ("rendezvous WAIT", "allocates, and states no number of calls"),
    ("watch WAIT_FOR", "names another fact"),
    ("timer RECV_TASK", "needs a runtime of tokio, which allocates"),
    ("pool TAKE", "names another fact"),
    ("mailbox SEND_WAIT", "allocates, and states no number of calls"),
    ("mailbox SPAWN", "starts a thread"),
    #[cfg(not(feature = "statistics"))]
    ("statistics OBSERVER", "needs the feature"),
    #[cfg(not(feature = "statistics"))]
    ("statistics READ", "needs the feature"),
];

/// Long enough for a sleep. A wait that spins before may yield, which no fact counts, so it is set not to.
const MOMENT: Duration = Duration::from_micros(200);

/// After this many messages without a sleeper, arming takes a barrier.
const STREAM: usize = 1_000;

/// The facts that were measured.
#[derive(Default)]
struct Measured(BTreeSet<&'static str>);

impl Measured {
    /// Prepares and performs an operation ten times. Two of these may allocate what the operation keeps, or make more
    /// system calls than it states: the first, and one whose preparation another thread has disturbed, such as a wait
    /// that was over before it had registered. What `act` returns is dropped afterwards.
    fn fact<S, P, R>(
        &mut self,
        name: &'static str,
        mut state: S,
        mut prepare: impl FnMut(&mut S) -> P,
        mut act: impl FnMut(&mut S, P) -> R,
    ) {
        let fact = ALL.iter().find(|fact| fact.name == name).unwrap_or_else(|| panic!("no such fact: {name}"));
        assert!(fact.allocates_nothing || fact.calls.is_some(), "{name}: there is nothing to measure");
        let (mut allocated, mut called) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let prepared = prepare(&mut state);
            let (allocations, calls) = requests();
            let result = act(&mut state, prepared);
            let (allocations_after, calls_after) = requests();
            drop(result);
            allocated.push(allocations_after - allocations);
            called.push(calls_after - calls);
        }
        let few = |counts: &[u64], most: u64| counts.iter().filter(|&&count| count > most).count() <= 2;
        assert!(!fact.allocates_nothing || few(&allocated, 0), "{name}: {allocated:?} allocations: {}", fact.text);
        assert!(
            fact.calls.is_none_or(|most| few(&called, u64::from(most))),
            "{name}: {called:?} system calls: {}",
            fact.text
        );
        self.0.insert(name);
    }
}

impl Measured {
    /// The first poll of each future, which has to wait.
    fn polls<F: Future>(&mut self, name: &'static str, mut make: impl FnMut() -> F) {
        self.fact(
            name,
            (),
            |()| Box::pin(make()),
            |(), mut waiting| {
                assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                waiting
            },
        );
    }
}

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A handle, attached to a set with a descriptor.
fn attached<E: Attach>(mut end: E) -> (E, YSocketpair) {
    let mut set = YSocketpair::new().unwrap();
    set.attach(&mut end, 1).unwrap();
    (end, set)
}

/// An attached receiver that has found nothing: its id is down, and so is the descriptor.
macro_rules! rest {
    ($receiver:expr, $set:expr) => {{
        while $receiver.try_recv().is_ok() {}
        $set.check();
    }};
}

/// The facts of `spsc` and `mpsc`.
macro_rules! lanes {
    ($measured:expr, $kind:ident) => {{
        let measured: &mut Measured = $measured;
        macro_rules! name {
            ($name:ident) => {
                concat!(stringify!($kind), " ", stringify!($name))
            };
        }
        // A sender, and a receiver at rest in a set.
        let resting = |(sender, receiver): ($kind::Sender<u32>, $kind::Receiver<u32>)| {
            let (receiver, set) = attached(receiver);
            (sender, receiver, set)
        };
        let full = || {
            let (mut sender, receiver) = $kind::bounded::<u32>(1);
            sender.send(1).unwrap();
            (sender, receiver)
        };
        measured.fact(
            name!(SEND),
            resting($kind::unbounded()),
            |(_, receiver, set)| rest!(receiver, set),
            |(sender, ..), ()| sender.send(1).unwrap(),
        );
        measured.fact(
            name!(SEND_ROOM),
            resting($kind::bounded(4)),
            |(_, receiver, set)| rest!(receiver, set),
            |(sender, ..), ()| sender.send(1).unwrap(),
        );
        measured.fact(
            name!(SEND_WAIT),
            full(),
            |(sender, _)| sender.set_spin(Spin::None),
            |(sender, _), ()| {
                sender.send_timeout(1, MOMENT).unwrap_err();
            },
        );
        let (sender, receiver) = full();
        let (sender, set) = attached(sender);
        measured.fact(
            name!(TRY_SEND_REFUSED),
            (sender, receiver, set),
            |(sender, receiver, set)| {
                receiver.try_recv().unwrap();
                set.check();
                sender.try_send(1).unwrap();
            },
            |(sender, ..), ()| sender.try_send(1).unwrap_err(),
        );
        measured.fact(name!(SEND_TASK), full(), |_| (), |(sender, _), ()| poll(sender.send_async(1)).is_pending());
        measured.fact("sender UNWRITE", full(), |_| (), |(sender, _), ()| sender.unwrite());
        measured.fact(
            "sender FLUSH",
            resting($kind::unbounded()),
            |(sender, receiver, set)| {
                rest!(receiver, set);
                sender.write(1).unwrap();
            },
            |(sender, ..), ()| sender.flush(),
        );
        measured.fact(
            "sender READY",
            full(),
            |_| (),
            |(sender, _), ()| sender.poll_ready(&mut Context::from_waker(Waker::noop())).is_pending(),
        );
        measured.fact(
            "sender RESERVE_TASK",
            full(),
            |_| (),
            |(sender, _), ()| poll(sender.reserve_async()).is_pending(),
        );
        measured.fact(
            "sender PERMIT_SEND",
            resting($kind::bounded(4)),
            |(_, receiver, set)| rest!(receiver, set),
            |(sender, ..), ()| sender.try_reserve().unwrap().send(1).unwrap(),
        );
        measured.fact(
            "sender SEND_BATCH_TASK",
            full(),
            |_| 0..4,
            |(sender, _), mut messages| poll(sender.send_batch_async(&mut messages)).is_pending(),
        );
        measured.fact(
            "sender SEND_UNTIL_TASK",
            full(),
            |_| (),
            |(sender, _), ()| poll(sender.send_async_until(1, pending::<()>())).is_pending(),
        );
        measured.fact(
            "sender SINK",
            resting($kind::unbounded()),
            |(_, receiver, set)| rest!(receiver, set),
            |(sender, ..), ()| poll(sender.sink().send(1)).is_ready(),
        );
        measured.fact(
            "sender CLOSE",
            (),
            |()| {
                let (sender, mut receiver, mut set) = resting($kind::bounded(4));
                rest!(receiver, set);
                (sender, receiver, set)
            },
            |(), mut channel| {
                channel.0.close();
                channel
            },
        );
        measured.fact(
            name!(RECV),
            $kind::bounded(4),
            |(sender, _)| sender.send(1).unwrap(),
            |(_, receiver), ()| receiver.recv().unwrap(),
        );
        measured.fact(
            name!(RECV_WAIT),
            $kind::bounded::<u32>(4),
            |(_, receiver)| receiver.set_spin(Spin::None),
            |(_, receiver), ()| receiver.recv_timeout(MOMENT).unwrap_err(),
        );
        measured.fact("sender WAIT_CLOSED", full(), |_| (), |(sender, _), ()| sender.wait_closed_timeout(MOMENT));
        let (sender, receiver) = full();
        let (sender, set) = attached(sender);
        measured.fact(
            name!(TRY_RECV),
            (sender, receiver, set),
            |(sender, _, set)| {
                // The second finds no room.
                let _ = (sender.try_send(1), sender.try_send(1));
                set.check();
            },
            |(_, receiver, _), ()| receiver.try_recv().unwrap(),
        );
        measured.fact(
            name!(TRY_RECV_EMPTY),
            resting($kind::bounded(4)),
            |(sender, receiver, _)| {
                for _ in 0..STREAM {
                    sender.send(1).unwrap();
                    receiver.try_recv().unwrap();
                }
            },
            |(_, receiver, _), ()| receiver.try_recv().unwrap_err(),
        );
        measured.fact(
            name!(RECV_TASK),
            $kind::bounded::<u32>(4),
            |(sender, receiver)| {
                for _ in 0..STREAM {
                    sender.send(1).unwrap();
                    receiver.recv().unwrap();
                }
            },
            |(_, receiver), ()| poll(receiver.recv_async()).is_pending(),
        );
        measured.fact(name!(LEN), full(), |_| (), |(_, receiver), ()| (receiver.len(), receiver.is_empty()));
    }};
}

fn lanes_of_several(measured: &mut Measured) {
    measured.fact(
        "spsc CLOSE",
        (),
        |()| {
            let (mut sender, receiver) = spsc::bounded(1);
            sender.send(1).unwrap();
            let (sender, set) = attached(sender);
            (sender, receiver, set)
        },
        |(), mut channel| {
            channel.1.close();
            channel
        },
    );
    measured.fact(
        "receiver SHRINK",
        (spsc::unbounded::<u32>(), mpsc::unbounded::<u32>()),
        |(one, many)| {
            let messages = || 0..STREAM as u32;
            assert!(one.0.send_batch(messages()).is_ok() && many.0.send_batch(messages()).is_ok());
            assert_eq!((one.1.try_iter().count(), many.1.try_iter().count()), (STREAM, STREAM));
        },
        |(one, many), ()| (one.1.shrink_to_fit(), many.1.shrink_to_fit()),
    );
    measured.fact(
        "mpmc SHRINK",
        mpmc::unbounded::<u32>(),
        |(sender, receiver)| {
            for _ in 0..5 {
                assert_eq!(sender.send_batch(0..50_000), Ok(50_000));
                assert_eq!(receiver.try_iter().count(), 50_000);
            }
        },
        |(_, receiver), ()| receiver.shrink_to_fit(),
    );
    measured.fact("mpsc CLONE", mpsc::unbounded::<u32>(), |_| (), |(sender, _), ()| sender.clone());
    measured.fact(
        "mpsc DROP",
        (),
        |()| {
            let (mut sender, receiver) = mpsc::unbounded();
            sender.send(1).unwrap();
            let (mut receiver, mut set) = attached(receiver);
            rest!(receiver, set);
            (sender, receiver, set)
        },
        |(), (sender, receiver, set)| {
            drop(sender);
            (receiver, set)
        },
    );
    let (sender, receiver) = mpsc::unbounded::<u32>();
    let (shared, weak) = (sender.share(), sender.downgrade());
    measured.fact(
        "mpsc SHARE",
        (sender, receiver, shared, weak),
        |_| (),
        |(sender, _, shared, weak), ()| (sender.share(), sender.downgrade(), shared.clone(), weak.clone()),
    );
    measured.fact(
        "mpsc SHARED_DROP",
        (),
        |()| {
            let (sender, receiver) = mpsc::unbounded::<u32>();
            let shared = sender.share();
            drop(sender);
            let (mut receiver, mut set) = attached(receiver);
            rest!(receiver, set);
            (shared, receiver, set)
        },
        |(), (shared, receiver, set)| {
            drop(shared);
            (receiver, set)
        },
    );
}

fn exchanges(measured: &mut Measured) {
    let resting = |(sender, receiver): (mpmc::Sender<u32>, mpmc::Receiver<u32>)| {
        let (receiver, set) = attached(receiver);
        (sender, receiver, set)
    };
    let full = || {
        let (sender, receiver) = mpmc::bounded::<u32>(1);
        sender.send(1).unwrap();
        (sender, receiver)
    };
    for channel in [mpmc::bounded(4), mpmc::unbounded()] {
        measured.fact(
            "mpmc SEND",
            resting(channel),
            |(_, receiver, set)| rest!(receiver, set),
            |(sender, ..), ()| sender.send(1).unwrap(),
        );
    }
    measured.fact(
        "mpmc TRY_SEND",
        resting(mpmc::bounded(4)),
        |(_, receiver, set)| rest!(receiver, set),
        |(sender, ..), ()| sender.try_send(1).unwrap(),
    );
    measured.fact(
        "mpmc SEND_WAIT",
        full(),
        |(sender, _)| sender.set_spin(Spin::None),
        |(sender, _), ()| sender.send_timeout(1, MOMENT).unwrap_err(),
    );
    let (sender, receiver) = full();
    let (sender, set) = attached(sender);
    measured.fact(
        "mpmc TRY_SEND_REFUSED",
        (sender, receiver, set),
        |(sender, receiver, set)| {
            receiver.try_recv().unwrap();
            set.check();
            sender.try_send(1).unwrap();
        },
        |(sender, ..), ()| sender.try_send(1).unwrap_err(),
    );
    measured.fact("mpmc SEND_TASK", full(), |_| (), |(sender, _), ()| poll(sender.send_async(1)).is_pending());
    measured.fact(
        "mpmc SEND_BATCH_TASK",
        full(),
        |_| 0..4,
        |(sender, _), mut messages| poll(sender.send_batch_async(&mut messages)).is_pending(),
    );
    measured.fact(
        "mpmc SEND_UNTIL_TASK",
        full(),
        |_| (),
        |(sender, _), ()| poll(sender.send_async_until(1, pending::<()>())).is_pending(),
    );
    measured.fact(
        "mpmc RECV",
        mpmc::bounded(4),
        |(sender, _)| sender.send(1).unwrap(),
        |(_, receiver), ()| receiver.recv().unwrap(),
    );
    measured.fact(
        "mpmc RECV_BACKLOG",
        mpmc::unbounded(),
        |(sender, _)| (0..20_000).for_each(|number| sender.send(number).unwrap()),
        |(_, receiver), ()| receiver.try_iter().count(),
    );
    measured.fact(
        "mpmc RECV_WAIT",
        mpmc::bounded::<u32>(4),
        |(_, receiver)| receiver.set_spin(Spin::None),
        |(_, receiver), ()| receiver.recv_timeout(MOMENT).unwrap_err(),
    );
    let (sender, receiver) = full();
    let (sender, set) = attached(sender);
    measured.fact(
        "mpmc TRY_RECV",
        (sender, receiver, set),
        |(sender, _, set)| {
            // The second finds no room.
            let _ = (sender.try_send(1), sender.try_send(1));
            set.check();
        },
        |(_, receiver, _), ()| receiver.try_recv().unwrap(),
    );
    measured.fact(
        "mpmc TRY_RECV_EMPTY",
        resting(mpmc::bounded(4)),
        |(sender, receiver, _)| {
            for _ in 0..STREAM {
                sender.send(1).unwrap();
                receiver.try_recv().unwrap();
            }
        },
        |(_, receiver, _), ()| receiver.try_recv().unwrap_err(),
    );
    measured.fact(
        "mpmc RECV_TASK",
        mpmc::bounded::<u32>(4),
        |(sender, receiver)| {
            for _ in 0..STREAM {
                sender.send(1).unwrap();
                receiver.recv().unwrap();
            }
        },
        |(_, receiver), ()| poll(receiver.recv_async()).is_pending(),
    );
    measured.fact("mpmc FORCE_SEND", full(), |_| (), |(sender, _), ()| sender.force_send(1).unwrap());
    measured.fact(
        "mpmc TRY_RESERVE",
        mpmc::bounded::<u32>(4),
        |_| (),
        |(sender, _), ()| {
            drop(sender.try_reserve().unwrap());
        },
    );
    measured.fact(
        "mpmc PERMIT_DROP",
        mpmc::bounded::<u32>(4),
        |(sender, _)| sender.clone().try_reserve_owned().unwrap(),
        |_, permit| drop(permit),
    );
    measured.fact(
        "mpmc PERMIT_SEND",
        resting(mpmc::bounded(4)),
        |(sender, receiver, set)| {
            rest!(receiver, set);
            sender.clone().try_reserve_owned().unwrap()
        },
        |_, permit| permit.send(1).unwrap(),
    );
    measured.fact("mpmc RESERVE_TASK", full(), |_| (), |(sender, _), ()| poll(sender.reserve_async()).is_pending());
    let (sender, receiver) = full();
    measured.polls("mpmc RESERVE_TASK", || sender.reserve_many_async(1));
    measured.polls("mpmc RESERVE_TASK", || sender.clone().reserve_owned_async());
    measured.polls("mpmc SEND_TASK", || sender.clone().send_owned_async(1));
    receiver.recv().unwrap();
    measured.polls("mpmc RECV_TASK", || receiver.clone().recv_owned_async());
    measured.fact(
        "mpmc CLOSE",
        (),
        |()| full(),
        |(), channel| {
            channel.0.close();
            channel
        },
    );
    measured.fact("mpmc CLOSED", full(), |_| (), |(sender, _), ()| poll(sender.closed()).is_pending());
    measured.fact(
        "mpmc WAIT_CLOSED",
        full(),
        |(sender, _)| sender.set_spin(Spin::None),
        |(sender, _), ()| sender.wait_closed_timeout(MOMENT),
    );
    let (sender, receiver) = full();
    let weak = sender.downgrade();
    measured.fact("mpmc UPGRADE", (sender, receiver, weak), |_| (), |(.., weak), ()| weak.upgrade().unwrap());
    measured.fact(
        "mpmc LEN",
        full(),
        |_| (),
        |(sender, receiver), ()| (receiver.len(), receiver.is_empty(), sender.is_full(), sender.sender_count()),
    );
    measured.fact(
        "mpmc CLONE",
        full(),
        |_| (),
        |(sender, receiver), ()| (sender.clone(), receiver.clone(), sender.downgrade(), receiver.downgrade()),
    );
    measured.fact(
        "rendezvous TRY",
        mpmc::bounded::<u32>(0),
        |_| (),
        |(sender, receiver), ()| (sender.try_send(1).unwrap_err(), receiver.try_recv().unwrap_err()),
    );
    measured.fact(
        "rendezvous TASK",
        mpmc::bounded::<u32>(0),
        |_| (),
        |(sender, receiver), ()| (poll(receiver.recv_async()).is_pending(), poll(sender.send_async(1)).is_pending()),
    );
}

fn oneshots(measured: &mut Measured) {
    let resting = || {
        let (sender, receiver) = oneshot::channel::<u32>();
        let (mut receiver, mut set) = attached(receiver);
        receiver.try_recv().unwrap_err();
        set.check();
        (sender, receiver, set)
    };
    let sent = |(): &mut ()| {
        let (sender, receiver) = oneshot::channel::<u32>();
        sender.send(1).unwrap();
        receiver
    };
    measured.fact("oneshot CHANNEL", (), |()| (), |(), ()| oneshot::channel::<u32>());
    measured.fact(
        "oneshot SEND",
        (),
        |()| resting(),
        |(), (sender, receiver, set)| {
            sender.send(1).unwrap();
            (receiver, set)
        },
    );
    measured.fact(
        "oneshot DROP",
        (),
        |()| resting(),
        |(), (sender, receiver, set)| {
            drop(sender);
            (receiver, set)
        },
    );
    measured.fact(
        "oneshot DROP",
        (),
        |()| oneshot::channel::<u32>(),
        |(), (sender, receiver)| {
            drop(receiver);
            sender
        },
    );
    measured.fact("oneshot RECV", (), sent, |(), receiver| receiver.recv().unwrap());
    measured.fact("oneshot RECV", (), sent, |(), mut receiver| receiver.try_recv().unwrap());
    measured.fact(
        "oneshot RECV_WAIT",
        oneshot::channel::<u32>(),
        |_| (),
        |(_, receiver), ()| receiver.recv_timeout(MOMENT).unwrap_err(),
    );
    measured.fact(
        "oneshot TRY_RECV_EMPTY",
        (),
        |()| {
            let (sender, receiver) = oneshot::channel::<u32>();
            (attached(receiver), sender)
        },
        |(), mut channel| {
            channel.0.0.try_recv().unwrap_err();
            channel
        },
    );
    measured.fact("oneshot FUTURE", oneshot::channel::<u32>(), |_| (), |(_, receiver), ()| poll(receiver).is_pending());
    measured.fact(
        "oneshot CLOSED",
        oneshot::channel::<u32>(),
        |_| (),
        |(sender, _), ()| poll(sender.closed()).is_pending(),
    );
    measured.fact(
        "oneshot WAIT_CLOSED",
        oneshot::channel::<u32>(),
        |_| (),
        |(sender, _), ()| sender.wait_closed_timeout(MOMENT),
    );
    measured.fact(
        "oneshot CLOSE",
        (),
        |()| oneshot::channel::<u32>(),
        |(), mut channel| {
            channel.1.close();
            channel
        },
    );
}

fn watches(measured: &mut Measured) {
    let resting = || {
        let (sender, receiver) = watch::channel(0);
        let (receiver, set) = attached(receiver);
        (sender, receiver, set)
    };
    measured.fact(
        "watch SEND",
        resting(),
        |(_, receiver, set)| {
            receiver.mark_unchanged();
            set.check();
        },
        |(sender, ..), ()| sender.send(1).unwrap(),
    );
    measured.fact(
        "watch BORROW",
        watch::channel(0),
        |_| (),
        |(sender, receiver), ()| {
            let seen = *sender.borrow() + *receiver.borrow();
            seen + *receiver.borrow_and_update()
        },
    );
    measured.fact("watch HAS_CHANGED", watch::channel(0), |_| (), |(_, receiver), ()| receiver.has_changed());
    measured.fact(
        "watch CHANGED",
        watch::channel(0),
        |(sender, _)| sender.send(1).unwrap(),
        |(_, receiver), ()| receiver.changed().unwrap(),
    );
    measured.fact(
        "watch CHANGED_ATTACHED",
        resting(),
        |(sender, receiver, _)| {
            sender.send(1).unwrap();
            receiver.changed().unwrap();
        },
        |(_, receiver, _), ()| receiver.has_changed(),
    );
    measured.fact(
        "watch CHANGED_WAIT",
        watch::channel(0),
        |(_, receiver)| receiver.set_spin(Spin::None),
        |(_, receiver), ()| receiver.changed_timeout(MOMENT),
    );
    measured.fact("watch WAIT_CLOSED", watch::channel(0), |_| (), |(sender, _), ()| sender.wait_closed_timeout(MOMENT));
    measured.fact(
        "watch CHANGED_TASK",
        watch::channel(0),
        |(_, receiver)| receiver.mark_unchanged(),
        |(sender, receiver), ()| (poll(receiver.changed_async()).is_pending(), poll(sender.closed()).is_pending()),
    );
    let (_sender, receiver) = watch::channel(0);
    measured.polls("watch CHANGED_TASK", || receiver.clone().changed_owned_async());
    measured.fact(
        "watch SUBSCRIBE",
        watch::channel(0),
        |_| (),
        |(sender, receiver), ()| (sender.subscribe(), sender.clone(), receiver.clone()),
    );
    measured.fact(
        "watch DROP",
        (),
        |()| resting(),
        |(), (sender, receiver, set)| {
            drop(sender);
            (receiver, set)
        },
    );
}

fn timers(measured: &mut Measured) {
    let beats = || timer::tick(Duration::from_nanos(1));
    measured.fact("timer TRY_RECV", beats(), |_| (), |beats, ()| (beats.try_recv(), beats.len()));
    measured.fact("timer RECV", beats(), |_| (), |beats, ()| beats.recv());
    measured.fact("timer RECV_WAIT", timer::never(), |_| (), |never, ()| never.recv_timeout(MOMENT));
}

fn broadcasts(measured: &mut Measured) {
    let resting = |(sender, receiver): (broadcast::Sender<u32>, broadcast::Receiver<u32>)| {
        let (receiver, set) = attached(receiver);
        (sender, receiver, set)
    };
    let full = || {
        let (sender, receiver) = broadcast::bounded(1);
        while sender.try_send(1).is_ok() {}
        (sender, receiver)
    };
    for channel in [broadcast::bounded(4), broadcast::lossy(16)] {
        measured.fact(
            "broadcast SEND",
            resting(channel),
            |(_, receiver, set)| rest!(receiver, set),
            |(sender, ..), ()| sender.send(1).unwrap(),
        );
    }
    measured.fact(
        "broadcast SEND_WAIT",
        full(),
        |(sender, _)| sender.set_spin(Spin::None),
        |(sender, _), ()| sender.send_timeout(1, MOMENT).unwrap_err(),
    );
    measured.fact(
        "broadcast RECV",
        broadcast::bounded(4),
        |(sender, _)| sender.send(1).unwrap(),
        |(_, receiver), ()| receiver.recv().unwrap(),
    );
    measured.fact(
        "broadcast RECV_WAIT",
        broadcast::bounded::<u32>(4),
        |(_, receiver)| receiver.set_spin(Spin::None),
        |(_, receiver), ()| receiver.recv_timeout(MOMENT).unwrap_err(),
    );
    measured.fact(
        "broadcast TRY_RECV",
        broadcast::bounded(4),
        |(sender, _)| sender.send(1).unwrap(),
        |(_, receiver), ()| receiver.try_recv().unwrap(),
    );
    measured.fact(
        "broadcast TRY_RECV_EMPTY",
        resting(broadcast::bounded(4)),
        |(sender, receiver, _)| {
            for _ in 0..STREAM {
                sender.send(1).unwrap();
                receiver.try_recv().unwrap();
            }
        },
        |(_, receiver, _), ()| receiver.try_recv().unwrap_err(),
    );
    measured.fact("broadcast SEND_TASK", full(), |_| (), |(sender, _), ()| poll(sender.send_async(1)).is_pending());
    measured.fact(
        "broadcast SEND_BATCH_TASK",
        full(),
        |_| 0..4,
        |(sender, _), mut messages| poll(sender.send_batch_async(&mut messages)).is_pending(),
    );
    measured.fact(
        "broadcast SEND_UNTIL_TASK",
        full(),
        |_| (),
        |(sender, _), ()| poll(sender.send_async_until(1, pending::<()>())).is_pending(),
    );
    measured.fact(
        "broadcast RECV_TASK",
        broadcast::bounded::<u32>(4),
        |_| (),
        |(_, receiver), ()| poll(receiver.recv_async()).is_pending(),
    );
    measured.fact(
        "broadcast TRY_RESERVE",
        broadcast::bounded::<u32>(4),
        |_| (),
        |(sender, _), ()| drop(sender.try_reserve().unwrap()),
    );
    measured.fact(
        "broadcast PERMIT_DROP",
        broadcast::bounded::<u32>(4),
        |(sender, _)| sender.clone().try_reserve_owned().unwrap(),
        |_, permit| drop(permit),
    );
    measured.fact(
        "broadcast PERMIT_SEND",
        resting(broadcast::bounded(4)),
        |(sender, receiver, set)| {
            rest!(receiver, set);
            sender.clone().try_reserve_owned().unwrap()
        },
        |_, permit| permit.send(1).unwrap(),
    );
    measured.fact(
        "broadcast RESERVE_TASK",
        full(),
        |_| (),
        |(sender, _), ()| poll(sender.reserve_async()).is_pending(),
    );
    let (sender, mut receiver) = full();
    measured.polls("broadcast RESERVE_TASK", || sender.reserve_many_async(1));
    measured.polls("broadcast RESERVE_TASK", || sender.clone().reserve_owned_async());
    measured.polls("broadcast SEND_TASK", || sender.clone().send_owned_async(1));
    receiver.recv().unwrap();
    measured.polls("broadcast RECV_TASK", || receiver.clone().recv_owned_async());
    measured.fact("broadcast CLOSED", full(), |_| (), |(sender, _), ()| poll(sender.closed()).is_pending());
    measured.fact(
        "broadcast SUBSCRIBE",
        full(),
        |_| (),
        |(sender, receiver), ()| (sender.subscribe(), receiver.clone()),
    );
    measured.fact("broadcast DROP", full(), |(_, receiver)| receiver.clone(), |_, receiver| drop(receiver));
}

fn pools_and_mailboxes(measured: &mut Measured) {
    let pool = || Pool::new(&[(64, 8)]).unwrap();
    measured.fact("pool TRY_TAKE", pool(), |_| (), |pool, ()| pool.try_take(64).unwrap());
    measured.fact(
        "pool TAKE_WAIT",
        pool(),
        |pool| (0..8).map(|_| pool.take(64)).collect::<Vec<_>>(),
        |pool, taken| {
            assert!(pool.take_timeout(64, MOMENT).is_none());
            taken
        },
    );
    measured.fact(
        "pool TAKE_TASK",
        pool(),
        |pool| (0..8).map(|_| pool.take(64)).collect::<Vec<_>>(),
        |pool, taken| {
            assert!(poll(pool.take_async(64)).is_pending());
            taken
        },
    );
    measured.fact("pool DROP", pool(), |pool| pool.take(64), |_, message| drop(message));

    let inbox = |mailbox: Mailbox| (mailbox.address(), mailbox);
    let bounded = |crowding| Builder::new().bounded(4, crowding).build();
    for (name, mailbox) in [("mailbox SEND", Mailbox::new()), ("mailbox SEND_ROOM", bounded(Crowding::Error))] {
        let (mailbox, set) = attached(mailbox);
        measured.fact(
            name,
            (mailbox.address(), mailbox, set),
            |(_, mailbox, set)| {
                while mailbox.receive_timeout::<u32>(Duration::ZERO).is_ok() {}
                set.check();
            },
            |(address, ..), ()| address.send(1_u32).unwrap(),
        );
    }
    for crowding in [Crowding::Error, Crowding::DropNewest, Crowding::DropOldest] {
        measured.fact(
            "mailbox SEND_CROWDED",
            inbox(bounded(crowding)),
            |(address, _)| (0..8).for_each(|_| _ = address.send(1_u32)),
            |(address, _), ()| address.send(1_u32),
        );
    }
    for mailbox in [Mailbox::new(), bounded(Crowding::Error)] {
        measured.fact(
            "mailbox RECEIVE",
            inbox(mailbox),
            |(address, _)| address.send(1_u32).unwrap(),
            |(_, mailbox), ()| mailbox.receive::<u32>().unwrap(),
        );
    }
    measured.fact(
        "mailbox RECEIVE_WAIT",
        inbox(Mailbox::new()),
        |(_, mailbox)| mailbox.set_spin(Spin::None),
        |(_, mailbox), ()| mailbox.receive_timeout::<u32>(MOMENT).unwrap_err(),
    );
    measured.fact(
        "mailbox RECEIVE_NOW",
        inbox(Mailbox::new()),
        |_| (),
        |(_, mailbox), ()| mailbox.receive_timeout::<u32>(Duration::ZERO).unwrap_err(),
    );
    measured.fact("mailbox CLONE", inbox(Mailbox::new()), |_| (), |(address, _), ()| address.clone());
    measured.fact("mailbox DROP", inbox(Mailbox::new()), |(address, _)| address.clone(), |_, clone| drop(clone));
    measured.fact("mailbox EXIT", (), |()| Mailbox::new(), |(), mailbox| drop(mailbox));
    // One operation of several: another test may hold the lock in each of them.
    let (address, mailbox) = inbox(Mailbox::new());
    mailbox::register("a fact", &address).unwrap();
    measured.fact("mailbox REGISTRY", mailbox, |_| (), |_, ()| mailbox::locate("a fact").unwrap());
}

fn sets(measured: &mut Measured) {
    let set = || {
        let set = YSocketpair::new().unwrap();
        (set.signaler(), set)
    };
    measured.fact(
        "signal SIGNAL",
        set(),
        |(_, set)| while !set.check().is_empty() {},
        |(signaler, _), ()| signaler.signal(3),
    );
    measured.fact("signal CHECK", set(), |(signaler, _)| signaler.signal(3), |(_, set), ()| set.check().len());
    measured.fact("signal POLL", set(), |_| (), |(_, set), ()| set.wait_timeout(MOMENT).len());
    let (_sender, receiver) = mpmc::bounded::<u32>(4);
    measured.fact(
        "signal ATTACH",
        (set().1, receiver.clone()),
        |(set, receiver)| _ = set.detach(receiver),
        |(set, receiver), ()| set.attach(receiver, 1).unwrap(),
    );
    measured.fact(
        "signal DETACH",
        (set().1, receiver.clone()),
        |(set, receiver)| set.attach(receiver, 1).unwrap(),
        |(set, receiver), ()| set.detach(receiver).unwrap(),
    );
    measured.fact(
        "signal ADD_SHARED",
        ReadySet::new(),
        |_| (),
        |select, ()| {
            select.add_shared(&receiver).unwrap();
            select.remove_shared(&receiver).unwrap()
        },
    );
    let mut waiting = ReadySet::new();
    waiting.add_shared(&receiver).unwrap();
    measured.fact(
        "signal WAIT",
        waiting,
        |_| (),
        |select, ()| {
            let _ = receiver.try_recv();
            select.wait_timeout(MOMENT)
        },
    );
    measured.fact(
        "select WAIT",
        spsc::bounded(4),
        |(sender, _)| sender.send(1).unwrap(),
        |(_, receiver), ()| select().recv(receiver, |message| message.unwrap()).wait(),
    );
    measured.fact(
        "select WAIT_SLEEP",
        spsc::bounded::<u32>(4),
        |_| (),
        |(_, receiver), ()| select().recv(receiver, |message| message.unwrap()).wait_timeout(MOMENT),
    );
}

fn hubs(measured: &mut Measured) {
    let hub = || {
        let hub = Hub::new().unwrap();
        (hub.handle(), hub)
    };
    let turn = |(_, hub): &mut (_, Hub)| while hub.run_once(Duration::ZERO).unwrap() > 0 {};
    measured.fact("hub POST", hub(), turn, |(handle, _), ()| handle.post(|_| ()).map_err(drop).unwrap());
    measured.fact("hub CLONE", hub(), turn, |(handle, _), ()| handle.clone());
    measured.fact("hub DROP", hub(), |(handle, _)| handle.clone(), |_, handle| drop(handle));
    let late = Duration::from_secs(3_600);
    measured.fact("hub AFTER", hub(), |_| (), |(_, hub), ()| hub.after(late, |_| ()));
    measured.fact("hub EVERY", hub(), |_| (), |(_, hub), ()| hub.every(late, |_| ()));
    measured.fact("hub CANCEL", hub(), |(_, hub)| hub.after(late, |_| ()), |(_, hub), timer| hub.cancel(timer));
    measured.fact(
        "hub RECEIVE",
        hub(),
        |_| spsc::unbounded::<u32>(),
        |(_, hub), (sender, receiver)| {
            hub.receive(receiver, |_, _| ()).map_err(drop).unwrap();
            sender
        },
    );
    measured.fact(
        "hub WATCH",
        hub(),
        |_| std::os::unix::net::UnixDatagram::pair().unwrap(),
        |(_, hub), (one, other)| {
            hub.watch(one, Interest::READABLE, |_, _, _| ()).map_err(drop).unwrap();
            other
        },
    );
    measured.fact(
        "hub REMOVE",
        hub(),
        |(_, hub)| {
            let (sender, receiver) = spsc::unbounded::<u32>();
            (sender, hub.receive(receiver, |_, _| ()).map_err(drop).unwrap())
        },
        |(_, hub), (sender, source)| {
            assert!(hub.remove(source));
            sender
        },
    );
    measured.fact(
        "hub REMOVE",
        hub(),
        |(_, hub)| {
            let (one, other) = std::os::unix::net::UnixDatagram::pair().unwrap();
            (other, hub.watch(one, Interest::READABLE, |_, _, _| ()).map_err(drop).unwrap())
        },
        |(_, hub), (other, source)| {
            assert!(hub.remove(source));
            other
        },
    );
    measured.fact(
        "hub RUN",
        hub(),
        |(handle, _)| handle.post(|_| ()).map_err(drop).unwrap(),
        |(_, hub), ()| hub.run_once(Duration::ZERO).unwrap(),
    );
    measured.fact("hub RUN_WAIT", hub(), turn, |(_, hub), ()| hub.run_once(MOMENT).unwrap());
}

#[cfg(feature = "statistics")]
fn statistics(measured: &mut Measured) {
    let (sender, _receiver) = spsc::unbounded::<u32>();
    let observer = sender.observer();
    measured.fact("statistics OBSERVER", sender, |_| (), |sender, ()| sender.observer());
    measured.fact("statistics READ", observer, |_| (), |observer, ()| observer.statistics());
}

#[test]
fn each_fact_stands_in_the_documentation_of_a_method() {
    fn read(below: &Path, text: &mut String) {
        for entry in fs::read_dir(below).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read(&path, text);
            } else if !path.ends_with("src/facts.rs") {
                text.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut text = String::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut text);
    for Fact { name, .. } in ALL {
        let (_, short) = name.split_once(' ').unwrap();
        let is_used = text.contains(&format!("cost!({name})")) || text.contains(&format!("cost!($kind {short})"));
        assert!(is_used, "{name}: no method states it");
    }
}

/// Claim: An operation allocates nothing where its documentation says so, and makes no more system calls than it says.
#[test]
fn operations_cost_what_their_documentation_says() {
    let mut measured = Measured::default();
    lanes!(&mut measured, spsc);
    lanes!(&mut measured, mpsc);
    lanes_of_several(&mut measured);
    exchanges(&mut measured);
    oneshots(&mut measured);
    watches(&mut measured);
    timers(&mut measured);
    broadcasts(&mut measured);
    pools_and_mailboxes(&mut measured);
    sets(&mut measured);
    hubs(&mut measured);
    #[cfg(feature = "statistics")]
    statistics(&mut measured);

    let excepted = |name: &str| EXCEPTIONS.iter().any(|(exception, _)| *exception == name);
    for fact in ALL {
        let is_measured = measured.0.contains(fact.name);
        assert!(is_measured != excepted(fact.name), "{}: is measured or has a reason, not both", fact.name);
    }
    for (name, _) in EXCEPTIONS {
        assert!(ALL.iter().any(|fact| fact.name == *name), "{name}: no such fact");
    }
}
