//! The receiving end of the pipe.

use core::fmt;
use core::task::{Context, Poll};
use core::time::Duration;
use std::time::Instant;

use super::Shared;
use super::{RecvError, RecvTimeoutError, TryRecvError};
use crate::channel::Spin;
use crate::channel::iter::{IntoIter, Iter, Receive, TryIter};
use crate::channel::receive::{Receiving, Source};
use crate::channel::receiver::wear_receiving_face;
use crate::passive::Passive;
use crate::queue::RegisterCopy;
use crate::queue::ypipe::Reader;
use crate::signal::{Attach, AttachError, Registration};
use crate::sync::Arc;
use crate::wait::WakeTarget;
use crate::wait::one::WaitingEnd;

/// The receiving end of the [pipe](super). Dropping it drops the messages that are in the channel, and makes sending
/// fail. Should one of them panic as it is dropped, the rest is dropped all the same, and the panic goes on then.
pub struct Receiver<T> {
    face: RegisterCopy<Receiving<Pipe<T>>>,
}

/// The reading end of the queue, with the duty to wake a sender that waits for room.
struct Pipe<T> {
    reader: Reader<T>,
    shared: Arc<Shared>,
}

impl<T> Pipe<T> {
    /// After messages were taken. Without a bound: nothing.
    #[inline(always)]
    fn credit(&self) {
        let tokens = self.reader.credited();
        if tokens != 0 {
            self.shared.sender.ring(self.reader.writer_passive(), tokens);
        }
    }
}

impl<T> Source for Pipe<T> {
    type Message = T;

    #[inline(always)]
    fn take(&mut self) -> Option<T> {
        let message = self.reader.read()?;
        self.credit();
        Some(message)
    }

    #[inline]
    fn take_many(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let taken = self.reader.read_batch(to, most);
        if taken != 0 {
            self.credit();
        }
        taken
    }

    fn peek(&mut self) -> Option<&T> {
        self.reader.peek()
    }

    #[inline]
    fn has_message(&mut self) -> bool {
        self.reader.has_message()
    }

    fn len_up_to(&self, enough: usize) -> usize {
        self.reader.len_up_to(enough)
    }

    fn position(&self) -> usize {
        self.reader.position()
    }

    fn is_closed(&self) -> bool {
        self.reader.is_closed()
    }
}

impl<T> WaitingEnd for Pipe<T> {
    #[inline]
    fn is_ready(&mut self) -> bool {
        self.has_message() || self.is_closed()
    }

    fn passive(&self) -> &Passive {
        self.reader.passive()
    }

    fn target(&self) -> &WakeTarget {
        &self.shared.receiver
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(reader: Reader<T>, shared: Arc<Shared>) -> Self {
        Self { face: RegisterCopy::new(Receiving::new(Pipe { reader, shared })) }
    }

    /// How many messages are in the channel. Takes time in proportion to that number: a load for each cache line.
    #[must_use]
    pub fn len(&self) -> usize {
        self.face.source.reader.len()
    }

    /// Whether no message is in the channel.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.face.source.reader.is_empty()
    }

    /// How many messages there may be; `None` without a bound.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.face.source.reader.capacity()
    }

    /// Whether the sender is gone. Messages it has sent may still be here.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.face.source.reader.is_closed()
    }
}

wear_receiving_face!(Receiver);

impl<T> Drop for Pipe<T> {
    fn drop(&mut self) {
        // SAFETY: this is the receiving end, and nothing else of it is under way.
        unsafe { self.shared.receiver.detach() };
        let _waker = self.shared.receiver.forget();
        let tokens = self.reader.leave();
        // Before the messages are dropped, which happens with the reader, and any of which may panic.
        self.shared.sender.ring(self.reader.writer_passive(), tokens);
        // Here, when everybody knows, this end's own waker is dropped.
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("capacity", &self.capacity()).finish_non_exhaustive()
    }
}
