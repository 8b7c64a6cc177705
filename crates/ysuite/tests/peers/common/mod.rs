//! Scenarios that the suites of several libraries share, each written once: for a kind of channel, and mostly for a
//! bound.

pub(crate) mod alone;
pub(crate) mod choosing;
pub(crate) mod closing;
pub(crate) mod crowds;
pub(crate) mod endings;
pub(crate) mod facing;
pub(crate) mod identity;
pub(crate) mod iterating;
pub(crate) mod meetings;
pub(crate) mod once;
pub(crate) mod room;
pub(crate) mod selecting;
pub(crate) mod sinks;
pub(crate) mod task_batches;
pub(crate) mod tasks;
pub(crate) mod timers;
pub(crate) mod waiting;
pub(crate) mod weak;
