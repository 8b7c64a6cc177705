//! PUSH and PULL as libzmq's own guide uses them: a call for each message on both sides, each of which sleeps in it.
//! High-water marks are the default, 1,000 messages on each side.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::NonNull;
use std::ffi::CString;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ybench_measure::transport::{self, Closed, Message, Traits, Transport};

pub(crate) struct Raw<const PLACE: usize>;

impl<const PLACE: usize> Transport for Raw<PLACE> {
    const TRAITS: Traits = Traits {
        name: match PLACE {
            super::TCP => "zmq-raw-tcp",
            super::IPC => "zmq-raw-ipc",
            _ => "zmq-raw-inproc",
        },
        about: "PUSH and PULL of libzmq, a frame for each message, both sides waiting in its calls",
        ..super::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M>)> {
        let (pull, push) = (Socket::new(PULL)?, Socket::new(PUSH)?);
        let there = pull.bind(&super::fresh_address(PLACE))?;
        push.connect(&there)?;
        let other = Arc::new(Other::default());
        let sender = Sender { socket: Some(push), receiver: other.clone(), messages: PhantomData };
        Ok((sender, Receiver { socket: pull, other, messages: PhantomData }))
    }
}

/// The state that both handles share.
#[derive(Default)]
struct Other {
    receiver_is_gone: AtomicBool,
    /// The socket of a dropped sender. It stays until the receiver has received all: over ipc libzmq loses unread
    /// messages of a connection that is closed (libzmq#4660).
    push: Mutex<Option<Socket>>,
}

impl Other {
    fn push(&self) -> MutexGuard<'_, Option<Socket>> {
        self.push.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct Sender<M: Message> {
    /// None while it is dropped.
    socket: Option<Socket>,
    receiver: Arc<Other>,
    messages: PhantomData<fn(M)>,
}

pub(crate) struct Receiver<M: Message> {
    socket: Socket,
    other: Arc<Other>,
    messages: PhantomData<fn() -> M>,
}

impl<M: Message> Sender<M> {
    fn put(&self, bytes: &[u8]) -> Result<(), Closed> {
        while !self.socket.as_ref().is_some_and(|socket| socket.send(bytes)) {
            // ORDERING: Acquire pairs with the store in the receiver's drop. A call ends after a tenth of a second without room.
            if self.receiver.receiver_is_gone.load(Ordering::Acquire) {
                return Err(Closed);
            }
        }
        Ok(())
    }
}

impl<M: Message> transport::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        // ORDERING: Acquire pairs with the store in the receiver's drop.
        if self.receiver.receiver_is_gone.load(Ordering::Acquire) {
            return Err(Closed);
        }
        self.put(bytemuck::bytes_of(&message.into_wire()))
    }
}

impl<M: Message> Drop for Sender<M> {
    /// An empty frame is the end.
    fn drop(&mut self) {
        let _ = self.put(&[]);
        let mut left = self.receiver.push();
        // ORDERING: Acquire pairs with the store in the receiver's drop, which closes the socket it then finds: the
        // lock decides.
        if !self.receiver.receiver_is_gone.load(Ordering::Acquire) {
            *left = self.socket.take();
        }
    }
}

impl<M: Message> transport::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let wire = self.socket.receive().ok_or(Closed)?;
        // SAFETY: `send` has put it in, and it is taken out once: nothing else connects here.
        Ok(unsafe { M::from_wire(wire) })
    }
}

impl<M: Message> Drop for Receiver<M> {
    fn drop(&mut self) {
        // ORDERING: Release pairs with the loads of the sender.
        self.other.receiver_is_gone.store(true, Ordering::Release);
        drop(self.other.push().take());
    }
}

pub(super) const PULL: c_int = 7;
pub(super) const PUSH: c_int = 8;
const LINGER: c_int = 17;
const SEND_TIMEOUT: c_int = 28;
const LAST_ENDPOINT: c_int = 32;
/// By a signal: EINTR.
const INTERRUPTED: c_int = 4;

/// As `zmq.h` declares it: 64 opaque bytes, aligned like a pointer.
#[repr(C)]
struct RawMessage([*mut c_void; 64 / size_of::<*mut c_void>()]);

unsafe extern "C" {
    fn zmq_errno() -> c_int;
    fn zmq_strerror(errno: c_int) -> *const c_char;
    fn zmq_ctx_new() -> *mut c_void;
    fn zmq_socket(context: *mut c_void, kind: c_int) -> *mut c_void;
    fn zmq_setsockopt(socket: *mut c_void, option: c_int, value: *const c_void, length: usize) -> c_int;
    fn zmq_getsockopt(socket: *mut c_void, option: c_int, value: *mut c_void, length: *mut usize) -> c_int;
    fn zmq_bind(socket: *mut c_void, address: *const c_char) -> c_int;
    fn zmq_connect(socket: *mut c_void, address: *const c_char) -> c_int;
    fn zmq_close(socket: *mut c_void) -> c_int;
    fn zmq_msg_init(message: *mut RawMessage) -> c_int;
    fn zmq_msg_init_size(message: *mut RawMessage, size: usize) -> c_int;
    fn zmq_msg_data(message: *mut RawMessage) -> *mut c_void;
    fn zmq_msg_size(message: *const RawMessage) -> usize;
    fn zmq_msg_send(message: *mut RawMessage, socket: *mut c_void, flags: c_int) -> c_int;
    fn zmq_msg_recv(message: *mut RawMessage, socket: *mut c_void, flags: c_int) -> c_int;
    fn zmq_msg_close(message: *mut RawMessage) -> c_int;
}

/// The error of the last call of this thread.
fn cause() -> io::Error {
    // SAFETY: a number of this thread's, and its text, which lives as long as the program.
    let text = unsafe { CStr::from_ptr(zmq_strerror(zmq_errno())) };
    io::Error::other(text.to_string_lossy().into_owned())
}

/// The context of all of them: one thread for the network, which never ends.
struct Context(NonNull<c_void>);

// SAFETY: a context is thread safe, says libzmq.
unsafe impl Send for Context {}
// SAFETY: a context is thread safe, says libzmq.
unsafe impl Sync for Context {}

fn context() -> *mut c_void {
    static ONE: OnceLock<Context> = OnceLock::new();
    // SAFETY: makes one, or fails for want of memory.
    let made = || Context(NonNull::new(unsafe { zmq_ctx_new() }).expect("memory for a context"));
    ONE.get_or_init(made).0.as_ptr()
}

pub(super) struct Socket(NonNull<c_void>);

// SAFETY: libzmq lets a socket move to another thread with a full fence, which every such move has; no two threads
// share it.
unsafe impl Send for Socket {}

impl Socket {
    pub(super) fn new(kind: c_int) -> io::Result<Self> {
        // SAFETY: the context never ends.
        let socket = NonNull::new(unsafe { zmq_socket(context(), kind) }).map(Self).ok_or_else(cause)?;
        socket.set(LINGER, 10_000)?;
        socket.set(SEND_TIMEOUT, 100)?;
        Ok(socket)
    }

    fn set(&self, option: c_int, value: c_int) -> io::Result<()> {
        // SAFETY: the socket is open; the library copies the number.
        let done = unsafe { zmq_setsockopt(self.0.as_ptr(), option, (&raw const value).cast(), size_of::<c_int>()) };
        if done == 0 { Ok(()) } else { Err(cause()) }
    }

    /// Returns the address to connect to.
    pub(super) fn bind(&self, address: &str) -> io::Result<CString> {
        let address = CString::new(address)?;
        let mut there = [0u8; 256];
        let mut length = there.len();
        // SAFETY: the socket is open, the text ends with a zero; the library writes at most `length` bytes, with a zero.
        let done = unsafe {
            zmq_bind(self.0.as_ptr(), address.as_ptr()) == 0
                && zmq_getsockopt(self.0.as_ptr(), LAST_ENDPOINT, there.as_mut_ptr().cast(), &mut length) == 0
        };
        if !done {
            return Err(cause());
        }
        CStr::from_bytes_until_nul(&there).map(CStr::to_owned).map_err(io::Error::other)
    }

    pub(super) fn connect(&self, address: &CStr) -> io::Result<()> {
        // SAFETY: the socket is open, the text ends with a zero.
        if unsafe { zmq_connect(self.0.as_ptr(), address.as_ptr()) } == 0 { Ok(()) } else { Err(cause()) }
    }

    /// Waits for room. False: there was none for a tenth of a second.
    #[inline(always)]
    pub(super) fn send(&self, bytes: &[u8]) -> bool {
        let mut message = core::mem::MaybeUninit::uninit();
        // SAFETY: open, and this thread's. The first function initialises the message, which has room for exactly the
        // bytes, and is closed here unless the library has taken it.
        unsafe {
            if zmq_msg_init_size(message.as_mut_ptr(), bytes.len()) != 0 {
                return false;
            }
            zmq_msg_data(message.as_mut_ptr()).cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            let sent = zmq_msg_send(message.as_mut_ptr(), self.0.as_ptr(), 0) >= 0;
            if !sent {
                zmq_msg_close(message.as_mut_ptr());
            }
            sent
        }
    }

    /// Waits for the next message. `None`: it is another, as the empty one at the end.
    #[inline(always)]
    pub(super) fn receive<W: bytemuck::Pod>(&self) -> Option<W> {
        let mut message = core::mem::MaybeUninit::uninit();
        // SAFETY: open, and this thread's. The first function initialises the message, which is closed at the end; no
        // more of its bytes are read than it has.
        unsafe {
            zmq_msg_init(message.as_mut_ptr());
            let came = loop {
                match zmq_msg_recv(message.as_mut_ptr(), self.0.as_ptr(), 0) {
                    -1 if zmq_errno() == INTERRUPTED => {}
                    came => break came >= 0,
                }
            };
            let whole = came && zmq_msg_size(message.as_ptr()) == size_of::<W>();
            let wire = whole.then(|| zmq_msg_data(message.as_mut_ptr()).cast::<W>().read_unaligned());
            zmq_msg_close(message.as_mut_ptr());
            wire
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // SAFETY: closed once. Its unsent messages are still sent for its linger time.
        unsafe { zmq_close(self.0.as_ptr()) };
    }
}
