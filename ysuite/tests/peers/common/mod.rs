//! Scenarios that the suites of several peers have in common, each told once: for a kind of channel, and mostly for a bound.

pub(crate) mod alone;
pub(crate) mod choosing;
pub(crate) mod crowds;
pub(crate) mod endings;
pub(crate) mod iterating;
pub(crate) mod sinks;
pub(crate) mod tasks;
pub(crate) mod waiting;
