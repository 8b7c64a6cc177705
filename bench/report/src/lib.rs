//! `ybench`: benchmarks for passing messages between the threads of one process, on this machine.
//!
//! `scenario → record → stats → {table, plot}`. `ybench-measure` has the first three and measures. This crate has the
//! command line and the output. Tables and plots are made from the result alone, by the ratios that `stats` forms
//! within each round.
//!
//! | module | contents |
//! |---|---|
//! | `program`, `results` | the whole program, for a `main`; prints, draws and stores the result of a measurement |
//! | `cli`, `request` | the command line; a valid request |
//! | `commands`, `choose`, `scale`, `footprint`, `competitors`, `article`, `goals` | commands |
//! | `limits`, `clock`, `compare`, `turns`, `measurements`, `manual` | further commands |
//! | `measure`, `progress`, `built`, `turn` | shared by the commands that measure; the progress bar; facts from the build; a turn beside another program |
//! | `study` | which analysis belongs to a result |
//! | `report` | a result on a terminal, as one page (`templates/`), as Markdown, as CSV; output folders by date |
//! | `table`, `plot` | figures as tables and sentences; figures as pictures |
//! | `doubts`, `quantity` | warnings as lines; numbers such as 10k and 4KiB |
//! | `judgement`, `storage`, `output` | the verdict on the fastest; files, written atomically; standard output |
//!
//! Each module uses only modules below it: there are no cycles.
//!
//! Nothing here runs while a clock does, so this crate is compiled for a short build.
#![cfg(target_os = "linux")]

pub mod article;
pub mod built;
pub mod choose;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod compare;
pub mod competitors;
pub mod doubts;
pub mod footprint;
pub mod goals;
pub mod judgement;
pub mod limits;
pub mod manual;
pub mod measure;
pub mod measurements;
pub mod output;
pub mod plot;
pub mod program;
pub mod progress;
pub mod quantity;
pub mod report;
pub mod request;
pub mod results;
pub mod scale;
pub mod storage;
pub mod study;
pub mod table;
pub mod turn;
pub mod turns;

// Users see one crate: `main` and the tests find here what they need of `ybench-measure`.
pub use ybench_measure::{
    distribution, env, error, interrupt, memory, outcome, place, record, registry, scenario, stats, trace, transport,
    warnings,
};
