//! The frequency of each time: a histogram with a relative precision of a thousandth, from a tenth of a nanosecond to
//! hours. Made after a run from the recorded times. Nothing here runs while the clock does.
//!
//! Kept as JSON in this form, in picoseconds: `{"buckets": [[value, count], ...]}`.

use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const DIGITS: u8 = 3;
const PICOSECONDS: f64 = 1e3;
/// A day, in picoseconds: no file makes the histogram grow beyond that.
const LONGEST: u64 = 86_400 * 1_000_000_000_000;

/// Times in nanoseconds, and the count of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(Histogram<u64>);

/// Times between `from` and `to` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    pub from: f64,
    pub to: f64,
    pub count: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        // Cannot fail: between 0 and 5 digits are allowed.
        Self(Histogram::new(DIGITS).expect("three significant digits are allowed"))
    }
}

impl FromIterator<f64> for Distribution {
    fn from_iter<I: IntoIterator<Item = f64>>(times: I) -> Self {
        let mut made = Self::default();
        times.into_iter().for_each(|time| made.record(time, 1));
        made
    }
}

impl Distribution {
    /// A time below zero counts as zero: clocks in step may still differ by their own resolution.
    pub fn record(&mut self, nanoseconds: f64, count: u64) {
        self.record_picoseconds(picoseconds(nanoseconds), count);
    }

    fn record_picoseconds(&mut self, time: u64, count: u64) {
        // Cannot fail: the histogram grows as needed.
        self.0.record_n(time, count).expect("a growing histogram takes any value");
    }

    pub fn add(&mut self, other: &Self) {
        // Cannot fail, for the same reason.
        self.0.add(&other.0).expect("a growing histogram takes any other");
    }

    pub fn count(&self) -> u64 {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nanoseconds that the share `of` (0 to 1) of all messages did not exceed.
    pub fn quantile(&self, of: f64) -> f64 {
        self.0.value_at_quantile(of) as f64 / PICOSECONDS
    }

    /// The same, if at least two times are beyond it. Of fewer messages it would be the maximum under another name. A
    /// median needs one time.
    pub fn tail(&self, of: f64) -> Option<f64> {
        const BEYOND: f64 = 2.0;
        // The rounding of `1.0 - of` must not decide.
        let enough = (1.0 - of) * self.count() as f64 >= BEYOND - 1e-6;
        (enough || (of <= 0.5 && !self.is_empty())).then(|| self.quantile(of))
    }

    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The median of times that were read from a clock with steps of `step` nanoseconds. Each time stands for all those
    /// within half a step of it, as in grouped data. Without this the median could only move in whole steps, which may
    /// be a fifth of it. Never further than half a step from [`median`](Self::median).
    pub fn median_within_steps(&self, step: f64) -> f64 {
        let median = self.median();
        if step.is_nan() || step <= 0.0 {
            return median;
        }
        let (mut below, mut near) = (0.0, Vec::new());
        for (value, count) in self.values().take_while(|(value, _)| *value < median + step) {
            if value <= median - step { below += count as f64 } else { near.push((value, count as f64)) }
        }
        let half = self.count() as f64 / 2.0;
        let share = |value: f64, at: f64| ((at - value) / step + 0.5).clamp(0.0, 1.0);
        let not_beyond = |at: f64| below + near.iter().map(|(value, count)| count * share(*value, at)).sum::<f64>();
        let (mut low, mut high) = ((median - step / 2.0).max(0.0), median + step / 2.0);
        // Each turn halves the interval, until it is far narrower than any difference that matters.
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            if not_beyond(middle) < half { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }

    pub fn mean(&self) -> f64 {
        self.0.mean() / PICOSECONDS
    }

    pub fn standard_deviation(&self) -> f64 {
        self.0.stdev() / PICOSECONDS
    }

    pub fn least(&self) -> f64 {
        self.0.min() as f64 / PICOSECONDS
    }

    pub fn most(&self) -> f64 {
        self.0.max() as f64 / PICOSECONDS
    }

    /// The average distance from the median: the article's jitter.
    pub fn jitter(&self) -> f64 {
        let median = self.median();
        let sum: f64 = self.values().map(|(value, count)| (value - median).abs() * count as f64).sum();
        sum / self.count().max(1) as f64
    }

    /// The number of times longer than `nanoseconds`.
    pub fn beyond(&self, nanoseconds: f64) -> u64 {
        self.values().filter(|(value, _)| *value > nanoseconds).map(|(_, count)| count).sum()
    }

    /// Of 1,000 times, the number that are more than ten times the median: the tail as the thread article counts it.
    pub fn slow_of_thousand(&self) -> f64 {
        self.beyond(self.median() * 10.0) as f64 / self.count().max(1) as f64 * 1_000.0
    }

    /// At most `per_decade` bars for each power of ten, over the whole range, without the empty ones.
    pub fn bars(&self, per_decade: u32) -> Vec<Bar> {
        let step = 10f64.powf(1.0 / f64::from(per_decade));
        let mut bars: Vec<Bar> = Vec::new();
        for (value, count) in self.values() {
            let value = value.max(0.1);
            let from = step.powf((value.ln() / step.ln() + 1e-9).floor());
            match bars.last_mut() {
                Some(last) if (last.from / from - 1.0).abs() < 1e-6 => last.count += count,
                _ => bars.push(Bar { from, to: from * step, count }),
            }
        }
        bars
    }

    /// Nanoseconds and their count, ascending.
    pub fn values(&self) -> impl Iterator<Item = (f64, u64)> {
        self.0.iter_recorded().map(|step| (step.value_iterated_to() as f64 / PICOSECONDS, step.count_at_value()))
    }
}

fn picoseconds(nanoseconds: f64) -> u64 {
    ((nanoseconds.max(0.0) * PICOSECONDS).round() as u64).min(LONGEST)
}

#[derive(Serialize, Deserialize)]
struct Kept {
    buckets: Vec<(u64, u64)>,
}

impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let buckets = self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        Kept { buckets }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut made = Self::default();
        for (value, count) in Kept::deserialize(deserializer)?.buckets {
            made.record_picoseconds(value.min(LONGEST), count);
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 0.002 * b.abs().max(0.1)
    }

    #[test]
    fn figures_are_those_of_the_times() {
        let times: Distribution = [1.0, 2.0, 3.0, 4.0, 90.0].into_iter().collect();
        assert_eq!(times.count(), 5);
        assert!(near(times.median(), 3.0) && near(times.mean(), 20.0) && near(times.most(), 90.0));
        assert!(near(times.jitter(), (2.0 + 1.0 + 0.0 + 1.0 + 87.0) / 5.0), "{}", times.jitter());
        assert_eq!((times.beyond(3.5), times.beyond(100.0)), (2, 0));
    }

    #[test]
    fn a_percentile_needs_messages_beyond_it() {
        let told = |count: usize| {
            let times: Distribution = (0..count).map(|n| n as f64).collect();
            [0.5, 0.9, 0.99, 0.999, 0.9999].map(|of| times.tail(of).is_some())
        };
        assert_eq!(told(0), [false; 5]);
        assert_eq!(told(19), [true, false, false, false, false]);
        assert_eq!(told(199), [true, true, false, false, false]);
        assert_eq!(told(200), [true, true, true, false, false]);
        assert_eq!(told(2_000), [true, true, true, true, false]);
        assert_eq!(told(20_000), [true; 5]);
    }

    #[test]
    fn fractions_of_a_nanosecond_are_kept() {
        let times: Distribution = [0.3, 0.3, 0.4].into_iter().collect();
        assert!(near(times.median(), 0.3), "{}", times.median());
    }

    #[test]
    fn a_coarse_clock_does_not_make_the_median_jump() {
        let told = |sixties: u64| {
            let mut times = Distribution::default();
            times.record(50.0, 100 - sixties);
            times.record(60.0, sixties);
            times.median_within_steps(10.0)
        };
        assert!(near(told(0), 50.0) && near(told(50), 55.0) && near(told(100), 60.0));
        // The more of them are at the next step, the later: no two shares give the same figure, and none jumps.
        let medians: Vec<f64> = (0..=100).map(told).collect();
        assert!(medians.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] < 0.3), "{medians:?}");
    }

    #[test]
    fn steps_far_below_the_times_change_nothing() {
        let times: Distribution = (1..=999).map(f64::from).collect();
        assert!(near(times.median_within_steps(0.4), times.median()));
        assert_eq!(times.median_within_steps(0.0), times.median());
        assert!(near([7.0].into_iter().collect::<Distribution>().median_within_steps(10.0), 7.0));
    }

    #[test]
    fn it_comes_back_from_its_file_as_it_was() {
        let times: Distribution = (0..10_000).map(|n| f64::from(n) * 1.7).collect();
        let text = serde_json::to_string(&times).unwrap();
        let back: Distribution = serde_json::from_str(&text).unwrap();
        assert_eq!(back.count(), times.count());
        assert!(near(back.quantile(0.99), times.quantile(0.99)));
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }

    #[test]
    fn bars_hold_every_message_once() {
        let times: Distribution = (1..2_000).map(f64::from).collect();
        let bars = times.bars(10);
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 1_999);
        assert!(bars.windows(2).all(|pair| pair[0].to <= pair[1].from * 1.000_001));
    }
}
