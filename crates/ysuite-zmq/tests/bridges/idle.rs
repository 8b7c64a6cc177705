//! What a bridge costs while nothing happens.

use std::fs;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::Bridge;

use crate::support::{GUARD, address, runs_alone, until};

/// Names of the threads of this process, each with how often it has gone to sleep and what it sleeps in.
fn sleepers() -> Vec<(String, String)> {
    let tasks = fs::read_dir("/proc/self/task").expect("procfs").map_while(Result::ok);
    let read = |path: std::path::PathBuf, name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
    let of_bridges = tasks.map(|task| task.path()).filter(|path| read(path.clone(), "comm").starts_with("ysuite-zmq"));
    let switches = |status: String| status.lines().filter(|line| line.contains("ctxt_switches")).collect::<String>();
    let mut all: Vec<_> = of_bridges
        .map(|path| (path.display().to_string(), switches(read(path.clone(), "status")) + &read(path, "syscall")))
        .collect();
    all.sort();
    all
}

/// In a process of its own: the threads of other tests have the same names.
#[test]
fn an_idle_bridge_makes_no_call_but_the_one_it_sleeps_in() {
    if runs_alone("idle::an_idle_bridge_makes_no_call_but_the_one_it_sleeps_in") {
        return;
    }
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(8).start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(8);
    let push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    let (mut news, out) = spsc::bounded::<u64>(8);
    let mut publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let (_subscribe, mut read) = Bridge::subscribe::<u64>().connect(address(&publish)).start().unwrap();
    let (mut one, out) = spsc::bounded::<u64>(8);
    let (duplex, _) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let (_other, out) = spsc::bounded::<u64>(8);
    let (_peer, mut said) = Bridge::duplex::<_, u64>(out).connect(address(&duplex)).start().unwrap();
    // One that waits for a peer that never comes, with something to send.
    let (mut alone, out) = spsc::bounded::<u64>(8);
    let (_alone, _) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    alone.send(1).unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    for number in 0..3 {
        jobs.send(number).unwrap();
        news.send(number).unwrap();
        one.send(number).unwrap();
        let came = [&mut work, &mut read, &mut said].map(|channel| channel.recv_timeout(GUARD).unwrap());
        assert_eq!(came, [number; 3]);
    }
    // The other side is notified that there is no receiver any more.
    drop(said);
    assert!(one.wait_closed_timeout(GUARD));
    // They come to rest, and then nothing of them changes: not how often they have slept, nor what they sleep in.
    until("all seven bridges sleep without end", || {
        let before = sleepers();
        std::thread::sleep(Duration::from_millis(1_500));
        before.len() == 7 && before == sleepers()
    });
    drop(push);
}
