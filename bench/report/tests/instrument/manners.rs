//! What users expect of any tool of the field: quiet and verbose, colours, numbers with suffixes, files that are not lost,
//! a list for programs, completions, and that a signal ends it.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{command, refused, stderr, stdout, succeeded, ybench};

const RUN: [&str; 7] = ["run", "throughput", "--transport", "spsc,std-channel", "--messages", "0.1k", "--rounds=1"];

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("manners-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

#[test]
fn quiet_prints_the_result_and_nothing_else() {
    let output = ybench(&[&RUN[..], &["--quiet"]].concat());
    let said = stdout(&output);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    assert!(said.contains("std-channel") && !said.contains("Warnings") && !said.contains("The report: "), "{said}");
    let said = succeeded(&[&RUN[..], &["--verbose"]].concat());
    assert!(said.contains("Warnings:") && !said.contains("--verbose prints them"), "{said}");
    assert_eq!(ybench(&["-q", "-v", "list"]).status.code(), Some(2));
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let folder = folder("colours");
    let broken = folder.join("broken.json");
    succeeded(&[&RUN[..], &["--json", text(&broken)]].concat());
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(&broken).unwrap()).unwrap();
    kept["warnings"] = serde_json::json!([
        {"kind": "taken-out", "scenario": "throughput", "name": "std-channel", "sentence": "lost a message"}
    ]);
    fs::write(&broken, kept.to_string()).unwrap();
    let shown = |options: &[&str]| succeeded(&[&["report", text(&broken)], options].concat());
    assert!(!shown(&[]).contains('\x1b') && !shown(&["--color", "never"]).contains('\x1b'));
    assert!(shown(&["--color", "always"]).contains("\x1b[31mBROKEN: std-channel"));
}

#[test]
fn tables_are_written_while_running_and_each_other_is_compared() {
    let folder = folder("files");
    let (markdown, csv) = (folder.join("run.md"), folder.join("run.csv"));
    let files = ["--markdown", text(&markdown), "--csv", text(&csv), "--against", "spsc"];
    let said = succeeded(&[&RUN[..], &files].concat());
    assert!(said.contains("throughput: times as long as"), "{said}");
    assert!(said.contains(&format!("Written to {}.", markdown.display())), "{said}");
    // The name of the fastest is bold, and nobody knows which one that will be.
    let table = fs::read_to_string(&markdown).unwrap().replace("**", "");
    assert!(table.contains("| std-channel |") && table.contains("| spsc |"), "{table}");
    assert!(fs::read_to_string(&csv).unwrap().lines().any(|line| line.contains(",spsc,")));
    let again = succeeded(&[&RUN[..], &files].concat());
    assert!(again.contains("run.csv, in place of an earlier one."), "{again}");
}

#[test]
fn an_earlier_result_in_the_folder_is_kept() {
    let folder = folder("kept");
    let run = [&RUN[..], &["--out", text(&folder)]].concat();
    succeeded(&run);
    let first = fs::read(folder.join("report.json")).unwrap();
    let said = succeeded(&run);
    assert!(said.contains("The earlier result is now ") && said.contains("report.1.json"), "{said}");
    assert_eq!(fs::read(folder.join("report.1.json")).unwrap(), first);
    assert_ne!(fs::read(folder.join("report.json")).unwrap(), first);
}

#[test]
fn the_list_is_there_for_programs_and_takes_no_other_option() {
    let list: Value = serde_json::from_str(&succeeded(&["list", "--json", "-"])).expect("JSON");
    let named = |what: &str, name: &str| list[what].as_array().unwrap().iter().find(|one| one["name"] == name).cloned();
    let spsc = named("transports", "spsc").unwrap();
    assert_eq!((&spsc["senders"], &spsc["bounded"], &spsc["default"]), (&"one".into(), &false.into(), &true.into()));
    assert!(named("scenarios", "latency").is_some() && named("baselines", "raw futex").is_some());
    for option in [&["--rounds", "3"][..], &["--time", "5"], &["--csv", "a.csv"], &["--against", "spsc"]] {
        let sentence = refused(&[&["list"], option].concat());
        assert!(sentence.starts_with(&format!("{} has no meaning here", option[0])), "{sentence}");
    }
}

#[test]
fn completions_and_the_man_page_are_printed() {
    for (shell, words) in [("bash", "complete -F _ybench"), ("zsh", "#compdef ybench"), ("fish", "complete -c ybench")]
    {
        assert!(succeeded(&["completions", shell]).contains(words), "{shell}");
    }
    let page = succeeded(&["man"]);
    assert!(page.contains(".TH ybench 1") && page.contains("NO_COLOR"), "{page}");
}

#[test]
fn a_name_that_is_nearly_right_is_proposed() {
    assert!(refused(&["--transport", "spcs"]).contains("'spcs'; did you mean spsc?"));
    assert!(refused(&["run", "latencyy"]).contains("'latencyy'; did you mean latency?"));
}

#[test]
fn one_signal_ends_a_run_that_does_not_end() {
    let long = ["run", "throughput", "--transport", "spsc", "--messages", "1G", "--quiet"];
    let mut child =
        command(&long).env("YBENCH_PATIENCE_MS", "300").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The baselines come first; the run is under way, or about to be.
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "a signal ends it");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
