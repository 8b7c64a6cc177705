//! What `Empty` may say: a thread that has sent a message asks for one, while another sender stops anywhere in the middle of its
//! send.
//!
//! In spsc and mpsc channels and unbounded mailboxes no send delays another's: what has been sent is found. In an mpmc
//! channel, and in a broadcast, a sender that has claimed a cell and not filled it hides the messages after it. There
//! `Empty` is correct as long as that sender has not returned, and the channel does not report then that it is empty.

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use ysuite::TryRecvError;
use ysuite::mailbox::{Builder, Crowding, Mailbox};
use ysuite::{broadcast, mpmc, mpsc, select, spsc};

use crate::model_up_to;

/// Claim: `try_recv` finds every message whose send has returned, even while that sender is preempted in its next send.
#[test]
fn a_pipe_has_what_was_sent_while_its_sender_is_in_its_next_send() {
    model_up_to(3, || {
        let (mut sender, mut receiver) = spsc::unbounded();
        let sent = Arc::new(AtomicU32::new(0));
        let says = sent.clone();
        let thread = thread::spawn(move || {
            for number in 1..=4 {
                sender.send(number).unwrap();
                says.store(number, Ordering::Release);
            }
        });
        for number in 1..=2 {
            if sent.load(Ordering::Acquire) >= number {
                assert_eq!(receiver.try_recv(), Ok(number));
            } else {
                assert_eq!(receiver.recv(), Ok(number));
            }
        }
        thread.join().unwrap();
    });
}

/// Messages have been received before: the lanes are active, or were armed for a wait that ended.
fn funnel(rests: bool) {
    model_up_to(3, move || {
        let (mut own, mut receiver) = mpsc::unbounded();
        let mut other = own.clone();
        if rests {
            own.send(0).unwrap();
            assert_eq!(receiver.recv(), Ok(0));
            assert!(receiver.recv_timeout(Duration::from_secs(1)).is_err());
        }
        let thread = thread::spawn(move || (1..=2).for_each(|number| other.send(number).unwrap()));
        own.send(3).unwrap();
        let mut got = vec![receiver.try_recv().expect("the thread's own message, at least")];
        while !got.contains(&3) {
            got.push(receiver.try_recv().expect("its own message is still to come"));
        }
        while got.len() < 3 {
            got.push(receiver.recv().unwrap());
        }
        got.retain(|number| *number != 3);
        assert_eq!(got, [1, 2]);
        thread.join().unwrap();
    });
}

/// Claim: `mpsc` `try_recv` finds every message whose send has returned, even while other senders are preempted.
/// Also: stress empty::an_mpsc_channel_has_what_its_own_thread_has_sent.
#[test]
fn an_mpsc_channel_has_its_own_threads_message_despite_a_stopped_sender() {
    funnel(false);
}

#[test]
fn an_mpsc_channel_that_has_waited_has_its_own_threads_message_despite_a_stopped_sender() {
    funnel(true);
}

/// Claim: A mailbox is FIFO within each priority, and a receive finds what was sent.
/// Also: stress empty::a_mailbox_has_what_its_own_thread_has_sent.
#[test]
fn a_mailbox_has_its_own_threads_message_despite_a_stopped_sender() {
    for urgent in [false, true] {
        model_up_to(2, move || {
            let mut mailbox = Mailbox::new();
            let (own, other) = (mailbox.address(), mailbox.address());
            let send = move |number: u8| if urgent { other.send_priority(number) } else { other.send(number) }.unwrap();
            let thread = thread::spawn(move || send(1));
            own.send(2_u8).unwrap();
            let first: u8 = mailbox.receive_timeout(Duration::ZERO).expect("its own message, at least");
            assert_eq!(first + mailbox.receive::<u8>().unwrap(), 3);
            thread.join().unwrap();
        });
    }
}

/// Another sender, and whether it has returned when the thread asks.
fn beside_another(
    send: impl FnOnce() + Send + 'static,
    own: impl FnOnce(),
    try_recv: impl FnOnce() -> Option<u32>,
    is_empty: impl FnOnce() -> bool,
    recv: impl FnMut() -> u32,
) {
    let returned = Arc::new(AtomicU32::new(0));
    let says = returned.clone();
    let thread = thread::spawn(move || {
        send();
        says.store(1, Ordering::Release);
    });
    own();
    let has_returned = returned.load(Ordering::Acquire) == 1;
    let first = try_recv();
    if first.is_none() {
        assert!(!has_returned, "no sender was in the middle of its send");
        assert!(!is_empty(), "its own message is there");
    }
    let mut got: Vec<u32> = first.into_iter().collect();
    got.extend(core::iter::repeat_with(recv).take(2 - got.len()));
    got.sort_unstable();
    assert_eq!(got, [1, 2]);
    thread.join().unwrap();
}

fn exchange(capacity: Option<usize>) {
    model_up_to(3, move || {
        let (own, receiver) = capacity.map_or_else(mpmc::unbounded, mpmc::bounded);
        let other = own.clone();
        beside_another(
            move || other.send(1).unwrap(),
            || own.send(2).unwrap(),
            || receiver.try_recv().map_err(|error| assert_eq!(error, TryRecvError::Empty)).ok(),
            || receiver.is_empty(),
            || receiver.recv().unwrap(),
        );
    });
}

/// Claim: `mpmc` returns `Empty` despite a sent message only while an earlier `send` has not returned; `is_empty` is
/// false then. `Full` has the mirror image.
/// Also: stress empty::an_mpmc_channel_is_empty_only_if_a_sender_is_stopped.
#[test]
fn a_ring_says_empty_only_behind_a_sender_that_has_not_returned() {
    exchange(Some(2));
}

#[test]
fn segments_say_empty_only_behind_a_sender_that_has_not_returned() {
    exchange(None);
}

/// Nothing is overtaken by another receiver's taking, either: each thread sends, and then takes.
fn two_that_send_and_take(capacity: Option<usize>) {
    model_up_to(2, move || {
        let (sender, receiver) = capacity.map_or_else(mpmc::unbounded, mpmc::bounded);
        let returned = Arc::new(AtomicU32::new(0));
        let turn = |sender: mpmc::Sender<u32>, receiver: mpmc::Receiver<u32>, returned: Arc<AtomicU32>| {
            sender.send(1).unwrap();
            let before = returned.fetch_add(1, Ordering::AcqRel);
            match receiver.try_recv() {
                Ok(_) => {}
                Err(_) => {
                    assert_eq!(before, 0, "both sends have returned, and one message is taken at most");
                    assert!(!receiver.is_empty());
                    receiver.recv().unwrap();
                }
            }
        };
        let thread = {
            let (sender, receiver, returned) = (sender.clone(), receiver.clone(), returned.clone());
            thread::spawn(move || turn(sender, receiver, returned))
        };
        turn(sender, receiver, returned);
        thread.join().unwrap();
    });
}

#[test]
fn two_threads_that_send_and_take_find_a_message_unless_the_other_is_sending() {
    two_that_send_and_take(Some(2));
}

#[test]
fn two_threads_without_a_bound_find_a_message_unless_the_other_is_sending() {
    two_that_send_and_take(None);
}

/// A select that does not wait tries once: after the message that another has taken is what that one had sent before.
#[test]
fn a_choice_that_cannot_wait_finds_what_was_sent_before_the_oldest_was_taken() {
    model_up_to(2, || {
        let (own, receiver) = mpmc::bounded(2);
        let (other, taker) = (own.clone(), receiver.clone());
        let thread = thread::spawn(move || {
            other.send(2).unwrap();
            taker.try_recv()
        });
        own.send(1).unwrap();
        let mine = select().recv(&receiver, |got| got.unwrap()).try_now();
        let theirs = thread.join().unwrap();
        assert!(mine.is_some() || theirs != Ok(1), "one of the two was there all the time");
    });
}

/// A displaced message is taken as well: after it is what the other had sent before.
#[test]
fn a_thread_whose_message_made_way_finds_another_unless_that_is_being_sent() {
    model_up_to(2, || {
        let (own, receiver) = mpmc::bounded(2);
        let other = own.clone();
        own.send(0).unwrap();
        let thread = thread::spawn(move || {
            other.send(1).unwrap();
            other.force_send(2).unwrap();
        });
        if receiver.try_recv().is_err() {
            assert!(!receiver.is_empty(), "no message goes here without another in its place");
        }
        thread.join().unwrap();
    });
}

/// The mirror image: room that was made is not lost to another sender that takes it. The thread that took the older
/// message finds the next cell free, or, if the other has sent into that, the one after it, which the other has emptied
/// before.
#[test]
fn two_threads_that_take_and_send_find_a_place_unless_the_other_is_taking() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        (0..2).for_each(|number| sender.send(number).unwrap());
        let turn = |sender: mpmc::Sender<u32>, receiver: mpmc::Receiver<u32>| {
            let taken = receiver.try_recv().unwrap();
            if sender.try_send(2).is_err() {
                assert_ne!(taken, 0, "there is room, whatever the other does");
            }
        };
        let thread = {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            thread::spawn(move || turn(sender, receiver))
        };
        turn(sender, receiver);
        thread.join().unwrap();
    });
}

/// Claim: A broadcast returns `Empty` despite a sent message only while an earlier `send` has not returned.
#[test]
fn a_broadcast_says_empty_only_behind_a_sender_that_has_not_returned() {
    model_up_to(3, || {
        let (own, receiver) = broadcast::bounded(2);
        let other = own.clone();
        let receiver = core::cell::RefCell::new(receiver);
        beside_another(
            move || other.send(1).unwrap(),
            || own.send(2).unwrap(),
            || receiver.borrow_mut().try_recv().map_err(|error| assert!(error == broadcast::TryRecvError::Empty)).ok(),
            || receiver.borrow().is_empty(),
            || receiver.borrow_mut().recv().unwrap(),
        );
    });
}

/// Ordinary messages are in an mpmc channel there.
#[test]
fn a_mailbox_with_a_bound_finds_nothing_only_behind_a_sender_that_has_not_returned() {
    model_up_to(2, || {
        let mailbox = Builder::new().bounded(2, Crowding::Block).build();
        let (own, other) = (mailbox.address(), mailbox.address());
        let mailbox = core::cell::RefCell::new(mailbox);
        beside_another(
            move || other.send(1_u32).unwrap(),
            || own.send(2_u32).unwrap(),
            || mailbox.borrow_mut().receive_timeout(Duration::ZERO).ok(),
            || false,
            || mailbox.borrow_mut().receive::<u32>().unwrap(),
        );
    });
}
