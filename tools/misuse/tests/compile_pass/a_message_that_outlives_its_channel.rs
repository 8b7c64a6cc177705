use ysuite::spsc;

fn main() {
    let text = String::from("message");
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send(text.as_str()).unwrap();
    let _ = receiver.try_recv();
}
