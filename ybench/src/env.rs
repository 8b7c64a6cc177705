//! The machine and the program a result comes from, as far as they can be told. Whatever cannot be read is absent.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::place;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Environment {
    pub cpu_model: Option<String>,
    pub allowed_cpus: Vec<usize>,
    pub kernel: Option<String>,
    /// The name of the hypervisor, or "unnamed" where only the processor's flag tells.
    pub hypervisor: Option<String>,
    pub governor: Option<String>,
    pub clock_source: Option<String>,
    /// Runnable threads, averaged over the minute before the run.
    pub load: Option<f64>,
    pub compiler: Option<String>,
    pub ybench: String,
    pub commit: Option<String>,
    pub debug_build: bool,
}

impl Environment {
    pub fn capture() -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self {
            cpu_model: cpu_model(&cpuinfo),
            allowed_cpus: place::allowed(),
            kernel: line("/proc/sys/kernel/osrelease"),
            hypervisor: hypervisor(&cpuinfo),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            load: line("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            compiler: option_env!("YBENCH_COMPILER").map(str::to_owned),
            ybench: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("YBENCH_COMMIT").map(str::to_owned),
            debug_build: cfg!(debug_assertions),
        }
    }

    /// One line for the head of a table.
    pub fn in_words(&self) -> String {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let machine = self.hypervisor.as_ref().map_or(String::new(), |name| format!(", virtual ({name})"));
        format!(
            "{}, {} CPUs allowed{machine}, Linux {}, {}, ybench {} (commit {})",
            known(&self.cpu_model),
            self.allowed_cpus.len(),
            known(&self.kernel),
            known(&self.compiler),
            self.ybench,
            known(&self.commit),
        )
    }
}

/// Seconds that the hypervisor has taken from each of `cpus` so far, together.
pub fn stolen_seconds(cpus: &[usize]) -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    stolen_ticks(&text, cpus).map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

fn stolen_ticks(stat: &str, cpus: &[usize]) -> Option<u64> {
    let mut sum = 0;
    for cpu in cpus {
        let name = format!("cpu{cpu}");
        let mut fields = stat.lines().map(str::split_whitespace).find_map(|mut fields| {
            let found = fields.next() == Some(name.as_str());
            found.then_some(fields)
        })?;
        sum += fields.nth(7)?.parse::<u64>().ok()?;
    }
    Some(sum)
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.lines().next()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The model's name, or on processors that print none the numbers that stand for it.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let field = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    let numbers = || Some(format!("implementer {}, part {}", field("CPU implementer")?, field("CPU part")?));
    field("model name").or_else(numbers)
}

fn hypervisor(cpuinfo: &str) -> Option<String> {
    let flagged = cpuinfo
        .lines()
        .filter(|line| line.starts_with("flags"))
        .any(|line| line.split_whitespace().any(|flag| flag == "hypervisor"));
    line("/sys/hypervisor/type").or_else(|| {
        let vendor = line("/sys/class/dmi/id/sys_vendor");
        flagged.then(|| vendor.unwrap_or_else(|| "unnamed".to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 20 0 0\nintr 5\n";

    #[test]
    fn stolen_ticks_are_those_of_the_cpus_in_use() {
        assert_eq!(stolen_ticks(STAT, &[0]), Some(8));
        assert_eq!(stolen_ticks(STAT, &[0, 1]), Some(28));
        assert_eq!(stolen_ticks(STAT, &[2]), None);
    }

    #[test]
    fn a_processor_without_a_name_is_known_by_its_numbers() {
        assert_eq!(cpu_model("model name\t: Fast 1\n").as_deref(), Some("Fast 1"));
        let text = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(cpu_model(text).as_deref(), Some("implementer 0x41, part 0xd0c"));
        assert_eq!(cpu_model(""), None);
    }
}
