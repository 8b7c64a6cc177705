#!/usr/bin/env bash
# crossbeam-channel 0.5.17: without receivers a bounded channel keeps its messages, while an unbounded one drops them.
#
# When the last receiver is dropped, sends fail from then on. What is still in the channel is dropped with that receiver if
# the channel is unbounded; if it is bounded, with the last sender only. The documentation tells of no difference. It shows
# where a message has the sender of its answer in it: the server is gone, and a client that keeps its sender for the next
# question waits for the answer, for ever. To change `unbounded()` into `bounded(100)` is enough for that. std's channels,
# made from crossbeam's, drop the messages in both (Rust 1.95.0), and so does tokio 1.54.1. async-channel 2.5.0 and flume
# 0.12.0 keep them in both; flume says so at its sender's `clone`. Seen on Linux, one thread, by `try_recv` of an answer
# from a server that was dropped:
#
#     crossbeam unbounded: Err(Disconnected)
#     crossbeam bounded: Err(Empty)
#     crossbeam bounded, its sender dropped: Err(Disconnected)
#     std unbounded: Err(Disconnected)
#     std bounded: Err(Disconnected)
#     tokio unbounded: Err(Disconnected)
#     tokio bounded: Err(Disconnected)
#     async-channel unbounded: Err(Empty)
#     async-channel bounded: Err(Empty)
#     flume unbounded: Err(Empty)
#     flume bounded: Err(Empty)
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
async-channel = "=2.5.0"
crossbeam-channel = "=0.5.17"
flume = "=0.12.0"
tokio = { version = "=1.54.1", features = ["sync"] }
[workspace]
TOML
cat >"$folder/src/main.rs" <<'RUST'
use std::sync::mpsc;

/// The sender of an answer, as the question.
type Question = mpsc::SyncSender<u32>;

/// Asks a server that is dropped before it has read the question, and looks for its answer.
fn ask<S, R, E: std::fmt::Debug>(name: &str, (sender, server): (S, R), send: impl FnOnce(&S, Question) -> Result<(), E>) {
    let (question, answer) = mpsc::sync_channel(1);
    send(&sender, question).unwrap();
    drop(server);
    println!("{name}: {:?}", answer.try_recv());
    if name == "crossbeam bounded" {
        drop(sender);
        println!("{name}, its sender dropped: {:?}", answer.try_recv());
    }
}

fn main() {
    ask("crossbeam unbounded", crossbeam_channel::unbounded(), |sender, question| sender.send(question));
    ask("crossbeam bounded", crossbeam_channel::bounded(100), |sender, question| sender.send(question));
    ask("std unbounded", mpsc::channel(), |sender, question| sender.send(question));
    ask("std bounded", mpsc::sync_channel(100), |sender, question| sender.send(question));
    ask("tokio unbounded", tokio::sync::mpsc::unbounded_channel(), |sender, question| sender.send(question));
    ask("tokio bounded", tokio::sync::mpsc::channel(100), |sender, question| sender.try_send(question));
    ask("async-channel unbounded", async_channel::unbounded(), |sender, question| sender.try_send(question));
    ask("async-channel bounded", async_channel::bounded(100), |sender, question| sender.try_send(question));
    ask("flume unbounded", flume::unbounded(), |sender, question| sender.send(question));
    ask("flume bounded", flume::bounded(100), |sender, question| sender.send(question));
}
RUST
seen=$(cd "$folder" && cargo run --quiet)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
crossbeam unbounded: Err(Disconnected)
crossbeam bounded: Err(Empty)
crossbeam bounded, its sender dropped: Err(Disconnected)
std unbounded: Err(Disconnected)
std bounded: Err(Disconnected)
tokio unbounded: Err(Disconnected)
tokio bounded: Err(Disconnected)
async-channel unbounded: Err(Empty)
async-channel bounded: Err(Empty)
flume unbounded: Err(Empty)
flume bounded: Err(Empty)
EXPECTED
