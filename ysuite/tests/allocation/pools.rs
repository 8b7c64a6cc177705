//! Pools in the hands of an allocator that uses pools itself: whoever has lost a cache for another pool may have had the last share of
//! an ended pool's tables in it, and those are freed.

use std::cell::Cell;
use std::collections::HashSet;
use std::{iter, mem, thread};

use ysuite::pool::{Message, Pool};

use crate::counting::{at_the_next_free, has_been_called};

/// As many classes as a thread has places for caches: each pool has one in every place.
const CLASSES: usize = 32;
const BLOCKS: usize = 64;

thread_local! {
    static OTHER: Cell<Option<&'static Pool>> = const { Cell::new(None) };
}

fn pool() -> Pool {
    let classes: Vec<_> = (1..=CLASSES).map(|number| (64 * number, BLOCKS)).collect();
    Pool::new(&classes).expect("memory")
}

/// Takes a block of each class, so that this pool has a cache in every place.
fn use_all(pool: &Pool, mut end: impl FnMut(Message)) {
    (1..=CLASSES).for_each(|number| end(pool.try_take(64 * number).expect("a block")));
}

/// This thread's caches are those of a pool that has ended, and at the next free the allocator takes them for another.
fn caches_of_an_ended_pool() {
    let ended = pool();
    use_all(&ended, drop);
    drop(ended);
    OTHER.set(Some(Box::leak(Box::new(pool()))));
    at_the_next_free(|| use_all(OTHER.get().expect("a pool"), mem::forget));
}

/// Every block of this class once, but for those that are out for ever.
fn assert_one_owner_each(pool: &Pool, taken: &[Message], out: usize) {
    let more: Vec<Message> = iter::from_fn(|| pool.try_take(64)).collect();
    let places: HashSet<_> = taken.iter().chain(&more).map(|message| message.as_ptr()).collect();
    assert_eq!((taken.len() + more.len(), places.len()), (BLOCKS - out, BLOCKS - out));
}

#[test]
fn an_allocator_that_takes_blocks_as_it_frees_leaves_each_block_with_one_owner() {
    let pool = pool();
    caches_of_an_ended_pool();
    let first = pool.try_take(64).expect("a block");
    assert!(has_been_called());
    assert_one_owner_each(&pool, &[first], 0);
}

#[test]
fn an_allocator_that_takes_blocks_as_it_frees_leaves_a_block_to_its_own_pool() {
    let pool = pool();
    let block = thread::scope(|scope| scope.spawn(|| pool.try_take(64).expect("a block")).join().expect("a thread"));
    caches_of_an_ended_pool();
    drop(block);
    assert!(has_been_called());
    assert_one_owner_each(&pool, &[], 0);
    // The allocator has kept one.
    assert_one_owner_each(OTHER.get().expect("a pool"), &[], 1);
}
