//! The sending end of the pipe.

use core::fmt;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::time::Instant;

use super::{SendError, SendTimeoutError, Shared, TrySendError};
use crate::channel::Spin;
use crate::channel::send::{Link, Sending, wear_sending_face};
use crate::passive::{GONE, Passive};
use crate::queue::ypipe::Writer;
use crate::sync::Arc;
use crate::wait::WakeTarget;

/// The sending end of the [pipe](super). Dropping it publishes what was hidden; the receiver gets all that was sent, and
/// then learns that nothing more will come.
pub struct Sender<T> {
    face: Sending<T, Arc<Shared>>,
}

impl Link for Arc<Shared> {
    fn wake(&self, receiver: &Passive, tokens: u32) -> bool {
        self.receiver.ring(receiver, tokens);
        tokens & !GONE != 0
    }

    fn forget(&self) -> Option<Waker> {
        self.sender.forget()
    }

    fn close(&self, receiver: &Passive, tokens: u32) {
        self.receiver.ring(receiver, tokens);
    }

    fn target(&self) -> &WakeTarget {
        &self.sender
    }
}

impl<T> Sender<T> {
    pub(super) fn new(writer: Writer<T>, shared: Arc<Shared>) -> Self {
        Self { face: Sending::new(writer, shared) }
    }
}

wear_sending_face!(Sender);
