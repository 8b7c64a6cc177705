#![warn(missing_docs)]
//! placeholder
pub mod channel;
#[doc(hidden)]
pub mod os;
pub mod queue;
pub mod signal;
mod sync;
pub use channel::spsc;
