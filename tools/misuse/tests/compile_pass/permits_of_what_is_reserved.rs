use ysuite::mpmc;

fn main() {
    let (sender, _receiver) = mpmc::bounded::<u8>(1);
    assert!(sender.try_reserve_owned().is_ok());
}
