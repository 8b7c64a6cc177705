//! The cost of a timer of a hub among ten thousand others: to set it, and to cancel it.

use std::time::{Duration, Instant};

use ysuite::hub::{Hub, TimerKey};

use crate::error::Fault;

/// Timers in the hub at once.
pub(super) const TIMERS: usize = 10_000;

/// Sets timers in no order, each for a time later than the whole measurement, and cancels them in another order.
/// Returns microseconds per timer set, and per timer cancelled.
pub(super) fn set_and_cancelled() -> Result<Vec<f64>, Fault> {
    let mut hub = Hub::new()?;
    let mut dice = fastrand::Rng::with_seed(TIMERS as u64);
    let times: Vec<Duration> =
        (0..TIMERS).map(|_| Duration::from_micros(dice.u64(3_600_000_000..7_200_000_000))).collect();
    let mut timers: Vec<TimerKey> = Vec::with_capacity(TIMERS);
    let start = Instant::now();
    timers.extend(times.into_iter().map(|time| hub.after(time, |_| {})));
    let set = start.elapsed();
    dice.shuffle(&mut timers);
    let start = Instant::now();
    let cancelled = timers.into_iter().filter(|&timer| hub.cancel(timer)).count();
    let took = start.elapsed();
    if cancelled != TIMERS || hub.timeout().is_some() {
        return Err(Fault::Lost { expected: cancelled });
    }
    let each = |time: Duration| time.as_secs_f64() * 1e6 / TIMERS as f64;
    Ok(vec![each(set), each(took)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_timers_are_there_to_be_cancelled_and_none_is_left() {
        let costs = set_and_cancelled().unwrap();
        assert!(costs.len() == 2 && costs.iter().all(|cost| *cost > 0.0), "{costs:?}");
    }
}
