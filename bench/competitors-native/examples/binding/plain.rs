//! The loops of `c/binding_loops.h` in Rust, with the channel of Rust. Each stays a function of its own, compiled alone.

use std::mem::MaybeUninit;

use ysuite::spsc;

/// Every word is the number.
type Message<const WORDS: usize> = [usize; WORDS];

pub(crate) struct Ends<const WORDS: usize> {
    sender: spsc::Sender<Message<WORDS>>,
    receiver: spsc::Receiver<Message<WORDS>>,
    taken: Vec<Message<WORDS>>,
}

pub(crate) fn open<const WORDS: usize>() -> Ends<WORDS> {
    let (sender, receiver) = spsc::unbounded();
    Ends { sender, receiver, taken: Vec::new() }
}

/// The error in a message: 0 is none.
#[inline(always)]
fn wrong<const WORDS: usize>(message: &Message<WORDS>, number: usize) -> usize {
    message.iter().fold(0, |wrong, word| wrong | (word ^ number))
}

#[inline(never)]
pub(crate) fn one_by_one<const WORDS: usize>(ends: &mut Ends<WORDS>, count: usize, burst: usize, _: usize) -> bool {
    let mut all = 0;
    for first in (0..count).step_by(burst) {
        for number in first..first + burst {
            all |= usize::from(ends.sender.send([number; WORDS]).is_err());
        }
        for number in first..first + burst {
            let Ok(message) = ends.receiver.recv() else { return false };
            all |= wrong(&message, number);
        }
    }
    all == 0
}

#[inline(never)]
pub(crate) fn in_place<const WORDS: usize>(ends: &mut Ends<WORDS>, count: usize, burst: usize, _: usize) -> bool {
    let mut all = 0;
    for first in (0..count).step_by(burst) {
        let mut number = first;
        let Ok(mut permits) = ends.sender.reserve_many(burst) else { return false };
        while !permits.is_empty() {
            let slots: &mut [MaybeUninit<Message<WORDS>>] = permits.slots();
            let length = slots.len();
            for slot in slots {
                slot.write([number; WORDS]);
                number += 1;
            }
            // SAFETY: every slot has just been written.
            all |= usize::from(unsafe { permits.commit(length) }.is_err());
        }
        let mut number = first;
        while number < first + burst {
            let run = ends.receiver.peek_run();
            let length = run.len();
            if length == 0 {
                return false;
            }
            for message in run {
                all |= wrong(message, number);
                number += 1;
            }
            ends.receiver.consume(length);
        }
    }
    all == 0
}

#[inline(never)]
pub(crate) fn batches<const WORDS: usize>(ends: &mut Ends<WORDS>, count: usize, burst: usize, batch: usize) -> bool {
    let mut all = 0;
    for first in (0..count).step_by(burst) {
        for sent in (first..first + burst).step_by(batch) {
            let messages = (sent..sent + batch).map(|number| [number; WORDS]);
            all |= usize::from(ends.sender.send_batch(messages).is_err());
        }
        let mut number = first;
        while number < first + burst {
            ends.taken.clear();
            if ends.receiver.recv_batch(&mut ends.taken, batch).is_err() {
                return false;
            }
            for message in &ends.taken {
                all |= wrong(message, number);
                number += 1;
            }
        }
    }
    all == 0
}
