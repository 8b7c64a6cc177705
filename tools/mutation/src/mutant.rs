//! Which mutant is enabled. `mutation` puts this file into the copy of the library that it writes; nothing else
//! compiles it.
//!
//! The environment decides, once for the process:
//!
//! * `YSUITE_MUTANT=N`: mutant N is enabled.
//! * `YSUITE_MUTANT=list`: no mutant is enabled. For each mutant that is reached, its byte in the file
//!   `YSUITE_MUTANT_REACHED` becomes 1.

use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, Ordering};

const NONE: u32 = u32::MAX;
const LIST: u32 = u32::MAX - 1;

/// A mutant's number, or one of the above.
static ENABLED: AtomicU32 = AtomicU32::new(NONE);

/// The mapped file, with a byte for each mutant.
static REACHED: AtomicPtr<AtomicU8> = AtomicPtr::new(std::ptr::null_mut());

/// Runs before `main`: tests that count allocations, descriptors or system calls see none of this.
#[used]
#[unsafe(link_section = ".init_array")]
static READ_ENVIRONMENT: extern "C" fn() = read_environment;

extern "C" fn read_environment() {
    let Ok(enabled) = std::env::var("YSUITE_MUTANT") else { return };
    if enabled != "list" {
        // ORDERING: Relaxed; there is no other thread yet.
        ENABLED.store(enabled.parse().expect("YSUITE_MUTANT is `list` or a number"), Ordering::Relaxed);
        return;
    }
    let path = std::env::var_os("YSUITE_MUTANT_REACHED").expect("YSUITE_MUTANT_REACHED names a file");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).expect("the file is there");
    let length = file.metadata().expect("the file has a length").len();
    let protection = rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE;
    // SAFETY: a new map, at a place that the kernel chooses.
    let map = unsafe {
        let length = usize::try_from(length).expect("a length");
        rustix::mm::mmap(std::ptr::null_mut(), length, protection, rustix::mm::MapFlags::SHARED, &file, 0)
    };
    // ORDERING: Relaxed; there is no other thread yet.
    REACHED.store(map.expect("the file can be mapped").cast(), Ordering::Relaxed);
    // ORDERING: Relaxed; as above.
    ENABLED.store(LIST, Ordering::Relaxed);
}

/// Whether this mutant is enabled.
#[inline]
pub(crate) fn is(mutant: u32) -> bool {
    // ORDERING: Relaxed; it does not change after `main` has begun.
    let enabled = ENABLED.load(Ordering::Relaxed);
    if enabled == LIST {
        reached(mutant);
    }
    enabled == mutant
}

#[cold]
fn reached(mutant: u32) {
    // SAFETY: the file is longer than the largest number of a mutant, and stays mapped.
    // ORDERING: Relaxed; as above.
    let reached = unsafe { &*REACHED.load(Ordering::Relaxed).add(mutant as usize) };
    // ORDERING: Relaxed; it is read only when the process has ended.
    reached.store(1, Ordering::Relaxed);
}

/// Numbers that mutants change.
pub(crate) trait Integer: Copy {
    fn one_more(self) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($integer:ty)*) => {
        $(
            impl Integer for $integer {
                fn one_more(self) -> Self {
                    self.wrapping_add(1)
                }
                fn plus(self, other: Self) -> Self {
                    self + other
                }
                fn minus(self, other: Self) -> Self {
                    self - other
                }
            }
        )*
    };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

#[inline]
pub(crate) fn off<I: Integer>(mutant: u32, value: I) -> I {
    if is(mutant) { value.one_more() } else { value }
}

#[inline]
pub(crate) fn add<I: Integer>(mutant: u32, a: I, b: I) -> I {
    if is(mutant) { a.minus(b) } else { a.plus(b) }
}

#[inline]
pub(crate) fn sub<I: Integer>(mutant: u32, a: I, b: I) -> I {
    if is(mutant) { a.plus(b) } else { a.minus(b) }
}

#[inline]
pub(crate) fn lt<T: PartialOrd>(mutant: u32, a: T, b: T) -> bool {
    if is(mutant) { a <= b } else { a < b }
}

#[inline]
pub(crate) fn le<T: PartialOrd>(mutant: u32, a: T, b: T) -> bool {
    if is(mutant) { a < b } else { a <= b }
}

#[inline]
pub(crate) fn gt<T: PartialOrd>(mutant: u32, a: T, b: T) -> bool {
    if is(mutant) { a >= b } else { a > b }
}

#[inline]
pub(crate) fn ge<T: PartialOrd>(mutant: u32, a: T, b: T) -> bool {
    if is(mutant) { a > b } else { a >= b }
}
