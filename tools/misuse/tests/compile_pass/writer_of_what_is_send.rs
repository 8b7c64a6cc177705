use std::sync::Arc;

use ysuite::queue::ypipe;

fn main() {
    let (mut writer, _reader) = ypipe::unbounded();
    std::thread::spawn(move || writer.write(Arc::new(1)).is_ok());
}
