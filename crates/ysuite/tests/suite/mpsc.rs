//! The mpsc channel: which channels use the suites in `conformance/channel/`, and what concerns this kind only.

mod closing;
mod coming_and_going;
mod crowds;
mod endings;
mod limits;
mod shared;

use std::thread;

use crate::conformance::channel::{Batching, Kind};
use ysuite::mpsc;
use ysuite::signal::{Wait, YPollset};

/// An mpsc channel with a bound for each sender, or none.
#[derive(Clone, Copy)]
pub(crate) struct Funnel(pub(crate) Option<usize>);

impl Kind for Funnel {
    type Sender<T: Send + 'static> = mpsc::Sender<T>;
    type Receiver<T: Send + 'static> = mpsc::Receiver<T>;
    fn capacity(self) -> Option<usize> {
        self.0.filter(|&bound| bound != usize::MAX)
    }
    fn another<T: Send + 'static>(sender: &mpsc::Sender<T>) -> Option<mpsc::Sender<T>> {
        Some(sender.clone())
    }
    fn pair<T: Send + 'static>(self) -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        self.0.map_or_else(mpsc::unbounded, mpsc::bounded)
    }
    fn asked(self) -> Option<usize> {
        self.0
    }
}

impl Batching for Funnel {
    type Hiding<T: Send + 'static> = mpsc::Sender<T>;
    type Peeking<T: Send + 'static> = mpsc::Receiver<T>;
    fn batching<T: Send + 'static>(self) -> (mpsc::Sender<T>, mpsc::Receiver<T>) {
        self.pair()
    }
}

macro_rules! funnels {
    ($($name:ident $bound:expr),* $(,)?) => {
        $(mod $name {
            crate::channel_suite!(super::Funnel($bound));
            crate::batching_suite!(super::Funnel($bound));
        })*
    };
}

funnels!(
    unbounded None,
    bounded_1 Some(1),
    bounded_2 Some(2),
    bounded_7 Some(7),
    bounded_1024 Some(1024),
    bounded_usize_max Some(usize::MAX),
);

mod bounded_10000 {
    crate::tests_of!(channel::delivery, super::Funnel(Some(10_000)) => great_batches_arrive_whole, capacity_is_exact);
}

mod bounded_4096 {
    crate::tests_of!(channel::task_batches, super::Funnel(Some(4_096)) => great_batches_of_tasks_arrive_whole);
}

#[test]
fn an_attached_id_is_up_until_all_lanes_are_found_empty() {
    let (sender, mut receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..100).map(|_| sender.clone()).collect();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 7).unwrap();
    // At first too: there may be messages already.
    assert!(set.check().eq([7]) && receiver.try_recv().is_err() && set.check().is_empty());
    for round in 0..3 {
        senders.iter_mut().skip(round).step_by(3).take(33).for_each(|sender| sender.send(round).unwrap());
        for left in (0..33).rev() {
            assert!(set.wait().eq([7]));
            assert_eq!((receiver.recv(), receiver.len()), (Ok(round), left));
        }
        assert!(set.check().eq([7]), "it does not know yet that it is empty");
        assert!(receiver.try_recv().is_err());
        assert!(set.check().is_empty());
    }
    drop(receiver);
    assert!(set.check().is_empty());
}

#[test]
fn a_receiver_that_goes_gives_its_id_back_though_its_senders_stay() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 7).unwrap();
    assert!(set.check().eq([7]) && receiver.try_recv().is_err() && set.check().is_empty());
    drop(receiver);
    // It is called no more, and another may have the id.
    assert!(sender.send(1).is_err() && set.check().is_empty());
    let (_sender, mut next) = mpsc::unbounded::<u8>();
    assert_eq!(set.attach(&mut next, 7), Ok(()));
}

/// Claim: Each `mpsc` sender has a bound of its own, and it is exact.
/// Also: model funnel::credits_both_ways_in_a_lane, stress funnel::few_places_and_timeouts_both_ways.
#[test]
fn a_bound_is_each_senders_own() {
    let (mut one, mut receiver) = mpsc::bounded(3);
    let mut two = one.clone();
    (0..2).for_each(|message| one.try_send(message).unwrap());
    two.try_send(0).unwrap();
    assert!(!receiver.is_full(), "three messages, of two senders");
    one.try_send(2).unwrap();
    assert!(one.is_full() && !two.is_full() && receiver.is_full());
    (1..3).for_each(|message| two.try_send(message).unwrap());
    assert_eq!((one.capacity(), two.capacity(), receiver.capacity()), (Some(3), Some(3), Some(3)));
    assert_eq!(receiver.len(), 6);
    assert!(one.try_send(9).unwrap_err().is_full() && two.try_send(9).unwrap_err().is_full());
    // In any state of the lanes: one is being read, another is still to be checked.
    assert!(receiver.recv().is_ok() && receiver.is_full());
    assert_eq!((receiver.try_iter().count(), receiver.is_full()), (5, false));
    two.send(0).unwrap();
    assert!(!receiver.is_full() && !mpsc::unbounded::<u8>().1.is_full());
    assert!(mpsc::bounded::<u8>(0).1.is_full(), "in a rendezvous there is never room");
}

#[test]
fn both_ends_say_what_they_are() {
    let (sender, receiver) = mpsc::bounded::<u8>(8);
    assert!(format!("{sender:?}").starts_with("Sender {") && format!("{receiver:?}").starts_with("Receiver {"));
}

#[test]
fn messages_may_borrow() {
    let text = String::from("borrowed");
    let (sender, mut receiver) = mpsc::bounded(2);
    thread::scope(|scope| {
        for _ in 0..3 {
            let (mut sender, text) = (sender.clone(), text.as_str());
            scope.spawn(move || (0..10).for_each(|_| sender.send(text).unwrap()));
        }
        (0..30).for_each(|_| assert_eq!(receiver.recv(), Ok("borrowed")));
    });
}
