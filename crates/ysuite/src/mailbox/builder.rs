//! [`Builder`]: mailboxes with a name, a bound, or a thread whose stack has another size.

use core::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::inner::{Address, Bound, Crowding};
use super::mailbox::Mailbox;
use crate::foreign::Panics;
use crate::sync::thread::{self, JoinHandle};

/// Makes mailboxes, for a new thread or for the calling thread.
#[derive(Clone, Debug, Default)]
#[must_use = "a builder makes nothing by itself"]
pub struct Builder {
    name: Option<String>,
    bound: Option<Bound>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Describes a mailbox without a name and without a bound.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a name, which is printed for the mailbox, and which its thread has. It need not be unique, and cannot be
    /// [located](super::locate).
    ///
    /// The name must not contain a byte 0: threads cannot have such a name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets a bound: room for at most `capacity` ordinary messages that no receive has seen, and how a send to a full
    /// mailbox behaves. The bound does not count urgent messages and notices of termination. All ordinary messages, of
    /// all threads, then have one order.
    pub fn bounded(mut self, capacity: usize, crowding: Crowding) -> Self {
        self.bound = Some(Bound { capacity, crowding });
        self
    }

    /// Sets the size of the thread's stack, in bytes. The default is the system's.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Makes a mailbox for the calling thread, or for the thread to which it is moved.
    ///
    /// # Panics
    /// If a bound is 0, or there is no memory for it.
    #[must_use]
    pub fn build(self) -> Mailbox {
        Mailbox::with(self.name.map(String::into_boxed_str), self.bound)
    }

    /// Starts a thread with a mailbox, which ends with the function. The handle waits for the thread and returns the
    /// function's result.
    #[doc = cost!(mailbox SPAWN)]
    ///
    /// # Errors
    /// If the system has no more threads.
    ///
    /// # Panics
    /// As [`build`](Self::build), and if the name has a byte 0.
    pub fn spawn<R: Send + 'static>(
        self,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        self.start(|_| {}, run)
    }

    /// As [`spawn`](Self::spawn), and `owner` owns the new mailbox: see [`Mailbox::spawn`].
    #[doc = cost!(mailbox SPAWN)]
    ///
    /// # Errors
    /// If the system has no more threads.
    ///
    /// # Panics
    /// As [`build`](Self::build), and if the name has a byte 0.
    pub fn spawn_owned<R: Send + 'static>(
        self,
        owner: &mut Mailbox,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        self.start(|mailbox| mailbox.set_owner(owner.here()), run)
    }

    /// As [`spawn_owned`](Self::spawn_owned), and `owner` is [linked](Mailbox::link) to the new mailbox before its
    /// thread starts. So `owner` is notified of its termination however soon that is, after all ordinary messages that
    /// it has sent.
    #[doc = cost!(mailbox SPAWN)]
    ///
    /// # Errors
    /// If the system has no more threads. `owner` then receives the notice of a mailbox that never ran.
    ///
    /// # Panics
    /// As [`build`](Self::build), and if the name has a byte 0.
    pub fn spawn_linked<R: Send + 'static>(
        self,
        owner: &mut Mailbox,
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        let relate = |mailbox: &mut Mailbox| {
            mailbox.set_owner(owner.here());
            owner.link(&Address::new(mailbox.inner().clone()));
        };
        self.start(relate, run)
    }

    // USER CODE: the thread's function, its result, the panic's payload; the mailbox is alive until the function
    //     returns; re-entrance: everything; panic: is caught, reported to watchers with its text, and given to the
    //     thread's handle; a result is dropped after a panic as the mailbox is dropped; test:
    //     tests/suite/mailbox/relations.rs: the_words_of_a_panic_are_passed_on, tests/suite/mailbox/relations.rs:
    //     a_result_ends_behind_a_message_that_panics_at_its_mailboxes_end
    // MUTANT: The mailbox is dropped while the thread unwinds. Killed only by
    // `a_thread_never_waits_for_itself_before_its_first_receive_either`.
    fn start<R: Send + 'static>(
        self,
        relate: impl FnOnce(&mut Mailbox),
        run: impl FnOnce(&mut Mailbox) -> R + Send + 'static,
    ) -> io::Result<(Address, JoinHandle<R>)> {
        let mut mailbox = self.clone().build();
        relate(&mut mailbox);
        // Not by `Mailbox::address`, which records that the calling thread uses the mailbox.
        let address = Address::new(mailbox.inner().clone());
        let mut thread = thread::Builder::new();
        if let Some(name) = self.name {
            thread = thread.name(name);
        }
        if let Some(bytes) = self.stack_size {
            thread = thread.stack_size(bytes);
        }
        let handle = thread.spawn(move || {
            // The mailbox belongs to this thread.
            mailbox.inner().is_read_here();
            // Caught so that watchers get the panic's text, and so that a message that panics in its drop does not
            // abort the process.
            let result = catch_unwind(AssertUnwindSafe(|| run(&mut mailbox)));
            if let Err(panic) = &result {
                mailbox.panicked(text(&**panic));
            }
            // User code; so is the drop of a result that is not returned, while unwinding. The thread's own panic was
            // the first.
            match result {
                Ok(result) => Panics::answer_behind(result, || drop(mailbox)),
                Err(panic) => {
                    let mut panics = Panics::none();
                    panics.catch(|| drop(mailbox));
                    resume_unwind(panic)
                }
            }
        })?;
        Ok((address, handle))
    }
}

impl Mailbox {
    /// Starts a thread with a mailbox, which this one owns: when this one ends, the new one receives
    /// [`OwnerTerminated`](super::OwnerTerminated).
    ///
    /// The new mailbox has the address of this one, by [`owner`](Self::owner): while the new one lives, a receive of
    /// this one waits for its messages. So if each of the two waits for a message of the other, both wait for ever.
    #[doc = cost!(mailbox SPAWN)]
    ///
    /// # Panics
    /// If the system has no more threads; [`Builder::spawn_owned`] returns an error instead.
    pub fn spawn<R: Send + 'static>(&mut self, run: impl FnOnce(&mut Mailbox) -> R + Send + 'static) -> Address {
        Builder::new().spawn_owned(self, run).expect("a thread").0
    }

    /// As [`spawn`](Self::spawn), and this mailbox is [linked](Self::link) to the new one.
    #[doc = cost!(mailbox SPAWN)]
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    pub fn spawn_linked<R: Send + 'static>(&mut self, run: impl FnOnce(&mut Mailbox) -> R + Send + 'static) -> Address {
        Builder::new().spawn_linked(self, run).expect("a thread").0
    }
}

/// The text of a panic.
fn text(panic: &(dyn Any + Send)) -> &str {
    match panic.downcast_ref::<String>() {
        Some(text) => text,
        None => panic.downcast_ref::<&str>().copied().unwrap_or("(it has no text)"),
    }
}

// THREAD EXIT: `spawn`, `spawn_linked` and `owner` use no thread-local; test: tests/suite/mailbox/thread_locals.rs:
//     spawning_at_the_end_of_a_thread
/// Starts a thread with a mailbox, which ends with the function. It has no owner; see [`Mailbox::spawn`].
#[doc = cost!(mailbox SPAWN)]
///
/// # Panics
/// If the system has no more threads. [`Builder::spawn`] returns an error instead, and the thread's handle.
pub fn spawn<R: Send + 'static>(run: impl FnOnce(&mut Mailbox) -> R + Send + 'static) -> Address {
    Builder::new().spawn(run).expect("a thread").0
}
