//! What all the runs of one request have in common, and how a transport or a limit becomes a contender in it.

use crate::error::Fault;
use crate::limits::{self, Probe};
use crate::outcome::Outcome;
use crate::place::Place;
use crate::record::Contestant;
use crate::rounds::{Contender, Length, Run, guests};
use crate::transport::Traits;

/// Where, how often and how long.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub place: Place,
    pub rounds: u32,
    /// How long a run of a transport is.
    pub transports: Length,
    /// How long a run of a limit is.
    pub limits: Length,
    /// Whether the user named the transports: whoever was named and takes no part in a scenario is told.
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

    /// The limit measured at both ends of each round, where nothing else is asked for.
    pub fn floor(&self) -> &'static Probe {
        if self.place.one_cpu() { &limits::FUTEX_ONE_CPU } else { &limits::TWO_LINE_FLOOR }
    }

    /// The limit of throughput.
    pub fn stream_limit(&self) -> &'static Probe {
        if self.place.one_cpu() { &limits::ONE_THREAD } else { &limits::HAND_OVER }
    }

    /// Beside the floor, which is there already, and which on one CPU is the bare futex.
    pub fn those_that_fit(&self, probes: &[&'static Probe]) -> Vec<Contender> {
        let floor = self.floor().name;
        let there = |name: &str| name == floor || (self.place.one_cpu() && name == limits::FUTEX.name);
        let fitting = probes.iter().filter(|probe| probe.fits(self.place) && !there(probe.name));
        fitting.map(|probe| self.limit(probe)).collect()
    }

    /// A transport with the driver that runs it. `limit` is the limit of its own kind.
    pub fn transport<Made: Into<Outcome>>(
        &self,
        traits: &Traits,
        limit: &Probe,
        run: impl Fn(u64) -> Result<Made, Fault> + 'static,
    ) -> Contender {
        let contestant = Contestant {
            name: traits.name.to_owned(),
            limit: Some(limit.name.to_owned()),
            waits: Some(traits.waits),
            family: Some(traits.family),
            explained: traits.about.to_owned(),
            ..Contestant::default()
        };
        let run = move |units| run(units).map(Into::into);
        let run: Run = if traits.guest { guests::watched(run) } else { Box::new(run) };
        Contender { contestant, length: self.transports, run }
    }
}
