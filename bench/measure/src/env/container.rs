//! Whether this process runs in a container, and the CPU time that a control group allows it.
//!
//! A file such as /.dockerenv alone is not sufficient: virtual machines are made from the images of containers too. A
//! process is in a container if it has namespaces other than the first ones of its kernel. The files only give the
//! name.
//! Cannot: detect a container that shares every namespace of its host except the mounts.

use std::fs;
use std::path::{Path, PathBuf};

use super::line;

/// The kernel gives its first namespaces fixed numbers (include/uapi/linux/nsfs.h).
const FIRST: [(&str, &str); 4] = [
    ("ipc", "ipc:[4026531839]"),
    ("uts", "uts:[4026531838]"),
    ("pid", "pid:[4026531836]"),
    ("cgroup", "cgroup:[4026531835]"),
];

/// The kind of container this process is in.
pub(super) fn kind() -> Option<String> {
    let own = |name: &str| fs::read_link(format!("/proc/self/ns/{name}")).ok()?.to_str().map(str::to_owned);
    let namespaces = FIRST.map(|(name, _)| own(name));
    let cgroups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let told = line("/run/systemd/container").or_else(|| line("/run/host/container-manager"));
    named(&namespaces, told, &cgroups, |path| Path::new(path).exists())
}

/// `told` is the text that a container manager left for its guests to read.
fn named(
    namespaces: &[Option<String>; 4],
    told: Option<String>,
    cgroups: &str,
    exists: impl Fn(&str) -> bool,
) -> Option<String> {
    let differs = |(own, (_, first)): (&Option<String>, (&str, &str))| own.as_ref().is_some_and(|own| own != first);
    let count = namespaces.iter().zip(FIRST).filter(|pair| differs(*pair)).count();
    let by_file = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let name = told
        .or_else(|| by_file.iter().find(|(path, _)| exists(path)).map(|(_, name)| (*name).to_owned()))
        .or_else(|| ["kubepods", "docker", "lxc"].into_iter().find(|name| cgroups.contains(name)).map(str::to_owned));
    match (count, name) {
        (0, _) => None,
        (_, Some(name)) => Some(name),
        // A service or a sandbox may have one namespace of its own.
        (1, None) => None,
        (_, None) => Some("unnamed".to_owned()),
    }
}

/// The number of CPUs whose time this process may use: the least over all of its control groups.
pub(super) fn cpu_quota() -> Option<f64> {
    let cgroups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let quotas = folders(&cgroups).into_iter().filter_map(|folder| {
        let unified = || quota(&line(folder.join("cpu.max"))?);
        let former = || {
            let [quota_us, period_us] = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map(|name| line(folder.join(name)));
            quota(&format!("{} {}", quota_us?, period_us?))
        };
        unified().or_else(former)
    });
    quotas.min_by(f64::total_cmp)
}

/// The files with the limits of this process and of the groups around it.
fn folders(cgroups: &str) -> Vec<PathBuf> {
    let hierarchies = cgroups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup").to_owned(),
            // The former version, in which every controller has a hierarchy of its own.
            _ if controllers.split(',').any(|name| name == "cpu") => Path::new("/sys/fs/cgroup").join(controllers),
            _ => return None,
        };
        Some((root, path.trim_start_matches('/').to_owned()))
    });
    let inside = |(root, path): (PathBuf, String)| -> Vec<PathBuf> {
        Path::new(&path).ancestors().map(|group| root.join(group)).collect()
    };
    hierarchies.flat_map(inside).collect()
}

/// `quota period`, both in microseconds; `max` or -1 is no limit.
fn quota(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    let (quota, period) = (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first() -> [Option<String>; 4] {
        FIRST.map(|(_, first)| Some(first.to_owned()))
    }

    fn own(names: &[&str]) -> [Option<String>; 4] {
        FIRST.map(|(name, first)| Some(if names.contains(&name) { format!("{name}:[1]") } else { first.to_owned() }))
    }

    #[test]
    fn a_virtual_machine_made_from_an_image_is_no_container() {
        assert_eq!(named(&first(), None, "0::/\n", |path| path == "/.dockerenv"), None);
        assert_eq!(named(&[const { None }; 4], None, "", |_| true), None);
    }

    #[test]
    fn a_container_is_named_by_what_it_finds() {
        let inside = own(&["pid", "ipc", "uts"]);
        let name = |told: Option<&str>, cgroups, file: &'static str| {
            named(&inside, told.map(str::to_owned), cgroups, move |path| path == file)
        };
        assert_eq!(name(Some("systemd-nspawn"), "", "/.dockerenv").as_deref(), Some("systemd-nspawn"));
        assert_eq!(name(None, "", "/.dockerenv").as_deref(), Some("docker"));
        assert_eq!(name(None, "", "/run/.containerenv").as_deref(), Some("podman"));
        assert_eq!(name(None, "1:cpu:/kubepods/burstable/pod1\n", "").as_deref(), Some("kubepods"));
        assert_eq!(name(None, "0::/\n", "").as_deref(), Some("unnamed"));
    }

    #[test]
    fn one_namespace_without_a_name_is_a_sandbox() {
        assert_eq!(named(&own(&["ipc"]), None, "0::/\n", |_| false), None);
        assert_eq!(named(&own(&["cgroup"]), None, "0::/\n", |path| path == "/.dockerenv").as_deref(), Some("docker"));
    }

    #[test]
    fn quotas_are_shares_of_a_period() {
        assert_eq!(quota("150000 100000"), Some(1.5));
        assert_eq!(quota("max 100000"), None);
        assert_eq!(quota("-1 100000"), None);
        assert_eq!(quota("100000 0"), None);
        assert_eq!(quota(""), None);
    }

    #[test]
    fn limits_of_the_groups_around_count_as_well() {
        let paths = |text| folders(text).iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(paths("0::/a/b\n"), ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup/"]);
        assert_eq!(paths("4:memory:/a\n3:cpu,cpuacct:/\n"), ["/sys/fs/cgroup/cpu,cpuacct/"]);
        assert_eq!(paths("nonsense\n"), [""; 0]);
    }
}
