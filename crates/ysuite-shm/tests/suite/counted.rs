//! Bytes of any length up to a bound: questions, answers and jobs.

use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use ysuite_shm::{
    Bytes, BytesCaller, BytesWorkSender, CallError, Caller, Error, Funnel, Options, Question, SendTimeoutError,
    TryRecvError, TrySendError, Why, WorkReceiver, connect,
};

type Asked = Question<Bytes, Bytes>;

const LARGEST: usize = 300;

fn name(test: &str) -> String {
    format!("test-{}-counted-{test}", std::process::id())
}

/// Bytes of this length, which are not those of any other.
fn record(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + length) as u8).collect()
}

fn calls(options: &Options, largest: usize) -> (Funnel<Asked>, BytesCaller) {
    let mut funnel = options.funnel_without_name::<Asked>().unwrap();
    let caller = options.bytes_caller(funnel.seat().unwrap().1, largest).unwrap();
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
    (funnel, caller)
}

/// An answer: the question, backwards, and twice.
fn answer(question: Asked) {
    let mut answer: Vec<u8> = question.0.iter().rev().copied().collect();
    answer.extend_from_within(..);
    question.answer(&answer);
}

fn answer_to(question: &[u8]) -> Bytes {
    let mut answer: Vec<u8> = question.iter().rev().copied().collect();
    answer.extend_from_within(..);
    Bytes(answer)
}

/// Claim: A question and an answer of every length up to the bound come as they were sent, whichever side waits and however
/// many calls are under way; whatever was in their places before.
#[test]
fn calls_of_all_lengths() {
    for (options, spin) in [(Options::new(), 100), (Options::new().calls(3).careful(), 0)] {
        let (mut funnel, mut caller) = calls(&options.largest_answer(2 * LARGEST), LARGEST);
        assert_eq!(caller.largest(), LARGEST.next_multiple_of(8));
        funnel.set_spin(spin);
        caller.set_spin(spin);
        let answering = thread::spawn(move || funnel.iter().for_each(answer));
        let lengths = |round: usize| (0..=LARGEST).map(move |at| at * (2 * round + 1) % (LARGEST + 1));
        for round in 0..3 {
            let mut pending = std::collections::VecDeque::new();
            for length in lengths(round) {
                if length % 4 == 0 {
                    assert_eq!(caller.call(&record(length)), Ok(answer_to(&record(length))));
                    continue;
                }
                pending.push_back((length, caller.ask(&record(length)).unwrap()));
                if pending.len() > 2 {
                    let (length, call) = pending.pop_front().unwrap();
                    assert_eq!(caller.recv(call), Ok(answer_to(&record(length))));
                }
            }
            for (length, call) in pending {
                assert_eq!(caller.recv(call), Ok(answer_to(&record(length))));
            }
        }
        drop(caller);
        answering.join().unwrap();
    }
}

/// Claim: Questions of a type may have answers of bytes, and the other way round.
#[test]
fn of_a_type_and_of_bytes() {
    let mut funnel = Funnel::<Question<u64, Bytes>>::without_name().unwrap();
    let mut caller = Caller::<u64, Bytes>::from_fd(funnel.seat().unwrap().1).unwrap();
    let call = caller.ask(17).unwrap();
    let question = funnel.recv().unwrap();
    assert_eq!(question.largest(), 1_024);
    let bytes = record(*question as usize);
    question.answer(&bytes);
    assert_eq!(caller.recv(call), Ok(Bytes(bytes)));

    let mut funnel = Funnel::<Question<Bytes, u64>>::without_name().unwrap();
    let mut caller = Options::new().bytes_caller::<u64>(funnel.seat().unwrap().1, 8).unwrap();
    let call = caller.ask(b"12").unwrap();
    let question = funnel.recv().unwrap();
    let number = std::str::from_utf8(&question.0).unwrap().parse().unwrap();
    question.answer(number);
    assert_eq!(caller.recv(call), Ok(12));
}

/// Claim: What is longer than the bound is never sent: who tries panics; an answer that is too long leaves its caller told.
#[test]
fn what_has_no_room_panics() {
    let panics = |act: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(act)).is_err());
    let (mut funnel, mut caller) = calls(&Options::new().largest_answer(16), 20);
    assert_eq!(caller.largest(), 24, "in whole words");
    let long = [0; 25];
    panics(&mut || drop(caller.ask(&long)));
    panics(&mut || drop(caller.try_ask(&long)));
    panics(&mut || drop(caller.ask_timeout(&long, Duration::ZERO)));
    panics(&mut || drop(caller.call(&long)));
    panics(&mut || drop(caller.call_timeout(&long, Duration::ZERO)));
    panics(&mut || drop(caller.call_deadline(&long, Instant::now())));
    let call = caller.ask(&[1; 24]).unwrap();
    let mut question = Some(funnel.recv().unwrap());
    assert_eq!((&*question.as_ref().unwrap().0, question.as_ref().unwrap().largest()), (&[1; 24][..], 16));
    panics(&mut || question.take().unwrap().answer(&[2; 17]));
    assert_eq!(caller.recv(call), Err(CallError::Unanswered));
    let call = caller.ask(b"").unwrap();
    funnel.recv().unwrap().answer(&[2; 16]);
    assert_eq!(caller.recv(call), Ok(Bytes(vec![2; 16])));

    let mut sender = BytesWorkSender::without_name(2, 3).unwrap();
    let mut worker = WorkReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
    assert_eq!(sender.largest(), 8);
    panics(&mut || _ = sender.send(&[0; 9]));
    panics(&mut || _ = sender.try_send(&[0; 9]));
    panics(&mut || _ = sender.send_timeout(&[0; 9], Duration::ZERO));
    sender.send(&[1; 8]).unwrap();
    worker.recv().unwrap().finish();
    sender.settle().unwrap();
}

/// Claim: Every way of asking and of receiving says what that of a type says: full, late, under way, ended.
#[test]
fn every_way_of_calling() {
    let (mut funnel, mut caller) = calls(&Options::new().calls(1), LARGEST);
    let call = caller.ask_deadline(b"first", Instant::now() + crate::LONG).unwrap();
    assert_eq!(caller.try_ask(b"second").unwrap_err(), TrySendError::Full(()));
    let limit = Duration::from_micros(10);
    assert_eq!(caller.ask_timeout(b"second", limit).unwrap_err(), SendTimeoutError::Timeout(()));
    assert_eq!(caller.call_timeout(b"second", limit), Err(CallError::NotYet(())));
    let Err(CallError::NotYet(call)) = caller.try_recv(call) else { panic!("nobody has answered") };
    let Err(CallError::NotYet(call)) = caller.recv_timeout(call, limit) else { panic!("nobody has answered") };
    let Err(CallError::NotYet(call)) = caller.recv_deadline(call, Instant::now()) else {
        panic!("nobody has answered")
    };
    assert!(caller.arm([&call]) && caller.arm_to_ask());
    answer(funnel.recv().unwrap());
    assert_eq!(poll(&mut [PollFd::from_borrowed_fd(caller.as_fd(), PollFlags::IN)], None), Ok(1));
    assert!(!caller.arm([&call]));
    assert_eq!(caller.recv(call), Ok(answer_to(b"first")));
    assert!(!caller.arm_to_ask() && !caller.is_disconnected());
    let call = caller.ask(b"dropped").unwrap();
    drop(funnel.recv().unwrap());
    assert_eq!(caller.recv(call), Err(CallError::Unanswered));
    // Those that are under way end with the channel, and what was answered before it is received.
    let (mut funnel, mut caller) = calls(&Options::new(), LARGEST);
    let pending = [caller.ask(b"one").unwrap(), caller.ask(b"two").unwrap()];
    answer(funnel.recv().unwrap());
    drop(funnel);
    let [one, two] = pending.map(|call| caller.recv(call));
    assert_eq!((one, two), (Ok(answer_to(b"one")), Err(CallError::Ended(Error::Closed))));
    assert_eq!(caller.try_ask(b"three").unwrap_err(), TrySendError::Ended((), Error::Closed));
    assert_eq!(caller.ask(b"three").unwrap_err().1, Error::Closed);
}

/// Claim: Jobs of every length are done as they were sent, each once, by whichever worker; also those that another gave back.
#[test]
fn jobs_of_all_lengths() {
    for (spin, credit) in [(100, 8), (0, 1)] {
        let mut sender = BytesWorkSender::without_name(credit, LARGEST).unwrap();
        sender.set_spin(spin);
        let working: Vec<_> = (0..3)
            .map(|clumsy| {
                let mut worker = WorkReceiver::<Bytes>::from_fd(sender.seat().unwrap()).unwrap();
                worker.set_spin(spin);
                thread::spawn(move || {
                    let mut done = Vec::new();
                    let mut turn = clumsy;
                    while let Ok(job) = worker.recv() {
                        assert_eq!(job.0, record(job.0.len()));
                        turn += 1;
                        if turn % 3 > 0 {
                            done.push(job.0.len());
                            job.finish();
                        }
                    }
                    done
                })
            })
            .collect();
        for length in 0..=LARGEST {
            sender.send(&record(length)).unwrap();
        }
        sender.settle().unwrap();
        assert_eq!((sender.finished(), sender.unfinished(), sender.workers()), (LARGEST as u64 + 1, 0, 3));
        drop(sender);
        let mut done: Vec<_> = working.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..=LARGEST));
    }
}

/// Claim: What a worker that goes has not finished is done by another, byte by byte.
#[test]
fn a_worker_that_goes_gives_back() {
    let mut sender = BytesWorkSender::bind(&name("goes"), 4, LARGEST).unwrap();
    let mut gone = WorkReceiver::<Bytes>::from_fd(connect(&name("goes")).unwrap()).unwrap();
    sender.serve();
    for length in [0, 300, 5, 64] {
        sender.send(&record(length)).unwrap();
    }
    assert_eq!(sender.try_send(b"").unwrap_err(), TrySendError::Full(()));
    assert_eq!(sender.send_timeout(b"", Duration::from_micros(10)).unwrap_err(), SendTimeoutError::Timeout(()));
    assert_eq!(sender.send_deadline(b"", Instant::now()).unwrap_err(), SendTimeoutError::Timeout(()));
    assert!(sender.arm() && sender.arm_to_settle());
    gone.recv().unwrap().finish();
    assert!(!sender.arm());
    let half_done = gone.recv().unwrap();
    assert_eq!(half_done.0, record(300));
    drop(half_done);
    drop(gone);
    let mut worker = WorkReceiver::<Bytes>::from_fd(connect(&name("goes")).unwrap()).unwrap();
    while !worker.meet_timeout(Duration::from_millis(1)).unwrap() {
        sender.serve();
    }
    sender.serve();
    let mut lengths = Vec::new();
    while !sender.settle_timeout(Duration::ZERO).unwrap() {
        while let Ok(job) = worker.try_recv() {
            assert_eq!(job.0, record(job.0.len()));
            lengths.push(job.0.len());
            job.finish();
        }
    }
    lengths.sort_unstable();
    assert_eq!((lengths, sender.finished()), (vec![5, 64, 300], 4));
}

#[test]
fn ends_of_other_kinds_are_refused() {
    let name = name("refused");
    let mut funnel = Funnel::<Asked>::bind(&name).unwrap();
    let mut typed = Caller::<u64, Bytes>::from_fd(connect(&name).unwrap()).unwrap();
    let mut answers = Options::new().bytes_caller::<u64>(connect(&name).unwrap(), 8).unwrap();
    let mut worker = WorkReceiver::<Bytes>::from_fd(connect(&name).unwrap()).unwrap();
    assert_eq!(worker.try_recv().unwrap_err(), TryRecvError::Empty);
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
    let by_peer = Error::Refused(Why::ByPeer("the peer's channel is of another kind"));
    assert_eq!(typed.call(1), Err(CallError::Ended(by_peer)));
    assert_eq!(answers.call(b""), Err(CallError::Ended(Error::Refused(Why::Kind))));
    assert_eq!(worker.recv().unwrap_err(), Error::Refused(Why::Kind));
    let mut sender = BytesWorkSender::without_name(1, 8).unwrap();
    let mut numbers = WorkReceiver::<u64>::from_fd(sender.seat().unwrap()).unwrap();
    assert_eq!(numbers.recv().unwrap_err(), Error::Refused(Why::Kind));
    assert_eq!(BytesWorkSender::without_name(65, 8).unwrap_err(), Error::Refused(Why::Capacity));
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<BytesCaller>();
    may_go::<Funnel<Asked>>();
    may_go::<Asked>();
    may_go::<BytesWorkSender>();
    may_go::<WorkReceiver<Bytes>>();
}
