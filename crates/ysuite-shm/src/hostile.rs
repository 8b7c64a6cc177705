//! A peer that lies: in its memory, word by word and all the time, and in its hello. Whatever it writes, the end that
//! reads it neither crashes nor hangs nor makes a message of what was never sent, beyond what the peer could have sent.

mod counted;
mod many;

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};

use crate::link::closed_by;
use crate::os::{self, Own, PAGE};
use crate::page::{
    ASLEEP, BEGUN, CLOSED, CONSUMED, FENCED, FROM, GIVEN_BACK, Header, Kind, NEWEST, PUBLISHED, RING, Role, Shape,
    hashed,
};
use crate::sync::{AtomicU64, Ordering};
use crate::{
    Borrowed, BroadcastError, BroadcastReceiver, BroadcastSender, CallError, Caller, Error, Funnel, LoanReceiver,
    LoanSender, Options, Pending, Question, Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError,
    WatchReceiver, WatchSender, Why, WorkReceiver, WorkSender, pipe, pipe_bytes,
};

// ORDERING: Relaxed in all of this file: a lie is published with nothing, and the flags guard no data.

/// A guard against hanging only.
const LONG: Duration = Duration::from_secs(60);

/// What is written over a word: rubbish, bit flips and near misses.
fn lies(honest: u64, position: u64) -> impl Iterator<Item = u64> {
    let near =
        [honest, position].into_iter().flat_map(|base| (0..18).map(move |by| base.wrapping_add(by).wrapping_sub(9)));
    let flips = (0..64).map(move |bit| honest ^ 1 << bit);
    near.chain(flips).chain([0, 1, u64::MAX, u64::MAX / 2, 1 << 63, 1 << 32])
}

/// Tries an end that has failed again, when what it has found is as it should be: `repair` sees to that.
fn stays<R: core::fmt::Debug + PartialEq>(mut attempt: impl FnMut() -> R, expected: &R, repair: impl FnOnce()) {
    assert_eq!(attempt(), *expected);
    repair();
    (0..3).for_each(|_| assert_eq!(attempt(), *expected, "an error stays"));
}

/// Claim: A receiver that has found a lie believes nothing any more, also if the memory is as it should be afterwards; and
/// one that has been told of the end receives nothing that comes behind it.
#[test]
fn an_error_stays() {
    let broken = Err(TryRecvError::Ended(Error::Broken));
    let closed = Err(TryRecvError::Ended(Error::Closed));
    let put = |own: &Own, word, value| own.word(word).store(value, Ordering::Relaxed);
    let swap = |own: &Own, word, value| own.word(word).swap(value, Ordering::Relaxed);

    let (sender, mut receiver) = running(11, 9);
    let honest = swap(&sender.link().own, RING + 64, 77);
    stays(|| receiver.try_recv(), &broken, || put(&sender.link().own, RING + 64, honest));
    assert!(receiver.recv() == Err(Error::Broken) && receiver.peek().is_none() && !receiver.consume());
    assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Ended(Error::Broken)));
    let (mut sender, mut receiver) = running(3, 3);
    put(&sender.link().own, CLOSED, 1);
    stays(|| receiver.try_recv(), &closed, || sender.try_send(3).unwrap());
    assert_eq!(receiver.recv(), Err(Error::Closed));

    let bytes = || {
        let (mut sender, mut receiver) = pipe_bytes(128).unwrap();
        sender.try_send(b"met").unwrap();
        assert_eq!(receiver.try_recv().unwrap(), b"met");
        (sender, receiver)
    };
    let (mut sender, mut receiver) = bytes();
    sender.try_send(b"another").unwrap();
    let honest = swap(&sender.link().own, PUBLISHED, 77);
    stays(|| receiver.try_recv(), &broken.map(|_: u64| vec![]), || put(&sender.link().own, PUBLISHED, honest));
    let (mut sender, mut receiver) = bytes();
    put(&sender.link().own, CLOSED, 1);
    stays(|| receiver.try_recv(), &closed.map(|_: u64| vec![]), || sender.try_send(b"another").unwrap());

    let (sender, mut receiver) = watching();
    let honest = swap(sender.memory(), PUBLISHED, 1);
    stays(|| receiver.try_recv(), &broken, || put(sender.memory(), PUBLISHED, honest));
    assert_eq!(receiver.latest(), None);

    for is_lossy in [false, true] {
        let (sender, mut receiver) = broadcasting(is_lossy);
        let honest = swap(sender.memory(), RING + 64, 8);
        let broken = Err(BroadcastError::Ended(Error::Broken));
        stays(|| receiver.try_recv(), &broken, || put(sender.memory(), RING + 64, honest));
    }
}

/// A pipe of eight that has sent `sent` messages and received `received` of them.
fn running(sent: u64, received: u64) -> (Sender<u64>, Receiver<u64>) {
    let (mut sender, mut receiver) = pipe::<u64>(8).unwrap();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    for message in 0..sent {
        sender.try_send(message).unwrap();
        if message < received {
            assert_eq!(receiver.try_recv(), Ok(message));
        }
    }
    (sender, receiver)
}

/// Claim: A receiver whose sender lies about what it has published receives nothing that is not in the ring, breaks the
/// channel or goes on; for every word of the page and of the ring.
#[test]
fn a_sender_that_lies_word_by_word() {
    let words = [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED].into_iter().chain((RING..RING + 192).step_by(8));
    let (mut broken, mut rest) = (0, 0);
    for word in words {
        for lie in lies(11, 9) {
            let (sender, mut receiver) = running(11, 9);
            sender.link().own.word(word).store(lie, Ordering::Relaxed);
            let mut received = 0;
            let end = loop {
                match receiver.try_recv() {
                    Ok(_) => received += 1,
                    Err(error) => break error,
                }
            };
            // No more than a group, which is all that one word can say.
            assert!(received <= 7, "{received} by {lie:#x} at {word}");
            match end {
                TryRecvError::Ended(Error::Broken) => broken += 1,
                TryRecvError::Ended(Error::Closed | Error::Refused(_)) => assert_eq!(word, CLOSED),
                TryRecvError::Ended(other) => panic!("{other:?}"),
                TryRecvError::Empty => rest += 1,
            }
        }
    }
    assert!(broken > 50 && rest > 1000, "{broken} {rest}");
}

/// Claim: A sender whose receiver lies about what it has consumed never writes over what was not, and breaks the channel.
#[test]
fn a_receiver_that_lies_word_by_word() {
    let mut broken = 0;
    for word in [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED] {
        for lie in lies(3, 11) {
            let (mut sender, receiver) = running(11, 3);
            receiver.link().own.word(word).store(lie, Ordering::Relaxed);
            let room = (11..100).take_while(|message| sender.try_send(*message).is_ok()).count();
            assert!(room <= 8, "{room} by {lie:#x} at {word}");
            match sender.try_send(0) {
                Err(TrySendError::Ended(_, Error::Broken)) => broken += 1,
                Err(TrySendError::Ended(_, Error::Closed | Error::Refused(_))) => assert_eq!(word, CLOSED),
                Err(TrySendError::Full(_)) => {}
                other => panic!("{other:?}"),
            }
            // What it had not consumed by its last word that could be true comes back.
            drop(receiver);
            assert!(sender.is_disconnected());
            let unread = sender.into_unread().unwrap();
            assert!(unread.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{unread:?}");
        }
    }
    assert!(broken > 50, "{broken}");
}

#[test]
fn a_sender_of_bytes_that_lies_word_by_word() {
    let mut broken = 0;
    for word in [PUBLISHED, CLOSED, ASLEEP].into_iter().chain((RING..RING + 128).step_by(8)) {
        for lie in lies(32, 16).chain([15, 56, 120, 128, 136]) {
            let (mut sender, mut receiver) = pipe_bytes(128).unwrap();
            sender.try_send(b"message").unwrap();
            assert_eq!(receiver.recv().unwrap(), b"message");
            sender.try_send(b"another").unwrap();
            sender.link().own.word(word).store(lie, Ordering::Relaxed);
            let (mut bytes, mut to) = (0, [MaybeUninit::uninit(); 128]);
            let by_slice = lie % 2 == 0;
            let end = loop {
                let taken =
                    if by_slice { receiver.try_recv_slice(&mut to) } else { receiver.try_recv().map(|it| it.len()) };
                match taken {
                    Ok(length) => bytes += length + 8,
                    Err(error) => break error,
                }
            };
            assert!(bytes <= 128 + 8, "{bytes} by {lie:#x} at {word}");
            broken += u32::from(end == TryRecvError::Ended(Error::Broken));
        }
    }
    assert!(broken > 100, "{broken}");
}

/// Claim: What comes back to a sender of bytes whose receiver lies about what it has consumed was sent, and nothing else is
/// read: wherever the lie is, also where a word of the ring would end behind it.
#[test]
fn a_receiver_of_bytes_that_lies_about_its_position() {
    // Of a whole page, behind which is none; the records go round its end.
    let (capacity, record) = (4096_u64, |number: u64| vec![0x80 | number as u8; 5 + number as usize % 90]);
    let begin = || {
        let (mut sender, mut receiver) = pipe_bytes(capacity as usize).unwrap();
        let mut sent: Vec<Vec<u8>> = Vec::new();
        while sent.iter().map(|record| record.len().next_multiple_of(8) as u64 + 8).sum::<u64>() < 3 * capacity {
            sent.push(record(sent.len() as u64));
            while sender.try_send(sent.last().unwrap()).is_err() {
                receiver.recv().unwrap();
            }
        }
        (sender, receiver, sent)
    };
    let honest = begin().1.link().own.word(CONSUMED).load(Ordering::Relaxed);
    for lie in (honest..honest + capacity + 9).step_by(5).chain(lies(honest, honest + capacity)) {
        let (mut sender, receiver, sent) = begin();
        receiver.link().own.word(CONSUMED).store(lie, Ordering::Relaxed);
        drop(receiver);
        assert!(sender.is_disconnected());
        let unread = sender.into_unread().unwrap();
        assert!(sent.ends_with(&unread), "by {lie}: {} records, {:?}", unread.len(), unread.first());
    }
}

/// The address of another mapping of the first `bytes` bytes of a region: an end that is found out lying unmaps its own.
fn twin(region: NonNull<u8>, bytes: usize) -> usize {
    // SAFETY: a new mapping of shared memory, at an address that the kernel chooses: the old size of 0 keeps the old one.
    let twin = unsafe { rustix::mm::mremap(region.as_ptr().cast(), 0, bytes, rustix::mm::MremapFlags::MAYMOVE) };
    twin.expect("shared memory").expose_provenance()
}

/// Writes lies all over a [`twin`] until it is told to stop, and unmaps it.
fn scribble(region: usize, bytes: usize, is_over: &AtomicBool, mut seed: u64) {
    let region = core::ptr::with_exposed_provenance_mut::<u8>(region);
    while !is_over.load(Ordering::Relaxed) {
        for _ in 0..64 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let at = if seed & 1 == 0 {
                [ASLEEP, FENCED, CONSUMED, CLOSED + 8, PUBLISHED, GIVEN_BACK, BEGUN, NEWEST][(seed >> 8) as usize % 8]
            } else {
                RING + (seed >> 8) as usize % ((bytes - RING).max(8) / 8) * 8
            };
            let value = if seed & 6 == 0 { seed } else { seed >> 40 & 31 };
            if at < bytes {
                // SAFETY: within the mapping, which is this thread's.
                unsafe { (*region.add(at).cast::<AtomicU64>()).store(value, Ordering::Relaxed) };
            }
        }
    }
    // SAFETY: as above.
    unsafe { rustix::mm::munmap(region.cast(), bytes).expect("a mapping") };
}

/// How many peers: a few, or `YSUITE_HOSTILE`.
fn peers() -> u64 {
    std::env::var("YSUITE_HOSTILE").map_or(60, |peers| peers.parse().expect("YSUITE_HOSTILE is a number"))
}

/// Claim: Against a peer that writes anything at any time, thousands of channels end or go on, and none crashes or hangs.
#[test]
fn peers_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let (mut sender, mut receiver) = pipe::<u64>(8).unwrap();
        let (mut innocent, mut reader) = pipe::<u64>(8).unwrap();
        sender.try_send(0).unwrap();
        let _ = receiver.try_recv();
        let is_over = Arc::new(AtomicBool::new(false));
        let liar = if seed % 2 == 0 { &sender.link().own } else { &receiver.link().own };
        let bytes = if seed % 2 == 0 { 2 * PAGE } else { PAGE };
        let region = twin(liar.start(), bytes);
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || scribble(region, bytes, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        sender.set_spin(3);
        receiver.set_spin(3);
        let limit = Duration::from_millis(2);
        for message in 0..200 {
            let sent = sender.send_timeout(message, limit);
            let received = receiver.recv_timeout(limit);
            if sent.is_err_and(|error| matches!(error, crate::SendTimeoutError::Ended(..))) || received.is_err() {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
        // Another channel of the same process knows nothing of it.
        innocent.send(1).unwrap();
        assert_eq!(reader.recv(), Ok(1));
    }
}

/// As above, of bytes: lengths that change between two loads.
#[test]
fn peers_that_scribble_over_bytes() {
    for seed in 1..=peers() {
        let (mut sender, mut receiver) = pipe_bytes(256).unwrap();
        sender.try_send(b"message").unwrap();
        let _ = receiver.try_recv();
        let is_over = Arc::new(AtomicBool::new(false));
        let region = twin(sender.link().own.start(), 2 * PAGE);
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || scribble(region, 2 * PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        receiver.set_spin(3);
        for length in 0..200 {
            let sent = sender.try_send(&[7; 40][..length % 40]);
            let received = receiver.recv_timeout(Duration::from_millis(1));
            assert!(received.as_ref().map_or(true, |message| message.len() <= 248));
            if matches!(sent, Err(TrySendError::Ended(..))) || matches!(received, Err(RecvTimeoutError::Ended(_))) {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
    }
}

/// A watch whose receiver has received the value 3, of version 4, and has not received 4.
fn watching() -> (WatchSender<u64>, WatchReceiver<u64>) {
    let mut sender = WatchSender::without_name(0).unwrap();
    let mut receiver = WatchReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    (1..4).for_each(|value| sender.send(value));
    assert_eq!(receiver.recv(), Ok(3));
    sender.send(4);
    (sender, receiver)
}

/// Claim: A receiver of a watch whose sender lies about its versions receives what is in one of the places, or breaks the
/// channel; for every word of the memory that all receivers map.
#[test]
fn a_sender_of_a_watch_that_lies_word_by_word() {
    let (mut broken, mut rest) = (0, 0);
    for word in [BEGUN, PUBLISHED, CLOSED, ASLEEP].into_iter().chain((RING..RING + 512).step_by(64)) {
        for lie in lies(5, 4).chain((56..80).map(|by| 5 + by)) {
            let (sender, mut receiver) = watching();
            sender.memory().word(word).store(lie, Ordering::Relaxed);
            match receiver.try_recv() {
                Ok(value) => assert!(value <= 4 || value == lie, "{value} by {lie:#x} at {word}"),
                Err(TryRecvError::Ended(Error::Broken)) => {
                    broken += 1;
                    assert_eq!(receiver.recv(), Err(Error::Broken));
                }
                Err(TryRecvError::Empty) => rest += 1,
                Err(other) => panic!("{other:?} by {lie:#x} at {word}"),
            }
            assert!(receiver.latest().is_none_or(|value| value <= 4 || value == lie));
        }
    }
    assert!(broken > 150 && rest > 0, "{broken} {rest}");
}

/// Claim: A receiver of a watch that lies in its page holds up neither the sender nor other receivers.
#[test]
fn a_receiver_of_a_watch_that_lies_word_by_word() {
    for word in [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED] {
        for lie in lies(3, 4) {
            let (mut sender, receiver) = watching();
            let mut innocent = WatchReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
            receiver.link().own.word(word).store(lie, Ordering::Relaxed);
            (5..8).for_each(|value| sender.send(value));
            sender.serve();
            assert_eq!(innocent.recv(), Ok(7));
            assert_eq!(sender.receivers(), if word == CLOSED && lie != 0 { 1 } else { 2 });
        }
    }
}

/// As for pipes: a sender that changes its versions and values all the time.
#[test]
fn senders_of_a_watch_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let (sender, mut receiver) = watching();
        let is_over = Arc::new(AtomicBool::new(false));
        let region = twin(sender.memory().start(), 2 * PAGE);
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || scribble(region, 2 * PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        receiver.set_spin(3);
        for _ in 0..200 {
            let _ = receiver.latest();
            if matches!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Ended(_))) {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
    }
}

/// A broadcast of eight, whose receiver has received 0 to 8, and has not received 9 and 10.
fn broadcasting(is_lossy: bool) -> (BroadcastSender<u64>, BroadcastReceiver<u64>) {
    let options = if is_lossy { Options::new().lossy() } else { Options::new() };
    let mut sender = options.broadcast_without_name(8).unwrap();
    let mut receiver = BroadcastReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    for message in 0..11 {
        sender.try_send(message).unwrap();
        assert!(message > 8 || receiver.recv() == Ok(message));
    }
    (sender, receiver)
}

/// Claim: A receiver of a broadcast whose sender lies receives nothing that is not in the ring, breaks the channel or goes
/// on; for every word of the memory that all receivers map, and where it is said to have joined.
#[test]
fn a_sender_of_a_broadcast_that_lies_word_by_word() {
    let mut broken = 0;
    for is_lossy in [false, true] {
        for word in [PUBLISHED].into_iter().chain((RING..RING + 192).step_by(8)) {
            for lie in lies(11, 9).chain([25, 26, 32, 42]) {
                let (sender, mut receiver) = broadcasting(is_lossy);
                sender.memory().word(word).store(lie, Ordering::Relaxed);
                for _ in 0..12 {
                    match receiver.try_recv() {
                        Ok(message) => assert!(message < 11 || message == lie, "{message} by {lie:#x} at {word}"),
                        Err(BroadcastError::Ended(Error::Broken)) => broken += 1,
                        Err(BroadcastError::Lagged(_) | BroadcastError::Empty) => {}
                        Err(other) => panic!("{other:?} by {lie:#x} at {word}"),
                    }
                }
            }
        }
        for lie in lies(1, 12) {
            let mut sender = broadcasting(is_lossy).0;
            let mut receiver = BroadcastReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
            sender.serve();
            sender.crowd_page(1).word(FROM).store(lie, Ordering::Relaxed);
            (0..20).for_each(|_| _ = receiver.try_recv());
        }
    }
    assert!(broken > 500, "{broken}");
}

/// Claim: A receiver of a broadcast that lies about what it has consumed never makes the sender write over what another
/// has not, and is not waited for any more.
#[test]
fn a_receiver_of_a_broadcast_that_lies_word_by_word() {
    let mut gone = 0;
    for word in [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED] {
        for lie in lies(9, 11) {
            let (mut sender, receiver) = broadcasting(false);
            let mut innocent = BroadcastReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
            sender.serve();
            receiver.link().own.word(word).store(lie, Ordering::Relaxed);
            let sent = (11..100).take_while(|message| sender.try_send(*message).is_ok()).count() as u64;
            assert!(sent <= 8, "{sent} by {lie:#x} at {word}");
            assert!((11..11 + sent).all(|message| innocent.recv() == Ok(message)));
            sender.serve();
            gone += u32::from(sender.receivers() == 1);
        }
    }
    assert!(gone > 100, "{gone}");
}

/// A work queue whose first worker has finished three of eleven jobs and has the others, and whose second has none.
fn working() -> (WorkSender<u64>, WorkReceiver<u64>, WorkReceiver<u64>) {
    let mut sender = WorkSender::without_name(8).unwrap();
    let mut first = WorkReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    for job in 0..11 {
        sender.try_send(job).unwrap();
        if job < 3 {
            first.recv().unwrap().finish();
        }
    }
    let second = WorkReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    (sender, first, second)
}

/// Finishes all jobs: those that this worker has got.
fn work_off(sender: &mut WorkSender<u64>, worker: &mut WorkReceiver<u64>) -> Vec<u64> {
    let mut jobs = Vec::new();
    while !sender.settle_timeout(Duration::ZERO).unwrap() {
        while let Ok(job) = worker.try_recv() {
            jobs.push(*job);
            job.finish();
        }
    }
    jobs
}

/// Claim: A worker that acknowledges more than it was given, or less than before, is broken; it alone is dropped, and what
/// it had is done by another. Of one that acknowledges what it has not done, that is believed, and no more.
#[test]
fn a_worker_that_lies_word_by_word() {
    let mut broken = 0;
    for word in [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED, GIVEN_BACK] {
        for lie in lies(3, 11) {
            let (mut sender, liar, mut innocent) = working();
            liar.link().own.word(word).store(lie, Ordering::Relaxed);
            sender.serve();
            let can_be = word != CONSUMED || (3..=11).contains(&lie);
            let believed = if word == CONSUMED && can_be { lie } else { 3 };
            let expected = match word {
                CLOSED if lie != 0 => vec![closed_by(lie)],
                _ if can_be => vec![],
                _ => vec![Error::Broken],
            };
            assert_eq!(sender.ended(), expected, "by {lie:#x} at {word}");
            broken += usize::from(!can_be);
            drop(liar);
            assert!(work_off(&mut sender, &mut innocent).into_iter().eq(believed..11), "by {lie:#x} at {word}");
            assert_eq!((sender.finished(), sender.workers()), (11, 1));
        }
    }
    assert!(broken > 80, "{broken}");
    // Which of those that it says to have ended it has finished, and which it gives back.
    for lie in lies(0, 0) {
        let (mut sender, liar, mut innocent) = working();
        liar.link().own.word(GIVEN_BACK).store(lie, Ordering::Relaxed);
        liar.link().own.word(CONSUMED).store(7, Ordering::Relaxed);
        sender.serve();
        drop(liar);
        let expected = (3..7).filter(|job| lie >> job & 1 == 1).chain(7..11);
        assert!(work_off(&mut sender, &mut innocent).into_iter().eq(expected), "{lie:#x}");
        assert_eq!(sender.finished(), 11);
    }
}

/// As for pipes: a worker that changes its acknowledgements all the time. Each job is finished once, as far as it is believed.
#[test]
fn workers_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let (mut sender, liar, mut innocent) = working();
        let is_over = Arc::new(AtomicBool::new(false));
        let region = twin(liar.link().own.start(), PAGE);
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || scribble(region, PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        let mut sent = 11;
        for job in 11..200 {
            sent += u64::from(sender.try_send(job).is_ok());
            if let Ok(job) = innocent.try_recv() {
                job.finish();
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
        drop(liar);
        work_off(&mut sender, &mut innocent);
        assert_eq!((sender.finished(), sender.unfinished()), (sent, 0));
    }
}

/// A caller of whose calls the first was answered, and three are pending, of which the receiver has two questions in hand.
/// There are places for four, each of which has a line.
struct Calling {
    funnel: Funnel<Question<u64, u64>>,
    caller: Caller<u64, u64>,
    pending: Vec<Pending>,
    in_hand: Vec<Question<u64, u64>>,
}

const CALLS: usize = 4;

fn calling() -> Calling {
    let options = Options::new().calls(CALLS);
    let mut funnel = options.funnel_without_name::<Question<u64, u64>>().unwrap();
    let mut caller = options.caller(funnel.seat().unwrap().1).unwrap();
    let first = caller.ask(0).unwrap();
    funnel.recv().unwrap().answer(100);
    assert_eq!(caller.recv(first), Ok(100));
    let pending = (1..4).map(|question| caller.ask(question).unwrap()).collect();
    let in_hand = (0..2).map(|_| funnel.recv().unwrap()).collect();
    Calling { funnel, caller, pending, in_hand }
}

/// The memory of the end of the first lane.
fn region_of(funnel: &mut Funnel<Question<u64, u64>>) -> &Own {
    funnel.first_region().unwrap()
}

/// Claim: A caller whose receiver lies about its answers gets nothing but what is in its call's place, breaks the channel, or
/// goes on; for every word of the page and of the places.
#[test]
fn a_receiver_of_questions_that_lies_word_by_word() {
    let (mut broken, mut forged, mut rest) = (0, 0, 0);
    let words = [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED];
    for word in words.into_iter().chain((RING..RING + CALLS * 64).step_by(8)) {
        // Of the numbers of calls, twice as many.
        for lie in lies(12, 8).chain([16, 17, 22, 23]) {
            let Calling { mut funnel, mut caller, pending, in_hand } = calling();
            region_of(&mut funnel).word(word).store(lie, Ordering::Relaxed);
            let mut is_broken = false;
            for call in pending {
                match caller.try_recv(call) {
                    // Nobody has answered: it is what was there.
                    Ok(answer) => {
                        assert!([0, 100].contains(&answer), "{answer} by {lie:#x} at {word}");
                        forged += 1;
                    }
                    Err(CallError::Unanswered) => forged += 1,
                    Err(CallError::NotYet(_)) => rest += 1,
                    Err(CallError::Ended(Error::Broken)) => is_broken = true,
                    Err(CallError::Ended(error)) => {
                        assert!(word == CLOSED && error == closed_by(lie), "{error:?} by {lie:#x} at {word}");
                    }
                }
            }
            broken += u64::from(is_broken);
            let is_place = word >= RING && (word - RING) % 64 == 0;
            assert!(!is_broken || is_place, "by {lie:#x} at {word}");
            if is_broken {
                assert_eq!(caller.call(5), Err(CallError::Ended(Error::Broken)), "for good");
            }
            drop(in_hand);
        }
    }
    assert!(broken > 300 && forged > 4 && rest > 1_000, "{broken} {forged} {rest}");
}

/// Claim: An answer to what nobody has asked, in a place that no call has, breaks the channel as soon as a call would have it;
/// where the last answer is taken back, no call has the place any more.
#[test]
fn an_answer_that_nobody_has_asked_for() {
    for lie in lies(8, 4).filter(|lie| ![6, 8, 9].contains(lie)) {
        let options = Options::new().calls(1);
        let mut funnel = options.funnel_without_name::<Question<u64, u64>>().unwrap();
        let mut caller = options.caller::<u64, u64>(funnel.seat().unwrap().1).unwrap();
        for answer in 0..4 {
            let call = caller.ask(0).unwrap();
            funnel.recv().unwrap().answer(answer);
            assert_eq!(caller.recv(call), Ok(answer));
        }
        region_of(&mut funnel).word(RING).store(lie, Ordering::Relaxed);
        assert_eq!(caller.try_ask(1).unwrap_err(), TrySendError::Ended(1, Error::Broken), "{lie:#x}");
    }
}

/// Claim: A receiver whose caller lies receives no more questions than that may have without an answer, and drops it if it has
/// more; for every word of the page and of the ring. Whatever number a question has, its answer harms nobody.
#[test]
fn a_caller_that_lies_word_by_word() {
    let (mut broken, mut rest) = (0, 0);
    let words = [ASLEEP, FENCED, CONSUMED, CLOSED, PUBLISHED];
    for word in words.into_iter().chain((RING..RING + 256).step_by(8)) {
        for lie in lies(4, 4).chain([6, 7, 8, 9]) {
            let Calling { mut funnel, caller, pending, mut in_hand } = calling();
            let mut innocent = Caller::<u64, u64>::from_fd(funnel.seat().unwrap().1).unwrap();
            caller.link().own.word(word).store(lie, Ordering::Relaxed);
            let call = innocent.ask(1_000).unwrap();
            while let Ok(question) = funnel.try_recv() {
                if *question == 1_000 { question.answer(7) } else { in_hand.push(question) }
            }
            assert!(in_hand.len() <= CALLS, "{} by {lie:#x} at {word}", in_hand.len());
            match funnel.next_ended().map(|ended| ended.error) {
                Some(Error::Broken) => broken += 1,
                Some(error) => assert!(word == CLOSED && error == closed_by(lie), "{error:?} by {lie:#x} at {word}"),
                None => rest += 1,
            }
            in_hand.into_iter().for_each(|question| question.answer(9));
            assert_eq!(innocent.recv(call), Ok(7));
            drop((caller, pending));
        }
    }
    assert!(broken > 100 && rest > 1_000, "{broken} {rest}");
}

/// Claim: A caller that asks more than it may is dropped with the first question too many.
#[test]
fn a_caller_that_asks_too_much() {
    let Calling { mut funnel, mut caller, pending, mut in_hand } = calling();
    in_hand.push(funnel.recv().unwrap());
    drop(caller.ask(4).unwrap());
    in_hand.push(funnel.recv().unwrap());
    assert_eq!(caller.try_ask(5).unwrap_err(), TrySendError::Full(5));
    caller.ask_without_place(&5);
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Ended(Error::Closed));
    assert_eq!(funnel.next_ended().map(|ended| ended.error), Some(Error::Broken));
    drop((in_hand, pending));
}

/// As for pipes: either end changes its memory all the time.
#[test]
fn ends_of_calls_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let Calling { mut funnel, mut caller, mut pending, mut in_hand } = calling();
        let is_over = Arc::new(AtomicBool::new(false));
        let liar = if seed % 2 == 0 { &caller.link().own } else { region_of(&mut funnel) };
        let region = twin(liar.start(), 2 * PAGE);
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || scribble(region, 2 * PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        caller.set_spin(3);
        funnel.set_spin(3);
        for question in 0..40 {
            pending.extend(caller.try_ask(question).ok());
            if let Ok(question) = funnel.recv_timeout(Duration::from_micros(200)) {
                in_hand.push(question);
            }
            if question % 3 > 0 {
                in_hand.pop().into_iter().for_each(|question| question.answer(1));
            }
            if let Some(call) = pending.pop() {
                if let Err(CallError::NotYet(call)) = caller.recv_timeout(call, Duration::from_micros(200)) {
                    pending.push(call);
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
    }
}

/// As for pipes: a sender that changes its ring all the time.
#[test]
fn senders_of_a_broadcast_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let (sender, mut receiver) = broadcasting(seed % 2 == 0);
        let is_over = Arc::new(AtomicBool::new(false));
        let region = twin(sender.memory().start(), 2 * PAGE);
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || scribble(region, 2 * PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        receiver.set_spin(3);
        for _ in 0..200 {
            if matches!(receiver.recv_timeout(Duration::from_millis(1)), Err(BroadcastError::Ended(_))) {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
    }
}

/// Loans of two slots of 16 bytes, of which the receiver holds the first, has given the second back, and has not received one
/// more, which is in the second.
fn lending() -> (LoanSender, LoanReceiver, Borrowed) {
    let mut sender = LoanSender::without_name(2, 16).unwrap();
    let mut receiver = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    let mut held = Vec::new();
    for message in 0..3_u64 {
        let mut loan = sender.try_loan(8 + message as usize).unwrap();
        loan.write(0, &message);
        loan.send().unwrap();
        if message < 2 {
            held.push(receiver.recv().unwrap());
        }
        held.truncate(1);
    }
    assert_eq!((sender.free(), sender.held()), (0, 1));
    (sender, receiver, held.remove(0))
}

/// Claim: A sender of loans that lies in its pool, word by word, lends nothing outside of it, nothing that this receiver has
/// already, and never more bytes than a slot has; or it is broken. What was lent before stays readable, within its bounds.
#[test]
fn a_sender_of_loans_that_lies_word_by_word() {
    let mut broken = 0;
    for word in [ASLEEP, PUBLISHED, CLOSED].into_iter().chain((RING..RING + 192).step_by(8)) {
        for lie in lies(3, 2).chain([1 << 63 | 1, 1 << 63, 16, 17, 2]) {
            let (sender, mut receiver, held) = lending();
            sender.memory().word(word).store(lie, Ordering::Relaxed);
            let mut received = vec![held];
            let end = loop {
                match receiver.try_recv() {
                    Ok(borrowed) => received.push(borrowed),
                    Err(error) => break error,
                }
            };
            // Both slots, at most.
            assert!(received.len() <= 2, "by {lie:#x} at {word}");
            assert!(received.iter().all(|borrowed| borrowed.to_vec().len() <= 16));
            assert_eq!(received[0].read(0), Some(0_u64));
            assert_eq!(received[0].read::<u64>(1), None);
            match end {
                TryRecvError::Ended(Error::Broken) => broken += 1,
                TryRecvError::Empty => {}
                other => panic!("{other:?} by {lie:#x} at {word}"),
            }
            drop(received);
            assert!((0..2).all(|word| receiver.table().word(8 * word).load(Ordering::Relaxed) == 0));
        }
    }
    assert!(broken > 300, "{broken}");
}

/// Claim: A ticket for no slot, for one that this receiver has, for too many bytes, or for memory that was not sent, breaks
/// the channel, and none behind it is believed.
#[test]
fn tickets_that_cannot_be_are_refused() {
    let lies = [[2, 0], [0, 8], [1 << 32, 8], [1, 17], [1, u64::MAX], [u64::MAX, 8], [1 << 63, 8], [1 << 63 | 5, 0]];
    for lie in lies {
        let (mut sender, mut receiver, held) = lending();
        drop(receiver.recv().unwrap());
        sender.publish_lie(lie);
        sender.publish_lie([1, 8]);
        for _ in 0..2 {
            assert_eq!(receiver.recv().unwrap_err(), Error::Broken, "{lie:?}");
        }
        drop(held);
        assert_eq!(receiver.recv().unwrap_err(), Error::Broken, "{lie:?}");
    }
}

/// Claim: Memory of its own that is not sealed against writing, or is shorter than is said, is no slice of anybody.
#[test]
fn memory_of_its_own_is_checked() {
    let memory = |seals| {
        let memfd = rustix::fs::memfd_create("liar", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&memfd, PAGE as u64).unwrap();
        rustix::fs::fallocate(&memfd, FallocateFlags::empty(), 0, PAGE as u64).unwrap();
        rustix::fs::fcntl_add_seals(&memfd, seals).unwrap();
        memfd
    };
    let sealed = ALL.difference(SealFlags::FUTURE_WRITE) | SealFlags::WRITE;
    let (good, writable, short) = (memory(sealed), memory(ALL), memory(sealed.difference(SealFlags::SHRINK)));
    let pipe = rustix::pipe::pipe().unwrap();
    let refused = |why| Some(Error::Refused(why));
    let cases: [(&OwnedFd, u64, u64, Option<Error>); 7] = [
        (&good, 7, PAGE as u64, None),
        (&good, 7, PAGE as u64 + 1, Some(Error::Broken)),
        (&good, 7, u64::MAX, Some(Error::Broken)),
        (&good, 8, 1, Some(Error::Broken)),
        (&writable, 7, 1, refused(Why::Seals)),
        (&short, 7, 1, refused(Why::Seals)),
        (&pipe.0, 7, 1, refused(Why::NotMemory)),
    ];
    for options in [Options::new(), Options::new().careful()] {
        for (at, (memfd, number, length, error)) in cases.iter().enumerate() {
            let mut sender = LoanSender::without_name(2, 16).unwrap();
            let mut receiver = options.loan_receiver(sender.seat().unwrap()).unwrap();
            sender.serve();
            // Of messages that were never published, more than are kept.
            (0..100).for_each(|_| sender.send_lie(3, good.as_fd()));
            sender.send_lie(7, memfd.as_fd());
            sender.publish_lie([1 << 63 | number, *length]);
            assert!(!receiver.arm());
            let received = receiver.recv();
            assert_eq!(received.as_ref().err(), error.as_ref(), "case {at}");
            assert_eq!(received.ok().map(|it| it.as_slice().unwrap().len() as u64), error.is_none().then_some(*length));
        }
    }
}

/// Claim: A receiver of loans that says that it holds what it was not lent, or has consumed more than there is, or less than
/// before, is broken; it alone is dropped. What it may hold it is believed, and no slot of another is given away.
#[test]
fn a_receiver_of_loans_that_lies_word_by_word() {
    let mut broken = 0;
    let pages = [(true, 0), (true, 8), (false, ASLEEP), (false, FENCED), (false, CONSUMED), (false, PUBLISHED)];
    for (is_table, word) in pages {
        for lie in lies(2, 3) {
            let (mut sender, receiver, _held) = lending();
            let mut innocent = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
            sender.serve();
            let memory = if is_table { receiver.table() } else { &receiver.link().own };
            memory.word(word).store(lie, Ordering::Relaxed);
            let free = sender.free();
            sender.serve();
            let can_be = match (is_table, word) {
                (true, 0) => lie < 4,
                (false, CONSUMED) => lie == 2 || lie == 3 || lie == u64::MAX,
                _ => true,
            };
            assert_eq!(sender.receivers(), 1 + usize::from(can_be), "by {lie:#x} at {word}");
            broken += usize::from(!can_be);
            let expected = match (is_table, word) {
                _ if !can_be => 2,
                // It holds the first no more, and has not received the second.
                (true, 0) => usize::from(lie & 1 == 0),
                (false, CONSUMED) => usize::from(lie != 2),
                _ => 0,
            };
            assert_eq!(free, expected, "by {lie:#x} at {word}");
            drop((receiver, _held));
            let mut loan = sender.loan_timeout(8, LONG).unwrap();
            loan.write(0, &9_u64);
            loan.send().unwrap();
            assert_eq!(innocent.recv().unwrap().read(0), Some(9_u64));
        }
    }
    assert!(broken > 150, "{broken}");
}

/// Claim: A pool whose slots do not go with the size of the memory, or that overflows, is refused.
#[test]
fn pools_that_cannot_be_are_refused() {
    for (word, lies) in [(24, [0, 17_000, u64::MAX, 1 << 63, 1 << 52]), (40, [0, 1 << 20, u64::MAX, 32_769, 1_000])] {
        for lie in lies {
            let mut sender = LoanSender::without_name(2, 16).unwrap();
            let seat = sender.seat().unwrap();
            sender.crowd_page(0).word(word).store(lie, Ordering::Relaxed);
            let error = LoanReceiver::from_fd(seat).unwrap().recv().unwrap_err();
            let possible = [Error::Refused(Why::Capacity), Error::Refused(Why::Size)];
            assert!(possible.contains(&error), "{lie} at {word}: {error:?}");
        }
    }
}

/// Claim: A receiver that says that it has received large messages, and takes none of them, is broken; the others go on.
#[test]
fn a_receiver_that_takes_no_memory_is_broken() {
    for options in [Options::new(), Options::new().careful()] {
        let mut sender = options.loans_without_name(2, 16).unwrap();
        let liar = options.loan_receiver(sender.seat().unwrap()).unwrap();
        let mut innocent = options.loan_receiver(sender.seat().unwrap()).unwrap();
        sender.serve();
        let mut message = 0_u64;
        while sender.receivers() == 2 {
            let mut loan = sender.try_large(8).unwrap();
            loan.write(0, &message);
            loan.send().unwrap();
            message += 1;
            assert_eq!(innocent.recv().unwrap().as_slice(), Some(message.wrapping_sub(1).to_ne_bytes().as_slice()));
            liar.link().own.word(CONSUMED).store(message, Ordering::Relaxed);
            sender.serve();
        }
        assert!(message > 16);
    }
}

/// A receiver that holds what it has given back is slow, as far as anybody can tell; one that holds what is being filled is
/// broken.
#[test]
fn a_receiver_cannot_hold_what_is_free() {
    let (mut sender, mut receiver, held) = lending();
    drop((receiver.recv().unwrap(), held));
    assert_eq!(sender.free(), 2);
    receiver.table().word(0).store(2, Ordering::Relaxed);
    assert_eq!((sender.free(), sender.held()), (2, 0));
    sender.serve();
    assert_eq!(sender.receivers(), 0);
}

/// As for pipes: a sender that changes its tickets and slots all the time, and receivers their tables.
#[test]
fn loans_of_who_scribbles_all_the_time() {
    for seed in 1..=peers() {
        let (mut sender, mut receiver, _held) = lending();
        let mut innocent = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
        sender.serve();
        let is_over = Arc::new(AtomicBool::new(false));
        let (region, bytes) = match seed % 3 {
            0 => (twin(sender.memory().start(), 3 * PAGE), 3 * PAGE),
            1 => (receiver.table().start().as_ptr() as usize, 8),
            _ => (twin(receiver.link().own.start(), PAGE), PAGE),
        };
        let scribbling = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || match bytes {
                8 => (0..8).cycle().take_while(|_| !is_over.load(Ordering::Relaxed)).for_each(|lie| {
                    // SAFETY: the first word of the table, which lives until this thread is joined.
                    unsafe { (*(region as *const AtomicU64)).store(lie, Ordering::Relaxed) };
                }),
                _ => scribble(region, bytes, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            }
        });
        receiver.set_spin(3);
        for _ in 0..200 {
            if let Ok(loan) = sender.loan_timeout(16, Duration::from_millis(1)) {
                loan.send().unwrap();
            }
            let received = receiver.recv_timeout(Duration::from_millis(1));
            assert!(received.as_ref().map_or(true, |borrowed| borrowed.to_vec().len() <= 16));
            let _ = innocent.try_recv();
            if received.is_err() {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.join().unwrap();
    }
}

/// A page as an honest receiver of `u64` has it, in memory of the test's own choice.
fn memory(bytes: usize, seals: SealFlags, change: impl FnOnce(&Own)) -> OwnedFd {
    let own = Own::new(bytes).unwrap();
    let shape = Shape { kind: Kind::Typed, size: 8, align: 8, name: hashed("") };
    Header { role: Role::Receiver, shape, capacity: 0, bytes, needs_fences: false, processor: None }.write(&own);
    change(&own);
    let memfd = rustix::fs::memfd_create("liar", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&memfd, bytes as u64).unwrap();
    rustix::fs::fallocate(&memfd, FallocateFlags::empty(), 0, bytes as u64).unwrap();
    let copied: Vec<u8> =
        (0..bytes).step_by(8).flat_map(|at| own.word(at).load(Ordering::Relaxed).to_ne_bytes()).collect();
    assert_eq!(rustix::io::pwrite(&memfd, &copied, 0), Ok(bytes));
    rustix::fs::fcntl_add_seals(&memfd, seals).unwrap();
    memfd
}

const ALL: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL).union(SealFlags::FUTURE_WRITE);

/// What a sender says to this packet with these descriptors.
fn answer(packet: &[u8], descriptors: &[BorrowedFd<'_>]) -> Error {
    let (one, other) = os::pair().unwrap();
    os::send(other.as_fd(), packet, descriptors).unwrap();
    let mut sender = Sender::<u64>::from_fd(one, 4).unwrap();
    match sender.meet_timeout(LONG) {
        Err(error) => {
            assert_eq!(sender.send(1).unwrap_err().1, error);
            error
        }
        Ok(is_met) => panic!("met: {is_met}"),
    }
}

/// Claim: A hello that is not as it must be is refused, with the reason, and takes nothing with it.
#[test]
fn lies_in_a_hello_are_refused() {
    let hello = crate::link::packet(0, 0);
    let good = memory(PAGE, ALL, |_| ());
    let bell = os::bell().unwrap();
    let pipe = rustix::pipe::pipe().unwrap();
    let (fd, ring) = (good.as_fd(), bell.as_fd());
    let refused = |why| Error::Refused(why);
    let of_version = |version: u32| {
        let mut other = hello;
        other[12..16].copy_from_slice(&version.to_ne_bytes());
        other
    };
    let (earlier, later) = (of_version(0x0001_0000), of_version(0x0003_0000));
    let cases: [(&[u8], &[BorrowedFd<'_>], Error); 18] = [
        (&hello[..7], &[fd, ring], refused(Why::Magic)),
        (&hello[..16], &[fd, ring], refused(Why::Packet)),
        (&[0; 24], &[fd, ring], refused(Why::Magic)),
        (&[hello.as_slice(), b"x"].concat(), &[fd, ring], refused(Why::Packet)),
        (&[hello.as_slice(), &[0; 100_000]].concat(), &[fd, ring], refused(Why::Packet)),
        (&earlier, &[fd, ring], refused(Why::Version(0x0001_0000))),
        (&later, &[fd, ring], refused(Why::Version(0x0003_0000))),
        (&crate::link::packet(2, 0), &[fd, ring], refused(Why::Packet)),
        (&crate::link::packet(0, 77), &[fd, ring], refused(Why::Packet)),
        (&crate::link::packet(0, 2 | 4 << 32), &[], refused(Why::ByPeer("the peer's memory has a wrong size"))),
        (&crate::link::packet(0, 2 | 999 << 32), &[], refused(Why::ByPeer("for a reason of its own"))),
        (&hello, &[], refused(Why::Packet)),
        (&hello, &[fd], refused(Why::Packet)),
        (&hello, &[fd, ring, ring, ring], refused(Why::Packet)),
        (&crate::link::packet(1, 0), &[fd, ring], refused(Why::Packet)),
        (&hello, &[ring, fd], refused(Why::NotMemory)),
        (&hello, &[fd, pipe.1.as_fd()], refused(Why::Packet)),
        (&hello, &[fd, ring, pipe.0.as_fd()], refused(Why::Packet)),
    ];
    for (at, (packet, descriptors, error)) in cases.iter().enumerate() {
        assert_eq!(answer(packet, descriptors), *error, "case {at}");
    }
    // Nobody has kept the end that was sent: its reader finds the end.
    drop(pipe.1);
    assert_eq!(rustix::io::read(&pipe.0, &mut [0_u8; 8]), Ok(0));
}

/// Claim: A peer that has sent its own end of the socket, which then lives on unread, and the descriptor of a process that
/// is not its own, is missed all the same when it is gone.
#[test]
fn a_peer_that_hides_its_own_death_is_missed() {
    let (good, bell) = (memory(PAGE, ALL, |_| ()), os::bell().unwrap());
    let (one, other) = os::pair().unwrap();
    let mut sender = Sender::<u64>::from_fd(one, 4).unwrap();
    let process = os::own_process().unwrap();
    os::send(other.as_fd(), &crate::link::packet(0, 0), &[good.as_fd(), bell.as_fd(), process.as_fd()]).unwrap();
    os::send(other.as_fd(), b"its own end", &[other.as_fd()]).unwrap();
    assert_eq!(sender.meet_timeout(LONG), Ok(true));
    assert!(!sender.is_disconnected());
    drop(other);
    assert!((0..3).any(|_| sender.is_disconnected()));
    assert_eq!(sender.try_send(1), Err(TrySendError::Ended(1, Error::Died)));
}

#[test]
fn memory_in_a_hello_is_checked() {
    let bell = os::bell().unwrap();
    let say = |memfd: &OwnedFd| answer(&crate::link::packet(0, 0), &[memfd.as_fd(), bell.as_fd()]);
    let refused = |why| Error::Refused(why);
    assert_eq!(say(&memory(PAGE, ALL.difference(SealFlags::SHRINK), |_| ())), refused(Why::Seals));
    assert_eq!(say(&memory(PAGE, ALL.difference(SealFlags::FUTURE_WRITE), |_| ())), refused(Why::Seals));
    // A receiver has a page and no more.
    assert_eq!(say(&memory(2 * PAGE, ALL, |_| ())), refused(Why::Size));
    let put = |at: usize, value: u64| memory(PAGE, ALL, |own| own.word(at).store(value, Ordering::Relaxed));
    assert_eq!(say(&put(0, 5)), refused(Why::Magic));
    assert_eq!(say(&put(8, 0x0009_0000)), refused(Why::Version(0x0009_0000)));
    assert_eq!(say(&put(16, 0)), refused(Why::Role));
    assert_eq!(say(&put(24, 16)), refused(Why::Type));
    assert_eq!(say(&put(48, 8192)), refused(Why::Size));
}

/// Claim: What a sender shares with all its receivers is checked as its own memory is.
#[test]
fn shared_memory_in_a_hello_is_checked() {
    let bell = os::bell().unwrap();
    let region = |bytes: usize, seals| {
        let memfd = rustix::fs::memfd_create("liar", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&memfd, bytes as u64).unwrap();
        rustix::fs::fallocate(&memfd, FallocateFlags::empty(), 0, bytes as u64).unwrap();
        rustix::fs::fcntl_add_seals(&memfd, seals).unwrap();
        memfd
    };
    let said = |flags: u32, shared: &[BorrowedFd<'_>], places: usize| {
        let own = Own::new(PAGE).unwrap();
        let shape = Shape { kind: Kind::Watch, size: 8, align: 8, name: hashed("") };
        Header { role: Role::Sender, shape, capacity: places, bytes: PAGE, needs_fences: false, processor: None }
            .write(&own);
        let (one, other) = os::pair().unwrap();
        let descriptors: Vec<_> = [own.memfd()].iter().chain(shared).chain([&bell.as_fd()]).copied().collect();
        os::send(other.as_fd(), &crate::link::packet(flags, 0), &descriptors).unwrap();
        WatchReceiver::<u64>::from_fd(one).unwrap().meet_timeout(LONG)
    };
    let good = region(2 * PAGE, ALL);
    let fd = good.as_fd();
    let refused = |why| Err(Error::Refused(why));
    assert_eq!(said(2, &[fd], 64), Ok(true));
    assert_eq!(said(2, &[fd], 32), Ok(true), "in the same number of pages");
    assert_eq!(said(0, &[], 64), refused(Why::Packet));
    assert_eq!(said(2, &[], 64), refused(Why::Packet));
    assert_eq!(said(2, &[fd, fd], 64), refused(Why::Packet));
    assert_eq!(said(2, &[bell.as_fd()], 64), refused(Why::NotMemory));
    for places in [0, 1, 3, 65, 128, 1 << 62] {
        let error = said(2, &[fd], places);
        assert!(error == refused(Why::Capacity) || error == refused(Why::Size), "{places}: {error:?}");
    }
    assert_eq!(said(2, &[region(3 * PAGE, ALL).as_fd()], 64), refused(Why::Size));
    assert_eq!(said(2, &[region(2 * PAGE, ALL.difference(SealFlags::SHRINK)).as_fd()], 64), refused(Why::Seals));
}

/// A capacity that does not go with the size of the memory, or that overflows, is refused.
#[test]
fn capacities_that_cannot_be_are_refused() {
    for capacity in [0, 1, 7, 9, 1 << 20, u64::MAX, u64::MAX / 8, 1 << 61] {
        let (one, other) = os::pair().unwrap();
        let mut receiver = Receiver::<u64>::from_fd(one).unwrap();
        let sender = Sender::<u64>::from_fd(other, 500).unwrap();
        sender.link().own.word(40).store(capacity, Ordering::Relaxed);
        let mut sender = sender;
        sender.try_send(1).unwrap();
        let error = receiver.recv().unwrap_err();
        let possible = [Error::Refused(Why::Capacity), Error::Refused(Why::Size)];
        assert!(possible.contains(&error), "{capacity}: {error:?}");
    }
    assert_eq!(pipe::<u64>(0).unwrap_err(), Error::Refused(Why::Capacity));
    assert_eq!(pipe::<u64>(usize::MAX).unwrap_err(), Error::Refused(Why::Capacity));
    assert_eq!(pipe_bytes(8).unwrap_err(), Error::Refused(Why::Capacity));
    assert_eq!(pipe_bytes(usize::MAX).unwrap_err(), Error::Refused(Why::Capacity));
}
