//! A stop ends every wait, of threads that sleep and of those that come later, and prevents nothing that can be done
//! without one.

mod support;

use core::ffi::c_int;
use core::ptr::{null, null_mut};
use std::thread;
use std::time::Duration;

use support::*;
use ysuite_c::*;

type Make<H> = unsafe extern "C" fn(*const H, *mut *mut ys_stopper) -> c_int;

fn stopper_of<H>(make: Make<H>, handle: *const H) -> *mut ys_stopper {
    let mut stopper = null_mut();
    // SAFETY: the callers have opened the handle; a place for a stopper.
    unsafe {
        assert_eq!(make(handle, &mut stopper), OK);
        assert_eq!(ys_is_stopped(stopper), 0);
    }
    stopper
}

/// A thread that waits in one call, and its result.
type Call<H> = (&'static str, fn(*mut H) -> isize);

/// The thread is to sleep by then; where it does not yet, the stop comes first, which is to be tried as well.
const PAUSES: [u64; 3] = [0, 1, 20];

/// Each call is stopped while it waits, as well as before.
fn each_is_stopped<H: 'static>(
    calls: &[Call<H>],
    opened: impl Fn() -> (*mut H, *mut ys_stopper),
    close: impl Fn(*mut H),
) {
    for &(name, call) in calls {
        for pause in PAUSES {
            let (handle, stopper) = opened();
            let moved = Moved(handle);
            let thread = thread::spawn(move || call(moved.end()));
            thread::sleep(Duration::from_millis(pause));
            // SAFETY: the stopper was made by the callers.
            unsafe {
                assert_eq!(ys_stop(stopper), OK);
                assert_eq!(thread.join().expect("it ends"), wide(STOPPED), "{name}");
                assert_eq!((ys_is_stopped(stopper), call(handle)), (1, wide(STOPPED)), "{name}");
                assert_eq!(ys_stop(stopper), OK);
                ys_stopper_free(stopper);
            }
            close(handle);
        }
    }
}

#[test]
fn receivers_that_wait() {
    let all: [Call<ys_rx>; 3] = [
        ("recv", |rx| wide(recv(rx).expect_err("there is nothing"))),
        ("recv_for", |rx| wide(recv_for(rx, LONG).expect_err("there is nothing"))),
        // SAFETY: a handle that the test has opened.
        ("recv_batch", |rx| unsafe { ys_recv_batch(rx, place(&mut 0_u64), 1, -1) }),
    ];
    // SAFETY: as above.
    let waits: [Call<ys_rx>; 1] = [("wait", |rx| wide(unsafe { ys_wait(rx, -1) }))];
    // SAFETY: as above.
    let takes: [Call<ys_rx>; 1] = [("take", |rx| wide(unsafe { ys_take(rx, &mut null_mut(), -1) }))];
    for open in KINDS {
        let mut calls = all.to_vec();
        calls.extend(waits.iter().filter(|_| !is(open, ys_exchange_open)));
        calls.extend(takes.iter().filter(|_| is_lane(open)));
        let kept = std::cell::Cell::new(null_mut());
        let opened = || {
            let (tx, rx) = numbers(open, 0);
            kept.set(tx);
            (rx, stopper_of(ys_rx_stopper, rx))
        };
        each_is_stopped(&calls, opened, |rx| free(kept.get(), rx));
    }
}

#[test]
fn senders_that_wait() {
    let all: [Call<ys_tx>; 5] = [
        ("send", |tx| wide(send(tx, 9))),
        // SAFETY: a handle that the test has opened, here and below.
        ("send_for", |tx| wide(unsafe { ys_send_for(tx, address(&9_u64), LONG) })),
        // SAFETY: as above.
        ("send_batch", |tx| unsafe { ys_send_batch(tx, address(&[9_u64; 3]), 3, -1) }),
        // SAFETY: as above.
        ("send_batch for", |tx| unsafe { ys_send_batch(tx, address(&[9_u64; 3]), 3, LONG) }),
        // SAFETY: as above.
        ("wait_closed", |tx| wide(unsafe { ys_tx_wait_closed(tx, -1) })),
    ];
    let lanes: [Call<ys_tx>; 2] = [
        // SAFETY: as above.
        ("write", |tx| wide(unsafe { ys_write(tx, address(&9_u64)) })),
        // SAFETY: as above.
        ("wait_room", |tx| wide(unsafe { ys_wait_room(tx, -1) })),
    ];
    for open in KINDS {
        let (capacity, mut calls) = if is(open, ys_oneshot_open) { (0, all[4..].to_vec()) } else { (1, all.to_vec()) };
        calls.extend(lanes.iter().filter(|_| is_lane(open)));
        let kept = std::cell::Cell::new(null_mut());
        let opened = || {
            let (tx, rx) = numbers(open, capacity);
            kept.set(rx);
            assert!(capacity == 0 || send(tx, 1) == OK);
            (tx, stopper_of(ys_tx_stopper, tx))
        };
        each_is_stopped(&calls, opened, |tx| free(tx, kept.get()));
    }
}

#[test]
fn owners_of_sets_and_selects_that_wait() {
    for open in [ys_set_open, ys_pollset_open] {
        let opened = || {
            let mut set = null_mut();
            // SAFETY: a place for a set.
            assert_eq!(unsafe { open(3, &mut set) }, OK);
            (set, stopper_of(ys_set_stopper, set))
        };
        // SAFETY: a set that was opened, here and below.
        let calls: [Call<ys_set>; 2] = [
            ("set_wait", |set| unsafe { ys_set_wait(set, [0; 4].as_mut_ptr(), 4, -1) }),
            ("set_wait for", |set| unsafe { ys_set_wait(set, [0; 4].as_mut_ptr(), 1, LONG) }),
        ];
        // SAFETY: as above.
        each_is_stopped(&calls, opened, |set| unsafe { ys_set_free(set) });
    }
    let opened = || {
        let mut select = null_mut();
        // SAFETY: a place for a select.
        assert_eq!(unsafe { ys_select_open(1, &mut select) }, OK);
        (select, stopper_of(ys_select_stopper, select))
    };
    // SAFETY: a select that was opened, here and below.
    let calls: [Call<ys_select>; 2] = [
        ("select_wait", |select| unsafe { ys_select_wait(select, -1) }),
        ("select_wait for", |select| unsafe { ys_select_wait(select, LONG) }),
    ];
    // SAFETY: as above.
    each_is_stopped(&calls, opened, |select| unsafe { ys_select_free(select) });
}

#[test]
fn takers_of_a_pool_that_wait() {
    let kept = std::cell::Cell::new(null_mut());
    // SAFETY: handles that are opened here.
    let opened = || unsafe {
        let mut pool = null_mut();
        assert_eq!(ys_pool_open(&ys_pool_class { bytes: 8, blocks: 1 }, 1, &mut pool), OK);
        kept.set(ys_pool_take(pool, 8, 0));
        assert!(!kept.get().is_null());
        (pool, stopper_of(ys_pool_stopper, pool))
    };
    fn take(pool: *mut ys_pool, ns: i64) -> isize {
        // SAFETY: a pool that the test has opened.
        assert!(unsafe { ys_pool_take(pool, 8, ns) }.is_null());
        wide(if errno::errno().0 == libc::ECANCELED { STOPPED } else { errno::errno().0 })
    }
    let calls: [Call<ys_pool>; 2] = [("take", |pool| take(pool, -1)), ("take for", |pool| take(pool, LONG))];
    // SAFETY: as above.
    each_is_stopped(&calls, opened, |pool| unsafe {
        // One that is free is taken.
        ys_msg_free(kept.get());
        let again = ys_pool_take(pool, 8, -1);
        assert!(!again.is_null());
        ys_msg_free(again);
        ys_pool_free(pool);
    });
}

#[test]
fn what_needs_no_wait_is_done_and_then_the_stop_is_told() {
    for open in KINDS {
        let is_oneshot = is(open, ys_oneshot_open);
        let (tx, rx) = numbers(open, if is_oneshot { 0 } else { 2 });
        let stopper = stopper_of(ys_tx_stopper, tx);
        // SAFETY: handles and a stopper that were made here.
        unsafe {
            assert_eq!((ys_stop(stopper), ys_is_stopped(stopper)), (OK, 1));
            assert_eq!(recv_for(rx, 0), Err(STOPPED));
            assert_eq!(send(tx, 1), OK);
            if !is_oneshot {
                assert_eq!((send(tx, 2), try_send(tx, 3), send(tx, 3)), (OK, STOPPED, STOPPED));
                assert_eq!(ys_tx_len(tx), 2);
                assert_eq!(recv(rx), Ok(1));
                assert_eq!(ys_send_batch(tx, address(&[3_u64, 4]), 2, -1), 1, "up to the room");
                assert_eq!(recv(rx), Ok(2));
            }
            assert_eq!(recv(rx), Ok(if is_oneshot { 1 } else { 3 }));
            if is_lane(open) {
                let mut at = null_mut();
                assert_eq!(ys_peek(rx, &mut at), wide(STOPPED));
                assert_eq!((try_send(tx, 5), try_send(tx, 6)), (OK, OK));
                assert_eq!(ys_reserve(tx, &mut at), wide(STOPPED));
            }
            // The disconnect is reported before the stop.
            ys_tx_free(tx);
            while recv(rx).is_ok() {}
            assert_eq!(recv(rx), Err(CLOSED));
            ys_rx_free(rx);
            // It may outlive what it is for.
            assert_eq!((ys_stop(stopper), ys_is_stopped(stopper)), (OK, 1));
            ys_stopper_free(stopper);
        }
    }
}

/// Handles in a set or a select are reported, and again as long as they are there.
#[test]
fn a_stopped_channel_is_named_by_sets_and_selects() {
    for open in KINDS {
        // SAFETY: handles that are opened here.
        unsafe {
            let (tx, rx) = numbers(open, usize::from(!is(open, ys_oneshot_open)));
            let (mut set, mut select, mut id) = (null_mut(), null_mut(), usize::MAX);
            assert_eq!((ys_pollset_open(2, &mut set), ys_select_open(1, &mut select)), (OK, OK));
            assert_eq!(ys_set_attach_rx(set, rx, 1), OK);
            let sends = !is(open, ys_oneshot_open);
            assert_eq!(ys_select_add_tx(select, tx, &mut id), if sends { OK } else { ENOTSUP });
            assert!(!sends || id == 0 && send(tx, 1) == OK && try_send(tx, 2) == FULL);
            assert!(!sends || recv(rx) == Ok(1) && ys_select_wait(select, 0) == 0 && try_send(tx, 3) == OK);
            assert!(!sends || try_send(tx, 2) == FULL && ys_select_wait(select, 0) == wide(EMPTY));
            assert!(!sends || recv(rx) == Ok(3) && ys_select_wait(select, 0) == 0 && send(tx, 4) == OK);
            assert!(!sends || try_send(tx, 2) == FULL && recv(rx) == Ok(4) && send(tx, 5) == OK);
            assert!(!sends || recv(rx) == Ok(5));
            assert_eq!(recv_for(rx, 0), Err(EMPTY));
            assert_eq!(ys_set_wait(set, &mut 0, 1, 0), wide(EMPTY));
            let waits = Moved(set);
            let thread = thread::spawn(move || {
                let mut id = usize::MAX;
                (ys_set_wait(waits.end(), &mut id, 1, -1), id)
            });
            thread::sleep(Duration::from_millis(5));
            let stopper = stopper_of(ys_rx_stopper, rx);
            assert_eq!(ys_stop(stopper), OK);
            assert_eq!(thread.join().expect("it is woken"), (1, 1));
            for _ in 0..2 {
                let mut id = usize::MAX;
                assert_eq!(recv_for(rx, 0), Err(STOPPED));
                assert_eq!((ys_set_wait(set, &mut id, 1, 0), id), (1, 1));
            }
            if sends {
                assert_eq!((send(tx, 6), try_send(tx, 7), ys_select_wait(select, -1)), (OK, STOPPED, 0));
            }
            // The set itself was not stopped.
            assert_eq!((ys_set_detach_rx(set, rx), ys_set_wait(set, &mut id, 1, 0)), (OK, wide(EMPTY)));
            ys_stopper_free(stopper);
            free(tx, rx);
            ys_set_free(set);
            ys_select_free(select);
        }
    }
}

/// What is up is reported first; then the stop, each time; and the descriptor stays readable.
#[test]
fn a_stopped_set_reports_what_is_up_first() {
    for open in [ys_set_open, ys_pollset_open] {
        // SAFETY: handles that are opened here.
        unsafe {
            let (mut set, mut signaler, mut ids) = (null_mut(), null_mut(), [usize::MAX; 4]);
            assert_eq!((open(3, &mut set), ys_set_signaler(set, &mut signaler)), (OK, OK));
            // The id of the stop is no caller's.
            assert_eq!(ys_signal(signaler, 3), ERANGE);
            let (tx, rx) = numbers(ys_pipe_open, 0);
            assert_eq!(ys_set_attach_rx(set, rx, 3), ERANGE);
            let stopper = stopper_of(ys_set_stopper, set);
            assert_eq!((ys_signal(signaler, 0), ys_signal(signaler, 2)), (OK, OK));
            assert_eq!(ys_stop(stopper), OK);
            assert_eq!((ys_set_wait(set, ids.as_mut_ptr(), 1, -1), ids[0]), (1, 0));
            assert_eq!((ys_set_wait(set, ids.as_mut_ptr(), 4, -1), ids[0]), (1, 2));
            for ns in [0, -1, LONG] {
                assert_eq!(ys_set_wait(set, ids.as_mut_ptr(), 1, ns), wide(STOPPED));
                let mut entry = libc::pollfd { fd: ys_set_fd(set), events: libc::POLLIN, revents: 0 };
                assert!(entry.fd < 0 || libc::poll(&mut entry, 1, 0) == 1);
            }
            assert_eq!((ys_signal(signaler, 1), ys_set_wait(set, ids.as_mut_ptr(), 4, -1), ids[0]), (OK, 1, 1));
            ys_stopper_free(stopper);
            ys_signaler_free(signaler);
            ys_set_free(set);
            free(tx, rx);
        }
    }
}

/// Many threads in one mpmc channel, on both sides, and more that stop than are needed.
#[test]
fn all_waiting_threads_of_one_channel() {
    for open in [ys_exchange_open, ys_funnel_open] {
        let (tx, rx) = numbers(open, 1);
        let stoppers: Vec<_> = (0..3).map(|_| Moved(stopper_of(ys_rx_stopper, rx))).collect();
        assert_eq!(send(tx, 0), OK);
        // A second channel, for the receivers.
        let (idle_tx, idle_rx) = numbers(ys_exchange_open, 0);
        let idle_stopper = stopper_of(ys_tx_stopper, idle_tx);
        let senders = (0..4).map(|_| {
            let mut other = null_mut();
            // SAFETY: a handle that was opened here.
            assert_eq!(unsafe { ys_tx_clone(tx, &mut other) }, OK);
            let other = Moved(other);
            thread::spawn(move || {
                let end = other.end();
                // In an mpsc channel its own lane has room for one.
                let code = std::iter::repeat_with(|| send(end, 1)).find(|code| *code != OK);
                // SAFETY: it is this thread's.
                unsafe { ys_tx_free(end) };
                code.expect("it goes on until then")
            })
        });
        let receivers = (0..4).map(|_| {
            let mut other = null_mut();
            // SAFETY: as above.
            assert_eq!(unsafe { ys_rx_clone(idle_rx, &mut other) }, OK);
            let other = Moved(other);
            thread::spawn(move || {
                let end = other.end();
                let code = recv(end).expect_err("there is no sender");
                // SAFETY: as above.
                unsafe { ys_rx_free(end) };
                code
            })
        });
        let all: Vec<_> = senders.chain(receivers).collect();
        thread::sleep(Duration::from_millis(5));
        let stops: Vec<_> = stoppers
            .into_iter()
            .map(|stopper| {
                thread::spawn(move || {
                    let stopper = stopper.end();
                    // SAFETY: made here, for this thread.
                    unsafe {
                        assert_eq!(ys_stop(stopper), OK);
                        ys_stopper_free(stopper);
                    }
                })
            })
            .collect();
        // SAFETY: made above.
        unsafe {
            assert_eq!(ys_stop(idle_stopper), OK);
            ys_stopper_free(idle_stopper);
        }
        all.into_iter().for_each(|thread| assert_eq!(thread.join().expect("it ends"), STOPPED));
        stops.into_iter().for_each(|thread| thread.join().expect("it stops"));
        free(tx, rx);
        free(idle_tx, idle_rx);
    }
}

/// A message that comes at the moment of the stop is received, or is there afterwards.
#[test]
fn no_message_is_lost_to_a_stop() {
    for open in KINDS {
        for round in 0..50 {
            let (tx, rx) = numbers(open, 0);
            let (stopper, sends) = (Moved(stopper_of(ys_rx_stopper, rx)), Moved(tx));
            let sender = thread::spawn(move || assert_eq!(send(sends.end(), 7), OK));
            let stops = thread::spawn(move || {
                let stopper = stopper.end();
                // SAFETY: made above, for this thread.
                unsafe {
                    assert_eq!(ys_stop(stopper), OK);
                    ys_stopper_free(stopper);
                }
            });
            let first = recv(rx);
            sender.join().expect("it sends");
            stops.join().expect("it stops");
            assert!(first == Ok(7) || first == Err(STOPPED) && recv(rx) == Ok(7), "round {round}: {first:?}");
            free(tx, rx);
        }
    }
}

#[test]
fn null_is_no_stopper() {
    let mut stopper = core::ptr::dangling_mut();
    // SAFETY: NULL, and places for stoppers.
    unsafe {
        assert_eq!((ys_stop(null()), ys_is_stopped(null())), (EINVAL, EINVAL));
        ys_stopper_free(null_mut());
        assert_eq!((ys_rx_stopper(null(), &mut stopper), stopper), (EINVAL, null_mut()));
        assert_eq!((ys_tx_stopper(null(), &mut stopper), ys_set_stopper(null(), &mut stopper)), (EINVAL, EINVAL));
        assert_eq!((ys_select_stopper(null(), &mut stopper), ys_pool_stopper(null(), &mut stopper)), (EINVAL, EINVAL));
        let (tx, rx) = numbers(ys_pipe_open, 0);
        assert_eq!((ys_rx_stopper(rx, null_mut()), ys_tx_stopper(tx, null_mut())), (EINVAL, EINVAL));
        free(tx, rx);
    }
}
