//! [`Handle`]: the hub as other threads see it. One thread at a time; posting never waits.

use core::cell::RefCell;
use core::fmt;

use super::Hub;
use super::posted::Posted;
use crate::channel::SendError;
use crate::mpsc;
use crate::sync::{Arc, AtomicUsize, Ordering};

/// How many handles there are.
pub(super) type Handles = Arc<AtomicUsize>;

/// Posts functions to a [`Hub`]. A clone for each thread: every handle has a lane of its own, so posters never meet.
///
/// Handles are `Send`, not `Sync`. What one posts runs in the order in which it was posted.
pub struct Handle {
    sender: RefCell<mpsc::Sender<Posted>>,
    handles: Handles,
}

impl Handle {
    pub(super) fn new(sender: mpsc::Sender<Posted>, handles: &Handles) -> Self {
        // ORDERING: Relaxed; made by the hub, or beside a handle that is counted.
        handles.fetch_add(1, Ordering::Relaxed);
        Self { sender: RefCell::new(sender), handles: handles.clone() }
    }

    /// Has the hub's thread call `function`, after all that this handle has posted before.
    ///
    /// Never waits, whatever the hub does; one system call if it sleeps. Functions of up to three words travel without
    /// being allocated. A hub that has been [stopped](Hub::stop), or that is not being run, keeps the function until it is
    /// run again.
    ///
    /// # Errors
    /// When the hub is gone: gives the function back. Functions posted just before it went are dropped with it, once
    /// each.
    pub fn post<F: FnOnce(&mut Hub) + Send + 'static>(&self, function: F) -> Result<(), PostError<F>> {
        // Lent already only while functions that a hub has left behind are dropped, and one of them posts.
        let Ok(mut sender) = self.sender.try_borrow_mut() else { return Err(PostError(function)) };
        sender.send(Posted::new(function)).map_err(|SendError(posted)| {
            // SAFETY: the function that did not go is the one that was to.
            PostError(unsafe { posted.into_inner() })
        })
    }

    /// Has the hub [stop](Hub::stop), after all that this handle has posted before.
    ///
    /// # Errors
    /// When the hub is gone.
    pub fn stop(&self) -> Result<(), PostError<()>> {
        self.post(Hub::stop).map_err(|_| PostError(()))
    }

    /// Whether the hub is gone, so that nothing posted will run.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.sender.try_borrow().map_or(true, |sender| sender.is_disconnected())
    }
}

impl Clone for Handle {
    /// Another handle of the same hub. Allocates its lane.
    ///
    /// # Panics
    /// When there are [`mpsc::MAX_SENDERS`] less one already.
    fn clone(&self) -> Self {
        Self::new(self.sender.borrow().clone(), &self.handles)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // ORDERING: Release pairs with the Acquire in `Hub::is_deserted`: what was posted by any handle is visible to a
        // hub that finds none left. Read-modify-writes continue each other's release sequences.
        if self.handles.fetch_sub(1, Ordering::Release) == 1 {
            // The last one wakes the hub, which may wait for nothing else.
            let _ = self.post(|_| {});
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("is_disconnected", &self.is_disconnected()).finish()
    }
}

/// The hub is gone; here is the function that it will not call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PostError<F>(pub F);

impl<F> PostError<F> {
    /// The function that was not posted.
    pub fn into_inner(self) -> F {
        self.0
    }
}

impl<F> fmt::Debug for PostError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostError(..)")
    }
}

impl<F> fmt::Display for PostError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the hub is gone")
    }
}

impl<F> std::error::Error for PostError<F> {}
