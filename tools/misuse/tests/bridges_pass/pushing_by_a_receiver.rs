use ysuite::spsc;
use ysuite_zmq::Bridge;

fn main() {
    let (_sender, receiver) = spsc::bounded::<u64>(4);
    let _push = Bridge::push(receiver);
}
