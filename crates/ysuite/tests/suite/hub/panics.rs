//! What is dropped may panic: nothing of it stays.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use ysuite::RecvError;
use ysuite::hub::{Hub, Interest, Source};
use ysuite::signal::YPollset;
use ysuite::{mpmc, mpsc, spsc, watch};

use crate::hub::Notes;
use crate::hub::descriptors::{is_left_alone, pair};
use crate::support::{Counted, Tally, guarded, panics};

/// What a handler has captured; its `Drop` panics.
struct Bomb(Option<UnixStream>);

impl Bomb {
    /// A closure that calls this has captured it whole.
    fn hold(&self) {}
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the end of a capture");
        }
    }
}

impl AsFd for Bomb {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_ref().unwrap().as_fd()
    }
}

/// Runs the hub until it returns, through every panic; how many there were.
fn run_through(hub: &mut Hub) -> usize {
    let mut panics = 0;
    while catch_unwind(AssertUnwindSafe(|| hub.run().unwrap())).is_err() {
        panics += 1;
        assert!(panics < 100, "for ever");
    }
    panics
}

#[test]
fn a_capture_that_panics_at_the_end_of_its_receiver() {
    guarded(|| {
        let mut hub = Hub::with_receivers(1).unwrap();
        for _ in 0..3 {
            let (mut sender, receiver) = spsc::unbounded();
            let bomb = Bomb(None);
            let source = hub.receive(receiver, move |_, _: Result<u8, _>| bomb.hold()).unwrap();
            sender.send(1).unwrap();
            drop(sender);
            assert_eq!(run_through(&mut hub), 1);
            assert!(!hub.remove(source), "nothing is left");
        }
    });
}

#[test]
fn a_capture_that_panics_when_its_receiver_is_removed() {
    guarded(|| {
        let mut hub = Hub::with_receivers(1).unwrap();
        for within in [false, true] {
            let (mut sender, receiver) = spsc::unbounded();
            let bomb = Bomb(None);
            let source = hub
                .receive(receiver, move |hub, _: Result<u8, _>| {
                    bomb.hold();
                    let this = hub.current().unwrap();
                    assert!(hub.remove(this));
                })
                .unwrap();
            sender.send(1).unwrap();
            if within {
                assert_eq!(run_through(&mut hub), 1);
            } else {
                panics(|| assert!(hub.remove(source)));
            }
            assert!(!hub.remove(source));
            hub.run().unwrap();
        }
    });
}

#[test]
fn messages_whose_end_panics_leave_their_receivers_place_free() {
    guarded(|| {
        fn check(receive: impl Fn(&mut Hub, Tally) -> Source) {
            let mut hub = Hub::with_receivers(1).unwrap();
            for _ in 0..3 {
                let tally = Tally::of(4);
                tally.explode(1);
                let source = receive(&mut hub, tally);
                panics(|| assert!(hub.remove(source)));
                assert!(!hub.remove(source));
                hub.run().unwrap();
            }
        }
        fn ignore(_: &mut Hub, _: Result<Counted, RecvError>) {}
        check(|hub, tally| {
            let (mut sender, receiver) = spsc::unbounded();
            sender.send_batch(tally.some(4)).unwrap();
            hub.receive(receiver, ignore).unwrap()
        });
        check(|hub, tally| {
            let (mut sender, receiver) = mpsc::unbounded();
            tally.some(4).try_for_each(|message| sender.send(message)).unwrap();
            hub.receive(receiver, ignore).unwrap()
        });
        check(|hub, tally| {
            let (sender, receiver) = mpmc::bounded(4);
            tally.some(4).try_for_each(|message| sender.send(message)).unwrap();
            hub.receive(receiver, ignore).unwrap()
        });
    });
}

#[test]
fn a_descriptor_and_its_handler_that_panic_at_their_ends() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        for within in [false, true] {
            let (near, far) = pair();
            let source = hub
                .watch(Bomb(Some(far)), Interest::WRITABLE, |hub, _, _| {
                    let this = hub.current().unwrap();
                    assert!(hub.remove(this));
                })
                .map_err(|refused| refused.error)
                .unwrap();
            if within {
                assert_eq!(run_through(&mut hub), 1);
            } else {
                panics(|| assert!(hub.remove(source)));
            }
            assert!(!hub.remove(source));
            assert_eq!(run_through(&mut hub), 0, "nothing is left");
            drop(near);
        }
    });
}

#[test]
fn timers_and_functions_that_panic_at_their_ends() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let bomb = Bomb(None);
        let once = hub.after(Duration::from_secs(3_600), move |_| bomb.hold());
        let bomb = Bomb(None);
        let every = hub.every(Duration::from_secs(3_600), move |_| bomb.hold());
        panics(|| assert!(hub.cancel(once)));
        panics(|| assert!(hub.cancel(every)));
        assert!(!hub.cancel(once) && !hub.cancel(every));
        let bomb = Bomb(None);
        let every = hub.every(Duration::ZERO, move |hub| {
            bomb.hold();
            let this = hub.current_timer().unwrap();
            assert!(hub.cancel(this));
        });
        let (handle, bomb) = (hub.handle(), Bomb(None));
        handle.post(move |_| drop(bomb)).unwrap();
        drop(handle);
        assert_eq!(run_through(&mut hub), 2);
        assert!(!hub.cancel(every));
    });
}

#[test]
fn a_panic_leaves_turns_as_long_as_they_were() {
    guarded(|| {
        use ysuite::hub::TURN;
        let mut hub = Hub::new().unwrap();
        let ((mut steady, steady_in), notes) = (spsc::unbounded(), Notes::new());
        let noted = notes.clone();
        hub.receive(steady_in, move |_, message: Result<usize, _>| noted.note(message)).unwrap();
        // It rests, and in the same breath another panics.
        let (sender, receiver) = spsc::unbounded();
        hub.receive(receiver, |_, _: Result<u8, _>| panic!("as the test wants it")).unwrap();
        drop(sender);
        assert!(catch_unwind(AssertUnwindSafe(|| hub.run_once(Duration::ZERO))).is_err());
        steady.send_batch(0..TURN * 4).unwrap();
        for turn in 1..=4 {
            assert_eq!(hub.run_once(None).unwrap(), TURN);
            assert_eq!(notes.len(), TURN * turn);
        }
    });
}

#[test]
fn what_is_taken_goes_with_a_handler_whose_end_panics() {
    let mut hub = Hub::with_receivers(1).unwrap();
    for _ in 0..2 {
        let (sender, receiver) = spsc::unbounded();
        let bomb = Bomb(None);
        let source = hub.receive(receiver, move |_, _: Result<u8, _>| bomb.hold()).unwrap();
        panics(|| assert!(hub.take::<spsc::Receiver<u8>>(source).is_some()));
        assert!(!hub.remove(source) && sender.is_disconnected());
        hub.run().unwrap();
        let ((near, far), bomb) = (pair(), Bomb(None));
        let source = hub.watch(far, Interest::READABLE, move |_, _, _| bomb.hold()).unwrap();
        panics(|| assert!(hub.take::<UnixStream>(source).is_some()));
        assert!(!hub.remove(source) && is_left_alone(&near));
    }
}

#[test]
fn what_is_refused_goes_with_a_handler_whose_end_panics() {
    let mut hub = Hub::new().unwrap();
    let ((sender, mut receiver), bomb) = (spsc::unbounded(), Bomb(None));
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    let text = panics(|| drop(hub.receive(receiver, move |_, _: Result<u8, _>| bomb.hold())));
    assert_eq!((text.as_str(), sender.is_disconnected()), ("the end of a capture", true));
    /// A file, which cannot be watched where the poller is an epoll, and what goes with it.
    struct Regular(File, #[allow(dead_code)] UnixStream);
    impl AsFd for Regular {
        fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
    if cfg!(any(target_os = "linux", target_os = "android")) {
        let ((mut near, far), bomb) = (pair(), Bomb(None));
        let source = Regular(File::open("/proc/self/exe").unwrap(), far);
        let text = panics(|| drop(hub.watch(source, Interest::READABLE, move |_, _, _| bomb.hold())));
        assert_eq!((text.as_str(), near.read(&mut [0]).unwrap()), ("the end of a capture", 0));
    }
    assert_eq!(run_through(&mut hub), 0, "nothing is left");
}

/// Claim: If several sources panic on drop with the hub, the first panic continues.
#[test]
fn of_several_ends_that_panic_with_the_hub_the_first_goes_on() {
    thread_local! {
        static ENDS: Cell<usize> = const { Cell::new(0) };
    }
    /// Panics, also while unwinding.
    #[derive(Clone)]
    struct Wild(&'static str);
    impl Wild {
        fn hold(&self) {}
    }
    impl Drop for Wild {
        fn drop(&mut self) {
            ENDS.set(ENDS.get() + 1);
            panic!("{}", self.0);
        }
    }
    struct Source(UnixStream, #[allow(dead_code)] Wild);
    impl AsFd for Source {
        fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
    // One kind of thing alone, and all together. Two of each; receivers and descriptors panic by themselves and by their handlers.
    type Fill = (usize, &'static str, fn(&mut Hub));
    let kinds: [Fill; 6] = [
        (2, "posted", |hub| {
            let posts = hub.handle();
            for wild in ["posted", "posted"].map(Wild) {
                posts.post(move |_| wild.hold()).unwrap();
            }
        }),
        (4, "message", |hub| {
            for wild in ["handler", "handler"].map(Wild) {
                let (mut sender, receiver) = spsc::unbounded();
                assert!(sender.send(Wild("message")).is_ok());
                hub.receive(receiver, move |_, got: Result<Wild, _>| {
                    wild.hold();
                    drop(got);
                })
                .unwrap();
            }
        }),
        // A value is dropped with its channel: no layer below the hub keeps its panic.
        (2, "value", |hub| {
            for wild in ["value", "value"].map(Wild) {
                let (sender, receiver) = watch::channel(wild);
                drop(sender);
                hub.receive(receiver, |_, got: Result<Wild, _>| drop(got)).unwrap();
            }
        }),
        (4, "source", |hub| {
            for wild in ["handler", "handler"].map(Wild) {
                let source = Source(pair().0, Wild("source"));
                hub.watch(source, Interest::READABLE, move |_, _, _| wild.hold()).map_err(|_| ()).unwrap();
            }
        }),
        (2, "once", |hub| {
            for wild in ["once", "once"].map(Wild) {
                hub.after(Duration::from_secs(3_600), move |_| wild.hold());
            }
        }),
        (2, "every", |hub| {
            for wild in ["every", "every"].map(Wild) {
                hub.every(Duration::from_secs(3_600), move |_| wild.hold());
            }
        }),
    ];
    for (ends, first, fill) in kinds {
        let mut hub = Hub::new().unwrap();
        fill(&mut hub);
        ENDS.set(0);
        assert_eq!((panics(|| drop(hub)).as_str(), ENDS.get()), (first, ends));
    }
    let mut hub = Hub::new().unwrap();
    kinds.iter().for_each(|(.., fill)| fill(&mut hub));
    ENDS.set(0);
    assert_eq!((panics(|| drop(hub)).as_str(), ENDS.get()), ("posted", 16));
}

/// A source, a message or a capture whose `Drop` panics, also while unwinding.
struct Wild(UnixStream);

impl Wild {
    fn new() -> Self {
        Self(pair().0)
    }

    /// A closure that calls this has captured it whole.
    fn hold(&self) {}

    fn panic(&self) {
        panic!("in its handler");
    }
}

impl Drop for Wild {
    fn drop(&mut self) {
        panic!("at its end");
    }
}

impl AsFd for Wild {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[test]
fn a_receiver_or_descriptor_and_its_handler_that_both_panic_are_one_panic() {
    let mut hub = Hub::new().unwrap();
    let ((mut sender, receiver), wild) = (spsc::unbounded(), Wild::new());
    assert!(sender.send(Wild::new()).is_ok());
    let source = hub
        .receive(receiver, move |_, got: Result<Wild, _>| {
            wild.hold();
            drop(got);
        })
        .unwrap();
    panics(|| assert!(hub.remove(source)));
    let wild = Wild::new();
    let source = hub.watch(Wild::new(), Interest::READABLE, move |_, _, _| wild.hold()).map_err(|_| ()).unwrap();
    panics(|| assert!(hub.remove(source)));
    hub.run().unwrap();
}

/// Claim: User code that is dropped while unwinding is dropped separately: captures of a handler, a source, select
/// cases, the message of a copy.
/// Also: suite select::one_shot::of_several_cases_that_panic_at_their_ends_the_first_goes_on,
/// suite broadcast::foreign::a_waker_that_panics_behind_a_message_or_its_copy_is_one_panic.
#[test]
fn a_handler_that_panics_and_its_end_that_panics_too_are_one_panic() {
    let fill: [fn(&mut Hub, Wild); 4] = [
        |hub, wild| _ = hub.every(Duration::ZERO, move |_| wild.panic()),
        |hub, wild| _ = hub.watch(wild, Interest::WRITABLE, |_, wild, _| wild.panic()).map_err(drop).unwrap(),
        |hub, wild| {
            let (mut sender, receiver) = spsc::unbounded();
            sender.send(1).unwrap();
            _ = hub.receive(receiver, move |_, _: Result<u8, _>| wild.panic()).unwrap();
        },
        |hub, wild| {
            let (mut sender, receiver) = spsc::unbounded();
            assert!(sender.send(wild).is_ok());
            let handler = |_: &mut Hub, message: Result<Wild, _>| {
                std::mem::forget(message);
                panic!("in its handler");
            };
            assert!(sender.send(Wild(pair().0)).is_ok());
            _ = hub.receive(receiver, handler).unwrap();
        },
    ];
    for fill in fill {
        let mut hub = Hub::new().unwrap();
        let (near, wild) = pair();
        fill(&mut hub, Wild(wild));
        assert_eq!(panics(|| drop(hub.run_once(None))), "in its handler");
        assert_eq!(run_through(&mut hub), 0, "nothing is left");
        drop(near);
    }
}

#[test]
fn a_socket_whose_handler_panics_has_functions_before_the_next() {
    let (mut hub, notes, mut peers) = (Hub::new().unwrap(), Notes::new(), Vec::new());
    for _ in 0..2 {
        let ((near, far), noted) = (pair(), notes.clone());
        peers.push(near);
        hub.watch(far, Interest::WRITABLE, move |_, _, _| {
            noted.note("socket");
            panic!("in its handler");
        })
        .unwrap();
    }
    // Both are reported.
    assert_eq!(panics(|| drop(hub.run_once(Duration::ZERO))), "in its handler");
    let noted = notes.clone();
    hub.handle().post(move |_| noted.note("function")).unwrap();
    assert_eq!(panics(|| drop(hub.run_once(Duration::ZERO))), "in its handler");
    assert_eq!(notes.taken(), ["socket", "function", "socket"]);
}

/// Claim: Handlers that panic in every call starve no other source.
#[test]
fn functions_and_timers_that_panic_in_every_call_keep_nobody_from_the_others() {
    guarded(|| {
        let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
        for _ in 0..2_000 {
            hub.handle().post(|_| panic!("a function")).unwrap();
        }
        let ((mut sender, receiver), noted) = (mpsc::unbounded(), notes.clone());
        (0..2_000).for_each(|number| sender.send(number).unwrap());
        let handler = move |hub: &mut Hub, _: Result<i32, RecvError>| {
            noted.note("receiver");
            hub.after(Duration::ZERO, |_| panic!("a timer"));
        };
        hub.receive(receiver, handler).unwrap();
        let ((_near, far), noted) = (pair(), notes.clone());
        hub.watch(far, Interest::WRITABLE, move |_, _, _| noted.note("socket")).unwrap();
        // An inner turn whose panic is caught does not end the outer one.
        hub.handle().post(|hub| _ = catch_unwind(AssertUnwindSafe(|| hub.run_once(Duration::ZERO)))).unwrap();
        let mut panicked = [0; 2];
        for _ in 0..20 {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| hub.run_once(Duration::ZERO).unwrap())) {
                panicked[usize::from(payload.downcast_ref() == Some(&"a timer"))] += 1;
            }
        }
        let notes = notes.taken();
        let called = |who| notes.iter().filter(|noted| **noted == who).count();
        assert!(called("receiver") != 0 && called("socket") > 2, "{panicked:?} panicked");
        assert!(panicked.iter().all(|&panicked| panicked > 2), "{panicked:?}");
    });
}

#[test]
fn a_run_that_a_panic_ends_in_every_turn_does_not_keep_a_descriptor_from_its_own() {
    let (mut hub, notes) = (Hub::new().unwrap(), Notes::new());
    let (handle, (_near, far), noted) = (hub.handle(), pair(), notes.clone());
    hub.watch(far, Interest::WRITABLE, move |_, _, _| noted.note(())).unwrap();
    for _ in 0..5 {
        handle.post(|_| panic!("a function")).unwrap();
        // It asks the poller seldom, and counts no call before the panic.
        assert_eq!(panics(|| hub.run().unwrap()), "a function");
    }
    assert_ne!(notes.len(), 0);
}
