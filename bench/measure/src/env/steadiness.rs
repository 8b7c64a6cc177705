//! The reasons why the times of a machine are less steady than possible: each fact with its advice.

use super::{Environment, line};

/// The system's settings for sharing, switching and idling its CPUs.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Steadiness {
    /// CPUs that the scheduler does not use, as the kernel spells a list.
    pub isolated: Option<String>,
    /// CPUs that the scheduler's clock does not interrupt while one thread runs.
    pub tickless: Option<String>,
    /// Whether two CPUs may be threads of one core.
    pub smt: Option<bool>,
    /// Microseconds to leave the deepest sleep of an idle CPU.
    pub idle_exit_us: Option<u32>,
}

const CPUS: &str = "/sys/devices/system/cpu";

impl Steadiness {
    pub(super) fn read() -> Self {
        let list = |name: &str| line(format!("{CPUS}/{name}")).filter(|list| list != "(null)");
        let exit = |state: u32| line(format!("{CPUS}/cpu0/cpuidle/state{state}/latency"))?.parse().ok();
        Self {
            isolated: list("isolated"),
            tickless: list("nohz_full"),
            smt: line(format!("{CPUS}/smt/active")).map(|active| active == "1"),
            idle_exit_us: (0..10).map_while(exit).max(),
        }
    }
}

/// Deeper sleeps than this are longer than the measured wake-up.
const DEEP_US: u32 = 5;

/// Each fact, and its advice, for a machine whose times should be steadier. `cpus` are those of the two threads.
pub fn advice(environment: &Environment, cpus: [usize; 2]) -> Vec<(String, String)> {
    let Environment { steadiness, turbo, hypervisor, .. } = environment;
    let [first, second] = cpus;
    let mut advice = Vec::new();
    let mut add = |fact: String, what: String| advice.push((fact, what));
    if let Some(hypervisor) = hypervisor {
        let what =
            "Nothing inside it keeps its host from running something else: pin its CPUs there, or use the metal.";
        add(format!("A hypervisor ({hypervisor}) shares this machine."), what.to_owned());
    }
    if steadiness.isolated.is_none() {
        let what =
            format!("Start the kernel with isolcpus={first},{second}, and measure with --cpus {first},{second}.");
        add("No CPU is isolated: the scheduler may run any thread next to the measured ones.".to_owned(), what);
    }
    if steadiness.tickless.is_none() {
        let what = format!("Start the kernel with nohz_full={first},{second}.");
        add("The scheduler's clock interrupts every CPU, a hundred times a second or more.".to_owned(), what);
    }
    if steadiness.smt == Some(true) {
        let what = "Turn it off (echo off > /sys/devices/system/cpu/smt/control), or leave the sibling of each idle.";
        add("Two CPUs may be threads of one core and slow each other down (SMT).".to_owned(), what.to_owned());
    }
    if let Some(exit) = steadiness.idle_exit_us.filter(|exit| *exit > DEEP_US) {
        let what = "Start the kernel with cpuidle.off=1, or hold /dev/cpu_dma_latency at 0 while it runs.";
        add(format!("An idle CPU may sleep so deeply that waking takes {exit} us (C-states)."), what.to_owned());
    }
    if let Some(governor) = environment.varying_governor() {
        let what = "Set it to performance: cpupower frequency-set -g performance.";
        add(format!("The frequency follows the load (governor {governor})."), what.to_owned());
    }
    if *turbo == Some(true) {
        let what = "Forbid turbo for the time of the run.";
        add("The frequency follows heat (turbo).".to_owned(), what.to_owned());
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_is_set_up_needs_no_advice() {
        let steadiness = Steadiness {
            isolated: Some("2-3".into()),
            tickless: Some("2-3".into()),
            smt: Some(false),
            idle_exit_us: Some(2),
        };
        let environment = Environment { steadiness, governor: Some("performance".into()), ..Environment::default() };
        assert_eq!(advice(&environment, [2, 3]), []);
    }

    #[test]
    fn each_fact_has_its_advice() {
        let steadiness = Steadiness { smt: Some(true), idle_exit_us: Some(130), ..Steadiness::default() };
        let environment = Environment {
            steadiness,
            governor: Some("powersave".into()),
            turbo: Some(true),
            hypervisor: Some("KVM".into()),
            ..Environment::default()
        };
        let advice = advice(&environment, [2, 5]);
        assert_eq!(advice.len(), 7);
        assert!(advice.iter().any(|(_, what)| what.contains("isolcpus=2,5")), "{advice:?}");
        assert!(advice.iter().any(|(fact, _)| fact.contains("130 us")), "{advice:?}");
    }
}
