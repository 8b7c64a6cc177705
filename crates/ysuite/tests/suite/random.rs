//! State machines against models: random sequences of operations, against a plain queue as the model.
//!
//! On one thread everything is exact: what is delivered, given back or dropped, and when; which waiter is woken; what
//! is up. The messages and the wakers are user code that panics, and re-enters the channel. On several threads the
//! scripts are random, and what happened is checked afterwards. A sequence that fails is made as short as it can be,
//! and printed.
//!
//! `YSUITE_RANDOM` is how many operations each room gets, other ones in every run. Without it they are the same each time:
//! a hundred thousand on one thread, and twenty thousand messages on several.

mod checks;
mod exchange;
mod foreign;
mod machine;
mod model;
mod operations;
mod pipe;
mod polling;
mod receiving;
mod rooms;
mod running;
mod select;
mod sending;
mod threads;

use machine::agrees;

/// Claim: Random operations, panics and re-entrant calls agree with a model.
#[test]
fn random_operations_on_an_spsc_channel_agree_with_a_model() {
    agrees::<rooms::Pipe>();
}

#[test]
fn random_operations_on_an_mpsc_channel_agree_with_a_model() {
    agrees::<rooms::Funnel>();
}

/// Claim: Random `mpmc` operations agree with a reference model.
/// Also: suite mpmc::bounded_7::random_operations_agree_with_a_model.
#[test]
fn random_operations_on_an_mpmc_channel_agree_with_a_model() {
    agrees::<rooms::Exchange>();
}
