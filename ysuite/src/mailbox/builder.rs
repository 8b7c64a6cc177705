//! Mailboxes that are not the usual ones: with a name, with a bound, with a stack of another size.

use core::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::address::Address;
use super::inner::{Bound, Crowding};
use super::mailbox::Mailbox;
use crate::sync::thread::{self, JoinHandle};

/// Makes mailboxes, for a thread of their own or for one that is there.
#[derive(Clone, Debug, Default)]
#[must_use = "it makes nothing by itself"]
pub struct Builder {
    name: Option<String>,
    bound: Option<Bound>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A mailbox without a name and without a bound.
    pub fn new() -> Self {
        Self::default()
    }

    /// A name for the mailbox when it is printed, and for its thread. It need not be unique, and cannot be
    /// [located](super::locate).
    ///
    /// Not with a byte 0 in it: threads cannot have such a name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Room for at most `capacity` ordinary messages that have not been looked at, and what becomes of one too many.
    /// Urgent messages and the ends of others are always let in. All ordinary messages, of whichever threads, then have
    /// one order.
    pub fn bounded(mut self, capacity: usize, crowding: Crowding) -> Self {
        self.bound = Some(Bound { capacity, crowding });
        self
    }

    /// The size of the thread's stack, in bytes. Without this it is the system's choice.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// A mailbox for the calling thread, or whichever it is moved to.
    ///
    /// # Panics
    /// When a bound is 0, or can never fit into memory.
    #[must_use]
    pub fn build(self) -> Mailbox {
        Mailbox::with(self.name.map(String::into_boxed_str), self.bound)
    }

    /// Starts a thread with a mailbox, which ends with the function. The handle waits for the thread and has the
    /// function's result.
    ///
    /// # Errors
    /// When the system has no more threads.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn spawn<R: Send + 'static>(
        self,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        let mailbox = self.clone().build();
        self.start(mailbox, run)
    }

    /// As [`spawn`](Self::spawn), and `owner` owns the new mailbox: see [`Mailbox::spawn`].
    ///
    /// # Errors
    /// When the system has no more threads.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn spawn_owned<R: Send + 'static>(
        self,
        owner: &mut Mailbox,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        let mut mailbox = self.clone().build();
        mailbox.set_owner(owner.here());
        self.start(mailbox, run)
    }

    /// As [`spawn_owned`](Self::spawn_owned), and `owner` is [linked](Mailbox::link) to the new mailbox before that runs: so
    /// what it sends comes before its end, however soon that is.
    ///
    /// # Errors
    /// When the system has no more threads. `owner` receives the end of a mailbox that never ran.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn spawn_linked<R: Send + 'static>(
        self,
        owner: &mut Mailbox,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        let mut mailbox = self.clone().build();
        mailbox.set_owner(owner.here());
        owner.link(&Address::new(mailbox.inner().clone()));
        self.start(mailbox, run)
    }

    fn start<R: Send + 'static>(
        self,
        mut mailbox: Mailbox,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        // Not by `Mailbox::address`: it is never the calling thread's.
        let address = Address::new(mailbox.inner().clone());
        let mut thread = thread::Builder::new();
        if let Some(name) = self.name {
            thread = thread.name(name);
        }
        if let Some(bytes) = self.stack_size {
            thread = thread.stack_size(bytes);
        }
        let handle = thread.spawn(move || {
            mailbox.begins();
            // Caught so that the text can be told, and messages whose end panics do not end the process.
            let result = catch_unwind(AssertUnwindSafe(|| run(&mut mailbox)));
            if let Err(panic) = &result {
                mailbox.panicked(text(&**panic));
            }
            drop(mailbox);
            result.unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        Ok((address, handle))
    }
}

/// The text of a panic.
fn text(panic: &(dyn Any + Send)) -> &str {
    match panic.downcast_ref::<String>() {
        Some(text) => text,
        None => panic.downcast_ref::<&str>().copied().unwrap_or("(it has no text)"),
    }
}

/// Starts a thread with a mailbox, which ends with the function. It belongs to nobody; see [`Mailbox::spawn`].
///
/// # Panics
/// When the system has no more threads; [`Builder::spawn`] says so instead, and gives the thread's handle.
pub fn spawn<R: Send + 'static>(run: impl FnOnce(&mut Mailbox) -> R + Send + 'static) -> Address {
    Builder::new().spawn(run).expect("a thread").0
}
