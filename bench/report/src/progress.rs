//! The progress of the measurement, on stderr: a bar on a terminal, otherwise a line from time to time.
//!
//! Drawn between runs by the thread that waits for them: no extra thread runs during a measurement.

use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Whether nothing is drawn.
static SILENT: AtomicBool = AtomicBool::new(false);

/// From now on nothing is drawn.
pub fn silence() {
    // ORDERING: Relaxed, pairs with the load in `Progress::new`: a flag of the one thread that measures.
    SILENT.store(true, Ordering::Relaxed);
}

/// The interval between lines, if there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

pub struct Progress {
    bar: ProgressBar,
    /// When the next line is due, if lines are written.
    line: Option<Cell<Instant>>,
    /// The expected position at the end of the current session, which may have more or fewer rounds than estimated.
    end: Cell<u64>,
}

impl Progress {
    pub fn new(steps: u64) -> Self {
        // ORDERING: Relaxed, pairs with the store in `silence`.
        let silent = SILENT.load(Ordering::Relaxed);
        let target = if silent { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} of about {duration}  {msg}")
        {
            bar.set_style(style);
        }
        let line = (!silent && !std::io::stderr().is_terminal()).then(|| Cell::new(Instant::now() + BETWEEN_LINES));
        Self { bar, line, end: Cell::new(0) }
    }

    /// A session with about `steps` runs begins at the estimated end of the previous one.
    pub fn session(&self, steps: u64) {
        self.bar.set_position(self.end.get());
        self.end.set(self.end.get().saturating_add(steps));
    }

    /// One run is about to start.
    pub fn step(&self, name: &str) {
        self.bar.set_message(name.to_owned());
        if self.bar.position() < self.end.get() {
            self.bar.inc(1);
        }
        let Some(due) = self.line.as_ref().filter(|due| due.get() <= Instant::now()) else { return };
        due.set(Instant::now() + BETWEEN_LINES);
        let share = self.bar.position() * 100 / self.bar.length().unwrap_or(0).max(1);
        let [so_far, all] = [self.bar.elapsed(), self.bar.duration()].map(|time| time.as_secs());
        eprintln!("ybench: {share} %, {so_far} of about {all} s: {name}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
