//! Every example runs to completion, and prints what it should.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Stdio};

/// Cargo has built them together with this test.
fn said(name: &str) -> String {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(Path::parent).expect("a folder of the profile");
    let mut program = Command::new(folder.join("examples").join(name));
    let output = program.stdin(Stdio::null()).stderr(Stdio::inherit()).output().expect("an example");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_camera_is_told_of_its_viewers_crash() {
    let viewer = "viewer: 50 frames seen, each whole; now I crash\n";
    assert_eq!(said("camera"), format!("{viewer}camera: the other end's process has died\n"));
}

#[test]
fn workers_crash_and_no_job_is_lost() {
    assert_eq!(said("crashing_workers"), "1000 jobs answered, their sum is 333833500; workers crashed\n");
}

#[test]
fn a_supervisor_starts_services_again() {
    assert_eq!(said("supervisor"), "service 0: 1 starts\nservice 1: 4 starts\nservice 2: 1 starts\n");
}
