//! `ybench` from the user's side, in one binary: a module for each command or part. `program` starts it, and `sample` has
//! the data of made-up reports.
#![cfg(target_os = "linux")]

mod cli;
mod clock;
mod compare;
mod footprint;
mod kernel;
mod linux;
mod manners;
mod memory;
mod page;
mod processes;
mod program;
mod recipes;
mod report;
mod rooms;
mod sample;
mod turns;
