//! `ybench report` from the user's side: its refusals, and its output for a stored result. The results are made up.
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ybench::record::{Report, SCHEMA, Session};
use ybench::scenario::{self, Quick};
use ybench::table;

use crate::program::{refused, succeeded, ybench};
use crate::sample;

/// An empty folder for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ybench-report-{test}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Stores a report and returns the path as text.
fn kept(folder: &Path, name: &str, report: &Report) -> String {
    let path = folder.join(name);
    fs::write(&path, serde_json::to_string(report).expect("JSON")).expect("a file");
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn page(report: &Report, test: &str) -> String {
    let folder = folder(test);
    let file = kept(&folder, "run.json", report);
    let html = folder.join("page.html");
    succeeded(&["report", &file, "--html", html.to_str().unwrap()]);
    fs::read_to_string(html).expect("the page was written")
}

/// The page of the whole sample, made once for all tests that read it.
fn whole() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| page(&sample::report(), "whole"))
}

#[test]
fn without_an_output_the_tables_are_printed() {
    let folder = folder("terminal");
    let report = sample::report();
    let output = succeeded(&["report", &kept(&folder, "run.json", &report)]);
    for session in &report.sessions {
        assert!(output.contains(&table::ranking(session)), "{}", session.title());
    }
    assert!(output.contains(&table::matrix(&report)) && output.contains("This is a virtual machine (kvm)."));
    assert!(output.contains("Rate not reached: ") && output.contains(" of 1M"));
    for block in ['▁', '█'] {
        assert!(output.contains(block));
    }
}

#[test]
fn growth_is_reported_in_every_form() {
    let folder = folder("growth");
    let report = sample::scale();
    let file = kept(&folder, "run.json", &report);
    let terminal = succeeded(&["report", &file]);
    let markdown = folder.join("run.md");
    succeeded(&["report", &file, "--markdown", markdown.to_str().unwrap()]);
    let page = page(&report, "growth-page");
    for text in [terminal, fs::read_to_string(markdown).unwrap(), page] {
        assert!(text.contains("ver threads that send") && text.contains("ver senders, all of them silent but one"));
        assert!(text.contains("Level, always within 2 times the first figure: spsc, "), "idle ones cost nothing");
        assert!(text.contains("Not level: spsc from 1,024 on, "), "all of them active do");
    }
}

#[test]
fn zero_idle_senders_have_a_position_on_a_logarithmic_axis() {
    let page = page(&sample::scale(), "idle-axis");
    let labels = page.split("aria-label=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let over = "time of a message over senders, all of them silent but one.";
    let words = labels.into_iter().find(|label| label.contains(over)).expect("a picture");
    for place in [" at 1,", " at 32,", " at 1,024"] {
        assert!(words.contains(place), "{place}: {words}");
    }
}

#[test]
fn the_matrix_fits_one_screen() {
    let mut report = sample::one_screen();
    let shown =
        |session: &Session| scenario::all().iter().any(|one| one.name == session.scenario && one.in_quick != Quick::No);
    report.sessions.retain(shown);
    let matrix = table::matrix(&report);
    assert!(matrix.lines().all(|line| line.chars().count() <= 120), "{matrix}");
    assert!(matrix.lines().count() <= 46, "{matrix}");
    for part in report.sessions.iter().flat_map(|session| session.scenario.split('-')) {
        assert!(matrix.contains(part), "{part}");
    }
    assert_eq!(matrix.matches('*').count() - 1, report.sessions.len(), "one leader in each column, and the legend");
}

#[test]
fn a_matrix_that_is_too_wide_continues_below() {
    let report = sample::report();
    let matrix = table::matrix(&report);
    assert!(matrix.lines().all(|line| line.chars().count() <= 120), "{matrix}");
    assert!(matrix.lines().filter(|line| line.trim_start().starts_with("baseline")).count() > 1, "{matrix}");
}

#[test]
fn results_are_shown_one_after_the_other() {
    let folder = folder("several");
    let (one, two) = (kept(&folder, "one.json", &sample::least()), kept(&folder, "two.json", &sample::one_screen()));
    let output = succeeded(&["report", &one, &two]);
    assert_eq!(output.matches("=== ").count(), 2);
    let html = folder.join("page.html");
    succeeded(&["report", &one, &two, "--html", html.to_str().unwrap()]);
    let page = fs::read_to_string(html).unwrap();
    assert_eq!(page.matches("<main").count(), 2);
    assert!(page.contains("one.json") && page.contains("two.json"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = whole();
    assert!(page.contains("Content-Security-Policy\" content=\"default-src 'none'"));
    let known = "http://www.w3.org/2000/svg";
    assert!(!page.replace(known, "").contains("://"));
    for word in ["<link", "<img", "<iframe", "<object", " src=", "@import", "url(", "@font-face", "fetch("] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn every_picture_of_the_page_has_its_words() {
    let page = whole();
    let pictures: Vec<&str> = page.split("<svg ").skip(1).collect();
    assert!(pictures.len() > 40, "{}", pictures.len());
    for picture in pictures {
        let head = picture.split('>').next().unwrap();
        let label = head.split("aria-label=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("");
        assert!(head.contains("role=\"img\"") && label.len() > 40, "{head}");
    }
    assert_eq!(page.matches("<figure").count(), page.matches("<figcaption>").count());
}

#[test]
fn the_page_is_well_formed() {
    for page in [whole(), &page(&sample::least(), "least")] {
        // Text between script or style tags is not markup.
        let mut open: Vec<String> = Vec::new();
        let mut rest = page;
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            let (tag, after) = rest.split_once('>').expect("a tag ends");
            let name: String = tag.trim_start_matches('/').chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
            rest = after;
            match tag {
                _ if tag.starts_with('!') || tag.ends_with('/') || name == "meta" => {}
                _ if tag.starts_with('/') => assert_eq!(open.pop().as_deref(), Some(name.as_str()), "</{name}>"),
                _ => {
                    if name == "script" || name == "style" {
                        rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
                    }
                    open.push(name);
                }
            }
        }
        assert_eq!(open, Vec::<String>::new());
        let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(ids.contains(&target), "{target}");
        }
        for word in ["NaN", ">inf", "{{", "{%"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}

#[test]
fn the_page_says_what_the_tables_say() {
    let (report, page) = (sample::report(), whole());
    for session in &report.sessions {
        for sentence in table::judgement(session).lines() {
            assert!(page.contains(sentence), "{sentence}");
        }
    }
    for warning in &report.warnings {
        assert!(page.contains(&warning.to_string()) && page.contains(warning.advice()));
    }
    assert!(page.contains("the baseline moved by 14 %") && !page.contains("No round was dropped."));
    assert!(page.contains("Rate not reached: "));
}

#[test]
fn names_from_a_file_are_text_and_no_markup() {
    let mut report = sample::least();
    report.environment.cpu_model = Some("<script>alert(1)</script>".to_owned());
    report.sessions[0].scenario = "a<b & \"c\"".to_owned();
    let page = page(&report, "escaped");
    assert_eq!(page.matches("<script>").count(), 1);
    assert!(!page.contains("a<b"));
}

#[test]
fn targets_are_shown() {
    let mut report = sample::least();
    report.goals = sample::goals();
    let page = page(&report, "targets");
    assert!(page.contains("1 of 3 targets met.") && page.contains("MISS") && page.contains("not measured"));
}

#[test]
fn markdown_and_csv_have_every_transport() {
    let folder = folder("texts");
    let report = sample::report();
    let file = kept(&folder, "run.json", &report);
    let (markdown, csv) = (folder.join("run.md"), folder.join("run.csv"));
    let arguments =
        ["report", &file, "--markdown", markdown.to_str().unwrap(), "--csv", csv.to_str().unwrap(), "--beyond", "2.5"];
    let output = succeeded(&arguments);
    assert_eq!(output.lines().count(), 2, "{output}");
    let markdown = fs::read_to_string(markdown).unwrap();
    assert!(markdown.contains("## night-watchman") && markdown.contains("> 2.5 µs"));
    let csv = fs::read_to_string(csv).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    let contenders: usize = report.sessions.iter().map(|session| session.contenders.len()).sum();
    assert_eq!(lines.len(), contenders + 1);
    for column in ["median_ns", "ratio_max", "latency p99.99", "round-trip p50", "rate-reached", "bytes-held"] {
        assert!(lines[0].split(',').any(|name| name == column), "{column}");
    }
    let unquoted = lines.iter().filter(|line| !line.contains('"'));
    let columns = lines[0].split(',').count();
    assert!(unquoted.clone().all(|line| line.split(',').count() == columns) && unquoted.count() > 100);
}

#[test]
fn damaged_files_are_refused_in_one_sentence() {
    let folder = folder("damaged");
    let whole = kept(&folder, "whole.json", &sample::least());
    let json = fs::read_to_string(&whole).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let half = refused(&["report", &write("half.json", &json[..json.len() / 2])]);
    assert!(half.contains("is truncated"), "{half}");
    let newer = json.replacen(&format!("\"schema\":{SCHEMA}"), &format!("\"schema\":{}", SCHEMA + 1), 1);
    let newer = refused(&["report", &write("newer.json", &newer)]);
    assert!(newer.contains("by a newer ybench"), "{newer}");
    assert!(refused(&["report", &write("other.json", "{\"a\": 1}")]).contains("not a result of ybench"));
    assert!(refused(&["report", &write("text.json", "hello")]).contains("is damaged"));
    assert!(refused(&["report", &write("nothing.json", "")]).contains("is empty"));
    assert!(refused(&["report", folder.join("missing.json").to_str().unwrap()]).contains("cannot be read"));
    let mut empty = sample::least();
    empty.sessions.clear();
    assert!(refused(&["report", &kept(&folder, "empty.json", &empty)]).contains("nothing was measured"));
    let mut negative = sample::least();
    negative.sessions[0].rounds[0].nanoseconds.insert("spsc".to_owned(), -1.0);
    assert!(refused(&["report", &kept(&folder, "negative.json", &negative)]).contains("not a valid time"));
    // One damaged file among good ones: nothing is written.
    let html = folder.join("page.html");
    refused(&["report", &whole, folder.join("half.json").to_str().unwrap(), "--html", html.to_str().unwrap()]);
    assert!(!html.exists());
}

#[test]
fn outputs_that_cannot_be_written_leave_everything_as_it_was() {
    let folder = folder("outputs");
    let file = kept(&folder, "run.json", &sample::least());
    let before = fs::read_to_string(&file).unwrap();
    assert!(refused(&["report", &file, "--html", &file]).contains("is named twice"));
    let (page, twice) = (folder.join("page"), folder.join("page"));
    assert!(
        refused(&["report", &file, "--html", page.to_str().unwrap(), "--csv", twice.to_str().unwrap()])
            .contains("is named twice")
    );
    let missing = folder.join("missing/page.html");
    assert!(refused(&["report", &file, "--html", missing.to_str().unwrap()]).contains("cannot be written"));
    assert!(refused(&["report", &file, "--beyond", "0"]).contains("--beyond"));
    assert!(refused(&["report", &file, "--rounds", "3"]).contains("--rounds has no meaning here"));
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_report_without_a_file_is_refused() {
    assert_eq!(ybench(&["report"]).status.code(), Some(2));
}
