//! A POSIX message queue, with as many messages as `fs.mqueue.msg_max` allows.
//!
//! ```text
//!   sender threads   mq_send ----> one queue, one order ----> mq_receive   receiver threads
//! ```
//!
//! Both sides wait in the kernel. The name of a queue is removed as soon as it is open, so nothing outlives the
//! process, however it ends. An empty message after all others is the mark that the senders are gone. Cannot: carry
//! more bytes in a message than `fs.mqueue.msgsize_max`; exist where the kernel was built without message queues.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use bytemuck::Pod;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::ends::{Receiver, Sender};
use super::{Mechanism, allowed, ends, interrupted};
use crate::transport::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

pub struct PosixMq;

/// On Linux the descriptor of a queue is one of a file.
pub struct Queue(OwnedFd);

/// No name is used twice in one process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// The kernel's size for a queue where its limit cannot be read.
const USUAL: u64 = 10;

/// A time in the past: with it a call that would wait fails instead.
static AT_ONCE: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };

impl Queue {
    /// A queue for messages of `bytes` bytes. If they are too many for `RLIMIT_MSGQUEUE`, a shorter queue.
    pub(crate) fn open(bytes: usize) -> io::Result<Self> {
        use_all_of_the_limit();
        let mut messages = allowed::MESSAGES.read().unwrap_or(USUAL);
        loop {
            match Self::with_room_for(messages, bytes) {
                Err(cause) if cause.raw_os_error() == Some(libc::EMFILE) && messages > 1 => messages /= 2,
                opened => return opened,
            }
        }
    }

    fn with_room_for(messages: u64, bytes: usize) -> io::Result<Self> {
        // ORDERING: Relaxed: only that no two are the same.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = CString::new(format!("/ybench-{}-{number}", std::process::id()))?;
        // SAFETY: zeros are a value of this structure of integers.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        attributes.mq_maxmsg = messages as _;
        attributes.mq_msgsize = bytes as _;
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        let mode: libc::mode_t = 0o600;
        // SAFETY: the name ends with a zero, and the attributes outlive the call.
        let descriptor = unsafe { libc::mq_open(name.as_ptr(), flags, mode, &raw const attributes) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and no other code has it.
        let queue = Self(unsafe { OwnedFd::from_raw_fd(descriptor) });
        // SAFETY: the name ends with a zero.
        if unsafe { libc::mq_unlink(name.as_ptr()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(queue)
    }

    /// The number of messages that it has room for.
    pub(super) fn messages(&self) -> io::Result<u64> {
        // SAFETY: zeros are a value of this structure of integers.
        let mut attributes: libc::mq_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is that of a queue, and the attributes outlive the call.
        match unsafe { libc::mq_getattr(self.0.as_raw_fd(), &raw mut attributes) } {
            0 => Ok(attributes.mq_maxmsg as u64),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Sends one message of that priority: it is received before all that have a lower one. Waits while there is no
    /// room.
    #[inline(always)]
    pub(crate) fn put_at<W: Pod>(&self, wire: &W, priority: libc::c_uint) -> Result<(), Closed> {
        let bytes = bytemuck::bytes_of(wire);
        // SAFETY: the descriptor is that of a queue, and the bytes outlive the call.
        while unsafe { libc::mq_send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), priority) } < 0 {
            if !interrupted() {
                return Err(Closed);
            }
        }
        Ok(())
    }

    /// This number of bytes was received, none of them for a mark.
    #[inline(always)]
    fn received<W: Pod>(wire: MaybeUninit<W>, count: isize) -> Option<W> {
        // SAFETY: the kernel has written every byte, and every pattern of bytes is a `Pod`.
        (count == size_of::<W>() as isize).then(|| unsafe { wire.assume_init() })
    }
}

impl From<Queue> for OwnedFd {
    fn from(queue: Queue) -> Self {
        queue.0
    }
}

/// The descriptor must be that of a queue: calls on any other fail.
impl From<OwnedFd> for Queue {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

/// `RLIMIT_MSGQUEUE` may be lower than this process is allowed to set it.
fn use_all_of_the_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Msgqueue);
    if current != maximum {
        // Refused or not: a queue too long for the limit is made shorter.
        let _ = setrlimit(Resource::Msgqueue, Rlimit { current: maximum, maximum });
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Mechanism for Queue {
    const TELLS_THE_END: bool = false;

    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        self.put_at(wire, 0)
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        let mut wire = MaybeUninit::<W>::uninit();
        let (start, none) = (wire.as_mut_ptr().cast(), std::ptr::null_mut());
        loop {
            // SAFETY: the descriptor is that of a queue whose messages have at most the bytes there is room for.
            let count = unsafe { libc::mq_receive(self.0.as_raw_fd(), start, size_of::<W>(), none) };
            if count >= 0 {
                return Self::received(wire, count).ok_or(Closed);
            }
            if !interrupted() {
                return Err(Closed);
            }
        }
    }

    fn leftover<W: Pod>(&self) -> Option<W> {
        let mut wire = MaybeUninit::<W>::uninit();
        let (start, none) = (wire.as_mut_ptr().cast(), std::ptr::null_mut());
        // SAFETY: as in `take`; the time outlives the call.
        let count =
            unsafe { libc::mq_timedreceive(self.0.as_raw_fd(), start, size_of::<W>(), none, &raw const AT_ONCE) };
        Self::received(wire, count)
    }

    fn no_senders(&self) {
        // A full queue takes none: the thread that empties it tries again.
        // SAFETY: the descriptor is that of a queue; no byte is read from the empty message; the time outlives the call.
        unsafe { libc::mq_timedsend(self.0.as_raw_fd(), [].as_ptr(), 0, 0, &raw const AT_ONCE) };
    }
}

impl Transport for PosixMq {
    const TRAITS: Traits = Traits {
        name: "posix-mq",
        about: "A POSIX message queue with as many messages as the system allows",
        waits: Waits::Sleeps,
        works_with_epoll: true,
        bounded: true,
        senders: Ends::Many,
        receivers: Ends::Many,
        most_bytes: |_| allowed::MESSAGE_BYTES.read().map_or(usize::MAX, |most| most as usize),
        available: || Queue::open(8).map(drop).map_err(|cause| allowed::missing("POSIX message queues", &cause)),
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<Queue, M>;
    type Receiver<M: Message> = Receiver<Queue, M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        Ok(ends(Queue::open(size_of::<M::Wire>())?))
    }
}

ends_by_cloning!(both: PosixMq);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_no_name_once_it_is_open() {
        if (PosixMq::TRAITS.available)().is_err() {
            return;
        }
        let queue = Queue::open(8).unwrap();
        let link = std::fs::read_link(format!("/proc/self/fd/{}", queue.0.as_raw_fd())).unwrap();
        assert!(link.to_str().unwrap().ends_with("(deleted)"), "{link:?}");
        let own = format!("ybench-{}-", std::process::id());
        // The mount point of that file system.
        for entry in std::fs::read_dir("/dev/mqueue").into_iter().flatten().flatten() {
            assert!(!entry.file_name().to_string_lossy().starts_with(&own), "{entry:?}");
        }
    }

    #[test]
    fn a_queue_that_is_too_long_for_its_user_is_made_shorter() {
        if (PosixMq::TRAITS.available)().is_err() {
            return;
        }
        let message = allowed::MESSAGE_BYTES.read().unwrap_or(8_192) as usize;
        let short = Queue::open(message).unwrap();
        assert!((1..=allowed::MESSAGES.read().unwrap_or(USUAL)).contains(&short.messages().unwrap()));
        assert_eq!(Queue::open(8).unwrap().messages().unwrap(), allowed::MESSAGES.read().unwrap_or(USUAL));
    }
}
