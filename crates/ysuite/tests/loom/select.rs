//! ReadySet under the model checker: senders that are attached, watchers, and the one-shot select.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::thread;
use ysuite::select::list::{self, first};
use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{mpmc, mpsc, select, spsc};

use crate::model_up_to;

const LONG: Duration = Duration::from_secs(1);

/// Claim: The id of an attached sender is raised while there may be room.
/// Also: suite select::senders::pipe_of_1::an_id_is_up_until_its_sender_is_found_full.
#[test]
fn an_attached_sender_against_a_receiver_that_makes_room() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let mut set = YPollset::new();
        set.attach(&mut sender, 0).unwrap();
        let thread = thread::spawn(move || (0..3).for_each(|expected| assert_eq!(receiver.recv(), Ok(expected))));
        for number in 0..3 {
            while sender.try_send(number).is_err() {
                set.wait();
            }
        }
        thread.join().unwrap();
    });
}

#[test]
fn an_attached_sender_of_several_against_a_receiver_that_makes_room() {
    model_up_to(2, || {
        let (mut sender, receiver) = mpmc::bounded(1);
        let other = sender.clone();
        let mut set = YPollset::new();
        set.attach(&mut sender, 0).unwrap();
        let sending = thread::spawn(move || other.send(1).unwrap());
        let receiving = thread::spawn(move || {
            assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
            receiver
        });
        while sender.try_send(2).is_err() {
            set.wait();
        }
        sending.join().unwrap();
        drop(receiving.join().unwrap());
    });
}

/// A sender that was notified of room, and is dropped, notifies the next.
#[test]
fn a_dropped_attached_sender_passes_its_signal_on() {
    model_up_to(2, || {
        let (mut sender, receiver) = mpmc::bounded(1);
        let mut set = YPollset::new();
        set.attach(&mut sender, 0).unwrap();
        sender.try_send(0).unwrap();
        assert!(sender.try_send(0).is_err());
        let other = sender.clone();
        let sending = thread::spawn(move || other.send(1).unwrap());
        let receiving = thread::spawn(move || {
            receiver.recv().unwrap();
            receiver
        });
        drop((sender, set));
        sending.join().unwrap();
        drop(receiving.join().unwrap());
    });
}

/// Claim: A watcher of a shared handle is notified like the handle, lowers its id when it finds nothing, and passes its
/// notification on when dropped.
/// Also: suite select::senders::shared_receivers_in_several_selects_get_everything.
#[test]
fn a_watcher_that_rests_against_a_publisher() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(2);
        let mut set = ReadySet::new();
        set.add_shared(&receiver).unwrap();
        let alive = sender.clone();
        let thread = thread::spawn(move || (1..3).for_each(|number| sender.send(number).unwrap()));
        let mut sum = 0;
        while sum < 3 {
            set.wait();
            sum += receiver.try_recv().unwrap_or(0);
        }
        thread.join().unwrap();
        drop(alive);
    });
}

#[test]
fn a_dropped_watcher_passes_its_signal_on() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        let mut set = ReadySet::new();
        set.add_shared(&receiver).unwrap();
        assert_eq!(set.try_wait(), None);
        let other = receiver.clone();
        let receiving = thread::spawn(move || assert_eq!(other.recv(), Ok(1)));
        let alive = sender.clone();
        let sending = thread::spawn(move || sender.send(1).unwrap());
        drop(set);
        receiving.join().unwrap();
        sending.join().unwrap();
        drop((alive, receiver));
    });
}

/// Claim: `select()` performs exactly one of its operations, and the others change nothing.
/// Also: suite select::one_shot::streams_of_many_kinds_are_received_whole, stress select::several_kinds_are_received.
#[test]
fn one_of_two_receives() {
    model_up_to(2, || {
        let (mut pipe, mut pipe_in) = spsc::unbounded();
        let (exchange, exchange_in) = mpmc::bounded(1);
        let one = thread::spawn(move || {
            pipe.send(1).unwrap();
            // Its disconnect would be received again and again.
            pipe
        });
        let other = thread::spawn(move || {
            exchange.send(2).unwrap();
            exchange
        });
        let sum = (0..2)
            .map(|_| select().recv(&mut pipe_in, |got| got.unwrap()).recv(&exchange_in, |got| got.unwrap()).wait())
            .sum::<u32>();
        assert_eq!(sum, 3);
        drop((one.join().unwrap(), other.join().unwrap()));
    });
}

#[test]
fn a_send_or_a_receive() {
    model_up_to(2, || {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let (mut back, mut back_in) = mpsc::unbounded();
        sender.send(0).unwrap();
        let thread = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(0));
            back.send(()).unwrap();
            (receiver, back)
        });
        let mut place = Some(1);
        for _ in 0..2 {
            select()
                .send_from(&mut sender, &mut place, |sent| sent.unwrap())
                .recv(&mut back_in, |got| got.unwrap())
                .wait();
        }
        assert_eq!(place, None);
        let (mut receiver, _back) = thread.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
    });
}

/// Each of the two waits in all its operations at once, at one rendezvous.
///
/// Claim: Two selects that face each other complete, at one rendezvous and at two.
/// Also: suite select::one_shot::selects_that_face_each_other_meet, stress select::selects_face_each_other.
#[test]
fn two_facing_selects_at_one_rendezvous() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(0);
        let (_idle, idle_in) = mpmc::bounded::<u8>(1);
        let waiting = idle_in.clone();
        let thread = thread::spawn(move || {
            select().send(&sender, 1, |sent| sent.unwrap()).recv(&waiting, |_| panic!("nothing was sent")).wait();
            sender
        });
        let got = select().recv(&receiver, |got| got.unwrap()).recv(&idle_in, |_| panic!("nothing was sent")).wait();
        assert_eq!(got, 1);
        drop(thread.join().unwrap());
    });
}

/// One sends at the first what the other receives there, or the other way round at the second.
#[test]
fn two_facing_selects_at_two() {
    model_up_to(1, || {
        let (a, a_in) = mpmc::bounded(0);
        let (b, b_in) = mpmc::bounded(0);
        let (a_here, b_here) = (a.clone(), b_in.clone());
        let thread = thread::spawn(move || {
            select().send(&a_here, 1, |sent| sent.map(|()| 1).unwrap()).recv(&b_here, |got| got.unwrap()).wait()
        });
        let mine = select().recv(&a_in, |got| got.unwrap()).send(&b, 2, |sent| sent.map(|()| 2).unwrap()).wait();
        assert_eq!(thread.join().unwrap(), mine);
        drop((a, b_in));
    });
}

/// Claim: A `select()` that times out has done nothing and keeps no wake-up of another waiter.
/// Also: stress select::several_kinds_with_much_room_are_received.
#[test]
fn a_select_whose_time_is_up_against_a_send() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(0);
        let thread = thread::spawn(move || sender.send_timeout(1, LONG).is_ok());
        let received = select().recv(&receiver, |got: Result<u8, _>| got.is_ok()).wait_timeout(LONG);
        assert_eq!(received.unwrap_or(false), thread.join().unwrap());
    });
}

/// Claim: The disconnection of a rendezvous wakes a select that waits there.
#[test]
fn the_end_of_a_rendezvous_against_a_select() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded::<u8>(0);
        let (_idle, idle_in) = mpmc::bounded::<u8>(1);
        let thread = thread::spawn(move || drop(sender));
        assert!(select().recv(&receiver, |got| got.is_err()).recv(&idle_in, |_| false).wait());
        thread.join().unwrap();
    });
}

/// One message goes from one channel to the other, and at each moment one of them has it.
///
/// Claim: If one of several operations is possible at each moment, a `select()` without waiting performs one.
/// Also: unit channel::select::run::tests::a_try_finds_what_moves_before_its_looks,
/// suite select::one_shot::a_try_finds_the_message_that_another_thread_moves.
#[test]
fn a_select_that_does_not_wait_against_one_that_moves_the_only_message() {
    model_up_to(2, || {
        let ((left, left_in), (right, right_in)) = (mpmc::bounded::<u8>(1), mpmc::bounded::<u8>(1));
        left.send(7).unwrap();
        let taker = left_in.clone();
        let thread = thread::spawn(move || {
            right.send(8).unwrap();
            let _ = taker.try_recv();
        });
        assert!(select().recv(&left_in, |_| ()).recv(&right_in, |_| ()).try_now().is_some());
        thread.join().unwrap();
    });
}

/// The only room goes from one channel to the other, and at each moment one of them has it.
#[test]
fn a_select_that_does_not_wait_against_one_that_moves_the_only_room() {
    model_up_to(2, || {
        let ((left, left_in), (right, right_in)) = (mpmc::bounded::<u8>(1), mpmc::bounded::<u8>(1));
        right.send(7).unwrap();
        let filler = left.clone();
        let thread = thread::spawn(move || {
            assert_eq!(right_in.recv(), Ok(7));
            let _ = filler.try_send(8);
            right_in
        });
        assert!(select().send(&left, 1, |_| ()).send(&right, 2, |_| ()).try_now().is_some());
        drop(thread.join().unwrap());
        drop(left_in);
    });
}

/// One receiver leaves the rendezvous after another has come to the other one: at each moment one of them waits.
#[test]
fn a_select_that_does_not_wait_against_peers_that_come_and_go() {
    model_up_to(2, || {
        let ((left, left_in), (right, right_in)) = (mpmc::bounded::<u8>(0), mpmc::bounded::<u8>(0));
        let receiver = left_in.clone();
        let mut first = Box::pin(async move { receiver.recv_async().await });
        assert!(poll_once(&mut first).is_pending());
        let thread = thread::spawn(move || {
            let mut second = Box::pin(async move { right_in.recv_async().await });
            // It waits, or has been met already.
            let _ = poll_once(&mut second);
            drop(first);
            second
        });
        assert!(
            select()
                .send(&left, 1, |sent| sent)
                .send(&right, 2, |sent| sent)
                .try_now()
                .is_some_and(|sent| sent.is_ok())
        );
        drop(thread.join().unwrap());
        drop(left_in);
    });
}

/// Two reserve, and one message is taken after the other.
///
/// Claim: A `list::reserve` that waits gets room as soon as there is some, and keeps none of another's.
/// Also: suite select::ready::many_reserve_and_all_messages_arrive.
#[test]
fn two_that_reserve_against_a_receiver_that_makes_room() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        sender.send(0).unwrap();
        let other = sender.clone();
        let sending = thread::spawn(move || {
            let mut room = list::reserve(&other);
            assert_eq!(first(&mut [&mut room]).wait(), 0);
            room.result().unwrap().unwrap().send(1).unwrap();
        });
        let receiving = thread::spawn(move || {
            assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 1);
            receiver
        });
        sending.join().unwrap();
        drop((receiving.join().unwrap(), sender));
    });
}

/// The one that only looks may be notified of the message that the other waits for.
///
/// Claim: A `list::readable` that was notified notifies the next receiver.
/// Also: suite select::ready::who_only_looks_keeps_no_notification.
#[test]
fn one_that_only_looks_beside_one_that_takes() {
    model_up_to(2, || {
        let (sender, receiver) = mpmc::bounded(1);
        let looking = receiver.clone();
        let thread = thread::spawn(move || {
            assert_eq!(first(&mut [&mut list::readable(&looking)]).wait(), 0);
            looking
        });
        let sending = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        sending.join().unwrap();
        // Where the message was gone already it sees that there will be none.
        drop(thread.join().unwrap());
    });
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}
