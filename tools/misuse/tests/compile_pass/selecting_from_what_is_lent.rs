use ysuite::mpsc;

fn main() {
    let (_sender, mut receiver) = mpsc::unbounded::<u8>();
    let none = ysuite::select().recv(&mut receiver, |_| ()).try_now();
    assert_eq!(none, None);
}
