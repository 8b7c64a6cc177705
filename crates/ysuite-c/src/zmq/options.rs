//! The options of a bridge, as callers say them.

use core::ffi::{CStr, c_char, c_int};
use core::mem::MaybeUninit;
use core::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Answer, Ask, Duplex, Frame, KeyPair, PublicKey, Publish, Published, Pull, Push, Subscribe, WhenFull};

use super::code_of;
use crate::code::{YS_EINVAL, ys_code};
use crate::ends::{refuse, text};

/// What a publisher does while a subscriber has no room.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ys_zmq_when_full {
    /// Drops the message for that subscriber alone.
    YS_ZMQ_DROP = 0,
    /// Drops it for all, and counts that.
    YS_ZMQ_DROP_FOR_ALL = 1,
    /// Waits: one that has stopped stops all.
    YS_ZMQ_WAIT = 2,
}

/// The addresses and options of a bridge. Begin with YS_ZMQ_OPTIONS_INIT, which sets the first field, and 0 everywhere else, which is
/// the default. Lists end with NULL. What is no option of a kind of bridge has no effect there. Everything is copied.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ys_zmq_options {
    /// sizeof(ys_zmq_options) of the caller's header. Shorter and longer ones are valid, as of ys_options.
    pub struct_size: u32,
    /// Of what receives, not 0: a message that finds no room replaces the oldest one. With a capacity of 1 the newest is kept.
    pub conflate: u32,
    /// Addresses to bind: "tcp://0.0.0.0:5555", "ipc:///run/jobs", "inproc://jobs"; a port of `*` is the system's choice.
    pub bind: *const *const c_char,
    /// Addresses to connect to, now, and again whenever a connection ends. The peer need not be there yet.
    pub connect: *const *const c_char,
    /// Of a subscriber: the beginnings of the topics that it asks for. NULL: everything. An empty list: nothing as yet.
    pub topics: *const *const c_char,
    /// Of publishers and subscribers: topic, this one character and the message are in one part, as in "weather 21". NULL: two parts.
    pub joined_by: *const c_char,
    /// Messages in the channel between the program and the bridge, in each direction. 0: 1,000.
    pub capacity: usize,
    /// Messages that libzmq queues on this side of a connection to be sent. 0: 1,000.
    pub send_mark: usize,
    /// The same, that were received. 0: 1,000.
    pub receive_mark: usize,
    /// Bytes that the kernel buffers on each tcp connection to be sent. 0: its own choice; either both or none.
    pub send_buffer: usize,
    /// The same, that were received.
    pub receive_buffer: usize,
    /// The most bytes of a frame that is received. 0: 64 MiB.
    pub largest_frame: usize,
    /// Nanoseconds before the first try to connect again, which double from then on. 0: 0.1 seconds.
    pub reconnect_first: i64,
    /// The longest time between two tries. 0: 5 seconds.
    pub reconnect_longest: i64,
    /// Nanoseconds after which a tcp connection to a machine that answers nothing ends. 0: what the system does.
    pub keep_alive: i64,
    /// Of a publisher: a ys_zmq_when_full.
    pub when_full: c_int,
    /// Of a duplex, not 0: what was not acknowledged is sent again over the next connection.
    pub at_least_once: c_int,
    /// Of such a duplex: how many messages may be unacknowledged. 0: 65,536.
    pub unacknowledged: usize,
    /// Of what asks: nanoseconds until a question ends without an answer. 0: 30 seconds.
    pub timeout: i64,
    /// How often it is asked again then, or when its connection has ended.
    pub retries: usize,
    /// How many questions may be without an answer at a time. 0: 256.
    pub unanswered: usize,
    /// This side's secret key of CURVE, 40 characters of Z85; with one of the next two. NULL: no encryption.
    pub secret_key: *const c_char,
    /// The public key of the server whose client this is.
    pub server_key: *const c_char,
    /// The public keys of the clients that this server admits: no others.
    pub client_keys: *const *const c_char,
    /// Not 0: messages are lists of parts, one at least, as ys_zmq_part has it. 0: a message of several parts is malformed. Both sides of a
    /// duplex say the same.
    pub parts: c_int,
    /// Of publishers and subscribers, not 0: a message comes alone, and is asked for by how it begins. Topics are neither sent nor told.
    pub without_topic: c_int,
}

/// Options that cannot be, for this reason.
fn refused(why: &str) -> ys_code {
    refuse(&why);
    YS_EINVAL
}

/// A list of texts of the caller. `None`: there is no list.
///
/// # Safety
/// NULL, or addresses of strings of C, and NULL after them.
pub(super) unsafe fn list<'a>(mut from: *const *const c_char) -> Result<Option<Vec<&'a str>>, ys_code> {
    if from.is_null() {
        return Ok(None);
    }
    let mut all = Vec::new();
    // SAFETY: by the caller, up to the NULL.
    while let Some(one) = unsafe { from.read().as_ref() } {
        // SAFETY: by the caller.
        all.push(unsafe { text(one) }.map_err(|_| refused("a text of the options is not UTF-8"))?);
        // SAFETY: there is one more, at least the NULL.
        from = unsafe { from.add(1) };
    }
    Ok(Some(all))
}

/// Public keys of the caller.
pub(super) fn keys(texts: &[&str]) -> Result<Vec<PublicKey>, ys_code> {
    texts.iter().map(|text| text.parse().map_err(|error| code_of(&error))).collect()
}

/// A time of the caller. `None`: the default.
fn time(ns: i64) -> Result<Option<Duration>, ys_code> {
    match u64::try_from(ns) {
        Ok(0) => Ok(None),
        Ok(ns) => Ok(Some(Duration::from_nanos(ns))),
        Err(_) => Err(refused("a time of the options is negative")),
    }
}

fn count(given: usize) -> Option<usize> {
    (given != 0).then_some(given)
}

enum Security {
    None,
    Client(KeyPair, PublicKey),
    Server(KeyPair, Vec<PublicKey>),
}

/// What was given.
pub(super) struct Given {
    bind: Vec<String>,
    connect: Vec<String>,
    pub(super) topics: Option<Vec<String>>,
    pub(super) joined: Option<u8>,
    pub(super) conflate: bool,
    pub(super) capacity: usize,
    marks: (usize, usize),
    buffers: Option<(usize, usize)>,
    largest: Option<usize>,
    reconnect: (Duration, Duration),
    keep_alive: Option<Duration>,
    pub(super) when_full: WhenFull,
    pub(super) at_least_once: bool,
    pub(super) unacknowledged: Option<usize>,
    pub(super) timeout: Option<Duration>,
    pub(super) retries: usize,
    pub(super) unanswered: Option<usize>,
    security: Security,
    pub(super) parts: bool,
    pub(super) without_topic: bool,
}

/// The default of channels, and of marks.
const ROOM: usize = 1_000;
const RECONNECT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

impl ys_zmq_options {
    /// What lies at `options`, in as many bytes as it says.
    ///
    /// # Safety
    /// NULL, or that many bytes are there, and what they have the addresses of.
    pub(super) unsafe fn read(options: *const Self) -> Result<Given, ys_code> {
        if options.is_null() {
            return Err(refused("a bridge needs options: an address at least"));
        }
        // SAFETY: by the caller there are at least these four bytes.
        let given = unsafe { options.cast::<u32>().read_unaligned() } as usize;
        if given < size_of::<u32>() {
            return Err(refused("the options have no size: begin with YS_ZMQ_OPTIONS_INIT"));
        }
        let mut copy = MaybeUninit::<Self>::zeroed();
        // SAFETY: by the caller that many bytes are there. All zeros are valid options, and so is any part of a shorter
        // structure.
        unsafe {
            copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(options.cast(), given.min(size_of::<Self>()));
            copy.assume_init().given()
        }
    }

    /// # Safety
    /// As of [`read`](Self::read).
    unsafe fn given(&self) -> Result<Given, ys_code> {
        let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
        // SAFETY: by the caller.
        let [bind, connect, topics] =
            unsafe { [list(self.bind)?.map(owned), list(self.connect)?.map(owned), list(self.topics)?.map(owned)] };
        let (first, longest) = (time(self.reconnect_first)?, time(self.reconnect_longest)?);
        Ok(Given {
            bind: bind.unwrap_or_default(),
            connect: connect.unwrap_or_default(),
            topics,
            // SAFETY: by the caller.
            joined: unsafe { self.joined()? },
            conflate: self.conflate != 0,
            capacity: count(self.capacity).unwrap_or(ROOM),
            marks: (count(self.send_mark).unwrap_or(ROOM), count(self.receive_mark).unwrap_or(ROOM)),
            buffers: self.buffers()?,
            largest: count(self.largest_frame),
            reconnect: (first.unwrap_or(RECONNECT.0), longest.unwrap_or(RECONNECT.1)),
            keep_alive: time(self.keep_alive)?,
            when_full: self.when_full()?,
            at_least_once: self.at_least_once != 0,
            unacknowledged: count(self.unacknowledged),
            timeout: time(self.timeout)?,
            retries: self.retries,
            unanswered: count(self.unanswered),
            // SAFETY: by the caller.
            security: unsafe { self.security()? },
            parts: self.parts != 0,
            without_topic: self.without_topic != 0,
        })
    }

    /// # Safety
    /// As of [`read`](Self::read).
    unsafe fn joined(&self) -> Result<Option<u8>, ys_code> {
        if self.joined_by.is_null() {
            return Ok(None);
        }
        // SAFETY: by the caller.
        match unsafe { CStr::from_ptr(self.joined_by) }.to_bytes() {
            [one] => Ok(Some(*one)),
            _ => Err(refused("topic and message are joined by one character")),
        }
    }

    fn buffers(&self) -> Result<Option<(usize, usize)>, ys_code> {
        match (self.send_buffer, self.receive_buffer) {
            (0, 0) => Ok(None),
            (0, _) | (_, 0) => Err(refused("of the kernel's buffers both are given, or none")),
            both => Ok(Some(both)),
        }
    }

    fn when_full(&self) -> Result<WhenFull, ys_code> {
        match self.when_full {
            0 => Ok(WhenFull::Drop),
            1 => Ok(WhenFull::DropForAll),
            2 => Ok(WhenFull::Wait),
            _ => Err(refused("no publisher does that when a subscriber has no room")),
        }
    }

    /// # Safety
    /// As of [`read`](Self::read).
    unsafe fn security(&self) -> Result<Security, ys_code> {
        // SAFETY: by the caller.
        let clients = unsafe { list(self.client_keys)? };
        // SAFETY: by the caller.
        let key = |of: *const c_char| match of.is_null() {
            true => Ok(None),
            // SAFETY: by the caller.
            false => unsafe { text(of) }.map(Some),
        };
        match (key(self.secret_key)?, key(self.server_key)?, clients) {
            (None, None, None) => Ok(Security::None),
            (Some(own), Some(server), None) => {
                let server = keys(&[server])?.remove(0);
                Ok(Security::Client(pair(own)?, server))
            }
            (Some(own), None, Some(clients)) => Ok(Security::Server(pair(own)?, keys(&clients)?)),
            _ => Err(refused("CURVE needs a secret key, and either the server's key or those of the clients")),
        }
    }
}

fn pair(secret: &str) -> Result<KeyPair, ys_code> {
    KeyPair::from_secret(secret).map_err(|error| code_of(&error))
}

/// A builder that takes the options of every bridge.
pub(super) trait Builder: Sized {
    fn with(self, given: &Given) -> Self;
}

macro_rules! impl_builder {
    ($($builder:ty),* $(,)?) => {$(
        impl Builder for $builder {
            fn with(self, given: &Given) -> Self {
                let mut builder = self.high_water_marks(given.marks.0, given.marks.1);
                builder = builder.reconnect_after(given.reconnect.0, given.reconnect.1);
                builder = given.bind.iter().fold(builder, |builder, address| builder.bind(address));
                builder = given.connect.iter().fold(builder, |builder, address| builder.connect(address));
                if let Some((send, receive)) = given.buffers {
                    builder = builder.kernel_buffers(send, receive);
                }
                if let Some(largest) = given.largest {
                    builder = builder.largest_frame(largest);
                }
                if let Some(silent) = given.keep_alive {
                    builder = builder.keep_alive(silent);
                }
                match &given.security {
                    Security::None => builder,
                    Security::Client(own, server) => builder.curve(own.clone(), *server),
                    Security::Server(own, clients) => builder.curve_server(own.clone(), clients.iter().copied()),
                }
            }
        }
    )*};
}

impl_builder! {
    Push<spsc::Receiver<Vec<u8>>>,
    Pull<Frame>,
    Publish<spsc::Receiver<Published<Vec<u8>>>>,
    Subscribe<Published<Frame>>,
    Duplex<spsc::Receiver<Vec<u8>>, Frame>,
    Ask<Vec<u8>, Frame>,
    Answer<Frame, Vec<u8>>,
    Push<spsc::Receiver<Vec<Vec<u8>>>>,
    Pull<Vec<Frame>>,
    Publish<spsc::Receiver<Published<Vec<Vec<u8>>>>>,
    Subscribe<Published<Vec<Frame>>>,
    Duplex<spsc::Receiver<Vec<Vec<u8>>>, Vec<Frame>>,
    Ask<Vec<Vec<u8>>, Vec<Frame>>,
    Answer<Vec<Frame>, Vec<Vec<u8>>>,
}
