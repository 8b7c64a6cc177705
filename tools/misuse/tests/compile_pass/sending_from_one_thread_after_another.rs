use ysuite::spsc;

fn main() {
    let (mut sender, _receiver) = spsc::unbounded();
    std::thread::scope(|scope| {
        scope.spawn(|| sender.send(1).is_ok());
    });
    std::thread::scope(|scope| {
        scope.spawn(|| sender.send(2).is_ok());
    });
}
