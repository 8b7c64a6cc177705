//! The cost of entering the kernel and returning with almost no work there.

use std::time::Instant;

use rustix::process::getppid;

use crate::error::Fault;
use crate::place::Place;
use crate::stage::{Timed, solo};

pub fn null(place: Place, calls: u64) -> Result<Timed, Fault> {
    solo(place.first, move || {
        let start = Instant::now();
        for _ in 0..calls {
            std::hint::black_box(getppid());
        }
        Timed { elapsed: start.elapsed(), units: calls }
    })
}
