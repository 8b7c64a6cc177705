//! Mailboxes under the model checker: urgent messages against ordinary ones and against a mailbox that goes to sleep,
//! the drop of the last address, links against drops and sends, names against drops. A mailbox's budget is two urgent
//! messages here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loom::thread;
use ysuite::mailbox::{Builder, Crowding, LinkTerminated, Mailbox, OwnerTerminated, ReceiveError, locate, register};
use ysuite::{mpmc, select};

use crate::{Counted, model, model_up_to};

/// Claim: No wake-up of a mailbox is lost, for urgent and for ordinary messages.
/// Also: model slow_sender::a_slow_urgent_sender_against_a_mailbox_that_sleeps_twice,
/// stress mailbox::one_kind_at_a_time.
#[test]
fn an_urgent_message_against_a_mailbox_going_to_sleep() {
    model(|| {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let thread = thread::spawn(move || address.send_priority(1_u8).unwrap());
        assert_eq!(mailbox.receive(), Ok(1_u8));
        assert_eq!(mailbox.receive::<u8>(), Err(ReceiveError::Disconnected));
        thread.join().unwrap();
    });
}

#[test]
fn urgent_after_ordinary_against_a_mailbox_going_to_sleep() {
    model_up_to(2, || {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let thread = thread::spawn(move || {
            address.send(1_u8).unwrap();
            address.send_priority(2_u8).unwrap();
            address.send(3_u8).unwrap();
        });
        let all: Vec<u8> = (0..3).map(|_| mailbox.receive().unwrap()).collect();
        let ordinary: Vec<u8> = all.iter().copied().filter(|number| *number != 2).collect();
        assert_eq!(ordinary, [1, 3], "{all:?}");
        assert_eq!(all.len(), 3);
        thread.join().unwrap();
    });
}

/// The sender has seen the token of one arming and takes that of a later one, for a message that is received by then.
#[test]
fn urgent_messages_one_after_another_against_a_mailbox_going_to_sleep() {
    model_up_to(2, || {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let thread = thread::spawn(move || (1..4_u8).for_each(|number| address.send_priority(number).unwrap()));
        (1..4_u8).for_each(|number| assert_eq!(mailbox.receive(), Ok(number)));
        thread.join().unwrap();
    });
}

#[test]
fn an_urgent_and_an_ordinary_message_at_once() {
    model_up_to(1, || {
        let mut mailbox = Mailbox::new();
        let (one, two) = (mailbox.address(), mailbox.address());
        let first = thread::spawn(move || one.send(1_u8).unwrap());
        let second = thread::spawn(move || two.send_priority(2_u8).unwrap());
        assert_eq!(mailbox.receive::<u8>().unwrap() + mailbox.receive::<u8>().unwrap(), 3);
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// Claim: Urgent messages overtake ordinary ones and keep their own order.
/// Also: suite mailbox::order::urgent_messages_overtake_and_keep_their_own_order,
/// suite mailbox::random::random_operations_do_what_the_model_does.
#[test]
fn an_urgent_message_is_asked_for_before_the_ordinary_ones_around_it() {
    model_up_to(2, || {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let thread = thread::spawn(move || {
            address.send('a').unwrap();
            address.send_priority(1_u8).unwrap();
            address.send('b').unwrap();
        });
        // The mailbox sets ordinary messages aside that it finds on the way.
        assert_eq!(mailbox.receive(), Ok(1_u8));
        assert_eq!((mailbox.receive(), mailbox.receive()), (Ok('a'), Ok('b')));
        thread.join().unwrap();
    });
}

/// Claim: Dropping the last address wakes a mailbox that nothing can reach any more.
/// Also: suite mailbox::a_mailbox_whose_last_address_goes_is_woken,
/// suite mailbox::relations::nothing_comes_behind_disconnected.
#[test]
fn the_last_address_against_a_mailbox_going_to_sleep() {
    model(|| {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let other = address.clone();
        let thread = thread::spawn(move || drop(address));
        drop(other);
        assert_eq!(mailbox.receive::<u8>(), Err(ReceiveError::Disconnected));
        thread.join().unwrap();
    });
}

/// Claim: No wake-up of a bounded mailbox is lost, on either side.
/// Also: suite mailbox::bounds::a_sender_without_room_waits_for_it, stress mailbox::with_a_bound.
#[test]
fn a_bounded_mailbox_going_to_sleep_against_sending() {
    model_up_to(2, || {
        let mut mailbox = Builder::new().bounded(1, Crowding::Block).build();
        let address = mailbox.address();
        let thread = thread::spawn(move || {
            address.send(1_u8).unwrap();
            address.send(2_u8).unwrap();
        });
        assert_eq!((mailbox.receive(), mailbox.receive()), (Ok(1_u8), Ok(2_u8)));
        assert_eq!(mailbox.receive::<u8>(), Err(ReceiveError::Disconnected));
        thread.join().unwrap();
    });
}

/// Claim: A full mailbox drops the oldest or the newest message, once.
/// Also: suite mailbox::bounds::dropping_the_oldest_under_a_crowd_loses_none_without_dropping_it.
#[test]
fn dropping_the_oldest_against_receiving() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let mut mailbox = Builder::new().bounded(1, Crowding::DropOldest).build();
        let address = mailbox.address();
        address.send(Counted(ended.clone())).unwrap();
        let count = ended.clone();
        let thread = thread::spawn(move || address.send(Counted(count)).unwrap());
        drop(mailbox.receive::<Counted>().unwrap());
        let _ = mailbox.receive_timeout::<Counted>(Duration::ZERO);
        thread.join().unwrap();
        let _ = mailbox.receive_timeout::<Counted>(Duration::ZERO);
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    });
}

/// Claim: The termination of a linked mailbox is reported once, after all messages that it sent.
/// Also: suite mailbox::relations::the_end_of_a_link_comes_behind_its_last_message,
/// stress mailbox::links_that_come_and_go.
#[test]
fn a_links_end_against_sending_to_it() {
    model_up_to(2, || {
        let ended = Arc::new(AtomicUsize::new(0));
        let (mut watching, linked) = (Mailbox::new(), Mailbox::new());
        let address = linked.address();
        watching.link(&address);
        let thread = thread::spawn(move || drop(linked));
        let sent = address.send(Counted(ended.clone())).is_ok();
        let end = watching.receive::<LinkTerminated>().unwrap();
        assert!(*end.address() == address && end.panic_message().is_none());
        // The mailbox has ended when its end is announced. A message sent before was dropped with it, or has come back.
        assert!(address.send(Counted(ended.clone())).is_err());
        thread.join().unwrap();
        assert_eq!(ended.load(Ordering::Relaxed), 2, "{sent}");
        assert_eq!(watching.receive::<LinkTerminated>(), Err(ReceiveError::Disconnected));
    });
}

#[test]
fn linking_against_the_end_of_the_linked_mailbox() {
    model(|| {
        let (mut watching, linked) = (Mailbox::new(), Mailbox::new());
        let address = linked.address();
        let thread = thread::spawn(move || drop(linked));
        watching.link(&address);
        assert!(watching.receive::<LinkTerminated>().is_ok());
        assert_eq!(watching.receive::<LinkTerminated>(), Err(ReceiveError::Disconnected));
        thread.join().unwrap();
    });
}

/// Claim: Two linked mailboxes that terminate at once leave nothing allocated or registered.
/// Also: suite mailbox::relations::links_in_a_circle_end_one_after_the_other.
#[test]
fn two_linked_mailboxes_end_at_once() {
    model_up_to(2, || {
        let (mut one, mut two) = (Mailbox::new(), Mailbox::new());
        one.link(&two.address());
        two.link(&one.address());
        let thread = thread::spawn(move || drop(one));
        drop(two);
        thread.join().unwrap();
    });
}

/// Claim: A removed link is reported before its removal or not at all.
/// Also: suite mailbox::relations::a_link_is_told_once_and_can_be_taken_back.
#[test]
fn a_link_that_is_taken_back_against_its_end() {
    model_up_to(2, || {
        let (mut watching, linked) = (Mailbox::new(), Mailbox::new());
        let address = linked.address();
        watching.link(&address);
        let thread = thread::spawn(move || drop(linked));
        watching.unlink(&address);
        // A notice that was on its way arrives. No other message can come: no address of this mailbox is left.
        let notice = watching.receive::<LinkTerminated>();
        if notice.is_ok() {
            assert_eq!(watching.receive::<LinkTerminated>(), Err(ReceiveError::Disconnected));
        } else {
            assert_eq!(notice, Err(ReceiveError::Disconnected));
        }
        thread.join().unwrap();
    });
}

/// Claim: The termination of an owner reaches all mailboxes that it owns.
#[test]
fn an_owners_end_against_the_wait_of_the_owned_mailbox() {
    model_up_to(2, || {
        let mut owner = Mailbox::new();
        let (address, thread) =
            Builder::new().spawn_owned(&mut owner, |mailbox| mailbox.receive::<OwnerTerminated>().is_ok()).unwrap();
        drop(address);
        drop(owner);
        assert!(thread.join().unwrap());
    });
}

/// Claim: The last message of an owned mailbox reaches its owner.
#[test]
fn a_childs_last_words_against_the_wait_of_its_owner() {
    model_up_to(2, || {
        let mut owner = Mailbox::new();
        let (address, thread) =
            Builder::new().spawn_owned(&mut owner, |mailbox| mailbox.owner().unwrap().send(1_u8).is_ok()).unwrap();
        drop(address);
        assert_eq!(owner.receive(), Ok(1_u8));
        assert_eq!(owner.receive::<u8>(), Err(ReceiveError::Disconnected));
        assert!(thread.join().unwrap());
    });
}

/// Claim: A name has one mailbox at a time and is released when that mailbox terminates.
/// Also: suite mailbox::names::threads_that_race_for_a_name.
#[test]
fn a_name_against_the_end_of_its_mailbox() {
    model(|| {
        let mailbox = Mailbox::new();
        let address = mailbox.address();
        let thread = thread::spawn(move || drop(mailbox));
        let registered = register("a name", &address).is_ok();
        let located = locate("a name");
        assert!(registered || located.is_none());
        drop(located);
        thread.join().unwrap();
        assert_eq!(locate("a name"), None);
    });
}

/// Claim: No wake-up of a mailbox in a select is lost, for urgent and for ordinary messages.
/// Also: suite mailbox::selected::a_crowd_of_senders_loses_nothing.
#[test]
fn messages_against_a_select_going_to_sleep() {
    for bound in [None, Some(2)] {
        model_up_to(2, move || {
            let builder = Builder::new();
            let mut mailbox = bound.map_or(builder.clone(), |bound| builder.bounded(bound, Crowding::Error)).build();
            let (address, (_idle, idle_in)) = (mailbox.address(), mpmc::bounded::<u8>(1));
            let thread = thread::spawn(move || {
                address.send(1_u8).unwrap();
                address.send_priority(2_u8).unwrap();
                address
            });
            let mut next = || select().recv(mailbox.receiving::<u8>(), |got| got.unwrap()).recv(&idle_in, |_| 0).wait();
            assert_eq!(next() + next(), 3);
            drop(thread.join().unwrap());
        });
    }
}
