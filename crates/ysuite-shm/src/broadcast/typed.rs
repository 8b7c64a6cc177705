//! What a receiver of messages has of a broadcast.

use super::BroadcastIn;
use crate::end::{End, Half};
use crate::page::{Kind, PUBLISHED, RING};
use crate::pipe::Inlet;
use crate::ring::Look;
use crate::ring::typed::{Ahead, Reader};
use crate::sync::{Ordering, fence};
use crate::{BroadcastError, Error, Message};

/// The inlet of messages of one type.
pub(crate) struct TypedIn<T> {
    end: End,
    /// Once it has joined.
    reader: Option<Reader<T>>,
    from: u64,
    is_lossy: bool,
    capacity: u64,
    /// The number of the newest messages that it keeps when it is overtaken: fewer, where it was overtaken again at once.
    keep: u64,
    /// Messages that it has lost, and not said yet.
    lost: u64,
}

impl<T> Half for TypedIn<T> {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl<T: Message> Inlet for TypedIn<T> {
    #[cold]
    fn attach(&mut self) {
        let (Some(met), None) = (&self.end.link.met, self.end.failed()) else { return };
        let Some(shared) = &met.shared else { return };
        let Some(from) = met.joined_at() else { return };
        // SAFETY: the region has the size of a ring of this capacity behind its page, as `Link::accept` has checked, and
        // lives as long as `end`.
        let mut reader = unsafe { Reader::new(shared.start().add(RING), met.header.capacity) };
        self.from = from;
        reader.go_to(self.from);
        self.reader = Some(reader);
        self.is_lossy = met.header.shape.kind == Kind::Lossy;
        self.capacity = met.header.capacity as u64;
        self.keep = self.capacity;
    }

    fn detach(&mut self) {
        self.reader = None;
        self.lost = 0;
    }

    fn stand_off(&mut self) -> bool {
        false
    }

    #[inline]
    fn look_in(&mut self) -> Look {
        if self.lost > 0 {
            return Look::Something;
        }
        if self.reader.is_none() {
            self.attach();
        }
        let Some(reader) = &mut self.reader else { return Look::Nothing };
        if !self.is_lossy {
            return reader.look();
        }
        match reader.look_ahead() {
            Ahead::Message => Look::Something,
            Ahead::Nothing => Look::Nothing,
            Ahead::Overtaken if self.catch_up() => Look::Something,
            _ => Look::Broken,
        }
    }
}

impl<T: Message> TypedIn<T> {
    /// Goes to the oldest message that is still there. False: the sender lies.
    #[cold]
    fn catch_up(&mut self) -> bool {
        let shared = self.end.link.met.as_ref().and_then(|met| met.shared.as_ref());
        let (Some(reader), Some(shared)) = (&mut self.reader, shared) else { return false };
        // ORDERING: Acquire pairs with the Release in `enter`: what was published before the group was entered is counted.
        fence(Ordering::Acquire);
        // ORDERING: Relaxed, as the memory is read-only; the fence pairs with the Release in `BroadcastSender::put`.
        let newest = shared.word(PUBLISHED).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let to = newest.wrapping_sub(self.keep);
        let lost = to.wrapping_sub(reader.position());
        if lost == 0 || lost > u64::MAX / 2 {
            return false;
        }
        reader.go_to(to);
        self.keep /= 2;
        self.lost = lost;
        true
    }

    /// As [`BroadcastIn::take_some`], of one that is bounded.
    fn take_all(&mut self, to: &mut Vec<T>, most: usize) -> usize {
        let (mut taken, mut consumed) = (0, 0);
        // The last look may find a lie, behind which there is no position.
        while taken < most && self.look() {
            let reader = self.reader.as_mut().expect("a look has found a message");
            to.push(reader.take());
            consumed = reader.position().wrapping_sub(self.from);
            taken += 1;
        }
        self.consumed(consumed);
        taken
    }

    /// As [`BroadcastIn::take_some`], of a lossy one, whose sender may never pause: no more than have room. What stops it is the result of the next
    /// call.
    fn take_some_whole(&mut self, to: &mut Vec<T>, most: usize) -> Result<usize, BroadcastError> {
        to.push(self.take_one()?);
        let mut taken = 1;
        while taken < most.min(self.capacity as usize) && self.look() && self.lost == 0 {
            match self.take_one() {
                Ok(message) => to.push(message),
                Err(BroadcastError::Lagged(lost)) => {
                    self.lost = lost;
                    break;
                }
                Err(_) => break,
            }
            taken += 1;
        }
        Ok(taken)
    }

    /// What a look has found.
    #[inline]
    fn take_one(&mut self) -> Result<T, BroadcastError> {
        if self.lost > 0 {
            return Err(BroadcastError::Lagged(core::mem::take(&mut self.lost)));
        }
        let reader = self.reader.as_mut().expect("a look has found a message");
        if !self.is_lossy {
            let message = reader.take();
            let consumed = reader.position().wrapping_sub(self.from);
            self.consumed(consumed);
            return Ok(message);
        }
        match reader.peek_whole() {
            Some(message) => {
                reader.advance();
                self.keep = self.capacity;
                Ok(message)
            }
            None if self.catch_up() => Err(BroadcastError::Lagged(core::mem::take(&mut self.lost))),
            None => Err(BroadcastError::Ended(self.give_up(Error::Broken))),
        }
    }
}

impl<T: Message> TypedIn<T> {
    pub(super) fn new(end: End) -> Self {
        Self { end, reader: None, from: 0, is_lossy: false, capacity: 0, keep: 0, lost: 0 }
    }
}

impl<T: Message> BroadcastIn<T> for TypedIn<T> {
    fn end_ref(&self) -> &End {
        &self.end
    }

    #[inline]
    fn take(&mut self) -> Option<Result<T, BroadcastError>> {
        Some(self.take_one())
    }

    fn take_some(&mut self, to: &mut Vec<T>, most: usize) -> Option<Result<usize, BroadcastError>> {
        Some(if self.is_lossy || self.lost > 0 { self.take_some_whole(to, most) } else { Ok(self.take_all(to, most)) })
    }
}
