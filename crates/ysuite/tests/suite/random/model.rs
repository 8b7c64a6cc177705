//! The reference: plain queues of numbers.
//!
//! One *lane* for each sender, or one for all where they share a queue. What an operation has in transit *flies*: user
//! code that re-enters in the middle of it may find it there already, or not yet. Between operations nothing flies.

use std::collections::VecDeque;

use crate::random::foreign::has_ended;

#[derive(Default)]
pub(crate) struct Lane {
    /// Can be received.
    pub(crate) visible: VecDeque<usize>,
    /// Written, not flushed.
    pub(crate) hidden: Vec<usize>,
    /// Given to an operation that has not returned.
    pub(crate) flying: VecDeque<usize>,
    /// Hidden messages have been dropped because they will not be received.
    pub(crate) lost: bool,
    /// Its sender has closed it, and is not counted any more.
    pub(crate) closed: bool,
}

pub(crate) struct Model {
    pub(crate) capacity: Option<usize>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) senders: usize,
    pub(crate) receivers: usize,
    /// The receiver has closed the channel: nothing more is accepted.
    pub(crate) closed: bool,
    /// Messages in futures, and those that were forgotten with theirs.
    pub(crate) held: usize,
    /// The message of the future that is being polled, where it had no room before: it may find some.
    pub(crate) polled: Option<usize>,
    /// A handle is being dropped: user code that re-enters meanwhile may see that, or not yet.
    pub(crate) leaving: bool,
}

impl Model {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let lanes = vec![Lane::default()];
        Self { capacity, lanes, senders: 1, receivers: 1, closed: false, held: 0, polled: None, leaving: false }
    }

    /// Whether what is sent into this lane will not be received.
    pub(crate) fn refuses(&self, lane: usize) -> bool {
        self.receivers == 0 || self.closed || self.lanes[lane].closed
    }

    /// Whether nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        self.senders == 0 || self.closed
    }

    pub(crate) fn room(&self, lane: usize) -> usize {
        let lane = &self.lanes[lane];
        let used = lane.visible.len() + lane.hidden.len() + lane.flying.len();
        self.capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(used))
    }

    /// How many messages can be received.
    pub(crate) fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.visible.len()).sum()
    }

    /// A sender is about to publish what it hides, and this.
    pub(crate) fn launch(&mut self, lane: usize, message: Option<usize>) {
        let lane = &mut self.lanes[lane];
        lane.flying.extend(lane.hidden.drain(..));
        lane.flying.extend(message);
    }

    /// What was hidden has been published, just before this message.
    pub(crate) fn reveal_before(&mut self, lane: usize, message: usize) {
        let lane = &mut self.lanes[lane];
        let place = lane.flying.iter().position(|&flying| flying == message).unwrap_or(0);
        for hidden in lane.hidden.drain(..).rev() {
            lane.flying.insert(place, hidden);
        }
    }

    /// A message has come back to its sender.
    pub(crate) fn came_back(&mut self, lane: usize, message: usize) -> bool {
        let lane = &mut self.lanes[lane];
        let place = lane.flying.iter().position(|&flying| flying == message);
        place.map(|place| lane.flying.remove(place)).is_some()
    }

    /// A message has been received: whether it was its turn. In the middle of another operation that may be taking some
    /// itself, those before it may not be here any more.
    pub(crate) fn received(&mut self, message: usize, is_nested: bool) -> bool {
        for lane in &mut self.lanes {
            let allowed = if is_nested { usize::MAX } else { 1 };
            if let Some(place) = lane.visible.iter().take(allowed).position(|&visible| visible == message) {
                lane.visible.remove(place);
                return true;
            }
            if is_nested {
                if let Some(place) = lane.flying.iter().position(|&flying| flying == message) {
                    lane.flying.remove(place);
                    return true;
                }
            }
        }
        let is_polled = is_nested && self.polled == Some(message);
        if is_polled {
            self.polled = None;
            self.held -= 1;
        }
        is_polled
    }

    /// The operation is over: what flew has arrived. If user code has panicked some may have been dropped instead, but
    /// only by that operation itself.
    pub(crate) fn settle(&mut self, panicked: bool) -> Result<(), String> {
        let gone = self.receivers == 0;
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            while panicked && lane.visible.front().is_some_and(|&message| has_ended(message)) {
                lane.visible.pop_front();
            }
            if self.closed && !gone {
                if let Some(message) = lane.flying.iter().find(|&&message| !has_ended(message)) {
                    return Err(format!("the channel is closed, and message {message} has not been dropped"));
                }
                lane.lost |= !lane.flying.is_empty();
                lane.flying.clear();
            }
            lane.visible.extend(lane.flying.drain(..).filter(|&message| !panicked || !has_ended(message)));
            let ended = lane.hidden.iter().filter(|&&message| has_ended(message)).count();
            if (gone || self.closed) && ended != 0 {
                if ended != lane.hidden.len() {
                    return Err(format!("some hidden messages of lane {number} were dropped, some not"));
                }
                lane.hidden.clear();
                lane.lost = true;
            }
            if gone {
                lane.lost |= panicked || !lane.visible.is_empty();
                if let Some(message) = lane.visible.iter().find(|&&message| !has_ended(message)) {
                    return Err(format!("no receiver is left, and message {message} has not been dropped"));
                }
                lane.visible.clear();
            }
            if let Some(message) = lane.visible.iter().chain(&lane.hidden).find(|&&message| has_ended(message)) {
                return Err(format!("message {message} should be in the channel, and was dropped"));
            }
        }
        Ok(())
    }

    /// How many messages there should be in all.
    pub(crate) fn alive(&self) -> usize {
        self.held + self.lanes.iter().map(|lane| lane.visible.len() + lane.hidden.len()).sum::<usize>()
    }
}
