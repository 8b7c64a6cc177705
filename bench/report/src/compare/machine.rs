//! Whether two results are of one machine, as far as the results show: its processors, the two threads' CPUs, the
//! hypervisor, and the kernel's version.

use ybench_measure::env::Environment;
use ybench_measure::error::Error;

/// A machine, and the CPUs of the two threads.
pub(super) type Machine<'a> = (&'a Environment, [usize; 2]);

/// Refuses results of two machines or of different CPUs, and names the differences.
pub(super) fn same(old: Machine<'_>, new: Machine<'_>) -> Result<(), Error> {
    let differing: Vec<String> = facts(old)
        .into_iter()
        .zip(facts(new))
        .filter(|((_, before), (_, after))| before != after)
        .map(|((what, before), (_, after))| format!("{what} was {before} and is {after}"))
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    let differing = differing.join(", ");
    Err(Error::Refused(format!("The machines or CPUs differ: {differing} (--any-machine compares them anyway).")))
}

fn facts((environment, mut cpus): Machine<'_>) -> [(&'static str, String); 5] {
    // It does not matter which of the two is the sender's.
    cpus.sort_unstable();
    let known = |value: Option<&str>, otherwise: &str| value.unwrap_or(otherwise).to_owned();
    [
        ("the CPU model", known(environment.cpu_model.as_deref(), "unknown")),
        ("the number of allowed CPUs", environment.allowed_cpus.len().to_string()),
        (
            "the two threads' place",
            if cpus[0] == cpus[1] { format!("CPU {}", cpus[0]) } else { format!("CPUs {} and {}", cpus[0], cpus[1]) },
        ),
        ("the hypervisor", known(environment.hypervisor.as_deref(), "none")),
        ("the kernel", known(environment.kernel.as_deref().map(line_of), "unknown")),
    ]
}

/// "6.8" of "6.8.0-45-generic".
fn line_of(kernel: &str) -> &str {
    let end = kernel.match_indices('.').nth(1).map_or(kernel.len(), |(at, _)| at);
    &kernel[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Environment {
        Environment {
            cpu_model: Some("Fast 1".into()),
            allowed_cpus: vec![0, 1],
            kernel: Some("6.8.0-45-generic".into()),
            ..Environment::default()
        }
    }

    #[test]
    fn a_kernel_update_is_the_same_machine() {
        let updated = Environment { kernel: Some("6.8.12".into()), load: Some(3.0), ..machine() };
        same((&machine(), [0, 1]), (&updated, [1, 0])).unwrap();
        assert_eq!([line_of("6.8"), line_of("6.8.1"), line_of("unknown")], ["6.8", "6.8", "unknown"]);
    }

    #[test]
    fn every_fact_that_differs_is_named() {
        let others = [
            (Environment { cpu_model: None, ..machine() }, "the CPU model was Fast 1 and is unknown"),
            (Environment { allowed_cpus: vec![1], ..machine() }, "the number of allowed CPUs was 2 and is 1"),
            (Environment { hypervisor: Some("kvm".into()), ..machine() }, "the hypervisor was none and is kvm"),
            (Environment { kernel: Some("6.9.0".into()), ..machine() }, "the kernel was 6.8 and is 6.9"),
        ];
        for (other, words) in others {
            let error = same((&machine(), [0, 1]), (&other, [0, 1])).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
            assert_eq!(error.exit_status(), 2);
        }
        let error = same((&machine(), [0, 1]), (&machine(), [1, 1])).unwrap_err().to_string();
        assert!(error.contains("the two threads' place was CPUs 0 and 1 and is CPU 1"), "{error}");
    }
}
