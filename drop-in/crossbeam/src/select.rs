//! A select over operations that are added when the program runs.
//!
//! One thread. An operation allocates once, when it is added, and a select that sleeps once more. A result waits with
//! its operation until the caller says, by the end itself, what type it has.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use ysuite::select::list::{self, First, ListedRecv, Readable, Selectable, Writable, first};
use ysuite::timer::Due;

use crate::case::{Chosen, NEVER, RecvCase, SendCase};
use crate::channel::{Handed, Receiver, RecvEnd, SendEnd, Sender};
use crate::error::{ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError};

/// An operation that has been added, without the type of the messages.
trait Added<'a> {
    /// Performs it if it is possible at once (true). Its result is laid aside.
    fn attempt(&self) -> bool;
    /// The operation, as one of a list.
    fn operation(&mut self) -> &mut dyn Selectable;
    /// It was performed in a list: its result is laid aside.
    fn settle(&mut self);
    fn readiness(&mut self) -> &mut dyn Selectable;
    /// The list is over.
    fn leave(&mut self);
    /// Another of the same end.
    fn again(&self) -> Arc<dyn Added<'a> + 'a>;
}

struct Receiving<'a, T> {
    receiver: &'a Receiver<T>,
    /// While it stands in a list.
    case: Option<RecvCase<'a, T>>,
    ready: Option<ReadyCase<'a, T>>,
    result: Cell<Option<Result<T, RecvError>>>,
}

struct Sending<'a, T> {
    sender: &'a Sender<T>,
    case: Option<SendCase<'a, T>>,
    ready: Option<ReadyCase<'a, T>>,
    result: Cell<Option<Chosen<'a, T>>>,
}

/// The readiness of an end.
enum ReadyCase<'a, T> {
    Message(ListedRecv<Readable<'a, T>>),
    Giver(ListedRecv<Readable<'a, Handed<T>>>),
    Tick(ListedRecv<Due<'a>>),
    Room(ListedRecv<Writable<'a, T>>),
    Taker(ListedRecv<Writable<'a, Handed<T>>>),
}

impl<'a, T> ReadyCase<'a, T> {
    fn of_receiver(receiver: &'a Receiver<T>) -> Self {
        match &receiver.0 {
            RecvEnd::Queue(receiver) => Self::Message(list::readable(receiver)),
            RecvEnd::Hand(receiver) => Self::Giver(list::readable(receiver)),
            RecvEnd::Time(timer, _) => Self::Tick(list::due(timer)),
            RecvEnd::Never => Self::Tick(list::due(&NEVER)),
        }
    }

    fn of_sender(sender: &'a Sender<T>) -> Self {
        match &sender.0 {
            SendEnd::Queue(sender) => Self::Room(list::writable(sender)),
            SendEnd::Hand(sender) => Self::Taker(list::writable(sender)),
        }
    }

    fn operation(&mut self) -> &mut dyn Selectable {
        match self {
            Self::Message(operation) => operation,
            Self::Giver(operation) => operation,
            Self::Tick(operation) => operation,
            Self::Room(operation) => operation,
            Self::Taker(operation) => operation,
        }
    }
}

/// What the two sides have in common: all but how they are made.
macro_rules! impl_added {
    ($added:ident, $end:ident: $end_type:ident, $case:ident, $ready:ident, $attempt:ident) => {
        impl<'a, T> Added<'a> for $added<'a, T> {
            fn attempt(&self) -> bool {
                let result = self.$end.$attempt();
                let is_done = result.is_some();
                self.result.set(result);
                is_done
            }

            fn operation(&mut self) -> &mut dyn Selectable {
                self.case.insert($case::new(self.$end)).operation()
            }

            fn settle(&mut self) {
                self.result.set(self.case.as_mut().and_then($case::result));
            }

            fn readiness(&mut self) -> &mut dyn Selectable {
                self.ready.insert(ReadyCase::$ready(self.$end)).operation()
            }

            fn leave(&mut self) {
                (self.case, self.ready) = (None, None);
            }

            fn again(&self) -> Arc<dyn Added<'a> + 'a> {
                Arc::new(Self::new(self.$end))
            }
        }

        impl<'a, T> $added<'a, T> {
            fn new($end: &'a $end_type<T>) -> Self {
                Self { $end, case: None, ready: None, result: Cell::new(None) }
            }
        }
    };
}

impl_added!(Receiving, receiver: Receiver, RecvCase, of_receiver, received);
impl_added!(Sending, sender: Sender, SendCase, of_sender, chosen);

/// An operation, its index, and the address of its `Sender` or `Receiver`.
struct AddedAs<'a> {
    index: usize,
    end: *const (),
    added: Arc<dyn Added<'a> + 'a>,
}

impl<'a> AddedAs<'a> {
    /// Replaces it if nobody has taken its last result yet: afterwards this is its only owner.
    fn make_alone(&mut self) {
        if Arc::strong_count(&self.added) != 1 {
            self.added = self.added.again();
        }
    }

    /// Performs it if it is possible at once (true).
    fn attempt(&mut self) -> bool {
        self.make_alone();
        // ORDERING: pairs with the Release by which the owner of the last result, perhaps another thread, has left the
        //     count: the result is this thread's to replace.
        fence(Ordering::Acquire);
        self.added.attempt()
    }

    fn get(&mut self) -> &mut (dyn Added<'a> + 'a) {
        self.make_alone();
        Arc::get_mut(&mut self.added).expect("it is new, or had no other owner")
    }

    fn is_ready(&mut self) -> bool {
        let added = self.get();
        let is_ready = first(&mut [added.readiness()]).try_now().is_some();
        added.leave();
        is_ready
    }
}

/// Performs one of several operations that are added when the program runs.
pub struct Select<'a> {
    operations: Vec<AddedAs<'a>>,
    next: usize,
    is_biased: bool,
}

// SAFETY: an operation is a borrowed end and, once it was performed, its result. Another thread reaches the end only by
// `Added`, and a message only by `SelectedOperation`: that is not `Send`, and wants the end itself, which a thread has
// only where the messages may go there. A result is touched by that, or here by the only owner of its operation. No
// message is dropped here: `SelectedOperation` forgets what was not completed, and `Attempt` what a panic has left
// behind.
unsafe impl Send for Select<'_> {}
// SAFETY: by shared reference it can only be cloned, which borrows the ends once more.
unsafe impl Sync for Select<'_> {}

/// When a select gives up.
#[derive(Clone, Copy)]
enum Until {
    Now,
    At(Instant),
    Never,
}

impl Until {
    fn after(timeout: Duration) -> Self {
        Instant::now().checked_add(timeout).map_or(Self::Never, Self::At)
    }

    fn wait(self, first: First<'_, '_>) -> Option<usize> {
        match self {
            Self::Now => first.try_now(),
            Self::At(deadline) => first.wait_deadline(deadline),
            Self::Never => Some(first.wait()),
        }
    }
}

impl<'a> Select<'a> {
    /// Without operations. Of several that are possible a random one is performed.
    pub fn new() -> Self {
        Self { operations: Vec::new(), next: 0, is_biased: false }
    }

    /// Without operations. Of several that are possible the first is performed.
    pub fn new_biased() -> Self {
        Self { is_biased: true, ..Self::new() }
    }

    /// Adds a send, whose message is made once it is chosen. Returns its index.
    pub fn send<T>(&mut self, s: &'a Sender<T>) -> usize {
        self.add(ptr::from_ref(s).cast(), Arc::new(Sending::new(s)))
    }

    /// Adds a receive. Returns its index.
    pub fn recv<T>(&mut self, r: &'a Receiver<T>) -> usize {
        self.add(ptr::from_ref(r).cast(), Arc::new(Receiving::new(r)))
    }

    fn add(&mut self, end: *const (), added: Arc<dyn Added<'a> + 'a>) -> usize {
        let index = self.next;
        self.operations.push(AddedAs { index, end, added });
        self.next += 1;
        index
    }

    /// Removes the operation with this index. The others keep theirs.
    ///
    /// # Panics
    /// When there is none.
    pub fn remove(&mut self, index: usize) {
        assert!(index < self.next, "index out of bounds; {index} >= {}", self.next);
        let at = self.operations.iter().position(|operation| operation.index == index);
        self.operations.swap_remove(at.expect("no operation with this index"));
    }

    /// Performs one of the operations if one is possible at once.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        self.perform(Until::Now).ok_or(TrySelectError)
    }

    /// Performs one of the operations; blocks.
    ///
    /// # Panics
    /// Without any operation.
    pub fn select(&mut self) -> SelectedOperation<'a> {
        assert!(!self.operations.is_empty(), "no operations have been added to `Select`");
        self.perform(Until::Never).expect("without a limit one is performed")
    }

    /// As [`select`](Self::select), for at most `timeout`.
    pub fn select_timeout(&mut self, timeout: Duration) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.perform(Until::after(timeout)).ok_or(SelectTimeoutError)
    }

    /// As [`select`](Self::select), until `deadline` at most.
    pub fn select_deadline(&mut self, deadline: Instant) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        self.perform(Until::At(deadline)).ok_or(SelectTimeoutError)
    }

    /// The index of an operation that is possible now. It is not performed.
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        self.find_ready(Until::Now).ok_or(TryReadyError)
    }

    /// The index of an operation that is possible; blocks. It is not performed.
    ///
    /// # Panics
    /// Without any operation.
    pub fn ready(&mut self) -> usize {
        assert!(!self.operations.is_empty(), "no operations have been added to `Select`");
        self.find_ready(Until::Never).expect("without a limit one is ready")
    }

    /// As [`ready`](Self::ready), for at most `timeout`.
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        self.find_ready(Until::after(timeout)).ok_or(ReadyTimeoutError)
    }

    /// As [`ready`](Self::ready), until `deadline` at most.
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        self.find_ready(Until::At(deadline)).ok_or(ReadyTimeoutError)
    }

    fn perform(&mut self, until: Until) -> Option<SelectedOperation<'a>> {
        let at = Attempt(self).choose(until, AddedAs::attempt, |added| added.operation(), |added| added.settle())?;
        let AddedAs { index, end, added } = &self.operations[at];
        Some(SelectedOperation { index: *index, end: *end, added: Some(added.clone()), of_thread: PhantomData })
    }

    fn find_ready(&mut self, until: Until) -> Option<usize> {
        let at = Attempt(self).choose(until, AddedAs::is_ready, |added| added.readiness(), |_| {})?;
        Some(self.operations[at].index)
    }
}

/// One call. Where it panics, what it has left with the operations is forgotten with them.
struct Attempt<'s, 'a>(&'s mut Select<'a>);

impl<'a> Attempt<'_, 'a> {
    /// Performs one of the operations, and returns where it stands. First each alone, for which no list is needed.
    fn choose(
        &mut self,
        until: Until,
        now: impl Fn(&mut AddedAs<'a>) -> bool,
        of: impl for<'m> Fn(&'m mut (dyn Added<'a> + 'a)) -> &'m mut dyn Selectable,
        done: impl Fn(&mut (dyn Added<'a> + 'a)),
    ) -> Option<usize> {
        let operations = &mut self.0.operations;
        let begin = if self.0.is_biased { 0 } else { chance(operations.len()) };
        let mut order = (begin..operations.len()).chain(0..begin);
        order.find(|&at| now(&mut operations[at])).or_else(|| self.wait(until, of, done))
    }

    /// None is possible at once: all in one list.
    #[cold]
    fn wait(
        &mut self,
        until: Until,
        of: impl for<'m> Fn(&'m mut (dyn Added<'a> + 'a)) -> &'m mut dyn Selectable,
        done: impl Fn(&mut (dyn Added<'a> + 'a)),
    ) -> Option<usize> {
        let operations = &mut self.0.operations;
        let mut all: Vec<&mut dyn Selectable> = operations.iter_mut().map(|operation| of(operation.get())).collect();
        let all = first(&mut all);
        let at = until.wait(if self.0.is_biased { all.biased() } else { all });
        at.into_iter().for_each(|at| done(operations[at].get()));
        operations.iter_mut().for_each(|operation| operation.get().leave());
        at
    }
}

impl Drop for Attempt<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            mem::forget(mem::take(&mut self.0.operations));
        }
    }
}

/// A number below `most`, each equally often.
fn chance(most: usize) -> usize {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0x9e37_79b9_7f4a_7c15) };
    }
    // A thread that ends has no state any more.
    let random = STATE.try_with(|state| {
        let mut next = state.get();
        next ^= next << 13;
        next ^= next >> 7;
        next ^= next << 17;
        state.set(next);
        next >> 32
    });
    ((random.unwrap_or(0) * most as u64) >> 32) as usize
}

impl<'a> Clone for Select<'a> {
    fn clone(&self) -> Self {
        let again = |operation: &AddedAs<'a>| AddedAs {
            index: operation.index,
            end: operation.end,
            added: operation.added.again(),
        };
        let operations = self.operations.iter().map(again).collect();
        Self { operations, next: self.next, is_biased: self.is_biased }
    }
}

impl Default for Select<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Select { .. }")
    }
}

/// An operation that was chosen. It is completed by the end that it is of.
///
/// # Panics
/// When it is dropped.
#[must_use]
pub struct SelectedOperation<'a> {
    index: usize,
    end: *const (),
    /// `None` once it is completed.
    added: Option<Arc<dyn Added<'a> + 'a>>,
    of_thread: PhantomData<*const ()>,
}

impl SelectedOperation<'_> {
    /// The index that the operation got when it was added.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Completes a send.
    ///
    /// # Panics
    /// When the operation is not a send by `s`.
    pub fn send<T>(mut self, s: &Sender<T>, msg: T) -> Result<(), SendError<T>> {
        assert!(ptr::from_ref(s).cast() == self.end, "passed a sender that wasn't selected");
        let added = self.added.take().expect("it is completed once");
        // SAFETY: a `Sender` stands at this address for as long as the operation borrows it, and another type of end
        // cannot: ends have a size, and contain no others. Lifetimes apart, which variance keeps, `T` is its type.
        let sending = unsafe { &*Arc::as_ptr(&added).cast::<Sending<'_, T>>() };
        let chosen = sending.result.take();
        chosen.expect("it was settled").send(msg)
    }

    /// Completes a receive.
    ///
    /// # Panics
    /// When the operation is not a receive by `r`.
    pub fn recv<T>(mut self, r: &Receiver<T>) -> Result<T, RecvError> {
        assert!(ptr::from_ref(r).cast() == self.end, "passed a receiver that wasn't selected");
        let added = self.added.take().expect("it is completed once");
        // SAFETY: as in `send`.
        let receiving = unsafe { &*Arc::as_ptr(&added).cast::<Receiving<'_, T>>() };
        let result = receiving.result.take();
        result.expect("it was settled")
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        if let Some(added) = self.added.take() {
            // Its message may belong to another thread.
            mem::forget(added);
            // A second panic would end the process.
            assert!(std::thread::panicking(), "dropped `SelectedOperation` without completing the operation");
        }
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SelectedOperation { .. }")
    }
}
