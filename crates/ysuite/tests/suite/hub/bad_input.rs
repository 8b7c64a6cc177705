//! What a hub refuses, and that nothing is lost by it.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
#[cfg(target_os = "linux")]
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ysuite::hub::{Hub, Interest, Refused};
use ysuite::signal::{MAX_CAPACITY, YPollset};
use ysuite::{mpmc, spsc};

use crate::hub::descriptors::pair;
use crate::support::process::alone;

/// A descriptor with another owner.
struct Lent(BorrowedFd<'static>);

impl AsFd for Lent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0
    }
}

fn lent(socket: &UnixStream) -> Lent {
    // SAFETY: each test says what happens to the descriptor; nothing here uses it but the hub under test.
    Lent(unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) })
}

#[test]
fn a_closed_descriptor_is_refused() {
    // In a process of its own: elsewhere another test may open the same number.
    if !alone("hub::bad_input::a_closed_descriptor_is_refused") {
        return;
    }
    let mut hub = Hub::new().unwrap();
    let (near, _far) = pair();
    let closed = lent(&near);
    drop(near);
    let refused = hub.watch(closed, Interest::READABLE, |_, _, _| {}).unwrap_err();
    assert_eq!(refused.error.raw_os_error(), Some(rustix::io::Errno::BADF.raw_os_error()));
    hub.run().unwrap();
}

#[test]
fn a_descriptor_closed_behind_the_hubs_back_goes_with_a_last_call() {
    if !alone("hub::bad_input::a_descriptor_closed_behind_the_hubs_back_goes_with_a_last_call") {
        return;
    }
    let mut hub = Hub::new().unwrap();
    let (near, mut far) = pair();
    io::Write::write_all(&mut far, b"x").unwrap();
    let watched = lent(&near);
    let (notes, mut near) = (crate::hub::Notes::new(), Some(near));
    let noted = notes.clone();
    let source = hub
        .watch(watched, Interest::READABLE, move |_, _, ready| {
            noted.note((ready.is_readable(), ready.is_error()));
            drop(near.take());
        })
        .unwrap();
    hub.run().unwrap();
    assert_eq!(notes.taken(), [(true, false), (false, true)]);
    assert!(!hub.remove(source));
}

#[test]
fn the_same_descriptor_twice_is_refused() {
    let mut hub = Hub::new().unwrap();
    let (near, _far) = pair();
    let again = lent(&near);
    let source = hub.watch(near, Interest::READABLE, |_, _, _| {}).unwrap();
    let refused = hub.watch(again, Interest::WRITABLE, |_, _, _| {}).unwrap_err();
    assert_eq!(refused.error.kind(), io::ErrorKind::AlreadyExists);
    assert!(!refused.to_string().is_empty());
    assert!(hub.remove(source));
    // A duplicate is another descriptor; and the number is free again.
    let (near, _far) = pair();
    let twin = near.try_clone().unwrap();
    let source = hub.watch(near, Interest::READABLE, |_, _, _| {}).unwrap();
    hub.watch(twin, Interest::READABLE, |_, _, _| {}).unwrap();
    assert!(hub.remove(source));
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_watched_is_refused() {
    let mut hub = Hub::new().unwrap();
    let file = File::open("/proc/self/exe").unwrap();
    let refused = hub.watch(file, Interest::READABLE, |_, _, _| {}).unwrap_err();
    assert_eq!(refused.error.kind(), io::ErrorKind::PermissionDenied);
    assert!(refused.source.metadata().is_ok(), "it comes back");
}

#[test]
fn an_attached_receiver_and_one_too_many_come_back() {
    let mut hub = Hub::with_receivers(1).unwrap();
    let mut set = YPollset::new();
    let ((mut sender, mut receiver), (exchange, mut shared)) = (spsc::unbounded(), mpmc::bounded(1));
    sender.send(1).unwrap();
    exchange.send(2).unwrap();
    set.attach(&mut receiver, 3).unwrap();
    set.attach(&mut shared, 4).unwrap();
    let refused = hub.receive(receiver, |_, _| {}).unwrap_err();
    assert_eq!(refused.to_string(), "this receiver is attached already");
    assert_eq!(io::Error::from(refused).kind(), io::ErrorKind::AlreadyExists);
    let mut refused = hub.receive(shared, |_, _| {}).unwrap_err();
    assert_eq!(refused.error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!((refused.source.try_recv(), set.detach(&mut refused.source)), (Ok(2), Some(4)));

    let (_first, first_in) = spsc::unbounded::<u8>();
    hub.receive(first_in, |_, _| {}).unwrap();
    let (mut second, second_in) = spsc::unbounded();
    second.send(1).unwrap();
    let mut refused = hub.receive(second_in, |_, _| {}).unwrap_err();
    assert_eq!(refused.error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(refused.source.try_recv(), Ok(1));
    // It is as it was, and can go elsewhere.
    set.attach(&mut refused.source, 3).unwrap();
}

#[test]
fn impossible_hubs_are_clear_errors() {
    for receivers in [MAX_CAPACITY, usize::MAX] {
        assert_eq!(Hub::with_receivers(receivers).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
    let mut hub = Hub::with_receivers(0).unwrap();
    hub.handle().stop().unwrap();
    assert_eq!(hub.run_once(Duration::MAX).unwrap(), 1);
}

/// Claim: A hub without free descriptors returns an error and does not abort.
#[cfg(target_os = "linux")]
#[test]
fn no_descriptors_left_is_an_error() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    if !alone("hub::bad_input::no_descriptors_left_is_an_error") {
        return;
    }
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum }).unwrap();
    let mut all: Vec<File> = std::iter::from_fn(|| File::open("/proc/self/exe").ok()).collect();
    for _ in 0..2 {
        assert_eq!(Hub::new().unwrap_err().raw_os_error(), Some(rustix::io::Errno::MFILE.raw_os_error()));
        // With one left it gets half way.
        all.pop();
    }
    // For any kind of set.
    all.truncate(all.len() - 2);
    drop(Hub::new().unwrap());
}

#[test]
fn a_refusal_says_what_its_error_says() {
    /// An error with another as its source.
    #[derive(Debug)]
    struct Why;
    impl fmt::Display for Why {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("why")
        }
    }
    impl Error for Why {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&fmt::Error)
        }
    }
    let refused = Refused { error: io::Error::other(Why), source: () };
    assert_eq!(refused.to_string(), "why");
    assert!(Error::source(&refused).is_some_and(|behind| behind.is::<fmt::Error>()));
}

#[cfg(target_os = "linux")]
#[test]
fn an_error_of_the_poller_is_told_and_nothing_is_lost() {
    let mut hub = Hub::new().unwrap();
    let (handle, (other, _far)) = (hub.handle(), pair());
    // SAFETY: open as long as the hub is, which closes it: this does not.
    let mut poller = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(hub.as_raw_fd()) });
    // Its number is a socket's from here on.
    rustix::io::dup2(&other, &mut poller).unwrap();
    let error = hub.run_once(None).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::INVAL.raw_os_error()));
    handle.post(|_| {}).unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 1);
}
