//! Tests of all transports in the registry, of the look-up by name, and of all names in the targets. In a binary of its
//! own, linked to the library as it is. The library has every loop of every transport already, and a unit test that
//! used the registry would have all of them compiled again.
#![cfg(target_os = "linux")]

mod cells;
mod delivery;
mod epoll;
mod goals;
mod plans;
mod registry;
mod scenarios;

use ybench_measure::frame::Frame;
use ybench_measure::place::Place;
use ybench_measure::rounds::Length;

fn place() -> Place {
    Place::choose(None).unwrap()
}

/// A round of runs of that length.
fn frame(place: Place, length: Length) -> Frame {
    Frame { place, rounds: 1, transports: length, limits: length, named: false }
}
