//! The program from the user's side: its refusals, its output, the files it stores. No figure is asserted, only that
//! there is one.
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use ybench::record::Report;
use ybench::registry;
use ybench::transport::Traits;

use crate::program::{self, refused, stderr, succeeded, ybench};

/// An empty folder for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ybench-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn two_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1)
}

/// The stored report, by the types that wrote it, and as plain JSON.
fn kept(path: &Path) -> (Report, Value) {
    let text = fs::read_to_string(path).expect("the report was kept");
    (serde_json::from_str(&text).expect("a report"), serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn an_unknown_transport_is_refused() {
    assert!(refused(&["--transport", "carrier-pigeon"]).contains("'carrier-pigeon'"));
    assert!(refused(&["article", "y-suite", "--transport", "spsc", "--transport", "nothing"]).contains("'nothing'"));
}

#[test]
fn zero_rounds_or_messages_are_refused() {
    assert_eq!(refused(&["--rounds", "0"]), "There must be at least one round.\n");
    assert_eq!(refused(&["--messages", "0"]), "There must be at least one message.\n");
}

#[test]
fn unknown_cpus_are_refused() {
    for command in [&["--cpus", "99999"][..], &["limits", "--cpus", "0,99999"], &["goals", "--cpus", "99999,0"]] {
        assert!(refused(command).contains("99999 is not among the CPUs"), "{command:?}");
    }
    assert!(refused(&["--cpus", "one"]).contains("'one'"));
}

#[test]
fn options_without_a_meaning_are_refused() {
    assert!(refused(&["limits", "--transport", "spsc"]).starts_with("--transport has no meaning"));
    assert!(refused(&["article", "y-suite", "--time", "5"]).starts_with("--time has no meaning"));
    assert!(refused(&["scale", "--transport", "spsc"]).starts_with("None of these transports can be measured"));
    assert!(refused(&["--time", "0"]).starts_with("--time takes"));
    assert!(refused(&["article", "y-suite", "--transport", "rtrb-1k"]).starts_with("The article knows only"));
}

#[test]
fn unknown_cases_and_sizes_are_refused() {
    assert!(
        refused(&["competitors", "--cell", "10-to-1"])
            .starts_with("There is no case called '10-to-1'; there are one-by-one")
    );
    assert!(
        refused(&["competitors", "--bytes", "8", "32"]).starts_with("A message can have 8, 24, 64 or 256 bytes here")
    );
    if cfg!(not(feature = "competitors")) {
        for arguments in [&["competitors"][..], &["competitors", "--features"]] {
            assert!(refused(arguments).starts_with("This ybench was built without competitors; build it with them: "));
        }
    }
}

#[test]
fn an_unknown_command_or_option_is_refused_by_status_2() {
    for arguments in [&["article", "nothing"][..], &["measure"], &["--nothing"], &["--rounds", "many"]] {
        let output = ybench(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn a_file_that_cannot_be_written_is_found_out_before_anything_is_measured() {
    let folder = folder("unwritable");
    let file = folder.join("file");
    fs::write(&file, "kept as it was").unwrap();
    let as_text = |path: &Path| path.to_str().unwrap().to_owned();
    for path in [folder.clone(), folder.join("missing/a.json"), file.join("a.json")] {
        assert!(refused(&["--json", &as_text(&path)]).starts_with("The result cannot be written"));
    }
    let svg = as_text(&file.join("graphs"));
    assert!(refused(&["article", "y-suite", "--svg", &svg]).contains("cannot be made"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept as it was");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn the_list_names_everything() {
    let list = succeeded(&["list"]);
    for entry in registry::all() {
        assert!(list.contains(entry.traits.name), "{}", entry.traits.name);
    }
    for name in [
        "latency",
        "ping-pong",
        "throughput",
        "batches",
        "one-cpu",
        "density",
        "overrun",
        "fixed-rate",
        "night-watchman",
        "senders",
        "idle-senders",
        "receivers",
        "sources",
        "busy-sources",
        "one-by-one",
        "16-to-1",
        "y-suite",
        "goals",
        "mpsc-shared",
        "raw futex",
        "memcpy",
    ] {
        assert!(list.contains(name), "{name}");
    }
}

#[test]
fn the_comparison_measures_every_transport_and_keeps_every_round() {
    let path = folder("quick").join("run.json");
    let output = succeeded(&["--messages", "3", "--rounds", "2", "--json", path.to_str().unwrap()]);
    let (report, json) = kept(&path);
    assert_eq!(json["schema"], ybench::record::SCHEMA);
    assert_eq!(json["environment"]["ybench"], env!("CARGO_PKG_VERSION"));
    assert!(report.sessions.iter().all(|session| session.rounds.len() == 2));
    for session in &report.sessions {
        for round in &session.rounds {
            assert!(round.nanoseconds.values().all(|figure| figure.is_finite() && *figure > 0.0), "{round:?}");
            assert_eq!(round.order.len() + 1, round.nanoseconds.len());
        }
    }
    let measured: BTreeSet<&str> =
        report.sessions.iter().flat_map(|session| session.transports()).map(|one| one.name.as_str()).collect();
    if two_cpus() {
        // Transports made to serve many channels have a command of their own.
        let compared = |traits: &Traits| !traits.hidden && !traits.variant && (traits.one_by_one || traits.batches);
        let shown = registry::all().iter().filter(|entry| compared(&entry.traits));
        assert_eq!(measured, shown.map(|entry| entry.traits.name).collect());
    }
    for name in measured {
        assert!(output.contains(name), "{name}");
    }
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing but the report is left");
}

#[test]
fn a_filter_measures_only_its_transports() {
    let path = folder("filter").join("run.json");
    let filter = ["--transport", "std-channel", "--transport", "spsc", "--messages", "3", "--rounds", "1"];
    succeeded(&[&filter[..], &["--json", path.to_str().unwrap()]].concat());
    for session in kept(&path).0.sessions {
        let names: Vec<&str> = session.transports().map(|one| one.name.as_str()).collect();
        assert!(names.iter().all(|name| ["std-channel", "spsc"].contains(name)), "{names:?}");
    }
}

#[test]
fn one_cpu_is_a_warning_and_no_reason_to_stop() {
    let path = folder("one-cpu").join("run.json");
    let cpu = ybench::place::allowed()[0].to_string();
    let arguments = ["--cpus", &cpu, "--messages", "3", "--rounds", "1", "--json", path.to_str().unwrap()];
    assert!(succeeded(&arguments).contains("Both threads share one CPU."));
    let (report, json) = kept(&path);
    assert!(!report.sessions.is_empty());
    let kinds: Vec<&Value> = json["warnings"].as_array().unwrap().iter().map(|warning| &warning["kind"]).collect();
    assert!(kinds.iter().any(|kind| *kind == "one-cpu"), "{kinds:?}");
}

#[test]
fn the_baselines_are_measured() {
    let path = folder("limits").join("run.json");
    succeeded(&["limits", "--time", "0.5", "--rounds", "1", "--json", path.to_str().unwrap()]);
    let (report, _) = kept(&path);
    for name in ["raw futex", "raw eventfd + epoll", "null system call", "memcpy"] {
        assert!(report.sessions[0].density(name).is_some(), "{name}");
    }
}

#[test]
fn the_article_has_its_tables_and_its_graphs() {
    let folder = folder("article");
    let (svg, json) = (folder.join("graphs"), folder.join("run.json"));
    let (svg_text, json_text) = (svg.to_str().unwrap(), json.to_str().unwrap());
    let arguments = ["article", "y-suite", "--messages", "200", "--svg", svg_text, "--json", json_text];
    let output = succeeded(&arguments);
    for published in ["6,352", "157,430", "3,555", "281,294", "1,926", "519,210", "292", "3,424,658", "3,079", "263"] {
        assert!(output.contains(published), "{published}");
    }
    let page = fs::read_to_string(svg.join("report.html")).expect("the page was written");
    for (name, title) in [("density", "Density over"), ("throughput", "Throughput over"), ("latency", "Latency over")] {
        let picture = fs::read_to_string(svg.join(format!("y-suite-{name}.svg"))).expect("the graph was written");
        assert!(picture.contains("messages in a batch") && picture.contains("1,024"), "{name}");
        assert!(page.contains(&format!("{title} the length of a batch")), "{name}");
    }
    let (report, _) = kept(&json);
    assert!(output.contains("The signal alone") && report.session("signals").is_some());
    assert!(output.contains("What batches at the sender cost") && report.session("batch latency").is_some());
    let worst = report.session("ping-pong").unwrap();
    let switches = worst.metric("ypipe-ysemaphore", ybench::outcome::Metric::Switches);
    assert!(switches.is_none_or(|count| count.median > 0.0));
    assert!(
        report.sessions.iter().all(|session| session.rounds.len() > ybench::stats::LEAST_ROUNDS),
        "enough to say anything"
    );
    assert!(output.contains("Even in the worst case it is almost twice as fast."));
    let sweep = report.sessions.iter().find(|session| session.scenario == "batch sweep").unwrap();
    let batches: BTreeSet<usize> = sweep.transports().filter_map(|one| one.batch).collect();
    assert_eq!(batches.into_iter().collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
}

#[test]
fn the_article_about_linux_measures_every_shape_with_those_it_knows() {
    if !ybench::scenario::carried::ALL_SIZES {
        assert!(refused(&["article", "linux"]).contains("--features sizes -- article linux"));
        return;
    }
    assert!(refused(&["article", "linux", "--transport", "rtrb-1k"]).contains("with these transports only: mpmc-spin"));
    let folder = folder("article-linux");
    let (out, json) = (folder.join("pictures"), folder.join("run.json"));
    let wanted = ["article", "linux", "--messages", "8", "--rounds", "1", "--transport", "mpmc"];
    let files = ["--out", out.to_str().unwrap(), "--json", json.to_str().unwrap()];
    let output = succeeded(&[&wanted[..], &files].concat());
    let (report, _) = kept(&json);
    for (scenario, shape) in [("size", "1x1"), ("many-2x2", "2x2"), ("many-3x3", "3x3")] {
        let measured = report.sessions.iter().filter(|session| session.scenario == scenario);
        assert_eq!(measured.count(), ybench::scenario::carried::PARAMETERS.len(), "{scenario}");
        assert!(output.contains(&format!("{shape}, by value")), "{shape}");
    }
    assert!(report.session("memory").unwrap().density("memset").is_some());
    for name in ["linux-bandwidth-by-value.svg", "linux-bandwidth-by-pointer.svg"] {
        assert!(fs::read_to_string(out.join(name)).expect("the picture was written").contains("memcpy"), "{name}");
    }
}

#[test]
fn a_cost_is_measured_from_one_thread_to_a_thousand() {
    let folder = folder("scale");
    let (out, json) = (folder.join("out"), folder.join("run.json"));
    let (out_text, json_text) = (out.to_str().unwrap(), json.to_str().unwrap());
    let transports = ["--transport", "mpsc", "--transport", "spscs-pollset", "--transport", "mpmc"];
    let arguments = ["scale", "--messages", "8", "--rounds", "1", "--out", out_text, "--json", json_text];
    let output = succeeded(&[&arguments[..], &transports].concat());
    let (report, _) = kept(&json);
    assert_eq!(report.command, "scale");
    let columns = |name: &str| -> Vec<f64> {
        let sessions = report.sessions.iter().filter(|session| session.scenario == name);
        sessions.map(|session| session.parameter.unwrap().value).collect()
    };
    let powers: Vec<f64> = (0..11).map(|power| f64::from(1 << power)).collect();
    assert_eq!(columns("senders"), powers);
    assert_eq!(columns("idle-senders"), powers.iter().map(|all| all - 1.0).collect::<Vec<_>>());
    assert_eq!(columns("receivers"), powers[..7]);
    for (name, few) in [("sources", 3), ("busy-sources", 3), ("senders", 2), ("receivers", 1)] {
        let session = report.session(name).unwrap();
        assert_eq!(session.transports().count(), few, "{name}");
        assert!(fs::read_to_string(out.join(format!("scale-{name}.svg"))).unwrap().contains("time of a message"));
    }
    assert_eq!(columns("sources"), [1.0, 4.0, 16.0, 64.0, 256.0, 1_024.0, 4_096.0]);
    assert!(
        output.contains("times the first") && output.contains("Too few rounds to call which transports stay level.")
    );
    let wide = |line: &&str| line.starts_with([' ', '─']) && line.chars().count() > 120;
    // The report made again from the file is the same.
    let (again, tables) = (succeeded(&["report", json_text]), ybench::table::growths(&report));
    assert!(again.contains(&tables) && output.contains(&tables));
    assert_eq!(tables.lines().find(wide), None);
}

#[test]
fn the_targets_are_measured_and_judged() {
    if !two_cpus() {
        assert!(refused(&["goals"]).contains("need two CPUs"));
        return;
    }
    let path = folder("goals").join("run.json");
    let output = succeeded(&["goals", "--messages", "2000", "--rounds", "1", "--json", path.to_str().unwrap()]);
    let (report, _) = kept(&path);
    let goals = ybench_measure::goals::judged(&report);
    assert_eq!(goals.len(), 58);
    // Judged from the result alone: the output is the same the second time.
    let again = succeeded(&["report", path.to_str().unwrap()]);
    for goal in &goals {
        assert!(goal.measured.is_some(), "{}", goal.name);
        assert!(output.contains(&goal.name) && again.contains(&goal.name), "{}", goal.name);
    }
    // One round is enough for counts, and not for speed.
    assert!(goals.iter().any(|goal| goal.met.is_some()) && output.contains("inconclusive"), "{output}");
    assert!(report.goals.is_empty() && again.contains(&ybench::table::goals(&goals)));
}

#[test]
fn a_reader_of_stdout_that_goes_away_does_not_cost_the_result() {
    let path = folder("pipe").join("run.json");
    let arguments = ["--transport", "spsc", "--messages", "3", "--rounds", "1", "--json", path.to_str().unwrap()];
    let mut child = program::command(&arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!kept(&path).0.sessions.is_empty());
}

#[test]
fn suitable_transports_are_measured_and_the_others_have_a_reason() {
    let folder = folder("choose");
    let out = folder.to_str().unwrap();
    let few = ["--transport", "spsc,spsc-epoll,std-channel", "--messages", "50", "--rounds", "1", "--out", out];
    let said = succeeded(&[&["choose", "--verbose", "--epoll", "--rate", "100k"], &few[..]].concat());
    assert!(
        said.contains("\nWanted: 1 sender, 1 receiver, 8 bytes, can wait in epoll, 100k messages a second.\n"),
        "{said}"
    );
    let row = |name: &str| said.lines().any(|line| line.trim_start().starts_with(name));
    assert!(row("spsc-epoll ") && !row("std-channel ") && !row("spsc "), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, _) = said.split_once(": cannot wait in epoll.").unwrap();
    assert!(before.rsplit("Not ").next().unwrap().contains("std-channel"), "{said}");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("can wait in epoll, 100k messages a second"));
    assert!(refused(&["choose", "--senders", "65"]).starts_with("--senders takes 1 to 64 threads"));
}
