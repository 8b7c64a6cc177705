//! Calls that the kernel refuses, one after the other, and descriptors that run out. A channel then works all the same,
//! or says that it was refused; it neither hangs nor crashes, and leaves nothing.

use ysuite_shm::{Error, TryRecvError, Why, pipe};

use crate::process::{Child, forbid};
use crate::remains;

/// What a channel must do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// It works all the same.
    Works,
    /// The end that makes the call says so, in the end.
    Refused,
}
use Expected::{Refused, Works};

const CALLS: [(&str, libc::c_long, Expected); 14] = [
    ("memfd_create", libc::SYS_memfd_create, Refused),
    ("ftruncate", libc::SYS_ftruncate, Refused),
    ("fallocate", libc::SYS_fallocate, Refused),
    ("madvise", libc::SYS_madvise, Refused),
    ("fcntl", libc::SYS_fcntl, Refused),
    ("eventfd2", libc::SYS_eventfd2, Refused),
    ("epoll_create1", libc::SYS_epoll_create1, Refused),
    ("epoll_ctl", libc::SYS_epoll_ctl, Refused),
    ("sendmsg", libc::SYS_sendmsg, Refused),
    ("recvmsg", libc::SYS_recvmsg, Refused),
    ("fstatfs", libc::SYS_fstatfs, Refused),
    ("membarrier", libc::SYS_membarrier, Works),
    ("pidfd_open", libc::SYS_pidfd_open, Works),
    ("sched_getaffinity", libc::SYS_sched_getaffinity, Works),
];

/// One thread makes a channel and uses it, and an end that is given away.
fn use_a_channel() -> Result<(), Error> {
    let (mut sender, mut receiver) = pipe::<u64>(8)?;
    receiver.set_spin(0);
    for message in 0..100 {
        sender.send(message).map_err(|error| error.1)?;
        match receiver.recv_timeout(std::time::Duration::from_secs(60)) {
            Ok(received) => assert_eq!(received, message),
            Err(ysuite_shm::RecvTimeoutError::Ended(error)) => return Err(error),
            Err(ysuite_shm::RecvTimeoutError::Timeout) => panic!("it hangs"),
        }
    }
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(sender);
    match receiver.recv() {
        Err(Error::Closed) => Ok(()),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn refused_calls() {
    for (name, call, expected) in CALLS {
        for error in [libc::EPERM, libc::ENOMEM, libc::ENOSYS] {
            Child::run(|| {
                let before = remains::count();
                forbid(call, error);
                let outcome = use_a_channel();
                match (expected, outcome) {
                    (Works, Ok(())) | (Refused, Err(Error::Refused(_))) => {}
                    (_, outcome) => panic!("{name} with {error}: {outcome:?}"),
                }
                // What it was before, as far as the files can still be counted.
                if name != "fcntl" {
                    remains::assert_same(&before, name);
                }
            })
            .join();
        }
    }
}

/// Each call that makes a descriptor is once the one for which there is none.
pub(crate) fn no_descriptors() {
    for free in 0..24 {
        Child::run(|| {
            let before = remains::count();
            let used = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64 - 1;
            let limit = libc::rlimit { rlim_cur: used + free, rlim_max: 1024 };
            // SAFETY: limits this process alone.
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
            let outcome = use_a_channel();
            // SAFETY: as above.
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: 1024, rlim_max: 1024 }) };
            remains::assert_same(&before, "without descriptors");
            match outcome {
                // It may do without a descriptor of its process.
                Ok(()) => assert!(free >= 10, "{free}"),
                Err(Error::Refused(Why::System(libc::EMFILE) | Why::Packet | Why::ByPeer(_))) => {
                    assert!(free < 16, "{free}")
                }
                Err(other) => panic!("with {free} free: {other:?}"),
            }
        })
        .join();
    }
}
