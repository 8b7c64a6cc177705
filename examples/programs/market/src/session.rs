//! One connection: a task that reads requests and writes answers and events, until the client leaves or the server stops.
//!
//! A client that reads too slowly first loses events, and is told how many: while its socket is full this task waits, and
//! meanwhile the oldest events are overwritten. One that has read nothing for as long as the server's patience is dropped.

use std::fmt::Write;
use std::future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use ysuite::broadcast::{self, RecvError};
use ysuite::{mpsc, oneshot, watch};

use crate::audit::Record;
use crate::feed::{Command, Event, Latest};
use crate::protocol::{OPERATOR, Order, Request, SYMBOLS, Wire};

/// Events that are written at once.
const BURST: usize = 32;
/// Lines that are not understood, before the client is dropped.
const MOST_ERRORS: u32 = 8;

/// What all sessions have in common.
pub struct Shared {
    /// For `subscribe`.
    pub events: broadcast::Sender<Event>,
    pub latest: watch::Receiver<Latest>,
    pub audited: watch::Receiver<u64>,
    /// Any value says that the server stops.
    pub stop: watch::Sender<()>,
    pub patience: Duration,
}

/// Why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Quit,
    /// The client closed the connection, or broke it.
    Gone,
    TooSlow,
    Nonsense,
    Stopped,
}

/// What remains of a session.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub ending: Ending,
    pub orders: u32,
    pub errors: u32,
    /// Events that it has lost.
    pub lost: u64,
}

pub struct Session {
    pub number: u64,
    pub wire: Wire,
    pub shared: Arc<Shared>,
    pub commands: mpsc::Sender<Command>,
    pub records: mpsc::Sender<Record>,
}

impl Session {
    /// Runs to the end of the connection. Its last command and its last record say how it was.
    pub async fn run(self, stop: watch::Receiver<()>) {
        let visit = Visit { ending: Ending::Gone, orders: 0, errors: 0, lost: 0 };
        let mut active = Active { session: self, name: None, subscription: None, visit };
        active.visit.ending = match active.serve(stop).await {
            Ok(ending) => ending,
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ending::TooSlow,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let _ = active.say(&format!("ERROR {error}\n")).await;
                Ending::Nonsense
            }
            Err(_) => Ending::Gone,
        };
        let Active { session: Session { number: session, wire, mut commands, mut records, .. }, visit, .. } = active;
        // Who sees that the session has gone sees that its descriptor has.
        drop(wire);
        // Where the other side has gone, the server has ended.
        let _ = records.send(Record::Closed { session, visit });
        let _ = commands.send_async(Command::Left { session, visit }).await;
    }
}

struct Active {
    session: Session,
    /// That of the login.
    name: Option<Arc<str>>,
    subscription: Option<broadcast::Receiver<Event>>,
    visit: Visit,
}

impl Active {
    async fn serve(&mut self, mut stop: watch::Receiver<()>) -> io::Result<Ending> {
        let mut events = Vec::new();
        loop {
            // Each of these futures may be dropped without losing anything.
            tokio::select! {
                line = self.session.wire.line() => {
                    let Some(line) = line? else { return Ok(Ending::Gone) };
                    if let Some(ending) = self.request(&line).await? {
                        return Ok(ending);
                    }
                }
                heard = hear(&mut self.subscription, &mut events) => self.tell(heard, &mut events).await?,
                _ = stop.changed_async() => {
                    self.say("BYE\n").await?;
                    return Ok(Ending::Stopped);
                }
            }
        }
    }

    async fn request(&mut self, line: &str) -> io::Result<Option<Ending>> {
        let request = match (Request::parse(line), self.name.is_some()) {
            (Ok(Request::Login(name)), false) => {
                self.say(&format!("WELCOME {name}\n")).await?;
                self.name = Some(name.into());
                return Ok(None);
            }
            (Ok(request @ Request::Quit), _) | (Ok(request), true) => Ok(request),
            (Ok(_), false) => Err("no login".to_owned()),
            (Err(error), _) => Err(error),
        };
        match request {
            Ok(Request::Order(order)) => self.order(order).await?,
            Ok(Request::Last(symbol)) => {
                let line = price(&self.session.shared.latest.borrow(), symbol);
                self.say(&line).await?;
            }
            Ok(Request::Quotes) => self.subscribe().await?,
            Ok(Request::Stats) if self.is_operator() => self.stats().await?,
            Ok(Request::Stop) if self.is_operator() => {
                // This session hears it, too.
                let _ = self.session.shared.stop.send(());
            }
            Ok(Request::Quit) => {
                self.say("BYE\n").await?;
                return Ok(Some(Ending::Quit));
            }
            Ok(Request::Login(_)) => return self.error("a second login").await,
            Ok(Request::Stats | Request::Stop) => return self.error("for the operator only").await,
            Err(error) => return self.error(&error).await,
        }
        Ok(None)
    }

    fn is_operator(&self) -> bool {
        self.name.as_deref() == Some(OPERATOR)
    }

    async fn error(&mut self, error: &str) -> io::Result<Option<Ending>> {
        self.visit.errors += 1;
        self.say(&format!("ERROR {error}\n")).await?;
        Ok((self.visit.errors == MOST_ERRORS).then_some(Ending::Nonsense))
    }

    /// Waits for the answer, also where the server is about to stop: what was sent to the feed is answered.
    async fn order(&mut self, order: Order) -> io::Result<()> {
        let (answer, ticket) = oneshot::channel();
        let (session, name) = (self.session.number, self.name.clone().expect("a client that has logged in"));
        // Where there is no feed any more, the answer has no sender.
        let _ = self.session.commands.send_async(Command::Order { session, name, order, answer }).await;
        let reference = order.reference;
        let line = match ticket.await.unwrap_or(Err("the market is closed")) {
            Ok(ticket) => {
                self.visit.orders += 1;
                format!("ACCEPTED {reference} {} {} {}\n", ticket.id, ticket.filled, ticket.resting)
            }
            Err(reason) => format!("REJECTED {reference} {reason}\n"),
        };
        self.say(&line).await
    }

    /// First the subscription and then the prices: so nothing can be missed between the two.
    async fn subscribe(&mut self) -> io::Result<()> {
        self.subscription = Some(self.session.shared.events.subscribe());
        let latest = *self.session.shared.latest.borrow();
        let mut lines = format!("SUBSCRIBED {}\n", SYMBOLS.len());
        lines.extend((0..SYMBOLS.len()).map(|symbol| price(&latest, symbol)));
        self.say(&lines).await
    }

    async fn stats(&mut self) -> io::Result<()> {
        let (answer, stats) = oneshot::channel();
        let _ = self.session.commands.send_async(Command::Stats(answer)).await;
        match stats.await {
            Ok(stats) => {
                let line = format!("STATS {stats} audited={}\n", *self.session.shared.audited.borrow());
                self.say(&line).await
            }
            Err(_) => self.say("ERROR the market is closed\n").await,
        }
    }

    async fn tell(&mut self, heard: Result<usize, RecvError>, events: &mut Vec<Event>) -> io::Result<()> {
        let mut lines = String::new();
        match heard {
            Ok(_) => events.drain(..).for_each(|event| writeln!(lines, "{event}").expect("a String takes it")),
            Err(RecvError::Lagged(count)) => {
                self.visit.lost += count;
                lines = format!("LOST {count}\n");
            }
            Err(RecvError::Disconnected) => self.subscription = None,
        }
        self.say(&lines).await
    }

    /// Fails with `TimedOut` where the client does not read.
    async fn say(&mut self, lines: &str) -> io::Result<()> {
        match timeout(self.session.shared.patience, self.session.wire.write(lines)).await {
            Ok(written) => written,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// Takes the events that are there, waiting for the first. Where there is no subscription it waits for ever.
async fn hear(
    subscription: &mut Option<broadcast::Receiver<Event>>,
    events: &mut Vec<Event>,
) -> Result<usize, RecvError> {
    match subscription {
        Some(subscription) => subscription.recv_batch_async(events, BURST).await,
        None => future::pending().await,
    }
}

fn price(latest: &Latest, symbol: usize) -> String {
    let quote = latest[symbol];
    format!("PRICE {} {} {} {}\n", SYMBOLS[symbol], quote.bid, quote.ask, quote.last)
}
