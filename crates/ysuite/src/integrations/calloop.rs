//! A set of signals, or the messages of one receiver, as events of calloop. The event loop's thread.
//!
//! Both are level-triggered: messages that a callback leaves, or that exceed the budget of one turn, are an event
//! again.

use std::io;

use calloop::channel::Event;
use calloop::generic::Generic;
use calloop::{EventSource, Interest, Mode, Poll, PostAction, Readiness, Token, TokenFactory};

use crate::channel::{Receive, TryRecvError};
use crate::signal::{Attach, AttachError, Signal, Signaler, Signals, Wait, YSocketpair};

/// The largest number of messages of one receiver before other sources have their turn.
const BUDGET: usize = 128;

/// Whether a source is in the event loop, by this field of it.
macro_rules! registered_as {
    ($field:tt) => {
        fn register(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
            self.$field.register(poll, tokens)
        }

        fn reregister(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> calloop::Result<()> {
            self.$field.reregister(poll, tokens)
        }

        fn unregister(&mut self, poll: &mut Poll) -> calloop::Result<()> {
            self.$field.unregister(poll)
        }
    };
}

/// A [`YSocketpair`] as a source of events: the ids of its signals.
#[derive(Debug)]
pub struct SetSource(Generic<YSocketpair>);

impl SetSource {
    /// Makes a source, to be inserted into an event loop.
    #[must_use]
    pub fn new(set: YSocketpair) -> Self {
        Self(Generic::new(set, Interest::READ, Mode::Level))
    }

    /// Attaches a receiver to an id of the set: [`YSocketpair::attach`].
    #[doc = cost!(signal ATTACH)]
    ///
    /// # Errors
    /// Those of [`YSocketpair::attach`].
    pub fn attach(&mut self, receiver: &mut impl Attach, id: usize) -> Result<(), AttachError> {
        self.set().attach(receiver, id)
    }

    /// Takes a receiver out of the set: [`YSocketpair::detach`].
    #[doc = cost!(signal DETACH)]
    pub fn detach(&mut self, receiver: &mut impl Attach) -> Option<usize> {
        self.set().detach(receiver)
    }

    fn set(&mut self) -> &mut YSocketpair {
        // SAFETY: the callers are methods of this type, which neither drop nor replace the set while it is registered.
        unsafe { self.0.get_mut() }
    }

    /// Returns the signals that are up, if the event is this source's.
    fn check(&mut self, readiness: Readiness, token: Token) -> io::Result<Signals> {
        let mut signals = Signals::default();
        self.0.process_events(readiness, token, |_, set| {
            // SAFETY: `check` neither drops nor replaces the set, which stays registered.
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

    // USER CODE: the callback; ids are taken, and a guard raises again those that were not reported; re-entrance:
    //     through calloop's handle only; panic: the others are reported the next time; test:
    //     tests/suite/integrations/calloop.rs: a_callback_that_panics_leaves_the_other_ids_up
    fn process_events<F>(&mut self, readiness: Readiness, token: Token, mut callback: F) -> io::Result<PostAction>
    where
        F: FnMut(usize, &mut ()),
    {
        /// The signals that were taken. If a callback panics, raises the remaining ones again.
        struct Taken(Signals, Signaler);
        impl Drop for Taken {
            fn drop(&mut self) {
                self.0.by_ref().for_each(|id| self.1.signal(id));
            }
        }
        let signals = self.check(readiness, token)?;
        // MUTANT: Speed only: without signals the loop does nothing.
        if !signals.is_empty() {
            let mut taken = Taken(signals, self.set().signaler());
            for id in taken.0.by_ref() {
                callback(id, &mut ());
            }
        }
        Ok(PostAction::Continue)
    }

    registered_as!(0);
}

/// A receiver of any channel as a source of events: its messages, and `Closed` when its senders are gone. After
/// `Closed` the source removes itself.
#[derive(Debug)]
pub struct ReceiverSource<R> {
    receiver: R,
    set: SetSource,
}

impl<R: Receive + Attach> ReceiverSource<R> {
    /// Makes a source, to be inserted into an event loop. Takes a descriptor.
    ///
    /// # Errors
    /// If there are no descriptors left; `AlreadyExists` if the receiver is attached to a set already. Then the
    /// receiver is dropped, and its messages with it: to keep it in any case, attach it to a set of your own, in a
    /// [`SetSource`].
    pub fn new(mut receiver: R) -> io::Result<Self> {
        let mut set = YSocketpair::with_capacity(1)?;
        set.attach(&mut receiver, 0)?;
        Ok(Self { receiver, set: SetSource::new(set) })
    }

    /// Returns the receiver, free to be attached elsewhere.
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

    // USER CODE: the callback; the message belongs to the callback, and the id stays up until the receiver is found
    //     empty; re-entrance: through calloop's handle only; panic: the other messages are an event again; test:
    //     tests/suite/integrations/calloop.rs: a_callback_that_panics_leaves_the_other_messages
    // MUTANT: Checks for messages at another source's event too: the message is found sooner.
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

    registered_as!(set);
}
