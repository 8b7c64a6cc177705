//! Which threads may have and share what, and what may be used after a panic: every public type, so that a change is seen.

use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Returns whether a type has a trait: the inherent constant is there, and comes first, only if it does.
struct Has<T>(PhantomData<T>);

// Nothing that is listed lacks every one of them.
#[allow(dead_code)]
trait HasNot {
    const SEND: bool = false;
    const SYNC: bool = false;
    const UNPIN: bool = false;
    const UNWIND: bool = false;
    const REF_UNWIND: bool = false;
}

impl<T> HasNot for Has<T> {}

impl<T: Send> Has<T> {
    const SEND: bool = true;
}

impl<T: Sync> Has<T> {
    const SYNC: bool = true;
}

impl<T: Unpin> Has<T> {
    const UNPIN: bool = true;
}

impl<T: UnwindSafe> Has<T> {
    const UNWIND: bool = true;
}

impl<T: RefUnwindSafe> Has<T> {
    const REF_UNWIND: bool = true;
}

/// A public type: its file and name, and what it has, in five letters.
#[cfg_attr(not(all(feature = "hub", feature = "tokio", feature = "calloop", unix)), allow(dead_code))]
struct Entry {
    file: &'static str,
    name: &'static str,
    shown: &'static str,
    has: String,
    expected: &'static str,
}

/// `S`end, s`Y`nc, un`P`in, `U`nwind safe, unwind safe by `R`eference; a dot for what is missing.
macro_rules! entries {
    ($($(#[$only:meta])* $file:literal $name:ident: $($type:ty = $expected:literal),+;)*) => {{
        let mut entries = Vec::new();
        $($(#[$only])* {
            $({
                let has = [
                    (Has::<$type>::SEND, 'S'),
                    (Has::<$type>::SYNC, 'Y'),
                    (Has::<$type>::UNPIN, 'P'),
                    (Has::<$type>::UNWIND, 'U'),
                    (Has::<$type>::REF_UNWIND, 'R'),
                ];
                entries.push(Entry {
                    file: $file,
                    name: stringify!($name),
                    shown: stringify!($type),
                    has: has.into_iter().map(|(has, letter)| if has { letter } else { '.' }).collect(),
                    expected: $expected,
                });
            })+
        })*
        entries
    }};
}

/// A message that may change hands, and may not be shared.
type Mine = Cell<u8>;
/// A message that must stay where it is.
type Bound = *const u8;
/// An iterator over messages.
type Some<T> = std::vec::IntoIter<T>;

#[rustfmt::skip]
fn entries() -> Vec<Entry> {
    use ysuite::{broadcast, future, mailbox, mpmc, mpsc, oneshot, pool, queue::ypipe, signal, spsc, timer, watch};

    entries!(
        "channel/spsc.rs" Sender: spsc::Sender<Mine> = "SYPUR", spsc::Sender<Bound> = "..PUR";
        "channel/spsc.rs" Receiver: spsc::Receiver<Mine> = "SYPUR", spsc::Receiver<Bound> = "..PUR";
        "channel/mpsc/sender.rs" Sender: mpsc::Sender<Mine> = "SYPUR", mpsc::Sender<Bound> = "..PUR";
        "channel/mpsc/sender.rs" TooManySenders: mpsc::TooManySenders = "SYPUR";
        "channel/mpsc/weak.rs" WeakSender: mpsc::WeakSender<Mine> = "SYPUR", mpsc::WeakSender<Bound> = "..PUR";
        "channel/mpsc/shared_sender.rs" SharedSender: mpsc::SharedSender<Mine> = "SYPUR", mpsc::SharedSender<Bound> = "..PUR";
        "channel/mpsc/receiver.rs" Receiver: mpsc::Receiver<Mine> = "SYPUR", mpsc::Receiver<Bound> = "..PUR";
        "channel/mpsc/sender/tasks.rs" SendFuture:
            mpsc::SendFuture<'_, Mine> = "S.PUR", mpsc::SendFuture<'_, Bound> = "..PUR";
        "channel/mpsc/receiver.rs" RecvFuture:
            mpsc::RecvFuture<'_, Mine> = "SYPUR", mpsc::RecvFuture<'_, Bound> = "..PUR";
        "channel/spsc/tasks.rs" SendFuture: spsc::SendFuture<'_, Mine> = "S.PUR", spsc::SendFuture<'_, Bound> = "..PUR";
        "channel/spsc/tasks.rs" RecvFuture: spsc::RecvFuture<'_, Mine> = "SYPUR", spsc::RecvFuture<'_, Bound> = "..PUR";
        "channel/mpmc/sender.rs" Sender: mpmc::Sender<Mine> = "SYPUR", mpmc::Sender<Bound> = "..PUR";
        "channel/mpmc/receiver.rs" Receiver: mpmc::Receiver<Mine> = "SYPUR", mpmc::Receiver<Bound> = "..PUR";
        "channel/mpmc/receiver.rs" Iter: mpmc::Iter<'static, Mine> = "SYPUR", mpmc::Iter<'static, Bound> = "..PUR";
        "channel/mpmc/receiver.rs" TryIter: mpmc::TryIter<'static, Mine> = "SYPUR", mpmc::TryIter<'static, Bound> = "..PUR";
        "channel/oneshot/sender.rs" Sender: oneshot::Sender<Mine> = "SYPUR", oneshot::Sender<Bound> = "..PUR";
        "channel/oneshot/receiver.rs" Receiver: oneshot::Receiver<Mine> = "SYPUR", oneshot::Receiver<Bound> = "..PUR";
        // The value is shared, and borrowed on any thread.
        "channel/watch/sender.rs" Sender: watch::Sender<u8> = "SYPUR", watch::Sender<Mine> = "..PUR", watch::Sender<Bound> = "..PUR";
        "channel/watch/receiver.rs" Receiver: watch::Receiver<u8> = "SYPUR", watch::Receiver<Mine> = "..PUR", watch::Receiver<Bound> = "..PUR";
        "channel/watch/receiver.rs" ChangedFuture:
            watch::ChangedFuture<'static, u8> = "SYPUR", watch::ChangedFuture<'static, Mine> = "..PUR", watch::ChangedFuture<'static, Bound> = "..PUR";
        "channel/watch/mod.rs" Ref: watch::Ref<'static, u8> = ".YPUR", watch::Ref<'static, Mine> = "..P..";
        "signal/timer.rs" Timer: timer::Timer = "SYPUR";
        "channel/timer/mod.rs" Iter: timer::Iter<'static> = "SYPUR";
        "channel/timer/mod.rs" TryIter: timer::TryIter<'static> = "SYPUR";
        "channel/broadcast/sender.rs" Sender: broadcast::Sender<u8> = "SYPUR", broadcast::Sender<Mine> = "..PUR";
        "channel/broadcast/weak.rs" WeakSender: broadcast::WeakSender<u8> = "SYPUR", broadcast::WeakSender<Mine> = "..PUR";
        "channel/broadcast/receiver.rs" Receiver: broadcast::Receiver<u8> = "SYPUR", broadcast::Receiver<Mine> = "..PUR";
        "channel/broadcast/sender.rs" SendFuture:
            broadcast::SendFuture<'_, u8> = "SYPUR", broadcast::SendFuture<'_, Mine> = "..PUR";
        "channel/broadcast/receiver.rs" RecvFuture:
            broadcast::RecvFuture<'_, u8> = "SYPUR", broadcast::RecvFuture<'_, Mine> = "..PUR";
        "channel/broadcast/permit.rs" Permit: broadcast::Permit<'static, u8> = "SYPUR", broadcast::Permit<'static, Mine> = "..PUR";
        "channel/broadcast/permit.rs" Permits: broadcast::Permits<'static, u8> = "SYPUR", broadcast::Permits<'static, Mine> = "..PUR";
        "channel/broadcast/permit.rs" OwnedPermit: broadcast::OwnedPermit<u8> = "SYPUR", broadcast::OwnedPermit<Mine> = "..PUR";
        "channel/broadcast/receiver.rs" ReceiverLag: broadcast::ReceiverLag = "SYPUR";
        "channel/broadcast/error.rs" RecvError: broadcast::RecvError = "SYPUR";
        "channel/broadcast/error.rs" TryRecvError: broadcast::TryRecvError = "SYPUR";
        "channel/broadcast/error.rs" RecvTimeoutError: broadcast::RecvTimeoutError = "SYPUR";
        "channel/mpmc/weak.rs" WeakSender: mpmc::WeakSender<Mine> = "SYPUR", mpmc::WeakSender<Bound> = "..PUR";
        "channel/mpmc/weak.rs" WeakReceiver: mpmc::WeakReceiver<Mine> = "SYPUR", mpmc::WeakReceiver<Bound> = "..PUR";
        "channel/mpmc/tasks.rs" SendFuture: mpmc::SendFuture<'static, Mine> = "S.PUR", mpmc::SendFuture<'static, Bound> = "..PUR";
        "channel/mpmc/tasks.rs" RecvFuture: mpmc::RecvFuture<'static, Mine> = "SYPUR", mpmc::RecvFuture<'static, Bound> = "..PUR";
        "channel/future.rs" ReserveFuture:
            future::ReserveFuture<'static, mpmc::Sender<Mine>, mpmc::Permit<'static, Mine>> = "SYPUR",
            future::ReserveFuture<'static, mpmc::Sender<Bound>, mpmc::Permit<'static, Bound>> = "..PUR",
            future::ReserveFuture<'static, broadcast::Sender<u8>, broadcast::Permits<'static, u8>> = "SYPUR",
            future::ReserveFuture<'static, broadcast::Sender<Mine>, broadcast::Permits<'static, Mine>> = "..PUR",
            future::ReserveFuture<'static, spsc::Sender<Mine>, ysuite::Permit<'static, spsc::Sender<Mine>>> = "SYPUR",
            future::ReserveFuture<'static, spsc::Sender<Bound>, ysuite::Permit<'static, spsc::Sender<Bound>>> = "..PUR",
            future::ReserveFuture<'static, mpsc::Sender<Mine>, ysuite::Permits<'static, mpsc::Sender<Mine>>> = "SYPUR";
        // The message is in the first, and what a receiver has taken in the last. Both borrow what is the caller's.
        "channel/task_batch.rs" SendUntilFuture:
            future::SendUntilFuture<'static, spsc::Sender<Mine>, u8> = "S.PUR", future::SendUntilFuture<'static, spsc::Sender<Bound>, u8> = "..PUR",
            future::SendUntilFuture<'static, mpsc::Sender<u8>, u8> = "SYPUR", future::SendUntilFuture<'static, mpsc::Sender<u8>, Bound> = "..PUR",
            future::SendUntilFuture<'static, mpmc::Sender<Mine>, u8> = "S.PUR", future::SendUntilFuture<'static, mpmc::Sender<u8>, PhantomPinned> = "SY.UR",
            future::SendUntilFuture<'static, broadcast::Sender<u8>, u8> = "SYPUR", future::SendUntilFuture<'static, broadcast::Sender<Mine>, u8> = "..PUR";
        "channel/task_batch.rs" SendBatchFuture:
            future::SendBatchFuture<'static, spsc::Sender<Mine>, Some<Mine>> = "S.P..", future::SendBatchFuture<'static, spsc::Sender<Bound>, Some<Bound>> = "..P..",
            future::SendBatchFuture<'static, mpsc::Sender<u8>, Some<u8>> = "SYP..",
            future::SendBatchFuture<'static, mpmc::Sender<Mine>, Some<Mine>> = "S.P..", future::SendBatchFuture<'static, mpmc::Sender<Bound>, Some<Bound>> = "..P..",
            future::SendBatchFuture<'static, broadcast::Sender<u8>, Some<u8>> = "SYP..", future::SendBatchFuture<'static, broadcast::Sender<Mine>, Some<Mine>> = "..P..";
        "channel/task_batch.rs" RecvBatchFuture:
            future::RecvBatchFuture<'static, spsc::Receiver<Mine>> = "S.P..", future::RecvBatchFuture<'static, spsc::Receiver<Bound>> = "..P..",
            future::RecvBatchFuture<'static, mpsc::Receiver<u8>> = "SYP..",
            future::RecvBatchFuture<'static, mpmc::Receiver<Mine>> = "S.P..", future::RecvBatchFuture<'static, mpmc::Receiver<Bound>> = "..P..",
            future::RecvBatchFuture<'static, broadcast::Receiver<u8>> = "SYP..", future::RecvBatchFuture<'static, broadcast::Receiver<Mine>> = "..P..";
        "channel/future.rs" ClosedFuture:
            future::ClosedFuture<'static, mpmc::Sender<Mine>> = "SYPUR", future::ClosedFuture<'static, mpmc::Sender<Bound>> = "..PUR",
            future::ClosedFuture<'static, spsc::Sender<Mine>> = "SYPUR", future::ClosedFuture<'static, mpsc::Sender<Bound>> = "..PUR",
            future::ClosedFuture<'static, broadcast::Sender<u8>> = "SYPUR", future::ClosedFuture<'static, watch::Sender<u8>> = "SYPUR",
            future::ClosedFuture<'static, oneshot::Sender<Mine>> = "SYPUR", future::ClosedFuture<'static, oneshot::Sender<Bound>> = "..PUR";
        // What is within borrows what is beside it.
        "channel/future.rs" OwnedFuture:
            future::OwnedFuture<mpmc::Sender<Mine>> = "S..UR", future::OwnedFuture<mpmc::Sender<Bound>> = "...UR",
            future::OwnedFuture<spsc::Sender<Mine>> = "S..UR", future::OwnedFuture<mpsc::Receiver<Mine>> = "SY.UR",
            future::OwnedFuture<mpmc::Receiver<Mine>> = "SY.UR", future::OwnedFuture<watch::Receiver<u8>> = "SY.UR",
            future::OwnedFuture<broadcast::Receiver<u8>> = "SY.UR", future::OwnedFuture<broadcast::Receiver<Mine>> = "...UR";
        "channel/future.rs" ReserveOwned: future::ReserveOwned<mpmc::Sender<Mine>> = "SYPUR";
        "channel/watch/receiver.rs" WaitForFuture: watch::WaitForFuture<'static, u8, fn(&u8) -> bool> = "SYPUR",
            watch::WaitForFuture<'static, Mine, fn(&Mine) -> bool> = "..PUR", watch::WaitForFuture<'static, u8, Bound> = "..PUR";
        "channel/mpmc/permit.rs" Permit: mpmc::Permit<'static, Mine> = "SYPUR", mpmc::Permit<'static, Bound> = "..PUR";
        "channel/mpmc/permit.rs" Permits: mpmc::Permits<'static, Mine> = "SYPUR", mpmc::Permits<'static, Bound> = "..PUR";
        "channel/mpmc/permit.rs" OwnedPermit: mpmc::OwnedPermit<Mine> = "SYPUR", mpmc::OwnedPermit<Bound> = "..PUR";
        "channel/iter.rs" Iter: ysuite::iter::Iter<'static, spsc::Receiver<Mine>> = "SYPUR", ysuite::iter::Iter<'static, spsc::Receiver<Bound>> = "..PUR";
        "channel/iter.rs" TryIter: ysuite::iter::TryIter<'static, mpsc::Receiver<Mine>> = "SYPUR", ysuite::iter::TryIter<'static, mpsc::Receiver<Bound>> = "..PUR";
        "channel/iter.rs" IntoIter: ysuite::iter::IntoIter<spsc::Receiver<Mine>> = "SYPUR", ysuite::iter::IntoIter<mpmc::Receiver<Bound>> = "..PUR";
        "channel/permit.rs" Permit: ysuite::Permit<'static, spsc::Sender<Mine>> = "SYPUR", ysuite::Permit<'static, mpsc::Sender<Bound>> = "..PUR";
        "channel/permit.rs" Permits: ysuite::Permits<'static, spsc::Sender<Mine>> = "SYPUR", ysuite::Permits<'static, mpsc::Sender<Bound>> = "..PUR";
        "wait/backoff.rs" Spin: ysuite::Spin = "SYPUR";
        "channel/error.rs" SendError: ysuite::SendError<u8> = "SYPUR", ysuite::SendError<Mine> = "S.PU.", ysuite::SendError<Bound> = "..PUR";
        "channel/error.rs" TrySendError: ysuite::TrySendError<u8> = "SYPUR", ysuite::TrySendError<Mine> = "S.PU.";
        "channel/error.rs" SendTimeoutError: ysuite::SendTimeoutError<u8> = "SYPUR", ysuite::SendTimeoutError<Mine> = "S.PU.";
        "channel/error.rs" ReserveError: ysuite::ReserveError = "SYPUR";
        "channel/error.rs" RecvError: ysuite::RecvError = "SYPUR";
        "channel/error.rs" TryRecvError: ysuite::TryRecvError = "SYPUR";
        "channel/error.rs" ReserveError: ysuite::ReserveError = "SYPUR";
        "channel/error.rs" TryReserveError: ysuite::TryReserveError = "SYPUR";
        "channel/error.rs" RecvTimeoutError: ysuite::RecvTimeoutError = "SYPUR";
        "queue/ypipe/writer.rs" Writer: ypipe::Writer<Mine> = "SYPUR", ypipe::Writer<Bound> = "..PUR";
        "queue/ypipe/reader.rs" Reader: ypipe::Reader<Mine> = "SYPUR", ypipe::Reader<Bound> = "..PUR";
        "signal/ysemaphore.rs" YSemaphore: signal::YSemaphore = "SYPUR";
        "signal/ysemaphore.rs" SemaphoreSignaler: signal::SemaphoreSignaler = "SYPUR";
        "signal/ypollset.rs" YPollset: signal::YPollset = "SYPUR";
        "signal/signaler.rs" Signaler: signal::Signaler = "SYPUR";
        "signal/signals.rs" Signals: signal::Signals = "SYPUR";
        "signal/ready_set.rs" ReadySet: signal::ReadySet<'static> = "SYPUR";
        "signal/mod.rs" IdOutOfRange: signal::IdOutOfRange = "SYPUR";
        "signal/attach.rs" Registration: signal::Registration = "SYPUR";
        "signal/shared.rs" Prospect: signal::Prospect = "SYPUR";
        "signal/attach.rs" AttachError: signal::AttachError = "SYPUR";
        #[cfg(any(unix, windows))]
        "signal/ysocketpair.rs" YSocketpair: signal::YSocketpair = "SYPUR";
        #[cfg(unix)]
        "signal/ysocketpair.rs" Backend: signal::Backend = "SYPUR";
        #[cfg(feature = "statistics")]
        "statistics/observer.rs" Statistics: ysuite::statistics::Statistics = "SYPUR";
        #[cfg(feature = "statistics")]
        "statistics/observer.rs" Observer: ysuite::statistics::Observer = "SYPUR";
        "pool/handle.rs" Pool: pool::Pool = "SYPUR";
        "pool/take.rs" TakeFuture: pool::TakeFuture<'static> = "S.PUR";
        "pool/take.rs" Taking: pool::Taking<'static> = "SYPUR";
        "pool/message.rs" Message: pool::Message = "SYPUR";
        "pool/boxed.rs" PoolBox: pool::PoolBox<u8> = "SYPUR", pool::PoolBox<Mine> = "S.PU.", pool::PoolBox<Bound> = "..PUR";
        "pool/error.rs" PoolError: pool::PoolError = "SYPUR";
        "pool/error.rs" TooLong: pool::TooLong = "SYPUR";
        "pool/class.rs" ClassStats: pool::ClassStats = "SYPUR";
        "mailbox/mailbox.rs" Mailbox: mailbox::Mailbox = "S.PUR";
        "mailbox/inner.rs" Address: mailbox::Address = "SYPUR";
        "mailbox/builder.rs" Builder: mailbox::Builder = "SYPUR";
        "mailbox/envelope.rs" Envelope: mailbox::Envelope = "S.PU.";
        "mailbox/error.rs" SendError: mailbox::SendError<u8> = "SYPUR", mailbox::SendError<Mine> = "S.PU.";
        "mailbox/receive_error.rs" ReceiveError: mailbox::ReceiveError = "SYPUR";
        "mailbox/inner.rs" Crowding: mailbox::Crowding = "SYPUR";
        "mailbox/registry.rs" RegisterError: mailbox::RegisterError = "SYPUR";
        "mailbox/relations.rs" LinkTerminated: mailbox::LinkTerminated = "SYPUR";
        "mailbox/relations.rs" OwnerTerminated: mailbox::OwnerTerminated = "SYPUR";
        // Of a receive's own, which borrows the mailbox.
        "mailbox/case.rs" ToReceive: mailbox::ToReceive<'static, u8> = "S.P.R";
        "mailbox/search.rs" Search: mailbox::Search<'static> = "S.P.R";
        #[cfg(all(feature = "hub", unix))]
        "hub/mod.rs" Hub: ysuite::hub::Hub = "S.PUR";
        #[cfg(all(feature = "hub", unix))]
        "hub/handle.rs" Handle: ysuite::hub::Handle = "S.PUR";
        #[cfg(all(feature = "hub", unix))]
        "hub/handle.rs" PostError: ysuite::hub::PostError<fn()> = "SYPUR", ysuite::hub::PostError<Mine> = "S.PU.";
        #[cfg(all(feature = "hub", unix))]
        "hub/source.rs" Source: ysuite::hub::Source = "SYPUR";
        #[cfg(all(feature = "hub", unix))]
        "hub/source.rs" Refused: ysuite::hub::Refused<u8> = "SYP..";
        #[cfg(all(feature = "hub", unix))]
        "hub/timers.rs" TimerKey: ysuite::hub::TimerKey = "SYPUR";
        #[cfg(all(feature = "hub", unix))]
        "hub/descriptors.rs" Interest: ysuite::hub::Interest = "SYPUR";
        #[cfg(all(feature = "hub", unix))]
        "hub/descriptors.rs" Ready: ysuite::hub::Ready = "SYPUR";
        #[cfg(feature = "futures")]
        "integrations/sink.rs" SenderSink: ysuite::integrations::SenderSink<spsc::Sender<Mine>> = "S.PUR", ysuite::integrations::SenderSink<&'static mut mpmc::Sender<Bound>> = "..PUR";
        #[cfg(all(feature = "tokio", unix))]
        "integrations/tokio.rs" AsyncSocketpair: ysuite::integrations::tokio::AsyncSocketpair = "SYPUR";
        #[cfg(feature = "tokio")]
        "channel/coop.rs" TimeLimit: future::TimeLimit = "SY...";
        #[cfg(all(feature = "calloop", unix))]
        "integrations/calloop.rs" SetSource: ysuite::integrations::calloop::SetSource = "SYPUR";
        #[cfg(all(feature = "calloop", unix))]
        "integrations/calloop.rs" ReceiverSource: ysuite::integrations::calloop::ReceiverSource<spsc::Receiver<u8>> = "SYPUR";
        #[cfg(feature = "in-place")]
        "queue/ypipe/chunk.rs" SlotClass: ysuite::in_place::SlotClass = "SYPUR";
        // Addresses, for the thread that has the handle.
        #[cfg(feature = "in-place")]
        "queue/ypipe/window.rs" SendWindow: ysuite::in_place::SendWindow = "..PUR";
        #[cfg(feature = "in-place")]
        "channel/stop.rs" Stop: ysuite::in_place::Stop = "SYP..";
        #[cfg(feature = "in-place")]
        "queue/ypipe/window.rs" RecvWindow: ysuite::in_place::RecvWindow = "..PUR";
    )
}

#[test]
fn every_type_has_the_traits_it_had() {
    let changed: Vec<_> = entries()
        .into_iter()
        .filter(|entry| entry.has != entry.expected)
        .map(|entry| format!("{} has {}, not {}", entry.shown, entry.has, entry.expected))
        .collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

/// The public types that the sources declare, by file.
#[cfg(all(feature = "hub", feature = "tokio", feature = "calloop", unix, not(miri)))]
fn declared() -> std::collections::BTreeSet<(String, String)> {
    use std::fs;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, to: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                files(&path, to);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                to.push(path);
            }
        }
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&source, &mut all);
    let mut declared = std::collections::BTreeSet::new();
    for path in all {
        let file = path.strip_prefix(&source).expect("in the sources").to_string_lossy().replace('\\', "/");
        for line in fs::read_to_string(&path).expect("a source").lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let ["pub", "struct" | "enum" | "union", name, ..] = words[..] else { continue };
            let name: String = name.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '$').collect();
            declared.insert((file.clone(), name));
        }
    }
    declared
}

#[cfg(all(feature = "hub", feature = "tokio", feature = "calloop", unix, not(miri)))]
#[test]
fn every_public_type_is_in_the_list() {
    let mut declared = declared();
    // The parts of a select, and of a sink, and operations: they cannot be named.
    declared.retain(|(file, _)| !file.starts_with("channel/select/") && file != "channel/sink.rs");
    declared.retain(|(file, _)| !file.ends_with("/operations.rs"));
    if !cfg!(feature = "statistics") {
        declared.retain(|(file, _)| !file.starts_with("statistics/"));
    }
    if !cfg!(feature = "in-place") {
        declared.retain(|(file, _)| file != "queue/ypipe/window.rs" && file != "channel/stop.rs");
    }
    // Hidden, for a test: strings and numbers.
    declared.retain(|(file, _)| file != "facts.rs");
    // Both terminations are declared by one macro.
    assert!(declared.remove(&("mailbox/relations.rs".into(), "$name".into())), "the macro is gone");
    for name in ["LinkTerminated", "OwnerTerminated"] {
        declared.insert(("mailbox/relations.rs".into(), name.into()));
    }
    let listed = entries().into_iter().map(|entry| (entry.file.into(), entry.name.into())).collect();
    let missing: Vec<_> = declared.difference(&listed).collect();
    assert!(missing.is_empty(), "not in the list: {missing:?}");
    let stale: Vec<_> = listed.difference(&declared).collect();
    assert!(stale.is_empty(), "not in the sources: {stale:?}");
}
