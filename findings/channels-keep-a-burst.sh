#!/usr/bin/env bash
# std, crossbeam-channel, tokio, async-channel, flume, kanal: a burst stays in memory after it has been received.
#
# 100,000 messages of 256 bytes are sent into a channel without a bound, and all are received. Then the process still has 24
# MiB or more in use, in each of six channels. In std 1.95.0, crossbeam-channel 0.5.17, tokio 1.54.1 and async-channel 2.5.0
# each block of messages is freed as soon as it is read, so one expects the memory back. But a queue frees its oldest blocks
# first and keeps the newest, which glibc's allocator has at the top of its heap; and that gives back only what is free at the
# top. One call of `malloc_trim` gives back all of it. flume 0.12.0 and kanal 0.1.1 have one buffer, which grows and never
# shrinks: there the call does not help either, and only the drop of the channel does. kanal's documentation says so; that of
# the other five does not speak of it, and no channel here has a `shrink_to_fit`. Seen with Rust 1.95.0, glibc 2.36 on Linux,
# debug and release:
#
#     std: kept; malloc_trim: given back
#     crossbeam: kept; malloc_trim: given back
#     tokio: kept; malloc_trim: given back
#     async-channel: kept; malloc_trim: given back
#     flume: kept; malloc_trim: kept
#     kanal: kept; malloc_trim: kept
#
# Fails if that changes. Needs cargo and a C linker, on Linux with glibc; writes only below a temporary folder.
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
async-channel = "=2.5.0"
crossbeam-channel = "=0.5.17"
flume = "=0.12.0"
kanal = "=0.1.1"
libc = "=0.2.180"
tokio = { version = "=1.54.1", features = ["sync"] }
[workspace]
TOML
cat >"$folder/src/main.rs" <<'RUST'
use std::process::Command;

type Message = [u64; 32];
const MESSAGES: u64 = 100_000;
const CHANNELS: [&str; 6] = ["std", "crossbeam", "tokio", "async-channel", "flume", "kanal"];

/// MiB of memory that the process has in use.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * page >> 20
}

fn burst(name: &str, mut send: impl FnMut(Message), mut receive: impl FnMut() -> Message) {
    send([0; 32]);
    receive();
    let before = resident();
    (0..MESSAGES).for_each(|number| send([number; 32]));
    (0..MESSAGES).for_each(|number| assert_eq!(receive()[0], number));
    let says = || match resident().saturating_sub(before) {
        0..=3 => "given back",
        20.. => "kept",
        _ => "in part",
    };
    let drained = says();
    unsafe { libc::malloc_trim(0) };
    println!("{name}: {drained}; malloc_trim: {}", says());
}

fn main() {
    let Some(name) = std::env::args().nth(1) else {
        // One after another, each in a process of its own: one would use what another has left.
        for name in CHANNELS {
            assert!(Command::new(std::env::current_exe().unwrap()).arg(name).status().unwrap().success());
        }
        return;
    };
    match &name[..] {
        "std" => {
            let (sender, receiver) = std::sync::mpsc::channel();
            burst(&name, |message| sender.send(message).unwrap(), || receiver.recv().unwrap());
        }
        "crossbeam" => {
            let (sender, receiver) = crossbeam_channel::unbounded();
            burst(&name, |message| sender.send(message).unwrap(), || receiver.recv().unwrap());
        }
        "tokio" => {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            burst(&name, |message| sender.send(message).unwrap(), || receiver.try_recv().unwrap());
        }
        "async-channel" => {
            let (sender, receiver) = async_channel::unbounded();
            burst(&name, |message| sender.try_send(message).unwrap(), || receiver.try_recv().unwrap());
        }
        "flume" => {
            let (sender, receiver) = flume::unbounded();
            burst(&name, |message| sender.send(message).unwrap(), || receiver.recv().unwrap());
        }
        _ => {
            let (sender, receiver) = kanal::unbounded();
            burst(&name, |message| sender.send(message).unwrap(), || receiver.recv().unwrap());
        }
    }
}
RUST
seen=$(cd "$folder" && cargo run --quiet)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
std: kept; malloc_trim: given back
crossbeam: kept; malloc_trim: given back
tokio: kept; malloc_trim: given back
async-channel: kept; malloc_trim: given back
flume: kept; malloc_trim: kept
kanal: kept; malloc_trim: kept
EXPECTED
