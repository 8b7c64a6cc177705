//! Conversations while all is well.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use ysuite::SendTimeoutError;
use ysuite::{mpmc, spsc};
use ysuite_zmq::{Bridge, Closed, Context, Duplex, Error, Event, Started};

use crate::support::proxy::Proxy;
use crate::support::zmtp::Peer;
use crate::support::{EVERYWHERE, GUARD, address, expect, expect_end, expect_flushed, send, until, wait_for};

type Numbers = Duplex<spsc::Receiver<u64>, u64>;

/// A side of a conversation, with both its channels.
fn side(room: usize, told: impl FnOnce(Numbers) -> Numbers) -> (Started, spsc::Sender<u64>, spsc::Receiver<u64>) {
    let (sender, out) = spsc::bounded::<u64>(room);
    let (started, receiver) = told(Bridge::duplex(out)).start().unwrap();
    (started, sender, receiver)
}

fn question_and_answer(where_to: &str, messages: u64, told: impl Fn(Numbers) -> Numbers) {
    let context = Context::new(1).unwrap();
    let (server, mut answers, mut questions) = side(64, |side| told(side.context(&context).bind(where_to)));
    let (client, ask, mut answered) = side(64, |side| told(side.context(&context).connect(address(&server))));
    let asking = send(ask, 0..messages);
    let answering = thread::spawn(move || {
        questions.iter().zip(0..).for_each(|(question, number)| {
            assert_eq!(question, number);
            answers.send(question * 3).unwrap();
        });
    });
    for number in 0..messages {
        assert_eq!(answered.recv_timeout(GUARD), Ok(number * 3));
    }
    asking.join().unwrap();
    answering.join().unwrap();
    // Each side's channel is disconnected when the other's senders are gone.
    expect_end(&mut answered);
    for side in [&client, &server] {
        let done = side.statistics();
        assert_eq!((done.messages_out, done.messages_in, done.malformed), (messages, messages, 0));
    }
    expect_flushed(client);
    expect_flushed(server);
}

#[test]
fn questions_and_answers_go_over_every_transport() {
    for where_to in EVERYWHERE {
        for (pack, bound, messages) in [(1, 1, 200), (1, 1_000, 5_000), (256, 4_096, 50_000), (256, 10, 2_000)] {
            question_and_answer(where_to, messages, |side| side.pack(pack).bounded(bound));
            question_and_answer(where_to, messages, |side| side.pack(pack).bounded(bound).at_least_once());
        }
        question_and_answer(where_to, 100_000, |side| side.pack(64));
    }
}

/// What the receiving channel has room for is all that ever leaves the sending one.
///
/// Claim: The bound of a duplex bridge holds from sender to receiver.
#[test]
fn the_bound_holds_from_end_to_end() {
    for pack in [1, 256] {
        let (server, _, mut received) = side(1, |side| side.bind("tcp://127.0.0.1:*").bounded(10).pack(pack));
        let (client, mut sender, _) = side(1, |side| side.connect(address(&server)).pack(pack));
        // Ten there, one here.
        for number in 0..11 {
            sender.send_timeout(number, GUARD).unwrap();
        }
        until("all that may leave has left", || client.statistics().messages_out == 10);
        assert_eq!(sender.send_timeout(11, Duration::from_millis(100)), Err(SendTimeoutError::Timeout(11)));
        assert_eq!(client.statistics().messages_out, 10);
        expect(&mut received, 0..1);
        sender.send_timeout(11, GUARD).unwrap();
        expect(&mut received, 1..12);
    }
}

#[test]
fn one_that_receives_no_more_says_so() {
    let (server, _answers, received) = side(1, |side| side.bind("tcp://127.0.0.1:*").bounded(4));
    let (client, mut sender, mut answered) = side(1, |side| side.connect(address(&server)));
    drop(received);
    // The first messages are on their way before the news has come.
    let gone = (0..).find(|&number| sender.send_timeout(number, GUARD).is_err()).unwrap();
    assert!(gone < 1_000);
    assert!(answered.try_recv().is_err_and(|error| !error.is_disconnected()), "the other stream goes on");
    match client.close(GUARD) {
        Closed::Unsent { messages, more: false } => assert!(messages > 0 && messages as u64 <= gone),
        other => panic!("{other:?}"),
    }
    drop(server);
}

/// Both bridges sleep, and no message is under way that could bring the news.
#[test]
fn one_that_receives_no_more_says_so_though_nothing_is_sent() {
    for bound in [Some(64), None] {
        let (server, _answers, mut received) = side(1, |side| {
            let side = side.bind("tcp://127.0.0.1:*");
            if let Some(bound) = bound { side.bounded(bound) } else { side }
        });
        let (client, mut sender, _answered) = side(1, |side| side.connect(address(&server)));
        sender.send(1).unwrap();
        expect(&mut received, 1..2);
        until("both are at rest", || {
            let before = [&server, &client].map(|side| format!("{:?}", side.statistics()));
            thread::sleep(Duration::from_millis(50));
            before == [&server, &client].map(|side| format!("{:?}", side.statistics()))
        });
        drop(received);
        assert!(sender.wait_closed_timeout(GUARD));
    }
}

/// Claim: Closing a duplex bridge closes both channels of its peer.
#[test]
fn a_bridge_that_closes_ends_both_channels_of_the_other() {
    let (server, _answers, mut received) = side(8, |side| side.bind("tcp://127.0.0.1:*").bounded(8));
    let (client, mut sender, _answered) = side(8, |side| side.connect(address(&server)));
    sender.send(1).unwrap();
    expect_flushed(client);
    // All that was promised is there, then the disconnect.
    expect(&mut received, 1..2);
    expect_end(&mut received);
    until("all senders there are gone", || _answers.is_disconnected());
}

/// What is meant for the second does not go to the third, and what the third says is not heard.
#[test]
fn a_third_is_not_heard_while_the_second_is_there() {
    let (server, mut answers, mut received) = side(8, |side| side.bind("tcp://127.0.0.1:*"));
    let (client, mut sender, mut answered) = side(8, |side| side.connect(address(&server)));
    sender.send(1).unwrap();
    expect(&mut received, 1..2);
    let (_third, mut intruder, mut overheard) = side(8, |side| side.connect(address(&server)));
    intruder.send(100).unwrap();
    wait_for(&server.events(), |event| *event == Event::Ignored);
    for number in 2..1_000 {
        sender.send(number).unwrap();
        expect(&mut received, number..number + 1);
        answers.send(number).unwrap();
        expect(&mut answered, number..number + 1);
    }
    assert!(overheard.try_recv().is_err());
    // Its turn comes when the second is gone.
    expect_flushed(client);
    wait_for(&server.events(), |event| *event == Event::Replaced);
    expect_end(&mut received);
}

/// A bridge that can send nothing now does not keep other receivers of its channel asleep.
#[test]
fn a_message_that_the_bridge_would_leave_wakes_another() {
    struct Woken(AtomicU64);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    let (server, _answers, mut received) = side(8, |side| side.bind("tcp://127.0.0.1:*"));
    let proxy = Proxy::to(&address(&server));
    let (jobs, out) = mpmc::unbounded::<u64>();
    let mut other = out.clone();
    let (client, _answered) = Bridge::duplex::<_, u64>(out).connect(proxy.address()).start().unwrap();
    jobs.send(0).unwrap();
    expect(&mut received, 0..1);
    // It sleeps by then, most likely, and waits for messages.
    thread::sleep(Duration::from_millis(50));
    let events = client.events();
    proxy.refuse(true);
    proxy.reset();
    wait_for(&events, |event| matches!(event, Event::Disconnected(_)));
    let woken = Arc::new(Woken(AtomicU64::new(0)));
    let waker = Waker::from(woken.clone());
    // Waiting receivers are notified in turn.
    for number in 1..4 {
        while other.poll_recv(&mut std::task::Context::from_waker(&waker)).is_ready() {}
        let before = woken.0.load(Ordering::Relaxed);
        jobs.send(number).unwrap();
        until("it is woken", || woken.0.load(Ordering::Relaxed) > before);
        assert_eq!(other.try_recv(), Ok(number));
    }
    // What comes when there is a connection again leaves by it.
    proxy.refuse(false);
    jobs.send(1).unwrap();
    expect(&mut received, 1..2);
}

/// A peer that says it has room for everything, and acknowledges nothing: it is sent as much as may be kept, and no more.
///
/// Claim: The memory for messages that a peer does not acknowledge is bounded.
#[test]
fn what_is_not_acknowledged_is_bounded() {
    const KEPT: u64 = 1_000;
    const SESSION: u64 = 7;
    let (_jobs, out) = spsc::bounded::<u64>(64);
    let duplex = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").at_least_once();
    assert!(matches!(duplex.unacknowledged(0).start(), Err(Error::Bound)));
    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let duplex = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").pack(32).at_least_once();
    let (duplex, _received) = duplex.unacknowledged(KEPT as usize).start().unwrap();
    let sender = thread::spawn(move || (0..).take_while(|&number| jobs.send(number).is_ok()).count());
    let mut peer = Peer::connect(&address(&duplex), "DEALER");
    // Version, kind, flags, messages or mark; then eight bytes each.
    let header = |kind: u8, mark: u32, of: u64| {
        let mut bytes = [&[1, kind, 0, 0], &mark.to_le_bytes()[..]].concat();
        for word in [SESSION, 0, of, 0, u64::MAX, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes
    };
    peer.write(0, &header(1, 1, 0));
    let (mut came, mut rounds) = (0, 0);
    // It sends hello again when it has waited for a second, and sends all of it once more when that is answered.
    while rounds < 3 {
        let frame = peer.read().1;
        let messages = u32::from_le_bytes(*frame[4..].first_chunk().unwrap());
        match frame[1] {
            1 => {
                let of = u64::from_le_bytes(*frame[8..].first_chunk().unwrap());
                peer.write(0, &header(3, messages, of));
                // On a slow machine it has not come so far.
                rounds += u32::from(came == KEPT);
                came = 0;
            }
            2 => came += u64::from(messages),
            _ => {}
        }
        assert!(came <= KEPT, "{came} messages are under way");
    }
    assert!(duplex.statistics().repeated >= KEPT);
    let closed = duplex.close(Duration::ZERO);
    assert_eq!(closed, Closed::Unsent { messages: sender.join().unwrap(), more: false });
}
