//! The instrument as its user meets it, in one binary: a module for each command or part, `program` starts it, `sample`
//! is what made-up reports are made of.
#![cfg(target_os = "linux")]

mod cli;
mod clock;
mod compare;
mod kernel;
mod linux;
mod memory;
mod page;
mod program;
mod report;
mod rooms;
mod sample;
