//! What only an attached mailbox does: it reports messages that were not checked, of any kind.

use std::thread;
use std::time::Duration;

use crate::conformance::attached::{SetKind, assert_up};
use ysuite::mailbox::{Builder, Crowding, LinkTerminated, Mailbox, ReceiveError};
use ysuite::signal::{SignalSet, Wait};

const NOW: Duration = Duration::ZERO;

macro_rules! for_every_set {
    ($($test:ident),* $(,)?) => {
        mod pollset { $(#[test] fn $test() { super::$test(crate::signal::Pollset(64)) })* }
        #[cfg(target_os = "linux")]
        mod eventfd { $(#[test] fn $test() { super::$test(crate::signal::descriptors::eventfd(64)) })* }
        #[cfg(unix)]
        mod socketpair { $(#[test] fn $test() { super::$test(crate::signal::descriptors::socketpair(64)) })* }
        #[cfg(windows)]
        mod event { $(#[test] fn $test() { super::$test(crate::events::Event(64)) })* }
    };
}

for_every_set!(
    urgent_and_ordinary_messages_are_reported_to_the_last,
    what_was_set_aside_does_not_count,
    a_blocking_receive_that_sets_messages_aside_leaves_it_attached,
    a_search_that_has_not_seen_all_leaves_the_id_up,
    the_ends_of_others_count,
    an_end_that_has_come_before_the_link_counts,
    no_senders_is_reported_until_one_is_there_again,
    an_address_that_goes_is_no_news_where_there_are_others,
);

/// Without a bound, and with one.
fn mailboxes() -> [Mailbox; 2] {
    [Mailbox::new(), Builder::new().bounded(100, Crowding::Block).build()]
}

/// A mailbox that has found itself empty.
#[track_caller]
fn rest(mailbox: &mut Mailbox) {
    assert_eq!(mailbox.receive_timeout::<u64>(NOW), Err(ReceiveError::Timeout));
}

/// Claim: An attached mailbox signals urgent and ordinary messages, link terminations, and messages that a receive did
/// not examine.
/// Also: suite attached::pollset::bounded_mailbox::streams_of_many_senders_are_received_whole,
/// stress mailbox::attached_to_a_pollset.
fn urgent_and_ordinary_messages_are_reported_to_the_last<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (kind.set(), mailbox.address());
        set.attach(&mut mailbox, 63).unwrap();
        rest(&mut mailbox);
        for number in 0..20_u64 {
            address.send_priority(number).unwrap();
            address.send(20 + number).unwrap();
        }
        for expected in 0..40_u64 {
            assert!(set.wait().eq([63]));
            assert_eq!(mailbox.receive_timeout(NOW), Ok(expected));
        }
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
    }
}

fn an_end_that_has_come_before_the_link_counts<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let (mut set, _address) = (kind.set(), mailbox.address());
        let gone = Mailbox::new().address();
        set.attach(&mut mailbox, 5).unwrap();
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
        mailbox.link(&gone);
        assert_up(&mut set, &[5]);
        assert!(mailbox.receive_timeout::<LinkTerminated>(NOW).is_ok());
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
    }
}

fn a_blocking_receive_that_sets_messages_aside_leaves_it_attached<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (kind.set(), mailbox.address());
        set.attach(&mut mailbox, 8).unwrap();
        for number in 0..50_u64 {
            let other = address.clone();
            let thread = thread::spawn(move || other.send(number).unwrap());
            let timed_out = mailbox.receive_timeout::<char>(Duration::from_micros(20));
            assert_eq!(timed_out, Err(ReceiveError::Timeout));
            assert_eq!(mailbox.receive(), Ok(number));
            thread.join().unwrap();
            rest(&mut mailbox);
            assert_up(&mut set, &[]);
            address.send(number).unwrap();
            assert_up(&mut set, &[8]);
            assert_eq!(mailbox.receive(), Ok(number));
        }
    }
}

fn what_was_set_aside_does_not_count<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (kind.set(), mailbox.address());
        set.attach(&mut mailbox, 0).unwrap();
        address.send("ordinary").unwrap();
        address.send_priority("urgent").unwrap();
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
        assert_eq!(mailbox.set_aside(), 2);
        // The next one is reported, and what is set aside is there for a later receive.
        address.send(1_u64).unwrap();
        assert_up(&mut set, &[0]);
        assert_eq!(mailbox.receive_timeout(NOW), Ok("urgent"));
        assert_eq!(mailbox.receive_timeout(NOW), Ok(1_u64));
        assert_eq!(mailbox.receive_timeout(NOW), Ok("ordinary"));
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
    }
}

fn a_search_that_has_not_seen_all_leaves_the_id_up<K: SetKind>(kind: K) {
    let (mut set, mut mailbox) = (kind.set(), Mailbox::new());
    let address = mailbox.address();
    set.attach(&mut mailbox, 1).unwrap();
    (0..5_000).for_each(|number: i32| address.send(number).unwrap());
    rest(&mut mailbox);
    assert!(mailbox.set_aside() < 5_000);
    assert_up(&mut set, &[1]);
    rest(&mut mailbox);
    assert_eq!(mailbox.set_aside(), 5_000);
    assert_up(&mut set, &[]);
}

fn the_ends_of_others_count<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let mut set = kind.set();
        set.attach(&mut mailbox, 7).unwrap();
        let (linked, owned) = (Mailbox::new(), mailbox.spawn_linked(|mailbox| mailbox.receive::<()>().is_ok()));
        mailbox.link(&linked.address());
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
        let address = linked.address();
        thread::spawn(move || drop(linked)).join().unwrap();
        assert!(set.wait().eq([7]));
        let end: LinkTerminated = mailbox.receive_timeout(NOW).unwrap();
        assert_eq!(end.address(), &address);
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
        owned.send(()).unwrap();
        assert!(set.wait().eq([7]));
        let end: LinkTerminated = mailbox.receive_timeout(NOW).unwrap();
        assert_eq!(end.address(), &owned);
    }
}

fn no_senders_is_reported_until_one_is_there_again<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (kind.set(), mailbox.address());
        set.attach(&mut mailbox, 2).unwrap();
        rest(&mut mailbox);
        thread::spawn(move || drop(address)).join().unwrap();
        // As a disconnected socket stays readable.
        for _ in 0..3 {
            assert!(set.wait().eq([2]));
            assert_eq!(mailbox.receive_timeout::<u64>(NOW), Err(ReceiveError::Disconnected));
        }
        let address = mailbox.address();
        rest(&mut mailbox);
        assert_up(&mut set, &[]);
        address.send(1_u64).unwrap();
        assert_up(&mut set, &[2]);
    }
}

fn an_address_that_goes_is_no_news_where_there_are_others<K: SetKind>(kind: K) {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (kind.set(), mailbox.address());
        set.attach(&mut mailbox, 3).unwrap();
        rest(&mut mailbox);
        drop(address.clone());
        assert_up(&mut set, &[]);
        drop(address);
        assert_up(&mut set, &[3]);
    }
}
