//! Time that the hypervisor has taken from CPUs that had work.

use std::fs;

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
}
