use std::sync::Arc;

use ysuite::queue::ypipe;

fn main() {
    let (_writer, mut reader) = ypipe::unbounded::<Arc<u8>>();
    std::thread::spawn(move || reader.read().is_some());
}
