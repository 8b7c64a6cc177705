//! `ybench footprint` from the user's side, and `ybench choose` for many channels. No time is asserted, only that there is
//! one; bytes asked of the allocator are the same at each run.
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use ybench::outcome::Metric;
use ybench::record::{Report, Session, Unit};

use crate::program::{command, refused, stderr, stdout, succeeded, ybench};

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ybench-footprint-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn kept(path: &Path) -> Report {
    serde_json::from_str(&fs::read_to_string(path).expect("the report was kept")).expect("a report")
}

/// The median of each of these metrics.
fn medians<const N: usize>(session: &Session, name: &str, metrics: [Metric; N]) -> [Option<f64>; N] {
    metrics.map(|metric| session.metric(name, metric).map(|spread| spread.median))
}

/// One line of text, without the columns' widths.
fn unspaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_kind_is_measured_and_shown_in_every_form() {
    let folder = folder("all");
    let [json, csv, markdown] = ["run.json", "run.csv", "run.md"].map(|name| folder.join(name));
    let out = folder.to_str().unwrap();
    let arguments = ["footprint", "--channels", "300", "--messages", "500", "--rounds", "1", "--out", out];
    let printed = succeeded(&[&arguments[..], &["--json", json.to_str().unwrap()]].concat());
    let report = kept(&json);
    assert_eq!((report.command.as_str(), report.sessions.len()), ("footprint", 1));
    let session = &report.sessions[0];
    assert_eq!(
        (session.rounds.len(), session.unit(), session.title().as_str()),
        (1, Unit::Channel, "footprint, 300 channels")
    );

    for file in [&csv, &markdown] {
        let option = if *file == csv { "--csv" } else { "--markdown" };
        succeeded(&["report", json.to_str().unwrap(), option, file.to_str().unwrap()]);
    }
    let page = fs::read_to_string(folder.join("report.html")).expect("the page was written");
    assert!(page.contains("The time of a channel<") && !page.contains("time of a message"));
    let forms = [page, fs::read_to_string(&csv).unwrap(), fs::read_to_string(&markdown).unwrap(), printed.clone()];
    for kind in ybench_measure::footprint::all() {
        let name = kind.name;
        assert!(session.density(name).is_some_and(|time| time.median > 0.0), "{name}");
        let [idle, after, stack, first] = medians(
            session,
            name,
            [Metric::AllocatedIdle, Metric::AllocatedAfter, Metric::StackBytes, Metric::FirstMessage],
        );
        assert!(idle.unwrap() >= 16.0 && after.unwrap() >= 8.0 && first.unwrap() > 0.0, "{name}");
        assert_eq!(stack.is_some(), ybench::scenario::carried::ALL_SIZES, "{name}");
        assert!(stack.is_none_or(|stack| stack >= 32_768.0), "{name}");
        for form in &forms {
            assert!(form.contains(name), "{name}");
        }
    }
    // Its blocks of 31 messages are made at the first one; with a bound there is nothing more to allocate.
    let [idle, after] = medians(session, "std-channel", [Metric::AllocatedIdle, Metric::AllocatedAfter]);
    assert!(after > idle, "{idle:?} {after:?}");
    let [idle, after, burst] =
        medians(session, "std-sync-channel", [Metric::AllocatedIdle, Metric::AllocatedAfter, Metric::AllocatedKept]);
    assert_eq!((idle, burst), (after, None));
    let [burst] = medians(session, "VecDeque", [Metric::AllocatedKept]);
    assert!(burst.unwrap() >= 4_000.0, "its room for 500 messages: {burst:?}");

    for head in ["after one message", "KiB kept", "stack, messages", "Bytes in memory are the kernel"] {
        assert!(forms[0].contains(head) && forms[2].contains(head) && printed.contains(head), "{head}");
    }
    assert!(forms[1].lines().next().unwrap().contains("allocated-idle,allocated-after"), "{}", forms[1]);
    // Made again from the file, it is the same; and it can be compared.
    let again = succeeded(&["report", json.to_str().unwrap()]);
    let row = |text: &str| text.lines().find(|line| line.trim_start().starts_with("crossbeam-bounded ")).map(unspaced);
    assert_eq!(row(&again), row(&printed));
    let compared = succeeded(&["compare", json.to_str().unwrap(), json.to_str().unwrap()]);
    assert!(compared.contains("footprint, 300 channels") && compared.contains("mpmc-unbounded"), "{compared}");
}

#[test]
fn allocated_bytes_are_the_same_at_each_run() {
    let measured = |number: &str| {
        let path = folder(number).join("run.json");
        let kinds = "spsc,mpsc-bounded,mpmc,oneshot,crossbeam-unbounded";
        let arguments = ["footprint", "--kind", kinds, "--channels", "1000", "--messages", "100", "--rounds", "1"];
        succeeded(&[&arguments[..], &["--json", path.to_str().unwrap()]].concat());
        let session = kept(&path).sessions.remove(0);
        let metrics = [Metric::AllocatedIdle, Metric::AllocatedAfter, Metric::AllocatedLeft, Metric::AllocatedKept];
        let names: Vec<String> = session.transports().map(|one| one.name.clone()).collect();
        names.into_iter().map(|name| (medians(&session, &name, metrics), name)).collect::<Vec<_>>()
    };
    let first = measured("once");
    assert_eq!(first.len(), 5);
    assert_eq!(first, measured("twice"));
}

#[test]
fn what_has_no_meaning_is_refused_in_one_sentence() {
    assert!(
        refused(&["footprint", "--kind", "pigeon"])
            .starts_with("There is no kind of channel called 'pigeon'; there are spsc, ")
    );
    for channels in ["0", "1000001"] {
        assert!(
            refused(&["footprint", "--channels", channels]).starts_with("--channels takes 1 to 1,000,000 channels")
        );
        assert!(refused(&["choose", "--channels", channels]).starts_with("--channels takes 1 to 1,000,000 channels"));
    }
    assert!(refused(&["footprint", "--transport", "spsc"]).starts_with("--transport has no meaning here"));
    assert!(refused(&["weigh", "oneshot", "burst", "5"]).starts_with("There is no such measurement"));
    let compile = |more: &[&str]| refused(&[&["footprint", "--kind", "std-channel", "--compile"], more].concat());
    assert!(compile(&["--ysuite", "/"]).contains("is not the folder of the package ysuite"));
    assert!(
        compile(&["--ysuite", "newest"]).starts_with("--ysuite takes the folder of the package ysuite, or a version")
    );
    assert!(compile(&["--features", "a b"]).starts_with("--features takes names of features"));
    for option in [["--ysuite", "1"], ["--features", "hub"]] {
        let output = ybench(&[&["footprint"], &option[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("--compile"), "{}", stderr(&output));
    }
}

#[test]
fn without_cargo_nothing_is_measured() {
    let mut without = command(&["footprint", "--compile", "--kind", "std-channel"]);
    let output = without.env_remove("CARGO").env("PATH", "").output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(stderr(&output).starts_with("--compile needs cargo, which cannot be started: "), "{}", stderr(&output));
}

/// The standard library alone: nothing is fetched, and nothing below it is compiled.
#[test]
fn a_program_is_built_from_nothing() {
    let path = folder("compile").join("run.json");
    let arguments = ["footprint", "--compile", "--kind", "std-channel", "--channels", "10", "--messages", "10"];
    let printed = succeeded(&[&arguments[..], &["--rounds", "1", "--json", path.to_str().unwrap()]].concat());
    assert!(printed.contains("A program of one line, built from nothing"), "{printed}");
    let report = kept(&path);
    for scenario in ["compile-release", "compile-debug"] {
        let session = report.session(scenario).expect("it was built");
        assert_eq!(session.unit(), Unit::Build);
        let [nothing, std] = ["no channel", "std"].map(|name| session.density(name).unwrap().median);
        // Milliseconds of CPU time at the least.
        assert!(nothing > 1e6 && std > 1e6, "{nothing} {std}");
        let [bytes, packages] = medians(session, "std", [Metric::ProgramBytes, Metric::Packages]);
        assert!(bytes > medians(session, "no channel", [Metric::ProgramBytes])[0], "{bytes:?}");
        assert_eq!(packages, Some(0.0));
    }
}

/// As from a terminal: all processes of the group get the signal.
#[test]
fn an_interrupt_ends_the_session_and_no_run() {
    let path = folder("interrupted").join("run.json");
    let arguments = ["footprint", "--kind", "spsc", "--channels", "1000", "--messages", "100", "--rounds", "1000000"];
    for wait in (4..14).map(|doubled| Duration::from_millis(1 << doubled)) {
        let mut command = command(&[&arguments[..], &["--json", path.to_str().unwrap()]].concat());
        let mut child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).expect("the heading");
        std::thread::sleep(wait);
        kill_process_group(Pid::from_child(&child), Signal::INT).expect("it still runs");
        out.read_to_string(&mut String::new()).unwrap();
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{errors}");
        if errors.contains("before anything was complete") {
            continue;
        }
        let report = kept(&path);
        assert!(report.interrupted && report.sessions[0].density("spsc").is_some(), "{errors}");
        return;
    }
    panic!("no round was ever complete");
}

#[test]
fn many_channels_are_chosen_by_time_and_bytes() {
    let out = folder("choose");
    let few = ["--transport", "spsc,spsc-bounded,mpsc,spsc-none,std-channel", "--messages", "50", "--rounds", "1"];
    let arguments = ["choose", "-v", "--channels", "2k", "--out", out.to_str().unwrap()];
    let said = unspaced(&succeeded(&[&arguments[..], &few].concat()));
    assert!(said.contains("Wanted: 1 sender, 1 receiver, 8 bytes, 2,000 channels."), "{said}");
    assert!(said.contains("footprint, 2,000 channels bytes of one of all"), "{said}");
    assert!(said.contains("takes the least memory: ") && said.contains("have room for 16 messages."), "{said}");
    let (before, _) = said.split_once(": not measured as one of many: see `ybench footprint`.").unwrap();
    assert!(before.rsplit("Not ").next().unwrap().contains("spsc-none"), "{said}");
    let report = kept(&out.join("report.json"));
    let first = &report.sessions[0];
    assert_eq!(first.transports().count(), 4, "{:?}", first.contenders);
    assert!(first.transports().all(|one| first.metric(&one.name, Metric::ResidentAfter).is_some()));
    assert!(first.transports().all(|one| first.metric(&one.name, Metric::AllocatedKept).is_none()));
}
