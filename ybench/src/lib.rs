//! The instrument: measures ways of passing messages between the threads of one process, on this machine.
//!
//! `scenario → record → stats → {table, plot}`. A scenario drives a transport while the clock runs; `rounds` runs all
//! contenders and limits in turn and keeps every figure in a record; tables and plots are made from the record alone,
//! through the ratios that `stats` forms inside each round.
//!
//! | room | what lives there |
//! |---|---|
//! | `transport` | one file for each mechanism measured, and the registry of their names |
//! | `limits` | one file for each kind of thing the machine itself cannot do faster |
//! | `scenario` | what is done with a transport while the clock runs, and the check of every message |
//! | `stage`, `place` | two threads on their CPUs, or many that share them, starting together |
//! | `neighbours`, `memory`, `allocations` | threads that only take the CPU; how much memory the process has, how often a thread asks for some |
//! | `frame`, `plan`, `rounds` | where and how long; who takes part beside which limits; everybody in turn |
//! | `clock` | the clock that single messages are timed with, what it costs, whether it is in step |
//! | `usage` | what a thread has taken of the machine: CPU time, context switches |
//! | `outcome`, `distribution`, `trace` | what one run gave: figures, histograms, single messages |
//! | `record`, `keep` | what was measured; files that are whole or absent |
//! | `stats`, `judgement` | pure figures; what they say about who is fastest |
//! | `table`, `plot` | figures as tables; figures as pictures |
//! | `report` | a kept result shown again: on a terminal, as one page (`templates/`), as Markdown, as CSV |
//! | `env`, `warnings`, `error` | the machine; every doubt with its advice; the two ways to fail |
//! | `cli`, `run`, `interrupt`, `quick`, `selected`, `scale`, `commands`, `article`, `goals`, `compare`, `measurements` | what can be asked for |
//!
//! Nothing here is needed by `ysuite`. Linux only: the limits are those of futex, eventfd, epoll and membarrier.
#![cfg(target_os = "linux")]

pub mod allocations;
pub mod article;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod compare;
pub mod distribution;
pub mod env;
pub mod error;
pub mod frame;
pub mod goals;
pub mod interrupt;
pub mod judgement;
pub mod keep;
pub mod limits;
pub mod measurements;
pub mod memory;
pub mod neighbours;
pub mod outcome;
pub mod place;
pub mod plan;
pub mod plot;
pub mod progress;
pub mod quick;
pub mod record;
pub mod report;
pub mod rounds;
pub mod run;
pub mod scale;
pub mod scenario;
pub mod selected;
pub mod stage;
pub mod stats;
pub mod table;
pub mod trace;
pub mod transport;
pub mod usage;
pub mod warnings;
