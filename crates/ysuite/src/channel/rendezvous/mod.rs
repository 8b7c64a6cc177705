//! The rendezvous, `bounded(0)` of every kind of channel: a message goes from hand to hand, and the channel holds none.
//! A `send` returns when a receiver has the message.
//!
//! Waiting endpoints register in one of two *lines* of the channel's [`Meeting`], under a lock that is held for some
//! instructions. Senders register with their message, receivers with a slot for one. An endpoint that arrives polls the
//! other line, and takes the first registration there whose *claim* is open. Otherwise it may register in its own line.
//! A claim is the decision word of one wait, which may be registered in several lines at once (a `select`). It is taken
//! once, by one compare-exchange, or closed by its owner, whose deadline has passed or whose future is dropped. In the
//! code a registration is a `Stand`, and a claim a `Ticket`.
//!
//! Endpoints that do not wait but want to be notified are in the wait list of their side, as in an `mpmc`: those that
//! are attached to a set, watched by a `ReadySet`, or polled as a stream. An endpoint that registers in line notifies one
//! of the other side's.
//!
//! The kinds of channels come here only by their slow paths: their queue has no room, and is closed, from the start. So
//! the code for this is compiled once, and not for each type of message: see [`node`]. Only a program that makes a
//! rendezvous links it: see [`operations`].
//!
//! Cannot: join two endpoints of which neither waits. Two `try_` calls never exchange a message, nor do two endpoints
//! that only want to be notified.

mod end;
mod exchange;
#[cfg(feature = "futures")]
mod in_line;
mod line;
mod line_wait;
mod meeting;
#[cfg(all(test, ysuite_loom))]
mod models;
mod node;
mod operations;
mod outlined;
mod party;
mod ticket;
mod wait;

pub(super) use self::end::MeetingEnd;
pub(super) use self::exchange::{Exchange, ExchangePlace};
#[cfg(feature = "futures")]
pub(super) use self::in_line::InLine;
pub(super) use self::line_wait::{Closed, Exchanged, Lining};
pub(super) use self::meeting::{MeetingOf, MeetingSide, SharedMeetingOf};
pub(super) use self::node::LentPlace;
pub(super) use self::outlined::{Outlined, OutlinedDrop};
#[cfg(feature = "futures")]
pub(super) use self::party::poll;
pub(super) use self::party::{AnyParty, Party, poll_message};
pub(super) use self::ticket::{Met, Ticket};
pub(super) use self::wait::{LineSlot, Look};
