//! A peer that lies, of whichever end and kind, made without the crate that it lies to: so the crate needs no door for it.
//! What it does is decided by the bytes that libFuzzer makes up ([`Input`]): it says a hello, honest or not, and writes into
//! its memory, now as an honest end would, now a lie, between the calls of the end that is tried.
//!
//! The layout is that of version 2 of the protocol, as `page.rs`, `link.rs` and `ring/` have it. A target notices where it
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
message!([u64; 3], 5, 128, |number| [number; 3]);
message!([u64; 8], 7, 512, |number| [number; 8]);
message!([u64; 16], 7, 1024, |number| [number; 16]);
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
pub struct Fate(Option<Error>);

impl Fate {
    pub fn ended(&mut self, error: Error) {
        assert_eq!(error, *self.0.get_or_insert(error), "an error stays");
    }

    pub fn is_over(&self) -> bool {
        self.0.is_some()
    }
}

/// A receiver whose sender lies: what it may say depends on whether that has lied, and what was said before.
pub struct Trial {
    pub lies: u64,
    pub fate: Fate,
    /// The sender has said that it was dropped. It may have taken that back.
    pub has_closed: bool,
    is_over: bool,
    left: u32,
}

impl Trial {
    /// In the end all that is there is received, until there was nothing this number of times.
    pub fn new(left: u32) -> Self {
        Self { lies: 0, fate: Fate::default(), has_closed: false, is_over: false, left }
    }

    /// What is done next: one of eight things, of which the last one is to receive. `None`: nothing.
    pub fn next(&mut self, input: &mut Input, liar: &Liar) -> Option<usize> {
        self.is_over |= input.is_over();
        self.has_closed |= liar.page.get(CLOSED) != 0;
        (self.left > 0).then(|| if self.is_over { 7 } else { input.below(8) })
    }

    pub fn is_honest(&self) -> bool {
        self.lies == 0
    }

    pub fn received_some(&self) {
        assert!(!self.fate.is_over(), "nothing behind the end");
    }

    /// There was nothing, or also the channel has ended. `has_all`: it has received all that an honest sender has sent.
    /// `once`: a funnel tells of the end of a lane once, and then that it has none.
    pub fn received_none(&mut self, error: Option<Error>, has_all: bool, once: bool) {
        // What is published behind the end is nobody's.
        let is_honest = self.is_honest() && !self.fate.is_over();
        assert!(!is_honest || has_all, "all that was published, before anything else");
        if let Some(error) = error {
            assert!(!is_honest || error != Error::Broken && self.has_closed);
            if once { self.lies += 1 } else { self.fate.ended(error) }
        }
        self.left -= u32::from(self.is_over);
    }
}

/// Runs one attempt; no descriptor stays behind.
pub fn attempt(data: &[u8], run: impl FnOnce(&mut Input)) {
    let free = || rustix::io::dup(std::io::stderr()).expect("a descriptor").as_raw_fd();
    let before = free();
    run(&mut Input::new(data));
    assert_eq!(before, free(), "a descriptor has stayed");
}
