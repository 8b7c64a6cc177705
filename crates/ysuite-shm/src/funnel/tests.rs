//! Strangers, as the funnel counts them.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use super::{Bytes, Ended, Funnel};
use crate::home::STRANGERS;
use crate::page::RING;
use crate::sync::Ordering;
use crate::{BytesSender, Error, Options, Sender, Why, connect};

fn name(test: &str) -> String {
    format!("test-{}-lanes-{test}", std::process::id())
}

/// Claim: Who has said hello is no stranger any more: a silent one is not sent away for those that come after it.
#[test]
fn those_that_have_said_hello_are_not_counted() {
    let name = name("hello");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    let _silent = connect(&name).unwrap();
    for message in 0..2 * STRANGERS as u64 {
        let socket = connect(&name).unwrap();
        // It is accepted before it says hello.
        assert!(funnel.try_recv().is_err());
        let mut sender = Sender::<u64>::from_fd(socket, 1).unwrap();
        sender.send(message).unwrap();
        assert_eq!(funnel.recv_timeout(Duration::from_secs(60)), Ok(message));
        drop(sender);
        assert!(funnel.lanes.home.strangers.len() <= 2, "{message}: {}", funnel.lanes.home.strangers.len());
    }
    let unmet = funnel.lanes.home.lanes.iter().flatten().filter(|lane| lane.until.is_some()).count();
    assert_eq!(funnel.lanes.home.strangers.len(), unmet);
}

/// Claim: Who connects and says nothing for too long is told why it was sent away: its sender does not take that for a regular end.
#[test]
fn who_is_sent_away_for_its_silence_is_told_so() {
    let name = name("silence");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    let mut silent = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    assert!(funnel.try_recv().is_err());
    assert_eq!(funnel.senders(), 1);
    for lane in funnel.lanes.home.lanes.iter_mut().flatten() {
        lane.until = Some(Instant::now());
    }
    assert!(funnel.try_recv().is_err());
    let late = Error::Refused(Why::Time);
    assert_eq!(funnel.next_ended(), Some(Ended { sender: 0, error: late }));
    assert_eq!(silent.send(1).unwrap_err().1, Error::Refused(Why::ByPeer("the peer took too long")));
}

/// Claim: Who asks whether the channel has ended has said hello: it may have nothing to send for as long as it likes.
#[test]
fn a_question_is_a_hello() {
    let name = name("question");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    let mut silent = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    assert!(!silent.is_disconnected());
    assert!(funnel.try_recv().is_err());
    assert!(funnel.lanes.home.strangers.is_empty());
    silent.send(1).unwrap();
    assert_eq!(funnel.recv_timeout(Duration::from_secs(60)), Ok(1));
}

/// Claim: A limited number of strangers is accepted in one call, and an event loop is not put to sleep before the rest.
#[test]
fn a_crowd_is_accepted_by_and_by() {
    let name = name("crowd");
    let mut funnel = Options::new().allow(|_| false).funnel::<u64>(&name).unwrap();
    let crowd: Vec<_> = (0..STRANGERS + 10).map(|_| connect(&name).unwrap()).collect();
    assert!(!funnel.arm(), "some are left");
    assert!(funnel.arm());
    assert_eq!(funnel.senders(), 0);
    drop(crowd);
}

/// Claim: An event loop is told of strangers also where descriptors had run out when it armed the funnel.
#[test]
fn an_event_loop_is_told_of_those_that_come_in_a_pause() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let name = name("pause");
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    // As after an accept without descriptors.
    funnel.lanes.home.poller.remove(funnel.lanes.home.listener.as_ref().unwrap().as_fd());
    funnel.lanes.home.pause = Some(Instant::now() + Duration::from_secs(3_600));
    assert!(funnel.arm());
    let _stranger = connect(&name).unwrap();
    let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
    assert_eq!(poll(&mut [PollFd::new(&funnel, PollFlags::IN)], Some(&limit)), Ok(1));
}

/// Claim: A closure that panics over a stranger costs that stranger, and nothing else.
#[test]
fn a_panic_over_a_stranger_leaves_the_funnel() {
    let name = name("panic");
    let is_first = std::sync::atomic::AtomicBool::new(true);
    // ORDERING: Relaxed; one thread.
    let allow = move |_| if is_first.swap(false, std::sync::atomic::Ordering::Relaxed) { panic!("no") } else { true };
    let mut funnel = Options::new().allow(allow).funnel::<u64>(&name).unwrap();
    let mut unlucky = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    let mut sender = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    sender.send(1).unwrap();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| funnel.try_recv()));
    assert!(outcome.is_err());
    assert_eq!(funnel.recv_timeout(Duration::from_secs(60)), Ok(1));
    assert!(unlucky.is_disconnected());
    // The listener is still there.
    let mut another = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    another.send(2).unwrap();
    assert_eq!(funnel.recv_timeout(Duration::from_secs(60)), Ok(2));
}

/// Claim: A sender of bytes that lies ends its own lane, and no other.
#[test]
fn a_lane_of_bytes_that_lies_ends_alone() {
    let mut funnel = Funnel::<Bytes>::without_name().unwrap();
    let (liar, seat) = funnel.seat().unwrap();
    let mut lying = BytesSender::from_fd(seat, 64).unwrap();
    let (honest, seat) = funnel.seat().unwrap();
    let mut sender = BytesSender::from_fd(seat, 64).unwrap();
    lying.send(b"true").unwrap();
    // ORDERING: Relaxed; one thread.
    lying.link().own.word(RING).store(u64::MAX, Ordering::Relaxed);
    for _ in 0..3 {
        sender.send(b"still here").unwrap();
        assert_eq!(funnel.recv_from(), Ok((honest, Bytes(b"still here".to_vec()))));
    }
    assert_eq!(funnel.next_ended(), Some(Ended { sender: liar, error: Error::Broken }));
    assert_eq!(funnel.senders(), 1);
}
