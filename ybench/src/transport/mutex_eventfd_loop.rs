//! An event loop that is given functions, as it is written plainly: boxed functions in a queue behind a mutex, and an
//! eventfd in the loop's epoll, written when the queue was empty.
//!
//! ```text
//!   sender thread   box, lock, push, unlock ----> VecDeque ----> take all, call each   the loop's thread
//!                     \-- if it was empty ------> eventfd -----> epoll_wait, read
//! ```
//!
//! The loop takes all functions under one lock and calls them without it. The eventfd is read before, so that a function
//! that comes meanwhile rings again. Functions are lent what belongs to the loop: the messages left by those before.

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

type Function<M> = Box<dyn FnOnce(&mut VecDeque<M>) + Send>;

struct Shared<M> {
    functions: MutexQueue<Function<M>>,
    bell: OwnedFd,
}

pub struct Sender<M>(Arc<Shared<M>>);

pub struct Receiver<M> {
    shared: Arc<Shared<M>>,
    epoll: OwnedFd,
    /// Empty but for the moment in which they are called: what it has room for goes back to the queue.
    taken: VecDeque<Function<M>>,
    landed: VecDeque<M>,
}

impl Transport for Plain {
    const TRAITS: Traits = Traits {
        name: "mutex-eventfd-loop",
        about: "An event loop given boxed functions behind a mutex, in epoll beside an eventfd written if there were none",
        waits: Waits::SleepsInPoll,
        works_with_epoll: true,
        senders: Ends::Many,
        variant: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M>)> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &bell, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let shared = Arc::new(Shared { functions: MutexQueue::new(), bell });
        let sender = Sender(shared.clone());
        Ok((sender, Receiver { shared, epoll, taken: VecDeque::new(), landed: VecDeque::new() }))
    }
}

ends_by_cloning!(senders: Plain);

impl<M> Shared<M> {
    fn ring(&self) {
        // It fails only where the count is at its end: whoever has not looked for so long will find it readable.
        let _ = write(&self.bell, &1u64.to_ne_bytes());
    }
}

impl<M: Message> super::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let function: Function<M> = Box::new(move |landed| landed.push_back(message));
        let mut functions = self.0.functions.lock();
        let was_empty = functions.messages.is_empty();
        functions.messages.push_back(function);
        drop(functions);
        if was_empty {
            self.0.ring();
        }
        Ok(())
    }
}

impl<M> Clone for Sender<M> {
    fn clone(&self) -> Self {
        self.0.functions.lock().come();
        Self(self.0.clone())
    }
}

impl<M> Drop for Sender<M> {
    fn drop(&mut self) {
        self.0.functions.lock().go();
        self.0.ring();
    }
}

impl<M> Receiver<M> {
    /// Waits for functions, and calls all that are there. An interrupted wait is one that found nothing.
    fn turn(&mut self) -> Result<(), Closed> {
        let mut events = [MaybeUninit::uninit(); 8];
        let _ = epoll::wait(&self.epoll, &mut events, None);
        let _ = read(&self.shared.bell, &mut [0; 8]);
        let mut functions = self.shared.functions.lock();
        mem::swap(&mut functions.messages, &mut self.taken);
        let over = self.taken.is_empty() && functions.closed();
        drop(functions);
        for function in self.taken.drain(..) {
            function(&mut self.landed);
        }
        if over { Err(Closed) } else { Ok(()) }
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            match self.landed.pop_front() {
                Some(message) => return Ok(message),
                None => self.turn()?,
            }
        }
    }
}
