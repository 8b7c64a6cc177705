//! A registration in line with its message, and the places that messages come from and go to: without the type of the
//! messages. What depends on it, a move and a drop, is behind [`MessagePlace`] and [`MessageMemory`]. So all else of a
//! rendezvous is compiled once, with the library, and not for each type of message.
//!
//! A rendezvous has messages of one type. Its users reach it by handles that have this type, such as `MeetingOf`,
//! `MeetingEnd` and `Party`. These alone make a [`LentPlace`].

#[cfg(debug_assertions)]
use core::any::type_name;
use core::mem::{MaybeUninit, transmute};
// A model's `Arc` cannot lose the type of its value.
use std::sync::Arc as StdArc;

use super::ticket::Ticket;
use crate::foreign::Lent;
use crate::sync::{Arc, AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// A place in the frame of a call that has a message or gets one: see [`Lent`].
pub(in crate::channel) struct LentPlace<'a>(&'a mut (dyn MessagePlace + 'a));

impl<'a> LentPlace<'a> {
    /// # Safety
    /// Only a rendezvous whose messages are of type `T` gets the place. It ends before anything that `T` borrows.
    #[inline]
    pub(in crate::channel) unsafe fn new<T>(place: &'a mut Option<T>) -> Self {
        Self(place)
    }

    pub(in crate::channel) fn is_some(&self) -> bool {
        self.0.is_there()
    }

    /// A registration for a message of this type, which has none as yet.
    pub(super) fn node(&self, ticket: Arc<Ticket>, case: u32) -> Arc<StandNode> {
        // Made in its memory: by value it would be copied there, and from call to call, with the place for a message.
        let node = self.0.node();
        // SAFETY: the memory of a new `Arc`, this thread's alone. All fields are written, except the memory for a
        //     message, which may be anything while there is none. The types differ by a lifetime only: the node ends
        //     with its rendezvous, and so before what its message borrows, as `new` demands.
        let node = unsafe {
            (&raw mut (*node).ticket).write(ticket);
            (&raw mut (*node).case).write(case);
            (&raw mut (*node).at).write(AtomicU32::new(0));
            (&raw mut (*node).handed).write(AtomicU64::new(0));
            // A cell has the address of its content. A model's cell has more.
            #[cfg(not(ysuite_loom))]
            {
                let message = &raw mut (*node).message as *mut StandMessage<dyn MessageMemory + '_>;
                (&raw mut (*message).is_there).write(false);
            }
            transmute::<StdArc<StandNode<dyn MessageMemory + '_>>, StdArc<StandNode>>(StdArc::from_raw(node))
        };
        // A model's `Arc` is made of the other one.
        #[cfg(ysuite_loom)]
        let node = Arc::from_std(node);
        node
    }
}

trait MessagePlace {
    fn is_there(&self) -> bool;

    /// Moves the message, if there is one (true), to memory.
    ///
    /// # Safety
    /// The memory is for a message of this type, and has none.
    unsafe fn move_to(&mut self, memory: *mut ()) -> bool;

    /// Moves a message here, to a place that is empty.
    ///
    /// # Safety
    /// The memory has a message of this type, which is not used there afterwards.
    unsafe fn move_from(&mut self, memory: *mut ());

    /// Memory for a registration, that of a new `Arc`.
    fn node(&self) -> *mut StandNode<dyn MessageMemory + '_>;

    #[cfg(debug_assertions)]
    fn of(&self) -> &'static str;
}

impl<T> MessagePlace for Option<T> {
    fn is_there(&self) -> bool {
        self.is_some()
    }

    unsafe fn move_to(&mut self, memory: *mut ()) -> bool {
        let is_there = self.is_some();
        if is_there {
            // SAFETY: by the caller.
            unsafe { Lent::move_to(self, memory.cast::<T>()) };
        }
        is_there
    }

    unsafe fn move_from(&mut self, memory: *mut ()) {
        // SAFETY: by the caller.
        *self = Some(unsafe { memory.cast::<T>().read() });
    }

    fn node(&self) -> *mut StandNode<dyn MessageMemory + '_> {
        let node = StdArc::into_raw(StdArc::<StandNode<MaybeUninit<T>>>::new_uninit());
        let node = node.cast_mut().cast::<StandNode<MaybeUninit<T>>>();
        #[cfg(ysuite_loom)]
        // SAFETY: the memory of a new `Arc`.
        unsafe {
            let message = StandMessage { is_there: false, memory: MaybeUninit::uninit() };
            (&raw mut (*node).message).write(UnsafeCell::new(message));
        }
        node
    }

    #[cfg(debug_assertions)]
    fn of(&self) -> &'static str {
        type_name::<T>()
    }
}

/// Memory for a message.
pub(super) trait MessageMemory {
    /// Drops the message. User code.
    ///
    /// # Safety
    /// It is there, and not used afterwards.
    unsafe fn drop_message(&mut self);

    #[cfg(debug_assertions)]
    fn of(&self) -> &'static str;
}

impl<T> MessageMemory for MaybeUninit<T> {
    unsafe fn drop_message(&mut self) {
        // SAFETY: by the caller.
        unsafe { self.assume_init_drop() };
    }

    #[cfg(debug_assertions)]
    fn of(&self) -> &'static str {
        type_name::<T>()
    }
}

/// A registration in line. The message of a sender, or the memory for a receiver's message. It keeps the memory of a
/// message that is given back.
pub(super) struct StandNode<M: ?Sized + MessageMemory = dyn MessageMemory> {
    pub(super) ticket: Arc<Ticket>,
    /// The number of the owner's case.
    pub(super) case: u32,
    /// The slot in line, for the owner.
    at: AtomicU32,
    /// Of a receiver that has been handed a message: the number of that message among all that were handed over.
    /// Written under the rendezvous's lock.
    handed: AtomicU64,
    message: UnsafeCell<StandMessage<M>>,
}

// SAFETY: the node owns its message, and is dropped on any thread. Only handles that are `Send` and `Sync` where an
//     `Arc<Mutex<T>>` is, where `T: Send`, take it to another one.
unsafe impl<M: ?Sized + MessageMemory> Send for StandNode<M> {}
// SAFETY: `message` is accessed under the rendezvous's lock while the node is in line, and otherwise by one thread: the
//     owner, or the peer that has taken a sender's claim. It passes by value.
unsafe impl<M: ?Sized + MessageMemory> Sync for StandNode<M> {}

/// A message or none. As an `Option`, except that it can be emptied in place: assigning `None` takes stack space for a
/// whole message where the compiler does not optimise.
struct StandMessage<M: ?Sized + MessageMemory> {
    is_there: bool,
    memory: M,
}

impl<M: ?Sized + MessageMemory> StandMessage<M> {
    /// User code, if there is a message.
    fn clear(&mut self) {
        if core::mem::replace(&mut self.is_there, false) {
            // SAFETY: there was a message, and from now on there is none, also where its drop panics.
            unsafe { self.memory.drop_message() };
        }
    }
}

impl StandMessage<dyn MessageMemory> {
    fn memory(&mut self) -> *mut () {
        (&raw mut self.memory).cast()
    }

    #[cfg(debug_assertions)]
    fn assert_of(&self, of: &str) {
        assert_eq!(self.memory.of(), of, "a rendezvous has messages of one type");
    }

    /// Moves the message of `place` in, where there is one. There is none here.
    fn put(&mut self, place: &mut LentPlace<'_>) {
        #[cfg(debug_assertions)]
        self.assert_of(place.0.of());
        // SAFETY: there is no message here. Both are of the rendezvous's type, as `LentPlace::new` demands.
        self.is_there = unsafe { place.0.move_to(self.memory()) };
    }

    /// Moves the message out, if there is one, to a place that is empty.
    fn take(&mut self, place: &mut LentPlace<'_>) {
        #[cfg(debug_assertions)]
        self.assert_of(place.0.of());
        if core::mem::replace(&mut self.is_there, false) {
            // SAFETY: there was a message, and from now on there is none: it is read once. Both are of the rendezvous's
            //     type, as `LentPlace::new` demands.
            unsafe { place.0.move_from(self.memory()) };
        }
    }

    /// Moves the message, if there is one, to another node of the same rendezvous, which has none.
    fn move_to(&mut self, to: &mut Self) {
        #[cfg(debug_assertions)]
        self.assert_of(to.memory.of());
        if core::mem::replace(&mut self.is_there, false) {
            let size = size_of_val(&self.memory);
            let (from, into) = (self.memory().cast::<MaybeUninit<u8>>(), to.memory().cast::<MaybeUninit<u8>>());
            // SAFETY: memory of two nodes, for messages of the same type. The message is moved as its bytes, and from
            //     now on there is none here.
            unsafe { into.copy_from_nonoverlapping(from, size) };
            to.is_there = true;
        }
    }
}

// USER CODE: `Drop` of a message that was given back, and that no receiver has taken when the rendezvous itself is
//     dropped; no handle is left; re-entrance: any operation of other channels; panic: propagates; by construction: the
//     message counts as gone before
impl<M: ?Sized + MessageMemory> Drop for StandMessage<M> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl StandNode {
    pub(super) fn at(&self) -> u32 {
        // ORDERING: Relaxed; the owner has written it.
        self.at.load(Ordering::Relaxed)
    }

    pub(super) fn set_at(&self, at: u32) {
        // ORDERING: Relaxed; only the owner reads it.
        self.at.store(at, Ordering::Relaxed);
    }

    /// The number of the message that this receiver has been handed.
    pub(super) fn handed(&self) -> u64 {
        // ORDERING: Relaxed; written before the claim was taken, which this thread has acquired.
        self.handed.load(Ordering::Relaxed)
    }

    /// Under the lock: this receiver is about to be handed the message of this number.
    pub(super) fn set_handed(&self, number: u64) {
        // ORDERING: Relaxed; the claim that is taken next hands it over, with the message.
        self.handed.store(number, Ordering::Relaxed);
    }

    /// Moves the message of `place` in, where there is one.
    ///
    /// # Safety
    /// The node is in line and the caller holds the rendezvous's lock. Or it is no longer in line, or not yet, and the
    /// caller is its owner, or has taken the sender's claim. The node has no message.
    pub(super) unsafe fn put(&self, place: &mut LentPlace<'_>) {
        // SAFETY: by the contract no other thread accesses the cell meanwhile.
        self.message.with_mut(|cell| unsafe { (*cell).put(place) });
    }

    /// Moves the message out, if there is one, to a place that is empty.
    ///
    /// # Safety
    /// As [`put`](Self::put), and the node may have a message.
    pub(super) unsafe fn take(&self, place: &mut LentPlace<'_>) {
        // SAFETY: by the contract no other thread accesses the cell meanwhile.
        self.message.with_mut(|cell| unsafe { (*cell).take(place) });
    }

    /// Moves the message, if there is one, to another node of the same rendezvous.
    ///
    /// # Safety
    /// As [`take`](Self::take), and as [`put`](Self::put) of the other node.
    pub(super) unsafe fn move_to(&self, to: &Self) {
        debug_assert!(!core::ptr::eq(self, to), "a message is moved to another node");
        // SAFETY: by the contract no other thread accesses either cell meanwhile.
        self.message.with_mut(|cell| to.message.with_mut(|to| unsafe { (*cell).move_to(&mut *to) }));
    }

    /// Whether there is a message.
    ///
    /// # Safety
    /// As [`take`](Self::take).
    pub(super) unsafe fn is_full(&self) -> bool {
        // SAFETY: by the contract no other thread writes to the cell meanwhile.
        self.message.with(|cell| unsafe { (*cell).is_there })
    }

    /// Drops the message, if there is one, in its memory. User code.
    ///
    /// # Safety
    /// As [`take`](Self::take).
    pub(super) unsafe fn clear(&self) {
        // SAFETY: by the contract no other thread touches the cell meanwhile. Where the message's drop panics, nothing
        //     is there all the same.
        self.message.with_mut(|cell| unsafe { (*cell).clear() });
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{LentPlace, StandNode};
    use crate::channel::rendezvous::Ticket;
    use crate::sync::Arc;

    fn lent<T>(place: &mut Option<T>) -> LentPlace<'_> {
        // SAFETY: the nodes of these tests end with the function that has the messages.
        unsafe { LentPlace::new(place) }
    }

    fn node<T>() -> Arc<StandNode> {
        lent(&mut None::<T>).node(Arc::new(Ticket::for_task()), 3)
    }

    /// From a place to a node, to another node, and to a place.
    fn moved<T>(message: T) -> Option<T> {
        let (first, second) = (node::<T>(), node::<T>());
        let (mut from, mut to) = (Some(message), None);
        // SAFETY: this thread alone has the nodes.
        unsafe {
            first.put(&mut lent(&mut from));
            assert!(from.is_none() && first.is_full() && !second.is_full());
            first.move_to(&second);
            assert!(!first.is_full() && second.is_full());
            first.take(&mut lent(&mut to));
            assert!(to.is_none(), "it has been moved");
            second.take(&mut lent(&mut to));
            assert!(!second.is_full());
        }
        to
    }

    #[test]
    fn a_message_of_any_type_is_moved_without_its_type() {
        #[repr(align(256))]
        #[derive(Debug, PartialEq)]
        struct Aligned(u8);

        let text = String::from("borrowed");
        assert_eq!(moved(&*text), Some("borrowed"));
        assert_eq!(moved(text), Some("borrowed".to_owned()));
        assert_eq!((moved(()), moved(7_u8), moved([u64::MAX; 500])), (Some(()), Some(7), Some([u64::MAX; 500])));
        assert_eq!((moved(Aligned(1)), moved(Some(None::<bool>))), (Some(Aligned(1)), Some(Some(None))));
        let dynamic: Box<dyn Fn() -> u8> = Box::new(|| 9);
        assert_eq!(moved(dynamic).map(|message| message()), Some(9));
    }

    #[test]
    fn a_message_that_is_left_in_its_memory_is_dropped_once() {
        let message = std::sync::Arc::new(());
        let [cleared, left] = [(); 2].map(|()| {
            let node = node::<std::sync::Arc<()>>();
            // SAFETY: this thread alone has the node.
            unsafe { node.put(&mut lent(&mut Some(message.clone()))) };
            node
        });
        assert_eq!(std::sync::Arc::strong_count(&message), 3);
        // SAFETY: as above.
        unsafe {
            cleared.clear();
            assert!(!cleared.is_full());
        }
        assert_eq!(std::sync::Arc::strong_count(&message), 2);
        drop(cleared);
        drop(left.clone());
        assert_eq!(std::sync::Arc::strong_count(&message), 2);
        drop(left);
        assert_eq!(std::sync::Arc::strong_count(&message), 1);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "messages of one type")]
    fn a_place_for_another_type_is_refused() {
        // SAFETY: this thread alone has the node, which refuses the message.
        unsafe { node::<u32>().put(&mut lent(&mut Some(7_i32))) };
    }
}
