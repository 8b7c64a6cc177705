//! Values in blocks.

use std::sync::Arc;
use std::thread;

use ysuite::pool::{Pool, PoolBox};

use super::{all, pool_of};
use crate::support::{Tally, panics};

#[test]
fn a_value_lives_in_its_block_and_ends_once() {
    let pool = pool_of(3);
    let tally = Tally::of(5);
    let boxes: Vec<_> = (0..3).map(|_| pool.try_boxed(tally.next()).unwrap_or_else(|_| panic!("exhausted"))).collect();
    let back = pool.try_boxed(tally.next()).map(|_| "a fourth").expect_err("only three");
    assert_eq!((boxes[2].number, back.number), (2, 3));
    thread::spawn(move || drop(boxes)).join().unwrap();
    drop(back);
    let inner = pool.boxed(tally.next()).into_inner();
    assert_eq!(inner.number, 4);
    assert_eq!(all(&pool, 1).len(), 3, "the blocks are back, the value is not");
    drop(inner);
    tally.assert_all_ended();
}

#[test]
fn a_value_whose_end_panics_gives_its_block_back() {
    let pool = pool_of(1);
    let tally = Tally::of(1);
    tally.explode(0);
    let boxed = pool.boxed(tally.next());
    panics(|| drop(boxed));
    assert!(pool.try_take(1).is_some());
}

#[test]
fn values_change_and_show() {
    let pool = pool_of(1);
    let mut boxed = pool.boxed(String::from("ab"));
    boxed.push('c');
    assert_eq!((format!("{boxed} {boxed:?}"), boxed.as_ref().len()), (String::from("abc \"abc\""), 3));
    let raw = boxed.into_raw();
    // SAFETY: the address of that box.
    assert_eq!(unsafe { PoolBox::from_raw(raw) }.into_inner(), "abc");
}

#[test]
fn values_share_as_a_box_does() {
    let pool = pool_of(8);
    let shared = Arc::new(pool.boxed(vec![1, 2, 3]));
    let sums: i32 = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| shared.iter().sum::<i32>())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(sums, 12);
}

#[repr(align(64))]
struct Aligned(u8);
#[repr(align(128))]
#[allow(dead_code)] // Never made.
struct TooAligned(u8);

#[test]
fn alignment_is_honoured_or_refused() {
    let pool = Pool::new(&[(16, 4), (64, 4), (200, 4)]).unwrap();
    let (byte, aligned) = (pool.boxed(1_u8), pool.boxed(Aligned(5)));
    let wide: PoolBox<u128> = pool.boxed(7);
    assert_eq!((*byte, aligned.0, *wide), (1, 5, 7));
    assert_eq!((&raw const *aligned).addr() % 64, 0);
    assert_eq!((&raw const *wide).addr() % align_of::<u128>(), 0);
    // 16 bytes have room for it, but are aligned to 8: that is enough for it on some machines, as s390x.
    let in_large = usize::from(align_of::<u128>() > 8);
    assert_eq!(pool.stats().map_in_use(), [2 - in_large, 1 + in_large, 0]);
    assert_eq!(*pool.boxed([3_u8; 200]), [3; 200]);
    assert!(panics(|| drop(pool.try_boxed(TooAligned(0)))).contains("aligned to 128, fits into no block"));
    assert!(panics(|| drop(pool.try_boxed([0_u8; 201]))).contains("a value of 201 bytes"));
    drop(pool.boxed(()));
}

/// Blocks in use, by class.
trait InUse {
    fn map_in_use(self) -> [usize; 3];
}

impl InUse for Vec<ysuite::pool::ClassStats> {
    fn map_in_use(self) -> [usize; 3] {
        [0, 1, 2].map(|class| self[class].in_use)
    }
}

#[test]
fn what_a_value_leaves_uninitialised_no_message_shows() {
    #[allow(dead_code)] // Only its padding is of interest.
    #[derive(Clone, Copy)]
    struct Padded(u8, u64, u8);
    let pool = pool_of(1);
    pool.take(100).fill(0xff);
    drop(pool.boxed(Padded(1, 2, 3)));
    let message = pool.take(100);
    // Bytes that may be uninitialised are zeros now; the others are the earlier message's.
    assert!(message[..size_of::<Padded>()].iter().all(|byte| *byte == 0));
    assert!(message[size_of::<Padded>()..].iter().all(|byte| *byte == 0xff));
}
