//! Two threads log through a worker that appends lines.

use std::thread;
use tracing::info;

fn main() {
    let (writer, _guard) =
        tracing_appender::non_blocking::NonBlockingBuilder::default().lossy(false).finish(std::io::sink());
    tracing_subscriber::fmt().with_writer(writer).with_ansi(false).init();
    thread::scope(|scope| {
        for thread in 0..2 {
            scope.spawn(move || {
                for number in 0..300_000 {
                    info!(thread, number, "a record");
                }
            });
        }
    });
}
