//! A `crossbeam_channel::unbounded` for each sender, and one `Select` over all of their receivers, made once.
//!
//! ```text
//!   sender 0   send ----> channel 0 --+
//!   sender 1   send ----> channel 1 --+--> Select::ready: n, try_recv from channel n   receiver thread
//!   sender 2   send ----> channel 2 --+
//! ```
//!
//! A `Select` polls all of its channels in a random order, and registers with all of them before it sleeps.

use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crossbeam_channel as crossbeam;

use super::{Closed, Ends, Many, Message, Shape, Sides, Traits, Transport, Waits};

pub struct Selected;

/// The channels, and the selection that borrows them.
pub struct Receiver<M> {
    /// Dropped before the channels.
    select: ManuallyDrop<crossbeam::Select<'static>>,
    /// Taken from a box when this was made, and returned to one on drop.
    channels: NonNull<[crossbeam::Receiver<M>]>,
    open: usize,
}

// SAFETY: it owns its channels as the box did, which can go to another thread if its messages can. So can the
// selection, which no other code has.
unsafe impl<M: Send> Send for Receiver<M> {}

impl<M: 'static> Receiver<M> {
    fn new(channels: Vec<crossbeam::Receiver<M>>) -> Self {
        let open = channels.len();
        let channels = NonNull::from(Box::leak(channels.into_boxed_slice()));
        // SAFETY: the channels stay where they are, never changed, until `drop`, where the selection is dropped first.
        // No other code has the reference.
        let borrowed: &'static [crossbeam::Receiver<M>] = unsafe { channels.as_ref() };
        let mut select = crossbeam::Select::new();
        for channel in borrowed {
            select.recv(channel);
        }
        Self { select: ManuallyDrop::new(select), channels, open }
    }
}

impl<M> Receiver<M> {
    fn channels(&self) -> &[crossbeam::Receiver<M>] {
        // SAFETY: they are there until `drop`, and never changed.
        unsafe { self.channels.as_ref() }
    }
}

impl<M> Drop for Receiver<M> {
    fn drop(&mut self) {
        // SAFETY: dropped here and nowhere else, and not used again. Then nothing borrows the channels any more, which
        // came from a box and return to one once.
        unsafe {
            ManuallyDrop::drop(&mut self.select);
            drop(Box::from_raw(self.channels.as_ptr()));
        }
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        while self.open > 0 {
            let ready = self.select.ready();
            match self.channels()[ready].try_recv() {
                Ok(message) => return Ok(message),
                Err(crossbeam::TryRecvError::Empty) => {}
                Err(crossbeam::TryRecvError::Disconnected) => {
                    self.select.remove(ready);
                    self.open -= 1;
                }
            }
        }
        Err(Closed)
    }
}

impl Transport for Selected {
    const TRAITS: Traits = Traits {
        name: "crossbeam-select",
        about: "A crossbeam-channel without a bound for each sender, and a Select over all of them",
        waits: Waits::LooksThenSleeps,
        one_by_one: false,
        senders: Ends::Many,
        one_order: false,
        ..Traits::COMMON
    };
    type Sender<M: Message> = crossbeam::Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(crossbeam::Sender<M>, Receiver<M>)> {
        let (sender, receiver) = crossbeam::unbounded();
        Ok((sender, Receiver::new(vec![receiver])))
    }
}

impl Many for Selected {
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..shape.senders).map(|_| crossbeam::unbounded()).unzip();
        Ok((senders, vec![Receiver::new(receivers)]))
    }
}
