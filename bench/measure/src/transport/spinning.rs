//! Queues that cannot wait, made into transports: a thread that finds one full or empty polls again, without end.
//!
//! ```text
//!   sender thread   full? again. full? again. push ----> queue ----> pop. empty? again. empty? again.   receiver thread
//! ```
//!
//! The action between two polls changes the times of such queues more than twofold. So each of them is two transports,
//! one with a pause of the CPU ([`std::hint::spin_loop`]) between two polls and one without. The loop is the same for
//! all, so none is better or worse by accident. Whether the peer is dropped is polled so seldom that it costs nothing,
//! and without the queue's help: many have no such function.

use std::io;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Weak};

use super::{Closed, Many, Message, Shape, Sides, Traits, Transport, Waits};

/// A queue that says "full" or "empty" and never waits.
pub trait Queue: 'static {
    /// With a pause between two polls, and without.
    const NAMES: [&'static str; 2];
    /// As above. One sentence each, without its full stop.
    const ABOUT: [&'static str; 2];
    /// The rest of its traits.
    const TRAITS: Traits;
    type Push<M: Message>: Push<M>;
    type Pop<M: Message>: Pop<M>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>);
}

/// A queue with several handles on a side.
pub trait Shared: Queue {
    fn open_many<M: Message>(shape: Shape) -> Several<Self, M>;
}

/// All handles of a queue.
pub type Several<Q, M> = (Vec<<Q as Queue>::Push<M>>, Vec<<Q as Queue>::Pop<M>>);

pub trait Push<M: Message>: Send + 'static {
    /// Returns the message if the queue is full.
    fn push(&mut self, message: M) -> Result<(), M>;

    /// Publishes messages with these numbers, as many as there is room for, from the first on, together. Returns their
    /// number.
    fn push_run(&mut self, numbers: Range<usize>) -> usize {
        usize::from(self.push(M::numbered(numbers.start)).is_ok())
    }
}

pub trait Pop<M: Message>: Send + 'static {
    /// Nothing if the queue is empty.
    fn pop(&mut self) -> Option<M>;

    /// Appends the ready messages, up to `max`.
    fn pop_run(&mut self, into: &mut Vec<M>, _max: usize) {
        into.extend(self.pop());
    }
}

/// Messages that such a queue has room for, if its slots are allocated together. The number of large ones is limited to
/// 64 MiB.
pub fn places<M>(wanted: usize) -> usize {
    const MOST_BYTES: usize = 64 << 20;
    wanted.min(MOST_BYTES / size_of::<M>())
}

/// Polls between two attempts whether the peer still exists.
const LOOKS: u32 = 256;

/// Counts polls.
struct Looks(u32);

impl Looks {
    /// After a failed attempt. Whether to check for the peer.
    #[inline(always)]
    fn next<const PAUSE: bool>(&mut self) -> bool {
        if PAUSE {
            std::hint::spin_loop();
        }
        self.0 = self.0.wrapping_add(1);
        self.0.is_multiple_of(LOOKS)
    }
}

/// One side's sign of life. The handles of a side share it. Their peers see whether any of them is left.
struct Side {
    _own: Arc<()>,
    other: Weak<()>,
}

impl Side {
    fn both() -> [Self; 2] {
        let (one, two) = (Arc::new(()), Arc::new(()));
        let (weak_one, weak_two) = (Arc::downgrade(&one), Arc::downgrade(&two));
        [Self { _own: one, other: weak_two }, Self { _own: two, other: weak_one }]
    }

    fn another(&self) -> Self {
        Self { _own: self._own.clone(), other: self.other.clone() }
    }

    #[cold]
    fn alone(&self) -> bool {
        let alone = self.other.strong_count() == 0;
        // ORDERING: Acquire pairs with the Release of the last peer's drop of its Arc, which came after all its
        // actions.
        fence(Ordering::Acquire);
        alone
    }
}

/// The queue as a transport, with a pause between two polls or without.
pub struct Spinning<Q, const PAUSE: bool>(PhantomData<Q>);

/// The pushing handle. Dropped in this order: pushed messages are visible before the sign of life is gone.
pub struct Sender<P, const PAUSE: bool> {
    queue: P,
    side: Side,
}

pub struct Receiver<P, const PAUSE: bool> {
    queue: P,
    side: Side,
}

impl<Q: Queue, const PAUSE: bool> Transport for Spinning<Q, PAUSE> {
    const TRAITS: Traits = Traits {
        name: Q::NAMES[!PAUSE as usize],
        about: Q::ABOUT[!PAUSE as usize],
        waits: Waits::Spins,
        variant: Q::TRAITS.variant || !PAUSE,
        ..Q::TRAITS
    };
    type Sender<M: Message> = Sender<Q::Push<M>, PAUSE>;
    type Receiver<M: Message> = Receiver<Q::Pop<M>, PAUSE>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let (push, pop) = Q::open::<M>();
        let [sends, receives] = Side::both();
        Ok((Sender { queue: push, side: sends }, Receiver { queue: pop, side: receives }))
    }
}

impl<Q: Shared, const PAUSE: bool> Many for Spinning<Q, PAUSE> {
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
        let (push, pop) = Q::open_many::<M>(shape);
        let [sends, receives] = Side::both();
        let senders = push.into_iter().map(|queue| Sender { queue, side: sends.another() });
        let receivers = pop.into_iter().map(|queue| Receiver { queue, side: receives.another() });
        Ok((senders.collect(), receivers.collect()))
    }
}

impl<M: Message, P: Push<M>, const PAUSE: bool> super::Sender<M> for Sender<P, PAUSE> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let mut message = message;
        let mut looks = Looks(0);
        while let Err(back) = self.queue.push(message) {
            message = back;
            if looks.next::<PAUSE>() && self.side.alone() {
                return Err(Closed);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn send_batch(&mut self, first: usize, count: usize) -> Result<(), Closed> {
        let end = first + count;
        let mut next = first;
        let mut looks = Looks(0);
        loop {
            next += self.queue.push_run(next..end);
            if next == end {
                return Ok(());
            }
            if looks.next::<PAUSE>() && self.side.alone() {
                return Err(Closed);
            }
        }
    }
}

impl<M: Message, P: Pop<M>, const PAUSE: bool> super::Receiver<M> for Receiver<P, PAUSE> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let mut looks = Looks(0);
        loop {
            if let Some(message) = self.queue.pop() {
                return Ok(message);
            }
            if looks.next::<PAUSE>() && self.side.alone() {
                // The last messages may have come between the two polls.
                return self.queue.pop().ok_or(Closed);
            }
        }
    }

    #[inline(always)]
    fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), Closed> {
        let before = into.len();
        let mut looks = Looks(0);
        loop {
            self.queue.pop_run(into, max);
            if into.len() > before {
                return Ok(());
            }
            if looks.next::<PAUSE>() && self.side.alone() {
                self.queue.pop_run(into, max);
                return if into.len() > before { Ok(()) } else { Err(Closed) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::rtrb::Ring;
    use crate::transport::{Receiver as _, Sender as _};

    #[test]
    fn a_dropped_peer_is_reported_after_the_last_message() {
        type Paused = Spinning<Ring<1_024>, true>;
        let (mut sender, mut receiver) = Paused::open::<usize>().unwrap();
        assert_eq!(sender.send_batch(0, 3), Ok(()));
        drop(sender);
        let mut taken = Vec::new();
        assert_eq!(receiver.recv_batch(&mut taken, 2), Ok(()));
        assert_eq!((taken, receiver.recv()), (vec![0, 1], Ok(2)));
        assert_eq!(receiver.recv(), Err(Closed));
        assert_eq!(receiver.recv_batch(&mut Vec::new(), 2), Err(Closed));

        let (mut sender, receiver) = Spinning::<Ring<1_024>, false>::open::<usize>().unwrap();
        drop(receiver);
        // There is room, which is all that this queue reports.
        assert_eq!(sender.send_batch(0, 1_024), Ok(()));
        assert_eq!(sender.send(1_024), Err(Closed));
        assert_eq!(sender.send_batch(1_024, 2), Err(Closed));
    }
}
