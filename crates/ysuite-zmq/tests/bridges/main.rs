//! Bridges, from outside: every pattern over every transport, closing, faults, and admission.

#[path = "../support/mod.rs"]
mod support;

mod addresses;
mod bad_input;
mod closing;
mod duplex;
mod faults;
mod forked;
mod idle;
mod options;
mod panics;
mod patterns;
mod python;
mod questions;
mod security;
mod signals;
mod topics;
mod traps;
mod wires;
