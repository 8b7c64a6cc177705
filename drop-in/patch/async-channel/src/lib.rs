//! `ysuite-async-channel`, under the name that a program asks for.

pub use ysuite_async_channel::*;
