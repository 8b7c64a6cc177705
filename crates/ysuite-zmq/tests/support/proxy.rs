//! A proxy between two bridges that does to their connections what networks do.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Carries bytes between its clients and its target. Ends with the last of its connections.
pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    connections: Mutex<Vec<TcpStream>>,
    /// Carries nothing: a sender fills the buffers of the kernel.
    stands: AtomicBool,
    /// Carries nothing from those that connect to the target.
    mutes: AtomicBool,
    /// Carries nothing from the target.
    mutes_target: AtomicBool,
    /// Accepts no connection.
    refuses: AtomicBool,
    carried: AtomicU64,
    over: AtomicBool,
}

impl Proxy {
    /// To an address of ØMQ, `tcp://127.0.0.1:` and a port.
    pub(crate) fn to(target: &str) -> Self {
        let target: SocketAddr = target.trim_start_matches("tcp://").parse().expect("an address of tcp");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State::default());
        let shared = state.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if shared.over.load(Ordering::Relaxed) {
                    break;
                }
                // Dropped if no connection is to be accepted, or there is none.
                if !shared.refuses.load(Ordering::Relaxed)
                    && let Ok(server) = TcpStream::connect(target)
                {
                    shared.join(client, server);
                }
            }
        });
        Self { address, state }
    }

    /// Where to connect in place of the target.
    pub(crate) fn address(&self) -> String {
        format!("tcp://{}", self.address)
    }

    /// Ends all connections at any point: what was in transit is lost. Returns how many there were.
    pub(crate) fn reset(&self) -> usize {
        let mut connections = self.state.connections.lock().expect("no panic");
        let ended = connections.len() / 2;
        for stream in connections.drain(..) {
            let linger = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&stream, linger).expect("an open socket");
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        ended
    }

    /// From now on nothing is carried, or everything again.
    pub(crate) fn stand(&self, stands: bool) {
        self.state.stands.store(stands, Ordering::Relaxed);
    }

    /// From now on nothing is carried from those that connect to the target, or everything again.
    pub(crate) fn mute(&self, mutes: bool) {
        self.state.mutes.store(mutes, Ordering::Relaxed);
    }

    /// From now on nothing is carried from the target, or everything again.
    pub(crate) fn mute_target(&self, mutes: bool) {
        self.state.mutes_target.store(mutes, Ordering::Relaxed);
    }

    /// From now on accepts no connection, or all again.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.state.refuses.store(refuses, Ordering::Relaxed);
    }

    /// Bytes so far.
    pub(crate) fn carried(&self) -> u64 {
        self.state.carried.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.over.store(true, Ordering::Relaxed);
        self.stand(false);
        self.reset();
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    fn join(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        let twice = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
        // As libzmq itself has it: small frames do not wait for an acknowledgement.
        for stream in [&client, &server] {
            stream.set_nodelay(true).expect("an open socket");
        }
        let mut connections = self.connections.lock().expect("no panic");
        connections.extend([twice(&client), twice(&server)]);
        for (from, to, there) in [(twice(&client), twice(&server), true), (server, client, false)] {
            let state = self.clone();
            thread::spawn(move || state.carry(from, to, there));
        }
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream, there: bool) {
        let mut bytes = [0; 16_384];
        let mutes = if there { &self.mutes } else { &self.mutes_target };
        loop {
            while self.stands.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            let read = from.read(&mut bytes);
            while mutes.load(Ordering::Relaxed) && !self.over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            match read {
                Ok(length @ 1..) if to.write_all(&bytes[..length]).is_ok() => {
                    self.carried.fetch_add(length as u64, Ordering::Relaxed);
                }
                _ => break,
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
        let _ = from.shutdown(std::net::Shutdown::Both);
    }
}
