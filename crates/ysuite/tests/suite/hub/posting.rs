//! Functions from other threads: their order, their drops, and the drop of the hub.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::hub::{Handle, Hub, TURN};

use crate::hub::Notes;
use crate::support::{Random, Tally, guarded};

/// Claim: The functions of one hub handle run in order.
#[test]
fn functions_of_one_handle_run_in_their_order() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    for number in 0..1_000 {
        let notes = notes.clone();
        handle.post(move |_| notes.note(number)).unwrap();
    }
    assert_eq!(notes.len(), 0, "it runs them on the thread that runs the hub");
    handle.stop().unwrap();
    hub.run().unwrap();
    assert_eq!(notes.taken(), (0..1_000).collect::<Vec<_>>());
}

#[test]
fn functions_of_hundreds_of_handles_run_in_the_order_of_each() {
    const HANDLES: usize = 130;
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (handles, notes): (Vec<_>, _) = ((0..HANDLES).map(|_| hub.handle()).collect(), Notes::new());
        for number in 0..5 {
            for (id, handle) in handles.iter().enumerate() {
                let notes = notes.clone();
                handle.post(move |_| notes.note((id, number))).unwrap();
            }
        }
        drop(handles);
        hub.run().unwrap();
        let mut noted = notes.taken();
        // A stable order: of each handle as they have run.
        noted.sort_by_key(|note| note.0);
        assert!(noted.into_iter().eq((0..HANDLES).flat_map(|id| (0..5).map(move |number| (id, number)))));
    });
}

#[test]
fn functions_of_any_size_arrive_whole() {
    fn post<const BYTES: usize>(handle: &Handle, notes: &Notes<usize>) {
        let (mut bytes, notes) = ([0u8; BYTES], notes.clone());
        (0..BYTES).for_each(|at| bytes[at] = at as u8);
        let whole = move |_: &mut Hub| {
            assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == at as u8));
            notes.note(BYTES);
        };
        handle.post(whole).unwrap();
    }
    #[repr(align(64))]
    struct Aligned(u8);
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    post::<0>(&handle, &notes);
    post::<1>(&handle, &notes);
    post::<16>(&handle, &notes);
    post::<17>(&handle, &notes);
    post::<5_000>(&handle, &notes);
    let (aligned, last) = (Aligned(9), notes.clone());
    handle
        .post(move |_| {
            let aligned = &aligned;
            assert_eq!((std::ptr::from_ref(aligned).addr() % 64, aligned.0), (0, 9));
            last.note(64);
        })
        .unwrap();
    assert_eq!(hub.run_once(None).unwrap(), 6);
    assert_eq!(notes.taken(), [0, 1, 16, 17, 5_000, 64]);
}

#[test]
fn many_threads_post_to_a_hub_that_sleeps_in_between() {
    guarded(|| {
        const POSTS: usize = 3_000;
        let mut hub = Hub::new().unwrap();
        let notes = Notes::new();
        let threads: Vec<_> = (0..4)
            .map(|poster| {
                let (handle, notes) = (hub.handle(), notes.clone());
                thread::spawn(move || {
                    let mut random = Random::new(poster);
                    for number in 0..POSTS {
                        let notes = notes.clone();
                        handle.post(move |_| notes.note((poster, number))).unwrap();
                        random.pause();
                    }
                })
            })
            .collect();
        // It returns by itself when the last of them is gone.
        hub.run().unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let mut next = [0; 4];
        for (poster, number) in notes.taken() {
            assert_eq!(number, next[poster as usize]);
            next[poster as usize] += 1;
        }
        assert_eq!(next, [POSTS; 4]);
    });
}

#[test]
fn a_function_may_post_and_stop_and_run_its_own_hub() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    let (inner, outer) = (hub.handle(), notes.clone());
    handle
        .post(move |hub| {
            let (again, noted) = (hub.handle(), outer.clone());
            inner.post(move |_| noted.note("posted within")).unwrap();
            // Its own run, within the hub's.
            assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
            outer.note("after it");
            let noted = outer.clone();
            again.post(move |_| noted.note("later")).unwrap();
            hub.stop();
        })
        .unwrap();
    hub.run().unwrap();
    assert_eq!(notes.taken(), ["posted within", "after it"]);
    assert!(!hub.is_stopped());
    assert!(hub.run_once(None).unwrap() >= 1, "nothing is lost by stopping");
    assert_eq!(notes.taken(), ["later"]);
}

#[test]
fn a_hub_without_anything_to_wait_for_returns() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        hub.run().unwrap();
        assert_eq!(hub.run_once(None).unwrap(), 0);
        let handle = hub.handle();
        let thread = thread::spawn(move || thread::sleep(Duration::from_millis(5)));
        let other = handle.clone();
        drop(handle);
        let dropping = thread::spawn(move || {
            thread.join().unwrap();
            drop(other);
        });
        hub.run().unwrap();
        dropping.join().unwrap();
    });
}

/// Claim: A stop before a turn is not forgotten.
#[test]
fn stopping_beforehand_is_not_forgotten() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    let noted = notes.clone();
    handle.post(move |_| noted.note(1)).unwrap();
    hub.stop();
    assert!(hub.is_stopped());
    hub.run().unwrap();
    assert_eq!((notes.len(), hub.is_stopped()), (0, false));
    // A post after the stop is kept like one before it.
    let noted = notes.clone();
    handle.post(move |_| noted.note(2)).unwrap();
    handle.stop().unwrap();
    hub.run().unwrap();
    assert_eq!(notes.taken(), [1, 2]);
}

/// Claim: A stop ends the turn of the hub after the function that asked for it.
#[test]
fn a_stop_ends_the_turn_behind_the_function_that_asked() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    for number in 0..10 {
        let notes = notes.clone();
        handle
            .post(move |hub| {
                notes.note(number);
                if number % 3 == 0 {
                    hub.stop();
                }
            })
            .unwrap();
    }
    for so_far in [1, 4, 7, 10] {
        hub.run().unwrap();
        assert_eq!(notes.len(), so_far);
    }
}

#[test]
fn a_turn_has_so_many_functions_at_most() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes) = (hub.handle(), Notes::new());
    // It floods its own hub.
    fn flood(handle: Handle, notes: Notes<()>) {
        notes.note(());
        let next = handle.clone();
        let _ = handle.post(move |_| flood(next, notes));
    }
    for _ in 0..TURN * 2 {
        let (handle, notes) = (hub.handle(), notes.clone());
        hub.handle().post(move |_| flood(handle, notes)).unwrap();
    }
    drop(handle);
    let rung = Notes::new();
    let noted = rung.clone();
    hub.after(Duration::ZERO, move |_| noted.note(()));
    assert_eq!(hub.run_once(None).unwrap(), TURN + 1);
    assert_eq!((notes.len(), rung.len()), (TURN, 1));
}

#[test]
fn functions_left_behind_are_dropped_once_and_their_poster_is_told() {
    let tally = Tally::of(8);
    let hub = Hub::new().unwrap();
    let handle = hub.handle();
    for message in tally.some(6) {
        handle.post(move |_| drop(message)).unwrap();
    }
    assert_eq!(tally.ended(), 0);
    assert!(!handle.is_disconnected());
    drop(hub);
    assert_eq!(tally.ended(), 6);
    assert!(handle.is_disconnected());
    // A small one and a large one come back, whole.
    let small = tally.next();
    let back = handle.post(move |_| drop(small)).unwrap_err();
    assert_eq!((tally.ended(), back.to_string().as_str()), (6, "the hub is gone"));
    let (large, weight) = (tally.next(), [7u8; 500]);
    let large = handle.post(move |_| drop((large, weight))).unwrap_err().into_inner();
    assert_eq!(tally.ended(), 6);
    drop((back, large));
    tally.assert_all_ended();
    assert!(handle.stop().is_err() && handle.clone().stop().is_err());
}

#[test]
fn a_poster_against_the_end_of_the_hub() {
    guarded(|| {
        for round in 0..200 {
            let tally = Tally::of(50);
            let mut hub = Hub::new().unwrap();
            let (handle, posted) = (hub.handle(), tally.clone());
            let thread = thread::spawn(move || {
                let mut random = Random::new(round);
                let told = posted
                    .some(50)
                    .filter(|_| random.below(4) != 9)
                    .map(|message| handle.post(move |_| drop(message)).is_err());
                told.filter(|told| *told).count()
            });
            hub.run_once(Duration::from_micros(round * 3 % 100)).unwrap();
            drop(hub);
            let told = thread.join().unwrap();
            assert!(told <= 50);
            tally.assert_all_ended();
        }
    });
}

#[test]
fn functions_dropped_with_the_hub_may_post() {
    struct Posting(Handle, Tally);
    impl Drop for Posting {
        fn drop(&mut self) {
            let message = self.1.next();
            assert!(self.0.post(move |_| drop(message)).is_err());
        }
    }
    let tally = Tally::of(2);
    let hub = Hub::new().unwrap();
    let handle = hub.handle();
    for _ in 0..2 {
        let posting = Posting(handle.clone(), tally.clone());
        handle.post(move |_| drop(posting)).unwrap();
    }
    drop(hub);
    tally.assert_all_ended();
    assert_eq!(tally.made(), 2);
}

/// Claim: A hub handle may be cloned inside its own post.
#[test]
fn a_handle_may_be_cloned_while_its_own_post_drops_what_it_posted_before() {
    thread_local! {
        static OTHER: RefCell<Option<Handle>> = const { RefCell::new(None) };
    }
    /// Acts on the other handle when it is dropped.
    struct Act(fn(&Handle), Arc<AtomicUsize>);
    impl Drop for Act {
        fn drop(&mut self) {
            OTHER.with_borrow(|other| self.0(other.as_ref().unwrap()));
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    let acted = Arc::new(AtomicUsize::new(0));
    let hub = Hub::new().unwrap();
    let (first, other) = (hub.handle(), hub.handle());
    let cloning = Act(
        |other| {
            let clone = other.clone();
            let (again, weight) = (clone.clone(), [7; 500]);
            assert!(clone.is_disconnected() && again.is_disconnected() && other.is_disconnected());
            assert_eq!(clone.post(move |_| assert_eq!(weight[0], 7)).map_err(|_| ()), Err(()));
            assert!(again.stop().is_err() && other.stop().is_err());
        },
        acted.clone(),
    );
    other.post(move |_| drop(cloning)).unwrap();
    // Dropped first, as the first handle has the first lane: posts by the other handle, and that drops what it has posted.
    let posting = Act(|other| assert!(other.post(|_| {}).is_err()), acted.clone());
    first.post(move |_| drop(posting)).unwrap();
    OTHER.set(Some(other));
    drop(hub);
    assert_eq!(acted.load(Ordering::SeqCst), 2);
    drop(OTHER.take());
}

/// Claim: A panic in a called function, handler or timer removes that source only.
/// Also: suite hub::receivers::a_handler_that_panics_takes_its_receiver_down_and_nothing_else,
/// suite hub::descriptors::a_handler_that_panics_takes_its_descriptor_down_and_nothing_else.
#[test]
fn a_function_that_panics_takes_only_itself_down() {
    let mut hub = Hub::new().unwrap();
    let (handle, notes, tally) = (hub.handle(), Notes::new(), Tally::of(1));
    let (before, after, message) = (notes.clone(), notes.clone(), tally.next());
    handle.post(move |_| before.note(1)).unwrap();
    handle
        .post(move |_| {
            let _message = message;
            panic!("as the test wants it");
        })
        .unwrap();
    handle.post(move |_| after.note(2)).unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| hub.run_once(None))).is_err());
    tally.assert_all_ended();
    assert_eq!(hub.run_once(None).unwrap(), 1);
    assert_eq!(notes.taken(), [1, 2]);
}

#[test]
fn a_function_stays_whole_while_what_is_posted_behind_it_runs_within() {
    const BEHIND: usize = 3_000;
    let mut hub = Hub::new().unwrap();
    let (handle, tally) = (hub.handle(), Tally::of(BEHIND + 3));
    for round in 0..3_usize {
        // As much as travels in the message. The memory it has lain in is given back and filled again before it goes on.
        let (words, message) = ([round, !round], Box::new(tally.next()));
        let within = move |hub: &mut Hub| {
            while hub.run_once(Duration::ZERO).unwrap() != 0 {}
            assert_eq!(words[1], !words[0]);
            drop(message);
        };
        assert_eq!(size_of_val(&within), 3 * size_of::<usize>());
        handle.post(within).unwrap();
        for message in tally.some(BEHIND / 3) {
            handle.post(move |_| drop(message)).unwrap();
        }
        assert_eq!(hub.run_once(None).unwrap(), 1, "the others have run within the first");
    }
    tally.assert_all_ended();
}

#[test]
fn a_hub_may_be_made_here_and_run_there() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let handle = hub.handle();
        let thread = thread::spawn(move || hub.run());
        let (told, heard) = std::sync::mpsc::channel();
        handle.post(move |_| told.send(thread::current().id()).unwrap()).unwrap();
        assert_eq!(heard.recv().unwrap(), thread.thread().id());
        handle.stop().unwrap();
        thread.join().unwrap().unwrap();
    });
}

#[test]
fn the_end_of_the_last_handle_is_a_call_and_what_it_has_posted_is_run_before() {
    guarded(|| {
        let mut hub = Hub::new().unwrap();
        let (handle, notes) = (hub.handle(), Notes::new());
        drop(handle.clone());
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 0, "it was not the last");
        let noted = notes.clone();
        handle.post(move |_| noted.note(())).unwrap();
        drop(handle);
        hub.run().unwrap();
        assert_eq!(notes.len(), 1);
        drop(hub.handle());
        assert_eq!(hub.run_once(Duration::ZERO).unwrap(), 1);
    });
}
