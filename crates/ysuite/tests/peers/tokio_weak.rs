//! Suite: tokio tests/sync_mpsc_weak.rs; upstream 28, carried over here 24, excluded 4.

use ysuite::mpmc;

use crate::common::{endings, weak};

carried! {
    weak_sender => weak::the_last_message(11): Exchange Funnel;
    actor_weak_sender => weak::an_actor_that_sends_to_itself(Some(8)): Exchange Funnel;
    test_msgs_dropped_on_rx_drop => endings::unreceived_messages_are_dropped(Some(3)): Exchange Funnel;
    downgrade_upgrade_sender_success => weak::while_there_are_senders(Some(1)): Exchange Funnel;
    downgrade_upgrade_sender_failure => weak::when_the_senders_are_gone(Some(1)): Exchange Funnel;
    downgrade_drop_upgrade => weak::when_the_senders_are_gone(Some(1)): Exchange Funnel;
    downgrade_get_permit_upgrade_no_senders => a_permit_is_a_sender;
    downgrade_upgrade_get_permit_no_senders => an_upgraded_one_is_a_permit;
    test_tx_count_weak_sender => weak::upgraded_while_the_last_one_goes(Some(4)): Exchange Funnel;
    weak_unbounded_sender => weak::the_last_message(64): Exchange Funnel;
    actor_weak_unbounded_sender => weak::an_actor_that_sends_to_itself(None): Exchange Funnel;
    test_msgs_dropped_on_unbounded_rx_drop => endings::unreceived_messages_are_dropped(None): Exchange Funnel;
    downgrade_upgrade_unbounded_sender_success => weak::while_there_are_senders(None): Exchange Funnel;
    downgrade_upgrade_unbounded_sender_failure => weak::when_the_senders_are_gone(None): Exchange Funnel;
    downgrade_drop_upgrade_unbounded => weak::when_the_senders_are_gone(None): Exchange Funnel;
    test_tx_count_weak_unbounded_sender => weak::upgraded_while_the_last_one_goes(None): Exchange Funnel;
    test_rx_is_closed_when_dropping_all_senders_except_weak_senders => weak::when_the_senders_are_gone(Some(10)): Exchange Funnel;
    test_rx_unbounded_is_closed_when_dropping_all_senders_except_weak_senders => weak::when_the_senders_are_gone(None): Exchange Funnel;
    sender_strong_count_when_cloned => weak::senders_are_counted(Some(1)): Exchange Funnel;
    sender_strong_count_when_dropped => weak::senders_are_counted(Some(1)): Exchange Funnel;
    sender_strong_and_weak_conut => weak::senders_are_counted(Some(1)): Exchange Funnel;
    unbounded_sender_strong_count_when_cloned => weak::senders_are_counted(None): Exchange Funnel;
    unbounded_sender_strong_count_when_dropped => weak::senders_are_counted(None): Exchange Funnel;
    unbounded_sender_strong_and_weak_conut => weak::senders_are_counted(None): Exchange Funnel;
}

/// A permit that has its sender with it counts as one.
fn a_permit_is_a_sender() {
    let (tx, _rx) = mpmc::bounded::<i32>(1);
    let weak = tx.downgrade();
    let permit = tx.reserve_owned().map_err(drop).unwrap();
    assert!(weak.upgrade().is_some());
    drop(permit);
    assert!(weak.upgrade().is_none());
}

fn an_upgraded_one_is_a_permit() {
    let (tx, _rx) = mpmc::bounded::<i32>(1);
    let weak = tx.downgrade();
    let upgraded = weak.upgrade().unwrap();
    drop(tx);
    let permit = upgraded.reserve_owned().map_err(drop).unwrap();
    assert!(weak.upgrade().is_some());
    drop(permit);
    assert!(weak.upgrade().is_none());
}
