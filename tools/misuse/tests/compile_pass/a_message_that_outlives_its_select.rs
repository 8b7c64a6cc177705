use ysuite::mpmc;
use ysuite::signal::ReadySet;

fn main() {
    let text = String::from("message");
    let (sender, receiver) = mpmc::bounded::<&str>(1);
    let mut select = ReadySet::new();
    select.add_shared(&receiver).unwrap();
    sender.send(text.as_str()).unwrap();
    drop((sender, receiver));
    drop(select);
}
