use std::time::Duration;

use ysuite::signal::ReadySet;
use ysuite::timer;

fn main() {
    let tick = timer::after(Duration::from_secs(100));
    let mut set = ReadySet::new();
    assert!(set.add(&mut { tick }).is_ok());
}
