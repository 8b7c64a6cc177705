//! Two threads log; a third one writes the records into a buffer.

use slog::{Drain, Logger, info, o};
use std::thread;

fn main() {
    let format = slog_term::FullFormat::new(slog_term::PlainSyncDecorator::new(std::io::sink())).build().fuse();
    let drain =
        slog_async::Async::new(format).chan_size(1024).overflow_strategy(slog_async::OverflowStrategy::Block).build();
    let log = Logger::root(drain.fuse(), o!("version" => "1"));
    thread::scope(|scope| {
        for thread in 0..2 {
            let log = log.new(o!("thread" => thread));
            scope.spawn(move || {
                for number in 0..300_000 {
                    info!(log, "a record"; "number" => number, "half" => number / 2);
                }
            });
        }
    });
}
