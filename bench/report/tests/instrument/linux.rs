//! The article about Linux as `ybench report` makes it from a stored result: its tables, its conclusions and its
//! pictures. The result is made up, so that its output is known.
use std::fs;
use std::path::{Path, PathBuf};

use ybench::article;
use ybench::record::{Bound, Contestant, InEpoll, Kind, Parameter, Quantity, Report, Round, Session, Unit};
use ybench::scenario::{carried, many, size};
use ybench::table;
use ybench::table::part;
use ybench::transport::Shape;

use crate::program::succeeded;
use crate::sample;

/// Nanoseconds per message, and per KiB if it is passed by value: the copy costs more.
const MECHANISMS: [(&str, f64, f64); 7] = [
    ("mpmc", 20.0, 100.0),
    ("mpmc-spin", 18.0, 100.0),
    ("mpmc-futex", 22.0, 100.0),
    ("mpmc-eventfd", 40.0, 100.0),
    ("unix-dgram", 900.0, 400.0),
    ("posix-mq", 400.0, 400.0),
    ("sysv-mq", 410.0, 400.0),
];

/// The cost of an allocation, if a message is passed by address.
const ALLOCATED: f64 = 600.0;
const POSIX_BYTES: u64 = 8_192;
/// 32 GB/s and 20 GB/s.
const MEMORY: [(&str, f64); 2] = [("memset", 32.0), ("memcpy", 51.2)];

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ybench-linux-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn contestant(name: &str, kind: Kind, unit: Unit) -> Contestant {
    Contestant { name: name.to_owned(), kind, unit, units_per_run: 1_000, ..Contestant::default() }
}

/// Every round is a little slower than the one before, for all transports.
fn session(scenario: &str, parameter: Option<Parameter>, rounds: usize, times: &[(&str, Kind, f64)]) -> Session {
    let unit = if parameter.is_some() { Unit::Message } else { Unit::Kibibyte };
    let limit = times[0].0.to_owned();
    let round = |number: usize| Round {
        nanoseconds: times.iter().map(|one| (one.0.to_owned(), one.2 * (1.0 + 0.002 * number as f64))).collect(),
        ..Round::default()
    };
    Session {
        scenario: scenario.to_owned(),
        about: "Made up".to_owned(),
        parameter,
        floor: limit.clone(),
        limit,
        contenders: times.iter().map(|one| contestant(one.0, one.1, unit)).collect(),
        rounds: (0..rounds).map(round).collect(),
        ..Session::default()
    }
}

fn time((name, each, kib): (&str, f64, f64), shape: Shape, parameter: Parameter) -> Option<f64> {
    let bytes = parameter.value;
    let carried = match parameter.quantity {
        Quantity::BytesByValue if name == "posix-mq" && bytes > POSIX_BYTES as f64 => return None,
        Quantity::BytesByValue => kib * bytes / 1_024.0,
        _ => ALLOCATED,
    };
    Some((each + carried) * shape.senders as f64)
}

fn report(rounds: usize) -> Report {
    let mut sessions = Vec::new();
    sessions.push(session("memory", None, rounds, &MEMORY.map(|(name, time)| (name, Kind::Limit, time))));
    let priorities = [("one priority", 500.0), ("a priority for each", 900.0)];
    sessions.push(session("priorities", None, rounds, &priorities.map(|(name, time)| (name, Kind::Limit, time))));
    for scenario in [&size::SCENARIO, &many::TWO_BY_TWO, &many::THREE_BY_THREE] {
        for &parameter in carried::EVERY {
            let mut times = vec![("memory hand-over", Kind::Limit, 10.0)];
            let shape = (scenario.shape)(Some(parameter));
            for one in MECHANISMS {
                times.extend(time(one, shape, parameter).map(|time| (one.0, Kind::Transport, time)));
            }
            sessions.push(session(scenario.name, Some(parameter), rounds, &times));
        }
    }
    let bound =
        |threads| Bound { name: "posix-mq".to_owned(), senders: threads, receivers: threads, bytes: POSIX_BYTES };
    let tried = |name: &str, works| InEpoll { name: name.to_owned(), works, how: format!("how {name} was tried") };
    Report {
        command: "article linux".to_owned(),
        sessions,
        bounds: [1, 2, 3].map(bound).to_vec(),
        epoll: vec![tried("posix-mq", true), tried("sysv-mq", false), tried("mpmc-eventfd", true)],
        ..sample::report()
    }
}

/// The article's part of the output.
fn printed(report: &Report) -> String {
    part::terminal(&article::of(report, table::BEYOND).expect("it is of an article").parts)
}

fn page(report: &Report, test: &str) -> String {
    let folder = folder(test);
    let (json, html) = (folder.join("run.json"), folder.join("page.html"));
    fs::write(&json, serde_json::to_string(report).expect("JSON")).expect("a file");
    succeeded(&["report", json.to_str().unwrap(), "--html", html.to_str().unwrap()]);
    fs::read_to_string(html).expect("the page was written")
}

/// The lines under a claim.
fn conclusion(output: &str, claim: &str) -> (&'static str, &'static str) {
    // Continued lines are indented by four.
    let output: &'static str = output.replace("\n    ", " ").leak();
    let mut lines = output.lines().skip_while(|line| !line.starts_with(claim)).skip(1).map(str::trim);
    (lines.next().unwrap_or(""), lines.next().unwrap_or(""))
}

#[test]
fn the_tables_have_every_shape_and_way_and_say_what_is_missing() {
    let output = printed(&report(5));
    for shape in ["1x1", "2x2", "3x3"] {
        for way in ["by value", "by pointer", "from a pool"] {
            assert!(output.contains(&format!("\n{shape}, {way}\n")), "{shape} {way}");
        }
    }
    let row = |start: &str| output.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or("");
    let by_value = output.split("1x1, by value").nth(1).and_then(|rest| rest.split("1x1, by pointer").next()).unwrap();
    assert_eq!(by_value.matches("limit 8,192 B").count(), 2, "{by_value}");
    // 20 ns and the 128th part of 100 ns, and in the third round a little more.
    assert!(row("own queue, usual").contains("47.9M/s 20.9 ns"), "{}", row("own queue, usual"));
    assert!(row("1x1       own queue, spin").trim_end().ends_with('5'), "the rounds of the way of waiting");
    assert!(!output.contains("crossbeam  "), "an existing transport that was not measured has no row");
}

#[test]
fn where_pointers_begin_to_pay_is_found() {
    let output = printed(&report(5));
    let part = output.split("From which size").nth(1).unwrap();
    let row = |start: &str| part.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or("");
    // The copy costs as much as the allocation at 6 KiB, and in the kernel at 1.5 KiB.
    assert_eq!(row("own queue, usual").matches("from about 6.0 KiB").count(), 3, "{}", row("own queue, usual"));
    assert_eq!(row("System V queue").matches("from about 1.5 KiB").count(), 3, "{}", row("System V queue"));
    let posix = "from about 1.5 KiB; the only way from 16 KiB";
    assert_eq!(row("POSIX queue").matches(posix).count(), 3, "{}", row("POSIX queue"));
}

#[test]
fn every_conclusion_is_judged_by_the_result() {
    let output = printed(&report(5));
    let verdict = |claim| conclusion(&output, claim).1;
    assert_eq!(verdict("UNIX sockets are of no use"), "holds.");
    let sockets = conclusion(&output, "UNIX sockets are of no use").0;
    assert!(sockets.contains("; the least is ") && sockets.contains(" times (unix-"), "{sockets}");
    assert_eq!(verdict("POSIX message queues are practically"), "holds.");
    assert_eq!(verdict("With spin and futex the own queue is always faster"), "holds.");
    assert_eq!(verdict("The own queue is very unstable"), "does not hold.");
    assert_eq!(verdict("With the kernel's interfaces pointers pay"), "holds.");
    for claim in ["Blocking a thread while it waits", "A futex makes no great difference"] {
        let told = verdict(claim);
        assert!(told.starts_with("not comparable on this machine: 4 and 6 threads share 2 CPUs"), "{told}");
    }
    assert_eq!(verdict("POSIX queues have priorities"), "holds.");
    let priced = conclusion(&output, "POSIX queues have priorities").0;
    assert!(priced.ends_with("that priorities cost nothing: does not hold"), "{priced}");
    assert_eq!(verdict("Sockets, POSIX queues and the own queue work"), "holds.");
    assert_eq!(verdict("Clearing memory goes at"), "faster here.");
    // By value it is; by pointer and from a pool all of them allocate.
    let (here, verdict) = conclusion(&output, "Waiting by eventfd is at least twice");
    assert!(
        here.contains("in 48 cases (holds in 16 of 48, does not in 32); between two threads, less than that"),
        "{here}"
    );
    assert_eq!(verdict, "holds in 32 of 72, does not in 40.");
}

#[test]
fn where_every_thread_has_a_cpu_spinning_can_be_compared() {
    let mut report = report(5);
    let contenders = report.sessions.iter_mut().flat_map(|session| &mut session.contenders);
    contenders.for_each(|one| one.cpus = vec![0, 1, 2, 3]);
    let output = printed(&report);
    assert!(output.contains("2x2: on CPUs 0, 1, 2, 3."), "{output}");
    for claim in ["Blocking a thread while it waits", "A futex makes no great difference"] {
        let told = conclusion(&output, claim).1;
        assert!(
            told.ends_with(
                "; not comparable on this machine: 6 threads share 4 CPUs, and a spinning thread keeps its peer \
             from running."
            ),
            "{told}"
        );
        assert!(told.starts_with("holds") || told.starts_with("does not hold"), "{told}");
    }
}

#[test]
fn too_few_rounds_conclude_nothing() {
    let output = printed(&report(4));
    let told = output.split("What the article concluded").nth(1).unwrap();
    let count = |verdict: &str| told.lines().filter(|line| line.trim() == verdict).count();
    // Epoll and priorities are tested once and need no rounds.
    assert_eq!([count("too few rounds to say."), count("holds."), count("faster here.")], [7, 2, 0], "{told}");
    assert!(output.contains("Faster than memset, 3x3, by pointer: too few rounds to say."));
}

#[test]
fn epoll_is_reported_as_it_was_tested() {
    let output = printed(&report(5));
    assert!(output.contains("In epoll alongside sockets") && output.contains("how sysv-mq was tried"));
    let untried = printed(&Report { epoll: Vec::new(), ..report(5) });
    assert!(!untried.contains("In epoll alongside sockets") && untried.contains("not tried"));
}

#[test]
fn the_diagram_has_a_picture_for_each_way_with_both_baselines() {
    let report = report(5);
    let (output, page) = (printed(&report), page(&report, "diagram"));
    assert!(output.contains("memset 31.9 GB/s") && output.contains("Faster than memset, 3x3, by value: none."));
    // 64 KiB in three times 618 ns.
    assert!(output.contains("Faster than memset, 3x3, by pointer: own queue, spin at 64 KiB"), "{output}");
    for way in ["by value", "by pointer", "from a pool"] {
        let title = format!("Bandwidth between 3x3 threads, {way}");
        let picture = page.split("<figure").find(|figure| figure.contains(&title)).expect("the picture");
        assert!(picture.contains(">memset</text>") && picture.contains(">memcpy</text>"), "{way}");
        assert!(picture.contains("above memset: through a cache"), "{way}");
    }
    assert!(page.contains("What the article concluded"));
}
