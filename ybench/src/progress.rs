//! How far the measurement is, on stderr: a bar on a terminal, and a line now and then where there is none.
//!
//! Drawn between runs, from the thread that waits for them: no thread of its own ticks beside a measurement.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// From one line to the next, where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

pub struct Progress {
    bar: ProgressBar,
    /// When the next line is due, where lines are written.
    line: Option<Cell<Instant>>,
    /// Where the session at work will have come to: it may have more rounds than were foreseen, or fewer.
    end: Cell<u64>,
}

impl Progress {
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} of about {duration}  {msg}")
        {
            bar.set_style(style);
        }
        let line = (!std::io::stderr().is_terminal()).then(|| Cell::new(Instant::now() + BETWEEN_LINES));
        Self { bar, line, end: Cell::new(0) }
    }

    /// A session with about so many runs begins where the one before it was to end.
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
