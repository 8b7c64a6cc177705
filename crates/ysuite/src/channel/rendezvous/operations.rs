//! What handles call at a rendezvous, as a table to which only a rendezvous points. So a program that makes none links
//! none of this: every handle has the calls, in its slow paths.

use core::ptr::drop_in_place;
use core::task::{Context, Poll};

use super::end::{AnyEnd, UntypedMeetingEnd};
use super::meeting::Meeting;
use super::node::LentPlace;
use super::outlined::OutlinedDrop;
use super::party::{AnyParty, LineWait, poll_place};
use crate::channel::error::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};
use crate::os::Deadline;
use crate::signal::{AttachError, Registration};
use crate::sync::Arc;
use crate::wait::{Backoff, Subscriptions};

/// Each is the function of this name, where it is declared.
#[allow(clippy::type_complexity)] // As the functions are declared.
pub(super) struct Operations {
    // Of an endpoint that is borrowed.
    pub(super) try_send: fn(&AnyParty<'_>, &mut LentPlace<'_>) -> Result<(), TrySendError<()>>,
    pub(super) give: fn(&AnyParty<'_>, &mut LentPlace<'_>) -> Result<(), TrySendError<()>>,
    pub(super) send: fn(&AnyParty<'_>, &mut LentPlace<'_>, Deadline, &mut Backoff) -> Result<(), SendTimeoutError<()>>,
    pub(super) begin_send:
        for<'a> fn(&AnyParty<'a>, &mut LineWait<'a>, &mut LentPlace<'_>) -> Poll<Result<(), SendTimeoutError<()>>>,
    pub(super) poll_send: for<'a> fn(
        &AnyParty<'a>,
        &mut LineWait<'a>,
        &mut Context<'_>,
        &mut LentPlace<'_>,
    ) -> Poll<Result<(), SendError<()>>>,
    pub(super) try_recv: fn(&AnyParty<'_>, &mut LentPlace<'_>) -> Result<(), TryRecvError>,
    pub(super) take: fn(&AnyParty<'_>, &mut LentPlace<'_>) -> Result<(), TryRecvError>,
    pub(super) recv: fn(&AnyParty<'_>, &mut LentPlace<'_>, Deadline, &mut Backoff) -> Result<(), RecvTimeoutError>,
    pub(super) begin_recv:
        for<'a> fn(&AnyParty<'a>, &mut LineWait<'a>, &mut LentPlace<'_>) -> Poll<Result<(), RecvError>>,
    pub(super) poll_recv: for<'a> fn(
        &AnyParty<'a>,
        &mut LineWait<'a>,
        &mut Context<'_>,
        &mut LentPlace<'_>,
    ) -> Poll<Result<(), RecvError>>,
    // Of a wait.
    pub(super) block_wait: fn(&LineWait<'_>, &mut Backoff, Deadline),
    pub(super) poll_wait: fn(&LineWait<'_>, &mut Context<'_>) -> Poll<()>,
    pub(super) end_send: fn(&mut LineWait<'_>, &mut LentPlace<'_>) -> Result<(), SendTimeoutError<()>>,
    pub(super) end_recv: fn(&mut LineWait<'_>, &mut LentPlace<'_>) -> Result<(), RecvTimeoutError>,
    drop_wait: unsafe fn(*mut LineWait<'_>),
    // Of an endpoint of one thread.
    pub(super) end: fn(&mut AnyEnd),
    pub(super) poll_ready: fn(&mut AnyEnd, &mut Context<'_>) -> Poll<()>,
    pub(super) poll_end: fn(&mut AnyEnd, &mut Context<'_>, &mut LentPlace<'_>) -> Poll<Result<(), RecvError>>,
    pub(super) attach: fn(&mut AnyEnd, Registration) -> Result<(), AttachError>,
    pub(super) detach: fn(&mut AnyEnd) -> bool,
    pub(super) with_registration: fn(&AnyEnd, &mut dyn FnMut(&Registration)),
    drop_end: unsafe fn(*mut AnyEnd),
    pub(super) new_end: fn(&Arc<Meeting>, bool, bool) -> Box<UntypedMeetingEnd>,
    // Of the whole rendezvous.
    pub(super) poll_place:
        fn(&Meeting, &mut Subscriptions, bool, &mut Context<'_>, &mut LentPlace<'_>) -> Poll<Result<(), RecvError>>,
    pub(super) has_open: fn(&Meeting, bool) -> bool,
    pub(super) shut: fn(&Meeting, bool) -> bool,
    drop_shared: unsafe fn(*mut Arc<Meeting>),
    drop_meeting: unsafe fn(*mut Meeting),
}

pub(super) static OPERATIONS: Operations = Operations {
    try_send: |party, place| party.try_send(place),
    give: |party, place| party.give(place),
    send: |party, place, deadline, backoff| party.send(place, deadline, backoff),
    begin_send: |party, wait, place| party.begin_send(wait, place),
    poll_send: |party, wait, context, place| party.poll_send(wait, context, place),
    try_recv: |party, place| party.try_recv(place),
    take: |party, place| party.take(place),
    recv: |party, place, deadline, backoff| party.recv(place, deadline, backoff),
    begin_recv: |party, wait, place| party.begin_recv(wait, place),
    poll_recv: |party, wait, context, place| party.poll_recv(wait, context, place),
    block_wait: |wait, backoff, deadline| wait.block(backoff, deadline),
    poll_wait: |wait, context| wait.poll(context),
    end_send: |wait, place| wait.end_send(place),
    end_recv: |wait, place| wait.end_recv(place),
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

/// The drop of a value is an operation of its rendezvous.
macro_rules! impl_dropped_by_operation {
    ($($value:ty: |$this:ident| $meeting:expr => $drop:ident),+ $(,)?) => {$(
        // USER CODE: as of the value's drop
        impl OutlinedDrop for $value {
            #[inline]
            unsafe fn drop_outlined(value: *mut Self) {
                // SAFETY: the value is valid, by the caller.
                let $this = unsafe { &*value };
                let operations = $meeting.operations;
                // SAFETY: by the caller, who does not use the value afterwards.
                unsafe { (operations.$drop)(value) };
            }
        }
    )+};
}

impl_dropped_by_operation!(
    LineWait<'_>: |wait| wait.side.meeting => drop_wait,
    AnyEnd: |end| end.meeting => drop_end,
    Arc<Meeting>: |meeting| meeting => drop_shared,
    Meeting: |meeting| meeting => drop_meeting,
);
