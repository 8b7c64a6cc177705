//! The ring under the model checker, without its channel, whose handles poll once more where the ring has refused. Two
//! threads do something at once, with enough for both. Each finds it, and nothing is given out twice.
//!
//! Claim: When two threads claim room, permits or messages at once, the one that is overtaken tries again. Nothing is
//! given out twice.

use loom::thread;

use super::{Hint, Rejected, Ring};
use crate::queue::exchange::models::the_past_of_a_close;
use crate::runner::model_up_to;
use crate::sync::{Arc, Handed};

/// What two threads find that do this at once; each has a number.
fn both<R: Send + 'static>(ring: &Arc<Ring<u32>>, act: fn(&Ring<u32>, u32) -> R) -> [R; 2] {
    let other = ring.clone();
    let thread = thread::spawn(move || act(&other, 1));
    let mine = act(ring, 2);
    [thread.join().unwrap(), mine]
}

#[test]
fn two_that_send_at_once_beside_a_place_that_is_held() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(3));
        assert!(ring.hold(1, 1).is_ok());
        assert_eq!(both(&ring, |ring, number| ring.offer(number).is_ok()), [true; 2], "there is room for both");
        assert!(ring.push_held(3).is_ok());
        let hint = Hint::new();
        let mut messages = [(); 4].map(|()| ring.pop(&hint));
        messages.sort_unstable();
        assert_eq!(messages, [None, Some(1), Some(2), Some(3)]);
    });
}

#[test]
fn one_that_holds_a_place_while_another_sends() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(2));
        let act = |ring: &Ring<u32>, number| if number == 1 { ring.offer(1).is_ok() } else { ring.hold(1, 1).is_ok() };
        assert_eq!(both(&ring, act), [true; 2], "there is room for both");
        assert_eq!((ring.len(), ring.room()), (1, 0));
        assert!(ring.push_held(2).is_ok());
        let hint = Hint::new();
        assert_eq!([(); 3].map(|()| ring.pop(&hint)), [Some(1), Some(2), None]);
    });
}

#[test]
fn two_that_hold_places_at_once() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(2));
        assert_eq!(both(&ring, |ring, _| ring.hold(1, 1).is_ok()), [true; 2]);
        assert!(ring.is_all_held());
    });
}

#[test]
fn two_that_give_places_back_at_once() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(2));
        assert!(ring.hold(2, 2).is_ok());
        assert_eq!(both(&ring, |ring, _| ring.release(1)), [true; 2]);
        assert!(!ring.is_special() && ring.room() == 2);
    });
}

/// Afterwards the tail is the same word as before. Another thread has seen that there was no permit to be had, and that
/// the tail was another word.
#[test]
fn a_place_that_is_given_back_and_held_again_is_had_by_one() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(1));
        assert!(ring.hold(1, 1).is_ok());
        let held = both(&ring, |ring, number| {
            assert!(number != 1 || ring.release(1));
            ring.hold(1, 1).ok()
        });
        assert!(held == [Some(1), None] || held == [None, Some(1)], "{held:?}");
    });
}

#[test]
fn two_that_take_batches_at_once() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(3));
        assert!((1..=2).all(|number| ring.offer(number).is_ok()));
        let taken = both(&ring, |ring, _| {
            let mut to = Vec::new();
            assert_eq!(ring.pop_many(&mut to, 1), 1, "there is a message for each");
            to[0]
        });
        assert!(taken == [1, 2] || taken == [2, 1], "{taken:?}");
    });
}

type Step = fn(&Ring<u32>) -> bool;

fn takes(ring: &Ring<u32>) -> bool {
    ring.pop(&Hint::new()).is_some()
}

fn takes_a_batch(ring: &Ring<u32>) -> bool {
    ring.pop_many(&mut Vec::new(), 1) == 1
}

/// In a ring of `cells` cells with `messages` messages this thread acts; what another finds meanwhile holds in any
/// case.
fn beside(cells: usize, messages: u32, act: Step, look: Step) {
    model_up_to(2, move || {
        let ring = Arc::new(Ring::new(cells));
        assert!((0..messages).all(|number| ring.offer(number).is_ok()));
        let other = ring.clone();
        let thread = thread::spawn(move || assert!(look(&other)));
        assert!(act(&ring));
        thread.join().unwrap();
    });
}

#[test]
fn a_ring_is_not_empty_beside_one_that_sends_before_it_takes() {
    let looks: [Step; 5] = [
        Ring::is_readable,
        takes_a_batch,
        |ring| (1..=2).contains(&ring.len()),
        |ring| !ring.is_empty(),
        |ring| ring.room() < 2,
    ];
    looks.into_iter().for_each(|look| beside(2, 1, |ring| ring.offer(1).is_ok() && takes(ring), look));
    beside(2, 1, |ring| ring.offer(1).is_ok() && takes_a_batch(ring), Ring::is_readable);
}

#[test]
fn a_ring_has_room_beside_one_that_takes_before_it_sends() {
    let looks: [Step; 2] = [Ring::is_writable, |ring| ring.offer(2).is_ok()];
    looks.into_iter().for_each(|look| beside(2, 1, |ring| takes(ring) && ring.offer(1).is_ok(), look));
}

/// A thread that passes a notification on first checks, and then counts.
#[test]
fn what_a_look_has_found_is_counted_behind_it() {
    beside(1, 0, |ring| ring.offer(0).is_ok(), |ring| !ring.is_readable() || ring.len() == 1);
    beside(1, 1, takes, |ring| !ring.is_writable() || ring.room() != 0);
}

/// A thread that finds the ring closed, by whichever word, sees what came before.
#[test]
fn the_past_of_a_ring_that_is_closed() {
    let looks: [Step; 3] =
        [|ring| matches!(ring.offer(7), Err(Rejected::Closed(_))), |ring| !ring.close(), Ring::is_closed];
    looks.into_iter().for_each(|finds| the_past_of_a_close(|| Ring::new(1), Ring::close, finds));
}

/// One permit works as a lock. The word of a tail repeats, where a permit is reserved and given back.
#[test]
fn those_that_hold_one_place_come_one_behind_the_other() {
    model_up_to(2, || {
        let scene = Arc::new((Ring::<u32>::new(1), Handed::default()));
        let act = |scene: &(Ring<u32>, Handed)| {
            if scene.0.hold(1, 1).is_ok() {
                scene.1.written();
                assert!(scene.0.release(1));
            }
        };
        let other = scene.clone();
        let thread = thread::spawn(move || act(&other));
        act(&scene);
        thread.join().unwrap();
    });
}

/// While a permit is held a forced message goes into the next cell, which the one before may only just have left.
#[test]
fn two_that_force_beside_a_place_that_is_held() {
    model_up_to(2, || {
        let ring = Arc::new(Ring::new(2));
        assert!(ring.offer(0).is_ok() && ring.hold(1, 1).is_ok());
        assert!(
            both(&ring, |ring, number| ring.force(&mut Some(number)).is_ok()).contains(&true),
            "each is in the other's way"
        );
    });
}
