//! What client and server say: lines of text, ended by a line feed.
//!
//! | client | server |
//! |---|---|
//! | `LOGIN name` | `WELCOME name` |
//! | `BUY reference symbol quantity price`, `SELL ..` | `ACCEPTED reference id filled resting`, or `REJECTED reference reason` |
//! | `LAST symbol` | `PRICE symbol bid ask last`; 0 where there is none |
//! | `QUOTES` | `SUBSCRIBED count`, a `PRICE` of each symbol, and from then on events |
//! | `STATS`, `STOP`: the operator only | `STATS key=value ..`; `BYE` |
//! | `QUIT` | `BYE` |
//! | anything else | `ERROR what was wrong` |
//!
//! Events are `QUOTE sequence symbol bid ask last` and `TRADE sequence symbol quantity price maker taker`. Sequence numbers
//! have no gap, except where the client was too slow: then `LOST count` stands between.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A longer line ends the connection.
pub const LONGEST_REQUEST: usize = 120;

pub const SYMBOLS: [&str; 4] = ["ALFA", "BETA", "GAMA", "DELT"];

/// The name that may ask for `STATS` and `STOP`. The server listens on this machine only, and asks for no password.
pub const OPERATOR: &str = "operator";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Chosen by the client.
    pub reference: u64,
    pub side: Side,
    /// An index into [`SYMBOLS`].
    pub symbol: usize,
    pub quantity: u32,
    /// The worst that the client accepts, in ticks.
    pub price: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    Login(String),
    Order(Order),
    Last(usize),
    Quotes,
    Stats,
    Stop,
    Quit,
}

impl Request {
    /// The error is for the client to read.
    pub fn parse(line: &str) -> Result<Self, String> {
        let mut words = line.split_ascii_whitespace();
        let request = match words.next().ok_or("an empty line")? {
            "LOGIN" => Self::Login(word(&mut words, "a name")?.to_owned()),
            "BUY" => Self::Order(order(Side::Buy, &mut words)?),
            "SELL" => Self::Order(order(Side::Sell, &mut words)?),
            "LAST" => Self::Last(symbol(&mut words)?),
            "QUOTES" => Self::Quotes,
            "STATS" => Self::Stats,
            "STOP" => Self::Stop,
            "QUIT" => Self::Quit,
            other => return Err(format!("unknown request {other:?}")),
        };
        match words.next() {
            None => Ok(request),
            Some(more) => Err(format!("{more:?} is one word too many")),
        }
    }
}

fn word<'a>(words: &mut impl Iterator<Item = &'a str>, what: &str) -> Result<&'a str, String> {
    words.next().ok_or_else(|| format!("{what} is missing"))
}

fn symbol<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<usize, String> {
    let name = word(words, "a symbol")?;
    SYMBOLS.iter().position(|symbol| *symbol == name).ok_or_else(|| format!("unknown symbol {name:?}"))
}

fn order<'a>(side: Side, words: &mut impl Iterator<Item = &'a str>) -> Result<Order, String> {
    let reference = word(words, "a reference")?.parse().map_err(|_| "the reference is no number")?;
    let symbol = symbol(words)?;
    let mut positive = |what| -> Result<u32, String> {
        let number: u32 = word(words, what)?.parse().map_err(|_| format!("{what} is no number"))?;
        if number > 0 { Ok(number) } else { Err(format!("{what} is 0")) }
    };
    Ok(Order { reference, side, symbol, quantity: positive("a quantity")?, price: positive("a price")? })
}

/// A connection, as lines.
pub struct Wire {
    stream: TcpStream,
    /// What has arrived and was not read as a line.
    input: Vec<u8>,
    longest: usize,
}

impl Wire {
    pub fn new(stream: TcpStream, longest: usize) -> Self {
        Self { stream, input: Vec::with_capacity(1024), longest }
    }

    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// The next line, or `None` at the end. A future that is dropped has lost nothing.
    ///
    /// # Errors
    /// Those of the socket, and `InvalidData` for a line that is too long.
    pub async fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            let end = self.input.iter().position(|byte| *byte == b'\n');
            if end.unwrap_or(self.input.len()) > self.longest {
                let error = format!("a line has at most {} bytes", self.longest);
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
            if let Some(end) = end {
                let line = String::from_utf8_lossy(&self.input[..end]).trim_end().to_owned();
                self.input.drain(..=end);
                return Ok(Some(line));
            }
            if self.stream.read_buf(&mut self.input).await? == 0 {
                return Ok(None);
            }
        }
    }

    pub async fn write(&mut self, lines: &str) -> io::Result<()> {
        self.stream.write_all(lines.as_bytes()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_nonsense_is_named() {
        let order = Order { reference: 7, side: Side::Sell, symbol: 1, quantity: 3, price: 99 };
        assert_eq!(Request::parse("SELL 7 BETA 3 99"), Ok(Request::Order(order)));
        assert_eq!(Request::parse("LAST DELT"), Ok(Request::Last(3)));
        for (line, error) in [
            ("", "an empty line"),
            ("FOO", "unknown request \"FOO\""),
            ("LOGIN", "a name is missing"),
            ("QUIT now", "\"now\" is one word too many"),
            ("BUY x BETA 3 99", "the reference is no number"),
            ("BUY 7 NONE 3 99", "unknown symbol \"NONE\""),
            ("BUY 7 BETA -3 99", "a quantity is no number"),
            ("BUY 7 BETA 3 0", "a price is 0"),
        ] {
            assert_eq!(Request::parse(line), Err(error.to_owned()));
        }
    }
}
