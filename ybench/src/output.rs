//! What the program says, and whether it could: to standard output, or beside it where the result itself goes there.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ybench_core::error::Error;

static BESIDE: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);

/// From now on everything is said to stderr.
pub fn beside() {
    // ORDERING: Relaxed, pairs with the load in `say`: a flag of the one thread that talks.
    BESIDE.store(true, Ordering::Relaxed);
}

/// Says a line. A pipe whose reader has seen enough must not keep a result from being kept; whatever else keeps it from being
/// read is told once, and at the end by [`whole`].
pub fn say(text: impl Display) {
    // ORDERING: Relaxed, pairs with the store in `beside`.
    let said = match BESIDE.load(Ordering::Relaxed) {
        true => writeln!(io::stderr(), "{text}"),
        false => writeln!(io::stdout(), "{text}"),
    };
    let Err(cause) = said else { return };
    // ORDERING: Relaxed, pairs with the load in `whole`: the same thread.
    if cause.kind() != io::ErrorKind::BrokenPipe && !FAILED.swap(true, Ordering::Relaxed) {
        eprintln!("The output cannot be written: {cause}.");
    }
}

/// Whether everything that was said could be.
///
/// # Errors
///
/// Where some of it could not.
pub fn whole() -> Result<(), Error> {
    // ORDERING: Relaxed, pairs with the swap in `say`.
    match FAILED.load(Ordering::Relaxed) {
        true => Err(Error::Unsaid),
        false => Ok(()),
    }
}
