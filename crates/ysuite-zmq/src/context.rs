//! [`Context`]: libzmq's own threads and names, shared by bridges.

use core::ffi::c_int;
use core::fmt;
use core::ptr::NonNull;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use core::ffi::c_void;

use crate::error::{Error, Failure};
use crate::ffi;
use crate::names::Names;
use crate::zap::{Admitted, Gatekeeper};

/// The part that bridges share: the threads that carry frames to the network and back, and the names of `inproc`
/// addresses. Cloned freely; dropped with its last bridge.
///
/// Without one of their own, all bridges of a process share [`Context::of_the_process`], whose one thread carries some
/// hundred thousand frames a second; a program that carries more gives its bridges a context with more threads.
///
/// A context is of the process that made it, as its threads are. A forked child has a [`Context::of_the_process`] of
/// its own; a bridge there that is given one of the parent's does not start ([`Error::Forked`]). Bridges that were
/// started before the fork are the parent's: in a child they do nothing, and closing one there blocks for ever.
#[derive(Clone)]
pub struct Context(Arc<Raw>);

struct Raw {
    context: NonNull<c_void>,
    /// From the first server on that admits only some.
    gatekeeper: Mutex<Option<Gatekeeper>>,
    /// The addresses of `inproc` that bridges have bound.
    names: Names,
    /// Of libzmq, which carry frames.
    threads: usize,
    /// The process of its threads.
    process: u32,
}

// SAFETY: a context is thread safe, says libzmq.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

/// Sockets in one context; a bridge has up to three. The default of libzmq is 1,023.
const SOCKETS: c_int = 65_000;

impl Context {
    /// Makes a context with this many threads of libzmq, whose manual advises one for each gigabyte a second.
    ///
    /// # Errors
    /// [`Error::TooMany`] where the process has no more descriptors.
    ///
    /// # Panics
    /// If `threads` is 0 or above 1,024.
    pub fn new(threads: usize) -> Result<Self, Error> {
        assert!((1..=1_024).contains(&threads), "a context has from 1 to 1,024 threads");
        // SAFETY: makes one, or says why not.
        let context = unsafe { ffi::zmq_ctx_new() };
        let context = NonNull::new(context).ok_or_else(|| Failure::last("zmq_ctx_new"))?;
        // SAFETY: fresh; without sockets its options may be set.
        unsafe {
            ffi::zmq_ctx_set(context.as_ptr(), ffi::context::IO_THREADS, threads as c_int);
            ffi::zmq_ctx_set(context.as_ptr(), ffi::context::MAX_SOCKETS, SOCKETS);
        }
        let (gatekeeper, names) = (Mutex::new(None), Names::default());
        Ok(Self(Arc::new(Raw { context, gatekeeper, names, threads, process: process::id() })))
    }

    /// Returns the default context, with one thread. It is never dropped. A forked child has another than its parent.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn of_the_process() -> Result<Self, Error> {
        static SHARED: Mutex<Option<Context>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = shared.as_ref().filter(|context| context.is_of_this_process()) {
            return Ok(context.clone());
        }
        let made = Self::new(1)?;
        *shared = Some(made.clone());
        Ok(made)
    }

    /// Whether this process, not a parent of it, made the context.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.0.is_of_this_process()
    }

    /// Whom the server of this domain admits.
    pub(crate) fn admit(&self, domain: &str, whom: Admitted) -> Result<(), Error> {
        let mut gatekeeper = self.0.gatekeeper.lock().unwrap_or_else(PoisonError::into_inner);
        if gatekeeper.is_none() {
            *gatekeeper = Some(Gatekeeper::of(self.raw())?);
        }
        if let Some(gatekeeper) = &*gatekeeper {
            gatekeeper.admit(domain, whom);
        }
        Ok(())
    }

    // MUTANT: Memory only: its name is not reused.
    /// The server of this domain is gone.
    pub(crate) fn forget(&self, domain: &str) {
        if let Some(gatekeeper) = &*self.0.gatekeeper.lock().unwrap_or_else(PoisonError::into_inner) {
            gatekeeper.forget(domain);
        }
    }

    /// A unique address inside the process.
    pub(crate) fn fresh_name(what: &str) -> String {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDERING: Relaxed: only the number must differ.
        format!("inproc://ysuite-zmq.{what}.{}", NEXT.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn names(&self) -> &Names {
        &self.0.names
    }

    /// Whether one thread carries all frames: it reports the events of connections in the order in which they happen.
    pub(crate) fn has_one_thread(&self) -> bool {
        self.0.threads == 1
    }

    pub(crate) fn raw(&self) -> *mut c_void {
        self.0.context.as_ptr()
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Context").finish_non_exhaustive()
    }
}

impl Raw {
    fn is_of_this_process(&self) -> bool {
        self.process == process::id()
    }
}

impl Drop for Raw {
    // MUTANT: The thread ends by the shutdown, except when a signal interrupts this call.
    /// Waits for what lingers, which has an end in every socket here. In a forked child nothing is waited for: the threads are the
    /// parent's, and none of them is here.
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            core::mem::forget(self.gatekeeper.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            return;
        }
        // SAFETY: the gatekeeper's thread ends by it; all other sockets are closed, because each holds a handle.
        unsafe { ffi::zmq_ctx_shutdown(self.context.as_ptr()) };
        drop(self.gatekeeper.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        // SAFETY: as above. A signal may interrupt the wait.
        while unsafe { ffi::zmq_ctx_term(self.context.as_ptr()) } != 0 {}
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;
    use crate::ffi::Kind;
    use crate::socket::Socket;

    /// Up to the process's limit of descriptors; each takes one.
    #[test]
    fn a_context_has_more_sockets_than_libzmq_gives_unasked() {
        const UNASKED: usize = 1_023;
        let limits = getrlimit(Resource::Nofile);
        if limits.maximum.is_some_and(|most| most < 4_096) {
            return;
        }
        // Never fewer: other tests have the same.
        let current = limits.current.map(|current| current.max(4_096));
        setrlimit(Resource::Nofile, Rlimit { current, ..limits }).expect("its own hard limit");
        let context = Context::new(1).expect("a context");
        let sockets: Vec<_> = (0..UNASKED + 50).map(|_| Socket::new(&context, Kind::Pull).expect("a socket")).collect();
        assert!(sockets.len() > UNASKED);
    }
}
