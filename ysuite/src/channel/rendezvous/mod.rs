//! The rendezvous, `bounded(0)` of every kind of channel: a message goes from hand to hand, and none is ever in
//! between. A `send` ends when a receiver has the message.
//!
//! Ends that wait stand in one of two *lines* of the channel's [`Meeting`], under a lock that is held for some
//! instructions: senders with their message, receivers with a place for one. An end that comes looks at the other line,
//! and takes the first there whose *ticket* is open; otherwise it may stand in its own line. A ticket is the decision
//! word of one wait, which may stand in several lines at once (a `select`): it is taken once, by one compare-exchange,
//! or closed by its owner, whose time is up or whose future is dropped.
//!
//! Ends that do not wait but want to be told (attached to a set, watched by a `Select`, or polled as a stream) are in
//! the wait list of their side, as in an `mpmc`: whoever stands in line notifies one of the other side's.
//!
//! The kinds of channels come here only by their slow paths: their queue has no room, and is closed, from the
//! beginning.
//!
//! Cannot: join two ends of which neither waits: two `try_` calls never meet, nor do two ends that only want to be
//! told.

mod end;
#[cfg(feature = "futures")]
mod in_line;
mod line;
mod meeting;
#[cfg(all(test, ysuite_loom))]
mod models;
mod party;
mod ticket;
mod wait;

pub(super) use self::end::MeetingEnd;
#[cfg(feature = "futures")]
pub(super) use self::in_line::InLine;
pub(super) use self::meeting::{Meeting, MeetingSide};
pub(super) use self::party::{Party, poll};
pub(super) use self::ticket::{Met, Ticket};
pub(super) use self::wait::{Look, Stand};
