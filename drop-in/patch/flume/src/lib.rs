//! `ysuite-flume`, under the name that a program asks for.

pub use ysuite_flume::*;
