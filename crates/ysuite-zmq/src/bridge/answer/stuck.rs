//! [`Stuck`]: answers for which a connection has no room. They wait here, each in its turn, and hold up no other.
//!
//! The bridge's thread alone has it. Beyond a bound the oldest answer of the peer that has most is dropped.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::error::Failure;
use crate::frame::Frame;

use super::super::tools::Tools;
use super::super::work::AGAIN;

/// What a ROUTER is given: the name of a connection first.
pub(super) struct Packed {
    pub(super) before: Vec<Frame>,
    pub(super) last: Frame,
}

/// What has become of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Gone,
    /// The connection has no room.
    Full,
    /// There is no such connection any more.
    Nobody,
}

impl Packed {
    pub(super) fn send(&mut self, tools: &Tools) -> Result<Sent, Failure> {
        match tools.send_all(&mut self.before, &mut self.last, 1) {
            Ok(true) => Ok(Sent::Gone),
            Ok(false) => Ok(Sent::Full),
            Err(cause) if cause.is(rustix::io::Errno::HOSTUNREACH) => Ok(Sent::Nobody),
            Err(cause) => Err(cause),
        }
    }

    fn peer(&self) -> &[u8] {
        &self.before[0]
    }
}

/// Between two tries at most.
const LONGEST: Duration = Duration::from_millis(64);

pub(super) struct Stuck {
    by_peer: HashMap<Box<[u8]>, VecDeque<Packed>>,
    all: usize,
    most: usize,
    /// When it is tried again, as no ROUTER reports which connection has room; and how long after that.
    again: Option<Instant>,
    pause: Duration,
}

impl Stuck {
    pub(super) fn new(most: usize) -> Self {
        Self { by_peer: HashMap::new(), all: 0, most, again: None, pause: AGAIN }
    }

    pub(super) fn len(&self) -> usize {
        self.all
    }

    pub(super) fn again(&self) -> Option<Instant> {
        self.again
    }

    /// Whether an answer for the same peer waits: this one must wait after it.
    pub(super) fn has(&self, answer: &Packed) -> bool {
        !self.by_peer.is_empty() && self.by_peer.contains_key(answer.peer())
    }

    /// Returns how many had to be dropped for it.
    pub(super) fn push(&mut self, answer: Packed) -> usize {
        let peer = answer.peer().into();
        self.by_peer.entry(peer).or_default().push_back(answer);
        self.all += 1;
        self.again.get_or_insert_with(|| Instant::now() + AGAIN);
        if self.all <= self.most {
            return 0;
        }
        let slowest = self.by_peer.values_mut().max_by_key(|answers| answers.len());
        let dropped = usize::from(slowest.and_then(VecDeque::pop_front).is_some());
        self.all -= dropped;
        dropped
    }

    /// Tries again where it is time. Returns how many have gone, and how many were dropped since their peer is gone.
    pub(super) fn send(&mut self, tools: &Tools) -> Result<(usize, usize), Failure> {
        let (mut sent, mut dropped, mut failed) = (0, 0, None);
        let now = Instant::now();
        if self.again.is_none_or(|again| again > now) {
            return Ok((0, 0));
        }
        self.by_peer.retain(|_, answers| {
            while let Some(answer) = answers.front_mut().filter(|_| failed.is_none()) {
                match answer.send(tools) {
                    Ok(Sent::Gone) => sent += 1,
                    Ok(Sent::Full) => return true,
                    Ok(Sent::Nobody) => {
                        dropped += answers.len();
                        return false;
                    }
                    Err(cause) => failed = Some(cause),
                }
                answers.pop_front();
            }
            !answers.is_empty()
        });
        self.all -= sent + dropped;
        self.pause = if sent + dropped > 0 { AGAIN } else { (self.pause * 2).min(LONGEST) };
        self.again = (!self.by_peer.is_empty()).then(|| now + self.pause);
        failed.map_or(Ok((sent, dropped)), Err)
    }
}
