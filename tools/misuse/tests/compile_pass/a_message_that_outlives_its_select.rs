use ysuite::mpmc;
use ysuite::signal::Select;

fn main() {
    let text = String::from("message");
    let (sender, receiver) = mpmc::bounded::<&str>(1);
    let mut select = Select::new();
    select.add_shared(&receiver).unwrap();
    sender.send(text.as_str()).unwrap();
    drop((sender, receiver));
    drop(select);
}
