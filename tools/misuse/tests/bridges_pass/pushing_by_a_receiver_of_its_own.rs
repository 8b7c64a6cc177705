use ysuite::mpmc;
use ysuite_zmq::Bridge;

fn main() {
    let (_sender, receiver) = mpmc::bounded::<u64>(4);
    let _push = Bridge::push(receiver.clone());
}
