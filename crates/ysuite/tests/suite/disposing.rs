//! A receiver whose thread is still dropping what was left: senders find that it is gone all the same. And messages
//! that panic when they are dropped, after a panic of user code: two panics are one, the first.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use ysuite::signal::YPollset;
use ysuite::{broadcast, mpmc, mpsc, oneshot, select, spsc, watch};

use crate::support::executor::{Clinging, Explosive, block_on, cloning, dropping};
use crate::support::{Counted, Tally, guarded, panics};

/// The first that is dropped reports it, and waits until it may go on.
struct Slow(Option<(Sender<()>, Receiver<()>)>);

impl Drop for Slow {
    fn drop(&mut self) {
        if let Some((begun, goes_on)) = self.0.take() {
            begun.send(()).unwrap();
            goes_on.recv().unwrap();
        }
    }
}

macro_rules! while_messages_are_dropped {
    ($name:ident, $open:expr) => {
        #[test]
        fn $name() {
            guarded(|| {
                let (mut sender, receiver) = $open;
                let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
                assert!(sender.send(Slow(Some((begun, goes_on)))).is_ok());
                let dropping = thread::spawn(move || drop(receiver));
                begins.recv().unwrap();
                assert!(sender.is_disconnected());
                // One may be accepted, of each kind: nothing has reported it so far.
                let _ = sender.send(Slow(None));
                assert!(sender.send(Slow(None)).is_err());
                assert!(sender.try_send(Slow(None)).is_err());
                assert!(sender.send_batch([Slow(None), Slow(None)]).is_err());
                go_on.send(()).unwrap();
                dropping.join().unwrap();
            });
        }
    };
}

while_messages_are_dropped!(a_pipes_sender_without_a_bound, spsc::unbounded());
while_messages_are_dropped!(a_pipes_sender_with_a_bound, spsc::bounded(50));
while_messages_are_dropped!(a_funnels_sender_without_a_bound, mpsc::unbounded());
while_messages_are_dropped!(a_funnels_sender_with_a_bound, mpsc::bounded(50));

/// What has been dropped by then makes room, which is none.
#[test]
fn a_waiter_finds_that_the_receiver_is_gone() {
    guarded(|| {
        for selects in [false, true] {
            let (mut sender, receiver) = spsc::bounded(1);
            let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
            assert!(sender.send(Slow(Some((begun, goes_on)))).is_ok());
            let dropping;
            {
                let mut sending = pin!(sender.send_async(Slow(None)));
                let mut context = Context::from_waker(Waker::noop());
                assert!(sending.as_mut().poll(&mut context).is_pending());
                dropping = thread::spawn(move || drop(receiver));
                begins.recv().unwrap();
                if !selects {
                    assert!(matches!(sending.poll(&mut context), Poll::Ready(Err(_))));
                }
            }
            if selects {
                let sent = select().send(&mut sender, Slow(None), |sent| sent).try_now();
                assert!(matches!(sent, Some(Err(_))));
            }
            // And is disconnected each time from then on.
            assert!(sender.try_send(Slow(None)).is_err());
            assert!(sender.send(Slow(None)).is_err());
            go_on.send(()).unwrap();
            dropping.join().unwrap();
        }
    });
}

/// At any position of a sender in its group.
#[test]
fn a_disconnected_sender_stays_disconnected() {
    guarded(|| {
        for before in 0..8 {
            let (mut sender, receiver) = spsc::unbounded();
            let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
            assert!(sender.send(Slow(Some((begun, goes_on)))).is_ok());
            (0..before).for_each(|_| assert!(sender.send(Slow(None)).is_ok()));
            let dropping = thread::spawn(move || drop(receiver));
            begins.recv().unwrap();
            // One may be accepted: nothing has reported it so far.
            let _ = sender.send(Slow(None));
            assert!((0..3).all(|_| sender.send(Slow(None)).is_err()), "after {before} messages more");
            go_on.send(()).unwrap();
            dropping.join().unwrap();
        }
    });
}

/// Batches are made faster than they are dropped: there is an end to them.
#[test]
fn batches_end_with_the_receiver() {
    guarded(|| {
        let (mut sender, receiver) = spsc::unbounded();
        let ((begun, begins), (go_on, goes_on)) = (channel(), channel());
        assert!(sender.send(Slow(Some((begun, goes_on)))).is_ok());
        let dropping = thread::spawn(move || drop(receiver));
        begins.recv().unwrap();
        let batches = (0..3).filter(|_| sender.send_batch([Slow(None)]).is_ok()).count();
        assert!(batches <= 1, "{batches} batches were sent without a receiver");
        go_on.send(()).unwrap();
        dropping.join().unwrap();
    });
}

macro_rules! received_behind_a_waker_that_panics {
    ($name:ident, $open:expr) => {
        #[test]
        #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
        fn $name() {
            let tally = Tally::of(2);
            tally.explode(0);
            let (mut sender, mut receiver) = $open;
            assert!(sender.send(tally.next()).is_ok());
            {
                let mut sending = pin!(sender.send_async(tally.next()));
                let waker = Explosive::waker();
                assert!(sending.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                // The message has been taken, and is not received.
                assert_eq!(panics(|| drop(receiver.recv())), "this waker panics");
                assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            }
            drop((sender, receiver));
            tally.assert_all_ended();
        }
    };
}

received_behind_a_waker_that_panics!(from_a_pipe_behind_a_waker_that_panics, spsc::bounded(1));
received_behind_a_waker_that_panics!(from_a_funnel_behind_a_waker_that_panics, mpsc::bounded(1));
received_behind_a_waker_that_panics!(from_an_exchange_behind_a_waker_that_panics, mpmc::bounded(1));

#[test]
fn a_message_comes_back_behind_one_that_panics() {
    let tally = Tally::of(2);
    tally.explode_all(0..2);
    let (mut sender, receiver) = spsc::unbounded();
    assert!(sender.write(tally.next()).is_ok());
    drop(receiver);
    assert_eq!(panics(|| drop(sender.send(tally.next()))), "the end of message 0");
    tally.assert_all_ended();
}

#[test]
fn a_message_comes_back_from_a_closed_channel_behind_hidden_ones_that_panic() {
    let tally = Tally::of(3);
    tally.explode_all(0..3);
    let (mut sender, mut receiver) = spsc::unbounded();
    tally.some(2).for_each(|message| assert!(sender.write(message).is_ok()));
    assert!(receiver.close());
    assert_eq!(panics(|| drop(sender.send(tally.next()))), "the end of message 0");
    tally.assert_all_ended();
}

#[test]
fn a_try_that_finds_the_receiver_gone_drops_what_was_hidden() {
    let tally = Tally::of(2);
    let (mut sender, receiver) = spsc::unbounded();
    assert!(sender.write(tally.next()).is_ok());
    drop(receiver);
    let back = sender.try_send(tally.next()).unwrap_err().into_inner();
    assert_eq!((back.number, tally.ended()), (1, 1));
    drop((back, sender));
    tally.assert_all_ended();
}

/// It takes the only room.
#[test]
fn what_is_hidden_goes_with_a_sender_that_was_told_that_the_receiver_is_gone() {
    let tally = Tally::of(2);
    let (mut sender, receiver) = spsc::bounded(1);
    assert!(sender.write(tally.next()).is_ok());
    drop(receiver);
    let back = block_on(sender.send_async(tally.next())).unwrap_err().into_inner();
    assert_eq!((back.number, tally.ended()), (1, 0));
    drop((back, sender));
    tally.assert_all_ended();
}

/// The thread unwinds already, and what it drops wakes a task whose waker panics.
#[test]
fn ends_that_go_in_a_panic_wake_tasks_whose_wakers_panic() {
    let waker = Explosive::waker();
    let mut context = Context::from_waker(&waker);
    let (sender, mut answer) = oneshot::channel::<u8>();
    assert!(pin!(&mut answer).poll(&mut context).is_pending());
    let ends = || {
        let _sender = sender;
        panic!("first");
    };
    assert_eq!(panics(ends), "first");
    assert!(answer.try_recv().unwrap_err().is_disconnected());

    let (sender, mut funnel) = mpsc::unbounded::<u8>();
    let shared = sender.share();
    drop(sender);
    assert!(funnel.poll_recv(&mut context).is_pending());
    let ends = || {
        let _shared = shared;
        panic!("first");
    };
    assert_eq!(panics(ends), "first");
    assert!(funnel.recv().is_err());

    let (mut sender, mut pipe) = spsc::unbounded();
    assert!(pipe.poll_recv(&mut context).is_pending());
    let numbers = (0..2).inspect(|&number| assert!(number == 0, "first"));
    assert_eq!(panics(|| drop(sender.send_batch(numbers))), "first");
    assert_eq!(pipe.try_recv(), Ok(0));
}

#[test]
fn waits_that_end_in_a_panic_drop_wakers_that_panic() {
    let (mut sender, _receiver) = spsc::bounded(1);
    sender.send(0).unwrap();
    // Lit by the limit, just before it panics; the first drop of a waker after that panics, and puts it out.
    let lit = Arc::new(AtomicBool::new(false));
    let (lights, burns) = (lit.clone(), lit.clone());
    let limit = std::future::poll_fn(move |_| -> Poll<()> {
        lights.store(true, Ordering::Relaxed);
        panic!("first")
    });
    let waker = dropping(move || assert!(!burns.swap(false, Ordering::Relaxed), "second"));
    let sending = sender.send_async_until(1, limit);
    let polled = || {
        let _ = pin!(sending).poll(&mut Context::from_waker(&waker));
    };
    assert_eq!(panics(polled), "first");
    assert!(!lit.swap(false, Ordering::Relaxed), "no waker was dropped after the panic");
}

/// The first is a task's that waits for the receiver's disconnect.
#[test]
fn an_mpsc_receiver_drops_its_waker_after_one_that_panics() {
    let (sender, mut receiver) = mpsc::unbounded::<u8>();
    let mut closed = pin!(sender.closed());
    assert!(closed.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
    assert!(receiver.poll_recv(&mut Context::from_waker(&Clinging::waker())).is_pending());
    assert_eq!(panics(|| drop(receiver)), "this waker panics");
    assert!(closed.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// Polls a future once, with a waker that does nothing.
fn once(future: impl Future) {
    assert!(pin!(future).poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

/// A message is hidden and takes the only room, and the receiver's task waits with a waker that panics: the sender of
/// another wakes it, and holds a message whose `Drop` panics.
macro_rules! sent_behind_a_waker_that_panics {
    ($open:expr, $sender:ident) => {
        let ways: [fn(&mut $sender::Sender<Counted>, Counted); 7] = [
            |sender, message| drop(sender.send(message)),
            |sender, message| drop(sender.write(message)),
            |sender, message| drop(sender.send_timeout(message, Duration::ZERO)),
            |sender, message| {
                let mut set = YPollset::with_capacity(1);
                set.attach(sender, 0).unwrap();
                drop(sender.try_send(message));
            },
            |sender, message| once(sender.send_async(message)),
            |sender, message| once(sender.send_async_until(message, pending::<()>())),
            |sender, message| drop(sender.send_batch([message])),
        ];
        for way in ways {
            let tally = Tally::of(2);
            tally.explode(1);
            let (mut sender, mut receiver) = $open;
            assert!(sender.write(tally.next()).is_ok());
            assert!(receiver.poll_recv(&mut Context::from_waker(&Explosive::waker())).is_pending());
            assert_eq!(panics(|| way(&mut sender, tally.next())), "this waker panics");
            assert_eq!((tally.ended(), receiver.recv().unwrap().number), (1, 0));
            drop((sender, receiver));
            tally.assert_all_ended();
        }
    };
}

#[test]
fn to_a_pipe_behind_a_waker_that_panics() {
    sent_behind_a_waker_that_panics!(spsc::bounded(1), spsc);
}

#[test]
fn to_an_mpsc_channel_after_a_waker_that_panics() {
    sent_behind_a_waker_that_panics!(mpsc::bounded(1), mpsc);
}

/// There is no room, so the task that sends waits: its waker panics as it is cloned, or what limits the send as it is polled.
macro_rules! waits_behind_a_waker_that_panics {
    ($open:expr, $($send:expr),+) => {
        $({
            let tally = Tally::of(2);
            tally.explode(1);
            #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
            let (mut sender, receiver) = $open;
            assert!(sender.send(tally.next()).is_ok());
            let waker = cloning(|| panic!("this waker panics"));
            let waits = || {
                let send = $send;
                let _ = pin!(send(&mut sender, tally.next())).poll(&mut Context::from_waker(&waker));
            };
            assert_eq!(panics(waits), "this waker panics");
            assert_eq!(tally.ended(), 1);
            drop((sender, receiver));
            tally.assert_all_ended();
        })+
    };
}

async fn never() {
    panic!("this waker panics");
}

#[test]
fn by_a_pipe_behind_a_waker_that_panics() {
    type Sender = spsc::Sender<Counted>;
    waits_behind_a_waker_that_panics!(
        spsc::bounded(1),
        async |sender: &mut Sender, message| drop(sender.send_async(message).await),
        async |sender: &mut Sender, message| drop(sender.send_async_until(message, pending::<()>()).await),
        async |sender: &mut Sender, message| drop(sender.send_async_until(message, never()).await)
    );
}

#[test]
fn by_an_mpmc_channel_after_a_waker_that_panics() {
    type Sender = mpmc::Sender<Counted>;
    waits_behind_a_waker_that_panics!(
        mpmc::bounded(1),
        async |sender: &mut Sender, message| drop(sender.send_async(message).await),
        async |sender: &mut Sender, message| drop(sender.send_async_until(message, pending::<()>()).await),
        async |sender: &mut Sender, message| drop(sender.send_async_until(message, never()).await)
    );
}

#[test]
fn by_a_broadcast_behind_a_waker_that_panics() {
    type Sender = broadcast::Sender<Counted>;
    waits_behind_a_waker_that_panics!(broadcast::bounded(1), async |sender: &mut Sender, message| drop(
        sender.send_async(message).await
    ));
}

/// What the iterator has not given is dropped after the waker's panic, and panics as well.
///
/// Claim: A message that is about to be sent is dropped separately when a waker panics.
#[test]
fn batches_end_behind_a_waker_that_panics() {
    let tally = Tally::of(3);
    tally.explode(2);
    let (mut sender, mut receiver) = spsc::bounded(1);
    assert!(sender.write(tally.next()).is_ok());
    assert!(receiver.poll_recv(&mut Context::from_waker(&Explosive::waker())).is_pending());
    let batch = [tally.next(), tally.next()];
    assert_eq!(panics(|| drop(sender.send_batch(batch))), "this waker panics");
    drop((sender, receiver));
    tally.assert_all_ended();

    // More than are sent at a time.
    let tally = Tally::of(100);
    tally.explode(99);
    let (sender, receiver) = mpmc::bounded(128);
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
        let batch: Vec<_> = tally.some(100).collect();
        assert_eq!(panics(|| drop(sender.send_batch(batch))), "this waker panics");
    }
    drop((sender, receiver));
    tally.assert_all_ended();

    let tally = Tally::of(100);
    tally.explode(99);
    let (sender, mut receiver) = broadcast::bounded(128);
    let batch: Vec<_> = tally.some(100).map(Arc::new).collect();
    {
        let mut receiving = pin!(receiver.recv_async());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
        assert_eq!(panics(|| drop(sender.send_batch(batch))), "this waker panics");
    }
    drop((sender, receiver));
    tally.assert_all_ended();
}

/// A limit that panics when it is polled, and holds what panics on drop.
#[test]
fn limits_end_behind_their_own_panic() {
    fn limit(held: Counted) -> impl Future<Output = ()> {
        std::future::poll_fn(move |_| {
            let _held = &held;
            panic!("this limit panics")
        })
    }
    macro_rules! polled {
        ($open:expr, $messages:expr) => {{
            let tally = Tally::of($messages + 2);
            tally.explode($messages + 1);
            #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
            let (mut sender, receiver) = $open;
            tally.some($messages).for_each(|message| assert!(sender.send(message).is_ok()));
            let sending = sender.send_async_until(tally.next(), limit(tally.next()));
            let polled = || assert!(pin!(sending).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!(panics(polled), "this limit panics");
            drop((sender, receiver));
            tally.assert_all_ended();
        }};
    }
    polled!(spsc::bounded(1), 1);
    polled!(mpmc::bounded(1), 1);
    polled!(mpmc::bounded(0), 0);
}

/// The case that is done wakes a task whose waker panics, and the message of the other is dropped after that.
#[test]
fn a_select_ends_behind_a_waker_that_panics() {
    for is_last in [false, true] {
        let tally = Tally::of(4);
        tally.explode(3);
        let (mut into, mut pipe) = spsc::bounded(1);
        assert!(into.send(tally.next()).is_ok());
        let (full, _receiver) = mpmc::bounded(1);
        {
            let mut sending = pin!(into.send_async(tally.next()));
            assert!(sending.as_mut().poll(&mut Context::from_waker(&Explosive::waker())).is_pending());
            assert!(full.send(tally.next()).is_ok());
            let message = tally.next();
            let text = panics(|| match is_last {
                true => select().recv(&mut pipe, drop).send(&full, message, drop).wait(),
                false => select().send(&full, message, drop).recv(&mut pipe, drop).wait(),
            });
            assert_eq!(text, "this waker panics");
        }
        drop((into, pipe, full, _receiver));
        tally.assert_all_ended();
    }
}

/// A message that is larger than the stack of the thread that drops it, and counts its drop.
#[derive(Clone)]
struct Large {
    _bytes: [u8; 512 << 10],
    ends: Arc<AtomicUsize>,
}

impl Drop for Large {
    fn drop(&mut self) {
        self.ends.fetch_add(1, Ordering::Relaxed);
    }
}

/// What `open` makes, on a stack that is large enough, of messages that count their drop here, is dropped on one that
/// is smaller than a message: all of these are dropped, each once.
#[track_caller]
fn dropped_on_a_small_stack<E: Send + 'static>(
    messages: usize,
    open: impl FnOnce(&mut dyn FnMut() -> Large) -> E + Send + 'static,
) {
    let ends = Arc::new(AtomicUsize::new(0));
    let counted = ends.clone();
    let what = guarded(move || open(&mut || Large { _bytes: [7; 512 << 10], ends: counted.clone() }));
    let before = ends.swap(0, Ordering::Relaxed);
    assert_eq!(before, 0, "a message has ended before its time");
    thread::Builder::new().stack_size(256 << 10).spawn(move || drop(what)).unwrap().join().unwrap();
    assert_eq!(ends.load(Ordering::Relaxed), messages);
}

macro_rules! larger_than_a_stack {
    ($name:ident, $open:expr) => {
        /// Either handle is dropped first.
        #[test]
        #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
        fn $name() {
            dropped_on_a_small_stack(3, |message| {
                let (mut sender, receiver) = $open;
                (0..3).for_each(|_| assert!(sender.send(message()).is_ok()));
                (receiver, sender)
            });
            dropped_on_a_small_stack(3, |message| {
                let (mut sender, receiver) = $open;
                (0..3).for_each(|_| assert!(sender.send(message()).is_ok()));
                (sender, receiver)
            });
        }
    };
}

larger_than_a_stack!(a_pipe_with_a_bound_drops_messages_that_are_larger_than_the_stack, spsc::bounded(4));
larger_than_a_stack!(a_pipe_without_a_bound_drops_messages_that_are_larger_than_the_stack, spsc::unbounded());
larger_than_a_stack!(a_funnel_with_a_bound_drops_messages_that_are_larger_than_the_stack, mpsc::bounded(4));
larger_than_a_stack!(a_funnel_without_a_bound_drops_messages_that_are_larger_than_the_stack, mpsc::unbounded());
larger_than_a_stack!(an_exchange_with_a_bound_drops_messages_that_are_larger_than_the_stack, mpmc::bounded(4));
larger_than_a_stack!(an_exchange_without_a_bound_drops_messages_that_are_larger_than_the_stack, mpmc::unbounded());
larger_than_a_stack!(a_broadcast_with_a_bound_drops_messages_that_are_larger_than_the_stack, broadcast::bounded(4));
larger_than_a_stack!(a_lossy_broadcast_drops_messages_that_are_larger_than_the_stack, broadcast::lossy(4));

#[test]
fn a_watch_drops_a_value_that_is_larger_than_the_stack() {
    dropped_on_a_small_stack(1, |message| watch::channel(message()));
}

#[test]
fn a_oneshot_drops_a_message_that_is_larger_than_the_stack() {
    dropped_on_a_small_stack(1, |message| {
        let (sender, receiver) = oneshot::channel();
        assert!(sender.send(message()).is_ok());
        receiver
    });
    // The sender has left its waker, and the receiver is attached.
    dropped_on_a_small_stack(1, |message| {
        let (mut sender, mut receiver) = oneshot::channel();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 3).unwrap();
        assert!(sender.poll_closed(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(sender.send(message()).is_ok());
        (receiver, set)
    });
}

/// A sender waits with it.
#[test]
fn a_rendezvous_drops_a_message_that_is_larger_than_the_stack() {
    dropped_on_a_small_stack(1, |message| {
        let (sender, receiver) = mpmc::bounded(0);
        let message = message();
        let mut sending = Box::pin(async move { sender.send_async(message).await.is_ok() });
        assert!(sending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        (sending, receiver)
    });
}

/// One message's panic prevents no other's drop.
#[test]
fn messages_end_in_their_places_though_one_panics() {
    for explosive in 0..3 {
        let tally = Tally::of(7);
        tally.explode(explosive);
        let (exchange, exchanged) = mpmc::bounded(8);
        let (queue, queued) = mpmc::unbounded();
        let (ask, answer) = oneshot::channel();
        (0..3).for_each(|_| assert!(exchange.send(tally.next()).is_ok()));
        assert_eq!(panics(|| drop(exchanged)), format!("the end of message {}", explosive));
        tally.explode(3 + explosive);
        (0..3).for_each(|_| assert!(queue.send(tally.next()).is_ok()));
        assert_eq!(panics(|| drop(queued)), format!("the end of message {}", 3 + explosive));
        tally.explode(6);
        assert!(ask.send(tally.next()).is_ok());
        assert_eq!(panics(|| drop(answer)), format!("the end of message {}", 6));
        tally.assert_all_ended();
    }
}
