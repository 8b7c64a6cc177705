//! Messages larger than the stack of the thread that has to drop them: where they are not asked for they never move.

use std::thread;
use std::time::Duration;

use ysuite::mailbox::{Address, Builder, Crowding, Envelope, Mailbox, ReceiveError};

use crate::support::{Counted, Tally, guarded};

/// Too large for `SMALL` bytes of stack.
struct Large(Counted, #[allow(dead_code)] [u8; 3 << 20]);

const SMALL: usize = 1 << 20;

/// Made on a thread with a large stack.
fn large(tally: &Tally) -> Envelope {
    Envelope::new(Large(tally.next(), [7; 3 << 20]))
}

/// Drops what it gets, somehow, on a thread with a small stack. All messages are dropped by then.
fn on_a_small_stack<M: Send + 'static>(tally: &Tally, message: M, drop: impl FnOnce(M) + Send + 'static) {
    let thread = thread::Builder::new().stack_size(SMALL).spawn(move || drop(message)).unwrap();
    thread.join().unwrap();
    tally.assert_all_ended();
}

fn mailbox(bound: Option<Crowding>) -> (Mailbox, Address) {
    let builder = Builder::new();
    let mailbox = bound.map_or_else(|| builder.clone(), |crowding| builder.clone().bounded(1, crowding)).build();
    let address = mailbox.address();
    (mailbox, address)
}

#[test]
fn a_large_unreceived_message_is_dropped_in_place() {
    guarded(|| {
        let tally = Tally::of(100);
        on_a_small_stack(&tally, large(&tally), drop);
        // In the mailbox when that ends: in a lane, in an mpmc channel, set aside, urgent, checked in vain.
        for bound in [None, Some(Crowding::Error)] {
            let (mut it, address) = mailbox(bound);
            address.send_envelope(large(&tally)).unwrap();
            assert_eq!(it.receive_timeout::<u8>(Duration::ZERO), Err(ReceiveError::Timeout));
            address.send_envelope(large(&tally)).unwrap();
            on_a_small_stack(&tally, (it, address), |(mut it, address)| {
                assert!(matches!(it.receive_only::<u8>(), Err(ReceiveError::Mismatch { .. })));
                drop(it);
                drop(address);
            });
        }
        let (it, address) = mailbox(None);
        address.send_priority(large(&tally)).unwrap();
        on_a_small_stack(&tally, it, drop);
        // Refused by one that has ended.
        on_a_small_stack(&tally, (address, large(&tally)), |(address, message)| {
            assert!(address.send_envelope(message).is_err());
        });
    });
}

#[test]
fn a_large_message_without_room_is_dropped_where_it_lies() {
    guarded(|| {
        let tally = Tally::of(100);
        for crowding in [Crowding::Error, Crowding::DropNewest, Crowding::DropOldest] {
            let (it, address) = mailbox(Some(crowding));
            address.send_envelope(large(&tally)).unwrap();
            on_a_small_stack(&tally, (it, address, large(&tally)), move |(it, address, message)| {
                assert_eq!(address.send_envelope(message).is_err(), crowding == Crowding::Error);
                drop(it);
            });
        }
    });
}

#[test]
fn a_large_message_left_by_a_thread_that_has_ended_is_dropped_where_it_lies() {
    guarded(|| {
        let tally = Tally::of(100);
        let mut owner = Mailbox::new();
        let message = large(&tally);
        // In the mailbox of a thread with a small stack.
        let (address, thread) =
            Builder::new().stack_size(SMALL).spawn_owned(&mut owner, |mailbox| mailbox.receive::<()>()).unwrap();
        address.send_envelope(message).unwrap();
        address.send(()).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(()));
        tally.assert_all_ended();
        let number = tally.next();
        assert_eq!(number.number, tally.made() - 1);
        let Large(first, _) = large(&tally).downcast::<Large>().unwrap();
        assert_eq!(first.number, number.number + 1, "by value it is its receiver's choice");
    });
}
