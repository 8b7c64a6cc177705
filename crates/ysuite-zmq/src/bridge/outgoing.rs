//! [`Outgoing`]: from a channel to a socket, in frames of all available messages, up to the pack.

use ysuite::TryRecvError;
use ysuite::signal::YSocketpair;

use super::incoming::Topics;
use super::source::{self, Source};
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::topic::Topic;
use crate::wire::{self, Layout, ToWire, Wire as _};

/// Messages that are taken from the channel at once, though each is a frame.
const HANDFUL: usize = 32;

pub(super) struct Outgoing<S: Source> {
    /// None: it has been left.
    source: Option<S>,
    /// It is in its set.
    stands: bool,
    /// Messages in a frame, at most.
    pack: usize,
    /// Taken from the channel, in reverse order.
    taken: Vec<S::Message>,
    /// The next frame, and how many messages it has: none where the socket has taken it.
    pub(super) frame: Frame,
    /// What goes before it, of a message of several parts.
    before: Vec<Frame>,
    /// Of messages that have none of their own, and of the next frame.
    topic: Topic,
    /// Where it goes.
    topics: Topics,
    largest: usize,
    held: usize,
    /// All senders are gone, and all has been taken.
    ended: bool,
}

impl<S: Source<Message: ToWire>> Outgoing<S> {
    /// With limits for a frame's messages, and for its bytes as far as those are known before they are written.
    pub(super) fn new(source: S, pack: usize, largest: usize) -> Self {
        let pack = match S::Message::LAYOUT {
            Layout::Whole | Layout::Parts => 1,
            // The other side ends the connection if a frame is larger than it allows. Its default is the same as this
            // side's.
            Layout::Records(size) => largest.checked_div(size).map_or(pack, |most| pack.min(most).max(1)),
            Layout::Lengths { .. } => pack,
        };
        Self {
            source: Some(source),
            stands: true,
            pack,
            taken: Vec::new(),
            frame: Frame::empty(),
            before: Vec::new(),
            topic: Topic::default(),
            topics: Topics::None,
            largest,
            held: 0,
            ended: false,
        }
    }

    /// Its messages are published, about this unless they have topics of their own.
    pub(super) fn about(mut self, topic: Topic, topics: Topics) -> Self {
        (self.topic, self.topics) = (topic, topics);
        self
    }

    /// What all messages are about, unless each has a topic of its own.
    pub(super) fn own_topic(&self) -> Option<&Topic> {
        (!S::Message::HAS_TOPIC && self.topics != Topics::Within).then_some(&self.topic)
    }

    /// What the next frame is about, unless it says that itself.
    pub(super) fn topic(&self) -> Option<&Topic> {
        (self.topics == Topics::Part).then_some(&self.topic)
    }

    /// Whether all has been taken, and all senders are gone, or no longer matter because the bridge closes.
    pub(super) fn is_over(&mut self, closing: bool) -> bool {
        (closing || self.source.as_ref().is_none_or(S::is_abandoned)) && self.is_done()
    }

    /// Puts messages into the next frame, if there are any, and returns how many are in it.
    pub(super) fn next(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        if self.held == 0 {
            // MUTANT: Nothing is taken while a frame is held: a frame for one peer has all that was taken.
            if self.taken.is_empty() {
                self.take(self.pack.max(HANDFUL), tools);
            }
            let messages = self.together();
            if messages > 0 {
                self.fill(messages, tools)?;
                self.held = messages;
            }
        }
        Ok(self.held)
    }

    /// How many of the taken messages the next frame has, which have the same topic.
    fn together(&self) -> usize {
        let mut most = self.taken.len().min(self.pack);
        let separator = self.topics.separator();
        if most < 2 || !(S::Message::HAS_TOPIC || separator.is_some()) {
            return most;
        }
        let mut next = self.taken.iter().rev().take(most).map(ToWire::topic);
        let first = next.next().flatten();
        if let (Layout::Records(size), Some(_)) = (S::Message::LAYOUT, separator) {
            let head = first.unwrap_or(&self.topic).len() + 1;
            most = (self.largest.saturating_sub(head) / size).max(1);
        }
        most.min(1 + next.take_while(|&topic| topic == first).count())
    }

    /// Fills the next frame with this many of the taken messages.
    fn fill(&mut self, messages: usize, tools: &mut Tools) -> Result<(), Failure> {
        if let Some(topic) = self.taken.last().and_then(ToWire::topic) {
            self.topic.clone_from(topic);
        }
        let head =
            self.topics.separator().map(|separator| [&self.topic[..], &[separator]].concat()).unwrap_or_default();
        if S::Message::LAYOUT != Layout::Parts {
            return pack(&mut self.taken, messages, &head, tools, &mut self.frame);
        }
        self.before = self.taken.pop().expect("the counted message").into_parts()?;
        if let Some(first) = self.before.first_mut().filter(|_| !head.is_empty()) {
            *first = Frame::of([&head[..], first].concat())?;
        }
        self.frame = self.before.pop().expect("a message has one part at least");
        Ok(())
    }

    /// Hands over the next frame, with what belongs before it. False: the socket has no room, and nothing has gone.
    pub(super) fn send(&mut self, tools: &Tools) -> Result<bool, Failure> {
        tools.send_all(&mut self.before, &mut self.frame, self.held)
    }

    // MUTANT: Memory only: a frame is freed later.
    /// The next frame is dropped.
    pub(super) fn release(&mut self) {
        self.before.clear();
        self.frame.release();
    }

    /// The next frame has gone its way.
    pub(super) fn gone(&mut self) {
        self.held = 0;
    }

    // MUTANT: To leave a set a second time changes nothing.
    /// The bridge is about to sleep, or never does, and would take a message or not. Where it shares the channel with
    /// others it stands in its set only if it would: else it might be told of a message and leave it there, and nobody
    /// else would be told.
    pub(super) fn stand_in(&mut self, wanted: bool, set: &mut YSocketpair) {
        let Some(source) = self.source.as_mut().filter(|source| source.is_shared()) else { return };
        if wanted && !self.stands {
            // What has arrived meanwhile is reported at once.
            set.attach(source, 0).expect("the set is this receiver's alone, and it is in none");
            self.stands = true;
        } else if !wanted && self.stands {
            self.leave_set();
        }
    }

    /// A notification that it has not used passes to another receiver.
    pub(super) fn leave_set(&mut self) {
        if let Some(source) = self.source.as_mut().filter(|source| source.is_shared()) {
            source.detach();
            self.stands = false;
        }
    }

    /// Takes at most this many messages for one frame. Returns how many.
    pub(super) fn take_for_one(&mut self, most: usize, tools: &Tools) -> usize {
        // MUTANT: Nothing is taken while a frame is held: a frame for one peer has all that was taken.
        if self.taken.is_empty() {
            self.take(self.pack.min(most), tools);
        }
        self.taken.len()
    }

    fn take(&mut self, most: usize, tools: &Tools) {
        let Some(source) = &mut self.source else { return };
        // MUTANT: Speed only: an id is taken down more often, which costs the other side a wake-up.
        if !tools.arms && source.is_drained() {
            return;
        }
        match source.take(&mut self.taken, most) {
            Ok(_) => self.taken.reverse(),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.ended = true,
        }
    }

    /// Fills `frame` with a head and this many of the taken messages.
    pub(super) fn write(
        &mut self,
        messages: usize,
        head: &[u8],
        tools: &mut Tools,
        frame: &mut Frame,
    ) -> Result<(), Failure> {
        pack(&mut self.taken, messages, head, tools, frame)
    }
}

/// The last `messages` of those that have been taken, which are in reverse order.
fn pack<T: ToWire>(
    taken: &mut Vec<T>,
    messages: usize,
    head: &[u8],
    tools: &mut Tools,
    frame: &mut Frame,
) -> Result<(), Failure> {
    let next = (0..messages).map(|_| taken.pop().expect("the counted messages"));
    wire::pack(head, next, &mut tools.scratch, frame)
}

impl<S: Source<Message: ToWire>> Work for Outgoing<S> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        while moved < AT_ONCE {
            let messages = self.next(tools)?;
            if messages == 0 || !self.send(tools)? {
                break;
            }
            self.gone();
            moved += messages;
        }
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        let blocked = self.held > 0;
        Wanted { source: !blocked && !self.ended, send: blocked, ..Wanted::default() }
    }

    fn stand(&mut self, wanted: Wanted, set: &mut YSocketpair) {
        self.stand_in(wanted.source, set);
    }

    /// It polls by itself from now on.
    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.leave_set();
        Ok(())
    }

    /// What comes into the channel while it is closed still leaves, as long as there is time.
    fn is_done(&mut self) -> bool {
        // MUTANT: Nothing is taken while a frame is held: a frame for one peer has all that was taken.
        self.held == 0 && self.taken.is_empty() && self.source.as_mut().is_none_or(S::is_drained)
    }

    fn left(&mut self) -> usize {
        let left = core::mem::take(&mut self.held) + self.taken.len();
        self.taken.clear();
        left + self.source.take().map_or(0, source::left)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context as Task, Wake, Waker};

    use ysuite::signal::Wait;
    use ysuite::{mpmc, spsc};

    use super::*;
    use crate::context::Context;
    use crate::event;
    use crate::ffi::Kind;
    use crate::socket::Socket;
    use crate::statistics::Counters;

    /// Of a socket of this kind that has bound this name.
    pub(in super::super) fn tools(kind: Kind, prepare: impl FnOnce(&Socket)) -> (Tools, String) {
        let (socket, address) =
            (Socket::new(&Context::of_the_process().unwrap(), kind).unwrap(), Context::fresh_name("out"));
        prepare(&socket);
        socket.bind(&address).unwrap();
        (Tools::new(socket, Arc::new(Counters::default()), event::channel().0).unwrap(), address)
    }

    #[derive(Default)]
    struct Woken(AtomicU32);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Work that shares its channel with another receiver, and the set that it is attached to.
    pub(in super::super) struct Shared<W> {
        pub(in super::super) work: W,
        set: YSocketpair,
        jobs: mpmc::Sender<u64>,
        other: mpmc::Receiver<u64>,
        pub(in super::super) tools: Tools,
        pub(in super::super) address: String,
    }

    impl<W: Work> Shared<W> {
        pub(in super::super) fn new(kind: Kind, work: impl FnOnce(Outgoing<mpmc::Receiver<u64>>) -> W) -> Self {
            let (jobs, mut out) = mpmc::bounded::<u64>(8);
            let other = out.clone();
            let mut set = YSocketpair::with_capacity(1).unwrap();
            assert!(set.attach(&mut out, 0).is_ok());
            let (mut tools, address) = tools(kind, |_| {});
            tools.arms = true;
            Self { work: work(Outgoing::new(out, 1, 1 << 20)), set, jobs, other, tools, address }
        }

        pub(in super::super) fn stand(&mut self, source: bool) {
            self.work.stand(Wanted { source, ..Wanted::default() }, &mut self.set);
        }

        pub(in super::super) fn close(&mut self) {
            self.work.close(&mut self.tools).unwrap();
        }

        /// Whether its set reports a message that comes while no other receiver waits.
        pub(in super::super) fn is_told(&mut self) -> bool {
            self.work.step(&mut self.tools).unwrap();
            self.set.check();
            self.jobs.try_send(1).unwrap();
            self.other.try_recv().unwrap();
            self.set.check().next().is_some()
        }

        /// Whether the other receiver, which waits, is woken by each message that comes. Waiting receivers are notified
        /// in turn.
        pub(in super::super) fn leaves_all(&mut self) -> bool {
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(woken.clone());
            (1..=4).all(|number| {
                self.work.step(&mut self.tools).unwrap();
                while self.other.poll_recv(&mut Task::from_waker(&waker)).is_ready() {}
                self.jobs.try_send(1).unwrap();
                self.other.try_recv().unwrap();
                woken.0.load(Ordering::Relaxed) == number
            })
        }
    }

    /// It takes nothing while it is detached, and is notified of everything once it is attached again.
    pub(in super::super) fn leaves_and_comes_back<W: Work>(mut shared: Shared<W>) {
        assert!(shared.is_told());
        shared.stand(true);
        assert!(shared.is_told());
        for _ in 0..2 {
            shared.stand(false);
            assert!(shared.leaves_all() && !shared.is_told());
        }
        for _ in 0..2 {
            shared.stand(true);
            assert!(shared.is_told());
        }
        shared.close();
        assert!(shared.leaves_all() && !shared.is_told());
    }

    /// Claim: A bridge that cannot take messages leaves a shared channel to others.
    /// Also: zmq bridges::duplex::a_message_that_the_bridge_would_leave_wakes_another.
    #[test]
    fn one_that_wants_nothing_is_detached() {
        leaves_and_comes_back(Shared::new(Kind::Push, |outgoing| outgoing));
    }

    #[test]
    fn what_is_in_hand_is_not_done() {
        let (mut jobs, out) = spsc::bounded::<u64>(HANDFUL);
        let (mut tools, _) = tools(Kind::Push, |_| {});
        let mut outgoing = Outgoing::new(out, 1, 1 << 20);
        assert_eq!(outgoing.wanted(), Wanted { source: true, ..Wanted::default() });
        assert!(outgoing.is_done());
        (0..HANDFUL as u64).for_each(|number| jobs.send(number).unwrap());
        assert!(!outgoing.is_done());
        // There is no peer.
        assert_eq!(outgoing.step(&mut tools).unwrap(), 0);
        assert_eq!(outgoing.wanted(), Wanted { send: true, ..Wanted::default() });
        assert!(!outgoing.is_done() && jobs.is_empty());
        outgoing.gone();
        assert!(!outgoing.is_done());
        assert_eq!(outgoing.left(), HANDFUL - 1);
    }

    #[test]
    fn so_much_leaves_at_once() {
        let (mut jobs, out) = spsc::unbounded::<u64>();
        let (mut tools, address) = tools(Kind::Push, |_| {});
        let pull = Socket::new(&Context::of_the_process().unwrap(), Kind::Pull).unwrap();
        pull.connect(&address).unwrap();
        let mut outgoing = Outgoing::new(out, 1, 1 << 20);
        jobs.send_batch(0..300).unwrap();
        assert_eq!([(); 3].map(|()| outgoing.step(&mut tools).unwrap()), [AT_ONCE, 300 - AT_ONCE, 0]);
        assert_eq!(outgoing.wanted(), Wanted { source: true, ..Wanted::default() });
        drop(jobs);
        tools.arms = true;
        assert_eq!(outgoing.step(&mut tools).unwrap(), 0);
        assert_eq!(outgoing.wanted(), Wanted::default());
    }
}
