//! Many topics of one publisher, many publishers of one subscriber, and subscriptions that change.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Context, Error, Event, Frame, Malformed, Published, Topic, WhenFull};

use crate::support::zmtp::Peer;
use crate::support::{EVERYWHERE, GUARD, address, expect, expect_flushed, until, wait_for};

/// Each message comes with its topic, whatever is packed together, in one part or in two.
///
/// Claim: A subscriber is told the topic of each message.
#[test]
fn every_message_is_told_with_its_topic() {
    const ALL: u64 = 3_000;
    let topics: Vec<Topic> = ["weather.rain", "", "sports", "weather"].map(Topic::from).into();
    for (where_to, joined, pack) in
        EVERYWHERE.into_iter().flat_map(|at| [(at, false, 1), (at, true, 100), (at, false, 100)])
    {
        let context = Context::new(1).unwrap();
        let (mut news, out) = spsc::bounded::<Published<u64>>(64);
        let publish = Bridge::publish(out).context(&context).bind(where_to).pack(pack).when_full(WhenFull::Wait);
        let subscribe = Bridge::subscribe::<Published<u64>>().context(&context);
        let (publish, subscribe) =
            if joined { (publish.joined_by(b' '), subscribe.joined_by(b' ')) } else { (publish, subscribe) };
        let mut publish = publish.start().unwrap();
        let (subscribe, mut received) = subscribe.connect(address(&publish)).start().unwrap();
        assert!(publish.wait_for_subscribers(1, GUARD));
        let of = topics.clone();
        // Runs of the same topic, of several lengths.
        let topic_of = move |number: u64| of[(number / 7 % 4) as usize].clone();
        let told = topic_of.clone();
        let sender = thread::spawn(move || {
            (0..ALL).for_each(|number| news.send(Published::new(told(number), number)).unwrap());
        });
        for number in 0..ALL {
            assert_eq!(received.recv_timeout(GUARD), Ok(Published::new(topic_of(number), number)));
        }
        sender.join().unwrap();
        assert_eq!(subscribe.statistics().bytes_in, ALL * 8);
        assert!(publish.statistics().frames_out >= ALL / 7);
        expect_flushed(publish);
    }
}

/// A publisher with topics of its messages, and a subscriber that does not ask for them; and the reverse.
#[test]
fn one_that_tells_topics_talks_to_one_that_does_not() {
    let (mut news, out) = spsc::bounded::<Published<String>>(4);
    let mut publish = Bridge::publish(out).joined_by(b'/').bind("tcp://127.0.0.1:*").start().unwrap();
    let subscribe = Bridge::subscribe::<String>().joined_by(b'/').topic("b");
    let (_subscribe, mut received) = subscribe.connect(address(&publish)).start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    for topic in ["a", "b", "ba", "c"] {
        news.send(Published::new(topic, format!("of {topic}/all"))).unwrap();
    }
    assert_eq!([(); 2].map(|()| received.recv_timeout(GUARD).unwrap()), ["of b/all", "of ba/all"]);

    let (mut news, out) = spsc::bounded::<u64>(4);
    let mut publish = Bridge::publish(out).topic(b"\xFF\0").bind("tcp://127.0.0.1:*").start().unwrap();
    let subscribe = Bridge::subscribe::<Published<u64>>().topic(vec![0xFF]);
    let (_subscribe, mut received) = subscribe.connect(address(&publish)).start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    news.send(7).unwrap();
    let told = received.recv_timeout(GUARD).unwrap();
    assert_eq!((&told.topic[..], told.topic.as_str(), told.message), (&b"\xFF\0"[..], None, 7));
}

/// A message is one part, and has no topic but how it begins.
///
/// Claim: A publisher without topics has subscribers that ask for what begins so.
#[test]
fn messages_without_a_topic() {
    let (mut news, out) = spsc::bounded::<String>(8);
    let mut publish = Bridge::publish(out).topic("not sent").without_topic().bind("tcp://127.0.0.1:*").start().unwrap();
    let subscribe = || Bridge::subscribe::<String>().without_topic().connect(address(&publish));
    let (mut all, mut everything) = subscribe().start().unwrap();
    let (_some, mut beginnings) = subscribe().topic("{\"a").start().unwrap();
    let told = Bridge::subscribe::<Published<Vec<Frame>>>().without_topic().topic("{").connect(address(&publish));
    let (told, mut lists) = told.start().unwrap();
    assert!(publish.wait_for_subscribers(3, GUARD) && publish.wait_for_subscribers_of("{\"a\": 1}", 3, GUARD));
    assert!(!publish.wait_for_subscribers_of("{}", 3, Duration::ZERO));
    for message in ["", "{}", "{\"a\": 1}"] {
        news.send(message.to_owned()).unwrap();
        assert_eq!(everything.recv_timeout(GUARD).as_deref(), Ok(message));
    }
    assert_eq!(beginnings.recv_timeout(GUARD).as_deref(), Ok("{\"a\": 1}"));
    for message in ["{}", "{\"a\": 1}"] {
        let Published { topic, message: list } = lists.recv_timeout(GUARD).unwrap();
        assert_eq!((&topic[..], list.len(), &list[0][..]), (&b""[..], 1, message.as_bytes()));
    }
    all.unsubscribe("").unwrap();
    all.subscribe("[").unwrap();
    assert!(publish.wait_for_subscribers_of("[", 1, GUARD));
    for message in ["{}", "[]"] {
        news.send(message.to_owned()).unwrap();
    }
    assert_eq!(everything.recv_timeout(GUARD).as_deref(), Ok("[]"));
    assert_eq!((all.statistics().malformed, told.statistics().malformed), (0, 0));

    // Topics of messages are not sent either, and records are packed.
    let (mut news, out) = spsc::bounded::<Published<u64>>(8);
    let publish = Bridge::publish(out).without_topic().pack(8).when_full(WhenFull::Wait).bind("tcp://127.0.0.1:*");
    let mut publish = publish.start().unwrap();
    let subscribe = Bridge::subscribe::<u64>().without_topic().connect(address(&publish));
    let (_subscribe, mut received) = subscribe.start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    (0..100).for_each(|number| news.send(Published::new("not sent", number)).unwrap());
    expect(&mut received, 0..100);
}

/// Lists of parts have a topic as well.
#[test]
fn lists_have_topics() {
    for joined in [None, Some(b':')] {
        let (mut news, out) = spsc::bounded::<Published<Vec<Vec<u8>>>>(4);
        let publish = Bridge::publish(out).bind("tcp://127.0.0.1:*");
        let subscribe = Bridge::subscribe::<Published<Vec<Frame>>>();
        let (publish, subscribe) = match joined {
            Some(byte) => (publish.joined_by(byte), subscribe.joined_by(byte)),
            None => (publish, subscribe),
        };
        let mut publish = publish.start().unwrap();
        let (_subscribe, mut received) = subscribe.connect(address(&publish)).start().unwrap();
        assert!(publish.wait_for_subscribers(1, GUARD));
        for parts in [vec![b"one".to_vec()], vec![b"one".to_vec(), vec![7; 5_000]], vec![]] {
            news.send(Published::new("t", parts.clone())).unwrap();
            let told = received.recv_timeout(GUARD).unwrap();
            let parts = if parts.is_empty() { vec![vec![]] } else { parts };
            let came: Vec<_> = told.message.iter().map(|part| part.to_vec()).collect();
            assert_eq!((told.topic.as_str(), came), (Some("t"), parts));
        }
    }
}

/// From nothing to much and back: what is published comes where it is asked for at that time, and nowhere else.
///
/// Claim: A subscriber can ask for topics, and stop asking, while it runs.
#[test]
fn subscriptions_change() {
    let (mut news, out) = spsc::bounded::<Published<u64>>(64);
    let mut publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let subscribe = Bridge::subscribe::<Published<u64>>().topics([] as [&str; 0]).connect(address(&publish));
    let (mut subscribe, mut received) = subscribe.start().unwrap();
    let mut said = 0;
    let mut say = |publish: &ysuite_zmq::Started, expected: &[&str]| {
        let topics = ["a", "a.b", "a.b.c", "b", "c.d"];
        topics.iter().for_each(|&topic| news.send(Published::new(topic, 0)).unwrap());
        let all: Vec<_> = expected.iter().map(|_| received.recv_timeout(GUARD).unwrap().topic.to_string()).collect();
        assert_eq!(all, expected);
        said += topics.len() as u64;
        until("all is published", || publish.statistics().messages_out == said);
        assert!(received.try_recv().is_err());
    };
    for (asks, topic, expected) in [
        (true, "a.b", &["a.b", "a.b.c"][..]),
        (true, "c", &["a.b", "a.b.c", "c.d"]),
        (true, "a", &["a", "a.b", "a.b.c", "c.d"]),
        (false, "c", &["a", "a.b", "a.b.c"]),
        (true, "", &["a", "a.b", "a.b.c", "b", "c.d"]),
        (false, "a", &["a", "a.b", "a.b.c", "b", "c.d"]),
        (false, "", &["a.b", "a.b.c"]),
        (false, "nothing", &["a.b", "a.b.c"]),
    ] {
        if asks { subscribe.subscribe(topic) } else { subscribe.unsubscribe(topic) }.unwrap();
        // The publisher has heard of it.
        let reached = |publish: &mut ysuite_zmq::Started, topic: &str, is_there| {
            publish.wait_for_subscribers_of(topic, 1, Duration::ZERO) == is_there
        };
        for topic in ["a", "a.b", "a.b.c", "b", "c.d"] {
            let is_there = expected.contains(&topic);
            until("it is heard of", || reached(&mut publish, topic, is_there));
            assert!(!publish.wait_for_subscribers_of(topic, 2, Duration::ZERO));
        }
        say(&publish, expected);
    }
    subscribe.unsubscribe("a.b").unwrap();
    until("nobody is left", || !publish.wait_for_subscribers(1, Duration::ZERO));
}

#[test]
fn only_a_subscriber_that_lives_subscribes() {
    let (mut pull, _work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    assert!(matches!(pull.subscribe("a"), Err(Error::NotSubscriber)));
    /// A message that cannot be read.
    #[derive(Debug)]
    struct Broken;
    impl ysuite_zmq::Wire for Broken {
        const LAYOUT: ysuite_zmq::Layout = ysuite_zmq::Layout::Whole;
    }
    impl ysuite_zmq::FromWire for Broken {
        fn decode(_: &[u8]) -> Result<Self, Malformed> {
            panic!("on purpose")
        }
    }
    let (mut news, out) = spsc::bounded::<u64>(4);
    let mut publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut subscribe, _news) = Bridge::subscribe::<Broken>().connect(address(&publish)).start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    news.send(7).unwrap();
    wait_for(&subscribe.events(), |event| matches!(event, Event::Broken(_)));
    until("it has ended", || matches!(subscribe.unsubscribe(""), Err(Error::Ended)));
}

/// Ten thousand topics, each asked for by one of some subscribers: told to that one alone. Then none is asked for.
#[test]
fn ten_thousand_topics() {
    const TOPICS: u64 = 10_000;
    const SUBSCRIBERS: u64 = 4;
    let topic = |number: u64| Topic::from(format!("topic {number};"));
    let (mut news, out) = spsc::bounded::<Published<u64>>(64);
    let publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").when_full(WhenFull::Wait);
    let mut publish = publish.start().unwrap();
    let mut all: Vec<_> = (0..SUBSCRIBERS)
        .map(|subscriber| {
            let mine = (0..TOPICS).filter(|number| number % SUBSCRIBERS == subscriber).map(topic);
            let subscribe = Bridge::subscribe::<Published<u64>>().topics(mine).connect(address(&publish));
            subscribe.unbounded().start().unwrap()
        })
        .collect();
    assert!(publish.wait_for_subscribers(TOPICS as usize, GUARD));
    (0..TOPICS).for_each(|number| news.send(Published::new(topic(number), number)).unwrap());
    for number in 0..TOPICS {
        let (_, received) = &mut all[(number % SUBSCRIBERS) as usize];
        assert_eq!(received.recv_timeout(GUARD), Ok(Published::new(topic(number), number)));
    }
    for (subscriber, (bridge, received)) in (0..).zip(&mut all) {
        assert!(received.try_recv().is_err());
        (0..TOPICS)
            .filter(|number| number % SUBSCRIBERS == subscriber)
            .for_each(|number| bridge.unsubscribe(topic(number)).unwrap());
    }
    until("nobody asks for anything", || !publish.wait_for_subscribers(1, Duration::ZERO));
}

/// Each publisher's messages come, in its order, and what one of them is about is known.
#[test]
fn a_subscriber_hears_many_publishers() {
    const NEWS: u64 = 500;
    let publishers: Vec<_> = (0..5u64)
        .map(|publisher| {
            let (news, out) = spsc::bounded::<u64>(64);
            let publish = Bridge::publish(out).topic(format!("from {publisher}")).bind("tcp://127.0.0.1:*");
            (publish.when_full(WhenFull::Wait).start().unwrap(), news)
        })
        .collect();
    let subscribe = Bridge::subscribe::<Published<u64>>();
    let subscribe = publishers.iter().fold(subscribe, |subscribe, (publish, _)| subscribe.connect(address(publish)));
    let (_subscribe, mut received) = subscribe.start().unwrap();
    let sent = publishers.into_iter().map(|(mut publish, mut news)| {
        thread::spawn(move || {
            assert!(publish.wait_for_subscribers(1, GUARD));
            (0..NEWS).for_each(|number| news.send(number).unwrap());
            publish
        })
    });
    let sent: Vec<_> = sent.collect();
    let mut next = HashMap::new();
    for _ in 0..5 * NEWS {
        let Published { topic, message } = received.recv_timeout(GUARD).unwrap();
        let next = next.entry(topic).or_insert(0);
        assert_eq!(message, *next);
        *next += 1;
    }
    assert_eq!(next.len(), 5);
    sent.into_iter().for_each(|publish| expect_flushed(publish.join().unwrap()));
}

/// A publisher that sends no topic, none before the separator, or nothing after it.
#[test]
fn what_has_no_topic_is_malformed() {
    for (joined, parts, malformed) in [
        (Some(b' '), &[&b"without"[..]][..], Malformed::Content),
        (Some(b' '), &[b"two ", b"parts"], Malformed::Parts),
        (None, &[b"topic alone"], Malformed::Parts),
        (None, &[b"topic", b"and", b"more"], Malformed::Parts),
    ] {
        let subscribe = Bridge::subscribe::<Published<String>>().bind("tcp://127.0.0.1:*");
        let subscribe =
            joined.map_or(subscribe.topic(""), |_| Bridge::subscribe().joined_by(b' ').bind("tcp://127.0.0.1:*"));
        let (subscribe, mut received) = subscribe.start().unwrap();
        let mut peer = Peer::connect(&address(&subscribe), "PUB");
        for (at, part) in parts.iter().enumerate() {
            peer.write(u8::from(at + 1 < parts.len()), part);
        }
        wait_for(&subscribe.events(), |event| *event == Event::Malformed(malformed));
        if joined.is_some() {
            peer.write(0, b" ");
        } else {
            peer.write(1, b"");
            peer.write(0, b"");
        }
        assert_eq!(received.recv_timeout(GUARD), Ok(Published::new("", String::new())));
    }
}

/// A topic of a bridge may be any text, as before.
#[test]
fn a_topic_is_shown_as_a_text() {
    let topic = Topic::from("rain");
    assert_eq!((topic.to_string(), format!("{topic:?}")), ("rain".to_owned(), "\"rain\"".to_owned()));
    assert!(topic == "rain" && topic == *"rain" && Topic::default().is_empty());
    assert_eq!(Topic::from(""), Topic::default());
    let (mut news, out) = spsc::bounded::<u64>(4);
    let mut publish = Bridge::publish(out).topic(String::from("rain")).bind("tcp://127.0.0.1:*").start().unwrap();
    let (_subscribe, mut received) =
        Bridge::subscribe::<u64>().topic("rain").connect(address(&publish)).start().unwrap();
    assert!(publish.wait_for_subscribers(1, GUARD));
    news.send(7).unwrap();
    expect(&mut received, 7..8);
}
