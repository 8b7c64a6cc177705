//! `thingbuf`: its blocking `mpsc` channel.
//!
//! An array of slots that are made beforehand and reused. A thread that has to wait adds itself to a list and parks.
//! The documentation recommends to work in a slot by reference, and a policy for its content after the receipt: here
//! that is nothing, since the content is plain bytes. A message by pointer that is never received is not freed.

use ::thingbuf::mpsc::blocking::{Receiver, Sender, with_recycle};
use ::thingbuf::recycling::Recycle;
use bytemuck::Pod;
use ybench_measure::ends_by_cloning;
use ybench_measure::transport::spinning::places;
use ybench_measure::transport::{self, Closed, Ends, Message, Traits, Waits};

use crate::end::{End, channels};

const COMMON: Traits = Traits { waits: Waits::Sleeps, bounded: true, senders: Ends::Many, ..crate::COMMON };

/// Leaves the content where it is.
pub struct Left;

impl<W: Pod> Recycle<W> for Left {
    fn new_element(&self) -> W {
        W::zeroed()
    }

    #[inline(always)]
    fn recycle(&self, _: &mut W) {}
}

channels! {
    Bounded: "thingbuf-1k", "thingbuf's blocking mpsc with room for 1,024 messages", {},
        Sender<M::Wire, Left>, Receiver<M::Wire, Left>, with_recycle(1_024, Left);
    Roomy: "thingbuf-64k", "thingbuf's blocking mpsc with room for 65,536 messages", { variant: true, },
        Sender<M::Wire, Left>, Receiver<M::Wire, Left>, with_recycle(places::<M::Wire>(65_536), Left);
}
ends_by_cloning!(senders: Bounded, Roomy);

impl<M: Message> transport::Sender<M> for End<Sender<M::Wire, Left>> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        *self.0.send_ref().map_err(|_| Closed)? = message.into_wire();
        Ok(())
    }
}

impl<M: Message> transport::Receiver<M> for End<Receiver<M::Wire, Left>> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let wire = *self.0.recv_ref().ok_or(Closed)?;
        // SAFETY: `send` has written it into a slot of its own, which is received once.
        Ok(unsafe { M::from_wire(wire) })
    }
}
