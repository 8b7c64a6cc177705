use ysuite::oneshot;

fn main() {
    let (sender, receiver) = oneshot::channel();
    sender.send(1).unwrap();
    receiver.recv().unwrap();
}
