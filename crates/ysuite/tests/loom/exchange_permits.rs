//! Permits of an mpmc channel, under the model checker: returning them and using them, against senders that wait,
//! receivers in the middle, and other permits.

use loom::future::block_on;
use loom::thread;
use ysuite::mpmc;

use crate::model_up_to;

/// Claim: Returned room wakes one waiting sender for each message that now has room.
/// Also: suite mpmc::permits::a_place_given_back_wakes_the_next_sender_that_waits.
#[test]
fn a_place_given_back_against_a_sender_going_to_sleep() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(1);
        let permit = sender.clone().reserve_owned().unwrap();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        let sender = permit.release();
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
        drop(sender);
    });
}

#[test]
fn two_places_given_back_against_two_senders_going_to_sleep() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        let permits = sender.reserve_many(2).unwrap();
        let threads = [1, 2].map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap())
        });
        drop(permits);
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn room_against_one_that_reserves_and_goes_to_sleep() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let second = sender.clone();
        let threads = [
            thread::spawn(move || sender.reserve().unwrap().send(1).unwrap()),
            thread::spawn(move || block_on(second.reserve_async()).unwrap().send(1).unwrap()),
        ];
        assert_eq!([(); 3].map(|()| receiver.recv().unwrap()), [0, 1, 1]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_permits_message_against_a_receiver_going_to_sleep() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(2);
        // From here on no publisher promises fences.
        sender.send(0).unwrap();
        assert_eq!(receiver.recv(), Ok(0));
        let permit = sender.clone().reserve_owned().unwrap();
        let thread = thread::spawn(move || drop(permit.send(1).unwrap()));
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
        drop(sender);
    });
}

/// The second cell is emptied by the receiver and seen free by the sender alone; it is the permit's message that goes there.
///
/// Claim: The message of a permit finds a free cell, and an unused permit delays no other message.
/// Also: suite mpmc::permits::a_permit_is_room_and_its_message_comes_when_it_is_sent.
#[test]
fn a_permits_message_in_a_cell_that_another_has_seen_free() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let second = sender.clone();
        let receiving = thread::spawn(move || {
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(0), Ok(1)));
            receiver
        });
        let sending = thread::spawn(move || second.try_send(2).is_ok());
        let permit = sender.reserve().unwrap();
        permit.send(3).unwrap();
        let sent = sending.join().unwrap();
        let receiver = receiving.join().unwrap();
        let mut left: Vec<_> = receiver.try_iter().collect();
        left.sort_unstable();
        assert_eq!(left, if sent { vec![2, 3] } else { vec![3] });
    });
}

/// No sender gets more than there is, and nothing is left over.
#[test]
fn places_that_are_taken_and_given_back_by_several() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        let threads = [1, 2].map(|places| {
            let sender = sender.clone();
            thread::spawn(move || match sender.try_reserve_many(places) {
                Ok(mut permits) => {
                    permits.next().unwrap().send(places).unwrap();
                    1
                }
                Err(_) => 0,
            })
        });
        let mine = usize::from(sender.try_send(3).is_ok());
        let sent: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(sender.try_reserve_many(2_usize.saturating_sub(sent + mine)).is_ok());
        assert_eq!(receiver.try_iter().count(), sent + mine);
    });
}

/// Each has one place and waits for the other's, if the two do not take turns.
///
/// Claim: Two senders that reserve several permits at once do not deadlock.
/// Also: suite mpmc::permits::two_that_gather_do_not_wait_for_each_other.
#[test]
fn two_that_gather_take_turns() {
    model_up_to(1, || {
        let (sender, receiver) = mpmc::bounded(2);
        sender.send(0).unwrap();
        let second = sender.clone();
        let gathering = thread::spawn(move || {
            second.reserve_many(2).unwrap().for_each(|permit| permit.send(1).unwrap());
        });
        let receiving = thread::spawn(move || (0..5).map(|_| receiver.recv().unwrap()).sum::<u32>());
        block_on(sender.reserve_many_async(2)).unwrap().for_each(|permit| permit.send(1).unwrap());
        gathering.join().unwrap();
        assert_eq!(receiving.join().unwrap(), 4);
    });
}

/// Claim: A permit can outlive the receivers; its message then returns to the sender.
#[test]
fn the_last_receivers_end_against_a_permit() {
    model_up_to(3, || {
        let (sender, receiver) = mpmc::bounded(1);
        let permit = sender.clone().reserve_owned().unwrap();
        let waiting = thread::spawn(move || sender.reserve().is_err());
        let using = thread::spawn(move || permit.send(1).is_ok());
        drop(receiver);
        using.join().unwrap();
        assert!(waiting.join().unwrap());
    });
}
