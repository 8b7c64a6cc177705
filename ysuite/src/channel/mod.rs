//! c
pub mod spsc;
