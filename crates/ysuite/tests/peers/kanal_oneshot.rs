//! Suite: kanal tests/oneshot_test.rs; upstream 12, carried over here 12, excluded 0.
//!
//! kanal's is a rendezvous: a send fails when the receiver goes without the message. Here it succeeds as long as there is a
//! receiver, and the message goes with it.

use crate::common::once;

carried! {
    simple => once::between_threads(false, false);
    receive_delayed => once::between_threads(false, false);
    send_delayed => once::between_threads(false, true);
    send_drop => once::the_receiver_goes;
    receive_drop => once::the_sender_goes;
    drop_both => once::both_go_at_once(false);
    async_simple => once::between_threads(true, false);
    async_receive_delayed => once::between_threads(true, false);
    async_send_delayed => once::between_threads(true, true);
    async_send_drop => once::the_receiver_goes;
    async_receive_drop => once::the_sender_goes;
    async_drop_both => once::both_go_at_once(true);
}
