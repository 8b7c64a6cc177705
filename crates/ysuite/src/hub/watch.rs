//! [`Watch`]: the objects on which the hub sleeps, a set of signals and descriptors in a poller. The hub's thread.
//!
//! The poller is mio's: `epoll` or `kqueue`, one system call for each sleep. It is edge-triggered; `descriptors` makes
//! the descriptors level-triggered. Under the model checker the hub sleeps on a set without a descriptor.

use core::time::Duration;
use std::io;

use super::descriptors::{Interest, Ready};
use crate::signal::{Signals, Wait};

#[cfg(not(ysuite_loom))]
mod real {
    use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

    use mio::unix::SourceFd;
    use mio::{Events, Poll, Token};

    use super::*;
    use crate::os::count_call;
    use crate::signal::YSocketpair;

    /// The token of the set of signals; no key has this token.
    const SET: Token = Token(usize::MAX);
    /// The largest number of descriptors that one poll reports; the others come with the next.
    const EVENTS: usize = 256;

    /// On drop nothing is taken out of the poller: it goes with its descriptor. A forked child that drops its copy
    /// would take the set out of the parent's poller, which is the same one.
    pub(in super::super) struct Watch {
        pub(in super::super) set: YSocketpair,
        poll: Poll,
        events: Events,
    }

    impl Watch {
        pub(in super::super) fn new(signals: usize) -> io::Result<Self> {
            let set = YSocketpair::with_capacity(signals)?;
            let poll = Poll::new()?;
            poll.registry().register(&mut SourceFd(&set.as_raw_fd()), SET, mio::Interest::READABLE)?;
            Ok(Self { set, poll, events: Events::with_capacity(EVENTS) })
        }

        pub(in super::super) fn check(&mut self) -> Signals {
            self.set.check()
        }

        /// Waits for signals and descriptors (`None`: without a time limit); reports descriptors by token.
        pub(in super::super) fn poll(
            &mut self,
            timeout: Option<Duration>,
            mut report: impl FnMut(usize, Ready),
        ) -> io::Result<()> {
            count_call();
            match self.poll.poll(&mut self.events, timeout) {
                // MUTANT: An open poller has no other error than an interruption.
                // A signal handler has run: the caller checks again, and waits again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
                result => result?,
            }
            // The token of the set belongs to no item.
            self.events.iter().for_each(|event| report(event.token().0, Ready::of(event)));
            Ok(())
        }

        pub(in super::super) fn add(&mut self, fd: RawFd, token: usize, interest: Interest) -> io::Result<()> {
            count_call();
            self.poll.registry().register(&mut SourceFd(&fd), Token(token), interest.into())
        }

        pub(in super::super) fn rearm(&mut self, fd: RawFd, token: usize, interest: Interest) -> io::Result<()> {
            count_call();
            self.poll.registry().reregister(&mut SourceFd(&fd), Token(token), interest.into())
        }

        /// Fails silently for a closed descriptor, which is out already.
        pub(in super::super) fn remove(&mut self, fd: RawFd) {
            count_call();
            let _ = self.poll.registry().deregister(&mut SourceFd(&fd));
        }

        /// Makes the poller readable if the set is: an earlier poll may have consumed its edge.
        pub(in super::super) fn show(&mut self) -> io::Result<()> {
            count_call();
            self.poll.registry().reregister(&mut SourceFd(&self.set.as_raw_fd()), SET, mio::Interest::READABLE)
        }

        pub(in super::super) fn as_fd(&self) -> BorrowedFd<'_> {
            // SAFETY: the poller keeps its descriptor open, and is borrowed as long as the result.
            unsafe { BorrowedFd::borrow_raw(self.poll.as_raw_fd()) }
        }
    }
}

#[cfg(ysuite_loom)]
mod model {
    use std::os::fd::RawFd;

    use super::*;
    use crate::signal::YPollset;

    /// Without descriptors.
    pub(in super::super) struct Watch {
        pub(in super::super) set: YPollset,
        found: Signals,
    }

    impl Watch {
        pub(in super::super) fn new(signals: usize) -> io::Result<Self> {
            Ok(Self { set: YPollset::with_capacity(signals), found: Signals::default() })
        }

        // MUTANT: Models only. Killed only by the model `a_receivers_messages_and_end_against_a_hub_going_to_sleep`.
        pub(in super::super) fn check(&mut self) -> Signals {
            if self.found.is_empty() { self.set.check() } else { core::mem::take(&mut self.found) }
        }

        pub(in super::super) fn poll(
            &mut self,
            timeout: Option<Duration>,
            _report: impl FnMut(usize, Ready),
        ) -> io::Result<()> {
            // MUTANT: Models only: a hub that polls instead of sleeping finds the same.
            self.found = match timeout {
                Some(timeout) => self.set.wait_timeout(timeout),
                None => self.set.wait(),
            };
            Ok(())
        }

        pub(in super::super) fn add(&mut self, _: RawFd, _: usize, _: Interest) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in super::super) fn rearm(&mut self, _: RawFd, _: usize, _: Interest) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in super::super) fn remove(&mut self, _: RawFd) {}

        pub(in super::super) fn show(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(ysuite_loom)]
pub(super) use model::Watch;
#[cfg(not(ysuite_loom))]
pub(super) use real::Watch;
