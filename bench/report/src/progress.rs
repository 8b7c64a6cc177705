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
    /// The time of everything, if it was fixed and not the number of runs.
    budget: Option<Duration>,
}

impl Progress {
    pub fn new(steps: u64, budget: Option<Duration>) -> Self {
        // ORDERING: Relaxed, pairs with the store in `silence`.
        let silent = SILENT.load(Ordering::Relaxed);
        let target = if silent { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} {prefix}  {msg}") {
            bar.set_style(style);
        }
        let line = (!silent && !std::io::stderr().is_terminal()).then(|| Cell::new(Instant::now() + BETWEEN_LINES));
        Self { bar, line, end: Cell::new(0), budget }
    }

    /// A session with about `steps` runs begins at the estimated end of the previous one.
    pub fn session(&self, steps: u64) {
        self.bar.set_position(self.end.get());
        self.end.set(self.end.get().saturating_add(steps));
    }

    /// One run is about to start.
    pub fn step(&self, name: &str) {
        self.bar.set_message(name.to_owned());
        let share = self.bar.position() as f64 / self.bar.length().unwrap_or(0).max(1) as f64;
        let about = whole(share, self.bar.elapsed(), self.budget)
            .map_or(String::new(), |all| format!("of about {} s", all.as_secs()));
        self.bar.set_prefix(about.clone());
        if self.bar.position() < self.end.get() {
            self.bar.inc(1);
        }
        let Some(due) = self.line.as_ref().filter(|due| due.get() <= Instant::now()) else { return };
        due.set(Instant::now() + BETWEEN_LINES);
        let so_far = self.bar.elapsed().as_secs();
        eprintln!("ybench: {:.0} %, {so_far} s {about}: {name}", share * 100.0);
    }
}

/// The expected time of everything, from the share of it that is done. From little, nothing can be told but a time that
/// was fixed before.
fn whole(share: f64, so_far: Duration, budget: Option<Duration>) -> Option<Duration> {
    const ENOUGH: f64 = 0.1;
    let told = (share >= ENOUGH).then(|| so_far.div_f64(share));
    match budget {
        // Sessions may end before their time, and take a little more while they have too few rounds.
        Some(budget) => Some(told.unwrap_or(budget).clamp(budget.div_f64(2.0), budget.mul_f64(2.0)).max(so_far)),
        None => told,
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_the_fixed_time_until_enough_is_done_and_none_is_made_up() {
        let seconds = Duration::from_secs;
        // From the first moment on, and with whatever the first runs seem to say.
        assert_eq!(whole(0.0, seconds(0), Some(seconds(40))), Some(seconds(40)));
        assert_eq!(whole(0.001, seconds(5), Some(seconds(40))), Some(seconds(40)));
        assert_eq!(whole(0.5, seconds(22), Some(seconds(40))), Some(seconds(44)));
        assert_eq!(whole(0.1, seconds(30), Some(seconds(40))), Some(seconds(80)));
        assert_eq!(whole(0.9, seconds(90), Some(seconds(40))), Some(seconds(90)));
        assert_eq!(whole(0.05, seconds(5), None), None);
        assert_eq!(whole(0.25, seconds(5), None), Some(seconds(20)));
    }
}
