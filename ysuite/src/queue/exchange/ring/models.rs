//! The ring under the model checker, without the channel around it, whose ends look once more where the ring has said no: two
//! threads do something at once, for which there is enough. Each finds it, and nothing is had twice.

use loom::thread;

use super::{Hint, Ring};
use crate::runner::model_up_to;
use crate::sync::Arc;

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

/// Behind it the tail is the same word as before. Another has seen that there was no place, and that the tail was another word.
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
