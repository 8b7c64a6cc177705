//! A sender that lies in the memory of a watch: in its versions and its places.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ysuite_shm::zerocopy::IntoBytes;
use ysuite_shm::{TryRecvError, WatchReceiver};
use ysuite_shm_fuzz::{BEGUN, Input, Kind, Liar, Memory, Message, PUBLISHED, RING, Role, Trial, attempt, pair};

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
    let (places, (one, other)) = (2 << input.below(6), pair());
    let mut receiver = WatchReceiver::<T>::from_fd(one).unwrap();
    let ring = places * size_of::<T>().next_multiple_of(64);
    let liar = Liar::new(other, Kind::Watch, Role::Sender, (size_of::<T>(), align_of::<T>()), places, ring);
    let memory = liar.shared.as_ref().unwrap();
    liar.hello(input.flip());
    let (mut trial, mut version, mut seen) = (Trial::new(3), 0_u64, 0_u64);
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0 | 1 => {
                version += 1;
                publish::<T>(memory, places, version);
            }
            2 => {
                let at = [BEGUN, PUBLISHED, RING + 8 * input.below(256)][input.below(3)];
                memory.set(at, input.lie(&[memory.get(at), version, seen, version + places as u64]));
                trial.lies += 1;
            }
            3 => _ = liar.lie_in_page(input, &[version, seen]),
            4 => {
                let latest = receiver.latest();
                assert!(!trial.is_honest() || latest == (version > 0).then(|| T::of(version)), "the newest value");
                // It may have found the end, and not told.
                trial.lies += u64::from(trial.has_closed);
            }
            5 => match receiver.has_changed() {
                Ok(has) => assert!(!trial.is_honest() || trial.fate.is_over() || has == (version > seen)),
                Err(error) => trial.fate.ended(error),
            },
            6 => assert!(!receiver.arm() || !trial.is_honest() || seen == version, "it would sleep"),
            _ => match receiver.try_recv() {
                Ok(value) => {
                    trial.received_some();
                    assert!(!trial.is_honest() || version > seen && value == T::of(version), "the newest value, once");
                    seen = version;
                }
                Err(TryRecvError::Empty) => trial.received_none(None, seen == version, false),
                Err(TryRecvError::Ended(error)) => trial.received_none(Some(error), seen == version, false),
            },
        }
    }
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(3) {
    0 => run::<u64>(input),
    1 => run::<[u64; 25]>(input),
    _ => run::<[u8; 3]>(input),
}));
