use ysuite::spsc;
use ysuite_zmq::Bridge;

fn main() {
    let (mut sender, receiver) = spsc::bounded(4);
    sender.send("a job").expect("there is room");
    let _push = Bridge::push(receiver);
}
