use ysuite::mailbox::Mailbox;
use ysuite::receive;

fn main() {
    let mut mailbox = Mailbox::new();
    let _ = receive!(mailbox => {
        other => drop(other),
        _: u8 => (),
    });
}
