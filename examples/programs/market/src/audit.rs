//! The audit log: what was accepted, what was traded, and how each connection ended. One thread writes it. Its channel has no
//! bound: trading does not wait for the disk.

use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use ysuite::{mpsc, watch};

use crate::book::Trade;
use crate::protocol::{Order, SYMBOLS};
use crate::session::Visit;

pub enum Record {
    Order { id: u64, session: u64, name: Arc<str>, order: Order },
    Trade { symbol: usize, trade: Trade },
    Closed { session: u64, visit: Visit },
    Refused { session: u64 },
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { id, session, name, order: Order { reference, side, symbol, quantity, price } } => {
                let symbol = SYMBOLS[*symbol];
                write!(f, "order {id} {reference} {session} {name} {side:?} {symbol} {quantity} {price}")
            }
            Self::Trade { symbol, trade: Trade { quantity, price, maker, taker } } => {
                write!(f, "trade {} {quantity} {price} {maker} {taker}", SYMBOLS[*symbol])
            }
            Self::Closed { session, visit: Visit { ending, orders, errors, lost } } => {
                write!(f, "closed {session} {ending:?} {orders} {errors} {lost}")
            }
            Self::Refused { session } => write!(f, "refused {session}"),
        }
    }
}

/// An open log.
pub struct Audit {
    pub records: mpsc::Sender<Record>,
    /// The number of orders in the file.
    pub audited: watch::Receiver<u64>,
    /// Ends when there is no sender of records any more. Returns the number of orders in the file.
    pub writer: JoinHandle<io::Result<u64>>,
}

pub fn open(path: &Path) -> io::Result<Audit> {
    let file = File::create(path)?;
    let (records, incoming) = mpsc::unbounded();
    let (count, audited) = watch::channel(0);
    let writer = thread::Builder::new().name("audit".into()).spawn(move || write(incoming, file, &count))?;
    Ok(Audit { records, audited, writer })
}

/// Where the file cannot be written this returns, so the channel closes: no order is accepted from then on.
fn write(mut records: mpsc::Receiver<Record>, file: File, count: &watch::Sender<u64>) -> io::Result<u64> {
    let mut file = BufWriter::with_capacity(1 << 16, file);
    let (mut batch, mut orders) = (Vec::with_capacity(256), 0);
    while records.recv_batch(&mut batch, 256).is_ok() {
        for record in batch.drain(..) {
            orders += u64::from(matches!(record, Record::Order { .. }));
            writeln!(file, "{record}")?;
        }
        if records.is_empty() {
            file.flush()?;
            // An error says that nobody asks.
            let _ = count.send(orders);
        }
    }
    writeln!(file, "end {orders}")?;
    file.flush()?;
    Ok(orders)
}

/// A log, read back.
#[derive(Debug, Default)]
pub struct Audited {
    /// The clients' references of the orders.
    pub references: Vec<u64>,
    /// What no log may have.
    pub faults: Vec<String>,
}

impl Audited {
    /// That of the order with this number.
    pub fn reference(&self, id: u64) -> Option<u64> {
        self.references.get(usize::try_from(id).ok()?.checked_sub(1)?).copied()
    }
}

/// Reads a log, and checks it: orders are numbered from 1 on and stand in this order, as one thread has sent them; no
/// reference is there twice; and the last line has the number of orders.
pub fn read(path: &Path) -> io::Result<Audited> {
    let (mut audited, mut end, mut known) = (Audited::default(), None, HashSet::new());
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        let words: Vec<_> = line.split(' ').collect();
        let count = audited.references.len();
        let good = match words[..] {
            ["order", id, reference, ..] => {
                let reference = reference.parse().unwrap_or(u64::MAX);
                audited.references.push(reference);
                id.parse() == Ok(count + 1) && known.insert(reference)
            }
            ["end", orders] => {
                end = orders.parse().ok();
                true
            }
            ["trade" | "closed" | "refused", ..] => true,
            _ => false,
        };
        if !good {
            audited.faults.push(format!("after {count} orders: {line}"));
        }
    }
    if end != Some(audited.references.len()) {
        audited.faults.push(format!("it ends with {end:?} orders, and has {}", audited.references.len()));
    }
    Ok(audited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_with_a_fault_is_found_out() {
        let path = std::env::temp_dir().join(format!("market-audit-{}", std::process::id()));
        for (log, faults) in [
            ("closed 1 Quit 0 0 0\norder 1 70 2 ann Buy ALFA 1 1\norder 2 71 2 ann Buy ALFA 1 1\nend 2\n", 0),
            ("order 1 70 1 ann Buy ALFA 1 1\norder 1 71 1 ann Buy ALFA 1 1\nend 2\n", 1),
            ("order 1 70 1 ann Buy ALFA 1 1\norder 2 70 1 ann Buy ALFA 1 1\nend 2\n", 1),
            ("order 2 70 1 ann Buy ALFA 1 1\nend 1\n", 1),
            ("order 1 70 1 ann Buy ALFA 1 1\nend 2\n", 1),
            ("order 1 70 1 ann Buy ALFA 1 1\n", 1),
            ("what\nend 0\n", 1),
        ] {
            std::fs::write(&path, log).unwrap();
            let audited = read(&path).unwrap();
            assert_eq!(audited.faults.len(), faults, "{log}{audited:?}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
