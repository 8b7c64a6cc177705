//! A pipeline with back-pressure: blocks are read, enciphered by several workers, and written in their original order.
//! Each stage waits for the next if a channel is full. But all blocks that are finished after one slow block wait for
//! it, and no channel bounds their number. So blocks come from a pool, and the reader waits for a free one. `cargo run
//! --release -p ysuite --example pipeline`

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use ysuite::pool::{Message, Pool};
use ysuite::{mpmc, mpsc};

const BLOCKS: usize = 2_000;
const LEN: usize = 1_024;
const BATCH: usize = 8;
/// The largest number of blocks under way, in all stages.
const UNDER_WAY: usize = 32;
type Numbered = (usize, Message);

/// The slow stage, and uneven: some blocks take a hundred times as long as others. (This cipher is not secure.)
fn encipher(number: usize, block: &mut [u8]) {
    let mut key = number as u64 | 1 << 40;
    for byte in (0..if number % 200 == 0 { 200 } else { 2 }).flat_map(|_| 0..LEN) {
        key ^= key << 13 ^ key >> 7;
        block[byte] ^= (key >> 20) as u8;
    }
}

/// Returns the largest number of blocks under way.
fn read(pool: &Pool, work: mpmc::Sender<Numbered>, under_way: &AtomicUsize) -> usize {
    let mut most = 0;
    for first in (0..BLOCKS).step_by(BATCH) {
        let batch = (first..first + BATCH).map(|number| {
            // Waits while all are under way.
            let mut block = pool.take(LEN);
            most = most.max(under_way.fetch_add(1, Ordering::Relaxed) + 1);
            block.fill(number as u8);
            (number, block)
        });
        work.send_batch(batch.collect::<Vec<_>>()).expect("a worker");
    }
    most
}

fn work(work: mpmc::Receiver<Numbered>, mut done: mpsc::Sender<Numbered>) {
    let mut batch = Vec::with_capacity(BATCH);
    while work.recv_batch(&mut batch, BATCH).is_ok() {
        batch.iter_mut().for_each(|(number, block)| encipher(*number, block));
        done.send_batch(batch.drain(..)).expect("a writer");
    }
}

fn main() {
    let (pool, under_way) = (Pool::new(&[(LEN, UNDER_WAY)]).expect("memory"), AtomicUsize::new(0));
    let ((to_work, work_in), (to_write, mut done)) = (mpmc::bounded(16), mpsc::bounded(BATCH));
    let (mut written, mut early) = (Vec::new(), BTreeMap::new());
    let most = thread::scope(|scope| {
        let reader = scope.spawn(|| read(&pool, to_work, &under_way));
        for (work_in, to_write) in (0..3).map(|_| (work_in.clone(), to_write.clone())) {
            scope.spawn(move || work(work_in, to_write));
        }
        drop((work_in, to_write));
        for (number, block) in done.iter() {
            early.insert(number, block);
            while let Some(block) = early.remove(&(written.len() / LEN)) {
                written.extend_from_slice(&block);
                // Before the block is free, or it could be counted twice.
                under_way.fetch_sub(1, Ordering::Relaxed);
            }
        }
        reader.join().expect("a reader")
    });
    assert!(most <= UNDER_WAY && early.is_empty() && written.len() == BLOCKS * LEN);
    for (number, block) in written.chunks_mut(LEN).enumerate() {
        encipher(number, block); // once more, and it is plain again
        assert!(block.iter().all(|&byte| byte == number as u8));
    }
    println!("{BLOCKS} blocks in order, {most} under way at most");
}
