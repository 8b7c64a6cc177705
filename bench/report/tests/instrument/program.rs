//! The program from the user's side, for the tests of this folder: starts it and returns its output.

use std::process::{Command, Output};

/// Reports go to the tests' own folder, and the tester's environment is ignored.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ybench"));
    command.args(arguments).env_remove("YBENCH_BASELINES").env("YBENCH_OUT", env!("CARGO_TARGET_TMPDIR"));
    // No test uses a figure.
    command.env("YBENCH_LIMIT_MS", "1");
    command
}

pub(crate) fn ybench(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the program can be started")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the errors are text")
}

/// Exit status 2, nothing on stdout, exactly one sentence on stderr.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let output = ybench(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    assert_eq!(stdout(&output), "", "{arguments:?}");
    let sentence = stderr(&output);
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    assert!(sentence.ends_with(".\n"), "{sentence}");
    sentence
}

pub(crate) fn succeeded(arguments: &[&str]) -> String {
    let output = ybench(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    // Without a terminal, progress is printed as lines.
    assert!(stderr(&output).lines().all(|line| line.starts_with("ybench: ")), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}
