//! Single messages of one run, for a graph: few enough to draw, and including all slow ones.

use serde::{Deserialize, Serialize};

/// Points over the number of the message, ascending.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The number of messages.
    pub of: u64,
    /// Number of the message and nanoseconds.
    pub points: Vec<(u64, f64)>,
}

/// The sections that a run is divided into. Two points of each are kept.
const STRETCHES: usize = 1_000;

impl Trace {
    /// The first message of each section, which is a fair sample, and the slowest.
    pub fn of(times: &[f64]) -> Self {
        let mut points = Vec::new();
        let stretch = times.len().div_ceil(STRETCHES).max(1);
        for (at, part) in times.chunks(stretch).enumerate() {
            let first = at * stretch;
            let rounded = |time: f64| (time * 10.0).round() / 10.0;
            points.push((first as u64, rounded(part[0])));
            let slowest = part.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            if let Some((offset, time)) = slowest.filter(|(offset, _)| *offset > 0) {
                points.push(((first + offset) as u64, rounded(*time)));
            }
        }
        Self { of: times.len() as u64, points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_is_kept_whole() {
        assert_eq!(Trace::of(&[3.0, 1.0, 2.0]).points, [(0, 3.0), (1, 1.0), (2, 2.0)]);
        assert_eq!(Trace::of(&[]), Trace::default());
    }

    #[test]
    fn a_long_run_keeps_its_slow_messages() {
        let mut times = vec![1.0; 100_000];
        times[77_777] = 5_000.0;
        let trace = Trace::of(&times);
        assert!(trace.points.contains(&(77_777, 5_000.0)));
        assert!(trace.points.len() <= 2 * STRETCHES && trace.of == 100_000);
        assert!(trace.points.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
