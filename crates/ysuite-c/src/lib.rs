#![warn(missing_docs)]
// The names are C's.
#![allow(non_camel_case_types)]
// Said once, below, for all functions.
#![allow(clippy::missing_safety_doc)]
//! Channels of [`ysuite`] for C and C++. What is here is what the header `ysuite.h` declares; a program of Rust uses [`ysuite`].
//!
//! Every function takes pointers as C does: NULL is an error or nothing, as it says; any other pointer must be what the
//! function says, alive, and used by no other thread, unless it says "any thread". The checked build (feature `checked`) finds
//! out about handles that were freed, or that two threads use at once.
//!
//! No function lets a panic out. A callback may let out a panic of Rust, but no exception of C++: that ends the process.

mod about;
mod beside;
mod broadcast;
mod channel;
mod code;
mod disposal;
#[cfg(all(any(feature = "shm", feature = "zmq"), target_os = "linux"))]
mod ends;
mod errno;
mod exchange;
mod handle;
#[cfg(all(feature = "hub", unix))]
mod hub;
mod lanes;
mod limit;
mod loans;
mod message;
mod oneshot;
mod open;
mod options;
mod parked;
mod pool;
mod rx;
mod select;
mod set;
mod shared;
#[cfg(all(feature = "shm", target_os = "linux"))]
mod shm;
mod side;
mod spin;
mod steps;
mod stopper;
mod timer;
mod tx;
mod value;
mod watch;
mod window;
#[cfg(all(feature = "zmq", target_os = "linux"))]
mod zmq;

pub use self::about::{ys_is_checked, ys_version, ys_window_version};
pub use self::code::{ys_code, ys_error_text};
#[cfg(all(feature = "hub", unix))]
pub use self::hub::{
    ys_hub, ys_hub_after, ys_hub_cancel, ys_hub_dispatch, ys_hub_every, ys_hub_fd, ys_hub_free, ys_hub_open,
    ys_hub_post, ys_hub_post_stop, ys_hub_poster, ys_hub_poster_clone, ys_hub_poster_free, ys_hub_poster_open,
    ys_hub_ready, ys_hub_remove, ys_hub_rewatch, ys_hub_run, ys_hub_run_once, ys_hub_stop, ys_hub_timeout,
    ys_hub_watch,
};
pub use self::open::{
    ys_broadcast_lossy_open, ys_broadcast_open, ys_exchange_open, ys_funnel_open, ys_oneshot_open, ys_pipe_open,
    ys_watch_open,
};
pub use self::options::ys_options;
pub use self::pool::{
    ys_msg_capacity, ys_msg_free, ys_msg_len, ys_msg_resize, ys_pool, ys_pool_class, ys_pool_free, ys_pool_open,
    ys_pool_stopper, ys_pool_take, ys_pool_take_or_stop, ys_pool_wait_stopper,
};
pub use self::rx::{
    ys_consume, ys_peek, ys_recv, ys_recv_batch, ys_recv_for, ys_rx, ys_rx_channel, ys_rx_clone, ys_rx_close,
    ys_rx_credit, ys_rx_expect, ys_rx_free, ys_rx_is_closed, ys_rx_len, ys_rx_message_align, ys_rx_message_size,
    ys_rx_missed, ys_rx_set_spin, ys_rx_stopper, ys_rx_stride, ys_rx_wait_stopper, ys_take, ys_try_recv, ys_wait,
    ys_watch_get,
};
pub use self::select::{
    ys_select, ys_select_add_rx, ys_select_add_timer, ys_select_add_tx, ys_select_free, ys_select_open,
    ys_select_remove_rx, ys_select_remove_timer, ys_select_remove_tx, ys_select_stopper, ys_select_wait,
    ys_select_wait_stopper,
};
#[cfg(windows)]
pub use self::set::ys_set_handle;
pub use self::set::{
    ys_pollset_open, ys_set, ys_set_attach_rx, ys_set_attach_tx, ys_set_detach_rx, ys_set_detach_tx, ys_set_fd,
    ys_set_free, ys_set_open, ys_set_signaler, ys_set_stopper, ys_set_wait, ys_set_wait_stopper, ys_signal,
    ys_signaler, ys_signaler_free,
};
pub use self::shared::{
    ys_shared, ys_shared_channel, ys_shared_free, ys_shared_is_closed, ys_shared_send_for, ys_shared_send_or_stop,
    ys_shared_wait_stopper, ys_tx_share,
};
#[cfg(all(feature = "shm", target_os = "linux"))]
pub use self::shm::{
    ys_shm_accept, ys_shm_borrowed, ys_shm_borrowed_copy, ys_shm_borrowed_free, ys_shm_borrowed_length,
    ys_shm_borrowed_sealed, ys_shm_borrowed_untrusted, ys_shm_broadcast, ys_shm_broadcast_arm,
    ys_shm_broadcast_arm_to_serve, ys_shm_broadcast_fd, ys_shm_broadcast_free, ys_shm_broadcast_largest,
    ys_shm_broadcast_open, ys_shm_broadcast_receivers, ys_shm_broadcast_recv, ys_shm_broadcast_recv_for,
    ys_shm_broadcast_rx, ys_shm_broadcast_rx_arm, ys_shm_broadcast_rx_fd, ys_shm_broadcast_rx_free,
    ys_shm_broadcast_rx_open, ys_shm_broadcast_seat, ys_shm_broadcast_send, ys_shm_broadcast_send_for,
    ys_shm_broadcast_serve, ys_shm_broadcast_try_recv, ys_shm_broadcast_try_send, ys_shm_caller, ys_shm_caller_arm,
    ys_shm_caller_arm_to_ask, ys_shm_caller_arm_to_recv, ys_shm_caller_ask, ys_shm_caller_ask_for, ys_shm_caller_call,
    ys_shm_caller_fd, ys_shm_caller_free, ys_shm_caller_give_up, ys_shm_caller_is_closed, ys_shm_caller_open,
    ys_shm_caller_recv, ys_shm_caller_recv_for, ys_shm_caller_try_ask, ys_shm_caller_try_recv, ys_shm_connect,
    ys_shm_funnel, ys_shm_funnel_arm, ys_shm_funnel_fd, ys_shm_funnel_free, ys_shm_funnel_next_ended,
    ys_shm_funnel_open, ys_shm_funnel_recv, ys_shm_funnel_recv_for, ys_shm_funnel_seat, ys_shm_funnel_senders,
    ys_shm_funnel_try_recv, ys_shm_listener, ys_shm_listener_fd, ys_shm_listener_free, ys_shm_listener_open,
    ys_shm_loan, ys_shm_loan_arm, ys_shm_loan_arm_large, ys_shm_loan_arm_to_serve, ys_shm_loan_commit, ys_shm_loan_fd,
    ys_shm_loan_free, ys_shm_loan_held, ys_shm_loan_largest, ys_shm_loan_next_ended, ys_shm_loan_numbered_seat,
    ys_shm_loan_open, ys_shm_loan_receivers, ys_shm_loan_recv, ys_shm_loan_recv_for, ys_shm_loan_reserve,
    ys_shm_loan_reserve_for, ys_shm_loan_reserve_large, ys_shm_loan_rx, ys_shm_loan_rx_arm, ys_shm_loan_rx_fd,
    ys_shm_loan_rx_free, ys_shm_loan_rx_open, ys_shm_loan_seat, ys_shm_loan_serve, ys_shm_loan_slowest,
    ys_shm_loan_try_recv, ys_shm_loan_try_reserve, ys_shm_loan_unused, ys_shm_options, ys_shm_pipe_open,
    ys_shm_question, ys_shm_question_answer, ys_shm_question_bytes, ys_shm_question_free, ys_shm_question_length,
    ys_shm_questions, ys_shm_questions_arm, ys_shm_questions_callers, ys_shm_questions_fd, ys_shm_questions_free,
    ys_shm_questions_next_ended, ys_shm_questions_open, ys_shm_questions_recv, ys_shm_questions_recv_for,
    ys_shm_questions_seat, ys_shm_questions_try_recv, ys_shm_recv, ys_shm_recv_for, ys_shm_refusal, ys_shm_rx,
    ys_shm_rx_arm, ys_shm_rx_close, ys_shm_rx_fd, ys_shm_rx_free, ys_shm_rx_into_fd, ys_shm_rx_open, ys_shm_send,
    ys_shm_send_for, ys_shm_try_recv, ys_shm_try_send, ys_shm_tx, ys_shm_tx_arm, ys_shm_tx_close, ys_shm_tx_fd,
    ys_shm_tx_free, ys_shm_tx_into_fd, ys_shm_tx_is_closed, ys_shm_tx_largest, ys_shm_tx_open, ys_shm_watch,
    ys_shm_watch_arm, ys_shm_watch_fd, ys_shm_watch_free, ys_shm_watch_open, ys_shm_watch_receivers, ys_shm_watch_recv,
    ys_shm_watch_recv_for, ys_shm_watch_rx, ys_shm_watch_rx_arm, ys_shm_watch_rx_fd, ys_shm_watch_rx_free,
    ys_shm_watch_rx_open, ys_shm_watch_seat, ys_shm_watch_send, ys_shm_watch_serve, ys_shm_watch_try_recv, ys_shm_work,
    ys_shm_work_arm, ys_shm_work_arm_to_serve, ys_shm_work_arm_to_settle, ys_shm_work_fd, ys_shm_work_finish,
    ys_shm_work_finished, ys_shm_work_free, ys_shm_work_give_back, ys_shm_work_next_ended, ys_shm_work_next_failed,
    ys_shm_work_numbered_seat, ys_shm_work_open, ys_shm_work_recv, ys_shm_work_recv_for, ys_shm_work_rx,
    ys_shm_work_rx_arm, ys_shm_work_rx_fd, ys_shm_work_rx_free, ys_shm_work_rx_open, ys_shm_work_seat,
    ys_shm_work_send, ys_shm_work_send_for, ys_shm_work_serve, ys_shm_work_settle, ys_shm_work_try_recv,
    ys_shm_work_try_send, ys_shm_work_unfinished, ys_shm_work_workers,
};
pub use self::spin::ys_spin;
pub use self::stopper::{ys_is_stopped, ys_stop, ys_stopper, ys_stopper_free};
pub use self::timer::{ys_timer, ys_timer_after, ys_timer_every, ys_timer_free, ys_timer_wait};
pub use self::tx::{
    ys_commit, ys_flush, ys_force_send, ys_reserve, ys_send, ys_send_batch, ys_send_for, ys_try_send, ys_tx,
    ys_tx_answer, ys_tx_channel, ys_tx_clone, ys_tx_close, ys_tx_discard, ys_tx_expect, ys_tx_free, ys_tx_is_closed,
    ys_tx_len, ys_tx_message_align, ys_tx_message_size, ys_tx_set_spin, ys_tx_stopper, ys_tx_stride, ys_tx_subscribe,
    ys_tx_wait_closed, ys_tx_wait_stopper, ys_wait_room, ys_write,
};
pub use self::window::{YS_WINDOW_VERSION, ys_rx_window, ys_tx_window};
#[cfg(all(feature = "zmq", target_os = "linux"))]
pub use self::zmq::{
    ys_zmq_answer_open, ys_zmq_ask_open, ys_zmq_asker, ys_zmq_asker_arm, ys_zmq_asker_arm_to_ask, ys_zmq_asker_ask,
    ys_zmq_asker_ask_parts, ys_zmq_asker_call, ys_zmq_asker_clone, ys_zmq_asker_fd, ys_zmq_asker_free,
    ys_zmq_asker_give_up, ys_zmq_asker_part, ys_zmq_asker_recv, ys_zmq_bridge, ys_zmq_bridge_address,
    ys_zmq_bridge_admit, ys_zmq_bridge_close, ys_zmq_bridge_event, ys_zmq_bridge_free, ys_zmq_bridge_statistics,
    ys_zmq_bridge_subscribe, ys_zmq_bridge_unsubscribe, ys_zmq_bridge_wait_subscribers, ys_zmq_duplex_open,
    ys_zmq_event, ys_zmq_key_pair, ys_zmq_options, ys_zmq_part, ys_zmq_publish, ys_zmq_publish_open,
    ys_zmq_publish_parts, ys_zmq_pull_open, ys_zmq_push_open, ys_zmq_question, ys_zmq_question_answer,
    ys_zmq_question_answer_parts, ys_zmq_question_bytes, ys_zmq_question_free, ys_zmq_question_part, ys_zmq_questions,
    ys_zmq_questions_arm, ys_zmq_questions_fd, ys_zmq_questions_free, ys_zmq_questions_recv, ys_zmq_recv,
    ys_zmq_refusal, ys_zmq_rx, ys_zmq_rx_arm, ys_zmq_rx_fd, ys_zmq_rx_free, ys_zmq_rx_part, ys_zmq_rx_topic,
    ys_zmq_send, ys_zmq_send_parts, ys_zmq_statistics, ys_zmq_subscribe_open, ys_zmq_tx, ys_zmq_tx_arm, ys_zmq_tx_fd,
    ys_zmq_tx_free, ys_zmq_when_full,
};
