use std::rc::Rc;
use ysuite::mailbox::Mailbox;

fn main() {
    let mailbox = Mailbox::new();
    let _ = mailbox.address().send(Rc::new(1));
}
