//! One message bounced between two threads: the loops of both sides, and the handles that they have.
//!
//! ```text
//!   asks           i ----------- there ----------> i      answers
//!                  i <---------- back ------------ i
//! ```
//!
//! Each side has its handles behind a pointer. One call is made for all of its loop, which is compiled for each transport
//! and message.

use std::io;
use std::marker::PhantomData;
use std::time::Instant;

use super::stamped::{Now, now};
use super::{END, check, expect, expect_end};
use crate::alarm::Until;
use crate::error::Fault;
use crate::stage::Timed;
use crate::transport::{Message, Receiver, Sender, Transport};

/// Readings of the clock before each send, and after its reply.
pub(super) type RoundTrips = (Vec<u64>, Vec<u64>);

/// The side that sends first.
pub(super) trait Asks: Send {
    /// One bounce for each pair of stamps: one is taken before the send, one after the reply.
    fn stamped(self: Box<Self>, sent: Vec<u64>, answered: Vec<u64>) -> Result<RoundTrips, Fault>;

    /// This number of bounces, and none that begins after the time is over. The units of the result are messages, two for
    /// each bounce.
    fn counted(self: Box<Self>, bounces: usize, until: Until) -> Result<Timed, Fault>;
}

/// The side that sends every message back, and checks it on its way.
pub(super) trait Answers: Send {
    /// One message for each stamp, which is taken after the receipt.
    fn stamped(self: Box<Self>, stamps: Vec<u64>) -> Result<Vec<u64>, Fault>;

    /// Until the end.
    fn plain(self: Box<Self>) -> Result<(), Fault>;
}

/// Both sides.
pub(super) type Bounces = (Box<dyn Asks>, Box<dyn Answers>);

/// Opens them for a number of bounces.
pub(super) type Open = fn(usize) -> io::Result<Bounces>;

/// Two transports, one for each direction.
pub(super) fn open<T: Transport, M: Message>(bounces: usize) -> io::Result<Bounces> {
    with_clock::<T, M, _>(bounces, now())
}

pub(super) fn with_clock<T: Transport, M: Message, N: Now>(bounces: usize, now: N) -> io::Result<Bounces> {
    let (there_in, there_out) = T::open_for::<M>(bounces)?;
    let (back_in, back_out) = T::open_for::<M>(bounces)?;
    let asks = Asking { there: there_in, back: back_out, now, message: PhantomData::<fn() -> M> };
    let answers = Answering { there: there_out, back: back_in, now, message: PhantomData::<fn() -> M> };
    Ok((Box::new(asks), Box::new(answers)))
}

/// The side that sends first, of two handles.
pub(super) fn asking<M: Message>(
    there: impl Sender<M>,
    back: impl Receiver<M>,
    message: PhantomData<fn() -> M>,
) -> Box<dyn Asks> {
    Box::new(Asking { there, back, now: now(), message })
}

/// The side that answers, of two handles.
pub(super) fn answering<M: Message>(
    there: impl Receiver<M>,
    back: impl Sender<M>,
    message: PhantomData<fn() -> M>,
) -> Box<dyn Answers> {
    Box::new(Answering { there, back, now: now(), message })
}

struct Asking<S, R, N, M> {
    there: S,
    back: R,
    now: N,
    message: PhantomData<fn() -> M>,
}

struct Answering<R, S, N, M> {
    there: R,
    back: S,
    now: N,
    message: PhantomData<fn() -> M>,
}

impl<M: Message, S: Sender<M>, R: Receiver<M>, N: Now> Asks for Asking<S, R, N, M> {
    #[inline(never)]
    fn stamped(self: Box<Self>, sent: Vec<u64>, answered: Vec<u64>) -> Result<RoundTrips, Fault> {
        // Variables of its own: an argument stays where the caller has put it.
        let Self { mut there, mut back, now, .. } = *self;
        let (mut sent, mut answered) = (sent, answered);
        for (message, (sent, answered)) in sent.iter_mut().zip(&mut answered).enumerate() {
            *sent = now();
            // A peer that is dropped is reported on the way back.
            let _ = there.send(M::numbered(message));
            if let Err(fault) = expect(&mut back, message) {
                let _ = there.send(M::numbered(END));
                return Err(fault);
            }
            *answered = now();
        }
        let _ = there.send(M::numbered(END));
        expect_end(&mut back)?;
        Ok((sent, answered))
    }

    #[inline(never)]
    fn counted(self: Box<Self>, bounces: usize, until: Until) -> Result<Timed, Fault> {
        let Self { mut there, mut back, .. } = *self;
        let mut done = 0;
        let start = Instant::now();
        for message in 0..bounces {
            // A peer that is dropped is reported on the way back.
            let _ = there.send(M::numbered(message));
            if let Err(fault) = expect(&mut back, message) {
                let _ = there.send(M::numbered(END));
                return Err(fault);
            }
            done = message + 1;
            if until.is_over() {
                break;
            }
        }
        let end = Instant::now();
        let _ = there.send(M::numbered(END));
        expect_end(&mut back)?;
        Ok(Timed::between(start, end, 2 * done as u64))
    }
}

impl<M: Message, R: Receiver<M>, S: Sender<M>, N: Now> Answers for Answering<R, S, N, M> {
    #[inline(never)]
    fn stamped(self: Box<Self>, stamps: Vec<u64>) -> Result<Vec<u64>, Fault> {
        let Self { mut there, mut back, now, .. } = *self;
        let mut stamps = stamps;
        for (expected, stamp) in stamps.iter_mut().enumerate() {
            let received = there.recv();
            *stamp = now();
            match received {
                // The message itself goes back: nothing is made or freed on the way.
                Ok(message) if message.number() == expected => {
                    if back.send(message).is_err() {
                        // The other thread has stopped, and reports the reason.
                        return Ok(stamps);
                    }
                }
                other => {
                    let _ = back.send(M::numbered(END));
                    check(other, expected)?;
                }
            }
        }
        expect_end(&mut there)?;
        // Some transports do not report a dropped peer, and this one is waited for.
        let _ = back.send(M::numbered(END));
        Ok(stamps)
    }

    #[inline(never)]
    fn plain(self: Box<Self>) -> Result<(), Fault> {
        let Self { mut there, mut back, .. } = *self;
        let mut expected = 0;
        loop {
            let received = there.recv();
            let number = received.as_ref().map(Message::number).map_err(|closed| *closed);
            if number != Ok(expected) {
                let _ = back.send(M::numbered(END));
                // The other thread has the right number, and detects an early end itself.
                return if number == Ok(END) { Ok(()) } else { Err(super::fault(expected, number)) };
            }
            // The message itself goes back: nothing is made or freed on the way.
            if received.is_ok_and(|message| back.send(message).is_err()) {
                return Ok(());
            }
            expected += 1;
        }
    }
}
