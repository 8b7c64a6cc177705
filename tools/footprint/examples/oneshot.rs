//! A program of one line: `ci/steps/footprint` counts the code that the compiler makes for it.

fn main() {
    let (sender, receiver) = ysuite::oneshot::channel();
    sender.send(1u64).unwrap();
    println!("{}", receiver.recv().unwrap());
}
