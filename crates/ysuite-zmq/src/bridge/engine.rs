//! [`Engine`]: the thread of a bridge. It moves what can be moved, spins a little when nothing can, and then sleeps in
//! one `poll` over all that may wake it.
//!
//! ```text
//!              channel ---.                      .--- libzmq: room, frames
//!                          \                    /
//!   orders (close, ...) ----> poll, one thread <----- libzmq: connections
//! ```
//!
//! libzmq's descriptor is edge-triggered: it reports a change, not a state. So the state is checked last before each
//! sleep, and earlier events are not missed.

use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::signal::{Signal, Signaler, Wait, YSocketpair};
use ysuite::{mpsc, oneshot};

use super::close::{Closed, Ending};
use super::names::Name;
use super::sets::Sets;
use super::tools::Tools;
use super::work::{Wanted, Work};
use crate::error::Failure;
use crate::event::{Event, Told};
use crate::topic::Topic;

/// The orders of the bridge's owner.
pub(super) enum Order {
    /// To end, by this moment at the latest, and to report the result.
    Close {
        until: Instant,
        answer: oneshot::Sender<Closed>,
    },
    Subscribers(Asked),
    /// To ask for this topic from now on, or not any more, and to report whether it can.
    Topic {
        topic: Topic,
        asks: bool,
        answer: oneshot::Sender<bool>,
    },
    /// To connect to this address, whose host has been found: over IPv6, or over IPv4.
    Connect(Name, bool),
    /// To report that the host of this address is not known.
    Unresolved(String),
}

/// To report when this number of subscribers is there, of a topic or of the bridge's own, or that they are not by this
/// moment.
pub(super) struct Asked {
    pub(super) topic: Option<Topic>,
    pub(super) wanted: usize,
    pub(super) until: Instant,
    pub(super) answer: oneshot::Sender<bool>,
}

/// The deadline of a bridge that ends, and the channel for the result.
type Closing = (Instant, Option<oneshot::Sender<Closed>>);

/// About as long as a wake-up takes: a thread that spins this long and then sleeps pays at most twice the necessary
/// cost.
const LOOK: Duration = Duration::from_micros(50);

/// The time for what is in transit when a bridge is dropped without `close`.
const AFTER_A_DROP: Duration = Duration::from_secs(1);

pub(super) struct Engine<W> {
    pub(super) work: W,
    pub(super) tools: Tools,
    pub(super) sets: Sets,
    pub(super) orders: mpsc::Receiver<Order>,
    /// The set of the orders: separate, because the channel's may stay up while the socket has no room. And of the
    /// disconnect of the channel into which messages come.
    pub(super) ordered: YSocketpair,
    pub(super) ended: Waker,
    pub(super) asked: Vec<Asked>,
}

/// The ids of [`Engine::ordered`].
pub(super) const ORDER: usize = 0;
const END: usize = 1;

struct Ended(Signaler);

impl Wake for Ended {
    fn wake(self: Arc<Self>) {
        self.0.signal(END);
    }
}

/// A set for the orders, and the waker that raises it on disconnect of the channel into which messages come.
pub(super) fn ordered() -> std::io::Result<(YSocketpair, Waker)> {
    let set = YSocketpair::with_capacity(2)?;
    let ended = Waker::from(Arc::new(Ended(set.signaler())));
    Ok((set, ended))
}

impl<W: Work> Engine<W> {
    pub(super) fn run(mut self) {
        let served = unless_it_panics(|| self.serve());
        if let Err(cause) = &served {
            self.tools.tell(Event::Broken(*cause));
        }
        let Self { work, tools, sets, orders, .. } = self;
        let events = tools.events.clone();
        let ending = Ending { work, tools, sets };
        let (closed, answer) = match served {
            Ok((until, answer)) => (ended(&events, || ending.by(until)), answer),
            Err(cause) => {
                // At once: the owners of the channels' other handles must be notified, and may have no other way.
                let closed = ended(&events, || ending.broken(Instant::now() + AFTER_A_DROP));
                // A thread that waits for subscribers must not wait any longer.
                for asked in self.asked.drain(..) {
                    let _ = asked.answer.send(false);
                }
                // What was in the hands of a function that panicked is gone, and counted nowhere.
                let closed = if cause.is_panic() { uncounted(closed) } else { closed };
                (closed, last_order(orders))
            }
        };
        if let Some(answer) = answer {
            let _ = answer.send(closed);
        }
    }

    // MUTANT: Speed only: how long the thread polls before it parks, and how often.
    /// Until it is told to close, or is dropped.
    fn serve(&mut self) -> Result<Closing, Failure> {
        let (mut idle_since, mut turns) = (None, 0u32);
        loop {
            turns = turns.wrapping_add(1);
            // Also for a bridge that is never idle: it may leave a message in a shared channel, and may have been
            // notified of it in place of a sleeping receiver.
            if turns.is_multiple_of(1_024) {
                self.work.listen(&mut self.tools)?;
                self.stand();
            } else if self.is_empty_handed() {
                // A connection that has ended by now takes nothing with it.
                self.work.listen(&mut self.tools)?;
            }
            if let Some(closing) = self.order()? {
                return Ok(closing);
            }
            if self.work.step(&mut self.tools)? > 0 {
                idle_since = None;
                continue;
            }
            let since = *idle_since.get_or_insert_with(Instant::now);
            if since.elapsed() < LOOK {
                // A thread that has something for it may have to run first.
                (0..W::YIELDS).for_each(|_| thread::yield_now());
                continue;
            }
            idle_since = None;
            self.work.listen(&mut self.tools)?;
            self.work.rest(&mut self.tools)?;
            self.sleep()?;
        }
    }

    /// Whether the first frame is still to come, of those that a connection may take with it.
    fn is_empty_handed(&self) -> bool {
        // MUTANT: Speed only: how often the thread polls.
        self.tools.counters.frames_out.get() == 0 && self.work.lingers() && !self.work.is_acknowledged()
    }

    /// The channel from which messages leave notifies the bridge of them, or another receiver. Returns what is wanted.
    fn stand(&mut self) -> Wanted {
        let wanted = self.work.wanted();
        if let Some(set) = self.sets.of_source() {
            self.work.stand(wanted, set);
        }
        wanted
    }

    /// The order to close, if there is one.
    fn order(&mut self) -> Result<Option<Closing>, Failure> {
        let now = (!self.asked.is_empty()).then(Instant::now);
        for asked in core::mem::take(&mut self.asked) {
            match now {
                _ if self.work.subscribers(asked.topic.as_ref()) >= asked.wanted => drop(asked.answer.send(true)),
                // MUTANT: The same moment to the nanosecond.
                Some(now) if now >= asked.until => drop(asked.answer.send(false)),
                _ => self.asked.push(asked),
            }
        }
        Ok(match self.orders.try_recv() {
            Ok(Order::Close { until, answer }) => Some((until, Some(answer))),
            Ok(Order::Subscribers(asked)) => {
                self.asked.push(asked);
                None
            }
            Ok(Order::Topic { topic, asks, answer }) => {
                let _ = answer.send(self.work.subscribe(topic, asks, &self.tools)?);
                None
            }
            Ok(Order::Connect(name, is_v6)) => {
                self.tools.reach(&name.address, is_v6).map_err(|error| error.failure())?;
                None
            }
            Ok(Order::Unresolved(address)) => {
                self.tools.tell(Event::Unresolved(address));
                None
            }
            Err(error) if error.is_disconnected() => Some((Instant::now() + AFTER_A_DROP, None)),
            Err(_) => None,
        })
    }

    fn sleep(&mut self) -> Result<(), Failure> {
        // An order that came since the last check raises the id again.
        self.ordered.check();
        // So does a name that has been bound.
        self.work.listen(&mut self.tools)?;
        self.tools.arms = true;
        let moved = self.work.step(&mut self.tools);
        self.tools.arms = false;
        let wanted = self.stand();
        // MUTANT: Speed only: one more system call, which returns at once.
        if moved? > 0 || self.sets.is_up(wanted) {
            return Ok(());
        }
        let asked = self.asked.iter().map(|asked| asked.until);
        let until = wanted.until.into_iter().chain(asked).chain(self.tools.meets_at()).min();
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        // Last: what happens from here on makes the descriptors readable.
        let (socket, monitor) = (self.tools.socket.ready()?, self.tools.monitor.socket().ready()?);
        if (wanted.receive && socket.receive) || (wanted.send && socket.send) || monitor.receive {
            return Ok(());
        }
        let (socket, monitor) = (self.tools.socket.descriptor()?, self.tools.monitor.socket().descriptor()?);
        let always = [socket, monitor, self.ordered.as_fd()].into_iter();
        let all = always.chain(self.sets.descriptors(wanted));
        let mut all: Vec<_> = all.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN)).collect();
        // A signal, or a change that turns out to be none: the next step decides.
        self.work.asleep(wanted, &self.ended, &mut || {
            let _ = poll(&mut all, timeout.as_ref());
        });
        Ok(())
    }
}

/// A message's code may panic when it is written, read or dropped. That ends its bridge, as a failure of libzmq does,
/// and the remaining state is only dropped.
fn unless_it_panics<T>(run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        // Its own Drop may panic as well, and nothing would catch that.
        core::mem::forget(payload);
        Err(Failure::panicked())
    })
}

/// The result of this function, which ends a bridge; a panic is reported as an event instead.
fn ended(events: &Told, end: impl FnOnce() -> Closed) -> Closed {
    unless_it_panics(|| Ok(end())).unwrap_or_else(|cause| {
        events.tell(Event::Broken(cause));
        Closed::Unsent { messages: 0, more: true }
    })
}

/// The same, where there may have been more.
fn uncounted(closed: Closed) -> Closed {
    match closed {
        Closed::Unsent { messages, .. } => Closed::Unsent { messages, more: true },
        Closed::Flushed => Closed::Unsent { messages: 0, more: true },
    }
}

/// The next order to close, at any time: the bridge is broken already.
fn last_order(mut orders: mpsc::Receiver<Order>) -> Option<oneshot::Sender<Closed>> {
    loop {
        match orders.recv() {
            Ok(Order::Close { answer, .. }) => return Some(answer),
            Ok(Order::Subscribers(Asked { answer, .. })) => drop(answer.send(false)),
            // Its answer is dropped.
            Ok(Order::Topic { .. } | Order::Connect(..) | Order::Unresolved(_)) => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use ysuite::spsc;

    use super::super::options::Options;
    use super::super::started::{Started, start};
    use super::*;
    use crate::context::Context;
    use crate::ffi::Kind;
    use crate::frame::Frame;
    use crate::socket::Socket;

    const GUARD: Duration = Duration::from_secs(60);

    /// Fails at the first message.
    struct Fails {
        source: spsc::Receiver<u64>,
        _sink: spsc::Sender<u64>,
    }

    impl Work for Fails {
        fn step(&mut self, _: &mut Tools) -> Result<usize, Failure> {
            match self.source.try_recv() {
                Ok(_) => Err(Failure::of("zmq_msg_send", rustix::io::Errno::NOMEM)),
                Err(_) => Ok(0),
            }
        }

        fn wanted(&mut self) -> Wanted {
            Wanted { source: true, ..Wanted::default() }
        }

        fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
            Ok(())
        }

        fn is_done(&mut self) -> bool {
            true
        }

        fn left(&mut self) -> usize {
            self.source.close();
            self.source.try_iter().count()
        }
    }

    /// Always has something to do, and wants nothing of its channel for that.
    struct Busy {
        source: spsc::Receiver<u64>,
        /// Of each step, as far as there is room: whether it has heard of connections before.
        steps: spsc::Sender<bool>,
        listened: bool,
        stood: spsc::Sender<Wanted>,
    }

    impl Work for Busy {
        fn step(&mut self, _: &mut Tools) -> Result<usize, Failure> {
            let _ = self.steps.try_send(self.listened);
            Ok(1)
        }

        fn wanted(&mut self) -> Wanted {
            Wanted::default()
        }

        fn stand(&mut self, wanted: Wanted, _: &mut YSocketpair) {
            let _ = self.stood.try_send(wanted);
        }

        fn listen(&mut self, _: &mut Tools) -> Result<(), Failure> {
            self.listened = true;
            Ok(())
        }

        fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
            Ok(())
        }

        fn is_done(&mut self) -> bool {
            true
        }

        fn left(&mut self) -> usize {
            self.source.close();
            self.source.try_iter().count()
        }
    }

    /// A shared channel may have notified it alone of a message which it leaves there. And what ended before its first
    /// frame lost nothing.
    #[test]
    fn one_that_is_never_idle_leaves_its_set_and_hears_of_connections_first() {
        let (_sender, mut source) = spsc::bounded::<u64>(4);
        let (steps, mut heard) = spsc::bounded::<bool>(1);
        let (stood, mut wanted) = spsc::bounded::<Wanted>(1);
        let mut options = Options::new();
        options.bind("inproc://busy".to_owned());
        let sets = Sets::default().source(&mut source).unwrap();
        let work = Busy { source, steps, listened: false, stood };
        let started = start(&options, Kind::Push, |_| Ok(()), sets, work).unwrap();
        assert_eq!(heard.recv_timeout(GUARD), Ok(true));
        assert_eq!(wanted.recv_timeout(GUARD), Ok(Wanted::default()));
        assert_eq!(started.close(GUARD), Closed::Flushed);
    }

    /// The bridge need not be closed for it.
    #[test]
    fn the_channels_of_a_bridge_that_breaks_end() {
        let (mut sender, mut source) = spsc::bounded::<u64>(4);
        let (sink, mut receiver) = spsc::bounded::<u64>(4);
        let mut options = Options::new();
        options.bind("inproc://breaks".to_owned());
        let sets = Sets::default().source(&mut source).unwrap();
        let work = Fails { source, _sink: sink };
        let mut started = start(&options, Kind::Pull, |_| Ok(()), sets, work).unwrap();
        let events = started.events();
        sender.send(1).unwrap();
        assert!(matches!(events.recv_timeout(GUARD), Ok(Event::Broken(_))));
        assert!(receiver.recv_timeout(GUARD).is_err_and(|error| error.is_disconnected()));
        assert!(sender.is_disconnected());
        assert!(!started.wait_for_subscribers(1, GUARD));
        assert_eq!(started.close(GUARD), Closed::Flushed);
    }

    /// What an engine asks of its work.
    enum Call<'a> {
        Step(&'a mut Tools),
        Wanted,
        Rest(&'a mut Tools),
        Asleep,
    }

    /// Follows a script, and wants this.
    struct Scripted<F>(Wanted, F);

    impl<F: FnMut(Call<'_>) -> usize + Send + 'static> Work for Scripted<F> {
        fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
            Ok((self.1)(Call::Step(tools)))
        }

        fn wanted(&mut self) -> Wanted {
            (self.1)(Call::Wanted);
            self.0
        }

        fn rest(&mut self, tools: &mut Tools) -> Result<(), Failure> {
            (self.1)(Call::Rest(tools));
            Ok(())
        }

        fn asleep(&mut self, _: Wanted, _: &Waker, sleep: &mut dyn FnMut()) {
            (self.1)(Call::Asleep);
            sleep();
        }

        fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
            Ok(())
        }

        fn is_done(&mut self) -> bool {
            true
        }

        fn left(&mut self) -> usize {
            0
        }
    }

    /// Starts work that wants this, on a socket that has bound this name in the process.
    fn scripted(
        name: &str,
        kind: Kind,
        sets: Sets,
        wanted: Wanted,
        script: impl FnMut(Call<'_>) -> usize + Send + 'static,
    ) -> Started {
        let mut options = Options::new();
        options.bind(name.to_owned());
        start(&options, kind, |_| Ok(()), sets, Scripted(wanted, script)).unwrap()
    }

    /// Between its last check and its sleep something arrives.
    ///
    /// Claim: A bridge does not sleep through what happens between its last poll and its sleep.
    #[test]
    fn what_comes_before_a_sleep_is_not_slept_through() {
        let (mut sender, mut source) = spsc::bounded::<u64>(1);
        let (mut got, mut moved) = spsc::bounded::<u64>(1);
        let sets = Sets::default().source(&mut source).unwrap();
        let (mut looked, mut number) = (false, Some(7));
        let wanted = Wanted { source: true, ..Wanted::default() };
        let _bridge = scripted("inproc://a message late", Kind::Push, sets, wanted, move |call| {
            match call {
                Call::Step(tools) => {
                    looked = tools.arms;
                    return source.try_recv().map_or(0, |number| got.try_send(number).map_or(0, |()| 1));
                }
                Call::Wanted if looked => number.take().into_iter().for_each(|number| sender.send(number).unwrap()),
                _ => {}
            }
            0
        });
        assert_eq!(moved.recv_timeout(GUARD), Ok(7));

        let (mut sink, mut receiver) = spsc::bounded::<u64>(1);
        sink.send(1).unwrap();
        let (mut got, mut moved) = spsc::bounded::<u64>(1);
        let sets = Sets::default().sink(&mut sink).unwrap();
        let mut looked = false;
        let wanted = Wanted { sink: true, ..Wanted::default() };
        let _bridge = scripted("inproc://room late", Kind::Pull, sets, wanted, move |call| {
            match call {
                Call::Step(tools) => {
                    looked = tools.arms;
                    return sink.try_send(2).map_or(0, |()| got.try_send(2).map_or(0, |()| 1));
                }
                Call::Wanted if looked => drop(receiver.try_recv()),
                _ => {}
            }
            0
        });
        assert_eq!(moved.recv_timeout(GUARD), Ok(2));

        let (mut got, mut moved) = spsc::bounded::<u64>(1);
        let push = Socket::new(&Context::of_the_process().unwrap(), Kind::Push).unwrap();
        let mut number = Some(7u64);
        let wanted = Wanted { receive: true, ..Wanted::default() };
        let name = "inproc://a frame late";
        let (mut is_connected, mut looked) = (false, false);
        let _bridge = scripted(name, Kind::Pull, Sets::default(), wanted, move |call| {
            match call {
                Call::Step(tools) => {
                    looked = tools.arms;
                    if !is_connected {
                        is_connected = true;
                        push.connect(name).unwrap();
                    }
                    if tools.receive(|_| {}).unwrap() > 0 {
                        return got.try_send(7).map_or(0, |()| 1);
                    }
                }
                Call::Wanted if looked => {
                    if let Some(number) = number.take() {
                        push.send(&mut Frame::copied(&number.to_le_bytes()).unwrap(), false).unwrap();
                    }
                }
                _ => {}
            }
            0
        });
        assert_eq!(moved.recv_timeout(GUARD), Ok(7));
    }

    /// libzmq has an event after it was checked, and before the sleep.
    #[test]
    fn what_happens_before_a_sleep_is_reported() {
        let mut is_bound = false;
        let bridge = scripted("inproc://told late", Kind::Pull, Sets::default(), Wanted::default(), move |call| {
            if let Call::Rest(tools) = call
                && !is_bound
            {
                is_bound = true;
                tools.socket.bind("tcp://127.0.0.1:*").unwrap();
            }
            0
        });
        assert!(matches!(bridge.events().recv_timeout(GUARD), Ok(Event::Listening(_))));
    }

    /// It may have to say something more then.
    #[test]
    fn one_that_moves_something_at_last_does_not_sleep() {
        let (mut said, mut rests) = spsc::bounded::<u64>(1);
        let (mut has_moved, mut rested) = (false, 0);
        let _bridge = scripted("inproc://moves late", Kind::Pull, Sets::default(), Wanted::default(), move |call| {
            match call {
                Call::Step(tools) if tools.arms && !has_moved => {
                    has_moved = true;
                    return 1;
                }
                Call::Rest(_) => rested += 1,
                Call::Asleep => drop(said.try_send(rested)),
                _ => {}
            }
            0
        });
        assert_eq!(rests.recv_timeout(GUARD), Ok(2));
    }

    /// Does nothing, and says so when it sleeps.
    fn tells_of_sleep() -> (spsc::Receiver<()>, impl FnMut(Call<'_>) -> usize + Send + 'static) {
        let (mut said, slept) = spsc::bounded::<()>(1);
        let asleep = move |call: Call<'_>| {
            if matches!(call, Call::Asleep) {
                let _ = said.try_send(());
            }
            0
        };
        (slept, asleep)
    }

    /// What is not wanted now does not prevent the sleep: frames in the socket, room in it, messages in a channel.
    ///
    /// Claim: A bridge that has nothing to do sleeps.
    #[test]
    fn one_that_wants_nothing_sleeps() {
        let (mut sender, mut source) = spsc::bounded::<u64>(1);
        sender.send(1).unwrap();
        let sets = Sets::default().source(&mut source).unwrap();
        let push = Socket::new(&Context::of_the_process().unwrap(), Kind::Push).unwrap();
        push.connect("inproc://wants nothing").unwrap();
        push.send(&mut Frame::copied(b"a frame").unwrap(), false).unwrap();
        let (mut slept, asleep) = tells_of_sleep();
        let _bridge = scripted("inproc://wants nothing", Kind::Pull, sets, Wanted::default(), asleep);
        assert_eq!(slept.recv_timeout(GUARD), Ok(()));
        drop((source, push));

        // Room is wanted, and no peer has any.
        let (mut slept, asleep) = tells_of_sleep();
        let wanted = Wanted { send: true, ..Wanted::default() };
        let _bridge = scripted("inproc://wants room", Kind::Push, Sets::default(), wanted, asleep);
        assert_eq!(slept.recv_timeout(GUARD), Ok(()));
    }
}
