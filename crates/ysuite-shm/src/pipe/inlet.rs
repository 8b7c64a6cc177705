//! What all receivers share: a ring in the peer's memory, and the cursor that gives its slots back.

use core::mem::MaybeUninit;
use std::time::Instant;

use crate::Error;
use crate::end::{End, Half, StandOff, Unfulfilled, wait};
use crate::page::{CONSUMED, PUBLISHED, RING};
use crate::ring::typed::Entry;
use crate::ring::{Look, bytes, places, typed};
use crate::sync::Ordering;

/// A reader of a ring, which it has once the sender is met.
pub(crate) trait Inlet: Half {
    /// Makes the reader of the ring in the memory of the sender, which was met, unless this end has failed.
    fn attach(&mut self);

    /// Drops the reader of an end that has failed, and goes on failing whatever is in the ring.
    fn detach(&mut self);

    /// After a look that has found nothing, and before the next. Whether it has paused.
    fn stand_off(&mut self) -> bool;

    /// Looks into the ring, if there is one.
    fn look_in(&mut self) -> Look;

    /// Whether there is a message. Says [`End::fail`] where the sender lies.
    #[inline(always)]
    fn look(&mut self) -> bool {
        match self.look_in() {
            Look::Something => true,
            Look::Nothing => false,
            Look::Broken => {
                self.give_up(Error::Broken);
                false
            }
        }
    }

    /// The channel has ended, and somebody is told.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self, error: Error) -> Error {
        let error = self.end().fail(error);
        self.detach();
        error
    }

    /// Whether there is a message now. `Err(None)`: not now.
    #[cold]
    #[inline(never)]
    fn try_ready(&mut self) -> Result<(), Option<Error>> {
        if let Some(error) = self.end().failed() {
            return Err(Some(error));
        }
        self.end().meet(None);
        self.end().check_at_times();
        // Before the look: what was published before the end is found by it.
        let fate = self.end().fate();
        if self.look() {
            return Ok(());
        }
        // Not what it is now: the sender may have sent something behind the look, and ended.
        match fate.or(self.end().failed()) {
            Some(error) => Err(Some(self.give_up(error))),
            None => Err(None),
        }
    }

    /// Waits for a message.
    #[cold]
    #[inline(never)]
    fn ready(&mut self, deadline: Option<Instant>) -> Result<(), Unfulfilled>
    where
        Self: Sized,
    {
        if let Some(error) = self.end().failed() {
            return Err(Unfulfilled::Ended(error));
        }
        self.stand_off();
        let outcome = wait(self, deadline, |inlet| inlet.look().then_some(()));
        if let Err(Unfulfilled::Ended(error)) = outcome {
            self.give_up(error);
        }
        outcome
    }

    /// For an event loop: says that this end sleeps. False: there is something to be done now.
    fn arm(&mut self) -> bool {
        let is_armed = self.end().arm_for_loop();
        !self.look() && self.end().fate().is_none() && is_armed
    }

    /// Gives the slots before `position` back.
    #[inline(always)]
    fn consumed(&mut self, position: u64) {
        let end = self.end();
        // ORDERING: Release pairs with the fence in `Outlet::refresh`: what was read of the slots was read before.
        end.link.own.word(CONSUMED).store(position, Ordering::Release);
        end.published();
    }
}

/// A receiver of messages of one type.
pub(crate) struct TypedInlet<T> {
    pub(crate) end: End,
    reader: Option<typed::Reader<T>>,
    stand_off: StandOff,
}

impl<T: Entry> TypedInlet<T> {
    pub(crate) fn new(end: End) -> Self {
        Self { end, reader: None, stand_off: StandOff::new(0) }
    }

    /// The next message, which stays. One is there.
    #[inline(always)]
    pub(crate) fn peek(&self) -> T::Loaded {
        self.reader.as_ref().expect("a look has found a message").peek()
    }

    /// The next message. One is there.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> T::Loaded {
        let message = self.take_quietly();
        let position = self.position();
        self.consumed(position);
        message
    }

    /// As [`take`](Self::take), of which the sender does not hear.
    #[inline(always)]
    pub(crate) fn take_quietly(&mut self) -> T::Loaded {
        self.reader.as_mut().expect("a look has found a message").take()
    }

    /// As [`take`](Self::take), without a copy.
    #[inline]
    pub(crate) fn pass(&mut self) {
        let reader = self.reader.as_mut().expect("a look has found a message");
        reader.advance();
        let position = reader.position();
        self.consumed(position);
    }

    /// The number of the next message.
    pub(crate) fn position(&self) -> u64 {
        self.reader.as_ref().map_or(0, typed::Reader::position)
    }

    /// Messages into `to`, as long as there are some and at most `most`; how many. The sender hears of them at once.
    pub(crate) fn take_some(&mut self, to: &mut Vec<T::Loaded>, most: usize) -> usize {
        let (mut taken, mut position) = (0, 0);
        // The last look may find a lie, behind which there is no position.
        while taken < most && self.look() {
            let reader = self.reader.as_mut().expect("a look has found a message");
            to.push(reader.take());
            position = reader.position();
            taken += 1;
        }
        if taken > 0 {
            self.consumed(position);
        }
        taken
    }
}

impl<T> Half for TypedInlet<T> {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl<T: Entry> Inlet for TypedInlet<T> {
    #[cold]
    fn attach(&mut self) {
        if let (Some(met), None) = (&self.end.link.met, self.end.failed()) {
            // SAFETY: the region has the size of a ring of this capacity behind its page, as `Link::accept` has checked,
            // and lives as long as `end`.
            let start = unsafe { met.region.start().add(RING) };
            // SAFETY: as above; it is of the shape that the header says.
            let reader = unsafe { typed::Reader::with(start, met.header.capacity, places(&met.header.shape)) };
            self.reader = Some(reader);
            self.stand_off = StandOff::new(met.header.capacity);
        }
    }

    fn detach(&mut self) {
        self.reader = None;
    }

    fn stand_off(&mut self) -> bool {
        let position = self.position();
        self.stand_off.caught_up(position)
    }

    #[inline(always)]
    fn look_in(&mut self) -> Look {
        if let Some(reader) = &mut self.reader {
            return reader.look();
        }
        self.attach();
        self.reader.as_mut().map_or(Look::Nothing, typed::Reader::look)
    }
}

/// A receiver of bytes.
pub(crate) struct BytesInlet {
    pub(crate) end: End,
    reader: Option<bytes::Reader>,
    stand_off: StandOff,
    /// Messages: a position in bytes would make a stream of any two.
    taken: u64,
}

impl BytesInlet {
    pub(crate) fn new(end: End) -> Self {
        Self { end, reader: None, stand_off: StandOff::new(0), taken: 0 }
    }

    /// Appends the next message to `to`; its length. One is there. `None`: the sender has changed it meanwhile.
    pub(crate) fn take(&mut self, to: &mut Vec<u8>) -> Option<usize> {
        let reader = self.reader.as_mut().expect("a look has found a message");
        let Some(length) = reader.copy(to) else {
            self.give_up(Error::Broken);
            return None;
        };
        self.took();
        Some(length)
    }

    /// As [`take`](Self::take), to the front of `to`. A message that has more bytes than `to` stays.
    pub(crate) fn take_to(&mut self, to: &mut [MaybeUninit<u8>]) -> Option<usize> {
        let reader = self.reader.as_mut().expect("a look has found a message");
        let Some(length) = reader.copy_to(to) else {
            self.give_up(Error::Broken);
            return None;
        };
        if length <= to.len() {
            self.took();
        }
        Some(length)
    }

    fn took(&mut self) {
        self.taken += 1;
        let position = self.reader.as_ref().map_or(0, bytes::Reader::position);
        self.consumed(position);
    }
}

impl Half for BytesInlet {
    fn end(&mut self) -> &mut End {
        &mut self.end
    }
}

impl Inlet for BytesInlet {
    fn attach(&mut self) {
        if let (Some(met), None) = (&self.end.link.met, self.end.failed()) {
            // SAFETY: as for messages of a type.
            self.reader = Some(unsafe { bytes::Reader::new(met.region.start().add(RING), met.header.capacity) });
            self.stand_off = StandOff::new(met.header.capacity);
        }
    }

    fn detach(&mut self) {
        self.reader = None;
    }

    fn stand_off(&mut self) -> bool {
        self.stand_off.caught_up(self.taken)
    }

    fn look_in(&mut self) -> Look {
        if self.reader.is_none() {
            self.attach();
        }
        match (&mut self.reader, &self.end.link.met) {
            (Some(reader), Some(met)) => reader.look(met.region.word(PUBLISHED)),
            _ => Look::Nothing,
        }
    }
}

#[cfg(all(test, not(ysuite_loom)))]
mod tests {
    use super::{Inlet, Look, TypedInlet};
    use crate::end::{End, Half};
    use crate::link::Link;
    use crate::page::Role;
    use crate::pipe::typed_shape;
    use crate::{Error, Options, Sender};

    /// An inlet whose sender sends its only message, and ends, just behind the look that has found nothing.
    struct Late(TypedInlet<u64>, Option<Sender<u64>>);

    impl Half for Late {
        fn end(&mut self) -> &mut End {
            self.0.end()
        }
    }

    impl Inlet for Late {
        fn attach(&mut self) {
            self.0.attach();
        }

        fn detach(&mut self) {
            self.0.detach();
        }

        fn stand_off(&mut self) -> bool {
            false
        }

        fn look_in(&mut self) -> Look {
            let found = self.0.look_in();
            if let Some(mut sender) = self.1.take() {
                sender.try_send(7).unwrap();
            }
            found
        }
    }

    /// Claim: An end that comes behind the last look does not hide what was sent before it.
    #[test]
    fn what_was_sent_before_an_end_is_received_before_it() {
        let (one, other) = crate::os::pair().unwrap();
        let options = Options::new();
        let link = Link::new(one, Role::Receiver, typed_shape::<u64>(&options), 0, &options).unwrap();
        let mut sender = Sender::from_fd(other, 1).unwrap();
        let mut inlet = TypedInlet::new(End::new(link).unwrap());
        assert!(!sender.is_disconnected() && !inlet.end.is_over());
        let mut late = Late(inlet, Some(sender));
        assert_eq!(late.try_ready(), Err(None), "there was nothing, and no end either");
        assert!(late.look());
        assert_eq!(late.0.take(), 7);
        assert_eq!(late.try_ready(), Err(Some(Error::Closed)));
    }
}
