//! The operations, and how random numbers become them: smaller numbers are simpler ones, so that what fails gets simple.

use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;

use crate::random::foreign::{Deed, Deeds};

/// Which handle: modulo how many there are.
pub(crate) type Who = u8;

/// One operation. What a number means is said where it is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Send {
        by: Who,
        way: u8,
        end: Deed,
    },
    SendBatch {
        by: Who,
        count: u8,
        end: Deed,
        iterator: Deed,
    },
    Write {
        by: Who,
        end: Deed,
    },
    Unwrite {
        by: Who,
    },
    Flush {
        by: Who,
    },
    Receive {
        by: Who,
        way: u8,
    },
    ReceiveBatch {
        by: Who,
        most: u8,
        waits: bool,
    },
    Iterate {
        by: Who,
        most: u8,
        waits: bool,
    },
    Peek {
        by: Who,
    },
    PollRecv {
        by: Who,
        as_stream: bool,
        waker: Deeds,
    },
    PollReady {
        by: Who,
        waker: Deeds,
    },
    /// Begins `recv_async`, and polls it once.
    RecvAsync {
        by: Who,
        waker: Deeds,
    },
    SendAsync {
        by: Who,
        end: Deed,
        waker: Deeds,
    },
    /// Polls what has been begun; as the same task or another.
    RecvAgain {
        by: Who,
        waker: Option<Deeds>,
    },
    SendAgain {
        by: Who,
        waker: Option<Deeds>,
    },
    DropRecv {
        by: Who,
    },
    DropSend {
        by: Who,
    },
    ForgetRecv {
        by: Who,
    },
    ForgetSend {
        by: Who,
    },
    SinkReady {
        by: Who,
        waker: Deeds,
    },
    StartSend {
        by: Who,
        end: Deed,
    },
    SinkFlush {
        by: Who,
        closes: bool,
    },
    SizeHint {
        by: Who,
    },
    Attach {
        by: Who,
        set: u8,
    },
    Detach {
        by: Who,
        way: u8,
    },
    SetSpin {
        by: Who,
        way: u8,
    },
    CloneSender {
        by: Who,
    },
    CloneReceiver {
        by: Who,
    },
    DropSender {
        by: Who,
    },
    DropReceiver {
        by: Who,
    },
    CloseSender {
        by: Who,
    },
    CloseReceiver {
        by: Who,
    },
}

/// How many numbers `decode` distinguishes.
const KINDS: u8 = 91;

fn decode((kind, by, small, deed, waker): (u8, u8, u8, u8, u8)) -> Op {
    let (end, deeds) = (Deed::of(deed), Deeds::of(waker));
    let again = (small % 3 != 0).then_some(deeds);
    match kind {
        0..=9 => Op::Send { by, way: small % 4, end },
        10..=19 => Op::Receive { by, way: small % 5 },
        20..=23 => Op::SendBatch { by, count: small % 9, end, iterator: Deed::of(waker) },
        24..=28 => Op::Write { by, end },
        29..=30 => Op::Unwrite { by },
        31..=34 => Op::Flush { by },
        35..=37 => Op::ReceiveBatch { by, most: small % 6, waits: deed % 2 == 1 },
        38..=39 => Op::Iterate { by, most: small % 4, waits: deed % 2 == 1 },
        40..=41 => Op::Peek { by },
        42..=45 => Op::PollRecv { by, as_stream: small % 2 == 1, waker: deeds },
        46..=48 => Op::PollReady { by, waker: deeds },
        49..=51 => Op::RecvAsync { by, waker: deeds },
        52..=54 => Op::SendAsync { by, end, waker: deeds },
        55..=57 => Op::RecvAgain { by, waker: again },
        58..=60 => Op::SendAgain { by, waker: again },
        61..=62 => Op::DropRecv { by },
        63..=64 => Op::DropSend { by },
        65 => Op::ForgetRecv { by },
        66 => Op::ForgetSend { by },
        67..=68 => Op::SinkReady { by, waker: deeds },
        69..=71 => Op::StartSend { by, end },
        72..=73 => Op::SinkFlush { by, closes: small % 2 == 1 },
        74 => Op::SizeHint { by },
        75..=77 => Op::Attach { by, set: small % 2 },
        78 => Op::Detach { by, way: small % 2 },
        79 => Op::SetSpin { by, way: small % 3 },
        80..=81 => Op::CloneSender { by },
        82..=83 => Op::CloneReceiver { by },
        84..=85 => Op::DropSender { by },
        86..=87 => Op::DropReceiver { by },
        88 => Op::CloseSender { by },
        _ => Op::CloseReceiver { by },
    }
}

/// About how many operations a sequence has.
pub(crate) const LENGTH: usize = 60;

/// A bound, and what is done under it.
pub(crate) fn sequences(capacities: &'static [Option<usize>]) -> impl Strategy<Value = (Option<usize>, Vec<Op>)> {
    let operation = (0..KINDS, 0..4_u8, 0..24_u8, 0..14_u8, 0..16_u8);
    (select(capacities), vec(operation.prop_map(decode), 1..2 * LENGTH))
}
