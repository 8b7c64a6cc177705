//! Suite: kanal tests/sync_test.rs, tests/async_test.rs; upstream 91, carried over here 2, excluded 4.

use crate::common::weak;

carried! {
    sync_weak_sender_normal => weak::while_there_are_senders(None): Exchange Funnel;
    sync_weak_sender_panic => weak::when_the_senders_are_gone(None): Exchange Funnel;
}
