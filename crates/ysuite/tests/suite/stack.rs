//! How much of a thread's stack an operation needs for a large message: no more than std's channel needs, in messages.
//! A program that is not optimised copies a message in each function that it passes through by value.
//!
//! The stack below the operation is painted before, and looked at afterwards. So an operation that goes too deep is a
//! failure, and no overflow.
// Handles of an mpmc channel are shared. Large errors are what this is about.
#![allow(unused_mut, clippy::result_large_err)]

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::ptr;
use std::sync::mpsc::{channel, sync_channel};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use ysuite::RecvError;
use ysuite::mailbox::Mailbox;
use ysuite::{broadcast, mpmc, mpsc, oneshot, select, spsc, watch};

const SIZE: usize = 32 * 1024;
/// Far more than any of std's operations needs.
const PAINTED: usize = 48 * SIZE;
/// The frame that paints.
const MARGIN: usize = 4096;
const PAINT: u8 = 0xA5;
/// Of the look for the paint: a frame with a message writes more than this at a time.
const STEP: usize = 64;
/// What an operation may need besides messages, in messages: other locals of all frames. For Windows, programs that are not
/// optimised copy messages in other functions, in std's fewer and in some of these one more.
const OTHERS: f64 = if cfg!(windows) { 1.5 } else { 0.5 };
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(30);

type Large = [u8; SIZE];

#[inline(never)]
fn large() -> Large {
    [7; SIZE]
}

/// How deep the operation goes, in messages.
#[inline(never)]
fn depth(operation: impl FnOnce()) -> f64 {
    let here = 0_u64;
    let top = (&raw const here).addr();
    let (mut at, end) = (top - PAINTED, top - MARGIN);
    paint(at, end);
    operation();
    black_box(&here);
    // SAFETY: the memory between is this thread's stack, which was painted just now.
    while at < end && unsafe { ptr::with_exposed_provenance::<u8>(at).read_volatile() } == PAINT {
        at += STEP;
    }
    (top - at) as f64 / SIZE as f64
}

#[inline(never)]
fn paint(start: usize, end: usize) {
    // SAFETY: this thread's stack is larger, and no frame is in use so far below this one.
    unsafe { ptr::with_exposed_provenance_mut::<u8>(start).write_bytes(PAINT, end - start) };
}

/// In a thread with a stack that all of it fits on.
fn deeply<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> R {
    thread::Builder::new().stack_size(4 * PAINTED).spawn(run).unwrap().join().unwrap()
}

/// Polls once.
fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// In a thread of its own, a little later: by then the operation usually waits.
fn later(act: impl FnOnce() + Send + 'static) {
    thread::Builder::new()
        .stack_size(2 * PAINTED)
        .spawn(|| {
            thread::sleep(10 * SHORT);
            act();
        })
        .unwrap();
}

/// Adds the depth of an operation. Each in functions of its own: a function that is not optimised has room for all of its
/// temporaries at once.
macro_rules! measure {
    ($depths:ident, $name:expr, [$($before:tt)*] => -> $outcome:ty { $operation:expr }) => {
        measure!($depths, $name, [$($before)*] => { let outcome: $outcome = $operation; outcome })
    };
    ($depths:ident, $name:expr, [$($before:tt)*] => $operation:expr) => {{
        let measured = || {
            $($before)*
            depth(|| {
                let outcome = $operation;
                black_box(&outcome);
            })
        };
        $depths.push(($name.to_owned(), measured()));
    }};
}

type Depths = Vec<(String, f64)>;

/// The deepest of std's operations, when it sends and when it receives.
fn of_std() -> (f64, f64) {
    let (mut sends, mut receives) = (Depths::new(), Depths::new());
    measure!(sends, "send", [let (sender, _receiver) = channel();] => sender.send(large()));
    measure!(sends, "send, bounded", [let (sender, _receiver) = sync_channel(1);] => sender.send(large()));
    measure!(sends, "try_send", [let (sender, _receiver) = sync_channel(1);] => sender.try_send(large()));
    measure!(receives, "recv", [let (sender, receiver) = channel(); sender.send(large()).unwrap();] => receiver.recv());
    measure!(receives, "recv, bounded", [
        let (sender, receiver) = sync_channel(1);
        sender.send(large()).unwrap();
    ] => receiver.recv());
    measure!(receives, "recv, of none", [
        let (sender, receiver) = sync_channel(0);
        later(move || _ = sender.send(large()));
    ] => receiver.recv());
    let most = |depths: Depths| depths.into_iter().map(|(_, depth)| depth).fold(0.0, f64::max);
    (most(sends), most(receives))
}

/// What every channel with a handle on each side can do.
macro_rules! measure_channel {
    ($sends:ident, $receives:ident, $kind:literal, $module:ident) => {
        {
            measure_channel!(@sends $sends, concat!($kind, ", unbounded"), $module::unbounded());
            measure_channel!(@sends $sends, concat!($kind, ", bounded"), $module::bounded(1));
            measure_channel!(@refused $sends, concat!($kind, ", full"), {
                let (mut sender, receiver) = $module::bounded(1);
                sender.send(large()).unwrap();
                (sender, receiver)
            });
            measure_channel!(@refused $sends, concat!($kind, ", rendezvous"), $module::bounded(0));
            measure_channel!(@waits $sends, concat!($kind, ", full"), {
                let (mut sender, receiver) = $module::bounded(1);
                sender.send(large()).unwrap();
                (sender, receiver)
            });
            measure_channel!(@waits $sends, concat!($kind, ", rendezvous"), $module::bounded(0));
            measure_channel!(@receives $receives, concat!($kind, ", unbounded"), $module::unbounded());
            measure_channel!(@receives $receives, concat!($kind, ", bounded"), $module::bounded(1));
            measure_channel!(@late $receives, concat!($kind, ", bounded"), $module::bounded(1));
            measure_channel!(@late $receives, concat!($kind, ", rendezvous"), $module::bounded(0));
            // Against what std needs to send: it has no tasks.
            measure!($sends, concat!($kind, ", recv_async"), [
                let (mut sender, mut receiver) = $module::bounded(1);
                sender.send(large()).unwrap();
            ] => poll(receiver.recv_async()));
            measure!($sends, concat!($kind, ", permit"), [let (mut sender, _receiver) = $module::bounded(1);] =>
                sender.reserve().unwrap().send(large()));
            measure!($sends, concat!($kind, ", permits"), [let (mut sender, _receiver) = $module::bounded(1);] =>
                sender.reserve_many(1).unwrap().send(large()));
        }
    };
    (@sends $depths:ident, $name:expr, $open:expr) => {
        measure!($depths, [$name, "send"].join(": "), [let (mut sender, _receiver) = $open;] => sender.send(large()));
        measure!($depths, [$name, "try_send"].join(": "), [let (mut sender, _receiver) = $open;] =>
            sender.try_send(large()));
        measure!($depths, [$name, "send_timeout"].join(": "), [let (mut sender, _receiver) = $open;] =>
            sender.send_timeout(large(), SHORT));
        measure!($depths, [$name, "send_async"].join(": "), [let (mut sender, _receiver) = $open;] =>
            poll(sender.send_async(large())));
        measure!($depths, [$name, "select"].join(": "), [let (mut sender, _receiver) = $open;] =>
            select().send(&mut sender, large(), |sent| sent).wait());
        measure!($depths, [$name, "send to nobody"].join(": "), [let (mut sender, _) = $open;] => sender.send(large()));
        measure!($depths, [$name, "try_send to nobody"].join(": "), [let (mut sender, _) = $open;] =>
            sender.try_send(large()));
    };
    (@refused $depths:ident, $name:expr, $open:expr) => {
        measure!($depths, [$name, "try_send"].join(": "), [let (mut sender, _receiver) = $open;] =>
            sender.try_send(large()));
        measure!($depths, [$name, "send_timeout"].join(": "), [let (mut sender, _receiver) = $open;] =>
            sender.send_timeout(large(), SHORT));
        measure!($depths, [$name, "send_async"].join(": "), [let (mut sender, _receiver) = $open;] =>
            poll(sender.send_async(large())));
        measure!($depths, [$name, "select"].join(": "), [let (mut sender, _receiver) = $open;] =>
            select().send(&mut sender, large(), |sent| sent).try_now());
    };
    (@waits $depths:ident, $name:expr, $open:expr) => {
        measure!($depths, [$name, "send"].join(": "), [
            let (mut sender, mut receiver) = $open;
            later(move || while receiver.recv().is_ok() {});
        ] => sender.send(large()));
        measure!($depths, [$name, "select"].join(": "), [
            let (mut sender, mut receiver) = $open;
            later(move || while receiver.recv().is_ok() {});
        ] => select().send(&mut sender, large(), |sent| sent).wait());
    };
    (@receives $depths:ident, $name:expr, $open:expr) => {
        measure!($depths, [$name, "recv"].join(": "), [
            let (mut sender, mut receiver) = $open;
            sender.send(large()).unwrap();
        ] => receiver.recv());
        measure!($depths, [$name, "try_recv"].join(": "), [
            let (mut sender, mut receiver) = $open;
            sender.send(large()).unwrap();
        ] => receiver.try_recv());
        measure!($depths, [$name, "recv_timeout"].join(": "), [
            let (mut sender, mut receiver) = $open;
            sender.send(large()).unwrap();
        ] => receiver.recv_timeout(SHORT));
        measure!($depths, [$name, "poll_recv"].join(": "), [
            let (mut sender, mut receiver) = $open;
            sender.send(large()).unwrap();
        ] => receiver.poll_recv(&mut Context::from_waker(Waker::noop())));
        measure!($depths, [$name, "next"].join(": "), [
            let (mut sender, mut receiver) = $open;
            sender.send(large()).unwrap();
        ] => receiver.iter().next());
        measure!($depths, [$name, "select"].join(": "), [
            let (mut sender, mut receiver) = $open;
            sender.send(large()).unwrap();
        ] => select().recv(&mut receiver, |received| received).wait());
        measure!($depths, [$name, "recv of nothing"].join(": "), [
            let (sender, mut receiver) = $open;
            drop(sender);
        ] => -> Result<Large, RecvError> { receiver.recv() });
    };
    (@late $depths:ident, $name:expr, $open:expr) => {
        measure!($depths, [$name, "recv, late"].join(": "), [
            let (mut sender, mut receiver) = $open;
            later(move || _ = sender.send(large()));
        ] => receiver.recv());
        measure!($depths, [$name, "recv_timeout, late"].join(": "), [
            let (mut sender, mut receiver) = $open;
            later(move || _ = sender.send(large()));
        ] => receiver.recv_timeout(LONG));
        measure!($depths, [$name, "select, late"].join(": "), [
            let (mut sender, mut receiver) = $open;
            later(move || _ = sender.send(large()));
        ] => select().recv(&mut receiver, |received| received).wait());
    };
}

/// What is sent in other ways, and to other kinds.
fn others(sends: &mut Depths, receives: &mut Depths) {
    measure!(sends, "spsc: write", [let (mut sender, _receiver) = spsc::unbounded();] => sender.write(large()));
    measure!(sends, "spsc: send_batch", [let (mut sender, _receiver) = spsc::unbounded();] =>
        sender.send_batch(Some(large())));
    measure!(sends, "mpsc: shared", [let (sender, _receiver) = mpsc::unbounded(); let sender = sender.share();] =>
        sender.send(large()));
    measure!(sends, "mpsc: shared, again", [
        let (sender, _receiver) = mpsc::unbounded();
        let sender = sender.share();
        sender.send(large()).unwrap();
    ] => sender.send(large()));
    measure!(sends, "mpsc: shared, full", [
        let (sender, _receiver) = mpsc::bounded(1);
        let sender = sender.share();
        sender.send(large()).unwrap();
    ] => sender.try_send(large()));
    measure!(sends, "mpsc: shared, full, with a timeout", [
        let (sender, _receiver) = mpsc::bounded(1);
        let sender = sender.share();
        sender.send(large()).unwrap();
    ] => sender.send_timeout(large(), SHORT));
    measure!(sends, "mpsc: shared, to nobody", [let (sender, _) = mpsc::bounded(1); let sender = sender.share();] =>
        sender.send(large()));
    measure!(sends, "mpmc: force_send", [let (sender, _receiver) = mpmc::bounded(1);] => sender.force_send(large()));
    measure!(sends, "mpmc: force_send, full", [
        let (sender, _receiver) = mpmc::bounded(1);
        sender.send(large()).unwrap();
    ] => sender.force_send(large()));
    measure!(sends, "mpmc: force_send, to nobody", [let (sender, _) = mpmc::bounded(1);] => sender.force_send(large()));
    measure!(sends, "mpmc: owned permit", [let (sender, _receiver) = mpmc::bounded(1);] =>
        sender.reserve_owned().unwrap().send(large()));
    measure!(sends, "oneshot: send", [let (sender, _receiver) = oneshot::channel();] => sender.send(large()));
    measure!(sends, "oneshot: send to nobody", [let (sender, _) = oneshot::channel();] => sender.send(large()));
    measure!(receives, "oneshot: recv", [
        let (sender, receiver) = oneshot::channel();
        sender.send(large()).unwrap();
    ] => receiver.recv());
    measure!(receives, "oneshot: recv_timeout", [
        let (sender, mut receiver) = oneshot::channel();
        sender.send(large()).unwrap();
    ] => receiver.recv_timeout(SHORT));
    measure!(sends, "broadcast: send", [let (sender, _receiver) = broadcast::bounded(1);] => sender.send(large()));
    measure!(sends, "broadcast: try_send", [let (sender, _receiver) = broadcast::bounded(1);] =>
        sender.try_send(large()));
    measure!(sends, "broadcast: send_async", [let (sender, _receiver) = broadcast::bounded(1);] =>
        poll(sender.send_async(large())));
    measure!(sends, "broadcast: full", [
        let (sender, _receiver) = broadcast::bounded(1);
        sender.send(large()).unwrap();
    ] => sender.try_send(large()));
    measure!(sends, "broadcast: full, with a timeout", [
        let (sender, _receiver) = broadcast::bounded(1);
        sender.send(large()).unwrap();
    ] => sender.send_timeout(large(), SHORT));
    measure!(receives, "broadcast: recv", [
        let (sender, mut receiver) = broadcast::bounded(1);
        sender.send(large()).unwrap();
    ] => receiver.recv());
    measure!(receives, "broadcast: recv, of two", [
        let (sender, mut receiver) = broadcast::bounded(1);
        let _other = sender.subscribe();
        sender.send(large()).unwrap();
    ] => receiver.recv());
    measure!(sends, "watch: send", [let (sender, _receiver) = watch::channel(large());] => sender.send(large()));
    measure!(sends, "watch: send_replace", [let (sender, _receiver) = watch::channel(large());] =>
        sender.send_replace(large()));
    measure!(sends, "mailbox: send", [let mailbox = Mailbox::new(); let address = mailbox.address();] =>
        address.send(large()));
    measure!(receives, "mailbox: receive", [
        let mut mailbox = Mailbox::new();
        mailbox.address().send(large()).unwrap();
    ] => mailbox.receive::<Large>());
}

/// Claim: A large message needs no more of a thread's stack than it needs with std's channel, also in a program that is
/// not optimised.
#[test]
fn a_large_message_needs_no_more_stack_than_with_std() {
    let (most_to_send, most_to_receive) = deeply(of_std);
    let depths = |measured: fn(&mut Depths, &mut Depths)| {
        deeply(move || {
            let (mut sends, mut receives) = (Depths::new(), Depths::new());
            measured(&mut sends, &mut receives);
            (sends, receives)
        })
    };
    let all = [
        depths(|sends, receives| measure_channel!(sends, receives, "spsc", spsc)),
        depths(|sends, receives| measure_channel!(sends, receives, "mpsc", mpsc)),
        depths(|sends, receives| measure_channel!(sends, receives, "mpmc", mpmc)),
        depths(others),
    ];
    let mut deeper = Vec::new();
    for (sends, receives) in all {
        deeper.extend(sends.into_iter().filter(|(_, depth)| *depth > most_to_send + OTHERS));
        deeper.extend(receives.into_iter().filter(|(_, depth)| *depth > most_to_receive + OTHERS));
    }
    assert!(deeper.is_empty(), "std sends with {most_to_send:.1}, receives with {most_to_receive:.1}: {deeper:.1?}");
}

/// The program of rust#102246: a large message by value, from a thread with an ordinary stack.
#[test]
fn a_thread_with_an_ordinary_stack_sends_a_large_message_in_every_way() {
    type Double = [u8; 2 * SIZE];
    let ordinary = |run: fn()| thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    ordinary(|| {
        let (mut sender, mut receiver) = spsc::unbounded::<Double>();
        sender.send([7; 2 * SIZE]).unwrap();
        assert_eq!(receiver.recv().unwrap()[SIZE], 7);
    });
    ordinary(|| {
        let (sender, mut receiver) = mpsc::unbounded::<Double>();
        sender.share().send([7; 2 * SIZE]).unwrap();
        assert_eq!(receiver.recv().unwrap()[SIZE], 7);
    });
    ordinary(|| {
        let (sender, receiver) = mpmc::bounded::<Double>(1);
        assert!(sender.force_send([6; 2 * SIZE]).unwrap().is_none());
        assert_eq!(sender.force_send([7; 2 * SIZE]).unwrap().unwrap()[SIZE], 6);
        assert_eq!(receiver.recv().unwrap()[SIZE], 7);
    });
    ordinary(|| {
        let (sender, receiver) = mpmc::bounded::<Double>(0);
        later(move || assert_eq!(receiver.recv().unwrap()[SIZE], 7));
        sender.send([7; 2 * SIZE]).unwrap();
    });
}
