//! The article's mechanisms and today's competitors, the transport for each, and how each is drawn.
//!
//! The article's tables and its diagram are images and are lost. Only the figures in its text can be compared with the
//! figures measured here. It does not name its processor and kernel.

use crate::plot::{Colour, Look, Shape};

/// The role of a mechanism in the article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The article's own queue of pointers.
    Own,
    Socket,
    PosixQueue,
    SystemVQueue,
    /// Not in the article.
    Beside,
}

impl Kind {
    /// One of the Linux interfaces that the article tests.
    pub(super) fn standard(self) -> bool {
        matches!(self, Self::Socket | Self::PosixQueue | Self::SystemVQueue)
    }
}

pub(super) struct Design {
    pub(super) label: &'static str,
    pub(super) transport: &'static str,
    pub(super) kind: Kind,
    pub(super) look: Look,
}

const fn design(label: &'static str, transport: &'static str, kind: Kind, colour: Colour, shape: Shape) -> Design {
    Design { label, transport, kind, look: Look { colour, shape } }
}

pub(super) const SPIN: &str = "mpmc-spin";
pub(super) const FUTEX: &str = "mpmc-futex";
pub(super) const EVENTFD: &str = "mpmc-eventfd";
/// Spins a little, then sleeps: the default of a program.
pub(super) const USUAL: &str = "mpmc";

pub(super) static DESIGNS: [Design; 12] = [
    design("own queue, spin", SPIN, Kind::Own, Colour::Sky, Shape::Circle),
    design("own queue, futex", FUTEX, Kind::Own, Colour::Blue, Shape::Square),
    design("own queue, eventfd", EVENTFD, Kind::Own, Colour::Blue, Shape::Triangle),
    design("own queue, usual", USUAL, Kind::Own, Colour::Blue, Shape::Circle),
    design("unix stream", "unix-stream", Kind::Socket, Colour::Vermilion, Shape::Circle),
    design("unix datagram", "unix-dgram", Kind::Socket, Colour::Vermilion, Shape::Square),
    design("unix seqpacket", "unix-seqpacket", Kind::Socket, Colour::Vermilion, Shape::Triangle),
    design("POSIX queue", "posix-mq", Kind::PosixQueue, Colour::Purple, Shape::Circle),
    design("System V queue", "sysv-mq", Kind::SystemVQueue, Colour::Wine, Shape::Square),
    design("pipe", "pipe", Kind::Beside, Colour::Olive, Shape::Circle),
    design("crossbeam", "crossbeam-bounded", Kind::Beside, Colour::Green, Shape::Circle),
    design("mutex + condvar", "mutex-condvar", Kind::Beside, Colour::Amber, Shape::Circle),
];

/// The mechanisms of one kind, or of several.
pub(super) fn of(kind: impl Fn(Kind) -> bool) -> impl Iterator<Item = &'static Design> {
    DESIGNS.iter().filter(move |design| kind(design.kind))
}

/// "The speed of clearing memory is about 15 to 16 GB/s."
pub(super) const CLEARED: (f64, f64) = (15.0, 16.0);

/// "Minimum and maximum may differ by 2 times."
pub(super) const UNSTABLE: f64 = 2.0;

/// "At least a twofold gain in speed."
pub(super) const GAIN: f64 = 2.0;

/// "No great difference", for which the article gives no number: neither takes this many times as long as the other.
pub(super) const GREAT: f64 = 1.5;

/// "A very high price", for which the article gives no number.
pub(super) const HIGH: f64 = 2.0;

/// "Only from messages of 1 to 2 KB on."
pub(super) const POINTERS_PAY: (f64, f64) = (1_024.0, 2_048.0);
