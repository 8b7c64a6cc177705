//! Two builds by turns from the user's side: this program beside itself, and beside one that cannot take turns.
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::program::{command, refused, stderr, stdout};

const THIS: &str = env!("CARGO_BIN_EXE_ybench");
const FEW: [&str; 9] = ["latency", "--transport", "spsc,mpsc", "--messages", "3", "--rounds", "2", "--starts", "5"];

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("turns-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A program of its own: a script.
fn script(folder: &Path, text: &str) -> String {
    let path = folder.join("old");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_program_beside_itself_takes_turns_and_every_result_is_kept() {
    let out = folder("itself");
    let output =
        command(&[&["ab", THIS, THIS], &FEW[..], &["--out", out.to_str().unwrap()]].concat()).output().unwrap();
    // Three messages say nothing: whatever is called, both have been measured.
    let said = stdout(&output);
    assert!(output.status.success(), "{said}{}", stderr(&output));
    assert!(said.contains(" spsc ") && said.contains(" mpsc ") && said.contains("2 compared:"), "{said}");
    assert!(stderr(&output).contains("ybench: start 5 of 5"), "{}", stderr(&output));
    for start in 1..=5 {
        let of = |which| {
            let path = out.join(format!("{which}-{start}/report.json"));
            serde_json::from_slice::<ybench::record::Report>(&fs::read(path).unwrap()).unwrap()
        };
        let (old, new) = (of("old"), of("new"));
        assert_eq!([&old, &new].map(|report| report.sessions[0].rounds.len()), [2, 2]);
        // One baseline, which ranks and guards.
        assert_eq!([&old, &new].map(|report| report.sessions[0].contenders.len()), [3, 3]);
    }
}

#[test]
fn what_cannot_take_turns_is_named() {
    let folder = folder("refused");
    let ab = |old: &str, more: &[&str]| refused(&[&["ab", old, THIS], more, &["--quiet"]].concat());
    assert!(ab("/nowhere/ybench", &FEW).contains("OLD (/nowhere/ybench) cannot be started"));
    let older = script(&folder, "echo \"error: unexpected argument '--in-turn' found\" >&2; exit 2");
    assert!(ab(&older, &FEW).contains("is older than this command, and cannot take turns"));
    let silent = script(&folder, "exit 3");
    assert!(ab(&silent, &FEW).contains("fails without a word"));
    assert!(ab(THIS, &["latencyy"]).contains("did you mean latency?"));
    assert!(ab(THIS, &["latency", "--starts", "2"]).contains("--starts takes 5 to 1,000"));
    assert!(ab(THIS, &["latency", "--json", "x"]).contains("--json has no meaning"));
    assert!(ab(THIS, &["latency", "--fail-on-regression", "much"]).contains("--fail-on-regression takes"));
}

#[test]
fn a_program_whose_input_ends_ends_too() {
    let out = folder("ends");
    let mut arguments = vec!["run", "--in-turn", "--out", out.to_str().unwrap()];
    arguments.extend(&FEW[..7]);
    let output = command(&arguments).stdin(std::process::Stdio::null()).output().unwrap();
    // It has asked, heard nothing, and measured nothing.
    assert!(!stdout(&output).contains("spsc"), "{}", stdout(&output));
    assert_eq!(stdout(&output).lines().filter(|line| *line == "ybench: a turn?").count(), 1);
}
