//! Closures, drops of values and wakers are user code: what holds if they panic, or re-enter the channel.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender as Log, channel};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;

use ysuite::TryRecvError;
use ysuite::iter::Receive;
use ysuite::watch::{self, Sender};

use crate::support::executor::{Clinging, Explosive, Task, block_on, cloning, cloning_for, poll_once};
use crate::support::{Tally, guarded, panics};

/// Claim: A closure that panics while it changes a watched value has changed it; the lock is not poisoned.
#[test]
fn a_closure_that_panics_has_changed_the_value() {
    let (sender, mut receiver) = watch::channel(vec![1]);
    let task = Task::default();
    let mut other = receiver.clone();
    let mut future = Box::pin(other.changed_async());
    assert!(poll_once(&mut future, &task).is_pending());
    let text = panics(|| {
        sender.send_modify(|value| {
            value.push(2);
            panic!("half way");
        })
    });
    assert_eq!(text, "half way");
    assert_eq!((task.woken(), receiver.changed(), receiver.borrow_and_update().len()), (1, Ok(()), 2));
    assert!(poll_once(&mut future, &task).is_ready());
    assert_eq!(panics(|| assert!(sender.send_if_modified(|_| panic!("before it knew")))), "before it knew");
    assert_eq!(receiver.changed(), Ok(()));
    // The lock is as good as new.
    sender.send_modify(Vec::clear);
    assert_eq!((receiver.changed(), receiver.borrow().len(), sender.borrow().len()), (Ok(()), 0, 0));
}

#[test]
fn a_predicate_that_panics_has_seen_the_value() {
    let (sender, mut receiver) = watch::channel(1);
    sender.send(2).unwrap();
    panics(|| drop(receiver.wait_for(|value| panic!("{value}"))));
    assert_eq!(receiver.has_changed(), Ok(false));
    sender.send(3).unwrap();
    assert_eq!(*receiver.wait_for(|value| *value == 3).unwrap(), 3);
}

/// Claim: A predicate that panics on drop does not lock senders out of a watched value.
#[test]
fn a_predicate_whose_end_panics_keeps_no_sender_out() {
    for is_task in [false, true] {
        guarded(move || {
            let tally = Tally::of(1);
            tally.explode(0);
            let (sender, mut receiver) = watch::channel(1);
            let held = tally.next();
            let accepts = move |_: &u32| {
                let _whole = &held;
                true
            };
            let text = panics(|| {
                if is_task {
                    drop(block_on(receiver.wait_for_async(accepts)));
                } else {
                    drop(receiver.wait_for(accepts));
                }
            });
            assert_eq!((text.as_str(), receiver.has_changed()), ("the end of message 0", Ok(false)));
            // The value is not locked.
            sender.send(2).unwrap();
            assert_eq!(*receiver.borrow_and_update(), 2);
        });
    }
}

#[test]
fn a_value_whose_end_panics_is_replaced_and_told_of_all_the_same() {
    let tally = Tally::of(5);
    let (sender, mut receiver) = watch::channel(tally.next());
    let task = Task::default();
    let mut other = receiver.clone();
    let mut future = Box::pin(other.changed_async());
    assert!(poll_once(&mut future, &task).is_pending());
    tally.explode(0);
    assert_eq!(panics(|| drop(sender.send(tally.next()))), "the end of message 0");
    assert_eq!((task.woken(), receiver.changed(), receiver.borrow().number), (1, Ok(()), 1));
    drop(future);
    other.mark_unchanged();
    // The waker panics, and so does the drop of the old value: both are done, one panic goes on.
    let waker = Explosive::waker();
    let mut future = Box::pin(other.changed_async());
    pending(&mut future, &waker);
    drop(waker);
    tally.explode(1);
    assert_eq!(panics(|| drop(sender.send(tally.next()))), "this waker panics");
    assert_eq!((tally.ended(), receiver.borrow().number), (2, 2));
    drop(future);
    // A value without a receiver comes back; the last is dropped with the channel, by the last of its handles.
    tally.explode(2);
    drop((receiver, other));
    let back = sender.send(tally.next()).unwrap_err();
    assert_eq!((back.0.number, tally.ended()), (3, 2));
    drop(back);
    assert_eq!(panics(|| drop(sender)), "the end of message 2");
    assert_eq!(tally.ended(), 4);
}

fn pending(future: &mut Pin<Box<impl Future>>, waker: &Waker) {
    assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
}

/// A value whose drop reads the channel it was in, and sends another.
struct Returning {
    number: usize,
    into: Mutex<Option<Sender<Returning>>>,
    log: Log<(usize, usize)>,
}

impl Drop for Returning {
    fn drop(&mut self) {
        let Some(sender) = self.into.get_mut().unwrap().take() else { return };
        let there = sender.borrow().number;
        self.log.send((self.number, there)).unwrap();
        let next = Returning { number: there + 10, into: Mutex::new(None), log: self.log.clone() };
        sender.send(next).unwrap();
    }
}

/// Claim: Old watched values are dropped, and wakers called, without the lock held.
#[test]
fn a_value_may_come_back_at_its_end() {
    let (log, said) = channel();
    let value = |number| Returning { number, into: Mutex::new(None), log: log.clone() };
    let (sender, mut receiver) = watch::channel(value(0));
    *sender.borrow().into.lock().unwrap() = Some(sender.clone());
    sender.send(value(1)).unwrap();
    assert_eq!((said.recv(), receiver.changed(), receiver.borrow().number), (Ok((0, 1)), Ok(()), 11));
    assert_eq!((sender.send_replace(value(2)).number, sender.sender_count()), (11, 1));
}

#[test]
fn a_waker_that_panics_keeps_no_thread_asleep() {
    let (sender, first) = watch::channel(0);
    let tasks = [Task::default(), Task::default()];
    let mut receivers = [first.clone(), first.clone(), first.clone()];
    let [before, explosive, behind] = &mut receivers;
    let mut futures = [Box::pin(before.changed_async()), Box::pin(behind.changed_async())];
    assert!(poll_once(&mut futures[0], &tasks[0]).is_pending());
    let waker = Explosive::waker();
    let mut future = Box::pin(explosive.changed_async());
    pending(&mut future, &waker);
    assert!(poll_once(&mut futures[1], &tasks[1]).is_pending());
    assert_eq!(panics(|| sender.send(1).unwrap()), "this waker panics");
    assert_eq!(tasks.each_ref().map(Task::woken), [1, 1]);
    assert!(futures.iter_mut().zip(&tasks).all(|(future, task)| poll_once(future, task).is_ready()));
    drop((futures, future));
    // The same on disconnect, and for senders that wait until all receivers are dropped.
    let mut future = Box::pin(receivers[1].changed_async());
    assert!(poll_once(&mut future, &tasks[0]).is_ready());
    drop(future);
    let [before, explosive, _] = &mut receivers;
    assert_eq!((before.has_changed(), explosive.has_changed()), (Ok(false), Ok(false)));
    let (mut future, mut last) = (Box::pin(explosive.changed_async()), Box::pin(before.changed_async()));
    pending(&mut future, &waker);
    assert!(poll_once(&mut last, &tasks[0]).is_pending());
    panics(|| drop(sender));
    assert_eq!(tasks[0].woken(), 2);
    assert!(poll_once(&mut last, &tasks[0]).is_ready());
}

#[test]
fn the_last_receivers_end_wakes_senders_behind_a_waker_that_panics() {
    let (sender, receiver) = watch::channel(0);
    let waker = Explosive::waker();
    let task = Task::default();
    let (mut first, mut second) = (Box::pin(sender.closed()), Box::pin(sender.closed()));
    pending(&mut first, &waker);
    assert!(poll_once(&mut second, &task).is_pending());
    panics(|| drop(receiver));
    assert_eq!((task.woken(), sender.receiver_count()), (1, 0));
    assert!(poll_once(&mut second, &task).is_ready());
}

#[test]
fn a_receiver_whose_wakers_drop_panics_is_gone_all_the_same() {
    let (sender, mut receiver) = watch::channel(0);
    let waker = Clinging::waker();
    assert!(receiver.poll_changed(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert_eq!(panics(|| drop(receiver)), "this waker clings");
    assert!(sender.is_disconnected());
    sender.send(1).unwrap_err();
}

#[test]
fn a_value_that_comes_as_the_waker_is_cloned_is_found_by_that_poll() {
    let (sender, mut receiver) = watch::channel(0);
    let waker = cloning(move || sender.send(1).unwrap());
    assert_eq!(receiver.poll_changed(&mut Context::from_waker(&waker)), Poll::Ready(Ok(())));
    assert_eq!(*receiver.borrow(), 1);
}

/// Each value that is refused is followed by another before the task can wait, as the waker is cloned.
#[test]
fn values_that_come_as_fast_as_they_are_refused_let_others_have_a_turn() {
    const MOST: usize = 1_000;
    let (sender, mut receiver) = watch::channel(0);
    let task = Task::default();
    let waker = cloning_for(&task, move || {
        sender.send_if_modified(|value| {
            *value += 1;
            *value < MOST
        });
    });
    let refused = RefCell::new(Vec::new());
    let mut waiting = Box::pin(receiver.wait_for_async(|value| {
        refused.borrow_mut().push(*value);
        false
    }));
    for turns in 1..=3 {
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // Each is refused once, and the task is to be polled again.
        assert_eq!((refused.borrow().len(), task.woken()), (64 * turns, turns));
        assert!(refused.borrow().iter().copied().eq(0..64 * turns));
    }
}

/// The previous value is the result, which is lost if a waker panics: it is dropped as the others are.
#[test]
fn a_value_that_is_replaced_while_a_waker_panics_ends_with_it() {
    struct Ends(bool);
    impl Drop for Ends {
        fn drop(&mut self) {
            assert!(!self.0, "the value ends");
        }
    }
    let (sender, mut receiver) = watch::channel(Ends(true));
    receiver.mark_unchanged();
    assert!(receiver.poll_changed(&mut Context::from_waker(&Explosive::waker())).is_pending());
    assert_eq!(panics(|| drop(sender.send_replace(Ends(false)))), "this waker panics");
    assert!(!receiver.borrow().0);
}

#[test]
fn a_value_that_ends_with_the_channel_behind_a_panic_is_no_second_one() {
    /// Panics, also while unwinding.
    struct Wild;
    impl Drop for Wild {
        fn drop(&mut self) {
            panic!("the value's end");
        }
    }
    let (sender, receiver) = watch::channel(Wild);
    drop(sender);
    let first = panics(|| {
        let _receiver = receiver;
        panic!("the first");
    });
    assert_eq!(first, "the first");
    let (sender, receiver) = watch::channel(Wild);
    drop(receiver);
    let first = panics(|| {
        let _sender = sender;
        panic!("the first");
    });
    assert_eq!(first, "the first");
    let (sender, receiver) = watch::channel(Wild);
    drop(sender);
    assert_eq!(panics(|| drop(receiver)), "the value's end");
}

/// With a sender that waits in between.
///
/// Claim: The lock of a watched value admits one writer or several readers and wakes its sleepers. A thread that
/// already reads may read again while a writer waits.
#[test]
fn a_thread_may_borrow_again_beside_senders() {
    const ROUNDS: u32 = 2_000;
    guarded(|| {
        let ((left, left_in), (right, right_in)) = (watch::channel(0), watch::channel(0));
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for sender in [&left, &right] {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        sender.send_modify(|value| *value += 1);
                    }
                });
            }
            // Each holds one and borrows the other, the same and the other way round.
            let other = scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let (first, second) = (right_in.borrow(), left_in.borrow());
                    assert_eq!((*first, *second), (*right.borrow(), *left_in.borrow()));
                }
            });
            for _ in 0..ROUNDS {
                let (first, second) = (left_in.borrow(), right_in.borrow());
                assert_eq!((*first, *second), (*left_in.borrow(), *right_in.borrow()));
            }
            other.join().unwrap();
            is_over.store(true, Ordering::Relaxed);
        });
    });
}

/// What a `Clone` does, by the number of its value.
type Act = Arc<dyn Fn(u32) + Send + Sync>;

/// A value whose `Clone` does something.
struct Acting {
    number: u32,
    act: Act,
}

impl Acting {
    fn of(number: u32, act: &Act) -> Self {
        Self { number, act: act.clone() }
    }
}

impl Clone for Acting {
    fn clone(&self) -> Self {
        (self.act)(self.number);
        Self::of(self.number, &self.act)
    }
}

/// A channel whose values' `Clone` acts on it, and the action, which the values share.
fn acting(
    act: impl Fn(&Sender<Acting>, u32, &Act) + Send + Sync + 'static,
) -> (Sender<Acting>, watch::Receiver<Acting>, Act) {
    let known = Arc::new(OnceLock::<(Sender<Acting>, Weak<dyn Fn(u32) + Send + Sync>)>::new());
    let there = known.clone();
    let whole: Act = Arc::new(move |number| {
        if let Some((sender, own)) = there.get().and_then(|(sender, own)| Some((sender, own.upgrade()?))) {
            act(sender, number, &own);
        }
    });
    let (sender, receiver) = watch::channel(Acting::of(0, &whole));
    assert!(known.set((sender.clone(), Arc::downgrade(&whole))).is_ok());
    (sender, receiver, whole)
}

/// Claim: A watched value is cloned without the lock held, so its `Clone` may send. No sender changes the value during
/// the clone.
#[test]
fn a_clone_may_send() {
    guarded(|| {
        let (sender, mut receiver, act) = acting(|sender, number, act| {
            if number % 3 != 0 {
                // Also reads, and sees what it has sent.
                sender.send(Acting::of(number + 1, act)).ok().unwrap();
                assert_eq!(sender.borrow().number, number + 1);
            }
        });
        let mut expect = |get: &mut dyn FnMut(&mut watch::Receiver<Acting>) -> Option<Acting>| {
            sender.send(Acting::of(1, &act)).ok().unwrap();
            let got: Vec<_> = (0..3).map(|_| get(&mut receiver).map(|value| value.number)).collect();
            assert_eq!(got, [Some(1), Some(2), Some(3)]);
            // The one in the channel, and this one: the others have ended.
            assert_eq!((receiver.has_changed(), Arc::strong_count(&act)), (Ok(false), 2));
        };
        expect(&mut |receiver| receiver.iter().next());
        expect(&mut |receiver| receiver.next_waiting());
        expect(&mut |receiver| receiver.look());
        expect(&mut |receiver| receiver.try_next().ok());
        #[cfg(feature = "futures")]
        expect(&mut |receiver| block_on(futures_util::StreamExt::next(receiver)));
    });
}

#[test]
fn a_clone_that_replaces_or_changes_its_own_value_panics() {
    guarded(|| {
        for way in 0..3 {
            let (sender, mut receiver, act) = acting(move |sender, number, act| {
                if number == 1 {
                    match way {
                        0 => drop(sender.send_replace(Acting::of(2, act))),
                        1 => sender.send_modify(|value| value.number = 2),
                        _ => assert!(sender.send_if_modified(|_| true)),
                    }
                }
            });
            sender.send(Acting::of(1, &act)).ok().unwrap();
            let text = panics(|| drop(receiver.iter().next()));
            assert_eq!(text, "the Clone of a watch's value replaces or changes that value");
            // Nothing has happened, and the channel is as good as before.
            assert_eq!((receiver.borrow().number, receiver.has_changed()), (1, Ok(true)));
            assert_eq!(sender.send_replace(Acting::of(4, &act)).number, 1);
            sender.send_modify(|value| value.number += 1);
            assert_eq!(receiver.iter().next().map(|value| value.number), Some(5));
            assert_eq!(Arc::strong_count(&act), 2);
        }
    });
}

/// Another thread clones the value, and is held there.
#[test]
fn a_value_that_is_being_cloned_is_replaced_at_once_and_changed_behind_that() {
    guarded(|| {
        let (entered, has_entered) = channel();
        let (leave, may_leave) = channel();
        let may_leave = Mutex::new(may_leave);
        let (sender, mut receiver, act) = acting(move |sender, number, _| {
            if number == 1 {
                entered.send(()).unwrap();
                may_leave.lock().unwrap().recv().unwrap();
                // A thread that waits for this clone blocks no other.
                assert!(sender.borrow().number > 0);
            }
        });
        sender.send(Acting::of(1, &act)).ok().unwrap();
        thread::scope(|scope| {
            let cloning = scope.spawn(|| receiver.iter().next().map(|value| value.number));
            has_entered.recv().unwrap();
            // It waits for no other thread.
            sender.send(Acting::of(7, &act)).ok().unwrap();
            assert_eq!(sender.borrow().number, 7);
            leave.send(()).unwrap();
            assert_eq!(cloning.join().unwrap(), Some(1));
        });
        assert_eq!((receiver.iter().next().map(|value| value.number), Arc::strong_count(&act)), (Some(7), 2));
        sender.send(Acting::of(1, &act)).ok().unwrap();
        thread::scope(|scope| {
            let cloning = scope.spawn(|| receiver.iter().next().map(|value| value.number));
            has_entered.recv().unwrap();
            let changing = scope.spawn(|| sender.send_modify(|value| value.number += 1));
            assert_eq!(sender.borrow().number, 1, "it is being cloned");
            leave.send(()).unwrap();
            changing.join().unwrap();
            assert_eq!(cloning.join().unwrap(), Some(1));
        });
        assert_eq!((sender.borrow().number, Arc::strong_count(&act)), (2, 2));
    });
}

/// A sender is at the value, and is held there.
#[test]
fn a_try_waits_for_no_sender() {
    guarded(|| {
        let (entered, has_entered) = channel();
        let (leave, may_leave) = channel();
        let (sender, mut receiver) = watch::channel(0);
        sender.send(1).unwrap();
        thread::scope(|scope| {
            let sender = &sender;
            let changing = scope.spawn(move || {
                sender.send_modify(|value| {
                    entered.send(()).unwrap();
                    may_leave.recv().unwrap();
                    *value = 2;
                });
            });
            has_entered.recv().unwrap();
            assert_eq!((receiver.try_next(), receiver.has_changed()), (Err(TryRecvError::Empty), Ok(true)));
            leave.send(()).unwrap();
            changing.join().unwrap();
        });
        assert_eq!((receiver.try_next(), receiver.try_next()), (Ok(2), Err(TryRecvError::Empty)));
    });
}
