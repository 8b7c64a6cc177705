//! A sender that stops in the middle of its send, against a handle that sleeps twice meanwhile, in every way of
//! sleeping with lanes.
//!
//! The sender has seen the token of one sleep and takes that of the next. Its wake-up then comes before that sleep has
//! begun, and for a message that is consumed already: after arming, the receiver finds a lane to poll, and no message.
//! If it slept without arming that lane, the next message would wake no thread.
//!
//! The sender yields after each message, which is no preemption: three preemptions bring the interleaving about, and fewer do not.

use loom::future::block_on;
use loom::thread;
use ysuite::mailbox::Mailbox;
use ysuite::mpsc::{self, Receiver};
use ysuite::signal::{Wait, YPollset};

use crate::runner::model_with;

/// Sends messages 0 and 1 to a handle that has just received a message, so that its lane is active.
fn two_messages(mut send: impl FnMut(u32), receive: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(receive);
    thread::yield_now();
    for number in 0..2 {
        send(number);
        thread::yield_now();
    }
    thread.join().unwrap();
}

/// A receiver with one active lane, in no set, receives two messages.
fn against(receive: fn(&mut Receiver<u32>) -> u32) {
    model_with(3, move || {
        let (mut sender, mut receiver) = mpsc::unbounded();
        sender.send(9).unwrap();
        assert_eq!(receiver.try_recv(), Ok(9));
        two_messages(
            |number| sender.send(number).unwrap(),
            move || (0..2).for_each(|expected| assert_eq!(receive(&mut receiver), expected)),
        );
    });
}

/// Claim: An `mpsc` receiver never sleeps on a lane that it would have to poll, as a thread, task, set member or
/// mailbox.
/// Also: stress funnel::step_by_step.
#[test]
fn a_slow_sender_against_a_thread_that_sleeps_twice() {
    against(|receiver| receiver.recv().unwrap());
}

#[test]
fn a_slow_sender_against_a_task_that_sleeps_twice() {
    against(|receiver| block_on(receiver.recv_async()).unwrap());
}

#[test]
fn a_slow_sender_against_an_attached_receiver_that_rests_twice() {
    model_with(3, || {
        let (mut sender, mut receiver) = mpsc::unbounded();
        let mut set = YPollset::new();
        set.attach(&mut receiver, 3).unwrap();
        sender.send(9).unwrap();
        assert_eq!(receiver.try_recv(), Ok(9));
        let receive = move || {
            let mut expected = 0;
            while expected < 2 {
                while let Ok(number) = receiver.try_recv() {
                    assert_eq!(number, expected);
                    expected += 1;
                }
                if expected < 2 {
                    assert_eq!(set.wait().collect::<Vec<_>>(), [3]);
                }
            }
        };
        two_messages(|number| sender.send(number).unwrap(), receive);
    });
}

#[test]
fn a_slow_sender_against_a_mailbox_that_sleeps_twice() {
    model_with(3, || {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        address.send(9_u32).unwrap();
        assert_eq!(mailbox.receive(), Ok(9_u32));
        let receive = move || (0..2_u32).for_each(|expected| assert_eq!(mailbox.receive(), Ok(expected)));
        two_messages(|number: u32| address.send(number).unwrap(), receive);
    });
}

#[test]
fn a_slow_urgent_sender_against_a_mailbox_that_sleeps_twice() {
    model_with(3, || {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        address.send_priority(9_u32).unwrap();
        assert_eq!(mailbox.receive(), Ok(9_u32));
        let receive = move || (0..2_u32).for_each(|expected| assert_eq!(mailbox.receive(), Ok(expected)));
        two_messages(|number: u32| address.send_priority(number).unwrap(), receive);
    });
}
