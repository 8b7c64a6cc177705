//! What handles call at a rendezvous, as a table to which only a rendezvous points. So a program that makes none links
//! none of this: every handle has the calls, in its slow paths.

use core::ptr::drop_in_place;
use core::task::{Context, Poll};

use super::end::AnyEnd;
use super::line_wait::{Exchanged, LineWait};
use super::meeting::Meeting;
use super::node::LentPlace;
use super::outlined::{Outlined, OutlinedDrop};
use super::party::{AnyParty, poll_place};
use crate::channel::error::RecvError;
use crate::os::Deadline;
use crate::signal::{AttachError, Registration};
use crate::sync::Arc;
use crate::wait::{Backoff, Subscriptions};

/// Each is the function of this name, where it is declared.
#[allow(clippy::type_complexity)] // As the functions are declared.
pub(super) struct Operations {
    // Of an endpoint that is borrowed.
    pub(super) exchange: fn(&AnyParty<'_>, &mut LentPlace<'_>) -> Option<Exchanged>,
    pub(super) try_exchange: fn(&AnyParty<'_>, &mut LentPlace<'_>) -> Option<Exchanged>,
    pub(super) block: fn(&AnyParty<'_>, &mut LentPlace<'_>, Deadline, &mut Backoff) -> Option<Exchanged>,
    // Of a wait.
    pub(super) attempt: fn(&mut LineWait<'_>, &mut LentPlace<'_>) -> Option<Exchanged>,
    pub(super) block_wait: fn(&mut LineWait<'_>, Deadline, &mut Backoff) -> bool,
    pub(super) poll_wait: fn(&mut LineWait<'_>, &mut Context<'_>) -> Poll<()>,
    pub(super) step: fn(&mut LineWait<'_>, &mut LentPlace<'_>, &mut Context<'_>) -> Poll<Exchanged>,
    pub(super) withdraw: fn(&mut LineWait<'_>, &mut LentPlace<'_>) -> Option<Exchanged>,
    pub(super) leave_wait: fn(&mut LineWait<'_>),
    drop_wait: unsafe fn(*mut LineWait<'_>),
    // Of an endpoint of one thread.
    pub(super) end: fn(&mut AnyEnd),
    pub(super) poll_ready: fn(&mut AnyEnd, &mut Context<'_>) -> Poll<()>,
    pub(super) poll_end: fn(&mut AnyEnd, &mut Context<'_>, &mut LentPlace<'_>) -> Poll<Result<(), RecvError>>,
    pub(super) attach: fn(&mut AnyEnd, Registration) -> Result<(), AttachError>,
    pub(super) detach: fn(&mut AnyEnd) -> bool,
    pub(super) with_registration: fn(&AnyEnd, &mut dyn FnMut(&Registration)),
    drop_end: unsafe fn(*mut AnyEnd),
    pub(super) new_end: fn(&Arc<Meeting>, bool, bool) -> Box<Outlined<AnyEnd>>,
    // Of the whole rendezvous.
    pub(super) poll_place:
        fn(&Meeting, &mut Subscriptions, bool, &mut Context<'_>, &mut LentPlace<'_>) -> Poll<Result<(), RecvError>>,
    pub(super) has_open: fn(&Meeting, bool) -> bool,
    pub(super) shut: fn(&Meeting, bool) -> bool,
    drop_shared: unsafe fn(*mut Arc<Meeting>),
    drop_meeting: unsafe fn(*mut Meeting),
}

pub(super) static OPERATIONS: Operations = Operations {
    exchange: |party, place| party.exchange(place),
    try_exchange: |party, place| party.try_exchange(place),
    block: |party, place, deadline, backoff| party.block(place, deadline, backoff),
    attempt: |wait, place| wait.attempt(place),
    block_wait: |wait, deadline, backoff| wait.block(deadline, backoff),
    poll_wait: |wait, context| wait.poll(context),
    step: |wait, place, context| wait.step(place, context),
    withdraw: |wait, place| wait.withdraw(place),
    leave_wait: |wait| wait.leave(),
    // SAFETY: by the caller.
    drop_wait: |wait| unsafe { drop_in_place(wait) },
    end: AnyEnd::end,
    poll_ready: AnyEnd::poll_ready,
    poll_end: AnyEnd::poll_recv,
    attach: AnyEnd::attach,
    detach: AnyEnd::detach,
    with_registration: AnyEnd::with_registration,
    drop_end: drop_in_place,
    new_end: AnyEnd::boxed,
    poll_place,
    has_open: Meeting::has_open,
    shut: Meeting::shut,
    drop_shared: drop_in_place,
    drop_meeting: drop_in_place,
};

// The drop of each of these is an operation of its rendezvous.

// USER CODE: as of the value's drop
impl OutlinedDrop for LineWait<'_> {
    #[inline]
    unsafe fn drop_outlined(wait: *mut Self) {
        // SAFETY: by the caller: it is valid, and not used afterwards.
        unsafe { ((&*wait).party.meeting.operations.drop_wait)(wait) };
    }
}

// USER CODE: as of the value's drop
impl OutlinedDrop for AnyEnd {
    #[inline]
    unsafe fn drop_outlined(end: *mut Self) {
        // SAFETY: by the caller: it is valid, and not used afterwards.
        unsafe { ((&*end).meeting.operations.drop_end)(end) };
    }
}

// USER CODE: as of the value's drop
impl OutlinedDrop for Arc<Meeting> {
    #[inline]
    unsafe fn drop_outlined(meeting: *mut Self) {
        // SAFETY: by the caller: it is valid, and not used afterwards.
        unsafe { ((&*meeting).operations.drop_shared)(meeting) };
    }
}

// USER CODE: as of the value's drop
impl OutlinedDrop for Meeting {
    #[inline]
    unsafe fn drop_outlined(meeting: *mut Self) {
        // SAFETY: by the caller: it is valid, and not used afterwards.
        unsafe { ((&*meeting).operations.drop_meeting)(meeting) };
    }
}
