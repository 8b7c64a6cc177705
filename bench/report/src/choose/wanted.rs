//! The requirements for a transport, and why a transport does not meet them.

use clap::Args;
use ybench_measure::error::Error;
use ybench_measure::figures::{count, grouped, several};
use ybench_measure::footprint;
use ybench_measure::record::{Parameter, Quantity};
use ybench_measure::scenario::carried;
use ybench_measure::transport::{Shape, Traits, Waits};

#[derive(Clone, Debug, Args)]
pub struct Wanted {
    /// Number of sending threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub senders: usize,
    /// Number of receiving threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub receivers: usize,
    /// The receiver must be able to sleep while there is no message
    #[arg(long)]
    pub sleeps: bool,
    /// The receiver must wait in epoll, alongside sockets: ranks only transports measured in this way
    #[arg(long)]
    pub epoll: bool,
    /// The sender must wait when the channel is full
    #[arg(long)]
    pub bounded: bool,
    /// The sender must never wait
    #[arg(long, conflicts_with = "bounded")]
    pub unbounded: bool,
    /// Message size, passed by value. Sizes over 8 only for streams from one thread or to several, and not with --rate
    #[arg(long, value_name = "BYTES", default_value_t = 8)]
    pub bytes: usize,
    /// Messages per second, approximately [default: as many as possible]
    #[arg(long, value_name = "N")]
    pub rate: Option<f64>,
    /// Channels that exist at the same time: ranks by what each costs to make, use once and drop, and shows its bytes
    #[arg(long, value_name = "N")]
    pub channels: Option<u64>,
}

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
        if self.rate.is_some_and(|rate| !(1.0..=1e8).contains(&rate)) {
            return refuse("--rate takes 1 to 100,000,000 messages per second.".to_owned());
        }
        self.channels.map_or(Ok(()), footprint::check)?;
        let all = 1..=carried::EVERY.last().map_or(0, |largest| largest.value as usize);
        if self.carried().is_none() && all.contains(&self.bytes) {
            let (largest, command) = (carried::SMALLEST.value, carried::WITH_ALL_SIZES);
            return refuse(format!("--bytes of more than {largest} needs a feature: `{command} -- choose ...`."));
        }
        if self.carried().is_none() {
            return refuse(format!("--bytes takes 1 to 65,536 bytes, not {}.", self.bytes));
        }
        // A ranking of shorter messages would look like one of these.
        if self.bytes > carried::SMALLEST.value as usize {
            let refuse_for = |why: &str| {
                refuse(format!("--bytes takes at most {} {why}: longer ones have no loop.", carried::SMALLEST.value))
            };
            if self.rate.is_some() {
                return refuse_for("with --rate");
            }
            if self.senders > 1 && self.receivers == 1 {
                return refuse_for("from several senders to one receiver");
            }
        }
        Ok(())
    }

    pub fn shape(&self) -> Shape {
        Shape::new(self.senders, self.receivers)
    }

    /// The size of the streamed messages: the next size that has a compiled loop. Streams from many threads to one have
    /// a loop for the smallest size only; so have single messages.
    pub fn measured(&self) -> Parameter {
        self.carried().unwrap_or(carried::SMALLEST)
    }

    /// The sizes measured, if they differ from the requested one.
    pub fn instead(&self) -> Option<String> {
        let (streamed, single) = (self.measured().value, carried::SMALLEST.value);
        let bytes = |value: f64| several(value as usize, "byte");
        if streamed > single {
            return Some(format!("Streams were of {}, single messages of {}.", bytes(streamed), bytes(single)));
        }
        (streamed as usize != self.bytes).then(|| format!("All messages were of {}.", bytes(streamed)))
    }

    fn carried(&self) -> Option<Parameter> {
        let holds = |one: &&Parameter| one.quantity == Quantity::BytesByValue && one.value >= self.bytes as f64;
        carried::PARAMETERS.iter().find(holds).filter(|_| self.bytes > 0).copied()
    }

    /// Why a transport does not meet the requirements, without a full stop; `None` if it does.
    pub fn against(&self, traits: &Traits) -> Option<String> {
        let shape = self.shape();
        let (most, bytes) = ((traits.most_bytes)(shape), self.measured().value);
        let against = [
            (!traits.one_by_one && traits.waits == Waits::Suspends, "between tasks".to_owned()),
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
            // Its time here does not show its time in epoll.
            (
                self.epoll && traits.waits != Waits::SleepsInPoll,
                "can be added to epoll, but does not sleep there at once in this benchmark".to_owned(),
            ),
            (self.bounded && !traits.bounded, "has no bound".to_owned()),
            (self.unbounded && traits.bounded, "its sender waits at a bound".to_owned()),
            (
                (most as f64) < bytes,
                format!("has no loop for {} bytes by value for these threads, or cannot carry them", grouped(bytes)),
            ),
            ((traits.available)().is_err(), "not on this machine".to_owned()),
            (
                self.channels.is_some() && footprint::named(traits.name).is_none(),
                "not measured as one of many: see `ybench footprint`".to_owned(),
            ),
        ];
        against.into_iter().find(|(against, _)| *against).map(|(_, why)| why)
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Wanted: {}, {}", several(self.senders, "sender"), several(self.receivers, "receiver"))?;
        write!(out, ", {}", several(self.bytes, "byte"))?;
        let said = [
            (self.sleeps, "can sleep"),
            (self.epoll, "can wait in epoll"),
            (self.bounded, "with a bound"),
            (self.unbounded, "without a bound"),
        ];
        said.iter().filter(|(wanted, _)| *wanted).try_for_each(|(_, said)| write!(out, ", {said}"))?;
        self.rate.map_or(Ok(()), |rate| write!(out, ", {} messages a second", count(rate)))?;
        self.channels.map_or(Ok(()), |channels| write!(out, ", {}", several(channels as usize, "channel")))?;
        write!(out, ".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ybench_measure::registry;

    const ANY: Wanted = Wanted {
        senders: 1,
        receivers: 1,
        sleeps: false,
        epoll: false,
        bounded: false,
        unbounded: false,
        bytes: 8,
        rate: None,
        channels: None,
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
        ];
        for (wanted, without, with) in cases {
            assert!(against(&wanted, without).is_some(), "{wanted} {without}");
            assert_eq!(against(&wanted, with), None, "{wanted} {with}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        assert!(ANY.check().is_ok());
        for wanted in [
            Wanted { senders: 0, ..ANY },
            Wanted { receivers: 65, ..ANY },
            Wanted { bytes: 0, ..ANY },
            Wanted { bytes: 65_537, ..ANY },
            Wanted { rate: Some(0.0), ..ANY },
            Wanted { channels: Some(0), ..ANY },
            Wanted { channels: Some(1_000_001), ..ANY },
            Wanted { bytes: 9, rate: Some(1e3), ..ANY },
            Wanted { bytes: 9, senders: 2, ..ANY },
        ] {
            assert_eq!(wanted.check().unwrap_err().exit_status(), 2, "{wanted}");
        }
    }

    #[test]
    fn unsupported_sizes_above_8_bytes_are_refused_and_other_sizes_reported() {
        if !carried::ALL_SIZES {
            let refused = Wanted { bytes: 64, senders: 2, receivers: 2, ..ANY }.check().unwrap_err().to_string();
            assert!(refused.contains("--features sizes -- choose"), "{refused}");
            return;
        }
        for wanted in
            [Wanted { bytes: 8, rate: Some(1e3), ..ANY }, Wanted { bytes: 64, senders: 2, receivers: 2, ..ANY }]
        {
            assert!(wanted.check().is_ok(), "{wanted}");
        }
        let told = [1, 8, 9, 4_096].map(|bytes| Wanted { bytes, ..ANY }.instead());
        let due = [
            Some("All messages were of 8 bytes."),
            None,
            Some("Streams were of 64 bytes, single messages of 8 bytes."),
            Some("Streams were of 4,096 bytes, single messages of 8 bytes."),
        ];
        assert_eq!(told, due.map(|sentence| sentence.map(str::to_owned)));
        // Only its smaller sizes have loops: 100 bytes are measured with 512.
        let few = against(&Wanted { bytes: 100, ..ANY }, "spsc-bounded-forever");
        assert_eq!(few.unwrap(), "has no loop for 512 bytes by value for these threads, or cannot carry them");
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
