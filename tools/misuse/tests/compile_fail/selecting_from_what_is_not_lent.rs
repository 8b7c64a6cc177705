use ysuite::mpsc;

fn main() {
    let (_sender, receiver) = mpsc::unbounded::<u8>();
    let none = ysuite::select().recv(receiver, |_| ()).try_now();
    assert_eq!(none, None);
}
