//! Pools within an allocator that uses pools itself: a thread that has lost a cache for another pool may have had the
//! last share of a dropped pool's tables in it, and those are freed.
//!
//! Claim: Each block has one owner, also when the allocator returns blocks from a pool that is being freed.

use std::cell::Cell;
use std::collections::HashSet;
use std::{iter, mem, thread};

use ysuite::pool::{Message, Pool};

use crate::counting::{at_the_next_allocation, at_the_next_free, has_been_called, held};

/// As many classes as a thread has slots for caches: each pool has one in every slot.
const CLASSES: usize = 32;
const BLOCKS: usize = 64;

thread_local! {
    static OTHER: Cell<Option<&'static Pool>> = const { Cell::new(None) };
    static LATE: Cell<Option<Message>> = const { Cell::new(None) };
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

/// Every block of this class once, except those that are out for ever.
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

/// How much the first thread holds that has no magazine left for its block: it makes more of them. All before it are
/// alive, with a magazine each. `interrupted`: as it makes them, the allocator gives another block back, for which it
/// makes some first.
fn more_magazines(pool: &Pool, [one, other]: [Message; 2], interrupted: bool) -> i64 {
    let work = move || {
        // What is the thread's own is registered before anything is counted.
        LATE.set(Some(other));
        assert!(pool.try_take(64).is_none());
        if interrupted {
            at_the_next_allocation(|| drop(LATE.take()));
        }
        let before = held();
        drop(one);
        let grown = held() - before;
        if grown == 0 {
            let both = [pool.try_take(64), LATE.take()].map(|message| message.expect("a block"));
            return more_magazines(pool, both, interrupted);
        }
        assert_eq!(LATE.take().is_none(), interrupted);
        grown
    };
    thread::scope(|scope| scope.spawn(work).join().expect("a thread"))
}

#[test]
fn the_second_to_make_more_magazines_frees_its_own() {
    let grown = [false, true].map(|interrupted| {
        let pool = Pool::new(&[(64, 2)]).expect("memory");
        let both = [(); 2].map(|()| pool.try_take(64).expect("a block"));
        let grown = more_magazines(&pool, both, interrupted);
        assert_eq!(iter::from_fn(|| pool.try_take(64)).collect::<Vec<_>>().len(), 2);
        grown
    });
    assert_eq!(grown[0], grown[1]);
}
