//! What all handles of a channel share besides the channel itself. Any thread.

use core::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ysuite::in_place::Stop;
use ysuite::signal::{Attach, Registration, Signal, Signaler};

use crate::code::{Answer, YS_EINVAL, YS_EMPTY, YS_FULL, YS_OK, YS_STOPPED, YS_TIMEOUT};
use crate::disposal::Disposal;
use crate::message::Class;
use crate::options::Wanted;
use crate::stopper::Stops;
use crate::watch::IS_CHECKED;

pub(crate) struct Channel {
    pub(crate) disposal: Option<Disposal>,
    /// How far apart its slots are, in bytes.
    pub(crate) stride: usize,
    /// How many bytes a message has.
    pub(crate) size: usize,
    /// What messages are aligned to, in bytes, as it was asked for.
    pub(crate) align: usize,
    /// Whether its handles show their windows, if they have any.
    pub(crate) shows_windows: bool,
    /// Ends the waits of its handles.
    pub(crate) stop: Stop,
    /// Wakes those that wait where a `Stop` does not see them.
    others: Option<Arc<dyn Fn() + Send + Sync>>,
    /// What ends the waits of single handles.
    waits: Mutex<Vec<Weak<WaitStop>>>,
    /// Its handles that are in sets.
    attached: Mutex<Vec<AttachedEnd>>,
}

/// A handle in a set, for the thread that stops the channel.
struct AttachedEnd {
    /// The address of the handle.
    end: usize,
    signaler: Signaler,
    id: usize,
}

impl Channel {
    /// `others` wakes those that wait where the channel's `Stop` does not see them.
    pub(crate) fn new(wanted: &Wanted, others: Option<Box<dyn Fn() + Send + Sync>>) -> Self {
        let Wanted { class, size, align, disposal, has_window: shows_windows, .. } = *wanted;
        let others: Option<Arc<dyn Fn() + Send + Sync>> = others.map(Arc::from);
        let (stop, waits, attached) = (stop_of(&others), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        Self { disposal, stride: class.stride, size, align, shows_windows, stop, others, waits, attached }
    }

    /// What ends the waits of one handle, as the channel's stop does those of all.
    pub(crate) fn wait_stop(&self) -> Arc<WaitStop> {
        let wait = Arc::new(WaitStop(stop_of(&self.others)));
        {
            let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
            waits.retain(|other| other.strong_count() != 0);
            waits.push(Arc::downgrade(&wait));
        }
        // A thread that stops the channel either has found it on the list, or is seen here.
        if self.stop.is_set() {
            wait.stop();
        }
        wait
    }

    /// Whether messages are of that size, in slots of that alignment. The checked build ends the process if they are
    /// not.
    pub(crate) fn expect(&self, function: &str, size: usize, align: usize) -> c_int {
        let slots = Class::of(self.size, self.align).map_or(0, |class| class.align);
        let is_so = size == self.size && align.is_power_of_two() && align <= slots;
        if IS_CHECKED && !is_so {
            eprintln!(
                "ysuite: {function} was called for messages of {size} bytes aligned to {align}; those of the channel have {} bytes aligned \
                 to {}.",
                self.size, self.align
            );
            std::process::abort();
        }
        c_int::from_code(if is_so { YS_OK } else { YS_EINVAL })
    }

    fn attached(&self) -> MutexGuard<'_, Vec<AttachedEnd>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle at this address has entered a set or left one. True: it is in one.
    pub(crate) fn moved(&self, end: usize, now: Option<&dyn Attach>) -> bool {
        let mut attached = self.attached();
        attached.retain(|other| other.end != end);
        let before = attached.len();
        now.into_iter().for_each(|now| {
            now.with_registration(&mut |registration: &Registration| {
                attached.push(AttachedEnd { end, signaler: registration.signaler(), id: registration.id() });
            });
        });
        attached.len() != before
    }
}

fn stop_of(others: &Option<Arc<dyn Fn() + Send + Sync>>) -> Stop {
    Stop::with(others.clone().map(|others| Box::new(move || others()) as Box<dyn Fn() + Send + Sync>))
}

/// Ends the waits of one handle.
pub(crate) struct WaitStop(pub(crate) Stop);

impl Stops for WaitStop {
    fn stop(&self) {
        self.0.set();
    }

    fn is_stopped(&self) -> bool {
        self.0.is_set()
    }

    fn of_a_wait(&self) -> Option<&Stop> {
        Some(&self.0)
    }
}

impl Stops for Channel {
    fn stop(&self) {
        self.stop.set();
        let waits: Vec<_> = self.waits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        waits.iter().filter_map(Weak::upgrade).for_each(|wait| wait.stop());
        for end in &*self.attached() {
            end.signaler.signal(end.id);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_set()
    }
}

/// The result of a call that may have found nothing.
pub(crate) trait Found: Answer + Sized {
    fn code(&self) -> isize;

    /// Whether it has found nothing, and may have had to wait.
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        let code = self.code();
        code < 0 && [YS_EMPTY, YS_FULL, YS_TIMEOUT].iter().any(|nothing| *nothing as isize == code)
    }

    /// The same of a channel that was stopped.
    fn stopped() -> Self {
        Self::from_code(YS_STOPPED)
    }
}

impl Found for c_int {
    #[inline(always)]
    fn code(&self) -> isize {
        *self as isize
    }
}

impl Found for isize {
    #[inline(always)]
    fn code(&self) -> isize {
        *self
    }
}
