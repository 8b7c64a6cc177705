use std::time::Duration;
use ysuite_zmq::Bridge;

fn main() {
    let _pull = Bridge::pull::<Duration>();
}
