//! Suite: std tests/sync/oneshot.rs; upstream 21, carried over here 21, excluded 0.

use std::ptr;

use ysuite::oneshot;

use crate::common::once;

carried! {
    is_ready_after_send => once::asked_too_early_and_too_late;
    is_ready_after_sender_drop => the_end_is_known;
    send_before_try_recv => once::sent_and_received;
    send_before_recv => once::sent_and_received;
    sender_drop => once::the_sender_goes;
    send_never_deadline => once::the_sender_goes;
    send_before_recv_timeout => once::sent_and_received;
    send_error => once::the_receiver_goes;
    recv_before_send => once::between_threads(false, true);
    recv_timeout_before_send => once::between_threads(false, false);
    recv_then_drop_sender => once::the_sender_goes;
    drop_sender_then_recv => once::the_sender_goes;
    try_recv_empty => once::asked_too_early_and_too_late;
    try_recv_then_drop_receiver => once::both_go_at_once(false);
    recv_no_time => once::asked_too_early_and_too_late;
    recv_deadline_passed => once::asked_too_early_and_too_late;
    recv_time_passed => once::asked_too_early_and_too_late;
    non_send_type_can_be_used_on_same_thread => a_message_that_stays_on_its_thread;
    message_in_channel_dropped_on_receiver_drop => once::dropped_once;
    send_error_drops_message_correctly => once::dropped_once;
    send_error_drops_message_correctly_on_extract => once::dropped_once;
}

fn the_end_is_known() {
    let (tx, rx) = oneshot::channel::<()>();
    assert!(!rx.is_disconnected());
    drop(tx);
    assert!(rx.is_disconnected() && rx.is_empty());
    assert!(rx.recv().is_err());
}

fn a_message_that_stays_on_its_thread() {
    let (tx, mut rx) = oneshot::channel::<*const u8>();
    tx.send(ptr::null()).unwrap();
    assert_eq!(rx.try_recv(), Ok(ptr::null()));
}
