use std::sync::Arc;
use ysuite::mailbox::Mailbox;

fn main() {
    let mailbox = Mailbox::new();
    let _ = mailbox.address().send(Arc::new(1));
}
