//! Thread caches, tested from inside: the magazines that a thread leaves in its depot, and those that it keeps.

use std::sync::{Arc, Weak};
use std::thread;

use super::super::class::Class;
use super::super::core::PoolCore;
use super::super::magazine::{Entry, ROUNDS};
use super::{ROW, put, put_past_locals, take, take_past_locals};

/// A pool with one class of `blocks` blocks.
fn pool(blocks: usize) -> Arc<PoolCore> {
    PoolCore::new(&[(8, blocks)], false).unwrap()
}

fn of(pool: &PoolCore) -> &Class {
    &pool.classes[0]
}

fn all(class: &Class) -> Vec<(Entry, u32)> {
    std::iter::from_fn(|| take(class)).collect()
}

fn put_all(class: &Class, taken: Vec<(Entry, u32)>) {
    taken.into_iter().for_each(|(entry, taker)| drop(put(class, entry, taker)));
}

/// Pools whose classes share a cache, with 512 blocks each: eight magazines.
fn sharing_a_cache(pools: usize) -> Vec<Arc<PoolCore>> {
    let mut found = vec![pool(8 * ROUNDS)];
    while found.len() < pools {
        let next = pool(8 * ROUNDS);
        if of(&next).index_in_row == of(&found[0]).index_in_row {
            found.push(next);
        }
    }
    found
}

#[test]
fn blocks_given_back_past_thread_locals_share_magazines() {
    let pool = pool(10_000);
    let class = of(&pool);
    let taken = all(class);
    assert_eq!(taken.len(), 10_000);
    let before = class.depot.claimed();
    taken.into_iter().for_each(|(entry, _)| drop(put_past_locals(class, entry)));
    assert_eq!(class.depot.claimed() - before, 10_000_usize.div_ceil(ROUNDS));
    assert_eq!((class.depot.len(), class.depot.elsewhere()), (10_000, 10_000));
    assert_eq!(all(class).len(), 10_000);
}

/// Claim: Blocks can be allocated, dropped and waited for during the destruction of thread-locals.
/// Also: suite pool::endings::messages_are_taken_and_dropped_while_a_thread_ends.
#[test]
fn blocks_taken_past_thread_locals_leave_no_empty_magazines() {
    let pool = pool(8 * ROUNDS);
    let class = of(&pool);
    let before = class.depot.claimed();
    for _ in 0..40 * ROUNDS {
        let entry = take_past_locals(class).expect("all are there");
        drop(put_past_locals(class, entry));
        assert!(class.depot.claimed() <= before + 1);
    }
    let taken: Vec<_> = std::iter::from_fn(|| take_past_locals(class)).collect();
    assert_eq!((taken.len(), class.depot.claimed()), (8 * ROUNDS, 0));
    taken.into_iter().for_each(|entry| drop(put_past_locals(class, entry)));
    assert_eq!(all(class).len(), 8 * ROUNDS);
}

#[test]
fn across_the_edge_of_a_magazine_the_depot_is_left_alone() {
    let pool = pool(8 * ROUNDS);
    let class = of(&pool);
    let mut taken = all(class);
    for out in 1..4 * ROUNDS {
        drop(taken.pop().and_then(|(entry, taker)| put(class, entry, taker)));
        // The first time may offer a magazine, or adopt one.
        let mut there = None;
        for _ in 0..3 {
            for number in 1..4 {
                put_all(class, taken.split_off(taken.len() - number));
                taken.extend((0..number).map(|_| take(class).expect("as many as were given back")));
            }
            let state = (class.depot.offered(), class.depot.claimed());
            assert_eq!(*there.get_or_insert(state), state, "with {out} taken");
        }
    }
}

#[test]
fn what_was_given_back_last_is_taken_first_across_the_edge_of_a_magazine_too() {
    let pool = pool(8 * ROUNDS);
    let class = of(&pool);
    let mut taken = all(class);
    for out in 1..4 * ROUNDS {
        drop(taken.pop().and_then(|(entry, taker)| put(class, entry, taker)));
        for number in 1..4 {
            let given = taken.split_off(taken.len() - number);
            put_all(class, given.clone());
            taken.extend((0..number).map(|_| take(class).expect("as many as were given back")));
            let newest = taken.iter().rev().take(number).map(|(entry, _)| *entry);
            assert!(newest.eq(given.iter().map(|(entry, _)| *entry)), "{number} blocks, with {out} given back before");
        }
    }
}

#[test]
fn two_classes_that_share_a_cache_both_stay() {
    let pools = sharing_a_cache(2);
    for _ in 0..3 {
        for pool in &pools {
            let (entry, taker) = take(of(pool)).unwrap();
            assert_eq!(of(pool).depot.offered(), 7, "one is in the cache");
            drop(put(of(pool), entry, taker));
        }
    }
}

#[test]
fn a_third_class_pushes_out_what_was_used_before_the_others() {
    let pools = sharing_a_cache(3);
    let offered = || [0, 1, 2].map(|at| of(&pools[at]).depot.offered());
    for (at, expected) in [(0, [7, 8, 8]), (1, [7, 7, 8]), (0, [7, 7, 8]), (2, [7, 8, 7]), (1, [8, 7, 7])] {
        let (entry, taker) = take(of(&pools[at])).unwrap();
        drop(put(of(&pools[at]), entry, taker));
        assert_eq!(offered(), expected, "after class {at}");
    }
    assert!(pools.iter().all(|pool| all(of(pool)).len() == 8 * ROUNDS));
}

#[test]
fn a_thread_that_ends_gives_back_its_empty_magazines() {
    let pool = pool(8);
    let taken: Vec<_> = (0..8).map(|_| thread::scope(|scope| scope.spawn(|| take(of(&pool))).join())).collect();
    assert!(taken.into_iter().all(|taken| taken.unwrap().is_some()));
    assert_eq!(of(&pool).depot.claimed(), 0);
}

/// Claim: Threads that come and go share the magazines of a pool.
#[test]
fn threads_that_come_and_go_share_magazines() {
    let pool = pool(1_000);
    let class = of(&pool);
    let taken = all(class);
    let before = class.depot.claimed();
    for one in taken {
        thread::scope(|scope| scope.spawn(|| put_all(of(&pool), vec![one])).join()).unwrap();
    }
    assert_eq!(class.depot.claimed() - before, 1_000_usize.div_ceil(ROUNDS));
    assert_eq!(all(class).len(), 1_000);
}

#[test]
fn a_thread_gives_back_what_is_its_own_and_what_another_has_taken_from_its_first_block_on() {
    let pool = pool(8 * ROUNDS);
    // Threads that have used no depot before.
    let others = thread::scope(|scope| scope.spawn(|| take(of(&pool)).unwrap()).join()).unwrap();
    let give_back = || {
        // Out of several magazines; the last of them has room.
        let own: Vec<_> = (0..2 * ROUNDS).map(|_| take(of(&pool)).unwrap()).collect();
        put_all(of(&pool), vec![others]);
        put_all(of(&pool), own);
    };
    thread::scope(|scope| scope.spawn(give_back).join()).unwrap();
    assert_eq!(of(&pool).depot.elsewhere(), 1);
}

#[test]
fn the_tables_of_a_pool_that_has_ended_go_when_the_thread_uses_another() {
    let ended = pool(1);
    let (entry, taker) = take(of(&ended)).unwrap();
    let tables: Weak<PoolCore> = Arc::downgrade(&ended);
    ended.remove_handle();
    // By another thread: this thread, which has a cache, does not notice.
    thread::scope(|scope| scope.spawn(|| drop(put(of(&ended), entry, taker))).join()).unwrap();
    drop(ended);
    assert!(tables.upgrade().is_some(), "a cache keeps them");
    let others: Vec<_> = (0..ROW).map(|_| pool(1)).collect();
    assert!(take(of(&others[0])).is_some());
    assert!(tables.upgrade().is_none(), "they are gone");
}

#[test]
fn after_the_last_handle_a_message_that_ends_finds_little_to_gather() {
    let pool = pool(100_000);
    let class = of(&pool);
    let mut taken = all(class);
    let late = taken.split_off(50_000);
    put_all(class, taken);
    assert!(class.depot.claimed() > 700);
    pool.remove_handle();
    for (entry, taker) in late {
        drop(put(class, entry, taker));
        // Two of this thread's, and one that it has just offered.
        assert!(class.depot.claimed() <= 3 && class.depot.marked() <= 3);
    }
    assert!(pool.is_over());
}
