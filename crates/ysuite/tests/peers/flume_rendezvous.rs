//! Suite: flume tests/basic.rs, tests/async.rs, tests/stream.rs; upstream 31, carried over here 1, excluded 0.

use crate::common::meetings;

carried! {
    basic_rendezvous => meetings::a_send_ends_with_its_receive: Funnel Pipe;
}
