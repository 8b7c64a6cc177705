//! What a bridge costs this machine while it does nothing: descriptors, threads and memory of 10, 100 and 500 pairs of them.

use std::fs;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Error};

/// Of this process: descriptors, threads, KiB of memory that is there.
fn used() -> Option<[usize; 3]> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Some([fs::read_dir("/proc/self/fd").ok()?.count(), field("Threads:")?, field("VmRSS:")?])
}

fn main() -> Result<(), Error> {
    let Some(before) = used() else {
        println!("this system does not say what a process uses");
        return Ok(());
    };
    println!("pairs  descriptors, threads, KiB for each bridge");
    let mut pairs = Vec::new();
    for wanted in [10, 100, 500] {
        while pairs.len() < wanted {
            let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").bounded(64).start()?;
            let (mut jobs, out) = spsc::bounded::<u64>(64);
            let push = Bridge::push(out).connect(pull.addresses()[0].clone()).start()?;
            // Both are there, and connected.
            jobs.send(1).expect("the bridge receives");
            work.recv().expect("the other bridge sends");
            pairs.push((jobs, push, pull, work));
        }
        let Some(now) = used() else { break };
        let each = |at: usize| (now[at] - before[at]) as f64 / (2 * wanted) as f64;
        println!("{wanted:>5}  {:.1}, {:.1}, {:.0}", each(0), each(1), each(2));
    }
    Ok(())
}
