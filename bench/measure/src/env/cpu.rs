//! The processor: its model, its frequency and the causes of its changes, its flaws, and whether it is a real one.

use std::collections::BTreeMap;
use std::fs;

use super::line;

pub(super) const HIGHEST_KILOHERTZ: &str = "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq";
/// Of the driver intel_pstate: 1 forbids turbo.
pub(super) const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
/// Of all other drivers: 1 allows it.
pub(super) const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";
const VULNERABILITIES: &str = "/sys/devices/system/cpu/vulnerabilities";

/// The model's name. On processors that print none, the numbers of implementer and part.
pub(super) fn model(cpuinfo: &str) -> Option<String> {
    let numbers =
        || Some(format!("implementer {}, part {}", field(cpuinfo, "CPU implementer")?, field(cpuinfo, "CPU part")?));
    field(cpuinfo, "model name").map(str::to_owned).or_else(numbers)
}

/// The maker's number for the generation, where the processor has one.
pub(super) fn family(cpuinfo: &str) -> Option<u32> {
    field(cpuinfo, "cpu family")?.parse().ok()
}

/// The highest frequency where the system reports it, otherwise the current one.
pub(super) fn megahertz(cpuinfo: &str, highest_kilohertz: Option<&str>) -> Option<f64> {
    let highest = highest_kilohertz.and_then(|text| text.parse::<f64>().ok()).map(|kilohertz| kilohertz / 1000.0);
    highest.or_else(|| field(cpuinfo, "cpu MHz")?.parse().ok())
}

fn field<'a>(cpuinfo: &'a str, name: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// The name that a hypervisor gives for the processor.
pub(super) fn hypervisor_s_own_word() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use raw_cpuid::{CpuId, Hypervisor};
        let identity = CpuId::new().get_hypervisor_info()?.identify();
        match identity {
            Hypervisor::Unknown(..) => None,
            known => Some(format!("{known:?}")),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// `kind` is the hypervisor's own description, `vendor` the maker of the machine.
pub(super) fn hypervisor(cpuinfo: &str, kind: Option<String>, vendor: Option<String>) -> Option<String> {
    let flagged = field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    kind.or_else(|| flagged.then(|| vendor.unwrap_or_else(|| "unnamed".to_owned())))
}

/// Whether the frequency may exceed the nominal one. One of two drivers may report it.
pub(super) fn turbo(no_turbo: Option<&str>, boost: Option<&str>) -> Option<bool> {
    match (no_turbo, boost) {
        (Some("0"), _) | (None, Some("1")) => Some(true),
        (Some("1"), _) | (None, Some("0")) => Some(false),
        _ => None,
    }
}

/// Flaws of this processor and the kernel's mitigation of each.
pub(super) fn mitigations() -> BTreeMap<String, String> {
    let files = fs::read_dir(VULNERABILITIES).into_iter().flatten().flatten();
    files.filter_map(|file| Some((file.file_name().into_string().ok()?, line(file.path())?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUINFO: &str =
        "processor\t: 0\nmodel name\t: Fast 1\ncpu MHz\t\t: 2596.123\nflags\t\t: fpu vme hypervisor lm\n";

    #[test]
    fn a_processor_without_a_name_is_known_by_its_numbers() {
        assert_eq!(model(CPUINFO).as_deref(), Some("Fast 1"));
        let text = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(model(text).as_deref(), Some("implementer 0x41, part 0xd0c"));
        assert_eq!(model(""), None);
    }

    #[test]
    fn the_highest_frequency_goes_before_that_of_the_moment() {
        assert_eq!(megahertz(CPUINFO, None), Some(2596.123));
        assert_eq!(megahertz(CPUINFO, Some("3700000")), Some(3700.0));
        assert_eq!(megahertz("", None), None);
    }

    #[test]
    fn a_virtual_processor_is_known_by_its_flag() {
        assert_eq!(hypervisor(CPUINFO, None, None).as_deref(), Some("unnamed"));
        assert_eq!(hypervisor(CPUINFO, None, Some("QEMU".into())).as_deref(), Some("QEMU"));
        assert_eq!(hypervisor("", Some("xen".into()), None).as_deref(), Some("xen"));
        assert_eq!(hypervisor("flags : fpu nohypervisor\n", None, Some("Dell".into())), None);
    }

    #[test]
    fn turbo_is_reported_by_either_driver() {
        assert_eq!(turbo(Some("0"), None), Some(true));
        assert_eq!(turbo(Some("1"), Some("1")), Some(false));
        assert_eq!(turbo(None, Some("1")), Some(true));
        assert_eq!(turbo(None, Some("0")), Some(false));
        assert_eq!(turbo(None, None), None);
    }
}
