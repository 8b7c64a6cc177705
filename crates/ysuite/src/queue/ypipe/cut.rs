//! The cut: where a queue ends whose reader has closed it. Both handles agree on it, whichever comes first.
//!
//! A reader that closes continues to read what was sent before, so a message that is being sent at that moment must
//! belong to exactly one of the two handles. The reader marks its passive word ([`CUT`]), executes the barrier, checks
//! how far the queue is published, and proposes that position. A writer whose publication returns [`CUT`] proposes the
//! position after it. The first proposal counts, by one compare-exchange.
//!
//! * By the barrier the reader's check has found every publication that did not return [`CUT`]. So each message that a
//!   writer once reported as sent is below the cut, whichever handle proposes it.
//! * Positions below the cut belong to the reading side, all of them are published, and are visible to the thread that
//!   has learned of the cut. So the reader counts, and loads no state any more.
//! * Positions from the cut on belong to the writer for ever. It may publish there: the result is [`CUT`] again, and it
//!   takes its messages back. States and links beyond the cut mean nothing, and the reader must not follow them: its
//!   cursor is put a lap ahead, where every state reads as "nothing", and it does not leave the chunk of the cut.
//! * The reader checks before it knows of a cut, so it may be led beyond one that the writer has decided meanwhile. It
//!   only counts there, and its count is not used then. So a writer frees no chunk out of which it has taken its
//!   messages.
//!
//! A batch is published by one store, and the reader's check is one load: the cut never divides messages that were
//! hidden together.
//!
//! Everything is wait-free, except for the drops of messages. The reader's check takes time in proportion to the number
//! of messages.
//!
//! Cannot: be undone. Cannot say whether a message below the cut will be received: the reader may still be dropped.

use super::chunk::{Places, Shape};
use super::core::PipeCore;
use super::idle_reader::IdleReader;
use super::in_slot::UntypedInSlot;
use super::reader::{ReadCursor, Reading, UntypedReader};
use super::writer::Writing;
use crate::foreign::Panics;
use crate::passive::Barrier;
use crate::sync::{AtomicU64, Ordering};

// REUSED: a slot beyond a cut; held by the reader, whose cursor may be at it; harmless: the reader never reads states
//     again: it counts up to the cut; test: tests/loom/cut.rs: close_against_sending_one_by_one
// REUSED: a chunk beyond a cut, emptied and perhaps linked again; held by the reader that closes, while it measures how
//     far the queue reaches; harmless: it only counts there, the cut is already decided, and the chunk is freed with
//     the queue; test: tests/loom/cut.rs: close_against_the_senders_end_beyond_the_cut, tests/loom/cut.rs:
//     close_against_writing_again_beyond_the_cut
/// The position that both handles have agreed on, or none yet.
pub(super) struct Cut(AtomicU64);

/// No position, as positions are stored: one higher. No queue carries 2^64 messages.
const UNDECIDED: u64 = 0;

impl Cut {
    pub(super) fn undecided() -> Self {
        Self(AtomicU64::new(UNDECIDED))
    }

    /// The cut, once it is decided.
    #[inline]
    fn decided(&self) -> Option<usize> {
        // ORDERING: Acquire pairs with the Release in `decide`: what is published below the cut is visible.
        let cut = self.0.load(Ordering::Acquire);
        (cut != UNDECIDED).then(|| cut.wrapping_sub(1) as usize)
    }

    /// Decides, unless the other handle has done so before. Returns the cut.
    fn decide(&self, proposed: usize) -> usize {
        let word = (proposed as u64).wrapping_add(1);
        // ORDERING: AcqRel: Release hands over what is published below the cut, Acquire gets it from the other handle,
        // which has decided. SeqCst would add nothing: a thread that waits for the cut is notified after a fence of its
        // own.
        match self.0.compare_exchange(UNDECIDED, word, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => proposed,
            Err(decided) => decided.wrapping_sub(1) as usize,
        }
    }
}

impl PipeCore {
    /// Where the queue ends, if its reader has closed it.
    #[inline]
    pub(super) fn cut(&self) -> Option<usize> {
        self.cut.decided()
    }

    /// The number of messages that the reader of a queue with a cut has left.
    #[inline]
    pub(super) fn left_below_cut(&self) -> Option<usize> {
        self.cut().map(|cut| cut.wrapping_sub(self.consumed()))
    }
}

impl Writing {
    /// Whether no message that is written will ever be read: the reader is gone or has closed, or this handle has.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.closed || self.core.read_mostly.reader.is_gone() || self.core.cut().is_some()
    }

    // USER CODE: messages' `Drop`, where a flush or a sender's drop finds that the receiver has closed; all messages
    //     beyond the cut are out of the queue and belong to the writer; re-entrance: none (`&mut`); panic: the others
    //     are given back or dropped; test: tests/suite/conformance/channel/closing.rs: panicking_drops_at_the_cut
    /// For a publication that returned [`CUT`](crate::passive::CUT), or may have: agrees on the cut, and takes back the
    /// messages beyond it. `each` gets those from position `from` on, in order, in their slots, which stay as they are
    /// until this handle writes again; older ones are dropped. If a message panics, `each` still gets the others.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back(&mut self, from: usize, each: &mut dyn FnMut(UntypedInSlot)) {
        let Self { cursor, core, lost, .. } = self;
        let shape = core.shape();
        debug_assert_eq!(cursor.hidden(shape), 0);
        let end = cursor.position(shape);
        let cut = core.cut.decide(end);
        // All are taken back before the first leaves here: it may run user code. A single one, as of a send, needs no
        // place for that.
        if end.wrapping_sub(cut) == 1 && cut == from {
            // SAFETY: as below.
            return each(unsafe { cursor.take_newest(shape, core) });
        }
        let mut newest_first = Vec::new();
        // SAFETY: positions from the cut on are the writer's, and the last message it has put there is the newest.
        (0..end.wrapping_sub(cut)).for_each(|_| newest_first.push(unsafe { cursor.take_newest(shape, core) }));
        let (mut position, mut panics) = (cut, Panics::none());
        for message in newest_first.into_iter().rev() {
            // Positions wrap: compared by the sign of the difference, as the two are near each other.
            if (position.wrapping_sub(from) as isize) >= 0 {
                panics.catch(|| each(message));
            } else {
                *lost = true;
                panics.catch(|| drop(message));
            }
            position = position.wrapping_add(1);
        }
    }
}

impl ReadCursor {
    /// Puts the cursor a lap ahead. All messages in the queue then read as of an earlier lap, that is, as nothing, now
    /// and in every group that follows. What the cursor knows of already stays.
    #[inline]
    pub(super) fn poison(&mut self, shape: &'static Shape) {
        // MUTANT: Everything in the queue is then a lap and a byte behind, which reads as nothing too.
        self.lap = self.lap.wrapping_add(shape.lap());
    }

    // MUTANT: Speed only: the check before has failed and has entered the next group already.
    /// After the last message that the cursor knows of: whether there is one more below the cut. False where there is
    /// no cut.
    #[cold]
    #[inline(never)]
    pub(super) fn look_below_cut(&mut self, core: &PipeCore) -> bool {
        debug_assert_eq!(self.next, self.known, "the caller has polled in vain");
        let Some(left) = core.cut().map(|cut| cut.wrapping_sub(core.progress.taken())) else { return false };
        if left == 0 {
            return false;
        }
        let shape = core.shape();
        // SAFETY: `group` is a group of the cursor's chunk; the next group is entered only where it is not `end`.
        unsafe {
            if self.next == self.group(shape).add(shape.end()) {
                let group = self.group(shape).add(shape.stride());
                if group != self.end {
                    self.enter(shape, group);
                } else if !self.next_chunk(core) {
                    debug_assert!(false, "a message below the cut is in a chunk that is not linked");
                    return false;
                }
            }
            // SAFETY: `next` points into `group`, before its end.
            let slots = self.group(shape).add(shape.end()).as_ptr().offset_from(self.next.as_ptr()) as usize;
            self.known = self.next.add(left.min(slots / shape.step()) * shape.step());
        }
        true
    }

    /// Takes the next message, also of a queue with a cut. Its slot stays as it is until the next poll.
    pub(super) fn take_last(&mut self, core: &PipeCore) -> Option<UntypedInSlot> {
        let shape = core.shape();
        // SAFETY: the poll has just found a message. It is counted as taken, so no other thread takes it; its chunk is
        // given away only by a poll of this cursor.
        (self.look_only(shape, core) || self.look_below_cut(core))
            .then(|| unsafe { UntypedInSlot::new(self.step_over(shape, core), shape) })
    }
}

impl Reading {
    /// Begins the end of the queue. Once the barrier is passed, the caller must call [`cut`](Self::cut).
    #[inline]
    pub(crate) fn mark_cut(&self) -> Barrier {
        self.core.read_mostly.reader.cut()
    }

    /// After [`mark_cut`](Self::mark_cut), once: agrees on the cut. From now on the queue is closed. The caller must
    /// wake a writer that waits for room.
    pub(crate) fn cut(&mut self) {
        let (cursor, core) = self.parts();
        core.cut.decide(core.progress.taken().wrapping_add(cursor.len_up_to(core.shape(), usize::MAX)));
        cursor.poison(core.shape());
        core.end();
    }

    /// After finding nothing: whether there is a message nevertheless. There may be one where the queue has a cut, and
    /// where it was published meanwhile.
    #[cold]
    #[inline(never)]
    pub(crate) fn has_last(&mut self) -> bool {
        let (cursor, core) = self.parts();
        cursor.look(core.shape(), core) || cursor.look_below_cut(core)
    }
}

impl IdleReader {
    /// As [`Reading::mark_cut`].
    pub(crate) fn mark_cut(&self) -> Barrier {
        self.core().read_mostly.reader.cut()
    }

    /// As [`Reading::cut`]. Returns the reader, if there are messages below the cut.
    ///
    /// # Safety
    /// As of [`wake`](Self::wake).
    pub(crate) unsafe fn cut(&self) -> Option<UntypedReader> {
        // SAFETY: by the caller.
        let mut reader = unsafe { self.wake() };
        match &mut reader {
            Some(reader) => reader.cut(),
            None => {
                // No message has been written. If one is being written now, its sender may have decided.
                let cut = self.core().cut.decide(0);
                self.core().end();
                if cut != 0 {
                    // SAFETY: by the caller.
                    reader = unsafe { self.wake() };
                }
            }
        }
        let reader = reader?;
        if self.core().left_below_cut() == Some(0) {
            Reading::rest(reader);
            return None;
        }
        Some(reader)
    }
}
