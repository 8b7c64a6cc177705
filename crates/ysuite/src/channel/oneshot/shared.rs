//! What the two sides of a oneshot channel share: one allocation. A side reaches it by an [`OneshotLink`].
//!
//! Which side owns each part, and which one frees all of it, is the table of [`handshake`](super::handshake). The code
//! here only carries it out. Wait-free. No function here runs user code, except for the one that drops the message.

use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::task::Waker;

use super::handshake::Handshake;
use crate::signal::{Registration, TaskSlot};
use crate::sync::{Arc, Handed, UnsafeCell};

/// Small, since there may be a million of them: an allocator's block of 48 bytes holds one whose message is a word.
pub(super) struct OneshotShared<T> {
    pub(super) handshake: Handshake,
    /// Represents all of this memory, which the last side frees.
    memory: Handed,
    /// Lets a model report that the memory was never freed.
    #[cfg(ysuite_loom)]
    _kept: Arc<()>,
    /// The callee that the sender notifies when it has ended.
    callee: UnsafeCell<MaybeUninit<Callee>>,
    /// The waker that the receiver wakes when it has ended. In a box, because few senders wait for that.
    sender: UnsafeCell<MaybeUninit<Box<Waker>>>,
    message: UnsafeCell<MaybeUninit<T>>,
}

/// What the sender notifies, other than a thread that sleeps on the word.
pub(super) enum Callee {
    Task(Waker),
    Set(Arc<SetPlace>),
}

/// The slot of a receiver in a set of signals. Shared by the receiver and, while its mark says so, the side that calls
/// it.
pub(super) struct SetPlace {
    pub(super) registration: Registration,
    /// A task that waits for the attached receiver.
    pub(super) task: TaskSlot,
}

impl Callee {
    // USER CODE: as of `call` in `channel/oneshot/sender.rs`; test: tests/suite/oneshot/foreign.rs:
    //     a_waker_that_panics_when_it_is_woken_loses_no_message
    /// A waker is user code, and may panic.
    #[inline]
    pub(super) fn call(self) {
        match self {
            Self::Task(waker) => waker.wake(),
            Self::Set(place) => {
                place.registration.raise();
                place.task.wake();
            }
        }
    }
}

/// One side's way to the shared memory. Never null. Two of them are made for each channel; the table says whether the
/// memory is still there.
pub(super) struct OneshotLink<T>(NonNull<OneshotShared<T>>);

impl<T> Clone for OneshotLink<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OneshotLink<T> {}

// SAFETY: the message goes from one thread to another, which `T: Send` allows. All else there may be used on any
//     thread: atomics, wakers, and registrations.
unsafe impl<T: Send> Send for OneshotLink<T> {}
// SAFETY: by a shared reference a side only checks the word.
unsafe impl<T: Send> Sync for OneshotLink<T> {}

/// What a receiver has of its channel, in one word. A link; or nothing, and its caller knows; or nothing, since it has
/// closed the channel, and its caller does not know yet.
pub(super) struct Tie<T>(Option<OneshotLink<T>>);

/// The address in a tie of a receiver that has closed its channel. The target of a link is aligned, so no link has this
/// address.
const CLOSED: usize = 1;

impl<T> Tie<T> {
    /// Nothing, which has been reported.
    pub(super) const SPENT: Self = Self(None);

    #[inline]
    pub(super) fn new(link: OneshotLink<T>) -> Self {
        Self(Some(link))
    }

    /// Nothing, which has yet to be reported.
    pub(super) fn closed() -> Self {
        Self(NonNull::new(ptr::without_provenance_mut(CLOSED)).map(OneshotLink))
    }

    #[inline]
    pub(super) fn link(&self) -> Option<OneshotLink<T>> {
        // One comparison: no link is null either.
        self.0.filter(|link| link.0.as_ptr().addr() > CLOSED)
    }

    /// Whether there is nothing, and this has been reported.
    #[cfg(feature = "stream")]
    pub(super) fn is_spent(&self) -> bool {
        self.0.is_none()
    }
}

/// All functions: the calling side has not released the memory, and owns the part, by the table.
impl<T> OneshotLink<T> {
    #[inline]
    pub(super) fn new() -> Self {
        let shared = Box::new(OneshotShared {
            handshake: Handshake::new(),
            memory: Handed::default(),
            #[cfg(ysuite_loom)]
            _kept: Arc::new(()),
            callee: UnsafeCell::new(MaybeUninit::uninit()),
            sender: UnsafeCell::new(MaybeUninit::uninit()),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        });
        // A box is never null.
        Self(NonNull::from(Box::leak(shared)))
    }

    /// # Safety
    /// The calling side has not released the memory. The result is used no longer than that.
    #[inline]
    pub(super) unsafe fn handshake<'a>(self) -> &'a Handshake {
        // SAFETY: by the contract. No reference to the whole is made: the other side owns parts of it.
        unsafe { &(*self.0.as_ptr()).handshake }
    }

    // MUTANT: Models only: it reports an access to the model checker.
    /// The calling side is about to release the memory, by its next step.
    ///
    /// # Safety
    /// It has not released it so far.
    #[inline]
    pub(super) unsafe fn last_use(self) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).memory.read() }
    }

    /// # Safety
    /// The calling side owns the message's slot, which is empty.
    #[inline]
    pub(super) unsafe fn put_message(self, message: T) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with_mut(|place| (*place).write(message)) };
    }

    /// # Safety
    /// The message is there, and the calling side owns it. It is no longer there afterwards.
    #[inline]
    pub(super) unsafe fn take_message(self) -> T {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with_mut(|place| (*place).assume_init_read()) }
    }

    /// Drops the message in its slot: a stack may be too small for it. User code.
    ///
    /// # Safety
    /// The message is there, and the calling side owns it. It is no longer there afterwards, also where its drop
    /// panics.
    #[inline]
    pub(super) unsafe fn drop_message(self) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with_mut(|place| (*place).assume_init_drop()) }
    }

    /// # Safety
    /// The message is there, and the calling side owns it, as long as the result is used.
    pub(super) unsafe fn message<'a>(self) -> &'a T {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with(|place| (*place).assume_init_ref()) }
    }

    /// # Safety
    /// The calling side owns the callee's slot, which is empty.
    #[inline]
    pub(super) unsafe fn put_callee(self, callee: Callee) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).callee.with_mut(|place| (*place).write(callee)) };
    }

    /// The callee, which the caller does not own before it may say that it is initialised.
    ///
    /// # Safety
    /// No thread writes to the callee's slot meanwhile.
    #[inline]
    pub(super) unsafe fn copy_callee(self) -> MaybeUninit<Callee> {
        // SAFETY: by the contract; a copy of what may be uninitialised is as good.
        unsafe { (*self.0.as_ptr()).callee.with(|place| place.read()) }
    }

    /// # Safety
    /// The callee is there, and the calling side owns it. It is no longer there afterwards.
    #[inline]
    pub(super) unsafe fn take_callee(self) -> Callee {
        // SAFETY: by the contract.
        unsafe { self.copy_callee().assume_init() }
    }

    /// Whether the callee is a task that this waker wakes.
    ///
    /// # Safety
    /// The calling side has put a callee there, which has not been replaced. The other side may take it meanwhile: then
    /// the result means nothing.
    pub(super) unsafe fn will_wake(self, waker: &Waker) -> bool {
        // SAFETY: by the contract no thread writes there. Of a waker that the other side has taken, and perhaps used
        //     up, what is compared is still there: a pointer, which is not followed, and a table of functions, which is
        //     static.
        unsafe {
            (*self.0.as_ptr()).callee.with(|place| match (*place).assume_init_ref() {
                Callee::Task(known) => known.will_wake(waker),
                Callee::Set(_) => false,
            })
        }
    }

    /// # Safety
    /// The calling side owns the slot of the sender's waker, which is empty.
    pub(super) unsafe fn put_sender(self, waker: Box<Waker>) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).sender.with_mut(|place| (*place).write(waker)) };
    }

    /// # Safety
    /// The sender's waker is there, and the calling side owns it. It is no longer there afterwards.
    pub(super) unsafe fn take_sender(self) -> Box<Waker> {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).sender.with_mut(|place| (*place).assume_init_read()) }
    }

    /// Frees the memory. What was in it has been taken out.
    ///
    /// # Safety
    /// By the table the calling side must do so, once.
    #[inline]
    pub(super) unsafe fn free(self) {
        // SAFETY: made by `Box::leak` in `new`; by the contract no thread uses it any more. Nothing in it is dropped:
        //     what may be uninitialised is `MaybeUninit`.
        unsafe {
            (*self.0.as_ptr()).memory.written();
            drop(Box::from_raw(self.0.as_ptr()));
        }
    }
}

#[cfg(all(test, not(ysuite_loom), target_pointer_width = "64"))]
mod tests {
    use core::mem::size_of;

    use super::OneshotShared;

    #[test]
    fn a_channel_for_a_word_is_forty_bytes() {
        assert_eq!(size_of::<OneshotShared<u64>>(), 40);
        assert_eq!(size_of::<OneshotShared<u32>>(), 32);
        assert_eq!(size_of::<OneshotShared<Box<u8>>>(), 40);
    }
}
