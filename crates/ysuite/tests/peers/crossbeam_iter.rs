//! Suite: crossbeam-channel tests/iter.rs; upstream 5, carried over here 5, excluded 0.

use crate::common::iterating;

carried! {
    nested_recv_iter => iterating::a_loop_to_the_end(None): Exchange Funnel Pipe;
    recv_iter_break => iterating::a_loop_that_is_left(None): Exchange Funnel Pipe;
    recv_try_iter => iterating::loops_over_what_is_there(Some(2)): Exchange Funnel Pipe;
    recv_into_iter_owned => iterating::an_iterator_that_owns(None): Exchange Funnel Pipe;
    recv_into_iter_borrowed => iterating::an_iterator_that_borrows(None): Exchange Funnel Pipe;
}
