//! Stored results from the user's side: read again, compared, refused, stored as baselines, and interrupted by Ctrl-C.
//! The compared results are stored ones with known figures.
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use ybench::record::{Report, SCHEMA, Stopped};

use crate::program::{command, refused, stderr, stdout, succeeded, ybench};

const RUN: [&str; 6] = ["--transport", "spsc", "--transport", "std-channel", "--messages", "3"];

/// An empty folder for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compare-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A result of this program on this machine, whose rounds all count and hold the same figures.
fn steady() -> Value {
    static KEPT: OnceLock<Value> = OnceLock::new();
    let make = || {
        let path = folder("steady").join("run.json");
        succeeded(&[&RUN[..], &["--rounds", "6", "--json", text(&path)]].concat());
        let mut kept: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        // Other tests run beside it.
        kept["warnings"] = json!([]);
        for round in kept["sessions"].as_array_mut().unwrap().iter_mut().flat_map(rounds) {
            round.as_object_mut().unwrap().remove("dropped");
            for figure in round["nanoseconds"].as_object_mut().unwrap().values_mut() {
                *figure = json!(100.0);
            }
        }
        kept
    };
    KEPT.get_or_init(make).clone()
}

fn rounds(session: &mut Value) -> &mut Vec<Value> {
    session["rounds"].as_array_mut().expect("a session has rounds")
}

/// The same with one transport that takes `times` as long.
fn with(name: &str, times: f64) -> Value {
    let mut kept = steady();
    for round in kept["sessions"].as_array_mut().unwrap().iter_mut().flat_map(rounds) {
        if let Some(figure) = round["nanoseconds"].get_mut(name) {
            *figure = json!(100.0 * times);
        }
    }
    kept
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is text")
}

fn kept(folder: &Path, name: &str, value: &Value) -> String {
    let path = folder.join(name);
    fs::write(&path, serde_json::to_vec_pretty(value).unwrap()).expect("the folder can be written to");
    text(&path).to_owned()
}

#[test]
fn the_same_result_twice_shows_no_difference() {
    let folder = folder("same");
    let old = kept(&folder, "old.json", &steady());
    let output = succeeded(&["compare", &old, &old, "--fail-on-regression", "10%"]);
    assert!(output.contains("no change: the same figures") && output.contains(" 0 slower, 0 faster"), "{output}");
    assert!(!output.contains("SLOWER"), "{output}");
}

#[test]
fn a_regression_is_shown_and_fails_only_where_that_is_wanted() {
    let folder = folder("slower");
    let (old, new) = (kept(&folder, "old.json", &steady()), kept(&folder, "new.json", &with("spsc", 2.6)));
    assert!(succeeded(&["compare", &old, &new]).contains("SLOWER"));
    let output = ybench(&["compare", &old, &new, "--fail-on-regression", "10%"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "Slower by more than 10 %: spsc.\n");
    assert!(stdout(&output).contains("2.60 .. 2.60"), "{}", stdout(&output));
    // The threshold is above the difference; and in the other direction it is faster.
    succeeded(&["compare", &old, &new, "--fail-on-regression", "300%"]);
    assert!(succeeded(&["compare", &new, &old, "--fail-on-regression", "10"]).contains("faster"));
}

#[test]
fn two_results_do_not_call_what_the_machine_may_have_done() {
    let folder = folder("alone");
    let (old, new) = (kept(&folder, "old.json", &steady()), kept(&folder, "new.json", &with("spsc", 1.5)));
    let output = ybench(&["compare", &old, &new, "--fail-on-regression", "10%"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stdout(&output).contains("cannot tell from two results (ybench ab can)"), "{}", stdout(&output));
}

#[test]
fn the_doubts_of_both_results_are_printed_and_a_busy_machine_decides_nothing() {
    let folder = folder("busy");
    let (old, mut busy) = (kept(&folder, "old.json", &steady()), with("spsc", 3.0));
    busy["warnings"] = json!([{"kind": "loaded", "load": 1.5, "cpus": 2}]);
    let busy = kept(&folder, "busy.json", &busy);
    for (one, other, which) in [(&old, &busy, "new"), (&busy, &old, "old")] {
        let output = ybench(&["compare", one, other, "--fail-on-regression", "10%"]);
        assert_eq!(output.status.code(), Some(3));
        let said = stdout(&output);
        assert!(said.contains("cannot tell: the machine was busy") && !said.contains("SLOWER"), "{said}");
        let line = said.lines().find(|line| line.starts_with(&format!("The {which} result: "))).unwrap();
        assert!(line.contains("other programs used 1.5 of 2 CPUs"), "{said}");
    }
    // One result is no other.
    let output = succeeded(&["compare", &busy, &busy, "--fail-on-regression", "10%"]);
    assert!(output.contains("no change: the same figures"), "{output}");
}

#[test]
fn a_result_with_a_broken_word_fails_and_its_transport_is_not_compared() {
    let folder = folder("broken");
    let (old, mut new) = (kept(&folder, "old.json", &steady()), steady());
    new["warnings"] =
        json!([{"kind": "taken-out", "scenario": "latency", "name": "spsc", "sentence": "lost a message"}]);
    let new = kept(&folder, "new.json", &new);
    let output = ybench(&["compare", &old, &new]);
    assert_eq!(
        (output.status.code(), stderr(&output)),
        (Some(1), "In no table, because it failed validation: spsc.\n".into())
    );
    let said = stdout(&output);
    assert!(said.contains("spsc was taken out: it lost a message.") && !said.contains("  spsc  "), "{said}");
    let said = succeeded(&["report", &new]);
    assert!(said.contains("\nBROKEN: spsc lost a message (latency). It is in no table.\n"), "{said}");
}

#[test]
fn a_slowed_copy_is_compared_with_its_original() {
    let folder = folder("rename");
    let slowed = serde_json::to_string(&with("spsc", 2.5)).unwrap().replace("\"spsc\"", "\"spsc-slowed\"");
    let slowed: Value = serde_json::from_str(&slowed).unwrap();
    let (old, new) = (kept(&folder, "old.json", &steady()), kept(&folder, "new.json", &slowed));
    assert!(succeeded(&["compare", &old, &new]).contains("not compared"));
    let output = ybench(&["compare", &old, &new, "--rename", "spsc-slowed=spsc", "--fail-on-regression", "10%"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "Slower by more than 10 %: spsc-slowed.\n");
    assert!(refused(&["compare", &old, &new, "--rename", "nobody=spsc"]).contains("'nobody' in NEW"));
    assert!(refused(&["compare", &old, &new, "--rename", "spsc-slowed=nobody"]).contains("'nobody' in OLD"));
    assert!(refused(&["compare", &old, &new, "--rename", "spsc"]).contains("NEWNAME=OLDNAME"));
}

#[test]
fn what_is_no_result_is_refused_and_left_as_it_is() {
    let folder = folder("damaged");
    let good = kept(&folder, "good.json", &steady());
    let whole = fs::read(&good).unwrap();
    let with = |field: &str, value: Value| {
        let mut changed = steady();
        changed[field] = value;
        serde_json::to_vec(&changed).unwrap()
    };
    let newer = format!("by a newer ybench (schema 9; this one reads up to {SCHEMA})");
    let mut never = steady();
    rounds(&mut never["sessions"][0])[0]["nanoseconds"]["spsc"] = json!(0.0);
    let bad: [(&str, Vec<u8>, &str); 12] = [
        ("never", serde_json::to_vec(&never).unwrap(), "one of its figures is not a valid time"),
        ("empty", Vec::new(), "is empty"),
        ("text", b"ns/msg: 3\n".to_vec(), "is damaged: no JSON"),
        ("binary", vec![0xff, 0xfe, 0, 7], "is damaged: no JSON"),
        ("truncated", whole[..whole.len() / 2].to_vec(), "is truncated"),
        ("longer", [&whole[..], b"}"].concat(), "is damaged: no JSON"),
        ("other", b"{\"name\": \"ybench\", \"schema\": 2}".to_vec(), "is not a result of ybench"),
        ("list", b"[1, 2, 3]".to_vec(), "is not a result of ybench"),
        ("zero", with("schema", json!(0)), "is not a result of ybench"),
        ("newer", with("schema", json!(9)), &newer),
        ("twisted", with("sessions", json!("none")), "is damaged: "),
        ("no-session", with("sessions", json!([])), "in which nothing was measured"),
    ];
    for (name, bytes, words) in bad {
        let path = folder.join(name);
        fs::write(&path, &bytes).unwrap();
        for (old, new) in [(text(&path), good.as_str()), (good.as_str(), text(&path))] {
            let sentence = refused(&["compare", old, new]);
            assert!(sentence.contains(words) && sentence.contains(name), "{name}: {sentence}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    }
    assert!(refused(&["compare", &good, text(&folder.join("missing.json"))]).contains("cannot be read"));
    assert!(refused(&["compare", text(&folder), &good]).contains("cannot be read"));
    assert_eq!(fs::read(&good).unwrap(), whole);
}

#[test]
fn a_result_of_schema_1_can_still_be_read() {
    let folder = folder("older");
    let mut older = steady();
    older["schema"] = json!(1);
    older.as_object_mut().unwrap().remove("seed");
    for session in older["sessions"].as_array_mut().unwrap() {
        session
            .as_object_mut()
            .unwrap()
            .retain(|field, _| !["parameter", "details", "stopped"].contains(&field.as_str()));
        rounds(session).iter_mut().for_each(|round| {
            round.as_object_mut().unwrap().remove("metrics");
        });
    }
    let old = kept(&folder, "old.json", &older);
    let new = kept(&folder, "new.json", &steady());
    assert!(succeeded(&["compare", &old, &new]).contains("no change: the same figures"));
}

#[test]
fn another_machine_is_refused_unless_it_is_wanted() {
    let folder = folder("machine");
    let old = kept(&folder, "old.json", &steady());
    let others = [
        ("cpu_model", json!("Abacus 9"), "the CPU model was"),
        ("allowed_cpus", json!([0, 1, 2, 3, 4, 5, 6]), "the number of allowed CPUs was"),
        ("hypervisor", json!("matryoshka"), "the hypervisor was"),
        ("kernel", json!("1.0.0"), "the kernel was"),
    ];
    for (field, value, words) in others {
        let mut changed = steady();
        changed["environment"][field] = value;
        let new = kept(&folder, "new.json", &changed);
        let sentence = refused(&["compare", &old, &new]);
        assert!(sentence.contains(words) && sentence.contains("--any-machine"), "{sentence}");
        succeeded(&["compare", &old, &new, "--any-machine"]);
    }
    // And other CPUs of this one, unless the user allows it.
    let mut changed = steady();
    changed["cpus"] = json!([5, 6]);
    let new = kept(&folder, "new.json", &changed);
    assert!(refused(&["compare", &old, &new]).contains("and is CPUs 5 and 6 (--any-machine"));
    succeeded(&["compare", &old, &new, "--any-machine"]);
}

#[test]
fn what_has_nothing_in_common_or_no_meaning_is_refused() {
    let folder = folder("nothing");
    let mut other = steady();
    for session in other["sessions"].as_array_mut().unwrap() {
        session["scenario"] = json!("another");
    }
    let (old, new) = (kept(&folder, "old.json", &steady()), kept(&folder, "new.json", &other));
    assert!(refused(&["compare", &old, &new]).contains("nothing in common"));
    assert!(refused(&["compare", &old, &old, "--fail-on-regression", "lots"]).contains("'lots'"));
    for option in [&["--rounds", "3"][..], &["--json", "a.json"], &["--baseline", "main"], &["--transport", "spsc"]] {
        let sentence = refused(&[&["compare", old.as_str(), old.as_str()], option].concat());
        assert!(sentence.starts_with(&format!("{} has no meaning here", option[0])), "{sentence}");
    }
}

#[test]
fn few_rounds_are_inconclusive() {
    let folder = folder("few");
    let mut few = with("spsc", 3.0);
    few["sessions"].as_array_mut().unwrap().iter_mut().for_each(|session| rounds(session).truncate(4));
    let (old, new) = (kept(&folder, "old.json", &steady()), kept(&folder, "new.json", &few));
    let output = succeeded(&["compare", &old, &new]);
    assert!(output.contains("cannot tell: too few rounds") && !output.contains("SLOWER"), "{output}");
    // Without a verdict the check does not pass.
    let output = ybench(&["compare", &old, &new, "--fail-on-regression", "10%"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).starts_with("Nothing is called slower by more than 10 %, but of "), "{}", stderr(&output));
}

#[test]
fn a_missing_transport_does_not_show_that_nothing_is_slower() {
    let folder = folder("gone");
    let mut less = steady();
    for session in less["sessions"].as_array_mut().unwrap() {
        session["contenders"].as_array_mut().unwrap().retain(|one| one["name"] != "spsc");
    }
    let (old, new) = (kept(&folder, "old.json", &steady()), kept(&folder, "new.json", &less));
    assert!(succeeded(&["compare", &old, &new]).contains("not compared"));
    let output = ybench(&["compare", &old, &new, "--fail-on-regression", "10%"]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(stderr(&output).contains(" 0 are inconclusive, and "), "{}", stderr(&output));
    // An additional transport does not matter.
    succeeded(&["compare", &new, &old, "--fail-on-regression", "10%"]);
}

#[test]
fn a_baseline_is_kept_and_compared_with() {
    let folder = folder("baseline").join("made/when/needed");
    let run = [&RUN[..], &["--rounds", "1"]].concat();
    let here = ["--baselines", text(&folder)];
    let output = succeeded(&[&run[..], &here, &["--save-baseline", "first"]].concat());
    assert!(output.contains("Stored as a baseline in"), "{output}");
    let kept = fs::read(folder.join("first.json")).unwrap();
    let output = succeeded(&[&run[..], &here, &["--baseline", "first"]].concat());
    assert!(output.contains("Compared with the baseline 'first'") && output.contains("cannot tell"), "{output}");
    assert_eq!(fs::read(folder.join("first.json")).unwrap(), kept);
    // The variable names the folder if the option does not.
    let output = command(&[&run[..], &["--baseline", "first"]].concat())
        .env("YBENCH_BASELINES", &folder)
        .output()
        .expect("the program can be started");
    assert!(output.status.success() && stdout(&output).contains("baseline 'first'"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing but the baseline is left");
}

#[test]
fn an_invalid_baseline_is_refused_before_anything_is_measured() {
    let folder = folder("no-baseline");
    let here = text(&folder);
    assert!(refused(&["--baselines", here, "--baseline", "none"]).contains("There is no baseline 'none'"));
    for name in ["", "a/b", "..", "/etc/passwd"] {
        for option in ["--baseline", "--save-baseline"] {
            let sentence = refused(&["--baselines", here, &format!("{option}={name}")]);
            assert!(sentence.starts_with("The name of a baseline"), "{sentence}");
        }
    }
    assert!(refused(&["limits", "--save-baseline", "a"]).starts_with("A baseline has no meaning here"));
    let mut other = steady();
    other["environment"]["cpu_model"] = json!("Abacus 9");
    kept(&folder, "other.json", &other);
    assert!(refused(&["--baselines", here, "--baseline", "other"]).contains("the CPU model was Abacus 9"));
    fs::write(folder.join("damaged.json"), "{").unwrap();
    assert!(refused(&["--baselines", here, "--baseline", "damaged"]).contains("is truncated"));
    // A folder that cannot be written to, even by root.
    let inside = folder.join("damaged.json/inside");
    assert!(refused(&["--baselines", text(&inside), "--save-baseline", "a"]).contains("cannot be made"));
    assert_eq!(fs::read_to_string(folder.join("damaged.json")).unwrap(), "{");
}

/// Killed at the end of the test, also after a panic.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Returns after the program has printed its heading and is about to measure.
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).expect("the heading");
        // The pipe must stay open and be read.
        std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
        Self(child)
    }

    fn interrupt(&self) {
        let pid = Pid::from_raw(self.0.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::INT).expect("the program still runs");
    }

    /// The exit status and everything on stderr.
    fn end(mut self) -> (Option<i32>, String) {
        let mut errors = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.0.wait().unwrap().code(), errors)
    }
}

/// The delay before a signal, longer in each attempt: from a moment to far more than any machine needs.
fn patience() -> impl Iterator<Item = Duration> {
    (4..16).map(|doubled| Duration::from_millis(1 << doubled))
}

#[test]
fn an_interrupted_run_leaves_the_rounds_that_were_complete() {
    let path = folder("interrupted").join("run.json");
    let arguments = [&RUN[..], &["--rounds", "1000000", "--json", text(&path)]].concat();
    for wait in patience() {
        let running = Running::start(&arguments);
        std::thread::sleep(wait);
        running.interrupt();
        let (status, errors) = running.end();
        assert_eq!(status, Some(130), "{errors}");
        if errors.contains("before anything was complete") {
            assert!(!path.exists(), "nothing was complete, and nothing is kept");
            continue;
        }
        let report: Report = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert!(report.interrupted && errors.contains("Interrupted: the result holds"), "{errors}");
        assert_eq!(report.sessions.len(), 1, "later sessions do not run");
        assert_eq!(report.sessions[0].stopped, Some(Stopped::Interrupted));
        let complete = report.sessions[0].contenders.len();
        assert!(report.sessions[0].rounds.iter().all(|round| round.nanoseconds.len() == complete));
        return;
    }
    panic!("no round was ever complete");
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let path = folder("interrupted-twice").join("run.json");
    let arguments = ["--transport", "unix-stream", "--messages", "1000000000", "--rounds", "1", "--json", text(&path)];
    for wait in patience() {
        let mut running = Running::start(&arguments);
        std::thread::sleep(wait);
        running.interrupt();
        // Handled by a thread of its own, while the run continues.
        let mut errors = BufReader::new(running.0.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(line.contains("Ctrl-C again stops at once"), "{line}");
        let pid = Pid::from_raw(running.0.id().try_into().unwrap()).unwrap();
        let _ = kill_process(pid, Signal::INT);
        assert_eq!(running.0.wait().unwrap().code(), Some(130));
        let mut rest = String::new();
        errors.read_to_string(&mut rest).unwrap();
        assert!(!path.exists());
        // Before the long run began, the first signal was enough.
        if rest.is_empty() {
            return;
        }
    }
    panic!("the long run was never reached");
}

#[test]
fn the_number_of_rounds_follows_the_figures_within_the_time() {
    let path = folder("adaptive").join("run.json");
    let output = succeeded(&["--transport", "spsc", "--time", "2", "--json", text(&path)]);
    let report: Report = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for session in &report.sessions {
        assert!(session.rounds.len() >= 5, "{}", session.rounds.len());
        let why = session.stopped.unwrap();
        assert!([Stopped::Tight, Stopped::Time, Stopped::Rounds].contains(&why), "{why:?}");
        assert!(output.contains(&format!("{} of {} rounds", session.counted().count(), session.rounds.len())));
    }
    assert!(!report.interrupted && report.seed != 0);
}
