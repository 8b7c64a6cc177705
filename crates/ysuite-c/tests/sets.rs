//! Sets, signalers, selects and pools: every function, and every code it may return.

mod support;

use core::ffi::c_int;
#[cfg(windows)]
use core::ffi::c_void;
use core::ptr::{null, null_mut};

use support::*;
use ysuite_c::*;

type OpenSet = unsafe extern "C" fn(usize, *mut *mut ys_set) -> c_int;

/// Sets with a descriptor, or an event, only where there are any.
fn sets() -> Vec<OpenSet> {
    if cfg!(any(unix, windows)) { vec![ys_set_open, ys_pollset_open] } else { vec![ys_pollset_open] }
}

fn set(open: OpenSet, ids: usize) -> *mut ys_set {
    let mut set = null_mut();
    // SAFETY: a place for a set.
    assert_eq!(unsafe { open(ids, &mut set) }, OK);
    set
}

fn wait(set: *mut ys_set, max: usize, ns: i64) -> Vec<usize> {
    let mut ids = vec![usize::MAX; max];
    // SAFETY: a set that was opened, and room for this many.
    let count = unsafe { ys_set_wait(set, ids.as_mut_ptr(), max, ns) };
    let nothing = wide(if ns == 0 { EMPTY } else { TIMEOUT });
    assert!(count > 0 || count == nothing, "{count}");
    ids.truncate(count.max(0) as usize);
    ids
}

/// Whether a descriptor is readable now.
#[cfg(unix)]
fn is_readable(set: *mut ys_set) -> bool {
    // SAFETY: a set that was opened; one entry.
    unsafe {
        let mut entry = libc::pollfd { fd: ys_set_fd(set), events: libc::POLLIN, revents: 0 };
        libc::poll(&mut entry, 1, 0) == 1
    }
}

/// Whether an event is signalled now.
#[cfg(windows)]
fn is_readable(set: *mut ys_set) -> bool {
    const WAIT_TIMEOUT: u32 = 258;
    // std links this library.
    unsafe extern "system" {
        fn WaitForSingleObject(object: *mut c_void, milliseconds: u32) -> u32;
    }
    // SAFETY: a set that was opened.
    let found = unsafe { WaitForSingleObject(ys_set_handle(set), 0) };
    assert!([0, WAIT_TIMEOUT].contains(&found), "{}", std::io::Error::last_os_error());
    found == 0
}

#[test]
fn signals_are_raised_and_taken() {
    for open in sets() {
        // SAFETY: handles that are opened here.
        unsafe {
            let set = set(open, 300);
            let mut signaler = null_mut();
            assert_eq!(ys_set_signaler(set, &mut signaler), OK);
            assert_eq!(wait(set, 4, 0), []);
            assert_eq!(wait(set, 4, SOON), []);
            for id in [299, 3, 64, 3] {
                assert_eq!(ys_signal(signaler, id), OK);
            }
            assert_eq!(ys_signal(signaler, 300), ERANGE);
            // Those beyond the room stay up.
            assert_eq!(wait(set, 2, -1), [3, 64]);
            #[cfg(any(unix, windows))]
            assert!(core::ptr::fn_addr_eq(open, ys_pollset_open as OpenSet) || is_readable(set));
            assert_eq!(wait(set, 2, LONG), [299]);
            assert_eq!(wait(set, 2, 0), []);
            let moved = Moved(signaler);
            let thread = std::thread::spawn(move || {
                let signaler = moved.end();
                assert_eq!(ys_signal(signaler, 7), OK);
                ys_signaler_free(signaler);
            });
            assert_eq!(wait(set, 8, -1), [7]);
            thread.join().expect("it has signalled");
            ys_set_free(set);
        }
    }
}

#[test]
fn with_little_room_every_id_has_its_turn() {
    for open in sets() {
        // SAFETY: handles that are opened here.
        unsafe {
            let set = set(open, 300);
            let mut signaler = null_mut();
            assert_eq!(ys_set_signaler(set, &mut signaler), OK);
            let busy = [2, 70, 71, 299];
            let (mut named, mut last) = (Vec::new(), Vec::new());
            for round in 0..12 {
                // All are raised anew, those that were taken as well: the smallest is always up.
                busy.iter().for_each(|id| assert_eq!(ys_signal(signaler, *id), OK));
                last = wait(set, 1 + round % 2, 0);
                assert!(last.is_sorted());
                named.extend_from_slice(&last);
            }
            for id in busy {
                assert!(named.iter().filter(|named| **named == id).count() >= 3, "{id} of {named:?}");
            }
            // What was not named last is up still.
            let left: Vec<_> = busy.into_iter().filter(|id| !last.contains(id)).collect();
            assert_eq!(wait(set, 9, 0), left);
            assert_eq!(wait(set, 9, 0), []);
            ys_signaler_free(signaler);
            ys_set_free(set);
        }
    }
}

#[test]
fn two_thousand_ids_in_one_set() {
    const IDS: usize = 2000;
    for open in sets() {
        // SAFETY: handles that are opened here.
        unsafe {
            let set = set(open, IDS);
            let mut signaler = null_mut();
            assert_eq!(ys_set_signaler(set, &mut signaler), OK);
            let raise_all = || (0..IDS).rev().for_each(|id| assert_eq!(ys_signal(signaler, id), OK));
            raise_all();
            assert_eq!(wait(set, IDS, -1), Vec::from_iter(0..IDS));
            assert_eq!(wait(set, IDS, 0), []);
            assert_eq!(ys_signal(signaler, IDS), ERANGE);
            // With room for some of them, each is named once.
            for room in [1, 63, 64, 65, 256, 257, IDS - 1, IDS + 1] {
                raise_all();
                let mut named = Vec::new();
                while named.len() < IDS {
                    let some = wait(set, room, 0);
                    assert_eq!(some.len(), room.min(IDS - named.len()));
                    named.extend_from_slice(&some);
                }
                assert_eq!(named, Vec::from_iter(0..IDS));
                assert_eq!(wait(set, room, 0), []);
            }
            ys_signaler_free(signaler);
            ys_set_free(set);
        }
    }
}

#[test]
fn two_thousand_ends_in_one_set() {
    const ENDS: usize = 2000;
    for open in sets() {
        for kind in [ys_pipe_open as Open, ys_exchange_open] {
            // SAFETY: handles that are opened here.
            unsafe {
                let set = set(open, ENDS);
                let ends: Vec<_> = (0..ENDS).map(|_| numbers(kind, 1)).collect();
                for (id, (_, rx)) in ends.iter().enumerate() {
                    assert_eq!(ys_set_attach_rx(set, *rx, id), OK);
                }
                // All are up at first.
                assert_eq!(wait(set, ENDS, -1), Vec::from_iter(0..ENDS));
                ends.iter().for_each(|(_, rx)| assert_eq!(recv_for(*rx, 0), Err(EMPTY)));
                assert_eq!(wait(set, ENDS, 0), []);
                for (id, (tx, _)) in ends.iter().enumerate().step_by(7) {
                    assert_eq!(send(*tx, id as u64), OK);
                }
                assert_eq!(wait(set, ENDS, 0), Vec::from_iter((0..ENDS).step_by(7)));
                for (id, (_, rx)) in ends.iter().enumerate().step_by(7) {
                    assert_eq!((recv_for(*rx, 0), recv_for(*rx, 0)), (Ok(id as u64), Err(EMPTY)));
                }
                // Another thread sends to all of them, while this one waits with room for few.
                let senders: Vec<_> = ends.iter().map(|(tx, _)| Moved(*tx)).collect();
                let thread = std::thread::spawn(move || {
                    for (id, tx) in senders.into_iter().enumerate().rev() {
                        let tx = tx.end();
                        assert_eq!(send(tx, id as u64), OK);
                        ys_tx_free(tx);
                    }
                });
                let (mut left, mut got, mut is_over) = (ENDS, vec![0; ENDS], vec![false; ENDS]);
                while left > 0 {
                    for id in wait(set, 100, -1) {
                        // A sender may raise an id once more after the disconnect.
                        if is_over[id] {
                            continue;
                        }
                        let rx = ends[id].1;
                        match recv_for(rx, 0) {
                            Ok(number) => {
                                assert_eq!(number, id as u64);
                                got[id] += 1;
                            }
                            Err(EMPTY) => {}
                            Err(code) => {
                                assert_eq!((code, got[id]), (CLOSED, 1));
                                assert_eq!(ys_set_detach_rx(set, rx), OK);
                                ys_rx_free(rx);
                                is_over[id] = true;
                                left -= 1;
                            }
                        }
                    }
                }
                thread.join().expect("it has sent");
                wait(set, ENDS, 0);
                assert_eq!(wait(set, ENDS, 0), []);
                ys_set_free(set);
            }
        }
    }
}

/// Claim: Sets of the C interface behave as in Rust.
#[test]
fn attached_ends_are_named_while_they_may_go_on() {
    for open_set in sets() {
        for open in KINDS {
            let is_oneshot = is(open, ys_oneshot_open);
            // SAFETY: handles that are opened here.
            unsafe {
                let (set, other) = (set(open_set, 8), set(open_set, 8));
                let (tx, rx) = numbers(open, if is_oneshot { 0 } else { 1 });
                let (tx2, rx2) = numbers(open, 0);
                assert_eq!(ys_set_attach_rx(set, rx, 8), ERANGE);
                assert_eq!(ys_set_attach_rx(set, rx, 5), OK);
                assert_eq!(ys_set_attach_rx(set, rx, 6), EATTACHED);
                assert_eq!(ys_set_attach_rx(other, rx, 6), EATTACHED);
                assert_eq!(ys_set_attach_rx(set, rx2, 5), ETAKEN);
                assert_eq!(ys_set_detach_rx(other, rx), EATTACHED);
                assert_eq!(ys_set_detach_rx(set, rx2), EATTACHED);
                // Up at first.
                assert_eq!(wait(set, 8, -1), [5]);
                assert_eq!(recv_for(rx, 0), Err(EMPTY));
                assert_eq!(wait(set, 8, 0), []);
                assert_eq!(send(tx, 1), OK);
                assert_eq!((wait(set, 8, -1), wait(set, 8, 0)), (vec![5], vec![5]));
                assert_eq!(recv_for(rx, 0), Ok(1));
                if is_oneshot {
                    // It is over, and says so.
                    assert_eq!(wait(set, 8, 0), [5]);
                    assert_eq!(ys_set_attach_tx(set, tx2, 2), ENOTSUP);
                    assert_eq!(ys_set_detach_tx(set, tx2), ENOTSUP);
                } else {
                    assert_eq!(recv_for(rx, 0), Err(EMPTY));
                    assert_eq!(ys_set_attach_tx(set, tx, 2), OK);
                    assert_eq!(ys_set_attach_tx(set, tx, 3), EATTACHED);
                    assert_eq!(wait(set, 8, 0), [2]);
                    assert_eq!(try_send(tx, 2), OK);
                    assert_eq!(try_send(tx, 3), FULL);
                    assert_eq!(wait(set, 8, 0), [5]);
                    assert_eq!(recv_for(rx, 0), Ok(2));
                    assert_eq!(recv_for(rx, 0), Err(EMPTY));
                    assert_eq!(wait(set, 8, -1), [2]);
                    assert_eq!(ys_set_detach_tx(set, tx), OK);
                    assert_eq!(ys_set_detach_tx(set, tx), EATTACHED);
                    assert_eq!(wait(set, 8, 0), []);
                }
                assert_eq!(ys_set_detach_rx(set, rx), OK);
                assert_eq!(ys_set_attach_rx(other, rx, 6), OK);
                free(tx, rx);
                free(tx2, rx2);
                assert_eq!(wait(set, 8, 0), []);
                ys_set_free(set);
                ys_set_free(other);
            }
        }
    }
}

/// The ways to poll that take the id down of a handle that has nothing, or no room.
#[test]
fn looks_in_vain_take_the_id_down() {
    for open in LANES {
        // SAFETY: handles that are opened here.
        unsafe {
            let set = set(ys_pollset_open, 8);
            let (tx, rx) = numbers(open, 1);
            let (mut at, mut number) = (null_mut(), 0_u64);
            assert_eq!(ys_set_attach_rx(set, rx, 1), OK);
            for way in 0..5 {
                assert_eq!(wait(set, 8, -1), [1], "{way}");
                let code = match way {
                    0 => ys_peek(rx, &mut at),
                    1 => ys_take(rx, &mut at, 0) as isize,
                    2 => ys_recv_batch(rx, place(&mut number), 1, 0),
                    3 => ys_wait(rx, 0) as isize,
                    _ => ys_try_recv(rx, place(&mut number)) as isize,
                };
                assert_eq!((code, wait(set, 8, 0)), (wide(EMPTY), vec![]), "{way}");
                assert_eq!(send(tx, 1), OK);
                assert_eq!(wait(set, 8, -1), [1], "{way}");
                assert_eq!(recv(rx), Ok(1));
            }
            assert_eq!(ys_set_detach_rx(set, rx), OK);
            assert_eq!(ys_set_attach_tx(set, tx, 2), OK);
            for way in 0..4 {
                assert_eq!(wait(set, 8, -1), [2], "{way}");
                assert_eq!(send(tx, 1), OK);
                let code = match way {
                    0 => ys_reserve(tx, &mut at),
                    1 => ys_wait_room(tx, 0) as isize,
                    2 => ys_send_batch(tx, address(&1_u64), 1, 0),
                    _ => ys_try_send(tx, address(&1_u64)) as isize,
                };
                assert_eq!((code, wait(set, 8, 0)), (wide(FULL), vec![]), "{way}");
                assert_eq!(recv(rx), Ok(1));
            }
            assert_eq!(wait(set, 8, -1), [2]);
            free(tx, rx);
            ys_set_free(set);
        }
    }
}

#[cfg(any(unix, windows))]
#[test]
fn a_descriptor_is_readable_while_something_is_up() {
    // SAFETY: handles that are opened here.
    unsafe {
        let (with, without) = (set(ys_set_open, 4), set(ys_pollset_open, 4));
        assert_eq!(ys_set_fd(without), ENOTSUP);
        #[cfg(unix)]
        assert!(ys_set_fd(with) >= 0);
        #[cfg(windows)]
        assert!(ys_set_fd(with) == ENOTSUP && !ys_set_handle(with).is_null() && ys_set_handle(without).is_null());
        let (tx, rx) = numbers(ys_pipe_open, 0);
        assert_eq!(ys_set_attach_rx(with, rx, 0), OK);
        assert!(is_readable(with));
        assert_eq!((recv_for(rx, 0), wait(with, 4, 0)), (Err(EMPTY), vec![]));
        assert!(!is_readable(with));
        assert_eq!(send(tx, 1), OK);
        assert!(is_readable(with));
        free(tx, rx);
        ys_set_free(with);
        ys_set_free(without);
    }
}

#[test]
fn sets_and_selects_refuse_what_cannot_be() {
    // SAFETY: every function takes NULL; handles that are opened here.
    unsafe {
        let (mut made, mut select, mut signaler, mut id) = (null_mut(), null_mut(), null_mut(), 0_usize);
        for open in sets() {
            assert_eq!(open(4, null_mut()), EINVAL);
            for ids in [0, 262_145, usize::MAX] {
                assert_eq!(open(ids, &mut made), EINVAL);
                assert!(made.is_null());
            }
            ys_set_free(set(open, 262_144));
        }
        let (tx, rx) = numbers(ys_pipe_open, 0);
        let one = set(ys_pollset_open, 1);
        let none = null_mut();
        assert_eq!(ys_set_fd(none), EINVAL);
        #[cfg(windows)]
        assert!(ys_set_handle(none).is_null() && errno() == libc::EINVAL);
        assert_eq!(ys_set_wait(none, &mut id, 1, 0), wide(EINVAL));
        assert_eq!(ys_set_wait(one, null_mut(), 1, 0), wide(EINVAL));
        assert_eq!(ys_set_wait(one, &mut id, 0, 0), wide(EINVAL));
        assert_eq!(ys_set_signaler(none, &mut signaler), EINVAL);
        assert_eq!(ys_set_signaler(one, null_mut()), EINVAL);
        assert_eq!(ys_signal(null(), 0), EINVAL);
        for (set, rx, tx) in [(none, rx, tx), (one, null_mut(), null_mut())] {
            assert_eq!((ys_set_attach_rx(set, rx, 0), ys_set_attach_tx(set, tx, 0)), (EINVAL, EINVAL));
            assert_eq!((ys_set_detach_rx(set, rx), ys_set_detach_tx(set, tx)), (EINVAL, EINVAL));
        }
        ys_signaler_free(null_mut());
        ys_set_free(null_mut());
        ys_set_free(one);

        assert_eq!(ys_select_open(1, null_mut()), EINVAL);
        for ends in [0, 262_145] {
            assert_eq!(ys_select_open(ends, &mut select), EINVAL);
        }
        assert_eq!(ys_select_open(1, &mut select), OK);
        assert_eq!(ys_select_add_rx(select, rx, null_mut()), EINVAL);
        assert_eq!(ys_select_add_tx(select, tx, null_mut()), EINVAL);
        assert_eq!(ys_select_add_rx(select, null_mut(), &mut id), EINVAL);
        assert_eq!(ys_select_add_tx(select, null_mut(), &mut id), EINVAL);
        assert_eq!(ys_select_add_rx(null_mut(), rx, &mut id), EINVAL);
        assert_eq!(ys_select_remove_rx(null_mut(), rx), EINVAL);
        assert_eq!(ys_select_remove_tx(select, null_mut()), EINVAL);
        assert_eq!(ys_select_wait(null_mut(), 0), wide(EINVAL));
        ys_select_free(null_mut());
        ys_select_free(select);
        free(tx, rx);
    }
}

/// Claim: Selects of the C interface behave as in Rust.
#[test]
fn a_select_names_the_first_of_several_ends() {
    for open in &KINDS[..3] {
        // SAFETY: handles that are opened here.
        unsafe {
            let mut select = null_mut();
            assert_eq!(ys_select_open(3, &mut select), OK);
            assert_eq!(ys_select_wait(select, 0), wide(EMPTY));
            assert_eq!(ys_select_wait(select, SOON), wide(TIMEOUT));
            let (tx, rx) = numbers(*open, 1);
            let (tx2, rx2) = numbers(ys_oneshot_open, 0);
            let (mut room, mut number, mut answer, mut none) = (9, 9, 9, 9);
            assert_eq!(ys_select_add_tx(select, tx, &mut room), OK);
            assert_eq!(ys_select_add_tx(select, tx, &mut none), EATTACHED);
            assert_eq!(ys_select_add_rx(select, rx, &mut number), OK);
            assert_eq!(ys_select_add_tx(select, tx2, &mut none), ENOTSUP);
            assert_eq!(ys_select_add_rx(select, rx2, &mut answer), OK);
            let (tx3, rx3) = numbers(*open, 1);
            assert_eq!(ys_select_add_rx(select, rx3, &mut none), ETOOMANY);
            assert_eq!((ys_select_remove_rx(select, rx3), ys_select_remove_tx(select, tx3)), (EATTACHED, EATTACHED));
            assert_eq!(none, 9);
            // Everything is named at first.
            let mut named = [0; 3];
            named.iter_mut().for_each(|id| *id = ys_select_wait(select, -1) as usize);
            named.sort_unstable();
            assert_eq!(named, [0, 1, 2]);
            assert_eq!(recv_for(rx, 0), Err(EMPTY));
            assert_eq!(recv_for(rx2, 0), Err(EMPTY));
            assert_eq!(ys_select_wait(select, LONG), room as isize);
            assert_eq!((try_send(tx, 1), try_send(tx, 2)), (OK, FULL));
            assert_eq!(ys_select_wait(select, -1), number as isize);
            assert_eq!(ys_select_remove_rx(select, rx), OK);
            assert_eq!(ys_select_wait(select, 0), wide(EMPTY));
            assert_eq!(send(tx2, 3), OK);
            assert_eq!(ys_select_wait(select, 0), answer as isize);
            assert_eq!(ys_select_remove_rx(select, rx2), OK);
            assert_eq!(recv(rx), Ok(1));
            assert_eq!(ys_select_wait(select, -1), room as isize);
            assert_eq!(ys_select_remove_tx(select, tx), OK);
            free(tx, rx);
            free(tx2, rx2);
            free(tx3, rx3);
            ys_select_free(select);
        }
    }
}

fn pool(classes: &[(usize, usize)]) -> Result<*mut ys_pool, c_int> {
    let classes: Vec<_> = classes.iter().map(|&(bytes, blocks)| ys_pool_class { bytes, blocks }).collect();
    let mut pool = null_mut();
    // SAFETY: this many classes, and a place for a pool.
    match unsafe { ys_pool_open(classes.as_ptr(), classes.len(), &mut pool) } {
        OK => Ok(pool),
        code => Err(code),
    }
}

#[test]
fn messages_of_a_pool_are_taken_and_freed() {
    for classes in [&[(1, 2)][..], &[(24, 1), (8, 1)], &[(64, 2)], &[(63, 2), (4096, 1)], &[(100, 2)]] {
        let pool = pool(classes).expect("these classes can be");
        // SAFETY: handles and messages that were made here.
        unsafe {
            let (first, second) = (ys_pool_take(pool, 1, -1), ys_pool_take(pool, 1, 0));
            for message in [first, second] {
                assert!(message.addr().is_multiple_of(16) && !message.is_null());
                assert_eq!(ys_msg_len(message), 1);
                let capacity = ys_msg_capacity(message);
                assert!(capacity >= 64);
                message.cast::<u8>().write(9);
                assert_eq!(ys_msg_resize(message, capacity + 1), ETOOMANY);
                assert_eq!(ys_msg_resize(message, capacity), OK);
                let bytes = core::slice::from_raw_parts(message.cast::<u8>(), ys_msg_len(message));
                assert!(bytes[0] == 9 && bytes[1..].iter().all(|byte| *byte == 0));
            }
            assert!(ys_pool_take(pool, 1, 0).is_null());
            assert_eq!(errno(), libc::EAGAIN);
            assert!(ys_pool_take(pool, 1, SOON).is_null());
            assert_eq!(errno(), libc::ETIMEDOUT);
            assert!(ys_pool_take(pool, 5000, -1).is_null());
            assert_eq!(errno(), libc::EMSGSIZE);
            let waiting = Moved(pool);
            let thread = std::thread::spawn(move || ys_pool_take(waiting.end(), 1, LONG).addr());
            let address = first.addr();
            ys_msg_free(first);
            assert_eq!(thread.join().expect("it has got it"), address);
            // The pool's memory lives until its last message is freed.
            ys_pool_free(pool);
            second.cast::<u8>().write(3);
            ys_msg_free(second);
            ys_msg_free(first);
        }
    }
}

#[test]
fn pools_refuse_what_cannot_be() {
    let cannot = [&[][..], &[(0, 1)], &[(64, 0)], &[(64, 1), (64, 2)], &[(8, 1), (8, 1)], &[(usize::MAX, 1)]];
    for classes in cannot {
        assert_eq!(pool(classes), Err(EINVAL), "{classes:?}");
    }
    // 4 GiB each, with what the checked build adds.
    assert_eq!(pool(&[(u32::MAX as usize - 4096, 60_000)]), Err(ENOMEM));
    let mut made = null_mut();
    // SAFETY: every function takes NULL.
    unsafe {
        assert_eq!(ys_pool_open(null(), 1, &mut made), EINVAL);
        assert_eq!(ys_pool_open(&ys_pool_class { bytes: 8, blocks: 1 }, 1, null_mut()), EINVAL);
        assert!(ys_pool_take(null_mut(), 1, 0).is_null());
        assert_eq!(errno(), libc::EINVAL);
        assert_eq!((ys_msg_len(null()), ys_msg_capacity(null()), ys_msg_resize(null_mut(), 1)), (0, 0, EINVAL));
        ys_msg_free(null_mut());
        ys_pool_free(null_mut());
    }
}

unsafe extern "C-unwind" fn free_message(message: *mut core::ffi::c_void, _: *mut core::ffi::c_void) {
    // SAFETY: the channel's messages are addresses of messages.
    unsafe { ys_msg_free(message.cast::<*mut core::ffi::c_void>().read()) };
}

/// Claim: Pools of the C interface behave as in Rust.
#[test]
fn messages_of_a_pool_go_through_every_kind_of_channel() {
    for open in KINDS {
        // SAFETY: handles and messages that were made here.
        unsafe {
            let pool = pool(&[(256, 1)]).expect("this class can be");
            let (tx, rx) = opened(open, &ys_options { drop: Some(free_message), ..options(8, 8, 0) });
            assert_eq!(send(tx, ys_pool_take(pool, 200, 0).expose_provenance() as u64), OK);
            assert!(ys_pool_take(pool, 1, 0).is_null());
            free(tx, rx);
            let again = ys_pool_take(pool, 1, 0);
            assert!(!again.is_null());
            ys_msg_free(again);
            ys_pool_free(pool);
        }
    }
}
