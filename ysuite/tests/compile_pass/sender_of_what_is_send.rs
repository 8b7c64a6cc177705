use std::sync::Arc;

use ysuite::spsc;

fn main() {
    let (mut sender, _receiver) = spsc::unbounded();
    std::thread::spawn(move || sender.send(Arc::new(1)).is_ok());
}
