//! [`Outgoing`]: from a channel to a socket, frames of as many messages as there are, up to the pack.

use std::sync::{Mutex, PoisonError};
use std::thread;

use ysuite::channel::TryRecvError;
use ysuite::signal::YSocketpair;

use super::source::Source;
use super::tools::Tools;
use super::work::{AT_ONCE, Wanted, Work};
use crate::error::Failure;
use crate::frame::Frame;
use crate::wire::{self, Layout, ToWire, Wire as _};

/// Messages that are taken from the channel at once, though each is a frame.
const HANDFUL: usize = 32;

/// Held while a bridge leaves its channel: of several that leave one, each would see the others there still, and none would count
/// what is in it.
///
/// The program's own receivers do not hold it. One that goes behind the look and before the bridge's end does leaves as
/// it might have behind that: it was the last then, and what was in the channel went with it. One that comes from a
/// weak end behind the look receives what there is beside the bridge, which counts what it takes itself. A wake-up that
/// the bridge's end had and did not use is passed on where that is dropped.
static LEAVING: Mutex<()> = Mutex::new(());

pub(super) struct Outgoing<S: Source> {
    /// None: it has been left.
    source: Option<S>,
    /// It is in its set.
    stands: bool,
    /// Messages in a frame, at most.
    pack: usize,
    /// Taken from the channel, in reverse order.
    taken: Vec<S::Message>,
    /// The next frame, and how many messages it has: none where the socket has taken it.
    pub(super) frame: Frame,
    held: usize,
    /// Nobody can send any more, and all has been taken.
    ended: bool,
}

impl<S: Source<Message: ToWire>> Outgoing<S> {
    /// With frames of at most so many messages, and of bytes, as far as those are known before they are written.
    pub(super) fn new(source: S, pack: usize, largest: usize) -> Self {
        let pack = match S::Message::LAYOUT {
            Layout::Whole => 1,
            // The other side ends the connection where a frame is larger than it allows, which is as much as this side does
            // unless somebody has told them otherwise.
            Layout::Records(size) => largest.checked_div(size).map_or(pack, |most| pack.min(most).max(1)),
            Layout::Lengths { .. } => pack,
        };
        Self {
            source: Some(source),
            stands: true,
            pack,
            taken: Vec::new(),
            frame: Frame::empty(),
            held: 0,
            ended: false,
        }
    }

    /// Whether all has been taken, and nobody can send any more: or need not be able to, because the bridge closes.
    pub(super) fn is_over(&mut self, closing: bool) -> bool {
        (closing || self.source.as_ref().is_none_or(S::is_abandoned)) && self.is_done()
    }

    /// Puts messages into the next frame, if there are any, and answers how many are in it.
    pub(super) fn next(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        if self.held == 0 {
            if self.taken.is_empty() {
                self.take(self.pack.max(HANDFUL), tools);
            }
            let messages = self.taken.len().min(self.pack);
            if messages > 0 {
                pack(&mut self.taken, messages, &[], tools, &mut self.frame)?;
                self.held = messages;
            }
        }
        Ok(self.held)
    }

    /// The next frame has gone its way.
    pub(super) fn gone(&mut self) {
        self.held = 0;
    }

    /// The bridge is about to sleep, or never does, and would take a message or not. Where it shares the channel with
    /// others it stands in its set only if it would: else it might be told of a message and leave it there, and nobody
    /// else would be told.
    pub(super) fn stand_in(&mut self, wanted: bool, set: &mut YSocketpair) {
        let Some(source) = self.source.as_mut().filter(|source| source.is_shared()) else { return };
        if wanted && !self.stands {
            // What has come meanwhile is told at once.
            set.attach(source, 0).expect("the set is this end's alone, and it is in none");
            self.stands = true;
        } else if !wanted && self.stands {
            self.leave_set();
        }
    }

    /// What it was told of and has not taken is told to another.
    pub(super) fn leave_set(&mut self) {
        if let Some(source) = self.source.as_mut().filter(|source| source.is_shared()) {
            source.detach();
            self.stands = false;
        }
    }

    /// Takes messages for one frame, at most so many. Answers how many.
    pub(super) fn take_for_one(&mut self, most: usize, tools: &Tools) -> usize {
        if self.taken.is_empty() {
            self.take(self.pack.min(most), tools);
        }
        self.taken.len()
    }

    fn take(&mut self, most: usize, tools: &Tools) {
        let Some(source) = &mut self.source else { return };
        if !tools.arms && source.is_drained() {
            return;
        }
        match source.take(&mut self.taken, most) {
            Ok(_) => self.taken.reverse(),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.ended = true,
        }
    }

    /// Makes `frame` one of so many of those that have been taken, behind a head.
    pub(super) fn write(
        &mut self,
        messages: usize,
        head: &[u8],
        tools: &mut Tools,
        frame: &mut Frame,
    ) -> Result<(), Failure> {
        pack(&mut self.taken, messages, head, tools, frame)
    }
}

/// The last so many of those that have been taken, which are in reverse order.
fn pack<T: ToWire>(
    taken: &mut Vec<T>,
    messages: usize,
    head: &[u8],
    tools: &mut Tools,
    frame: &mut Frame,
) -> Result<(), Failure> {
    let next = (0..messages).map(|_| taken.pop().expect("as many as were counted"));
    wire::pack(head, next, &mut tools.scratch, frame)
}

impl<S: Source<Message: ToWire>> Work for Outgoing<S> {
    fn step(&mut self, tools: &mut Tools) -> Result<usize, Failure> {
        let mut moved = 0;
        while moved < AT_ONCE {
            let messages = self.next(tools)?;
            if messages == 0 || !tools.send(&mut self.frame, false, messages)? {
                break;
            }
            self.gone();
            moved += messages;
        }
        Ok(moved)
    }

    fn wanted(&mut self) -> Wanted {
        let blocked = self.held > 0;
        Wanted { source: !blocked && !self.ended, send: blocked, ..Wanted::default() }
    }

    fn stand(&mut self, wanted: Wanted, set: &mut YSocketpair) {
        self.stand_in(wanted.source, set);
    }

    /// It looks by itself from now on.
    fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
        self.leave_set();
        Ok(())
    }

    /// What comes into the channel while it is closed still leaves, as long as there is time.
    fn is_done(&mut self) -> bool {
        self.held == 0 && self.taken.is_empty() && self.source.as_mut().is_none_or(S::is_drained)
    }

    fn left(&mut self) -> usize {
        let mut left = core::mem::take(&mut self.held) + self.taken.len();
        self.taken.clear();
        let Some(mut source) = self.source.take() else { return left };
        // It guards no data that could be broken.
        let leaving = LEAVING.lock().unwrap_or_else(PoisonError::into_inner);
        if !source.end() {
            drop(source);
            return left;
        }
        // Whatever messages do when they are dropped.
        drop(leaving);
        loop {
            match source.take(&mut self.taken, AT_ONCE) {
                Ok(messages) => left += messages,
                // A sender has a place and has not filled it yet.
                Err(TryRecvError::Empty) => thread::yield_now(),
                Err(TryRecvError::Disconnected) => return left,
            }
            self.taken.clear();
        }
    }
}
