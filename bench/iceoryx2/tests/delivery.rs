//! iceoryx2 passes validation in every scenario between processes, and nothing of it is left in file systems.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn files() -> BTreeSet<String> {
    let folders = ["/dev/shm".into(), std::env::temp_dir()];
    let entries = folders.iter().flat_map(fs::read_dir).flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("ybench") || name.contains("iox") || name.contains("iceoryx")).collect()
}

#[test]
fn every_message_arrives_and_nothing_is_left() {
    let before = files();
    let scenarios = ["process-ping-pong", "process-one-cpu", "process-stream", "process-size", "process-wake"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ybench-iceoryx2"));
    command.arg("run").args(scenarios).args(["--messages", "2000", "--rounds", "1", "--transport"]);
    command.args(["iceoryx2,iceoryx2-event,shm-pipe", "--out", env!("CARGO_TARGET_TMPDIR")]);
    let output = command.env("YBENCH_LIMIT_MS", "1").output().expect("the program");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("iceoryx2-event") && !said.contains("BROKEN"), "{said}");
    assert_eq!(files(), before);
}
