//! A server: clients send numbers, a byte each, and get their squares, two bytes each. One thread accepts, reads and
//! writes. Workers compute, and their results come through the same loop, as functions. Ends when its clients have
//! gone. `cargo run -p ysuite --features hub --example hub_server`

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let clients: Vec<_> = (1..=4).map(|n| std::thread::spawn(move || server::client(address, n * 10))).collect();
    server::serve(listener, clients.len())?;
    clients.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
}

#[cfg(unix)]
mod server {
    use std::io::{self, Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::sync::{Arc, atomic::AtomicUsize, atomic::Ordering};

    use ysuite::hub::{Handle, Hub, Interest, Source};
    use ysuite::mpmc;

    pub(crate) fn serve(listener: TcpListener, clients: usize) -> io::Result<()> {
        let mut hub = Hub::new()?;
        let (requests, work) = mpmc::bounded(64);
        let left = Arc::new(AtomicUsize::new(clients));
        for _ in 0..2 {
            let (work, hub) = (work.clone(), hub.handle());
            std::thread::spawn(move || work.iter().for_each(|request| answer(request, &hub)));
        }
        hub.watch(listener, Interest::READABLE, move |hub, listener, _| {
            while let Ok((stream, _)) = listener.accept() {
                stream.set_nonblocking(true).expect("a fresh socket");
                let (requests, left) = (requests.clone(), left.clone());
                hub.watch(stream, Interest::READABLE, move |hub, stream, _| read(hub, stream, &requests, &left))
                    .expect("room for another client");
            }
        })?;
        hub.run()
    }

    fn read(hub: &mut Hub, stream: &mut TcpStream, requests: &mpmc::Sender<(Source, u8)>, left: &AtomicUsize) {
        let (mut bytes, this) = ([0; 16], hub.current().expect("a handler"));
        match stream.read(&mut bytes) {
            Ok(0) => {
                hub.remove(this);
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    hub.stop();
                }
            }
            // The loop must not wait for room. These clients wait for their results; others might have to be refused.
            Ok(read) => bytes[..read].iter().for_each(|&byte| requests.try_send((this, byte)).expect("room")),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
        }
    }

    /// Runs on a worker: sends the result back as a function.
    fn answer((client, number): (Source, u8), hub: &Handle) {
        let square = u16::from(number).pow(2).to_be_bytes();
        let _ = hub.post(move |hub| {
            hub.source_mut::<TcpStream>(client).map(|stream| stream.write_all(&square));
        });
    }

    pub(crate) fn client(server: SocketAddr, first: u8) -> io::Result<()> {
        let mut stream = TcpStream::connect(server)?;
        for number in first..first + 10 {
            let mut answer = [0; 2];
            stream.write_all(&[number])?;
            stream.read_exact(&mut answer)?;
            assert_eq!(u16::from_be_bytes(answer), u16::from(number).pow(2));
        }
        Ok(())
    }
}
