//! A pace that workers follow, and that may change at any time. `cargo run -p ysuite --example watch`

use std::thread;
use std::time::Duration;

use ysuite::RecvTimeoutError;
use ysuite::watch;

fn main() -> Result<(), ysuite::SendError<Duration>> {
    let (sender, receiver) = watch::channel(Duration::from_millis(5));

    let workers = ["Ann", "Ben"].map(|name| {
        let mut receiver = receiver.clone();
        thread::spawn(move || {
            let (mut steps, mut pause) = (0, *receiver.borrow());
            loop {
                match receiver.changed_timeout(pause) {
                    Err(RecvTimeoutError::Timeout) => steps += 1,
                    // Only the newest pace counts. The borrow lasts for a moment, because senders wait for it.
                    Ok(()) => pause = *receiver.borrow_and_update(),
                    Err(RecvTimeoutError::Disconnected) => return println!("{name}: {steps} steps"),
                }
            }
        })
    });

    for pause in [1, 2, 20] {
        thread::sleep(Duration::from_millis(20));
        sender.send(Duration::from_millis(pause))?;
    }
    sender.send_modify(|pause| *pause *= 2);
    // No sender, no further change: the workers end.
    drop(sender);
    workers.into_iter().for_each(|worker| worker.join().expect("a worker does not panic"));
    Ok(())
}
