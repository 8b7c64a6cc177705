//! The load: visitors that come, do what their kind does, and go. Each checks what it is told: the answer is to its order, a
//! line of nonsense has an error, and no event is missing that was not said to be lost.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::time::{sleep, timeout};
use ysuite::mpsc;

use crate::protocol::{SYMBOLS, Wire};

/// References of one visitor: those of visitor `i` begin at `i` times this.
pub const REFERENCES: u64 = 8;
const LONGEST_ANSWER: usize = 1024;
/// A visitor that takes longer hangs.
const HANGING: Duration = Duration::from_secs(60);
/// How long a visitor listens, where too little happens.
const SILENCE: Duration = Duration::from_millis(20);
/// Longer than the server's patience.
const NAP: Duration = Duration::from_secs(3);

#[derive(Clone, Copy)]
pub struct Options {
    pub server: SocketAddr,
    /// Visitors in total.
    pub connections: u64,
    pub at_once: usize,
    /// No visitor begins later than this.
    pub time: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Places orders, and leaves.
    Trader,
    /// Listens for a while, and reads at once.
    Listener,
    /// Listens, and reads late.
    Slow,
    /// Listens, and does not read until it should be dropped.
    Asleep,
    /// Says what nobody understands, then places an order.
    Babbler,
    /// Breaks the connection in the middle of an order.
    Killed,
}

impl Kind {
    fn of(dice: &mut Dice) -> Self {
        match dice.below(1000) {
            0..700 => Self::Trader,
            700..800 => Self::Listener,
            800..860 => Self::Slow,
            860..862 => Self::Asleep,
            862..930 => Self::Babbler,
            _ => Self::Killed,
        }
    }
}

/// An order that was accepted.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    pub reference: u64,
    pub id: u64,
    /// From the order to its answer.
    pub took: Duration,
}

/// What went wrong.
pub enum Complaint {
    /// The server closed or refused the connection.
    Gone(String),
    Wrong(String),
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(what) => write!(f, "the server has gone: {what}"),
            Self::Wrong(what) => f.write_str(what),
        }
    }
}

impl From<io::Error> for Complaint {
    fn from(error: io::Error) -> Self {
        Self::Gone(error.to_string())
    }
}

/// How a visit was.
pub struct Outcome {
    pub kind: Kind,
    pub answered: Vec<Answered>,
    /// Events that it was told, and that it was told it had lost.
    pub heard: u64,
    pub lost: u64,
    pub complaint: Option<Complaint>,
}

/// A load that runs.
pub struct Load {
    /// Ends after the last visitor.
    pub outcomes: mpsc::Receiver<Outcome>,
    /// Dropping it breaks the visits off.
    _runtime: Runtime,
}

pub fn start(options: Options) -> io::Result<Load> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (sender, outcomes) = mpsc::unbounded();
    let (next, begun) = (Arc::new(AtomicU64::new(0)), Instant::now());
    for _ in 0..options.at_once {
        let (next, mut sender) = (next.clone(), sender.clone());
        runtime.spawn(async move {
            while options.time.is_none_or(|time| begun.elapsed() < time) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= options.connections || sender.send(visit(options.server, index).await).is_err() {
                    break;
                }
            }
        });
    }
    Ok(Load { outcomes, _runtime: runtime })
}

async fn visit(server: SocketAddr, index: u64) -> Outcome {
    let mut dice = Dice(index);
    let kind = Kind::of(&mut dice);
    let mut outcome = Outcome { kind, answered: Vec::new(), heard: 0, lost: 0, complaint: None };
    let visiting = async {
        let stream = connect(server, matches!(kind, Kind::Slow | Kind::Asleep)).await?;
        let (wire, outcome) = (Wire::new(stream, LONGEST_ANSWER), &mut outcome);
        Visitor { index, dice, wire, sent: 0, last: None, missing: 0, outcome }.visit(kind).await
    };
    outcome.complaint = match timeout(HANGING, visiting).await {
        Ok(done) => done.err(),
        Err(_) => Some(Complaint::Wrong("no answer for a minute".into())),
    };
    outcome
}

type Done<T = ()> = Result<T, Complaint>;

struct Visitor<'a> {
    index: u64,
    dice: Dice,
    wire: Wire,
    /// Orders.
    sent: u64,
    /// The sequence number of the last event, and how many were lost since.
    last: Option<u64>,
    missing: u64,
    outcome: &'a mut Outcome,
}

impl Visitor<'_> {
    async fn visit(mut self, kind: Kind) -> Done {
        self.ask(&format!("LOGIN v{}\n", self.index), "WELCOME").await?;
        match kind {
            Kind::Trader => {
                for _ in 0..=self.dice.below(3) {
                    self.order().await?;
                }
                let line = format!("LAST {}\n", self.symbol());
                self.ask(&line, "PRICE").await?;
            }
            Kind::Listener => {
                self.subscribe().await?;
                self.order().await?;
                self.listen(40).await?;
            }
            Kind::Slow => {
                self.subscribe().await?;
                self.order().await?;
                sleep(Duration::from_millis(50)).await;
                self.listen(400).await?;
            }
            Kind::Asleep => {
                self.subscribe().await?;
                sleep(NAP).await;
                return self.wake().await;
            }
            Kind::Babbler => {
                self.babble().await?;
                self.order().await?;
            }
            Kind::Killed => return self.die().await,
        }
        self.ask("QUIT\n", "BYE").await.map(drop)
    }

    fn symbol(&mut self) -> &'static str {
        SYMBOLS[self.dice.below(SYMBOLS.len() as u64) as usize]
    }

    /// Says something, and waits for the answer that begins with `word`. Returns the rest of it.
    async fn ask(&mut self, line: &str, word: &str) -> Done<String> {
        self.wire.write(line).await?;
        self.expect(word).await
    }

    async fn expect(&mut self, word: &str) -> Done<String> {
        loop {
            let line = self.line().await?;
            match line.split_once(' ').unwrap_or((line.as_str(), "")) {
                (first, rest) if first == word => return Ok(rest.to_owned()),
                ("QUOTE" | "TRADE" | "LOST", _) => {}
                ("BYE", _) => return Err(Complaint::Gone("good-bye".into())),
                _ => return Err(Complaint::Wrong(format!("{line:?}, not {word}"))),
            }
        }
    }

    /// The next line. If it is an event, it is counted, and checked with the one before.
    async fn line(&mut self) -> Done<String> {
        let line = self.wire.line().await?.ok_or_else(|| Complaint::Gone("the end".into()))?;
        let mut words = line.split(' ');
        let (first, number) = (words.next(), words.next().and_then(|word| word.parse::<u64>().ok()));
        match (first, number) {
            (Some("QUOTE" | "TRADE"), Some(sequence)) => {
                let missing = std::mem::take(&mut self.missing);
                self.outcome.heard += 1;
                if let Some(last) = self.last.replace(sequence)
                    && sequence != last + 1 + missing
                {
                    return Err(Complaint::Wrong(format!("event {sequence} after {last}, and {missing} lost")));
                }
            }
            (Some("LOST"), Some(count)) => {
                self.missing += count;
                self.outcome.lost += count;
            }
            _ => {}
        }
        Ok(line)
    }

    fn next_order(&mut self) -> (u64, String) {
        let reference = self.index * REFERENCES + self.sent;
        self.sent += 1;
        let side = ["BUY", "SELL"][self.dice.below(2) as usize];
        let (symbol, quantity, price) = (self.symbol(), 1 + self.dice.below(100), 990 + self.dice.below(21));
        (reference, format!("{side} {reference} {symbol} {quantity} {price}\n"))
    }

    async fn order(&mut self) -> Done {
        let (reference, line) = self.next_order();
        let begun = Instant::now();
        let answer = self.ask(&line, "ACCEPTED").await?;
        let took = begun.elapsed();
        let mut numbers = answer.split(' ').map_while(|word| word.parse::<u64>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(to), Some(id)) if to == reference => self.outcome.answered.push(Answered { reference, id, took }),
            _ => return Err(Complaint::Wrong(format!("{answer:?} as the answer to order {reference}"))),
        }
        Ok(())
    }

    async fn subscribe(&mut self) -> Done {
        self.ask("QUOTES\n", "SUBSCRIBED").await?;
        for _ in SYMBOLS {
            self.expect("PRICE").await?;
        }
        Ok(())
    }

    /// Reads `count` lines, or fewer where none comes for a moment.
    async fn listen(&mut self, count: usize) -> Done {
        for _ in 0..count {
            let Ok(line) = timeout(SILENCE, self.line()).await else { break };
            line?;
        }
        Ok(())
    }

    /// Reads what there is, to the end of the connection if the server has dropped it. Where little happens it has not.
    async fn wake(&mut self) -> Done {
        loop {
            match timeout(SILENCE, self.line()).await {
                Ok(Ok(_)) => {}
                Ok(Err(Complaint::Wrong(wrong))) => return Err(Complaint::Wrong(wrong)),
                Ok(Err(Complaint::Gone(_))) | Err(_) => return Ok(()),
            }
        }
    }

    async fn babble(&mut self) -> Done {
        const NONSENSE: [&str; 5] = ["\n", "GET / HTTP/1.1\n", "BUY one ALFA 1 1\n", "SELL 1 BETA 0 1\n", "STOP\n"];
        for _ in 0..=self.dice.below(3) {
            let line = NONSENSE[self.dice.below(NONSENSE.len() as u64) as usize];
            self.ask(line, "ERROR").await?;
        }
        Ok(())
    }

    /// In the middle of an order, or before its answer.
    async fn die(mut self) -> Done {
        let (_, line) = self.next_order();
        let end = if self.dice.below(2) == 0 { line.len() / 2 } else { line.len() };
        self.wire.write(&line[..end]).await?;
        if self.dice.below(2) == 0 {
            // The server finds a reset, not an end.
            self.wire.stream().set_zero_linger()?;
        }
        Ok(())
    }
}

/// With a small buffer, one that reads late holds the server up soon.
async fn connect(server: SocketAddr, small: bool) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    if small {
        // Much less, and the kernel itself drops what was sent and stalls for a second.
        socket.set_recv_buffer_size(16 * 1024)?;
    }
    let stream = socket.connect(server).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Numbers without a pattern, the same in each run: SplitMix64, from the visitor's index.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}
