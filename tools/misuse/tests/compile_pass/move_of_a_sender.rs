use ysuite::spsc;

fn main() {
    let (sender, _receiver) = spsc::unbounded::<u8>();
    let _ = sender;
}
