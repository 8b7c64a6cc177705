//! [`Socket`]: a socket of libzmq in the hands of one thread at a time.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;
use std::ffi::CString;
use std::os::fd::BorrowedFd;

use crate::context::Context;
use crate::error::{Error, Failure};
use crate::ffi::{self, Kind, flag, option, ready};
use crate::frame::Frame;

/// Made by one thread, then moved to the one that uses it; closed with it, and lingers as `option::LINGER` says.
pub(crate) struct Socket {
    raw: NonNull<c_void>,
    kind: Kind,
    /// Its monitor is dropped after it.
    is_monitored: bool,
    /// Dropped after its sockets.
    context: Context,
}

// SAFETY: libzmq lets a socket move to another thread where a full fence is between: every way of moving it in Rust has
// one. No thread shares it.
unsafe impl Send for Socket {}

/// What a socket can do without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ready {
    pub(crate) receive: bool,
    pub(crate) send: bool,
}

impl Socket {
    /// With what every socket here has: a bound of its lingering, and keep-alives in place of libzmq's own heartbeats,
    /// which abort the process where a peer makes them wait (libzmq#3937).
    pub(crate) fn new(context: &Context, kind: Kind) -> Result<Self, Error> {
        // SAFETY: the context lives as long as its handle.
        let raw = unsafe { ffi::zmq_socket(context.raw(), kind as c_int) };
        let raw = NonNull::new(raw).ok_or_else(|| Failure::last("zmq_socket"))?;
        let socket = Self { raw, kind, is_monitored: false, context: context.clone() };
        socket.set(option::LINGER, 0)?;
        socket.set(option::TCP_KEEPALIVE, 1)?;
        socket.set(option::TCP_KEEPALIVE_IDLE, 30)?;
        socket.set(option::TCP_KEEPALIVE_INTERVAL, 10)?;
        socket.set(option::TCP_KEEPALIVE_COUNT, 3)?;
        Ok(socket)
    }

    pub(crate) fn set(&self, option: c_int, value: c_int) -> Result<(), Failure> {
        self.set_bytes(option, &value.to_ne_bytes())
    }

    pub(crate) fn set_bytes(&self, option: c_int, value: &[u8]) -> Result<(), Failure> {
        // SAFETY: the socket is open; the library copies the value.
        let set = || unsafe { ffi::zmq_setsockopt(self.raw.as_ptr(), option, value.as_ptr().cast(), value.len()) };
        // MUTANT: libzmq accepts these options.
        Failure::uninterrupted("zmq_setsockopt", || (set() == 0).then_some(()))
    }

    fn get(&self, option: c_int, room: &mut [u8]) -> Result<usize, Failure> {
        Failure::uninterrupted("zmq_getsockopt", || {
            let mut length = room.len();
            // SAFETY: the socket is open; the library writes at most `length` bytes, and says how many.
            let got = unsafe { ffi::zmq_getsockopt(self.raw.as_ptr(), option, room.as_mut_ptr().cast(), &mut length) };
            // MUTANT: libzmq has these options.
            (got == 0).then_some(length)
        })
    }

    pub(crate) fn get_int(&self, option: c_int) -> Result<c_int, Failure> {
        let mut value = [0; size_of::<c_int>()];
        self.get(option, &mut value)?;
        Ok(c_int::from_ne_bytes(value))
    }

    pub(crate) fn bind(&self, address: &str) -> Result<String, Error> {
        // SAFETY: `at` calls it with the open socket and a text that ends with a zero.
        let bind = |socket, address| unsafe { ffi::zmq_bind(socket, address) };
        self.at(address, "zmq_bind", bind)?;
        let mut endpoint = [0; 512];
        let length = self.get(option::LAST_ENDPOINT, &mut endpoint)?;
        Ok(String::from_utf8_lossy(&endpoint[..length.saturating_sub(1)]).into_owned())
    }

    pub(crate) fn connect(&self, address: &str) -> Result<(), Error> {
        // SAFETY: `at` calls it with the open socket and a text that ends with a zero.
        let connect = |socket, address| unsafe { ffi::zmq_connect(socket, address) };
        self.at(address, "zmq_connect", connect)
    }

    /// Connects over IPv6, or over IPv4.
    pub(crate) fn connect_over(&self, address: &str, is_v6: bool) -> Result<(), Error> {
        self.set(option::IPV6, i32::from(is_v6))?;
        self.connect(address)
    }

    /// Gives up an address that it had connected to, whether or not a connection is there.
    pub(crate) fn disconnect(&self, address: &str) -> Result<(), Error> {
        // SAFETY: `at` calls it with the open socket and a text that ends with a zero.
        let disconnect = |socket, address| unsafe { ffi::zmq_disconnect(socket, address) };
        self.at(address, "zmq_disconnect", disconnect)
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    fn at(
        &self,
        address: &str,
        call: &'static str,
        function: impl Fn(*mut c_void, *const core::ffi::c_char) -> c_int,
    ) -> Result<(), Error> {
        let Ok(text) = CString::new(address) else {
            let cause = Failure::of(call, rustix::io::Errno::INVAL);
            return Err(Error::of_address(address, cause));
        };
        Failure::uninterrupted(call, || (function(self.raw.as_ptr(), text.as_ptr()) == 0).then_some(()))
            .map_err(|cause| Error::of_address(address, cause))
    }

    /// Becomes readable when something may have changed: a thread that sleeps on it calls [`Socket::ready`] last
    /// before.
    pub(crate) fn descriptor(&self) -> Result<BorrowedFd<'_>, Failure> {
        let descriptor = self.get_int(option::FD)?;
        // SAFETY: the socket's own, open as long as it is.
        Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
    }

    /// Takes what has happened into account, and rests the descriptor until the next change.
    pub(crate) fn ready(&self) -> Result<Ready, Failure> {
        let bits = self.get_int(option::EVENTS)?;
        Ok(Ready { receive: bits & ready::IN != 0, send: bits & ready::OUT != 0 })
    }

    /// Hands over the contents of a frame without waiting, and returns how many bytes that were. The frame still holds
    /// them if there is no peer with room.
    pub(crate) fn send(&self, frame: &mut Frame, more: bool) -> Result<usize, Failure> {
        let flags = flag::DONT_WAIT | if more { flag::MORE } else { 0 };
        // SAFETY: open, and this thread's.
        Failure::uninterrupted("zmq_msg_send", || unsafe { frame.send(self.raw.as_ptr(), flags) })
    }

    /// Receives into `frame` without waiting. False: there was nothing.
    pub(crate) fn receive(&self, frame: &mut Frame) -> Result<bool, Failure> {
        // SAFETY: open, and this thread's.
        let receive = || unsafe { frame.receive(self.raw.as_ptr(), flag::DONT_WAIT) }.then_some(true);
        let received = Failure::uninterrupted("zmq_msg_recv", receive);
        // MUTANT: libzmq gives no other error here.
        received.or_else(|cause| if cause.would_wait() { Ok(false) } else { Err(cause) })
    }

    /// A second socket of the same thread, which reports what happens to this one's connections, and which must be
    /// dropped after it: libzmq waits, in its own thread that closes sockets, until each report has room there.
    pub(crate) fn monitor(&mut self, name: &str) -> Result<Self, Error> {
        let monitor = Self::new(&self.context, Kind::Pair)?;
        // Without a bound: where there is no room libzmq waits in the threads that all bridges share.
        monitor.set(option::RECEIVE_MARK, 0)?;
        let Ok(text) = CString::new(name) else { unreachable!("the name is ours") };
        // SAFETY: open, and this thread's.
        let tell = || unsafe { ffi::zmq_socket_monitor(self.raw.as_ptr(), text.as_ptr(), ffi::told::ALL) };
        // MUTANT: libzmq can monitor every socket.
        Failure::uninterrupted("zmq_socket_monitor", || (tell() == 0).then_some(()))?;
        self.is_monitored = true;
        monitor.connect(name)?;
        Ok(monitor)
    }

    /// Lets what waits in it linger; its monitor is notified when it is gone.
    pub(crate) fn linger(mut self, milliseconds: c_int) -> Result<(), Failure> {
        self.set(option::LINGER, milliseconds)?;
        self.is_monitored = false;
        Ok(())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.is_monitored {
            // SAFETY: open. The monitor still exists: afterwards libzmq reports nothing more.
            unsafe { ffi::zmq_socket_monitor(self.raw.as_ptr(), core::ptr::null(), 0) };
        }
        // SAFETY: closed once, by the thread that has it. What waits in it goes on for as long as it may linger.
        unsafe { ffi::zmq_close(self.raw.as_ptr()) };
    }
}
