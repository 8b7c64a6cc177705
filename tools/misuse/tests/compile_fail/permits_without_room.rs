use ysuite::future::ReservesOwned;
use ysuite::mpmc;

fn main() {
    let (sender, _receiver) = mpmc::bounded::<u8>(1);
    assert!(sender.own(Ok(())).is_ok());
}
