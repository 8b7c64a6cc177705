//! Programs that are killed at any point, and others that replace them.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Event};

use crate::child::{Child, Log, Told};
use crate::support::{GUARD, address, expect_end, expect_flushed, expect_left, send, until};
use crate::{messages, say};

/// Of the channel of a reader that is killed: what is in it is lost with the program.
pub(crate) const ROOM: usize = 64;

/// A folder of this stress test's own, removed when it is over.
struct Folder(PathBuf);

impl Folder {
    fn of(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ysuite-zmq-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn told(&self, role: &'static str, address: &str, number: u64) -> Told {
        Told { role, address: address.to_owned(), number, log: self.0.join(number.to_string()) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The replacement of a killed reader goes on no later than where that one was, except for what was in the channel that
/// died with it; and each reader's own stream has no gap.
#[test]
fn readers_that_are_killed_are_followed_without_a_hole() {
    let (numbers, seed) = (messages(200_000, 10_000_000), fastrand::u64(..));
    say(format_args!("readers: {numbers}, seed {seed}"));
    let (folder, mut random) = (Folder::of("readers"), fastrand::Rng::with_seed(seed));
    let (sender, out) = spsc::bounded::<u64>(1_000);
    let duplex = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").pack(16).at_least_once();
    let (duplex, _receiver) = duplex.start().expect("a bridge");
    let sending = send(sender, 0..numbers);
    let mut before = Log::default();
    let (mut kills, mut again) = (0, 0);
    loop {
        let told = folder.told("reader", &address(&duplex), kills);
        let mut reader = Child::start(&told);
        // Some are killed before they have received anything.
        let until_then = random.u64(0..600);
        for _ in 0..until_then {
            thread::sleep(Duration::from_millis(1));
            if reader.has_ended() {
                break;
            }
        }
        let over = reader.has_ended();
        match over {
            true => reader.end(),
            false => reader.kill(),
        }
        let log = Log::read(&told.log);
        if log.next > 0 {
            assert!(log.first <= before.next + ROOM as u64, "{log:?} after {before:?}");
            again += before.next.saturating_sub(log.first);
            before = log;
        }
        if over {
            break;
        }
        kills += 1;
    }
    assert_eq!(before.next, numbers);
    say(format_args!("  {kills} killed, {again} received by two"));
    sending.join().expect("all was sent");
    expect_flushed(duplex);
}

/// Of each writer that was killed there is a beginning of its stream, without a hole; the next is heard as soon as it is there.
#[test]
fn writers_that_are_killed_are_heard_up_to_then() {
    let (writers, seed) = (messages(6, 100), fastrand::u64(..));
    say(format_args!("writers: {writers}, seed {seed}"));
    let (folder, mut random) = (Folder::of("writers"), fastrand::Rng::with_seed(seed));
    let (nothing, out) = spsc::bounded::<u64>(1);
    let duplex = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").bounded(1_000).at_least_once();
    let (duplex, mut receiver) = duplex.start().expect("a bridge");
    let mut total = 0;
    for own in 0..writers {
        let writer = Child::start(&folder.told("writer", &address(&duplex), own));
        // What is left of the one before it, then its own, from the first on.
        let first = loop {
            let message = receiver.recv_timeout(GUARD).expect("the next writer");
            if message >> 40 == own {
                break message;
            }
            total += 1;
        };
        assert_eq!(first, own << 40);
        let most = random.u64(1..50_000);
        for number in 1..most {
            assert_eq!(receiver.recv_timeout(GUARD), Ok(own << 40 | number));
        }
        total += most;
        writer.kill();
        // What had come before the kill is in order still.
        let mut next = most;
        while let Ok(message) = receiver.try_recv() {
            assert_eq!(message, own << 40 | next);
            (next, total) = (next + 1, total + 1);
        }
    }
    let replaced = duplex.events().try_iter().filter(|event| *event == Event::Replaced).count();
    assert_eq!(replaced as u64, writers - 1);
    say(format_args!("  {total} messages came"));
    drop(nothing);
    let _ = duplex.close(Duration::from_millis(100));
    while receiver.recv_timeout(GUARD).is_ok() {}
    expect_end(&mut receiver);
}

/// Each message reaches at most one `pull` bridge, whichever is killed; and the survivors go on.
#[test]
fn pullers_that_are_killed_share_nothing() {
    let (numbers, seed) = (messages(300_000, 20_000_000), fastrand::u64(..));
    say(format_args!("pullers: {numbers}, seed {seed}"));
    let (folder, mut random) = (Folder::of("pullers"), fastrand::Rng::with_seed(seed));
    let (jobs, out) = spsc::bounded::<u64>(1_000);
    let push = Bridge::push(out).bind("tcp://127.0.0.1:*").pack(16).start().expect("a bridge");
    let sending = send(jobs, 0..numbers);
    let begin = |number| Child::start(&folder.told("puller", &address(&push), number));
    let mut pullers = vec![begin(0), begin(1)];
    let mut begun = 2;
    while !sending.is_finished() {
        thread::sleep(Duration::from_millis(random.u64(1..400)));
        pullers.swap_remove(random.usize(0..2)).kill();
        pullers.push(begin(begun));
        begun += 1;
    }
    sending.join().expect("all was sent");
    // What the last to be killed had under way cannot be counted.
    expect_left(push);
    // They write what they have; nothing reports when that was all.
    let size =
        || (0..begun).map(|number| folder.told("", "", number).log.metadata().map_or(0, |log| log.len())).sum::<u64>();
    let (mut before, mut same) = (0, 0);
    until("nothing more comes", || {
        thread::sleep(Duration::from_millis(50));
        let now = size();
        same = if now == before { same + 1 } else { 0 };
        before = now;
        same == 20
    });
    drop(pullers);
    let (mut seen, mut total) = (vec![false; numbers as usize], 0);
    for number in 0..begun {
        let log = std::fs::read(folder.told("", "", number).log).unwrap_or_default();
        for word in log.chunks_exact(8) {
            let message = u64::from_le_bytes(word.try_into().expect("8 bytes"));
            assert!(!std::mem::replace(&mut seen[message as usize], true), "{message} came twice");
            total += 1;
        }
    }
    say(format_args!("  {} killed, {total} of {numbers} came", begun - 2));
    assert!(total > 0);
}
