//! What must be so after every operation.

use std::rc::Rc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite::signal::Wait;

use crate::conformance::channel::{Receiving, Sending};
use crate::random::foreign::{Task, alive, faults};
use crate::random::machine::{Machine, Slot};
use crate::random::rooms::Room;

macro_rules! ensure {
    ($holds:expr, $($text:tt)*) => {
        if !$holds {
            return Err(format!($($text)*));
        }
    };
}

impl<R: Room> Machine<R> {
    /// User code must be inactive.
    pub(crate) fn check(&self, panicked: bool) -> Result<(), String> {
        self.batching.set(false);
        let faults = faults();
        ensure!(faults.is_empty(), "{}", faults.join("; "));
        self.model.borrow_mut().settle(panicked)?;
        self.model.borrow_mut().leaving = false;
        if self.was_disturbed() {
            // Something may have come and gone.
            self.receivers.borrow().iter().for_each(|slot| slot.borrow_mut().is_quiet = false);
        }
        if panicked {
            // What was shown may have been lost in its receiver.
            self.receivers.borrow().iter().for_each(|slot| slot.borrow_mut().peeked = None);
        }
        self.check_messages()?;
        self.check_lengths()?;
        self.check_wakers()?;
        self.check_waiting_senders()?;
        self.check_sets()?;
        self.check_waiting_receivers()
    }

    fn check_messages(&self) -> Result<(), String> {
        let (expected, alive) = (self.model.borrow().alive(), alive());
        ensure!(alive == expected, "{alive} messages have not ended, and {expected} should be there");
        Ok(())
    }

    fn check_lengths(&self) -> Result<(), String> {
        let model = self.model.borrow();
        let there = model.len();
        for slot in self.receivers.borrow().iter() {
            let mut slot = slot.borrow_mut();
            let Some(receiver) = slot.end() else { continue };
            let (length, empty) = (receiver.len(), receiver.is_empty());
            ensure!((length, empty) == (there, there == 0), "a receiver sees {length} ({empty}) of {there} messages");
            let (gone, expected) = (receiver.is_disconnected(), model.is_over());
            ensure!(gone == expected, "a receiver says of {} senders: disconnected is {gone}", model.senders);
            ensure!(receiver.capacity() == model.capacity, "capacity: {:?}", receiver.capacity());
        }
        for slot in self.senders.borrow().iter() {
            let mut slot = slot.borrow_mut();
            let lane = slot.lane;
            let Some(sender) = slot.end() else { continue };
            let there = model.lanes[lane].visible.len();
            let (length, empty) = (sender.len(), sender.is_empty());
            ensure!((length, empty) == (there, there == 0), "a sender sees {length} ({empty}) of {there} messages");
            let (gone, expected) = (sender.is_disconnected(), model.refuses(lane));
            ensure!(gone == expected, "a sender says of {} receivers: disconnected is {gone}", model.receivers);
            let (full, room) = (sender.is_full(), model.room(lane));
            ensure!(full == (room == 0), "full is {full} with room for {room}");
            ensure!(sender.capacity() == model.capacity, "capacity: {:?}", sender.capacity());
        }
        Ok(())
    }

    /// A handle keeps one waker at most, and none when it is gone; so does a future.
    fn check_wakers(&self) -> Result<(), String> {
        let mut graves = self.graves.borrow_mut();
        let kept: usize = graves.iter().map(|task| task.held()).sum();
        graves.clear();
        ensure!(kept == 0, "{kept} wakers are kept that an end or a future had, which is gone");
        self.receivers.borrow().iter().try_for_each(|slot| self.check_tasks(&mut slot.borrow_mut()))?;
        self.senders.borrow().iter().try_for_each(|slot| self.check_tasks(&mut slot.borrow_mut()))
    }

    fn check_tasks<E, O>(&self, slot: &mut Slot<E, O>) -> Result<(), String> {
        let held = |tasks: &[Rc<Task>]| tasks.iter().map(|task| task.held()).sum::<usize>();
        let (own, in_future) = (held(&slot.tasks), held(&slot.future_tasks));
        let most = usize::from(R::SHARED) + 1;
        ensure!(own <= 1 && own + in_future <= most, "an end keeps {own} wakers, and its future {in_future}");
        slot.tasks.retain(|task| task.held() != 0);
        Ok(())
    }

    fn check_waiting_senders(&self) -> Result<(), String> {
        let model = self.model.borrow();
        let (mut woken, mut asleep) = (0, 0);
        for slot in self.senders.borrow().iter() {
            let slot = slot.borrow();
            let Some(task) = &slot.pending else { continue };
            let ready = model.refuses(slot.lane) || model.room(slot.lane) > 0;
            if task.is_woken() {
                woken += 1;
            } else if ready {
                ensure!(R::SHARED && model.receivers != 0, "a sender's task has not been woken");
                asleep += 1;
            }
        }
        ensure!(asleep == 0 || woken != 0, "there is room, and none of {asleep} senders' tasks has been woken");
        Ok(())
    }

    fn check_waiting_receivers(&self) -> Result<(), String> {
        let model = self.model.borrow();
        let (there, over) = (model.len(), model.is_over());
        let up = self.up();
        let (mut told, mut asleep) = (0, 0);
        for slot in self.receivers.borrow().iter() {
            let mut slot = slot.borrow_mut();
            slot.is_quiet &= there == 0 && !over;
            let is_up = slot.set.is_some_and(|(set, id)| up[set].contains(&id));
            if slot.set.is_some() {
                ensure!(!slot.is_quiet || !is_up, "an id is up whose receiver has found itself empty");
                ensure!(is_up || !over, "an id is down whose receiver's senders are gone");
                ensure!(is_up || there == 0 || R::SHARED, "an id is down whose receiver has messages");
            }
            let is_woken = slot.pending.as_ref().map(|task| task.is_woken());
            if is_woken == Some(true) || is_up {
                told += 1;
            }
            if is_woken == Some(false) && (there != 0 || over) {
                ensure!(R::SHARED && !over, "a receiver's task has not been woken");
                asleep += 1;
            } else if slot.set.is_some() && !is_up && there != 0 {
                asleep += 1;
            }
        }
        ensure!(asleep == 0 || told != 0, "there are messages, and none of {asleep} receivers has been told");
        Ok(())
    }

    /// The ids that are up in each set.
    fn up(&self) -> [Vec<usize>; 2] {
        let mut sets = self.sets.borrow_mut();
        [sets.pollset.check().collect(), sets.socketpair.check().collect()]
    }

    /// No id is up without an owner, and the descriptor is readable exactly while one is up.
    fn check_sets(&self) -> Result<(), String> {
        let readable = self.is_readable();
        let up = self.up();
        let attached: Vec<_> = self.receivers.borrow().iter().filter_map(|slot| slot.borrow().set).collect();
        for (set, ids) in up.iter().enumerate() {
            if let Some(id) = ids.iter().find(|&&id| !attached.contains(&(set, id))) {
                return Err(format!("id {id} of set {set} is up, and nobody has it"));
            }
        }
        let some = !up[1].is_empty();
        ensure!(readable || !some, "the descriptor is not readable while {:?} are up", up[1]);
        ensure!(some || !self.is_readable(), "the descriptor stays readable after an empty look");
        Ok(())
    }

    fn is_readable(&self) -> bool {
        let sets = self.sets.borrow();
        let mut entries = [PollFd::new(&sets.socketpair, PollFlags::IN)];
        poll(&mut entries, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).expect("poll") != 0
    }
}
