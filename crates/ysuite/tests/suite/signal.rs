//! The signalers: which kinds there are (the suites in `conformance/` say what each must do), and what concerns one kind
//! only: construction, limits, descriptors that run out.

use std::panic::catch_unwind;

use crate::conformance::signal::Kind;
use ysuite::signal::{
    AttachError, IdOutOfRange, MAX_CAPACITY, SemaphoreSignaler, Signal, Signaler, Signals, Wait, YPollset, YSemaphore,
};

#[derive(Clone, Copy)]
struct Semaphore;

impl Kind for Semaphore {
    type Set = YSemaphore;
    type Signaler = SemaphoreSignaler;
    const CALLS_OF_A_TAKE: u64 = 0;
    fn capacity(self) -> usize {
        1
    }
    fn set(self) -> YSemaphore {
        YSemaphore::new()
    }
    fn signaler(set: &YSemaphore) -> SemaphoreSignaler {
        set.signaler()
    }
}

/// A pollset of this many ids.
#[derive(Clone, Copy)]
pub(crate) struct Pollset(pub(crate) usize);

impl Kind for Pollset {
    type Set = YPollset;
    type Signaler = Signaler;
    const CALLS_OF_A_TAKE: u64 = 0;
    fn capacity(self) -> usize {
        self.0
    }
    fn set(self) -> YPollset {
        YPollset::with_capacity(self.0)
    }
    fn signaler(set: &YPollset) -> Signaler {
        set.signaler()
    }
}

mod semaphore {
    crate::signal_suite!(super::Semaphore);
}

mod pollset_31 {
    crate::signal_suite!(super::Pollset(31));
    crate::inbox_suite!(super::Pollset(31));
}

#[cfg(not(ysuite_few))]
mod pollset_32 {
    crate::signal_suite!(super::Pollset(32));
    crate::inbox_suite!(super::Pollset(32));
}

/// The largest set of two levels.
#[cfg(not(ysuite_few))]
mod pollset_1984 {
    crate::signal_suite!(super::Pollset(31 * 64));
    crate::inbox_suite!(super::Pollset(31 * 64));
}

mod pollset_4096 {
    crate::signal_suite!(super::Pollset(4096));
    crate::inbox_suite!(super::Pollset(4096));
}

/// One more than the largest set of three levels.
#[cfg(not(ysuite_few))]
mod pollset_126977 {
    crate::signal_suite!(super::Pollset(31 * 64 * 64 + 1));
    crate::inbox_suite!(super::Pollset(31 * 64 * 64 + 1));
}

#[test]
fn every_capacity_has_its_last_id() {
    for capacity in (1..200).chain([1983, 1984, 1985, 4095, 4096, 4097, 126_976, 126_977, MAX_CAPACITY]) {
        let mut set = YPollset::with_capacity(capacity);
        let signaler = set.signaler();
        assert_eq!((set.capacity(), signaler.capacity()), (capacity, capacity));
        signaler.signal(capacity - 1);
        signaler.signal(0);
        assert_eq!(signaler.try_signal(capacity), Err(IdOutOfRange { id: capacity, capacity }));
        let mut expected = vec![0, capacity - 1];
        expected.dedup();
        assert_eq!(set.check().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn absurd_capacities_are_a_documented_panic() {
    for capacity in [0, MAX_CAPACITY + 1, usize::MAX] {
        let panic = catch_unwind(|| YPollset::with_capacity(capacity)).unwrap_err();
        let message = panic.downcast_ref::<String>().expect("a formatted panic");
        assert!(message.contains(&capacity.to_string()) && message.contains(&MAX_CAPACITY.to_string()), "{message}");
    }
}

#[test]
fn defaults_are_the_articles() {
    assert_eq!(YPollset::new().capacity(), 31);
    assert_eq!(YPollset::default().capacity(), 31);
    assert_eq!(YSemaphore::default().capacity(), 1);
}

#[test]
fn spread_out_signals_spill_and_stay_in_order() {
    let mut set = YPollset::with_capacity(100_000);
    let signaler = set.signaler();
    let ids: Vec<_> = (0..100_000).step_by(97).collect();
    ids.iter().rev().for_each(|&id| signaler.signal(id));
    let mut signals = set.check();
    let copy = signals.clone();
    assert_eq!(signals.len(), ids.len());
    assert_eq!(signals.by_ref().take(10).collect::<Vec<_>>(), ids[..10]);
    assert_eq!(signals.len(), ids.len() - 10);
    assert!(signals.eq(ids[10..].iter().copied()));
    assert!(copy.eq(ids));
    assert!(Signals::default().is_empty());
}

#[test]
fn everything_crosses_threads_and_says_what_it_is() {
    fn crosses<T: Send + Sync + std::fmt::Debug>() {}
    crosses::<YSemaphore>();
    crosses::<YPollset>();
    crosses::<Signaler>();
    crosses::<SemaphoreSignaler>();
    crosses::<Signals>();
    crosses::<AttachError>();
    let set = YPollset::new();
    assert_eq!(format!("{set:?}"), "YPollset { capacity: 31, any_up: false }");
    assert_eq!(format!("{:?}", set.signaler()), "Signaler { capacity: 31, .. }");
    set.signaler().signal(3);
    assert_eq!(format!("{set:?}"), "YPollset { capacity: 31, any_up: true }");
}

#[test]
#[cfg(target_pointer_width = "64")]
fn sizes_do_not_grow_unnoticed() {
    use std::mem::size_of;
    assert_eq!(size_of::<YSemaphore>(), 8);
    assert_eq!(size_of::<YPollset>(), 8);
    assert_eq!(size_of::<Signaler>(), 8);
    assert_eq!(size_of::<SemaphoreSignaler>(), 8);
    assert_eq!(size_of::<ysuite::signal::Registration>(), 24);
    assert_eq!(size_of::<Signals>(), 112);
    assert_eq!(size_of::<AttachError>(), 24);
}

/// The kinds with a descriptor, and what happens to processes short of descriptors.
#[cfg(unix)]
pub(crate) mod descriptors {
    use std::env;
    use std::fs::File;
    use std::io::{self, ErrorKind};
    use std::process::exit;

    use rustix::io::Errno;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use ysuite::signal::{Backend, MAX_CAPACITY, Signal, Signaler, Wait, YSocketpair};

    use crate::conformance::signal::Kind;
    use crate::support::{backends, process};

    /// A set with a descriptor: of this many ids, on that backend.
    #[derive(Clone, Copy)]
    pub(crate) struct Socketpair(usize, Backend);

    #[cfg(target_os = "linux")]
    pub(crate) fn eventfd(ids: usize) -> Socketpair {
        Socketpair(ids, Backend::Eventfd)
    }

    pub(crate) fn socketpair(ids: usize) -> Socketpair {
        Socketpair(ids, Backend::Socketpair)
    }

    impl Kind for Socketpair {
        type Set = YSocketpair;
        type Signaler = Signaler;
        const CALLS_OF_A_TAKE: u64 = 1;
        fn capacity(self) -> usize {
            self.0
        }
        fn set(self) -> YSocketpair {
            YSocketpair::with_backend(self.0, self.1).unwrap()
        }
        fn signaler(set: &YSocketpair) -> Signaler {
            set.signaler()
        }
    }

    #[cfg(target_os = "linux")]
    mod eventfd_256 {
        crate::signal_suite!(super::eventfd(256));
        crate::inbox_suite!(super::eventfd(256));
        crate::descriptor_suite!(super::eventfd(256));
    }

    #[cfg(target_os = "linux")]
    mod eventfd_31 {
        crate::signal_suite!(super::eventfd(31));
        crate::inbox_suite!(super::eventfd(31));
        crate::descriptor_suite!(super::eventfd(31));
    }

    #[cfg(target_os = "linux")]
    mod eventfd_5000 {
        crate::signal_suite!(super::eventfd(5_000));
        crate::inbox_suite!(super::eventfd(5_000));
        crate::descriptor_suite!(super::eventfd(5_000));
    }

    mod socketpair_256 {
        crate::signal_suite!(super::socketpair(256));
        crate::inbox_suite!(super::socketpair(256));
        #[cfg(target_os = "linux")]
        crate::descriptor_suite!(super::socketpair(256));
    }

    mod socketpair_5000 {
        crate::signal_suite!(super::socketpair(5_000));
        crate::inbox_suite!(super::socketpair(5_000));
        #[cfg(target_os = "linux")]
        crate::descriptor_suite!(super::socketpair(5_000));
    }

    #[test]
    fn absurd_capacities_are_an_error() {
        for backend in backends() {
            for capacity in [0, MAX_CAPACITY + 1, usize::MAX] {
                let error = YSocketpair::with_backend(capacity, backend).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput);
                assert!(error.to_string().contains(&capacity.to_string()));
            }
            let mut set = YSocketpair::with_backend(MAX_CAPACITY, backend).unwrap();
            set.signaler().signal(MAX_CAPACITY - 1);
            assert!(set.check().eq([MAX_CAPACITY - 1]));
        }
    }

    #[test]
    fn defaults_are_the_articles_on_the_platforms_descriptor() {
        let mut set = YSocketpair::new().unwrap();
        assert_eq!(set.capacity(), 256);
        set.signaler().signal(255);
        assert!(set.check().eq([255]));
        let linux = cfg!(any(target_os = "linux", target_os = "android"));
        assert_eq!(Backend::default(), if linux { Backend::Eventfd } else { Backend::Socketpair });
        let shown = format!("{set:?}");
        assert!(
            shown.starts_with("YSocketpair { capacity: 256, fd: ") && shown.ends_with("any_up: false }"),
            "{shown}"
        );
        assert_eq!(std::mem::size_of::<YSocketpair>(), std::mem::size_of::<usize>());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_set_is_made_by_one_system_call_and_goes_without_a_read_where_nothing_is_up() {
        use crate::support::calls;

        for backend in backends() {
            // The first of all finds out which process this is.
            drop(YSocketpair::with_backend(256, backend).unwrap());
            let before = calls();
            let set = YSocketpair::with_backend(256, backend).unwrap();
            assert_eq!(calls() - before, 1);
            drop(set);
            assert_eq!(calls() - before, 1);
        }
    }

    /// Runs the test named in a process of its own, where it finds [`in_child`] true and exits with [`leave`].
    fn in_a_child(test: &str) {
        let output = process::again()
            .args(["--exact", &format!("{}::{test}", module_path!().split_once("::").unwrap().1), "--nocapture"])
            .env("YSUITE_CHILD", test)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(PASSED), "the child failed ({:?}): {said}", output.status);
    }

    /// An exit status that the test harness never uses.
    const PASSED: i32 = 77;

    fn in_child() -> bool {
        env::var_os("YSUITE_CHILD").is_some()
    }

    /// Reports to the parent without a word: there may be no standard streams left.
    fn leave(passed: bool) -> ! {
        exit(if passed { PASSED } else { 1 })
    }

    fn is_out_of_descriptors(result: io::Result<YSocketpair>) -> bool {
        result.is_err_and(|error| error.raw_os_error() == Some(Errno::MFILE.raw_os_error()))
    }

    /// Claim: Exhausted descriptors cause an error, not a panic.
    /// Also: suite hub::bad_input::no_descriptors_left_is_an_error.
    #[test]
    fn descriptors_exhausted_are_an_error() {
        if !in_child() {
            return in_a_child("descriptors_exhausted_are_an_error");
        }
        let (limit, backends) = (getrlimit(Resource::Nofile), backends());
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..limit }).unwrap();
        let mut hoard = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            hoard.push(file);
        }
        for &backend in &backends {
            assert!(is_out_of_descriptors(YSocketpair::with_backend(256, backend)));
        }
        // One descriptor is enough for one backend and not for the other, which must not keep it.
        hoard.pop();
        assert!(is_out_of_descriptors(YSocketpair::with_backend(256, Backend::Socketpair)));
        if backends.contains(&Backend::Eventfd) {
            assert!(YSocketpair::with_backend(256, Backend::Eventfd).is_ok());
        }
        hoard.pop();
        for backend in backends {
            let mut set = YSocketpair::with_backend(256, backend).unwrap();
            set.signaler().signal(9);
            assert!(set.wait().eq([9]));
        }
        leave(true);
    }

    /// Claim: Descriptors of the library are never 0, 1 or 2.
    #[test]
    fn closed_standard_streams_are_not_inherited() {
        if !in_child() {
            return in_a_child("closed_standard_streams_are_not_inherited");
        }
        let (backends, mut passed) = (backends(), true);
        // From the last on: each is the lowest number that is free for once.
        for closed in (0..3_i32).rev() {
            // SAFETY: this process prints nothing from here on and exits with `leave`; these numbers have no other
            // owner.
            unsafe { rustix::io::close(closed) };
            for &backend in &backends {
                let mut sets = [(); 2].map(|()| YSocketpair::with_backend(256, backend).unwrap());
                for set in &mut sets {
                    use std::os::fd::AsRawFd;
                    passed &= set.as_raw_fd() > 2;
                    // A message to the standard streams rings nowhere.
                    for stream in closed.max(1)..3 {
                        // SAFETY: the number is only written to, and whatever it is now, that is what is tested.
                        let stream = unsafe { std::os::fd::BorrowedFd::borrow_raw(stream) };
                        passed &= rustix::io::write(stream, b"12345678") == Err(Errno::BADF);
                    }
                    passed &= set.check().is_empty();
                    set.signaler().signal(7);
                    passed &= set.wait().eq([7]);
                }
            }
        }
        leave(passed);
    }
}
