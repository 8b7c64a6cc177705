//! The answers of `ybench choose`: their lines compile and do what they say, and each need has one.
use std::process::Command;

use crate::program::{stdout, succeeded, ybench};

#[path = "../../recipes/rust.rs"]
mod rust;

#[test]
fn the_lines_of_rust_run() {
    rust::spsc();
    rust::spsc_bounded();
    rust::mpsc();
    rust::mpsc_bounded();
    rust::mpmc();
    rust::mpmc_bounded();
    rust::broadcast();
    rust::watch();
    rust::pool();
    rust::pointer();
    rust::forever();
    rust::asleep();
    rust::tasks();
    rust::epoll();
    rust::answers();
}

#[test]
fn the_lines_of_rust_between_processes_run() {
    rust::shm_pipe();
    rust::shm_bytes();
    rust::shm_funnel();
    rust::shm_broadcast();
    rust::shm_watch();
    rust::shm_work();
    rust::shm_call();
    rust::shm_loan();
}

/// Where there is no compiler of C++ there is nothing to try.
#[test]
fn the_lines_of_cpp_compile() {
    let own = env!("CARGO_MANIFEST_DIR");
    let include = format!("-I{own}/../../crates/ysuite-c/include");
    let source = format!("{own}/recipes/cpp.cpp");
    let compiler = Command::new("c++").args(["-std=c++17", "-fsyntax-only", &include, &source]).output();
    let Ok(output) = compiler else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_need_has_its_lines_at_once_if_there_is_nothing_to_measure() {
    for (need, words) in [
        (&["--newest", "--receivers", "3"][..], "ysuite::watch::channel"),
        (&["--machines"], "Bridge::push(rx).connect"),
        (&["--answers", "--senders", "8"], "oneshot::channel"),
        (&["--processes", "--senders", "3"], "ysuite_shm::Funnel"),
        (&["--processes", "--to-all", "--receivers", "3"], "ysuite_shm::BroadcastSender"),
        (&["--processes", "--newest"], "ysuite_shm::WatchSender"),
        (&["--processes", "--receivers", "3"], "ysuite_shm::WorkSender"),
        (&["--processes", "--answers"], "ysuite_shm::Caller"),
        (&["--processes", "--bytes", "6MB"], "ysuite_shm::LoanSender"),
        (&["--tasks", "--senders", "2"], "tx.send_async(1).await"),
    ] {
        let said = succeeded(&[&["choose"], need].concat());
        assert!(said.contains("\nAnswer: ") && said.contains(words), "{need:?}: {said}");
    }
}

#[test]
fn a_pipe_between_processes_is_measured_beside_the_kernels() {
    let few = ["choose", "--processes", "--messages", "20", "--rounds", "1", "--bytes", "100"];
    let names = "--transport=spsc,shm-pipe,shm-pipe-forever,shm-pipe-bytes,process-pipe";
    let said = succeeded(&[&few[..], &[names, "--sleeps", "--quiet"]].concat());
    assert!(said.contains("ysuite_shm::Sender::<Message>") && said.contains("Here shm-pipe takes: "), "{said}");
    assert!(["shm-pipe-bytes ", "process-pipe "].iter().all(|name| said.contains(name)), "{said}");
    assert!(said.contains("process-size, 256 B by value") && said.contains("process-ping-pong"), "{said}");
    assert!(!said.contains("\n spsc ") && !said.contains("\n shm-pipe-forever "), "{said}");
    let long = succeeded(&[&few[..], &[names, "--verbose", "--first", "p99", "--rate", "1"]].concat());
    assert!(long.contains("process-wake") && long.contains("between threads"), "{long}");
}

#[test]
fn the_short_answer_has_the_best_five_and_the_long_one_all() {
    let few = ["--messages", "20", "--rounds", "1", "--quiet", "--first", "p99", "--rate", "1/day", "--bytes", "6MB"];
    let names = "--transport=spsc,spsc-none,spsc-bounded,mpsc,mpmc,std-channel,crossbeam-bounded,pipe";
    let short = succeeded(&[&["choose", names], &few[..]].concat());
    let rows = |said: &str| {
        let named =
            ["spsc ", "spsc-none ", "spsc-bounded ", "mpsc ", "mpmc ", "std-channel ", "crossbeam-bounded ", "pipe "];
        said.lines().filter(|line| named.iter().any(|name| line.trim_start().starts_with(name))).count()
    };
    // The answer has its row wherever it ranks.
    assert!((5..=6).contains(&rows(&short)) && short.lines().any(|line| line.starts_with(" spsc ")), "{short}");
    assert!(short.contains("one message a day") && short.contains("Here spsc takes: "), "{short}");
    assert!(short.contains("Pool::new") && short.contains("in a pool"), "{short}");
    assert!(short.contains("more fit: --verbose shows all of them") && !short.contains("Not fit"), "{short}");
    let long = ["choose", names, "--messages", "20", "--rounds", "1", "--verbose", "--rate", "1/day"];
    let long = stdout(&ybench(&long));
    assert!(rows(&long) >= 7 && long.contains("Not fit: "), "{long}");
}
