//! How one operation of several is chosen, and how a select waits until one can be done.
//!
//! All operations are tried in an order of chance. Then the select stands in line at each rendezvous, with one ticket for
//! all, registers its waker with all other ends, looks everywhere once more, and sleeps. It is at work with its ticket closed,
//! so that nobody meets it while it looks, and open while it sleeps. Two selects that face each other at one rendezvous look
//! there under its lock: the first finds the other's ticket open, closes its own, and takes it. Where two face each other at
//! two, each may have closed its own ticket before it finds the other's closed: then both open them and look again.

use super::case::{CaseList, Looked};
use super::sleeper::SelectWaiter;
use crate::os::{Deadline, yield_now};
use crate::signal::chance;
use crate::sync::spin_loop;

/// Numbers of operations in an order of chance: each once, from a random one on by random steps.
struct Shuffled {
    length: usize,
    first: usize,
    step: usize,
}

impl Shuffled {
    /// Steps that have no divisor in common with most lengths.
    const STEPS: [u32; 8] = [1, 3, 5, 7, 11, 13, 17, 19];

    #[inline]
    fn new(length: usize) -> Self {
        if length < 2 {
            return Self { length, first: 0, step: 0 };
        }
        let chance = chance();
        let first = (((chance >> 32) * length as u64) >> 32) as usize;
        let prime = Self::STEPS[chance as usize % Self::STEPS.len()];
        // The narrower division is the quicker one, and for the few of most selects there is none.
        let step = match u32::try_from(length) {
            Ok(length) if length > 3 && length > prime && length % prime != 0 => prime as usize,
            _ => 1,
        };
        // Backwards as often as forwards: of two, each comes first as often as the other.
        Self { length, first, step: if chance & 8 == 0 { step } else { length - step } }
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

/// Does one operation (true), or finds that none can be done until the deadline.
#[inline]
pub(super) fn choose<R, L: CaseList<R>>(cases: &mut L, limit: Deadline) -> bool {
    Shuffled::new(cases.len()).any(|at| cases.try_at(at)) || wait(cases, limit)
}

/// No operation can be done at once.
#[cold]
#[inline(never)]
fn wait<R, L: CaseList<R>>(cases: &mut L, limit: Deadline) -> bool {
    let deadline = cases.deadline(limit);
    if deadline.is_over() {
        return cases.expire();
    }
    let mut waiter = SelectWaiter::borrow();
    let mut registered = Registered { cases, result: core::marker::PhantomData };
    let order = Shuffled::new(registered.cases.len());
    waiter.begin();
    let mut conflicts = 0;
    loop {
        waiter.sleeper.reset();
        waiter.ticket.register(&waiter.waker);
        // In an order of chance as well: of two that stand in one line, each is found first as often as the other.
        if order.any(|at| registered.cases.stand(at, &waiter, at)) {
            return true;
        }
        waiter.ticket.open();
        match look(registered.cases, &order, &waiter) {
            Looked::Nothing => conflicts = 0,
            Looked::Met(met) => return registered.met(met.case()),
            Looked::Done => return true,
            Looked::Ready | Looked::Again => {
                if give_way(&mut conflicts) && deadline.is_over() {
                    return registered.cases.expire();
                }
                continue;
            }
        }
        registered.cases.announce();
        // Behind the deadline it tries once more, and not for as long as others take what has woken it.
        let in_time = waiter.sleep(deadline) && !deadline.is_over();
        if let Some(met) = waiter.ticket.close() {
            return registered.met(met.case());
        }
        if order.any(|at| registered.cases.try_at(at)) {
            return true;
        }
        if !in_time {
            return registered.cases.expire();
        }
    }
}

/// The ticket is open: registers with all ends, and looks everywhere. Whatever it finds, but nothing, the ticket is closed.
fn look<R, L: CaseList<R>>(cases: &mut L, order: &Shuffled, waiter: &SelectWaiter) -> Looked {
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

/// What was found has gone, or was at work itself: another thread is about to make a step. True: that has happened some
/// times in a row.
fn give_way(conflicts: &mut u32) -> bool {
    *conflicts = conflicts.saturating_add(1);
    if *conflicts > 3 {
        yield_now();
        return true;
    }
    (0..1 << *conflicts).for_each(|_| spin_loop());
    false
}

/// Cases that have registered. However the wait ends, they leave all lines and lists.
struct Registered<'a, R, L: CaseList<R>> {
    cases: &'a mut L,
    result: core::marker::PhantomData<R>,
}

impl<R, L: CaseList<R>> Registered<'_, R, L> {
    /// The ticket was taken by an operation, which is done thereby.
    fn met(&mut self, at: u32) -> bool {
        self.cases.met(at as usize);
        true
    }
}

impl<R, L: CaseList<R>> Drop for Registered<'_, R, L> {
    fn drop(&mut self) {
        self.cases.leave();
    }
}
