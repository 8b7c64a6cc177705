//! Sets with the handle of an event, on Windows: the suites of every set, and what an application's own wait for the
//! handle finds.

use std::ffi::c_void;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::thread;

use ysuite::signal::{MAX_CAPACITY, Signal, Signaler, Wait, YSocketpair};
use ysuite::{TryRecvError, spsc};

use crate::conformance::signal::{Kind, list};
use crate::support::{Random, calls, guarded};

/// A set with an event: of this many ids.
#[derive(Clone, Copy)]
pub(crate) struct Event(pub(crate) usize);

impl Kind for Event {
    type Set = YSocketpair;
    type Signaler = Signaler;
    const CALLS_OF_A_TAKE: u64 = 1;
    fn capacity(self) -> usize {
        self.0
    }
    fn set(self) -> YSocketpair {
        YSocketpair::with_capacity(self.0).unwrap()
    }
    fn signaler(set: &YSocketpair) -> Signaler {
        set.signaler()
    }
}

mod event_31 {
    crate::signal_suite!(super::Event(31));
    crate::inbox_suite!(super::Event(31));
}

mod event_256 {
    crate::signal_suite!(super::Event(256));
    crate::inbox_suite!(super::Event(256));
}

mod event_5000 {
    crate::signal_suite!(super::Event(5_000));
    crate::inbox_suite!(super::Event(5_000));
}

// std links this library.
unsafe extern "system" {
    fn CreateEventW(security: *const c_void, by_hand: i32, set: i32, name: *const u16) -> *mut c_void;
    fn SetEvent(event: *mut c_void) -> i32;
    fn WaitForMultipleObjects(count: u32, handles: *const *mut c_void, all: i32, milliseconds: u32) -> u32;
}

const INFINITE: u32 = u32::MAX;
const WAIT_TIMEOUT: u32 = 258;

/// The first of these that is signalled; `None`: none within that time.
fn first_signalled(handles: &[BorrowedHandle<'_>], milliseconds: u32) -> Option<usize> {
    let raw: Vec<_> = handles.iter().map(AsRawHandle::as_raw_handle).collect();
    // SAFETY: as many handles as it says, which are borrowed.
    let found = unsafe { WaitForMultipleObjects(raw.len() as u32, raw.as_ptr(), 0, milliseconds) };
    if found == WAIT_TIMEOUT {
        return None;
    }
    assert!((found as usize) < raw.len(), "{}", std::io::Error::last_os_error());
    Some(found as usize)
}

fn is_signalled(set: &impl AsHandle) -> bool {
    first_signalled(&[set.as_handle()], 0).is_some()
}

/// One that takes itself back when a thread has waited for it.
fn plain_event() -> OwnedHandle {
    // SAFETY: neither attributes nor a name; the handle is this one's.
    unsafe { OwnedHandle::from_raw_handle(CreateEventW(std::ptr::null(), 0, 0, std::ptr::null())) }
}

/// Claim: On Windows the event of a set is signalled exactly while something is up, however many wait for it.
#[test]
fn signalled_exactly_while_something_is_up() {
    let kind = Event(256);
    let (mut set, signaler) = kind.pair();
    assert!(!is_signalled(&set));
    for id in kind.corners() {
        signaler.signal(id);
        for _ in 0..3 {
            assert!(is_signalled(&set));
            signaler.signal(id);
        }
        assert_eq!(list(set.check()), [id]);
        assert!(!is_signalled(&set));
        assert!(set.check().is_empty());
    }
}

#[test]
fn one_call_sets_the_event_and_one_resets_it() {
    let kind = Event(256);
    let (mut set, signaler) = kind.pair();
    for _ in 0..100 {
        let before = calls();
        kind.corners().into_iter().for_each(|id| signaler.signal(id));
        assert_eq!(calls() - before, 1);
        assert_eq!(list(set.check()), kind.corners());
        assert_eq!(calls() - before, 2);
        assert!(set.check().is_empty());
        assert_eq!(calls() - before, 2);
    }
}

/// A channel and an event of the application's: each is found when it is signalled, and no message is missed.
///
/// Claim: On Windows a channel can be waited for by `WaitForMultipleObjects`, beside other handles.
#[test]
fn a_channel_beside_an_event_of_the_applications() {
    const MESSAGES: u32 = 5_000;
    guarded(|| {
        let (mut sender, mut receiver) = spsc::bounded(4);
        let (mut set, over) = (YSocketpair::new().unwrap(), plain_event());
        set.attach(&mut receiver, 7).unwrap();
        let end = over.try_clone().unwrap();
        let sending = thread::spawn(move || {
            let mut random = Random::new(3);
            for message in 0..MESSAGES {
                sender.send(message).unwrap();
                random.pause();
            }
            // SAFETY: an event of this test's.
            assert_ne!(unsafe { SetEvent(end.as_raw_handle()) }, 0);
            sender
        });
        let (mut next, mut is_over) = (0, false);
        while !is_over || next < MESSAGES {
            match first_signalled(&[set.as_handle(), over.as_handle()], INFINITE) {
                Some(0) => {
                    // It may be signalled without a message, as any descriptor.
                    for id in set.check() {
                        assert_eq!(id, 7);
                    }
                    receiver.try_iter().for_each(|message| {
                        assert_eq!(message, next);
                        next += 1;
                    });
                }
                found => {
                    assert!(found == Some(1) && !is_over, "the event takes itself back");
                    is_over = true;
                }
            }
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        drop(sending.join().unwrap());
        assert_eq!(first_signalled(&[set.as_handle(), over.as_handle()], INFINITE), Some(0), "the end of the channel");
        assert!(set.check().eq([7]));
    });
}

#[test]
fn a_set_that_is_gone_is_not_signalled() {
    for is_up in [false, true] {
        let (set, signaler) = Event(31).pair();
        if is_up {
            signaler.signal(3);
        }
        let handle = set.as_handle().try_clone_to_owned().unwrap();
        assert_eq!(is_signalled(&handle), is_up);
        drop(set);
        assert!(!is_signalled(&handle));
        signaler.signal(5);
        assert!(!is_signalled(&handle));
    }
}

#[test]
fn absurd_capacities_are_an_error() {
    for capacity in [0, MAX_CAPACITY + 1, usize::MAX] {
        let error = YSocketpair::with_capacity(capacity).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&capacity.to_string()));
    }
    assert_eq!(YSocketpair::new().unwrap().capacity(), 256);
}

#[test]
fn it_crosses_threads_and_says_what_it_is() {
    fn crosses<T: Send + Sync + std::fmt::Debug>(_: &T) {}
    let set = YSocketpair::new().unwrap();
    crosses(&set);
    let shown = format!("{set:?}");
    assert!(
        shown.starts_with("YSocketpair { capacity: 256, handle: ") && shown.ends_with("any_up: false }"),
        "{shown}"
    );
}
