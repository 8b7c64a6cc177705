use ysuite::spsc;
use ysuite_zmq::{Bridge, bytemuck};

#[derive(Clone, Copy)]
#[repr(C)]
struct Job(u64);

// SAFETY: a word, of which every pattern of bits is one.
unsafe impl bytemuck::Zeroable for Job {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for Job {}
ysuite_zmq::record!(Job);

fn main() {
    let (mut sender, receiver) = spsc::bounded(4);
    sender.send(Job(7)).expect("there is room");
    let _push = Bridge::push(receiver);
}
