#!/usr/bin/env bash
# kanal 0.1.1: a receive that is dropped as a future loses the message that a sender has sent into it.
#
# A sender that finds a waiting `recv()` writes its message into that future, and returns that it was sent. Where the future
# is then dropped before it is polled again, as a time limit or a `select!` does, its `Drop` drops the message. So each
# limit on `recv()` may lose one message, at any capacity. In flume 0.12.0, async-channel 2.5.0 and tokio 1.54.1 such a
# message stays in the channel. The documentation of `ReceiveFuture` does not speak of it. Seen on Linux, one thread:
#
#     kanal, unbounded: sent Ok(true), left Ok(None)
#     kanal, bounded(1): sent Ok(true), left Ok(None)
#     flume: sent Ok(()), left Ok(1)
#     async-channel: sent Ok(()), left Ok(1)
#     tokio: sent Ok(()), left Ok(1)
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
flume = "=0.12.0"
async-channel = "=2.5.0"
tokio = { version = "=1.54.1", features = ["sync"] }
[workspace]
TOML
cat >"$folder/src/main.rs" <<'RUST'
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

/// Polls the receive once, so that it waits; sends; drops the receive.
fn dropped<S>(receive: impl Future, send: impl FnOnce() -> S) -> S {
    let mut receive = pin!(receive);
    assert!(receive.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    send()
}

fn main() {
    for (name, (sender, receiver)) in
        [("unbounded", kanal::unbounded_async()), ("bounded(1)", kanal::bounded_async(1))]
    {
        let sent = dropped(receiver.recv(), || sender.try_send(1));
        println!("kanal, {name}: sent {sent:?}, left {:?}", receiver.try_recv());
    }
    let (sender, receiver) = flume::unbounded();
    let sent = dropped(receiver.recv_async(), || sender.try_send(1));
    println!("flume: sent {sent:?}, left {:?}", receiver.try_recv());
    let (sender, receiver) = async_channel::unbounded();
    let sent = dropped(receiver.recv(), || sender.try_send(1));
    println!("async-channel: sent {sent:?}, left {:?}", receiver.try_recv());
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let sent = dropped(receiver.recv(), || sender.try_send(1));
    println!("tokio: sent {sent:?}, left {:?}", receiver.try_recv());
}
RUST
seen=$(cd "$folder" && cargo run --quiet)
printf '%s\n' "$seen"
diff <(printf '%s\n' "$seen") - <<'EXPECTED'
kanal, unbounded: sent Ok(true), left Ok(None)
kanal, bounded(1): sent Ok(true), left Ok(None)
flume: sent Ok(()), left Ok(1)
async-channel: sent Ok(()), left Ok(1)
tokio: sent Ok(()), left Ok(1)
EXPECTED
