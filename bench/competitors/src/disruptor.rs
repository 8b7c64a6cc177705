//! `disruptor`: its ring, with one publishing thread or several, and one polling thread.
//!
//! Events are in slots that are made beforehand. The documentation has threads of its own for receivers, and a poller
//! for programs that have a thread already, as here. It returns a guard for a batch of the ready events, which are read
//! in place. Their slots are free when the guard is dropped. The documentation shows two ways to get one, `take(64)`
//! and `poll`, which returns all.
//!
//! Each variant uses the quicker way here. With one producer that is `take(64)`: a reader that keeps all ready events
//! makes the producer wait for room. With several it is `poll`. Their poller reads a bit of each event up to the last
//! ready one, for any requested number, so that a full ring of 65,536 is read for every 64 (more than 500 ns a message,
//! compared with 22). The waiting is left to the polling thread. `publish` spins without a pause where the ring is
//! full, and `try_publish` and `try_batch_publish` are for loops of one's own. The content is plain bytes: a message by
//! pointer that is never received is not freed.

use std::ops::Range;
use std::ptr::NonNull;

use ::disruptor::{
    BusySpin, EventGuard, EventPoller, MissingFreeSlots, MultiProducer, MultiProducerBarrier, Producer,
    SingleConsumerBarrier, SingleProducer, SingleProducerBarrier, build_multi_producer, build_single_producer,
};
use bytemuck::Zeroable;
use ybench_measure::transport::spinning::{Pop, Push, Queue, Shared, places};
use ybench_measure::transport::{Ends, Message, Shape, Traits, copies};

use crate::end::End;

pub struct Single<const SLOTS: usize>;
pub struct Several;

/// Returns the events of batches one by one.
pub struct Polled<W: 'static, B: 'static> {
    /// Has the only reference to the poller while no batch is open.
    hand: Option<EventGuard<'static, W, B>>,
    poller: NonNull<EventPoller<W, B>>,
}

// SAFETY: only the owner has the poller and the batch that borrows it.
unsafe impl<W, B> Send for Polled<W, B> where EventPoller<W, B>: Send {}

impl<W, B> Polled<W, B> {
    fn new(poller: EventPoller<W, B>) -> Self {
        Self { hand: None, poller: NonNull::from(Box::leak(Box::new(poller))) }
    }
}

impl<W, B> Drop for Polled<W, B> {
    fn drop(&mut self) {
        self.hand = None;
        // SAFETY: leaked by `new`, and no longer borrowed.
        drop(unsafe { Box::from_raw(self.poller.as_ptr()) });
    }
}

impl<const SLOTS: usize> Queue for Single<SLOTS> {
    const NAMES: [&'static str; 2] = match SLOTS {
        65_536 => ["disruptor-64k", "disruptor-64k-no-pause"],
        1_024 => ["disruptor-1k", "disruptor-1k-no-pause"],
        _ => panic!("a new size of ring needs a name"),
    };
    const ABOUT: [&'static str; 2] = match SLOTS {
        65_536 => [
            "disruptor with one producer, a poller and 65,536 slots, both sides spinning",
            "disruptor with one producer, a poller and 65,536 slots, both sides spinning without a pause between two polls",
        ],
        _ => [
            "disruptor with one producer, a poller and 1,024 slots, both sides spinning",
            "disruptor with one producer, a poller and 1,024 slots, both sides spinning without a pause between two polls",
        ],
    };
    const TRAITS: Traits = Traits { bounded: true, batches: true, variant: SLOTS == 1_024, ..crate::COMMON };
    type Push<M: Message> = End<SingleProducer<M::Wire, SingleConsumerBarrier>>;
    type Pop<M: Message> = Polled<M::Wire, SingleProducerBarrier>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let builder = build_single_producer(slots::<M>(SLOTS), M::Wire::zeroed, BusySpin);
        let (poller, builder) = builder.new_event_poller();
        (End(builder.build()), Polled::new(poller))
    }
}

impl Queue for Several {
    const NAMES: [&'static str; 2] = ["disruptor-mpsc-64k", "disruptor-mpsc-64k-no-pause"];
    const ABOUT: [&'static str; 2] = [
        "disruptor with several producers, a poller and 65,536 slots, all threads spinning",
        "disruptor with several producers, a poller and 65,536 slots, all threads spinning without a pause between two polls",
    ];
    const TRAITS: Traits = Traits { bounded: true, batches: true, senders: Ends::Many, ..crate::COMMON };
    type Push<M: Message> = End<MultiProducer<M::Wire, SingleConsumerBarrier>>;
    type Pop<M: Message> = Polled<M::Wire, MultiProducerBarrier>;

    fn open<M: Message>() -> (Self::Push<M>, Self::Pop<M>) {
        let builder = build_multi_producer(slots::<M>(65_536), M::Wire::zeroed, BusySpin);
        let (poller, builder) = builder.new_event_poller();
        (End(builder.build()), Polled::new(poller))
    }
}

impl Shared for Several {
    fn open_many<M: Message>(shape: Shape) -> (Vec<Self::Push<M>>, Vec<Self::Pop<M>>) {
        let (producer, poller) = Self::open::<M>();
        (copies(producer, shape.senders), vec![poller])
    }
}

/// A power of two, as the crate requires, and the minimum for several producers.
fn slots<M: Message>(wanted: usize) -> usize {
    let most = places::<M::Wire>(wanted).max(64);
    1 << most.ilog2()
}

macro_rules! published {
    ($($producer:ident),+) => { $(
        impl<M: Message> Push<M> for End<$producer<M::Wire, SingleConsumerBarrier>> {
            #[inline(always)]
            fn push(&mut self, message: M) -> Result<(), M> {
                let mut message = Some(message);
                let published = self.0.try_publish(|slot| {
                    if let Some(message) = message.take() {
                        *slot = message.into_wire();
                    }
                });
                match message {
                    Some(back) if published.is_err() => Err(back),
                    _ => Ok(()),
                }
            }

            #[inline(always)]
            fn push_run(&mut self, numbers: Range<usize>) -> usize {
                let wanted = numbers.len();
                let mut publish = |count: usize| {
                    let published = self.0.try_batch_publish(count, |slots| {
                        for (slot, number) in slots.zip(numbers.clone()) {
                            *slot = M::numbered(number).into_wire();
                        }
                    });
                    published.map(|_| count)
                };
                publish(wanted).unwrap_or_else(|MissingFreeSlots(missing)| match wanted - missing as usize {
                    0 => 0,
                    room => publish(room).unwrap_or(0),
                })
            }
        }
    )+ };
}
published!(SingleProducer, MultiProducer);

macro_rules! polled {
    ($($barrier:ty, $most:expr;)+) => { $(
        impl<W> Polled<W, $barrier> {
            /// A batch with at least one event, if there is any.
            #[inline(always)]
            fn hand(&mut self) -> Option<&mut EventGuard<'static, W, $barrier>> {
                if self.hand.is_none() {
                    // SAFETY: without a batch no other code has a reference; with one the batch has it, which is
                    // dropped first.
                    self.hand = Some(unsafe { self.poller.as_mut() }.take($most).ok()?);
                }
                self.hand.as_mut()
            }

            /// Drops a batch that has been read to its end.
            #[inline(always)]
            fn let_go(&mut self) {
                self.hand.take_if(|hand| (&mut *hand).len() == 0);
            }
        }

        impl<M: Message> Pop<M> for Polled<M::Wire, $barrier> {
            #[inline(always)]
            fn pop(&mut self) -> Option<M> {
                let wire = *self.hand()?.next()?;
                self.let_go();
                // SAFETY: `push` has written it into a slot of its own, and it is received once.
                Some(unsafe { M::from_wire(wire) })
            }

            #[inline(always)]
            fn pop_run(&mut self, into: &mut Vec<M>, max: usize) {
                if let Some(hand) = self.hand() {
                    // SAFETY: as above.
                    into.extend(hand.take(max).map(|wire| unsafe { M::from_wire(*wire) }));
                    self.let_go();
                }
            }
        }
    )+ };
}
polled! {
    SingleProducerBarrier, 64;
    MultiProducerBarrier, u64::MAX;
}
