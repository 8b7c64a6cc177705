//! How channels end: by a drop, and by what a peer says.

use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use ysuite_shm::{
    BroadcastError, BroadcastSender, Error, Listener, Options, Receiver, SendTimeoutError, Sender, TryRecvError,
    TrySendError, Why, connect, pipe,
};

use crate::LONG;

/// Claim: What was sent before a sender's end is received, and then the end.
#[test]
fn what_was_sent_is_received_before_the_end() {
    let (mut sender, mut receiver) = pipe::<u64>(8).unwrap();
    sender.send_batch(0..5).unwrap();
    drop(sender);
    assert!(receiver.iter().eq(0..5));
    assert_eq!(receiver.recv(), Err(Error::Closed));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Ended(Error::Closed)));
    assert!(receiver.is_disconnected());
}

#[test]
fn a_sender_learns_that_nobody_receives() {
    let (mut sender, receiver) = pipe::<u64>(4).unwrap();
    drop(receiver);
    assert_eq!(sender.try_send(1), Err(TrySendError::Ended(1, Error::Closed)));
    let (mut sender, mut receiver) = pipe::<u64>(4).unwrap();
    sender.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    drop(receiver);
    assert!(sender.is_disconnected());
    assert_eq!((0..6).find_map(|message| sender.try_send(message).err()), Some(TrySendError::Ended(0, Error::Closed)));
}

#[test]
fn who_sleeps_is_told_of_the_end() {
    for _ in 0..50 {
        let (sender, mut receiver) = pipe::<u64>(4).unwrap();
        receiver.set_spin(0);
        let waiting = thread::spawn(move || receiver.recv());
        drop(sender);
        assert_eq!(waiting.join().unwrap(), Err(Error::Closed));
        let (mut sender, mut receiver) = pipe::<u64>(1).unwrap();
        sender.set_spin(0);
        sender.send(0).unwrap();
        assert_eq!(receiver.peek(), Some(0));
        let waiting = thread::spawn(move || sender.send(1).unwrap_err().1);
        drop(receiver);
        assert_eq!(waiting.join().unwrap(), Error::Closed);
    }
}

/// Claim: What a reader that is gone has not consumed comes back to the writer, in order, and the next reader goes on there.
#[test]
fn what_was_not_consumed_comes_back() {
    let (mut sender, mut receiver) = pipe::<u64>(100).unwrap();
    sender.send_batch(0..50).unwrap();
    receiver.iter().take(20).for_each(drop);
    assert_eq!(receiver.peek(), Some(20));
    let mut sender = sender.into_unread().unwrap_err();
    sender.send(50).unwrap();
    drop(receiver);
    let unread = sender.into_unread().unwrap();
    assert!(unread.iter().copied().eq(20..51));
    let (mut sender, mut receiver) = pipe::<u64>(100).unwrap();
    sender.send_batch(unread).unwrap();
    sender.send(51).unwrap();
    assert!(receiver.try_iter().eq(20..52));
}

#[test]
fn an_end_that_was_used_is_not_given_away() {
    let (mut sender, receiver) = pipe::<u64>(4).unwrap();
    let mut receiver = Receiver::<u64>::from_fd(receiver.into_fd().unwrap()).unwrap();
    sender.send(7).unwrap();
    let mut sender = sender.into_fd().unwrap_err();
    assert_eq!(receiver.recv(), Ok(7));
    let mut receiver = receiver.into_fd().unwrap_err();
    sender.send(8).unwrap();
    assert_eq!(receiver.recv(), Ok(8));
}

/// Claim: Ends that do not fit each other are refused, both learn it, and each is told why.
#[test]
fn ends_that_do_not_fit_are_refused() {
    let refused = |error| matches!(error, Error::Refused(Why::ByPeer(_)));
    let (sender, receiver) = pipe::<u64>(4).unwrap();
    let mut receiver = Receiver::<[u64; 2]>::from_fd(receiver.into_fd().unwrap()).unwrap();
    let mut sender = sender;
    sender.send(1).unwrap();
    assert_eq!(receiver.recv(), Err(Error::Refused(Why::Type)));
    assert!(sender.is_disconnected());
    // Both have read the other's hello: each has its own reason.
    assert!(matches!(sender.send(1).unwrap_err().1, Error::Refused(Why::Type)));

    let (sender, receiver) = pipe::<u64>(4).unwrap();
    let mut other = Sender::<u64>::from_fd(receiver.into_fd().unwrap(), 4).unwrap();
    let mut sender = sender;
    other.send(1).unwrap();
    assert_eq!(sender.meet_timeout(LONG), Err(Error::Refused(Why::Role)));
    assert_eq!(other.meet_timeout(LONG), Err(Error::Refused(Why::Role)));

    let (sender, receiver) = Options::new().messages("quote").pipe::<u64>(4).unwrap();
    let mut other =
        Options::new().largest_region(4096).messages("quote").receiver::<u64>(receiver.into_fd().unwrap()).unwrap();
    let mut sender = sender;
    sender.send(1).unwrap();
    assert_eq!(other.recv(), Err(Error::Refused(Why::Size)));
    // The hello of the other was fine, and was read before.
    assert!(sender.is_disconnected() && refused(sender.send(1).unwrap_err().1));
}

/// Claim: One that has met an end which refuses learns it at once, with the reason, also asleep, and while that end lives on.
#[test]
fn a_refusal_reaches_one_that_has_met() {
    for options in [Options::new(), Options::new().careful()] {
        let (mut sender, receiver) = options.pipe::<u64>(4).unwrap();
        sender.set_spin(0);
        // It says hello with the first.
        (0..4).for_each(|message| sender.send(message).unwrap());
        let sending = thread::spawn(move || (sender.send_timeout(4, LONG), sender));
        let mut small = options.clone().largest_region(4096).receiver::<u64>(receiver.into_fd().unwrap()).unwrap();
        assert_eq!(small.recv(), Err(Error::Refused(Why::Size)));
        let (sent, sender) = sending.join().unwrap();
        let why = Error::Refused(Why::ByPeer("the peer's memory has a wrong size"));
        assert_eq!(sent, Err(SendTimeoutError::Ended(4, why)));
        assert!(sender.into_unread().unwrap().into_iter().eq(0..4));
    }
    let mut sender = BroadcastSender::<u64>::without_name(600).unwrap();
    let small = Options::new().largest_region(4096).broadcast_receiver::<u64>(sender.seat().unwrap());
    sender.serve();
    // What it shares with all comes with its hello.
    let mut small = small.unwrap();
    assert_eq!(small.recv(), Err(BroadcastError::Ended(Error::Refused(Why::Size))));
    sender.serve();
    assert_eq!(sender.receivers(), 0);
}

#[test]
fn a_name_joins_strangers() {
    let name = format!("test-{}-joins", std::process::id());
    let listener = Listener::bind(&name).unwrap();
    assert_eq!(Listener::bind(&name).unwrap_err(), Error::Refused(Why::InUse));
    assert!(listener.try_accept().unwrap().is_none());
    let mut sender = Sender::<u64>::from_fd(connect(&name).unwrap(), 4).unwrap();
    sender.send(1).unwrap();
    let mut receiver = Receiver::<u64>::from_fd(listener.accept().unwrap()).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    drop(listener);
    assert!(matches!(connect(&name), Err(Error::Refused(Why::System(_)))));
    sender.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
}

/// Claim: A stranger that is not admitted is told so, and nothing of it is looked at.
#[test]
fn a_user_that_is_not_admitted_is_refused() {
    let name = format!("test-{}-user", std::process::id());
    let listener = Options::new().allow(|_| false).listen(&name).unwrap();
    let mut receiver = Receiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    assert!(listener.try_accept().unwrap().is_none());
    assert_eq!(receiver.recv(), Err(Error::Refused(Why::ByPeer("this user may not connect"))));
}

/// Claim: A path whose listener was killed is taken over, a live one is not, and no file is left in the folder.
#[test]
fn a_path_is_taken_over_and_left_clean() {
    let folder = std::env::temp_dir().join(format!("ysuite-shm-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    let name = path.to_str().unwrap();
    // As a killed process leaves it.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = Listener::bind(name).unwrap();
    assert_eq!(Listener::bind(name).unwrap_err(), Error::Refused(Why::InUse));
    // Who has asked whether the name is free has been a stranger too, and is gone.
    assert_eq!(Receiver::<u64>::from_fd(listener.accept().unwrap()).unwrap().recv(), Err(Error::Died));
    let mut sender = Sender::<u64>::from_fd(connect(name).unwrap(), 4).unwrap();
    sender.send(3).unwrap();
    assert_eq!(Receiver::<u64>::from_fd(listener.accept().unwrap()).unwrap().recv(), Ok(3));
    drop(listener);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    std::fs::write(&path, "a file").unwrap();
    assert_eq!(Listener::bind(name).unwrap_err(), Error::Refused(Why::Name));
    std::fs::remove_dir_all(&folder).unwrap();
    for name in ["", "a\0b", &"x".repeat(200)] {
        assert_eq!(Listener::bind(name).unwrap_err(), Error::Refused(Why::Name));
    }
}

#[test]
fn careful_ends_wake_each_other_by_the_socket() {
    for (one, other) in [(true, true), (true, false), (false, true)] {
        let options = |careful: bool| if careful { Options::new().careful() } else { Options::new() };
        let (sender, receiver) = pipe::<u64>(2).unwrap();
        let mut sender = options(one).sender::<u64>(sender.into_fd().unwrap(), 2).unwrap();
        let mut receiver = options(other).receiver::<u64>(receiver.into_fd().unwrap()).unwrap();
        receiver.set_spin(0);
        sender.set_spin(0);
        let reading = thread::spawn(move || {
            (0..2000).for_each(|message| assert_eq!(receiver.recv(), Ok(message)));
            assert_eq!(receiver.recv(), Err(Error::Closed));
        });
        (0..2000).for_each(|message| sender.send(message).unwrap());
        drop(sender);
        reading.join().unwrap();
    }
}

#[test]
fn a_descriptor_tells_of_messages_and_of_the_end() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let is_readable = |receiver: &Receiver<u64>, limit: Duration| {
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
        poll(&mut [PollFd::from_borrowed_fd(receiver.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
    };
    let (mut sender, mut receiver) = pipe::<u64>(4).unwrap();
    sender.send(0).unwrap();
    assert!(!receiver.arm());
    assert_eq!(receiver.recv(), Ok(0));
    for message in 1..100 {
        assert!(receiver.arm());
        assert!(!is_readable(&receiver, Duration::ZERO));
        sender.send(message).unwrap();
        assert!(is_readable(&receiver, LONG));
        assert_eq!(receiver.try_recv(), Ok(message));
    }
    assert!(receiver.arm());
    drop(sender);
    assert!(is_readable(&receiver, LONG));
    assert_eq!(receiver.recv(), Err(Error::Closed));
}
