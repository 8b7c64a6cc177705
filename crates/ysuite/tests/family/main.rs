//! The features of ours and of the libraries in README.md: every tick is tested here.
//!
//! A feature is a module with a test for each kind of channel that has it. `readme.rs` compares them with the list in
//! `features.rs`, with README.md, and with docs/guide/feature-matrix.md, which says what each tick means, and for each
//! missing one why it is missing. The versions of the libraries are there, too.
#![cfg(all(target_os = "linux", not(ysuite_loom)))]

#[macro_use]
mod checks;
mod ends;
// Another package includes it, and has another table.
#[allow(dead_code, unreachable_pub)]
mod features;
mod kinds;
mod readme;
mod room;
#[path = "../support/mod.rs"]
mod support;
mod waiting;

pub(crate) use checks::{SOON, in_tokio};
pub(crate) use features::Feature;
pub(crate) use support::guarded;

/// A feature, and a kind that has it.
pub(crate) type Tick = (Feature, &'static str);
