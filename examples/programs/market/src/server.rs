//! The server: the feed and the audit log are threads, connections are tasks.
//!
//! It stops at SIGTERM, or when the operator says so, from the outside to the inside. The loop stops accepting and drops its
//! sender of commands; each session answers what it has accepted, says good-bye and drops its own; the feed takes what is left
//! and ends; then nothing can send a record any more, and the log is complete.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};
use ysuite::{broadcast, mpsc, watch};

use crate::audit::{self, Record};
use crate::feed::{Command, Feed, Latest};
use crate::protocol::{LONGEST_REQUEST, Wire};
use crate::session::{Session, Shared};

/// Commands of one session that are on the way. A session that waits for each answer needs one, and one to leave.
const COMMANDS: usize = 2;
/// Events that are kept for slow clients.
const EVENTS: usize = 1024;
/// A client that does not read is noticed when this is full.
const SEND_BUFFER: u32 = 16 * 1024;

pub struct Options {
    /// Port 0 is any. The address is printed.
    pub listen: SocketAddr,
    pub audit: PathBuf,
    /// Connections at a time. Others are refused.
    pub most: usize,
    /// How long a client may not read.
    pub patience: Duration,
}

/// Serves until it is stopped. Prints the last figures.
///
/// # Errors
/// When it cannot begin, when the log cannot be written, and when an order that was accepted is not in it.
pub fn serve(options: &Options) -> Result<(), Box<dyn Error>> {
    let log = audit::open(&options.audit)?;
    // The senders are the sessions, and the loop that accepts them. So the limit of senders is one of connections.
    let (commands, incoming) = mpsc::bounded_for(COMMANDS, options.most + 1);
    let (events, _) = broadcast::lossy(EVENTS);
    let (newest, latest) = watch::channel(Latest::default());
    let (stop, stopped) = watch::channel(());
    let feed = Feed::new(incoming, log.records.clone(), events.clone(), newest);
    let feed = thread::Builder::new().name("feed".into()).spawn(move || feed.run())?;
    let shared = Arc::new(Shared { events, latest, audited: log.audited, stop, patience: options.patience });

    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let door = Door { shared, commands, records: log.records, stopped };
    runtime.block_on(async {
        let listener = listen(options.listen)?;
        println!("listening {}", listener.local_addr()?);
        door.accept(listener).await
    })?;
    // The sessions go on meanwhile, and end by themselves.
    let stats = feed.join().expect("the feed does not panic");
    drop(runtime);
    let audited = log.writer.join().expect("the log does not panic")?;
    println!("stopped {stats} audited={audited}");
    if audited == stats.accepted { Ok(()) } else { Err("an accepted order was not audited".into()) }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    // Connections have it from the listener.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// What accepts connections.
struct Door {
    shared: Arc<Shared>,
    commands: mpsc::Sender<Command>,
    records: mpsc::Sender<Record>,
    stopped: watch::Receiver<()>,
}

impl Door {
    async fn accept(mut self, listener: TcpListener) -> io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        // A session that begins when the stop was sent has not seen it, as this one has not.
        let stopped = self.stopped.clone();
        for number in 1.. {
            let stream = tokio::select! {
                accepted = listener.accept() => accepted.map(|(stream, _)| stream),
                _ = terminate.recv() => break,
                _ = self.stopped.changed_async() => break,
            };
            match stream {
                Ok(stream) => self.begin(number, stream, &stopped),
                // The client has gone already, or there are too many descriptors: better later than never.
                Err(error) => {
                    eprintln!("not accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        }
        let _ = self.shared.stop.send(());
        Ok(())
    }

    fn begin(&mut self, number: u64, stream: TcpStream, stopped: &watch::Receiver<()>) {
        // Without it answers wait for the client's acknowledgement of events. An error says that the client has gone.
        let _ = stream.set_nodelay(true);
        match self.commands.try_clone() {
            Ok(commands) => {
                let (shared, records) = (self.shared.clone(), self.records.clone());
                let session = Session { number, wire: Wire::new(stream, LONGEST_REQUEST), shared, commands, records };
                tokio::spawn(session.run(stopped.clone()));
            }
            Err(_) => {
                // An error says that the log has ended. A line that a new socket does not take has no second attempt.
                let _ = self.records.send(Record::Refused { session: number });
                let _ = stream.try_write(b"ERROR there are too many connections\n");
            }
        }
    }
}
