//! Every operation of the public interface that makes, joins, leaves or registers something, or waits, and the program in which it
//! does so again and again; against `docs/api` and against the programs' text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A program, and operations that it is here for. `Attach for` means a handle that can be attached to any set.
const PROGRAMS: &[(&str, &[&str])] = &[
    (
        "actors::a_mailbox_for_each_conversation",
        &[
            "Attach for mailbox::Mailbox",
            "mailbox::Address::clone",
            "mailbox::Address::name",
            "mailbox::Builder::bounded",
            "mailbox::Builder::build",
            "mailbox::Builder::clone",
            "mailbox::Builder::default",
            "mailbox::Builder::name",
            "mailbox::Builder::new",
            "mailbox::Envelope::new",
            "mailbox::Mailbox::address",
            "mailbox::Mailbox::default",
            "mailbox::Mailbox::detach",
            "mailbox::Mailbox::link",
            "mailbox::Mailbox::new",
            "mailbox::Mailbox::receive",
            "mailbox::Mailbox::unlink",
        ],
    ),
    (
        "actors::actors_that_start_and_stop",
        &[
            "mailbox::Builder::spawn",
            "mailbox::Builder::spawn_linked",
            "mailbox::Builder::spawn_owned",
            "mailbox::Mailbox::spawn",
            "mailbox::Mailbox::spawn_linked",
            "mailbox::spawn",
        ],
    ),
    ("actors::names_that_are_given_and_taken", &["mailbox::locate", "mailbox::register", "mailbox::unregister"]),
    (
        "broadcasts::a_channel_for_each_topic",
        &["broadcast::Receiver::close", "broadcast::Sender::close", "broadcast::Sender::wait_closed"],
    ),
    (
        "broadcasts::permits_that_come_and_go",
        &[
            "broadcast::OwnedPermit::release",
            "broadcast::Sender::reserve",
            "broadcast::Sender::reserve_many",
            "broadcast::Sender::reserve_owned",
            "broadcast::Sender::try_reserve",
            "broadcast::Sender::try_reserve_many",
            "broadcast::Sender::try_reserve_owned",
        ],
    ),
    ("broadcasts::receivers_that_are_evicted", &["broadcast::Sender::evict"]),
    ("broadcasts::receivers_of_what_may_be_missed_that_come_and_go", &["broadcast::lossy"]),
    (
        "broadcasts::receivers_that_come_and_go",
        &[
            "broadcast::Receiver::clone",
            "broadcast::Receiver::into_iter",
            "broadcast::Receiver::iter",
            "broadcast::Receiver::resubscribe",
            "broadcast::Receiver::try_iter",
            "broadcast::Sender::clone",
            "broadcast::Sender::downgrade",
            "broadcast::Sender::subscribe",
            "broadcast::Sender::wait_closed_timeout",
            "broadcast::WeakSender::clone",
            "broadcast::WeakSender::upgrade",
            "broadcast::bounded",
        ],
    ),
    (
        "broadcasts::tasks_that_give_up",
        &[
            "broadcast::Receiver::poll_next",
            "broadcast::Receiver::poll_recv",
            "broadcast::Receiver::recv_async",
            "broadcast::Receiver::recv_batch_async",
            "broadcast::Receiver::recv_owned_async",
            "broadcast::RecvFuture::poll",
            "broadcast::SendFuture::poll",
            "broadcast::Sender::closed",
            "broadcast::Sender::reserve_async",
            "broadcast::Sender::reserve_many_async",
            "broadcast::Sender::reserve_owned_async",
            "broadcast::Sender::send_async",
            "broadcast::Sender::send_async_until",
            "broadcast::Sender::send_batch_async",
            "broadcast::Sender::send_owned_async",
        ],
    ),
    (
        "connections::ends_that_detach_themselves",
        &[
            "Attach for broadcast::Receiver",
            "Attach for mpmc::Receiver",
            "Attach for mpmc::Sender",
            "Attach for mpsc::Receiver",
            "Attach for mpsc::Sender",
            "Attach for oneshot::Receiver",
            "Attach for spsc::Receiver",
            "Attach for spsc::Sender",
            "Attach for watch::Receiver",
            "broadcast::Receiver::detach",
            "mpmc::Receiver::detach",
            "mpmc::Sender::detach",
            "mpsc::Receiver::detach",
            "mpsc::Sender::detach",
            "oneshot::Receiver::detach",
            "spsc::Receiver::detach",
            "spsc::Sender::detach",
            "watch::Receiver::detach",
        ],
    ),
    ("connections::in_a_hub", &["hub::Hub::receive", "hub::Hub::with_receivers"]),
    (
        "connections::in_a_select",
        &[
            "AttachShared for mpmc::Receiver",
            "AttachShared for mpmc::Sender",
            "signal::ReadySet::add",
            "signal::ReadySet::add_shared",
            "signal::ReadySet::add_timer",
            "signal::ReadySet::new",
            "signal::ReadySet::remove",
            "signal::ReadySet::remove_shared",
            "signal::ReadySet::remove_timer",
            "signal::ReadySet::with_capacity",
        ],
    ),
    ("connections::in_a_socketpair_of_either_backend", &["signal::YSocketpair::with_backend"]),
    (
        "connections::sockets_in_a_hub",
        &["hub::Hub::remove", "hub::Hub::set_interest", "hub::Hub::take", "hub::Hub::watch"],
    ),
    ("hubs::a_handle_for_each_function", &["hub::Handle::clone", "hub::Handle::post", "hub::Hub::handle"]),
    ("hubs::a_hub_for_each_task", &["hub::Handle::stop", "hub::Hub::stop"]),
    (
        "hubs::timers_that_are_made_and_cancelled",
        &["hub::Hub::after", "hub::Hub::at", "hub::Hub::cancel", "hub::Hub::every", "hub::Hub::new"],
    ),
    (
        "loops::in_calloop",
        &[
            "integrations::calloop::ReceiverSource::new",
            "integrations::calloop::ReceiverSource::register",
            "integrations::calloop::ReceiverSource::reregister",
            "integrations::calloop::ReceiverSource::unregister",
            "integrations::calloop::SetSource::attach",
            "integrations::calloop::SetSource::detach",
            "integrations::calloop::SetSource::new",
            "integrations::calloop::SetSource::register",
            "integrations::calloop::SetSource::reregister",
            "integrations::calloop::SetSource::unregister",
        ],
    ),
    (
        "loops::in_mio",
        &["signal::YSocketpair::deregister", "signal::YSocketpair::register", "signal::YSocketpair::reregister"],
    ),
    (
        "loops::in_tokio",
        &[
            "integrations::tokio::AsyncSocketpair::attach",
            "integrations::tokio::AsyncSocketpair::detach",
            "integrations::tokio::AsyncSocketpair::new",
            "integrations::tokio::AsyncSocketpair::poll_signals",
            "integrations::tokio::AsyncSocketpair::signals",
            "broadcast::Sender::send_timeout_async",
            "mpmc::Sender::send_timeout_async",
            "mpsc::Sender::send_timeout_async",
            "timer::Timer::recv_async",
            "spsc::Sender::send_timeout_async",
            "future::TimeLimit::poll",
        ],
    ),
    ("pools::a_pool_for_each_task", &["pool::Pool::zeroed"]),
    ("pools::tasks_that_wait_for_a_block", &["pool::Pool::take_async", "pool::TakeFuture::poll"]),
    (
        "pools::handles_and_blocks",
        &[
            "pool::Message::from_raw",
            "pool::Message::into_raw",
            "pool::Pool::boxed",
            "pool::Pool::clone",
            "pool::Pool::new",
            "pool::Pool::take",
            "pool::Pool::take_deadline",
            "pool::Pool::take_timeout",
            "pool::Pool::try_boxed",
            "pool::Pool::try_take",
            "pool::PoolBox::from_raw",
            "pool::PoolBox::into_raw",
        ],
    ),
    (
        "replies::an_mpsc_channel_for_each_request",
        &[
            "mpsc::Receiver::into_iter",
            "mpsc::Receiver::iter",
            "mpsc::Receiver::try_iter",
            "mpsc::Sender::wait_closed",
            "mpsc::Sender::wait_closed_timeout",
        ],
    ),
    (
        "replies::a_oneshot_for_each_request",
        &[
            "oneshot::Receiver::close",
            "oneshot::Sender::wait_closed",
            "oneshot::Sender::wait_closed_timeout",
            "oneshot::channel",
        ],
    ),
    (
        "replies::a_pipe_for_each_request",
        &[
            "spsc::Receiver::close",
            "spsc::Receiver::into_iter",
            "spsc::Receiver::iter",
            "spsc::Receiver::try_iter",
            "spsc::Sender::close",
            "spsc::Sender::reserve",
            "spsc::Sender::reserve_many",
            "spsc::Sender::try_reserve",
            "spsc::Sender::try_reserve_many",
            "spsc::Sender::wait_closed",
            "spsc::Sender::wait_closed_timeout",
            "spsc::bounded",
            "spsc::unbounded",
        ],
    ),
    ("replies::a_queue_without_waiting", &["queue::ypipe::bounded", "queue::ypipe::unbounded"]),
    (
        "replies::an_mpmc_channel_for_each_request",
        &["mpmc::Receiver::close", "mpmc::Sender::close", "mpmc::Sender::wait_closed"],
    ),
    ("requests::a_clone_for_each_request", &["mpsc::Sender::clone", "mpsc::Sender::try_clone", "mpsc::unbounded"]),
    ("requests::a_clone_under_a_bound_for_senders", &["mpsc::bounded_for"]),
    (
        "requests::a_shared_sender_for_each_request",
        &[
            "mpsc::Sender::share",
            "mpsc::SharedSender::clone",
            "mpsc::SharedSender::downgrade",
            "mpsc::SharedSender::sender",
        ],
    ),
    (
        "requests::an_upgrade_for_each_request",
        &["mpsc::Sender::downgrade", "mpsc::WeakSender::clone", "mpsc::WeakSender::upgrade"],
    ),
    (
        "requests::permits_of_each_clone",
        &[
            "mpsc::Receiver::close",
            "mpsc::Sender::close",
            "mpsc::Sender::reserve",
            "mpsc::Sender::reserve_many",
            "mpsc::Sender::try_reserve",
            "mpsc::Sender::try_reserve_many",
            "mpsc::bounded",
        ],
    ),
    (
        "signals::a_list_for_each_message",
        &[
            "select::list::due",
            "select::list::first",
            "select::list::readable",
            "select::list::reserve",
            "select::list::writable",
        ],
    ),
    (
        "signals::a_select_for_each_message",
        &[
            "select::Selecting::after",
            "select::Selecting::deadline",
            "select::Selecting::recv_any",
            "select::Selecting::send_from",
            "select",
        ],
    ),
    (
        "signals::a_set_for_each_task",
        &[
            "signal::ReadySet::default",
            "signal::YPollset::default",
            "signal::YPollset::with_capacity",
            "signal::YSemaphore::default",
            "signal::YSocketpair::with_capacity",
        ],
    ),
    (
        "signals::observers",
        &[
            "mpmc::Receiver::observer",
            "mpmc::Sender::observer",
            "mpsc::Receiver::observer",
            "mpsc::Sender::observer",
            "mpsc::SharedSender::observer",
            "spsc::Receiver::observer",
            "spsc::Sender::observer",
            "statistics::Observer::clone",
        ],
    ),
    (
        "signals::signalers_and_ids",
        &[
            "signal::SemaphoreSignaler::clone",
            "signal::SignalSet::attach",
            "signal::SignalSet::detach",
            "signal::SignalSet::signaler",
            "signal::Signaler::clone",
            "signal::YPollset::attach",
            "signal::YPollset::detach",
            "signal::YPollset::new",
            "signal::YPollset::signaler",
            "signal::YSemaphore::new",
            "signal::YSemaphore::signaler",
            "signal::YSocketpair::attach",
            "signal::YSocketpair::detach",
            "signal::YSocketpair::new",
            "signal::YSocketpair::signaler",
        ],
    ),
    (
        "signals::timers",
        &[
            "timer::Timer::clone",
            "timer::Timer::into_iter",
            "timer::Timer::iter",
            "timer::Timer::try_iter",
            "timer::after",
            "timer::at",
            "timer::never",
            "timer::tick",
        ],
    ),
    (
        "tasks::a_channel_for_each_task",
        &[
            "oneshot::Receiver::poll",
            "oneshot::Sender::closed",
            "oneshot::Sender::poll_closed",
            "watch::Receiver::poll_next",
            "watch::Sender::closed",
        ],
    ),
    (
        "tasks::a_clone_of_each_task",
        &[
            "mpsc::Receiver::poll_next",
            "mpsc::Receiver::poll_recv",
            "mpsc::Receiver::recv_async",
            "mpsc::Receiver::recv_batch_async",
            "mpsc::Receiver::recv_owned_async",
            "mpsc::RecvFuture::poll",
            "mpsc::SendFuture::poll",
            "mpsc::Sender::closed",
            "mpsc::Sender::poll_ready",
            "mpsc::Sender::reserve_async",
            "mpsc::Sender::reserve_many_async",
            "mpsc::Sender::send_async",
            "mpsc::Sender::send_async_until",
            "mpsc::Sender::send_batch_async",
            "mpsc::Sender::send_owned_async",
        ],
    ),
    (
        "tasks::a_pipe_that_is_asked_and_left",
        &[
            "future::RecvBatchFuture::poll",
            "future::SendBatchFuture::poll",
            "future::SendUntilFuture::poll",
            "spsc::Receiver::poll_next",
            "spsc::Receiver::poll_recv",
            "spsc::Receiver::recv_async",
            "spsc::Receiver::recv_batch_async",
            "spsc::Receiver::recv_owned_async",
            "spsc::RecvFuture::poll",
            "spsc::SendFuture::poll",
            "spsc::Sender::closed",
            "spsc::Sender::poll_ready",
            "spsc::Sender::reserve_async",
            "spsc::Sender::reserve_many_async",
            "spsc::Sender::send_async",
            "spsc::Sender::send_async_until",
            "spsc::Sender::send_batch_async",
            "spsc::Sender::send_owned_async",
        ],
    ),
    (
        "tasks::sinks_and_streams",
        &[
            "broadcast::Sender::into_sink",
            "broadcast::Sender::sink",
            "integrations::SenderSink::poll_ready",
            "mpmc::Sender::into_sink",
            "mpmc::Sender::sink",
            "mpsc::Sender::into_sink",
            "mpsc::Sender::sink",
            "spsc::Sender::into_sink",
            "spsc::Sender::sink",
        ],
    ),
    (
        "watches::a_channel_for_each_value",
        &[
            "watch::Receiver::changed_deadline",
            "watch::Receiver::into_iter",
            "watch::Receiver::wait_for_timeout",
            "watch::Sender::wait_closed",
        ],
    ),
    (
        "watches::handlers_that_come_and_go",
        &[
            "watch::ChangedFuture::poll",
            "watch::Receiver::changed_async",
            "watch::Receiver::changed_owned_async",
            "watch::Receiver::changed_timeout",
            "watch::Receiver::clone",
            "watch::Receiver::iter",
            "watch::Receiver::poll_changed",
            "watch::Receiver::wait_for_async",
            "watch::Receiver::wait_for_deadline",
            "watch::Sender::clone",
            "watch::Sender::subscribe",
            "watch::Sender::wait_closed_timeout",
            "watch::WaitForFuture::poll",
            "watch::channel",
        ],
    ),
    ("work::forced_sends", &["mpmc::Sender::force_send"]),
    (
        "work::tasks_that_give_up",
        &[
            "future::ClosedFuture::poll",
            "future::OwnedFuture::poll",
            "future::ReserveFuture::poll",
            "mpmc::Receiver::into_iter",
            "mpmc::Receiver::poll_next",
            "mpmc::Receiver::poll_recv",
            "mpmc::Receiver::recv_async",
            "mpmc::Receiver::recv_batch_async",
            "mpmc::Receiver::recv_owned_async",
            "mpmc::RecvFuture::poll",
            "mpmc::SendFuture::poll",
            "mpmc::Sender::closed",
            "mpmc::Sender::reserve_async",
            "mpmc::Sender::reserve_many_async",
            "mpmc::Sender::reserve_owned_async",
            "mpmc::Sender::send_async",
            "mpmc::Sender::send_async_until",
            "mpmc::Sender::send_batch_async",
            "mpmc::Sender::send_owned_async",
        ],
    ),
    (
        "work::with_a_bound",
        &[
            "mpmc::OwnedPermit::release",
            "mpmc::Receiver::clone",
            "mpmc::Receiver::downgrade",
            "mpmc::Receiver::iter",
            "mpmc::Receiver::try_iter",
            "mpmc::Sender::clone",
            "mpmc::Sender::downgrade",
            "mpmc::Sender::reserve",
            "mpmc::Sender::reserve_many",
            "mpmc::Sender::reserve_owned",
            "mpmc::Sender::try_reserve",
            "mpmc::Sender::try_reserve_many",
            "mpmc::Sender::try_reserve_owned",
            "mpmc::Sender::wait_closed_timeout",
            "mpmc::WeakReceiver::clone",
            "mpmc::WeakReceiver::upgrade",
            "mpmc::WeakSender::clone",
            "mpmc::WeakSender::upgrade",
            "mpmc::bounded",
        ],
    ),
    ("work::without_a_bound", &["mpmc::unbounded"]),
];

/// Words for operations that make, join, leave or register something, or leak something if they are cancelled.
const JOIN: &[&str] = &[
    "add",
    "add_shared",
    "add_timer",
    "address",
    "after",
    "at",
    "attach",
    "bounded",
    "bounded_for",
    "boxed",
    "build",
    "cancel",
    "changed_async",
    "changed_deadline",
    "changed_owned_async",
    "changed_timeout",
    "channel",
    "clone",
    "close",
    "closed",
    "deadline",
    "default",
    "deregister",
    "detach",
    "downgrade",
    "every",
    "evict",
    "first",
    "force_send",
    "from_raw",
    "handle",
    "into_iter",
    "into_raw",
    "into_sink",
    "iter",
    "link",
    "locate",
    "lossy",
    "name",
    "never",
    "new",
    "observer",
    "poll",
    "poll_changed",
    "poll_closed",
    "poll_next",
    "poll_ready",
    "poll_recv",
    "poll_signals",
    "post",
    "receive",
    "recv_any",
    "recv_async",
    "recv_batch_async",
    "recv_owned_async",
    "register",
    "release",
    "remove",
    "remove_shared",
    "remove_timer",
    "reregister",
    "reserve",
    "reserve_async",
    "reserve_many",
    "reserve_many_async",
    "reserve_owned",
    "reserve_owned_async",
    "resubscribe",
    "select",
    "send_async",
    "send_async_until",
    "send_batch_async",
    "send_from",
    "send_owned_async",
    "send_timeout_async",
    "sender",
    "set_interest",
    "share",
    "signaler",
    "signals",
    "sink",
    "spawn",
    "spawn_linked",
    "spawn_owned",
    "stop",
    "subscribe",
    "take",
    "take_async",
    "take_deadline",
    "take_timeout",
    "tick",
    "try_boxed",
    "try_clone",
    "try_iter",
    "try_reserve",
    "try_reserve_many",
    "try_reserve_owned",
    "try_take",
    "unbounded",
    "unlink",
    "unregister",
    "upgrade",
    "wait_closed",
    "wait_closed_timeout",
    "wait_for_async",
    "wait_for_deadline",
    "wait_for_timeout",
    "watch",
    "with_backend",
    "with_capacity",
    "with_receivers",
    "zeroed",
    "due",
    "readable",
    "writable",
];

/// Words for operations that use what is there.
const USE: &[&str] = &[
    // Registers the process with the kernel, once.
    "prepare",
    "arm",
    "id",
    "is_evicted",
    "lags",
    "shrink_to_fit",
    "slowest",
    "as_fd",
    "as_mut",
    "as_raw_fd",
    "as_ref",
    "biased",
    "bitor",
    "borrow",
    "borrow_and_update",
    "bound",
    "capacity",
    "capacity_for",
    "changed",
    "check",
    "cmp",
    "commit",
    "consume",
    "current",
    "current_timer",
    "deref",
    "deref_mut",
    "dispatch",
    "downcast",
    "downcast_ref",
    "drop",
    "eq",
    "flush",
    "fmt",
    "from",
    "get_ref",
    "has_changed",
    "hash",
    "hidden",
    "into_inner",
    "into_message",
    "is",
    "is_closed",
    "is_disconnected",
    "is_empty",
    "is_ended",
    "is_error",
    "is_full",
    "is_orphaned",
    "is_readable",
    "is_stopped",
    "is_terminated",
    "is_timeout",
    "is_too_many",
    "is_writable",
    "len",
    "mark_changed",
    "mark_unchanged",
    "missed",
    "next",
    "owner",
    "panic_message",
    "partial_cmp",
    "peek",
    "peek_run",
    "poll_close",
    "poll_flush",
    "wait_timeout",
    "process_events",
    "read",
    "read_batch",
    "receive_any",
    "receive_any_timeout",
    "receive_deadline",
    "receive_only",
    "receiving",
    "receive_timeout",
    "receiver_count",
    "recv",
    "recv_batch",
    "recv_deadline",
    "recv_timeout",
    "resize",
    "result",
    "run",
    "run_once",
    "same_channel",
    "send",
    "extend",
    "send_batch",
    "send_deadline",
    "send_envelope",
    "send_if_modified",
    "send_modify",
    "send_priority",
    "send_replace",
    "send_timeout",
    "send_with",
    "sender_count",
    "set_aside",
    "set_spin",
    "signal",
    "size_hint",
    "slot",
    "slots",
    "source",
    "source_mut",
    "stack_size",
    "start_send",
    "statistics",
    "stats",
    "timeout",
    "truncate",
    "taking",
    "try_now",
    "try_recv",
    "try_recv_batch",
    "try_send",
    "try_signal",
    "try_wait",
    "type_name",
    "unwrite",
    "wait",
    "wait_deadline",
    "wait_for",
    "wait_timeout",
    "write",
];

/// Types that are values: a copy of one holds nothing. So are errors.
const VALUES: &[&str] = &[
    "ReceiverLag",
    "Backend",
    "ClassStats",
    "Crowding",
    "IdOutOfRange",
    "Interest",
    "IntoIter",
    "Iter",
    "LinkTerminated",
    "OwnerTerminated",
    "Ready",
    "Ref",
    "Refused",
    "Signals",
    "Source",
    "Spin",
    "Statistics",
    "TooLong",
    "TooManySenders",
    "TryIter",
];

/// A program calls some operations by what its event loop, or the crate for futures, has for it.
const BY_OTHERS: &[(&str, &[&str])] = &[
    ("poll", &["block_on", "given_up!", "poll_once"]),
    ("poll_next", &["poll_next_unpin"]),
    ("poll_ready", &["poll_ready_unpin"]),
    ("register", &["insert_source"]),
    ("reregister", &["update"]),
    ("unregister", &["remove"]),
    ("Attach", &["attach"]),
    ("AttachShared", &["add_shared"]),
];

/// What is in the folder next to the crate, or nothing if the crate is by itself.
fn interface() -> Option<String> {
    let modules = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api/ysuite")).ok()?;
    modules.map(|module| fs::read_to_string(module.ok()?.path()).ok()).collect()
}

/// Without what is in angle brackets.
fn plain(path: &str) -> String {
    let mut depth = 0;
    path.chars()
        .filter(|&character| {
            depth += i32::from(character == '<');
            let outside = depth == 0;
            depth -= i32::from(character == '>');
            outside
        })
        .collect()
}

/// Its path as a user writes it.
fn name(path: &str) -> String {
    path.strip_prefix("ysuite::").unwrap_or(path).to_owned()
}

/// Whether a type is data, of which any number may be made.
fn is_value(owner: &str) -> bool {
    let kind = owner.rsplit("::").next().unwrap_or_default();
    kind.ends_with("Error") || VALUES.contains(&kind) || owner == "hub::TimerKey"
}

/// The `clone` and `default` of public types that derive them, which the interface does not list.
fn derived(interface: &str) -> BTreeSet<String> {
    let mut types = BTreeMap::<_, Vec<_>>::new();
    for line in interface.lines().map(plain) {
        if let Some((_, path)) = line.split_once("pub struct ").or_else(|| line.split_once("pub enum ")) {
            let path = name(path.split(['(', ' ']).next().unwrap_or_default());
            types.entry(path.rsplit("::").next().unwrap_or_default().to_owned()).or_default().push(path);
        }
    }
    let (mut found, mut sources) = (BTreeSet::new(), Vec::new());
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { sources.push(path) }
        }
    }
    for source in sources {
        let text = fs::read_to_string(&source).expect("a source");
        let mut traits = Vec::new();
        for line in text.lines() {
            if let Some(list) = line.strip_prefix("#[derive(") {
                traits = list.trim_end_matches(")]").split(", ").collect();
            } else if let Some(kind) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum ")) {
                let kind = kind.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
                for (of, word) in [("Clone", "clone"), ("Default", "default")] {
                    // Of several types of that name, the one of this file's module.
                    let module = |path: &str| path.split_once("::").map_or("", |(module, _)| module).to_owned();
                    let is_here = |path: &&String| source.to_string_lossy().contains(&module(path)) && !is_value(path);
                    if traits.contains(&of) {
                        let paths = types.get(kind).into_iter().flatten().filter(is_here);
                        found.extend(paths.map(|path| format!("{path}::{word}")));
                    }
                }
                traits.clear();
            } else if !line.starts_with(['#', '/', ' ']) {
                // Another item has had what was derived.
                traits.clear();
            }
        }
    }
    found
}

/// Operations of the interface that make, join, leave or register something, and what is wrong with others.
fn joining(interface: &str) -> (BTreeSet<String>, Vec<String>) {
    let (mut found, mut unknown) = (BTreeSet::new(), Vec::new());
    for line in interface.lines() {
        // An arrow closes no bracket.
        let line = plain(&line.replace("->", ""));
        if let Some((_, path)) = line.split_once("fn ").filter(|_| line.starts_with("pub ")) {
            let path = path.split('(').next().unwrap_or_default();
            let path = name(path.rsplit(' ').next().unwrap_or_default());
            let (owner, word) = path.rsplit_once("::").unwrap_or(("", &path));
            if is_value(owner) || USE.contains(&word) {
                continue;
            }
            if JOIN.contains(&word) {
                found.insert(path);
            } else {
                unknown.push(path);
            }
        }
        for interface in ["Attach", "AttachShared"] {
            if let Some((_, end)) = line.split_once(&format!("ysuite::signal::{interface} for ")) {
                let end = end.split(' ').next().unwrap_or_default();
                found.insert(format!("{interface} for {}", name(end)));
            }
        }
    }
    (found, unknown)
}

/// Each function of the programs' files, by its path, with its text and that of functions of its file that it calls.
fn programs() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/life");
    let mut all = BTreeMap::new();
    for file in fs::read_dir(folder).expect("this folder") {
        let file = file.expect("a file").path();
        let module = file.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&file).expect("a text");
        let functions: Vec<(&str, &str)> = text
            .split("\nfn ")
            .skip(1)
            .filter_map(|function| {
                let (head, _) = function.split_once('(')?;
                let (body, _) = function.split_once("\n}\n")?;
                Some((head, body))
            })
            .collect();
        for (name, body) in &functions {
            let mut whole = (*body).to_owned();
            for (other, other_body) in &functions {
                if other != name && body.contains(&format!("{other}(")) {
                    whole.push_str(other_body);
                }
            }
            all.insert(format!("{module}::{name}"), whole);
        }
    }
    all
}

/// Whether a program's text calls an operation of that name.
fn calls(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let behind = &text[at + word.len()..];
        !before.is_alphanumeric() && before != '_' && (behind.starts_with('(') || behind.starts_with("::<"))
    })
}

#[test]
fn every_operation_that_joins_or_leaves_is_in_a_program() {
    let Some(interface) = interface() else { return };
    let (mut wanted, unknown) = joining(&interface);
    wanted.extend(derived(&interface));
    assert!(wanted.len() > 250, "the interface's format has changed: {} operations", wanted.len());
    assert!(
        unknown.is_empty(),
        "do these make, join, leave or register anything? `JOIN` or `USE` wants their names: {unknown:?}"
    );
    let here: BTreeSet<String> =
        PROGRAMS.iter().flat_map(|(_, operations)| operations.iter().map(|&operation| operation.to_owned())).collect();
    let missing: Vec<_> = wanted.difference(&here).collect();
    assert!(missing.is_empty(), "no program lives with these: {missing:?}");
    let gone: Vec<_> = here.difference(&wanted).collect();
    assert!(gone.is_empty(), "the interface has these no more: {gone:?}");
}

#[test]
fn every_program_calls_what_it_is_here_for() {
    let programs = programs();
    for (program, operations) in PROGRAMS {
        let text = programs.get(*program).unwrap_or_else(|| panic!("there is no program {program}"));
        for operation in *operations {
            let word = match operation.split_once(" for ") {
                Some((interface, _)) => interface,
                None => operation.rsplit("::").next().unwrap_or_default(),
            };
            let by_others = BY_OTHERS.iter().find(|(own, _)| *own == word).map_or(&[][..], |(_, others)| others);
            let is_called = calls(text, word) || by_others.iter().any(|other| calls(text, other));
            assert!(is_called, "{program} does not call {operation}");
        }
    }
}
