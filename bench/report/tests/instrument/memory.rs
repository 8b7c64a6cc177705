//! The figures about memory. A process of its own reports each, in which nothing else allocates or frees memory.
use std::process::Command;

use ybench::registry;
use ybench::scenario::burst;

fn held(transport: &str, backlog: u64) -> f64 {
    let arguments = ["held", transport, &backlog.to_string()];
    let output = Command::new(env!("CARGO_BIN_EXE_ybench")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{transport}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// Transports with messages of any type, or functions: four words for each, or two and a box, and room for as many
/// again. All others need at most a pointer per message, and room for as many again.
const WRAPPED: [&str; 9] = [
    "mailbox",
    "mailbox-none",
    "mailbox-types",
    "hub",
    "hub-none",
    "hub-loaded",
    "mutex-condvar-any",
    "condvar-any-asleep",
    "mutex-eventfd-loop",
];

#[test]
fn a_burst_holds_at_least_its_messages() {
    for entry in registry::all().iter().filter(|entry| (burst::SCENARIO.able)(&entry.traits)) {
        let name = entry.traits.name;
        let held = held(name, 300_000);
        let most = if WRAPPED.contains(&name) { 65.0 } else { 33.0 };
        assert!((7.9..most).contains(&held), "{name}: {held}");
    }
}

#[test]
fn a_bounded_transport_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_ybench")).args(["held", "spsc-bounded", "10"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
