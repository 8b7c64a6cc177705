//! The suite of every channel. A test file per kind names the channels; nothing here does, except that the errors are
//! those all channels share.
//!
//! A kind implements [`Kind`], and a value of it is one way of making the channel: with that capacity.
//! [`channel_suite!`](crate::channel_suite) makes the tests of such a value. A channel whose sender has a batch, and whose
//! receiver can peek, is [`Batching`] as well, and has tests made by [`batching_suite!`](crate::batching_suite). Their
//! handles are in `ends.rs`.

pub(crate) mod batches;
pub(crate) mod closing;
pub(crate) mod delivery;
pub(crate) mod endings;
mod ends;
pub(crate) mod model;
pub(crate) mod panics;
pub(crate) mod permits;
pub(crate) mod task_batches;
pub(crate) mod tasks;
pub(crate) mod waiting;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ysuite::{
    Permit, Permits, RecvError, RecvTimeoutError, Reserve, ReserveError, SendError, SendTimeoutError, Spin,
    TryRecvError, TryReserveError, TrySendError,
};

pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A sender, with the inherent methods of every sender.
pub(crate) trait Sending<T>: Send {
    fn send(&mut self, message: T) -> Result<(), SendError<T>>;
    fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>>;
    fn send_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>>;
    fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>>;
    fn send_async(&mut self, message: T) -> Boxed<'_, Result<(), SendError<T>>>
    where
        T: Send;
    fn send_batch(&mut self, messages: &mut dyn Iterator<Item = T>) -> Result<usize, SendError<Vec<T>>>;
    fn set_spin(&mut self, spin: Spin);
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn is_full(&self) -> bool;
    fn capacity(&self) -> Option<usize>;
    fn is_disconnected(&self) -> bool;
}

/// A receiver, with the inherent methods of every receiver.
pub(crate) trait Receiving<T>: Send + IntoIterator<Item = T> {
    fn recv(&mut self) -> Result<T, RecvError>;
    fn try_recv(&mut self) -> Result<T, TryRecvError>;
    fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError>;
    fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError>;
    fn recv_async(&mut self) -> Boxed<'_, Result<T, RecvError>>
    where
        T: Send;
    fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>>;
    fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError>;
    fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError>;
    fn iter(&mut self) -> Box<dyn Iterator<Item = T> + '_>;
    fn try_iter(&mut self) -> Box<dyn Iterator<Item = T> + '_>;
    fn set_spin(&mut self, spin: Spin);
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn capacity(&self) -> Option<usize>;
    fn is_disconnected(&self) -> bool;
}

/// A kind of channel; a value is one way of making it.
pub(crate) trait Kind: Copy + Send + Sync + 'static {
    type Sender<T: Send + 'static>: Sending<T> + 'static;
    type Receiver<T: Send + 'static>: Receiving<T> + 'static;
    /// Whether the length counts only what can be received at once. Many senders may still be putting in what counts.
    const LENGTH_IS_THERE: bool = true;
    /// Whether a batch without a receiver leaves messages in its iterator, also without a bound.
    const STOPS_EARLY: bool = false;
    /// One message notifies one of the waiters: a receiver's set, or its task, and not both.
    const TELLS_ONE: bool = false;
    /// How many messages may be in it; `None` without a bound.
    fn capacity(self) -> Option<usize>;
    fn pair<T: Send + 'static>(self) -> (Self::Sender<T>, Self::Receiver<T>);
    /// Another sender, of a channel that may have several.
    fn another<T: Send + 'static>(_: &Self::Sender<T>) -> Option<Self::Sender<T>> {
        None
    }

    /// The capacity as it was asked for: a bound that no memory could ever hold is as good as none.
    fn asked(self) -> Option<usize> {
        self.capacity()
    }

    /// The number of messages that the channel holds, but not too many for a test.
    fn some(self, most: usize) -> usize {
        self.capacity().map_or(most, |capacity| capacity.min(most))
    }
}

/// The half of a sender that hides messages until a flush.
pub(crate) trait Hiding<T>: Sending<T> {
    fn write(&mut self, message: T) -> Result<(), SendError<T>>;
    fn unwrite(&mut self) -> Option<T>;
    fn flush(&mut self) -> bool;
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;
}

/// What a sender with a queue of its own can do beyond that: it closes, and reserves room.
pub(crate) trait Piping<T>: Hiding<T> + Reserve<Message = T> + Sized {
    fn close(&mut self) -> bool;
    fn closed(&self) -> Boxed<'_, ()>
    where
        T: Send;
    fn wait_closed(&self);
    fn wait_closed_timeout(&self, timeout: Duration) -> bool;
    fn reserve(&mut self) -> Result<Permit<'_, Self>, ReserveError>;
    fn try_reserve(&mut self) -> Result<Permit<'_, Self>, TryReserveError>;
    fn reserve_async(&mut self) -> Boxed<'_, Result<Permit<'_, Self>, ReserveError>>
    where
        T: Send;
    fn reserve_many(&mut self, places: usize) -> Result<Permits<'_, Self>, ReserveError>;
    fn try_reserve_many(&mut self, places: usize) -> Result<Permits<'_, Self>, TryReserveError>;
    fn reserve_many_async(&mut self, places: usize) -> Boxed<'_, Result<Permits<'_, Self>, ReserveError>>
    where
        T: Send;
    fn send_batch_async<'a>(
        &'a mut self,
        messages: &'a mut (impl Iterator<Item = T> + Send),
    ) -> Boxed<'a, Result<usize, SendError<Vec<T>>>>
    where
        T: Send;
    fn send_async_until<'a>(
        &'a mut self,
        message: T,
        stop: impl Future<Output: Send> + Send + 'a,
    ) -> Boxed<'a, Result<(), SendTimeoutError<T>>>
    where
        T: Send + 'a;
}

/// What the only receiver of a channel can do beyond that: it peeks at messages in place, and closes.
pub(crate) trait Peeking<T>: Receiving<T> {
    fn close(&mut self) -> bool;
    fn peek_run(&mut self) -> &[T];
    fn consume(&mut self, messages: usize);
    fn recv_batch_async<'a>(&'a mut self, to: &'a mut Vec<T>, max: usize) -> Boxed<'a, Result<usize, RecvError>>
    where
        T: Send;
    fn peek(&mut self) -> Option<&T>;
}

/// A kind whose sender hides and whose receiver peeks.
pub(crate) trait Batching: Kind {
    type Hiding<T: Send + 'static>: Piping<T> + 'static;
    type Peeking<T: Send + 'static>: Peeking<T> + 'static;
    fn batching<T: Send + 'static>(self) -> (Self::Hiding<T>, Self::Peeking<T>);
}

/// Makes one `#[test]` of every function of the suite, for the kind given.
#[macro_export]
macro_rules! channel_suite {
    ($kind:expr) => {
        $crate::tests_of!(channel::delivery, $kind =>
            messages_arrive_in_order, every_shape_arrives_whole, capacity_is_exact, a_full_channel_says_so,
            length_is_exact_on_both_ends, a_batch_arrives_in_order, batches_of_no_messages,
            batch_receives_append_and_keep_to_their_limit, great_batches_arrive_whole, iterators_end_where_they_should,
            a_stream_crosses_threads_in_order, batches_cross_threads_in_order, ends_may_move_between_threads,
            sending_and_receiving_within_one_message_of_each_other);
        $crate::tests_of!(channel::endings, $kind =>
            what_was_sent_is_received_after_the_sender_is_gone, a_receiver_that_goes_drops_what_is_there,
            a_value_is_not_stranded_while_the_sender_is_alive_and_idle,
            sending_after_the_receiver_is_gone_gives_the_message_back,
            sending_after_the_receiver_of_a_full_channel_is_gone_does_not_block,
            a_batch_after_the_receiver_is_gone_comes_back, a_channel_that_was_never_used,
            the_receiver_goes_while_a_sender_waits_for_room, the_sender_goes_while_a_receiver_waits,
            receiver_dropped_while_the_first_chunk_is_made, close_racing_with_send, both_ends_go_at_once,
            lengths_stay_sane_while_closing, a_timed_out_receive_and_the_senders_end,
            ends_within_their_own_channel_are_dropped_with_it);
        $crate::tests_of!(channel::panics, $kind =>
            panicking_drop_of_an_element_takes_the_rest_along,
            iterator_that_panics_in_send_batch, a_panicking_sender_thread_disconnects);
        $crate::tests_of!(channel::waiting, $kind =>
            timeouts_of_an_empty_channel, timeouts_of_a_full_channel, deadlines_in_the_past,
            duration_max_is_for_ever, a_timed_out_wait_does_not_eat_the_wake, a_spurious_futex_wake_is_harmless,
            every_way_of_spinning_arrives, a_spinning_wait_makes_no_system_call, both_threads_on_one_cpu_finish,
            more_threads_than_cpus_finish,
            looking_at_an_empty_channel_makes_no_system_call, a_stream_makes_next_to_no_system_calls,
            an_idle_receiver_costs_nothing, two_channels_both_ways_do_not_wait_for_each_other);
        $crate::tests_of!(channel::tasks, $kind =>
            a_message_that_is_there_is_received_at_once, a_task_polled_once_and_kept_is_woken,
            the_last_task_to_ask_is_woken, a_dropped_future_has_taken_nothing, a_dropped_future_does_not_eat_the_wake,
            a_task_learns_that_the_sender_is_gone, a_task_waits_for_room, a_sending_task_learns_that_the_receiver_is_gone,
            a_dropped_sending_future_has_sent_nothing, a_waker_that_panics_loses_nothing, tasks_and_threads_take_turns,
            wakers_are_dropped_with_the_channel, a_receiver_that_goes_lets_go_of_its_task,
            a_dropped_future_lets_go_of_its_task, tasks_stream_both_ways);
        $crate::tests_of!(channel::model, $kind => random_operations_agree_with_a_model);
    };
}

/// As `channel_suite!`, for kinds that batch.
#[macro_export]
macro_rules! batching_suite {
    ($kind:expr) => {
        $crate::tests_of!(channel::batches, $kind =>
            written_messages_are_hidden_until_flushed, unwriting_takes_the_newest_first_and_only_the_hidden,
            unwriting_over_every_border, a_send_publishes_what_was_written, a_sender_that_goes_publishes_what_was_written,
            hidden_messages_count_against_the_bound, flush_says_false_exactly_when_the_receiver_had_armed,
            hidden_messages_whose_receiver_is_gone, a_panicking_drop_while_the_sender_disposes,
            poll_ready_shows_what_is_hidden_before_it_waits, a_waker_that_panics_when_it_is_dropped_loses_no_end,
            a_full_batch_flushes_itself_and_waits,
            both_full_rings_do_not_wait_for_each_other, a_batch_is_seen_whole, peek_shows_what_is_received_next,
            random_batches_agree_with_a_model, unwriting_between_flushes_across_threads);
        $crate::tests_of!(channel::closing, $kind =>
            a_closed_channel_gives_what_was_sent_and_then_ends, every_way_of_receiving_ends_at_the_cut,
            sends_after_the_close_give_the_message_back, hidden_messages_at_the_close,
            a_receiver_that_closes_and_goes_drops_what_is_left, closing_again_is_nothing,
            a_sender_that_closes_has_said_all, close_wakes_a_sender_that_waits_for_room,
            close_wakes_a_task_that_waits_for_room, close_racing_with_every_send, close_and_drop_racing_with_every_send,
            the_senders_end_beyond_the_cut_racing_with_the_close, the_senders_close_racing_with_receiving, waiting_for_the_receivers_end, tasks_wait_for_the_receivers_end,
            an_attached_receiver_that_closes_is_up, a_closed_channel_across_chunks, panicking_drops_at_the_cut);
        $crate::tests_of!(channel::permits, $kind =>
            a_permit_is_room, permits_are_counted, too_many_is_an_error_and_not_a_wait, a_message_is_built_in_its_slot,
            slots_are_runs_of_free_places, there_are_slots_as_long_as_there_are_places, runs_are_shown_and_consumed, a_permit_of_a_channel_that_closes,
            waiting_for_many_places, a_task_waits_for_many_places, what_is_hidden_is_sent_along,
            a_commit_of_nothing_sends_nothing, a_try_to_reserve_shows_nothing_that_is_hidden,
            a_wait_for_places_shows_what_is_hidden, room_that_comes_as_the_waker_is_cloned_is_found_by_that_poll);
        $crate::tests_of!(channel::task_batches, $kind =>
            a_task_receives_batches, a_task_sends_more_than_there_is_room_for,
            great_batches_of_tasks_arrive_whole, an_iterator_keeps_what_was_not_sent,
            a_batch_of_a_task_whose_receiver_closes, any_future_is_a_limit,
            a_limit_whose_end_panics_takes_the_message_along, an_iterator_that_panics_in_a_task);
    };
}
