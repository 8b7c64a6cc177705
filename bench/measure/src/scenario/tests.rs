//! The drivers must detect every failure of a transport, each in its own way.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use super::crowd::{Crowd, Work};
use super::{bounces, burst, carried, crowd, ping_pong, size, throughput};
use crate::alarm::Until;
use crate::error::Fault;
use crate::frame::Frame;
use crate::place::Place;
use crate::rounds::Length;
use crate::transport::mutex_spin::{Looking, Pause};
use crate::transport::std_mpsc::Channel;
use crate::transport::{Closed, Message, Receiver, Sender, Traits, Transport, Waits};

pub(super) const FAULTLESS: usize = 0;
pub(super) const REORDERS: usize = 1;
pub(super) const LOSES: usize = 2;
pub(super) const LOSES_THE_LAST: usize = 3;
pub(super) const REPEATS: usize = 4;
pub(super) const REPEATS_THE_LAST: usize = 5;
pub(super) const GOES_AWAY: usize = 6;

/// The number of messages in the tests.
pub(super) const MESSAGES: usize = 100;

/// A channel whose sender misbehaves around message 50, or at the end.
pub(super) struct Faulty<const HOW: usize>;

pub(super) struct FaultySender<M: Message, const HOW: usize> {
    inner: Option<<Channel as Transport>::Sender<M>>,
    held: VecDeque<M>,
}

impl<const HOW: usize> Transport for Faulty<HOW> {
    const TRAITS: Traits = Traits {
        name: "faulty",
        about: "A channel that fails validation",
        waits: Waits::Sleeps,
        batches: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = FaultySender<M, HOW>;
    type Receiver<M: Message> = <Channel as Transport>::Receiver<M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let (sender, receiver) = Channel::open()?;
        Ok((FaultySender { inner: Some(sender), held: VecDeque::new() }, receiver))
    }
}

impl<M: Message, const HOW: usize> Sender<M> for FaultySender<M, HOW> {
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let last = MESSAGES - 1;
        let number = message.number();
        match (HOW, number) {
            (REORDERS, 50) => {
                self.held.push_back(message);
                return Ok(());
            }
            (LOSES, 50) => return Ok(()),
            (GOES_AWAY, 50) => self.inner = None,
            (REPEATS, 50) => self.pass(M::numbered(number))?,
            _ if HOW == LOSES_THE_LAST && number == last => return Ok(()),
            _ if HOW == REPEATS_THE_LAST && number == last => self.pass(M::numbered(number))?,
            _ => {}
        }
        self.pass(M::numbered(number))?;
        while let Some(held) = self.held.pop_front() {
            self.pass(held)?;
        }
        Ok(())
    }
}

impl<M: Message, const HOW: usize> FaultySender<M, HOW> {
    fn pass(&mut self, message: M) -> Result<(), Closed> {
        self.inner.as_mut().ok_or(Closed)?.send(message)
    }
}

pub(super) fn place() -> Place {
    Place::choose(None).unwrap()
}

/// A driver of a stream, given as a generic function and its arguments after the place, must detect every kind of
/// failure, with both threads on two CPUs and on one.
macro_rules! streams_are_checked {
    ($run:ident $(, $argument:expr)*) => {{
        use $crate::error::Fault;
        use $crate::scenario::tests::{self, Faulty};
        let place = tests::place();
        for place in [place, place.together()] {
            assert!($run::<Faulty<{ tests::FAULTLESS }>, usize>(place $(, $argument)*).is_ok());
            let fault = $run::<Faulty<{ tests::REORDERS }>, usize>(place $(, $argument)*).unwrap_err();
            assert!(matches!(fault, Fault::OutOfOrder { expected: 50, received: 51 }), "{fault:?}");
            let fault = $run::<Faulty<{ tests::LOSES }>, usize>(place $(, $argument)*).unwrap_err();
            assert!(matches!(fault, Fault::OutOfOrder { expected: 50, received: 51 }), "{fault:?}");
            let fault = $run::<Faulty<{ tests::LOSES_THE_LAST }>, usize>(place $(, $argument)*).unwrap_err();
            assert!(matches!(fault, Fault::Lost { expected: 99 }), "{fault:?}");
            let fault = $run::<Faulty<{ tests::REPEATS }>, usize>(place $(, $argument)*).unwrap_err();
            assert!(matches!(fault, Fault::OutOfOrder { expected: 51, received: 50 }), "{fault:?}");
            let fault = $run::<Faulty<{ tests::REPEATS_THE_LAST }>, usize>(place $(, $argument)*).unwrap_err();
            assert!(matches!(fault, Fault::TooMany { received: 99 }), "{fault:?}");
            let fault = $run::<Faulty<{ tests::GOES_AWAY }>, usize>(place $(, $argument)*).unwrap_err();
            assert!(matches!(fault, Fault::Disconnected { expected: 50 }), "{fault:?}");
        }
    }};
}
pub(super) use streams_are_checked;

/// Every driver of a stream that ends at [`MESSAGES`].
fn streamed<const HOW: usize>() -> Vec<Option<Fault>> {
    let place = place();
    let messages = MESSAGES as u64;
    // Every pair of the crowd sends that number.
    let crowd = 4 * place.cpus().len() as u64 * messages;
    let mut faults = vec![
        throughput::one_by_one::<Faulty<HOW>, usize>(place, messages).err(),
        throughput::in_batches::<Faulty<HOW>>(place, messages, 8).err(),
        // One burst before the one that counts.
        burst::run::<Faulty<HOW>>(place, messages / 2, messages / 2).err(),
        crowd::run::<Faulty<HOW>>(place, Crowd::of(8), Work::Streams, crowd).err(),
    ];
    for bytes in [64.0, 65_536.0] {
        let ways = carried::checked(bytes).unwrap();
        faults.extend(ways.into_iter().map(|parameter| size::run::<Faulty<HOW>>(place, parameter, messages).err()));
    }
    faults
}

#[test]
fn a_faultless_transport_passes() {
    assert!(streamed::<FAULTLESS>().iter().all(Option::is_none));
    let timed = ping_pong::run::<Faulty<FAULTLESS>, usize>(place(), MESSAGES as u64).unwrap();
    assert_eq!(timed.units, 2 * MESSAGES as u64);
}

#[test]
fn reordering_is_caught() {
    for fault in streamed::<REORDERS>() {
        assert!(matches!(fault, Some(Fault::OutOfOrder { expected: 50, received: 51 })), "{fault:?}");
    }
}

#[test]
fn a_loss_in_the_middle_is_caught() {
    for fault in streamed::<LOSES>() {
        assert!(matches!(fault, Some(Fault::OutOfOrder { expected: 50, received: 51 })), "{fault:?}");
    }
}

#[test]
fn a_loss_at_the_end_is_caught() {
    for fault in streamed::<LOSES_THE_LAST>() {
        assert!(matches!(fault, Some(Fault::Lost { expected: 99 })), "{fault:?}");
    }
}

#[test]
fn a_repetition_is_caught() {
    for fault in streamed::<REPEATS>() {
        assert!(matches!(fault, Some(Fault::OutOfOrder { expected: 51, received: 50 })), "{fault:?}");
    }
}

#[test]
fn a_message_too_many_is_caught() {
    for fault in streamed::<REPEATS_THE_LAST>() {
        assert!(matches!(fault, Some(Fault::TooMany { received: 99 })), "{fault:?}");
    }
}

#[test]
fn a_sender_that_goes_away_is_caught() {
    for fault in streamed::<GOES_AWAY>() {
        assert!(matches!(fault, Some(Fault::Disconnected { expected: 50 })), "{fault:?}");
    }
}

#[test]
fn a_repetition_in_ping_pong_is_caught() {
    let fault = ping_pong::run::<Faulty<REPEATS>, usize>(place(), MESSAGES as u64).unwrap_err();
    assert!(matches!(fault, Fault::OutOfOrder { .. } | Fault::Lost { .. }), "{fault:?}");
}

#[test]
fn a_bounce_whose_time_is_over_ends_with_the_message_under_way() {
    let open = bounces::open::<Looking<Pause>, usize>;
    for place in [place(), place().together()] {
        let (timed, _) = ping_pong::bounced(place, 1_000, Until::over(), open).unwrap();
        assert_eq!(timed.units, 2);
        let (timed, _) = ping_pong::bounced(place, 3, Until::default(), open).unwrap();
        assert_eq!(timed.units, 6);
    }
}

#[test]
fn runs_of_those_that_never_sleep_end_with_their_time_where_others_want_their_cpu() {
    let length = Length::Time(Duration::from_millis(1));
    let frame = Frame { place: place().together(), rounds: 1, transports: length, limits: length, named: false };
    let (sleeping, none) = ping_pong::beside_others(Waits::Sleeps, frame);
    assert_eq!((sleeping.transports, none), (length, None));
    let (spinning, some) = ping_pong::beside_others(Waits::Spins, frame);
    assert!(matches!(spinning.transports, Length::Units(_)) && some.is_some());
    // The user fixed the number, and the time limit still applies.
    let fixed = Frame { transports: Length::Units(7), ..frame };
    let (fixed, some) = ping_pong::beside_others(Waits::Spins, fixed);
    assert!(fixed.transports == Length::Units(7) && some.is_some());
}

/// The user's view of a fault: the name, the failure, exit status 1.
#[test]
fn the_sentence_names_the_transport() {
    let fault = streamed::<REORDERS>().into_iter().flatten().next().unwrap();
    let error = crate::error::Error::Broken { contender: "faulty".into(), fault };
    assert_eq!(error.to_string(), "faulty delivered message 51 where message 50 was due.");
    assert_eq!(error.exit_status(), 1);
}

#[test]
fn the_receiver_of_a_faulty_stream_goes_away_and_the_sender_stops() {
    // A bounded competitor would block for ever on a receiver that only stopped polling.
    let (mut sender, receiver) = crate::transport::std_mpsc::SyncChannel::open().unwrap();
    drop::<Box<dyn Receiver<usize>>>(Box::new(receiver));
    assert_eq!(Sender::send(&mut sender, 1), Err(Closed));
}
