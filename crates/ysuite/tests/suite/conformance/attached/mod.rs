//! The suite of attached receivers: each kind of set with each kind of receiver. An id is up, and the set's descriptor
//! readable, exactly while the receiver may hold a message; nothing is lost, and nothing is signalled while the receiver is
//! read.
//!
//! A set is a [`Kind`] whose set is a [`SignalSet`]. A receiver comes with its sender from [`Ends`]; one that can wait in
//! other ways as well is [`Blocking`]. A value of either is one way of making it.
//! [`attached_suite!`](crate::attached_suite) makes the tests of a set with a receiver, and the other macros those of the
//! halves for receivers that block or peek, and for sets that have a descriptor.

#[cfg(target_os = "linux")]
pub(crate) mod epoll;
pub(crate) mod inbox;
pub(crate) mod levels;
pub(crate) mod moving;
pub(crate) mod streams;
pub(crate) mod waiting;

use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ysuite::signal::{Attach, SignalSet, Wait};
use ysuite::{RecvError, RecvTimeoutError, TryRecvError, TrySendError};

use super::channel;
use super::signal::{Kind, list};
use crate::support::{Counted, Random};

/// A number, and what counts its drop if a test wants that.
pub(crate) type Message = (usize, Option<Counted>);

/// A kind of set that receivers can be attached to.
pub(crate) trait SetKind: Kind<Set: SignalSet> {}

impl<K: Kind<Set: SignalSet>> SetKind for K {}

/// A kind of receiver that can be attached, and of its sender; a value is one way of making them. Holds 100 messages at
/// least, unless it is made for the streams only.
pub(crate) trait Ends: Copy + Send + Sync + 'static {
    type Sender: Send + 'static;
    type Receiver: Attach + Send + 'static;
    /// How many ways of sending there are besides the usual one.
    const WAYS: usize;
    fn pair(self) -> (Self::Sender, Self::Receiver);
    /// Another sender to the same receiver, where there may be several.
    fn another(sender: &Self::Sender) -> Option<Self::Sender>;
    /// False: the receiver is gone.
    fn send(sender: &mut Self::Sender, message: Message) -> bool;
    /// In one of the other ways, which may overtake those sent in another.
    fn send_by(sender: &mut Self::Sender, way: usize, message: Message);
    fn try_recv(receiver: &mut Self::Receiver) -> Result<Message, TryRecvError>;
    /// Polls in some way that does not wait.
    fn look(receiver: &mut Self::Receiver, random: &mut Random) -> Looked;
}

/// The result of such a poll.
pub(crate) struct Looked {
    pub(crate) taken: usize,
    /// The receiver has found itself empty, in a way that takes its id down.
    pub(crate) is_down: bool,
}

/// A kind of receiver that can also wait by itself.
pub(crate) trait Blocking: Ends {
    fn recv_timeout(receiver: &mut Self::Receiver, timeout: Duration) -> Result<Message, RecvTimeoutError>;
    /// One message notifies a receiver's set, or its task, and not both: then a receiver that waits in its set must not
    /// have a task that has polled it.
    const TELLS_ONE: bool;
    /// As a task; a receiver that tasks cannot wait for polls, and reports that it is pending.
    fn poll_recv(receiver: &mut Self::Receiver, context: &mut Context<'_>) -> Poll<Result<Message, RecvError>>;
}

/// Every channel that can be attached.
impl<C: channel::Kind<Receiver<Message>: Attach>> Ends for C {
    type Sender = C::Sender<Message>;
    type Receiver = C::Receiver<Message>;
    const WAYS: usize = 3;
    fn pair(self) -> (Self::Sender, Self::Receiver) {
        channel::Kind::pair(self)
    }
    fn another(sender: &Self::Sender) -> Option<Self::Sender> {
        C::another(sender)
    }
    fn send(sender: &mut Self::Sender, message: Message) -> bool {
        channel::Sending::send(sender, message).is_ok()
    }
    fn send_by(sender: &mut Self::Sender, way: usize, message: Message) {
        use channel::Sending;
        match way {
            0 => match sender.try_send(message) {
                Err(TrySendError::Full(message)) => sender.send(message).unwrap(),
                sent => sent.unwrap(),
            },
            1 => assert_eq!(sender.send_batch(&mut std::iter::once(message)).unwrap(), 1),
            _ => sender.send_timeout(message, Duration::MAX).unwrap(),
        }
    }
    fn try_recv(receiver: &mut Self::Receiver) -> Result<Message, TryRecvError> {
        channel::Receiving::try_recv(receiver)
    }
    fn look(receiver: &mut Self::Receiver, random: &mut Random) -> Looked {
        use channel::Receiving;
        let mut batch = Vec::new();
        let (taken, is_down) = match random.below(if C::TELLS_ONE { 4 } else { 5 }) {
            0 => (usize::from(receiver.try_recv().is_ok()), true),
            1 => (receiver.try_recv_batch(&mut batch, random.below(10) + 1).unwrap_or(0), true),
            2 => (receiver.try_iter().take(1).count(), true),
            3 => (usize::from(receiver.recv_timeout(Duration::ZERO).is_ok()), false),
            _ => {
                let polled = receiver.poll_recv(&mut Context::from_waker(std::task::Waker::noop()));
                (usize::from(polled.is_ready()), false)
            }
        };
        Looked { taken, is_down: is_down && taken == 0 }
    }
}

impl<C: channel::Kind<Receiver<Message>: Attach>> Blocking for C {
    const TELLS_ONE: bool = C::TELLS_ONE;
    fn recv_timeout(receiver: &mut Self::Receiver, timeout: Duration) -> Result<Message, RecvTimeoutError> {
        use channel::Receiving;
        if timeout == Duration::MAX {
            return receiver.recv().map_err(|RecvError| RecvTimeoutError::Disconnected);
        }
        receiver.recv_timeout(timeout)
    }
    fn poll_recv(receiver: &mut Self::Receiver, context: &mut Context<'_>) -> Poll<Result<Message, RecvError>> {
        channel::Receiving::poll_recv(receiver, context)
    }
}

/// Makes one `#[test]` of every function of the suite, for the set and the receiver given.
#[macro_export]
macro_rules! attached_suite {
    ($set:expr, $ends:expr) => {
        $crate::tests_of!(attached::levels, $set, $ends =>
            an_id_is_up_until_its_receiver_is_found_empty, a_receiver_read_half_way_is_reported_again,
            whatever_is_done_the_id_is_up_while_messages_are_there, attached_and_hand_raised_ids_keep_apart,
            nothing_is_signalled_while_the_receiver_is_read, an_idle_attached_receiver_costs_nothing);
        $crate::tests_of!(attached::moving, $set, $ends =>
            impossible_attachments_change_nothing, a_refusal_gives_the_claim_back, a_refusal_takes_no_signal_down,
            a_dropped_receiver_gives_its_id_back, the_set_may_go_first, detached_it_is_silent_and_keeps_its_messages,
            a_message_from_before_the_attachment_is_told_of, it_moves_between_sets_under_a_stream);
        $crate::tests_of!(attached::streams, $set, $ends => streams_of_many_senders_are_received_whole);
    };
}

/// As `attached_suite!`, for receivers that can wait by themselves.
#[macro_export]
macro_rules! attached_and_blocking_suite {
    ($set:expr, $ends:expr) => {
        $crate::tests_of!(attached::waiting, $set, $ends =>
            the_senders_end_raises_the_id, waits_from_before_the_attachment_do_no_harm,
            blocking_waits_leave_it_attached, a_stream_is_received_in_every_way_of_waiting,
            a_receiver_whose_set_is_gone_blocks_and_is_woken);
    };
}

/// As `attached_suite!`, for channels whose senders hide, and whose receivers peek.
#[macro_export]
macro_rules! attached_and_batching_suite {
    ($set:expr, $ends:expr) => {
        $crate::tests_of!(attached::waiting, $set, $ends =>
            a_peek_that_finds_nothing_takes_the_id_down, what_was_hidden_raises_the_id_when_the_sender_goes,
            a_task_that_has_asked_is_woken_beside_the_set);
    };
}

/// As `attached_suite!`, for sets that have a descriptor.
#[macro_export]
macro_rules! attached_through_epoll_suite {
    ($set:expr, $ends:expr) => {
        $crate::tests_of!(attached::epoll, $set, $ends =>
            readable_exactly_while_a_message_may_be_there, readable_still_behind_a_refusal,
            streams_arrive_level_triggered,
            streams_arrive_edge_triggered_where_the_set_is_read_until_empty,
            receivers_in_other_threads_silence_the_descriptor);
    };
}

/// A receiver that is attached to `id` of this set, with its sender.
#[track_caller]
fn attached<R: Ends>(ends: R, set: &mut impl SignalSet, id: usize) -> (R::Sender, R::Receiver) {
    let (sender, mut receiver) = ends.pair();
    set.attach(&mut receiver, id).unwrap();
    (sender, receiver)
}

/// Fails unless these ids are up, and no others.
#[track_caller]
pub(crate) fn assert_up(set: &mut impl Wait, ids: &[usize]) {
    assert_eq!(list(set.check()), ids);
}

#[track_caller]
fn send<R: Ends>(sender: &mut R::Sender, number: usize) {
    assert!(R::send(sender, (number, None)));
}

/// The number of the next message; `None`, and the receiver has found itself empty.
#[track_caller]
fn take<R: Ends>(receiver: &mut R::Receiver) -> Option<usize> {
    match R::try_recv(receiver) {
        Ok((number, _)) => Some(number),
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => panic!("its sender is there"),
    }
}

/// Sends this many messages from a thread of its own, with gaps, in the usual way, or in all ways; and then the same
/// number through another sender, if there may be several. The senders come back.
fn stream<R: Ends>(sender: R::Sender, messages: usize, seed: usize, in_order: bool) -> Vec<JoinHandle<R::Sender>> {
    let another = R::another(&sender);
    let senders = std::iter::once(sender).chain(another).zip(0..);
    let run = move |(mut sender, index): (R::Sender, usize)| {
        let mut random = Random::new((seed + 1_000 * index) as u64);
        for number in index * messages..(index + 1) * messages {
            if in_order || random.below(8) != 0 {
                send::<R>(&mut sender, number);
            } else {
                R::send_by(&mut sender, random.below(R::WAYS), (number, None));
            }
            random.pause();
        }
        sender
    };
    senders.map(|sender| thread::spawn(move || run(sender))).collect()
}

/// What has arrived of the messages of [`stream`].
struct Arrivals {
    seen: Vec<bool>,
    received: usize,
    /// Of each sender, how many of its messages have come: all of them in order.
    next: Option<[usize; 2]>,
    each: usize,
}

impl Arrivals {
    fn of(senders: usize, each: usize, in_order: bool) -> Self {
        Self { seen: vec![false; senders * each], received: 0, next: in_order.then_some([0; 2]), each }
    }

    #[track_caller]
    fn note(&mut self, number: usize) {
        assert!(!std::mem::replace(&mut self.seen[number], true), "{number} came twice");
        if let Some(next) = &mut self.next {
            let (sender, place) = (number / self.each, number % self.each);
            assert_eq!(place, next[sender], "out of order");
            next[sender] += 1;
        }
        self.received += 1;
    }

    fn is_whole(&self) -> bool {
        self.received == self.seen.len()
    }
}
