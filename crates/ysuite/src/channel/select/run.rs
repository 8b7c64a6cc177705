//! How one operation of several is chosen, and how a select waits until one is possible.
//!
//! All operations are tried in a random order. Then the select registers in line at each rendezvous, with one claim for
//! all, and registers its waker with all other handles. It checks everywhere once more, and sleeps. Its claim is closed
//! while it is at work, so that no endpoint takes it during its checks, and open while it sleeps. Two selects that wait
//! for each other at one rendezvous check there under its lock. The first finds the other's claim open, closes its own,
//! and takes the other's. At two rendezvous, each may have closed its own claim before it finds the other's closed:
//! then both open them and check again.

use super::case::{CaseList, Looked};
use super::sleeper::SelectWaiter;
use crate::channel::rendezvous::Met;
use crate::os::{Deadline, PeerWait};
use crate::signal::chance;
use crate::sync::{Ordering, fence, spin_loop};

/// The numbers of the operations in a random order: each once, from a random one on by random steps.
struct Shuffled {
    length: usize,
    first: usize,
    step: usize,
}

impl Shuffled {
    /// Steps that are coprime to most lengths.
    const STEPS: [u32; 8] = [1, 3, 5, 7, 11, 13, 17, 19];

    // MUTANT: Only the order of the attempts: each operation still comes first equally often.
    #[inline]
    fn new(length: usize) -> Self {
        if length < 2 {
            return Self { length, first: 0, step: 0 };
        }
        let chance = chance();
        let first = (((chance >> 32) * length as u64) >> 32) as usize;
        let prime = Self::STEPS[chance as usize % Self::STEPS.len()];
        // The narrower division is faster, and makes no difference for the few operations of most selects.
        let step = match u32::try_from(length) {
            Ok(length) if length > 3 && length > prime && length % prime != 0 => prime as usize,
            _ => 1,
        };
        // Backwards and forwards with the same probability: of two, each comes first equally often.
        Self { length, first, step: if chance & 8 == 0 { step } else { length - step } }
    }

    /// From the last number down: an operation that was added earlier has a higher one.
    fn biased(length: usize) -> Self {
        let last = length.saturating_sub(1);
        Self { length, first: last, step: last }
    }

    #[inline]
    fn of(length: usize, is_biased: bool) -> Self {
        if is_biased { Self::biased(length) } else { Self::new(length) }
    }

    /// Calls `visit` with each number until it returns true.
    #[inline]
    fn any(&self, mut visit: impl FnMut(usize) -> bool) -> bool {
        let mut at = self.first;
        for _ in 0..self.length {
            if visit(at) {
                return true;
            }
            at += self.step;
            if at >= self.length {
                at -= self.length;
            }
        }
        false
    }
}

/// How often a select whose deadline has passed checks whether there was a moment in which no operation was possible:
/// other threads may be faster each time.
const PASSES: u32 = 16;

/// Performs one operation (true), or finds that none is possible until the deadline.
#[inline]
pub(super) fn choose<L: CaseList>(cases: &mut L, is_biased: bool, limit: Deadline) -> bool {
    let order = Shuffled::of(cases.len(), is_biased);
    order.any(|at| cases.try_at(at)) || wait(cases, &order, is_biased, limit)
}

// USER CODE: wakers of peers, as of the handles' own operations, and of another handle, where a case that leaves passes
//     its notification on (`leave` of `channel/select/case.rs`, `channel/select/any.rs` and `channel/select/meet.rs`).
//     A guard leaves all lines and lists; re-entrance: any operation; `select` finds the thread's waiter in use and
//     makes another; panic: the guard leaves everywhere, whichever of them panics; a message that was to be sent is
//     back with its case or dropped; the first panic propagates, and a received message is dropped; test:
//     tests/suite/select/one_shot.rs: a_waker_that_panics_as_a_case_leaves_keeps_no_message_of_another
// MUTANT: Speed only: the slow path registers, parks for no time, checks and leaves. A park without a notification has
// passed its deadline.
/// No operation is possible at once.
#[cold]
#[inline(never)]
fn wait<L: CaseList>(cases: &mut L, order: &Shuffled, is_biased: bool, limit: Deadline) -> bool {
    if cases.deadline(limit).is_over() {
        if let Some(performed) = at_last(cases, order, u32::MAX, limit) {
            return performed;
        }
    }
    let mut waiter = SelectWaiter::borrow();
    let registered = Registered { cases };
    let order = Shuffled::of(registered.cases.len(), is_biased);
    waiter.begin();
    let mut conflicts = Conflicts::default();
    loop {
        if let Some(performed) = wait_once(registered.cases, &order, &mut waiter, &mut conflicts, limit) {
            return performed;
        }
    }
}

/// Registers everywhere, checks everywhere, and sleeps until something is worth another attempt. An operation is performed
/// (true), or the limit has passed (false). `None`: neither.
fn wait_once<L: CaseList>(
    cases: &mut L,
    order: &Shuffled,
    waiter: &mut SelectWaiter,
    conflicts: &mut Conflicts,
    limit: Deadline,
) -> Option<bool> {
    waiter.sleeper.reset();
    waiter.ticket.register(&waiter.waker);
    // Also in a random order: of two that are in one line, each is found first equally often.
    if order.any(|at| cases.stand(at, waiter, at)) {
        return Some(true);
    }
    waiter.ticket.open();
    match look(cases, order, waiter) {
        Looked::Nothing => *conflicts = Conflicts::default(),
        Looked::Met(met) => return Some(met_at(cases, met)),
        Looked::Done => return Some(true),
        Looked::Ready | Looked::Again => return if conflicts.give_way() { ended(cases, limit) } else { None },
    }
    cases.announce();
    // Another thread may take what the last moment has made possible: then there may be a later one.
    let deadline = cases.deadline(limit);
    // After the deadline it tries once more, and not for as long as other threads take what has woken it.
    let in_time = waiter.sleep(deadline) && !deadline.is_over();
    if let Some(met) = waiter.ticket.close() {
        return Some(met_at(cases, met));
    }
    if order.any(|at| cases.try_at(at)) {
        return Some(true);
    }
    if in_time { None } else { at_last(cases, order, PASSES, limit) }
}

/// An operation has taken the claim, and is done thereby.
fn met_at(cases: &mut impl CaseList, met: Met) -> bool {
    cases.met(met.case() as usize);
    true
}

/// The deadline has passed: an operation is performed after all (true), or [the time is up](ended).
fn at_last<L: CaseList>(cases: &mut L, order: &Shuffled, passes: u32, limit: Deadline) -> Option<bool> {
    if can_at_last(cases, order, passes) { Some(true) } else { ended(cases, limit) }
}

/// Whether the time is up: a case has expired (true), or the limit has passed. `None`: neither; a moment has passed in
/// which an operation became possible by itself, and another thread may have been quicker.
fn ended(cases: &mut impl CaseList, limit: Deadline) -> Option<bool> {
    if cases.expire() { Some(true) } else { limit.is_over().then_some(false) }
}

/// Performs an operation (true), or finds a moment in which none was possible. Other threads move possibilities from
/// one channel to another, and one pass could reach each just before it. Two operations by other threads, of which the
/// second began after the first had returned, are seen in that order: a pass that finds what the second has left has
/// acquired it.
///
/// Makes at most `passes` passes, of which each except the last was disturbed.
fn can_at_last<L: CaseList>(cases: &mut L, order: &Shuffled, passes: u32) -> bool {
    // One pass has been made. For a single operation that is enough.
    if cases.len() < 2 {
        return false;
    }
    for _ in 0..passes {
        let before = cases.moves();
        if order.any(|at| cases.try_at(at)) {
            return true;
        }
        // ORDERING: pairs with the Release of claims and stamps, and of the number of registrations in a line: where
        //     one of the checks above has found what another thread has left, all that happened before that is counted
        //     below.
        fence(Ordering::Acquire);
        if cases.moves() == before {
            break;
        }
    }
    false
}

/// The claim is open: registers with all handles, and checks everywhere. The claim is closed afterwards, unless nothing
/// was found.
fn look<L: CaseList>(cases: &mut L, order: &Shuffled, waiter: &SelectWaiter) -> Looked {
    let mut looked = Looked::Nothing;
    order.any(|at| {
        looked = cases.look(at, waiter);
        if matches!(looked, Looked::Ready) {
            looked = match waiter.ticket.close() {
                Some(met) => Looked::Met(met),
                None if cases.try_at(at) => Looked::Done,
                None => Looked::Again,
            };
        }
        !matches!(looked, Looked::Nothing)
    });
    looked
}

/// The number of consecutive checks in which the counterpart had left, or was at work itself.
#[derive(Default)]
struct Conflicts {
    count: u32,
    wait: PeerWait,
}

impl Conflicts {
    // MUTANT: Speed only: how a thread backs off from another thread that works on the same claim.
    /// One more: another thread is about to make a step. True: that has happened some times in a row.
    fn give_way(&mut self) -> bool {
        if self.count >= 3 {
            self.wait.wait();
            return true;
        }
        self.count += 1;
        (0..1 << self.count).for_each(|_| spin_loop());
        false
    }
}

/// Cases that have registered. However the wait ends, they leave all lines and lists.
struct Registered<'a, L: CaseList> {
    cases: &'a mut L,
}

impl<L: CaseList> Drop for Registered<'_, L> {
    fn drop(&mut self) {
        self.cases.leave();
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use core::cell::Cell;
    use core::time::Duration;

    use super::*;
    use crate::channel::rendezvous::Ticket;
    use crate::sync::Arc;

    /// More checks than any of these waits needs.
    const MOST: usize = 20;

    /// One operation: the result of each check of it, from the first on, and whether it is possible after that number
    /// of checks.
    struct Scripted<L, T> {
        look: L,
        can: T,
        looks: usize,
        announced: Cell<usize>,
    }

    impl<L: FnMut(usize, &SelectWaiter) -> Looked, T: FnMut(usize) -> bool> Scripted<L, T> {
        fn new(look: L, can: T) -> Self {
            Self { look, can, looks: 0, announced: Cell::new(0) }
        }
    }

    impl<L: FnMut(usize, &SelectWaiter) -> Looked, T: FnMut(usize) -> bool> CaseList for Scripted<L, T> {
        fn len(&self) -> usize {
            1
        }

        fn try_at(&mut self, _: usize) -> bool {
            (self.can)(self.looks)
        }

        fn stand(&mut self, _: usize, _: &SelectWaiter, _: usize) -> bool {
            false
        }

        fn look(&mut self, _: usize, waiter: &SelectWaiter) -> Looked {
            self.looks += 1;
            assert!(self.looks <= MOST, "it checks again and again");
            (self.look)(self.looks, waiter)
        }

        fn announce(&self) {
            self.announced.set(self.announced.get() + 1);
        }

        fn met(&mut self, _: usize) {}

        fn leave(&mut self) {}

        fn moves(&mut self) -> u64 {
            0
        }

        fn is_done(&self) -> bool {
            false
        }
    }

    fn until_over(deadline: Deadline) {
        while !deadline.is_over() {
            spin_loop();
        }
    }

    /// Another thread had taken what has woken it by then.
    #[test]
    fn a_select_that_is_woken_in_vain_waits_on() {
        let called = |_: usize, waiter: &SelectWaiter| {
            waiter.waker.wake_by_ref();
            Looked::Nothing
        };
        let mut cases = Scripted::new(called, |looks| looks == 3);
        assert!(choose(&mut cases, false, Deadline::Never));
        assert_eq!((cases.looks, cases.announced.get()), (3, 3));
    }

    #[test]
    fn a_select_whose_time_is_up_is_woken_in_vain_once() {
        let deadline = Deadline::after(Duration::from_millis(5));
        let called = |_: usize, waiter: &SelectWaiter| {
            until_over(deadline);
            waiter.waker.wake_by_ref();
            Looked::Nothing
        };
        let mut cases = Scripted::new(called, |_| false);
        assert!(!choose(&mut cases, false, deadline));
        // None, where this thread has been preempted for that long before.
        assert!(cases.looks <= 1);
    }

    #[test]
    fn conflicts_end_no_wait_that_has_time_left() {
        let found = |looks: usize, _: &SelectWaiter| if looks < 10 { Looked::Again } else { Looked::Done };
        let mut cases = Scripted::new(found, |_| false);
        assert!(choose(&mut cases, false, Deadline::Never));
        assert_eq!(cases.looks, 10);
    }

    #[test]
    fn a_wait_whose_time_is_up_ends_among_conflicts() {
        let deadline = Deadline::after(Duration::from_millis(5));
        let found = |_: usize, _: &SelectWaiter| {
            until_over(deadline);
            Looked::Again
        };
        assert!(!choose(&mut Scripted::new(found, |_| false), false, deadline));
    }

    /// Its claim is closed: no endpoint could take it in its sleep.
    #[test]
    fn a_select_that_has_met_with_a_conflict_looks_again_before_it_sleeps() {
        let found = |looks: usize, waiter: &SelectWaiter| {
            waiter.waker.wake_by_ref();
            if looks == 1 { Looked::Again } else { Looked::Done }
        };
        let mut cases = Scripted::new(found, |_| false);
        assert!(choose(&mut cases, false, Deadline::Never));
        assert_eq!((cases.looks, cases.announced.get()), (2, 0));
    }

    /// The first time another is faster.
    #[test]
    fn what_a_look_finds_ready_is_tried() {
        let mut cases = Scripted::new(|_, _| Looked::Ready, |looks| looks == 2);
        assert!(choose(&mut cases, false, Deadline::Never));
        assert_eq!(cases.looks, 2);
    }

    #[test]
    fn a_wait_begins_with_a_ticket_that_no_late_peer_has() {
        let mut late: Option<Arc<Ticket>> = None;
        for _ in 0..2 {
            let found = |_: usize, waiter: &SelectWaiter| {
                let before = late.replace(waiter.ticket.clone());
                assert!(before.is_none_or(|before| !Arc::ptr_eq(&before, &waiter.ticket)));
                Looked::Done
            };
            assert!(choose(&mut Scripted::new(found, |_| false), false, Deadline::Never));
        }
        assert!(late.is_some());
    }

    /// Two operations, of which one is possible at each moment. Another thread changes which one, `left` more times,
    /// and each time just before this one checks the other.
    struct Moving {
        possible: usize,
        moves: u64,
        left: u32,
    }

    impl CaseList for Moving {
        fn len(&self) -> usize {
            2
        }

        fn try_at(&mut self, at: usize) -> bool {
            let can = at == self.possible;
            if !can && self.left != 0 {
                (self.possible, self.moves, self.left) = (at, self.moves + 1, self.left - 1);
            }
            can
        }

        fn stand(&mut self, _: usize, _: &SelectWaiter, _: usize) -> bool {
            unreachable!("it waits for nothing")
        }

        fn look(&mut self, _: usize, _: &SelectWaiter) -> Looked {
            unreachable!("it waits for nothing")
        }

        fn announce(&self) {}

        fn met(&mut self, _: usize) {}

        fn leave(&mut self) {}

        fn moves(&mut self) -> u64 {
            self.moves
        }

        fn is_done(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_try_finds_what_moves_before_its_looks() {
        // It moves twice a pass, or not at all.
        for left in 0..20 {
            for possible in 0..2 {
                assert!(
                    choose(&mut Moving { possible, moves: 0, left }, false, Deadline::Passed),
                    "{left} moves are left"
                );
            }
        }
        // Nowhere at all: the pass in which nothing has moved proves it.
        assert!(!choose(&mut Moving { possible: 2, moves: 0, left: 0 }, false, Deadline::Passed));
    }
}
