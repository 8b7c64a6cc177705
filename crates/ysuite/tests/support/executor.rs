//! The smallest executors: one that parks its thread, and wakers that count.

use std::cell::Cell;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread::{self, Thread};

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread, which parks while the future waits.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Polls a future once.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F, task: &Task) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(&task.waker()))
}

/// A task that never runs, and counts how often it was woken.
#[derive(Clone, Default)]
pub(crate) struct Task(Arc<Woken>);

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Task {
    pub(crate) fn waker(&self) -> Waker {
        Waker::from(self.0.clone())
    }

    pub(crate) fn woken(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    /// How many wakers of this task there are.
    pub(crate) fn held(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// A task that is polled within its waking, at any point, and so waits again while those after it are still to be
/// notified.
pub(crate) struct AtOnce {
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    polls: AtomicUsize,
}

impl AtOnce {
    /// A limit for what would never stop.
    const MOST: usize = 1_000;

    /// Polled for the first time.
    pub(crate) fn new(future: impl Future<Output = ()> + Send + 'static) -> Arc<Self> {
        let task = Arc::new(Self { future: Mutex::new(Some(Box::pin(future))), polls: AtomicUsize::new(0) });
        task.clone().wake();
        task
    }

    /// How often it has been polled since this was asked last.
    pub(crate) fn polls(&self) -> usize {
        self.polls.swap(0, Ordering::SeqCst)
    }

    /// Ends it. Returns whether it was still running.
    pub(crate) fn stop(&self) -> bool {
        self.future.lock().unwrap().take().is_some()
    }
}

thread_local! {
    /// How many of them this thread is polling, one within the other's waking; and the most there were.
    static NESTED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

impl Wake for AtOnce {
    fn wake(self: Arc<Self>) {
        let (now, most) = NESTED.get();
        NESTED.set((now + 1, most.max(now + 1)));
        self.poll();
        NESTED.set((now, NESTED.get().1));
    }
}

impl AtOnce {
    /// The most that this thread has polled one within the other's waking.
    pub(crate) fn deepest() -> usize {
        NESTED.get().1
    }

    fn poll(self: Arc<Self>) {
        // Not where it is woken within its poll, or by two at once.
        let Ok(mut future) = self.future.try_lock() else { return };
        let Some(running) = &mut *future else { return };
        if self.polls.fetch_add(1, Ordering::SeqCst) < Self::MOST {
            let waker = Waker::from(self.clone());
            if running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                *future = None;
            }
        }
    }
}

/// A task whose waking panics.
pub(crate) struct Explosive;

impl Wake for Explosive {
    fn wake(self: Arc<Self>) {
        panic!("this waker panics");
    }
}

impl Explosive {
    pub(crate) fn waker() -> Waker {
        Waker::from(Arc::new(Self))
    }
}

/// A task whose waker panics when the last of it is dropped, be it by waking.
pub(crate) struct Clinging;

impl Wake for Clinging {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Clinging {
    fn drop(&mut self) {
        panic!("this waker clings");
    }
}

impl Clinging {
    pub(crate) fn waker() -> Waker {
        Waker::from(Arc::new(Self))
    }
}

type Act = Box<dyn Fn() + Send + Sync>;

/// What a waker does each time it is cloned, each time it is dropped, and each time it is woken.
struct Acts(Act, Act, Act);

static ACTS: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, end);

/// # Safety
/// Here and below: `data` is what `Arc::into_raw` has made of `Acts`; `wake` and `end` take it over.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: by the caller; the share stays where it is.
    let acts = ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<Acts>()) });
    (acts.0)();
    RawWaker::new(Arc::into_raw(Arc::clone(&acts)).cast(), &ACTS)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: by the caller, which gives the share away.
    unsafe {
        wake_by_ref(data);
        end(data);
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: by the caller; the share stays where it is.
    let acts = ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<Acts>()) });
    (acts.2)();
}

unsafe fn end(data: *const ()) {
    // SAFETY: by the caller.
    let acts = unsafe { Arc::from_raw(data.cast::<Acts>()) };
    (acts.1)();
}

/// A waker that runs one function each time it is cloned, another each time it is dropped, by waking as well, and a third when
/// it is woken.
pub(crate) fn acting(
    cloned: impl Fn() + Send + Sync + 'static,
    dropped: impl Fn() + Send + Sync + 'static,
    woken: impl Fn() + Send + Sync + 'static,
) -> Waker {
    let acts = Arc::new(Acts(Box::new(cloned), Box::new(dropped), Box::new(woken)));
    // SAFETY: the functions keep to the contract of a raw waker; the acts may be run and dropped on any thread.
    unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(acts).cast(), &ACTS)) }
}

/// A waker that runs a function each time it is cloned, and does nothing when it is woken.
pub(crate) fn cloning(act: impl Fn() + Send + Sync + 'static) -> Waker {
    acting(act, || (), || ())
}

/// A waker of a task that runs a function each time it is cloned.
pub(crate) fn cloning_for(task: &Task, act: impl Fn() + Send + Sync + 'static) -> Waker {
    let waker = task.waker();
    acting(act, || (), move || waker.wake_by_ref())
}

/// A waker that runs a function each time it is dropped, by waking as well.
pub(crate) fn dropping(act: impl Fn() + Send + Sync + 'static) -> Waker {
    acting(|| (), act, || ())
}
