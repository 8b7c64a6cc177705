//! Push and pull, publish and subscribe.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use ysuite::{mpmc, mpsc, spsc};
use ysuite_zmq::{Bridge, Context, Event, WhenFull};

use crate::support::{EVERYWHERE, GUARD, address, expect, expect_flushed, send, until, wait_for};

#[test]
fn messages_go_over_every_transport_in_order() {
    for where_to in EVERYWHERE {
        for pack in [1, 7, 256] {
            let context = Context::new(1).unwrap();
            let (pull, mut work) = Bridge::pull::<u64>().context(&context).bind(where_to).bounded(64).start().unwrap();
            let (jobs, out) = spsc::bounded::<u64>(64);
            let push = Bridge::push(out).context(&context).connect(address(&pull)).pack(pack).start().unwrap();
            let sender = send(jobs, 0..20_000);
            expect(&mut work, 0..20_000);
            sender.join().unwrap();
            until("all of it is counted", || push.statistics().messages_out == 20_000);
            let (out, back) = (push.statistics(), pull.statistics());
            assert_eq!(back.messages_in, 20_000);
            assert_eq!((out.frames_out, out.bytes_out), (back.frames_in, back.bytes_in));
            assert!(out.frames_out >= 20_000 / pack as u64 && out.bytes_out == 160_000);
            expect_flushed(push);
            expect_flushed(pull);
        }
    }
}

#[test]
fn pullers_share_and_pushers_mix() {
    let (left, mut left_work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let (right, mut right_work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let pushers: Vec<_> = (0..2)
        .map(|pusher| {
            let (jobs, out) = spsc::bounded::<u64>(64);
            let push = Bridge::push(out).connect(address(&left)).connect(address(&right)).start().unwrap();
            let connected = push.events();
            for _ in 0..2 {
                wait_for(&connected, |event| matches!(event, Event::Connected(_)));
            }
            (push, send(jobs, pusher * 1_000..(pusher + 1) * 1_000))
        })
        .collect();
    let mut all = HashSet::new();
    until("every message comes to one of both", || {
        let (one, other) = (left_work.try_iter(), right_work.try_iter());
        one.chain(other).for_each(|number| assert!(all.insert(number), "{number} came twice"));
        all.len() == 2_000
    });
    assert!(left.statistics().messages_in > 0 && right.statistics().messages_in > 0);
    for (push, sender) in pushers {
        sender.join().unwrap();
        expect_flushed(push);
    }
}

/// Sends with the channel's sender of any kind.
fn there_and_back(source: impl ysuite_zmq::Source<Message = u64>, sends: impl FnOnce() + Send + 'static) {
    let (pull, mut work) = Bridge::pull().bind("tcp://127.0.0.1:*").start().unwrap();
    let push = Bridge::push(source).connect(address(&pull)).start().unwrap();
    let sender = thread::spawn(sends);
    expect(&mut work, 0..1_000);
    sender.join().unwrap();
    expect_flushed(push);
}

#[test]
fn every_kind_of_channel_leaves() {
    let (mut sender, out) = mpsc::bounded(16);
    there_and_back(out, move || (0..1_000).for_each(|number| sender.send(number).unwrap()));
    let (sender, out) = mpmc::bounded(16);
    there_and_back(out, move || (0..1_000).for_each(|number| sender.send(number).unwrap()));
    let (mut sender, out) = spsc::unbounded::<u64>();
    there_and_back(out, move || (0..1_000).for_each(|number| sender.send(number).unwrap()));
}

#[test]
fn a_subscriber_receives_what_its_topics_begin() {
    for where_to in EVERYWHERE {
        let context = Context::new(1).unwrap();
        let (mut news, out) = spsc::bounded::<u64>(64);
        let publish = Bridge::publish(out).context(&context).bind(where_to).topic("weather.rain");
        let mut publish = publish.when_full(WhenFull::Wait).start().unwrap();
        let subscribe = |topic: &str| {
            let subscriber = Bridge::subscribe::<u64>().context(&context).connect(address(&publish));
            subscriber.topic(topic).unbounded().start().unwrap()
        };
        let (_rain, mut rain) = subscribe("weather.rain");
        let (_weather, mut weather) = subscribe("weather");
        let (_sports, mut sports) = subscribe("sports");
        assert!(publish.wait_for_subscribers(2, GUARD));
        (0..5_000).for_each(|number| news.send(number).unwrap());
        expect(&mut rain, 0..5_000);
        expect(&mut weather, 0..5_000);
        assert!(sports.try_recv().is_err());
        assert_eq!(publish.statistics().dropped, 0);
    }
}

#[test]
fn subscribers_that_go_are_counted_too() {
    let (_news, out) = spsc::bounded::<u64>(64);
    let mut publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").start().unwrap();
    assert!(!publish.wait_for_subscribers(1, std::time::Duration::from_millis(10)));
    for timeout in [GUARD, GUARD, Duration::MAX] {
        let (subscribe, _news) = Bridge::subscribe::<u64>().connect(address(&publish)).start().unwrap();
        assert!(publish.wait_for_subscribers(1, timeout));
        expect_flushed(subscribe);
        until("the subscriber is gone", || !publish.wait_for_subscribers(1, std::time::Duration::ZERO));
    }
}

#[test]
fn a_publisher_drops_or_waits_as_configured() {
    for when_full in [WhenFull::DropForAll, WhenFull::Wait] {
        let context = Context::new(1).unwrap();
        let (mut news, out) = spsc::bounded::<u64>(64);
        let publish = Bridge::publish(out).context(&context).bind("inproc://news").when_full(when_full);
        let mut publish = publish.high_water_marks(10, 10).start().unwrap();
        let subscribe = Bridge::subscribe::<u64>().context(&context).connect("inproc://news");
        let (_subscribe, mut received) = subscribe.bounded(8).high_water_marks(10, 10).start().unwrap();
        assert!(publish.wait_for_subscribers(1, GUARD));
        const NEWS: u64 = 2_000;
        let sender = thread::spawn(move || (0..NEWS).for_each(|number| news.send(number).unwrap()));
        match when_full {
            WhenFull::Wait => {
                until("all of them wait", || publish.statistics().messages_out >= 10);
                expect(&mut received, 0..NEWS);
                sender.join().unwrap();
                assert_eq!(publish.statistics().dropped, 0);
            }
            WhenFull::DropForAll | WhenFull::Drop => {
                // A subscriber that receives nothing holds up no other.
                sender.join().unwrap();
                until("all has been published or dropped", || {
                    let done = publish.statistics();
                    done.messages_out + done.dropped == NEWS
                });
                let dropped = publish.statistics().dropped;
                assert!(dropped > 0);
                // What was not dropped comes, in order.
                let mut last = None;
                for _ in 0..NEWS - dropped {
                    let number = received.recv_timeout(GUARD).unwrap();
                    assert!(last.is_none_or(|last| last < number));
                    last = Some(number);
                }
            }
        }
    }
}

/// A stopped subscriber silences no other: the others receive all that is published, one message after the other.
///
/// Claim: A stopped subscriber takes no message from the others.
#[test]
fn a_subscriber_without_room_silences_no_other() {
    for where_to in EVERYWHERE {
        const NEWS: u64 = 500;
        let context = Context::new(1).unwrap();
        let (mut news, out) = spsc::bounded::<Vec<u8>>(1);
        let publish = Bridge::publish(out).context(&context).bind(where_to).high_water_marks(10, 10);
        let mut publish = publish.start().unwrap();
        let subscribe = || {
            let subscribe = Bridge::subscribe::<Vec<u8>>().context(&context).connect(address(&publish));
            subscribe.bounded(1).high_water_marks(10, 10).start().unwrap()
        };
        let ((_one, mut stopped), (_other, mut received)) = (subscribe(), subscribe());
        assert!(publish.wait_for_subscribers(2, GUARD));
        let message = |number: u64| [number.to_le_bytes().to_vec(), vec![0; 1 << 16]].concat();
        for number in 0..NEWS {
            news.send(message(number)).unwrap();
            assert!(received.recv_timeout(GUARD).unwrap() == message(number), "{number} over {where_to}");
        }
        until("all of it is counted", || publish.statistics().messages_out == NEWS);
        let dropped = publish.statistics().dropped;
        assert!((1..NEWS).contains(&dropped), "{dropped} dropped over {where_to}");
        // It goes on after what it has missed, in order.
        let number_of = |message: Vec<u8>| u64::from_le_bytes(*message.first_chunk().unwrap());
        let (mut last, mut next) = (number_of(stopped.recv_timeout(GUARD).unwrap()), NEWS);
        assert_eq!(last, 0);
        until("a message of after that has come", || {
            let _ = news.try_send(message(next));
            next += 1;
            received.try_iter().for_each(drop);
            for number in stopped.try_iter().map(number_of) {
                assert!(number > last, "{number} came after {last} over {where_to}");
                last = number;
            }
            last >= NEWS
        });
    }
}

/// One that asks for a topic twice, or for a part of what it has asked for, is one.
///
/// Claim: A subscriber counts once, for any subscriptions.
#[test]
fn a_subscriber_counts_once_for_any_subscriptions() {
    let (mut news, out) = spsc::bounded::<u64>(4);
    let publish = Bridge::publish(out).topic("weather.rain.today").bind("tcp://127.0.0.1:*");
    let mut publish = publish.start().unwrap();
    let topics = ["weather.rain", "weather", "sports", "weather", "weather.rain"];
    let subscribe = topics.into_iter().fold(Bridge::subscribe::<u64>(), |subscribe, topic| subscribe.topic(topic));
    let (_subscribe, mut received) = subscribe.connect(address(&publish)).start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    assert!(!publish.wait_for_subscribers(2, Duration::from_millis(300)));
    news.send(7).unwrap();
    expect(&mut received, 7..8);
    // Another is another.
    let (_other, _) = Bridge::subscribe::<u64>().connect(address(&publish)).start().unwrap();
    assert!(publish.wait_for_subscribers(2, GUARD));
}

#[test]
fn a_publisher_packs_what_is_there() {
    let (mut news, out) = spsc::unbounded::<u64>();
    let mut publish = Bridge::publish(out).pack(100).bind("tcp://127.0.0.1:*").start().unwrap();
    let subscribe = Bridge::subscribe::<u64>().connect(address(&publish)).bounded(2_000);
    let (_subscribe, mut received) = subscribe.start().unwrap();
    assert_eq!(received.capacity(), Some(2_000));
    assert!(publish.wait_for_subscribers(1, GUARD));
    news.send_batch(0..1_000).unwrap();
    expect(&mut received, 0..1_000);
    until("all of it is counted", || publish.statistics().messages_out == 1_000);
    assert_eq!(publish.statistics().frames_out, 10);
}

/// Beyond what the channel has room for the bridge takes one frame from libzmq, however many are there.
#[test]
fn a_pull_takes_no_more_than_there_is_room_for() {
    const ROOM: u64 = 10;
    let context = Context::new(1).unwrap();
    let pull = Bridge::pull::<u64>().context(&context).bind("inproc://room for ten").bounded(ROOM as usize);
    let (pull, mut work) = pull.start().unwrap();
    let (mut jobs, out) = spsc::bounded::<u64>(1_000);
    let push = Bridge::push(out).context(&context).connect("inproc://room for ten").start().unwrap();
    (0..1_000).for_each(|number| jobs.send(number).unwrap());
    until("all is in libzmq", || push.statistics().messages_out == 1_000);
    for number in 0..1_000 {
        // From time to time the channel is empty, and everything else waits in libzmq.
        expect(&mut work, number..number + 1);
        if number % ROOM == 0 {
            until("the bridge is full", || work.len() as u64 == ROOM.min(999 - number));
        }
        assert!(pull.statistics().messages_in <= number + 1 + ROOM + 1);
    }
}

/// A worker that takes nothing holds what its connection has room for: the kernel's part of that, which is megabytes, can be
/// bounded. All but a few of many jobs are done by the other.
///
/// Claim: A stopped worker holds only what its connection holds.
#[test]
fn a_stuck_worker_holds_little_where_the_kernel_does() {
    const JOBS: u64 = 2_000;
    let context = Context::new(1).unwrap();
    let (mut jobs, out) = spsc::bounded::<Vec<u8>>(1);
    let push = Bridge::push(out).context(&context).bind("tcp://127.0.0.1:*").high_water_marks(1, 1);
    let push = push.kernel_buffers(0, 0).start().unwrap();
    let worker = || {
        let pull = Bridge::pull::<Vec<u8>>().context(&context).connect(address(&push)).bounded(1);
        let worker = pull.high_water_marks(1, 1).kernel_buffers(0, 0).start().unwrap();
        wait_for(&worker.0.events(), |event| matches!(event, Event::Connected(_)));
        worker
    };
    let ((_stuck, _never), (free, mut work)) = (worker(), worker());
    let done = thread::spawn(move || work.iter().count());
    (0..JOBS).for_each(|_| jobs.send(vec![0; 1_000]).unwrap());
    until("all has been given out", || push.statistics().messages_out == JOBS);
    until("the free one has nearly all", || free.statistics().messages_in >= JOBS - JOBS / 100);
    expect_flushed(free);
    assert!(done.join().unwrap() as u64 >= JOBS - JOBS / 100);
}

/// Sends until no more is taken for a while, and returns how many it could: the numbers from 0 on.
fn sent_until_it_waits(jobs: &mut spsc::Sender<u64>, most: u64) -> u64 {
    let (mut sent, mut waits) = (0, 0);
    while sent < most && waits < 200 {
        if jobs.try_send(sent).is_ok() {
            (sent, waits) = (sent + 1, 0);
        } else {
            thread::sleep(Duration::from_millis(1));
            waits += 1;
        }
    }
    sent
}

/// This is the default: 1,000 messages are in the channel, and the rest waits on the other side.
///
/// Claim: The channel of a bridge is bounded unless the program asks for an unbounded one.
#[test]
fn a_stuck_receiver_is_sent_no_more_than_there_is_room_for() {
    const DEFAULT: u64 = 1_000;
    // The sender's channel, what its bridge has taken from that, both marks, and one frame in the other bridge's hands.
    const ELSEWHERE: u64 = 64 + 32 + 10 + 10 + 1;
    const MOST: u64 = 20_000;
    let kinds = ["pull", "subscribe", "duplex"];
    for kind in kinds {
        let context = Context::new(1).unwrap();
        let (mut jobs, out) = spsc::bounded::<u64>(64);
        let (_back, nothing) = spsc::bounded::<u64>(1);
        let (name, here) = (format!("inproc://{kind}"), &context);
        let (bridges, mut work, handed) = match kind {
            "pull" => {
                let pull = Bridge::pull::<u64>().context(here).bind(&name).high_water_marks(10, 10).start().unwrap();
                let push = Bridge::push(out).context(here).connect(name).high_water_marks(10, 10).start().unwrap();
                ((pull.0, push), pull.1, ELSEWHERE)
            }
            "subscribe" => {
                let publish = Bridge::publish(out).context(here).bind(&name).high_water_marks(10, 10);
                let mut publish = publish.when_full(WhenFull::Wait).start().unwrap();
                let subscribe = Bridge::subscribe::<u64>().context(here).connect(name).high_water_marks(10, 10);
                let subscribe = subscribe.start().unwrap();
                assert!(publish.wait_for_subscribers(1, GUARD));
                ((subscribe.0, publish), subscribe.1, ELSEWHERE)
            }
            _ => {
                let server = Bridge::duplex::<_, u64>(nothing).context(here).bind(&name).start().unwrap();
                let client = Bridge::duplex::<_, u64>(out).context(here).connect(name).start().unwrap();
                ((server.0, client.0), server.1, 64 + 32)
            }
        };
        let sent = sent_until_it_waits(&mut jobs, MOST);
        assert!(sent <= DEFAULT + handed, "{kind}: {sent}");
        until("what has room has come", || bridges.0.statistics().messages_in >= DEFAULT);
        assert!(bridges.0.statistics().messages_in <= DEFAULT + 1, "{kind}");
        expect(&mut work, 0..sent);
    }
}

/// A bridge of any kind that asks for no bound has none.
#[test]
fn a_channel_without_a_bound_takes_everything() {
    const ALL: u64 = 5_000;
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").unbounded().start().unwrap();
    let (jobs, out) = spsc::bounded::<u64>(64);
    let _push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    send(jobs, 0..ALL).join().unwrap();
    until("all are there", || pull.statistics().messages_in == ALL);
    expect(&mut work, 0..ALL);

    let (jobs, out) = spsc::bounded::<u64>(64);
    let publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").when_full(WhenFull::Wait);
    let mut publish = publish.start().unwrap();
    let (subscribe, mut news) = Bridge::subscribe::<u64>().connect(address(&publish)).unbounded().start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    send(jobs, 0..ALL).join().unwrap();
    until("all are there", || subscribe.statistics().messages_in == ALL);
    expect(&mut news, 0..ALL);

    let (_back, nothing) = spsc::bounded::<u64>(1);
    let server = Bridge::duplex::<_, u64>(nothing).bind("tcp://127.0.0.1:*").unbounded();
    let (server, mut received) = server.start().unwrap();
    let (jobs, out) = spsc::bounded::<u64>(64);
    let (_client, _) = Bridge::duplex::<_, u64>(out).connect(address(&server)).start().unwrap();
    send(jobs, 0..ALL).join().unwrap();
    until("all are there", || server.statistics().messages_in == ALL);
    expect(&mut received, 0..ALL);
}
