//! An event loop that runs posted functions, written plainly: boxed functions in a queue behind a mutex, and an eventfd
//! in the loop's epoll, written when the queue was empty.
//!
//! ```text
//!   sender thread   box, lock, push, unlock ----> VecDeque ----> take all, call each   the loop's thread
//!                     \-- if it was empty ------> eventfd -----> epoll_wait, read
//! ```
//!
//! The loop takes all functions under one lock and calls them without it. The eventfd is read before, so that a
//! function that arrives meanwhile signals again. Functions get a reference to the loop's own data: as a transport, the
//! messages left by earlier functions.

use std::collections::VecDeque;
use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::{read, write};

use super::mutex_queue::MutexQueue;
use super::{Closed, Ends, Message, Traits, Transport, Waits, ends_by_cloning};

pub struct Plain;

type Function<C> = Box<dyn FnOnce(&mut C) + Send>;

struct Shared<C> {
    functions: MutexQueue<Function<C>>,
    bell: OwnedFd,
}

/// Posts functions to a [`Loop`]. Any thread; a clone for each.
pub struct Poster<C>(Arc<Shared<C>>);

/// The loop, and the data that its functions borrow.
pub struct Loop<C> {
    shared: Arc<Shared<C>>,
    epoll: OwnedFd,
    /// Empty except while they are called: its memory returns to the queue.
    taken: VecDeque<Function<C>>,
    pub lent: C,
}

impl Transport for Plain {
    const TRAITS: Traits = Traits {
        name: "mutex-eventfd-loop",
        about: "An event loop for boxed functions behind a mutex, in epoll with an eventfd written if there were none",
        waits: Waits::SleepsInPoll,
        works_with_epoll: true,
        senders: Ends::Many,
        variant: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Poster<VecDeque<M>>;
    type Receiver<M: Message> = Loop<VecDeque<M>>;

    fn open<M: Message>() -> io::Result<(Poster<VecDeque<M>>, Loop<VecDeque<M>>)> {
        Loop::new(VecDeque::new())
    }
}

ends_by_cloning!(senders: Plain);

impl<C> Shared<C> {
    fn ring(&self) {
        // It fails only where the count is at its maximum: a reader that has not polled for so long will find it
        // readable.
        let _ = write(&self.bell, &1u64.to_ne_bytes());
    }
}

impl<C> Poster<C> {
    /// Makes the loop call `function`.
    #[inline(always)]
    pub fn post(&self, function: impl FnOnce(&mut C) + Send + 'static) {
        let function: Function<C> = Box::new(function);
        let mut functions = self.0.functions.lock();
        let was_empty = functions.messages.is_empty();
        functions.messages.push_back(function);
        drop(functions);
        if was_empty {
            self.0.ring();
        }
    }
}

impl<M: Message> super::Sender<M> for Poster<VecDeque<M>> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.post(move |landed| landed.push_back(message));
        Ok(())
    }
}

impl<C> Clone for Poster<C> {
    fn clone(&self) -> Self {
        self.0.functions.lock().come();
        Self(self.0.clone())
    }
}

impl<C> Drop for Poster<C> {
    fn drop(&mut self) {
        self.0.functions.lock().go();
        self.0.ring();
    }
}

impl<C> Loop<C> {
    pub fn new(lent: C) -> io::Result<(Poster<C>, Self)> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &bell, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let shared = Arc::new(Shared { functions: MutexQueue::new(), bell });
        Ok((Poster(shared.clone()), Self { shared, epoll, taken: VecDeque::new(), lent }))
    }

    /// Waits for functions, and calls all that are ready. An interrupted wait found nothing.
    pub fn turn(&mut self) -> Result<(), Closed> {
        let mut events = [MaybeUninit::uninit(); 8];
        let _ = epoll::wait(&self.epoll, &mut events, None);
        let _ = read(&self.shared.bell, &mut [0; 8]);
        let mut functions = self.shared.functions.lock();
        mem::swap(&mut functions.messages, &mut self.taken);
        let over = self.taken.is_empty() && functions.closed();
        drop(functions);
        for function in self.taken.drain(..) {
            function(&mut self.lent);
        }
        if over { Err(Closed) } else { Ok(()) }
    }
}

impl<M: Message> super::Receiver<M> for Loop<VecDeque<M>> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            match self.lent.pop_front() {
                Some(message) => return Ok(message),
                None => self.turn()?,
            }
        }
    }
}
