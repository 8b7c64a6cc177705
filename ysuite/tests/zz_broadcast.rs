#![cfg(not(ysuite_loom))]
#[path = "suite/broadcast.rs"]
mod broadcast;
#[path = "support/mod.rs"]
mod support;
