//! A program that takes turns ([`crate::turn`]), as the one sees it that gives them.

use std::io::{self, BufRead, BufReader, Lines, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use ybench_measure::error::Error;
use ybench_measure::record::Report;

use crate::storage;
use crate::turn::{OPTION, QUESTION};

/// One of the two, as the user has named it.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub which: &'static str,
    pub path: &'a Path,
}

impl Program<'_> {
    fn refused(self, cause: &dyn std::fmt::Display) -> Error {
        Error::Refused(format!("{} ({}) {cause}.", self.which, self.path.display()))
    }
}

/// A running program.
pub(super) struct Side<'a> {
    program: Program<'a>,
    child: Child,
    /// Whether it waits for a turn. If not, it has ended.
    pub asks: bool,
    said: Lines<BufReader<ChildStdout>>,
    answers: Option<ChildStdin>,
    errors: Option<JoinHandle<String>>,
    folder: PathBuf,
}

impl<'a> Side<'a> {
    /// Starts the program, and waits until it asks for the first time.
    pub(super) fn start(program: Program<'a>, arguments: &[String], folder: &Path, start: u32) -> Result<Self, Error> {
        let folder = folder.join(format!("{}-{start}", program.which.to_lowercase()));
        let mut command = Command::new(program.path);
        command.args(arguments).args([OPTION, "--quiet", "--out"]).arg(&folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = command.spawn();
        let mut child = started.map_err(|cause| program.refused(&format!("cannot be started: {cause}")))?;
        let (said, errors) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
        let mut side = Self {
            program,
            answers: child.stdin.take(),
            asks: true,
            said: BufReader::new(said).lines(),
            errors: Some(std::thread::spawn(move || whole(errors))),
            child,
            folder,
        };
        side.listen();
        Ok(side)
    }

    /// Waits for the next question, or for the end.
    fn listen(&mut self) {
        self.asks = self.said.by_ref().map_while(Result::ok).any(|line| line == QUESTION);
    }

    /// Lets it measure a round, if it still asks, and waits for the end of that.
    pub(super) fn turn(&mut self) {
        if let Some(answers) = self.answers.as_mut().filter(|_| self.asks) {
            // A program that has ended says why itself.
            let _ = writeln!(answers);
            self.listen();
        }
    }

    /// Ends its input, and takes all that it has yet to say: nobody else does, and it might wait for that.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.answers = None;
        self.said.by_ref().map_while(Result::ok).for_each(drop);
        self.child.wait()
    }

    /// Its result. A program that still asks ends without another round.
    pub(super) fn ended(mut self) -> Result<Report, Error> {
        let status = self.end().map_err(|cause| self.program.refused(&format!("cannot be waited for: {cause}")))?;
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        let result = self.folder.join("report.json");
        // 1: a transport failed validation, which the result tells; 130: interrupted.
        if matches!(status.code(), Some(0 | 1 | 130)) && result.exists() {
            return storage::read_report(&result);
        }
        Err(self.program.refused(&match errors.lines().next() {
            _ if ybench_measure::interrupt::asked() => return Err(Error::Interrupted { sessions: 0 }),
            Some(_) if errors.contains(OPTION) => "is older than this command, and cannot take turns".to_owned(),
            Some(line) => format!("fails: {}", line.trim_end_matches('.')),
            None => format!("fails without a word ({status})"),
        }))
    }
}

impl Drop for Side<'_> {
    /// Where the other one has failed: the end of its input ends it too, after the round that it is in.
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn whole(mut errors: impl Read) -> String {
    let mut text = String::new();
    // What is no text is left out.
    let _ = errors.read_to_string(&mut text);
    text
}
