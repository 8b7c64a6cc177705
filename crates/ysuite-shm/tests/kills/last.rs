//! An end whose peer says a last word, and goes, behind an instruction of a look that does not wait: it gets the word, and
//! then learns of the end.

use std::time::Duration;

use ysuite_shm::{CallError, Caller, Funnel, Question};

use crate::kinds::{Bytes, Kind, Pipe, answer_to};
use crate::process::{Child, Point, Reached, Shared, here};

/// What an end has come to.
const LOST: u64 = 1;
const GOT: u64 = 2;

/// Looks once, in a place of its own, and then until there is something. `Ok(false)`: there is nothing yet.
fn look_until<E>(outcome: &Shared, mut look: impl FnMut() -> Result<bool, E>) {
    // So that the look asks the kernel, which it does once in a millisecond, however slowly it is stepped.
    std::thread::sleep(Duration::from_millis(2));
    here();
    let mut found = look();
    here();
    while let Ok(false) = found {
        found = look();
    }
    outcome.set(if found.is_ok() { GOT } else { LOST });
    here();
}

/// Tries it with a peer that goes behind each instruction of a look. `start`: a child that calls `look_until`, and what its
/// peer does last.
fn behind_each_instruction<P>(start: impl Fn(&Shared) -> (Child, P), last: impl Fn(P)) {
    let (mut point, mut points) = (Point::default(), 0);
    loop {
        let outcome = Shared::new();
        let (child, peer) = start(&outcome);
        let mut child = child.stopped();
        let reached = child.step_each(point);
        last(peer);
        if reached != Reached::End {
            child.go_on();
            child = child.stopped();
        }
        child.go_on();
        child.stopped().kill();
        assert_eq!(outcome.get(), GOT, "{point:?}");
        points += 1;
        match reached {
            Reached::Inside => point.instructions += 1,
            Reached::NextCall => point = Point { calls: point.calls + 1, instructions: 0 },
            Reached::End => break,
        }
    }
    assert!(points > 20, "{points}");
}

/// The last message of a sender.
fn messages<K: Kind>() {
    let start = |outcome: &Shared| {
        let (to, from) = K::places();
        let child = Child::traced(|| {
            let mut receiver = K::receiver(from).unwrap();
            while K::try_recv(&mut receiver) != Ok(Some(0)) {}
            look_until(outcome, || K::try_recv(&mut receiver).map(|found| found == Some(1)));
        });
        let mut sender = crate::kinds::join::<K>(to, || false).unwrap().unwrap();
        K::send(&mut sender, 0, Duration::MAX).unwrap();
        (child, sender)
    };
    behind_each_instruction(start, |mut sender| {
        assert!(K::try_send(&mut sender, 1));
        drop(sender);
    });
}

pub(crate) fn of_pipes() {
    messages::<Pipe>();
    messages::<Bytes>();
}

/// The last answer of a receiver.
pub(crate) fn of_calls() {
    let start = |outcome: &Shared| {
        let mut funnel = Funnel::<Question<u64, u64>>::without_name().unwrap();
        let (_, seat) = funnel.seat().unwrap();
        let child = Child::traced(|| {
            let mut caller = Caller::<u64, u64>::from_fd(seat).unwrap();
            let mut call = Some(caller.ask(7).unwrap());
            look_until(outcome, || match caller.try_recv(call.take().unwrap()) {
                Err(CallError::NotYet(again)) => {
                    call = Some(again);
                    Ok(false)
                }
                answer => answer.map(|answer| answer == answer_to(7)),
            });
        });
        let question = funnel.recv().unwrap();
        (child, (funnel, question))
    };
    behind_each_instruction(start, |(funnel, question): (Funnel<_>, Question<u64, u64>)| {
        question.answer(answer_to(7));
        drop(funnel);
    });
}
