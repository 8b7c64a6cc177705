//! The requirements for a transport, and why a transport does not meet them.

use clap::{Args, ValueEnum};
use ybench_measure::error::Error;
use ybench_measure::figures::{count, figure, grouped, several};
use ybench_measure::footprint;
use ybench_measure::record::{Parameter, Quantity};
use ybench_measure::scenario::{carried, process};
use ybench_measure::transport::{Family, Shape, Traits, Waits};

use crate::quantity;

/// How a message gets to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    Value,
    /// In a block of a pool, by its address
    Pool,
    /// In a block of the allocator, by its address
    Pointer,
}

/// The figure that ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum First {
    /// A single message
    Latency,
    /// A stream
    Throughput,
    /// The slowest of 100 single messages
    P99,
}

#[derive(Clone, Debug, Args)]
pub struct Wanted {
    /// Number of sending threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub senders: usize,
    /// Number of receiving threads: each message goes to one of them, unless --to-all
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub receivers: usize,
    /// Every receiver gets every message (broadcast)
    #[arg(long, conflicts_with = "newest")]
    pub to_all: bool,
    /// Only the newest value matters, such as a configuration (watch)
    #[arg(long)]
    pub newest: bool,
    /// Each message is a question that is answered (a call)
    #[arg(long, conflicts_with_all = ["to_all", "newest"])]
    pub answers: bool,
    /// The receiver must be able to sleep while there is no message
    #[arg(long)]
    pub sleeps: bool,
    /// The receiver must wait in epoll, alongside sockets: ranks only transports measured in this way, unless --bounded
    #[arg(long)]
    pub epoll: bool,
    /// The sender or the receiver is a task
    #[arg(long)]
    pub tasks: bool,
    /// The sender must wait when the channel is full
    #[arg(long)]
    pub bounded: bool,
    /// The sender must never wait
    #[arg(long, conflicts_with = "bounded")]
    pub unbounded: bool,
    /// The ends must neither allocate nor take a lock once the channel is made
    #[arg(long, conflicts_with = "unbounded")]
    pub real_time: bool,
    /// Message size, 1 byte to 100 MB (4KiB, 6MB)
    #[arg(long, value_name = "BYTES", default_value = "8", value_parser = bytes)]
    pub bytes: usize,
    /// How a message is passed [default: by value up to 256 bytes, then by pool]
    #[arg(long, value_name = "WAY")]
    pub by: Option<By>,
    /// Messages per second, approximately (10k, 60/min, 1/h, 1/day) [default: as many as possible]
    #[arg(long, value_name = "N", value_parser = quantity::rate)]
    pub rate: Option<f64>,
    /// The figure that ranks [default: the cost of a channel, the time at the rate, or throughput: the first asked for]
    #[arg(long, value_name = "FIGURE")]
    pub first: Option<First>,
    /// Channels that exist at the same time: ranks by what each costs to make, use once and drop, and shows its bytes
    #[arg(long, value_name = "N", value_parser = quantity::whole)]
    pub channels: Option<u64>,
    /// The ends are in two processes of one machine
    #[arg(long)]
    pub processes: bool,
    /// The ends are on two machines
    #[arg(long)]
    pub machines: bool,
}

/// The most bytes of a message, 100 MB.
const MOST_BYTES: usize = 100_000_000;

fn bytes(text: &str) -> Result<usize, String> {
    quantity::bytes(text).map(|bytes| bytes.min(usize::MAX as f64) as usize)
}

/// One message a year.
const LEAST_RATE: f64 = 1.0 / (366.0 * 86_400.0);

/// Below this many messages a second, each is measured as one after a silence.
const RARE: f64 = 10.0;

/// "1k messages a second", "24 messages a day".
fn spoken(rate: f64) -> String {
    let units = [(1.0, "a second"), (60.0, "a minute"), (3_600.0, "an hour"), (86_400.0, "a day")];
    let (seconds, unit) = units.into_iter().find(|(seconds, _)| rate * seconds >= 0.999).unwrap_or(units[3]);
    match rate * seconds {
        one if (one - 1.0).abs() < 1e-3 => format!("one message {unit}"),
        number if number >= 1e3 => format!("{} messages {unit}", count(number)),
        number => format!("{} messages {unit}", figure(number)),
    }
}

/// Above this, moving a message by value costs more than handing over a block.
pub(super) const BY_VALUE_UP_TO: usize = 256;

/// From this many bytes on, copying a message to another process costs more than all else.
const LENT_FROM: usize = 4_096;

/// More threads on a side give no further information.
const MOST_THREADS: usize = 64;

impl Wanted {
    /// # Errors
    ///
    /// Refuses numbers of threads, bytes and messages that cannot be measured.
    pub fn check(&self) -> Result<(), Error> {
        let refuse = |sentence: String| Err(Error::Refused(sentence));
        for (option, threads) in [("--senders", self.senders), ("--receivers", self.receivers)] {
            if !(1..=MOST_THREADS).contains(&threads) {
                return refuse(format!("{option} takes 1 to {MOST_THREADS} threads, not {threads}."));
            }
        }
        if self.rate.is_some_and(|rate| !(LEAST_RATE..=1e8).contains(&rate)) {
            return refuse("--rate takes one message a year to 100,000,000 a second.".to_owned());
        }
        self.channels.map_or(Ok(()), footprint::check)?;
        if !(1..=MOST_BYTES).contains(&self.bytes) {
            return refuse(format!("--bytes takes 1 to {} bytes, not {}.", grouped(MOST_BYTES as f64), self.bytes));
        }
        Ok(())
    }

    /// Whether any transport is measured for it.
    pub fn is_measured(&self) -> bool {
        let is_pipe = Shape::new(self.senders, self.receivers) == Shape::ONE_TO_ONE && !self.is_lent();
        let is_between_processes =
            !self.processes || is_pipe && !self.to_all && !self.unbounded && self.channels.is_none();
        !(self.newest || self.answers || self.tasks || self.machines) && is_between_processes
    }

    /// Between processes: whether the message is filled and read in place, as copies of it would cost too much.
    pub fn is_lent(&self) -> bool {
        match self.by {
            Some(By::Value) => false,
            Some(By::Pool | By::Pointer) => true,
            None => self.bytes >= LENT_FROM,
        }
    }

    /// Whether both ends are in one process.
    pub fn is_local(&self) -> bool {
        !(self.processes || self.machines)
    }

    /// Whether messages are so rare that each finds its receiver asleep for longer than any other measurement waits.
    pub fn is_rare(&self) -> bool {
        self.rate.is_some_and(|rate| rate < RARE)
    }

    /// The threads that are measured. Each of several receivers of a broadcast has a stream of its own, of which one is.
    pub fn shape(&self) -> Shape {
        Shape::new(self.senders, if self.to_all { 1 } else { self.receivers })
    }

    /// The streamed messages: the next size that has a compiled loop. Streams from many threads to one have a loop for the
    /// smallest size only; so have single messages.
    pub fn measured(&self) -> Parameter {
        if self.processes {
            let [.., largest] = process::BYTES;
            let bytes = process::BYTES.into_iter().find(|bytes| *bytes >= self.bytes).unwrap_or(largest);
            return Parameter { quantity: Quantity::BytesByValue, value: bytes as f64 };
        }
        let to_one = self.senders > 1 && self.receivers == 1;
        let quantity = match self.by {
            Some(By::Value) => Quantity::BytesByValue,
            Some(By::Pointer) => Quantity::BytesByPointer,
            Some(By::Pool) => Quantity::BytesByPool,
            None if self.bytes > self.largest(Quantity::BytesByValue) => Quantity::BytesByPool,
            None => Quantity::BytesByValue,
        };
        let bytes = self.bytes.min(self.largest(quantity)) as f64;
        let holds = |one: &&Parameter| one.quantity == quantity && one.value >= bytes;
        carried::PARAMETERS.iter().find(holds).filter(|_| !to_one).copied().unwrap_or(carried::SMALLEST)
    }

    /// The largest message of this kind that has a loop.
    fn largest(&self, quantity: Quantity) -> usize {
        let of = carried::PARAMETERS.iter().filter(|one| one.quantity == quantity);
        of.map(|one| one.value as usize).max().unwrap_or(0)
    }

    /// The sizes measured, if they differ from the requested one.
    pub fn instead(&self) -> Option<String> {
        let (streamed, single) = (self.measured(), carried::SMALLEST.value);
        let bytes = |value: f64| several(value as usize, "byte");
        if streamed == carried::SMALLEST {
            let longer = "what copying or filling longer ones costs is not in the times";
            return match self.bytes as f64 {
                same if same == single => None,
                less if less < single => Some(format!("All messages were of {}.", bytes(single))),
                _ => Some(format!("All messages were of {}, the size of an address: {longer}.", bytes(single))),
            };
        }
        let way = match streamed.quantity {
            Quantity::BytesByPool => " in a pool",
            Quantity::BytesByPointer => " by pointer",
            _ => "",
        };
        Some(format!("Streams were of {}{way}, single messages of {}.", bytes(streamed.value), bytes(single)))
    }

    /// Why a transport does not meet the requirements, without a full stop; `None` if it does.
    pub fn against(&self, traits: &Traits) -> Option<String> {
        if self.processes {
            return self.against_between_processes(traits).map(str::to_owned);
        }
        let shape = self.shape();
        let (measured, bytes) = (self.measured(), self.measured().value);
        // Its time here does not show its time in epoll; with a bound there is hardly another.
        let asleep_elsewhere = traits.waits != Waits::SleepsInPoll && !self.bounded;
        let against = [
            (self.to_all && traits.name != "broadcast", "each message to one receiver".to_owned()),
            (self.real_time && !is_real_time(traits), "allocates or locks, or is not known not to".to_owned()),
            (!traits.one_by_one && traits.waits == Waits::Suspends, "between tasks".to_owned()),
            (traits.between_processes, "between processes: see --processes".to_owned()),
            (!traits.one_by_one && traits.batches, "the same in batches".to_owned()),
            (
                !traits.one_by_one,
                "a channel for each sender, served together: see `sources` in `ybench scale`".to_owned(),
            ),
            (
                !Shape::new(self.senders, 1).fits(traits.senders, traits.receivers),
                format!("one thread sends, not {}", self.senders),
            ),
            (!shape.fits(traits.senders, traits.receivers), format!("one thread receives, not {}", self.receivers)),
            (self.sleeps && !traits.waits.sleeps(), "its receiver never sleeps".to_owned()),
            (self.epoll && !traits.works_with_epoll, "cannot wait in epoll".to_owned()),
            (
                self.epoll && asleep_elsewhere,
                "can be added to epoll, but does not sleep there at once in this benchmark".to_owned(),
            ),
            (self.bounded && !traits.bounded, "has no bound".to_owned()),
            (self.unbounded && traits.bounded, "its sender waits at a bound".to_owned()),
            (
                !carried::fits(traits, shape, Some(measured)),
                format!("has no loop for {} bytes for these threads, or cannot carry them", grouped(bytes)),
            ),
            ((traits.available)().is_err(), "not on this machine".to_owned()),
            (
                self.channels.is_some() && footprint::named(traits.name).is_none(),
                "not measured as one of many: see `ybench footprint`".to_owned(),
            ),
        ];
        against.into_iter().find(|(against, _)| *against).map(|(_, why)| why)
    }

    /// As [`against`](Self::against). All of them have one end on a side, and are measured where that is enough.
    fn against_between_processes(&self, traits: &Traits) -> Option<&'static str> {
        let against = [
            (!traits.between_processes, "between threads"),
            (self.sleeps && !traits.waits.sleeps(), "its receiver never sleeps"),
            (self.epoll && !traits.works_with_epoll, "cannot wait in epoll"),
            ((traits.available)().is_err(), "not on this machine"),
        ];
        against.into_iter().find(|(against, _)| *against).map(|(_, why)| why)
    }
}

/// Whether both ends of a transport neither allocate nor lock once it is made, as far as this project knows. The facts of
/// its own channels are tested (`crates/ysuite/tests/allocation`), those of rtrb are in its documentation.
fn is_real_time(traits: &Traits) -> bool {
    let ours = ["spsc-", "mpsc-", "mpmc", "broadcast"].iter().any(|kind| traits.name.starts_with(kind));
    traits.bounded && ((ours && traits.family == Family::Ours) || traits.name.starts_with("rtrb-"))
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Wanted: {}, {}", several(self.senders, "sender"), several(self.receivers, "receiver"))?;
        write!(out, ", {}", several(self.bytes, "byte"))?;
        let said = [
            (self.to_all, "each message to all"),
            (self.newest, "only the newest value"),
            (self.answers, "each message answered"),
            (self.tasks, "a task on a side"),
            (self.real_time, "no allocation and no lock"),
            (self.processes, "in two processes"),
            (self.machines, "on two machines"),
            (self.sleeps, "can sleep"),
            (self.epoll, "can wait in epoll"),
            (self.bounded, "with a bound"),
            (self.unbounded, "without a bound"),
        ];
        said.iter().filter(|(wanted, _)| *wanted).try_for_each(|(_, said)| write!(out, ", {said}"))?;
        self.rate.map_or(Ok(()), |rate| write!(out, ", {}", spoken(rate)))?;
        self.channels.map_or(Ok(()), |channels| write!(out, ", {}", several(channels as usize, "channel")))?;
        write!(out, ".")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ybench_measure::registry;

    pub(in crate::choose) const ANY: Wanted = Wanted {
        senders: 1,
        receivers: 1,
        to_all: false,
        newest: false,
        answers: false,
        sleeps: false,
        epoll: false,
        tasks: false,
        bounded: false,
        unbounded: false,
        real_time: false,
        bytes: 8,
        by: None,
        rate: None,
        first: None,
        channels: None,
        processes: false,
        machines: false,
    };

    fn against(wanted: &Wanted, name: &str) -> Option<String> {
        wanted.against(&registry::named(name).unwrap().traits)
    }

    #[test]
    fn each_requirement_excludes_transports_that_do_not_meet_it() {
        assert_eq!(against(&ANY, "spsc"), None);
        let cases = [
            (Wanted { senders: 4, ..ANY }, "spsc", "mpsc"),
            (Wanted { receivers: 4, ..ANY }, "mpsc", "mpmc"),
            (Wanted { sleeps: true, ..ANY }, "rtrb-64k", "spsc"),
            (Wanted { epoll: true, ..ANY }, "std-channel", "spsc-epoll"),
            (Wanted { epoll: true, ..ANY }, "spsc", "spsc-epoll"),
            (Wanted { epoll: true, senders: 4, ..ANY }, "mpsc", "mpsc-epoll"),
            (Wanted { epoll: true, senders: 4, receivers: 4, ..ANY }, "mpmc", "mpmc-eventfd"),
            (Wanted { bounded: true, ..ANY }, "spsc", "spsc-bounded"),
            (Wanted { unbounded: true, ..ANY }, "spsc-bounded", "spsc"),
            (Wanted { channels: Some(100_000), ..ANY }, "spsc-none", "spsc"),
            (Wanted { epoll: true, bounded: true, ..ANY }, "spsc-epoll", "spsc-bounded"),
            (Wanted { epoll: true, bounded: true, senders: 4, ..ANY }, "mpsc-epoll", "mpsc-bounded"),
            (Wanted { real_time: true, ..ANY }, "spsc", "spsc-bounded"),
            (Wanted { real_time: true, ..ANY }, "crossbeam-bounded", "rtrb-1k"),
            (Wanted { to_all: true, receivers: 8, ..ANY }, "mpmc", "broadcast"),
            (Wanted { bytes: 100_000_000, ..ANY }, "spsc-slowed", "spsc"),
            (Wanted { bytes: 6_220_800, rate: Some(60.0), ..ANY }, "spsc-slowed", "spsc"),
            (ANY, "shm-pipe", "spsc"),
            (Wanted { processes: true, ..ANY }, "spsc", "shm-pipe"),
            (Wanted { processes: true, sleeps: true, ..ANY }, "shm-pipe-forever", "process-pipe"),
            (Wanted { processes: true, epoll: true, ..ANY }, "shm-pipe-forever", "shm-pipe-none"),
        ];
        for (wanted, without, with) in cases {
            assert!(against(&wanted, without).is_some(), "{wanted} {without}");
            assert_eq!(against(&wanted, with), None, "{wanted} {with}");
        }
    }

    #[test]
    fn a_pipe_between_processes_is_measured_and_other_kinds_are_not() {
        let there = Wanted { processes: true, ..ANY };
        assert!(there.is_measured() && ANY.is_measured());
        for without in [
            Wanted { senders: 2, ..there.clone() },
            Wanted { receivers: 2, ..there.clone() },
            Wanted { to_all: true, ..there.clone() },
            Wanted { newest: true, ..there.clone() },
            Wanted { answers: true, ..there.clone() },
            Wanted { bytes: 4_096, ..there.clone() },
            Wanted { by: Some(By::Pointer), ..there.clone() },
            Wanted { channels: Some(9), ..there.clone() },
            // All of them have a bound.
            Wanted { unbounded: true, ..there.clone() },
            Wanted { answers: true, ..ANY },
        ] {
            assert!(!without.is_measured(), "{without}");
        }
        assert!(Wanted { bytes: 4_096, by: Some(By::Value), ..there }.is_measured());
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        assert!(ANY.check().is_ok());
        for wanted in [
            Wanted { senders: 0, ..ANY },
            Wanted { receivers: 65, ..ANY },
            Wanted { bytes: 0, ..ANY },
            Wanted { bytes: 100_000_001, ..ANY },
            Wanted { rate: Some(0.0), ..ANY },
            Wanted { rate: Some(1e9), ..ANY },
            Wanted { channels: Some(0), ..ANY },
            Wanted { channels: Some(1_000_001), ..ANY },
        ] {
            assert_eq!(wanted.check().unwrap_err().exit_status(), 2, "{wanted}");
        }
    }

    #[test]
    fn every_size_is_measured_and_what_was_measured_instead_is_said() {
        let told = |wanted: Wanted| {
            wanted.check().unwrap();
            wanted.instead()
        };
        assert_eq!(told(ANY), None);
        assert_eq!(told(Wanted { bytes: 1, ..ANY }).unwrap(), "All messages were of 8 bytes.");
        let several = told(Wanted { bytes: 256, senders: 8, ..ANY }).unwrap();
        assert!(several.starts_with("All messages were of 8 bytes, the size of an address"), "{several}");
        let video = Wanted { bytes: 6_220_800, rate: Some(60.0), ..ANY };
        assert_eq!(told(video).unwrap(), "Streams were of 65,536 bytes in a pool, single messages of 8 bytes.");
        let pointer = Wanted { bytes: 3_000, by: Some(By::Pointer), ..ANY };
        assert_eq!(told(pointer).unwrap(), "Streams were of 4,096 bytes by pointer, single messages of 8 bytes.");
        let elsewhere = Wanted { bytes: 100, processes: true, ..ANY };
        assert_eq!(told(elsewhere).unwrap(), "Streams were of 256 bytes, single messages of 8 bytes.");
        if carried::ALL_SIZES {
            assert_eq!(
                told(Wanted { bytes: 9, ..ANY }).unwrap(),
                "Streams were of 64 bytes, single messages of 8 bytes."
            );
            // Only its smaller sizes have loops: 100 bytes are measured with 512.
            let few = against(&Wanted { bytes: 100, ..ANY }, "spsc-bounded-forever");
            assert_eq!(few.unwrap(), "has no loop for 512 bytes for these threads, or cannot carry them");
        }
    }

    #[test]
    fn a_rate_is_said_in_its_own_unit() {
        let rates = [1e4, 60.0, 1.0, 1.0 / 60.0, 1.0 / 3_600.0, 1.0 / 86_400.0, 1.0 / 1_800.0];
        let due = [
            "10k messages a second",
            "60.0 messages a second",
            "one message a second",
            "one message a minute",
            "one message an hour",
            "one message a day",
            "2.00 messages an hour",
        ];
        assert_eq!(rates.map(spoken), due);
        assert!(Wanted { rate: Some(1.0), ..ANY }.is_rare() && !ANY.is_rare());
    }

    #[test]
    fn the_next_size_with_loops_is_measured() {
        let measured = |bytes| Wanted { bytes, ..ANY }.measured().value;
        assert_eq!([1, 8].map(measured), [8.0, 8.0]);
        if carried::ALL_SIZES {
            assert_eq!([9, 1_025].map(measured), [64.0, 2_048.0]);
        }
    }
}
