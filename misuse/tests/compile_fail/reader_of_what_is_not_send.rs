use std::rc::Rc;

use ysuite::queue::ypipe;

fn main() {
    let (_writer, mut reader) = ypipe::unbounded::<Rc<u8>>();
    std::thread::spawn(move || reader.read().is_some());
}
