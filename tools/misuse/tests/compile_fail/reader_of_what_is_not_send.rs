use std::rc::Rc;

use ysuite::queue::ypipe;

fn in_another_thread(_: impl FnOnce() + Send) {}

fn main() {
    let (_writer, mut reader) = ypipe::unbounded::<Rc<u8>>();
    in_another_thread(move || drop(reader.read()));
}
