//! Mailboxes: each part of what they promise in a file of its own.

mod bounds;
mod large;
mod names;
mod order;
mod random;
mod receiving;
mod relations;
#[cfg(feature = "select")]
mod selected;
mod thread_locals;

use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::thread;

use crate::support::{Tally, calls, guarded, panics};
use ysuite::Spin;
use ysuite::mailbox::{self, Address, Builder, Envelope, Mailbox, ReceiveError, SendError};

#[test]
fn an_address_is_a_word_that_is_shared_compared_and_printed() {
    fn is_shared<T: Clone + Send + Sync + std::hash::Hash + Ord + std::fmt::Debug>(_: &T) {}
    let (one, two) = (Mailbox::new(), Builder::new().name("adder").build());
    let (first, second) = (one.address(), two.address());
    is_shared(&first);
    assert!(first == first.clone() && first != second && first < second);
    assert_eq!(HashSet::from([first.clone(), first.clone(), second.clone()]).len(), 2);
    let hash = |address: &Address| BuildHasherDefault::<DefaultHasher>::default().hash_one(address);
    assert!(hash(&first) == hash(&first.clone()) && hash(&first) != hash(&second));
    assert_eq!(BTreeSet::from([&second, &first]).first(), Some(&&first));
    assert_eq!((first.name(), second.name()), (None, Some("adder")));
    let number = first.to_string().strip_prefix("mailbox ").unwrap().parse::<u64>().unwrap();
    assert_eq!(second.to_string().split(' ').next_back(), Some("(adder)"));
    assert_eq!(format!("{first:?}"), format!("Address(mailbox {number})"));
    assert!(format!("{one:?}").starts_with("Mailbox { is: mailbox "));
    assert_eq!(size_of::<Address>(), size_of::<usize>());
}

#[test]
fn a_dead_mailbox_gives_the_value_back() {
    // By a lane that was there before, and by one that was not.
    for known in [true, false] {
        let mailbox = Mailbox::new();
        let address = mailbox.address();
        if known {
            address.send(1_u8).unwrap();
        }
        drop(mailbox);
        for _ in 0..2 {
            assert_eq!(address.send(String::from("back")), Err(SendError::Ended(String::from("back"))));
            assert_eq!(address.send_priority([7_u64; 9]), Err(SendError::Ended([7; 9])));
        }
        let back = address.send_envelope(Envelope::new(5_i8)).unwrap_err();
        assert!(back.is_ended() && !back.is_full());
        assert_eq!(back.to_string(), "sending to a mailbox that has ended");
        assert_eq!(format!("{back:?}"), "Ended(..)");
        assert_eq!(back.into_inner().downcast::<i8>().unwrap(), 5);
    }
}

#[test]
fn a_thread_of_its_own_ends_with_its_function() {
    guarded(|| {
        let (address, thread) = Builder::new()
            .name("summer")
            .stack_size(1 << 20)
            .spawn(|mailbox| {
                assert_eq!(thread::current().name(), Some("summer"));
                let mut sum = 0;
                while let Ok(number) = mailbox.receive_only::<i32>() {
                    sum += number;
                }
                sum
            })
            .unwrap();
        (0..100).for_each(|number| address.send(number).unwrap());
        // No address of it is left: that is how it ends.
        drop(address);
        assert_eq!(thread.join().unwrap(), 4950);
    });
}

#[test]
fn a_mailbox_whose_last_address_goes_is_woken() {
    guarded(|| {
        for pause in 0..30 {
            let (address, thread) = Builder::new().spawn(|mailbox| mailbox.receive::<u8>()).unwrap();
            let clone = address.clone();
            drop(address);
            thread::sleep(std::time::Duration::from_micros(pause * 20));
            drop(clone);
            assert_eq!(thread.join().unwrap(), Err(ReceiveError::Disconnected));
        }
    });
}

#[test]
fn a_mailbox_without_addresses_is_open_again_with_the_next() {
    let mut mailbox = Mailbox::new();
    assert_eq!(mailbox.receive::<u8>(), Err(ReceiveError::Disconnected));
    let address = mailbox.address();
    address.send(1_u8).unwrap();
    drop(address);
    // What was sent before is received first.
    assert_eq!(mailbox.receive::<u8>(), Ok(1));
    assert_eq!(mailbox.receive::<u8>(), Err(ReceiveError::Disconnected));
    mailbox.address().send(2_u8).unwrap();
    assert_eq!(mailbox.receive_only::<u8>(), Ok(2));
}

/// Claim: Each mailbox message is received, returned or dropped once, wherever it is.
#[test]
fn every_message_is_dropped_once_wherever_it_is() {
    guarded(|| {
        let tally = Tally::of(400);
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let send = |messages: usize| tally.some(messages).for_each(|message| address.send(message).unwrap());
        send(10);
        // Set aside, in the lane, urgent, and in a lane whose thread has ended.
        assert!(mailbox.receive_timeout::<u8>(std::time::Duration::ZERO).is_err());
        assert_eq!(mailbox.set_aside(), 10);
        send(10);
        tally.some(10).for_each(|message| address.send_priority(message).unwrap());
        let (source, to) = (tally.clone(), address.clone());
        thread::spawn(move || source.some(10).for_each(|message| to.send((message, [0_u64; 8])).unwrap()))
            .join()
            .unwrap();
        assert_eq!(tally.ended(), 0);
        drop(mailbox.receive::<crate::support::Counted>());
        assert_eq!(tally.ended(), 1);
        drop(mailbox);
        assert_eq!(tally.ended(), 40);
        assert!(address.send(tally.next()).is_err());
        tally.assert_all_ended();
    });
}

#[test]
fn a_message_whose_drop_panics_affects_no_other() {
    guarded(|| {
        let tally = Tally::of(30);
        tally.explode(4);
        let mut watching = Mailbox::new();
        let ended = mailbox::spawn(|mailbox: &mut Mailbox| mailbox.receive::<()>());
        watching.link(&ended);
        tally.some(30).for_each(|message| ended.send(message).unwrap());
        ended.send(()).unwrap();
        // Thirty messages go with the mailbox, one of them in a panic; its end is announced all the same.
        assert!(
            matches!(watching.receive_only::<u8>(), Err(ReceiveError::LinkTerminated(end)) if *end.address() == ended)
        );
        tally.assert_all_ended();
    });
}

#[test]
fn a_message_that_sends_when_it_is_dropped_with_its_mailbox() {
    struct Sender(Address, Address, Tally);
    impl Drop for Sender {
        fn drop(&mut self) {
            // Its own mailbox is ending: what is sent there comes back, or is dropped with the others.
            drop(self.0.send(self.2.next()));
            self.1.send(2_u8).unwrap();
        }
    }
    guarded(|| {
        let mut other = Mailbox::new();
        let tally = Tally::of(2);
        for aside in [true, false] {
            let mut mailbox = Mailbox::new();
            let (own, foreign) = (mailbox.address(), other.address());
            own.send(Sender(own.clone(), foreign, tally.clone())).unwrap();
            if aside {
                assert!(mailbox.receive_timeout::<u8>(std::time::Duration::ZERO).is_err());
            }
            drop(mailbox);
            assert_eq!(other.receive::<u8>(), Ok(2));
        }
        tally.assert_all_ended();
        assert_eq!(tally.made(), 2);
    });
}

/// What was left in a lane may be dropped by the lane, after a message that comes back.
#[test]
fn a_refused_message_ends_with_a_lane_whose_messages_panic() {
    struct Sender(Address, Tally);
    impl Drop for Sender {
        fn drop(&mut self) {
            // Not by the lane that has the other message: that one stays there until the lane goes.
            assert_eq!(panics(|| drop(self.0.send_priority(self.1.next()))), "the end of message 0");
        }
    }
    guarded(|| {
        for is_recent in [true, false] {
            let (mailbox, other) = (Mailbox::new(), Mailbox::new());
            let (address, tally) = (mailbox.address(), Tally::of(2));
            // The one that comes back after the first panic is a second.
            tally.explode_all(0..2);
            // The lane of this thread is after that of the other thread.
            thread::scope(|scope| {
                scope.spawn(|| address.send(Sender(address.clone(), tally.clone())).unwrap()).join().unwrap();
            });
            address.send(tally.next()).unwrap();
            if !is_recent {
                other.address().send(()).unwrap();
            }
            drop(mailbox);
            tally.assert_all_ended();
            assert_eq!(tally.made(), 2);
        }
    });
}

/// Claim: Mailboxes can be used during the destruction of thread-locals.
#[test]
fn sent_from_the_end_of_a_thread_local() {
    struct Last(Option<Address>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.take().unwrap().send("the last words").unwrap();
        }
    }
    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }
    guarded(|| {
        let mut mailbox = Mailbox::new();
        for first in [true, false] {
            let address = mailbox.address();
            thread::spawn(move || {
                // Before the lanes are made, or after: so they are dropped after this, or before.
                if first {
                    LAST.with(|last| last.replace(Some(Last(Some(address.clone())))));
                }
                address.send(1_u8).unwrap();
                LAST.with(|last| last.replace(Some(Last(Some(address)))));
            })
            .join()
            .unwrap();
            let words = if first { 2 } else { 1 };
            assert_eq!(mailbox.receive::<u8>(), Ok(1));
            (0..words).for_each(|_| assert_eq!(mailbox.receive::<&str>(), Ok("the last words")));
        }
    });
}

#[test]
fn a_spinning_wait_makes_no_system_call() {
    let mut mailbox = Mailbox::new();
    let _address = mailbox.address();
    mailbox.set_spin(Spin::Forever);
    let before = calls();
    let received = mailbox.receive_timeout::<u8>(std::time::Duration::from_millis(2));
    assert_eq!((received, calls()), (Err(ReceiveError::Timeout), before));
}

#[test]
fn without_looking_before_sleeping() {
    guarded(|| {
        let mut mailbox = Mailbox::new();
        mailbox.set_spin(Spin::None);
        let back = mailbox.address();
        let echo = mailbox.spawn(move |mailbox: &mut Mailbox| {
            mailbox.set_spin(Spin::None);
            while let Ok(number) = mailbox.receive_only::<u32>() {
                if number % 2 == 0 { back.send(number) } else { back.send_priority(number) }.unwrap();
            }
        });
        for number in 0..2_000 {
            if number % 3 == 0 { echo.send_priority(number) } else { echo.send(number) }.unwrap();
            assert_eq!(mailbox.receive::<u32>(), Ok(number));
        }
    });
}
