//! What messages are on the wire.
//!
//! Claim: The depth, memory and element count of a decoded frame are bounded.

use ysuite::pool::Pool;
use ysuite::spsc;
use ysuite_zmq::{Bridge, Context, Event, Frame, FromWire, Malformed, Pull, ToWire};

use crate::support::{GUARD, address, expect_flushed, wait_for};

/// Sends these over a bridge of their own type, and receives them as another.
fn over<A: ToWire, B: FromWire + Clone>(messages: Vec<A>, pack: usize, expected: usize) -> (Vec<B>, Option<Event>) {
    to(Bridge::pull(), messages, pack, expected)
}

/// The same, to a bridge with more options.
fn to<A: ToWire, B: FromWire + Clone>(
    pull: Pull<B>,
    messages: Vec<A>,
    pack: usize,
    expected: usize,
) -> (Vec<B>, Option<Event>) {
    let (pull, mut work) = pull.bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut jobs, out) = spsc::unbounded();
    let count = messages.len();
    // All are there before the bridge begins, so that frames are as full as they can be.
    assert_eq!(jobs.send_batch(messages).ok(), Some(count));
    let push = Bridge::push(out).connect(address(&pull)).pack(pack).start().unwrap();
    let received = (0..expected).map(|_| work.recv_timeout(GUARD).unwrap()).collect();
    expect_flushed(push);
    let malformed = (expected == 0).then(|| wait_for(&pull.events(), |event| matches!(event, Event::Malformed(_))));
    (received, malformed)
}

#[test]
fn records_lie_back_to_back_in_little_endian_order() {
    let (frames, _) = over::<u32, Vec<u8>>(vec![1, 2, 0x0403_0201], 3, 1);
    assert_eq!(frames, [[1, 0, 0, 0, 2, 0, 0, 0, 1, 2, 3, 4]]);
    let (numbers, _) = over::<[u8; 4], u32>(vec![[1, 0, 0, 0], [0, 1, 0, 0]], 2, 2);
    assert_eq!(numbers, [1, 256]);
}

#[test]
fn texts_and_bytes_are_frames() {
    let (texts, _) = over::<String, String>(vec!["a".repeat(10_000), String::new(), "ü".to_owned()], 256, 3);
    assert_eq!(texts, ["a".repeat(10_000), String::new(), "ü".to_owned()]);
    let (_, malformed) = over::<Vec<u8>, String>(vec![vec![0xFF, 0xFE]], 1, 0);
    assert_eq!(malformed, Some(Event::Malformed(Malformed::Content)));
}

#[test]
fn a_frame_of_another_size_is_an_event_and_the_bridge_lives_on() {
    let (pull, mut work) = Bridge::pull::<u64>().bind("tcp://127.0.0.1:*").start().unwrap();
    let (mut bytes, out) = spsc::unbounded();
    let _push = Bridge::push(out).connect(address(&pull)).start().unwrap();
    for wrong in [vec![], vec![1], vec![1; 9]] {
        let length = wrong.len();
        bytes.send(wrong).unwrap();
        let event = wait_for(&pull.events(), |event| matches!(event, Event::Malformed(_)));
        assert_eq!(event, Event::Malformed(Malformed::Length { bytes: length, record: 8 }));
        bytes.send(7u64.to_le_bytes().to_vec()).unwrap();
        assert_eq!(work.recv_timeout(GUARD), Ok(7));
    }
    assert_eq!(pull.statistics().malformed, 3);
}

/// The receiver is handed the very bytes that the sender wrote.
#[test]
fn large_messages_of_a_pool_are_not_copied() {
    let context = Context::new(1).unwrap();
    let (_pull, mut frames) = Bridge::pull::<Frame>().context(&context).bind("inproc://large").start().unwrap();
    let (mut sender, out) = spsc::bounded(4);
    let _push = Bridge::push(out).context(&context).connect("inproc://large").start().unwrap();
    let pool = Pool::new(&[(1 << 20, 2)]).unwrap();
    for (length, is_copied) in [(4_095, true), (4_096, false), (1 << 20, false)] {
        let mut message = pool.take(length);
        message.fill(length as u8);
        let place = message.as_ptr();
        sender.send(message).unwrap();
        let frame = frames.recv_timeout(GUARD).unwrap();
        assert_eq!(frame.len(), length);
        assert!(frame.iter().all(|&byte| byte == length as u8));
        assert_eq!(frame.as_ptr() != place, is_copied, "{length} bytes");
    }
    // Both blocks are back when the frames are gone.
    let (_one, _other) = (pool.take(1 << 20), pool.take(1 << 20));
}

#[cfg(feature = "postcard")]
mod postcard {
    use serde::{Deserialize, Serialize};
    use ysuite_zmq::Postcard;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Job {
        Add { numbers: Vec<u32> },
        Name(String),
    }

    #[test]
    fn what_serde_knows_goes_over() {
        let jobs = vec![Job::Add { numbers: vec![1, 2, 3] }, Job::Name("sum".to_owned()), Job::Add { numbers: vec![] }];
        let (received, _) = over::<_, Postcard<Job>>(jobs.iter().cloned().map(Postcard).collect(), 2, 3);
        assert_eq!(received.into_iter().map(|job| job.0).collect::<Vec<_>>(), jobs);
    }

    #[test]
    fn another_version_is_an_event() {
        let refused = |bytes: Vec<u8>| over::<Vec<u8>, Postcard<Job>>(vec![bytes], 1, 0).1;
        let version = |found| Some(Event::Malformed(Malformed::Version { found, expected: 1 }));
        assert_eq!(refused(vec![2, 0, 0, 0, 0]), version(Some(2)));
        assert_eq!(refused(vec![]), version(None));
        // A length that goes beyond the frame, half of a length, and a job of no kind.
        for bytes in [vec![1, 9, 0, 0, 0, 1], vec![1, 9, 0], vec![1, 1, 0, 0, 0, 77]] {
            assert_eq!(refused(bytes), Some(Event::Malformed(Malformed::Content)));
        }
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum Nest {
        Empty,
        Around(Box<Nest>),
    }

    fn nest(levels: usize) -> Postcard<Nest> {
        Postcard((1..levels).fold(Nest::Empty, |nest, _| Nest::Around(Box::new(nest))))
    }

    fn refused<A: ToWire, B: FromWire + Clone>(pull: Pull<B>, messages: Vec<A>) -> Option<Malformed> {
        match to(pull, messages, 1_000, 0).1 {
            Some(Event::Malformed(malformed)) => Some(malformed),
            _ => None,
        }
    }

    /// The stack is bounded, and a frame of some bytes must not overflow it.
    #[test]
    fn values_lie_in_each_other_so_deep_and_no_deeper() {
        let pull = Bridge::pull::<Postcard<Nest>>;
        assert_eq!(over::<_, Postcard<Nest>>(vec![nest(128)], 1, 1).0, [nest(128)]);
        assert_eq!(refused(pull(), vec![nest(129)]), Some(Malformed::Depth));
        assert_eq!(to(pull().deepest_message(200), vec![nest(200)], 1, 1).0, [nest(200)]);
        assert_eq!(refused(pull().deepest_message(10), vec![nest(11)]), Some(Malformed::Depth));
        assert_eq!(Postcard::<Nest>::decode(&[&[1; 128][..], &[0]].concat()), Err(Malformed::Depth));
        assert_eq!(Postcard::<Nest>::decode(&[&[1; 127][..], &[0]].concat()), Ok(nest(128)));
    }

    /// A link of 144 bytes, two of which are in a frame.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Link {
        much: Option<[u64; 16]>,
        next: Option<Box<Link>>,
    }

    /// All of these are a few bytes in their frame, and more than a hundred times as many in memory.
    #[test]
    fn the_messages_of_a_frame_take_so_much_memory_and_no_more() {
        type Much = Option<[u64; 16]>;
        let list = vec![Postcard::<Vec<Much>>(vec![None; 1_000])];
        let pull = || Bridge::pull::<Postcard<Vec<Much>>>();
        assert_eq!(refused(pull().memory_of_a_frame(130_000), list.clone()), Some(Malformed::Memory));
        assert_eq!(to(pull().memory_of_a_frame(140_000), list.clone(), 1, 1).0, list);

        let map: std::collections::BTreeMap<u16, Much> = (0..100).map(|key| (key, None)).collect();
        let pull = || Bridge::pull::<Postcard<std::collections::BTreeMap<u16, Much>>>();
        let map = vec![Postcard(map)];
        assert_eq!(refused(pull().memory_of_a_frame(13_000), map.clone()), Some(Malformed::Memory));
        assert_eq!(to(pull().memory_of_a_frame(14_000), map.clone(), 1, 1).0, map);

        let link = |next| Link { much: None, next };
        let chain = vec![Postcard((1..50).fold(link(None), |chain, _| link(Some(Box::new(chain)))))];
        let pull = || Bridge::pull::<Postcard<Link>>();
        assert_eq!(refused(pull().memory_of_a_frame(7_000), chain.clone()), Some(Malformed::Memory));
        assert_eq!(to(pull().memory_of_a_frame(8_000), chain.clone(), 1, 1).0, chain);

        let several = vec![Postcard::<Much>(None); 100];
        let pull = || Bridge::pull::<Postcard<Much>>();
        assert_eq!(refused(pull().memory_of_a_frame(13_000), several.clone()), Some(Malformed::Memory));
        assert_eq!(to(pull().memory_of_a_frame(14_000), several.clone(), 100, 100).0, several);
    }

    /// They take time all the same, and a few bytes say how many there are.
    #[test]
    fn elements_without_a_byte_are_counted() {
        let list = vec![Postcard(vec![(); 10_000])];
        let pull = || Bridge::pull::<Postcard<Vec<()>>>();
        assert_eq!(refused(pull().memory_of_a_frame(600_000), list.clone()), Some(Malformed::Memory));
        assert_eq!(to(pull().memory_of_a_frame(700_000), list.clone(), 1, 1).0, list);
    }

    /// Integers are up to eight times as large in memory as on the wire, at any size.
    #[test]
    fn what_is_in_proportion_to_its_frame_is_received() {
        let list = vec![Postcard(vec![7u64; 10_000])];
        let pull = Bridge::pull::<Postcard<Vec<u64>>>().memory_of_a_frame(0);
        assert_eq!(to(pull, list.clone(), 1, 1).0, list);
    }

    #[test]
    fn a_subscriber_and_a_duplex_have_the_same_limits() {
        let (mut news, out) = spsc::bounded::<Postcard<Nest>>(4);
        let mut publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").start().unwrap();
        let subscribe = Bridge::subscribe::<Postcard<Nest>>().connect(address(&publish)).deepest_message(3);
        let (subscribe, mut received) = subscribe.start().unwrap();
        assert!(publish.wait_for_subscribers(1, GUARD));
        (3..=4).for_each(|levels| news.send(nest(levels)).unwrap());
        wait_for(&subscribe.events(), |event| *event == Event::Malformed(Malformed::Depth));
        assert_eq!(received.recv_timeout(GUARD), Ok(nest(3)));

        let (_back, nothing) = spsc::bounded::<u64>(1);
        let duplex = Bridge::duplex::<_, Postcard<Nest>>(nothing).bind("tcp://127.0.0.1:*").deepest_message(3);
        let (duplex, mut received) = duplex.start().unwrap();
        let (mut jobs, out) = spsc::bounded::<Postcard<Nest>>(4);
        let (_peer, _) = Bridge::duplex::<_, u64>(out).connect(address(&duplex)).start().unwrap();
        (3..=4).for_each(|levels| jobs.send(nest(levels)).unwrap());
        wait_for(&duplex.events(), |event| *event == Event::Malformed(Malformed::Depth));
        assert_eq!(received.recv_timeout(GUARD), Ok(nest(3)));
    }
}
