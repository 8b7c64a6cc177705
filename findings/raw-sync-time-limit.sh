#!/usr/bin/env bash
# raw_sync 0.1.5: a time limit that is not of whole seconds may end at once, as if it had passed.
#
# The crate has locks and events for shared memory, made for the crate `shared_memory`. On Unix it adds a limit's seconds to
# the clock's and its nanoseconds to the clock's, and carries nothing over. Where the nanoseconds come to a second or more,
# the system refuses the time, and the wait returns what it returns for a limit that has passed. So whether a limit of
# 1.5 s waits depends on the half of the second in which it begins, and a loop over such waits spins. The second limit here
# is a nanosecond shorter than the first, and is refused at any time of day. Seen on Linux, with an event that another
# thread raises after 1 s:
#
#     limit 10s: Ok(())
#     limit 9.999999999s: Err("Failed waiting for signal"), before its time
#
# Fails if that changes. Needs cargo and a C linker; writes only below a temporary folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/src"
cat >"$folder/Cargo.toml" <<'TOML'
[package]
name = "finding"
version = "0.0.0"
edition = "2021"
[dependencies]
raw_sync = "=0.1.5"
[workspace]
TOML
cat >"$folder/src/main.rs" <<'RUST'
use raw_sync::events::{Event, EventInit, EventState};
use raw_sync::Timeout;
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    for limit in [Duration::from_secs(10), Duration::from_nanos(9_999_999_999)] {
        let mut memory = [0_u64; 64];
        let address = memory.as_mut_ptr() as usize;
        assert!(Event::size_of(Some(address as *mut u8)) <= size_of_val(&memory));
        // SAFETY: The memory is large enough, aligned, and lives until the thread has ended.
        let (event, _) = unsafe { Event::new(address as *mut u8, true) }.unwrap();
        let raiser = thread::spawn(move || {
            thread::sleep(Duration::from_secs(1));
            // SAFETY: An event was made there.
            let (event, _) = unsafe { Event::from_existing(address as *mut u8) }.unwrap();
            event.set(EventState::Signaled).unwrap();
        });
        let start = Instant::now();
        let result = event.wait(Timeout::Val(limit)).map_err(|error| error.to_string());
        let early = if result.is_err() && start.elapsed() < limit { ", before its time" } else { "" };
        println!("limit {limit:?}: {result:?}{early}");
        raiser.join().unwrap();
    }
}
RUST
# raw_sync takes any version of this one.
(cd "$folder" && cargo update --quiet nix --precise 0.32.0)
seen=$(cd "$folder" && cargo run --quiet)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
limit 10s: Ok(())
limit 9.999999999s: Err("Failed waiting for signal"), before its time
EXPECTED
