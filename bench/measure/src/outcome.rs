//! The output of one run of one competitor: the ranking figure, and whatever else its driver has recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::stage::Timed;
use crate::trace::Trace;

/// Times that are taken of every single message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Series {
    /// From before the send to after the receipt, one way. At a fixed rate, from the time at which the send was due.
    /// Needs clocks in step.
    Latency,
    /// From before the send to after the receipt of the reply.
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
    /// The median is finer than the steps of the clock.
    Median,
    Mean,
    P90,
    P99,
    P999,
    Maximum,
    /// The standard deviation of the same.
    Deviation,
    /// Of 1,000 messages, the number that took more than ten times the median.
    SlowOfThousand,
    /// 1 where the ranked times are halves of round trips, because the clocks of the two CPUs are not in step or the
    /// messages carried no times. Absent where they are times one way.
    Halved,
    /// CPU time of the sending and of the receiving thread, in nanoseconds per message. The sender's includes the time
    /// it waits until a message is due.
    SenderCpu,
    ReceiverCpu,
    /// Context switches of the sending and of the receiving thread, per message.
    SenderSwitches,
    ReceiverSwitches,
    /// Messages per second that were intended, and that were received. The latter is absent for a single message.
    RateWanted,
    RateReached,
    /// How often the receiver had to wait, seen from gaps between its receipts, and messages between two such gaps.
    Batches,
    MeanBatch,
    /// Messages between two that the receiver had to wait for, because they were sent after it had started to receive.
    /// Seen from the stamps of both sides, whose clocks must be in step.
    MeanReady,
    /// The most messages at any one time that were sent and not yet received.
    MostUnderWay,
    /// The times of messages at the end of the run divided by those in its middle: medians of a tenth of them.
    Growth,
    /// Between two sends, median and mean, and between two receipts, mean, in nanoseconds.
    SendMedian,
    SendMean,
    ReceiveMean,
    /// The whole time of the run for one of its messages, in nanoseconds, no matter how long each of them took.
    TotalOverCount,
    /// How much longer the run took than the same run without a clock, as a share of it.
    Distortion,
    /// Nanoseconds per message to send a burst, and to receive it.
    Fill,
    Drain,
    /// Memory held by the burst, in bytes per message.
    BytesHeld,
    /// Memory that is still in use after the burst has been received, in bytes per message.
    BytesLeft,
    /// System calls and context switches of both threads per message.
    Calls,
    Switches,
    /// Nanoseconds to make a channel, to send and receive its first message, and to drop it.
    Make,
    FirstMessage,
    Drop,
    /// Bytes that each of many channels has of the program's allocator: before its first message, after it, and when all
    /// channels are dropped. With both handles.
    AllocatedIdle,
    AllocatedAfter,
    AllocatedLeft,
    /// The same in memory, as the kernel counts it.
    ResidentIdle,
    ResidentAfter,
    ResidentLeft,
    /// Bytes that a channel keeps when a burst has been sent and received: of the allocator, and in memory.
    AllocatedKept,
    ResidentKept,
    /// Bytes of stack of a thread that makes a channel and sends and receives one message of 32 KiB.
    StackBytes,
    /// Of a build of a program: nanoseconds until it is there, bytes of the stripped program, and packages that were
    /// compiled for it.
    BuildTime,
    ProgramBytes,
    Packages,
}

/// The output of one run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Nanoseconds per unit: the ranking figure.
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
