//! What is tried once: processes that meet in other ways, and how many system calls they make.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use ysuite_shm::{Error, Funnel, Listener, Receiver, RecvTimeoutError, Sender, connect, pipe};

use crate::process::{Child, Shared, here};

/// A guard against hanging only.
const LONG: Duration = Duration::from_secs(60);
const CAPACITY: usize = 8;

fn ends(capacity: usize) -> (OwnedFd, OwnedFd) {
    let (sender, receiver) = pipe::<u64>(capacity).unwrap();
    (sender.into_fd().unwrap(), receiver.into_fd().unwrap())
}

/// Receives until the end, in another thread: what, and why it ended.
fn receiving(socket: OwnedFd, spin: u32) -> thread::JoinHandle<(u64, Error)> {
    thread::spawn(move || {
        let mut receiver = Receiver::<u64>::from_fd(socket).unwrap();
        receiver.set_spin(spin);
        let mut next = 0;
        loop {
            match receiver.recv_timeout(LONG) {
                Ok(message) => assert_eq!(message, next, "in order"),
                Err(RecvTimeoutError::Ended(error)) => return (next, error),
                Err(RecvTimeoutError::Timeout) => panic!("slept through a message or a death, behind {next} messages"),
            }
            next += 1;
        }
    })
}

/// Who executes another program has lost its end, and its peer learns it though the process lives.
pub(crate) fn executes_another() {
    let (sender, receiver) = ends(CAPACITY);
    let child = Child::run(|| {
        let mut sender = Sender::<u64>::from_fd(sender.try_clone().unwrap(), CAPACITY).unwrap();
        sender.send(0).unwrap();
        use std::os::unix::process::CommandExt;
        panic!("{}", std::process::Command::new("sleep").arg("60").exec());
    });
    drop(sender);
    let reader = receiving(receiver, 0);
    assert_eq!(reader.join().unwrap(), (1, Error::Died));
    child.kill();
}

/// Processes in pid, ipc and mount namespaces of their own have channels as others have.
pub(crate) fn in_namespaces() {
    let folder = std::env::temp_dir().join(format!("ysuite-shm-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("socket");
    let name = path.to_str().unwrap();
    let listener = Listener::bind(name).unwrap();
    let outer = Child::run(|| {
        // SAFETY: changes this process alone.
        if unsafe { libc::unshare(libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWNS) } != 0 {
            println!("no namespaces here: {}", std::io::Error::last_os_error());
        }
        // The first process of the new namespace, whose number there is 1.
        Child::run(|| {
            let mut sender = Sender::<u64>::from_fd(connect(name).unwrap(), CAPACITY).unwrap();
            (0..3).for_each(|message| sender.send(message).unwrap());
            assert_eq!(sender.meet_timeout(LONG), Ok(true));
            core::mem::forget(sender);
        })
        .join();
    });
    let reader = receiving(listener.accept().unwrap(), 0);
    assert_eq!(reader.join().unwrap(), (3, Error::Died));
    outer.join();
    drop(listener);
    std::fs::remove_dir(&folder).unwrap();
}

pub(crate) fn inherited() {
    let (mut sender, receiver) = pipe::<u64>(100).unwrap();
    let receiver = receiver.into_fd().unwrap();
    let child = Child::run(|| {
        let mut receiver = Receiver::<u64>::from_fd(receiver.try_clone().unwrap()).unwrap();
        assert!((0..10_000).all(|message| receiver.recv() == Ok(message)));
        assert_eq!(receiver.recv(), Err(Error::Closed));
    });
    drop(receiver);
    (0..10_000).for_each(|message| sender.send(message).unwrap());
    drop(sender);
    child.join();
}

/// With `peek` and `consume` a message is dealt with by the next receiver, if the first dies over it.
pub(crate) fn next_receiver_goes_on() {
    let name = format!("kills-{}-next", std::process::id());
    let listener = Listener::bind(&name).unwrap();
    let mut unread: Vec<u64> = (0..100).collect();
    let dealt = Shared::new();
    for _ in 0..5 {
        let child = Child::run(|| {
            let mut receiver = Receiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
            for _ in 0..10 {
                assert_eq!(receiver.recv(), Ok(dealt.get()));
                dealt.set(dealt.get() + 1);
            }
            while receiver.peek().is_none() {}
            // Dies over this one.
            core::mem::forget(receiver);
        });
        let mut sender = Sender::<u64>::from_fd(listener.accept().unwrap(), 100).unwrap();
        sender.send_batch(unread).unwrap();
        assert_eq!(sender.meet_timeout(LONG), Ok(true));
        child.join();
        unread = sender.into_unread().unwrap();
        assert!(unread.iter().copied().eq(dealt.get()..100));
    }
    assert_eq!(dealt.get(), 50);
}

/// A stream costs no system call for each message: neither a sender that has room, nor a receiver that has messages,
/// however loaded the machine.
pub(crate) fn stream_without_calls() {
    const STREAM: u64 = 4_000;
    let (sender, receiver) = ends(4096);
    let sending = Child::traced(|| {
        let mut sender = Sender::<u64>::from_fd(sender, 4096).unwrap();
        assert_eq!(sender.meet_timeout(LONG), Ok(true));
        here();
        (0..STREAM).for_each(|message| sender.send(message).unwrap());
        here();
    });
    let mut receiver = Receiver::<u64>::from_fd(receiver).unwrap();
    assert_eq!(receiver.meet_timeout(LONG), Ok(true));
    let calls = sending.stopped().tap_kill(Child::count_calls);
    assert!(calls < STREAM / 20, "{calls}");
    assert!(receiver.iter().eq(0..STREAM));
    assert_eq!(receiver.recv(), Err(Error::Died));
}

/// Nor do senders that are idle cost one. The stream is in the ring before the funnel goes on, which never sleeps over it,
/// however loaded the machine.
pub(crate) fn funnel_without_calls() {
    const STREAM: u64 = 4_000;
    let name = format!("kills-{}-calls", std::process::id());
    let child = Child::traced(|| {
        let mut funnel = Funnel::<u64>::bind(&name).unwrap();
        // All are there, and were idle for a while.
        assert!((0..101).all(|_| funnel.recv() == Ok(0)));
        here();
        (1..STREAM).for_each(|message| assert_eq!(funnel.recv(), Ok(message)));
        here();
    });
    let mut senders = many(&name, 101);
    let child = child.stopped();
    (1..STREAM).for_each(|message| senders[100].send(message).unwrap());
    let calls = child.tap_kill(Child::count_calls);
    drop(senders);
    assert!(calls < STREAM / 20, "{calls}");
}

/// Who waits for a hundred idle senders makes the call in which it sleeps, and few others.
pub(crate) fn idle_without_calls() {
    let name = format!("kills-{}-idle", std::process::id());
    let child = Child::traced(|| {
        let mut funnel = Funnel::<u64>::bind(&name).unwrap();
        assert!((0..100).all(|_| funnel.recv() == Ok(0)));
        here();
        assert_eq!(funnel.recv_timeout(Duration::from_millis(300)), Err(RecvTimeoutError::Timeout));
        here();
    });
    let senders = many(&name, 100);
    let calls = child.stopped().tap_kill(Child::count_calls);
    drop(senders);
    assert!(calls < 20, "{calls}");
}

/// This number of senders, each of which has sent a 0.
fn many(name: &str, senders: u32) -> Vec<Sender<u64>> {
    let socket = || loop {
        match connect(name) {
            Ok(socket) => return socket,
            Err(_) => thread::yield_now(),
        }
    };
    (0..senders)
        .map(|_| {
            let mut sender = Sender::<u64>::from_fd(socket(), 4096).unwrap();
            sender.send(0).unwrap();
            sender
        })
        .collect()
}

/// A child that is forked, and does not execute anything, has no memory of the channel; dropping its copy of an end does
/// nothing to the channel, nor to what the child has where that memory was.
pub(crate) fn forked_copy() {
    let (mut sender, mut receiver) = pipe::<u64>(8).unwrap();
    sender.send(1).unwrap();
    assert_eq!(receiver.recv(), Ok(1));
    let mut copies = Some((sender, receiver));
    let child = Child::run(|| drop(copies.take()));
    child.join();
    let (mut sender, mut receiver) = copies.take().unwrap();
    sender.send(2).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
    drop(sender);
    assert_eq!(receiver.recv(), Err(Error::Closed));
}

/// A ping-pong in which each end looks for a changing time before it sleeps: the windows of the two meet in all ways.
pub(crate) fn exchange() {
    const ROUND_TRIPS: u64 = 20_000;
    let ((to, from_here), (back, from)) = (ends(2), ends(2));
    let child = Child::run(|| {
        let mut receiver = Receiver::<u64>::from_fd(from_here.try_clone().unwrap()).unwrap();
        let mut sender = Sender::<u64>::from_fd(back.try_clone().unwrap(), 2).unwrap();
        for message in 0..ROUND_TRIPS {
            receiver.set_spin((message * 7 % 160) as u32);
            assert_eq!(receiver.recv_timeout(LONG), Ok(message));
            sender.send(message).unwrap();
        }
    });
    drop((from_here, back));
    let mut sender = Sender::<u64>::from_fd(to, 2).unwrap();
    let mut receiver = Receiver::<u64>::from_fd(from).unwrap();
    for message in 0..ROUND_TRIPS {
        receiver.set_spin((message * 13 % 170) as u32);
        sender.send(message).unwrap();
        assert_eq!(receiver.recv_timeout(LONG), Ok(message));
    }
    drop((sender, receiver));
    child.join();
}
