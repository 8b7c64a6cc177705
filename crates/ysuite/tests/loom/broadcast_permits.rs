//! Permits of a broadcast, under the model checker: room that is returned or used, against senders that wait, the
//! receivers' moving on, and each other.

use loom::future::block_on;
use loom::thread;
use ysuite::TrySendError;
use ysuite::broadcast;

use crate::model_up_to;

#[test]
fn room_given_back_against_a_sender_going_to_sleep() {
    model_up_to(3, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let permit = sender.clone().reserve_owned().unwrap();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        let sender = permit.release();
        assert_eq!(receiver.recv(), Ok(1));
        thread.join().unwrap();
        drop(sender);
    });
}

/// A sender that is refused has had the room for a moment, and another finds none then.
#[test]
fn the_first_reservation_against_a_send() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(1);
        let second = sender.clone();
        let thread = thread::spawn(move || match second.try_send(1) {
            Ok(()) => 1,
            Err(TrySendError::Full(_)) => 0,
            Err(TrySendError::Disconnected(_)) => unreachable!("there is a receiver"),
        });
        let mine = sender.try_reserve().map_or(0, |permit| permit.send(1).map(|()| 1).unwrap());
        let sent: u32 = thread.join().unwrap() + mine;
        assert_eq!(sent, 1, "there is room for one");
        assert!(receiver.try_iter().eq([1]));
    });
}

/// Claim: The message of a broadcast permit overwrites only what every receiver has had.
/// Also: suite broadcast::permits::permits_beside_everything_else_lose_nothing.
#[test]
fn permits_messages_against_the_slowest_receiver() {
    model_up_to(2, || {
        let (sender, mut receiver) = broadcast::bounded(2);
        sender.try_reserve_many(2).unwrap().for_each(|permit| permit.send(0).unwrap());
        let second = sender.clone();
        let threads = [
            thread::spawn(move || sender.reserve().unwrap().send(1).unwrap()),
            thread::spawn(move || block_on(second.reserve_async()).unwrap().send(1).unwrap()),
        ];
        assert_eq!([(); 4].map(|()| receiver.recv().unwrap()), [0, 0, 1, 1]);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn the_last_receivers_end_against_a_permit() {
    model_up_to(3, || {
        let (sender, receiver) = broadcast::bounded(1);
        let permit = sender.clone().reserve_owned().unwrap();
        let waiting = thread::spawn(move || sender.reserve().is_err());
        let using = thread::spawn(move || permit.send(1).is_ok());
        drop(receiver);
        using.join().unwrap();
        assert!(waiting.join().unwrap());
    });
}

/// As above, where a sender reserves by steps.
#[test]
fn the_last_receivers_end_against_several_permits() {
    model_up_to(3, || {
        let (sender, receiver) = broadcast::bounded(1);
        let permit = sender.clone().reserve_owned().unwrap();
        let waiting = thread::spawn(move || sender.reserve_many(1).is_err());
        let using = thread::spawn(move || permit.send(1).is_ok());
        drop(receiver);
        using.join().unwrap();
        assert!(waiting.join().unwrap());
    });
}

/// Each has room for one and waits for the other's, if the two do not take turns.
///
/// Claim: Two senders of a broadcast channel that reserve several permits at once do not deadlock.
/// Also: suite broadcast::permits::two_that_gather_do_not_wait_for_each_other.
#[test]
fn two_that_gather_take_turns() {
    model_up_to(1, || {
        let (sender, mut receiver) = broadcast::bounded(2);
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

#[test]
fn the_last_receivers_end_against_two_that_gather() {
    model_up_to(1, || {
        let (sender, receiver) = broadcast::bounded::<u8>(2);
        let permit = sender.clone().reserve_owned().unwrap();
        let second = sender.clone();
        let threads = [sender, second].map(|sender| thread::spawn(move || sender.reserve_many(2).is_err()));
        drop(receiver);
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap()));
        drop(permit);
    });
}
