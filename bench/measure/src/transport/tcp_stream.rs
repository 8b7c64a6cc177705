//! TCP over the loopback interface, without Nagle's delay: the transport of the nanosecond article's figures.
//!
//! ```text
//!   sender thread   send ----> 127.0.0.1 ----> recv with MSG_WAITALL   receiver thread
//! ```
//!
//! Cannot: run where there is no loopback interface. The runner then leaves it out and reports that.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use super::kernel::stream::Stream;
use super::kernel::{Receiver, Sender, ends};
use super::{Message, Traits, Transport, Waits};

pub struct TcpLoopback;

impl Transport for TcpLoopback {
    const TRAITS: Traits = Traits {
        name: "tcp-stream",
        about: "TCP over the loopback interface with TCP_NODELAY, each message read with MSG_WAITALL",
        waits: Waits::Sleeps,
        works_with_epoll: true,
        bounded: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<Stream<false>, M>;
    type Receiver<M: Message> = Receiver<Stream<false>, M>;

    fn open<M: Message>() -> io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
        let (one, other) = connected()?;
        Ok(ends(Stream::over(one.into(), other.into())))
    }
}

/// Two sockets connected to each other.
fn connected() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let one = TcpStream::connect(listener.local_addr()?)?;
    let own = one.local_addr()?;
    // Any process on this machine may connect to the port while it is open.
    let other = loop {
        let (stream, peer) = listener.accept()?;
        if peer == own {
            break stream;
        }
    };
    one.set_nodelay(true)?;
    other.set_nodelay(true)?;
    Ok((one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sockets_send_at_once_and_to_each_other() {
        let (one, other) = connected().unwrap();
        assert!(one.nodelay().unwrap() && other.nodelay().unwrap());
        assert_eq!(one.peer_addr().unwrap(), other.local_addr().unwrap());
        assert_eq!(other.peer_addr().unwrap(), one.local_addr().unwrap());
    }
}
