use ysuite::mailbox::Mailbox;

fn main() {
    let mailbox = Mailbox::new();
    let text = String::from("borrowed");
    let _ = mailbox.address().send(text.as_str());
}
