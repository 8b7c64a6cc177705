//! The instrument: measures ways of passing messages between the threads of one process, on this machine.
//!
//! `scenario → record → stats → {table, plot}`. The first three are of `ybench-core`, which measures; here is what can be
//! asked for and what is shown. Tables and plots are made from the record alone, through the ratios that `stats` forms
//! inside each round.
//!
//! | room | what lives there |
//! |---|---|
//! | `program`, `finish` | the whole of it, for a `main`; the way out of every measurement |
//! | `cli`, `request` | what can be asked for; a request that can be carried out |
//! | `quick`, `choose`, `selected`, `scale`, `rivals`, `commands`, `article`, `goals`, `clock`, `compare`, `again`, `measurements` | the commands |
//! | `run`, `progress`, `built` | what the commands that measure share; how far it is; what the build knows |
//! | `study` | which study a result is of, and what that says of it |
//! | `report` | a result shown: on a terminal, as one page (`templates/`), as Markdown, as CSV; folders by date |
//! | `table`, `plot` | figures as tables and sentences; figures as pictures |
//! | `judgement`, `keep`, `output` | what figures say about who is fastest; files that are whole or absent; what is said |
//!
//! Each room uses those below it and none above: there is no circle.
//!
//! Nothing here runs while a clock does, so this crate is compiled for being quick to compile.
#![cfg(target_os = "linux")]

pub mod article;
pub mod built;
pub mod choose;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod compare;
pub mod goals;
pub mod judgement;
pub mod limits;
pub mod measure;
pub mod measurements;
pub mod output;
pub mod plot;
pub mod program;
pub mod progress;
pub mod report;
pub mod request;
pub mod results;
pub mod rivals;
pub mod scale;
pub mod storage;
pub mod study;
pub mod table;

// The instrument is one thing to who uses it: what its tests and its `main` need of the other half.
pub use ybench_core::{
    distribution, env, error, interrupt, memory, outcome, place, record, registry, scenario, stats, trace, transport,
    warnings,
};
