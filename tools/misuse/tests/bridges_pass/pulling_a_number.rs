use ysuite_zmq::Bridge;

fn main() {
    let _pull = Bridge::pull::<u64>();
}
