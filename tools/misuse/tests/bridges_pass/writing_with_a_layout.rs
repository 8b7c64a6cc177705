use ysuite_zmq::{Layout, ToWire, Wire};

struct Job(u64);

impl Wire for Job {
    const LAYOUT: Layout = Layout::Records(8);
}

impl ToWire for Job {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.0.encode(bytes);
    }
}

fn main() {
    let mut bytes = Vec::new();
    Job(7).encode(&mut bytes);
    assert_eq!(bytes, [7, 0, 0, 0, 0, 0, 0, 0]);
}
