//! User code that panics: a message's `Drop`, a caller's iterator. No message is dropped twice, and none is leaked.

use std::thread;

use super::{Kind, Receiving, Sending};
use crate::support::{Tally, guarded, panics};

/// Notices: rtrb#185, ringbuf#59, an element whose drop panics is dropped again.
pub(crate) fn panicking_drop_of_an_element_takes_the_rest_along<K: Kind>(kind: K) {
    let messages = kind.some(50);
    for explosive in [0, messages / 2, messages - 1] {
        for sender_first in [false, true] {
            let tally = Tally::of(messages + 1);
            let (mut sender, receiver) = kind.pair();
            tally.some(messages).for_each(|message| sender.send(message).unwrap());
            tally.explode(explosive);
            if sender_first {
                drop(sender);
                panics(|| drop(receiver));
            } else {
                panics(|| drop(receiver));
                // At once, however long the sender stays.
                tally.assert_all_ended();
                assert!(sender.send(tally.next()).is_err());
                drop(sender);
            }
            tally.assert_all_ended();
        }
    }
}

/// Claim: If an iterator panics in a batch, the messages before that are sent as far as there is room, the rest are
/// dropped, and no room is lost.
/// Also: unit queue::exchange::staging::tests::what_an_iterator_gave_before_it_panicked_is_staged_and_dropped,
/// suite spsc::bounded_7::an_iterator_that_panics_in_a_task.
pub(crate) fn iterator_that_panics_in_send_batch<K: Kind>(kind: K) {
    let messages = kind.some(100);
    for given in [0, 1, messages / 2, messages] {
        let tally = Tally::of(messages + 1);
        let (mut sender, mut receiver) = kind.pair();
        let source = tally.clone();
        let mut iterator = (0..).map(move |index| {
            assert!(index < given, "the iterator panics");
            source.next()
        });
        if given == messages && kind.capacity().is_some() {
            // The panic comes before the channel learns that there is no room.
            assert_eq!(panics(|| drop(sender.send_batch(&mut iterator))), "the iterator panics");
        } else {
            panics(|| drop(sender.send_batch(&mut iterator)));
        }
        // What it gave was given to the channel.
        assert_eq!((receiver.len(), tally.ended()), (given, 0));
        assert!(receiver.try_iter().map(|message| message.number).eq(0..given));
        tally.assert_all_ended();
        // The channel is as good as before.
        sender.send(tally.next()).unwrap();
        assert_eq!(receiver.recv().unwrap().number, given);
        drop((sender, receiver));
        tally.assert_all_ended();
    }
}

/// Claim: A panicking thread drops its handles, and the other threads continue.
/// Also: suite mpsc::endings::a_panicking_sender_thread_leaves_the_others_alone,
/// suite mpmc::many::with_a_bound::a_receiver_thread_that_panics_with_messages_in_hand_stops_no_other.
pub(crate) fn a_panicking_sender_thread_disconnects<K: Kind>(kind: K) {
    guarded(move || {
        let (mut sender, mut receiver) = kind.pair();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            panic!("as intended");
        });
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
        assert!(thread.join().is_err());
    });
}
