//! The measuring part of the instrument: the code that runs while a clock does, and the result that it writes.
//!
//! `scenario → record → stats`. A scenario drives a transport while the clock runs. `rounds` runs all competitors and
//! baselines in turn and keeps every figure in a result. `stats` forms ratios inside each round. `ybench` reads the
//! command line and shows the result.
//!
//! | module | contents |
//! |---|---|
//! | `transport` | one file for each measured mechanism |
//! | `registry` | the names of all transports, including third-party competitors |
//! | `limits` | the baselines: one file for each kind of bare primitive |
//! | `scenario` | how a transport is driven while the clock runs, and the validation of every message |
//! | `stage`, `place` | two threads on their CPUs, or many that share them, starting together |
//! | `neighbours`, `alarm`, `memory`, `allocations` | threads that only use the CPU; a time limit; memory; allocations |
//! | `frame`, `plan`, `rounds` | place and length of runs; the competitors and baselines of a scenario; the rounds |
//! | `goals` | the project's own targets: the competitors measured for them, and the figures required |
//! | `footprint` | what many channels, a burst, a large message and a build cost |
//! | `clock` | the clock that times single messages, its cost, and whether it is in step between CPUs |
//! | `usage` | what a thread has used: CPU time, context switches |
//! | `outcome`, `distribution`, `trace` | the output of one run: figures, histograms, single messages |
//! | `record`, `names`, `figures` | the result; the names of its parts; its figures as text |
//! | `stats` | pure figures: spreads, ratios, intervals, verdicts. A package with `distribution`, to be always optimised |
//! | `env`, `warnings`, `error`, `interrupt` | the machine; every warning with its advice; the ways to fail; Ctrl-C |
//!
//! This crate is optimised and `ybench` is not, so no measured loop may be compiled there. Whatever is generic over a
//! transport or a message is instantiated here for each of them. `ybench` has functions that are not generic, and
//! pointers to these. `ci/steps/loops` checks that.
//!
//! `ysuite` does not depend on this crate. Linux only: the baselines are those of futex, eventfd, epoll and membarrier.
#![cfg(target_os = "linux")]

pub mod alarm;
pub mod allocations;
pub mod clock;
pub mod env;
pub mod error;
pub mod figures;
pub mod footprint;
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
pub mod spelling;
pub mod stage;
pub mod trace;
pub mod transport;
pub mod usage;
pub mod warnings;

pub use ybench_stats::{self as stats, distribution};
