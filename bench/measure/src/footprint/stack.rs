//! The stack that a call needs: a thread paints its own stack, makes the call, and looks how far down the paint is gone.
//!
//! ```text
//!   this frame | 16 KiB for the painter | painted .......................... | not painted | guard page
//!                                        <---- gone ---->|<-- still there -->
//! ```
//!
//! Cannot: see a buffer that the call has reserved beyond its deepest write, or memory that is no stack.

use std::hint::black_box;
use std::io;
use std::thread;

/// The whole stack, and what is left unpainted at both of its ends: for the painter, and for what the system has put on the
/// stack of a thread before its first frame.
const STACK: usize = 16 << 20;
const ABOVE: usize = 16 << 10;
const BELOW: usize = 256 << 10;

const PAINT: u8 = 0xA5;

/// Paint is looked at in words.
const WORD: usize = size_of::<u64>();

/// Bytes of stack that `call` used. At least `ABOVE`: what takes less cannot be told apart.
pub fn used(call: fn()) -> io::Result<usize> {
    let painted = thread::Builder::new().stack_size(STACK).spawn(move || below_this_frame(call))?;
    painted.join().map_err(|_| io::Error::other("the call panicked"))
}

#[inline(never)]
fn below_this_frame(call: fn()) -> usize {
    let here = 0u8;
    let top = (&raw const here).expose_provenance().next_multiple_of(WORD);
    let (low, high) = (top - (STACK - BELOW), top - ABOVE);
    paint(low, high);
    // Never inlined: then this frame would be larger than what is left above the paint.
    black_box(call)();
    black_box(&here);
    top - deepest(low, high)
}

#[inline(never)]
fn paint(low: usize, high: usize) {
    // SAFETY: the bytes from `low` to `high` are of this thread's stack, which has `STACK` bytes and begins less than `BELOW`
    // bytes above; and they are below all frames: those of this function and of what it calls take less than `ABOVE`.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(low).write_bytes(PAINT, high - low) };
}

/// The lowest word whose paint is gone, or `high`.
#[inline(never)]
fn deepest(low: usize, high: usize) -> usize {
    let paint = u64::from_ne_bytes([PAINT; WORD]);
    // SAFETY: as in `paint`. Each of these bytes was written there or later.
    let gone = |word: &usize| unsafe { std::ptr::with_exposed_provenance::<u64>(*word).read_volatile() } != paint;
    (low..high).step_by(WORD).find(gone).unwrap_or(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_on_the_stack_is_seen() {
        fn takes<const BYTES: usize>() {
            black_box([1u8; BYTES]);
        }
        let few = used(takes::<100_000>).unwrap();
        let many = used(takes::<900_000>).unwrap();
        // The array itself, and a copy of it where nothing is optimised.
        assert!((100_000..400_000).contains(&few), "{few}");
        assert!((900_000..3_000_000).contains(&many), "{many}");
        assert!(used(|| {}).unwrap() <= ABOVE);
    }
}
