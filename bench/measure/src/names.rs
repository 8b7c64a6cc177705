//! Names in tables and pictures: parameters, series, sessions.

use crate::figures::{count, grouped, several, time};
use crate::outcome::Series;
use crate::record::{Parameter, Quantity, Session};

impl Quantity {
    /// For the axis of a picture and the head of a table.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Rate => "messages per second",
            Self::Load => "share of the receiver's rate",
            Self::BytesByValue => "bytes in a message, by value",
            Self::BytesByPointer => "bytes in a message, by pointer",
            Self::BytesByPool => "bytes in a message, from a pool",
            Self::Backlog => "messages in the queue",
            Self::Silence => "silence before the message",
            Self::ThreadsPerCpu => "threads for each CPU",
            Self::KeptThreadsPerCpu => "threads kept on each CPU",
            Self::Neighbours => "greedy neighbours on each CPU",
            Self::Senders => "threads that send",
            Self::IdleSenders => "senders, all of them silent but one",
            Self::Receivers => "threads that receive",
            Self::Sources => "channels that one thread serves",
            Self::Channels => "channels at the same time",
        }
    }

    /// The position of a value on an axis, which is logarithmic. Silent senders are counted together with the active
    /// one.
    pub fn on_axis(self, value: f64) -> f64 {
        if self == Self::IdleSenders { value + 1.0 } else { value }
    }

    /// A value of it, short enough for an axis.
    pub fn short(self, value: f64) -> String {
        match self {
            Self::Rate => format!("{}/s", count(value)),
            Self::Silence => time(value * 1e9),
            Self::Load => format!("{:.0} %", value * 100.0),
            Self::BytesByValue | Self::BytesByPointer | Self::BytesByPool if value >= 1024.0 => {
                format!("{} KiB", grouped(value / 1024.0))
            }
            Self::BytesByValue | Self::BytesByPointer | Self::BytesByPool => format!("{value} B"),
            Self::Backlog => count(value),
            Self::Senders | Self::IdleSenders | Self::Receivers | Self::Sources | Self::Channels => grouped(value),
            Self::ThreadsPerCpu | Self::KeptThreadsPerCpu | Self::Neighbours => format!("{value}x"),
        }
    }
}

impl Parameter {
    /// For the head of a column that does not name the quantity otherwise.
    pub fn short(self) -> String {
        let value = self.quantity.short(self.value);
        match self.quantity {
            Quantity::Rate | Quantity::Load | Quantity::Backlog | Quantity::Silence => value,
            Quantity::BytesByValue => format!("{value} value"),
            Quantity::BytesByPointer => format!("{value} pointer"),
            Quantity::BytesByPool => format!("{value} pool"),
            Quantity::ThreadsPerCpu => format!("{value} threads"),
            Quantity::KeptThreadsPerCpu => format!("{value} kept"),
            Quantity::Neighbours => format!("{value} greedy"),
            Quantity::Senders => format!("{value} senders"),
            Quantity::IdleSenders => format!("{value} silent"),
            Quantity::Receivers => format!("{value} receivers"),
            Quantity::Sources => format!("{value} sources"),
            Quantity::Channels => format!("{value} channels"),
        }
    }

    pub fn in_words(self) -> String {
        let value = self.quantity.short(self.value);
        let so_many = |one: &str| several(self.value as usize, one);
        match self.quantity {
            Quantity::Rate => format!("{} messages per second", count(self.value)),
            Quantity::Load => format!("at {value} of the receiver's rate"),
            Quantity::BytesByValue => format!("{value} by value"),
            Quantity::BytesByPointer => format!("{value} by pointer"),
            Quantity::BytesByPool => format!("{value} from a pool"),
            Quantity::Backlog => format!("{} in the queue", so_many("message")),
            Quantity::Silence => format!("after {value} of silence"),
            Quantity::ThreadsPerCpu => format!("{} for each CPU", so_many("thread")),
            Quantity::KeptThreadsPerCpu => format!("{} kept on each CPU", so_many("thread")),
            Quantity::Neighbours => format!("{} on each CPU", so_many("greedy neighbour")),
            Quantity::Senders => format!("from {}", so_many("thread")),
            Quantity::IdleSenders => format!("with {}", so_many("silent sender")),
            Quantity::Receivers => format!("to {}", so_many("thread")),
            Quantity::Sources => format!("over {}", so_many("channel")),
            Quantity::Channels => so_many("channel"),
        }
    }
}

impl Series {
    pub const ALL: [Self; 4] = [Self::Latency, Self::RoundTrip, Self::SendDensity, Self::ReceiveDensity];

    pub fn in_words(self) -> &'static str {
        match self {
            Self::Latency => "latency, one way",
            Self::RoundTrip => "round trip",
            Self::SendDensity => "density of sends",
            Self::ReceiveDensity => "density of receipts",
        }
    }
}

impl Session {
    /// "fixed-rate" or "fixed-rate, 10k messages per second".
    pub fn title(&self) -> String {
        match self.parameter {
            Some(parameter) => format!("{}, {}", self.scenario, parameter.in_words()),
            None => self.scenario.clone(),
        }
    }
}
