//! The program's output, and whether it could be written: to standard output, or to stderr if the result goes to
//! stdout.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use ybench_measure::error::Error;

static COLOURED: AtomicBool = AtomicBool::new(false);
static BESIDE: AtomicBool = AtomicBool::new(false);
static FAILED: AtomicBool = AtomicBool::new(false);

/// From now on all output goes to stderr.
pub fn beside() {
    // ORDERING: Relaxed, pairs with the load in `say`: a flag of the one thread that prints.
    BESIDE.store(true, Ordering::Relaxed);
}

/// Whether what is printed from now on has colours.
pub fn colour(wanted: bool) {
    // ORDERING: Relaxed, pairs with the load in `say`: the same thread.
    COLOURED.store(wanted, Ordering::Relaxed);
}

const BOLD: &str = "\x1b[1m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const PLAIN: &str = "\x1b[0m";

/// Text with the words that matter in colour. The layout is made before, so nothing moves.
fn painted(text: &str) -> String {
    let line = |line: &str| match line {
        broken if broken.starts_with("BROKEN: ") => format!("{BOLD}{RED}{broken}{PLAIN}"),
        slower if slower.ends_with(" SLOWER") => slower.replace("SLOWER", &format!("{RED}SLOWER{PLAIN}")),
        faster if faster.ends_with(" faster") => faster.replace("faster", &format!("{GREEN}faster{PLAIN}")),
        // The leader of a column has a star behind its time and unit.
        stars if stars.contains('*') => bold_before_stars(stars),
        other => other.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// "12 ns*" in bold.
fn bold_before_stars(line: &str) -> String {
    let mut painted = String::new();
    for (at, part) in line.split('*').enumerate() {
        if at > 0 {
            painted.push('*');
            painted.push_str(PLAIN);
        }
        let figure = part.rfind("  ").map_or(0, |gap| gap + 2);
        let ends_a_figure = line.matches('*').count() > at && figure < part.len();
        match part.split_at_checked(figure).filter(|_| ends_a_figure) {
            Some((before, figure)) => painted.extend([before, BOLD, figure]),
            None if line.matches('*').count() > at => painted.extend([part, BOLD]),
            None => painted.push_str(part),
        }
    }
    painted
}

/// Prints a line. A closed pipe must not prevent the result from being stored. Any other error is reported once, and
/// again at the end by [`whole`].
pub fn say(text: impl Display) {
    // ORDERING: Relaxed, pairs with the store in `colour`.
    let text = if COLOURED.load(Ordering::Relaxed) { painted(&text.to_string()) } else { text.to_string() };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As a terminal shows it.
    fn shown(text: &str) -> String {
        [BOLD, RED, GREEN, PLAIN].iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
    }

    #[test]
    fn colours_change_no_letter_and_stand_where_they_should() {
        let text =
            "BROKEN: a lost a message\n spsc   12 ns*   3 us~   4 us*\n a   1.2   SLOWER\n b   0.8   faster\nplain";
        let painted = painted(text);
        assert_eq!(shown(&painted), text);
        assert!(painted.contains("\x1b[1m12 ns*\x1b[0m") && painted.contains("\x1b[1m4 us*\x1b[0m"), "{painted:?}");
        assert!(painted.contains("\x1b[31mSLOWER\x1b[0m") && painted.ends_with("\nplain"), "{painted:?}");
    }
}
