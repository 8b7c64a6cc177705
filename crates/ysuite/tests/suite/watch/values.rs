//! Values that can be cloned, as messages: what iterators, streams and a hub get of them.

use std::thread;

use ysuite::TryRecvError;
use ysuite::iter::Receive;
use ysuite::signal::{Wait, YPollset};
use ysuite::watch;

use crate::support::{Random, guarded, panics};

#[test]
fn a_receiver_as_an_iterator() {
    guarded(|| {
        let (sender, mut receiver) = watch::channel(0);
        let others = [receiver.clone(), receiver.clone()];
        let thread = thread::spawn(move || {
            let mut random = Random::new(5);
            for value in 1..=1_000 {
                sender.send(value).unwrap();
                random.pause();
            }
        });
        let rising = |values: Vec<i32>| values.is_sorted() && values.last() == Some(&1_000);
        assert!(rising(receiver.iter().collect()));
        assert!(others.into_iter().all(|other| rising(other.into_iter().collect())), "the last is there");
        assert_eq!((&mut receiver).into_iter().next(), None);
        thread.join().unwrap();
    });
}

#[test]
fn a_look_at_a_message_leaves_the_id_up() {
    let (sender, mut receiver) = watch::channel('a');
    let mut set = YPollset::new();
    set.attach(&mut receiver, 2).unwrap();
    assert_eq!((receiver.has_message(), receiver.look(), set.check().len()), (false, None, 1));
    assert_eq!((receiver.try_next(), set.check().len()), (Err(TryRecvError::Empty), 0));
    sender.send('b').unwrap();
    assert_eq!(
        (receiver.has_message(), receiver.look(), receiver.look(), set.check().len()),
        (true, Some('b'), None, 1)
    );
    sender.send('c').unwrap();
    assert_eq!((receiver.try_next(), receiver.try_next()), (Ok('c'), Err(TryRecvError::Empty)));
    assert!(set.check().is_empty());
    drop(sender);
    assert_eq!((receiver.try_next(), receiver.next_waiting()), (Err(TryRecvError::Disconnected), None));
}

/// A value whose clone panics where it is odd.
struct Odd(u32);

impl Clone for Odd {
    fn clone(&self) -> Self {
        assert!(self.0 % 2 == 0, "an odd value");
        Self(self.0)
    }
}

#[test]
fn a_clone_that_panics_has_seen_nothing() {
    let (sender, mut receiver) = watch::channel(Odd(0));
    sender.send(Odd(1)).unwrap();
    assert_eq!(panics(|| assert!(receiver.try_next().is_ok())), "an odd value");
    assert_eq!(panics(|| assert!(receiver.iter().next().is_some())), "an odd value");
    assert_eq!(panics(|| assert!(receiver.look().is_some())), "an odd value");
    #[cfg(feature = "futures")]
    {
        let mut next = || crate::support::executor::block_on(futures_util::StreamExt::next(&mut receiver));
        assert_eq!(panics(|| assert!(next().is_some())), "an odd value");
    }
    assert_eq!((receiver.has_changed(), receiver.borrow().0), (Ok(true), 1));
    sender.send_modify(|value| value.0 += 1);
    assert_eq!(receiver.iter().next().map(|value| value.0), Some(2));
    assert_eq!(receiver.has_changed(), Ok(false));
}

#[cfg(feature = "futures")]
#[test]
fn a_receiver_as_a_stream() {
    use futures_util::StreamExt;
    use futures_util::stream::FusedStream;

    use crate::support::executor::block_on;

    guarded(|| {
        let (sender, receiver) = watch::channel(0);
        let mut over = receiver.clone();
        let thread = thread::spawn(move || (1..=1_000).for_each(|value| sender.send(value).unwrap()));
        let values: Vec<_> = block_on(receiver.collect());
        assert!(values.is_sorted() && values.last() == Some(&1_000));
        thread.join().unwrap();
        assert!(!over.is_terminated(), "there is the last value");
        let (_sender, open) = watch::channel(0);
        assert!(!open.is_terminated(), "another value may come");
        assert_eq!((block_on(over.next()), over.is_terminated()), (Some(1_000), false));
        assert_eq!((block_on(over.next()), over.is_terminated()), (None, true));
    });
}

#[cfg(all(feature = "hub", unix))]
#[test]
fn a_hub_serves_a_receiver() {
    use ysuite::hub::Hub;

    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (sender, mut receiver) = watch::channel(0);
        receiver.mark_changed();
        let (to, from) = std::sync::mpsc::channel();
        hub.receive(receiver, move |_, value| to.send(value).unwrap()).unwrap();
        let thread = thread::spawn(move || {
            let mut random = Random::new(6);
            for value in 1..=500 {
                sender.send(value).unwrap();
                random.pause();
            }
        });
        while hub.run_once(None).unwrap() != 0 {}
        thread.join().unwrap();
        let mut values: Vec<_> = from.into_iter().map_while(Result::ok).collect();
        assert!(values.is_sorted() && values.last() == Some(&500));
        values.dedup();
        assert!(values.len() <= 501);
    });
}
