//! Ends that lie in jobs, questions and answers of bytes, each of which says how many it has, and about how many it may have.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::{lies, peers, scribble, stays, twin};
use crate::os::PAGE;
use crate::page::RING;
use crate::sync::Ordering;
use crate::{
    Bytes, BytesCaller, BytesWorkSender, CallError, Error, Funnel, Options, Question, TryRecvError, TrySendError, Why,
    WorkReceiver,
};

/// From one job to the next: a word with the length, and 40 bytes; all jobs are in one group, behind its state. With a state of
/// its own, an answer fills a line. A question has a number as well, and less.
const STEP: usize = 48;
const LARGEST: usize = 40;

type Asked = Question<Bytes, Bytes>;

fn options() -> Options {
    Options::new().calls(4).largest_answer(LARGEST)
}

fn calling() -> (Funnel<Asked>, BytesCaller) {
    let mut funnel = options().funnel_without_name::<Asked>().unwrap();
    let caller = options().bytes_caller(funnel.seat().unwrap().1, LARGEST - 8).unwrap();
    assert!(funnel.try_recv().is_err());
    (funnel, caller)
}

/// Four jobs, of which the worker has finished one.
fn working() -> (BytesWorkSender, WorkReceiver<Bytes>) {
    let mut sender = BytesWorkSender::without_name(4, LARGEST).unwrap();
    let mut worker = WorkReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    (0..4).for_each(|job| sender.try_send(&[job; 17]).unwrap());
    worker.recv().unwrap().finish();
    (sender, worker)
}

/// Claim: A worker whose sender lies about a job has no more bytes than have room, or breaks the channel; for every word of the
/// ring.
#[test]
fn a_sender_of_jobs_of_bytes_that_lies_word_by_word() {
    let (mut broken, mut whole) = (0, 0);
    for word in (RING..RING + 8 + 4 * STEP).step_by(8) {
        for lie in lies(17, 4).chain(30..50) {
            let (sender, mut worker) = working();
            sender.first_region().word(word).store(lie, Ordering::Relaxed);
            for _ in 1..5 {
                match worker.try_recv() {
                    Ok(job) => {
                        assert!(job.0.len() <= LARGEST, "{job:?} by {lie:#x} at {word}");
                        job.finish();
                        whole += 1;
                    }
                    Err(TryRecvError::Ended(Error::Broken)) => broken += 1,
                    Err(TryRecvError::Empty) => {}
                    Err(other) => panic!("{other:?} by {lie:#x} at {word}"),
                }
            }
        }
    }
    assert!(broken > 500 && whole > 500, "{broken} {whole}");
    // A job that breaks the channel is not lost: another has it.
    let (mut sender, mut worker) = working();
    sender.first_region().word(RING + 8 + STEP).store(LARGEST as u64 + 1, Ordering::Relaxed);
    assert_eq!(worker.try_recv().unwrap_err(), TryRecvError::Ended(Error::Broken));
    sender.first_region().word(RING + 8 + STEP).store(17, Ordering::Relaxed);
    let mut other = WorkReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
    assert_eq!(worker.try_recv().unwrap_err(), TryRecvError::Ended(Error::Broken), "it stays");
    drop(worker);
    sender.serve();
    for job in 1..4 {
        let taken = other.recv().unwrap();
        assert_eq!(taken.0, [job; 17]);
        taken.finish();
    }
    sender.settle().unwrap();
    assert_eq!((sender.finished(), sender.unfinished()), (4, 0));
    assert_eq!(sender.ended(), [Error::Closed]);
}

/// Claim: A caller whose receiver lies about the length of an answer gets no more than has room, or breaks the channel for good.
#[test]
fn a_receiver_of_questions_that_lies_about_lengths() {
    let (mut broken, mut whole) = (0, 0);
    for lie in lies(17, 4).chain(30..50) {
        let (mut funnel, mut caller) = calling();
        let call = caller.ask(b"how long?").unwrap();
        funnel.recv().unwrap().answer(&[7; 17]);
        // Where the first call has its place.
        funnel.first_region().unwrap().word(RING + 8).store(lie, Ordering::Relaxed);
        match caller.try_recv(call) {
            Ok(answer) => {
                assert!(answer.0.len() <= LARGEST && answer.0.len() as u64 == lie, "{answer:?} by {lie:#x}");
                whole += 1;
            }
            Err(CallError::Ended(Error::Broken)) => {
                assert!(lie > LARGEST as u64, "{lie:#x}");
                stays(
                    || caller.call(b"again"),
                    &Err(CallError::Ended(Error::Broken)),
                    || {
                        funnel.first_region().unwrap().word(RING + 8).store(17, Ordering::Relaxed);
                    },
                );
                broken += 1;
            }
            Err(other) => panic!("{other:?} by {lie:#x}"),
        }
    }
    assert!(broken > 50 && whole > 20, "{broken} {whole}");
}

/// Claim: A receiver whose caller lies about a question receives no more than has room, or drops that caller, and no other; for
/// every word of the ring.
#[test]
fn a_caller_that_lies_about_lengths() {
    let (mut broken, mut whole) = (0, 0);
    for word in (RING..RING + 8 + 2 * STEP).step_by(8) {
        for lie in lies(17, 2).chain(25..50) {
            let (mut funnel, mut caller) = calling();
            let mut innocent = options().bytes_caller::<Bytes>(funnel.seat().unwrap().1, LARGEST).unwrap();
            let calls = [caller.ask(&[1; 17]).unwrap(), caller.ask(&[2; 17]).unwrap()];
            caller.inner().link().own.word(word).store(lie, Ordering::Relaxed);
            let call = innocent.ask(&[3; LARGEST]).unwrap();
            while let Ok(question) = funnel.try_recv() {
                let is_innocent = question.0 == [3; LARGEST];
                assert!(is_innocent || question.0.len() <= LARGEST - 8, "{question:?} by {lie:#x} at {word}");
                whole += usize::from(!is_innocent);
                let answer = question.0.clone();
                question.answer(&answer);
            }
            broken += usize::from(funnel.next_ended().is_some_and(|ended| ended.error == Error::Broken));
            assert_eq!(innocent.recv(call), Ok(Bytes(vec![3; LARGEST])));
            drop(calls);
        }
    }
    assert!(broken > 100 && whole > 500, "{broken} {whole}");
}

/// Claim: A caller that asks more than it may, by bytes, is dropped with the first question too many.
#[test]
fn a_caller_that_asks_too_much() {
    let (mut funnel, mut caller) = calling();
    let calls: Vec<_> = (0..4).map(|_| caller.ask(b"one of four").unwrap()).collect();
    let in_hand: Vec<_> = (0..4).map(|_| funnel.recv().unwrap()).collect();
    assert_eq!(caller.try_ask(b"too many").unwrap_err(), TrySendError::Full(()));
    caller.inner().ask_without_place(b"too many");
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Ended(Error::Closed));
    assert_eq!(funnel.next_ended().map(|ended| ended.error), Some(Error::Broken));
    drop((in_hand, calls));
}

/// As for pipes: ends that change their memory all the time.
#[test]
fn ends_of_counted_bytes_that_scribble_all_the_time() {
    for seed in 1..=peers() {
        let (mut funnel, mut caller) = calling();
        let (mut sender, mut worker) = working();
        let own = if seed % 2 == 0 { &caller.inner().link().own } else { funnel.first_region().unwrap() };
        let regions = [own, sender.first_region()].map(|own| twin(own.start(), 2 * PAGE));
        let is_over = Arc::new(AtomicBool::new(false));
        let scribbling = regions.map(|region| {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                scribble(region, 2 * PAGE, &is_over, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            })
        });
        caller.set_spin(3);
        worker.set_spin(3);
        let limit = Duration::from_micros(200);
        let mut pending = Vec::new();
        for length in 0..40 {
            pending.extend(caller.try_ask(&[5; LARGEST][..length % 30]).ok());
            if let Ok(question) = funnel.recv_timeout(limit) {
                assert!(question.0.len() <= LARGEST);
                question.answer(&[6; LARGEST][..length]);
            }
            if let Some(call) = pending.pop() {
                match caller.recv_timeout(call, limit) {
                    Err(CallError::NotYet(call)) => pending.push(call),
                    answer => assert!(answer.is_ok_and(|answer| answer.0.len() <= LARGEST) || length < 40),
                }
            }
            if let Ok(job) = worker.recv_timeout(limit) {
                assert!(job.0.len() <= LARGEST);
                job.finish();
            }
            let _ = sender.try_send(&[4; LARGEST][..length]);
        }
        is_over.store(true, Ordering::Relaxed);
        scribbling.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// The word of a header with the bytes of a message.
const SIZE: usize = 24;

/// Claim: A size that cannot be is refused, whichever end says it; and one that could be is checked against the memory.
#[test]
fn sizes_that_cannot_be_are_refused() {
    let mut refused = 0;
    for lie in lies(48, 4_096).filter(|lie| *lie != 48) {
        let mut outcomes = Vec::new();
        let mut sender = BytesWorkSender::without_name(4, LARGEST).unwrap();
        let seat = sender.seat().unwrap();
        sender.first_region().word(SIZE).store(lie, Ordering::Relaxed);
        let mut worker = WorkReceiver::<Bytes>::from_fd(seat).unwrap();
        outcomes.push(worker.try_recv().map(drop).map_err(|error| error == TryRecvError::Empty));

        let mut funnel = options().funnel_without_name::<Asked>().unwrap();
        let seat = funnel.seat().unwrap().1;
        funnel.first_region().unwrap().word(SIZE).store(lie, Ordering::Relaxed);
        let mut caller: BytesCaller = options().bytes_caller(seat, LARGEST).unwrap();
        outcomes.push(caller.try_ask(b"").map(drop).map_err(|error| error == TrySendError::Full(())));

        let mut funnel = options().funnel_without_name::<Asked>().unwrap();
        let mut caller: BytesCaller = options().bytes_caller(funnel.seat().unwrap().1, LARGEST).unwrap();
        caller.inner().link().own.word(SIZE).store(lie, Ordering::Relaxed);
        let _ = funnel.try_recv();
        let ended = funnel.next_ended().map(|ended| ended.error);
        assert!(matches!(ended, None | Some(Error::Refused(Why::Capacity | Why::Size))), "{ended:?} by {lie:#x}");
        outcomes.push(ended.map_or(Ok(()), |_| Err(false)));

        if lie <= 8 || lie % 8 != 0 || lie > 4_096 {
            assert_eq!(outcomes, [Err(false); 3], "{lie:#x}");
            refused += 1;
        }
    }
    assert!(refused > 90, "{refused}");
    for largest in [0, 1 << 32, usize::MAX] {
        assert_eq!(BytesWorkSender::without_name(1, largest).unwrap_err(), Error::Refused(Why::Capacity), "{largest}");
        let mut funnel = options().funnel_without_name::<Asked>().unwrap();
        let seat = funnel.seat().unwrap().1;
        assert_eq!(BytesCaller::from_fd(seat, largest).unwrap_err(), Error::Refused(Why::Capacity), "{largest}");
        let mut funnel = Options::new().largest_answer(largest).funnel_without_name::<Asked>().unwrap();
        assert_eq!(funnel.seat().unwrap_err(), Error::Refused(Why::Capacity), "{largest}");
    }
}
