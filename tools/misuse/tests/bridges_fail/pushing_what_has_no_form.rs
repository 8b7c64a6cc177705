use ysuite::spsc;
use ysuite_zmq::Bridge;

struct Job(u64);

fn main() {
    let (mut sender, receiver) = spsc::bounded(4);
    sender.send(Job(7)).expect("there is room");
    let _push = Bridge::push(receiver);
}
