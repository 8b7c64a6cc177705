//! The settings that all runs of one request share, and how a transport or a baseline becomes a competitor under them.

use crate::error::Fault;
use crate::limits::{self, Probe};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::Contestant;
use crate::rounds::{Contender, Length, Run, guests};
use crate::transport::Traits;

/// The place, the number of rounds and the length of runs.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub place: Place,
    pub rounds: u32,
    /// The length of a transport's run.
    pub transports: Length,
    /// The length of a baseline's run.
    pub limits: Length,
    /// Whether the user named the transports. A named transport that takes no part in a scenario is reported.
    pub named: bool,
}

impl Frame {
    /// The same with both threads on the first CPU.
    pub fn together(self) -> Self {
        Self { place: self.place.together(), ..self }
    }

    pub fn limit(&self, probe: &Probe) -> Contender {
        Contender::limit(probe, self.place, self.limits)
    }

    /// The baseline measured at both ends of each round, unless another is asked for.
    pub fn floor(&self) -> &'static Probe {
        if self.place.one_cpu() { &limits::FUTEX_ONE_CPU } else { &limits::TWO_LINE_FLOOR }
    }

    /// The baseline of throughput.
    pub fn stream_limit(&self) -> &'static Probe {
        if self.place.one_cpu() { &limits::ONE_THREAD } else { &limits::HAND_OVER }
    }

    /// In addition to the baseline of this name, which is there already, and on one CPU to the bare futex.
    pub fn those_that_fit(&self, probes: &[&'static Probe], floor: &str) -> Vec<Contender> {
        let there = |name: &str| name == floor || (self.place.one_cpu() && name == limits::FUTEX.name);
        let fitting = probes.iter().filter(|probe| probe.fits(self.place) && !there(probe.name));
        fitting.map(|probe| self.limit(probe)).collect()
    }

    /// A transport with the driver that runs it. `limit` is the baseline of its own kind.
    pub fn transport<Made: Into<Outcome>>(
        &self,
        traits: &Traits,
        limit: &Probe,
        run: impl Fn(u64) -> Result<Made, Fault> + 'static,
    ) -> Contender {
        self.contender(traits, limit, Box::new(move |units| run(units).map(Into::into)))
    }

    /// Compiled once for all drivers.
    fn contender(&self, traits: &Traits, limit: &Probe, run: Run) -> Contender {
        let contestant = Contestant {
            name: traits.name.to_owned(),
            limit: Some(limit.name.to_owned()),
            waits: Some(traits.waits),
            family: Some(traits.family),
            explained: traits.about.to_owned(),
            ..Contestant::default()
        };
        let run = if traits.guest { guests::watched(run) } else { run };
        Contender { contestant, length: self.transports, run }
    }
}
