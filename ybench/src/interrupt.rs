//! Ctrl-C: the first one asks for the end, and is looked at between runs; the second one ends the program at once.
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
        // ORDERING: Relaxed: one word, and nothing else is handed over with it; pairs with the load in `asked`.
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(STATUS.into());
        }
        // A terminal has the progress, and its own echo of the key, in this line.
        let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
        eprintln!("{line}Stopping after this run, with what there is; Ctrl-C again stops at once.");
    });
}

pub fn asked() -> bool {
    // ORDERING: Relaxed, pairs with the swap in `install`.
    ASKED.load(Ordering::Relaxed)
}
