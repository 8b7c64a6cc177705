//! [`Handle`]: posts functions to the hub from other threads. One thread at a time; posting never blocks.

use core::cell::RefCell;
use core::fmt;

use super::Hub;
use super::posted::Posted;
use crate::channel::SendError;
use crate::mpsc;
use crate::sync::{Arc, AtomicUsize, Ordering};

/// The number of handles.
pub(super) type Handles = Arc<AtomicUsize>;

/// Posts functions to a [`Hub`]. Clone it for each thread: every handle has a lane of its own, so posting threads never
/// contend.
///
/// Handles are `Send`, not `Sync`. Functions of one handle run in the order in which they were posted.
#[doc = cost!(hub DROP)]
pub struct Handle {
    sender: RefCell<mpsc::Sender<Posted>>,
    handles: Handles,
}

impl Handle {
    pub(super) fn new(sender: mpsc::Sender<Posted>, handles: &Handles) -> Self {
        // ORDERING: Relaxed; the hub, or a counted handle, makes this one, so the count is not read as 0 meanwhile.
        handles.fetch_add(1, Ordering::Relaxed);
        Self { sender: RefCell::new(sender), handles: handles.clone() }
    }

    // USER CODE: `Drop` of functions that the hub has left, which may post or clone a handle, also in `Drop` of `Hub`;
    //     the poster's cell may be borrowed: such a post is refused, such a clone has a sender whose receiver is gone;
    //     re-entrance: on the same handle refused, on others given back; panic: the other functions are dropped with
    //     the channel; test: tests/suite/hub/posting.rs: functions_dropped_with_the_hub_may_post,
    //     tests/suite/hub/posting.rs: a_handle_may_be_cloned_while_its_own_post_drops_what_it_posted_before
    /// Posts `function`: the hub's thread calls it, after all functions that this handle has posted before.
    ///
    /// Never blocks. A hub that was [stopped](Hub::stop), or that is not being run, keeps the function until it is run
    /// again.
    #[doc = cost!(hub POST)]
    ///
    /// # Errors
    /// If the hub was dropped: the error contains the function. Functions posted just before are dropped with the hub,
    /// once each.
    pub fn post<F: FnOnce(&mut Hub) + Send + 'static>(&self, function: F) -> Result<(), PostError<F>> {
        // Borrowed already only while the lane drops the functions of a dropped hub, and the `Drop` of one posts.
        let Ok(mut sender) = self.sender.try_borrow_mut() else { return Err(PostError(function)) };
        sender.send(Posted::new(function)).map_err(|SendError(posted)| {
            // SAFETY: the error has the `Posted` that was made above, of an `F`.
            PostError(unsafe { posted.into_inner() })
        })
    }

    /// Makes the hub [stop](Hub::stop), after all functions that this handle has posted before. Never blocks.
    ///
    /// # Errors
    /// If the hub was dropped.
    pub fn stop(&self) -> Result<(), PostError<()>> {
        self.post(Hub::stop).map_err(|_| PostError(()))
    }

    /// Returns whether the hub was dropped, so that no posted function will run.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        self.sender.try_borrow().map_or(true, |sender| sender.is_disconnected())
    }
}

impl Clone for Handle {
    /// Makes another handle of the same hub.
    #[doc = cost!(hub CLONE)]
    ///
    /// # Panics
    /// If there are [`mpsc::MAX_SENDERS`] less one already.
    fn clone(&self) -> Self {
        // Borrowed already only as in `post`. Then the hub is gone, and any sender whose receiver is gone serves as
        // well.
        let sender = self.sender.try_borrow().map_or_else(|_| mpsc::unbounded().0, |sender| sender.clone());
        Self::new(sender, &self.handles)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // MUTANT: Killed only by `the_end_of_the_last_handle_is_a_call_and_what_it_has_posted_is_run_before`.
        // ORDERING: Release pairs with the Acquire in `Hub::is_deserted`: a hub that finds no handle sees all that
        // handles have posted. Read-modify-writes continue each other's release sequences.
        if self.handles.fetch_sub(1, Ordering::Release) == 1 {
            // Wakes the hub: `run` returns when it can wait for nothing else.
            let _ = self.post(|_| {});
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("is_disconnected", &self.is_disconnected()).finish()
    }
}

// FINAL: the hub's receiver is gone, and no other is made; or the function was posted by one that is dropped with the
//     hub; test: tests/suite/hub/posting.rs: functions_left_behind_are_dropped_once_and_their_poster_is_told
/// The hub was dropped. Contains the function that it will not call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PostError<F>(pub F);

impl<F> PostError<F> {
    /// Returns the function that was not posted.
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
