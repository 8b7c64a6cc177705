use ysuite_zmq::ToWire;

struct Job(u64);

impl ToWire for Job {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.0.encode(bytes);
    }
}

fn main() {}
