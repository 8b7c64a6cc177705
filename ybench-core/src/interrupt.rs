//! Ctrl-C, or whoever else asks the process to end (SIGTERM, SIGHUP): the first one asks for the end, and is looked at between
//! runs; the second one ends the program at once.
//!
//! Installed once, by `main`; a library's user who never installs it is never interrupted.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a shell reports of a program that SIGINT has ended: 128 and the number of the signal.
pub const STATUS: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks. Without it, where the system refuses, Ctrl-C ends the program at once.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if asked() {
            std::process::exit(STATUS.into());
        }
        // A terminal has the progress, and its own echo of the key, in this line.
        let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
        // Before the word is changed: a run that sees it at once may end the program before this is printed.
        eprintln!("{line}Stopping after this run, with what there is; Ctrl-C again stops at once.");
        // ORDERING: Relaxed: one word, written by the handler's one thread, and nothing else is handed over with it;
        // pairs with the load in `asked`.
        ASKED.store(true, Ordering::Relaxed);
    });
}

pub fn asked() -> bool {
    // ORDERING: Relaxed, pairs with the store in `install`.
    ASKED.load(Ordering::Relaxed)
}
