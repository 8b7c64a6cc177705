//! Sending: by a lane of the calling thread, or into the queue of a mailbox with a bound, and what becomes of a message
//! without room. Any thread; lock-free, except sends that wait for room, and notices while all lanes are in use.

use core::sync::atomic::Ordering;
use core::time::Duration;

use super::envelope::{Envelope, Rank};
use super::error::SendError;
use super::inner::{Crowding, MailboxInner, receiving, this_thread};
use super::outbox;
use crate::channel::{SendTimeoutError, TrySendError};

/// How long a thread waits for room in a mailbox that is its own, or that it has moved to a thread which has not used
/// it yet.
const OWN_TIMEOUT: Duration = Duration::from_secs(1);

impl MailboxInner {
    // WAITS: `Address::send` with `Crowding::DropOldest`, while another thread is sending or receiving the oldest
    //     message: yields, then sleeps for less than a millisecond at a time, whatever the spin setting; test:
    //     tests/suite/mailbox/bounds.rs: dropping_the_oldest_under_a_crowd_loses_none_without_dropping_it
    #[inline(always)]
    pub(super) fn send(&self, envelope: Envelope, rank: Rank) -> Result<(), SendError<Envelope>> {
        match &self.bound {
            // MUTANT: Killed only by `an_error_gives_the_message_back`.
            Some(bound) if rank == Rank::Ordinary => self.send_bounded(bound.crowding, envelope),
            _ => outbox::send(self, rank, envelope),
        }
    }

    // USER CODE: none (here, in `close`, and in `mailbox/registry.rs` and `mailbox/address.rs`: under a lock only
    //     tables change, and addresses are dropped after it; only a select polls a mailbox, so its sleep flag wakes by
    //     a futex, a signal or the waker of a select)
    // MUTANT: The value is dropped at the end of the function anyway.
    /// Sends a notice, which no bound delays. Drops it if the mailbox has ended.
    pub(super) fn tell(&self, notice: Envelope) {
        let Err(SendError::Full(notice)) = outbox::send(self, Rank::Ordinary, notice) else { return };
        // All lanes are in use, none of them by the calling thread: so it has sent nothing that must come before the
        // notice. No user code runs under the lock.
        let Some(mut spare) = self.spare.lock_to_go() else { return };
        let refused = spare.as_mut().map(|spare| spare.send(notice));
        drop(spare);
        // After the lock. Refused if the mailbox has ended meanwhile.
        drop(refused);
    }

    // USER CODE: with `DropNewest`, `Drop` of the refused message; nothing was sent; re-entrance: may send there again;
    //     panic: propagates; test: tests/suite/mailbox/random.rs: random_operations_do_what_the_model_does
    // USER CODE: with `DropOldest`, `Drop` of the displaced message; the new one has been sent, or there is no room
    //     again and the loop continues; re-entrance: may send there again, and displace others; panic: propagates; the
    //     new message is sent, or was dropped; test: tests/suite/mailbox/random.rs:
    //     random_operations_do_what_the_model_does
    fn send_bounded(&self, crowding: Crowding, envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let back = match self.sender.try_send(envelope) {
            Err(TrySendError::Full(back)) => back,
            sent => return Ok(sent?),
        };
        match crowding {
            Crowding::Error => Err(SendError::Full(back)),
            Crowding::DropNewest => Ok(()),
            Crowding::Block => self.send_waiting(back),
            Crowding::DropOldest => {
                let oldest = self.sender.force_send(back)?;
                // MUTANT: The message is dropped at the end of the block anyway.
                // User code, after the message is sent and the mailbox woken.
                drop(oldest);
                Ok(())
            }
        }
    }

    // WAITS: `Address::send` with `Crowding::Block`; ends: room, the mailbox has ended; spin: `Adaptive` always, as an
    //     address has no setting; a thread does not wait for itself; test: tests/suite/mailbox/bounds.rs:
    //     a_sender_without_room_waits_for_it
    // WAITS: in a mailbox that may be the thread's own: room, the mailbox has ended, or one second, once for a mailbox;
    //     test: tests/suite/mailbox/bounds.rs: a_thread_never_waits_for_itself_before_its_first_receive_either
    // MUTANT: Killed only by `a_thread_that_has_nothing_to_do_with_a_mailbox_waits_for_room_for_as_long_as_it_takes`.
    /// Waits for room, unless the mailbox belongs to the calling thread.
    #[cold]
    fn send_waiting(&self, mut envelope: Envelope) -> Result<(), SendError<Envelope>> {
        let me = this_thread();
        loop {
            // ORDERING: Relaxed; pairs with nothing: a thread need only recognise the number that it stored itself.
            let last_user = self.last_user.load(Ordering::Relaxed);
            if me == 0 || last_user >> 1 != me {
                return Ok(self.sender.send(envelope)?);
            }
            if last_user == receiving(me) {
                return Err(SendError::Full(envelope));
            }
            envelope = match self.sender.send_timeout(envelope, OWN_TIMEOUT) {
                Ok(()) => return Ok(()),
                Err(SendTimeoutError::Disconnected(back)) => return Err(SendError::Ended(back)),
                Err(SendTimeoutError::Timeout(back)) => back,
            };
            // Fails if another thread has used the mailbox meanwhile.
            // ORDERING: Relaxed; pairs with nothing: a thread need only recognise the number that it stored itself.
            let _ = self.last_user.compare_exchange(last_user, receiving(me), Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}
