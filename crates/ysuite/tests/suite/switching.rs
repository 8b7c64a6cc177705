//! Every way of waiting after every other one, for every kind of handle: whatever unfinished wait came before, the
//! current way of waiting is notified of what comes. Receivers wait for a message, senders for room.
//!
//! The notification is checked at once after the event, without another poll of the channel: a task whether it was
//! woken, a set whether the id is up. A thread that sleeps has to return; the limit of its wait is a guard.
//!
//! Claim: After every change of the wake mode the handle is notified in its present wake mode.
//! Also: model attached::a_receiver_of_a_rendezvous_that_was_polled_before_it_is_attached.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use crate::support::executor::Task;
use crate::support::guarded;
use ysuite::mailbox::{Address, Mailbox};
use ysuite::signal::{Attach, ReadySet, SignalSet, YPollset};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, watch};

/// After this time a thread that waits without a spin is asleep.
const SOON: Duration = Duration::from_millis(1);
/// Longer than any test takes that does not hang.
const GUARD: Duration = Duration::from_secs(100);
/// The id of the handle in its set.
const ID: usize = 5;

type Wait<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// A handle that can wait in many ways, and its other side.
trait End: Attach + Send + Sized + 'static {
    type Peer: Send + 'static;

    /// Does its work if that can be done at once.
    fn look(&mut self) -> bool;

    /// Does its work within this time, as a thread.
    fn block(&mut self, timeout: Duration) -> bool;

    /// Does its work, or has the task woken. `None`: it has no such method.
    fn poll(&mut self, context: &mut Context<'_>) -> Option<bool>;

    /// Does its work as a future.
    fn future(&mut self) -> Option<Wait<'_>>;

    /// As a stream.
    fn next(&mut self) -> Option<Wait<'_>> {
        None
    }

    /// Does its work within this time, by a `select()`.
    fn select(&mut self, timeout: Duration) -> Option<bool>;

    /// Adds itself to a select by shared reference.
    fn share(&self, select: &mut ReadySet) -> Option<usize> {
        let _ = select;
        None
    }

    /// Takes itself out again.
    fn unshare(&self, select: &mut ReadySet) {
        let _ = select;
    }

    /// In a hub; the hub's handler stops it.
    #[cfg(all(feature = "hub", unix))]
    fn serve(self, hub: &mut ysuite::hub::Hub) -> bool {
        let _ = hub;
        false
    }

    /// Makes its work possible, and calls `then` while it is.
    fn satisfy(peer: &mut Self::Peer, then: &mut dyn FnMut());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Block,
    Poll,
    Future,
    Next,
    Selecting,
    Pollset,
    #[cfg(any(unix, windows))]
    Socketpair,
    ReadySet,
    Shared,
    #[cfg(all(feature = "hub", unix))]
    Hub,
}

impl Way {
    const ALL: &[Self] = &[
        Self::Block,
        Self::Poll,
        Self::Future,
        Self::Next,
        Self::Selecting,
        Self::Pollset,
        #[cfg(any(unix, windows))]
        Self::Socketpair,
        Self::ReadySet,
        Self::Shared,
        #[cfg(all(feature = "hub", unix))]
        Self::Hub,
    ];

    /// By a set that the handle is attached to.
    fn set(self) -> Option<Set> {
        match self {
            Self::Pollset => Some(Set::Signals(Box::new(YPollset::new()))),
            #[cfg(any(unix, windows))]
            Self::Socketpair => Some(Set::Signals(Box::new(ysuite::signal::YSocketpair::new().unwrap()))),
            Self::ReadySet => Some(Set::ReadySet(ReadySet::new())),
            _ => None,
        }
    }
}

/// A set with one handle.
enum Set {
    Signals(Box<dyn SignalSet>),
    ReadySet(ReadySet<'static>),
}

impl Set {
    fn attach(&mut self, end: &mut impl Attach) {
        match self {
            Self::Signals(set) => set.attach(end, ID).unwrap(),
            Self::ReadySet(select) => _ = select.add(end).unwrap(),
        }
    }

    fn detach(&mut self, end: &mut impl Attach) {
        let id = match self {
            Self::Signals(set) => set.detach(end),
            Self::ReadySet(select) => select.remove(end),
        };
        assert!(id.is_some());
    }

    fn is_told(&mut self) -> bool {
        match self {
            Self::Signals(set) => set.check().count() != 0,
            Self::ReadySet(select) => select.try_wait().is_some(),
        }
    }
}

fn idle() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Waits in this way, and stops before anything comes. False: this handle cannot.
fn begin<E: End>(end: &mut E, way: Way) -> bool {
    match way {
        Way::Block => assert!(!end.block(SOON)),
        Way::Poll => match end.poll(&mut idle()) {
            Some(is_ready) => assert!(!is_ready),
            None => return false,
        },
        Way::Future | Way::Next => match if way == Way::Future { end.future() } else { end.next() } {
            Some(mut future) => assert!(future.as_mut().poll(&mut idle()).is_pending()),
            None => return false,
        },
        Way::Selecting => match end.select(SOON) {
            Some(is_done) => assert!(!is_done),
            None => return false,
        },
        Way::Shared => {
            let mut select = ReadySet::new();
            if end.share(&mut select).is_none() {
                return false;
            }
            assert_eq!(select.try_wait(), None);
            end.unshare(&mut select);
        }
        #[cfg(all(feature = "hub", unix))]
        Way::Hub => return false,
        _ => {
            let mut set = way.set().expect("the others are sets");
            set.attach(end);
            assert!(!end.look() && !set.is_told());
            set.detach(end);
        }
    }
    true
}

/// Waits in this way, and is notified of what comes. `before` describes the earlier wait.
fn told<E: End>(mut end: E, mut peer: E::Peer, way: Way, before: &str) {
    match way {
        Way::Block | Way::Selecting => {
            if way == Way::Selecting && end.select(Duration::ZERO).is_none() {
                return;
            }
            let (done, until) = channel::<()>();
            let thread = thread::spawn(move || {
                thread::sleep(SOON);
                E::satisfy(&mut peer, &mut || _ = until.recv());
                peer
            });
            let is_done = if way == Way::Block { Some(end.block(GUARD)) } else { end.select(GUARD) };
            assert_eq!(is_done, Some(true), "{way:?} behind {before}");
            drop(done);
            drop(thread.join().unwrap());
        }
        Way::Poll => {
            let task = Task::default();
            match end.poll(&mut Context::from_waker(&task.waker())) {
                None => return,
                Some(is_ready) => assert!(!is_ready),
            }
            E::satisfy(&mut peer, &mut || {
                assert_ne!(task.woken(), 0, "{way:?} behind {before}");
                assert_eq!(end.poll(&mut idle()), Some(true), "{way:?} behind {before}");
            });
        }
        Way::Future | Way::Next => {
            let task = Task::default();
            let Some(mut future) = (if way == Way::Future { end.future() } else { end.next() }) else { return };
            assert!(future.as_mut().poll(&mut Context::from_waker(&task.waker())).is_pending());
            E::satisfy(&mut peer, &mut || {
                assert_ne!(task.woken(), 0, "{way:?} behind {before}");
                assert!(future.as_mut().poll(&mut idle()).is_ready(), "{way:?} behind {before}");
            });
        }
        Way::Shared => {
            let mut select = ReadySet::new();
            if end.share(&mut select).is_none() {
                return;
            }
            assert_eq!(select.try_wait(), None);
            E::satisfy(&mut peer, &mut || {
                assert!(select.try_wait().is_some() && end.look(), "{way:?} behind {before}");
            });
        }
        #[cfg(all(feature = "hub", unix))]
        Way::Hub => {
            let mut hub = ysuite::hub::Hub::new().unwrap();
            if !end.serve(&mut hub) {
                return;
            }
            // It polls for a while, and then sleeps.
            while hub.run_once(SOON).unwrap() != 0 {}
            E::satisfy(&mut peer, &mut || {
                hub.run_once(Duration::ZERO).unwrap();
                assert!(hub.is_stopped(), "{way:?} behind {before}");
            });
        }
        _ => {
            let mut set = way.set().expect("the others are sets");
            set.attach(&mut end);
            told_by(set, end, peer, before);
        }
    }
}

/// The set that the handle is attached to is notified of what comes.
fn told_by<E: End>(mut set: Set, mut end: E, mut peer: E::Peer, before: &str) {
    assert!(!end.look() && !set.is_told());
    E::satisfy(&mut peer, &mut || {
        assert!(set.is_told(), "a set behind {before}");
        assert!(end.look(), "a set behind {before}");
    });
}

fn every_way_behind_every_other<E: End>(pair: fn() -> (E, E::Peer)) {
    guarded(move || {
        for &before in Way::ALL {
            for &now in Way::ALL {
                let (mut end, peer) = pair();
                if begin(&mut end, before) {
                    told(end, peer, now, &format!("{before:?}"));
                }
            }
        }
    });
}

/// The handle stays in its set while it waits in another way: then either of them is notified.
fn every_way_beside_every_set<E: End>(pair: fn() -> (E, E::Peer)) {
    guarded(move || {
        let sets = || Way::ALL.iter().filter_map(|way| way.set().map(|set| (set, *way)));
        for &way in Way::ALL.iter().filter(|way| way.set().is_none()) {
            for (mut set, kind) in sets() {
                let (mut end, peer) = pair();
                set.attach(&mut end);
                assert!(!end.look() && !set.is_told());
                if begin(&mut end, way) {
                    told_by(set, end, peer, &format!("{way:?} in {kind:?}"));
                }
            }
            #[cfg(all(feature = "hub", unix))]
            if way == Way::Hub {
                continue;
            }
            for (mut set, kind) in sets() {
                let (mut end, peer) = pair();
                set.attach(&mut end);
                assert!(!end.look() && !set.is_told());
                told(end, peer, way, &format!("{kind:?}, attached"));
            }
        }
    });
}

macro_rules! matrix {
    ($($name:ident $pair:expr),* $(,)?) => {$(
        mod $name {
            #[test]
            fn every_way_behind_every_other() {
                super::every_way_behind_every_other($pair);
            }

            #[test]
            fn every_way_beside_every_set() {
                super::every_way_beside_every_set($pair);
            }
        }
    )*};
}

/// What a receiver of many messages does, by the names that all kinds have.
macro_rules! receiver {
    ($receiver:ty, $sender:ty, select: $select:tt $(, shared: $shared:tt)?) => {
        impl End for $receiver {
            type Peer = $sender;

            fn look(&mut self) -> bool {
                self.try_recv().is_ok()
            }

            fn block(&mut self, timeout: Duration) -> bool {
                self.recv_timeout(timeout).is_ok()
            }

            fn poll(&mut self, context: &mut Context<'_>) -> Option<bool> {
                Some(self.poll_recv(context).is_ready())
            }

            fn future(&mut self) -> Option<Wait<'_>> {
                Some(Box::pin(async { _ = self.recv_async().await.unwrap() }))
            }

            #[cfg(feature = "futures")]
            fn next(&mut self) -> Option<Wait<'_>> {
                Some(Box::pin(async { _ = futures_util::StreamExt::next(self).await.unwrap() }))
            }

            fn select(&mut self, timeout: Duration) -> Option<bool> {
                receiver!(@select $select, self, timeout)
            }

            $(receiver!(@shared $shared);)?

            #[cfg(all(feature = "hub", unix))]
            fn serve(self, hub: &mut ysuite::hub::Hub) -> bool {
                hub.receive(self, |hub, _| hub.stop()).unwrap();
                true
            }

            fn satisfy(sender: &mut Self::Peer, then: &mut dyn FnMut()) {
                // Of a rendezvous it waits.
                let mut sending = pin!(sender.send_async(7));
                let _ = sending.as_mut().poll(&mut idle());
                then();
            }
        }
    };
    (@select true, $this:ident, $timeout:ident) => {
        Some(ysuite::select().recv($this, |message| message.is_ok()).wait_timeout($timeout).unwrap_or(false))
    };
    (@select false, $this:ident, $timeout:ident) => {{
        let _ = $timeout;
        None
    }};
    (@shared true) => {
        fn share(&self, select: &mut ReadySet) -> Option<usize> {
            Some(select.add_shared(self).unwrap())
        }

        fn unshare(&self, select: &mut ReadySet) {
            select.remove_shared(self).unwrap();
        }
    };
}

receiver!(spsc::Receiver<u32>, spsc::Sender<u32>, select: true);
receiver!(mpsc::Receiver<u32>, mpsc::Sender<u32>, select: true);
receiver!(mpmc::Receiver<u32>, mpmc::Sender<u32>, select: true, shared: true);
receiver!(broadcast::Receiver<u32>, broadcast::Sender<u32>, select: false);

impl End for watch::Receiver<u32> {
    type Peer = watch::Sender<u32>;

    fn look(&mut self) -> bool {
        let has_changed = self.has_changed().unwrap();
        if has_changed {
            self.mark_unchanged();
        }
        has_changed
    }

    fn block(&mut self, timeout: Duration) -> bool {
        self.changed_timeout(timeout).is_ok()
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Option<bool> {
        Some(self.poll_changed(context).is_ready())
    }

    fn future(&mut self) -> Option<Wait<'_>> {
        Some(Box::pin(async { self.changed_async().await.unwrap() }))
    }

    #[cfg(feature = "futures")]
    fn next(&mut self) -> Option<Wait<'_>> {
        Some(Box::pin(async { _ = futures_util::StreamExt::next(self).await.unwrap() }))
    }

    fn select(&mut self, _: Duration) -> Option<bool> {
        None
    }

    #[cfg(all(feature = "hub", unix))]
    fn serve(self, hub: &mut ysuite::hub::Hub) -> bool {
        hub.receive(self, |hub, _| hub.stop()).unwrap();
        true
    }

    fn satisfy(sender: &mut Self::Peer, then: &mut dyn FnMut()) {
        sender.send(7).unwrap();
        then();
    }
}

impl End for oneshot::Receiver<u32> {
    type Peer = Option<oneshot::Sender<u32>>;

    fn look(&mut self) -> bool {
        self.try_recv().is_ok()
    }

    fn block(&mut self, timeout: Duration) -> bool {
        self.recv_timeout(timeout).is_ok()
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Option<bool> {
        Some(Pin::new(self).poll(context).is_ready())
    }

    fn future(&mut self) -> Option<Wait<'_>> {
        Some(Box::pin(async { _ = self.await.unwrap() }))
    }

    fn select(&mut self, _: Duration) -> Option<bool> {
        None
    }

    #[cfg(all(feature = "hub", unix))]
    fn serve(self, hub: &mut ysuite::hub::Hub) -> bool {
        hub.receive(self, |hub, _| hub.stop()).unwrap();
        true
    }

    fn satisfy(sender: &mut Self::Peer, then: &mut dyn FnMut()) {
        sender.take().unwrap().send(7).unwrap();
        then();
    }
}

impl End for Mailbox {
    type Peer = Address;

    fn look(&mut self) -> bool {
        self.block(Duration::ZERO)
    }

    fn block(&mut self, timeout: Duration) -> bool {
        self.receive_timeout::<u32>(timeout).is_ok()
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Option<bool> {
        None
    }

    fn future(&mut self) -> Option<Wait<'_>> {
        None
    }

    fn select(&mut self, _: Duration) -> Option<bool> {
        None
    }

    fn satisfy(address: &mut Self::Peer, then: &mut dyn FnMut()) {
        address.send(7_u32).unwrap();
        then();
    }
}

/// A sender that waits for room, or in a rendezvous for a receiver.
macro_rules! sender {
    ($sender:ty, $receiver:ty, poll: |$this:ident, $context:ident| $poll:expr $(, shared: $shared:tt)?) => {
        impl End for $sender {
            type Peer = $receiver;

            fn look(&mut self) -> bool {
                self.try_send(8).is_ok()
            }

            fn block(&mut self, timeout: Duration) -> bool {
                self.send_timeout(8, timeout).is_ok()
            }

            fn poll(&mut self, $context: &mut Context<'_>) -> Option<bool> {
                let $this = self;
                $poll
            }

            fn future(&mut self) -> Option<Wait<'_>> {
                Some(Box::pin(async { self.send_async(8).await.unwrap() }))
            }

            fn select(&mut self, timeout: Duration) -> Option<bool> {
                Some(ysuite::select().send(self, 8, |sent| sent.is_ok()).wait_timeout(timeout).unwrap_or(false))
            }

            $(receiver!(@shared $shared);)?

            fn satisfy(receiver: &mut Self::Peer, then: &mut dyn FnMut()) {
                // Of a rendezvous it waits.
                let mut receiving = pin!(receiver.recv_async());
                let _ = receiving.as_mut().poll(&mut idle());
                then();
            }
        }
    };
}

sender!(spsc::Sender<u32>, spsc::Receiver<u32>, poll: |sender, context| Some(sender.poll_ready(context).is_ready()));
sender!(mpsc::Sender<u32>, mpsc::Receiver<u32>, poll: |sender, context| Some(sender.poll_ready(context).is_ready()));
sender!(mpmc::Sender<u32>, mpmc::Receiver<u32>, poll: |_sender, _context| None, shared: true);

/// The other way round, without a message, or full.
macro_rules! sending {
    ($channel:expr, $bound:literal) => {
        || {
            #[allow(unused_mut)]
            let (mut sender, receiver) = $channel;
            (0..$bound).for_each(|number| sender.try_send(number).unwrap());
            (sender, receiver)
        }
    };
}

fn receiving<S, R>((sender, receiver): (S, R)) -> (R, S) {
    (receiver, sender)
}

mod receivers {
    use super::*;

    matrix!(
        pipe || super::receiving(super::spsc::unbounded()),
        bounded_pipe || super::receiving(super::spsc::bounded(2)),
        pipe_meeting || super::receiving(super::spsc::bounded(0)),
        funnel || super::receiving(super::mpsc::unbounded()),
        bounded_funnel || super::receiving(super::mpsc::bounded(2)),
        funnel_meeting || super::receiving(super::mpsc::bounded(0)),
        exchange || super::receiving(super::mpmc::unbounded()),
        bounded_exchange || super::receiving(super::mpmc::bounded(2)),
        exchange_meeting || super::receiving(super::mpmc::bounded(0)),
        lossy_broadcast || super::receiving(super::broadcast::lossy(2)),
        bounded_broadcast || super::receiving(super::broadcast::bounded(2)),
        watched || {
            let (sender, receiver) = super::watch::channel(0);
            let mut receiver: super::watch::Receiver<u32> = receiver;
            receiver.mark_unchanged();
            (receiver, sender)
        },
        once || {
            let (sender, receiver) = super::oneshot::channel();
            (receiver, Some(sender))
        },
        mailbox || {
            let mailbox = super::Mailbox::new();
            let address = mailbox.address();
            (mailbox, address)
        },
    );
}

mod senders {
    use super::*;

    matrix!(
        pipe sending!(super::spsc::bounded(1), 1),
        pipe_meeting sending!(super::spsc::bounded(0), 0),
        funnel sending!(super::mpsc::bounded(1), 1),
        funnel_meeting sending!(super::mpsc::bounded(0), 0),
        exchange sending!(super::mpmc::bounded(1), 1),
        exchange_meeting sending!(super::mpmc::bounded(0), 0),
    );
}
