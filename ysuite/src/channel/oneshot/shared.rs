//! What the two ends of a oneshot channel share: one allocation. [`OneshotLink`] is how an end reaches it.
//!
//! Whose each part is, and who frees all of it, is the table of [`handshake`](super::handshake); what is here only does
//! it. Wait-free. No function here runs user code, except for the one that drops the message.

use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::task::Waker;

use super::handshake::Handshake;
use crate::signal::{Registration, TaskSlot};
use crate::sync::{Arc, Handed, UnsafeCell};

/// Small, since there may be a million of them: an allocator's block of 48 bytes holds one whose message is a word.
pub(super) struct OneshotShared<T> {
    pub(super) handshake: Handshake,
    /// Stands for all of this memory, which the last end frees.
    memory: Handed,
    /// A model says so where one of these is left: where nobody frees the memory.
    #[cfg(ysuite_loom)]
    _kept: Arc<()>,
    /// Whom the sender calls when it has ended.
    callee: UnsafeCell<MaybeUninit<Callee>>,
    /// Whom the receiver wakes when it has ended. In a box, because few senders wait for that.
    sender: UnsafeCell<MaybeUninit<Box<Waker>>>,
    message: UnsafeCell<MaybeUninit<T>>,
}

/// Whom the sender calls, beside a thread that sleeps on the word.
pub(super) enum Callee {
    Task(Waker),
    Set(Arc<SetPlace>),
}

/// The place of a receiver in a set of signals. Shared by the receiver and, while its mark says so, whoever calls it.
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

/// One end's way to what both share. Never null; two of them are made for each channel, and whether what they point to
/// is still there is said by the table.
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
// SAFETY: what an end does by a shared reference is to look at the word.
unsafe impl<T: Send> Sync for OneshotLink<T> {}

/// What a receiver has of its channel, in one word: a link; nothing, and its caller has been told so; or nothing, since
/// it has closed the channel, and that has yet to be told.
pub(super) struct Tie<T>(Option<OneshotLink<T>>);

/// The address in a tie of a receiver that has closed its channel. What a link points to has an alignment, so it is not
/// here.
const CLOSED: usize = 1;

impl<T> Tie<T> {
    /// Nothing, which has been told.
    pub(super) const SPENT: Self = Self(None);

    #[inline]
    pub(super) fn new(link: OneshotLink<T>) -> Self {
        Self(Some(link))
    }

    /// Nothing, which has yet to be told.
    pub(super) fn closed() -> Self {
        Self(NonNull::new(ptr::without_provenance_mut(CLOSED)).map(OneshotLink))
    }

    #[inline]
    pub(super) fn link(&self) -> Option<OneshotLink<T>> {
        // One comparison: no link is null either.
        self.0.filter(|link| link.0.as_ptr().addr() > CLOSED)
    }

    /// Whether there is nothing, and this has been told.
    #[cfg(feature = "stream")]
    pub(super) fn is_spent(&self) -> bool {
        self.0.is_none()
    }
}

/// All functions: the calling end has not let go of the memory, and the part is its own, by the table.
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
    /// The calling end has not let go of the memory. The answer is used no longer than that.
    #[inline]
    pub(super) unsafe fn handshake<'a>(self) -> &'a Handshake {
        // SAFETY: by the contract. No reference to the whole is made: parts of it belong to the other handle.
        unsafe { &(*self.0.as_ptr()).handshake }
    }

    // MUTANT: Models only: it reports an access to the model checker.
    /// The calling end is about to let go of the memory, by its next step.
    ///
    /// # Safety
    /// It has not let go so far.
    #[inline]
    pub(super) unsafe fn last_use(self) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).memory.read() }
    }

    /// # Safety
    /// The message's place is the calling end's, and empty.
    #[inline]
    pub(super) unsafe fn put_message(self, message: T) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with_mut(|place| (*place).write(message)) };
    }

    /// # Safety
    /// The message is there and the calling end's. It is there no longer.
    #[inline]
    pub(super) unsafe fn take_message(self) -> T {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with_mut(|place| (*place).assume_init_read()) }
    }

    /// Drops the message where it lies: a stack may be too small for it. User code.
    ///
    /// # Safety
    /// The message is there and the calling end's. It is there no longer, also where its drop panics.
    #[inline]
    pub(super) unsafe fn drop_message(self) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with_mut(|place| (*place).assume_init_drop()) }
    }

    /// # Safety
    /// The message is there and the calling end's, as long as the answer is used.
    pub(super) unsafe fn message<'a>(self) -> &'a T {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).message.with(|place| (*place).assume_init_ref()) }
    }

    /// # Safety
    /// The callee's place is the calling end's, and empty.
    #[inline]
    pub(super) unsafe fn put_callee(self, callee: Callee) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).callee.with_mut(|place| (*place).write(callee)) };
    }

    /// The callee, which is not the caller's before it may say that it is initialised.
    ///
    /// # Safety
    /// Nobody writes to the callee's place meanwhile.
    #[inline]
    pub(super) unsafe fn copy_callee(self) -> MaybeUninit<Callee> {
        // SAFETY: by the contract; a copy of what may be uninitialised is as good.
        unsafe { (*self.0.as_ptr()).callee.with(|place| place.read()) }
    }

    /// # Safety
    /// The callee is there and the calling end's. It is there no longer.
    #[inline]
    pub(super) unsafe fn take_callee(self) -> Callee {
        // SAFETY: by the contract.
        unsafe { self.copy_callee().assume_init() }
    }

    /// Whether the callee is a task that this waker wakes.
    ///
    /// # Safety
    /// A callee has been put there by the calling end, and has not been replaced. The other handle may take it
    /// meanwhile: then the answer means nothing.
    pub(super) unsafe fn will_wake(self, waker: &Waker) -> bool {
        // SAFETY: by the contract nobody writes there. Of a waker that the other handle has taken, and perhaps used up,
        // what is compared is still there: a pointer, which is not followed, and a table of functions, which is static.
        unsafe {
            (*self.0.as_ptr()).callee.with(|place| match (*place).assume_init_ref() {
                Callee::Task(known) => known.will_wake(waker),
                Callee::Set(_) => false,
            })
        }
    }

    /// # Safety
    /// The place of the sender's waker is the calling end's, and empty.
    pub(super) unsafe fn put_sender(self, waker: Box<Waker>) {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).sender.with_mut(|place| (*place).write(waker)) };
    }

    /// # Safety
    /// The sender's waker is there and the calling end's. It is there no longer.
    pub(super) unsafe fn take_sender(self) -> Box<Waker> {
        // SAFETY: by the contract.
        unsafe { (*self.0.as_ptr()).sender.with_mut(|place| (*place).assume_init_read()) }
    }

    /// Frees the memory. What was in it has been taken out.
    ///
    /// # Safety
    /// By the table it is for the calling end to do so, once.
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
