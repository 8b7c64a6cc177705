//! Questions and answers.

use std::os::fd::AsFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite_shm::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use ysuite_shm::{
    CallError, Caller, Error, Funnel, Options, Pending, Question, Receiver, SendTimeoutError, TryRecvError,
    TrySendError, Why, WorkReceiver, connect,
};

use crate::LONG;

type Asked = Question<u64, [u64; 3]>;

fn name(test: &str) -> String {
    format!("test-{}-call-{test}", std::process::id())
}

fn answer_to(question: u64) -> [u64; 3] {
    [question, question ^ u64::MAX, question + 1]
}

fn answer(question: Asked) {
    let answer = answer_to(*question);
    question.answer(answer);
}

/// A funnel and callers of it, which have met it.
fn callers(options: &Options, count: usize) -> (Funnel<Asked>, Vec<Caller<u64, [u64; 3]>>) {
    let mut funnel = options.funnel_without_name().unwrap();
    let callers = (0..count).map(|_| options.caller(funnel.seat().unwrap().1).unwrap()).collect();
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
    (funnel, callers)
}

fn pair(calls: usize) -> (Funnel<Asked>, Caller<u64, [u64; 3]>) {
    let (funnel, mut callers) = callers(&Options::new().calls(calls), 1);
    (funnel, callers.pop().unwrap())
}

fn is_readable(end: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// Claim: Each caller gets the answer to its own question, whichever side waits.
#[test]
fn calls_of_several_callers() {
    for (options, spin) in [(Options::new(), 100), (Options::new().calls(1), 0), (Options::new().careful(), 0)] {
        let (mut funnel, callers) = callers(&options, 3);
        funnel.set_spin(spin);
        let calling: Vec<_> = (0..)
            .zip(callers)
            .map(|(number, mut caller)| {
                thread::spawn(move || {
                    caller.set_spin(spin);
                    for turn in 0..2_000 {
                        let question = turn * 3 + number;
                        assert_eq!(caller.call(question), Ok(answer_to(question)));
                    }
                })
            })
            .collect();
        funnel.iter().for_each(answer);
        calling.into_iter().for_each(|caller| caller.join().unwrap());
    }
}

/// What has come of a call, which stays if it has not ended.
fn poll_call(caller: &mut Caller<u64, [u64; 3]>, call: &mut Option<Pending>) -> Result<[u64; 3], CallError> {
    caller.try_recv(call.take().unwrap()).map_err(|error| match error {
        CallError::NotYet(pending) => {
            *call = Some(pending);
            CallError::NotYet(())
        }
        CallError::Unanswered => CallError::Unanswered,
        CallError::Ended(error) => CallError::Ended(error),
    })
}

const NOT_YET: CallError = CallError::NotYet(());

/// Claim: Answers come in any order, each to its call.
#[test]
fn answers_in_any_order() {
    for calls in [1, 2, 7, 8, 64, 100] {
        let (mut funnel, mut caller) = pair(calls);
        let mut pending = Vec::new();
        for round in 0..50 {
            while let Ok(call) = caller.try_ask(1_000 * round + pending.len() as u64) {
                pending.push(Some(call));
            }
            assert_eq!(pending.len(), calls, "{round}");
            assert_eq!(caller.ask_timeout(5, Duration::from_micros(1)).unwrap_err(), SendTimeoutError::Timeout(5));
            assert_eq!(caller.ask_deadline(5, Instant::now()).unwrap_err(), SendTimeoutError::Timeout(5));
            let mut asked = Vec::new();
            assert_eq!(funnel.recv_batch(&mut asked, usize::MAX), Ok(calls));
            assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
            while !asked.is_empty() {
                let at = (7 * round as usize + 3) % asked.len();
                let (number, question) = ((*asked[at] % 1_000) as usize, asked.swap_remove(at));
                assert_eq!(poll_call(&mut caller, &mut pending[number]), Err(NOT_YET));
                answer(question);
                if asked.is_empty() {
                    assert_eq!(caller.try_ask(5).unwrap_err(), TrySendError::Full(5), "nothing was received yet");
                    break;
                }
            }
            for (number, call) in (1_000 * round..).zip(pending.drain(..)) {
                assert_eq!(caller.recv(call.unwrap()), Ok(answer_to(number)));
            }
        }
    }
}

/// Claim: A call that is not answered for long holds up no other.
#[test]
fn a_long_call_holds_up_no_other() {
    let (mut funnel, mut caller) = pair(3);
    let long = caller.ask(7).unwrap();
    let first = funnel.recv().unwrap();
    let answering = thread::spawn(move || {
        funnel.iter().take(5_000).for_each(answer);
        answer(first);
        funnel
    });
    (0..5_000).for_each(|question| assert_eq!(caller.call(question), Ok(answer_to(question))));
    assert_eq!(caller.recv(long), Ok(answer_to(7)));
    drop(answering.join().unwrap());
}

/// Claim: A question that is dropped tells its caller so, and no other.
#[test]
fn a_dropped_question_says_so() {
    let (mut funnel, mut caller) = pair(4);
    caller.set_spin(0);
    let answering = thread::spawn(move || {
        for (turn, question) in funnel.iter().enumerate() {
            if turn % 3 > 0 {
                answer(question);
            }
        }
    });
    for turn in 0..600 {
        let expected = if turn % 3 > 0 { Ok(answer_to(turn)) } else { Err(CallError::Unanswered) };
        assert_eq!(caller.call(turn), expected);
    }
    drop(caller);
    answering.join().unwrap();
}

/// Claim: A call that was given up costs its place until its answer is there, which nobody gets, and nothing else.
#[test]
fn a_call_that_was_given_up() {
    let (mut funnel, mut caller) = pair(2);
    let kept = caller.ask(1).unwrap();
    assert_eq!(caller.call_timeout(2, Duration::from_millis(1)), Err(NOT_YET));
    assert_eq!(caller.call_deadline(3, Instant::now()), Err(NOT_YET), "there is no place");
    let Err(CallError::NotYet(kept)) = caller.recv_timeout(kept, Duration::from_millis(1)) else { panic!("too early") };
    let Err(CallError::NotYet(kept)) = caller.recv_deadline(kept, Instant::now()) else { panic!("too early") };
    let [first, second] = [funnel.recv().unwrap(), funnel.recv().unwrap()];
    assert_eq!((*first, *second), (1, 2));
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty, "the third was not asked");
    answer(second);
    let mut next = caller.try_ask(4).ok();
    assert_eq!(poll_call(&mut caller, &mut next), Err(NOT_YET));
    answer(first);
    answer(funnel.recv().unwrap());
    assert_eq!(caller.recv(next.unwrap()), Ok(answer_to(4)));
    assert_eq!(caller.recv(kept), Ok(answer_to(1)));
    // As often as one likes.
    for turn in 0..100 {
        drop(caller.ask(turn).unwrap());
        answer(funnel.recv().unwrap());
    }
}

/// Claim: What was answered before the end is received behind it; who waits for more is told of it, asleep or not.
#[test]
fn calls_that_are_pending_end_with_the_channel() {
    for options in [Options::new(), Options::new().careful()] {
        let (mut funnel, mut callers) = callers(&options, 2);
        let [mut asleep, mut caller] = [callers.pop().unwrap(), callers.pop().unwrap()];
        asleep.set_spin(0);
        let sleeping = thread::spawn(move || asleep.call(5));
        let [one, two, three, four] = [1, 2, 3, 4].map(|question| caller.ask(question).unwrap());
        let mut kept = Vec::new();
        while kept.len() < 4 {
            match funnel.recv().unwrap() {
                question if *question == 2 => answer(question),
                question => kept.push(question),
            }
        }
        drop(funnel);
        let closed = Err(CallError::Ended(Error::Closed));
        assert_eq!(sleeping.join().unwrap(), closed);
        assert_eq!(caller.recv(one), closed);
        assert_eq!(caller.recv(two), Ok(answer_to(2)));
        assert_eq!(poll_call(&mut caller, &mut Some(three)), closed);
        assert_eq!(caller.call(4), closed);
        assert_eq!(caller.ask(4).unwrap_err().into_inner(), 4);
        assert_eq!(caller.try_ask(4).unwrap_err(), TrySendError::Ended(4, Error::Closed));
        assert!(caller.is_disconnected() && !caller.arm([&four]) && !caller.arm_to_ask());
        // They reach nobody.
        kept.into_iter().for_each(answer);
        assert_eq!(caller.recv(four), closed);
    }
}

/// Claim: A caller that goes costs the receiver nothing: what it had asked is received, and the answers reach nobody.
#[test]
fn a_caller_that_goes() {
    let (mut funnel, mut callers) = callers(&Options::new(), 2);
    let (mut gone, mut caller) = (callers.pop().unwrap(), callers.pop().unwrap());
    let pending = [1, 2, 3].map(|question| gone.ask(question).unwrap());
    let held = funnel.recv().unwrap();
    drop(gone);
    let call = caller.ask(9).unwrap();
    let rest: Vec<_> = core::iter::from_fn(|| funnel.try_recv().ok()).collect();
    let mut questions: Vec<_> = rest.iter().map(|question| **question).collect();
    questions.sort_unstable();
    assert_eq!(questions, [2, 3, 9]);
    assert_eq!((funnel.senders(), funnel.next_ended().map(|ended| ended.error)), (1, Some(Error::Closed)));
    answer(held);
    rest.into_iter().for_each(answer);
    assert_eq!(caller.recv(call), Ok(answer_to(9)));
    drop(pending);
}

/// Claim: Other threads than the receiver's answer, at any time.
#[test]
fn answers_of_other_threads() {
    let (mut funnel, callers) = callers(&Options::new(), 2);
    let calling: Vec<_> = callers
        .into_iter()
        .map(|mut caller| {
            thread::spawn(move || {
                for turn in 0..500 {
                    caller.set_spin([0, 100][turn as usize % 2]);
                    let pending: Vec<_> = (0..turn % 9).map(|by| caller.ask(10 * turn + by).unwrap()).collect();
                    for (by, call) in (0..).zip(pending) {
                        assert_eq!(caller.recv(call), Ok(answer_to(10 * turn + by)));
                    }
                }
            })
        })
        .collect();
    thread::scope(|scope| {
        let mut to = Vec::new();
        for _ in 0..3 {
            let (sender, receiver) = mpsc::channel();
            to.push(sender);
            scope.spawn(move || receiver.into_iter().for_each(answer));
        }
        for (turn, question) in funnel.iter().enumerate() {
            to[turn % 3].send(question).unwrap();
        }
    });
    calling.into_iter().for_each(|caller| caller.join().unwrap());
}

/// Claim: Callers come and go under load, in the middle of calls as well, and each gets its own answers.
#[test]
fn callers_come_and_go_under_load() {
    let name = name("load");
    let mut funnel = Options::new().calls(5).funnel::<Asked>(&name).unwrap();
    let (done, is_done) = mpsc::channel::<()>();
    let calling: Vec<_> = (0..4_u64)
        .map(|number| {
            let (name, done) = (name.clone(), done.clone());
            thread::spawn(move || {
                for round in 0..60 {
                    let mut caller = Caller::<u64, [u64; 3]>::from_fd(connect(&name).unwrap()).unwrap();
                    caller.set_spin([0, 50][round as usize % 2]);
                    for turn in 0..round {
                        let question = 1_000 * round + 100 * number + turn;
                        let left = caller.ask(question + 1).unwrap();
                        let outcome = caller.call_timeout(question, LONG);
                        assert!(outcome == Ok(answer_to(question)) || outcome == Err(CallError::Unanswered));
                        drop(left);
                    }
                    // Some go with questions on their way.
                    let _ = (0..round % 4).map(|by| caller.ask(by)).collect::<Vec<_>>();
                }
                drop(done);
            })
        })
        .collect();
    drop(done);
    let mut held = Vec::new();
    while is_done.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
        let question = funnel.recv_timeout(Duration::from_millis(1)).ok();
        // Who asks waits for one that is held.
        let is_idle = question.is_none();
        match question {
            Some(question) if *question % 7 == 0 => drop(question),
            Some(question) if *question % 7 == 1 => held.push(question),
            question => question.into_iter().for_each(answer),
        }
        if is_idle || held.len() > 2 {
            held.drain(..).for_each(answer);
        }
    }
    calling.into_iter().for_each(|caller| caller.join().unwrap());
}

/// Claim: A caller that was armed becomes readable for an answer, for a drop, for a place, and for the end.
#[test]
fn descriptors_tell() {
    let (mut funnel, mut caller) = pair(2);
    for turn in 0..200 {
        let mut pending = [caller.ask(turn).ok(), caller.ask(turn + 1).ok()];
        while !caller.arm(pending.iter().flatten()) {}
        assert!(!is_readable(&caller, Duration::ZERO), "{turn}");
        while !caller.arm_to_ask() {}
        let mut asked = [funnel.recv().unwrap(), funnel.recv().unwrap()].map(Some);
        let at = turn as usize / 2 % 2;
        let question = asked[at].take().unwrap();
        if turn % 3 > 0 {
            answer(question)
        } else {
            drop(question)
        }
        assert!(is_readable(&caller, LONG));
        assert!(!caller.arm(pending.iter().flatten()));
        assert_eq!(poll_call(&mut caller, &mut pending[1 - at]), Err(NOT_YET));
        assert_eq!(poll_call(&mut caller, &mut pending[at]).is_ok(), turn % 3 > 0);
        assert!(!caller.arm_to_ask(), "there is a place");
        answer(asked[1 - at].take().unwrap());
    }
    while !funnel.arm() {
        assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
    }
    let pending = caller.ask(1).unwrap();
    assert!(is_readable(&funnel, LONG));
    while !caller.arm([&pending]) {}
    drop(funnel);
    assert!(is_readable(&caller, LONG));
    assert_eq!(poll_call(&mut caller, &mut Some(pending)), Err(CallError::Ended(Error::Closed)));
}

/// Claim: Of the two ends' numbers of calls the smaller one counts.
#[test]
fn the_smaller_number_of_calls_counts() {
    for [ours, theirs] in [[3, 5], [5, 3], [1, 64], [64, 1]] {
        let name = name("smaller");
        let mut funnel = Options::new().calls(ours).funnel::<Asked>(&name).unwrap();
        let mut caller = Options::new().calls(theirs).caller::<u64, [u64; 3]>(connect(&name).unwrap()).unwrap();
        assert_eq!(caller.try_ask(0).unwrap_err(), TrySendError::Full(0), "it was not accepted yet");
        assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
        assert_eq!(caller.meet_timeout(LONG), Ok(true));
        for round in 0..50 {
            let pending: Vec<_> = core::iter::from_fn(|| caller.try_ask(round).ok()).collect();
            assert_eq!(pending.len(), ours.min(theirs));
            funnel.try_iter().for_each(answer);
            pending.into_iter().for_each(|call| assert_eq!(caller.recv(call), Ok(answer_to(round))));
        }
    }
    let mut funnel = Funnel::<Asked>::without_name().unwrap();
    let (_, seat) = funnel.seat().unwrap();
    let none = Options::new().calls(0);
    assert_eq!(none.caller::<u64, u64>(seat).unwrap_err(), Error::Refused(Why::Capacity));
    assert_eq!(none.funnel_without_name::<Asked>().unwrap().seat().unwrap_err(), Error::Refused(Why::Capacity));
}

fn calls_of<Q: ysuite_shm::Message + PartialEq + Clone + core::fmt::Debug>(questions: &[Q]) {
    let mut funnel = Options::new().calls(3).funnel_without_name::<Question<Q, Q>>().unwrap();
    let mut caller = Caller::<Q, Q>::from_fd(funnel.seat().unwrap().1).unwrap();
    assert!(funnel.try_recv().is_err());
    for round in 0..20 {
        let pending =
            questions.iter().cycle().skip(round).take(3).map(|question| caller.ask(question.clone()).unwrap());
        let pending: Vec<_> = pending.collect();
        funnel.try_iter().for_each(|question| {
            let answer = question.clone();
            question.answer(answer);
        });
        for (question, call) in questions.iter().cycle().skip(round).zip(pending) {
            assert_eq!(caller.recv(call).as_ref(), Ok(question));
        }
    }
}

#[derive(Clone, Debug, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Claim: Questions and answers of every size and alignment arrive whole.
#[test]
fn messages_of_all_sizes() {
    calls_of(&[(), ()]);
    calls_of(&[1_u8, 2, 3, 4]);
    calls_of(&[[1_u8; 13], [2; 13], [3; 13], [4; 13], [5; 13]]);
    calls_of(&[1_u128, u128::MAX]);
    calls_of(&[Line([1; 64]), Line([2; 64]), Line([3; 64])]);
    calls_of(&[[7_u64; 1_000], [8; 1_000]]);
}

#[test]
fn ends_of_other_kinds_are_refused() {
    let name = name("refused");
    let mut funnel = Funnel::<Asked>::bind(&name).unwrap();
    let mut pipe = Receiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    let mut worker = WorkReceiver::<u64>::from_fd(connect(&name).unwrap()).unwrap();
    let mut question = Caller::<u32, [u64; 3]>::from_fd(connect(&name).unwrap()).unwrap();
    let mut answer = Caller::<u64, [u64; 2]>::from_fd(connect(&name).unwrap()).unwrap();
    assert_eq!(pipe.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
    assert_eq!(pipe.recv(), Err(Error::Refused(Why::Kind)));
    assert_eq!(worker.recv().unwrap_err(), Error::Refused(Why::Kind));
    let by_peer = Why::ByPeer("the peer's messages are of another type");
    assert_eq!(question.call(1), Err(CallError::Ended(Error::Refused(by_peer))));
    assert_eq!(answer.call(1), Err(CallError::Ended(Error::Refused(Why::Type))));
    assert_eq!(funnel.try_recv().unwrap_err(), TryRecvError::Empty);
    assert_eq!(funnel.senders(), 0);
    let mut numbers = Funnel::<u64>::without_name().unwrap();
    let mut caller = Caller::<u64, u64>::from_fd(numbers.seat().unwrap().1).unwrap();
    assert!(numbers.try_recv().is_err());
    assert_eq!(caller.call(1), Err(CallError::Ended(Error::Refused(Why::Kind))));
}

#[test]
#[should_panic(expected = "a call of another caller")]
fn a_call_of_another_caller() {
    let (_funnel, mut callers) = callers(&Options::new(), 2);
    let call = callers[0].ask(1).unwrap();
    let _ = callers[1].recv(call);
}

#[test]
fn ends_may_go_to_other_threads() {
    fn may_go<T: Send>() {}
    may_go::<Caller<u64, u64>>();
    may_go::<Funnel<Asked>>();
    may_go::<Asked>();
    may_go::<Pending>();
}
