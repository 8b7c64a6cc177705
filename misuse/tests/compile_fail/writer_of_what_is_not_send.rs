use std::rc::Rc;

use ysuite::queue::ypipe;

fn main() {
    let (mut writer, _reader) = ypipe::unbounded();
    std::thread::spawn(move || writer.write(Rc::new(1)).is_ok());
}
