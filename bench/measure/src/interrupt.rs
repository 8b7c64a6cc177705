//! Ctrl-C, SIGTERM and SIGHUP. The first one asks the run to end, and is polled between runs. The second one ends the
//! program at once.
//!
//! Installed once, by `main`. A library user that never installs it is never interrupted.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit code that a shell reports for a program that SIGINT has ended: 128 and the number of the signal.
pub const STATUS: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the run to end. Where the system refuses the handler, Ctrl-C ends the program at once.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if asked() {
            std::process::exit(STATUS.into());
        }
        // On a terminal, this line has the progress and the terminal's echo of the key.
        let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
        // Before the word is changed: a run that sees it at once may end the program before this is printed.
        eprintln!("{line}Stopping after this run, with what there is; Ctrl-C again stops at once.");
        // ORDERING: Relaxed: one word, written by the handler's one thread, with no other data; pairs with the load in
        // `asked`.
        ASKED.store(true, Ordering::Relaxed);
    });
}

pub fn asked() -> bool {
    // ORDERING: Relaxed, pairs with the store in `install`.
    ASKED.load(Ordering::Relaxed)
}
