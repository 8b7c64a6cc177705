//! Packets of any kind, with descriptors of any kind and memory whose header is any, to an end that has not met its peer;
//! and what that end does with a peer that it has met all the same.
#![no_main]

use std::os::fd::AsFd;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{
    BroadcastError, BroadcastReceiver, BytesReceiver, BytesSender, Error, Options, Receiver, Sender, TryRecvError,
    TrySendError, WatchReceiver, WorkReceiver,
};
use ysuite_shm_fuzz::{Fate, Input, Kind, Liar, Packet, Role, attempt, pair};

const NOW: Duration = Duration::ZERO;

/// An end, of whichever kind.
trait Tried {
    fn meet(&mut self) -> Result<bool, Error>;
    /// Sends or receives; why it cannot any more.
    fn act(&mut self) -> Option<Error>;
    fn arm(&mut self) -> bool;
}

macro_rules! tried {
    ($($end:ty, $meet:expr, $arm:expr, $act:expr;)*) => {$(
        impl Tried for $end {
            fn meet(&mut self) -> Result<bool, Error> {
                let meet: fn(&mut Self) -> Result<bool, Error> = $meet;
                meet(self)
            }

            fn act(&mut self) -> Option<Error> {
                let act: fn(&mut Self) -> Option<Error> = $act;
                act(self)
            }

            fn arm(&mut self) -> bool {
                let arm: fn(&mut Self) -> bool = $arm;
                arm(self)
            }
        }
    )*};
}

fn received<T>(outcome: Result<T, TryRecvError>) -> Option<Error> {
    match outcome {
        Err(TryRecvError::Ended(error)) => Some(error),
        _ => None,
    }
}

fn sent<T>(outcome: Result<(), TrySendError<T>>) -> Option<Error> {
    match outcome {
        Err(TrySendError::Ended(_, error)) => Some(error),
        _ => None,
    }
}

// The ends of bytes cannot be asked.
tried! {
    Sender<u64>, |end| end.meet_timeout(NOW), |end| end.arm(), |end| sent(end.try_send(7));
    BytesSender, |_| Ok(true), |end| end.arm(8), |end| sent(end.try_send(b"8 bytes."));
    Receiver<u64>, |end| end.meet_timeout(NOW), |end| end.arm(), |end| received(end.try_recv());
    BytesReceiver, |_| Ok(true), |end| end.arm(), |end| received(end.try_recv());
    WatchReceiver<u64>, |end| end.meet_timeout(NOW), |end| end.arm(), |end| received(end.try_recv());
    WorkReceiver<u64>, |end| end.meet_timeout(NOW), |end| end.arm(), |end| received(end.try_recv().map(drop));
    BroadcastReceiver<u64>, |end| end.meet_timeout(NOW), |end| end.arm(), |end| match end.try_recv() {
        Err(BroadcastError::Ended(error)) => Some(error),
        _ => None,
    };
}

/// An end, and the liar at the other one.
fn ends(input: &mut Input) -> (Box<dyn Tried>, Liar) {
    let options = if input.flip() { Options::new().careful() } else { Options::new() };
    let ((one, other), capacity) = (pair(), 1 + input.below(16));
    let ring = (capacity.div_ceil(7) + 1) * 64;
    let sender = |kind, capacity, ring, size| (kind, Role::Sender, (size, size), capacity, ring);
    let receiver = |kind, size| (kind, Role::Receiver, (size, size), 0, 0);
    let (end, (kind, role, shape, capacity, ring)): (Box<dyn Tried>, _) = match input.below(8) {
        0 => (Box::new(options.sender::<u64>(one, capacity).unwrap()), receiver(Kind::Typed, 8)),
        1 => (Box::new(options.bytes_sender(one, 16 * capacity).unwrap()), receiver(Kind::Bytes, 1)),
        2 => (Box::new(options.receiver::<u64>(one).unwrap()), sender(Kind::Typed, capacity, ring, 8)),
        3 => (Box::new(options.bytes_receiver(one).unwrap()), sender(Kind::Bytes, 16 * capacity, 16 * capacity, 1)),
        4 => (Box::new(options.watch_receiver::<u64>(one).unwrap()), sender(Kind::Watch, 16, 16 * 64, 8)),
        5 => (Box::new(options.work_receiver::<u64>(one).unwrap()), sender(Kind::Work, capacity, ring, 8)),
        6 => (Box::new(options.broadcast_receiver::<u64>(one).unwrap()), sender(Kind::Broadcast, capacity, ring, 8)),
        _ => (Box::new(options.broadcast_receiver::<u64>(one).unwrap()), sender(Kind::Lossy, capacity, ring, 8)),
    };
    (end, Liar::new(other, kind, role, shape, capacity, ring))
}

fn run(input: &mut Input) {
    let (mut end, liar) = ends(input);
    let (mut liar, mut fate, mut is_met) = (Some(liar), Fate::default(), false);
    while !input.is_over() {
        match (input.below(8), &liar) {
            (0..=2, Some(liar)) => Packet::of(input, liar).send(liar.socket.as_fd()),
            (3, Some(liar)) => _ = liar.lie_in_page(input, &[]),
            (4, Some(_)) if input.below(4) == 0 => liar = None,
            (5, _) => _ = end.arm(),
            (6, _) => match end.meet() {
                Ok(met) => {
                    assert!(met || !is_met && !fate.is_over(), "who was met stays met");
                    is_met = met;
                }
                Err(error) => fate.ended(error),
            },
            _ => end.act().into_iter().for_each(|error| fate.ended(error)),
        }
    }
    // Whatever has come of it: nobody is there any more, and that is noticed. A sender first fills its ring.
    drop(liar);
    assert!((0..300).any(|_| {
        end.arm();
        end.act().is_some()
    }));
}

fuzz_target!(|data: &[u8]| attempt(data, run));
