//! The compatibility suite: what the tests of other channel libraries set up, do and observe, written again for ours.
//!
//! An acceptance suite, and a binary of its own: it is written against the public interface alone, by way of the enumerations
//! in `ends.rs`, so it is quick to compile, and a scenario holds for every channel that supports it. Nothing in it
//! is a copy; a test's name upstream is the left column of each `carried!`, for reference.
//!
//! A file for each suite of a peer, which begins with its counts. What several peers test alike is in `common/`. What is not
//! carried over, and why, is in `EXCLUDED.md`; `counts.rs` checks that every count is right. Of suites that run as they are
//! against the facades of `drop-in` only that is here which the facades do not reach.
#![cfg(not(ysuite_loom))]

/// Carries scenarios over: the test's name upstream, our function (with its arguments), the kinds that support it. One
/// test for each kind, with a guard against hanging.
macro_rules! carried {
    ($($upstream:ident => $($ours:ident)::+ $(($($told:expr),+))? $(: $($kind:ident)+)?;)+) => {
        $(carried!(@one $upstream [$($ours)::+] [$($($told),+)?] $($($kind)+)?);)+
    };
    (@one $upstream:ident [$($ours:ident)::+] [$($told:expr),*]) => {
        mod $upstream {
            use super::*;

            #[test]
            fn once() {
                $crate::support::guarded(|| $($ours)::+($($told),*));
            }
        }
    };
    (@one $upstream:ident $ours:tt $told:tt $($kind:ident)+) => {
        #[allow(non_snake_case)]
        mod $upstream {
            use super::*;
            $(carried!(@kind $ours $told $kind);)+
        }
    };
    (@kind [$($ours:ident)::+] [$($told:expr),*] $kind:ident) => {
        #[test]
        fn $kind() {
            $crate::support::guarded(|| $($ours)::+($crate::ends::Kind::$kind $(, $told)*));
        }
    };
}

mod common;
mod counts;
mod ends;
#[path = "../support/mod.rs"]
mod support;
mod tools;

mod async_channel;
mod crossbeam_after;
mod crossbeam_array;
mod crossbeam_golang;
mod crossbeam_golang_select;
mod crossbeam_iter;
mod crossbeam_list;
mod crossbeam_mpsc;
mod crossbeam_never;
mod crossbeam_ready;
mod crossbeam_ready_sends;
mod crossbeam_same_channel;
mod crossbeam_select;
mod crossbeam_select_macro;
mod crossbeam_thread_locals;
mod crossbeam_tick;
mod crossbeam_zero;
mod crossbeam_zero_select;
mod d_concurrency;
mod flume;
mod flume_rendezvous;
mod flume_select;
mod futures_mpsc;
mod futures_mpsc_close;
mod futures_oneshot;
mod kanal;
mod kanal_close;
mod kanal_oneshot;
mod kanal_send_many;
mod kanal_stream;
mod kanal_weak;
mod std_mpsc;
mod std_mpsc_sync;
mod std_oneshot;
mod tokio_broadcast;
mod tokio_broadcast_weak;
mod tokio_mpsc;
mod tokio_mpsc_close;
mod tokio_mpsc_permits;
mod tokio_mpsc_tasks;
mod tokio_oneshot;
mod tokio_watch;
mod tokio_weak;
