//! Messages that are written, taken and dropped in place, while the other side closes or is dropped: each has one
//! owner.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;
use ysuite::in_place::{RecvInPlace, SendInPlace, Stop, StopOnce, StopWaiting};
use ysuite::{mpsc, oneshot, spsc};

use crate::{Counted, model};

/// Makes `count` messages in their slots, one by one. Those that come back are dropped there.
fn make(sender: &mut spsc::Sender<Counted>, count: usize, dropped: &Arc<AtomicUsize>) {
    for _ in 0..count {
        let slot = &mut sender.free_run()[0];
        let place = slot.write(Counted(dropped.clone())) as *mut Counted;
        // SAFETY: the slot has just been filled.
        if unsafe { sender.commit_run(1) } == 0 {
            // SAFETY: the message has come back, and is there.
            unsafe { place.drop_in_place() };
        }
    }
}

/// Two messages are made, over the border of a group where `before` says so, against what the receiver does.
fn against(before: usize, receiver_does: fn(&mut spsc::Receiver<Counted>)) {
    model(move || {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (mut sender, mut receiver) = spsc::unbounded();
        make(&mut sender, before, &dropped);
        let theirs = dropped.clone();
        let thread = thread::spawn(move || make(&mut sender, 2, &theirs));
        receiver_does(&mut receiver);
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), before + 2);
    });
}

/// Claim: A message that is written in place is received or dropped in place, once, whatever the other side does.
/// Also: suite in_place::both_ends_race_and_each_message_is_dropped_once.
#[test]
fn runs_against_a_receiver_that_goes() {
    against(1, |_| ());
}

#[test]
fn runs_against_a_receiver_that_takes_in_place_and_goes() {
    against(1, |receiver| {
        // SAFETY: the message is the receiver's, and is dropped in place.
        (0..2).filter_map(|_| receiver.take_in_place().ok()).for_each(|place| unsafe { place.drop_in_place() });
    });
}

#[test]
fn runs_against_a_close() {
    against(1, |receiver| {
        receiver.close();
        while let Ok(place) = receiver.take_in_place() {
            // SAFETY: the message is the receiver's, and is dropped in place.
            unsafe { place.drop_in_place() };
        }
    });
}

#[test]
fn copies_against_a_close() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let thread = thread::spawn(move || {
            let messages = [Box::new(0), Box::new(1), Box::new(2)].map(std::mem::ManuallyDrop::new);
            let copy = |made: usize, first: std::ptr::NonNull<std::mem::MaybeUninit<Box<i32>>>, count| {
                let from = messages[made..].as_ptr().cast();
                // SAFETY: this many messages are there, and those that are sent are forgotten.
                unsafe { first.as_ptr().copy_from_nonoverlapping(from, count) };
            };
            // SAFETY: every slot is filled.
            let (sent, is_over) = unsafe { sender.send_made(3, copy) };
            messages.into_iter().skip(sent).for_each(|back| drop(std::mem::ManuallyDrop::into_inner(back)));
            assert!(sent == 3 || is_over);
            sent
        });
        receiver.close();
        let received: Vec<_> = std::iter::from_fn(|| receiver.recv().ok()).map(|number| *number).collect();
        let sent = thread.join().unwrap();
        assert_eq!(received.len(), sent);
        assert!(received.into_iter().eq(0..sent as i32));
    });
}

/// Claim: Room freed by an in-place receive wakes a sender that waits for it.
/// Also: suite in_place::waits_take_nothing.
#[test]
fn a_sender_waits_for_room_that_is_taken_in_place() {
    model(|| {
        let (mut sender, mut receiver) = spsc::bounded(1);
        sender.send(Box::new(1)).unwrap();
        let thread = thread::spawn(move || {
            sender.wait_room(None, &Stop::default()).unwrap();
            sender.free_run()[0].write(Box::new(2));
            // SAFETY: the slot has just been filled.
            assert_eq!(unsafe { sender.commit_run(1) }, 1);
        });
        // SAFETY: the message is the receiver's, and is moved out.
        assert_eq!(unsafe { *receiver.take_in_place().unwrap().read() }, 1);
        receiver.wait_message(None, &Stop::default()).unwrap();
        let run = receiver.peek_run();
        // SAFETY: as above; it is received by the call below.
        assert_eq!((run.len(), unsafe { *run.as_ptr().read() }), (1, 2));
        receiver.release(1);
        thread.join().unwrap();
    });
}

/// At whatever moment another thread stops it, the wait ends: a model in which it sleeps on has a deadlock.
fn stopped(waits: fn(&Stop)) {
    model(move || {
        let stop = Arc::new(Stop::default());
        let theirs = stop.clone();
        let thread = thread::spawn(move || theirs.set());
        waits(&stop);
        thread.join().unwrap();
        assert!(stop.is_set());
    });
}

/// Claim: A stop handle ends every wait, at any moment.
#[test]
fn a_stop_ends_the_wait_for_a_message() {
    stopped(|stop| {
        let (_sender, mut receiver) = spsc::unbounded::<u32>();
        assert!(receiver.recv_or_stop(None, stop).unwrap_err().is_timeout());
    });
}

#[test]
fn a_stop_ends_the_wait_of_a_receiver_of_many() {
    stopped(|stop| {
        let (_sender, mut receiver) = mpsc::unbounded::<u32>();
        assert!(receiver.recv_or_stop(None, stop).unwrap_err().is_timeout());
    });
}

#[test]
fn a_stop_ends_the_wait_for_room() {
    stopped(|stop| {
        let (mut sender, _receiver) = spsc::bounded(1);
        sender.send(1).unwrap();
        assert!(sender.send_or_stop(2, None, stop).unwrap_err().is_timeout());
    });
}

#[test]
fn a_stop_ends_the_waits_of_a_oneshot() {
    stopped(|stop| {
        let (mut sender, mut receiver) = oneshot::channel::<u32>();
        assert!(StopOnce::recv_or_stop(&mut receiver, None, stop).unwrap_err().is_timeout());
        assert!(!StopWaiting::wait_closed_or_stop(&mut sender, None, stop));
    });
}

/// The message comes by a thread of its own, at any moment: the receiver has it, or finds it after the stop.
///
/// Claim: A stop loses no message.
#[test]
fn a_message_beside_a_stop_is_received() {
    model(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let stop = Arc::new(Stop::default());
        let theirs = stop.clone();
        let thread = thread::spawn(move || {
            theirs.set();
            sender.send(Box::new(7)).unwrap();
        });
        let first = receiver.recv_or_stop(None, &stop);
        let was_stopped = first.as_ref().is_err_and(|error| error.is_timeout());
        thread.join().unwrap();
        assert!(first.is_ok() || was_stopped && receiver.recv() == Ok(Box::new(7)));
    });
}

/// The same of a oneshot, whose memory goes with its message.
#[test]
fn the_only_message_beside_a_stop_is_received() {
    model(|| {
        let (sender, mut receiver) = oneshot::channel();
        let stop = Arc::new(Stop::default());
        let theirs = stop.clone();
        let sends = thread::spawn(move || sender.send(Box::new(7)).unwrap());
        let stops = thread::spawn(move || theirs.set());
        let first = StopOnce::recv_or_stop(&mut receiver, None, &stop);
        sends.join().unwrap();
        stops.join().unwrap();
        assert!(first.is_ok() || receiver.try_recv() == Ok(Box::new(7)));
    });
}
