//! A sender that lies in the memory of a watch: in its versions and its places.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ysuite_shm::zerocopy::IntoBytes;
use ysuite_shm::{Error, TryRecvError, WatchReceiver};
use ysuite_shm_fuzz::{BEGUN, CLOSED, Fate, Input, Kind, Liar, Memory, Message, PUBLISHED, RING, Role, attempt, pair};

/// Publishes a version as an honest sender does.
fn publish<T: Message>(memory: &Memory, places: usize, version: u64) {
    memory.set(BEGUN, version);
    let mut words = [0_u64; 25];
    words.as_mut_bytes()[..size_of::<T>()].copy_from_slice(T::of(version).as_bytes());
    let place = RING + version as usize % places * size_of::<T>().next_multiple_of(64);
    (0..size_of::<T>().div_ceil(8)).for_each(|at| memory.set(place + 8 * at, words[at]));
    memory.set(PUBLISHED, version);
}

fn run<T: Message>(input: &mut Input) {
    let places = 2 << input.below(6);
    let (one, other) = pair();
    let mut receiver = WatchReceiver::<T>::from_fd(one).unwrap();
    let ring = places * size_of::<T>().next_multiple_of(64);
    let liar = Liar::new(other, Kind::Watch, Role::Sender, (size_of::<T>(), align_of::<T>()), places, ring);
    let memory = liar.shared.as_ref().unwrap();
    liar.hello(input.flip());
    let (mut version, mut seen, mut lies, fate) = (0_u64, 0_u64, 0_u64, Fate::default());
    let mut has_closed = false;
    let (mut is_over, mut left) = (false, 3);
    while left > 0 {
        is_over = is_over || input.is_over();
        has_closed |= liar.page.get(CLOSED) != 0;
        match if is_over { 7 } else { input.below(8) } {
            0 | 1 => {
                version += 1;
                publish::<T>(memory, places, version);
            }
            2 => {
                let at = [BEGUN, PUBLISHED, RING + 8 * input.below(256)][input.below(3)];
                memory.set(at, input.lie(&[memory.get(at), version, seen, version + places as u64]));
                lies += 1;
            }
            3 => _ = liar.lie_in_page(input, &[version, seen]),
            4 => {
                let latest = receiver.latest();
                assert!(lies > 0 || latest == (version > 0).then(|| T::of(version)), "the newest value");
                // It may have found the end, and not told.
                lies += u64::from(has_closed);
            }
            5 => {
                let has_changed = receiver.has_changed();
                assert!(lies > 0 || fate.is_over() || has_changed.is_err() || has_changed == Ok(version > seen));
                if let Err(error) = has_changed {
                    fate.ended(error);
                }
            }
            6 => assert!(!receiver.arm() || lies > 0 || seen == version, "it would sleep"),
            _ => match receiver.try_recv() {
                Ok(value) => {
                    assert!(!fate.is_over(), "nothing behind the end");
                    assert!(lies > 0 || version > seen && value == T::of(version), "the newest value, once");
                    seen = version;
                }
                Err(error) => {
                    // What is published behind the end is nobody's.
                    let is_honest = lies == 0 && !fate.is_over();
                    assert!(!is_honest || seen == version);
                    if let TryRecvError::Ended(error) = error {
                        assert!(!is_honest || error != Error::Broken && has_closed);
                        fate.ended(error);
                    }
                    left -= u32::from(is_over);
                }
            },
        }
    }
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(3) {
    0 => run::<u64>(input),
    1 => run::<[u64; 25]>(input),
    _ => run::<[u8; 3]>(input),
}));
