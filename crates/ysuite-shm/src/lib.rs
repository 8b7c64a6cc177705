//! Channels between the processes of one machine. See the README.

#![cfg(target_os = "linux")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(dead_code, reason = "what the channels will use")]

mod error;
mod nap;
mod os;
mod page;
mod sync;

pub use self::error::{Error, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError, Why};
