//! A peer that lies, of whichever end and kind, made without the crate that it lies to: so the crate needs no door for it.
//! What it does is decided by the bytes that libFuzzer makes up ([`Input`]): it says a hello, honest or not, and writes into
//! its memory, now as an honest end would, now a lie, between the calls of the end that is tried.
//!
//! The layout is that of version 1 of the protocol, as `page.rs`, `link.rs` and `ring/` have it. A target notices where it
//! is another: then an honest hello is refused.
#![cfg(target_os = "linux")]

mod input;
mod liar;
mod memory;

pub use input::Input;
pub use liar::{Kind, Liar, Packet, Role, packet, pair};
pub use memory::{
    ASLEEP, BEGUN, CLOSED, CONSUMED, FENCED, FROM, GIVEN_BACK, HEADER, Memory, PAGE, PUBLISHED, RING, WORDS,
};

use std::cell::Cell;
use std::os::fd::AsRawFd;

use ysuite_shm::Error;
use ysuite_shm::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Where a ring of messages of this type has its slots.
pub trait Message: FromBytes + IntoBytes + Immutable + KnownLayout + Send + Copy + PartialEq + 'static {
    const SLOTS: usize;
    const STRIDE: usize;

    fn of(number: u64) -> Self;
}

macro_rules! message {
    ($message:ty, $slots:literal, $stride:literal, $of:expr) => {
        impl Message for $message {
            const SLOTS: usize = $slots;
            const STRIDE: usize = $stride;

            fn of(number: u64) -> Self {
                $of(number)
            }
        }
    };
}

message!(u64, 7, 64, |number| number);
message!([u64; 3], 2, 64, |number| [number; 3]);
message!([u64; 25], 1, 256, |number| [number; 25]);
message!([u8; 3], 7, 64, |number: u64| [number as u8; 3]);

/// The bytes of a ring of messages of this type.
pub fn ring_bytes<T: Message>(capacity: usize) -> usize {
    (capacity.div_ceil(T::SLOTS) + 1) * T::STRIDE
}

/// The number of messages that the whole ring has places for.
pub fn lap<T: Message>(capacity: usize) -> u64 {
    ((capacity.div_ceil(T::SLOTS) + 1) * T::SLOTS) as u64
}

/// Publishes a message as an honest sender does.
pub fn publish<T: Message>(memory: &Memory, capacity: usize, position: u64) {
    let at = (position % lap::<T>(capacity)) as usize;
    let group = RING + at / T::SLOTS * T::STRIDE;
    let mut words = [0; 25];
    let message = T::of(position);
    words.as_mut_bytes()[..size_of::<T>()].copy_from_slice(message.as_bytes());
    for (word, value) in words.iter().take(size_of::<T>().div_ceil(8)).enumerate() {
        memory.set(group + 8 + (at % T::SLOTS * size_of::<T>().div_ceil(8) + word) * 8, *value);
    }
    memory.set(group, position.wrapping_add(1));
}

/// An error stays for ever.
#[derive(Default)]
pub struct Fate(Cell<Option<Error>>);

impl Fate {
    pub fn ended(&self, error: Error) {
        match self.0.get() {
            None => self.0.set(Some(error)),
            Some(before) => assert_eq!(error, before, "an error stays"),
        }
    }

    pub fn is_over(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn get(&self) -> Option<Error> {
        self.0.get()
    }
}

/// Runs one attempt; no descriptor stays behind.
pub fn attempt(data: &[u8], run: impl FnOnce(&mut Input)) {
    let free = || rustix::io::dup(std::io::stderr()).expect("a descriptor").as_raw_fd();
    let before = free();
    run(&mut Input::new(data));
    assert_eq!(before, free(), "a descriptor has stayed");
}
