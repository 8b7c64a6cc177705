//! The kernel's own mechanisms between two processes: the calls and the sizes of `transport::kernel`, each process with
//! one side.
//!
//! A POSIX queue has no name any more when its processes get it. A System V queue has a number only: the process that
//! measures removes it, and if that one is killed, its processes do.

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use super::{COMMON, Channel, Plain, ProcessTransport, Side};
use crate::transport::kernel::halves::{Half, PacketHalf, PipeHalf, StreamHalf};
use crate::transport::kernel::{allowed, packets, pipe, posix_mq, sysv_mq};
use crate::transport::{self, Closed, Traits, Waits};

/// A handle of either side.
pub struct Handle<H, M>(H, PhantomData<fn(M)>);

impl<H: Half, M: Plain> transport::Sender<M> for Handle<H, M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.0.put(&message.into_words())
    }
}

impl<H: Half, M: Plain> transport::Receiver<M> for Handle<H, M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.take().map(M::from_words)
    }
}

/// The transports: each with the type of its halves, how a channel is made of `bytes` bytes a message, and a half of
/// what its process was given.
macro_rules! by_halves {
    ($(
        $transport:ident: $name:literal, $about:literal, { $($traits:tt)* }, $half:ty,
            open($bytes:ident) $open:expr, half($side:ident) $made:expr;
    )+) => { $(
        pub struct $transport;

        impl ProcessTransport for $transport {
            const TRAITS: Traits = Traits { name: $name, about: $about, waits: Waits::Sleeps, $($traits)* ..COMMON };
            type Sender<M: Plain> = Handle<$half, M>;
            type Receiver<M: Plain> = Handle<$half, M>;

            fn open<M: Plain>() -> io::Result<Channel> {
                let $bytes = size_of::<M::Words>();
                $open
            }

            fn sender<M: Plain>($side: Side) -> io::Result<Self::Sender<M>> {
                Ok(Handle($made, PhantomData))
            }

            fn receiver<M: Plain>(side: Side) -> io::Result<Self::Receiver<M>> {
                Self::sender(side)
            }
        }
    )+ };
}

by_halves! {
    Pipe: "process-pipe", "A pipe(2) between processes, a message in each write", { works_with_epoll: true, },
        PipeHalf,
        open(_bytes) {
            let (reading, writing) = pipe::Both::open()?.into_halves();
            Ok(Channel::of(writing, reading))
        },
        half(side) PipeHalf(side.descriptor()?);
    Stream: "process-unix-stream", "A unix stream socket between processes, received with MSG_WAITALL",
        { works_with_epoll: true, }, StreamHalf,
        open(_bytes) {
            let (first, second) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
            Ok(Channel::of(first, second))
        },
        half(side) StreamHalf(side.descriptor()?);
    Seqpackets: "process-seqpacket", "A unix seqpacket socket between processes, a message in each packet",
        { works_with_epoll: true, most_bytes: |_| allowed::longest_packet(), }, PacketHalf,
        open(_bytes) {
            let (first, second) = packets::Pair::open(SocketType::SEQPACKET)?.into_halves();
            Ok(Channel::of(first, second))
        },
        half(side) PacketHalf(side.descriptor()?);
    PosixMq: "process-posix-mq", "A POSIX message queue between processes, with as many messages as the system allows",
        {
            works_with_epoll: true,
            most_bytes: |_| allowed::MESSAGE_BYTES.read().map_or(usize::MAX, |most| most as usize),
            available: || posix_mq::Queue::open(8).map(drop)
                .map_err(|cause| allowed::missing("POSIX message queues", &cause)),
        }, posix_mq::Queue,
        open(bytes) {
            let queue = OwnedFd::from(posix_mq::Queue::open(bytes)?);
            Ok(Channel::of(queue.try_clone()?, queue))
        },
        half(side) posix_mq::Queue::from(side.descriptor()?);
    SysvMq: "process-sysv-mq", "A System V message queue between processes, as large as this process may make it",
        {
            most_bytes: |_| allowed::longest_letter(),
            available: || sysv_mq::Queue::open().map(drop)
                .map_err(|cause| allowed::missing("System V message queues", &cause)),
        }, sysv_mq::Queue,
        open(_bytes) {
            let queue = sysv_mq::Queue::open()?;
            let side = || Side { word: queue.id().to_string(), ..Side::default() };
            Ok(Channel { sender: side(), receiver: side(), kept: Box::new(queue) })
        },
        half(side) sysv_mq::Queue::of_another_process(side.number()? as libc::c_int)?;
}
