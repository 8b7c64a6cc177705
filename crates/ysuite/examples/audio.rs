//! A real-time thread, as in audio: a callback that has to fill its frames in time, whatever other threads do. Of
//! channels and pool it uses only `try_...` and `len`, which never block. It allocates and frees nothing: the example
//! counts that. A sleeping reader costs the callback one system call, to wake it; a reader that polls now and then
//! costs none.
//!
//! `cargo run --release -p ysuite --example audio`

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{cell::Cell, mem, thread, time::Duration};

use ysuite::{pool::Pool, spsc};

const BLOCKS: usize = 32;
type Frames = [f32; 64];
type Sound = (f32, Frames); // a gain and a wave
static ON: AtomicBool = AtomicBool::new(true);

thread_local!(static ALLOCATOR_CALLS: Cell<usize> = const { Cell::new(0) });
#[global_allocator]
static COUNTING: Counting = Counting;
struct Counting;
// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATOR_CALLS.set(ALLOCATOR_CALLS.get() + 1);
        // SAFETY: the arguments are passed on unchanged.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        ALLOCATOR_CALLS.set(ALLOCATOR_CALLS.get() + 1);
        // SAFETY: the arguments are passed on unchanged.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn main() {
    let pool = Pool::new(&[(size_of::<(usize, Frames)>(), BLOCKS)]).expect("memory");
    let ((mut sounds, mut sounds_in), (mut spent, mut spent_in)) = (spsc::bounded(4), spsc::bounded::<Box<Sound>>(4));
    let ((mut peaks, mut peaks_in), (mut blocks, mut blocks_in)) = (spsc::bounded(4), spsc::bounded(BLOCKS));
    let (mut sound, warm) = (Box::new((1.0, [1.0; 64])), pool.clone());

    let mut callback = move |number: usize, output: &mut Frames| {
        // A sound that is replaced is freed on another thread. Without room to return it, the new one waits.
        for new in sounds_in.try_iter().take(4 - spent.len()) {
            // If no thread is left to free it, losing it is better than freeing it here.
            spent.try_send(mem::replace(&mut sound, new)).unwrap_or_else(mem::forget);
        }
        *output = sound.1.map(|frame| frame * sound.0);
        // A meter that is late misses this peak and sees the next.
        let _ = peaks.try_send(output.iter().fold(0.0_f32, |peak, frame| peak.max(frame.abs())));
        // Without a block, or room for it, this buffer is not recorded.
        pool.try_boxed((number, *output)).is_ok_and(|block| blocks.try_send(block).is_ok())
    };
    let card = thread::spawn(move || {
        drop(warm.try_boxed(0)); // a thread's first use of a pool registers it there
        let (mut callbacks, mut overruns, mut output) = (0, 0, [0.0; 64]);
        while ON.load(Ordering::Relaxed) {
            let before = ALLOCATOR_CALLS.get();
            overruns += usize::from(!callback(callbacks, &mut output));
            assert_eq!(ALLOCATOR_CALLS.get(), before, "nothing is allocated or freed");
            callbacks += 1;
            thread::sleep(Duration::from_micros(300)); // the card's clock
        }
        (callbacks, overruns)
    });

    // The recorder starts late: after `BLOCKS + 2` peaks, at least one callback more than there are blocks has
    // finished.
    assert!(peaks_in.iter().take(BLOCKS + 2).all(|peak| peak == 1.0));
    let recorder = thread::spawn(move || blocks_in.iter().map(|block| block.0).collect::<Vec<_>>());
    for (gain, level, peak) in [(0.5, 1.0, 0.5), (0.5, 0.5, 0.25)] {
        sounds.send(Box::new((gain, [level; 64]))).expect("a card");
        peaks_in.iter().find(|&now| now == peak).expect("the new sound is heard");
        drop(spent_in.recv().expect("the old sound"));
    }
    ON.store(false, Ordering::Relaxed);
    let ((callbacks, overruns), recorded) = (card.join().expect("a card"), recorder.join().expect("a recorder"));
    assert!(overruns > 0 && recorded.len() + overruns == callbacks && recorded.is_sorted_by(|one, next| one < next));
    println!("{callbacks} callbacks, {} blocks recorded, {overruns} dropped", recorded.len());
}
