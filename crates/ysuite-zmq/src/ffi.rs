//! What this crate uses of libzmq, declared as `zmq.h` of 4.3 declares it. The numbers are part of its stable interface.

use core::ffi::{c_char, c_int, c_void};

/// A message in the hands of the library: 64 opaque bytes, aligned like a pointer.
#[repr(C)]
pub(crate) struct zmq_msg_t {
    _opaque: [*mut c_void; 64 / size_of::<*mut c_void>()],
}

pub(crate) type FreeFn = unsafe extern "C" fn(data: *mut c_void, hint: *mut c_void);

unsafe extern "C" {
    pub(crate) fn zmq_errno() -> c_int;
    pub(crate) fn zmq_strerror(errnum: c_int) -> *const c_char;
    pub(crate) fn zmq_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int);

    pub(crate) fn zmq_ctx_new() -> *mut c_void;
    pub(crate) fn zmq_ctx_set(context: *mut c_void, option: c_int, value: c_int) -> c_int;
    pub(crate) fn zmq_ctx_shutdown(context: *mut c_void) -> c_int;
    pub(crate) fn zmq_ctx_term(context: *mut c_void) -> c_int;

    pub(crate) fn zmq_msg_init(message: *mut zmq_msg_t) -> c_int;
    pub(crate) fn zmq_msg_init_size(message: *mut zmq_msg_t, size: usize) -> c_int;
    pub(crate) fn zmq_msg_init_data(
        message: *mut zmq_msg_t,
        data: *mut c_void,
        size: usize,
        free: Option<FreeFn>,
        hint: *mut c_void,
    ) -> c_int;
    pub(crate) fn zmq_msg_send(message: *mut zmq_msg_t, socket: *mut c_void, flags: c_int) -> c_int;
    pub(crate) fn zmq_msg_recv(message: *mut zmq_msg_t, socket: *mut c_void, flags: c_int) -> c_int;
    pub(crate) fn zmq_msg_copy(to: *mut zmq_msg_t, from: *mut zmq_msg_t) -> c_int;
    pub(crate) fn zmq_msg_close(message: *mut zmq_msg_t) -> c_int;
    pub(crate) fn zmq_msg_data(message: *mut zmq_msg_t) -> *mut c_void;
    pub(crate) fn zmq_msg_size(message: *const zmq_msg_t) -> usize;
    pub(crate) fn zmq_msg_more(message: *const zmq_msg_t) -> c_int;

    pub(crate) fn zmq_socket(context: *mut c_void, kind: c_int) -> *mut c_void;
    pub(crate) fn zmq_close(socket: *mut c_void) -> c_int;
    pub(crate) fn zmq_setsockopt(socket: *mut c_void, option: c_int, value: *const c_void, length: usize) -> c_int;
    pub(crate) fn zmq_getsockopt(socket: *mut c_void, option: c_int, value: *mut c_void, length: *mut usize) -> c_int;
    pub(crate) fn zmq_bind(socket: *mut c_void, address: *const c_char) -> c_int;
    pub(crate) fn zmq_connect(socket: *mut c_void, address: *const c_char) -> c_int;
    pub(crate) fn zmq_disconnect(socket: *mut c_void, address: *const c_char) -> c_int;
    pub(crate) fn zmq_socket_monitor(socket: *mut c_void, address: *const c_char, events: c_int) -> c_int;

    pub(crate) fn zmq_curve_keypair(public: *mut c_char, secret: *mut c_char) -> c_int;
    pub(crate) fn zmq_curve_public(public: *mut c_char, secret: *const c_char) -> c_int;
    pub(crate) fn zmq_z85_encode(text: *mut c_char, data: *const u8, size: usize) -> *mut c_char;
    pub(crate) fn zmq_z85_decode(data: *mut u8, text: *const c_char) -> *mut u8;
}

/// Options of a context.
pub(crate) mod context {
    use super::c_int;

    pub(crate) const IO_THREADS: c_int = 1;
    pub(crate) const MAX_SOCKETS: c_int = 2;
}

/// Kinds of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Kind {
    Pair = 0,
    Sub = 2,
    Rep = 4,
    Dealer = 5,
    Router = 6,
    Pull = 7,
    Push = 8,
    XPub = 9,
}

/// Options of a socket.
pub(crate) mod option {
    use super::c_int;

    pub(crate) const SUBSCRIBE: c_int = 6;
    pub(crate) const UNSUBSCRIBE: c_int = 7;
    pub(crate) const SEND_BUFFER: c_int = 11;
    pub(crate) const RECEIVE_BUFFER: c_int = 12;
    pub(crate) const FD: c_int = 14;
    pub(crate) const EVENTS: c_int = 15;
    pub(crate) const LINGER: c_int = 17;
    pub(crate) const RECONNECT_IVL: c_int = 18;
    pub(crate) const RECONNECT_IVL_MAX: c_int = 21;
    pub(crate) const MAX_MESSAGE: c_int = 22;
    pub(crate) const SEND_MARK: c_int = 23;
    pub(crate) const RECEIVE_MARK: c_int = 24;
    pub(crate) const LAST_ENDPOINT: c_int = 32;
    pub(crate) const ROUTER_MANDATORY: c_int = 33;
    pub(crate) const TCP_KEEPALIVE: c_int = 34;
    pub(crate) const TCP_KEEPALIVE_COUNT: c_int = 35;
    pub(crate) const TCP_KEEPALIVE_IDLE: c_int = 36;
    pub(crate) const TCP_KEEPALIVE_INTERVAL: c_int = 37;
    pub(crate) const IMMEDIATE: c_int = 39;
    pub(crate) const IPV6: c_int = 42;
    pub(crate) const PLAIN_SERVER: c_int = 44;
    pub(crate) const PLAIN_USERNAME: c_int = 45;
    pub(crate) const PLAIN_PASSWORD: c_int = 46;
    pub(crate) const CURVE_SERVER: c_int = 47;
    pub(crate) const CURVE_PUBLIC_KEY: c_int = 48;
    pub(crate) const CURVE_SECRET_KEY: c_int = 49;
    pub(crate) const CURVE_SERVER_KEY: c_int = 50;
    pub(crate) const ZAP_DOMAIN: c_int = 55;
    pub(crate) const XPUB_NO_DROP: c_int = 69;
    pub(crate) const XPUB_VERBOSER: c_int = 78;
    pub(crate) const TCP_MAXRT: c_int = 80;
    /// A socket with a domain admits no peer unless the gatekeeper says so. Without it a server of CURVE admits every
    /// peer if there is no gatekeeper.
    pub(crate) const ZAP_ENFORCE_DOMAIN: c_int = 93;
}

/// Flags of a send or receive.
pub(crate) mod flag {
    use super::c_int;

    pub(crate) const DONT_WAIT: c_int = 1;
    pub(crate) const MORE: c_int = 2;
}

/// What a socket can do now: bits of `option::EVENTS`.
pub(crate) mod ready {
    use super::c_int;

    pub(crate) const IN: c_int = 1;
    pub(crate) const OUT: c_int = 2;
}

/// What a monitor reports.
pub(crate) mod told {
    pub(crate) const ALL: core::ffi::c_int = 0xFFFF;
    pub(crate) const CONNECTED: u16 = 0x0001;
    pub(crate) const RETRIED: u16 = 0x0004;
    pub(crate) const LISTENING: u16 = 0x0008;
    pub(crate) const ACCEPTED: u16 = 0x0020;
    pub(crate) const ACCEPT_FAILED: u16 = 0x0040;
    pub(crate) const DISCONNECTED: u16 = 0x0200;
    pub(crate) const STOPPED: u16 = 0x0400;
    pub(crate) const HANDSHAKE_FAILED: u16 = 0x0800;
    pub(crate) const HANDSHAKE_SUCCEEDED: u16 = 0x1000;
    pub(crate) const PROTOCOL_FAILED: u16 = 0x2000;
    pub(crate) const REFUSED: u16 = 0x4000;
}
