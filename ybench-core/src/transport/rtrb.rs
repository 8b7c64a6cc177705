//! `rtrb`: a ring with two indices and no way to sleep, both ends spinning.
//!
//! ```text
//!   sender thread   push, push, push ... ----> ring ----> pop, pop, pop ...   receiver thread
//! ```
//!
//! A ring is allocated whole: of messages so large that its slots would take more than 64 MiB it has room for fewer.

use std::io;

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use super::{Closed, Message, Traits, Transport, Waits};

pub struct Rtrb<const SLOTS: usize>;

const MOST_BYTES: usize = 64 << 20;

impl<const SLOTS: usize> Transport for Rtrb<SLOTS> {
    const TRAITS: Traits = Traits {
        name: match SLOTS {
            65_536 => "rtrb-64k",
            1_024 => "rtrb-1k",
            _ => panic!("a new size of ring needs a name"),
        },
        about: match SLOTS {
            65_536 => "rtrb with 65,536 slots, both ends spinning",
            _ => "rtrb with 1,024 slots, both ends spinning",
        },
        waits: Waits::Spins,
        bounded: true,
        variant: SLOTS == 1_024,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Producer<M>;
    type Receiver<M: Message> = Consumer<M>;

    fn open<M: Message>() -> io::Result<(Producer<M>, Consumer<M>)> {
        Ok(RingBuffer::new(SLOTS.min(MOST_BYTES / size_of::<M>())))
    }
}

impl<M: Message> super::Sender<M> for Producer<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let mut message = message;
        while let Err(PushError::Full(back)) = self.push(message) {
            message = back;
            if self.is_abandoned() {
                return Err(Closed);
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}

impl<M: Message> super::Receiver<M> for Consumer<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Ok(message) = self.pop() {
                return Ok(message);
            }
            if self.is_abandoned() {
                // The last messages may have come between the two looks.
                return self.pop().map_err(|_| Closed);
            }
            std::hint::spin_loop();
        }
    }
}
