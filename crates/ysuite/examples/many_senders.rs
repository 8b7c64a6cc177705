//! Many threads report to one, each at its own pace. The receiver sleeps in between, and ends when the last of them has
//! gone.
//!
//! `cargo run --release -p ysuite --example many_senders`

use std::thread;
use std::time::Duration;

use ysuite::mpsc;

fn main() {
    let (sender, mut receiver) = mpsc::unbounded();

    let workers: Vec<_> = (0..100)
        .map(|worker| {
            // A lane of its own: workers never wait for each other.
            let mut sender = sender.clone();
            thread::spawn(move || {
                for report in 0..10 {
                    thread::sleep(Duration::from_micros(worker * 17 % 400));
                    sender.send((worker, report)).expect("the receiver is there");
                }
            })
        })
        .collect();
    drop(sender);

    let mut reports = [0; 100];
    for (worker, report) in &mut receiver {
        assert_eq!(report, reports[worker as usize], "the reports of one worker come in order");
        reports[worker as usize] += 1;
    }
    workers.into_iter().for_each(|worker| worker.join().expect("a worker does not panic"));
    println!("{} reports of {} workers", reports.iter().sum::<u64>(), reports.len());
}
