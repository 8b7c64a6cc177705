//! Workers that make work for each other: they count the files of a directory tree, and each directory is a message.
//!
//! With a bound this could stop for ever: all workers would wait for room, and none would make any.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use ysuite::mpmc;

const WORKERS: usize = 4;

fn main() {
    let (sender, receiver) = mpmc::unbounded();
    sender.send(Some(env::args().nth(1).unwrap_or("ysuite".into()).into())).unwrap();
    // Directories that are in the channel, or being read.
    let open = AtomicUsize::new(1);
    let count = || {
        let mut files = 0;
        while let Ok(Some(directory)) = receiver.recv() {
            for entry in fs::read_dir::<std::path::PathBuf>(directory).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    open.fetch_add(1, Ordering::Relaxed);
                    sender.send(Some(entry.path())).unwrap();
                } else {
                    files += 1;
                }
            }
            if open.fetch_sub(1, Ordering::AcqRel) == 1 {
                (0..WORKERS).for_each(|_| sender.send(None).unwrap());
            }
        }
        files
    };
    let files: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(count)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    println!("{files} files");
}
