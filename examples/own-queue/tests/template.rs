//! The template `examples/own-channel` is outside the workspace, so that it can be copied. Here it is compiled, and has
//! its rows. The test starts itself as the template's program.
use std::process::{Command, ExitCode};

#[path = "../../own-channel/src/main.rs"]
mod template;

/// Is set where this is the program.
const PROGRAM: &str = "YBENCH_TEMPLATE";

fn main() -> ExitCode {
    if std::env::var_os(PROGRAM).is_some() {
        return template::main();
    }
    let out = concat!(env!("CARGO_TARGET_TMPDIR"), "/own-channel");
    for scenario in ["throughput", "latency", "senders"] {
        let run = ["run", scenario, "--transport", "own-channel", "--against", "own-channel,spsc"];
        let few = ["--messages", "50", "--rounds", "1", "--out", out];
        let mut command = Command::new(std::env::current_exe().expect("the test has a path"));
        let output = command.args(run).args(few).env(PROGRAM, "1").env("YBENCH_LIMIT_MS", "2").output();
        let output = output.expect("the test can start itself");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{scenario}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(said.lines().any(|line| line.contains(" own-channel ")), "{scenario}: {said}");
    }
    ExitCode::SUCCESS
}
