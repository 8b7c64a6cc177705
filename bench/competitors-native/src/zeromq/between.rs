//! PUSH and PULL over ipc between two processes, each with a context and a thread for the network of its own. The address
//! is in the abstract name space: nothing is left in a file system.

use std::ffi::CString;
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

use ybench_measure::transport::process::{self, Channel, Plain, ProcessTransport, Side};
use ybench_measure::transport::{self, Closed, Traits, Waits};

use super::raw::{PULL, PUSH, Socket};

pub(super) struct Ipc;

pub(super) struct Handle<M>(Socket, PhantomData<fn(M)>);

impl ProcessTransport for Ipc {
    const TRAITS: Traits = Traits {
        name: "process-zmq-ipc",
        about: "PUSH and PULL of libzmq over ipc, between processes",
        waits: Waits::Sleeps,
        ..process::COMMON
    };
    type Sender<M: Plain> = Handle<M>;
    type Receiver<M: Plain> = Handle<M>;

    fn open<M: Plain>() -> io::Result<Channel> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        // ORDERING: Relaxed: only that no two are the same.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let side = || Side { word: format!("ipc://@ybench-{}-{number}", std::process::id()), ..Side::default() };
        Ok(Channel::of(side(), side()))
    }

    /// It connects as soon as the receiver is there.
    fn sender<M: Plain>(side: Side) -> io::Result<Handle<M>> {
        let socket = Socket::new(PUSH)?;
        socket.connect(&CString::new(side.word)?)?;
        Ok(Handle(socket, PhantomData))
    }

    fn receiver<M: Plain>(side: Side) -> io::Result<Handle<M>> {
        let socket = Socket::new(PULL)?;
        socket.bind(&side.word)?;
        Ok(Handle(socket, PhantomData))
    }
}

impl<M: Plain> transport::Sender<M> for Handle<M> {
    /// Waits for room, and for the connection. A receiver that has died ends this process: see `scenario::process`.
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let words = message.into_words();
        while !self.0.send(bytemuck::bytes_of(&words)) {}
        Ok(())
    }
}

impl<M: Plain> transport::Receiver<M> for Handle<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        self.0.receive().map(M::from_words).ok_or(Closed)
    }
}
