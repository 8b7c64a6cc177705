use ysuite::mailbox::Mailbox;
use ysuite::receive;

fn main() {
    let mut mailbox = Mailbox::new();
    let _ = receive!(mailbox => {
        _: u8 => (),
        other => drop(other),
    });
}
