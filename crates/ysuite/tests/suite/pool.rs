//! The pool: what it gives, what it refuses, and where its blocks go.

mod channels;
mod endings;
mod late;
mod random;
mod tasks;
mod values;
mod waiting;

use std::thread;

use crate::support::{guarded, panics};
use ysuite::pool::{Message, Pool, PoolError, TooLong};

/// Takes all that is free, with this many bytes.
fn all(pool: &Pool, len: usize) -> Vec<Message> {
    std::iter::from_fn(|| pool.try_take(len)).collect()
}

/// A pool with this many blocks of up to 100 bytes.
fn pool_of(blocks: usize) -> Pool {
    Pool::new(&[(100, blocks)]).unwrap()
}

#[test]
fn what_cannot_be_a_pool_is_refused_with_a_sentence() {
    let refused = |classes: &[(usize, usize)]| Pool::new(classes).map(drop).expect_err("it cannot be");
    let huge = usize::MAX;
    assert_eq!(refused(&[]), PoolError::NoClasses);
    assert_eq!(refused(&[(64, 1), (0, 5)]), PoolError::NoBytes);
    assert_eq!(refused(&[(64, 0)]), PoolError::NoBlocks { block_bytes: 64 });
    assert_eq!(refused(&[(64, 3), (8, 1), (64, 4)]), PoolError::Duplicate { block_bytes: 64 });
    for (block_bytes, blocks) in [(huge, 1), (1, huge), (huge, huge), (huge / 2, 2), (64, 1 << 30)] {
        assert_eq!(refused(&[(block_bytes, blocks)]), PoolError::TooLarge { block_bytes, blocks });
        assert!(refused(&[(8, 1), (block_bytes, blocks)]).to_string().contains("larger than memory can be"));
    }
    assert!(refused(&[]).to_string().contains("at least one class"));
    assert!(refused(&[(64, 0)]).to_string().contains("class of 64 bytes has no blocks"));
    assert!(Pool::zeroed(&[(0, 1)]).is_err());
}

#[cfg(target_pointer_width = "64")]
#[test]
fn more_memory_than_there_is_is_an_error_and_no_abort() {
    // More than any machine has addresses for.
    let asked = Pool::new(&[(1 << 20, 1 << 29)]).map(drop);
    assert!(matches!(asked, Err(PoolError::OutOfMemory { bytes }) if bytes > 1 << 49), "{asked:?}");
}

#[test]
fn the_smallest_class_with_room_is_chosen_and_no_other_is_borrowed() {
    let pool = Pool::new(&[(4_096, 2), (64, 2), (256, 1), (10, 3)]).unwrap();
    for (len, capacity) in [(0, 10), (10, 10), (11, 64), (64, 64), (65, 256), (256, 256), (257, 4_096), (4_096, 4_096)]
    {
        let message = pool.try_take(len).unwrap();
        assert_eq!((message.len(), message.capacity(), pool.capacity_for(len)), (len, capacity, Ok(capacity)));
    }
    let taken = pool.try_take(100).unwrap();
    assert!(pool.try_take(100).is_none() && pool.try_take(65).is_none());
    assert!(pool.try_take(64).is_some() && pool.try_take(257).is_some());
    drop(taken);
    assert!(pool.try_take(100).is_some());
}

#[test]
fn a_message_longer_than_the_bound_is_a_clear_error() {
    let pool = Pool::new(&[(64, 2), (100, 2)]).unwrap();
    assert_eq!((pool.bound(), pool.capacity_for(101)), (100, Err(TooLong { len: 101, bound: 100 })));
    let said = "a message of 101 bytes is longer than its bound of 100 bytes";
    assert_eq!(TooLong { len: 101, bound: 100 }.to_string(), said);
    assert_eq!(panics(|| drop(pool.try_take(101))), said);
    assert_eq!(panics(|| drop(pool.take(101))), said);
    assert_eq!(panics(|| drop(pool.take_timeout(101, std::time::Duration::ZERO))), said);
    assert!(panics(|| drop(pool.take(usize::MAX))).contains("longer than its bound"));
    assert_eq!(all(&pool, 100).len(), 2, "nothing was lost");
}

/// Claim: All blocks of a pool can be allocated, including those in the magazines of sleeping threads.
/// Also: suite pool::random::random_floods_leave_all_blocks_where_they_can_be_taken.
#[test]
fn all_blocks_can_be_taken_and_none_twice() {
    for blocks in [1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 5_000, 70_000] {
        let pool = pool_of(blocks);
        for round in 0..3 {
            let mut messages = all(&pool, 8);
            assert_eq!(messages.len(), blocks, "in round {round}");
            (0_u64..).zip(&mut messages).for_each(|(number, message)| message.copy_from_slice(&number.to_ne_bytes()));
            assert!((0_u64..).zip(&messages).all(|(number, message)| **message == number.to_ne_bytes()));
        }
    }
}

#[test]
fn blocks_in_other_threads_magazines_can_be_taken() {
    guarded(|| {
        for blocks in [1, 3, 16, 100, 1_000] {
            let pool = pool_of(blocks);
            let (gone, stays) = (std::sync::Barrier::new(9), std::sync::Barrier::new(9));
            let parts = all(&pool, 9);
            thread::scope(|scope| {
                let mut parts: Vec<Vec<Message>> =
                    parts.into_iter().enumerate().fold((0..8).map(|_| Vec::new()).collect(), |mut parts, (at, one)| {
                        let parts_len = parts.len();
                        Vec::push(&mut parts[at % parts_len], one);
                        parts
                    });
                for part in parts.drain(..) {
                    let (gone, stays) = (&gone, &stays);
                    scope.spawn(move || {
                        drop(part);
                        gone.wait();
                        // Alive, and idle, with what it has at hand.
                        stays.wait();
                    });
                }
                gone.wait();
                let taken = all(&pool, 9).len();
                stays.wait();
                assert_eq!(taken, blocks);
            });
        }
    });
}

/// More threads than several groups of magazines are for, each alive with a block at hand.
#[test]
fn blocks_in_the_magazines_of_hundreds_of_threads_can_be_taken() {
    const THREADS: usize = 200;
    guarded(|| {
        let pool = pool_of(THREADS);
        let messages = all(&pool, 9);
        let (gone, stays) = (std::sync::Barrier::new(THREADS + 1), std::sync::Barrier::new(THREADS + 1));
        thread::scope(|scope| {
            for message in messages {
                let (gone, stays) = (&gone, &stays);
                scope.spawn(move || {
                    drop(message);
                    gone.wait();
                    stays.wait();
                });
            }
            gone.wait();
            let taken = all(&pool, 9).len();
            stays.wait();
            assert_eq!(taken, THREADS);
        });
    });
}

#[test]
fn a_thread_that_ends_leaves_its_blocks() {
    let pool = pool_of(300);
    for _ in 0..50 {
        let messages: Vec<_> = (0..70).map(|_| pool.take(5)).collect();
        let other = pool.clone();
        thread::spawn(move || {
            drop(messages);
            let some: Vec<_> = (0..10).map(|_| other.take(5)).collect();
            drop(some);
        })
        .join()
        .unwrap();
    }
    assert_eq!(all(&pool, 5).len(), 300);
}

#[test]
fn more_pools_than_a_thread_has_caches() {
    let pools: Vec<_> = (0..100).map(|_| Pool::new(&[(10, 20), (100, 20)]).unwrap()).collect();
    for _ in 0..3 {
        let messages: Vec<_> = pools.iter().flat_map(|pool| [pool.take(10), pool.take(100)]).collect();
        assert_eq!(messages.len(), 200);
    }
    assert!(pools.iter().all(|pool| all(pool, 10).len() == 20 && all(pool, 100).len() == 20));
}

/// More classes than a thread has caches: some share one.
#[test]
fn a_pool_of_many_classes_gives_each_its_own_blocks() {
    for classes in [31, 32, 33, 64, 65, 100] {
        let sizes: Vec<_> = (1..=classes).map(|class| (class * 64, 1 + class % 5)).collect();
        let pool = Pool::new(&sizes).unwrap();
        assert_eq!((pool.stats().len(), pool.bound()), (classes, classes * 64));
        for round in 0..3 {
            // One of each, over and over: each takes the cache from the one before it.
            for &(bytes, _) in sizes.iter().chain(sizes.iter().rev()) {
                let message = pool.take(bytes);
                assert_eq!((message.len(), pool.capacity_for(bytes)), (bytes, Ok(bytes)));
            }
            let messages: Vec<_> = sizes.iter().map(|&(bytes, _)| all(&pool, bytes - 1)).collect();
            for (messages, (bytes, blocks)) in messages.iter().zip(&sizes) {
                assert_eq!(messages.len(), *blocks, "of {bytes} bytes, in round {round}");
            }
            assert!(sizes.iter().all(|&(bytes, _)| pool.try_take(bytes).is_none()));
            // Given back by another thread, and not in their order.
            thread::scope(|scope| scope.spawn(|| messages.into_iter().rev().for_each(drop)).join().unwrap());
        }
        assert!(sizes.iter().all(|&(bytes, blocks)| all(&pool, bytes).len() == blocks));
    }
}

#[test]
fn blocks_are_aligned() {
    for (bytes, align) in [(1, 8), (40, 8), (41, 8), (63, 8), (64, 64), (65, 64), (1_000, 64), (4_096, 64)] {
        let pool = Pool::new(&[(bytes, 10)]).unwrap();
        assert!(all(&pool, bytes).iter().all(|message| message.as_ptr().addr() % align == 0), "{bytes} bytes");
    }
}

#[test]
fn bytes_are_zeros_or_those_of_an_earlier_message() {
    let pool = pool_of(10);
    let mut messages = all(&pool, 100);
    assert!(messages.iter().all(|message| message.iter().all(|byte| *byte == 0)));
    messages.iter_mut().for_each(|message| message.fill(7));
    drop(messages);
    assert!(all(&pool, 100).iter().all(|message| message.iter().all(|byte| *byte == 7)));
}

#[test]
fn a_zeroed_pools_messages_are_zeros() {
    let pool = Pool::zeroed(&[(100, 10)]).unwrap();
    for len in [100, 10, 50, 100, 0, 100] {
        let mut messages = all(&pool, len);
        assert_eq!(messages.len(), 10);
        assert!(messages.iter().all(|message| message.iter().all(|byte| *byte == 0)));
        messages.iter_mut().for_each(|message| message.resize(100, 9).unwrap());
    }
}

#[test]
fn lengths_change_within_the_block() {
    let pool = pool_of(1);
    let mut message = pool.take(3);
    message.copy_from_slice(b"abc");
    message.resize(6, b'x').unwrap();
    assert_eq!(&*message, b"abcxxx");
    message.truncate(7);
    assert_eq!(&*message, b"abcxxx");
    message.truncate(2);
    assert_eq!(&*message, b"ab");
    assert_eq!(message.resize(101, 0), Err(TooLong { len: 101, bound: 100 }));
    assert_eq!((&*message, message.as_ref().len()), (&b"ab"[..], 2));
    message.resize(100, 0).unwrap();
    assert_eq!(&message[..4], b"ab\0\0");
    assert_eq!(format!("{message:?}"), "Message { len: 100, capacity: 100, .. }");
    message.resize(3, b'y').unwrap();
    assert_eq!(&*message, b"ab\0");
}

#[test]
fn an_address_is_a_message_again() {
    let pool = pool_of(1);
    let mut message = pool.take(3);
    message.copy_from_slice(b"abc");
    let first = message.into_raw();
    assert!(pool.try_take(1).is_none());
    let address = first.as_ptr().expose_provenance();
    let thread = thread::spawn(move || {
        let first = std::ptr::NonNull::new(std::ptr::with_exposed_provenance_mut(address)).unwrap();
        // SAFETY: the address of the message above, which was joined to nothing since.
        let message = unsafe { Message::from_raw(first) };
        assert_eq!(&*message, b"abc");
    });
    thread.join().unwrap();
    assert!(pool.try_take(1).is_some());
}

#[test]
fn statistics_tell_the_owners() {
    let pool = Pool::new(&[(64, 1_000), (8, 20)]).unwrap();
    let of = |class: usize| {
        let stats = pool.stats()[class];
        (stats.block_bytes, stats.blocks, stats.in_use, stats.high_water, stats.freed_elsewhere)
    };
    assert_eq!((of(0), of(1)), ((8, 20, 0, 0, 0), (64, 1_000, 0, 0, 0)));
    for _ in 0..3 {
        let messages: Vec<_> = (0..100).map(|_| pool.take(64)).collect();
        assert_eq!(of(1), (64, 1_000, 100, 100, 0));
        drop(messages);
        // What was freed last is taken first.
        assert_eq!(of(1), (64, 1_000, 0, 100, 0));
    }
    let messages: Vec<_> = (0..30).map(|_| pool.take(64)).collect();
    thread::spawn(move || drop(messages)).join().unwrap();
    assert_eq!((of(1).2, of(1).4), (0, 30));
    assert_eq!(of(0), (8, 20, 0, 0, 0));
    assert_eq!(format!("{pool:?}"), "Pool { classes: [(8, 20), (64, 1000)], .. }");
}
