//! The program's output, and whether it could be written: to standard output, or to stderr if the result goes to
//! stdout.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ybench_measure::error::Error;

static BESIDE: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);

/// From now on all output goes to stderr.
pub fn beside() {
    // ORDERING: Relaxed, pairs with the load in `say`: a flag of the one thread that prints.
    BESIDE.store(true, Ordering::Relaxed);
}

/// Prints a line. A closed pipe must not prevent the result from being stored. Any other error is reported once, and
/// again at the end by [`whole`].
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

/// Whether all output could be written.
///
/// # Errors
///
/// If some of it could not be written.
pub fn whole() -> Result<(), Error> {
    // ORDERING: Relaxed, pairs with the swap in `say`.
    match FAILED.load(Ordering::Relaxed) {
        true => Err(Error::Unsaid),
        false => Ok(()),
    }
}
