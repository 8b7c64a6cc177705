use ysuite::spsc;

fn in_two_threads(_: impl FnOnce() + Send, _: impl FnOnce() + Send) {}

fn main() {
    let (mut sender, _receiver) = spsc::unbounded();
    in_two_threads(|| drop(sender.send(1)), || drop(sender.send(2)));
}
