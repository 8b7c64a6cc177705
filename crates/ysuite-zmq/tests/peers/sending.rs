//! Bridges that send: the peer pulls, or subscribes to one of two topics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Published, Started, WhenFull};

use super::peer::Peer;
use super::{ALL, At, Case, FIRST, Peers, Role, Situation, at};
use crate::support::{GUARD, expect_left};

/// Where nothing more fits for so long, nothing will.
const A_WHILE: Duration = Duration::from_millis(200);

enum Out {
    Push(spsc::Sender<Vec<Vec<u8>>>),
    Publish(spsc::Sender<Published<String>>),
}

/// Odd numbers have a second part.
pub(crate) fn parts(number: u64) -> usize {
    1 + usize::from(number % 2 == 1)
}

impl Out {
    /// Little is under way: the rest waits in the program.
    fn open(role: Role, at: &At) -> (Started, Self) {
        if role == Role::Pull {
            let (sender, source) = spsc::bounded::<Vec<Vec<u8>>>(16);
            let push = at!(Bridge::push(source), at).high_water_marks(8, 8).kernel_buffers(8_192, 8_192);
            (push.start().expect("a bridge"), Self::Push(sender))
        } else {
            let (sender, source) = spsc::bounded::<Published<String>>(16);
            let publish = at!(Bridge::publish(source), at).high_water_marks(8, 8).kernel_buffers(8_192, 8_192);
            (publish.when_full(WhenFull::Wait).start().expect("a bridge"), Self::Publish(sender))
        }
    }

    /// Whether there was room for it in time. What is published goes to the other topic first.
    fn send(&mut self, text: &str, count: usize, time: Duration) -> bool {
        match self {
            Self::Push(sender) => {
                let mut parts = vec![b"more".to_vec(); count];
                parts[0] = text.into();
                sender.send_timeout(parts, time).is_ok()
            }
            Self::Publish(sender) => ["a", "b"]
                .iter()
                .all(|&topic| sender.send_timeout(Published::new(topic, text.to_owned()), time).is_ok()),
        }
    }

    fn number(&mut self, number: u64) {
        assert!(self.send(&number.to_string(), parts(number), GUARD), "there is room");
    }

    /// The peer ends when this has come.
    fn end(mut self) {
        assert!(self.send("end", 1, GUARD), "there is room");
    }
}

/// The number of the message that a line is about, which has come as it should.
fn number(role: Role, line: &str) -> u64 {
    let words: Vec<_> = line.split(' ').collect();
    let [first, second] = words[..] else { panic!("{line}") };
    let number = if role == Role::Pull { first } else { second }.parse().expect("a number");
    let expected = if role == Role::Pull { parts(number).to_string() } else { "b".to_owned() };
    assert_eq!(if role == Role::Pull { second } else { first }, expected, "{line}");
    number
}

fn numbers(role: Role, lines: &[String]) -> Vec<u64> {
    lines.iter().map(|line| number(role, line)).collect()
}

/// What is published before a subscriber is there does not reach it.
fn joined(peers: &Peers, bridge: &mut Started) -> Peer {
    let peer = peers.start(0);
    assert!(peers.case.role == Role::Pull || bridge.wait_for_subscribers_of("b", 1, GUARD), "it subscribes");
    peer
}

pub(crate) fn run(case: &Case) {
    let at = case.at();
    let (mut bridge, mut out) = Out::open(case.role, &at);
    let peers = Peers::of(case, &at, &bridge);
    match case.situation {
        Situation::Well | Situation::Wrong => {
            // Waits for the first that is of the right type.
            if case.situation == Situation::Wrong {
                out.number(0);
                peers.wrong(&bridge);
            }
            let peer = joined(&peers, &mut bridge);
            let first = u64::from(case.situation == Situation::Wrong);
            (first..ALL).for_each(|number| out.number(number));
            out.end();
            // Those that were published before it came went to nobody.
            let from = if case.role == Role::Pull { 0 } else { first };
            assert!(numbers(case.role, &peer.rest()).into_iter().eq(from..ALL), "all in order");
        }
        Situation::Killed => killed(&peers, &mut bridge, out),
        Situation::Stopped => stopped(&peers, &mut bridge, out),
    }
    expect_left(bridge);
}

/// What is sent while one dies is lost, or goes to the next one, in order and once.
fn killed(peers: &Peers, bridge: &mut Started, mut out: Out) {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut peer = joined(peers, bridge);
    let sender = thread::spawn({
        let is_over = is_over.clone();
        move || {
            for number in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    return out.end();
                }
                out.number(number);
                thread::sleep(Duration::from_micros(20));
            }
        }
    });
    let mut had = peer.lines(FIRST);
    had.extend(peer.kill());
    let mut next = joined(peers, bridge);
    had.extend(next.lines(FIRST));
    is_over.store(true, Ordering::Relaxed);
    had.extend(next.rest());
    sender.join().expect("no panic");
    let had = numbers(peers.case.role, &had);
    assert!(had.is_sorted_by(|one, next| one < next), "in order, once: {had:?}");
}

/// The program is made to wait for one that reads nothing, and all reaches it in the end.
fn stopped(peers: &Peers, bridge: &mut Started, mut out: Out) {
    let mut peer = joined(peers, bridge);
    let padded = |number: u64| format!("{number} {}", "x".repeat(1_000));
    (0..FIRST as u64).for_each(|number| out.number(number));
    let mut had = peer.lines(FIRST);
    peer.stop();
    let mut next = FIRST as u64;
    while out.send(&padded(next), parts(next), A_WHILE) {
        next += 1;
        assert!(next < 100_000, "it is never made to wait");
    }
    peer.go_on();
    out.end();
    had.extend(peer.rest());
    assert!(numbers(peers.case.role, &had).into_iter().eq(0..next), "all in order");
}
