//! What `close` promises, and that everything ends.

use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::task::{Context as Task, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::{mpmc, spsc};
use ysuite_zmq::{Bridge, Closed, Context, Event, KeyPair};

use crate::support::proxy::Proxy;
use crate::support::{
    EVERYWHERE, GUARD, address, block_on, expect, expect_end, expect_flushed, runs_alone, until, wait_for,
};

const SHORT: Duration = Duration::from_millis(50);

/// Claim: A closing bridge counts the messages that were never sent.
#[test]
fn what_never_left_is_counted() {
    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).connect("tcp://127.0.0.1:1").start().unwrap();
    (0..10u64).for_each(|number| jobs.send(number).unwrap());
    assert_eq!(push.close(SHORT), Closed::Unsent { messages: 10, more: false });
    assert!(jobs.send(1).is_err());

    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let (duplex, _) = Bridge::duplex::<_, u64>(out).connect("tcp://127.0.0.1:1").start().unwrap();
    (0..10u64).for_each(|number| jobs.send(number).unwrap());
    assert_eq!(duplex.close(SHORT), Closed::Unsent { messages: 10, more: false });
    assert!(jobs.send(1).is_err());
}

#[test]
fn nothing_to_send_is_flushed() {
    let (_jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).connect("tcp://127.0.0.1:1").start().unwrap();
    assert_eq!(push.close(Duration::ZERO), Closed::Flushed);
    let (_jobs, out) = spsc::bounded::<u64>(64);
    let (duplex, _received) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    assert_eq!(duplex.close(SHORT), Closed::Flushed);
    // Whatever the time limit: no peer has come that waits for anything.
    let (_jobs, out) = spsc::bounded::<u64>(64);
    let (duplex, _received) = Bridge::duplex::<_, u64>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let (_jobs, out) = spsc::bounded::<u64>(64);
    let (connected, _received) = Bridge::duplex::<_, u64>(out).connect("tcp://127.0.0.1:1").start().unwrap();
    for duplex in [duplex, connected] {
        let begun = Instant::now();
        assert_eq!(duplex.close(GUARD), Closed::Flushed);
        assert!(begun.elapsed() < GUARD / 2);
    }
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    expect_flushed(pull);
    expect_end(&mut work);
}

/// What libzmq still had when the time was over cannot be counted, but is not passed over.
#[test]
fn what_is_not_taken_is_not_flushed() {
    let (pull, _full) =
        Bridge::pull::<Vec<u8>>().bind("tcp://127.0.0.1:*").bounded(1).high_water_marks(1, 1).start().unwrap();
    let (mut jobs, out) = spsc::bounded::<Vec<u8>>(64);
    let push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    // More than the kernel's buffers hold.
    (0..40).for_each(|_| jobs.send(vec![0; 1 << 20]).unwrap());
    until("frames wait in libzmq", || push.statistics().messages_out >= 40);
    assert_eq!(push.close(SHORT), Closed::Unsent { messages: 0, more: true });
}

/// A connection that ends discards libzmq's queue for it: an empty queue then does not mean that all has left.
#[test]
fn what_goes_with_a_connection_is_not_flushed() {
    let begin = || {
        let (pull, full) =
            Bridge::pull::<Vec<u8>>().bind("tcp://127.0.0.1:*").bounded(1).high_water_marks(1, 1).start().unwrap();
        let proxy = Proxy::to(&address(&pull));
        let (mut jobs, out) = spsc::bounded::<Vec<u8>>(64);
        let push = Bridge::push(out).connect(proxy.address()).start().unwrap();
        // More than the kernel's buffers hold.
        (0..40).for_each(|_| jobs.send(vec![0; 1 << 20]).unwrap());
        until("frames wait in libzmq", || push.statistics().messages_out >= 40);
        proxy.refuse(true);
        (pull, full, proxy, push, jobs)
    };
    let (_pull, _full, proxy, push, _jobs) = begin();
    let closing = thread::spawn(move || push.close(GUARD));
    // It lingers by then, most likely.
    thread::sleep(SHORT);
    proxy.reset();
    assert_eq!(closing.join().unwrap(), Closed::Unsent { messages: 0, more: true });

    // Nor where the connection has ended before, and nothing was sent since.
    let (_pull, _full, proxy, push, _jobs) = begin();
    proxy.reset();
    wait_for(&push.events(), |event| matches!(event, Event::Disconnected(_)));
    assert_eq!(push.close(GUARD), Closed::Unsent { messages: 0, more: true });

    // Nor where it has ended, and all that was sent since has come.
    let (_pull, mut full, proxy, push, mut jobs) = begin();
    proxy.reset();
    wait_for(&push.events(), |event| matches!(event, Event::Disconnected(_)));
    proxy.refuse(false);
    jobs.send(vec![1]).unwrap();
    while full.recv_timeout(GUARD).unwrap().len() > 1 {}
    assert_eq!(push.close(GUARD), Closed::Unsent { messages: 0, more: true });
}

/// A connection that ended before the first frame lost none, nor did a peer that never was admitted.
#[test]
fn what_went_with_nothing_is_flushed() {
    let (first, _) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let there = address(&first);
    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).connect(there.as_str()).bind("tcp://127.0.0.1:*").start().unwrap();
    let events = push.events();
    wait_for(&events, |event| matches!(event, Event::Connected(_)));
    expect_flushed(first);
    wait_for(&events, |event| matches!(event, Event::Disconnected(_)));
    let (_second, mut work) = Bridge::pull::<u64>().bind(there).start().unwrap();
    wait_for(&events, |event| matches!(event, Event::Connected(_)));
    jobs.send(1).unwrap();
    expect(&mut work, 1..2);
    // A stranger, which sends nothing of ØMQ's protocol.
    let mut stranger = std::net::TcpStream::connect(address(&push).trim_start_matches("tcp://")).unwrap();
    let _ = stranger.write_all(&[0xFF; 4_096]);
    wait_for(&events, |event| matches!(event, Event::HandshakeFailed(_)));
    drop(stranger);
    assert_eq!(push.close(GUARD), Closed::Flushed);
}

/// Not over ipc: there libzmq loses what a connection that is closed has brought and its reader was too slow for (libzmq#4660).
#[test]
fn a_channel_that_is_still_full_leaves_before_the_bridge_ends() {
    for where_to in ["tcp://127.0.0.1:*", "inproc://there"] {
        let context = Context::new(1).unwrap();
        let pull = Bridge::pull::<u64>().context(&context).bind(where_to).unbounded();
        let (pull, mut work) = pull.start().unwrap();
        let (mut jobs, out) = spsc::unbounded::<u64>();
        let push = Bridge::push(out).context(&context).connect(address(&pull)).start().unwrap();
        (0..10_000).for_each(|number| jobs.send(number).unwrap());
        expect_flushed(push);
        expect(&mut work, 0..10_000);
        expect_flushed(pull);
    }
}

/// Flushed says of a duplex that everything is in the other side's channel: over ipc as well, where libzmq's own lingering
/// loses what the other side has not read.
#[test]
fn a_duplex_that_is_flushed_has_been_received() {
    for where_to in EVERYWHERE {
        let context = Context::new(1).unwrap();
        let (_back, nothing) = spsc::bounded::<u64>(1);
        let server = Bridge::duplex::<_, u64>(nothing).context(&context).bind(where_to);
        let (server, mut received) = server.unbounded().start().unwrap();
        let (mut jobs, out) = spsc::unbounded::<u64>();
        let client = Bridge::duplex::<_, u64>(out).context(&context).connect(address(&server));
        let (client, _) = client.start().unwrap();
        (0..2_000).for_each(|number| jobs.send(number).unwrap());
        expect_flushed(client);
        assert_eq!(received.try_iter().count(), 2_000);
    }
}

#[test]
fn bridges_that_are_dropped_end_by_themselves() {
    let context = Context::new(1).unwrap();
    let (pull, mut work) = Bridge::pull::<u64>().context(&context).bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut jobs, out) = spsc::unbounded::<u64>();
    let push = Bridge::push(out).context(&context).connect(address(&pull)).start().unwrap();
    jobs.send(1).unwrap();
    drop(push);
    // It had a second for what was under way.
    expect(&mut work, 1..2);
    drop(pull);
    expect_end(&mut work);
    until("there is no receiver any more", || jobs.is_disconnected());
    // It is dropped with its last bridge.
    drop(context);
}

/// A context is dropped with its last bridge, even if that had unsent messages: libzmq alone would wait for them
/// without end.
#[test]
fn contexts_end_without_any_peer() {
    for _ in 0..10 {
        let context = Context::new(1).unwrap();
        let (mut jobs, out) = spsc::unbounded::<u64>();
        let push = Bridge::push(out).context(&context).connect("tcp://127.0.0.1:1").start().unwrap();
        jobs.send(1u64).unwrap();
        assert_eq!(push.close(Duration::ZERO), Closed::Unsent { messages: 1, more: false });
        drop(context);
    }
}

/// In a process of its own, which has no other threads and descriptors.
#[test]
fn a_context_leaks_nothing() {
    if runs_alone("closing::a_context_leaks_nothing") {
        return;
    }
    let own = |what| std::fs::read_dir(format!("/proc/self/{what}")).expect("procfs").count();
    let before = (own("task"), own("fd"));
    let context = Context::new(2).unwrap();
    let key = KeyPair::generate().unwrap();
    let server = Bridge::pull::<u64>().context(&context).bind("tcp://127.0.0.1:*");
    let server = server.curve_server(key.clone(), [key.public()]).start().unwrap().0;
    assert!(own("task") > before.0 && own("fd") > before.1);
    expect_flushed(server);
    drop(context);
    until("its threads and descriptors are gone", || (own("task"), own("fd")) == before);
}

/// A time that no clock can hold is no limit.
#[test]
fn the_longest_time_is_not_too_long() {
    let (pull, _work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    jobs.send(1).unwrap();
    assert_eq!(push.close(Duration::MAX), Closed::Flushed);
}

/// Until the channel is disconnected messages are accepted there: none of them is skipped, at any moment.
///
/// Claim: Messages sent while a closing bridge lingers are counted.
#[test]
fn what_is_sent_while_the_rest_lingers_is_counted() {
    let (pull, mut work) =
        Bridge::pull::<Vec<u8>>().bind("tcp://127.0.0.1:*").bounded(1).high_water_marks(1, 1).start().unwrap();
    let (mut jobs, out) = spsc::bounded::<Vec<u8>>(64);
    let push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    // More than the kernel's buffers hold.
    (0..40).for_each(|_| jobs.send(vec![0; 1 << 20]).unwrap());
    until("frames wait in libzmq", || push.statistics().messages_out >= 40);
    let closing = thread::spawn(move || push.close(GUARD));
    // It lingers by then, most likely.
    thread::sleep(SHORT);
    let accepted = 40 + usize::from(jobs.send(vec![0; 1]).is_ok());
    let mut received = 0;
    until("the bridge has closed", || {
        received += work.try_iter().count();
        closing.is_finished()
    });
    let unsent = match closing.join().unwrap() {
        Closed::Unsent { messages, more } => {
            assert!(!more);
            messages
        }
        Closed::Flushed => 0,
    };
    until("each is received or counted", || {
        received += work.try_iter().count();
        received + unsent >= accepted
    });
    assert_eq!(received + unsent, accepted);
    assert!(jobs.is_disconnected());
}

/// What is in a channel is not the bridge's alone, where others receive from it: it takes no more than what it has in hand.
///
/// Claim: A closing bridge leaves the messages in a shared channel to others.
#[test]
fn a_bridge_that_closes_leaves_what_is_in_the_channel_to_others() {
    let (jobs, out) = mpmc::bounded::<u64>(64);
    let other = out.clone();
    (0..64).for_each(|number| jobs.send(number).unwrap());
    let push = |source| Bridge::push(source).connect("tcp://127.0.0.1:1").start().unwrap();
    let one = push(out);
    let unsent = match one.close(SHORT) {
        Closed::Unsent { messages, more: false } => messages,
        closed => panic!("{closed:?}"),
    };
    jobs.send(64).unwrap();
    assert!(unsent <= 32, "{unsent}");
    assert_eq!(unsent + other.len(), 65);
    // The last one counts what cannot be received any more.
    assert_eq!(push(other).close(SHORT), Closed::Unsent { messages: 65 - unsent, more: false });
    assert!(jobs.send(65).is_err());
}

/// A listener that sends these bytes on each connection, and ends the connection once it has read `reads` bytes, or the
/// other side has ended it. Returns how many bytes of the greeting of ØMQ or less each connection brought.
fn stranger(greeting: &'static [u8]) -> (String, std::sync::mpsc::Receiver<usize>) {
    use std::io::Read;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let there = format!("tcp://{}", listener.local_addr().unwrap());
    let (read, heard) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.set_read_timeout(Some(Duration::from_millis(300)));
            let _ = stream.write_all(greeting);
            let (mut room, mut bytes) = ([0; 4_096], 0);
            while let Ok(more @ 1..) = stream.read(&mut room) {
                bytes += more;
            }
            drop(stream);
            if read.send(bytes).is_err() {
                return;
            }
        }
    });
    (there, heard)
}

/// The longest greeting of ØMQ.
const ZMTP: usize = 64;

const GREETINGS: [&[u8]; 5] = [
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    b"-ERR unknown command\r\n",
    // What ØMQ itself said before it had versions: a name without letters, in one byte and in nine.
    &[1, 0],
    &[0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0],
];

/// Another program has the port: no message goes there, and what there is is counted.
///
/// Claim: A program without ØMQ that connects takes no message, and the bridge waits it out.
#[test]
fn another_program_takes_no_message() {
    for greeting in GREETINGS {
        let (there, heard) = stranger(greeting);
        let (mut jobs, out) = spsc::bounded::<u64>(1_000);
        let push = Bridge::push(out).connect(there).start().unwrap();
        (0..1_000).for_each(|number| jobs.send(number).unwrap());
        wait_for(&push.events(), |event| matches!(event, Event::HandshakeFailed(_)));
        assert!(heard.recv_timeout(GUARD).unwrap() <= ZMTP);
        assert_eq!(push.close(Duration::ZERO), Closed::Unsent { messages: 1_000, more: false });
    }
}

/// As above, for a bridge that connects. The peer that comes then gets all, and since no other had any the bridge knows
/// that all has left.
#[test]
fn a_program_that_connects_takes_no_message() {
    for greeting in GREETINGS.into_iter().chain([&b""[..], b"GET /health HTTP/1.1\r\nHost: here\r\n\r\n"]) {
        let (mut jobs, out) = spsc::bounded::<u64>(1_000);
        let push = Bridge::push(out).bind("tcp://127.0.0.1:*").start().unwrap();
        (0..1_000).for_each(|number| jobs.send(number).unwrap());
        let there = address(&push);
        let mut probe = std::net::TcpStream::connect(there.trim_start_matches("tcp://")).unwrap();
        probe.write_all(greeting).unwrap();
        if greeting.is_empty() {
            drop(probe);
        } else {
            probe.set_read_timeout(Some(GUARD)).unwrap();
            let mut answer = Vec::new();
            let _ = std::io::Read::read_to_end(&mut probe, &mut answer);
            assert!(answer.len() <= ZMTP, "{} bytes", answer.len());
        }
        wait_for(&push.events(), |event| matches!(event, Event::Disconnected(_)));
        let (_pull, mut work) = Bridge::pull::<u64>().connect(there).start().unwrap();
        expect(&mut work, 0..1_000);
        // Also while a connection exists: another one that ends is not mistaken for it.
        let probe = std::net::TcpStream::connect(address(&push).trim_start_matches("tcp://")).unwrap();
        (&probe).write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        wait_for(&push.events(), |event| matches!(event, Event::HandshakeFailed(_)));
        assert_eq!(push.close(GUARD), Closed::Flushed);
    }
}

/// An unbound name: all kinds of bridges end, also if another name is bound, and leak nothing.
///
/// Claim: An address that is not bound does not keep a bridge from ending.
#[test]
fn an_unbound_name_keeps_no_bridge() {
    if runs_alone("closing::an_unbound_name_keeps_no_bridge") {
        return;
    }
    const NOBODY: &str = "inproc://nobody";
    let own = |what| std::fs::read_dir(format!("/proc/self/{what}")).expect("procfs").count();
    let before = (own("task"), own("fd"));
    for closes in [true, false] {
        let context = Context::new(1).unwrap();
        let (bound, _) = Bridge::pull::<u64>().context(&context).bind("inproc://somebody").start().unwrap();
        let (mut jobs, out) = spsc::bounded::<u64>(8);
        let push = Bridge::push(out).context(&context).connect(NOBODY).start().unwrap();
        (0..5).for_each(|number| jobs.send(number).unwrap());
        let (_both_jobs, out) = spsc::bounded::<u64>(8);
        let both = Bridge::push(out).context(&context).connect("inproc://somebody").connect(NOBODY).start().unwrap();
        let (pull, _work) = Bridge::pull::<u64>().context(&context).connect(NOBODY).start().unwrap();
        let (_news, out) = spsc::bounded::<u64>(8);
        let publish = Bridge::publish(out).context(&context).connect(NOBODY).start().unwrap();
        let (subscribe, _heard) = Bridge::subscribe::<u64>().context(&context).connect(NOBODY).start().unwrap();
        let (_said, out) = spsc::bounded::<u64>(8);
        let (duplex, _answers) = Bridge::duplex::<_, u64>(out).context(&context).connect(NOBODY).start().unwrap();
        if closes {
            assert_eq!(push.close(SHORT), Closed::Unsent { messages: 5, more: false });
            for bridge in [both, pull, publish, subscribe, duplex, bound] {
                assert_eq!(bridge.close(SHORT), Closed::Flushed);
            }
        } else {
            drop([push, both, pull, publish, subscribe, duplex, bound]);
        }
        drop(context);
        until("its threads and descriptors are gone", || (own("task"), own("fd")) == before);
    }
}

/// A bridge that connects first is connected when the name is bound, and again when it is bound again.
///
/// Claim: An address may be bound later, and again.
#[test]
fn a_name_may_be_bound_later_and_again() {
    const LATER: &str = "inproc://later";
    let context = Context::new(1).unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).context(&context).connect(LATER).start().unwrap();
    for round in 0..3 {
        (round * 10..round * 10 + 10).for_each(|number| jobs.send(number).unwrap());
        thread::sleep(SHORT);
        let (pull, mut work) = Bridge::pull::<u64>().context(&context).bind(LATER).start().unwrap();
        expect(&mut work, round * 10..round * 10 + 10);
        expect_flushed(pull);
    }
    // What had been handed over may have gone with one of them.
    assert_eq!(push.close(GUARD), Closed::Unsent { messages: 0, more: true });

    let (mut asked, out) = spsc::bounded::<u64>(64);
    let (duplex, _answers) = Bridge::duplex::<_, u64>(out).context(&context).connect(LATER).start().unwrap();
    asked.send(1).unwrap();
    thread::sleep(SHORT);
    let (_nothing, out) = spsc::bounded::<u64>(1);
    let other = Bridge::duplex::<_, u64>(out).context(&context).bind(LATER);
    let (_other, mut answered) = other.start().unwrap();
    expect(&mut answered, 1..2);
    expect_flushed(duplex);
}

/// A task closes: it is woken when all has left, and no thread waits. As little is left as after `close`.
///
/// Claim: A task closes a bridge without blocking its thread.
#[test]
fn a_task_closes_a_bridge() {
    let path = std::env::temp_dir().join(format!("ysuite-zmq closes {}", std::process::id()));
    let there = format!("ipc://{}", path.display());
    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).bind(&*there).start().unwrap();
    (0..10).for_each(|number| jobs.send(number).unwrap());
    let mut closing = pin!(push.close_async(GUARD));
    // Nobody pulls yet.
    assert!(closing.as_mut().poll(&mut Task::from_waker(Waker::noop())).is_pending());
    assert!(path.exists());
    let (_pull, mut work) = Bridge::pull::<u64>().connect(there).start().unwrap();
    assert_eq!(block_on(closing), Closed::Flushed);
    assert!(jobs.send(10).is_err() && !path.exists());
    expect(&mut work, 0..10);

    let (mut jobs, out) = spsc::bounded::<u64>(64);
    let push = Bridge::push(out).connect("tcp://127.0.0.1:1").start().unwrap();
    (0..10).for_each(|number| jobs.send(number).unwrap());
    assert_eq!(block_on(push.close_async(SHORT)), Closed::Unsent { messages: 10, more: false });
}

/// A task that is dropped while it closes, or before it has begun to: the bridge ends.
#[test]
fn a_bridge_ends_without_the_task_that_closes_it() {
    for polls in [0, 1] {
        let (jobs, out) = spsc::bounded::<u64>(64);
        let push = Bridge::push(out).connect("tcp://127.0.0.1:1").start().unwrap();
        {
            let mut closing = pin!(push.close_async(SHORT));
            for _ in 0..polls {
                let _: Poll<_> = closing.as_mut().poll(&mut Task::from_waker(Waker::noop()));
            }
        }
        until("it has ended", || jobs.is_disconnected());
    }
}
