//! Suite: kanal tests/sync_test.rs, tests/async_test.rs; upstream 91, carried over here 1, excluded 4.
//!
//! Notices: kanal#63, a stream adaptor of a receiver frees a message twice.

use futures_util::StreamExt;
use futures_util::stream::FusedStream;

use crate::ends::{Kind, MEETING, Rx};
use crate::support::executor::block_on;
use crate::tools::both;

carried! {
    async_stream => a_stream_that_knows_its_end: Exchange Funnel Pipe;
}

/// A stream that says when it is over, and not before.
fn a_stream_that_knows_its_end(kind: Kind) {
    let is_terminated = |rx: &Rx<i32>| match rx {
        Rx::Exchange(end) => end.is_terminated(),
        Rx::Funnel(end) => end.is_terminated(),
        Rx::Pipe(end) => end.is_terminated(),
    };
    let (mut tx, mut rx) = kind.open(Some(MEETING));
    assert!(!is_terminated(&rx));
    both(
        move || (0..500).for_each(|message| tx.send(message).unwrap()),
        || {
            block_on(async {
                for expected in 0..500 {
                    assert_eq!(rx.next().await, Some(expected));
                }
                assert_eq!(rx.next().await, None);
                assert!(is_terminated(&rx));
                assert_eq!(rx.next().await, None);
            });
        },
    );
}
