//! The table of README.md that compares ours with the channels of other libraries: every tick is tested here.
//!
//! A row is a module with a test for each library that has a tick. `readme.rs` compares the rows with README.md, and
//! with docs/guide/feature-matrix.md, which says what each tick means, and for each missing one why it is missing. To
//! add a tick, write the test; the table must follow.
//!
//! The versions of the libraries are in docs/guide/feature-matrix.md.
#![cfg(all(target_os = "linux", not(ysuite_loom)))]

use std::future::Future;

/// What a row is about, and the libraries that have it, as Rust names them.
pub(crate) type Row = (&'static str, &'static [&'static str]);

/// A row of the table: a test for each tick, with a guard against hanging.
macro_rules! row {
    ($module:ident $about:literal $($library:ident $tried:block)+) => {
        pub(crate) mod $module {
            #[allow(unused_imports)]
            use super::*;

            pub(crate) const ROW: $crate::Row = ($about, &[$(stringify!($library)),+]);

            $(#[test]
            fn $library() {
                $crate::support::guarded(|| $tried);
            })+
        }
    };
}

mod ends;
mod kinds;
mod readme;
mod room;
#[path = "../support/mod.rs"]
mod support;
mod waiting;

/// All of them, in the order of the table.
const ROWS: [Row; 24] = [
    waiting::threads_and_tasks::ROW,
    waiting::descriptor::ROW,
    waiting::select_with_sends::ROW,
    waiting::select_over_a_list::ROW,
    kinds::timers::ROW,
    kinds::many_receivers::ROW,
    room::one_order::ROW,
    kinds::rendezvous::ROW,
    kinds::oneshot::ROW,
    kinds::broadcast::ROW,
    kinds::watch::ROW,
    room::batches_sent::ROW,
    room::batches_received::ROW,
    room::permits::ROW,
    room::force_send::ROW,
    waiting::limit_of_a_thread::ROW,
    waiting::limit_of_a_task::ROW,
    ends::close::ROW,
    ends::closed::ROW,
    ends::weak_senders::ROW,
    ends::senders_counted::ROW,
    ends::same_channel::ROW,
    waiting::budget::ROW,
    room::statistics::ROW,
];

/// Runs a future as tokio does, on this thread.
fn in_tokio<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(future)
}
