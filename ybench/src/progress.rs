//! How far the measurement is, on stderr, and only while somebody is watching a terminal.
//!
//! Drawn between runs, from the thread that waits for them: no thread of its own ticks beside a measurement.

use std::cell::Cell;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub struct Progress {
    bar: ProgressBar,
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
        Self { bar, end: Cell::new(0) }
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
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
