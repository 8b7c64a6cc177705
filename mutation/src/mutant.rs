//! Which mutant is awake. `mutation` puts this file into the copy of the library that it writes; nothing else compiles it.
//!
//! By the environment, once for the process:
//!
//! * `YSUITE_MUTANT=N`: mutant N is awake.
//! * `YSUITE_MUTANT=list`: none is, and each that is reached is written to the file `YSUITE_MUTANT_REACHED`, once.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const UNKNOWN: u32 = u32::MAX;
const LIST: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;

/// A mutant's number, or one of the above.
static AWAKE: AtomicU32 = AtomicU32::new(UNKNOWN);

static REACHED: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

/// Whether this mutant is awake.
#[inline]
pub(crate) fn is(mutant: u32) -> bool {
    // ORDERING: Relaxed; every thread that finds it unknown reads the same environment.
    let awake = AWAKE.load(Ordering::Relaxed);
    if awake >= LIST { look(mutant) } else { awake == mutant }
}

#[cold]
fn look(mutant: u32) -> bool {
    // ORDERING: Relaxed; as above.
    if AWAKE.load(Ordering::Relaxed) == UNKNOWN {
        let awake = match std::env::var("YSUITE_MUTANT") {
            Err(_) => NONE,
            Ok(list) if list == "list" => LIST,
            Ok(number) => number.parse().expect("YSUITE_MUTANT is `list` or a number"),
        };
        // ORDERING: Relaxed; as above.
        AWAKE.store(awake, Ordering::Relaxed);
        return is(mutant);
    }
    static FILE: OnceLock<File> = OnceLock::new();
    let bit = 1 << (mutant % 64);
    // ORDERING: Relaxed; only which thread was the first is asked.
    if REACHED[mutant as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        let mut file = FILE.get_or_init(|| {
            let path = std::env::var_os("YSUITE_MUTANT_REACHED").expect("YSUITE_MUTANT_REACHED names a file");
            OpenOptions::new().create(true).append(true).open(path).expect("the file can be written")
        });
        // The line is one write: processes and threads that write to the same file do not mix their lines.
        file.write_all(format!("{mutant}\n").as_bytes()).expect("the file can be written");
    }
    false
}

/// What is added, subtracted and off by one.
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
