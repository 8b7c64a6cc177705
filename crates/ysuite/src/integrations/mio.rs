//! A set of signals in mio's poll. Register it for reading.
//!
//! mio is edge-triggered: after an event call [`check`](crate::signal::Wait::check), serve the signals that it returns,
//! reading attached receivers until they are empty, and repeat until it returns none. Then the next signal is an event.

use std::io;
use std::os::fd::AsRawFd;

use mio::event::Source;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

use crate::signal::YSocketpair;

impl Source for YSocketpair {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).deregister(registry)
    }
}
