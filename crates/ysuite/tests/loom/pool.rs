//! The pool under the model checker: magazines that change owners, blocks taken out of another thread's magazine,
//! takers that sleep, and the drop. Magazines have two slots here, and a class of four blocks has two magazines. The
//! library itself checks that each block has one owner at a time, and that the owner sees what the last one has done.

use std::time::Duration;

use loom::future::block_on;
use loom::thread;
use ysuite::pool::{Message, Pool};

use crate::model_up_to;

/// A pool of `blocks` blocks, all taken by this thread.
fn exhausted(blocks: usize) -> (Pool, Vec<Message>) {
    let pool = Pool::new(&[(8, blocks)]).unwrap();
    let messages = (0..blocks).map(|_| pool.try_take(1).expect("all blocks can be taken")).collect();
    assert!(pool.try_take(1).is_none());
    (pool, messages)
}

/// Takes all free blocks.
fn all(pool: &Pool) -> Vec<Message> {
    std::iter::from_fn(|| pool.try_take(1)).collect()
}

/// Claim: A magazine can change owners: one thread fills it, others take, steal from or adopt it.
/// Also: unit pool::magazine::tests::a_magazine_is_calmed_when_no_thief_is_at_work,
/// stress pool::magazines_change_hands.
#[test]
fn a_magazine_filled_by_one_thread_against_a_take_by_another() {
    model_up_to(3, || {
        let (pool, messages) = exhausted(4);
        // Three blocks: a full magazine goes to the depot, and one magazine stays with the thread.
        let thread = thread::spawn(move || messages.into_iter().take(3).for_each(drop));
        let mut mine = Vec::from_iter(pool.try_take(1));
        thread.join().unwrap();
        mine.extend(all(&pool));
        // The fourth block was freed with the iterator.
        assert_eq!(mine.len(), 4);
    });
}

/// Claim: A pool block has one owner at a time, which sees what the previous owner did.
/// Also: suite pool::random::random_operations_of_several_threads_come_out_even, stress pool::one_block_for_all.
#[test]
fn a_block_at_hand_goes_to_its_owner_or_to_a_thief() {
    model_up_to(3, || {
        let (pool, mut messages) = exhausted(4);
        drop(messages.pop());
        let thief = pool.clone();
        let thread = thread::spawn(move || thief.try_take(1));
        let mine = pool.try_take(1);
        let theirs = thread.join().unwrap();
        assert_eq!(u8::from(mine.is_some()) + u8::from(theirs.is_some()), 1);
    });
}

#[test]
fn an_owner_that_takes_and_gives_back_against_a_thief() {
    model_up_to(3, || {
        let (pool, mut messages) = exhausted(4);
        drop((messages.pop(), messages.pop()));
        let thief = pool.clone();
        let thread = thread::spawn(move || thief.try_take(1).expect("two are free, and one thread takes one"));
        for _ in 0..2 {
            let mine = pool.try_take(1);
            assert!(mine.is_some());
        }
        let theirs = thread.join().unwrap();
        assert_eq!(all(&pool).len(), 1);
        drop(theirs);
    });
}

/// Claim: An allocation without a block of its own steals one without waiting for a preempted owner.
/// Also: suite pool::blocks_in_other_threads_magazines_can_be_taken.
#[test]
fn two_thieves_and_the_owner() {
    model_up_to(2, || {
        let (pool, mut messages) = exhausted(4);
        drop((messages.pop(), messages.pop()));
        let threads = [pool.clone(), pool.clone()].map(|thief| thread::spawn(move || thief.try_take(1)));
        let mine = pool.try_take(1);
        let taken = threads.map(|thread| thread.join().unwrap());
        assert_eq!(taken.iter().flatten().count() + usize::from(mine.is_some()), 2);
    });
}

#[test]
fn a_magazine_taken_from_is_adopted_and_calmed() {
    // Three preemptions take 583,446 executions, two minutes.
    model_up_to(2, || {
        let (pool, mut messages) = exhausted(4);
        // A thread that ends leaves what it has to the depot: now a full magazine is there, and one that is not.
        let given: Vec<_> = messages.drain(..3).collect();
        thread::spawn(move || drop(given)).join().unwrap();
        let thief = pool.clone();
        let thread = thread::spawn(move || (thief.try_take(1), thief.try_take(1)));
        let mine = (pool.try_take(1), pool.try_take(1));
        let theirs = thread.join().unwrap();
        let taken = [mine.0, mine.1, theirs.0, theirs.1];
        assert_eq!(taken.iter().flatten().count() + all(&pool).len(), 3);
    });
}

/// The first message of each that is dropped searches for a magazine with room, and there is one, with room for one.
#[test]
fn two_threads_whose_first_messages_go_into_one_magazine() {
    model_up_to(3, || {
        let (pool, mut messages) = exhausted(4);
        let first = messages.pop();
        thread::spawn(move || drop(first)).join().unwrap();
        let message = messages.pop();
        let other = thread::spawn(move || drop(message));
        let message = messages.pop();
        thread::spawn(move || drop(message)).join().unwrap();
        other.join().unwrap();
        assert_eq!(all(&pool).len(), 3);
    });
}

/// Claim: A freed block wakes an allocation that waits for one.
/// Also: suite pool::waiting::all_waiters_get_their_turn, stress pool::a_block_or_two_for_each_thread.
#[test]
fn a_starving_taker_against_a_freeing_thread() {
    model_up_to(3, || {
        let (pool, mut messages) = exhausted(1);
        messages[0][0] = 7;
        let thread = thread::spawn(move || drop(messages));
        assert_eq!(pool.take(1)[0], 7);
        thread.join().unwrap();
    });
}

#[test]
fn two_starving_takers_and_one_block() {
    model_up_to(2, || {
        let (pool, messages) = exhausted(1);
        let other = pool.clone();
        let thread = thread::spawn(move || drop(other.take(1)));
        drop(messages);
        drop(pool.take(1));
        thread.join().unwrap();
    });
}

#[test]
fn a_starving_taker_against_one_that_takes_and_gives_back() {
    model_up_to(2, || {
        let (pool, mut messages) = exhausted(2);
        drop(messages.pop());
        let other = pool.clone();
        // The first thread that finds the block takes it. Where the other one has it and gives it back, the taker that
        // waits must be woken.
        let thread = thread::spawn(move || drop(other.try_take(1)));
        let mine = pool.take(1);
        thread.join().unwrap();
        drop((mine, messages));
    });
}

/// Claim: An allocation that times out passes its notification on.
/// Also: unit pool::class::tests::a_taker_passes_on_as_many_calls_as_there_are_blocks,
/// suite pool::waiting::time_runs_out.
#[test]
fn a_taker_whose_time_is_up_against_one_that_frees_and_waits() {
    model_up_to(2, || {
        let (pool, messages) = exhausted(1);
        let hasty = pool.clone();
        let thread = thread::spawn(move || drop(hasty.take_timeout(1, Duration::from_secs(1))));
        // The taker that is notified here may have timed out, or takes the block and gives it back.
        drop(messages);
        drop(pool.take(1));
        thread.join().unwrap();
    });
}

/// Claim: The last handle or message frees the memory of a pool once, whichever is dropped last.
/// Also: suite pool::endings::the_pool_and_its_last_messages_end_at_once.
#[test]
fn the_last_message_against_the_pools_end() {
    // Memory that is not freed shows as a leak of its reference count.
    model_up_to(3, || {
        let (pool, messages) = exhausted(2);
        let thread = thread::spawn(move || drop(messages));
        drop(pool);
        thread.join().unwrap();
    });
}

#[test]
fn the_last_two_messages_and_the_pools_end() {
    model_up_to(2, || {
        let (pool, mut messages) = exhausted(2);
        let message = messages.pop();
        let threads = [thread::spawn(move || drop(messages)), thread::spawn(move || drop(message))];
        drop(pool);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Claim: A thread that ends leaves its blocks to the other threads.
/// Also: unit pool::thread_cache::tests::a_thread_that_ends_gives_back_its_empty_magazines,
/// suite pool::a_thread_that_ends_leaves_its_blocks.
#[test]
fn a_thread_that_ends_leaves_its_blocks_to_a_starving_taker() {
    model_up_to(3, || {
        let (pool, mut messages) = exhausted(4);
        let (message, other) = (messages.pop().unwrap(), pool.clone());
        let thread = thread::spawn(move || {
            drop(message);
            let again = other.try_take(1);
            drop(other);
            drop(again);
        });
        drop(pool.take(1));
        thread.join().unwrap();
    });
}

/// Claim: A pool is freed with its last handle and message, also if another handle and its message were dropped before.
#[test]
fn a_message_and_a_handle_that_go_before_the_last_handle() {
    // A block that the last handle does not find among the free ones is never gathered, and the memory leaks.
    model_up_to(3, || {
        let pool = Pool::new(&[(8, 1)]).unwrap();
        let other = pool.clone();
        let thread = thread::spawn(move || {
            drop(other.try_take(1));
            drop(other);
        });
        drop(pool);
        thread.join().unwrap();
    });
}

/// Claim: No wake-up of a task that waits for a block is lost, whichever of two tasks gives up.
/// Also: suite pool::tasks::tasks_and_threads_share_what_there_is.
#[test]
fn a_block_given_back_against_tasks_that_wait() {
    model_up_to(2, || {
        let (pool, mut messages) = exhausted(1);
        let others = [(); 2].map(|()| pool.clone());
        let threads = others.map(|pool| thread::spawn(move || drop(block_on(pool.take_async(1)))));
        drop(messages.pop());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(all(&pool).len(), 1);
    });
}
