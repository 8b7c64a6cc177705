//! The features that let other libraries see this one, each against the real thing.
#![cfg(not(ysuite_loom))]

#[cfg(all(feature = "calloop", unix))]
#[path = "integrations/calloop.rs"]
mod calloop;
#[cfg(feature = "futures")]
#[path = "integrations/futures.rs"]
mod futures;
#[cfg(all(feature = "mio", unix))]
#[path = "integrations/mio.rs"]
mod mio;
#[allow(unused)]
mod support;
#[cfg(all(feature = "tokio", unix))]
#[path = "integrations/tokio.rs"]
mod tokio;
