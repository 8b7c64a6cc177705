//! The inline path and calls, in any mixture, on channels of every class of messages: what a window shows, and that it may be shut
//! at any time, changes nothing of what is sent and received.

mod support;

use core::ffi::c_void;
use core::ptr::null_mut;
use std::collections::VecDeque;

use support::inline::{CLASSES, Geometry, Random, rx_is_shut, tx_is_shut};
use support::*;
use ysuite_c::*;

/// A channel, and what must be in it.
struct Walk {
    geometry: Geometry,
    tx: *mut ys_tx,
    rx: *mut ys_rx,
    /// How many messages there may be.
    bound: usize,
    visible: VecDeque<u64>,
    hidden: VecDeque<u64>,
    next: u64,
    random: Random,
}

impl Walk {
    fn message(&self, number: u64) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..self.geometry.slot).map(|at| (at as u64 * 5 + number) as u8).collect();
        bytes[..8].copy_from_slice(&number.to_ne_bytes());
        bytes
    }

    fn has_room(&self) -> bool {
        self.visible.len() + self.hidden.len() < self.bound
    }

    /// The next message is in the channel, and so are those that were hidden.
    fn sent(&mut self) {
        self.visible.append(&mut self.hidden);
        self.visible.push_back(self.next);
        self.next += 1;
    }

    fn send_inline(&mut self) {
        let message = self.message(self.next);
        // SAFETY: the handle is of such a channel.
        if let Some(code) = unsafe { self.geometry.send(self.tx, &message) } {
            assert_eq!(code, OK);
            assert!(self.has_room() && self.hidden.is_empty());
            self.sent();
        } else {
            self.send_by_call();
        }
    }

    fn send_by_call(&mut self) {
        let message = self.message(self.next);
        // SAFETY: the handle is of such a channel.
        let code = unsafe { ys_try_send(self.tx, message.as_ptr().cast()) };
        assert_eq!(code, if self.has_room() { OK } else { FULL });
        if code == OK {
            self.sent();
        }
    }

    fn write(&mut self) {
        if self.has_room() {
            let message = self.message(self.next);
            // SAFETY: the handle is of such a channel.
            assert_eq!(unsafe { ys_write(self.tx, message.as_ptr().cast()) }, OK);
            self.hidden.push_back(self.next);
            self.next += 1;
        }
    }

    fn flush(&mut self) {
        // SAFETY: the handle was opened.
        assert_eq!(unsafe { ys_flush(self.tx) }, OK);
        self.visible.append(&mut self.hidden);
    }

    fn reserve(&mut self) {
        let mut at = null_mut();
        // SAFETY: the handle was opened; only reserved slots are written.
        unsafe {
            let slots = ys_reserve(self.tx, &mut at);
            if !self.has_room() {
                assert_eq!(slots, wide(FULL));
                return;
            }
            let slots = usize::try_from(slots).expect("there is room");
            assert!(slots >= 1 && slots <= self.bound - self.visible.len() - self.hidden.len());
            assert!(at.addr().is_multiple_of(self.geometry.align));
            let used = self.random.below(slots + 1);
            for slot in 0..used {
                let message = self.message(self.next + slot as u64);
                let to = at.cast::<u8>().add(slot * self.geometry.slot);
                to.copy_from_nonoverlapping(message.as_ptr(), message.len());
            }
            // Sometimes the reservation is given up for another send.
            if self.random.below(4) == 0 {
                return self.send_inline();
            }
            assert_eq!(ys_commit(self.tx, used), used as isize);
            self.visible.append(&mut self.hidden);
            (0..used).for_each(|_| self.sent());
        }
    }

    fn send_batch(&mut self) {
        let count = self.random.below(12) + 1;
        let messages: Vec<u8> = (0..count).flat_map(|at| self.message(self.next + at as u64)).collect();
        let room = count.min(self.bound - self.visible.len() - self.hidden.len());
        // SAFETY: the handle was opened; this many messages are there.
        let sent = unsafe { ys_send_batch(self.tx, messages.as_ptr().cast(), count, 0) };
        assert_eq!(sent, if room == 0 { wide(FULL) } else { room as isize });
        self.visible.append(&mut self.hidden);
        (0..room).for_each(|_| self.sent());
    }

    fn received(&mut self, bytes: &[u8]) {
        let number = self.visible.pop_front().expect("nothing but what was sent is received");
        assert_eq!(bytes, self.message(number));
    }

    fn recv_inline(&mut self) {
        let mut bytes = vec![0; self.geometry.slot];
        // SAFETY: the handle is of such a channel.
        if unsafe { self.geometry.recv(self.rx, &mut bytes) } {
            self.received(&bytes);
        } else {
            self.recv_by_call();
        }
    }

    fn recv_by_call(&mut self) {
        let mut bytes = vec![0_u8; self.geometry.slot];
        // SAFETY: the handle is of such a channel.
        let code = unsafe { ys_try_recv(self.rx, bytes.as_mut_ptr().cast()) };
        assert_eq!(code, if self.visible.is_empty() { EMPTY } else { OK });
        if code == OK {
            self.received(&bytes);
        }
    }

    fn bytes_at(&self, at: *const c_void, index: usize) -> Vec<u8> {
        // SAFETY: the callers have been shown that message, or have taken it.
        unsafe { core::slice::from_raw_parts(at.cast::<u8>().add(index * self.geometry.slot), self.geometry.slot) }
            .to_vec()
    }

    fn peek(&mut self) {
        let mut at = null_mut();
        // SAFETY: the handle was opened.
        unsafe {
            let shown = ys_peek(self.rx, &mut at);
            if self.visible.is_empty() {
                assert_eq!(shown, wide(EMPTY));
                return;
            }
            let mut shown = usize::try_from(shown).expect("messages are there");
            assert!(shown >= 1 && shown <= self.visible.len());
            let mut index = 0;
            while shown > 0 {
                assert_eq!(ys_consume(self.rx, shown + 1), EINVAL);
                let some = self.random.below(shown + 1);
                for _ in 0..some {
                    let bytes = self.bytes_at(at, index);
                    self.received(&bytes);
                    index += 1;
                }
                assert_eq!(ys_consume(self.rx, some), OK);
                shown -= some;
                if self.random.below(3) == 0 {
                    break;
                }
            }
        }
    }

    fn take(&mut self) {
        let mut at = null_mut();
        // SAFETY: the handle was opened.
        let code = unsafe { ys_take(self.rx, &mut at, 0) };
        assert_eq!(code, if self.visible.is_empty() { EMPTY } else { OK });
        if code == OK {
            let bytes = self.bytes_at(at, 0);
            self.received(&bytes);
        }
    }

    fn recv_batch(&mut self) {
        let most = self.random.below(12) + 1;
        let mut bytes = vec![0_u8; most * self.geometry.slot];
        // SAFETY: the handle was opened; there is room for this many.
        let got = unsafe { ys_recv_batch(self.rx, bytes.as_mut_ptr().cast(), most, 0) };
        if self.visible.is_empty() {
            assert_eq!(got, wide(EMPTY));
            return;
        }
        let got = usize::try_from(got).expect("messages are there");
        assert!(got >= 1 && got <= most);
        for message in bytes.chunks(self.geometry.slot).take(got) {
            self.received(message);
        }
    }

    /// One step on one side, or a check of both.
    fn step(&mut self, sends: usize) {
        let way = self.random.below(10);
        match self.random.below(8) < sends {
            true => match way {
                0..4 => self.send_inline(),
                4 => self.send_by_call(),
                5 => self.write(),
                6 => self.flush(),
                7 => self.send_batch(),
                _ => self.reserve(),
            },
            false => match way {
                0..4 => self.recv_inline(),
                4 => self.recv_by_call(),
                5 | 6 => self.peek(),
                7 => self.take(),
                8 => self.recv_batch(),
                // SAFETY: the handles were opened.
                _ => unsafe {
                    assert_eq!(ys_rx_len(self.rx), self.visible.len() as isize);
                    assert_eq!(ys_tx_len(self.tx), self.visible.len() as isize);
                    assert_eq!((ys_tx_is_closed(self.tx), ys_rx_is_closed(self.rx)), (0, 0));
                },
            },
        }
    }

    /// One of the handles closes, or is freed; all that was sent is received, and what is sent afterwards is not.
    fn end(mut self) {
        // SAFETY: the handles were opened, and are freed here.
        unsafe {
            match self.random.below(4) {
                0 => {
                    assert_eq!(ys_tx_close(self.tx), OK);
                    self.visible.append(&mut self.hidden);
                }
                1 => {
                    ys_tx_free(self.tx);
                    self.tx = null_mut();
                    self.visible.append(&mut self.hidden);
                }
                2 => assert_eq!(ys_rx_close(self.rx), OK),
                _ => {
                    ys_rx_free(self.rx);
                    self.rx = null_mut();
                }
            }
            if !self.tx.is_null() {
                let message = self.message(u64::from(u32::MAX));
                if let Some(code) = self.geometry.send(self.tx, &message) {
                    assert_eq!(code, CLOSED);
                }
                assert_eq!(ys_send(self.tx, message.as_ptr().cast()), CLOSED);
                assert_eq!(self.geometry.send(self.tx, &message).unwrap_or(CLOSED), CLOSED);
            }
            if !self.rx.is_null() {
                while !self.visible.is_empty() {
                    self.recv_inline();
                }
                let mut bytes = vec![0_u8; self.geometry.slot];
                assert!(!self.geometry.recv(self.rx, &mut bytes));
                assert_eq!(ys_recv(self.rx, bytes.as_mut_ptr().cast()), CLOSED);
            }
            free(self.tx, self.rx);
        }
    }
}

fn walk(open: Open, class: (usize, usize), capacity: usize, window: u32, steps: usize, seed: u64) {
    let geometry = Geometry::new(class);
    let (tx, rx) = opened(open, &ys_options { window, ..options(class.0, class.1, capacity) });
    let bound = if capacity == 0 { usize::MAX / 2 } else { capacity };
    let (visible, hidden) = (VecDeque::new(), VecDeque::new());
    let mut walk = Walk { geometry, tx, rx, bound, visible, hidden, next: 0, random: Random(seed) };
    let mut sends = 4;
    for step in 0..steps {
        if step % 64 == 0 {
            // Long and short queues.
            sends = 2 + walk.random.below(5);
        }
        walk.step(sends);
    }
    walk.end();
}

#[test]
fn windows_and_calls_agree_for_every_class_and_bound() {
    let mut seed = 1;
    for open in LANES {
        for class in CLASSES {
            for capacity in 0..=20 {
                for window in [0, YS_WINDOW_VERSION] {
                    walk(open, class, capacity, window, 300, seed);
                    seed += 1;
                }
            }
        }
    }
}

/// Many chunks, forwards and round again.
#[test]
fn windows_and_calls_agree_for_long() {
    for open in LANES {
        for class in CLASSES {
            for capacity in [0, 3, 1000] {
                walk(open, class, capacity, YS_WINDOW_VERSION, 20_000, 77);
            }
        }
    }
}

#[test]
fn a_version_that_is_not_known_has_no_window() {
    for open in KINDS {
        for window in [0, YS_WINDOW_VERSION - 1, YS_WINDOW_VERSION + 1, u32::MAX] {
            let (tx, rx) = opened(open, &ys_options { window, ..options(8, 8, 0) });
            assert!(tx_is_shut(tx) && rx_is_shut(rx));
            // SAFETY: handles that were opened.
            unsafe {
                assert_eq!(ys_tx_answer(tx), EINVAL);
                ys_rx_credit(rx);
            }
            assert_eq!((send(tx, 1), recv(rx)), (OK, Ok(1)));
            assert!(tx_is_shut(tx) && rx_is_shut(rx));
            free(tx, rx);
        }
    }
}

#[test]
fn a_version_that_is_known_has_one_where_the_library_opens_any() {
    let is_open = ys_window_version() == YS_WINDOW_VERSION;
    for open in KINDS {
        let is_lane = is_lane(open);
        let (tx, rx) = opened(open, &ys_options { window: YS_WINDOW_VERSION, ..options(8, 8, 0) });
        assert_eq!(send(tx, 1), OK);
        // Where the kernel has no barrier for all threads, windows stay shut.
        assert!(is_open && is_lane || tx_is_shut(tx));
        assert!(is_open && is(open, ys_pipe_open) || rx_is_shut(rx));
        if is_lane && std::env::var_os("YSUITE_WINDOW").is_none() && cfg!(target_os = "linux") {
            assert_eq!(tx_is_shut(tx), cfg!(feature = "checked") || !has_barrier());
        }
        free(tx, rx);
    }
}

/// Whether the kernel has a barrier for all threads of a process, and lets this one use it.
fn has_barrier() -> bool {
    const QUERY: libc::c_long = 0;
    const PRIVATE_EXPEDITED: libc::c_long = 1 << 3;
    // SAFETY: a query changes nothing.
    let commands = unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0, 0) };
    commands > 0 && commands & PRIVATE_EXPEDITED != 0
}
