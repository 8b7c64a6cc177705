//! Scenarios that the suites of several peers have in common, each told once: for a kind of channel, and mostly for a bound.

pub(crate) mod alone;
pub(crate) mod choosing;
#[cfg(any())] // waits for `close`
pub(crate) mod closing;
pub(crate) mod crowds;
pub(crate) mod endings;
#[cfg(any())] // waits for `select`
pub(crate) mod facing;
#[cfg(any())] // waits for `identity`
pub(crate) mod identity;
pub(crate) mod iterating;
#[cfg(any())] // waits for `rendezvous`
pub(crate) mod meetings;
#[cfg(any())] // waits for `oneshot`
pub(crate) mod once;
#[cfg(any())] // waits for `permits`
pub(crate) mod room;
#[cfg(any())] // waits for `select`
pub(crate) mod selecting;
pub(crate) mod sinks;
#[cfg(any())] // waits for `batches of tasks`
pub(crate) mod task_batches;
pub(crate) mod tasks;
#[cfg(any())] // waits for `timer`
pub(crate) mod timers;
pub(crate) mod waiting;
#[cfg(any())] // waits for `weak`
pub(crate) mod weak;
