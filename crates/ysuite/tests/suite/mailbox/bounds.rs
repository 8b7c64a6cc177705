//! Bounded mailboxes: what becomes of one message too many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::Spin;
use ysuite::mailbox::{Address, Builder, Crowding, LinkTerminated, Mailbox, ReceiveError, SendError};
use ysuite::receive;
use ysuite::signal::YPollset;

use crate::support::{Tally, calls, guarded, panics};

fn bounded(capacity: usize, crowding: Crowding) -> Mailbox {
    Builder::new().bounded(capacity, crowding).build()
}

#[test]
fn an_error_gives_the_message_back() {
    let mut mailbox = bounded(3, Crowding::Error);
    let address = mailbox.address();
    (0..3).for_each(|number| address.send(number).unwrap());
    assert_eq!(address.send(3), Err(SendError::Full(3)));
    let full = address.send(3).unwrap_err();
    assert!(full.is_full() && !full.is_ended());
    assert_eq!((full.to_string().as_str(), format!("{full:?}").as_str()), ("sending to a full mailbox", "Full(..)"));
    // No bound concerns these.
    (0..9).for_each(|number| address.send_priority(100 + number).unwrap());
    assert!((0..9).all(|number| mailbox.receive_only() == Ok(100 + number)));
    assert_eq!(mailbox.receive_only(), Ok(0));
    address.send(3).unwrap();
    assert!(address.send(4).is_err());
    assert!((1..4).all(|number| mailbox.receive_only() == Ok(number)));
    drop(mailbox);
    assert_eq!(address.send(5), Err(SendError::Ended(5)));
}

#[test]
fn the_newest_or_the_oldest_is_dropped() {
    for (crowding, left) in [(Crowding::DropNewest, 0..4), (Crowding::DropOldest, 6..10)] {
        let tally = Tally::of(10);
        let mut mailbox = bounded(4, crowding);
        let address = mailbox.address();
        tally.some(10).for_each(|message| address.send(message).unwrap());
        assert_eq!(tally.ended(), 6, "{crowding:?}");
        for number in left {
            assert_eq!(mailbox.receive_only::<crate::support::Counted>().unwrap().number, number);
        }
        assert!(matches!(
            mailbox.receive_timeout::<crate::support::Counted>(Duration::ZERO),
            Err(ReceiveError::Timeout)
        ));
        tally.assert_all_ended();
    }
}

#[test]
fn a_sender_without_room_waits_for_it() {
    guarded(|| {
        for capacity in [1, 2, 7] {
            let mut mailbox = bounded(capacity, Crowding::Block);
            let sent = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..3_usize)
                .map(|id| {
                    let (address, sent) = (mailbox.address(), sent.clone());
                    thread::spawn(move || {
                        for number in 0..500_i32 {
                            address.send((id, number)).unwrap();
                            sent.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            let mut next = [0; 3];
            for received in 0..1500 {
                // It is received before its sender has counted it, at most; each other place holds one at most.
                assert!(sent.load(Ordering::SeqCst) <= received + capacity);
                let (id, number) = mailbox.receive_only::<(usize, i32)>().unwrap();
                assert_eq!(number, next[id]);
                next[id] += 1;
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

#[test]
fn a_sender_that_waits_for_room_learns_of_the_end() {
    guarded(|| {
        let mailbox = bounded(1, Crowding::Block);
        let address = mailbox.address();
        address.send(0).unwrap();
        let thread = thread::spawn(move || address.send(1));
        thread::sleep(Duration::from_millis(5));
        drop(mailbox);
        assert_eq!(thread.join().unwrap(), Err(SendError::Ended(1)));
    });
}

/// Claim: A thread never waits for room in its own mailbox.
#[test]
fn a_thread_never_waits_for_itself() {
    guarded(|| {
        let mut mailbox = bounded(2, Crowding::Block);
        let address = mailbox.address();
        address.send(0).unwrap();
        let refused = receive!(mailbox => {
            _: i32 => {
                address.send(1).unwrap();
                address.send(2).unwrap();
                let before = calls();
                (address.send(3), calls() - before)
            },
        });
        assert_eq!(refused, Ok((Err(SendError::Full(3)), 0)), "at once");
        assert_eq!((mailbox.receive_only(), mailbox.receive_only()), (Ok(1), Ok(2)));
    });
}

#[test]
fn a_thread_that_has_received_never_waits_for_itself_whatever_else_it_does_with_its_mailbox() {
    guarded(|| {
        let mut mailbox = bounded(1, Crowding::Block);
        let address = mailbox.address();
        address.send(0).unwrap();
        assert_eq!((mailbox.receive_only(), mailbox.set_aside()), (Ok(0), 0));
        address.send(1).unwrap();
        let before = calls();
        assert_eq!((address.send(2), calls() - before), (Err(SendError::Full(2)), 0), "at once");
    });
}

#[test]
fn a_thread_never_waits_for_itself_before_its_first_receive_either() {
    guarded(|| {
        // One that has made the mailbox: known for certain after a moment.
        let mut mailbox = bounded(1, Crowding::Block);
        let address = mailbox.address();
        address.send(0).unwrap();
        (1..4).for_each(|number| assert_eq!(address.send(number), Err(SendError::Full(number))));
        assert_eq!(mailbox.receive_only(), Ok(0));
        address.send(4).unwrap();
        assert_eq!(address.send(5), Err(SendError::Full(5)));
        // One that was started for it, also if it has not used it.
        let (tell, told) = std::sync::mpsc::channel::<Address>();
        let (address, thread) = Builder::new()
            .bounded(1, Crowding::Block)
            .spawn(move |_| {
                let own = told.recv().unwrap();
                (own.send(0).is_ok(), own.send(1))
            })
            .unwrap();
        tell.send(address).unwrap();
        assert_eq!(thread.join().unwrap(), (true, Err(SendError::Full(1))));
        // Or by any method.
        let (_, thread) = Builder::new()
            .bounded(1, Crowding::Block)
            .spawn(|mailbox| {
                mailbox.address().send(0).unwrap();
                mailbox.address().send(1)
            })
            .unwrap();
        assert_eq!(thread.join().unwrap(), Err(SendError::Full(1)));
        // One that has got it from another, and has used it.
        let thread = thread::spawn(move || (mailbox.address().send(5), mailbox));
        assert_eq!(thread.join().unwrap().0, Err(SendError::Full(5)));
    });
}

#[test]
fn a_thread_is_known_from_any_use_of_a_mailbox_that_was_moved_to_it() {
    guarded(|| {
        let other = Mailbox::new();
        let uses: [fn(&mut Mailbox, &Address); 7] = [
            |mailbox, _| assert_eq!(mailbox.owner(), None),
            |mailbox, _| assert_eq!(mailbox.set_aside(), 0),
            |mailbox, _| mailbox.set_spin(Spin::Adaptive),
            |mailbox, _| assert!(!mailbox.detach()),
            |mailbox, other| mailbox.link(other),
            |mailbox, other| mailbox.unlink(other),
            |mailbox, _| YPollset::new().attach(mailbox, 0).unwrap(),
        ];
        // Each needs a moment to be certain; all of them at once.
        let threads = uses.map(|used| {
            let mut mailbox = bounded(1, Crowding::Block);
            let (address, other) = (mailbox.address(), other.address());
            address.send(0).unwrap();
            thread::spawn(move || {
                used(&mut mailbox, &other);
                (address.send(1), mailbox)
            })
        });
        for thread in threads {
            assert_eq!(thread.join().unwrap().0, Err(SendError::Full(1)));
        }
    });
}

#[test]
fn a_thread_that_has_nothing_to_do_with_a_mailbox_waits_for_room_for_as_long_as_it_takes() {
    guarded(|| {
        let mut mailbox = bounded(1, Crowding::Block);
        let address = mailbox.address();
        address.send(0).unwrap();
        let thread = thread::spawn(move || address.send(1));
        // For longer than a thread waits that may be the owner.
        thread::sleep(Duration::from_millis(1_300));
        assert_eq!((mailbox.receive_only(), thread.join().unwrap()), (Ok(0), Ok(())));
        assert_eq!(mailbox.receive_only(), Ok(1));
    });
}

#[test]
fn the_end_of_a_link_is_found_without_waiting() {
    let mut mailbox = bounded(2, Crowding::Block);
    let (address, other) = (mailbox.address(), Mailbox::new());
    mailbox.link(&other.address());
    drop(other);
    let received = mailbox.receive_timeout::<u8>(Duration::ZERO);
    assert!(matches!(received, Err(ReceiveError::LinkTerminated(_))), "{received:?}");
    address.send(1).unwrap();
    assert_eq!(mailbox.receive_only(), Ok(1));
}

#[test]
fn a_thread_that_has_given_its_mailbox_away_waits_for_room() {
    guarded(|| {
        for receives in [false, true] {
            let mut mailbox = bounded(1, Crowding::Block);
            let address = mailbox.address();
            if receives {
                address.send(0).unwrap();
                assert_eq!(mailbox.receive_only(), Ok(0));
            }
            let thread = thread::spawn(move || {
                if !receives {
                    // The one that waits for room in it meanwhile is no longer the one that has it.
                    thread::sleep(Duration::from_millis(50));
                }
                (0..20).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
            });
            for number in 0..20 {
                let mut unsent = address.send(number);
                // One that has received from it is known to have it until another has used it.
                while receives && matches!(unsent, Err(SendError::Full(_))) {
                    thread::yield_now();
                    unsent = address.send(number);
                }
                unsent.unwrap();
            }
            thread.join().unwrap();
        }
    });
}

#[test]
fn what_is_set_aside_leaves_room_for_what_is_asked_for() {
    guarded(|| {
        let mut mailbox = bounded(1, Crowding::Block);
        let address = mailbox.address();
        let thread = thread::spawn(move || {
            (0..10).for_each(|number| address.send(number).unwrap());
            address.send("the answer").unwrap();
        });
        assert_eq!(mailbox.receive(), Ok("the answer"));
        assert_eq!(mailbox.set_aside(), 10);
        assert!((0..10).all(|number| mailbox.receive_only() == Ok(number)));
        thread.join().unwrap();
    });
}

/// Claim: Neither a bound nor a lack of lanes delays the report of a termination.
/// Also: unit mailbox::inner::tests::an_end_is_told_where_there_are_as_many_lanes_as_there_can_be.
#[test]
fn no_bound_holds_up_the_end_of_a_link_and_it_comes_behind_its_messages() {
    guarded(|| {
        for capacity in [1, 3] {
            for crowding in [Crowding::Block, Crowding::DropOldest] {
                let mut mailbox = bounded(capacity, crowding);
                let back = mailbox.address();
                let (linked, thread) = Builder::new()
                    .spawn(move |mailbox| {
                        mailbox.receive::<()>().unwrap();
                        (0..capacity).for_each(|number| back.send(number).unwrap());
                    })
                    .unwrap();
                mailbox.link(&linked);
                linked.send(()).unwrap();
                thread.join().unwrap();
                (0..capacity).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
                assert_eq!(mailbox.receive_only::<LinkTerminated>().unwrap().address(), &linked);
                assert_eq!(mailbox.receive::<u8>(), Err(ReceiveError::Disconnected));
            }
        }
    });
}

#[test]
fn dropping_the_oldest_under_a_crowd_loses_none_without_dropping_it() {
    guarded(|| {
        let tally = Tally::of(4_000);
        let mut mailbox = bounded(8, Crowding::DropOldest);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (address, tally) = (mailbox.address(), tally.clone());
                thread::spawn(move || tally.some(1_000).for_each(|message| address.send(message).unwrap()))
            })
            .collect();
        let mut received = 0;
        while mailbox.receive::<crate::support::Counted>().is_ok() {
            received += 1;
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(received >= 8, "{received}");
        tally.assert_all_ended();
    });
}

#[test]
fn a_bound_of_nothing_is_a_documented_panic() {
    assert!(panics(|| drop(bounded(0, Crowding::Error))).contains("capacity of at least 1"));
}

#[test]
fn all_of_hundreds_of_senders_that_wait_for_room_get_it() {
    const SENDERS: usize = 130;
    guarded(|| {
        for ends in [false, true] {
            let mut mailbox = bounded(1, Crowding::Block);
            mailbox.address().send(SENDERS).unwrap();
            let waiting = Arc::new(AtomicUsize::new(0));
            let threads: Vec<_> = (0..SENDERS)
                .map(|number| {
                    let (address, waiting) = (mailbox.address(), waiting.clone());
                    thread::spawn(move || {
                        waiting.fetch_add(1, Ordering::SeqCst);
                        address.send(number).is_ok()
                    })
                })
                .collect();
            while waiting.load(Ordering::SeqCst) < SENDERS {
                thread::yield_now();
            }
            let mut received: Vec<usize> = Vec::new();
            if ends {
                drop(mailbox);
            } else {
                received.extend((0..=SENDERS).map(|_| mailbox.receive_only::<usize>().unwrap()));
            }
            let sent = threads.into_iter().map(|thread| thread.join().unwrap());
            assert_eq!(sent.filter(|sent| *sent).count(), if ends { 0 } else { SENDERS });
            received.sort_unstable();
            assert!(ends || received.into_iter().eq(0..=SENDERS));
        }
    });
}
