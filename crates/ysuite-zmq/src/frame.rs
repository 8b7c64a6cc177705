//! [`Frame`]: one message of libzmq, sent and received whole.
//!
//! Owned by one thread at a time. What is handed over to be sent is dropped by a thread of libzmq when it is on the wire.

use core::ffi::{c_int, c_void};
use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::slice;

use crate::error::Failure;
use crate::ffi;

/// From this many bytes on, handing the bytes themselves over costs less than copying them: libzmq then keeps the
/// memory until it is on the wire.
const WORTH_HANDING_OVER: usize = 4_096;

/// Bytes that libzmq holds. As a message of a channel it is received, and sent on, without a copy. A program that
/// makes new messages sends `Vec<u8>`.
pub struct Frame(ffi::zmq_msg_t);

// SAFETY: a message belongs to its holder; libzmq counts the references to what large ones share atomically.
unsafe impl Send for Frame {}

impl Frame {
    /// Without a byte: what is received into.
    pub(crate) fn empty() -> Self {
        let mut message = MaybeUninit::uninit();
        // SAFETY: the function fills the whole of it, and cannot fail.
        unsafe {
            ffi::zmq_msg_init(message.as_mut_ptr());
            Self(message.assume_init())
        }
    }

    /// A copy of these bytes. Small ones lie in the message itself.
    pub(crate) fn copied(bytes: &[u8]) -> Result<Self, Failure> {
        let mut message = Self::empty();
        message.copy(bytes)?;
        Ok(message)
    }

    // MUTANT: Memory only, or an allocation that fails.
    /// Holds a copy of these bytes from now on, and not what it held.
    fn copy(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: initialised, closed, and initialised again, whether or not that succeeds.
        unsafe {
            ffi::zmq_msg_close(&mut self.0);
            if ffi::zmq_msg_init_size(&mut self.0, bytes.len()) != 0 {
                let failure = Failure::last("zmq_msg_init_size");
                ffi::zmq_msg_init(&mut self.0);
                return Err(failure);
            }
        }
        // SAFETY: it has room for exactly this many bytes, which nothing else accesses.
        unsafe {
            let room = ffi::zmq_msg_data(&mut self.0).cast::<u8>();
            room.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        Ok(())
    }

    // MUTANT: Needs an allocation that fails.
    /// The bytes of `owner`, which is dropped when libzmq is through with them, by a thread of its own.
    fn owned<B: AsRef<[u8]> + Send + 'static>(owner: B) -> Result<Self, Failure> {
        unsafe extern "C" fn free<B>(_: *mut c_void, hint: *mut c_void) {
            // SAFETY: what `owned` leaked, given back once. A Drop that panics would unwind into C: it ends the process
            // there, as in any function that C calls.
            drop(unsafe { Box::from_raw(hint.cast::<B>()) });
        }
        let hint = Box::into_raw(Box::new(owner));
        // SAFETY: just leaked, and not shared.
        let bytes = unsafe { &*hint }.as_ref();
        let (data, length) = (bytes.as_ptr(), bytes.len());
        let mut message = MaybeUninit::uninit();
        // SAFETY: the bytes lie where they are, unchanged, until `free` drops their owner.
        let made = unsafe {
            ffi::zmq_msg_init_data(message.as_mut_ptr(), data.cast_mut().cast(), length, Some(free::<B>), hint.cast())
        };
        if made != 0 {
            let failure = Failure::last("zmq_msg_init_data");
            // SAFETY: it was not taken over.
            drop(unsafe { Box::from_raw(hint) });
            return Err(failure);
        }
        // SAFETY: filled.
        Ok(Self(unsafe { message.assume_init() }))
    }

    /// Copied while there are few, handed over from then on.
    pub(crate) fn of<B: AsRef<[u8]> + Send + 'static>(bytes: B) -> Result<Self, Failure> {
        if bytes.as_ref().len() < WORTH_HANDING_OVER { Self::copied(bytes.as_ref()) } else { Self::owned(bytes) }
    }

    /// Holds these bytes from now on; while they are few their buffer stays with the caller.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>) -> Result<(), Failure> {
        // MUTANT: Speed only: copied or handed over, the bytes are the same.
        if bytes.len() >= WORTH_HANDING_OVER {
            *self = Self::owned(core::mem::take(bytes))?;
            return Ok(());
        }
        let copied = self.copy(bytes);
        bytes.clear();
        copied
    }

    // MUTANT: Memory only: a frame is freed later.
    /// Gives memory of its own back: nobody knows when it holds something else.
    pub(crate) fn release(&mut self) {
        if self.len() >= WORTH_HANDING_OVER {
            *self = Self::empty();
        }
    }

    // MUTANT: It does not fail for an initialised message.
    /// The same bytes once more: large ones are not copied but shared.
    pub(crate) fn shared(&mut self) -> Result<Self, Failure> {
        let mut copy = Self::empty();
        // SAFETY: both are initialised.
        if unsafe { ffi::zmq_msg_copy(&mut copy.0, &mut self.0) } != 0 {
            return Err(Failure::last("zmq_msg_copy"));
        }
        Ok(copy)
    }

    fn bytes(&self) -> &[u8] {
        let message = (&raw const self.0).cast_mut();
        // SAFETY: a message that was initialised; its bytes live as long as it does and are not changed. `zmq_msg_data`
        // takes a mutable pointer for history's sake and only reads.
        unsafe {
            let data = ffi::zmq_msg_data(message).cast::<u8>();
            let length = ffi::zmq_msg_size(message);
            // MUTANT: An empty libzmq message has a valid pointer as well.
            if length == 0 { &[] } else { slice::from_raw_parts(data, length) }
        }
    }

    /// Whether more parts of the same message follow.
    pub(crate) fn more(&self) -> bool {
        // SAFETY: initialised.
        unsafe { ffi::zmq_msg_more(&self.0) != 0 }
    }

    /// Hands its contents to `socket`, is empty then, and returns how many bytes that were. Nothing: it still holds
    /// them.
    ///
    /// # Safety
    /// The socket is open, and used by this thread alone.
    pub(crate) unsafe fn send(&mut self, socket: *mut c_void, flags: c_int) -> Option<usize> {
        // SAFETY: initialised; after a success the bytes are the library's, and it is initialised anew.
        let sent = unsafe { ffi::zmq_msg_send(&mut self.0, socket, flags) };
        usize::try_from(sent).ok()
    }

    /// Receives into it what comes next. False: nothing did.
    ///
    /// # Safety
    /// The socket is open, and used by this thread alone.
    pub(crate) unsafe fn receive(&mut self, socket: *mut c_void, flags: c_int) -> bool {
        // SAFETY: initialised; what it held is released by the library.
        unsafe { ffi::zmq_msg_recv(&mut self.0, socket, flags) >= 0 }
    }
}

impl Default for Frame {
    /// Without a byte.
    fn default() -> Self {
        Self::empty()
    }
}

impl Deref for Frame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes()
    }
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Frame of {} bytes", self.len())
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: initialised, and closed once.
        unsafe { ffi::zmq_msg_close(&mut self.0) };
    }
}
