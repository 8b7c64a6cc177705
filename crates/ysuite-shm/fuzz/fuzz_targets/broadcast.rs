//! A sender that lies in the memory of a broadcast, lossy or not: in its ring, in how much it has published, and in where
//! the receiver has joined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{BroadcastError, BroadcastReceiver, Error};
use ysuite_shm_fuzz::{
    CLOSED, FROM, Fate, Input, Kind, Liar, Memory, Message, PUBLISHED, RING, Role, attempt, lap, pair, publish,
    ring_bytes,
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

fn run<T: Message>(input: &mut Input) {
    let (capacity, is_lossy) = (1 + input.below(24), input.flip());
    let (one, other) = pair();
    let mut end = BroadcastReceiver::<T>::from_fd(one).unwrap();
    let (kind, ring) = (if is_lossy { Kind::Lossy } else { Kind::Broadcast }, ring_bytes::<T>(capacity));
    let liar = Liar::new(other, kind, Role::Sender, (size_of::<T>(), align_of::<T>()), capacity, ring);
    let memory = liar.shared.as_ref().unwrap();
    let mut published = input.below(100) as u64;
    (0..published).for_each(|position| publish_over::<T>(memory, capacity, position, is_lossy));
    liar.hello(input.flip());
    liar.page.set(FROM, published + 1);
    let (mut next, mut lies, fate) = (published, 0_u64, Fate::default());
    if input.below(4) == 0 {
        liar.page.set(FROM, input.lie(&[published + 1]));
        lies = 1;
    }
    let mut has_closed = false;
    let (mut is_over, mut left) = (false, 3);
    while left > 0 {
        is_over = is_over || input.is_over();
        has_closed |= liar.page.get(CLOSED) != 0;
        match if is_over { 7 } else { input.below(8) } {
            0..=2 if is_lossy || lies > 0 || published.wrapping_sub(next) < capacity as u64 => {
                publish_over::<T>(memory, capacity, published, is_lossy);
                published += 1;
            }
            3 => {
                let at =
                    if input.below(4) == 0 { PUBLISHED } else { RING + 8 * input.below(ring.div_ceil(8).min(256)) };
                memory.set(at, input.lie(&[memory.get(at), published, next, published + lap::<T>(capacity)]));
                lies += 1;
            }
            4 => lies += u64::from(liar.lie_in_page(input, &[published, next]) == FROM),
            5 => assert!(!end.arm() || lies > 0 || next == published, "it would sleep"),
            _ => match take(&mut end, input) {
                Ok(messages) => {
                    assert!(!fate.is_over(), "nothing behind the end");
                    for message in messages {
                        assert!(lies > 0 || next < published && message == T::of(next), "in order, each once");
                        next = next.wrapping_add(1);
                    }
                }
                Err(BroadcastError::Lagged(lost)) => {
                    assert!(is_lossy && lost > 0 && !fate.is_over());
                    assert!(lies > 0 || lost <= published - next, "no more than there were");
                    next = next.wrapping_add(lost);
                }
                Err(error) => {
                    // What is published behind the end is nobody's.
                    let is_honest = lies == 0 && !fate.is_over();
                    assert!(!is_honest || next == published);
                    if let BroadcastError::Ended(error) = error {
                        assert!(!is_honest || error != Error::Broken && has_closed);
                        fate.ended(error);
                    }
                    left -= u32::from(is_over);
                }
            },
        }
    }
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(3) {
    0 => run::<u64>(input),
    1 => run::<[u64; 3]>(input),
    _ => run::<[u64; 25]>(input),
}));
