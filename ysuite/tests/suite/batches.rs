//! Batches of every channel by an iterator whose end panics: what would have come back ends all the same.

use ysuite::{broadcast, mpmc, mpsc, spsc};

use crate::support::{Tally, panics};

macro_rules! iterators_whose_end_panics {
    ($(fn $name:ident() { $channel:expr })*) => {$(
        /// All messages that an iterator gives come back, and those that it has not given end with it.
        #[test]
        fn $name() {
            for messages in [1, 2, 64, 100] {
                let tally = Tally::of(messages + 1);
                #[allow(unused_mut, reason = "of some channels a shared sender is enough")]
                let (mut sender, receiver) = $channel;
                drop(receiver);
                assert!(sender.send_batch(std::iter::empty()).is_ok_and(|sent| sent == 0));
                let (kept, mut given) = (tally.next(), tally.some(messages).collect::<Vec<_>>().into_iter());
                // A message that comes back, behind that panic, is a second.
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
    fn a_funnel_with_a_bound() { mpsc::bounded(7) }
    fn an_exchange() { mpmc::unbounded() }
    fn an_exchange_with_a_bound() { mpmc::bounded(7) }
    fn a_rendezvous_of_two() { spsc::bounded(0) }
    fn a_rendezvous_of_many() { mpmc::bounded(0) }
    fn a_broadcast() { broadcast::bounded(7) }
    fn a_broadcast_that_loses() { broadcast::lossy(7) }
}
