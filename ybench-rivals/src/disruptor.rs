//! `disruptor`: its ring, published to by one thread or several, and polled by one.
//!
//! Events stand in slots that are made beforehand. The documentation has threads of its own for receivers, and a poller for
//! those who have a thread already, as here: it gives a hand of the events that are there, and their slots are free when the
//! hand is let go. So up to 64 are copied out of a hand and then received one by one: to poll for each would ask the sender's
//! line for each. Waiting is left to whoever polls; `publish` spins without a pause where the ring is full, and
//! `try_publish` and `try_batch_publish` are there for loops of one's own. What is sent is plain bytes: a message that is by
//! pointer and never received is not freed.

use std::ops::Range;

use ::disruptor::{
    BusySpin, EventPoller, MissingFreeSlots, MultiProducer, MultiProducerBarrier, Producer, SingleConsumerBarrier,
    SingleProducer, SingleProducerBarrier, build_multi_producer, build_single_producer,
};
use bytemuck::Zeroable;
use ybench_core::transport::spinning::{Pop, Push, Queue, Shared, places};
use ybench_core::transport::{Ends, Message, Shape, Traits, copies};

use crate::end::End;

pub struct Single<const SLOTS: usize>;
pub struct Several;

/// Events copied at once, and the most bytes of them.
const HAND: usize = 64;
const HAND_BYTES: usize = 4096;

/// Polls hands of events and gives them one by one.
pub struct Polled<W, B> {
    poller: EventPoller<W, B>,
    hand: Vec<W>,
    next: usize,
}

impl<W: Copy, B> Polled<W, B> {
    const MOST: usize = {
        let fits = HAND_BYTES / size_of::<W>();
        if fits == 0 {
            1
        } else if fits < HAND {
            fits
        } else {
            HAND
        }
    };

    fn new(poller: EventPoller<W, B>) -> Self {
        Self { poller, hand: Vec::with_capacity(Self::MOST), next: 0 }
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
            "disruptor with one producer, a poller and 65,536 slots, both ends spinning",
            "disruptor with one producer, a poller and 65,536 slots, both ends spinning without a pause between two looks",
        ],
        _ => [
            "disruptor with one producer, a poller and 1,024 slots, both ends spinning",
            "disruptor with one producer, a poller and 1,024 slots, both ends spinning without a pause between two looks",
        ],
    };
    const TRAITS: Traits = Traits { bounded: true, batches: true, variant: SLOTS == 1_024, ..Traits::COMMON };
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
        "disruptor with several producers, a poller and 65,536 slots, all ends spinning",
        "disruptor with several producers, a poller and 65,536 slots, all ends spinning without a pause between two looks",
    ];
    const TRAITS: Traits = Traits { bounded: true, batches: true, senders: Ends::Many, ..Traits::COMMON };
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

/// A power of two, as it wants, and what is the least for several producers.
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
    ($($barrier:ty),+) => { $(
        impl<M: Message> Pop<M> for Polled<M::Wire, $barrier> {
            #[inline(always)]
            fn pop(&mut self) -> Option<M> {
                if self.next == self.hand.len() {
                    self.hand.clear();
                    self.next = 0;
                    self.hand.extend((&mut self.poller.take(Self::MOST as u64).ok()?).copied());
                }
                let wire = *self.hand.get(self.next)?;
                self.next += 1;
                // SAFETY: `push` has written it into a slot of its own, and it is received once.
                Some(unsafe { M::from_wire(wire) })
            }

            #[inline(always)]
            fn pop_run(&mut self, into: &mut Vec<M>, max: usize) {
                if let Ok(mut hand) = self.poller.take(max as u64) {
                    // SAFETY: as above.
                    into.extend((&mut hand).map(|wire| unsafe { M::from_wire(*wire) }));
                }
            }
        }
    )+ };
}
polled!(SingleProducerBarrier, MultiProducerBarrier);
