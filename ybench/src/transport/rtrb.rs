//! `rtrb`: a ring with two indices and no way to sleep, both ends spinning.
//!
//! ```text
//!   sender thread   push, push, push ... ----> ring ----> pop, pop, pop ...   receiver thread
//! ```

use std::io;

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use super::{Closed, Traits, Transport, Waits};

pub struct Rtrb<const SLOTS: usize>;

pub struct Sender(Producer<usize>);
pub struct Receiver(Consumer<usize>);

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
        one_by_one: true,
        batches: false,
        works_with_epoll: false,
    };
    type Sender = Sender;
    type Receiver = Receiver;

    fn open() -> io::Result<(Sender, Receiver)> {
        let (producer, consumer) = RingBuffer::new(SLOTS);
        Ok((Sender(producer), Receiver(consumer)))
    }
}

impl super::Sender for Sender {
    #[inline(always)]
    fn send(&mut self, message: usize) -> Result<(), Closed> {
        let mut message = message;
        while let Err(PushError::Full(back)) = self.0.push(message) {
            message = back;
            if self.0.is_abandoned() {
                return Err(Closed);
            }
            std::hint::spin_loop();
        }
        Ok(())
    }
}

impl super::Receiver for Receiver {
    #[inline(always)]
    fn recv(&mut self) -> Result<usize, Closed> {
        loop {
            if let Ok(message) = self.0.pop() {
                return Ok(message);
            }
            if self.0.is_abandoned() {
                // The last messages may have come between the two looks.
                return self.0.pop().map_err(|_| Closed);
            }
            std::hint::spin_loop();
        }
    }
}
