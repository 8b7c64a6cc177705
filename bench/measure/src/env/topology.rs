//! The relations of the CPUs: sockets, cores, threads, memory nodes, and the caches that they share.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::{Deserialize, Serialize};

use super::line;
use crate::place;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES_ONLINE: &str = "/sys/devices/system/node/online";

/// The numbers of each, over all CPUs that are on, allowed or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Topology {
    pub sockets: Option<usize>,
    pub cores: Option<usize>,
    /// Hardware threads: the system calls each a CPU.
    pub threads: Option<usize>,
    pub memory_nodes: Option<usize>,
}

/// All caches that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    pub level: u32,
    /// "data", "instruction" or "unified".
    pub kind: String,
    /// The size of each of them.
    pub bytes: u64,
    /// The CPUs that share one, for each of them, as the kernel spells a list: `0-3,8`.
    pub shared_by: Vec<String>,
}

impl Topology {
    pub(super) fn read() -> Self {
        let online = line(format!("{CPUS}/online")).map(|text| place::list(&text)).unwrap_or_default();
        let of = |name: &'static str| {
            online.iter().map(|cpu| line(format!("{CPUS}/cpu{cpu}/topology/{name}"))).collect::<Vec<_>>()
        };
        Self {
            sockets: distinct(&of("physical_package_id")),
            cores: distinct(&of("thread_siblings_list")),
            threads: (!online.is_empty()).then_some(online.len()),
            memory_nodes: line(NODES_ONLINE).map(|text| place::list(&text).len()),
        }
    }
}

/// The number of different values. Nothing if one of them is missing, or there are none.
fn distinct(values: &[Option<String>]) -> Option<usize> {
    let set: Option<BTreeSet<&str>> = values.iter().map(Option::as_deref).collect();
    set.map(|set| set.len()).filter(|number| *number > 0)
}

/// The caches of these CPUs, the nearest first.
pub(super) fn caches(cpus: &[usize]) -> Vec<Cache> {
    let folders = cpus.iter().flat_map(|cpu| fs::read_dir(format!("{CPUS}/cpu{cpu}/cache")).into_iter().flatten());
    let read = |name: &str, folder: &fs::DirEntry| line(folder.path().join(name));
    grouped(folders.flatten().filter_map(|folder| {
        one(
            &read("level", &folder)?,
            &read("type", &folder)?,
            &read("size", &folder)?,
            &read("shared_cpu_list", &folder)?,
        )
    }))
}

/// The properties of alike caches, and the CPUs that share one of them.
type One = ((u32, String, u64), String);

fn one(level: &str, kind: &str, size: &str, shared_by: &str) -> Option<One> {
    let (number, unit) = size.split_at(size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len()));
    let unit = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(unit)?;
    Some(((level.parse().ok()?, kind.to_lowercase(), bytes), shared_by.to_owned()))
}

/// Every CPU lists the caches it shares with others. Each cache counts once.
fn grouped(all: impl Iterator<Item = One>) -> Vec<Cache> {
    let mut alike: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (key, shared_by) in all {
        let known = alike.entry(key).or_default();
        if !known.contains(&shared_by) {
            known.push(shared_by);
        }
    }
    let cache = |((level, kind, bytes), shared_by)| Cache { level, kind, bytes, shared_by };
    alike.into_iter().map(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_cache_counts_once() {
        let told = [
            one("3", "Unified", "32768K", "0-1"),
            one("1", "Data", "48K", "0"),
            one("3", "Unified", "32768K", "0-1"),
            one("1", "Data", "48K", "1"),
            one("1", "Instruction", "32K", "0"),
        ];
        let caches = grouped(told.into_iter().flatten());
        let shapes: Vec<_> = caches.iter().map(|cache| (cache.level, cache.kind.as_str(), cache.bytes)).collect();
        assert_eq!(shapes, [(1, "data", 48 << 10), (1, "instruction", 32 << 10), (3, "unified", 32 << 20)]);
        assert_eq!(caches[0].shared_by, ["0", "1"]);
        assert_eq!(caches[2].shared_by, ["0-1"]);
    }

    #[test]
    fn sizes_that_cannot_be_read_are_left_out() {
        assert_eq!(one("3", "Unified", "8M", "0").unwrap().0.2, 8 << 20);
        assert_eq!(one("3", "Unified", "512", "0").unwrap().0.2, 512);
        assert_eq!(one("3", "Unified", "1 quire", "0"), None);
        assert_eq!(one("three", "Unified", "1K", "0"), None);
        assert_eq!(one("3", "Unified", "K", "0"), None);
    }

    #[test]
    fn what_is_not_known_of_every_cpu_is_not_counted() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(distinct(&[some("0-1"), some("0-1"), some("2")]), Some(2));
        assert_eq!(distinct(&[some("0"), None]), None);
        assert_eq!(distinct(&[]), None);
    }
}
