//! A sender that lies in the memory of a broadcast, lossy or not: in its ring, in how much it has published, and in where
//! the receiver has joined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{BroadcastError, BroadcastReceiver};
use ysuite_shm_fuzz::{
    FROM, Input, Kind, Liar, Memory, Message, PUBLISHED, RING, Role, Trial, attempt, lap, pair, publish, ring_bytes,
};

/// As an honest sender does, that waits for nobody.
fn publish_over<T: Message>(memory: &Memory, capacity: usize, position: u64, is_lossy: bool) {
    let at = (position % lap::<T>(capacity)) as usize;
    if is_lossy && at.is_multiple_of(T::SLOTS) {
        memory.set(RING + at / T::SLOTS * T::STRIDE, position);
    }
    publish::<T>(memory, capacity, position);
    memory.set(PUBLISHED, position.wrapping_add(1));
}

/// What a call has received: messages, or a number of lost ones.
fn take<T: Message>(end: &mut BroadcastReceiver<T>, input: &mut Input) -> Result<Vec<T>, BroadcastError> {
    if input.flip() {
        return end.try_recv().map(|message| vec![message]);
    }
    let mut messages = Vec::new();
    end.try_recv_batch(&mut messages, 1 + input.below(40))?;
    Ok(messages)
}

/// A receiver that joins behind some messages, or is told that it does.
fn run<T: Message>(input: &mut Input) {
    let (capacity, is_lossy, (one, other)) = (1 + input.below(24), input.flip(), pair());
    let mut end = BroadcastReceiver::<T>::from_fd(one).unwrap();
    let (kind, ring) = (if is_lossy { Kind::Lossy } else { Kind::Broadcast }, ring_bytes::<T>(capacity));
    let liar = Liar::new(other, kind, Role::Sender, (size_of::<T>(), align_of::<T>()), capacity, ring);
    let memory = liar.shared.as_ref().unwrap();
    let mut published = input.below(100) as u64;
    (0..published).for_each(|position| publish_over::<T>(memory, capacity, position, is_lossy));
    liar.hello(input.flip());
    liar.page.set(FROM, published + 1);
    let (mut trial, mut received) = (Trial::new(3), published);
    if input.below(4) == 0 {
        liar.page.set(FROM, input.lie(&[published + 1]));
        trial.lies = 1;
    }
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0..=2 if is_lossy || !trial.is_honest() || published - received < capacity as u64 => {
                publish_over::<T>(memory, capacity, published, is_lossy);
                published += 1;
            }
            3 => {
                let word = RING + 8 * input.below(ring.div_ceil(8).min(256));
                let at = if input.below(4) == 0 { PUBLISHED } else { word };
                memory.set(at, input.lie(&[memory.get(at), published, received, published + lap::<T>(capacity)]));
                trial.lies += 1;
            }
            4 => trial.lies += u64::from(liar.lie_in_page(input, &[published, received]) == FROM),
            5 => assert!(!end.arm() || !trial.is_honest() || received == published, "it would sleep"),
            _ => received = takes(&mut end, input, &mut trial, received..published),
        }
    }
}

/// A call that receives; `rest`: what it has not received, if its sender has not lied. How far it has received now.
fn takes<T: Message>(
    end: &mut BroadcastReceiver<T>,
    input: &mut Input,
    trial: &mut Trial,
    rest: std::ops::Range<u64>,
) -> u64 {
    let taken = match take(end, input) {
        Ok(messages) => {
            trial.received_some();
            let is_next = messages.iter().zip(rest.clone()).all(|(message, number)| *message == T::of(number));
            assert!(
                !trial.is_honest() || is_next && messages.len() as u64 <= rest.end - rest.start,
                "in order, each once"
            );
            messages.len() as u64
        }
        Err(BroadcastError::Lagged(lost)) => {
            trial.received_some();
            assert!(lost > 0 && (!trial.is_honest() || lost <= rest.end - rest.start), "no more than there were");
            lost
        }
        Err(BroadcastError::Empty) => {
            trial.received_none(None, rest.is_empty(), false);
            0
        }
        Err(BroadcastError::Ended(error)) => {
            trial.received_none(Some(error), rest.is_empty(), false);
            0
        }
    };
    rest.start.wrapping_add(taken)
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(4) {
    0 => run::<u64>(input),
    1 => run::<[u64; 3]>(input),
    2 => run::<[u64; 8]>(input),
    _ => run::<[u64; 25]>(input),
}));
