use ysuite::mailbox::Mailbox;

fn main() {
    let mailbox = Mailbox::new();
    let text = String::from("owned");
    let _ = mailbox.address().send(text);
}
