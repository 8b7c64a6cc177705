//! The number of threads on each side of a transport.

use std::fmt;

/// The number of threads that a side can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    One,
    Many,
}

impl Ends {
    fn hold(self, threads: usize) -> bool {
        self == Self::Many || threads == 1
    }
}

/// Numbers of sending and of receiving threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub senders: usize,
    pub receivers: usize,
}

impl Shape {
    pub const ONE_TO_ONE: Self = Self::square(1);

    pub const fn new(senders: usize, receivers: usize) -> Self {
        Self { senders, receivers }
    }

    /// The same number on each side.
    pub const fn square(threads: usize) -> Self {
        Self::new(threads, threads)
    }

    pub fn threads(self) -> usize {
        self.senders + self.receivers
    }

    /// Whether a transport can have these numbers.
    pub fn fits(self, senders: Ends, receivers: Ends) -> bool {
        senders.hold(self.senders) && receivers.hold(self.receivers)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}x{}", self.senders, self.receivers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_with_one_handle_takes_one_thread() {
        assert!(Shape::ONE_TO_ONE.fits(Ends::One, Ends::One));
        assert!(Shape::new(3, 1).fits(Ends::Many, Ends::One));
        assert!(!Shape::new(3, 2).fits(Ends::Many, Ends::One));
        assert!(!Shape::new(2, 1).fits(Ends::One, Ends::Many));
        assert_eq!((Shape::new(3, 2).to_string(), Shape::new(3, 2).threads()), ("3x2".to_owned(), 5));
    }
}
