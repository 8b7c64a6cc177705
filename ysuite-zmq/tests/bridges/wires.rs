//! What messages are on the wire.

use ysuite::pool::Pool;
use ysuite::spsc;
use ysuite_zmq::{Bridge, Context, Event, Frame, FromWire, Malformed, ToWire};

use crate::support::{GUARD, address, expect_flushed, wait_for};

/// Sends these over a bridge of their own type, and receives them as another.
fn over<A: ToWire, B: FromWire + Clone>(messages: Vec<A>, pack: usize, expected: usize) -> (Vec<B>, Option<Event>) {
    let (pull, mut work) = Bridge::pull::<B>().bind("tcp://127.0.0.1:*").start().unwrap();
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
}
