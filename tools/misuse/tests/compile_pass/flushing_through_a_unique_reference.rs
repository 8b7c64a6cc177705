use ysuite::spsc;

fn main() {
    let (mut sender, _receiver) = spsc::unbounded::<u8>();
    let unique = &mut sender;
    unique.flush();
}
