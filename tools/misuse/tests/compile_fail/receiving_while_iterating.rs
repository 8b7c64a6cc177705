use ysuite::spsc;

fn main() {
    let (_sender, mut receiver) = spsc::unbounded::<u8>();
    for _ in receiver.try_iter() {
        let _ = receiver.try_recv();
    }
}
