//! Senders that come and go for as long as a program runs, a request each: nothing grows, no clone is refused while few senders live,
//! and a sender that stays is received within the bound that the module states.

use std::thread;

use ysuite::TryRecvError;
use ysuite::mpsc::{self, MAX_SENDERS, Receiver, Sender, TURN};
use ysuite::signal::YPollset;

/// More senders than a channel can have at a time.
const REQUESTS: u64 = MAX_SENDERS as u64 + 10_000;

/// A way to receive one message.
type Way = fn(&mut Receiver<u64>) -> u64;

fn ways() -> [(&'static str, Way); 5] {
    [
        ("recv", |receiver| receiver.recv().unwrap()),
        ("try_recv", |receiver| receiver.try_recv().unwrap()),
        ("recv_timeout", |receiver| receiver.recv_timeout(std::time::Duration::MAX).unwrap()),
        ("recv_batch", |receiver| {
            let mut batch = Vec::with_capacity(1);
            assert_eq!(receiver.recv_batch(&mut batch, 1), Ok(1));
            batch[0]
        }),
        ("try_iter", |receiver| receiver.try_iter().next().unwrap()),
    ]
}

/// A sender for each request, alongside one that stays and sends nothing.
fn requests(receive: Way, backlog: u64, goes_later: bool) {
    let (sender, mut receiver) = mpsc::unbounded();
    let mut last = None;
    for number in 0..REQUESTS / 8 {
        let mut request: Sender<u64> = sender.try_clone().expect("there are few senders");
        request.send(number).unwrap();
        if goes_later {
            last = Some(request);
        } else {
            drop(request);
        }
        if let Some(expected) = number.checked_sub(backlog) {
            assert_eq!(receive(&mut receiver), expected);
        }
    }
    // What is visited is in proportion to the messages: each lane joins once, is found with its message once, and is found closed once.
    let visits = receiver.visits();
    assert!(visits < REQUESTS / 8 * 80, "{visits} visits");
    drop(last);
}

#[test]
fn a_sender_for_each_request_costs_a_visit_or_two() {
    for (way, receive) in ways() {
        for backlog in [0, 10] {
            for goes_later in [false, true] {
                println!("{way}, {backlog} behind, the sender goes a message later: {goes_later}");
                requests(receive, backlog, goes_later);
            }
        }
    }
}

#[test]
fn more_senders_come_and_go_than_a_channel_can_have_at_a_time() {
    let (sender, mut receiver) = mpsc::unbounded();
    for number in 0..REQUESTS {
        let mut request = sender.try_clone().expect("there are two");
        request.send(number).unwrap();
        drop(request);
        assert_eq!(receiver.recv(), Ok(number));
        assert!(receiver.is_empty() && sender.sender_count() == 1);
    }
}

#[test]
fn a_sender_that_stays_is_received_within_the_bound_however_many_come_and_go() {
    for goes_later in [false, true] {
        let (mut stays, mut receiver) = mpsc::unbounded();
        let mut last = None;
        let backlog = 10;
        for number in 1..=1_000_u64 {
            let mut request = stays.clone();
            request.send(number).unwrap();
            last = goes_later.then_some(request);
            if number == 500 {
                stays.send(0).unwrap();
            }
            if number > backlog {
                let received = receiver.recv().unwrap();
                // Lanes with messages when it was sent, and the turn that had begun.
                let latest = 500 + (backlog + 1) * TURN as u64;
                assert!(received == 0 || number <= latest, "it has been passed over");
                if received == 0 {
                    // Here each lane has one message.
                    assert!(number <= 500 + 2 * backlog, "it was received as number {number}");
                }
            }
        }
        drop(last);
        assert_eq!(receiver.try_iter().filter(|number| *number == 0).count(), 0, "it was received long before");
    }
}

#[test]
fn few_senders_of_a_channel_for_few_are_never_refused() {
    // With a backlog that takes up all lanes there can be.
    for backlog in [0, 1, 7] {
        let (sender, mut receiver) = mpsc::bounded_for(4, 8);
        for number in 0..10_000_u64 {
            let mut request = sender.try_clone().expect("there are two");
            request.send(number).unwrap();
            drop(request);
            if number >= backlog {
                receiver.recv().unwrap();
            }
        }
    }
}

#[test]
fn a_new_sender_goes_on_with_the_lane_of_one_that_is_gone_where_all_are_taken() {
    let (sender, mut receiver) = mpsc::bounded_for(2, 2);
    let mut first = sender.try_clone().unwrap();
    assert!(sender.try_clone().is_err(), "there are two");
    first.send(1).unwrap();
    drop(first);
    // With the room that the first has left in it.
    let mut second = sender.try_clone().expect("there is one");
    assert!(sender.try_clone().is_err(), "there are two again");
    second.send(2).unwrap();
    assert!(second.try_send(3).is_err());
    assert_eq!(receiver.try_recv(), Ok(1));
    second.send(3).unwrap();
    drop(second);
    let mut third = sender.try_clone().expect("there is one");
    drop(sender);
    assert_eq!((receiver.try_recv(), receiver.try_recv(), receiver.try_recv().is_err()), (Ok(2), Ok(3), true));
    assert!(!receiver.is_disconnected());
    third.send(4).unwrap();
    drop(third);
    assert_eq!((receiver.recv(), receiver.recv().is_err()), (Ok(4), true));
}

#[test]
fn a_backlog_of_as_many_senders_as_there_can_be_refuses_no_new_one() {
    let (sender, mut receiver) = mpsc::unbounded();
    let requests = REQUESTS;
    for number in 0..requests {
        sender.try_clone().expect("there are two").send(number).unwrap();
    }
    let mut received: Vec<u64> = receiver.try_iter().collect();
    received.sort_unstable();
    assert!(received.into_iter().eq(0..requests));
    // What is left of the crowd is given back.
    for number in 0..1_000 {
        sender.try_clone().unwrap().send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    }
}

#[test]
fn threads_that_come_and_go_share_a_sender() {
    let (sender, mut receiver) = mpsc::bounded_for(1, 3);
    let shared = sender.share();
    for number in 0..200 {
        // A scope may end before the thread's thread-locals do, where its lane is.
        let shared = shared.clone();
        thread::spawn(move || shared.try_send(number).unwrap()).join().unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    }
}

#[test]
fn a_weak_sender_is_upgraded_for_each_request() {
    let (sender, mut receiver) = mpsc::unbounded();
    let weak = sender.downgrade();
    for number in 0..REQUESTS {
        weak.upgrade().expect("there is one sender").send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
    }
}

/// The receiver polls between any two steps, or at none.
#[test]
fn a_lane_that_a_sender_has_left_without_a_message_is_as_good_as_a_new_one() {
    for looks in 0..16_u32 {
        for (sender, mut receiver) in [mpsc::unbounded(), mpsc::bounded_for(2, 2)] {
            let mut look = |step: u32| assert!(looks & (1 << step) == 0 || receiver.try_recv().is_err());
            let first = sender.clone();
            look(0);
            drop(first);
            look(1);
            let mut second = sender.clone();
            look(2);
            drop(sender);
            look(3);
            second.send(1).unwrap();
            assert_eq!(receiver.try_recv(), Ok(1), "looks {looks:b}");
            drop(second);
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        }
    }
}

/// The receiver checks no lane, and is not woken, for a sender that has sent nothing. The last one's drop is noticed.
#[test]
fn senders_that_go_without_a_message_cost_the_receiver_nothing() {
    let (sender, mut receiver) = mpsc::unbounded::<u64>();
    let visits = receiver.visits();
    for _ in 0..1_000 {
        drop(sender.clone());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
    assert_eq!(receiver.visits(), visits);
    let last = sender.clone();
    drop(sender);
    assert!(!receiver.is_disconnected() && last.sender_count() == 1);
    let thread = thread::spawn(move || receiver.recv().is_err());
    drop(last);
    assert!(thread.join().unwrap());
}

/// A lane that is left here when the receiver closes or goes is no sender's that comes afterwards.
#[test]
fn a_lane_left_without_a_message_is_shut_with_the_channel() {
    for closes in [true, false] {
        let (sender, mut receiver) = mpsc::unbounded();
        let (one, two) = (sender.clone(), sender.clone());
        drop(one);
        if closes {
            assert!(receiver.close());
        } else {
            drop(receiver);
        }
        drop(two);
        let mut late = sender.clone();
        assert!(late.is_disconnected() && late.send(Box::new(1)).is_err());
        late.wait_closed();
    }
}

/// What a sender was attached to is left before its lane is another's.
#[test]
fn a_sender_that_was_in_a_set_leaves_a_lane_without_it() {
    let (sender, mut receiver) = mpsc::bounded(1);
    let mut set = YPollset::new();
    for _ in 0..1_000 {
        let mut one = sender.clone();
        set.attach(&mut one, 0).unwrap();
        drop(one);
    }
    let mut next = sender.clone();
    next.send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    set.attach(&mut next, 0).unwrap();
    next.send(2).unwrap();
    assert_eq!(receiver.try_recv(), Ok(2));
}
