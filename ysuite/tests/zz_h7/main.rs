#![allow(dead_code, unused_imports, unused_macros)]
mod conformance;
mod mpmc;
mod mpsc;
mod rendezvous;
mod select;
mod spsc;
#[path = "../support/mod.rs"]
mod support;
