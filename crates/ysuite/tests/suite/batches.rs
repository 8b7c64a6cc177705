//! Batches of every channel by an iterator whose `Drop` panics: what would have come back is still dropped.
//!
//! Claim: No message leaks when an iterator panics on drop after a result.

use ysuite::{broadcast, mpmc, mpsc, spsc};

use crate::support::executor::{Task, block_on, poll_once};
use crate::support::{Tally, guarded, panics};

macro_rules! iterators_whose_end_panics {
    ($(fn $name:ident() { $channel:expr })*) => {$(
        /// All messages that an iterator gives come back, and those that it has not given are dropped with it.
        #[test]
        fn $name() {
            for messages in [1, 2, 64, 100] {
                let tally = Tally::of(messages + 1);
                #[allow(unused_mut, reason = "of some channels a shared sender is enough")]
                let (mut sender, receiver) = $channel;
                drop(receiver);
                assert!(sender.send_batch(std::iter::empty()).is_ok_and(|sent| sent == 0));
                let (kept, mut given) = (tally.next(), tally.some(messages).collect::<Vec<_>>().into_iter());
                // A message that comes back, after that panic, is a second.
                tally.explode_all(kept.number..kept.number + 2);
                let iterator = std::iter::from_fn(move || {
                    // It owns one that it never gives.
                    let _kept = &kept;
                    given.next()
                });
                assert_eq!(panics(|| drop(sender.send_batch(iterator))), "the end of message 0");
                drop(sender);
                tally.assert_all_ended();
            }
        }
    )*};
}

iterators_whose_end_panics! {
    fn a_pipe() { spsc::unbounded() }
    fn a_pipe_with_a_bound() { spsc::bounded(7) }
    fn a_funnel() { mpsc::unbounded() }
    fn a_bounded_mpsc_channel() { mpsc::bounded(7) }
    fn an_exchange() { mpmc::unbounded() }
    fn a_bounded_mpmc_channel() { mpmc::bounded(7) }
    fn a_rendezvous_of_two() { spsc::bounded(0) }
    fn a_rendezvous_of_many() { mpmc::bounded(0) }
    fn a_broadcast() { broadcast::bounded(7) }
    fn a_broadcast_that_loses() { broadcast::lossy(7) }
}

/// Any sender of numbers.
trait Sends {
    fn give(&mut self, number: u32) -> bool;
}

/// Any receiver of numbers, and the result of a batch with a maximum: how many, or that nothing more will come, or none
/// now.
trait TakesBatches {
    fn take_one(&mut self) -> bool;
    fn batches(&mut self, max: usize) -> Vec<Result<usize, bool>>;
}

macro_rules! batches_of_numbers {
    ($($kind:ident: [$($way:ident),*];)*) => {$(
        impl Sends for $kind::Sender<u32> {
            fn give(&mut self, number: u32) -> bool {
                self.try_send(number).is_ok()
            }
        }

        impl TakesBatches for $kind::Receiver<u32> {
            fn take_one(&mut self) -> bool {
                self.try_recv().is_ok()
            }

            fn batches(&mut self, max: usize) -> Vec<Result<usize, bool>> {
                let mut to = Vec::new();
                let said = vec![$(way!($way, self, &mut to, max)),*];
                assert!(to.is_empty());
                said
            }
        }
    )*};
}

macro_rules! way {
    (waiting, $receiver:expr, $to:expr, $max:expr) => {
        $receiver.recv_batch($to, $max).map_err(|_| true)
    };
    (trying, $receiver:expr, $to:expr, $max:expr) => {
        $receiver.try_recv_batch($to, $max).map_err(|error| format!("{error:?}") == "Disconnected")
    };
    (asynchronous, $receiver:expr, $to:expr, $max:expr) => {
        block_on($receiver.recv_batch_async($to, $max)).map_err(|_| true)
    };
}

batches_of_numbers! {
    spsc: [waiting, trying, asynchronous];
    mpsc: [waiting, trying, asynchronous];
    mpmc: [waiting, trying, asynchronous];
    broadcast: [waiting, trying];
}

/// A batch of none never waits, and reports when nothing more will come: a loop over a computed number stops then.
fn none_until_the_end((mut sender, mut receiver): (impl Sends, impl TakesBatches)) {
    let is_open = |said: Vec<Result<usize, bool>>| said.iter().all(|&said| said == Ok(0));
    assert!(is_open(receiver.batches(0)), "there may be more to come");
    let there = (0..2).filter(|&number| sender.give(number)).count();
    assert!(is_open(receiver.batches(0)), "there may be more to come");
    drop(sender);
    for _ in 0..there {
        assert!(is_open(receiver.batches(0)), "there is a message");
        assert!(receiver.take_one());
    }
    for _ in 0..2 {
        let said = receiver.batches(0);
        assert!(said.iter().all(|&said| said == Err(true)), "{said:?}");
    }
}

#[test]
fn a_batch_of_none_says_when_nothing_more_will_come() {
    guarded(|| {
        none_until_the_end(spsc::unbounded());
        none_until_the_end(spsc::bounded(2));
        none_until_the_end(spsc::bounded(0));
        none_until_the_end(mpsc::unbounded());
        none_until_the_end(mpsc::bounded(2));
        none_until_the_end(mpsc::bounded(0));
        none_until_the_end(mpmc::unbounded());
        none_until_the_end(mpmc::bounded(2));
        none_until_the_end(mpmc::bounded(0));
        none_until_the_end(broadcast::bounded(2));
        none_until_the_end(broadcast::lossy(2));
    });
}

/// A message that a dropped future has given back is still there.
#[test]
fn a_batch_of_none_in_a_rendezvous_tells_no_end_before_what_was_given_back() {
    macro_rules! check {
        ($($kind:ident),*) => {$({
            #[allow(unused_mut, reason = "for some channels a shared handle is enough")]
            let (mut sender, mut receiver) = $kind::bounded(0);
            let mut receiving = Box::pin(receiver.recv_async());
            assert!(poll_once(&mut receiving, &Task::default()).is_pending());
            sender.try_send(1).unwrap();
            drop(receiving);
            drop(sender);
            assert_eq!(receiver.batches(0), [Ok(0); 3]);
            assert!(receiver.take_one());
            assert_eq!(receiver.batches(0), [Err(true); 3]);
        })*};
    }
    check!(spsc, mpsc, mpmc);
}
