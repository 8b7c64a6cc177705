//! Pools, messages and threads that are dropped or exit in any order.

use std::cell::RefCell;
use std::thread;

use ysuite::pool::{Message, Pool};
use ysuite::spsc;

use super::{all, guarded, panics, pool_of};

#[test]
fn messages_outlive_their_pool() {
    for blocks in [1, 10, 1_000] {
        let pool = pool_of(blocks);
        let mut messages = all(&pool, 100);
        let clone = pool.clone();
        messages.iter_mut().for_each(|message| message.fill(3));
        drop((pool, clone));
        let rest = messages.split_off(blocks / 2);
        thread::spawn(move || drop(messages)).join().unwrap();
        assert!(rest.iter().all(|message| message.iter().all(|byte| *byte == 3)));
    }
}

#[test]
fn the_pool_and_its_last_messages_end_at_once() {
    guarded(|| {
        for round in 0..2_000 {
            let pool = pool_of(16);
            let mut messages = all(&pool, 1);
            messages.truncate(round % 16);
            let half = messages.split_off(messages.len() / 2);
            let threads = [thread::spawn(move || drop(messages)), thread::spawn(move || drop(half))];
            drop(pool);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    });
}

/// Claim: A pool message that a thread leaves in a channel returns to its pool.
#[test]
fn what_is_left_in_a_channel_goes_back() {
    let pool = pool_of(40);
    let (mut sender, receiver) = spsc::bounded(64);
    (0..30).for_each(|_| sender.send(pool.take(1)).unwrap());
    drop(receiver);
    assert!(sender.send(pool.take(1)).is_err());
    drop(sender);
    assert_eq!(all(&pool, 1).len(), 40);
}

#[test]
fn a_thread_that_panics_with_messages_in_hand_gives_them_back() {
    let pool = pool_of(20);
    let said = panics(|| {
        let _messages = all(&pool, 1);
        panic!("with all of them");
    });
    assert_eq!(said, "with all of them");
    let other = pool.clone();
    let thread = thread::spawn(move || {
        let _messages = all(&other, 1);
        panic!("and again, on purpose");
    });
    assert!(thread.join().is_err());
    assert_eq!(all(&pool, 1).len(), 20);
}

/// Takes one more while it is dropped, and drops all it has.
struct Late(Pool, Vec<Message>);

impl Drop for Late {
    fn drop(&mut self) {
        self.1.extend(self.0.try_take(2));
        self.1.push(self.0.take(2));
    }
}

thread_local! {
    /// Registered before the pool's own thread-locals, and so dropped after them; or the other way round.
    static LATE: RefCell<Vec<Late>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn messages_are_taken_and_dropped_while_a_thread_ends() {
    for late_first in [true, false] {
        let pool = pool_of(100);
        let other = pool.clone();
        thread::spawn(move || {
            if late_first {
                LATE.with_borrow_mut(|late| late.reserve(1));
            }
            let messages = (0..30).map(|_| other.take(1)).collect();
            drop(other.take(5));
            LATE.with_borrow_mut(|late| late.push(Late(other, messages)));
        })
        .join()
        .unwrap();
        assert_eq!(all(&pool, 1).len(), 100);
    }
}

#[test]
fn the_last_message_of_all_is_dropped_while_a_thread_ends() {
    for late_first in [true, false] {
        let pool = pool_of(3);
        thread::spawn(move || {
            if late_first {
                LATE.with_borrow_mut(|late| late.reserve(1));
            }
            let messages = vec![pool.take(1)];
            LATE.with_borrow_mut(|late| late.push(Late(pool, messages)));
        })
        .join()
        .unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_pools_memory_goes_with_its_last_message() {
    use super::late::late;
    use crate::support::process::{alone, resident};

    // Resident memory is the process's: nothing else may run in it.
    if !alone("pool::endings::a_pools_memory_goes_with_its_last_message") {
        return;
    }
    const SIZE: u64 = 64 << 20;
    let before = resident();
    for is_late in [false, true, false, true] {
        let pool = Pool::new(&[(1 << 20, 64)]).unwrap();
        let mut message = pool.take(1 << 20);
        message.fill(1);
        drop(pool);
        assert!(resident() >= before + SIZE, "it is in place, and stays with its message");
        // From another thread; this one, which has a cache of the pool, does not know.
        let read = move || assert_eq!(message[4_711], 1);
        if is_late {
            late(move || read)
        } else {
            thread::spawn(read).join().unwrap()
        }
        // An allocator that is used instead of the kernel may keep it.
        if !cfg!(ysuite_portable) {
            assert!(resident() < before + SIZE / 8, "{} MiB are not given back", (resident() - before) >> 20);
        }
    }
}
