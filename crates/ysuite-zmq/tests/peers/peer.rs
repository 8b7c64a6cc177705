//! [`Peer`]: a program of another library, at work.

use core::fmt;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use super::Role;
use crate::support::GUARD;

/// Of what a peer is, and how it is called.
pub(crate) struct Library {
    /// With the versions: what it says of itself.
    pub(crate) name: String,
    command: Vec<String>,
}

impl fmt::Debug for Library {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// One in each line of YSUITE_PEERS: its name, a tab, and its command.
pub(crate) fn libraries() -> Vec<Library> {
    let all = env::var("YSUITE_PEERS").expect("YSUITE_PEERS: ci/steps/zmq peers sets it");
    let library = |line: &str| {
        let (name, command) = line.split_once('\t').expect("a name, a tab, and a command");
        Library { name: name.to_owned(), command: command.split_whitespace().map(str::to_owned).collect() }
    };
    all.lines().filter(|line| !line.is_empty()).map(library).collect()
}

/// At work. Killed if it has not ended.
pub(crate) struct Peer {
    child: Child,
    /// Where it is told to go on, and that it may end.
    told: Option<ChildStdin>,
    said: mpsc::Receiver<String>,
    /// Its first number.
    first: u64,
}

impl Peer {
    pub(crate) fn start(library: &Library, role: Role, address: &str, first: u64, count: u64) -> Self {
        let mut command = Command::new(&library.command[0]);
        command.args(&library.command[1..]).args([role.name(), address, &first.to_string(), &count.to_string()]);
        let mut peer = Self::of(command);
        peer.first = first;
        assert_eq!(peer.line(), library.name, "what it is of");
        assert_eq!(peer.line(), "ready");
        peer
    }

    /// Any program.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process");
        let (lines, said) = mpsc::channel();
        let output = BufReader::new(child.stdout.take().expect("its output"));
        // Whatever it says is read at once: it never waits for that.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
        let told = child.stdin.take();
        Self { child, told, said, first: 0 }
    }

    /// What it says before such a line, and that.
    pub(crate) fn until(&mut self, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = vec![self.line()];
        while !lines.last().is_some_and(|line| is_it(line)) {
            lines.push(self.line());
        }
        lines
    }

    /// What it says next.
    pub(crate) fn line(&mut self) -> String {
        self.said.recv_timeout(GUARD).expect("it says something")
    }

    pub(crate) fn lines(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.line()).collect()
    }

    /// It may end, and does: what it says until then.
    pub(crate) fn rest(mut self) -> Vec<String> {
        drop(self.told.take());
        let mut rest = Vec::new();
        loop {
            match self.said.recv_timeout(GUARD) {
                Ok(line) => rest.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end: {rest:?}"),
            }
        }
        let ended = self.child.wait().expect("its end");
        assert!(ended.success(), "{ended}: {rest:?}");
        rest
    }

    /// At once: what it had said that was not read yet.
    pub(crate) fn kill(mut self) -> Vec<String> {
        self.child.kill().expect("a process");
        self.said.iter().collect()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("a process");
    }

    /// It does nothing any more.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    /// A publisher is heard by the bridge: it said so with its first number. The numbers may follow.
    pub(crate) fn is_heard(&mut self, first: &str) {
        if first.parse() == Ok(self.first)
            && let Some(told) = &mut self.told
        {
            // It needs to be told once only, and may have ended since.
            let _ = told.write_all(b"go\n");
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
