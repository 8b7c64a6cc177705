//! A pipe: one sender, one receiver, in two processes or in one.

mod bytes;
mod inlet;
mod outlet;
mod receiver;
mod sender;

pub use self::bytes::{BytesReceiver, BytesSender};
pub use self::receiver::{IntoIter, Iter, Receiver, TryIter};
pub use self::sender::Sender;

pub(crate) use self::inlet::{BytesInlet, Inlet, TypedInlet};
pub(crate) use self::outlet::Outlet;
pub(crate) use self::receiver::limited;

use core::time::Duration;

use crate::end::{Half, Unfulfilled, deadline, wait};
use crate::page::{Kind, Shape};
use crate::{Error, Message, Options, os};

/// The shape of a pipe of messages.
pub(crate) fn typed_shape<T: Message>(options: &Options) -> Shape {
    Shape { kind: Kind::Typed, size: size_of::<T>(), align: align_of::<T>(), name: options.name }
}

/// The shape of a pipe of bytes.
pub(crate) fn bytes_shape(options: &Options) -> Shape {
    Shape { kind: Kind::Bytes, size: 1, align: 1, name: options.name }
}

/// Makes a pipe for `capacity` messages of type `T`. Either end can be given to another process, as long as it has not
/// been used: [`Receiver::into_fd`], [`Sender::into_fd`].
///
/// # Errors
/// [`Refused`](Error::Refused): without memory or descriptors, or a capacity of 0 or of more than can be.
pub fn pipe<T: Message>(capacity: usize) -> Result<(Sender<T>, Receiver<T>), Error> {
    Options::new().pipe(capacity)
}

/// Makes a pipe of bytes: messages of any length, which together have room in `capacity` bytes; each takes 8 bytes more
/// than it has, rounded up to whole words of 8 bytes. `capacity` is rounded up likewise.
///
/// # Errors
/// As for [`pipe`]; 8 bytes or fewer are refused as well.
pub fn pipe_bytes(capacity: usize) -> Result<(BytesSender, BytesReceiver), Error> {
    Options::new().pipe_bytes(capacity)
}

impl Options {
    /// As the function [`pipe`].
    ///
    /// # Errors
    /// As there.
    pub fn pipe<T: Message>(&self, capacity: usize) -> Result<(Sender<T>, Receiver<T>), Error> {
        let (one, other) = os::pair().map_err(os::refused)?;
        Ok((self.sender(one, capacity)?, self.receiver(other)?))
    }

    /// As the function [`pipe_bytes`].
    ///
    /// # Errors
    /// As there.
    pub fn pipe_bytes(&self, capacity: usize) -> Result<(BytesSender, BytesReceiver), Error> {
        let (one, other) = os::pair().map_err(os::refused)?;
        Ok((self.bytes_sender(one, capacity)?, self.bytes_receiver(other)?))
    }
}

/// Waits until the peer of an end is there.
pub(crate) fn met_within(half: &mut impl Half, limit: Duration) -> Result<bool, Error> {
    match wait(half, deadline(limit), |half| half.end().meet(None).then_some(())) {
        Ok(()) => Ok(true),
        Err(Unfulfilled::Timeout) => Ok(false),
        Err(Unfulfilled::Ended(error)) => Err(error),
    }
}
