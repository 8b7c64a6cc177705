use std::rc::Rc;

use ysuite::spsc;

fn main() {
    let (mut sender, _receiver) = spsc::unbounded();
    std::thread::spawn(move || sender.send(Rc::new(1)).is_ok());
}
