//! The mechanisms that work with epoll alongside sockets, tried by putting each into a real epoll. The epoll must
//! report nothing before another thread sends a message. Then it must report it, and the message must be there.
//!
//! | mechanism | descriptor in epoll |
//! |---|---|
//! | sockets, pipes, POSIX queues | their own descriptor |
//! | `ysuite`'s channels | a `YSocketpair` that the receiver is attached to |
//! | a System V queue | its number, which is no descriptor |
//! | every mechanism that sleeps in a futex | the descriptor of a futex, which the kernel provided up to Linux 2.6.25 |
//!
//! A transport that only spins has nothing to try. Each attempt takes no longer than its epoll takes to return.

use std::fmt::Display;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use ysuite::queue::ypipe;
use ysuite::signal::{Signal, Wait, YSocketpair};

use super::in_epoll::{self, Looks};
use super::kernel::{packets, pipe, posix_mq, sysv_mq};
use super::{Receiver, Sender, Transport, crossbeam, mpmc, mpsc, mutex_condvar, spsc, std_mpsc};
use super::{tcp_stream, unix_stream, ypipe_woken};

/// The result of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The transport's name, as on the command line.
    pub name: &'static str,
    pub works: bool,
    /// The action, or the call that failed and its error; without a full stop.
    pub how: String,
}

/// All of them, tried now.
pub fn proofs() -> Vec<Proof> {
    vec![
        proof::<unix_stream::Waitall>(own::<unix_stream::Waitall>),
        proof::<packets::Datagrams>(own::<packets::Datagrams>),
        proof::<packets::Seqpackets>(own::<packets::Seqpackets>),
        proof::<tcp_stream::TcpLoopback>(own::<tcp_stream::TcpLoopback>),
        proof::<pipe::Pipe>(own::<pipe::Pipe>),
        proof::<posix_mq::PosixMq>(own::<posix_mq::PosixMq>),
        proof::<sysv_mq::SysvMq>(number_of_a_queue),
        proof::<spsc::Adaptive>(attached::<spsc::Adaptive>),
        proof::<spsc::Bounded>(attached::<spsc::Bounded>),
        proof::<mpsc::Adaptive>(attached::<mpsc::Adaptive>),
        proof::<mpsc::Bounded>(attached::<mpsc::Bounded>),
        proof::<mpmc::Adaptive>(attached::<mpmc::Adaptive>),
        proof::<in_epoll::Mpmc>(attached::<mpmc::Adaptive>),
        proof::<mpmc::Sleeping>(futex),
        proof::<ypipe_woken::BySocketpair>(signaler_beside_a_queue),
        proof::<ypipe_woken::BySemaphore>(futex),
        proof::<mutex_condvar::IfAsleep>(futex),
        proof::<std_mpsc::Channel>(futex),
        proof::<crossbeam::Bounded>(futex),
    ]
}

/// Long enough for any machine: a working mechanism responds within microseconds.
const PATIENCE: Duration = Duration::from_secs(10);

const MESSAGE: usize = 7;

fn proof<T: Transport>(attempt: fn() -> Result<String, String>) -> Proof {
    let done = (T::TRAITS.available)().and_then(|()| attempt());
    let works = done.is_ok();
    Proof { name: T::TRAITS.name, works, how: done.unwrap_or_else(|why| why) }
}

fn failed<E: Display>(call: &str) -> impl Fn(E) -> String {
    move |cause| format!("{call}: {cause}")
}

/// Waits for one descriptor in an epoll of its own, while another thread sends.
fn wakes<A: Send>(descriptor: impl AsFd, send: impl FnOnce() -> A + Send) -> Result<(), String> {
    wakes_within(PATIENCE, descriptor, send)
}

fn wakes_within<A: Send>(
    patience: Duration,
    descriptor: impl AsFd,
    send: impl FnOnce() -> A + Send,
) -> Result<(), String> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed("epoll_create"))?;
    epoll::add(&epoll, &descriptor, epoll::EventData::new_u64(0), epoll::EventFlags::IN)
        .map_err(failed("epoll_ctl"))?;
    if told(&epoll, Duration::ZERO)? {
        return Err("epoll_wait reported a message before there was one".to_owned());
    }
    thread::scope(|scope| {
        scope.spawn(send);
        if told(&epoll, patience)? { Ok(()) } else { Err("epoll_wait never reported the message".to_owned()) }
    })
}

fn told(epoll: &OwnedFd, patience: Duration) -> Result<bool, String> {
    let mut events = [MaybeUninit::uninit()];
    let timeout = Timespec { tv_sec: patience.as_secs() as _, tv_nsec: 0 };
    loop {
        match epoll::wait(epoll, &mut events, Some(&timeout)) {
            Ok((events, _)) => return Ok(!events.is_empty()),
            Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(failed("epoll_wait")(cause)),
        }
    }
}

fn received(message: Option<usize>, how: &str) -> Result<String, String> {
    match message {
        Some(MESSAGE) => {
            Ok(format!("{how}: epoll_wait reported the message of another thread, which was then received"))
        }
        other => Err(format!("{how}: epoll_wait reported a message, but there was {other:?}")),
    }
}

/// A transport whose receiver is a descriptor.
fn own<T: Transport>() -> Result<String, String>
where
    T::Receiver<usize>: AsFd,
{
    let (mut sender, mut receiver) = T::open::<usize>().map_err(failed("open"))?;
    // The sender stays: a disconnection is an event as well.
    wakes(&receiver, || sender.send(MESSAGE))?;
    received(receiver.recv().ok(), "its own descriptor")
}

/// A transport whose receiver can be attached to a set.
fn attached<T: Transport>() -> Result<String, String>
where
    T::Receiver<usize>: Looks<usize>,
{
    let (mut sender, mut receiver) = T::open::<usize>().map_err(failed("open"))?;
    let mut set = YSocketpair::new().map_err(failed("YSocketpair::new"))?;
    set.attach(&mut receiver, 0).map_err(failed("attach"))?;
    // Only an empty receiver is asleep.
    let _ = receiver.look();
    wakes(&set, || sender.send(MESSAGE))?;
    for _id in set.check() {}
    received(receiver.look().ok(), "attached to a YSocketpair")
}

/// The compositions of the first article: a queue without waiting, and a signaler that is a descriptor.
fn signaler_beside_a_queue() -> Result<String, String> {
    let (mut writer, mut reader) = ypipe::unbounded::<usize>();
    let mut set = YSocketpair::new().map_err(failed("YSocketpair::new"))?;
    let signaler = set.signaler();
    reader.arm();
    wakes(&set, || {
        let written = writer.write(MESSAGE);
        if written.is_ok() && !writer.flush() {
            signaler.signal(0);
        }
    })?;
    for _id in set.check() {}
    received(reader.read(), "a YSocketpair with the queue")
}

/// The number of a System V queue in place of a descriptor.
fn number_of_a_queue() -> Result<String, String> {
    let how = "the number of the queue";
    let (mut sender, mut receiver) = unlike_any_descriptor()?;
    let id = receiver.mechanism().id();
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed("epoll_create"))?;
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
    // SAFETY: the event outlives the call; a number that is no descriptor is refused.
    if unsafe { libc::epoll_ctl(epoll.as_raw_fd(), libc::EPOLL_CTL_ADD, id, &raw mut event) } < 0 {
        return Err(format!("{how}: epoll_ctl: {}", io::Error::last_os_error()));
    }
    let _ = sender.send(MESSAGE);
    if told(&epoll, PATIENCE)? {
        return received(receiver.recv().ok(), how);
    }
    Err(format!("{how}: epoll_wait never reported the message"))
}

type Sysv = (<sysv_mq::SysvMq as Transport>::Sender<usize>, <sysv_mq::SysvMq as Transport>::Receiver<usize>);

/// The first queue of a system has the number 0, which is also that of a descriptor. A new queue in its place has a
/// high one.
fn unlike_any_descriptor() -> Result<Sysv, String> {
    let mut ends = sysv_mq::SysvMq::open::<usize>().map_err(failed("msgget"))?;
    for _ in 0..16 {
        // SAFETY: no memory is involved; asks whether there is such a descriptor.
        if unsafe { libc::fcntl(ends.1.mechanism().id(), libc::F_GETFD) } < 0 {
            return Ok(ends);
        }
        drop(ends);
        ends = sysv_mq::SysvMq::open::<usize>().map_err(failed("msgget"))?;
    }
    Err("every queue had the number of a descriptor".to_owned())
}

/// A futex as a descriptor.
fn futex() -> Result<String, String> {
    let how = "the futex its receiver sleeps in";
    let word = std::sync::atomic::AtomicU32::new(0);
    // SAFETY: the word outlives the descriptor; no signal is asked for.
    let descriptor = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_FD, 0) };
    if descriptor < 0 {
        return Err(format!("{how}: FUTEX_FD: {}", io::Error::last_os_error()));
    }
    // SAFETY: just opened, and no other code has it.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor as libc::c_int) };
    wakes(&descriptor, || {
        // SAFETY: the word outlives the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
    })
    .map_err(|why| format!("{how}: {why}"))?;
    received(Some(MESSAGE), how)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_that_is_ready_too_early_or_never_is_no_proof() {
        let pair = || std::os::unix::net::UnixStream::pair().unwrap();
        let (one, _other) = pair();
        assert_eq!(wakes_within(Duration::ZERO, &one, || {}), Err("epoll_wait never reported the message".to_owned()));
        let (one, other) = pair();
        drop(other);
        assert_eq!(wakes(&one, || {}), Err("epoll_wait reported a message before there was one".to_owned()));
    }
}
