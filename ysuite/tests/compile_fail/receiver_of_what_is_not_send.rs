use std::rc::Rc;

use ysuite::spsc;

fn main() {
    let (_sender, mut receiver) = spsc::unbounded::<Rc<u8>>();
    std::thread::spawn(move || receiver.try_recv().is_ok());
}
