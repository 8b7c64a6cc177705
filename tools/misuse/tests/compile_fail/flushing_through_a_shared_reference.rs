use ysuite::spsc;

fn main() {
    let (sender, _receiver) = spsc::unbounded::<u8>();
    // Only the owner sends, and only through a unique reference.
    let shared = &sender;
    shared.flush();
}
