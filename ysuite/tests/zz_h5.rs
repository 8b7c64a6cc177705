#![cfg(not(ysuite_loom))]
#[path = "support/mod.rs"]
mod support;
#[path = "suite/mpmc/weak.rs"]
mod weak;
#[path = "suite/mpmc/close.rs"]
mod close;
#[path = "suite/mpmc/force.rs"]
mod force;
#[path = "suite/mpmc/permits.rs"]
mod permits;
#[path = "suite/mpmc/tasks.rs"]
mod tasks;
