//! Suite: kanal tests/sync_test.rs, tests/async_test.rs; upstream 91, carried over here 71, excluded 4.
//!
//! What closes without a drop, weak senders, and batches of tasks are in `kanal_more.rs`.

use std::time::Duration;

use futures_util::StreamExt;

use crate::common::{alone, crowds, endings, tasks, waiting};
use crate::ends::{Bound, Kind, MEETING};
use crate::support::Tally;
use crate::support::executor::block_on;
use crate::tools::{both, each};

carried! {
    sync_spsc_delayed_receive => waiting::one_of_them_is_late(Some(MEETING), false): Exchange Funnel Pipe;
    sync_spsc_delayed_send => waiting::one_of_them_is_late(Some(MEETING), true): Exchange Funnel Pipe;
    sync_spsc_overaligned_zst => over_aligned(Some(MEETING), false): Exchange Funnel Pipe;
    sync_integrity_u8 => alone::whole(Some(MEETING), 0_u8, !0): Exchange Funnel Pipe;
    sync_integrity_u16 => alone::whole(Some(MEETING), 0_u16, !0): Exchange Funnel Pipe;
    sync_integrity_u32 => alone::whole(Some(MEETING), 0_u32, !0): Exchange Funnel Pipe;
    sync_integrity_u64 => alone::whole(Some(MEETING), 0_u64, !0): Exchange Funnel Pipe;
    sync_integrity_big => alone::whole(Some(MEETING), [0_u64; 4], [!0; 4]): Exchange Funnel Pipe;
    sync_integrity_string => alone::whole(Some(MEETING), "", "not empty"): Exchange Funnel Pipe;
    sync_integrity_big_tail => alone::whole(Some(MEETING), (0_u64, 0_u64, 0_u64, 0_u8), (!0, !0, !0, !0)): Exchange Funnel Pipe;
    sync_integrity_padded_rust => alone::whole(Some(MEETING), (false, 0_u8, 0_u32), (true, !0, !0)): Exchange Funnel Pipe;
    sync_integrity_padded_c => alone::whole(Some(MEETING), Padded(false, 0, 0), Padded(true, !0, !0)): Exchange Funnel Pipe;
    sync_integrity_box_u64 => crowds::all_then_all(None, 2_000): Exchange Funnel Pipe;
    sync_single_message => alone::one_box(Some(1)): Exchange Funnel Pipe;
    sync_recv_from_half_closed_queue => endings::received_after_the_end(Some(1)): Exchange Funnel Pipe;
    sync_recv_from_half_closed_channel => endings::never_used(Some(1), false): Exchange Funnel Pipe;
    sync_send_to_half_closed_channel => endings::sent_to_no_receiver(Some(1)): Exchange Funnel Pipe;
    sync_drop_test => crowds::an_equal_share_for_all(Some(1), 4): Exchange Funnel;
    sync_drop_test_send_to_half_closed => endings::a_refused_message_is_its_senders(Some(10)): Exchange Funnel Pipe;
    sync_drop_all_elements => endings::unreceived_messages_are_dropped(None): Exchange Funnel Pipe;
    sync_vec_test => vectors(false): Exchange Funnel;
    sync_seq_n => crowds::all_then_all(Some(10_000), 10_000): Exchange Funnel Pipe;
    sync_seq_u => crowds::all_then_all(None, 10_000): Exchange Funnel Pipe;
    sync_spsc_1 => crowds::a_stream(Some(1), 5_000): Exchange Funnel Pipe;
    sync_mpsc_1 => crowds::each_senders_order(Some(1), 4): Exchange Funnel;
    sync_mpmc_1 => crowds::an_equal_share_for_all(Some(1), 4): Exchange Funnel;
    sync_spsc_0 => crowds::a_stream(Some(MEETING), 5_000): Exchange Funnel Pipe;
    sync_mpsc_0 => crowds::each_senders_order(Some(MEETING), 4): Exchange Funnel;
    sync_mpmc_0 => crowds::an_equal_share_for_all(Some(MEETING), 4): Exchange Funnel;
    sync_spsc_n => crowds::a_stream(Some(10_000), 5_000): Exchange Funnel Pipe;
    sync_mpsc_n => crowds::each_senders_order(Some(10_000), 4): Exchange Funnel;
    sync_mpmc_n => crowds::an_equal_share_for_all(Some(10_000), 4): Exchange Funnel;
    sync_spsc_u => crowds::a_stream(None, 5_000): Exchange Funnel Pipe;
    sync_mpsc_u => crowds::each_senders_order(None, 4): Exchange Funnel;
    sync_mpmc_u => crowds::an_equal_share_for_all(None, 4): Exchange Funnel;
    async_integrity_u8 => whole_to_tasks(0_u8, !0): Exchange Funnel Pipe;
    async_integrity_u16 => whole_to_tasks(0_u16, !0): Exchange Funnel Pipe;
    async_integrity_u32 => whole_to_tasks(0_u32, !0): Exchange Funnel Pipe;
    async_integrity_usize => whole_to_tasks(0_u64, !0): Exchange Funnel Pipe;
    async_integrity_big => whole_to_tasks([0_u64; 4], [!0; 4]): Exchange Funnel Pipe;
    async_integrity_string => whole_to_tasks("", "not empty"): Exchange Funnel Pipe;
    async_integrity_padded_rust => whole_to_tasks((false, 0_u8, 0_u32), (true, !0, !0)): Exchange Funnel Pipe;
    async_integrity_padded_c => whole_to_tasks(Padded(false, 0, 0), Padded(true, !0, !0)): Exchange Funnel Pipe;
    async_drop_test => tasks::all_threads_at_once(Some(1), 4): Exchange Funnel;
    async_recv_from_half_closed_queue => tasks::after_the_end(Some(1)): Exchange Funnel Pipe;
    async_recv_from_half_closed_channel => tasks::a_waiting_receiver_is_told(Some(1)): Exchange Funnel Pipe;
    async_send_to_half_closed_channel => tasks::after_the_end(Some(2)): Exchange Funnel Pipe;
    async_drop_test_in_unused_send_signal => tasks::dropped_futures(10): Exchange Funnel Pipe;
    async_drop_test_in_unused_recv_signal => tasks::dropped_futures(1): Exchange Funnel Pipe;
    async_drop_test_send_to_half_closed => endings::a_refused_message_is_its_senders(Some(10)): Exchange Funnel Pipe;
    async_recv_abort_test => aborted_receivers: Exchange;
    async_send_abort_test => aborted_senders: Exchange;
    async_vec_test => vectors(true): Exchange Funnel;
    async_one_msg => tasks::one_by_one(Some(1)): Exchange Funnel Pipe;
    async_two_msg_0 => tasks::a_stream(Some(MEETING), 2): Exchange Funnel Pipe;
    async_two_msg_1 => tasks::a_stream(Some(1), 2): Exchange Funnel Pipe;
    async_two_msg_2 => tasks::a_stream(Some(2), 2): Exchange Funnel Pipe;
    async_mpsc_0 => tasks::all_threads_at_once(Some(MEETING), 4): Funnel;
    async_mpmc_0 => tasks::all_threads_at_once(Some(MEETING), 4): Exchange;
    async_mpsc_n => tasks::all_threads_at_once(Some(10_000), 4): Funnel;
    async_mpmc_n => tasks::all_threads_at_once(Some(10_000), 4): Exchange;
    async_mpsc_u => tasks::all_threads_at_once(None, 4): Funnel;
    async_mpmc_u => tasks::all_threads_at_once(None, 4): Exchange;
    async_spsc_0 => tasks::a_stream(Some(MEETING), 5_000): Exchange Funnel Pipe;
    async_spsc_1 => tasks::a_stream(Some(1), 5_000): Exchange Funnel Pipe;
    async_spsc_n => tasks::a_stream(Some(10_000), 5_000): Exchange Funnel Pipe;
    async_spsc_u => tasks::a_stream(None, 5_000): Exchange Funnel Pipe;
    async_seq_n => awaited_one_after_the_other(Some(5_000)): Exchange Funnel Pipe;
    async_seq_u => awaited_one_after_the_other(None): Exchange Funnel Pipe;
    async_spsc_overaligned_zst => over_aligned(Some(MEETING), true): Exchange Funnel Pipe;
    async_stream_buffer_unordered_rendezvous_integrity => a_stream_with_two_at_work(Some(MEETING)): Exchange Funnel Pipe;
}

/// A message of several sizes with gaps in between, in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Padded(bool, u8, u32);

/// Messages without a size whose alignment is larger than a chunk of some kinds.
fn over_aligned(kind: Kind, bound: Bound, awaited: bool) {
    #[derive(Debug)]
    #[repr(align(1024))]
    struct Aligned;
    let (mut tx, mut rx) = kind.open(bound);
    both(
        move || {
            (0..200).for_each(|_| if awaited { block_on(tx.send_async(Aligned)) } else { tx.send(Aligned) }.unwrap())
        },
        || {
            for _ in 0..200 {
                let message = if awaited { block_on(rx.recv_async()) } else { rx.recv() }.unwrap();
                assert_eq!((&raw const message).addr() % 1024, 0);
            }
        },
    );
}

/// All of a message arrives at a task, all zeros or all ones, for any bound.
fn whole_to_tasks<T: Copy + PartialEq + std::fmt::Debug + Send + 'static>(kind: Kind, zeros: T, ones: T) {
    const ROUNDS: usize = 500;
    for bound in [Some(MEETING), Some(1), None] {
        let (mut tx, mut rx) = kind.open(bound);
        both(
            move || {
                block_on(async {
                    for _ in 0..ROUNDS {
                        tx.send_async(zeros).await.unwrap();
                        tx.send_async(ones).await.unwrap();
                    }
                });
            },
            || {
                block_on(async {
                    for _ in 0..ROUNDS {
                        assert_eq!(rx.recv_async().await, Ok(zeros));
                        assert_eq!(rx.recv_async().await, Ok(ones));
                    }
                });
            },
        );
    }
}

/// Messages with memory of their own, from several to several.
fn vectors(kind: Kind, awaited: bool) {
    const MESSAGES: usize = 500;
    let (tx, rx) = kind.open(Some(1));
    let (senders, receivers) = (tx.split(kind.senders(4)), rx.split(kind.receivers(4)));
    both(
        || {
            each(senders, |mut tx| {
                for _ in 0..MESSAGES {
                    let message = vec![1, 2, 3];
                    if awaited { block_on(tx.send_async(message)) } else { tx.send(message) }.unwrap();
                }
            });
        },
        || each(receivers, |mut rx| rx.iter().for_each(|message| assert_eq!(message, [1, 2, 3]))),
    );
}

/// All messages first, all receiving afterwards, in one task.
fn awaited_one_after_the_other(kind: Kind, bound: Bound) {
    let (mut tx, mut rx) = kind.open(bound);
    block_on(async {
        for message in 0..5_000 {
            tx.send_async(Box::new(message)).await.unwrap();
        }
        for expected in 0..5_000 {
            assert_eq!(rx.recv_async().await, Ok(Box::new(expected)));
        }
    });
}

/// A runtime of one thread.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

/// Tasks that wait for a message and are aborted: the channel is as before, and the next message is for the next
/// receive.
fn aborted_receivers(kind: Kind) {
    let (mut tx, rx) = kind.open(Some(10));
    let mut receivers = rx.split(11);
    let mut stays = receivers.pop().expect("eleven");
    runtime().block_on(async {
        let tasks: Vec<_> =
            receivers.into_iter().map(|mut rx| tokio::spawn(async move { rx.recv_async().await })).collect();
        tokio::time::sleep(Duration::from_millis(2)).await;
        for task in tasks {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
        tx.send(1).unwrap();
        assert_eq!(stays.recv_async().await, Ok(1));
    });
}

/// Tasks that wait for room and are aborted: their messages are dropped with them, and none is sent.
fn aborted_senders(kind: Kind) {
    let tally = Tally::of(11);
    let (tx, mut rx) = kind.open(Some(1));
    let mut senders = tx.split(11);
    senders.pop().expect("eleven").send(tally.next()).unwrap();
    runtime().block_on(async {
        let tasks: Vec<_> = senders
            .into_iter()
            .zip(tally.some(10))
            .map(|(mut tx, message)| tokio::spawn(async move { tx.send_async(message).await.is_ok() }))
            .collect();
        tokio::time::sleep(Duration::from_millis(2)).await;
        for task in tasks {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    });
    assert_eq!(tally.ended(), 10);
    assert!(rx.try_recv().is_ok());
    assert!(rx.try_recv().unwrap_err().is_disconnected());
    tally.assert_all_ended();
}

/// A stream with two messages in work at a time, by a task that yields in between: the stream is re-polled with
/// other wakers while its sender, a thread, is handing over.
fn a_stream_with_two_at_work(kind: Kind, bound: Bound) {
    const MESSAGES: usize = 3_000;
    let (mut tx, rx) = kind.open(bound);
    both(
        move || (0..MESSAGES).for_each(|number| tx.send((number, vec![number; 16])).unwrap()),
        || {
            let whole = |(number, values): (usize, Vec<usize>)| async move {
                tokio::task::yield_now().await;
                assert_eq!(values, [number; 16]);
            };
            let received = runtime().block_on(rx.map(whole).buffer_unordered(2).count());
            assert_eq!(received, MESSAGES);
        },
    );
}
