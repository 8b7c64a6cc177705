//! **The hub**: one thread that serves channels, descriptors, timers, and functions that other threads post.
//!
//! An event loop that receives *functions*, not only data: a thread posts a function with its captures, and the
//! function runs on the hub's thread, between sockets and timers, without a lock.
//!
//! ```
//! use std::time::Duration;
//! use ysuite::hub::Hub;
//!
//! let mut hub = Hub::new()?;
//! let handle = hub.handle();
//! std::thread::spawn(move || {
//!     let greeting = String::from("posted");
//!     handle.post(move |hub| {
//!         assert_eq!(greeting, "posted");
//!         hub.after(Duration::from_millis(1), |hub| hub.stop());
//!     })
//! });
//! hub.run()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Sources
//!
//! | source | given by | its handler gets | costs the other side, when the hub sleeps |
//! |---|---|---|---|
//! | functions | [`Handle::post`], any thread | (they are called) | a write to a descriptor |
//! | a receiver of any channel | [`Hub::receive`] | each message; `Err` once, when the senders are gone | a write to a descriptor |
//! | a descriptor | [`Hub::watch`] | its readiness, level-triggered | nothing except its own write |
//! | timers | [`Hub::after`], [`Hub::at`], [`Hub::every`] | (they are called) | |
//!
//! All handlers run on the thread that runs the hub, one at a time, and get the hub. They may add and remove any
//! source, also their own, and also one that is about to be served. The handler of a removed source is not called
//! again.
//!
//! # Turns
//!
//! The hub works in turns. In each turn it:
//!
//! * calls at most [`TURN`] posted functions;
//! * gives each receiver with messages at most [`TURN`] of them;
//! * calls at most [`TURN`] timers that are due as the turn begins, the earliest first; a timer set, or set again, in
//!   this turn is not due before the next;
//! * polls the descriptors, and calls the handler of each ready one once.
//!
//! So no source delays another for longer than one turn, even if it floods the hub.
//!
//! A stream of functions or messages makes no system call. With descriptors, each call of [`run_once`](Hub::run_once)
//! and [`dispatch`](Hub::dispatch) that serves anything makes one system call. The turns of [`run`](Hub::run) may be
//! short. It polls the descriptors after [`TURN`] calls of functions and handlers, in one turn or many, or after about
//! a thousand spins. A ready descriptor waits no longer than that and the turn under way.
//!
//! A handler that replaces its own hub (`*hub = other`) drops the old one, and itself with it; the turn continues with
//! the other one. The old hub must be dropped: if it is kept (`mem::replace`), the turn counts as under way in it for
//! ever. A handler may run the hub: that is a turn within its own. A [stop](Hub::stop) ends the turns under way when it
//! is called. It does not affect a later turn, and a later turn does not undo it.
//!
//! # Sleeping
//!
//! With nothing to do the hub spins for a while (see [`Hub::set_spin`]), then arms all its channels, and sleeps in one
//! system call (`epoll_wait`) until the next timer. It makes no other system call while nothing happens. A timer never
//! fires early. If the hub sleeps it fires up to a millisecond late, which is the poller's unit.
//!
//! With [`Spin::Forever`] the hub does not sleep. Each spin checks functions and active receivers. After each 64 spins
//! the hub checks all signals, and the clock if there are timers. After about a thousand spins it polls the
//! descriptors, if there are any, in one system call. A receiver without a message for some thousands of spins is
//! armed: its next message costs its sender a write to a descriptor.
//!
//! # Panics in handlers
//!
//! A panic leaves [`run`](Hub::run), [`run_once`](Hub::run_once) or [`dispatch`](Hub::dispatch). The hub loses the
//! source that panicked: the posted function, the timer, or the receiver or descriptor, which is removed with its
//! handler. It keeps all others, also those that this turn had not served yet: catch the panic, and run the hub again.
//! The same holds for panics in the `Drop` of a handler, or of a removed receiver's messages: the hub takes them out of
//! its tables before it drops them.
//!
//! # When not to use it
//!
//! If a thread serves only one channel (its own `recv` is several times as fast), or a few
//! ([`ReadySet`](crate::signal::ReadySet)). If there is a loop already: attach receivers to a
//! [`YSocketpair`](crate::signal::YSocketpair) in it, or let it [host](Hub::dispatch) the hub. Handlers must not block,
//! as in every event loop.

mod descriptors;
mod handle;
mod posted;
mod receivers;
mod running;
mod serving;
mod source;
mod table;
mod timers;
mod watch;

use core::fmt;
// Not of a model: the number is no state.
use core::sync::atomic::AtomicU64;
use core::time::Duration;
use std::io;
use std::time::Instant;

pub use self::descriptors::{Interest, Ready};
pub use self::handle::{Handle, PostError};
pub use self::source::{Refused, Source};
pub use self::timers::TimerKey;

use self::descriptors::Descriptors;
use self::handle::Handles;
use self::posted::Posted;
use self::receivers::Receivers;
use self::running::Current;
use self::serving::Ask;
use self::timers::Timers;
use self::watch::Watch;
use crate::channel::Spin;
use crate::mpsc;
use crate::os::Deadline;
use crate::sync::{Arc, AtomicUsize, Ordering};
use crate::wait::Backoff;

/// The largest number of messages of one source that a turn serves before it turns to the others.
pub const TURN: usize = if cfg!(ysuite_loom) { 2 } else { 128 };

/// The signal of the posted functions; receivers have the ids after it.
const POSTS: usize = 0;

/// Signals of [`Hub::new`], for receivers and the posted functions: the capacity of two levels of a set of signals.
const SIGNALS: usize = if cfg!(ysuite_loom) { 2 } else { 31 * 64 };

// USER CODE: handlers, functions and drops, several at once, at random; test: tests/suite/hub/random.rs:
//     operations_at_random_do_what_a_reference_says
/// One thread's event loop: see the [module](self).
///
/// It may be made on one thread and run on another.
pub struct Hub {
    posts: mpsc::Receiver<Posted>,
    /// Handles get clones of it.
    sender: mpsc::Sender<Posted>,
    handles: Handles,
    receivers: Receivers,
    descriptors: Descriptors,
    timers: Timers,
    spin: Spin,
    backoff: Backoff,
    /// The work since the last poll: calls of functions and handlers, and spins counted in calls.
    unasked: usize,
    /// The number of this hub among all of the process.
    number: u64,
    /// The number of turns under way, one within another.
    depth: usize,
    /// The number of receivers and descriptors whose handlers are running.
    lent: usize,
    /// The source or timer whose handler is running, in the innermost turn.
    current: Current,
    /// `stop` was called, and `run` has not returned since.
    stopped: bool,
    /// This turn is to end.
    halted: bool,
    /// The near kind with which the next turn begins: the one after the kind in which the last turn was stopped, or
    /// ended by a panic.
    first: u8,
    /// The kind after the one that the innermost turn is serving; 0: the descriptors.
    behind: u8,
    /// Dropped last: everything else is attached to it.
    watch: Watch,
}

impl Hub {
    /// Makes a hub for up to 1,983 receivers at a time, and any number of other sources.
    ///
    /// # Errors
    /// If the system gives no descriptors: the errors of `epoll_create(2)`, and of `eventfd(2)` or `socketpair(2)`.
    pub fn new() -> io::Result<Self> {
        Self::with_signals(SIGNALS)
    }

    /// Makes a hub for up to `receivers` receivers at a time; takes about a quarter of a byte of memory for each.
    ///
    /// # Errors
    /// As [`new`](Self::new); `InvalidInput` for more than a [set of signals](crate::signal::MAX_CAPACITY) holds.
    pub fn with_receivers(receivers: usize) -> io::Result<Self> {
        Self::with_signals(receivers.saturating_add(1))
    }

    fn with_signals(signals: usize) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut watch = Watch::new(signals)?;
        let (sender, mut posts) = mpsc::unbounded();
        watch.set.attach(&mut posts, POSTS)?;
        Ok(Self {
            posts,
            sender,
            handles: Arc::new(AtomicUsize::new(0)),
            receivers: Receivers::default(),
            descriptors: Descriptors::default(),
            timers: Timers::default(),
            spin: Spin::default(),
            backoff: Backoff::new(),
            unasked: 0,
            // ORDERING: Relaxed; a number that no other hub has.
            // MUTANT: Numbers only have to differ.
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            depth: 0,
            lent: 0,
            current: (None, None),
            stopped: false,
            halted: false,
            first: 0,
            behind: 0,
            watch,
        })
    }

    /// Returns a handle with which another thread posts functions.
    ///
    /// # Panics
    /// If there are [`mpsc::MAX_SENDERS`] less one already.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(self.sender.clone(), &self.handles)
    }

    // WAITS: as `turn`; ends: a stop, or that nothing can come any more; test: tests/suite/hub/forever.rs:
    //     a_run_asks_the_poller_once_for_a_turn_of_calls
    /// Serves all sources until [stopped](Self::stop), or until there is no handle, no source and no timer left.
    /// Blocks. May be called again afterwards. Inside the handler of a receiver or a descriptor, at any depth, it does
    /// not block: there it is one turn.
    ///
    /// # Errors
    /// Those of the poller, which do not occur while it is open. The hub loses nothing.
    pub fn run(&mut self) -> io::Result<()> {
        if self.stopped && self.depth != 0 {
            // The stop concerns the `run` around this one.
            return Ok(());
        }
        while !self.stopped && !self.is_deserted() {
            if self.lent != 0 {
                return self.run_once(None).map(|_| ());
            }
            self.turn(Deadline::Never, Ask::WhenDue)?;
        }
        self.stopped = false;
        Ok(())
    }

    // FINAL: `Ok(0)` of `run_once(None)`: nothing is in the hub and no handle is left; test:
    //     tests/suite/hub/forever.rs: zero_is_served_only_where_nothing_can_come
    /// Serves the ready sources in one turn. If none is ready, it waits no longer than `timeout`, and then serves the
    /// sources that have become ready. Returns the number of functions and handlers called (the drop of the last handle
    /// counts as one). With `None`, and `Duration::MAX`, it waits without a time limit, and returns zero only when
    /// there is no handle, no source and no timer left. Inside the handler of a receiver or a descriptor, at any depth,
    /// it does not wait.
    #[doc = cost!(hub RUN)]
    #[doc = cost!(hub RUN_WAIT)]
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_once(&mut self, timeout: impl Into<Option<Duration>>) -> io::Result<usize> {
        if self.lent != 0 {
            return self.turn(Deadline::Passed, Ask::Always);
        }
        let deadline = timeout.into().map_or(Deadline::Never, Deadline::after);
        self.turn(deadline, Ask::Always)
    }

    // USER CODE: all user code of the hub, in another event loop; a guard makes the rest of the work visible, also in a
    //     panic; re-entrance: a nested `dispatch` makes it visible as well; panic: the outer loop may catch it and wait
    //     for the descriptor; test: tests/suite/hub/hosting.rs: a_dispatch_that_panics_leaves_what_there_is_visible
    /// Runs one turn, without waiting: for a loop that hosts this hub, see [`as_fd`](std::os::fd::AsFd::as_fd). Returns
    /// the number of functions and handlers called.
    ///
    /// Watch the hub's descriptor for reading, level-triggered, wait no longer than [`timeout`](Self::timeout), and
    /// call this whenever that wait ends.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn dispatch(&mut self) -> io::Result<usize> {
        /// Calls `show` also if a handler panics: the host may catch that, and wait for the descriptor.
        struct Hosted<'a>(&'a mut Hub);
        impl Drop for Hosted<'_> {
            fn drop(&mut self) {
                let _ = self.0.show();
            }
        }
        let hosted = Hosted(self);
        let done = hosted.0.turn(Deadline::Passed, Ask::Always);
        let shown = hosted.0.show();
        core::mem::forget(hosted);
        shown.and(done)
    }

    /// Returns how long a loop that hosts this hub may wait for its descriptor: until the next timer; `None`: without a
    /// time limit.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timers.next().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Makes [`run`](Self::run) return when the handler that calls this is done, or at once if called beforehand. A
    /// [`run_once`](Self::run_once) or [`dispatch`](Self::dispatch) under way ends likewise. Nothing is lost: the hub
    /// serves the rest when it is run again, and begins with the source after the one whose handler has stopped it. If
    /// a handler runs the hub, the innermost `run` at this call clears the stop. Inside the handler of a source, `run`
    /// is one turn, and the `run` around it clears the stop.
    pub fn stop(&mut self) {
        (self.stopped, self.halted) = (true, true);
    }

    /// Returns whether [`stop`](Self::stop) was called and `run` has not returned since.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns the source, inside the handler of a receiver or a descriptor, for example to [remove](Self::remove) it.
    #[must_use]
    pub fn current(&self) -> Option<Source> {
        self.current.0
    }

    /// Returns the timer, inside the function of a repeating timer, for example to [cancel](Self::cancel) it.
    #[must_use]
    pub fn current_timer(&self) -> Option<TimerKey> {
        self.current.1
    }

    /// Sets how long to spin before sleeping, from the next wait on. The default is [`Spin::Adaptive`]. It affects
    /// neither the sources that the hub serves, nor how long a source waits for its turn.
    pub fn set_spin(&mut self, spin: Spin) {
        self.spin = spin;
        self.backoff.spin = spin;
    }

    /// Whether there is no handle, no source, no timer and no posted function left.
    fn is_deserted(&mut self) -> bool {
        self.receivers.table.len() == 0
            && self.descriptors.table.len() == 0
            && self.timers.is_empty()
            // ORDERING: Acquire pairs with the Release in the drop of a handle: the check below sees what handles
            // posted.
            && self.handles.load(Ordering::Acquire) == 0
            && !crate::channel::Receive::has_message(&mut self.posts)
    }
}

#[cfg(not(ysuite_loom))]
impl std::os::fd::AsFd for Hub {
    /// Readable when there is something to [`dispatch`](Hub::dispatch), timers aside. Do not read it.
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.watch.as_fd()
    }
}

#[cfg(not(ysuite_loom))]
impl std::os::fd::AsRawFd for Hub {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.watch.as_fd())
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            // ORDERING: Relaxed; only printed, pairs with nothing.
            .field("handles", &self.handles.load(Ordering::Relaxed))
            .field("receivers", &self.receivers.table.len())
            .field("descriptors", &self.descriptors.table.len())
            .field("timers", &self.timers.entries.len())
            .finish_non_exhaustive()
    }
}
