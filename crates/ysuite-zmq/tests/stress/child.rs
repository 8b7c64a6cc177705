//! A child: this binary once more, as a program that can be killed.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ysuite::spsc;
use ysuite_zmq::Bridge;

use crate::support::{GUARD, expect_flushed};

const ROLE: &str = "YSUITE_ZMQ_ROLE";

/// The arguments of a child, and the file in which it logs its progress.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) role: &'static str,
    pub(crate) address: String,
    /// Which of the children it is.
    pub(crate) number: u64,
    pub(crate) log: PathBuf,
}

pub(crate) struct Child(std::process::Child);

impl Child {
    pub(crate) fn start(told: &Told) -> Self {
        Self::start_by(Command::new(std::env::current_exe().expect("a path")), told)
    }

    /// By a command that ends with this binary.
    pub(crate) fn start_by(mut command: Command, told: &Told) -> Self {
        let words = [told.role, &told.address, &told.number.to_string(), &told.log.display().to_string()];
        command.args(["child::begin", "--exact", "--nocapture"]).env(ROLE, words.join(" ")).stdout(Stdio::null());
        Self(command.spawn().expect("a process"))
    }

    /// At any point of its work.
    pub(crate) fn kill(mut self) {
        self.0.kill().expect("a process of ours");
        self.0.wait().expect("its end");
    }

    /// Until it exits by itself, with success.
    pub(crate) fn end(mut self) {
        let ended = self.0.wait().expect("its end");
        assert!(ended.success(), "{ended}");
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("a process of ours").is_some()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a child has received: from this number up to this one, without a hole. It outlives the child.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) first: u64,
    /// The number that would have come next; 0: nothing came.
    pub(crate) next: u64,
}

impl Log {
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        let word =
            |at: usize| bytes.get(at..at + 8).map_or(0, |word| u64::from_le_bytes(word.try_into().expect("8 bytes")));
        Self { first: word(0), next: word(8) }
    }

    fn write(self, file: &File) {
        let bytes = [self.first.to_le_bytes(), self.next.to_le_bytes()].concat();
        file.write_all_at(&bytes, 0).expect("a file");
    }
}

/// Does nothing as a test: as a child, what its arguments say.
#[test]
fn begin() {
    let Ok(words) = std::env::var(ROLE) else { return };
    let words: Vec<_> = words.split(' ').collect();
    let [role, address, number, log] = words[..] else { panic!("{words:?}") };
    let number = number.parse().expect("a number");
    let file = File::options().create(true).append(false).write(true).truncate(true).open(log).expect("a file");
    match role {
        "reader" => read(address, &file),
        "writer" => write(address, number),
        "puller" => pull(address, &file),
        other => panic!("{other}"),
    }
    std::process::exit(0);
}

/// A duplex that reads the other side's stream completely.
fn read(address: &str, file: &File) {
    let (_nothing, out) = spsc::bounded::<u64>(1);
    let duplex = Bridge::duplex::<_, u64>(out).connect(address).bounded(super::kills::ROOM).at_least_once();
    let (duplex, mut receiver) = duplex.start().expect("a bridge");
    let (mut log, mut batch) = (Log::default(), Vec::new());
    while receiver.recv_batch(&mut batch, 256).is_ok() {
        for number in batch.drain(..) {
            if log.next == 0 {
                log.first = number;
            } else {
                assert_eq!(number, log.next, "a hole, or a repetition");
            }
            log.next = number + 1;
        }
        log.write(file);
    }
    expect_flushed(duplex);
}

/// A duplex that writes numbers, after its own, until it is killed.
fn write(address: &str, own: u64) {
    let (mut sender, out) = spsc::bounded::<u64>(256);
    let duplex = Bridge::duplex::<_, u64>(out).connect(address).pack(32).at_least_once();
    let (_duplex, _receiver) = duplex.start().expect("a bridge");
    for number in 0.. {
        sender.send(own << 40 | number).expect("there is a receiver");
    }
}

/// Pulls, and writes down each number at its own place, so that one that two have pulled is seen.
fn pull(address: &str, file: &File) {
    let (_pull, mut receiver) = Bridge::pull::<u64>().connect(address).bounded(64).start().expect("a bridge");
    let (mut next, mut batch, mut at) = (0, Vec::new(), 0);
    while receiver.recv_timeout(GUARD).map(|number| batch.push(number)).is_ok() {
        let _ = receiver.try_recv_batch(&mut batch, 255);
        assert!(batch.is_sorted() && batch[0] >= next, "{batch:?} after {next}");
        next = batch[batch.len() - 1] + 1;
        let bytes: Vec<u8> = batch.drain(..).flat_map(u64::to_le_bytes).collect();
        file.write_all_at(&bytes, at).expect("a file");
        at += bytes.len() as u64;
    }
}
