//! The features that let other libraries see this one, each against the real thing.

#[cfg(feature = "tokio")]
mod budget;
#[cfg(all(feature = "calloop", unix))]
mod calloop;
#[cfg(feature = "futures")]
mod futures;
#[cfg(all(feature = "mio", unix))]
mod mio;
#[allow(unused)]
#[cfg(feature = "tokio")]
mod tokio;
