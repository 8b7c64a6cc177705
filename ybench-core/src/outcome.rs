//! What one run of one contender gave: the figure that ranks, and whatever else its driver has recorded beside it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::stage::Timed;
use crate::trace::Trace;

/// Times that are taken of every single message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Series {
    /// From before the send to after the receipt, one way; at a fixed rate, from the time at which the send was due.
    /// Needs clocks in step.
    Latency,
    /// From before the send to after the receipt of the answer.
    RoundTrip,
    /// Between two sends.
    SendDensity,
    /// Between two receipts.
    ReceiveDensity,
}

/// Figures that are one number for a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Median, mean, and so on of the run's ranked series, in nanoseconds, so that they can be compared round by round.
    /// The median is told more finely than in steps of the clock.
    Median,
    Mean,
    P90,
    P99,
    P999,
    Maximum,
    /// The standard deviation of the same.
    Deviation,
    /// Of 1,000 messages so many took more than ten times the median.
    SlowOfThousand,
    /// 1 where the ranked times are halves of round trips, because the clocks of the two CPUs are not in step or
    /// because nothing was carried; absent where they are times one way.
    Halved,
    /// CPU time of the sending and of the receiving thread, in nanoseconds for each message. The sender's includes
    /// what it spends on waiting for the time at which a message is due.
    SenderCpu,
    ReceiverCpu,
    /// Times that the sending and the receiving thread were switched out, for each message.
    SenderSwitches,
    ReceiverSwitches,
    /// Messages per second that were wanted, and that were received; the latter absent if there was only one message.
    RateWanted,
    RateReached,
    /// How often the receiver had to wait, seen from gaps between its receipts, and messages between two such gaps.
    Batches,
    MeanBatch,
    /// Messages between two for which the receiver had to wait, because they were sent after it had asked for them: seen from
    /// the stamps of both sides, whose clocks must be in step.
    MeanReady,
    /// The most messages that were sent and not yet received, at any one time.
    MostUnderWay,
    /// The times of messages at the end of the run over those in its middle: medians of a tenth of them.
    Growth,
    /// Between two sends, median and mean, and between two receipts, mean, in nanoseconds.
    SendMedian,
    SendMean,
    ReceiveMean,
    /// All of the time of the run for one of its messages, in nanoseconds, whatever each of them took.
    TotalOverCount,
    /// How much longer the run took than the same run without a clock, as a share of it.
    Distortion,
    /// Nanoseconds per message to put a burst into the transport, and to take it out.
    Fill,
    Drain,
    /// Memory held by the burst, in bytes for each message.
    BytesHeld,
    /// Memory that is still in use when the burst has been taken out, in bytes for each message.
    BytesLeft,
    /// System calls and context switches of both threads for each message.
    Calls,
    Switches,
}

/// What one run gave.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Nanoseconds per unit: the figure that ranks.
    pub nanoseconds: f64,
    pub metrics: BTreeMap<Metric, f64>,
    pub distributions: BTreeMap<Series, Distribution>,
    pub traces: BTreeMap<Series, Trace>,
}

impl From<Timed> for Outcome {
    fn from(timed: Timed) -> Self {
        Self { nanoseconds: timed.nanoseconds_per_unit(), ..Self::default() }
    }
}
