//! A program that takes turns with another one: it prints a line before each round, and waits for a line. The end of its
//! input ends it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// The line that asks for a turn.
pub const QUESTION: &str = "ybench: a turn?";

/// The option of a program that asks.
pub const OPTION: &str = "--in-turn";

static ASKS: AtomicBool = AtomicBool::new(false);

/// From now on this program asks before each round.
pub fn ask() {
    // ORDERING: Relaxed, pairs with the load in `asks`: the same thread.
    ASKS.store(true, Ordering::Relaxed);
}

/// Whether it does.
pub fn asks() -> bool {
    // ORDERING: Relaxed, pairs with the store in `ask`: the same thread.
    ASKS.load(Ordering::Relaxed)
}

/// Waits for this program's turn, if it takes turns. False: it is to end.
pub fn next() -> bool {
    if !asks() {
        return true;
    }
    let asked = writeln!(io::stdout(), "{QUESTION}");
    asked.is_ok() && io::stdin().read_line(&mut String::new()).is_ok_and(|bytes| bytes > 0)
}
