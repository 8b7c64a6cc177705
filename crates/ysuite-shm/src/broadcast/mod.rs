//! A broadcast: one sender, any number of receivers, each of which receives all messages. The sender writes a message once,
//! into a ring that all receivers map; each receiver has a page with its own cursor.
//!
//! A bounded one waits for the slowest of its receivers; one that is gone no longer counts. A lossy one waits for nobody: a
//! receiver copies, and then looks whether the sender has come round to that group.

mod bytes;
mod receiver;
mod sender;
mod typed;

pub use self::bytes::BytesBroadcastSender;
pub use self::receiver::BroadcastReceiver;
pub use self::sender::BroadcastSender;

use core::ptr::NonNull;

use self::bytes::BytesIn;
use self::typed::TypedIn;
use crate::end::End;
use crate::funnel::Bytes;
use crate::page::{Kind, Shape};
use crate::pipe::Inlet;
use crate::ring::{records, typed as messages};
use crate::{BroadcastError, Message, Options};

/// How a broadcast carries it.
pub(crate) trait Spread: Send + Sized + 'static {
    type Inlet: BroadcastIn<Self>;
    type Writer;

    fn shape(options: &Options, is_lossy: bool) -> Shape;
    fn inlet(end: End) -> Self::Inlet;

    /// # Safety
    /// As for [`typed::Writer::new`](messages::Writer::new), of a ring of this shape.
    unsafe fn writer(start: NonNull<u8>, capacity: usize) -> Self::Writer;
    fn position(writer: &Self::Writer) -> u64;
}

/// What a receiver has of the ring.
pub(crate) trait BroadcastIn<T>: Inlet {
    fn end_ref(&self) -> &End;

    /// What a look has found. `None`: it was overtaken meanwhile, and must look again.
    fn take(&mut self) -> Option<Result<T, BroadcastError>>;

    /// What a look has found, and what is behind it: up to `most` messages, and up to a loss. The sender hears of them at once.
    fn take_some(&mut self, to: &mut Vec<T>, most: usize) -> Option<Result<usize, BroadcastError>>;
}

impl<T: Message> Spread for T {
    type Inlet = TypedIn<T>;
    type Writer = messages::Writer<T>;

    fn shape(options: &Options, is_lossy: bool) -> Shape {
        let kind = if is_lossy { Kind::Lossy } else { Kind::Broadcast };
        Shape { kind, size: size_of::<T>(), align: align_of::<T>(), name: options.name }
    }

    fn inlet(end: End) -> TypedIn<T> {
        TypedIn::new(end)
    }

    unsafe fn writer(start: NonNull<u8>, capacity: usize) -> messages::Writer<T> {
        // SAFETY: by the caller.
        unsafe { messages::Writer::new(start, capacity) }
    }

    #[inline(always)]
    fn position(writer: &messages::Writer<T>) -> u64 {
        writer.position()
    }
}

impl Spread for Bytes {
    type Inlet = BytesIn;
    type Writer = records::Writer;

    fn shape(options: &Options, is_lossy: bool) -> Shape {
        let kind = if is_lossy { Kind::LossyBytes } else { Kind::BroadcastBytes };
        Shape { kind, size: 1, align: 1, name: options.name }
    }

    fn inlet(end: End) -> BytesIn {
        BytesIn::new(end)
    }

    unsafe fn writer(start: NonNull<u8>, capacity: usize) -> records::Writer {
        // SAFETY: by the caller.
        unsafe { records::Writer::new(start, capacity) }
    }

    fn position(writer: &records::Writer) -> u64 {
        writer.position()
    }
}
