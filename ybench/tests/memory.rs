//! What is said about memory. Each figure is told by a process of its own, in which nobody else takes or frees any.
#![cfg(target_os = "linux")]

use std::process::Command;

use ybench::scenario::burst;
use ybench::transport::registry;

fn held(transport: &str, backlog: u64) -> f64 {
    let arguments = ["held", transport, &backlog.to_string()];
    let output = Command::new(env!("CARGO_BIN_EXE_ybench")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{transport}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn a_burst_holds_at_least_its_messages() {
    for entry in registry::all().iter().filter(|entry| (burst::SCENARIO.able)(&entry.traits)) {
        let name = entry.traits.name;
        let held = held(name, 1_000_000);
        // Nobody needs more than a pointer beside each message, and room for as many again.
        assert!((7.9..33.0).contains(&held), "{name}: {held}");
    }
}

#[test]
fn whoever_has_a_bound_is_not_asked() {
    let output = Command::new(env!("CARGO_BIN_EXE_ybench")).args(["held", "spsc-bounded", "10"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
