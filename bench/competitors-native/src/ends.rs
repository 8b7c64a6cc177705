//! The handles of C++'s queues as those of a transport: a call through a pointer for each message, which the compiler
//! cannot see through. So they are for measurements of single messages; streams and ping-pong use
//! [`loops`](crate::loops).
//!
//! A message is passed as the bytes of its [`Wire`](Message::Wire), in the smallest size that has room for it.

use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use ybench_measure::scenario::cells::drivers::BYTES;
use ybench_measure::transport::{self, Closed, Many, Message, Shape, Sides, Traits, Transport};

use crate::table::{End, Table, Tables};

/// A queue of C++.
pub(crate) trait Foreign: 'static {
    const TRAITS: Traits;
    const TABLES: Tables;
}

/// The largest message, in words.
const WORDS: usize = BYTES[3] as usize / size_of::<usize>();

/// The functions for one of the sizes.
pub(crate) fn table<F: Foreign>(size: usize) -> &'static Table {
    // SAFETY: it takes nothing, and returns the address of a constant that is of this type in C++ as well.
    let tables = unsafe { &*(F::TABLES)() };
    &tables[size]
}

/// A sender or a receiver of C++, dropped with it.
pub(crate) struct Held {
    end: End,
    table: &'static Table,
    drop: unsafe extern "C" fn(End),
}

// SAFETY: a handle may move to another thread, like any handle of its library; it is not used by two at a time.
unsafe impl Send for Held {}

impl Held {
    /// The handle and its functions. For a caller that owns it: one thread uses a handle at a time.
    pub(crate) fn parts(&mut self) -> (End, &'static Table) {
        (self.end, self.table)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: of this table, and not used any more.
        unsafe { (self.drop)(self.end) }
    }
}

/// Handles of a new channel for messages of one size.
pub(crate) fn open<F: Foreign>(size: usize, shape: Shape) -> io::Result<(Vec<Held>, Vec<Held>)> {
    let table = table::<F>(size);
    let (mut senders, mut receivers) = (vec![ptr::null_mut(); shape.senders], vec![ptr::null_mut(); shape.receivers]);
    // SAFETY: the arrays have room for these numbers of handles.
    if !unsafe { (table.open)(shape.senders, shape.receivers, senders.as_mut_ptr(), receivers.as_mut_ptr()) } {
        return Err(io::Error::other("its library cannot make such a channel here"));
    }
    let held = |drop| move |end| Held { end, table, drop };
    let senders = senders.into_iter().map(held(table.drop_sender)).collect();
    Ok((senders, receivers.into_iter().map(held(table.drop_receiver)).collect()))
}

/// The transport.
pub(crate) struct Guest<F>(PhantomData<F>);

/// One handle for messages `M`.
pub(crate) struct Typed<M> {
    held: Held,
    messages: PhantomData<fn(M)>,
}

impl<M> Typed<M> {
    fn of(held: Held) -> Self {
        Self { held, messages: PhantomData }
    }
}

impl<F: Foreign> Transport for Guest<F> {
    const TRAITS: Traits = F::TRAITS;
    type Sender<M: Message> = Typed<M>;
    type Receiver<M: Message> = Typed<M>;

    fn open<M: Message>() -> io::Result<(Typed<M>, Typed<M>)> {
        let (mut senders, mut receivers) = Self::open_many::<M>(Shape::ONE_TO_ONE)?;
        senders.pop().zip(receivers.pop()).ok_or_else(|| io::Error::other("a channel without handles"))
    }
}

impl<F: Foreign> Many for Guest<F> {
    fn open_many<M: Message>(shape: Shape) -> io::Result<Sides<Self, M>> {
        let room = BYTES.iter().position(|bytes| size_of::<M::Wire>() <= *bytes as usize);
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "it is compiled for messages of up to 256 bytes");
        let (senders, receivers) = open::<F>(room.ok_or_else(too_long)?, shape)?;
        Ok((senders.into_iter().map(Typed::of).collect(), receivers.into_iter().map(Typed::of).collect()))
    }
}

impl<M: Message> transport::Sender<M> for Typed<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let (end, table) = self.held.parts();
        let wire = message.into_wire();
        let sent = if size_of::<M::Wire>() == table.bytes {
            // SAFETY: this number of bytes is copied from there.
            unsafe { (table.send)(end, ptr::from_ref(&wire).cast()) }
        } else {
            let mut bytes = [0_usize; WORDS];
            // SAFETY: the size was chosen so that the wire form fits, and no size is above this number of words.
            unsafe {
                ptr::copy_nonoverlapping(
                    ptr::from_ref(&wire).cast(),
                    bytes.as_mut_ptr().cast::<u8>(),
                    size_of::<M::Wire>(),
                );
                (table.send)(end, bytes.as_ptr().cast())
            }
        };
        if !sent {
            // SAFETY: it has not been taken.
            drop(unsafe { M::from_wire(wire) });
            return Err(Closed);
        }
        Ok(())
    }
}

impl<M: Message> transport::Receiver<M> for Typed<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let (end, table) = self.held.parts();
        let mut bytes = MaybeUninit::<[usize; WORDS]>::uninit();
        let into = bytes.as_mut_ptr().cast::<c_void>();
        // SAFETY: the largest size fits there.
        if !unsafe { (table.receive)(end, into) } {
            return Err(Closed);
        }
        // SAFETY: the bytes were written, and begin with a wire form that came in by `send` and comes out once; the
        // place may be less aligned than it.
        Ok(unsafe { M::from_wire(into.cast::<M::Wire>().read_unaligned()) })
    }
}
