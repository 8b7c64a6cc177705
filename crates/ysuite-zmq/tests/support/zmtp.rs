//! [`Peer`]: a peer that speaks ØMQ (ZMTP 3.1, NULL) over a stream of its own, and says what no bridge would. Blocks, up to the
//! guard of the tests.

use std::io::{Read, Write};
use std::net::TcpStream;

use super::GUARD;

pub(crate) struct Peer(TcpStream);

impl Peer {
    /// Connects to this address of tcp as a socket of this type.
    pub(crate) fn connect(address: &str, socket: &str) -> Self {
        let stream = TcpStream::connect(address.trim_start_matches("tcp://")).expect("there is a listener");
        stream.set_read_timeout(Some(GUARD)).expect("a time");
        let mut peer = Self(stream);
        let mut greeting = [0u8; 64];
        (greeting[0], greeting[9], greeting[10], greeting[11]) = (0xFF, 0x7F, 3, 1);
        greeting[12..16].copy_from_slice(b"NULL");
        peer.0.write_all(&greeting).expect("the greeting");
        peer.0.read_exact(&mut greeting).expect("the other's greeting");
        let mut ready = b"\x05READY\x0BSocket-Type".to_vec();
        ready.extend((socket.len() as u32).to_be_bytes());
        ready.extend(socket.as_bytes());
        ready.extend(b"\x08Identity\0\0\0\0");
        peer.write(0x04, &ready);
        assert_eq!(peer.read().0 & 0x04, 0x04, "a command");
        peer
    }

    pub(crate) fn write(&mut self, flags: u8, body: &[u8]) {
        assert!(body.len() < 256, "short frames only");
        self.0.write_all(&[&[flags, body.len() as u8], body].concat()).expect("the other side reads");
    }

    /// The next frame: its flags, and what is in it.
    pub(crate) fn read(&mut self) -> (u8, Vec<u8>) {
        let (mut flags, mut length) = ([0], [0; 8]);
        self.0.read_exact(&mut flags).expect("a frame");
        let from = if flags[0] & 0x02 == 0 { 7 } else { 0 };
        self.0.read_exact(&mut length[from..]).expect("its length");
        let mut body = vec![0; u64::from_be_bytes(length) as usize];
        self.0.read_exact(&mut body).expect("the whole of it");
        (flags[0], body)
    }
}
