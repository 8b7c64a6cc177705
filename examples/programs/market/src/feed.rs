//! The market: one thread that takes commands, matches orders, answers, and publishes. It waits for commands only: answers and
//! events go to those that are there, and records go to a channel without a bound.
//!
//! It ends when there is no sender of commands any more, after the last command. So an order that is on its way when the
//! server stops is accepted, audited and answered.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use ysuite::{broadcast, mpsc, oneshot, watch};

use crate::audit::Record;
use crate::book::{Book, Quote, Trade};
use crate::protocol::{Order, SYMBOLS, Side};
use crate::session::{Ending, Visit};

/// Commands that are taken at once.
const BATCH: usize = 64;
/// A session may have this many orders that rest.
const MOST_RESTING: usize = 64;

pub enum Command {
    Order {
        session: u64,
        name: Arc<str>,
        order: Order,
        answer: oneshot::Sender<Answer>,
    },
    Stats(oneshot::Sender<Stats>),
    /// The last command of a session: its orders rest no longer.
    Left {
        session: u64,
        visit: Visit,
    },
}

/// An order is accepted, or refused for a reason.
pub type Answer = Result<Ticket, &'static str>;

#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    pub id: u64,
    pub filled: u32,
    pub resting: u32,
}

/// What subscribers get.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub sequence: u64,
    pub symbol: usize,
    pub news: News,
}

#[derive(Clone, Copy, Debug)]
pub enum News {
    Quote(Quote),
    Trade(Trade),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sequence, symbol) = (self.sequence, SYMBOLS[self.symbol]);
        match self.news {
            News::Quote(Quote { bid, ask, last }) => write!(f, "QUOTE {sequence} {symbol} {bid} {ask} {last}"),
            News::Trade(Trade { quantity, price, maker, taker }) => {
                write!(f, "TRADE {sequence} {symbol} {quantity} {price} {maker} {taker}")
            }
        }
    }
}

/// The newest prices of all symbols.
pub type Latest = [Quote; SYMBOLS.len()];

/// What the operator sees.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub open: usize,
    pub closed: u64,
    pub accepted: u64,
    /// The others of the accepted have lost their client.
    pub answered: u64,
    pub rejected: u64,
    pub trades: u64,
    pub events: u64,
    /// Events that slow clients were told they have lost.
    pub lost: u64,
    pub errors: u64,
    /// Clients that were dropped because they did not read.
    pub too_slow: u64,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { open, closed, accepted, answered, rejected, trades, events, lost, errors, too_slow } = self;
        write!(f, "open={open} closed={closed} accepted={accepted} answered={answered} rejected={rejected} ")?;
        write!(f, "trades={trades} events={events} lost={lost} errors={errors} too_slow={too_slow}")
    }
}

/// An order that rested when it was placed.
struct Resting {
    id: u64,
    symbol: usize,
    side: Side,
    price: u32,
}

pub struct Feed {
    commands: mpsc::Receiver<Command>,
    records: mpsc::Sender<Record>,
    events: broadcast::Sender<Event>,
    latest: watch::Sender<Latest>,
    books: [Book; SYMBOLS.len()],
    resting: HashMap<u64, Vec<Resting>>,
    /// Empty between orders.
    trades: Vec<Trade>,
    stats: Stats,
}

impl Feed {
    pub fn new(
        commands: mpsc::Receiver<Command>,
        records: mpsc::Sender<Record>,
        events: broadcast::Sender<Event>,
        latest: watch::Sender<Latest>,
    ) -> Self {
        let (books, resting, trades, stats) = Default::default();
        Self { commands, records, events, latest, books, resting, trades, stats }
    }

    pub fn run(mut self) -> Stats {
        let mut batch = Vec::with_capacity(BATCH);
        while self.commands.recv_batch(&mut batch, BATCH).is_ok() {
            batch.drain(..).for_each(|command| self.execute(command));
        }
        self.stats.open = 0;
        self.stats
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Order { session, name, order, answer } => {
                let before = self.books[order.symbol].quote();
                let ticket = self.place(session, name, order);
                self.stats.rejected += u64::from(ticket.is_err());
                // An error says that the client has gone.
                let heard = answer.send(ticket).is_ok();
                self.stats.answered += u64::from(heard && ticket.is_ok());
                self.publish(order.symbol, before);
            }
            Command::Stats(answer) => {
                // One sender is that of the loop that accepts connections.
                self.stats.open = self.commands.sender_count().saturating_sub(1);
                let _ = answer.send(self.stats);
            }
            Command::Left { session, visit } => self.leave(session, &visit),
        }
    }

    fn place(&mut self, session: u64, name: Arc<str>, order: Order) -> Answer {
        let Order { side, symbol, quantity, price, .. } = order;
        let resting = self.resting.entry(session).or_default();
        if resting.len() == MOST_RESTING {
            let books = &self.books;
            resting.retain(|order| books[order.symbol].rests(order.id, order.side, order.price));
            if resting.len() == MOST_RESTING {
                return Err("too many orders rest");
            }
        }
        let id = self.stats.accepted + 1;
        // Audited before it is accepted.
        self.records.send(Record::Order { id, session, name, order }).map_err(|_| "there is no audit log")?;
        self.stats.accepted = id;
        let left = self.books[symbol].place(id, side, quantity, price, &mut self.trades);
        if left > 0 {
            resting.push(Resting { id, symbol, side, price });
        }
        Ok(Ticket { id, filled: quantity - left, resting: left })
    }

    /// What one command has changed.
    fn publish(&mut self, symbol: usize, before: Quote) {
        let trades = std::mem::take(&mut self.trades);
        for trade in &trades {
            self.stats.trades += 1;
            let _ = self.records.send(Record::Trade { symbol, trade: *trade });
            self.tell(symbol, News::Trade(*trade));
        }
        self.trades = trades;
        self.trades.clear();
        let quote = self.books[symbol].quote();
        if quote != before {
            self.latest.send_modify(|latest| latest[symbol] = quote);
            self.tell(symbol, News::Quote(quote));
        }
    }

    fn tell(&mut self, symbol: usize, news: News) {
        self.stats.events += 1;
        // An error says that nobody has subscribed.
        let _ = self.events.send(Event { sequence: self.stats.events, symbol, news });
    }

    fn leave(&mut self, session: u64, visit: &Visit) {
        self.stats.closed += 1;
        self.stats.lost += visit.lost;
        self.stats.errors += u64::from(visit.errors);
        self.stats.too_slow += u64::from(visit.ending == Ending::TooSlow);
        for Resting { id, symbol, side, price } in self.resting.remove(&session).unwrap_or_default() {
            let before = self.books[symbol].quote();
            if self.books[symbol].cancel(id, side, price) {
                self.publish(symbol, before);
            }
        }
    }
}
