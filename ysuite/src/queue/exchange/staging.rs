//! A batch that is being written: messages on the way from a caller's iterator into the ring. One thread.
//!
//! The iterator is foreign code: it may be slow, or panic. So no cell is claimed before the iterator has returned. The
//! messages it has returned lie here meanwhile, in a fixed amount of space, and those not taken are dropped with the
//! staging.

use core::mem::MaybeUninit;
use core::ptr;

/// How many bytes of messages are gathered for one claim.
const BYTES: usize = 2048;
/// How many messages are gathered for one claim, however small they are.
const MOST: usize = 64;

/// Space for a few messages, first in, first out.
pub(crate) struct Staging<T> {
    space: Space,
    /// One message that does not fit into the space, or asks for more alignment.
    large: Option<T>,
    /// The staging owns `len` messages of the space, from index `first` on.
    first: usize,
    len: usize,
}

#[repr(C, align(64))]
struct Space(MaybeUninit<[u8; BYTES]>);

impl<T> Staging<T> {
    /// How many messages the space holds; 0 where messages are held one by one in `large`.
    const SMALL: usize = match BYTES.checked_div(size_of::<T>()) {
        _ if align_of::<T>() > align_of::<Space>() => 0,
        Some(fit) if fit < MOST => fit,
        _ => MOST,
    };

    pub(crate) fn new() -> Self {
        Self { space: Space(MaybeUninit::uninit()), large: None, first: 0, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn place(&mut self, index: usize) -> *mut T {
        debug_assert!(index < Self::SMALL);
        // SAFETY: `SMALL` messages fit into the space, which is aligned for `T` where `SMALL` is not 0; `index` is
        // smaller.
        unsafe { self.space.0.as_mut_ptr().cast::<T>().add(index) }
    }

    /// Fills the staging from an iterator, with `most` messages at most, which is not 0. Call only when it is empty.
    pub(crate) fn fill(&mut self, messages: &mut impl Iterator<Item = T>, most: usize) {
        debug_assert!(self.len == 0 && most != 0);
        self.first = 0;
        if Self::SMALL == 0 {
            self.large = messages.next();
            self.len = usize::from(self.large.is_some());
            return;
        }
        while self.len < Self::SMALL.min(most) {
            let Some(message) = messages.next() else { return };
            let place = self.place(self.len);
            // SAFETY: within the space, at an index that no message of this staging has. Counted at once: the iterator
            // may panic next time.
            unsafe { place.write(message) };
            self.len += 1;
        }
    }

    /// The oldest message.
    pub(crate) fn next(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        self.len -= 1;
        if Self::SMALL == 0 {
            return self.large.take();
        }
        let place = self.place(self.first);
        self.first += 1;
        // SAFETY: `fill` has written a message there, and `first` and `len` no longer count it: it is read once.
        Some(unsafe { ptr::read(place) })
    }

    /// The oldest messages, at most as many as `messages` says.
    pub(crate) fn take(&mut self, messages: usize) -> impl Iterator<Item = T> {
        (0..messages).map_while(|_| self.next())
    }
}

impl<T> Drop for Staging<T> {
    fn drop(&mut self) {
        self.take(usize::MAX).for_each(drop);
    }
}
