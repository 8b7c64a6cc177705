//! How far the measurement is, on stderr, and only while somebody is watching a terminal.
//!
//! Drawn between runs, from the thread that waits for them: no thread of its own ticks beside a measurement.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub struct Progress(ProgressBar);

impl Progress {
    /// `None` for the number of steps hides it from everybody.
    pub fn new(steps: Option<u64>) -> Self {
        let Some(steps) = steps else {
            return Self(ProgressBar::hidden());
        };
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} of about {duration}  {msg}")
        {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// One run is about to start.
    pub fn step(&self, name: &str) {
        self.0.set_message(name.to_owned());
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
