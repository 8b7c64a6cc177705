//! The instrument: measures ways of passing messages between the threads of one process, on this machine.
//!
//! `scenario → record → stats → {table, plot}`. The first three are of `ybench-core`, which measures; here is what can be
//! asked for and what is shown. Tables and plots are made from the record alone, through the ratios that `stats` forms
//! inside each round.
//!
//! | room | what lives there |
//! |---|---|
//! | `program` | the whole of it, for a `main` |
//! | `cli`, `run`, `output`, `progress`, `built` | what can be asked for; what all commands share; what is said; how far it is; what the build knows |
//! | `quick`, `choose`, `selected`, `scale`, `rivals`, `commands`, `article`, `goals`, `compare`, `measurements` | the commands |
//! | `clock` | what is shown of the clock that single messages are timed with |
//! | `keep` | files that are whole or absent |
//! | `judgement` | what figures say about who is fastest |
//! | `table`, `plot` | figures as tables; figures as pictures |
//! | `report` | a kept result shown again: on a terminal, as one page (`templates/`), as Markdown, as CSV |
//!
//! Nothing here runs while a clock does, so this crate is compiled for being quick to compile.
#![cfg(target_os = "linux")]

pub mod again;
pub mod article;
pub mod built;
pub mod choose;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod compare;
pub mod finish;
pub mod goals;
pub mod judgement;
pub mod keep;
pub mod measurements;
pub mod output;
pub mod plot;
pub mod program;
pub mod progress;
pub mod quick;
pub mod report;
pub mod rivals;
pub mod run;
pub mod scale;
pub mod selected;
pub mod study;
pub mod table;

// The instrument is one thing to who uses it: what its tests and its `main` need of the other half.
pub use ybench_core::{
    distribution, env, error, interrupt, memory, outcome, place, record, scenario, stats, trace, transport, warnings,
};
