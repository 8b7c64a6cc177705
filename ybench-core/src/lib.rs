//! What measures: the part of the instrument that runs while a clock does, and what that leaves in a record.
//!
//! `scenario → record → stats`. A scenario drives a transport while the clock runs; `rounds` runs all contenders and
//! limits in turn and keeps every figure in a record; `stats` forms ratios inside each round. What is asked for on a
//! command line and what is shown of a record are the business of `ybench`.
//!
//! | room | what lives there |
//! |---|---|
//! | `transport` | one file for each mechanism measured |
//! | `registry` | the names of all transports, and the guests |
//! | `limits` | one file for each kind of thing the machine itself cannot do faster |
//! | `scenario` | what is done with a transport while the clock runs, and the check of every message |
//! | `stage`, `place` | two threads on their CPUs, or many that share them, starting together |
//! | `neighbours`, `alarm`, `memory`, `allocations` | threads that only take the CPU; when a run is to stop; how much memory the process has, how often a thread asks for some |
//! | `frame`, `plan`, `rounds` | where and how long; who takes part beside which limits; everybody in turn |
//! | `goals` | the project's own targets: who is measured for them, and what is wanted |
//! | `clock` | the clock that single messages are timed with, what it costs, whether it is in step |
//! | `usage` | what a thread has taken of the machine: CPU time, context switches |
//! | `outcome`, `distribution`, `trace` | what one run gave: figures, histograms, single messages |
//! | `record`, `names`, `figures` | what was measured; what its parts are called; its figures as text |
//! | `stats` | pure figures: spreads, ratios, intervals, verdicts. A package, with `distribution`, so that they are optimised wherever they are used |
//! | `env`, `warnings`, `error`, `interrupt` | the machine; every doubt with its advice; the two ways to fail; Ctrl-C |
//!
//! This crate is optimised and `ybench` is not, so no loop that is measured may be compiled there: whatever is generic over
//! a transport or a message is made for each of them here, and `ybench` has functions that are not generic, and pointers to
//! them. `ci/loops` looks.
//!
//! Nothing here is needed by `ysuite`. Linux only: the limits are those of futex, eventfd, epoll and membarrier.
#![cfg(target_os = "linux")]

pub mod alarm;
pub mod allocations;
pub mod clock;
pub mod env;
pub mod error;
pub mod figures;
pub mod frame;
pub mod goals;
pub mod interrupt;
pub mod limits;
pub mod memory;
mod names;
pub mod neighbours;
pub mod outcome;
pub mod place;
pub mod plan;
pub mod record;
pub mod registry;
pub mod rounds;
pub mod scenario;
pub mod stage;
pub mod trace;
pub mod transport;
pub mod usage;
pub mod warnings;

pub use ybench_stats::{self as stats, distribution};
