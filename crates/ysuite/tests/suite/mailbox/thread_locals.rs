//! What can be done while a thread's local values are being destroyed: before those of the mailbox's own are, and after.

use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ysuite::mailbox::{self, Builder, Crowding, LinkTerminated, Mailbox, ReceiveError, SendError};
use ysuite::mailbox::{locate, register, unregister};

use crate::support::guarded;

/// Something to do when it is dropped.
struct Last(Option<Box<dyn FnOnce()>>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(act) = self.0.take() {
            act();
        }
    }
}

thread_local! {
    static EARLY: RefCell<Last> = const { RefCell::new(Last(None)) };
    static LATE: RefCell<Last> = const { RefCell::new(Last(None)) };
}

/// Does the same when a sending thread exits: in one whose lanes are destroyed before, and in one whose are not.
#[track_caller]
fn at_the_end_of_a_thread<R: Send + 'static>(act: impl Fn() -> R + Clone + Send + 'static) -> Vec<R> {
    let mut answers = Vec::new();
    for late in [true, false] {
        let (tell, told) = mpsc::channel();
        let act = act.clone();
        let thread = thread::spawn(move || {
            let last: Box<dyn FnOnce()> = Box::new(move || tell.send(act()).unwrap());
            // Destroyed in the reverse order of their first uses.
            if late {
                LATE.with(|place| place.borrow_mut().0 = Some(last));
                send_something();
            } else {
                send_something();
                EARLY.with(|place| place.borrow_mut().0 = Some(last));
            }
        });
        thread.join().unwrap();
        answers.push(told.recv().expect("an answer from the end of a thread"));
    }
    answers
}

/// Makes the calling thread's table of lanes.
fn send_something() {
    let mut mailbox = Mailbox::new();
    mailbox.address().send(1_u8).unwrap();
    assert_eq!(mailbox.receive(), Ok(1_u8));
}

#[test]
fn sending_and_receiving_at_the_end_of_a_thread() {
    guarded(|| {
        let answers = at_the_end_of_a_thread(|| {
            let mut mailbox = Mailbox::new();
            let address = mailbox.address();
            let clone = address.clone();
            address.send(1_u8).unwrap();
            clone.send([2_u64; 9]).unwrap();
            address.send_priority('u').unwrap();
            drop(address);
            let set_aside = mailbox.receive_timeout::<()>(Duration::ZERO) == Err(ReceiveError::Timeout);
            drop(clone);
            let got = (mailbox.receive::<u8>(), mailbox.receive::<[u64; 9]>(), mailbox.receive::<char>());
            (set_aside, got, mailbox.receive::<u8>())
        });
        for answer in answers {
            assert_eq!(answer, (true, (Ok(1), Ok([2; 9]), Ok('u')), Err(ReceiveError::Disconnected)));
        }
    });
}

#[test]
fn sending_to_others_at_the_end_of_a_thread() {
    guarded(|| {
        let (mut mailbox, ended) = (Mailbox::new(), Mailbox::new().address());
        let address = mailbox.address();
        let answers = at_the_end_of_a_thread(move || {
            (0..100).for_each(|number| address.send(number).unwrap());
            (ended.send(1_u8), ended.send_priority(2_u8))
        });
        assert_eq!(answers, vec![(Err(SendError::Ended(1)), Err(SendError::Ended(2))); 2]);
        let mut all: Vec<i32> = std::iter::from_fn(|| mailbox.receive().ok()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq((0..100).flat_map(|number| [number; 2])));
    });
}

#[test]
fn a_thread_that_is_ending_waits_for_room_where_it_is_not_the_owner() {
    guarded(|| {
        // It was not received from yet, or it was.
        for received in [false, true] {
            let mut mailbox = Builder::new().bounded(1, Crowding::Block).build();
            let address = mailbox.address();
            if received {
                address.send(0_u8).unwrap();
                assert_eq!(mailbox.receive(), Ok(0_u8));
            }
            let (tell, told) = mpsc::channel();
            let receiving = thread::spawn(move || {
                for number in [1, 2, 1, 2] {
                    // Long enough for the other to find it full.
                    thread::sleep(Duration::from_millis(5));
                    assert_eq!(mailbox.receive(), Ok::<u8, _>(number));
                }
                tell.send(()).unwrap();
            });
            let answers = at_the_end_of_a_thread(move || [address.send(1_u8), address.send(2_u8)]);
            assert_eq!(answers, vec![[Ok(()), Ok(())]; 2], "received {received}");
            told.recv().unwrap();
            receiving.join().unwrap();
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_that_is_ending_does_not_wait_for_itself() {
    guarded(|| {
        let answers = at_the_end_of_a_thread(|| {
            let mut mailbox = Builder::new().bounded(1, Crowding::Block).build();
            let address: mailbox::Address = mailbox.address();
            address.send(1_u8).unwrap();
            assert_eq!(mailbox.receive(), Ok(1_u8));
            (address.send(2_u8), address.send(3_u8))
        });
        assert_eq!(answers, vec![(Ok(()), Err(SendError::Full(3))); 2]);
    });
}

#[test]
#[cfg_attr(windows, ignore = "std hangs there too: a new thread needs the loader's lock, which an ending one has")]
fn spawning_at_the_end_of_a_thread() {
    guarded(|| {
        let answers = at_the_end_of_a_thread(|| {
            let mut mailbox = Mailbox::new();
            let child = mailbox.spawn_linked(|mailbox: &mut Mailbox| {
                let number = mailbox.receive::<u32>().unwrap();
                mailbox.owner().unwrap().send(number + 1).unwrap();
            });
            let free = mailbox::spawn(|mailbox: &mut Mailbox| mailbox.receive::<u32>());
            free.send(1_u32).unwrap();
            child.send(41_u32).unwrap();
            (mailbox.receive::<u32>(), mailbox.receive::<LinkTerminated>().is_ok())
        });
        assert_eq!(answers, vec![(Ok(42), true); 2]);
    });
}

#[test]
fn names_and_links_at_the_end_of_a_thread() {
    guarded(|| {
        let mut watched = Mailbox::new();
        let to = watched.address();
        let answers = at_the_end_of_a_thread(move || {
            let mut mailbox = Mailbox::new();
            register("at the end of a thread", &mailbox.address()).unwrap();
            let located = locate("at the end of a thread") == Some(mailbox.address());
            let taken_away = unregister("at the end of a thread").is_some();
            mailbox.link(&to);
            mailbox.unlink(&to);
            let ended = Mailbox::new();
            mailbox.link(&ended.address());
            drop(ended);
            (located, taken_away, mailbox.receive::<LinkTerminated>().is_ok())
        });
        assert_eq!(answers, vec![(true, true, true); 2]);
        assert_eq!(watched.receive::<u8>(), Err(ReceiveError::Disconnected));
    });
}

#[test]
fn a_mailbox_that_ends_with_its_thread_tells_its_watchers() {
    guarded(|| {
        for late in [true, false] {
            let mut watching = Mailbox::new();
            let mailbox = Mailbox::new();
            watching.link(&mailbox.address());
            let thread = thread::spawn(move || {
                let last: Box<dyn FnOnce()> = Box::new(move || drop(mailbox));
                if late {
                    LATE.with(|place| place.borrow_mut().0 = Some(last));
                    send_something();
                } else {
                    send_something();
                    EARLY.with(|place| place.borrow_mut().0 = Some(last));
                }
            });
            thread.join().unwrap();
            assert!(watching.receive::<LinkTerminated>().is_ok());
        }
    });
}
