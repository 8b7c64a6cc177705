//! `boost::interprocess::message_queue` between processes: `cpp/message_queue.cpp`. Each message is a call from Rust, which
//! is nothing beside its mutex.

use core::ffi::{CStr, c_char, c_void};
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::ffi::CString;
use std::io;
use std::marker::PhantomData;

use ybench_measure::scenario::Entry;
use ybench_measure::scenario::process::between_processes;
use ybench_measure::transport::process::files::Files;
use ybench_measure::transport::process::{COMMON, Channel, Plain, ProcessTransport, Side, room};
use ybench_measure::transport::{self, Closed, Traits, Waits};

unsafe extern "C" {
    fn ybench_native_message_queue_make(name: *const c_char, messages: usize, bytes: usize) -> *mut c_void;
    fn ybench_native_message_queue_open(name: *const c_char) -> *mut c_void;
    fn ybench_native_message_queue_drop(queue: *mut c_void);
    fn ybench_native_message_queue_send(queue: *mut c_void, message: *const c_void, bytes: usize) -> bool;
    fn ybench_native_message_queue_receive(queue: *mut c_void, message: *mut c_void, bytes: usize) -> bool;
}

/// A queue that this process has mapped.
struct Queue(NonNull<c_void>);

// SAFETY: the library lets any thread use a queue.
unsafe impl Send for Queue {}

impl Queue {
    fn of(queue: *mut c_void) -> io::Result<Self> {
        let missing = || io::Error::other("boost::interprocess cannot have its queue in /dev/shm");
        NonNull::new(queue).map(Self).ok_or_else(missing)
    }

    fn make(name: &CStr, messages: usize, bytes: usize) -> io::Result<Self> {
        // SAFETY: the name ends with a zero.
        Self::of(unsafe { ybench_native_message_queue_make(name.as_ptr(), messages, bytes) })
    }

    fn open(name: &CStr) -> io::Result<Self> {
        // SAFETY: the name ends with a zero.
        Self::of(unsafe { ybench_native_message_queue_open(name.as_ptr()) })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: made by the library, and not used any more.
        unsafe { ybench_native_message_queue_drop(self.0.as_ptr()) }
    }
}

struct Boost;

struct Handle<M>(Queue, PhantomData<fn(M)>);

impl ProcessTransport for Boost {
    const TRAITS: Traits = Traits {
        name: "process-boost-queue",
        about: "boost::interprocess::message_queue between processes (C++)",
        waits: Waits::Sleeps,
        ..COMMON
    };
    type Sender<M: Plain> = Handle<M>;
    type Receiver<M: Plain> = Handle<M>;

    fn open<M: Plain>() -> io::Result<Channel> {
        let files = Files::new();
        let bytes = size_of::<M::Words>();
        drop(Queue::make(&CString::new(files.tag())?, room(bytes), bytes)?);
        let side = || Side { word: files.tag().to_owned(), ..Side::default() };
        Ok(Channel { sender: side(), receiver: side(), kept: Box::new(files) })
    }

    fn sender<M: Plain>(side: Side) -> io::Result<Handle<M>> {
        Ok(Handle(Queue::open(&CString::new(side.word)?)?, PhantomData))
    }

    fn receiver<M: Plain>(side: Side) -> io::Result<Handle<M>> {
        Self::sender(side)
    }
}

impl<M: Plain> transport::Sender<M> for Handle<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let words = message.into_words();
        let (start, bytes) = ((&raw const words).cast(), size_of::<M::Words>());
        // SAFETY: this number of bytes is copied from there.
        if unsafe { ybench_native_message_queue_send(self.0.0.as_ptr(), start, bytes) } { Ok(()) } else { Err(Closed) }
    }
}

impl<M: Plain> transport::Receiver<M> for Handle<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let mut words = MaybeUninit::<M::Words>::uninit();
        let (start, bytes) = (words.as_mut_ptr().cast(), size_of::<M::Words>());
        // SAFETY: there is room for this number of bytes.
        let received = unsafe { ybench_native_message_queue_receive(self.0.0.as_ptr(), start, bytes) };
        // SAFETY: that number of bytes was written, and plain words have no wrong ones.
        if received { Ok(M::from_words(unsafe { words.assume_init() })) } else { Err(Closed) }
    }
}

pub(crate) const fn entry() -> Entry {
    between_processes::<Boost>()
}
