//! [`Names`]: the `inproc` names of a context, and [`Inproc`]: those of one socket.
//!
//! A socket of libzmq that has connected to a name which no socket has bound never ends: closing it waits until a
//! socket binds that name (`_pending_connections` in its `ctx.cpp`). So a bridge connects only while the name is bound.
//! The context knows which names are, each from the moment it is bound until just before its socket is closed, and
//! wakes those that wait. It also knows when these connections end, which libzmq does not report.
//!
//! Any thread may call; each call takes the context's lock for a short time, and none waits for another socket.
//! Sockets that are not opened by a bridge, those of the monitors for example, are not known here.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

use crate::context::Context;
use crate::error::{Error, Failure};
use crate::socket::Socket;

const SCHEME: &str = "inproc://";

/// Of one context.
#[derive(Default)]
pub(crate) struct Names(Mutex<Table>);

#[derive(Default)]
struct Table {
    /// The bound names, each with a number that is new for each bind.
    bound: HashMap<String, u64>,
    /// By that number, until the socket that has bound is gone: sockets that had connected and are gone.
    ended: HashMap<u64, u64>,
    /// Those that connect, each with the name it connects to.
    connecting: Vec<Connecting>,
    /// The last number of a bind, or of a socket.
    last: u64,
}

struct Connecting {
    socket: u64,
    name: String,
    waker: Waker,
}

/// The names of one socket: dropped before it.
pub(crate) struct Inproc {
    context: Context,
    /// Identifies it to the context.
    socket: u64,
    /// With the number of its bind.
    bound: Vec<(String, u64)>,
    wanted: Vec<Wanted>,
    /// Connections that this socket had made and that have ended.
    ended: u64,
}

struct Wanted {
    address: String,
    /// The number of the bind that it is connected to.
    joined: Option<u64>,
}

/// Whether this is the address of a name in a context.
pub(crate) fn is_inproc(address: &str) -> bool {
    address.starts_with(SCHEME)
}

impl Inproc {
    pub(crate) fn new(context: &Context) -> Self {
        let socket = context.names().with(Table::number);
        Self { context: context.clone(), socket, bound: Vec::new(), wanted: Vec::new(), ended: 0 }
    }

    /// Binds this name, and wakes those that wait for it.
    pub(crate) fn bind(&mut self, socket: &Socket, address: &str) -> Result<String, Error> {
        self.context.names().with(|table| {
            let spelled = socket.bind(address)?;
            let number = table.number();
            table.bound.insert(address.to_owned(), number);
            table.ended.insert(number, 0);
            self.bound.push((address.to_owned(), number));
            table.connecting.iter().filter(|other| other.name == address).for_each(|other| other.waker.wake_by_ref());
            Ok(spelled)
        })
    }

    /// From now on connects to this name when a socket binds it, in [`join`](Self::join). The waker is woken when it
    /// can.
    pub(crate) fn connect(&mut self, address: &str, waker: &Waker) -> Result<(), Error> {
        // What libzmq would refuse.
        if address.len() == SCHEME.len() || address.contains('\0') {
            return Err(Error::of_address(address, Failure::of("zmq_connect", rustix::io::Errno::INVAL)));
        }
        self.wanted.push(Wanted { address: address.to_owned(), joined: None });
        let connecting = Connecting { socket: self.socket, name: address.to_owned(), waker: waker.clone() };
        self.context.names().with(|table| table.connecting.push(connecting));
        Ok(())
    }

    /// Connects to one name that has been bound since the last time. Returns which.
    pub(crate) fn join(&mut self, socket: &Socket) -> Result<Option<String>, Error> {
        if self.wanted.is_empty() {
            return Ok(None);
        }
        let Self { context, wanted, ended, .. } = self;
        context.names().with(|table| {
            for Wanted { address, joined } in wanted {
                let number = table.bound.get(address).copied();
                if joined.is_some() && *joined != number {
                    (*joined, *ended) = (None, *ended + 1);
                }
                if joined.is_none() && number.is_some() {
                    // It is bound as long as the lock is held: libzmq finds it.
                    socket.connect(address)?;
                    *joined = number;
                    return Ok(Some(address.clone()));
                }
            }
            Ok(None)
        })
    }

    /// The number of connections that have ended after frames may have gone over them.
    pub(crate) fn ended(&self) -> u64 {
        if self.wanted.is_empty() && self.bound.is_empty() {
            return 0;
        }
        self.context.names().with(|table| {
            let of_others: u64 = self.bound.iter().filter_map(|(_, number)| table.ended.get(number)).sum();
            let is_gone = |wanted: &&Wanted| wanted.joined.is_some() && !table.is_bound(wanted);
            self.ended + of_others + self.wanted.iter().filter(is_gone).count() as u64
        })
    }

    /// No socket can connect to this one by a name any more: it is about to be closed.
    pub(crate) fn unbind(&mut self) {
        self.context.names().with(|table| {
            for (name, number) in &self.bound {
                if table.bound.get(name) == Some(number) {
                    table.bound.remove(name);
                }
            }
        });
    }
}

impl Drop for Inproc {
    fn drop(&mut self) {
        self.unbind();
        self.context.names().with(|table| {
            self.bound.iter().for_each(|(_, number)| _ = table.ended.remove(number));
            table.connecting.retain(|other| other.socket != self.socket);
            for number in self.wanted.iter().filter_map(|wanted| wanted.joined) {
                table.ended.entry(number).and_modify(|ended| *ended += 1);
            }
        });
    }
}

impl Names {
    fn with<R>(&self, act: impl FnOnce(&mut Table) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Table {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether the bind that it is connected to is there still.
    fn is_bound(&self, wanted: &Wanted) -> bool {
        self.bound.get(&wanted.address).copied() == wanted.joined
    }
}
