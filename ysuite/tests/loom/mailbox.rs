//! Mailboxes under the model checker: urgent messages against ordinary ones and against a mailbox that goes to sleep,
//! the last address's end, links against ends and sends, names against ends. A mailbox's budget is two urgent messages
//! here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loom::thread;
use ysuite::mailbox::{Builder, Crowding, LinkTerminated, Mailbox, OwnerTerminated, ReceiveError, locate, register};

use crate::{Counted, model, model_up_to};

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
