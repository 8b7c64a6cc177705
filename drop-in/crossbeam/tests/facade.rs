//! What the original's own tests do not ask: types, texts, allocations, and when a message is made.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite_crossbeam::*;

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it is the system's, and a count.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    run();
    ALLOCATIONS.with(Cell::get) - before
}

fn is_send_and_sync<T: Send + Sync>() {}
fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}

/// Whether a type is `Send` and `Sync`, where the answer may be no.
macro_rules! shares {
    ($type:ty) => {{
        struct Probe<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        trait No {
            const SEND: bool = false;
            const SYNC: bool = false;
        }
        impl<T> No for Probe<T> {}
        struct ProbeSync<T>(std::marker::PhantomData<T>);
        impl<T> No for ProbeSync<T> {}
        #[allow(dead_code)]
        impl<T: Send> Probe<T> {
            const SEND: bool = true;
        }
        #[allow(dead_code)]
        impl<T: Sync> ProbeSync<T> {
            const SYNC: bool = true;
        }
        (<Probe<$type>>::SEND, <ProbeSync<$type>>::SYNC)
    }};
}

#[test]
fn ends_are_shared_where_their_messages_can_be_sent() {
    is_send_and_sync::<(Sender<Cell<u8>>, Receiver<Cell<u8>>, Select<'static>)>();
    is_unwind_safe::<(Sender<Cell<u8>>, Receiver<Cell<u8>>)>();
    assert_eq!(shares!(Sender<Rc<u8>>), (false, false));
    assert_eq!(shares!(Receiver<Rc<u8>>), (false, false));
    assert_eq!(shares!(SelectedOperation<'static>), (false, false));
    assert_eq!(shares!(Receiver<Instant>), (true, true));
}

#[test]
fn errors_have_the_texts_of_the_original() {
    let texts: [(&dyn std::error::Error, &str, &str); 12] = [
        (&SendError(0), "sending on a disconnected channel", "SendError(..)"),
        (&TrySendError::Full(0), "sending on a full channel", "Full(..)"),
        (&TrySendError::Disconnected(0), "sending on a disconnected channel", "Disconnected(..)"),
        (&SendTimeoutError::Timeout(0), "timed out waiting on send operation", "SendTimeoutError(..)"),
        (&SendTimeoutError::Disconnected(0), "sending on a disconnected channel", "SendTimeoutError(..)"),
        (&RecvError, "receiving on an empty and disconnected channel", "RecvError"),
        (&TryRecvError::Empty, "receiving on an empty channel", "Empty"),
        (&TryRecvError::Disconnected, "receiving on an empty and disconnected channel", "Disconnected"),
        (&RecvTimeoutError::Timeout, "timed out waiting on receive operation", "Timeout"),
        (&RecvTimeoutError::Disconnected, "channel is empty and disconnected", "Disconnected"),
        (&TrySelectError, "all operations in select would block", "TrySelectError"),
        (&SelectTimeoutError, "timed out waiting on select", "SelectTimeoutError"),
    ];
    for (error, text, debug) in texts {
        assert_eq!((error.to_string().as_str(), format!("{error:?}").as_str()), (text, debug));
    }
    assert_eq!(TrySendError::from(SendError(7)).into_inner(), 7);
    assert_eq!(SendTimeoutError::from(SendError(7)).into_inner(), 7);
    assert!(TryRecvError::from(RecvError).is_disconnected() && RecvTimeoutError::from(RecvError).is_disconnected());
}

#[test]
fn a_message_is_made_only_when_its_send_is_chosen() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        let (other, other_in) = unbounded();
        if capacity == 1 {
            sender.send(0).unwrap();
        }
        let mut queue = vec![7];
        select! {
            send(sender, queue.pop().unwrap()) -> _ => unreachable!("there is no room"),
            default => {}
        }
        other.send(()).unwrap();
        select! {
            send(sender, queue.pop().unwrap()) -> _ => unreachable!("there is no room"),
            recv(other_in) -> got => got.unwrap(),
        }
        assert_eq!(queue, [7]);
        thread::scope(|scope| {
            let got = scope.spawn(|| (0..2 - usize::from(capacity == 0)).map(|_| receiver.recv().unwrap()).last());
            select! {
                send(sender, queue.pop().unwrap()) -> sent => sent.unwrap(),
                recv(other_in) -> _ => unreachable!("nothing was sent"),
            }
            assert_eq!(got.join().unwrap(), Some(7));
        });
        drop(receiver);
        queue.push(8);
        select_biased! {
            send(sender, queue.pop().unwrap()) -> sent => assert_eq!(sent, Err(SendError(8))),
        }
    }
}

fn no_message() -> u8 {
    panic!("no message");
}

/// Its receiver waits for another message.
#[test]
fn a_message_whose_making_panics_is_no_message() {
    let (sender, receiver) = bounded::<u8>(0);
    thread::scope(|scope| {
        let got = scope.spawn(|| receiver.recv());
        let made = catch_unwind(AssertUnwindSafe(|| select! { send(sender, no_message()) -> _ => {} }));
        assert!(made.is_err());
        sender.send(7).unwrap();
        assert_eq!(got.join().unwrap(), Ok(7));
    });
    let (sender, receiver) = bounded::<u8>(1);
    let made = catch_unwind(AssertUnwindSafe(|| select! { send(sender, no_message()) -> _ => {} }));
    assert!(made.is_err());
    assert_eq!((sender.try_send(8), receiver.recv()), (Ok(()), Ok(8)));
}

/// The ends are borrowed no longer when the body runs, and all of `break`, `continue`, `return` and `?` work there.
#[test]
fn a_body_may_change_what_the_ends_were_borrowed_from() {
    struct Worker {
        work: Receiver<u32>,
        done: Sender<u32>,
        sum: u32,
    }
    impl Worker {
        fn add(&mut self, number: u32) {
            self.sum += number;
            self.work = self.work.clone();
        }

        fn run(&mut self) -> Result<u32, RecvError> {
            let mut log = vec![1, 2];
            loop {
                select_biased! {
                    recv(self.work) -> number => {
                        self.add(number?);
                        continue;
                    }
                    send(self.done, log.pop().unwrap_or(self.sum)) -> sent => {
                        self.sum += 1;
                        if sent.is_err() { break }
                    }
                    default(Duration::from_secs(30)) => return Ok(0),
                }
            }
            Ok(self.sum)
        }
    }
    let (work, work_in) = unbounded();
    let (done, done_in) = bounded(2);
    (1..4).for_each(|number| work.send(number).unwrap());
    let mut worker = Worker { work: work_in, done, sum: 0 };
    let thread = thread::spawn(move || (0..3).map(|_| done_in.recv().unwrap()).collect::<Vec<_>>());
    // One more for each message that there was still room for.
    assert!(worker.run().unwrap() >= 6 + 4);
    assert_eq!(thread.join().unwrap(), [2, 1, 8]);
    drop(work);
    assert_eq!(worker.run(), Err(RecvError));
}

#[test]
fn a_select_allocates_nothing_where_something_is_possible() {
    let (sender, receiver) = bounded(8);
    let (_idle, idle_in) = unbounded::<u8>();
    // What a thread needs to sleep is made once.
    select! { recv(receiver) -> _ => {}, recv(idle_in) -> _ => {}, default(Duration::from_millis(1)) => {} }
    let counted = allocations(|| {
        for number in 0..100 {
            select! { send(sender, number) -> sent => sent.unwrap(), recv(idle_in) -> _ => {} }
            select! { recv(receiver) -> got => assert_eq!(got, Ok(number)), recv(idle_in) -> _ => {} }
            select! { recv(receiver) -> _ => {}, recv(idle_in) -> _ => {}, default => {} }
        }
        select! { recv(receiver) -> _ => {}, recv(idle_in) -> _ => {}, default(Duration::from_millis(1)) => {} }
    });
    assert_eq!(counted, 0);
    // A promise.
    let (sender, _receiver) = bounded::<u8>(0);
    let counted = allocations(|| select! { send(sender, 1) -> _ => {}, recv(idle_in) -> _ => {}, default => {} });
    assert!(counted <= 1, "{counted}");
}

#[test]
fn a_list_allocates_once_for_each_operation_and_once_where_it_sleeps() {
    let (sender, receiver) = bounded(8);
    let (_idle, idle_in) = unbounded::<u8>();
    let mut select = Select::new();
    let (send, recv, _) = (select.send(&sender), select.recv(&receiver), select.recv(&idle_in));
    assert!(select.clone().select_timeout(Duration::ZERO).map(|chosen| chosen.send(&sender, 0)).is_ok());
    assert_eq!(receiver.recv(), Ok(0));
    let counted = allocations(|| {
        for number in 1..100 {
            let chosen = select.select();
            assert_eq!(chosen.index(), send);
            chosen.send(&sender, number).unwrap();
            assert_eq!(receiver.recv(), Ok(number));
        }
    });
    assert_eq!(counted, 0);
    select.remove(send);
    // What a thread needs to sleep, and a channel for those that wait, is made once.
    assert!(select.select_timeout(Duration::from_millis(1)).is_err());
    assert_eq!(allocations(|| drop(select.select_timeout(Duration::from_millis(1)))), 1);
    sender.send(7).unwrap();
    assert_eq!(select.ready(), recv);
    let chosen = select.select();
    assert_eq!((chosen.index(), chosen.recv(&receiver)), (recv, Ok(7)));
}

#[test]
fn an_operation_is_completed_by_its_own_end() {
    let (sender, receiver) = unbounded();
    let other = receiver.clone();
    let message = Arc::new(7);
    sender.send(message.clone()).unwrap();
    let mut select = Select::new_biased();
    select.recv(&receiver);
    select.recv(&other);
    let chosen = select.select();
    assert!(catch_unwind(AssertUnwindSafe(|| chosen.recv(&other))).is_err());
    // It was lost with its operation, as in the original.
    assert!(receiver.is_empty());
    assert!(select.try_select().is_err());
}

/// The list goes on with another operation of the same end.
#[test]
fn a_chosen_operation_keeps_its_result_while_the_list_goes_on() {
    let (sender, receiver) = bounded(2);
    let mut select = Select::new();
    let send = select.send(&sender);
    let [one, two] = [select.select(), select.select()];
    assert!(select.try_select().is_err());
    two.send(&sender, 2).unwrap();
    select.remove(send);
    select.recv(&receiver);
    let got = select.select();
    one.send(&sender, 1).unwrap();
    assert_eq!(select.select().recv(&receiver), Ok(1));
    assert_eq!(got.recv(&receiver), Ok(2));
}

/// What ends with nobody: a select over a hundred ends, and their messages.
#[test]
fn every_message_is_dropped_once() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(1, Ordering::Relaxed);
        }
    }
    let ends: Vec<_> = (0..100).map(|_| unbounded()).collect();
    ends.iter().for_each(|(sender, _)| (0..2).for_each(|_| sender.send(Counted).unwrap()));
    let mut select = Select::new();
    for (_, receiver) in &ends {
        select.recv(receiver);
    }
    for _ in 0..100 {
        let chosen = select.select();
        let at = chosen.index();
        drop(chosen.recv(&ends[at].1));
    }
    assert_eq!(DROPS.load(Ordering::Relaxed), 100);
    drop(select);
    drop(ends);
    assert_eq!(DROPS.load(Ordering::Relaxed), 200);
}

#[test]
fn the_end_below_can_be_reached() {
    let (mut sender, mut receiver) = bounded(2);
    sender.ysuite().unwrap().send_batch([1, 2]).unwrap();
    assert!(sender.is_full() && receiver.ysuite_mut().unwrap().close());
    assert!(sender.ysuite_mut().unwrap().is_disconnected());
    assert!(receiver.iter().eq([1, 2]));
    assert!(
        bounded::<u8>(0).0.ysuite().is_none()
            && never::<u8>().ysuite().is_none()
            && after(Duration::ZERO).ysuite().is_none()
    );
}
