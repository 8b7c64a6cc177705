use std::rc::Rc;

use ysuite::queue::ypipe;

fn in_another_thread(_: impl FnOnce() + Send) {}

fn main() {
    let (mut writer, _reader) = ypipe::unbounded();
    in_another_thread(move || drop(writer.write(Rc::new(1))));
}
