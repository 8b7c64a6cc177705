//! The cases of questions and answers: a caller whose receiver dies, wherever, gets each answer that was given, and the death
//! for the other calls; a receiver whose callers die goes on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ysuite_shm::{CallError, Caller, Error, Funnel, Options, Pending, Question};

use crate::cases::{MESSAGES, Outcome, Part, Peer};
#[cfg(target_arch = "x86_64")]
use crate::injected::{Failure, in_a_crowd};
use crate::kinds::answer_to;
use crate::kinds::trades::{Numbers, Trade};
use crate::process::{Child, Point, Shared, here};
use crate::watch::{connected, name};

type Asked<T> = Question<<T as Trade>::Carried, <T as Trade>::Carried>;

/// Calls that a caller has under way.
const CALLS: usize = 4;

fn few_calls() -> Options {
    Options::new().calls(CALLS)
}

fn answer<T: Trade>(question: Asked<T>) {
    let answer = answer_to(T::number(&question));
    T::answer(question, answer);
}

fn funnel<T: Trade>(name: &str) -> Result<Funnel<Asked<T>>, Error> {
    let mut funnel = few_calls().funnel::<Asked<T>>(name)?;
    funnel.set_spin(0);
    Ok(funnel)
}

fn join<T: Trade>(name: &str, is_over: &AtomicBool) -> Option<T::Caller> {
    connected(name, is_over).and_then(|socket| T::caller(&few_calls(), socket).ok())
}

/// The receiver drops each third question.
fn is_dropped(question: u64) -> bool {
    question % 3 == 2
}

fn settle<T: Trade>(question: Asked<T>) {
    if is_dropped(T::number(&question)) { drop(question) } else { answer::<T>(question) }
}

fn receiver_of_part<T: Trade>(name: &str, part: Part, answered: &Shared) {
    if part == Part::Hello {
        here();
    }
    let mut funnel = funnel::<T>(name).unwrap();
    answer::<T>(funnel.recv().unwrap());
    answered.set(1);
    if matches!(part, Part::Messages(_)) {
        here();
    }
    // Of two, the later one first.
    for first in (1..1 + MESSAGES).step_by(2) {
        let two = [funnel.recv().unwrap(), funnel.recv().unwrap()];
        assert_eq!([T::number(&two[0]), T::number(&two[1])], [first, first + 1]);
        for question in two.into_iter().rev() {
            settle::<T>(question);
            answered.set(answered.get() + 1);
        }
    }
    part.leave(funnel);
}

/// Receives the outcome of a call. `None`: it was answered, or dropped.
fn ended<T: Trade>(caller: &mut T::Caller, (question, call): (u64, Pending)) -> Option<Error> {
    match T::recv(caller, call) {
        Ok(answer) => assert!(!is_dropped(question) && answer == answer_to(question), "{answer} to {question}"),
        Err(CallError::Unanswered) => assert!(is_dropped(question), "{question}"),
        Err(CallError::Ended(error)) => return Some(error),
        Err(error) => panic!("{error:?}"),
    }
    None
}

/// Calls until the end, with as many calls under way as there may be; how many have ended before, and why it ended.
fn calling<T: Trade>(mut caller: T::Caller) -> (u64, Error) {
    let (mut next, mut done, mut pending) = (0, 0, VecDeque::new());
    let error = loop {
        match T::ask(&mut caller, next) {
            Ok(call) => pending.push_back((next, call)),
            Err(error) => break error,
        }
        next += 1;
        if pending.len() == CALLS {
            match ended::<T>(&mut caller, pending.pop_front().unwrap()) {
                Some(error) => break error,
                None => done += 1,
            }
        }
    };
    for call in pending {
        match ended::<T>(&mut caller, call) {
            Some(again) => assert_eq!(again, error),
            None => done += 1,
        }
    }
    (done, error)
}

pub(crate) fn receiver_dies<T: Trade>(part: Part, point: Point) -> Outcome {
    let (name, answered) = (name(), Shared::new());
    let child = Child::traced(|| receiver_of_part::<T>(&name, part, &answered));
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let caller = thread::spawn(move || {
        let mut caller = join::<T>(&name, &over)?;
        T::set_caller_spin(&mut caller, if part == Part::Messages(Peer::Spins) { u32::MAX } else { 0 });
        Some(calling::<T>(caller))
    });
    let child = child.stopped();
    let reached = child.step(point);
    child.kill();
    // ORDERING: Relaxed; a test.
    is_over.store(true, Ordering::Relaxed);
    let Some((done, error)) = caller.join().unwrap() else { return Outcome { reached, lost: 0, doubled: 0 } };
    assert!(error == Error::Died || part == Part::Drop && error == Error::Closed, "{error:?}");
    // The last one may be published and not counted.
    let answered = answered.get();
    Outcome { reached, lost: answered.saturating_sub(done), doubled: done.saturating_sub(answered + 1) }
}

#[cfg(target_arch = "x86_64")]
fn answer_all<T: Trade>(name: &str, done: &Shared) -> Result<(), Error> {
    let mut funnel = funnel::<T>(name)?;
    // A caller that was refused comes again.
    while done.get() < MESSAGES {
        if let Ok(question) = funnel.recv_timeout(Duration::from_micros(100)) {
            answer::<T>(question);
        }
    }
    Ok(())
}

/// A receiver of which this call fails with this one of its errors: each caller that comes is answered, or refused.
#[cfg(target_arch = "x86_64")]
pub(crate) fn receiver_fails<T: Trade>(call: u64, error: usize) -> Failure {
    let (name, done) = (name(), Arc::new(Shared::new()));
    let count = Arc::clone(&done);
    let beside = |is_over: Arc<AtomicBool>| {
        let name = name.clone();
        thread::spawn(move || {
            while let Some(mut caller) = join::<T>(&name, &is_over) {
                T::set_caller_spin(&mut caller, 0);
                while let Ok(answer) = T::call(&mut caller, count.get()) {
                    assert_eq!(answer, answer_to(count.get()));
                    count.set(count.get() + 1);
                }
            }
        })
    };
    in_a_crowd(|| answer_all::<T>(&name, &done), beside, call, error)
}

#[cfg(target_arch = "x86_64")]
fn call_all<T: Trade>(name: &str) -> Result<(), Error> {
    let mut caller = T::caller(&few_calls(), ysuite_shm::connect(name)?)?;
    T::set_caller_spin(&mut caller, 0);
    for question in 0..MESSAGES {
        match T::call(&mut caller, question) {
            Err(CallError::Ended(error)) => return Err(error),
            outcome => assert_eq!(outcome, Ok(answer_to(question))),
        }
    }
    Ok(())
}

/// As [`receiver_fails`], of a caller.
#[cfg(target_arch = "x86_64")]
pub(crate) fn caller_fails<T: Trade>(call: u64, error: usize) -> Failure {
    let name = name();
    let beside = |is_over: Arc<AtomicBool>| {
        let mut funnel = funnel::<T>(&name).unwrap();
        thread::spawn(move || {
            // ORDERING: Relaxed; a test.
            while !is_over.load(Ordering::Relaxed) {
                if let Ok(question) = funnel.recv_timeout(Duration::from_millis(1)) {
                    answer::<T>(question);
                }
            }
        })
    };
    in_a_crowd(|| call_all::<T>(&name), beside, call, error)
}

/// A caller and a receiver that are awake wake each other by no system call.
#[cfg(target_arch = "x86_64")]
pub(crate) fn calls_without_calls<T: Trade>() {
    const STREAM: u64 = 4_000;
    let mut funnel = Funnel::<Asked<T>>::without_name().unwrap();
    let (_, seat) = funnel.seat().unwrap();
    let child = Child::traced(|| {
        let mut caller = T::caller(&Options::new(), seat).unwrap();
        T::set_caller_spin(&mut caller, u32::MAX);
        assert_eq!(T::call(&mut caller, 0), Ok(answer_to(0)));
        here();
        (1..STREAM).for_each(|question| assert_eq!(T::call(&mut caller, question), Ok(answer_to(question))));
        here();
    });
    let receiver = thread::spawn(move || {
        // It never sleeps, however loaded the machine.
        funnel.set_spin(u32::MAX);
        funnel.iter().for_each(answer::<T>);
    });
    let child = child.stopped();
    let mut rings = 0;
    while child.to_next_call() {
        // It asks the kernel about its peer now and then, while it waits: how often is a matter of time.
        rings += u64::from(child.registers().orig_rax as libc::c_long == libc::SYS_write);
        assert!(child.to_next_call());
    }
    child.kill();
    assert_eq!(rings, 0);
    receiver.join().unwrap();
}

/// Callers that are killed at any time, and others that come: each that lives gets its own answers, and each death is told.
pub(crate) fn random_kills<T: Trade>() {
    const QUESTIONS: u64 = 4_000;
    let mut funnel = few_calls().funnel_without_name::<Asked<T>>().unwrap();
    let hire = |funnel: &mut Funnel<Asked<T>>, spin| {
        let (number, seat) = funnel.seat().unwrap();
        let child = Child::run(|| {
            let mut caller = T::caller(&few_calls(), seat).unwrap();
            T::set_caller_spin(&mut caller, spin);
            assert_eq!(calling::<T>(caller).1, Error::Closed);
        });
        (number, child)
    };
    let mut callers: Vec<_> = (0..3).map(|_| hire(&mut funnel, 0)).collect();
    let (mut killed, mut held, mut seed) = (Vec::new(), Vec::new(), 0x9e37_79b9_7f4a_7c15_u64);
    for turn in 0..QUESTIONS {
        let question = funnel.recv().unwrap();
        held.push(question);
        // In another order than they were asked.
        while held.len() > turn as usize % 3 {
            let question = held.swap_remove(0);
            settle::<T>(question);
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if (seed >> 40) % 40 == 0 {
            let (number, child) = callers.swap_remove((seed >> 50) as usize % 3);
            child.kill();
            killed.push(number);
            callers.push(hire(&mut funnel, [0, 100][turn as usize % 2]));
        }
    }
    held.into_iter().for_each(settle::<T>);
    while funnel.senders() > 3 {
        funnel.recv().into_iter().for_each(settle::<T>);
    }
    drop(funnel);
    callers.into_iter().for_each(|(_, child)| child.join());
    assert!(killed.len() > 50, "{}", killed.len());
    println!("{} callers killed", killed.len());
}

/// A forked child that drops its copy of a question has not answered it, and does no harm.
pub(crate) fn forked_question() {
    let mut funnel = Funnel::<Question<u64, u64>>::without_name().unwrap();
    let mut caller = Caller::<u64, u64>::from_fd(funnel.seat().unwrap().1).unwrap();
    assert!(funnel.try_recv().is_err());
    let call = caller.ask(7).unwrap();
    let mut question = Some(funnel.recv().unwrap());
    let child = Child::run(|| drop(question.take()));
    child.join();
    let Err(CallError::NotYet(call)) = caller.try_recv(call) else { panic!("nobody has answered") };
    answer::<Numbers>(question.take().unwrap());
    assert_eq!(caller.recv(call), Ok(answer_to(7)));
}
