//! `ybench clock` from the user's side: the article's table with one more row, every way to read a clock, one sentence
//! on the two CPUs. No figure is asserted, only that there is one.
use std::path::Path;

use ybench::clock::cost::{GETTIMEOFDAY, OURS, RDTSC};
use ybench::clock::step::InStep;
use ybench::record::Report;

use crate::program::ybench;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it is text")
}

/// The output and the stored result.
fn measured(name: &str, arguments: &[&str]) -> (String, Report) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ybench-clock-{name}.json"));
    let output = ybench(&[&["clock", "--json", path.to_str().unwrap()], arguments].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let kept = std::fs::read_to_string(&path).expect("the report was kept");
    (text(&output.stdout).to_owned(), serde_json::from_str(&kept).expect("a report"))
}

#[test]
fn the_article_s_table_and_all_that_belongs_to_it_is_printed_and_kept() {
    let (printed, report) = measured("all", &[]);
    for published in ["CPU frequency", "1437 ns", "60 ns", "1932 ns", "7 ns", "103 ns", "33 ns", "19.8 %", "4.2 %"] {
        assert!(printed.contains(published), "{published}: {printed}");
    }
    assert_eq!(printed.lines().filter(|line| line.contains("(this machine)")).count(), 3, "{printed}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("One-way times can")).count(), 1, "{printed}");

    let clock = report.clock.expect("the facts were kept");
    assert!(report.sessions.is_empty());
    let overhead = clock.overhead_ns.expect("the empty transport was timed");
    for figure in [clock.cost_ns, clock.resolution_ns, clock.tick_ns, overhead] {
        assert!(figure.is_finite() && figure > 0.0, "{clock:?}");
    }
    for row in &clock.table {
        assert!(printed.contains(&row.name), "{}", row.name);
        assert_ne!(row.nanoseconds.is_some(), row.absent.is_some(), "{row:?}");
    }
    assert!(clock.cost_of(GETTIMEOFDAY).is_some() && clock.cost_of(OURS).is_some());
    assert_eq!(clock.cost_of(RDTSC).is_some(), cfg!(target_arch = "x86_64"));
}

#[test]
fn one_cpu_is_in_step_with_itself() {
    let cpu = ybench::place::allowed()[0].to_string();
    let (printed, report) = measured("one-cpu", &["--cpus", &cpu]);
    assert_eq!(report.clock.unwrap().step, InStep::OneCpu);
    assert!(printed.contains("One-way times can be told"), "{printed}");
}

#[test]
fn options_without_a_meaning_are_refused() {
    for option in [["--transport", "spsc"], ["--messages", "5"], ["--rounds", "3"], ["--time", "1"]] {
        let output = ybench(&[&["clock"], &option[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{option:?}");
        assert_eq!(text(&output.stdout), "");
        let sentence = format!("{} has no meaning here: this command measures clocks, not messages.\n", option[0]);
        assert_eq!(text(&output.stderr), sentence);
    }
}

#[test]
fn every_other_result_carries_its_clock_without_the_table() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ybench-clock-beside.json");
    let arguments = ["--transport", "spsc", "--messages", "3", "--rounds", "1", "--json", path.to_str().unwrap()];
    assert!(ybench(&arguments).status.success());
    let report: Report = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let clock = report.clock.expect("the facts were kept");
    assert!(clock.cost_ns > 0.0 && clock.table.is_empty());
    assert_eq!(report.environment.crates.get("ysuite").map(String::as_str), Some(env!("CARGO_PKG_VERSION")));
}
