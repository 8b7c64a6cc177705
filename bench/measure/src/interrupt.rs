//! Ctrl-C, SIGTERM and SIGHUP. The first one asks the run to end, and is polled between runs. The second one ends the
//! program at once. A run that is not over some seconds after the first one is ended as well: a time limit sends its
//! signal once.
//!
//! Installed once, by `main`. A library user that never installs it is never interrupted.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exit code that a shell reports for a program that SIGINT has ended: 128 and the number of the signal.
pub const STATUS: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether a run has ended since. What follows is finite: the complete rounds are written.
static SEEN: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the run to end, and ends the program after `patience` if the run goes on. Where the system
/// refuses the handler, Ctrl-C ends the program at once.
pub fn install(patience: Duration) {
    let _ = ctrlc::set_handler(move || {
        // ORDERING: Relaxed: written by this thread alone.
        if ASKED.load(Ordering::Relaxed) {
            std::process::exit(STATUS.into());
        }
        // On a terminal, this line has the progress and the terminal's echo of the key.
        let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
        // Before the word is changed: a run that sees it at once may end the program before this is printed.
        eprintln!("{line}Stopping after this run, with what there is; Ctrl-C again stops at once.");
        // ORDERING: Relaxed: one word, written by the handler's one thread, with no other data; pairs with the load in
        // `asked`.
        ASKED.store(true, Ordering::Relaxed);
        std::thread::spawn(move || end_after(patience));
    });
}

fn end_after(patience: Duration) {
    std::thread::sleep(patience);
    // ORDERING: Relaxed, pairs with the store in `asked`: one word, with no other data.
    if !SEEN.load(Ordering::Relaxed) {
        eprintln!("This run has not ended within {} s: nothing is kept.", patience.as_secs());
        std::process::exit(STATUS.into());
    }
}

/// Asked between two runs.
pub fn asked() -> bool {
    // ORDERING: Relaxed, pairs with the store in `install`.
    let asked = ASKED.load(Ordering::Relaxed);
    if asked {
        // ORDERING: Relaxed, pairs with the load in `end_after`.
        SEEN.store(true, Ordering::Relaxed);
    }
    asked
}
