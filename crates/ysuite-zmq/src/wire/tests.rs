//! Frames and back.

use super::*;

fn packed<T: ToWire>(messages: Vec<T>) -> Frame {
    let mut scratch = vec![7; 3];
    let mut frame = Frame::copied(b"of before").expect("memory for a frame");
    pack(b"head", messages.into_iter(), &mut scratch, &mut frame).expect("memory for a frame");
    assert!(scratch.is_empty());
    frame
}

fn unpacked<T: FromWire>(mut frame: Frame) -> Result<Vec<T>, Malformed> {
    let mut messages = Vec::new();
    unpack(&mut frame, 4, usize::MAX, Limits::default(), &mut messages).map(|()| messages)
}

#[test]
fn records_come_back() {
    for count in [1, 2, 511, 512, 513, 10_000] {
        let messages: Vec<u64> = (0..count).map(|number| number * 0x0101_0101_0101).collect();
        assert_eq!(unpacked(packed(messages.clone())), Ok(messages));
    }
    assert_eq!(unpacked(packed(vec![-1.5f64, f64::INFINITY])), Ok(vec![-1.5f64, f64::INFINITY]));
    assert_eq!(unpacked(packed(vec!["a".repeat(9_000)])), Ok(vec!["a".repeat(9_000)]));
    assert_eq!(unpacked(packed(vec![[1u8, 2, 3], [4, 5, 6]])), Ok(vec![[1u8, 2, 3], [4, 5, 6]]));
    assert_eq!(unpacked(packed(vec![[1u32, 2], [3, u32::MAX]])), Ok(vec![[1u32, 2], [3, u32::MAX]]));
    assert_eq!(&packed(vec![[0x0102u16, 3]])[4..], [2, 1, 3, 0]);
}

#[test]
fn a_frame_is_shared_without_changing() {
    for length in [0, 5, 33, 34, 4_096, 100_000] {
        let mut frame = Frame::of(vec![length as u8; length]).expect("memory for a frame");
        let copy = frame.shared().expect("a reference");
        assert_eq!((&copy[..], copy.len()), (&frame[..], length));
        drop(frame);
        assert!(copy.iter().all(|&byte| byte == length as u8));
    }
}

#[test]
fn of_a_malformed_frame_nothing_is_kept() {
    let mut frame = Frame::copied(&[1; 12]).expect("memory for a frame");
    let mut kept = vec![5u64];
    assert_eq!(
        unpack(&mut frame, 0, usize::MAX, Limits::default(), &mut kept),
        Err(Malformed::Length { bytes: 12, record: 8 })
    );
    assert_eq!(kept, [5]);
}

/// Texts, each after its length.
#[derive(Debug, PartialEq)]
struct Text(String);

impl Wire for Text {
    const LAYOUT: Layout = Layout::Lengths { version: 9 };
}

impl ToWire for Text {
    fn encode(&self, bytes: &mut Vec<u8>) {
        self.0.encode(bytes);
    }
}

impl FromWire for Text {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        String::decode(bytes).map(Self)
    }
}

/// Its beginning is no message, nor is the rest: zeros would be empty messages.
#[test]
fn of_a_frame_with_a_message_that_is_too_long_nothing_is_received() {
    let texts = |lengths: &[usize]| lengths.iter().map(|&length| Text("\0".repeat(length))).collect::<Vec<_>>();
    let received = |lengths: &[usize], longest| {
        let mut bytes = vec![9];
        append_with_lengths(texts(lengths).into_iter(), &mut bytes, longest);
        let mut received = Vec::new();
        unpack(&mut Frame::of(bytes).expect("memory for a frame"), 0, usize::MAX, Limits::default(), &mut received)
            .map(|()| received)
    };
    assert_eq!(received(&[10, 0, 7], 10), Ok(texts(&[10, 0, 7])));
    for lengths in [&[11][..], &[18], &[1, 11, 2], &[10, 22]] {
        assert_eq!(received(lengths, 10), Err(Malformed::Content));
    }
}

/// No more of them are made than there should be.
#[test]
fn of_a_frame_with_more_messages_than_there_should_be_nothing_is_received() {
    thread_local!(static MADE: core::cell::Cell<usize> = const { core::cell::Cell::new(0) });
    #[derive(Debug, PartialEq)]
    struct Made;
    impl Wire for Made {
        const LAYOUT: Layout = Layout::Lengths { version: 9 };
    }
    impl FromWire for Made {
        fn decode(_: &[u8]) -> Result<Self, Malformed> {
            MADE.set(MADE.get() + 1);
            Ok(Self)
        }
    }
    let of = |bytes: Vec<u8>| Frame::of(bytes).expect("memory for a frame");
    let empty = |messages: usize| of([&[9][..], &vec![0; messages * PREFIX]].concat());
    let mut kept = vec![Made];
    assert_eq!(unpack(&mut empty(1_000), 0, 3, Limits::default(), &mut kept), Err(Malformed::Content));
    assert_eq!((kept.len(), MADE.take()), (1, 3));
    assert_eq!(unpack(&mut empty(3), 0, 3, Limits::default(), &mut kept), Ok(()));
    assert_eq!((kept.len(), MADE.take()), (4, 3));
    let mut numbers = Vec::<u64>::new();
    assert_eq!(unpack(&mut of(vec![1; 24]), 0, 2, Limits::default(), &mut numbers), Err(Malformed::Content));
    assert_eq!(unpack(&mut of(vec![1; 16]), 0, 2, Limits::default(), &mut numbers), Ok(()));
    assert_eq!(numbers.len(), 2);
}

/// What is handed over is dropped once, when libzmq has finished with it.
#[test]
fn the_owner_of_bytes_is_dropped_once() {
    use std::sync::Arc;

    struct Owner(#[expect(dead_code, reason = "only counted")] Arc<()>, Vec<u8>);

    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.1
        }
    }

    for length in [0, 4_095, 4_096, 100_000] {
        let owners = Arc::new(());
        let mut frame = Frame::of(Owner(owners.clone(), vec![1; length])).expect("memory for a frame");
        let copy = frame.shared().expect("a reference");
        drop(frame);
        drop(copy);
        assert_eq!(Arc::strong_count(&owners), 1);
    }
}
