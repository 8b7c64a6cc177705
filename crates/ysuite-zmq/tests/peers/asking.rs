//! Bridges that ask, and bridges that answer. The answer to a text is the same with an exclamation mark.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_zmq::{Asker, Bridge, Started};

use super::{ALL, Case, FIRST, LATER, Peers, Situation, at};
use crate::support::expect_left;

fn answer(number: u64) -> String {
    format!("{number}!")
}

/// All at once, as far as they may be; in the end the peer is asked to end.
fn all_are_answered(asker: &Asker<String, String>) {
    let pending: Vec<_> =
        (0..ALL).map(|number| asker.begin(number.to_string()).expect("the bridge is there")).collect();
    for (number, pending) in (0..).zip(pending) {
        assert_eq!(pending.wait(), Ok(answer(number)));
    }
    assert_eq!(asker.ask("end".to_owned()).as_deref(), Ok("end!"));
}

/// The peer answers.
pub(crate) fn asks(case: &Case) {
    let at = case.at();
    // A question that is lost with its peer is asked again.
    let ask = at!(Bridge::ask::<String, String>(), &at).timeout(Duration::from_millis(500)).retries(1_000);
    let (bridge, asker) = ask.start().expect("a bridge");
    let peers = Peers::of(case, &at, &bridge);
    match case.situation {
        Situation::Well => {
            let peer = peers.start(0);
            all_are_answered(&asker);
            let mut asked: Vec<u64> = peer.rest().iter().map(|line| line.parse().expect("a number")).collect();
            asked.sort_unstable();
            asked.dedup();
            assert!(asked.into_iter().eq(0..ALL), "each was asked");
        }
        Situation::Killed => asks_one_that_is_killed(&peers, &asker),
        Situation::Stopped => {
            let mut peer = peers.start(0);
            (0..FIRST as u64).for_each(|number| assert_eq!(asker.ask(number.to_string()), Ok(answer(number))));
            peer.lines(FIRST);
            peer.stop();
            let mut waits = asker.begin("7".to_owned()).expect("the bridge is there");
            assert_eq!(waits.wait_timeout(Duration::from_millis(20)), None);
            peer.go_on();
            assert_eq!(waits.wait(), Ok(answer(7)));
            all_are_answered(&asker);
            peer.rest();
        }
        Situation::Wrong => {
            let waits = asker.begin("7".to_owned()).expect("the bridge is there");
            peers.wrong(&bridge);
            let peer = peers.start(0);
            assert_eq!(waits.wait(), Ok(answer(7)));
            all_are_answered(&asker);
            peer.rest();
        }
    }
    expect_left(bridge);
}

/// Each question has its answer, of the one or the other.
fn asks_one_that_is_killed(peers: &Peers, asker: &Asker<String, String>) {
    let mut peer = peers.start(0);
    let is_over = Arc::new(AtomicBool::new(false));
    let asks = thread::spawn({
        let (asker, is_over) = (asker.clone(), is_over.clone());
        move || {
            (0..).take_while(|_| !is_over.load(Ordering::Relaxed)).for_each(|number| {
                assert_eq!(asker.ask(number.to_string()), Ok(answer(number)));
            });
        }
    });
    peer.lines(FIRST);
    drop(peer);
    let mut next = peers.start(0);
    next.lines(FIRST);
    is_over.store(true, Ordering::Relaxed);
    asks.join().expect("all were answered");
    assert_eq!(asker.ask("end".to_owned()).as_deref(), Ok("end!"));
    next.rest();
}

/// The peer asks. One that asks many at once has the answers in any order.
fn expect_answers(mut lines: Vec<String>, first: u64) {
    let mut expected: Vec<_> = (first..first + ALL).map(answer).collect();
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

/// Every question is answered, until the bridge ends.
fn answering(case: &Case) -> (Started, thread::JoinHandle<()>, super::At) {
    let at = case.at();
    let answers = at!(Bridge::answer::<String, String>(), &at);
    let (bridge, mut questions) = answers.start().expect("a bridge");
    let worker = thread::spawn(move || {
        for question in questions.iter() {
            let answer = format!("{}!", question.message);
            question.answer(answer).expect("the bridge is there");
        }
    });
    (bridge, worker, at)
}

pub(crate) fn answers(case: &Case) {
    let (bridge, worker, at) = answering(case);
    let peers = Peers::of(case, &at, &bridge);
    if case.situation == Situation::Wrong {
        peers.wrong(&bridge);
    }
    let mut peer = peers.start(0);
    let mut had = Vec::new();
    let mut first = 0;
    match case.situation {
        Situation::Well | Situation::Wrong => {}
        Situation::Killed => {
            peer.lines(FIRST);
            drop(peer);
            first = LATER;
            peer = peers.start(first);
        }
        Situation::Stopped => {
            had = peer.lines(FIRST);
            peer.stop();
            thread::sleep(Duration::from_millis(20));
            peer.go_on();
        }
    }
    had.extend(peer.rest());
    expect_answers(had, first);
    assert_eq!(bridge.statistics().malformed, 0);
    drop(bridge);
    worker.join().expect("all were answered");
}
