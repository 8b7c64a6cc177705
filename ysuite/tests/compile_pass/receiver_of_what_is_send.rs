use std::sync::Arc;

use ysuite::spsc;

fn main() {
    let (_sender, mut receiver) = spsc::unbounded::<Arc<u8>>();
    std::thread::spawn(move || receiver.try_recv().is_ok());
}
