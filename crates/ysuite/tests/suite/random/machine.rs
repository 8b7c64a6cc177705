//! A channel with its model, and one operation after another.
//!
//! An operation of re-entering user code is *nested*: it sees the outer one half done, and fewer properties are
//! checked.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::rc::Rc;

use ysuite::signal::{YPollset, YSocketpair};
use ysuite::{RecvError, SendError, Spin, TryRecvError, TrySendError};

use crate::conformance::channel::{Boxed, Receiving, Sending};
use crate::random::foreign::{self, Deed, Intended, Message, Task, fault};
use crate::random::model::{Lane, Model};
use crate::random::operations::{LENGTH, Op, Who, sequences};
use crate::random::rooms::{Room, Sets};
use crate::random::running::{operations, run};

/// The most handles of one side.
const ENDS: usize = 4;

/// A handle on the heap, so that a future that borrows it can be kept next to it.
struct Owned<E>(NonNull<E>);

impl<E> Drop for Owned<E> {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw`, and not shared.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

/// A handle, and what depends on it.
pub(crate) struct Slot<E: 'static, O: 'static> {
    /// Borrows the handle. Dropped before it, since it is declared before it.
    pub(crate) future: Option<Boxed<'static, O>>,
    end: Owned<E>,
    /// The lane of a sender.
    pub(crate) lane: usize,
    /// Tasks that have polled this handle, and those that have polled the future.
    pub(crate) tasks: Vec<Rc<Task>>,
    pub(crate) future_tasks: Vec<Rc<Task>>,
    /// The task that is to be woken.
    pub(crate) pending: Option<Rc<Task>>,
    /// The message in the future.
    pub(crate) inside: Option<usize>,
    /// Which set a receiver is attached to, and its id there.
    pub(crate) set: Option<(usize, usize)>,
    /// It has found the channel empty, and nothing has come since: its id is down.
    pub(crate) is_quiet: bool,
    /// The message that it has been shown.
    pub(crate) peeked: Option<usize>,
}

impl<E: 'static, O: 'static> Slot<E, O> {
    /// An mpmc receiver waits in another way than as the task that polled it, or in its set: that task will not
    /// be woken, and its id goes up.
    pub(crate) fn step_back(&mut self) {
        self.pending = None;
        self.is_quiet = false;
    }

    fn new(end: E, lane: usize) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            future: None,
            end: Owned(NonNull::from(Box::leak(Box::new(end)))),
            lane,
            tasks: Vec::new(),
            future_tasks: Vec::new(),
            pending: None,
            inside: None,
            set: None,
            is_quiet: false,
            peeked: None,
        }))
    }

    /// The handle, if no future borrows it.
    pub(crate) fn end(&mut self) -> Option<&mut E> {
        // SAFETY: nothing else has it.
        if self.future.is_none() { Some(unsafe { self.end.0.as_mut() }) } else { None }
    }

    /// The handle, for a future that is kept here.
    pub(crate) fn end_for_future(&mut self) -> &'static mut E {
        assert!(self.future.is_none());
        // SAFETY: nothing else has it, nor will while there is a future; the future is dropped before the handle. One
        // that is forgotten is never used again.
        unsafe { &mut *self.end.0.as_ptr() }
    }
}

pub(crate) type Tx<R> = Slot<<R as Room>::Sender, Result<(), SendError<Message>>>;
pub(crate) type Rx<R> = Slot<<R as Room>::Receiver, Result<Message, RecvError>>;
type Ends<S> = RefCell<Vec<Rc<RefCell<S>>>>;

pub(crate) struct Machine<R: Room> {
    pub(crate) senders: Ends<Tx<R>>,
    pub(crate) receivers: Ends<Rx<R>>,
    pub(crate) model: RefCell<Model>,
    pub(crate) sets: RefCell<Sets>,
    /// Tasks of handles and futures that are gone.
    pub(crate) graves: RefCell<Vec<Rc<Task>>>,
    /// How often user code has re-entered.
    nested: Cell<usize>,
    /// How often it had before the operation.
    nested_before: Cell<usize>,
    depth: Cell<usize>,
    nested_panic: Cell<bool>,
    /// What is given to a batch has no place in the order yet: no other may send before it.
    pub(crate) batching: Cell<bool>,
}

impl<R: Room> Machine<R> {
    fn new(capacity: Option<usize>) -> Rc<Self> {
        let (sender, receiver) = R::pair(capacity);
        let machine = Rc::new(Self {
            senders: RefCell::new(vec![Slot::new(sender, 0)]),
            receivers: RefCell::new(vec![Slot::new(receiver, 0)]),
            model: RefCell::new(Model::new(capacity)),
            sets: RefCell::new(Sets { pollset: YPollset::new(), socketpair: YSocketpair::new().expect("descriptors") }),
            graves: RefCell::default(),
            nested: Cell::new(0),
            nested_before: Cell::new(0),
            depth: Cell::new(0),
            nested_panic: Cell::new(false),
            batching: Cell::new(false),
        });
        let weak = Rc::downgrade(&machine);
        foreign::come_back_by(Rc::new(move |deed| {
            if let Some(machine) = weak.upgrade() {
                machine.come_back(deed);
            }
        }));
        machine
    }

    pub(crate) fn sender(&self, who: Who) -> Option<Rc<RefCell<Tx<R>>>> {
        let ends = self.senders.borrow();
        ends.get(usize::from(who) % ends.len().max(1)).cloned()
    }

    pub(crate) fn receiver(&self, who: Who) -> Option<Rc<RefCell<Rx<R>>>> {
        let ends = self.receivers.borrow();
        ends.get(usize::from(who) % ends.len().max(1)).cloned()
    }

    /// Does something, and returns whether user code re-entered meanwhile.
    pub(crate) fn watched<X>(&self, act: impl FnOnce() -> X) -> (X, bool) {
        let before = self.nested.get();
        let result = act();
        (result, self.nested.get() != before)
    }

    /// Whether user code has re-entered since the last call.
    pub(crate) fn was_disturbed(&self) -> bool {
        self.nested_before.replace(self.nested.get()) != self.nested.get()
    }

    /// A message has been received: it must have been its turn. Then it is dropped.
    pub(crate) fn receive(&self, message: Message, disturbed: bool) {
        let is_nested = self.depth.get() != 0;
        if !self.model.borrow_mut().received(message.0, is_nested || disturbed) {
            fault(format!("message {} was received out of turn, or should not be there", message.0));
        }
        drop(message);
    }

    /// User code re-enters.
    fn come_back(&self, deed: Deed) {
        if self.depth.get() >= 2 {
            return;
        }
        self.nested.set(self.nested.get() + 1);
        self.depth.set(self.depth.get() + 1);
        let outcome = catch_unwind(AssertUnwindSafe(|| match deed {
            Deed::Receive => self.receive_nested(),
            Deed::Send => self.send_nested(),
            Deed::DropSender => self.drop_nested(&self.senders, |who| self.drop_sender(who)),
            _ => self.drop_nested(&self.receivers, |who| self.drop_receiver(who)),
        }));
        self.depth.set(self.depth.get() - 1);
        if let Err(panic) = outcome {
            if !panic.is::<Intended>() {
                fault(format!("a nested operation has panicked: {:?}", panic.downcast_ref::<String>()));
            }
            self.nested_panic.set(true);
        }
    }

    fn receive_nested(&self) {
        let ends = self.receivers.borrow().clone();
        for slot in ends {
            let Ok(mut slot) = slot.try_borrow_mut() else { continue };
            let Some(receiver) = slot.end() else { continue };
            match receiver.try_recv() {
                Ok(message) => {
                    slot.peeked = None;
                    self.receive(message, false);
                }
                Err(TryRecvError::Disconnected) if !self.model.borrow().is_over() => {
                    fault("disconnected, and there are senders".into());
                }
                Err(_) => {}
            }
            return;
        }
    }

    fn send_nested(&self) {
        if R::SHARED && self.batching.get() {
            return;
        }
        let ends = self.senders.borrow().clone();
        for slot in ends {
            let Ok(mut slot) = slot.try_borrow_mut() else { continue };
            let lane = slot.lane;
            let Some(sender) = slot.end() else { continue };
            let message = Message::new(Deed::Nothing);
            let number = message.0;
            let (gone, room) = { (self.model.borrow().refuses(lane), self.model.borrow().room(lane)) };
            if gone || room == 0 {
                self.model.borrow_mut().lanes[lane].flying.push_back(number);
            } else {
                self.model.borrow_mut().launch(lane, Some(number));
            }
            match sender.try_send(message) {
                Ok(()) if room == 0 => self.model.borrow_mut().reveal_before(lane, number),
                Ok(()) => {}
                Err(TrySendError::Full(message)) => drop(self.model.borrow_mut().came_back(lane, message.0)),
                Err(TrySendError::Disconnected(message)) => {
                    let mut model = self.model.borrow_mut();
                    if !model.refuses(lane) && !model.leaving {
                        fault("disconnected, and there are receivers".into());
                    }
                    model.came_back(lane, message.0);
                }
            }
            return;
        }
    }

    /// Drops a handle without a running operation.
    fn drop_nested<S>(&self, ends: &Ends<S>, act: impl FnOnce(Who)) {
        let free = ends.borrow().iter().rposition(|slot| slot.try_borrow_mut().is_ok());
        if let Some(place) = free {
            act(place as Who);
        }
    }

    fn step(&self, op: Op) {
        match op {
            Op::Send { by, way, end } => self.send(by, way, end),
            Op::SendBatch { by, count, end, iterator } => self.send_batch(by, count, end, iterator),
            Op::Write { by, end } => self.write(by, end, false),
            Op::Unwrite { by } => self.unwrite(by),
            Op::Flush { by } => self.flush(by),
            Op::StartSend { by, end } => self.write(by, end, true),
            Op::SinkReady { by, waker } => self.poll_ready(by, waker, true),
            Op::PollReady { by, waker } => self.poll_ready(by, waker, false),
            Op::SinkFlush { by, closes } => self.sink_flush(by, closes),
            Op::Receive { by, way } => self.receive_one(by, way),
            Op::ReceiveBatch { by, most, waits } => self.receive_batch(by, usize::from(most), waits),
            Op::Iterate { by, most, waits } => self.iterate(by, most, waits),
            Op::Peek { by } => self.peek(by),
            Op::SizeHint { by } => self.size_hint(by),
            Op::PollRecv { by, as_stream, waker } => self.poll_recv(by, as_stream, waker),
            Op::RecvAsync { by, waker } => self.recv_async(by, waker),
            Op::RecvAgain { by, waker } => self.recv_again(by, waker),
            Op::DropRecv { by } => self.end_recv(by, false),
            Op::ForgetRecv { by } => self.end_recv(by, true),
            Op::SendAsync { by, end, waker } => self.send_async(by, end, waker),
            Op::SendAgain { by, waker } => self.send_again(by, waker),
            Op::DropSend { by } => self.end_send(by, false),
            Op::ForgetSend { by } => self.end_send(by, true),
            Op::Attach { by, set } => self.attach(by, usize::from(set)),
            Op::Detach { by, way } => self.detach(by, way),
            Op::SetSpin { by, way } => self.set_spin(by, way),
            Op::CloneSender { by } => self.clone_sender(by),
            Op::CloneReceiver { by } => self.clone_receiver(by),
            Op::DropSender { by } => self.drop_sender(by),
            Op::DropReceiver { by } => self.drop_receiver(by),
            Op::CloseSender { by } => self.close_sender(by),
            Op::CloseReceiver { by } => self.close_receiver(by),
        }
    }

    pub(super) fn close_sender(&self, by: Who) {
        let Some(slot) = self.sender(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let lane = slot.lane;
        let Some(sender) = slot.end() else { return };
        let (refuses, was_closed) = {
            let mut model = self.model.borrow_mut();
            let before = (model.refuses(lane), model.lanes[lane].closed);
            model.launch(lane, None);
            model.senders -= usize::from(!before.1);
            model.lanes[lane].closed = true;
            model.leaving = true;
            before
        };
        // The end of a lane raises the id, though there may be nothing in it.
        for slot in self.receivers.borrow().iter() {
            slot.try_borrow_mut().into_iter().for_each(|mut slot| slot.is_quiet &= was_closed);
        }
        if R::close_sender(sender) == refuses {
            fault(format!("closed, and it refused before: {refuses}"));
        }
    }

    fn close_receiver(&self, by: Who) {
        let Some(slot) = self.receiver(by).filter(|_| !R::SHARED) else { return };
        let mut slot = slot.borrow_mut();
        let Some(receiver) = slot.end() else { return };
        let was_over = self.model.borrow().is_over();
        self.model.borrow_mut().closed |= !was_over;
        let closed = R::close_receiver(receiver);
        slot.is_quiet = false;
        if closed == was_over {
            fault(format!("closed: {closed}, and it was over before: {was_over}"));
        }
    }

    fn set_spin(&self, by: Who, way: u8) {
        let spin = [Spin::Adaptive, Spin::None, Spin::Forever][usize::from(way)];
        if let Some(slot) = self.sender(by) {
            slot.borrow_mut().end().into_iter().for_each(|end| end.set_spin(spin));
        }
        if let Some(slot) = self.receiver(by) {
            slot.borrow_mut().end().into_iter().for_each(|end| end.set_spin(spin));
        }
    }

    fn clone_sender(&self, by: Who) {
        let Some(slot) = self.sender(by).filter(|_| self.senders.borrow().len() < ENDS) else { return };
        let Some(clone) = slot.borrow_mut().end().and_then(|end| R::more_senders(end)) else { return };
        let lane = slot.borrow().lane;
        let mut model = self.model.borrow_mut();
        // The clone of a sender that is closed is closed.
        let closed = model.lanes[lane].closed;
        model.senders += usize::from(!closed);
        if !R::SHARED {
            model.lanes.push(Lane { closed, ..Lane::default() });
        }
        self.senders.borrow_mut().push(Slot::new(clone, model.lanes.len() - 1));
    }

    fn clone_receiver(&self, by: Who) {
        let Some(slot) = self.receiver(by).filter(|_| self.receivers.borrow().len() < ENDS) else { return };
        let Some(clone) = slot.borrow_mut().end().and_then(|end| R::more_receivers(end)) else { return };
        self.model.borrow_mut().receivers += 1;
        self.receivers.borrow_mut().push(Slot::new(clone, 0));
    }

    fn drop_sender(&self, by: Who) {
        let Some(slot) = self.sender(by) else { return };
        self.senders.borrow_mut().retain(|other| !Rc::ptr_eq(other, &slot));
        let inside = self.bury(&slot);
        let mut model = self.model.borrow_mut();
        model.held -= usize::from(inside);
        let lane = slot.borrow().lane;
        model.senders -= usize::from(!model.lanes[lane].closed);
        model.leaving = true;
        model.launch(lane, None);
        drop(model);
        // The end of a lane raises the id, though there may be nothing in it.
        for slot in self.receivers.borrow().iter() {
            slot.try_borrow_mut().into_iter().for_each(|mut slot| slot.is_quiet = false);
        }
        drop(slot);
    }

    fn drop_receiver(&self, by: Who) {
        let Some(slot) = self.receiver(by) else { return };
        self.receivers.borrow_mut().retain(|other| !Rc::ptr_eq(other, &slot));
        self.bury(&slot);
        let mut model = self.model.borrow_mut();
        model.receivers -= 1;
        model.leaving = true;
        drop(model);
        drop(slot);
    }

    /// A handle is about to be dropped: from then on it holds no waker. Returns whether it has a message in its future.
    fn bury<E, O>(&self, slot: &RefCell<Slot<E, O>>) -> bool {
        let mut slot = slot.borrow_mut();
        let slot = &mut *slot;
        self.graves.borrow_mut().extend(slot.tasks.drain(..).chain(slot.future_tasks.drain(..)));
        slot.inside.take().is_some()
    }

    /// All handles are gone: another channel.
    fn begin_again(&self) {
        if self.senders.borrow().is_empty() && self.receivers.borrow().is_empty() {
            let mut model = self.model.borrow_mut();
            let (capacity, held) = (model.capacity, model.held);
            *model = Model::new(capacity);
            model.held = held;
            let (sender, receiver) = R::pair(capacity);
            self.senders.borrow_mut().push(Slot::new(sender, 0));
            self.receivers.borrow_mut().push(Slot::new(receiver, 0));
        }
    }
}

/// Does all operations, and checks everything after each.
fn sequence<R: Room>(capacity: Option<usize>, ops: &[Op]) -> Result<(), String> {
    foreign::begin();
    let machine = Machine::<R>::new(capacity);
    for (index, &op) in ops.iter().enumerate() {
        let outcome = catch_unwind(AssertUnwindSafe(|| machine.step(op)));
        let panicked = outcome.is_err_and(|panic| if panic.is::<Intended>() { true } else { resume_unwind(panic) });
        let result = foreign::quietly(|| machine.check(panicked | machine.nested_panic.take()));
        if let Err(text) = result {
            let panicked = if panicked { ", in which user code panicked" } else { "" };
            // The handles may be broken: they are left alone.
            std::mem::forget(machine);
            return Err(format!("after operation {index}{panicked}: {text}"));
        }
        foreign::quietly(|| machine.begin_again());
    }
    foreign::quietly(|| drop(machine));
    Ok(())
}

/// Random operations on a kind of channel, against the model.
pub(crate) fn agrees<R: Room>() {
    let cases = operations(40_000) / LENGTH;
    run(cases, sequences(R::CAPACITIES), |(capacity, ops)| sequence::<R>(*capacity, ops));
}
