#![cfg(not(ysuite_loom))]
mod suite {
    mod broadcast;
}
#[path = "support/mod.rs"]
mod support;
