//! Suite: D std.concurrency; upstream 30, carried over here 24, excluded 6.
//!
//! For the mailbox. The tests of that module are blocks without names: the names here say what each is about.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::thread;
use std::time::Duration;

use ysuite::mailbox::{
    Address, Builder, Crowding, Envelope, LinkTerminated, Mailbox, OwnerTerminated, ReceiveError, SendError, locate,
    register, spawn, unregister,
};
use ysuite::{receive, receive_timeout};

use crate::tools::{LONG, SHORT, pause};

carried! {
    receive_variant_last => everything_else_goes_to_the_last_handler;
    receive_free_function => a_function_is_a_handler;
    receive_handler_that_returns_false => a_handler_that_does_not_want_it;
    receive_only_mismatch => another_type_than_expected;
    receive_only_several => several_values_at_once;
    receive_timeout_zero => no_time_at_all;
    receive_timeout_in_time => in_time_and_too_late;
    spawn_with_arguments => a_thread_that_is_told_what_to_do;
    spawn_linked => a_linked_mailbox_is_notified;
    owner_terminated => the_owner_ends_first;
    owner_terminated_uncaught => the_owner_ends_without_a_link;
    owner_tid => who_is_whose_owner;
    this_tid => an_address_is_printed_and_compared;
    priority_send_before => urgent_messages_first;
    priority_send_unmatched => an_unrequested_urgent_message;
    message_box_order => one_senders_order;
    message_box_types => messages_of_every_type;
    message_box_many_threads => many_threads_to_one;
    max_mailbox_size_throw => full_is_an_error;
    max_mailbox_size_ignore => full_means_dropped;
    max_mailbox_size_block => full_means_waiting;
    register_and_locate => names;
    unregister => names_given_back;
    register_ends_with_the_thread => names_end_with_their_owners;
}

const NOW: Duration = Duration::ZERO;

fn with_address() -> (Mailbox, Address) {
    let mailbox = Mailbox::new();
    let address = mailbox.address();
    (mailbox, address)
}

fn everything_else_goes_to_the_last_handler() {
    let (mut mailbox, address) = with_address();
    address.send(1_i32).unwrap();
    address.send(2.5_f64).unwrap();
    address.send("three").unwrap();
    let mut log = Vec::new();
    for _ in 0..3 {
        receive!(mailbox => {
            number: i32 => log.push(format!("number {number}")),
            number: f64 => log.push(format!("fraction {number}")),
            other => log.push(format!("other {}", other.downcast::<&str>().unwrap())),
        })
        .unwrap();
    }
    assert_eq!(log, ["number 1", "fraction 2.5", "other three"]);
}

fn a_function_is_a_handler() {
    fn doubled(number: i32) -> i32 {
        number * 2
    }
    let (mut mailbox, address) = with_address();
    address.send(21).unwrap();
    assert_eq!(receive!(mailbox => { number: i32 => doubled(number), }), Ok(42));
}

fn a_handler_that_does_not_want_it() {
    let (mut mailbox, address) = with_address();
    (1..=4).for_each(|number| address.send(number).unwrap());
    assert_eq!(receive!(mailbox => { number: i32 where number % 2 == 0 => number, }), Ok(2));
    // What it did not want keeps its place.
    assert!([1, 3, 4].into_iter().all(|number| mailbox.receive::<i32>() == Ok(number)));
}

fn another_type_than_expected() {
    let mut mailbox = Mailbox::new();
    let back = mailbox.address();
    let child = spawn(move |child: &mut Mailbox| {
        let error = child.receive_only::<String>().unwrap_err();
        back.send(error.to_string()).unwrap();
        // The message is still there.
        back.send(child.receive::<i32>().unwrap()).unwrap();
    });
    child.send(1_i32).unwrap();
    let text = mailbox.receive_only::<String>().unwrap();
    assert!(text.contains("String") && text.contains("i32"), "{text}");
    assert_eq!(mailbox.receive_only::<i32>(), Ok(1));
}

fn several_values_at_once() {
    let mut mailbox = Mailbox::new();
    let back = mailbox.address();
    let child = spawn(move |child: &mut Mailbox| {
        let (number, text) = child.receive_only::<(i32, &str)>().unwrap();
        back.send(number == 42 && text == "42").unwrap();
    });
    child.send((42, "42")).unwrap();
    assert_eq!(mailbox.receive_only::<bool>(), Ok(true));
}

fn no_time_at_all() {
    let (mut mailbox, address) = with_address();
    assert_eq!(mailbox.receive_timeout::<i32>(NOW), Err(ReceiveError::Timeout));
    assert_eq!(receive_timeout!(mailbox, NOW => { number: i32 => number, _other => 0, }), Err(ReceiveError::Timeout));
    address.send(5_i32).unwrap();
    assert_eq!(receive_timeout!(mailbox, NOW => { number: i32 => number, }), Ok(5));
    address.send('x').unwrap();
    assert_eq!(mailbox.receive_timeout::<i32>(NOW), Err(ReceiveError::Timeout));
    assert_eq!(mailbox.receive_timeout::<char>(NOW), Ok('x'));
}

fn in_time_and_too_late() {
    let (mut mailbox, address) = with_address();
    assert_eq!(receive_timeout!(mailbox, SHORT => { number: i32 => number, }), Err(ReceiveError::Timeout));
    let thread = thread::spawn(move || {
        pause();
        address.send(7_i32).unwrap();
    });
    assert_eq!(receive_timeout!(mailbox, LONG => { number: i32 => number, }), Ok(7));
    thread.join().unwrap();
}

fn a_thread_that_is_told_what_to_do() {
    let mut mailbox = Mailbox::new();
    let (back, text) = (mailbox.address(), "some words");
    let child = mailbox.spawn(move |child: &mut Mailbox| {
        let times = child.receive_only::<usize>().unwrap();
        back.send(text.repeat(times)).unwrap();
    });
    child.send(2_usize).unwrap();
    assert_eq!(mailbox.receive::<String>().unwrap(), "some wordssome words");
}

fn a_linked_mailbox_is_notified() {
    let mut mailbox = Mailbox::new();
    let child = mailbox.spawn_linked(|child: &mut Mailbox| child.receive_only::<()>().unwrap());
    child.send(()).unwrap();
    // As a message if a handler exists, else as an error.
    let end = mailbox.receive::<LinkTerminated>().unwrap();
    assert_eq!(end.address(), &child);
    let child = mailbox.spawn_linked(|_: &mut Mailbox| {});
    let Err(ReceiveError::LinkTerminated(end)) = mailbox.receive::<i32>() else { panic!("a link that has ended") };
    assert_eq!(end.address(), &child);
}

fn the_owner_ends_first() {
    let mut judge = Mailbox::new();
    let verdict = judge.address();
    let owner = spawn(move |owner: &mut Mailbox| {
        let own = owner.address();
        owner.spawn(move |child: &mut Mailbox| {
            let end = child.receive::<OwnerTerminated>().unwrap();
            verdict.send(*end.address() == own).unwrap();
        });
    });
    assert_eq!(judge.receive_only::<bool>(), Ok(true));
    assert!(owner.send(()).is_err());
}

fn the_owner_ends_without_a_link() {
    let mut owner = Mailbox::new();
    let (child, thread) = Builder::new().spawn_owned(&mut owner, |child| child.receive::<i32>()).unwrap();
    child.send("not a number").unwrap();
    drop(owner);
    assert!(matches!(thread.join().unwrap(), Err(ReceiveError::OwnerTerminated(_))));
    assert!(child.send(1_i32).is_err());
}

fn who_is_whose_owner() {
    let mut mailbox = Mailbox::new();
    assert_eq!(mailbox.owner(), None);
    let own = mailbox.address();
    mailbox.spawn(move |child: &mut Mailbox| {
        let owner = child.owner().unwrap();
        owner.send(owner == own).unwrap();
    });
    assert_eq!(mailbox.receive_only::<bool>(), Ok(true));
    let back = mailbox.address();
    spawn(move |child: &mut Mailbox| back.send(child.owner().is_none()).unwrap());
    assert_eq!(mailbox.receive_only::<bool>(), Ok(true));
}

fn an_address_is_printed_and_compared() {
    let (one, two) = (Mailbox::new(), Mailbox::new());
    assert_eq!(one.address(), one.address());
    assert_ne!(one.address(), two.address());
    assert_ne!(one.address().to_string(), two.address().to_string());
    let hash = |address: Address| {
        let mut state = DefaultHasher::new();
        address.hash(&mut state);
        state.finish()
    };
    assert_eq!(hash(one.address()), hash(one.address()));
}

fn urgent_messages_first() {
    let (mut mailbox, address) = with_address();
    [1, 2].into_iter().for_each(|number| address.send(number).unwrap());
    [10, 20].into_iter().for_each(|number| address.send_priority(number).unwrap());
    assert!([10, 20, 1, 2].into_iter().all(|number| mailbox.receive::<i32>() == Ok(number)));
}

/// In D this throws. Here such a message is set aside as any other.
fn an_unrequested_urgent_message() {
    let (mut mailbox, address) = with_address();
    address.send_priority("urgent").unwrap();
    address.send(1_i32).unwrap();
    assert_eq!(mailbox.receive::<i32>(), Ok(1));
    assert_eq!((mailbox.set_aside(), mailbox.receive::<&str>()), (1, Ok("urgent")));
}

fn one_senders_order() {
    let (mut mailbox, address) = with_address();
    let thread = thread::spawn(move || {
        for number in 0..500_i32 {
            // Through clones as well, and of several types.
            if number % 3 == 0 { address.clone().send(number) } else { address.send(number) }.unwrap();
            address.send(number.to_string()).unwrap();
        }
    });
    for number in 0..500 {
        assert_eq!(mailbox.receive_only::<i32>(), Ok(number));
        assert_eq!(mailbox.receive_only::<String>(), Ok(number.to_string()));
    }
    thread.join().unwrap();
}

fn messages_of_every_type() {
    #[derive(Debug, PartialEq)]
    struct Named {
        number: u8,
        text: String,
    }
    let (mut mailbox, address) = with_address();
    address.send(7_u8).unwrap();
    address.send([1_u64; 20]).unwrap();
    address.send(std::sync::Arc::<[i32]>::from([1, 2, 3])).unwrap();
    address.send(Named { number: 1, text: "one".into() }).unwrap();
    address.send((1_i8, 'c', "text")).unwrap();
    address.send_envelope(Envelope::new(9_i128)).unwrap();
    // Last first: each is found by its type.
    assert_eq!(mailbox.receive::<i128>(), Ok(9));
    assert_eq!(mailbox.receive::<(i8, char, &str)>(), Ok((1, 'c', "text")));
    assert_eq!(mailbox.receive::<Named>(), Ok(Named { number: 1, text: "one".into() }));
    assert_eq!(mailbox.receive::<std::sync::Arc<[i32]>>().unwrap()[..], [1, 2, 3]);
    assert_eq!(mailbox.receive::<[u64; 20]>(), Ok([1; 20]));
    assert_eq!((mailbox.receive::<u8>(), mailbox.set_aside()), (Ok(7), 0));
}

fn many_threads_to_one() {
    let (mut mailbox, address) = with_address();
    let threads: Vec<_> = (0..4_usize)
        .map(|id| {
            let address = address.clone();
            thread::spawn(move || (0..500_i32).for_each(|number| address.send((id, number)).unwrap()))
        })
        .collect();
    drop(address);
    let mut next = [0; 4];
    while let Ok((id, number)) = mailbox.receive_only::<(usize, i32)>() {
        assert_eq!(number, next[id]);
        next[id] += 1;
    }
    assert_eq!(next, [500; 4]);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn full_is_an_error() {
    let mut mailbox = Builder::new().bounded(2, Crowding::Error).build();
    let address = mailbox.address();
    (0..2).for_each(|number| address.send(number).unwrap());
    assert_eq!(address.send(2), Err(SendError::Full(2)));
    assert_eq!(mailbox.receive::<i32>(), Ok(0));
    address.send(2).unwrap();
    assert!([1, 2].into_iter().all(|number| mailbox.receive::<i32>() == Ok(number)));
}

fn full_means_dropped() {
    let mut mailbox = Builder::new().bounded(2, Crowding::DropNewest).build();
    let address = mailbox.address();
    (0..10).for_each(|number| address.send(number).unwrap());
    assert!((0..2).all(|number| mailbox.receive::<i32>() == Ok(number)));
    assert_eq!(mailbox.receive_timeout::<i32>(NOW), Err(ReceiveError::Timeout));
}

fn full_means_waiting() {
    let mut mailbox = Builder::new().bounded(2, Crowding::Block).build();
    let address = mailbox.address();
    let thread = thread::spawn(move || (0..100).for_each(|number| address.send(number).unwrap()));
    pause();
    assert!((0..100).all(|number| mailbox.receive::<i32>() == Ok(number)));
    thread.join().unwrap();
}

fn names() {
    let (mut mailbox, address) = with_address();
    register("peers: names", &address).unwrap();
    assert!(register("peers: names", &address).is_err());
    thread::spawn(|| locate("peers: names").unwrap().send(1).unwrap()).join().unwrap();
    assert_eq!(mailbox.receive::<i32>(), Ok(1));
    assert_eq!(locate("peers: nobody's"), None);
}

fn names_given_back() {
    let (mailbox, address) = with_address();
    assert!(unregister("peers: given back").is_none());
    register("peers: given back", &address).unwrap();
    assert_eq!(unregister("peers: given back"), Some(address.clone()));
    assert!(unregister("peers: given back").is_none() && locate("peers: given back").is_none());
    register("peers: given back", &address).unwrap();
    drop(mailbox);
}

fn names_end_with_their_owners() {
    let (child, thread) = Builder::new().spawn(|child: &mut Mailbox| child.receive_only::<()>()).unwrap();
    register("peers: child", &child).unwrap();
    register("peers: the same child", &child).unwrap();
    child.send(()).unwrap();
    thread.join().unwrap().unwrap();
    assert_eq!((locate("peers: child"), locate("peers: the same child")), (None, None));
    assert!(register("peers: child", &child).is_err());
}
