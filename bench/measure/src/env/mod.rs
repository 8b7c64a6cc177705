//! The machine and the program that a result comes from, as far as they are known. Whatever cannot be read is absent.
//! Any thread may call, which reads a few dozen small files.
//!
//! | file | contents |
//! |---|---|
//! | `cpu` | the model, the frequency and the causes of its changes, flaws and their mitigations, the hypervisor |
//! | `steadiness` | the causes of unsteady times, with advice |
//! | `topology` | sockets, cores, threads, memory nodes, and the caches with the CPUs that share them |
//! | `container` | whether this is a container, and the CPU time that a control group allows |
//! | `steal` | the time that the hypervisor takes |

pub mod container;
pub mod cpu;
mod kernel;
pub mod steadiness;
mod steal;
pub mod topology;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::kernel::{Allowed, KernelLimits};
pub use self::steadiness::{Steadiness, advice};
pub use self::steal::{seconds_of_others, stolen_seconds};
use self::topology::{Cache, Topology};
use crate::{figures, place};

/// The facts that only the build of the program has, as it stores them there. Absent where it did not.
#[derive(Clone, Debug, Default)]
pub struct Built {
    pub compiler: Option<&'static str>,
    pub commit: Option<&'static str>,
    /// `one 1.0,two 2.0`
    pub crates: Option<&'static str>,
    /// The kernel's limits for this process. The caller that has them passes them.
    pub kernel_limits: KernelLimits,
}

/// Every field except the first ones may be missing in files of earlier versions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    pub cpu_model: Option<String>,
    /// The processor's family, where the model does not have it.
    pub cpu_family: Option<u32>,
    /// The highest frequency where the system reports it, otherwise the current one.
    pub cpu_megahertz: Option<f64>,
    pub topology: Topology,
    pub caches: Vec<Cache>,
    pub allowed_cpus: Vec<usize>,
    pub memory_bytes: Option<u64>,
    pub memory_available_bytes: Option<u64>,
    pub kernel: Option<String>,
    /// The name of the hypervisor, or "unnamed" where only the processor's flag reports one.
    pub hypervisor: Option<String>,
    /// The kind of container, or "unnamed" where only its own namespaces show one.
    pub container: Option<String>,
    /// The number of CPUs whose time the control groups allow this process, where one limits it.
    pub cpu_quota: Option<f64>,
    pub governor: Option<String>,
    /// Whether the processor may run faster than its nominal frequency.
    pub turbo: Option<bool>,
    pub clock_source: Option<String>,
    pub steadiness: Steadiness,
    /// The kernel's limits for its own mechanisms, and how much of them was used.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_limits: KernelLimits,
    /// Flaws of the processor that the kernel reports, and its mitigation of each.
    pub mitigations: BTreeMap<String, String>,
    /// Runnable threads, averaged over the minute before the run: also those of a run of this program before it.
    pub load: Option<f64>,
    /// The allowed CPUs that other programs kept busy just before the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    pub compiler: Option<String>,
    pub ybench: String,
    /// Locked versions of the crates that are measured or that measure.
    pub crates: BTreeMap<String, String>,
    pub commit: Option<String>,
    pub debug_build: bool,
}

impl Environment {
    /// The governor, where it lets the frequency follow the load.
    pub fn varying_governor(&self) -> Option<&String> {
        self.governor.as_ref().filter(|governor| *governor != "performance")
    }

    pub fn capture(built: Built) -> Self {
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let allowed_cpus = place::allowed();
        Self {
            cpu_model: cpu::model(&cpuinfo),
            cpu_family: cpu::family(&cpuinfo),
            cpu_megahertz: cpu::megahertz(&cpuinfo, line(cpu::HIGHEST_KILOHERTZ).as_deref()),
            topology: Topology::read(),
            caches: topology::caches(&allowed_cpus),
            allowed_cpus,
            memory_bytes: bytes(&meminfo, "MemTotal"),
            memory_available_bytes: bytes(&meminfo, "MemAvailable"),
            kernel: line("/proc/sys/kernel/osrelease"),
            hypervisor: cpu::hypervisor(
                &cpuinfo,
                cpu::hypervisor_s_own_word().or_else(|| line("/sys/hypervisor/type")),
                line("/sys/class/dmi/id/sys_vendor"),
            ),
            container: container::kind(),
            cpu_quota: container::cpu_quota(),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            turbo: cpu::turbo(line(cpu::NO_TURBO).as_deref(), line(cpu::BOOST).as_deref()),
            clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            steadiness: Steadiness::read(),
            kernel_limits: built.kernel_limits,
            mitigations: cpu::mitigations(),
            load: line("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
            busy: steal::busy(&place::allowed()),
            compiler: built.compiler.map(str::to_owned),
            ybench: env!("CARGO_PKG_VERSION").to_owned(),
            crates: built.crates.map(crates).unwrap_or_default(),
            commit: built.commit.map(str::to_owned),
            debug_build: cfg!(debug_assertions),
        }
    }

    /// One line for the head of a table.
    pub fn in_words(&self) -> String {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
        let inside = |kind: &str, name: &Option<String>| {
            name.as_ref().map_or(String::new(), |name| format!(", {kind} ({name})"))
        };
        format!(
            "{}, {} allowed{}{}, Linux {}, {}, ybench {} (commit {})",
            known(&self.cpu_model),
            figures::several(self.allowed_cpus.len(), "CPU"),
            inside("virtual", &self.hypervisor),
            inside("in a container", &self.container),
            known(&self.kernel),
            known(&self.compiler),
            self.ybench,
            known(&self.commit),
        )
    }
}

/// The first line of a file, unless it is empty.
fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.lines().next()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// One value of /proc/meminfo.
fn bytes(meminfo: &str, name: &str) -> Option<u64> {
    let value = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// As they are in [`Built::crates`].
fn crates(list: &str) -> BTreeMap<String, String> {
    let pairs = list.split(',').filter_map(|pair| pair.split_once(' '));
    pairs.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_in_bytes() {
        let meminfo = "MemTotal:       16316412 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(bytes(meminfo, "MemTotal"), Some(16_316_412 * 1024));
        assert_eq!(bytes(meminfo, "MemAvailable"), Some(2 << 20));
        assert_eq!(bytes(meminfo, "Mem"), None);
        assert_eq!(bytes("MemTotal: many\n", "MemTotal"), None);
    }

    #[test]
    fn the_build_s_list_of_crates_is_read_back() {
        let read = crates("rtrb 0.4.1,ysuite 0.1.0");
        assert_eq!(read.into_iter().collect::<Vec<_>>().len(), 2);
        assert!(crates("").is_empty());
    }

    #[test]
    fn a_file_of_an_earlier_version_still_loads() {
        let old = r#"{"cpu_model": "Fast 1", "allowed_cpus": [0, 1], "kernel": null, "hypervisor": null,
            "governor": null, "clock_source": "tsc", "load": 0.5, "compiler": null, "ybench": "0.1.0",
            "commit": null, "debug_build": false}"#;
        let read: Environment = serde_json::from_str(old).unwrap();
        assert_eq!(read.allowed_cpus, [0, 1]);
        assert!(read.caches.is_empty() && read.turbo.is_none());
    }

    #[test]
    fn what_is_captured_comes_back_from_json() {
        let kernel_limits = KernelLimits::from([("fs.x".into(), Allowed { allowed: 5, used: Some(4) })]);
        let built = Built { crates: Some("rtrb 0.4.1"), kernel_limits, ..Built::default() };
        let now = Environment::capture(built);
        let text = serde_json::to_string(&now).unwrap();
        let back: Environment = serde_json::from_str(&text).unwrap();
        assert_eq!((back.caches, back.topology), (now.caches, now.topology));
        assert_eq!((back.mitigations, back.crates), (now.mitigations, now.crates));
        assert_eq!(back.kernel_limits, now.kernel_limits);

        assert!(!now.allowed_cpus.is_empty());
    }
}
