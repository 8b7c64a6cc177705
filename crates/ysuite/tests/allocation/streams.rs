//! Memory: what a stream, a bounded channel and a burst take, and give back.

use std::cell::RefCell;
use std::future::Future;
use std::iter;
use std::pin::{Pin, pin};
use std::sync::Barrier;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use crate::counting::{allocations, at_the_next_allocation, held};
use crate::requests;
#[cfg(target_os = "linux")]
use crate::support::process::sleeps;
use crate::support::samples::{Bytes, Sample};
use crate::support::{Random, calls, guarded};
use ysuite::pool::{Message, Pool, PoolBox};
use ysuite::queue::ypipe;
use ysuite::signal::{Wait, YPollset};
#[cfg(target_os = "linux")]
use ysuite::{RecvTimeoutError, Spin};
use ysuite::{broadcast, mpmc, mpsc, spsc};

/// Claim: A steady `spsc` stream allocates no memory.
#[test]
fn a_steady_stream_allocates_nothing() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut batch = Vec::with_capacity(1_000);
    let mut run = |messages: usize| {
        for message in (0..messages).step_by(500) {
            if message % 1_000 == 0 {
                (0..500).for_each(|message| sender.send(message).unwrap());
            } else {
                sender.send_batch(0..500).unwrap();
            }
            receiver.recv_batch(&mut batch, 250).unwrap();
            batch.clear();
            while receiver.try_recv().is_ok() {}
        }
    };
    // Chunks grow until they are worth keeping.
    run(50_000);
    let before = requests();
    run(500_000);
    assert_eq!(requests(), before);
}

#[test]
fn a_steady_stream_between_threads_allocates_nothing() {
    guarded(|| {
        const WINDOW: usize = 1_000;
        let (mut sender, mut receiver) = spsc::unbounded();
        let (mut answering, mut answers) = spsc::bounded(8);
        let thread = thread::spawn(move || {
            let run = |receiver: &mut spsc::Receiver<usize>, answering: &mut spsc::Sender<usize>, messages| {
                for message in 0..messages {
                    assert_eq!(receiver.recv(), Ok(message));
                    if message % WINDOW == WINDOW - 1 {
                        answering.send(message).unwrap();
                    }
                }
            };
            run(&mut receiver, &mut answering, 100_000);
            let before = allocations();
            run(&mut receiver, &mut answering, 100_000);
            assert_eq!(allocations(), before);
        });
        let mut run = |messages| {
            for message in 0..messages {
                sender.send(message).unwrap();
                if message % WINDOW == WINDOW - 1 {
                    assert_eq!(answers.recv(), Ok(message));
                }
            }
        };
        run(100_000);
        let before = allocations();
        run(100_000);
        assert_eq!(allocations(), before);
        thread.join().unwrap();
    });
}

fn bounded_allocates_nothing<T: Sample>(capacity: usize) {
    let (mut sender, mut receiver) = spsc::bounded::<T>(capacity);
    let mut random = Random::new(capacity as u64);
    let mut batch = Vec::with_capacity(capacity);
    let before = requests();
    for _ in 0..100 {
        for number in 0..random.below(capacity + 2) {
            if sender.try_send(T::make(number)).is_err() {
                break;
            }
        }
        for number in 0..random.below(capacity + 1 - sender.len().min(capacity)) {
            assert!(sender.write(T::make(number)).is_ok());
        }
        drop(sender.unwrite());
        sender.flush();
        let most = random.below(capacity + 2);
        let _ = receiver.try_recv_batch(&mut batch, most);
        batch.clear();
        for _ in 0..random.below(capacity + 2) {
            if receiver.try_recv().is_err() {
                break;
            }
        }
    }
    assert_eq!(requests(), before, "a bounded channel of {capacity} messages of {} bytes", size_of::<T>());
}

#[test]
fn a_small_bounded_channel_never_allocates_after_it_was_made() {
    for capacity in [1, 2, 3, 7, 8, 13, 14, 15, 100, 1_024, 10_000] {
        bounded_allocates_nothing::<u64>(capacity);
        bounded_allocates_nothing::<()>(capacity);
        bounded_allocates_nothing::<Bytes<29>>(capacity);
    }
    for capacity in [1, 2, 3, 60, 61, 64, 128, 400] {
        bounded_allocates_nothing::<Bytes<1000>>(capacity);
    }
}

/// Eight chunks of one message, which are 1 MiB to the byte.
#[test]
fn a_bounded_channel_of_just_a_mebibyte_never_allocates_after_it_was_made() {
    guarded(|| bounded_allocates_nothing::<Bytes<131_064>>(6));
}

/// Over three chunks of one group, and so often that none can be missing.
#[test]
fn chunks_whose_messages_are_taken_back_are_used_again_and_given_back() {
    let run = |sender_goes_first| {
        let (mut sender, mut receiver) = spsc::bounded(14);
        (0..3).for_each(|message| sender.send(message).unwrap());
        assert!(receiver.try_iter().eq(0..3));
        let before = requests();
        for _ in 0..10 {
            (0..14_u64).for_each(|message| sender.write(message).unwrap());
            assert!((0..14).rev().all(|message| sender.unwrite() == Some(message)));
        }
        assert_eq!(requests(), before);
        if sender_goes_first {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            drop(sender);
        }
    };
    (0..3).for_each(|_| run(true));
    for sender_goes_first in [true, false] {
        let before = held();
        run(sender_goes_first);
        assert_eq!(held(), before);
    }
}

#[test]
fn a_large_bounded_channel_takes_memory_as_it_fills() {
    let made = |capacity| {
        let before = requests();
        let ends = spsc::bounded::<u64>(capacity);
        let after = requests();
        drop(ends);
        (after.0 - before.0, after.1 - before.1)
    };
    // The first of a process may ask for more, and so may one that comes when all regions of the kernel's memory are in use.
    let least = |capacity| (0..20).map(|_| made(capacity)).min();
    least(1 << 18);
    // Both would take more than 1 MiB at once, and one of them sixty-four times as much.
    assert_eq!(least(1 << 24), least(1 << 18));
}

#[test]
fn a_large_bounded_channel_keeps_what_it_has() {
    // Begins a quarter of a chunk later each time.
    const CAPACITY: u64 = 250_000;
    let (mut sender, mut receiver) = spsc::bounded(CAPACITY as usize);
    let mut fill_and_drain = || {
        sender.send_batch(0..CAPACITY).unwrap();
        assert!(receiver.try_iter().eq(0..CAPACITY));
    };
    // It grows as it fills; how many chunks a full channel touches depends on where in a chunk it begins.
    (0..10).for_each(|_| fill_and_drain());
    let before = requests();
    (0..10).for_each(|_| fill_and_drain());
    assert_eq!(requests(), before);
}

/// Claim: Waiting allocates nothing, except for the first waiters of a list.
/// Also: allocation watches::waits_allocate_the_first_time.
#[test]
fn waiting_allocates_nothing() {
    let (mut sender, mut receiver) = spsc::bounded(4);
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    let before = allocations();
    for message in 0..1_000 {
        assert!(receiver.try_recv().is_err());
        assert!(set.check().is_empty());
        assert!(receiver.recv_timeout(std::time::Duration::ZERO).is_err());
        sender.send(message).unwrap();
        assert!(set.wait().eq([0]));
        assert_eq!(receiver.recv(), Ok(message));
    }
    assert_eq!(allocations(), before);
}

thread_local! {
    /// Another task that waits.
    static QUICKER: RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>> = const { RefCell::new(None) };
}

fn poll_the_quicker() {
    QUICKER.with_borrow_mut(|quicker| {
        if let Some(waiting) = quicker {
            let _ = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        }
    });
}

/// Two that are the first to wait make places at once. Those that come too late are freed.
#[test]
fn places_to_wait_that_another_was_quicker_to_make_are_given_back() {
    let round = |interrupted: bool| {
        let (_sender, receiver) = mpmc::bounded::<u32>(4);
        let other = receiver.clone();
        QUICKER.set(Some(Box::pin(async move {
            let _ = other.recv_async().await;
        })));
        let made = {
            let mut waiting = pin!(receiver.recv_async());
            let before = allocations();
            if interrupted {
                at_the_next_allocation(poll_the_quicker);
            }
            assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            allocations() - before
        };
        drop(QUICKER.take());
        made
    };
    // The first time something may be made that stays.
    for interrupted in [false, true] {
        round(interrupted);
    }
    let before = held();
    assert_eq!([false, true].map(round), [1, 2], "nothing is allocated but the places");
    assert_eq!(held(), before, "some places are never freed");
}

/// Claim: An `mpmc` channel allocates nothing after its handles have waited once.
#[test]
fn an_mpmc_channel_never_allocates_after_its_handles_have_waited_once() {
    let (sender, mut receiver) = mpmc::bounded(64);
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    let mut batch = Vec::with_capacity(64);
    let mut run = || {
        for round in 0..500 {
            assert!(receiver.try_recv().is_err());
            assert!(receiver.recv_timeout(std::time::Duration::ZERO).is_err());
            assert!(set.check().is_empty() || receiver.try_recv().is_err());
            assert_eq!(sender.send_batch(0..50), Ok(50));
            while sender.try_send(round).is_ok() {}
            assert!(sender.send_timeout(round, std::time::Duration::ZERO).is_err());
            receiver.recv_batch(&mut batch, 30).unwrap();
            batch.clear();
            assert_eq!(receiver.try_iter().count(), 34);
        }
    };
    run();
    let before = allocations();
    run();
    assert_eq!(allocations(), before);
}

#[test]
fn a_stream_through_an_mpmc_channel_makes_no_request() {
    let (sender, receiver) = mpmc::bounded(64);
    let run = |rounds| {
        for _ in 0..rounds {
            (0..50).for_each(|message| sender.send(message).unwrap());
            assert!((0..50).all(|message| receiver.recv() == Ok(message)));
        }
    };
    // The process asks once whether there is a barrier for others.
    run(4);
    let before = requests();
    run(1_000);
    assert_eq!(requests(), before);
}

/// Claim: A broadcast allocates nothing after its handles have waited once.
#[test]
fn a_broadcast_never_allocates_after_its_ends_have_waited_once() {
    for (sender, mut receiver) in [broadcast::bounded(64), broadcast::lossy(64)] {
        let mut other = receiver.clone();
        let mut set = YPollset::new();
        set.attach(&mut other, 0).unwrap();
        let mut batch = Vec::with_capacity(64);
        let mut run = || {
            for round in 0..500 {
                assert!(receiver.recv_timeout(std::time::Duration::ZERO).is_err());
                assert_eq!(sender.send_batch(0..50), Ok(50));
                (0..14).for_each(|_| sender.send(round).unwrap());
                receiver.recv_batch(&mut batch, 30).unwrap();
                batch.clear();
                assert_eq!((receiver.try_iter().count(), other.try_iter().count()), (34, 64));
                // Receivers come and go in places that there are.
                drop((receiver.clone(), sender.subscribe()));
            }
        };
        run();
        let before = allocations();
        run();
        assert_eq!(allocations(), before);
    }
}

/// Claim: A stream through an unbounded `mpmc` channel allocates no memory.
#[test]
fn a_stream_through_an_unbounded_mpmc_channel_makes_no_request() {
    let (sender, receiver) = mpmc::unbounded();
    let mut batch = Vec::with_capacity(100);
    let mut run = |rounds| {
        for _ in 0..rounds {
            (0..50).for_each(|message| sender.send(message).unwrap());
            sender.send_batch(50..150).unwrap();
            assert!((0..50).all(|message| receiver.recv() == Ok(message)));
            receiver.recv_batch(&mut batch, 100).unwrap();
            assert!(batch.drain(..).eq(50..150));
        }
    };
    // Across the ends of some segments: then there is always one to be used again.
    run(300);
    let before = requests();
    run(3_000);
    assert_eq!(requests(), before);
}

/// Receives in vain until this thread has slept as often. A thread that was off its CPU for as long as it waits need not
/// sleep.
#[cfg(target_os = "linux")]
fn sleep_times(times: u64, mut receive: impl FnMut() -> Result<u64, RecvTimeoutError>) {
    let end = sleeps() + times;
    while sleeps() < end {
        assert_eq!(receive(), Err(RecvTimeoutError::Timeout));
    }
}

/// Claim: Draining a backlog of an unbounded `mpmc` channel returns its pages.
#[cfg(target_os = "linux")]
#[test]
fn a_burst_in_an_mpmc_channel_is_dense_and_is_given_back() {
    use crate::support::process::{alone, resident};

    // Resident memory is the process's: nothing else may run in it.
    if !alone("streams::a_burst_in_an_mpmc_channel_is_dense_and_is_given_back") {
        return;
    }
    const MESSAGES: u64 = 1_000_000;
    const MIB: u64 = 1 << 20;
    // The portable platform has no fresh pages that are zero: it writes zeros into all of a segment, marks included.
    let most = if cfg!(ysuite_portable) { 11 } else { 10 };
    let (sender, receiver) = mpmc::unbounded();
    (0..50_000).for_each(|message| sender.send(message).unwrap());
    assert!(receiver.try_iter().eq(0..50_000));
    for way in 0..2 {
        let before = resident();
        if way == 0 {
            (0..MESSAGES).for_each(|message| sender.send(message).unwrap());
        } else {
            sender.send_batch(0..MESSAGES).unwrap();
        }
        let full = resident();
        assert!(
            full - before <= most * MESSAGES,
            "{} bytes for each message",
            (full - before) as f64 / MESSAGES as f64
        );
        assert!(receiver.try_iter().eq(0..MESSAGES));
        let after = resident();
        sleep_times(1, || receiver.recv_timeout(Duration::from_millis(1)));
        let slept = resident();
        if !cfg!(ysuite_portable) && std::env::var_os("ASAN_OPTIONS").is_none() {
            // Of the second burst 8 MiB are kept, until a receiver sleeps.
            let (kept, left) = (after.saturating_sub(before), slept.saturating_sub(before));
            assert!(kept <= 9 * MIB, "{} KiB are not given back", kept / 1024);
            assert!(left <= MIB / 2, "{} KiB are not given back by a receiver that sleeps", left / 1024);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_mpmc_channel_that_has_had_one_message_takes_little() {
    use crate::support::process::{alone, resident};

    if !alone("streams::an_mpmc_channel_that_has_had_one_message_takes_little") {
        return;
    }
    const CHANNELS: u64 = 200;
    let mut channels = Vec::with_capacity(CHANNELS as usize);
    let before = resident();
    for number in 0..CHANNELS {
        let (sender, receiver) = mpmc::unbounded();
        sender.send(number).unwrap();
        assert_eq!(receiver.recv(), Ok(number));
        channels.push((sender, receiver));
    }
    let each = (resident() - before) / CHANNELS;
    let most = if cfg!(ysuite_portable) { 80 } else { 20 };
    assert!(each <= most * 1024, "{each} bytes for each channel");
}

/// Claim: A stream of pool blocks allocates no memory, whichever thread frees them.
/// Also: unit pool::thread_cache::tests::across_the_edge_of_a_magazine_the_depot_is_left_alone.
#[test]
fn a_pool_makes_no_request_for_frees_by_any_thread() {
    guarded(|| {
        const WINDOW: usize = 700;
        let pool = Pool::new(&[(64, 2_000), (512, 1_000)]).unwrap();
        let (mut sender, mut receiver) = spsc::bounded::<(Message, PoolBox<u64>)>(WINDOW);
        let (mut answering, mut answers) = spsc::bounded(8);
        let thread = thread::spawn(move || {
            let mut batch = Vec::with_capacity(WINDOW);
            let mut run = |rounds| {
                let mut requested = 0;
                for round in 0..rounds {
                    while batch.len() < WINDOW {
                        receiver.recv_batch(&mut batch, WINDOW).unwrap();
                    }
                    let before = requests();
                    batch.clear();
                    requested += u64::from(requests() != before);
                    answering.send(round).unwrap();
                }
                requested
            };
            run(20);
            assert_eq!(run(300), 0, "a free allocates, or calls the kernel");
        });
        let mut run = |rounds| {
            let mut requested = 0;
            for round in 0..rounds {
                let before = requests();
                for number in 0..WINDOW {
                    let (message, number) = (pool.take(number % 65), pool.try_boxed(number as u64).expect("enough"));
                    requested += u64::from(requests() != before);
                    sender.write((message, number)).unwrap();
                }
                sender.flush();
                assert_eq!(answers.recv(), Ok(round));
            }
            requested
        };
        run(20);
        assert_eq!(run(300), 0, "a take allocates, or calls the kernel");
        thread.join().unwrap();
    });
}

/// Claim: Draining a backlog frees its chunks. A bounded channel keeps its own chunks.
#[cfg(target_os = "linux")]
#[test]
fn a_burst_is_dense_and_is_given_back() {
    use crate::support::process::{alone, resident};

    // Resident memory is the process's: nothing else may run in it.
    if !alone("streams::a_burst_is_dense_and_is_given_back") {
        return;
    }
    const MESSAGES: u64 = 1_000_000;
    const MIB: u64 = 1 << 20;
    let (mut sender, mut receiver) = spsc::unbounded();
    (0..50_000).for_each(|message| sender.send(message).unwrap());
    assert!(receiver.try_iter().eq(0..50_000));
    for way in 0..2 {
        let before = resident();
        if way == 0 {
            (0..MESSAGES).for_each(|message| sender.send(message).unwrap());
        } else {
            sender.send_batch(0..MESSAGES).unwrap();
        }
        let full = resident();
        assert!(full - before <= 17 * MESSAGES, "{} bytes for each message", (full - before) as f64 / MESSAGES as f64);
        assert!(receiver.try_iter().eq(0..MESSAGES));
        let after = resident();
        // The reserve of a stream goes with the second sleep.
        sleep_times(2, || receiver.recv_timeout(Duration::from_millis(1)));
        let slept = resident();
        // An allocator that watches for errors keeps what is freed, to catch its use.
        if !cfg!(ysuite_portable) && std::env::var_os("ASAN_OPTIONS").is_none() {
            // The process keeps 2 MiB, whatever the number of channels, until a receiver sleeps, and the channel what it has
            // missed since its first burst: 127 chunks.
            let (kept, left) = (after.saturating_sub(before), slept.saturating_sub(before));
            assert!(kept <= 10 * MIB, "{} KiB are not given back", kept / 1024);
            assert!(left <= MIB / 8, "{} KiB are not given back by a receiver that sleeps", left / 1024);
        }
    }
}

#[test]
fn a_backlog_of_a_pipe_asks_the_system_seldom() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut run = |rounds: u64| {
        for message in 0..rounds * 4 {
            sender.send(message).unwrap();
            if message % 4 != 3 {
                receiver.recv().unwrap();
            }
        }
    };
    run(10_000);
    let asked = || requests().0 + requests().1;
    let before = asked();
    run(250_000);
    // The quarter that stays takes some thirty-five chunks; those that were read are used again.
    let asked = asked() - before;
    assert!(asked <= 70, "{asked} requests for 250,000 messages that stay");
}

/// Over two borders of chunks, which are left to the writer then.
#[test]
fn chunks_of_a_bare_pipe_whose_messages_are_taken_back_are_used_again_and_given_back() {
    const MESSAGES: u64 = 1_000;
    let run = || {
        let (mut writer, reader) = ypipe::unbounded();
        let mut write_and_take_back = || {
            (0..MESSAGES).for_each(|message| writer.write(message).unwrap());
            assert!(iter::from_fn(|| writer.unwrite()).eq((0..MESSAGES).rev()));
        };
        write_and_take_back();
        let before = requests();
        write_and_take_back();
        assert_eq!(requests(), before);
        drop((writer, reader));
    };
    run();
    let before = held();
    run();
    assert_eq!(held(), before);
}

#[test]
fn a_pipe_of_few_messages_takes_little() {
    const PIPES: usize = 100;
    let mut pipes = Vec::with_capacity(PIPES + 1);
    let mut add_one = || {
        let (mut sender, mut receiver) = spsc::unbounded();
        (0..50_u64).for_each(|number| sender.send(number).unwrap());
        assert!(receiver.try_iter().eq(0..50));
        pipes.push((sender, receiver));
    };
    add_one();
    let (from_the_kernel, before) = (calls(), held());
    (0..PIPES).for_each(|_| add_one());
    let each = (held() - before) / PIPES as i64;
    assert_eq!(calls(), from_the_kernel, "whole pages are for longer channels");
    assert!(each <= 8 * 1024, "{each} bytes for each spsc channel");
}

/// What a receiver that has not slept has kept of an unbounded `mpmc` channel's segments is two megabytes.
#[cfg(target_os = "linux")]
#[test]
fn bursts_through_an_mpmc_channel_ask_the_system_seldom() {
    const MESSAGES: u64 = 200_000;
    let (sender, receiver) = mpmc::unbounded();
    receiver.set_spin(Spin::Forever);
    let burst = || {
        (0..MESSAGES).for_each(|message| sender.send(message).unwrap());
        assert!(receiver.try_iter().eq(0..MESSAGES));
        // A wait in which it only spins is no reason to give anything back.
        assert!(receiver.recv_timeout(Duration::from_millis(1)).is_err());
    };
    // Each segment whose pages were missed raises the reserve by one.
    (0..6).for_each(|_| burst());
    let asked = || requests().0 + requests().1;
    let before = asked();
    (0..5).for_each(|_| burst());
    // A burst begins anywhere in a segment, so it may touch one more than the last.
    let asked = asked() - before;
    assert!(asked <= 5, "{asked} requests for five bursts");
}

/// The reserve of an spsc channel is as long as that.
#[test]
fn bursts_of_a_hundred_thousand_messages_ask_for_nothing_after_the_first() {
    const MESSAGES: u64 = 100_000;
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut burst = || {
        (0..MESSAGES).for_each(|message| sender.send(message).unwrap());
        assert!(receiver.try_iter().eq(0..MESSAGES));
    };
    // Chunks grow until they are worth keeping; how many a burst touches depends on where in a chunk it begins.
    (0..3).for_each(|_| burst());
    let before = requests();
    (0..5).for_each(|_| burst());
    assert_eq!(requests(), before);
}

/// Each is a chunk by itself, and they come and go by many.
#[cfg(all(target_os = "linux", not(ysuite_portable)))]
#[test]
fn of_a_burst_of_large_messages_few_chunks_are_kept() {
    use crate::support::process::{alone, resident};

    // Resident memory is the process's: nothing else may run in it.
    if !alone("streams::of_a_burst_of_large_messages_few_chunks_are_kept") || sanitized() {
        return;
    }
    const BYTES: usize = 100_000;
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut burst = |messages: u8| {
        (0..messages).for_each(|number| assert!(sender.send([number; BYTES]).is_ok()));
        let full = (resident(), calls());
        assert_eq!(receiver.try_iter().count(), usize::from(messages));
        (full.0, resident(), calls() - full.1)
    };
    burst(1);
    let before = resident();
    let (full, after, given_back) = burst(200);
    assert!(full - before >= 200 * BYTES as u64, "{full} bytes of {before}");
    let kept = after.saturating_sub(before);
    // And 2 MiB of the process, until the receiver sleeps.
    assert!(kept <= 9 * BYTES as u64 + (2 << 20), "{kept} bytes are kept");
    assert!(given_back <= 60, "{given_back} calls for 200 chunks");
}

#[test]
fn a_burst_of_large_messages_is_given_back() {
    // Each is a chunk by itself; few are kept.
    const BYTES: usize = 100_000;
    guarded(|| {
        let (mut sender, mut receiver) = spsc::unbounded();
        let before = held();
        (0..50_u8).for_each(|number| assert!(sender.send([number; BYTES]).is_ok()));
        assert!(receiver.try_iter().map(|message| message[BYTES - 1]).eq(0..50));
        let kept = held() - before;
        assert!(kept <= 8 * BYTES as i64, "{kept} bytes are kept");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn an_mpmc_channel_gives_all_its_segments_back_on_drop() {
    use crate::support::process::{alone, resident};

    // Segments are not the allocator's: resident memory is the process's, so nothing else may run in it.
    if !alone("streams::an_mpmc_channel_gives_all_its_segments_back_on_drop") {
        return;
    }
    let use_one = || {
        let (sender, receiver) = mpmc::unbounded();
        sender.send_batch(0..20_000_u64).unwrap();
        // Finally some segments are in use, and some are kept.
        assert!(receiver.try_iter().take(10_000).eq(0..10_000));
    };
    (0..3).for_each(|_| use_one());
    let before = resident();
    (0..100).for_each(|_| use_one());
    // An allocator that watches for errors keeps what is freed, to catch its use.
    if std::env::var_os("ASAN_OPTIONS").is_none() {
        let more = resident().saturating_sub(before);
        assert!(more <= 4 << 20, "{} KiB are not given back", more / 1024);
    }
}

#[test]
fn the_tables_of_a_pool_that_many_threads_have_used_are_given_back() {
    guarded(|| {
        // As many as a small pool has magazines for at first, and this one.
        const THREADS: usize = 64;
        let small = || Pool::new(&[(8, 1)]).unwrap();
        // Without a wait, whose slot would be the allocation of another thread.
        let pass = |pool: &Pool| {
            while pool.try_take(1).is_none() {
                thread::yield_now();
            }
        };
        // What this thread has of its own is there before anything is counted.
        let own = small();
        pass(&own);
        let begun = held();
        let pool = small();
        let made = held() - begun;
        let (used, stays) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
        let grown = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        pass(&pool);
                        used.wait();
                        // Alive, with a magazine at hand.
                        stays.wait();
                    })
                })
                .collect();
            used.wait();
            let before = held();
            pass(&pool);
            let grown = held() - before;
            stays.wait();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            grown
        });
        assert!(grown > 0, "there were magazines enough");
        let next = small();
        let before = held();
        drop(pool);
        // This thread's cache lets go of the tables when it is needed for another pool.
        pass(&next);
        assert_eq!(before - held(), made + grown);
    });
}

/// As its sender allocates when it fills.
#[test]
fn the_receiver_of_a_large_bounded_channel_never_allocates() {
    fn never_allocates(capacity: u64, mut send: impl FnMut(u64), mut receive: impl FnMut() -> Option<u64>) {
        // What a first message makes is made.
        send(0);
        assert_eq!(receive(), Some(0));
        for _ in 0..2 {
            (0..capacity).for_each(&mut send);
            let before = requests();
            assert!((0..capacity).all(|number| receive() == Some(number)));
            assert_eq!(requests(), before, "of {capacity}");
        }
    }
    for capacity in [1 << 18, 1 << 19] {
        let (mut sender, mut receiver) = spsc::bounded(capacity as usize);
        never_allocates(capacity, |number| sender.send(number).unwrap(), || receiver.try_recv().ok());
        let (mut sender, mut receiver) = mpsc::bounded(capacity as usize);
        never_allocates(capacity, |number| sender.send(number).unwrap(), || receiver.try_recv().ok());
    }
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut longest = 0;
    for _ in 0..100 {
        (0..3_000).for_each(|number: u64| sender.send(number).unwrap());
        let before = allocations();
        assert!((0..3_000).all(|number| receiver.recv() == Ok(number)));
        longest += allocations() - before;
    }
    assert_eq!(longest, 0, "without a bound");
}

/// A lane has small chunks, so that these are more than its ring has slots for.
#[test]
fn a_bounded_channel_of_thousands_of_chunks_keeps_what_it_has() {
    const CAPACITY: u64 = 950_000;
    let (mut sender, mut receiver) = mpsc::bounded(CAPACITY as usize);
    let mut fill_and_drain = || {
        sender.send_batch(0..CAPACITY).unwrap();
        assert!(receiver.try_iter().eq(0..CAPACITY));
    };
    (0..10).for_each(|_| fill_and_drain());
    let before = requests();
    (0..3).for_each(|_| fill_and_drain());
    assert_eq!(requests(), before);
}

/// For any reason.
#[test]
fn what_is_refused_allocates_nothing() {
    /// The first refusal for each reason is counted.
    macro_rules! refused {
        ($open:expr) => {{
            #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
            let (mut sender, mut receiver) = $open;
            // What a first use makes is made.
            let _ = sender.try_send(7_u64);
            let _ = receiver.try_recv();
            let before = requests();
            for _ in 0..3 {
                assert!(receiver.try_recv().is_err());
            }
            while sender.try_send(7).is_ok() {}
            for _ in 0..3 {
                assert!(sender.try_send(7).is_err());
            }
            assert_eq!(requests(), before, "{}: full or empty", stringify!($open));
            drop(receiver);
            let before = requests();
            for _ in 0..3 {
                assert!(sender.try_send(7).is_err() && sender.send(7).is_err());
            }
            assert_eq!(requests(), before, "{}: disconnected", stringify!($open));
        }};
    }
    /// With any room.
    macro_rules! refused_at_the_end {
        ($open:expr) => {{
            for closes in [false, true] {
                #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
                let (mut sender, mut receiver) = $open;
                sender.send(7_u64).unwrap();
                assert_eq!(receiver.recv(), Ok(7));
                if closes {
                    receiver.close();
                }
                let mut receiver = Some(receiver).filter(|_| closes);
                let before = requests();
                for _ in 0..3 {
                    assert!(sender.try_send(7).is_err() && sender.send(7).is_err());
                    assert!(receiver.as_mut().is_none_or(|receiver| receiver.try_recv().is_err()));
                }
                assert_eq!(requests(), before, "{} on drop, closed: {closes}", stringify!($open));
                #[allow(unused_mut, reason = "handles of an mpmc channel are shared")]
                let (mut sender, mut receiver) = $open;
                sender.send(7_u64).unwrap();
                assert_eq!(receiver.recv(), Ok(7));
                drop(sender);
                let before = requests();
                assert!(receiver.try_recv().is_err() && receiver.recv().is_err());
                assert_eq!(requests(), before, "{} without a sender", stringify!($open));
            }
        }};
    }
    refused!(spsc::bounded(3));
    refused!(mpsc::bounded(3));
    refused!(mpmc::bounded(3));
    refused!(broadcast::bounded(3));
    refused!(spsc::bounded(0));
    refused!(mpsc::bounded(0));
    refused!(mpmc::bounded(0));
    refused_at_the_end!(spsc::unbounded());
    refused_at_the_end!(spsc::bounded(3));
    refused_at_the_end!(mpsc::unbounded());
    refused_at_the_end!(mpsc::bounded(3));
    refused_at_the_end!(mpmc::unbounded());
    refused_at_the_end!(mpmc::bounded(3));
    refused_at_the_end!(broadcast::bounded(3));
}

/// Every second channel goes, so that holes are left everywhere.
#[cfg(all(target_os = "linux", not(ysuite_portable)))]
#[test]
fn many_backlogs_are_few_maps_and_all_of_them_are_given_back() {
    use crate::support::process::{alone, maps, resident};

    // Maps and resident memory are the process's: nothing else may run in it.
    if !alone("streams::many_backlogs_are_few_maps_and_all_of_them_are_given_back") || sanitized() {
        return;
    }
    const CHANNELS: usize = 300;
    const MESSAGES: u64 = 20_000;
    const MIB: u64 = 1 << 20;
    let before = (maps(), resident());
    let mut channels: Vec<_> = (0..CHANNELS).map(|_| spsc::unbounded()).collect();
    channels.iter_mut().for_each(|(sender, _)| {
        sender.send_batch(0..MESSAGES).unwrap();
    });
    let full = (maps(), resident());
    let mut number = 0;
    channels.retain(|_| (number += 1, number % 2 == 0).1);
    let half = (maps(), resident());
    for maps in [full.0, half.0] {
        assert!(maps <= before.0 + 80, "{maps} maps, {} before", before.0);
    }
    assert!(
        (half.1 - before.1) as f64 <= (full.1 - before.1) as f64 * 0.7,
        "{half:?} of {full:?}, and {before:?} before"
    );
    // What is left is whole.
    for (mut sender, mut receiver) in channels {
        assert!(receiver.try_iter().eq(0..MESSAGES));
        sender.send(1).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
    }
    // The first chunks of an spsc channel are the allocator's.
    let after = (maps(), resident());
    assert!(after.0 <= before.0 + 20 && after.1 <= before.1 + 16 * MIB, "{after:?} of {full:?}, {before:?} before");
}

/// Whether an allocator that watches for errors keeps what is freed, to catch its use.
#[cfg(all(target_os = "linux", not(ysuite_portable)))]
fn sanitized() -> bool {
    std::env::var_os("ASAN_OPTIONS").is_some()
}

/// Linux 5.18 can do so.
#[cfg(all(target_os = "linux", not(ysuite_portable)))]
#[test]
fn a_burst_is_given_back_also_where_the_program_has_locked_its_memory() {
    use rustix::mm::{MlockAllFlags, mlockall};

    use crate::support::process::{alone, resident};

    if !alone("streams::a_burst_is_given_back_also_where_the_program_has_locked_its_memory") || sanitized() {
        return;
    }
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    // Without the right to lock memory there is nothing to test.
    if (numbers.next(), numbers.next()) < (Some(5), Some(18))
        || mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).is_err()
    {
        return;
    }
    const MESSAGES: u64 = 2_000_000;
    const MIB: u64 = 1 << 20;
    let (sender, receiver) = mpmc::unbounded();
    let (mut pipe, mut taken) = spsc::unbounded();
    let before = resident();
    sender.send_batch(0..MESSAGES).unwrap();
    pipe.send_batch(0..MESSAGES).unwrap();
    let full = resident();
    assert!(full >= before + 32 * MIB);
    assert!(receiver.try_iter().eq(0..MESSAGES) && taken.try_iter().eq(0..MESSAGES));
    let after = resident();
    assert!(after <= before + 6 * MIB, "{} KiB of {} are kept", (after - before) / 1024, (full - before) / 1024);
}
