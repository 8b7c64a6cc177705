//! **The hub**: one thread that serves channels, descriptors, timers, and functions that other threads post.
//!
//! An event loop that receives *functions*, not only data: a thread posts a function with what it captures, and the
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
//! # What it serves
//!
//! | source | given by | its handler gets | costs the other side, when the hub sleeps |
//! |---|---|---|---|
//! | functions | [`Handle::post`], any thread | (they are called) | a write to a descriptor |
//! | a receiver of any channel | [`Hub::receive`] | each message; at the end `Err`, when the senders are gone | a write to a descriptor |
//! | a descriptor | [`Hub::watch`] | what it is ready for, level-triggered | nothing beside its own write |
//! | timers | [`Hub::after`], [`Hub::at`], [`Hub::every`] | (they are called) | |
//!
//! All handlers run on the thread that runs the hub, one at a time, and get the hub: they may add and remove any source,
//! also their own, also one that is about to be served. The handler of a removed source is not called again.
//!
//! # Turns
//!
//! The hub works in turns. In each it calls at most [`TURN`] posted functions, gives each receiver with messages at most
//! [`TURN`] of them, calls at most [`TURN`] timers that are due as it begins (the earliest first; one that is set or set
//! again in this turn is not due before the next), looks at the descriptors, and calls the handler of each that is ready
//! once. So no source, however it floods, delays another for longer than one turn.
//!
//! A stream of functions or messages makes no system call. With descriptors, each call of [`run_once`](Hub::run_once) and
//! [`dispatch`](Hub::dispatch) that serves anything makes one; [`run`](Hub::run), whose turns may be short, polls the
//! descriptors after [`TURN`] calls of functions and handlers, in one turn or many, or after about a thousand spins. A
//! ready descriptor waits no longer than that and the turn under way.
//!
//! A handler that puts another hub in the place of its own (`*hub = other`) drops the old one, and itself with it; the turn goes
//! on with the other one. The old one must be dropped: where it is kept (`mem::replace`), the turn counts as under way in it for
//! good. A handler may run the hub: that is a turn within its own. A [stop](Hub::stop) ends the turns under way when it is
//! called; a later turn is not affected, and does not undo it.
//!
//! # Sleeping
//!
//! With nothing to do the hub spins for a while (see [`Hub::set_spin`]), then arms all its channels, and sleeps in one
//! system call (`epoll_wait`) until the next timer. It makes no other system call while nothing happens. A timer never rings
//! early; when the hub sleeps it rings up to a millisecond late, that being the poller's unit.
//!
//! With [`Spin::Forever`] the hub does not sleep: after each 64 spins, which check functions and active receivers, it
//! checks all signals, and the clock if there are timers, and after about a thousand, if there are descriptors, it
//! polls those in one system call. A receiver without a message for some thousands of spins rests: its next message
//! costs its sender a write to a descriptor.
//!
//! # Panics in handlers
//!
//! A panic leaves [`run`](Hub::run), [`run_once`](Hub::run_once) or [`dispatch`](Hub::dispatch). The hub loses what
//! panicked: the posted function; the timer; the receiver or descriptor, which is removed with its handler. It keeps all
//! else, also what this turn had not served yet: catch the panic, and run the hub again. The same holds for panics in the
//! `Drop` of a handler, or of a removed receiver's messages: the hub takes them out of its tables before it drops them.
//!
//! # When not to use it
//!
//! Where a thread serves only one channel (its own `recv` is several times as fast), or a few
//! ([`Select`](crate::signal::Select)). Where there is a loop already: attach receivers to a
//! [`YSocketpair`](crate::signal::YSocketpair) in it, or let it [host](Hub::dispatch) the hub. Handlers must not block, as
//! in every event loop.

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
pub use self::timers::Timer;

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

/// Signals of [`Hub::new`], for receivers and the posted functions: as many as two levels of a set of signals hold.
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
    /// The work since the poller was asked: calls of functions and handlers, and spins counted in calls.
    unasked: usize,
    /// Which hub this is, of all of the process.
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
    /// The kind of what is near that the next turn begins with: the one behind that in which the last turn was stopped, or ended by
    /// a panic.
    first: u8,
    /// The kind behind that which the innermost turn is serving; 0: the descriptors.
    behind: u8,
    /// Dropped last: everything else is attached to it.
    watch: Watch,
}

impl Hub {
    /// A hub for up to 1,983 receivers at a time, and any number of everything else.
    ///
    /// # Errors
    /// Where the system gives no descriptors: those of `epoll_create(2)`, and of `eventfd(2)` or `socketpair(2)`.
    pub fn new() -> io::Result<Self> {
        Self::with_signals(SIGNALS)
    }

    /// A hub for up to `receivers` receivers at a time; takes about a quarter of a byte of memory for each.
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
            // MUTANT: Numbers only have to differ.
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

    /// A handle for another thread to post functions with.
    ///
    /// # Panics
    /// When there are [`mpsc::MAX_SENDERS`] less one already.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(self.sender.clone(), &self.handles)
    }

    // WAITS: as `turn`; ends: a stop, or that nothing can come any more; test: tests/suite/hub/forever.rs:
    //     a_run_asks_the_poller_once_for_a_turn_of_calls
    /// Serves everything until [stopped](Self::stop), or until there is no handle, no source and no timer left. Blocks. May
    /// be called again afterwards. Inside the handler of a receiver or a descriptor, at any depth, it does not wait: there it
    /// is one turn.
    ///
    /// # Errors
    /// Those of the poller, which do not happen to an open one. The hub loses nothing.
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
    /// Serves what there is, in one turn; where there is nothing, waits no longer than `timeout`, and serves what comes.
    /// Returns how many functions and handlers were called (the drop of the last handle counts as one). With `None`, and
    /// `Duration::MAX`, it waits without a time limit, and returns zero only when there is no handle, no source and no timer
    /// left. Inside the handler of a receiver or a descriptor, at any depth, it does not wait.
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
    /// One turn, without waiting: for a loop that hosts this hub, see [`as_fd`](std::os::fd::AsFd::as_fd). Returns how
    /// many functions and handlers were called.
    ///
    /// Watch the hub's descriptor for reading, level-triggered, wait no longer than [`timeout`](Self::timeout), and call
    /// this whenever that wait ends.
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

    /// How long a loop that hosts this hub may wait for its descriptor: until the next timer; `None`: without a time limit.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timers.next().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Makes [`run`](Self::run) return when the handler that calls this is done, or at once if called beforehand. A
    /// [`run_once`](Self::run_once) or [`dispatch`](Self::dispatch) under way ends likewise. Nothing is lost: the hub
    /// serves the rest when it is run again, and begins with what comes behind the source whose handler has stopped
    /// it. Where a handler runs the hub, the innermost `run` at this call clears the stop; inside the handler of a
    /// source, where `run` is one turn, the `run` around that does.
    pub fn stop(&mut self) {
        (self.stopped, self.halted) = (true, true);
    }

    /// Whether [`stop`](Self::stop) was called and `run` has not returned since.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Inside the handler of a receiver or a descriptor: its source, for example to [remove](Self::remove) it.
    #[must_use]
    pub fn current(&self) -> Option<Source> {
        self.current.0
    }

    /// Inside the function of a timer that rings again: that timer, for example to [cancel](Self::cancel) it.
    #[must_use]
    pub fn current_timer(&self) -> Option<Timer> {
        self.current.1
    }

    /// How long to spin before sleeping, from the next wait on. The default is [`Spin::Adaptive`]. What the hub serves, and
    /// how long a source waits for its turn, does not depend on it.
    pub fn set_spin(&mut self, spin: Spin) {
        self.spin = spin;
        self.backoff.spin = spin;
    }

    /// Whether there is no handle, no source, no timer and no posted function left.
    fn is_deserted(&mut self) -> bool {
        self.receivers.table.len() == 0
            && self.descriptors.table.len() == 0
            && self.timers.is_empty()
            // ORDERING: Acquire pairs with the Release in the drop of a handle: the check below sees what handles posted.
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
