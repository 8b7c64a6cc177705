//! A peer of the matrix, by zmq.rs: TYPE ADDRESS FIRST COUNT. An address that begins with "bind:" is bound.

use std::env;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;
use zeromq::{
    DealerSocket, PubSocket, PullSocket, PushSocket, RepSocket, ReqSocket, RouterSocket, Socket, SocketRecv,
    SocketSend, SubSocket, ZmqMessage,
};

const A_MOMENT: Duration = Duration::from_millis(1);

fn say(line: &str) {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("somebody reads");
}

/// The version that was compiled in.
fn version() -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let (_, behind) = lock.split_once("name = \"zeromq\"\nversion = \"").expect("the package");
    behind.split_once('"').expect("a version").0
}

/// A message's text, without what follows it.
fn word(part: &[u8]) -> String {
    let text = part.split(|&byte| byte == b' ').next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

async fn join(socket: &mut impl Socket, address: &str) {
    if let Some(there) = address.strip_prefix("bind:") {
        socket.bind(there).await.expect("the port is free");
        say("ready");
    } else {
        say("ready");
        if let Err(why) = socket.connect(address).await {
            say(&format!("refused: {why}"));
            std::future::pending::<()>().await;
        }
    }
}

async fn joined<S: Socket>(address: &str) -> S {
    let mut socket = S::new();
    join(&mut socket, address).await;
    socket
}

/// Waits for a peer, which is an error here.
async fn send(socket: &mut impl SocketSend, parts: Vec<Bytes>) {
    let message = ZmqMessage::try_from(parts).expect("it has parts");
    while socket.send(message.clone()).await.is_err() {
        sleep(A_MOMENT).await;
    }
}

/// That a peer has gone is an error here.
async fn receive(socket: &mut impl SocketRecv) -> Vec<Bytes> {
    loop {
        match socket.recv().await {
            Ok(message) => return message.into_vec(),
            Err(_) => sleep(A_MOMENT).await,
        }
    }
}

fn text(number: u64) -> Bytes {
    Bytes::from(number.to_string())
}

async fn pull(socket: &mut PullSocket) {
    loop {
        let parts = receive(socket).await;
        match word(&parts[0]) {
            text if text == "end" => return,
            text => say(&format!("{text} {}", parts.len())),
        }
    }
}

async fn sub(socket: &mut SubSocket) {
    loop {
        let parts = receive(socket).await;
        match word(&parts[1]) {
            text if text == "end" => return,
            text => say(&format!("{} {text}", word(&parts[0]))),
        }
    }
}

async fn push(socket: &mut PushSocket, numbers: core::ops::Range<u64>, is_over: &AtomicBool) {
    for number in numbers {
        let mut parts = vec![text(number)];
        parts.extend((number % 2 == 1).then(|| Bytes::from_static(b"more")));
        send(socket, parts).await;
    }
    until(is_over).await;
}

async fn until(holds: &AtomicBool) {
    while !holds.load(Ordering::Relaxed) {
        sleep(A_MOMENT).await;
    }
}

/// Says hello until it is told that it is heard.
async fn publish(socket: &mut PubSocket, numbers: core::ops::Range<u64>, is_heard: &AtomicBool, is_over: &AtomicBool) {
    while !is_heard.load(Ordering::Relaxed) {
        let hello = Bytes::from(format!("hello {}", numbers.start));
        send(socket, vec![Bytes::from_static(b"b"), hello]).await;
        sleep(2 * A_MOMENT).await;
    }
    for number in numbers {
        for topic in ["a", "b"] {
            send(socket, vec![Bytes::from_static(topic.as_bytes()), text(number)]).await;
        }
        tokio::task::yield_now().await;
    }
    until(is_over).await;
}

async fn answer<S: SocketSend + SocketRecv>(socket: &mut S) {
    loop {
        let mut parts = receive(socket).await;
        let question = parts.pop().expect("a part");
        parts.push(Bytes::from([&question[..], b"!"].concat()));
        // One that has gone is not waited for.
        let _ = socket.send(ZmqMessage::try_from(parts).expect("it has parts")).await;
        if &question[..] == b"end" {
            return;
        }
        say(&word(&question));
    }
}

async fn req(socket: &mut ReqSocket, numbers: core::ops::Range<u64>) {
    for number in numbers {
        send(socket, vec![text(number)]).await;
        say(&word(&receive(socket).await[0]));
    }
}

/// A hundred are asked at once.
async fn dealer(socket: &mut DealerSocket, numbers: core::ops::Range<u64>) {
    let last = numbers.end - numbers.start;
    for number in numbers.clone() {
        send(socket, vec![Bytes::new(), text(number)]).await;
        if number >= numbers.start + 100 {
            say(&word(&receive(socket).await[1]));
        }
    }
    for _ in 0..last.min(100) {
        say(&word(&receive(socket).await[1]));
    }
}

async fn run(role: &str, address: &str, numbers: core::ops::Range<u64>) {
    // The first byte of the input says that it is heard, its end that it may end.
    let (is_heard, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    thread::spawn({
        let (is_heard, is_over) = (is_heard.clone(), is_over.clone());
        move || {
            let mut byte = [0];
            while io::stdin().read(&mut byte).is_ok_and(|length| length > 0) {
                is_heard.store(true, Ordering::Relaxed);
            }
            is_over.store(true, Ordering::Relaxed);
        }
    });
    match role {
        "pull" => pull(&mut joined(address).await).await,
        "sub" => {
            let mut socket = SubSocket::new();
            socket.subscribe("b").await.expect("nobody is there yet");
            join(&mut socket, address).await;
            sub(&mut socket).await;
        }
        "push" => push(&mut joined(address).await, numbers, &is_over).await,
        "pub" => publish(&mut joined(address).await, numbers, &is_heard, &is_over).await,
        "rep" => answer(&mut joined::<RepSocket>(address).await).await,
        "router" => answer(&mut joined::<RouterSocket>(address).await).await,
        "req" => req(&mut joined(address).await, numbers).await,
        _ => dealer(&mut joined(address).await, numbers).await,
    }
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let [_, role, address, first, count] = &words[..] else { panic!("TYPE ADDRESS FIRST COUNT") };
    let (first, count): (u64, u64) = (first.parse().expect("a number"), count.parse().expect("a number"));
    say(&format!("zmq.rs {}", version()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run(role, address, first..first + count));
}
