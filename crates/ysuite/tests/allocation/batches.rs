//! An unbounded batch of the available messages: it ends, however fast senders go on. Whenever the batch needs more
//! room, more is sent, so that the channel never runs dry.

use crate::counting::tell_of_growth;
use ysuite::{mpsc, spsc};

/// A sender that stops only here, for a batch that would not end by itself.
const STREAM: usize = 2_000_000;

/// Begins with this many messages in each lane: more than a batch takes without counting.
const FIRST: usize = 10_000;

/// Takes a batch. At each growth of it the senders send as many messages as then fit.
fn assert_ends(mut send: impl FnMut() + 'static, take: impl FnOnce(&mut Vec<usize>) -> usize) {
    let mut sent = 0;
    let mut batch = Vec::with_capacity(16);
    tell_of_growth(Some(Box::new(move |bytes| {
        let more = (bytes / size_of::<usize>()).min(STREAM - sent);
        sent += more;
        (0..more).for_each(|_| send());
    })));
    let taken = take(&mut batch);
    tell_of_growth(None);
    assert_eq!(taken, batch.len());
    assert!(taken >= FIRST, "only {taken} of what was there");
    assert!(taken < STREAM / 4, "{taken} messages: nearly all that were sent while the batch was taken");
}

/// Claim: A batch receive over several lanes ends while all senders continue to send.
#[test]
fn a_batch_of_two_lanes_ends_while_both_go_on() {
    let (mut one, mut receiver) = mpsc::unbounded();
    let mut two = one.clone();
    (0..FIRST)
        .for_each(|number| [&mut one, &mut two].map(|lane| lane.send(number).unwrap()).into_iter().for_each(drop));
    let send = move || {
        one.send(0).unwrap();
        two.send(0).unwrap();
    };
    assert_ends(send, |batch| receiver.try_recv_batch(batch, usize::MAX).unwrap());
}

/// Claim: An `spsc` batch receive without a limit ends while the sender continues to send.
#[test]
fn a_batch_of_a_pipe_ends_while_its_sender_goes_on() {
    let (mut sender, mut receiver) = spsc::unbounded();
    (0..FIRST).for_each(|number| sender.send(number).unwrap());
    assert_ends(move || sender.send(0).unwrap(), |batch| receiver.recv_batch(batch, usize::MAX).unwrap());
}
