//! The CPUs of the two threads of a measurement. Called before threads start, and by each thread to pin itself.
//!
//! Cannot: move other processes away, or see what a hypervisor does with its processors.

use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::error::{Error, Fault};

/// The CPU of the sending thread and the CPU of the receiving thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub first: usize,
    pub second: usize,
}

impl Place {
    pub fn one_cpu(self) -> bool {
        self.first == self.second
    }

    /// Each CPU once.
    pub fn cpus(self) -> Vec<usize> {
        if self.one_cpu() { vec![self.first] } else { vec![self.first, self.second] }
    }

    /// The CPUs that `threads` threads share: those of the place. If these are two, also others that this process may
    /// use, at most one for each thread.
    pub fn shared_by(self, threads: usize) -> Vec<usize> {
        self.with_others(threads, &allowed())
    }

    fn with_others(self, threads: usize, allowed: &[usize]) -> Vec<usize> {
        let mut cpus = self.cpus();
        if !self.one_cpu() {
            let others = allowed.iter().filter(|cpu| !self.cpus().contains(cpu));
            cpus.extend(others.take(threads.saturating_sub(2)));
        }
        cpus
    }

    /// Both threads on the CPU of the first.
    pub fn together(self) -> Self {
        Self { first: self.first, second: self.first }
    }

    /// The requested place, or the best that this process may use.
    pub fn choose(asked: Option<&str>) -> Result<Self, Error> {
        let allowed = allowed();
        match asked {
            Some(text) => parse(text, &allowed),
            None => Ok(pick(&allowed, siblings)),
        }
    }
}

/// The CPUs this process may run on, ascending.
pub fn allowed() -> Vec<usize> {
    let mask = sched_getaffinity(None).unwrap_or_default();
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).collect();
    // If the mask cannot be read, the CPU that this code runs on is left.
    if cpus.is_empty() { vec![rustix::thread::sched_getcpu()] } else { cpus }
}

/// Pins the calling thread to one CPU from now on.
pub fn pin(cpu: usize) -> Result<(), Fault> {
    keep_on(&[cpu])
}

/// Pins the calling thread to these CPUs from now on.
pub fn keep_on(cpus: &[usize]) -> Result<(), Fault> {
    let mut mask = CpuSet::new();
    cpus.iter().for_each(|&cpu| mask.set(cpu));
    Ok(sched_setaffinity(None, &mask)?)
}

fn parse(text: &str, allowed: &[usize]) -> Result<Place, Error> {
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let (first, second) = match numbers.as_deref() {
        Ok([only]) => (*only, *only),
        Ok([first, second]) => (*first, *second),
        _ => return Err(Error::Refused(format!("--cpus takes one CPU number or two with a comma, not '{text}'."))),
    };
    for cpu in [first, second] {
        if !allowed.contains(&cpu) {
            let list = allowed.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            return Err(Error::Refused(format!("CPU {cpu} is not among the CPUs this process may use ({list}).")));
        }
    }
    Ok(Place { first, second })
}

/// Two CPUs that do not share a core if there are two, else any two, else the only one twice.
fn pick(allowed: &[usize], siblings: impl Fn(usize) -> Vec<usize>) -> Place {
    let first = allowed[0];
    let near = siblings(first);
    let others = &allowed[1..];
    let second = others.iter().find(|cpu| !near.contains(cpu)).or(others.first()).copied().unwrap_or(first);
    Place { first, second }
}

/// The hardware threads that share a core with `cpu`, as far as the system reports them.
fn siblings(cpu: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let text = fs::read_to_string(path).unwrap_or_default();
    list(&text)
}

/// The CPUs or nodes of a list as the kernel spells it: `0-3,8`.
pub fn list(text: &str) -> Vec<usize> {
    text.trim().split(',').flat_map(span).collect()
}

/// `4` or `4-7`.
fn span(text: &str) -> Vec<usize> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.parse(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from..=to).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_means_the_same_cpu_twice() {
        assert_eq!(parse("3", &[1, 3]).unwrap(), Place { first: 3, second: 3 });
    }

    #[test]
    fn two_numbers_keep_their_order() {
        assert_eq!(parse("3,1", &[1, 3]).unwrap(), Place { first: 3, second: 1 });
    }

    #[test]
    fn a_cpu_outside_the_mask_is_refused_and_named() {
        let error = parse("1,2", &[1, 3]).unwrap_err();
        assert_eq!(error.to_string(), "CPU 2 is not among the CPUs this process may use (1, 3).");
        assert_eq!(error.exit_status(), 2);
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "a", "1,", "1,3,1", "-1"] {
            assert_eq!(parse(text, &[1, 3]).unwrap_err().exit_status(), 2, "{text:?}");
        }
    }

    #[test]
    fn the_choice_avoids_the_other_thread_of_the_same_core() {
        assert_eq!(pick(&[0, 1, 2], |_| vec![0, 1]), Place { first: 0, second: 2 });
        assert_eq!(pick(&[0, 1], |_| vec![0, 1]), Place { first: 0, second: 1 });
        assert_eq!(pick(&[5], |_| vec![5]), Place { first: 5, second: 5 });
    }

    #[test]
    fn more_threads_than_two_share_as_many_cpus_as_there_are() {
        let (two, one) = (Place { first: 4, second: 1 }, Place { first: 4, second: 4 });
        let shared = |place: Place, threads| place.with_others(threads, &[0, 1, 3, 4, 7]);
        assert_eq!(shared(two, 2), [4, 1]);
        assert_eq!(shared(two, 4), [4, 1, 0, 3]);
        assert_eq!(shared(two, 64), [4, 1, 0, 3, 7]);
        assert_eq!(shared(one, 64), [4]);
    }

    #[test]
    fn sibling_lists_are_read_in_both_spellings() {
        assert_eq!(span("4-6"), [4, 5, 6]);
        assert_eq!(span("7"), [7]);
        assert_eq!(span(""), [0; 0]);
        assert_eq!(list("0-1,4\n"), [0, 1, 4]);
    }
}
