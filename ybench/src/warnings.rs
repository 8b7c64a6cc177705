//! Every doubt about a result, in one place, each with its advice. Doubts are printed and kept, never a reason to stop.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::env::Environment;
use crate::place::Place;
use crate::stats::listed;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    DebugBuild,
    OneCpu,
    SpinnersLeftOut { scenario: String, names: Vec<String> },
    VirtualMachine { hypervisor: String },
    Governor { governor: String },
    Loaded { load: f64, cpus: usize },
    FewRounds { rounds: u32 },
    RoundsDropped { scenario: String, dropped: usize, of: usize, reasons: Vec<String> },
    AllRoundsDoubtful { scenario: String, of: usize, reasons: Vec<String> },
    Unavailable { name: String, cause: String },
}

/// Fewer rounds than this say little about the spread.
pub const ENOUGH_ROUNDS: u32 = 7;

impl Warning {
    /// What the machine and the request give reason to doubt before anything is measured.
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
        if let Some(governor) = environment.governor.as_ref().filter(|governor| *governor != "performance") {
            warnings.push(Self::Governor { governor: governor.clone() });
        }
        let cpus = environment.allowed_cpus.len();
        if let Some(load) = environment.load.filter(|load| *load > 0.5 * cpus as f64) {
            warnings.push(Self::Loaded { load, cpus });
        }
        if let Some(rounds) = rounds.filter(|rounds| *rounds < ENOUGH_ROUNDS) {
            warnings.push(Self::FewRounds { rounds });
        }
        warnings
    }

    /// What to do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::DebugBuild => "Run it with `cargo run --release`.",
            Self::OneCpu => "Give two CPUs with --cpus, or read the figures as those of two threads sharing one.",
            Self::SpinnersLeftOut { .. } => "Give two CPUs with --cpus to measure them.",
            Self::VirtualMachine { .. } => "Compare ratios inside this run only; use the metal for absolute figures.",
            Self::Governor { .. } => "Set the governor to performance for the time of the run.",
            Self::Loaded { .. } => "Stop other programs and run again.",
            Self::FewRounds { .. } => "Give --rounds 7 or more.",
            Self::RoundsDropped { .. } => "Nothing to do, unless it happens in most rounds.",
            Self::AllRoundsDoubtful { .. } => "Run again when the machine is quiet.",
            Self::Unavailable { .. } => "It was left out.",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DebugBuild => write!(out, "This is a debug build: its figures say nothing about a released program."),
            Self::OneCpu => write!(out, "Both threads share one CPU."),
            Self::SpinnersLeftOut { scenario, names } => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(out, "{scenario}: two spinning threads cannot share a CPU, so {} took no part.", listed(&names))
            }
            Self::VirtualMachine { hypervisor } => write!(out, "This is a virtual machine ({hypervisor})."),
            Self::Governor { governor } => write!(out, "The frequency governor is {governor}."),
            Self::Loaded { load, cpus } => {
                write!(out, "The machine was busy before the run: load {load:.1} on {cpus} CPUs.")
            }
            Self::FewRounds { rounds } => write!(out, "Only {rounds} rounds: the spread says little."),
            Self::RoundsDropped { scenario, dropped, of, reasons } => {
                write!(out, "{scenario}: {dropped} of {of} rounds dropped: {}.", reasons.join("; "))
            }
            Self::AllRoundsDoubtful { scenario, of, reasons } => {
                let first = reasons.first().map_or("", String::as_str);
                write!(
                    out,
                    "{scenario}: all {of} rounds were doubtful, and were kept because nothing else is left: {first}"
                )?;
                write!(out, "{}", if reasons.len() > 1 { " in the first." } else { "." })
            }
            Self::Unavailable { name, cause } => write!(out, "{name} cannot run here: {cause}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            load: Some(1.5),
            ..quiet()
        };
        let warnings = kinds(&environment, Place { first: 0, second: 0 }, Some(3));
        assert_eq!(warnings.len(), 5);
        assert!(warnings.contains(&Warning::OneCpu));
        assert!(warnings.iter().all(|warning| warning.to_string().ends_with('.')));
    }
}
