//! A set of signals in mio's poll, together with a socket.

use std::io::{ErrorKind, Read, Write};
use std::thread;
use std::time::Duration;

use ::mio::net::UnixStream;
use ::mio::{Events, Interest, Poll, Token};
use ysuite::signal::{Wait, YSocketpair};
use ysuite::spsc;

use crate::support::{Random, guarded};

const SET: Token = Token(0);
const SOCKET: Token = Token(1);

/// Claim: Under mio no signal of a set is lost.
#[test]
fn signals_beside_a_socket() {
    guarded(|| {
        const MESSAGES: usize = 5_000;
        let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
        let mut set = YSocketpair::new().unwrap();
        let (mut sender, mut receiver) = spsc::unbounded();
        set.attach(&mut receiver, 200).unwrap();
        poll.registry().register(&mut set, SET, Interest::READABLE).unwrap();
        let (mut socket, mut far) = UnixStream::pair().unwrap();
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE).unwrap();
        let thread = thread::spawn(move || {
            let mut random = Random::new(5);
            for message in 0..MESSAGES {
                sender.send(message).unwrap();
                if message % 100 == 0 {
                    far.write_all(&[1]).unwrap();
                }
                random.pause();
            }
            far
        });
        let (mut received, mut read) = (0, 0);
        while received < MESSAGES || read < MESSAGES / 100 {
            poll.poll(&mut events, None).unwrap();
            for event in &events {
                if event.token() == SOCKET {
                    read += count(&mut socket);
                    continue;
                }
                // Edge-triggered: until it is empty.
                while let Some(id) = set.check().next() {
                    assert_eq!(id, 200);
                    for message in receiver.try_iter() {
                        assert_eq!(message, received);
                        received += 1;
                    }
                    if received == MESSAGES {
                        break;
                    }
                }
            }
        }
        drop(thread.join().unwrap());
    });
}

/// How many bytes there are.
fn count(socket: &mut UnixStream) -> usize {
    let mut bytes = [0; 64];
    let mut all = 0;
    loop {
        match socket.read(&mut bytes) {
            Ok(0) => return all,
            Ok(read) => all += read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return all,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn registered_anew_and_taken_out() {
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(8));
    let mut set = YSocketpair::new().unwrap();
    let signaler = set.signaler();
    poll.registry().register(&mut set, SET, Interest::READABLE).unwrap();
    assert_eq!(
        poll.registry().register(&mut set, SET, Interest::READABLE).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    poll.registry().reregister(&mut set, SOCKET, Interest::READABLE).unwrap();
    ysuite::signal::Signal::signal(&signaler, 3);
    poll.poll(&mut events, None).unwrap();
    assert!(events.iter().map(|event| event.token()).eq([SOCKET]));
    poll.registry().deregister(&mut set).unwrap();
    poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty() && set.check().eq([3]));
}
