//! A process that is forked while its channels are open and its threads use them. The child has the calling thread
//! alone and a copy of all memory: it may exit, or drop its copies; the parent goes on and notices nothing.
//!
//! Claim: A fork with open channels loses, duplicates or reorders no message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::pool::Pool;
use ysuite::signal::{Signal, Wait, YSocketpair};
use ysuite::{mpmc, spsc};

use super::flows::FAMILY;
use super::messages;
use super::support::guarded;
use super::support::process::{alone, forked_child_can};

#[test]
fn the_parent_goes_on_while_it_forks() {
    if !alone("forked::the_parent_goes_on_while_it_forks") {
        return;
    }
    for make in FAMILY {
        let mut children = 0;
        make(messages(1_000)).run(
            |_| {},
            |_| {
                // SAFETY: it does nothing at all.
                assert!(unsafe { forked_child_can(|| true) });
                children += 1;
            },
        );
        assert!(children > 0);
    }
}

/// The child drops its handles, and a set whose descriptor it shares, full of messages that are its own copies.
#[test]
fn a_child_that_drops_its_copies() {
    if !alone("forked::a_child_that_drops_its_copies") {
        return;
    }
    let (mut pipe, mut pipe_in) = spsc::unbounded();
    let (exchange, exchange_in) = mpmc::bounded(8);
    let mut set = YSocketpair::new().unwrap();
    set.attach(&mut pipe_in, 3).unwrap();
    (0..5).for_each(|number| pipe.send(number).unwrap());
    exchange.send_batch(0..5).unwrap();
    let mut all = Some((pipe, pipe_in, exchange, exchange_in, set));
    // SAFETY: this process has one thread more, the harness's, which waits; memory is freed, for which the C library prepares
    // its forks.
    assert!(unsafe { forked_child_can(|| all.take().is_some()) });
    let (mut pipe, mut pipe_in, exchange, exchange_in, mut set) = all.expect("the child has taken its copy");
    pipe.send(5).unwrap();
    assert_eq!(set.wait().collect::<Vec<_>>(), [3]);
    assert!(pipe_in.try_iter().eq(0..6) && exchange_in.try_iter().eq(0..5));
    drop(exchange);
    let signaler = set.signaler();
    let thread = thread::spawn(move || signaler.signal(7));
    assert_eq!(set.wait().collect::<Vec<_>>(), [7]);
    thread.join().unwrap();
}

/// Other threads take and give back at the moment of the fork, at any point of that: the child has what is in its copy,
/// takes, drops, and takes again what it has dropped.
///
/// Claim: A forked child may allocate and drop messages in its copy of a pool.
#[test]
fn a_child_takes_and_drops_messages_of_its_copy() {
    if !alone("forked::a_child_takes_and_drops_messages_of_its_copy") {
        return;
    }
    guarded(|| {
        let pool = Pool::new(&[(16, 64)]).unwrap();
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Acquire) {
                        let _some: [_; 7] = std::array::from_fn(|_| pool.try_take(9));
                    }
                });
            }
            // The child makes none of this thread's locals, which may allocate.
            let mut kept = Some(pool.take(9));
            for _ in 0..messages(50) {
                // SAFETY: this thread has used the pool before, so nothing is allocated, and the pool locks nothing.
                assert!(unsafe {
                    forked_child_can(|| {
                        drop(kept.take());
                        (0..20).all(|_| {
                            let some: [_; 8] = std::array::from_fn(|_| pool.try_take(9));
                            some.iter().flatten().count() >= 1
                        })
                    })
                });
                thread::sleep(Duration::from_micros(100));
            }
            over.store(true, Ordering::Release);
        });
        let all: [_; 64] = std::array::from_fn(|_| pool.try_take(9));
        assert_eq!(all.iter().flatten().count(), 64, "a child has taken the parent's");
    });
}
