//! Every warning about a result, in one place, each with its advice. Warnings are printed and kept, and never stop a
//! run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::clock::Facts;
use crate::env::Environment;
use crate::figures::several;
use crate::place::Place;
use crate::stats::listed;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    DebugBuild,
    OneCpu,
    SpinnersLeftOut {
        scenario: String,
        names: Vec<String>,
    },
    /// Named by the user.
    TakesNoPart {
        scenario: String,
        names: Vec<String>,
    },
    VirtualMachine {
        hypervisor: String,
    },
    Governor {
        governor: String,
    },
    Turbo,
    CpuQuota {
        cpus: f64,
        allowed: usize,
    },
    /// CPUs that other programs kept busy; in results of earlier versions, runnable threads.
    Loaded {
        load: f64,
        cpus: usize,
    },
    ClockNotInStep {
        reason: String,
    },
    CoarseClock {
        resolution_ns: f64,
    },
    FewRounds {
        rounds: u32,
    },
    RoundsDropped {
        scenario: String,
        dropped: usize,
        of: usize,
        reasons: Vec<String>,
    },
    AllRoundsDoubtful {
        scenario: String,
        of: usize,
        reasons: Vec<String>,
    },
    /// Larger messages by value were asked for, which only a feature has.
    SizesLeftOut {
        largest: f64,
    },
    TimeStolen {
        share: f64,
    },
    /// Other programs were on the CPUs in use for this share of the time.
    WorkOfOthers {
        share: f64,
    },
    Unavailable {
        name: String,
        cause: String,
    },
    /// A third-party competitor that failed validation.
    TakenOut {
        scenario: String,
        name: String,
        sentence: String,
    },
    Interrupted {
        complete: usize,
        planned: usize,
    },
    /// The least and the most that the baseline took in one round, in nanoseconds.
    SeveralStates {
        scenario: String,
        least: f64,
        most: f64,
    },
}

/// A clock too coarse for the quickest messages, which take about this long from CPU to CPU.
const COARSE_NANOSECONDS: f64 = 100.0;

/// Fewer rounds than this give little evidence of the spread.
pub const ENOUGH_ROUNDS: u32 = 7;

/// The result has all the reasons.
const REASONS_SAID: usize = 3;

impl Warning {
    /// A fact about the whole run is not repeated.
    pub fn add_once(warnings: &mut Vec<Self>, new: Option<Self>) {
        warnings.extend(new.filter(|new| !warnings.contains(new)));
    }

    /// Warnings about the machine and the request, before anything is measured.
    pub fn beforehand(environment: &Environment, place: Place, rounds: Option<u32>) -> Vec<Self> {
        let mut warnings = Vec::new();
        if cfg!(debug_assertions) {
            warnings.push(Self::DebugBuild);
        }
        if place.one_cpu() {
            warnings.push(Self::OneCpu);
        }
        if let Some(hypervisor) = &environment.hypervisor {
            warnings.push(Self::VirtualMachine { hypervisor: hypervisor.clone() });
        }
        if let Some(governor) = environment.varying_governor() {
            warnings.push(Self::Governor { governor: governor.clone() });
        }
        if environment.turbo == Some(true) {
            warnings.push(Self::Turbo);
        }
        let cpus = environment.allowed_cpus.len();
        if let Some(quota) = environment.cpu_quota.filter(|quota| *quota < cpus as f64) {
            warnings.push(Self::CpuQuota { cpus: quota, allowed: cpus });
        }
        // More than a tick of the system's own work, and less than a program that works.
        if let Some(load) = environment.busy.filter(|busy| *busy > 0.25) {
            warnings.push(Self::Loaded { load, cpus });
        }
        if let Some(rounds) = rounds.filter(|rounds| *rounds < ENOUGH_ROUNDS) {
            warnings.push(Self::FewRounds { rounds });
        }
        warnings
    }

    /// Warnings about the clock.
    pub fn of_clock(clock: &Facts) -> Vec<Self> {
        let mut warnings = Vec::new();
        if let Err(reason) = clock.step.one_way() {
            warnings.push(Self::ClockNotInStep { reason });
        }
        if clock.resolution_ns > COARSE_NANOSECONDS {
            warnings.push(Self::CoarseClock { resolution_ns: clock.resolution_ns });
        }
        warnings
    }

    /// Whether the CPUs had other work in the run or just before it, so that no figure of it is compared.
    pub fn is_of_a_busy_machine(&self) -> bool {
        matches!(self, Self::Loaded { .. } | Self::TimeStolen { .. } | Self::WorkOfOthers { .. })
    }

    /// Whether it says that a competitor failed validation: the first thing to tell.
    pub fn is_of_a_broken_word(&self) -> bool {
        matches!(self, Self::TakenOut { .. })
    }

    /// Whether it concerns the rounds of one scenario only. A report has one of these for each scenario, or none.
    pub fn is_of_one_scenario(&self) -> bool {
        matches!(
            self,
            Self::RoundsDropped { .. }
                | Self::AllRoundsDoubtful { .. }
                | Self::SeveralStates { .. }
                | Self::SpinnersLeftOut { .. }
                | Self::TakesNoPart { .. }
                | Self::TakenOut { .. }
        )
    }

    /// The advice.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::DebugBuild => "Run it with `cargo run --release`.",
            Self::OneCpu => "Give two CPUs with --cpus, or read the figures as those of two threads sharing one.",
            Self::SpinnersLeftOut { .. } => "Give two CPUs with --cpus to measure them.",
            Self::TakesNoPart { .. } => "`ybench list` says what the scenario asks, and what each transport is.",
            Self::VirtualMachine { .. } => "Compare ratios inside this run only; use the metal for absolute figures.",
            Self::Governor { .. } => "Set the governor to performance for the time of the run.",
            Self::Turbo => "Compare ratios inside this run only, or forbid turbo for the time of the run.",
            Self::CpuQuota { .. } => "Lift the limit for the time of the run.",
            Self::ClockNotInStep { .. } => "Read round trips instead, or give both threads one CPU with --cpus.",
            Self::CoarseClock { .. } => "Read averages over many messages, not the times of single ones.",
            Self::TimeStolen { .. } => "Run again when its host is quiet.",
            Self::WorkOfOthers { .. } | Self::Loaded { .. } => "Stop other programs and run again.",
            Self::FewRounds { .. } => "Give --rounds 7 or more.",
            Self::RoundsDropped { dropped, of, .. } if dropped * 2 > *of => {
                "Most were: run again when the machine is quiet."
            }
            Self::RoundsDropped { .. } => "The other rounds count.",
            Self::AllRoundsDoubtful { .. } => "Run again when the machine is quiet.",
            Self::Unavailable { .. } => "It was left out.",
            Self::SizesLeftOut { .. } => "Build it with `--features sizes` for all of them.",
            Self::TakenOut { .. } => {
                "It is in no table of this result; the figures of the others are not touched by it."
            }
            Self::Interrupted { .. } => "Run it again for all of it.",
            Self::SeveralStates { .. } => {
                "Read the medians as those of a mixture, and run again when the host is quiet."
            }
        }
    }
}

fn all(names: &[String]) -> String {
    listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugBuild => write!(out, "This is a debug build: its figures say nothing about a released program."),
            Self::OneCpu => write!(out, "Both threads share one CPU."),
            Self::SpinnersLeftOut { scenario, names } => {
                write!(out, "{scenario}: two spinning threads cannot share a CPU, so {} took no part.", all(names))
            }
            Self::TakesNoPart { scenario, names } => {
                write!(out, "{scenario}: {} cannot take part.", all(names))
            }
            Self::VirtualMachine { hypervisor } => write!(out, "This is a virtual machine ({hypervisor})."),
            Self::Governor { governor } => write!(out, "The frequency governor is {governor}."),
            Self::Turbo => write!(out, "The processor may change its frequency with heat and load (turbo)."),
            Self::CpuQuota { cpus, allowed } => write!(
                out,
                "A control group leaves this process {cpus:.1} of {allowed} CPUs, and stops it when it keeps more busy."
            ),
            Self::ClockNotInStep { reason } => write!(out, "{reason}"),
            Self::CoarseClock { resolution_ns } => {
                write!(out, "The clock is coarse: it cannot tell times apart below {resolution_ns:.0} ns.")
            }
            Self::TimeStolen { share } => {
                write!(out, "The hypervisor took {:.0} % of the time of the CPUs in use.", share * 100.0)
            }
            Self::WorkOfOthers { share } => {
                write!(out, "Other programs were on the CPUs in use for {:.0} % of the time.", share * 100.0)
            }
            Self::Loaded { load, cpus } => {
                write!(out, "The machine was busy before the run: other programs used {load:.1} of {cpus} CPUs.")
            }
            Self::FewRounds { rounds } => {
                write!(out, "Only {}: the spread says little.", several(*rounds as usize, "round"))
            }
            Self::RoundsDropped { scenario, dropped, of, reasons } => {
                write!(out, "{scenario}: {dropped} of {of} rounds dropped: ")?;
                let said: Vec<&str> = reasons.iter().take(REASONS_SAID).map(String::as_str).collect();
                let more = if reasons.len() > said.len() { ", and so on" } else { "" };
                write!(out, "{}{more}.", said.join("; "))
            }
            Self::AllRoundsDoubtful { scenario, of, reasons } => {
                let first = reasons.first().map_or("", String::as_str);
                write!(
                    out,
                    "{scenario}: all {of} rounds were doubtful, and were kept because nothing else is left: {first}"
                )?;
                write!(out, "{}", if reasons.len() > 1 { " in the first." } else { "." })
            }
            Self::SizesLeftOut { largest } => {
                write!(out, "By value, only messages of {largest} bytes are compiled here.")
            }
            Self::Unavailable { name, cause } => write!(out, "{name} cannot run here: {cause}."),
            Self::TakenOut { scenario, name, sentence } => {
                write!(out, "{scenario}: {name} was taken out: it {sentence}.")
            }
            Self::SeveralStates { scenario, least, most } => {
                write!(out, "{scenario}: the baseline took from {least:.0} to {most:.0} ns from round to round: ")?;
                write!(out, "the machine was in more than one state.")
            }
            Self::Interrupted { complete, planned } => {
                write!(out, "It was interrupted: {complete} of {planned} sessions have any complete round.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Source;
    use crate::clock::step::InStep;

    fn quiet() -> Environment {
        Environment { allowed_cpus: vec![0, 1], ..Environment::default() }
    }

    fn kinds(environment: &Environment, place: Place, rounds: Option<u32>) -> Vec<Warning> {
        let mut warnings = Warning::beforehand(environment, place, rounds);
        warnings.retain(|warning| *warning != Warning::DebugBuild);
        warnings
    }

    #[test]
    fn a_quiet_machine_gives_no_reason() {
        assert_eq!(kinds(&quiet(), Place { first: 0, second: 1 }, Some(7)), []);
    }

    #[test]
    fn each_reason_is_noticed() {
        let environment = Environment {
            hypervisor: Some("kvm".into()),
            governor: Some("powersave".into()),
            busy: Some(1.5),
            ..quiet()
        };
        let warnings = kinds(&environment, Place { first: 0, second: 0 }, Some(3));
        assert_eq!(warnings.len(), 5);
        assert!(warnings.contains(&Warning::OneCpu));
        assert!(warnings.iter().all(|warning| warning.to_string().ends_with('.')));
    }

    #[test]
    fn the_processor_and_the_control_group_are_warned_of() {
        let place = Place { first: 0, second: 1 };
        let environment = Environment { turbo: Some(true), cpu_quota: Some(1.5), ..quiet() };
        assert_eq!(kinds(&environment, place, None), [Warning::Turbo, Warning::CpuQuota { cpus: 1.5, allowed: 2 }]);
        let environment = Environment { turbo: Some(false), cpu_quota: Some(2.0), ..quiet() };
        assert_eq!(kinds(&environment, place, None), []);
    }

    #[test]
    fn a_clock_is_warned_of_for_what_it_cannot_show() {
        let sound = Facts {
            source: Source::OrderedCounter,
            cost_ns: 20.0,
            resolution_ns: 20.0,
            tick_ns: 0.4,
            invariant: Some(true),
            step: InStep::Yes { low: -60.0, high: 60.0 },
            table: Vec::new(),
            overhead_ns: None,
        };
        assert_eq!(Warning::of_clock(&sound), []);
        let step = InStep::No { low: 400.0, high: 600.0 };
        let reason = step.one_way().unwrap_err();
        let unsound = Facts { step, resolution_ns: 1_000.0, ..sound };
        let warnings = [Warning::ClockNotInStep { reason }, Warning::CoarseClock { resolution_ns: 1_000.0 }];
        assert_eq!(Warning::of_clock(&unsound), warnings);
    }
}
