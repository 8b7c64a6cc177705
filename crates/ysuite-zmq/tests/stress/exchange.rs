//! Two sides that send each other numbers while the network between them is at its worst: each number comes once, in
//! order, and then the disconnect.

use std::sync::Arc;
use std::thread;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Duplex, Started};

use crate::support::proxy::Proxy;
use crate::support::{GUARD, address, expect_end, expect_flushed, send};
use crate::weather::{Kind, Weather, rest};
use crate::{messages, say};

type Numbers = Duplex<spsc::Receiver<u64>, u64>;

fn side(told: impl FnOnce(Numbers) -> Numbers) -> (Started, spsc::Sender<u64>, spsc::Receiver<u64>) {
    let (sender, out) = spsc::bounded::<u64>(2_048);
    let (started, receiver) = told(Bridge::duplex(out).at_least_once()).start().expect("a bridge");
    (started, sender, receiver)
}

fn read(mut receiver: spsc::Receiver<u64>, numbers: u64, seed: u64) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0..numbers {
            rest(&mut random);
            assert_eq!(receiver.recv_timeout(GUARD), Ok(number));
        }
        expect_end(&mut receiver);
    })
}

fn exchange(numbers: u64, pack: usize, bound: usize, kind: Kind) {
    let seed = fastrand::u64(..);
    say(format_args!("exchange: {numbers} each way, {pack} a frame, room for {bound}, {kind:?}, seed {seed}"));
    let (server, answers, questions) = side(|side| side.bind("tcp://127.0.0.1:*").pack(pack).bounded(bound));
    let proxy = Arc::new(Proxy::to(&address(&server)));
    let (client, ask, answered) = side(|side| side.connect(proxy.address()).pack(pack).bounded(bound));
    let weather = Weather::of(vec![proxy.clone()], kind, seed);
    let senders = [send(ask, 0..numbers), send(answers, 0..numbers)];
    let readers = [read(questions, numbers, seed ^ 1), read(answered, numbers, seed ^ 2)];
    senders.into_iter().chain(readers).for_each(|thread| thread.join().expect("what was promised"));
    let damage = weather.stop();
    let (here, there) = (client.statistics(), server.statistics());
    assert_eq!((here.messages_in, there.messages_in), (numbers, numbers));
    assert_eq!((here.malformed, there.malformed), (0, 0));
    say(format_args!(
        "  {damage:?}: {} sent again, {} left out",
        here.repeated + there.repeated,
        here.duplicates + there.duplicates
    ));
    expect_flushed(client);
    expect_flushed(server);
}

#[test]
fn a_duplex_loses_and_doubles_nothing_in_a_storm() {
    exchange(messages(400_000, 50_000_000), 256, 4_096, Kind::Storm);
}

#[test]
fn a_duplex_loses_and_doubles_nothing_when_it_is_narrow() {
    exchange(messages(20_000, 1_000_000), 3, 7, Kind::Storm);
}

#[test]
fn a_duplex_waits_for_a_stalled_network() {
    exchange(messages(400_000, 10_000_000), 64, 1_000, Kind::Fog);
}
