#![allow(dead_code, unused_imports, unused_macros)]
mod attached;
mod conformance;
mod mpmc;
mod mpsc;
mod rendezvous;
mod select;
mod signal;
mod spsc;
#[path = "../support/mod.rs"]
mod support;
