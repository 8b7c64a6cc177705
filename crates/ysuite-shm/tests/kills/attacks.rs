//! What others do to a channel, or the system's limits: forks, other users, names that many want, too few descriptors.

use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use ysuite_shm::{Error, Funnel, Listener, Options, Receiver, RecvTimeoutError, Sender, Why, connect, pipe};

use crate::process::{Child, here};

/// A guard against hanging only.
const LONG: Duration = Duration::from_secs(60);

fn folder() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("ysuite-shm-{}", std::process::id()))
}

/// The name of a listener is its process's, and not that of a child which has a copy.
pub(crate) fn forked_listener() {
    std::fs::create_dir(folder()).unwrap();
    let path = folder().join("socket");
    let name = path.to_str().unwrap();
    let mut listener = Some(Listener::bind(name).unwrap());
    Child::run(|| drop(listener.take())).join();
    let mut sender = Sender::<u64>::from_fd(connect(name).unwrap(), 1).unwrap();
    sender.send(1).unwrap();
    let listener = listener.take().unwrap();
    assert_eq!(Receiver::<u64>::from_fd(listener.accept().unwrap()).unwrap().recv(), Ok(1));
    drop(listener);
    std::fs::remove_dir(folder()).unwrap();
}

const SOMEBODY: u32 = 65_534;

/// An abstract name belongs to who comes first: who connects is asked for the user as well.
pub(crate) fn another_users_listener() {
    // SAFETY: a number.
    if unsafe { libc::geteuid() } != 0 {
        println!("not the superuser: cannot be another user");
        return;
    }
    let name = format!("kills-{}-user", std::process::id());
    let child = Child::run(|| {
        // SAFETY: changes this process alone.
        assert_eq!(unsafe { libc::setuid(SOMEBODY) }, 0);
        let listener = Options::new().allow(|user| user == 0).listen(&name).unwrap();
        // The first one has hung up again.
        let mut first = Sender::<u64>::from_fd(listener.accept().unwrap(), 1).unwrap();
        assert_eq!(first.meet_timeout(LONG), Err(Error::Died));
        let mut sender = Sender::<u64>::from_fd(listener.accept().unwrap(), 1).unwrap();
        (0..100).for_each(|message| sender.send(message).unwrap());
    });
    let refused = loop {
        match connect(&name).unwrap_err() {
            // Nobody listens yet.
            Error::Refused(Why::System(libc::ECONNREFUSED)) => thread::yield_now(),
            error => break error,
        }
    };
    assert_eq!(refused, Error::Refused(Why::User(SOMEBODY)));
    let socket = Options::new().allow(|user| user == SOMEBODY).connect(&name).unwrap();
    let mut receiver = Receiver::<u64>::from_fd(socket).unwrap();
    receiver.set_spin(0);
    assert!(receiver.iter().eq(0..100));
    assert_eq!(receiver.recv(), Err(Error::Closed));
    child.join();
}

pub(crate) fn limit(which: libc::__rlimit_resource_t, most: u64) {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: one value, which lives as long as the calls; limits this process alone.
    unsafe {
        assert_eq!(libc::getrlimit(which, &raw mut limits), 0);
        limits.rlim_cur = most;
        assert_eq!(libc::setrlimit(which, &raw const limits), 0);
    }
}

/// Somebody who cannot be accepted is reported again at once: the funnel then pauses, and accepts when it can.
pub(crate) fn funnel_without_descriptors() {
    let name = format!("kills-{}-few", std::process::id());
    let child = Child::traced(|| {
        let mut funnel = Funnel::<u64>::bind(&name).unwrap();
        limit(libc::RLIMIT_NOFILE, 0);
        here();
        assert_eq!(funnel.recv_timeout(Duration::from_millis(300)), Err(RecvTimeoutError::Timeout));
        here();
        limit(libc::RLIMIT_NOFILE, 1_000);
        assert_eq!(funnel.recv_timeout(LONG), Ok(7));
    });
    let child = child.stopped();
    let mut sender = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
    sender.send(7).unwrap();
    let calls = child.count_calls();
    // Without a pause ten thousands.
    assert!(calls < 600, "{calls}");
    child.go_on();
    child.join();
}

/// A thousand senders of one process: all arrive, and all ends are noticed.
pub(crate) fn thousand_senders() {
    const SENDERS: usize = 1_000;
    let name = format!("kills-{}-crowd", std::process::id());
    let mut funnel = Funnel::<u64>::bind(&name).unwrap();
    let mut most = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: one value, which lives as long as the call.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut most) };
    if most.rlim_max < 6 * SENDERS as u64 {
        println!("at most {} descriptors: too few", most.rlim_max);
        return;
    }
    let before = most;
    most.rlim_cur = most.rlim_max;
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const most) };
    let child = Child::run(|| {
        let sender = |number| {
            // It waits where too many wait to be accepted.
            let mut sender = Sender::<u64>::from_fd(connect(&name).unwrap(), 1).unwrap();
            sender.send(number).unwrap();
            sender
        };
        let mut senders: Vec<_> = (0..SENDERS as u64).map(sender).collect();
        for (number, sender) in senders.iter_mut().enumerate() {
            sender.send((SENDERS + number) as u64).unwrap();
        }
    });
    let mut seen = vec![0; 2 * SENDERS];
    (0..2 * SENDERS).for_each(|_| seen[funnel.recv_timeout(LONG).unwrap() as usize] += 1);
    assert!(seen.iter().all(|times| *times == 1), "each once");
    child.join();
    while funnel.senders() > 0 {
        assert_eq!(funnel.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    }
    drop(funnel);
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const before) };
}

/// A process that may not have the memory is told so, and goes on: the kernel would end it by a signal.
pub(crate) fn limits() {
    Child::run(|| {
        limit(libc::RLIMIT_FSIZE, 8192);
        drop(pipe::<u64>(100).unwrap());
        assert_eq!(pipe::<u64>(10_000).unwrap_err(), Error::Refused(Why::System(libc::EFBIG)));
        limit(libc::RLIMIT_FSIZE, libc::RLIM_INFINITY);
        limit(libc::RLIMIT_AS, 1 << 29);
        // For a moment there is so much of it.
        assert_eq!(pipe::<u64>(1 << 26).unwrap_err(), Error::Refused(Why::System(libc::ENOMEM)));
        drop(pipe::<u64>(100).unwrap());
    })
    .join();
}

/// However many take a path that a killed process has left, one gets it, and the others are told.
pub(crate) fn contested_path() {
    std::fs::create_dir(folder()).unwrap();
    let path = folder().join("socket");
    for _ in 0..20 {
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let takers: Vec<_> = (0..6)
            .map(|_| {
                let name = path.to_str().unwrap().to_owned();
                thread::spawn(move || Listener::bind(&name))
            })
            .collect();
        let outcomes: Vec<_> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert!(
            outcomes
                .iter()
                .flat_map(|outcome| outcome.as_ref().err())
                .all(|error| *error == Error::Refused(Why::InUse))
        );
        let _socket: OwnedFd = connect(path.to_str().unwrap()).unwrap();
    }
    std::fs::remove_dir(folder()).expect("nothing is left in it");
}
