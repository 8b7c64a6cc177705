//! The queue is in the tables like every other transport, and its adapter is a short file.
#![cfg(target_os = "linux")]

use std::process::Command;

#[test]
fn the_queue_has_a_row_in_every_table_it_fits() {
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/own-queue");
    let scenarios = ["throughput", "latency", "many-2x2", "fixed-rate", "density"];
    for scenario in scenarios {
        let ours =
            ["run", scenario, "--transport", "own-queue,spsc", "--messages", "50", "--rounds", "1", "--out", out];
        let output =
            Command::new(env!("CARGO_BIN_EXE_own-queue")).args(ours).env("YBENCH_LIMIT_MS", "2").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{scenario}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(said.lines().any(|line| line.contains(" own-queue ")), "{scenario}: {said}");
    }
}

#[test]
fn sixty_lines_are_enough() {
    for text in [include_str!("../src/main.rs"), include_str!("../../own-channel/src/main.rs")] {
        assert!(text.lines().count() < 60);
    }
}
