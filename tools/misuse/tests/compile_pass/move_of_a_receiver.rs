use ysuite::spsc;

fn main() {
    let (_sender, receiver) = spsc::unbounded::<u8>();
    let _ = receiver;
}
