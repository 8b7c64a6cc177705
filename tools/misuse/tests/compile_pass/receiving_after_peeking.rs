use ysuite::spsc;

fn main() {
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send(String::from("message")).unwrap();
    let next = receiver.peek();
    println!("{next:?}");
    let _ = receiver.try_recv();
}
