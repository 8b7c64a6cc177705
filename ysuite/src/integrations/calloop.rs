//! A set of signals, or the messages of one receiver, as events of calloop. The event loop's thread.
//!
//! Both are level-triggered: what a callback leaves, or what was too much for one turn, is an event again.

use std::io;

use calloop::channel::Event;
use calloop::generic::Generic;
use calloop::{EventSource, Interest, Mode, Poll, PostAction, Readiness, Token, TokenFactory};

use crate::channel::{Receive, TryRecvError};
use crate::signal::{Attach, AttachError, Signal, Signaler, Signals, Wait, YSocketpair};

/// Messages of one receiver before other sources are looked at.
const BUDGET: usize = 128;

/// A [`YSocketpair`] as a source of events: the ids of its signals.
#[derive(Debug)]
pub struct SetSource(Generic<YSocketpair>);

impl SetSource {
    /// To be inserted into an event loop.
    #[must_use]
    pub fn new(set: YSocketpair) -> Self {
        Self(Generic::new(set, Interest::READ, Mode::Level))
    }

    /// Attaches a receiver to an id of the set: [`YSocketpair::attach`].
    ///
    /// # Errors
    /// As there.
    pub fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> Result<(), AttachError> {
        self.set().attach(receiver, id)
    }

    /// Takes a receiver out of the set: [`YSocketpair::detach`].
    pub fn detach(&mut self, receiver: &mut impl Attach) -> Option<usize> {
        self.set().detach(receiver)
    }

    fn set(&mut self) -> &mut YSocketpair {
        // SAFETY: nobody is given the set, so it is neither dropped nor replaced while it is registered.
        unsafe { self.0.get_mut() }
    }

    /// What is up, if the event is this source's.
    fn check(&mut self, readiness: Readiness, token: Token) -> io::Result<Signals> {
        let mut signals = Signals::none();
        self.0.process_events(readiness, token, |_, set| {
            // SAFETY: the set is neither dropped nor replaced.
            signals = unsafe { set.get_mut() }.check();
            Ok(PostAction::Continue)
        })?;
        Ok(signals)
    }
}

impl EventSource for SetSource {
    type Event = usize;
    type Metadata = ();
    type Ret = ();
    type Error = io::Error;

    fn process_events<F>(&mut self, readiness: Readiness, token: Token, mut callback: F) -> io::Result<PostAction>
    where
        F: FnMut(usize, &mut ()),
    {
        /// Taken, and to be told. If a callback panics, what is left goes up again.
        struct Taken(Signals, Signaler);
        impl Drop for Taken {
            fn drop(&mut self) {
                self.0.by_ref().for_each(|id| self.1.signal(id));
            }
        }
        let signals = self.check(readiness, token)?;
        if !signals.is_empty() {
            let mut taken = Taken(signals, self.set().signaler());
            for id in taken.0.by_ref() {
                callback(id, &mut ());
            }
        }
        Ok(PostAction::Continue)
    }

    fn register(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
        self.0.register(poll, tokens)
    }

    fn reregister(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
        self.0.reregister(poll, tokens)
    }

    fn unregister(&mut self, poll: &mut Poll) -> calloop::Result<()> {
        self.0.unregister(poll)
    }
}

/// A receiver of any channel as a source of events: its messages, and in the end that its senders are gone, after which the
/// source removes itself.
#[derive(Debug)]
pub struct ReceiverSource<R> {
    receiver: R,
    set: SetSource,
}

impl<R: Receive + Attach> ReceiverSource<R> {
    /// To be inserted into an event loop. Takes a descriptor.
    ///
    /// # Errors
    /// When there are no descriptors left; `AlreadyExists` when the receiver is attached to a set already.
    pub fn new(mut receiver: R) -> io::Result<Self> {
        let mut set = YSocketpair::with_capacity(1)?;
        set.attach(&mut receiver, 0)?;
        Ok(Self { receiver, set: SetSource::new(set) })
    }

    /// The receiver, free to be attached elsewhere.
    #[must_use]
    pub fn into_inner(mut self) -> R {
        self.receiver.detach();
        self.receiver
    }
}

impl<R: Receive + Attach> EventSource for ReceiverSource<R> {
    type Event = Event<R::Message>;
    type Metadata = ();
    type Ret = ();
    type Error = io::Error;

    fn process_events<F>(&mut self, readiness: Readiness, token: Token, mut callback: F) -> io::Result<PostAction>
    where
        F: FnMut(Event<R::Message>, &mut ()),
    {
        if self.set.check(readiness, token)?.is_empty() {
            return Ok(PostAction::Continue);
        }
        for _ in 0..BUDGET {
            match self.receiver.try_next() {
                Ok(message) => callback(Event::Msg(message), &mut ()),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    callback(Event::Closed, &mut ());
                    return Ok(PostAction::Remove);
                }
            }
        }
        Ok(PostAction::Continue)
    }

    fn register(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
        self.set.register(poll, tokens)
    }

    fn reregister(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
        self.set.reregister(poll, tokens)
    }

    fn unregister(&mut self, poll: &mut Poll) -> calloop::Result<()> {
        self.set.unregister(poll)
    }
}
