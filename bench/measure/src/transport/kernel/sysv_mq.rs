//! A System V message queue, with as many bytes as this process may give it.
//!
//! ```text
//!   sender threads   msgsnd ----> one queue, one order ----> msgrcv   receiver threads
//! ```
//!
//! Both sides wait in the kernel. An empty message after all others is the mark that the senders are gone. The queue
//! has no name, and is removed with the last of its handles; see `removal` for a process that ends before. Cannot:
//! carry more bytes in a message than `kernel.msgmax`; be in epoll, since its number is no descriptor; exist where the
//! kernel was built without it.

use std::io;
use std::mem::MaybeUninit;

use bytemuck::Pod;

use super::ends::{Receiver, Sender};
use super::removal::Removed;
use super::{Mechanism, allowed, ends, interrupted};
use crate::transport::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

pub struct SysvMq;

pub struct Queue(Removed);

/// The calls' layout: a kind in front of the bytes, which is not counted.
#[repr(C)]
struct Letter<W> {
    kind: libc::c_long,
    wire: W,
}

/// Any kind but 0 will do.
static KIND: libc::c_long = 1;

/// A privileged process may give a queue more than `kernel.msgmnb`: as much as a pipe has.
const WANTED: libc::msglen_t = 1 << 20;

impl Queue {
    pub(in crate::transport) fn open() -> io::Result<Self> {
        let make = || {
            // SAFETY: no memory is involved.
            let id = unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) };
            if id < 0 { Err(io::Error::last_os_error()) } else { Ok(id) }
        };
        let queue = Self(Removed::made_by(make)?);
        queue.grow();
        Ok(queue)
    }

    /// The queue of that number, which another process has made and normally removes. This one removes it too when it
    /// ends: the other may have been killed.
    pub(in crate::transport) fn of_another_process(id: libc::c_int) -> io::Result<Self> {
        Ok(Self(Removed::made_by(|| Ok(id))?))
    }

    /// The queue's number, in the whole system.
    pub fn id(&self) -> libc::c_int {
        self.0.id()
    }

    fn grow(&self) {
        let Ok(mut state) = self.state() else { return };
        if state.msg_qbytes < WANTED {
            state.msg_qbytes = WANTED;
            // Without the privilege it is refused, and the queue keeps its size.
            // SAFETY: the state outlives the call.
            unsafe { libc::msgctl(self.id(), libc::IPC_SET, &raw mut state) };
        }
    }

    /// The number of bytes that it has room for.
    #[allow(clippy::unnecessary_cast, reason = "the kernel counts in words, which are not of 64 bits everywhere")]
    pub(super) fn bytes(&self) -> io::Result<u64> {
        Ok(self.state()?.msg_qbytes as u64)
    }

    fn state(&self) -> io::Result<libc::msqid_ds> {
        let mut state = MaybeUninit::<libc::msqid_ds>::zeroed();
        // SAFETY: there is room for the state.
        if unsafe { libc::msgctl(self.id(), libc::IPC_STAT, state.as_mut_ptr()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: zeros are a value of this structure of integers, and the kernel has written over them.
        Ok(unsafe { state.assume_init() })
    }

    /// The next message, unless it is the mark or there is none.
    #[inline(always)]
    fn receive<W: Pod>(&self, flags: libc::c_int) -> Option<W> {
        let mut letter = MaybeUninit::<Letter<W>>::uninit();
        loop {
            // SAFETY: there is room for the kind and this number of bytes.
            let count = unsafe { libc::msgrcv(self.id(), letter.as_mut_ptr().cast(), size_of::<W>(), 0, flags) };
            if count == size_of::<W>() as isize {
                // SAFETY: the kernel has written every byte of it, and every pattern of bytes is a `Pod`.
                return Some(unsafe { (&raw const (*letter.as_mut_ptr()).wire).read() });
            }
            if count >= 0 || !interrupted() {
                return None;
            }
        }
    }
}

impl Mechanism for Queue {
    const TELLS_THE_END: bool = false;

    #[inline(always)]
    fn put<W: Pod>(&self, wire: &W) -> Result<(), Closed> {
        const { assert!(std::mem::offset_of!(Letter<W>, wire) == size_of::<libc::c_long>()) };
        let letter = Letter { kind: KIND, wire: *wire };
        // SAFETY: the letter has this number of bytes after its kind, and outlives the call.
        while unsafe { libc::msgsnd(self.id(), (&raw const letter).cast(), size_of::<W>(), 0) } < 0 {
            if !interrupted() {
                return Err(Closed);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn take<W: Pod>(&self) -> Result<W, Closed> {
        self.receive(0).ok_or(Closed)
    }

    fn leftover<W: Pod>(&self) -> Option<W> {
        self.receive(libc::IPC_NOWAIT)
    }

    fn no_senders(&self) {
        // A full queue takes none: the thread that empties it tries again.
        // SAFETY: the kind outlives the call, and no byte after it is read.
        unsafe { libc::msgsnd(self.id(), (&raw const KIND).cast(), 0, libc::IPC_NOWAIT) };
    }
}

impl Transport for SysvMq {
    const TRAITS: Traits = Traits {
        name: "sysv-mq",
        about: "A System V message queue, as large as this process may make it",
        waits: Waits::Sleeps,
        bounded: true,
        senders: Ends::Many,
        receivers: Ends::Many,
        most_bytes: |_| allowed::longest_letter(),
        available: || Queue::open().map(drop).map_err(|cause| allowed::missing("System V message queues", &cause)),
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<Queue, M>;
    type Receiver<M: Message> = Receiver<Queue, M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        Ok(ends(Queue::open()?))
    }
}

ends_by_cloning!(both: SysvMq);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Sender;

    fn is_there(id: libc::c_int) -> bool {
        let rows = std::fs::read_to_string("/proc/sysvipc/msg").unwrap();
        rows.lines().any(|row| row.split_whitespace().nth(1) == Some(&id.to_string()))
    }

    #[test]
    fn a_queue_is_removed_with_the_last_of_its_handles() {
        if (SysvMq::TRAITS.available)().is_err() {
            return;
        }
        let (mut sender, receiver) = SysvMq::open::<usize>().unwrap();
        let id = receiver.mechanism().id();
        sender.send(1).unwrap();
        assert!(is_there(id));
        drop(receiver);
        assert!(is_there(id));
        drop(sender);
        assert!(!is_there(id));
    }

    #[test]
    fn a_queue_goes_with_a_panic() {
        if (SysvMq::TRAITS.available)().is_err() {
            return;
        }
        let (told, id) = std::sync::mpsc::channel();
        let panic = std::thread::spawn(move || {
            let ends = SysvMq::open::<usize>().unwrap();
            told.send(ends.1.mechanism().id()).unwrap();
            panic!("while both handles exist");
        });
        assert!(panic.join().is_err());
        assert!(!is_there(id.recv().unwrap()));
    }
}
