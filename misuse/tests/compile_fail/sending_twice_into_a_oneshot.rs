use ysuite::oneshot;

fn main() {
    let (sender, receiver) = oneshot::channel();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    receiver.recv().unwrap();
}
