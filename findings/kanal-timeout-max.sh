#!/usr/bin/env bash
# kanal 0.1.1: a time limit that the clock cannot hold panics.
#
# `recv_timeout` and `send_timeout` add the limit to the time of now, and unwrap the sum. So `Duration::MAX`, which std's
# and crossbeam's channels take as "no limit", ends the thread, also where a message or room is there and nothing has to
# wait. The documentation names no panic. Seen with kanal 0.1.1 (debug and release) on Linux:
#
#     recv_timeout: panicked, though a message is there
#     send_timeout: panicked, though there is room
#     std recv_timeout: Ok(1)
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
kanal = "=0.1.1"
[workspace]
TOML
cat >"$folder/src/main.rs" <<'RUST'
use std::panic::catch_unwind;
use std::time::Duration;

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let received = catch_unwind(|| {
        let (sender, receiver) = kanal::unbounded();
        sender.send(1).unwrap();
        receiver.recv_timeout(Duration::MAX)
    });
    println!("recv_timeout: {}", if received.is_err() { "panicked, though a message is there" } else { "returned" });
    let sent = catch_unwind(|| {
        let (sender, _receiver) = kanal::bounded(1);
        sender.send_timeout(1, Duration::MAX)
    });
    println!("send_timeout: {}", if sent.is_err() { "panicked, though there is room" } else { "returned" });
    let (sender, receiver) = std::sync::mpsc::channel();
    sender.send(1).unwrap();
    println!("std recv_timeout: {:?}", receiver.recv_timeout(Duration::MAX));
}
RUST
seen=$(cd "$folder" && cargo run --quiet)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
recv_timeout: panicked, though a message is there
send_timeout: panicked, though there is room
std recv_timeout: Ok(1)
EXPECTED
