//! Messages as the bytes of a stream socket: what the transports through the kernel share, whatever kind of socket it is.
//!
//! ```text
//!   sender thread   send ----> kernel buffer ----> (poll, then) recv with MSG_WAITALL   receiver thread
//! ```
//!
//! Both ends block in the kernel: the sender while the socket's buffers are full, the receiver while they are empty. A
//! peer that is gone is noticed by the call that misses it. Cannot: carry part of a message, or keep a message back.

use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use bytemuck::Zeroable;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::{Closed, Message};

pub struct Sender<M>(OwnedFd, PhantomData<M>);
pub struct Receiver<M, const POLL: bool>(OwnedFd, PhantomData<M>);

/// The two ends over two connected stream sockets that carry nothing else.
pub fn ends<M: Message, const POLL: bool>(one: OwnedFd, other: OwnedFd) -> (Sender<M>, Receiver<M, POLL>) {
    (Sender(one, PhantomData), Receiver(other, PhantomData))
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let wire = message.into_wire();
        let bytes = bytemuck::bytes_of(&wire);
        let mut sent = 0;
        while sent < bytes.len() {
            match send(&self.0, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }
}

impl<M: Message, const POLL: bool> super::Receiver<M> for Receiver<M, POLL> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let mut wire = M::Wire::zeroed();
        let bytes = bytemuck::bytes_of_mut(&mut wire);
        let mut received = 0;
        while received < bytes.len() {
            if POLL {
                // Interrupted or not, the read below waits for what is missing.
                let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None);
            }
            match recv(&self.0, &mut bytes[received..], RecvFlags::WAITALL) {
                Ok((0, _)) => return Err(Closed),
                Ok((count, _)) => received += count,
                Err(Errno::INTR) => {}
                Err(_) => return Err(Closed),
            }
        }
        // SAFETY: the socket carries nothing but what `send` of the same type wrote, each byte once and in order.
        Ok(unsafe { M::from_wire(wire) })
    }
}
