use ysuite::spsc;

fn main() {
    let (mut sender, mut receiver) = spsc::unbounded();
    {
        let text = String::from("message");
        sender.send(text.as_str()).unwrap();
    }
    let _ = receiver.try_recv();
}
