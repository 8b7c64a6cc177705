//! [`Options`]: the options of every kind of bridge.

use core::fmt;
use std::collections::{HashMap, HashSet};
use std::task::Waker;
use std::time::Duration;

use super::address::{Address, Files};
use super::duplex::Line;
use super::names::{self, Lookup, Name};
use super::reconnect;
use super::tools::Tools;
use crate::context::Context;
use crate::curve::{KeyPair, PublicKey};
use crate::error::{Error, Failure};
use crate::ffi::{Kind, option};
use crate::socket::Socket;
use crate::wire::Limits;
use crate::zap::{Admitted, OPEN};

/// Frames that wait in libzmq on each side by default.
const MARK: usize = 1_000;

/// The default capacity of the receiving channel, in messages.
const BOUND: usize = 1_000;

/// The default limit of a frame, in bytes: a length from the network must not be able to take all memory.
const LARGEST: usize = 64 << 20;

/// What CURVE puts around a frame: the command's name, a nonce, flags and a code that proves whose it is.
const CURVE: usize = 8 + 8 + 1 + 16;

/// Messages in a frame.
pub(super) const MOST_IN_A_FRAME: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Options {
    pub(super) context: Option<Context>,
    binds: Vec<String>,
    connects: Vec<String>,
    security: Security,
    pub(super) plain_over_tcp: bool,
    /// Messages, then frames.
    pub(super) send_mark: Option<usize>,
    pub(super) receive_mark: Option<usize>,
    /// Bytes that the kernel may buffer, for sending and for receiving.
    pub(super) kernel_buffers: Option<(usize, usize)>,
    /// Before the first try to connect again, and between two at most.
    pub(super) reconnect: (Duration, Duration),
    /// How long a machine may be silent.
    pub(super) keep_alive: Option<Duration>,
    pub(super) pack: usize,
    /// None: without one.
    pub(super) bound: Option<usize>,
    pub(super) largest: usize,
    /// Of what comes.
    pub(super) limits: Limits,
    pub(super) lookup: Lookup,
}

#[derive(Debug)]
enum Security {
    None,
    Curve { own: KeyPair, server: PublicKey },
    CurveServer { own: KeyPair, allowed: HashSet<PublicKey> },
    Plain { name: String, password: String },
    PlainServer { users: HashMap<String, String> },
}

/// As libzmq counts them, at least one.
fn milliseconds(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1)
}

/// Linux knows no longer time than this, in seconds, and libzmq ends the process where the system refuses one.
const LONGEST_SILENCE: i32 = 32_767;

/// The system asks after half of the time, and three times in the other half. What is not acknowledged for so long ends
/// the connection as well: while something is under way the system does not ask.
fn keep_alive(socket: &Socket, silent: Duration) -> Result<(), Failure> {
    let seconds = |parts: u32| i32::try_from((silent / parts).as_secs()).unwrap_or(i32::MAX).clamp(1, LONGEST_SILENCE);
    socket.set(option::TCP_KEEPALIVE_IDLE, seconds(2))?;
    socket.set(option::TCP_KEEPALIVE_INTERVAL, seconds(6))?;
    socket.set(option::TCP_KEEPALIVE_COUNT, 3)?;
    socket.set(option::TCP_MAXRT, milliseconds(silent))
}

/// Whether PLAIN can say the length of a name or password.
fn is_sayable(text: &str) -> bool {
    (1..=255).contains(&text.len())
}

impl Security {
    /// Whether names and passwords have a length that PLAIN can say.
    fn is_sayable(&self) -> bool {
        match self {
            Self::Plain { name, password } => is_sayable(name) && is_sayable(password),
            Self::PlainServer { users } => {
                users.iter().all(|(name, password)| is_sayable(name) && is_sayable(password))
            }
            _ => true,
        }
    }
}

impl Options {
    pub(super) fn new() -> Self {
        Self {
            context: None,
            binds: Vec::new(),
            connects: Vec::new(),
            security: Security::None,
            plain_over_tcp: false,
            send_mark: None,
            receive_mark: None,
            kernel_buffers: None,
            reconnect: reconnect::BY_LIBZMQ,
            keep_alive: None,
            pack: 1,
            bound: Some(BOUND),
            largest: LARGEST,
            limits: Limits::default(),
            lookup: names::of_the_system,
        }
    }
}

impl Options {
    pub(super) fn bind(&mut self, address: String) {
        self.binds.push(address);
    }

    pub(super) fn connect(&mut self, address: String) {
        self.connects.push(address);
    }

    pub(super) fn curve(&mut self, own: KeyPair, server: PublicKey) {
        self.security = Security::Curve { own, server };
    }

    pub(super) fn curve_server(&mut self, own: KeyPair, allowed: HashSet<PublicKey>) {
        self.security = Security::CurveServer { own, allowed };
    }

    pub(super) fn plain(&mut self, name: String, password: String) {
        self.security = Security::Plain { name, password };
    }

    pub(super) fn plain_server(&mut self, users: HashMap<String, String>) {
        self.security = Security::PlainServer { users };
    }

    /// What can be wrong is found before anything is opened.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.binds.is_empty() && self.connects.is_empty() {
            return Err(Error::NoAddress);
        }
        let spelled = |address: &String, binds| {
            Address::of(address, binds).map(drop).map_err(|cause| Error::of_address(address, cause))
        };
        self.binds.iter().try_for_each(|address| spelled(address, true))?;
        self.connects.iter().try_for_each(|address| spelled(address, false))?;
        if !(1..=MOST_IN_A_FRAME).contains(&self.pack) {
            return Err(Error::Pack(self.pack));
        }
        if self.bound == Some(0) {
            return Err(Error::Bound);
        }
        if !self.security.is_sayable() {
            return Err(Error::Password);
        }
        let plain = matches!(self.security, Security::Plain { .. } | Security::PlainServer { .. });
        let over_tcp = self.binds.iter().chain(&self.connects).find(|address| address.starts_with("tcp:"));
        match over_tcp.filter(|_| plain && !self.plain_over_tcp) {
            Some(address) => Err(Error::PlainOverTcp { address: address.clone() }),
            None => Ok(()),
        }
    }

    /// How a duplex reaches its one other side, by binding or by connecting.
    pub(super) fn line(&self) -> Result<Line, Error> {
        match (&self.binds[..], &self.connects[..]) {
            ([_, ..], []) => Ok(Line::bound()),
            ([], [address]) => Ok(Line::connected(!address.starts_with("inproc:"))),
            _ => Err(Error::OneOther),
        }
    }

    /// The address that it connects to, if that is the only one.
    pub(super) fn only_address(&self) -> Option<&str> {
        match (&self.binds[..], &self.connects[..]) {
            ([], [address]) => Some(address),
            _ => None,
        }
    }

    /// A socket with all that can be set before it is bound. The domain under which its clients are admitted, where that is asked.
    pub(super) fn open(&self, context: &Context, kind: Kind) -> Result<(Socket, Option<Domain>), Error> {
        let socket = Socket::new(context, kind)?;
        // libzmq counts frames, and without any there would be no mark.
        let mark = |frames: Option<usize>| i32::try_from(frames.unwrap_or(MARK).max(1)).unwrap_or(i32::MAX);
        // A subscriber sends subscriptions, and libzmq drops, without a word, those for which there is no room.
        let send =
            if kind == Kind::Sub { 0 } else { mark(self.send_mark.map(|messages| messages.div_ceil(self.pack))) };
        socket.set(option::SEND_MARK, send)?;
        socket.set(option::RECEIVE_MARK, mark(self.receive_mark))?;
        if let Some((send, receive)) = self.kernel_buffers {
            socket.set(option::SEND_BUFFER, i32::try_from(send).unwrap_or(i32::MAX))?;
            socket.set(option::RECEIVE_BUFFER, i32::try_from(receive).unwrap_or(i32::MAX))?;
        }
        // libzmq measures a frame as it comes over the connection.
        let largest = match self.security {
            Security::Curve { .. } | Security::CurveServer { .. } => self.largest.saturating_add(CURVE),
            _ => self.largest,
        };
        socket.set_bytes(option::MAX_MESSAGE, &i64::try_from(largest).unwrap_or(i64::MAX).to_ne_bytes())?;
        if matches!(kind, Kind::Push | Kind::XPub) {
            // Frames are only queued for a connection that exists, not for one that may never exist. Not on the
            // receiving side: libzmq then drops with a connection also the unread messages that came by it.
            socket.set(option::IMMEDIATE, 1)?;
        }
        let (first, longest) = self.reconnect;
        socket.set(option::RECONNECT_IVL, milliseconds(first))?;
        socket.set(option::RECONNECT_IVL_MAX, milliseconds(longest.max(first)))?;
        if let Some(silent) = self.keep_alive {
            keep_alive(&socket, silent)?;
        }
        let domain = self.secure(context, &socket)?;
        Ok((socket, domain))
    }

    fn secure(&self, context: &Context, socket: &Socket) -> Result<Option<Domain>, Error> {
        let keys = |own: &KeyPair| {
            socket.set_bytes(option::CURVE_PUBLIC_KEY, own.public().bytes())?;
            socket.set_bytes(option::CURVE_SECRET_KEY, own.secret_bytes())
        };
        let unless_missing = |cause: Failure| match cause.is(rustix::io::Errno::INVAL) {
            true => Error::NoCurve,
            false => cause.into(),
        };
        match &self.security {
            Security::None => {
                socket.set_bytes(option::ZAP_DOMAIN, OPEN.as_bytes())?;
                Ok(None)
            }
            Security::Curve { own, server } => {
                keys(own).map_err(unless_missing)?;
                socket.set_bytes(option::CURVE_SERVER_KEY, server.bytes()).map_err(unless_missing)?;
                Ok(None)
            }
            Security::CurveServer { own, allowed } => {
                socket.set(option::CURVE_SERVER, 1).map_err(unless_missing)?;
                keys(own).map_err(unless_missing)?;
                Domain::of(context, socket, Admitted::Keys(allowed.clone())).map(Some)
            }
            Security::Plain { name, password } => {
                socket.set_bytes(option::PLAIN_USERNAME, name.as_bytes())?;
                socket.set_bytes(option::PLAIN_PASSWORD, password.as_bytes())?;
                Ok(None)
            }
            Security::PlainServer { users } => {
                socket.set(option::PLAIN_SERVER, 1)?;
                Domain::of(context, socket, Admitted::Users(users.clone())).map(Some)
            }
        }
    }

    /// Binds all, and connects to those whose hosts need not be resolved. The waker is woken when a name has been
    /// bound.
    pub(super) fn meet(&self, tools: &mut Tools, waker: &Waker) -> Result<Met, Error> {
        let mut met = Met::default();
        for text in &self.binds {
            let address = Address::of(text, true).map_err(|cause| Error::of_address(text, cause))?;
            tools.socket.set(option::IPV6, i32::from(address.is_v6()))?;
            met.bound.push(match address {
                Address::Ipc(Some(path)) => met.files.bind(text, path, || tools.socket.bind(text))?,
                _ => tools.bind(text)?,
            });
        }
        for text in &self.connects {
            let address = Address::of(text, false).map_err(|cause| Error::of_address(text, cause))?;
            match address.name() {
                Some((host, port)) => met.names.push(Name::new(text, host, port)),
                None => tools.connect(text, address.is_v6(), waker)?,
            }
        }
        Ok(met)
    }
}

/// Where a bridge can be met, and what is to be done about that still.
#[derive(Default)]
pub(super) struct Met {
    /// Where others can connect, as libzmq spells it.
    pub(super) bound: Vec<String>,
    /// To be dropped after the socket.
    pub(super) files: Files,
    /// To be resolved, and connected to.
    pub(super) names: Vec<Name>,
}

/// The name under which a server's clients are admitted: released when the bridge ends.
pub(super) struct Domain {
    context: Context,
    name: String,
    admits: Admits,
}

/// What a server asks of its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Admits {
    Keys,
    Users,
}

impl Domain {
    fn of(context: &Context, socket: &Socket, whom: Admitted) -> Result<Self, Error> {
        let admits = if matches!(whom, Admitted::Keys(_)) { Admits::Keys } else { Admits::Users };
        let domain = Self { context: context.clone(), name: Context::fresh_name("gate"), admits };
        context.admit(&domain.name, whom)?;
        socket.set_bytes(option::ZAP_DOMAIN, domain.name.as_bytes())?;
        socket.set(option::ZAP_ENFORCE_DOMAIN, 1)?;
        Ok(domain)
    }
}

impl Domain {
    /// From now on admits only the owners of these keys.
    pub(super) fn admit_keys(&self, keys: HashSet<PublicKey>) -> Result<(), Error> {
        match self.admits {
            Admits::Keys => self.context.admit(&self.name, Admitted::Keys(keys)),
            Admits::Users => Err(Error::NotServer),
        }
    }

    /// From now on admits only those with one of these names and its password.
    pub(super) fn admit_users(&self, users: HashMap<String, String>) -> Result<(), Error> {
        if self.admits != Admits::Users {
            return Err(Error::NotServer);
        }
        if !users.iter().all(|(name, password)| is_sayable(name) && is_sayable(password)) {
            return Err(Error::Password);
        }
        self.context.admit(&self.name, Admitted::Users(users))
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Domain").finish_non_exhaustive()
    }
}

impl Drop for Domain {
    // MUTANT: Memory only: its name is not reused.
    fn drop(&mut self) {
        self.context.forget(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::event::Event;
    use crate::monitor::{Monitor, Seen};

    /// Within the time that the program has chosen, and never beyond what the system takes.
    #[test]
    fn a_silent_machine_is_asked_in_time() {
        let context = Context::of_the_process().unwrap();
        for (silent, seconds) in [(60, (30, 10)), (0, (1, 1)), (u64::MAX, (LONGEST_SILENCE, LONGEST_SILENCE))] {
            let silent = Duration::from_secs(silent);
            let options = Options { keep_alive: Some(silent), ..Options::new() };
            let (socket, _) = options.open(&context, Kind::Pull).unwrap();
            let [idle, interval, count, most] = [
                option::TCP_KEEPALIVE_IDLE,
                option::TCP_KEEPALIVE_INTERVAL,
                option::TCP_KEEPALIVE_COUNT,
                option::TCP_MAXRT,
            ]
            .map(|option| socket.get_int(option).unwrap());
            assert_eq!(((idle, interval), count, most), (seconds, 3, milliseconds(silent)));
        }
    }

    /// The gatekeeper is in another context, where a server of this one cannot ask.
    #[test]
    fn without_a_gatekeeper_no_peer_is_admitted() {
        let [own, client] = [(); 2].map(|()| KeyPair::generate().unwrap());
        let (here, elsewhere) = (Context::new(1).unwrap(), Context::new(1).unwrap());
        let mut server = Socket::new(&here, Kind::Pull).unwrap();
        let monitor = Monitor::of(&mut server).unwrap();
        let mut both = (server, monitor);
        let server = &both.0;
        server.set(option::CURVE_SERVER, 1).unwrap();
        server.set_bytes(option::CURVE_SECRET_KEY, own.secret_bytes()).unwrap();
        let _domain = Domain::of(&elsewhere, server, Admitted::Keys([client.public()].into())).unwrap();
        let address = server.bind("tcp://127.0.0.1:*").unwrap();

        let push = Socket::new(&here, Kind::Push).unwrap();
        push.set_bytes(option::CURVE_PUBLIC_KEY, client.public().bytes()).unwrap();
        push.set_bytes(option::CURVE_SECRET_KEY, client.secret_bytes()).unwrap();
        push.set_bytes(option::CURVE_SERVER_KEY, own.public().bytes()).unwrap();
        push.connect(&address).unwrap();
        let begun = Instant::now();
        loop {
            match both.1.look().unwrap() {
                Some(Seen::Event(Event::HandshakeFailed(_))) => break,
                Some(Seen::Event(Event::Connected(_))) => panic!("it was admitted"),
                _ => thread::sleep(Duration::from_millis(1)),
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing was reported");
        }
    }
}
