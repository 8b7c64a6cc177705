//! User code: messages whose drop, and wakers whose clone, wake and drop, panic or re-enter the channel.
//!
//! What they do is kept apart from them, on the thread: a message is a number, so it can be sent anywhere.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{RawWaker, RawWakerVTable, Waker};
use std::thread;

/// What user code does when it is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Deed {
    #[default]
    Nothing,
    /// Panics, unless the thread panics already: that would end the process, and not by our fault.
    Panic,
    /// Receives from the channel.
    Receive,
    /// Sends into the channel.
    Send,
    /// Drops a handle of the channel.
    DropSender,
    DropReceiver,
}

impl Deed {
    pub(crate) fn of(number: u8) -> Self {
        match number {
            0..=7 => Self::Nothing,
            8..=9 => Self::Panic,
            10 => Self::Receive,
            11 => Self::Send,
            12 => Self::DropSender,
            _ => Self::DropReceiver,
        }
    }
}

/// The payload of a panic of user code. It is raised without the panic hook, which would print it.
pub(crate) struct Intended;

/// How user code re-enters the channel.
type Hook = Rc<dyn Fn(Deed)>;

/// What one run of a machine knows of its messages.
#[derive(Default)]
struct World {
    /// For each message what it does on drop, and how often it was dropped.
    messages: RefCell<Vec<(Deed, u8)>>,
    alive: Cell<usize>,
    /// How user code re-enters.
    hook: RefCell<Option<Hook>>,
    quiet: Cell<bool>,
    faults: RefCell<Vec<String>>,
}

thread_local! {
    static WORLD: World = World::default();
}

/// A new run begins.
pub(crate) fn begin() {
    WORLD.with(|world| {
        world.messages.borrow_mut().clear();
        world.alive.set(0);
        world.hook.take();
        world.quiet.set(false);
        world.faults.borrow_mut().clear();
    });
}

/// From now on user code re-enters in this way.
pub(crate) fn come_back_by(hook: Hook) {
    WORLD.with(|world| world.hook.replace(Some(hook)));
}

/// User code does nothing for a while.
pub(crate) fn quietly<R>(act: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            WORLD.with(|world| world.quiet.set(self.0));
        }
    }
    let _before = Before(WORLD.with(|world| world.quiet.replace(true)));
    act()
}

/// Something is wrong, where a panic could be mistaken for one of user code.
pub(crate) fn fault(text: String) {
    WORLD.with(|world| world.faults.borrow_mut().push(text));
}

pub(crate) fn faults() -> Vec<String> {
    WORLD.with(|world| world.faults.take())
}

pub(crate) fn perform(deed: Deed) {
    if deed == Deed::Nothing || WORLD.with(|world| world.quiet.get()) {
        return;
    }
    if deed == Deed::Panic {
        if !thread::panicking() {
            resume_unwind(Box::new(Intended));
        }
        return;
    }
    let hook = WORLD.with(|world| world.hook.borrow().clone());
    if let Some(hook) = hook {
        hook(deed);
    }
}

/// A message.
#[derive(Debug)]
pub(crate) struct Message(pub(crate) usize);

impl Message {
    pub(crate) fn new(deed: Deed) -> Self {
        WORLD.with(|world| {
            let mut messages = world.messages.borrow_mut();
            messages.push((deed, 0));
            world.alive.set(world.alive.get() + 1);
            Self(messages.len() - 1)
        })
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let deed = WORLD.with(|world| {
            let mut messages = world.messages.borrow_mut();
            let Some((deed, ends)) = messages.get_mut(self.0) else { return Deed::Nothing };
            *ends += 1;
            if *ends > 1 {
                world.faults.borrow_mut().push(format!("message {} ended {ends} times", self.0));
                return Deed::Nothing;
            }
            world.alive.set(world.alive.get() - 1);
            *deed
        });
        perform(deed);
    }
}

/// How many messages have not ended.
pub(crate) fn alive() -> usize {
    WORLD.with(|world| world.alive.get())
}

pub(crate) fn has_ended(number: usize) -> bool {
    WORLD.with(|world| world.messages.borrow()[number].1 != 0)
}

/// What a waker does when it is cloned, woken and dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) clone: Deed,
    pub(crate) wake: Deed,
    pub(crate) drop: Deed,
}

impl Deeds {
    pub(crate) fn of(number: u8) -> Self {
        let mut deeds = Self::default();
        match number {
            0..=4 => {}
            5 => deeds.wake = Deed::Panic,
            6 => deeds.drop = Deed::Panic,
            7 => deeds.clone = Deed::Panic,
            8 => deeds.wake = Deed::Receive,
            9 => deeds.wake = Deed::Send,
            10 => deeds.drop = Deed::Receive,
            11 => deeds.wake = Deed::DropSender,
            12 => deeds.wake = Deed::DropReceiver,
            13 => deeds.drop = Deed::DropReceiver,
            14 => deeds.clone = Deed::DropSender,
            _ => deeds = Self { clone: Deed::Send, wake: Deed::Panic, drop: Deed::Send },
        }
        deeds
    }
}

/// A task that never runs by itself.
pub(crate) struct Task(Arc<State>);

struct State {
    woken: AtomicUsize,
    deeds: Deeds,
}

impl Task {
    pub(crate) fn new(deeds: Deeds) -> Rc<Self> {
        Rc::new(Self(Arc::new(State { woken: AtomicUsize::new(0), deeds })))
    }

    pub(crate) fn waker(&self) -> Root {
        // SAFETY: the table's functions take what `Arc::into_raw` has made of a `State`.
        Root(Some(unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(self.0.clone()).cast(), &TABLE)) }))
    }

    pub(crate) fn is_woken(&self) -> bool {
        self.0.woken.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn forget_wakes(&self) {
        self.0.woken.store(0, Ordering::Relaxed);
    }

    /// How many wakers of this task there are.
    pub(crate) fn held(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// A waker of the machine's own, whose drop is not counted.
pub(crate) struct Root(Option<Waker>);

impl Root {
    pub(crate) fn get(&self) -> &Waker {
        self.0.as_ref().expect("taken only when dropped")
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        quietly(|| drop(self.0.take()));
    }
}

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, end);

/// # Safety
/// Here and below: `data` is what `Arc::into_raw` has made of a `State`; `wake` and `end` take it over.
unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: by the caller; the share stays where it is.
    let state = ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<State>()) });
    perform(state.deeds.clone);
    RawWaker::new(Arc::into_raw(Arc::clone(&state)).cast(), &TABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: by the caller.
    let state = unsafe { Arc::from_raw(data.cast::<State>()) };
    state.woken.fetch_add(1, Ordering::Relaxed);
    let deed = state.deeds.wake;
    drop(state);
    perform(deed);
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: by the caller; the share stays where it is.
    let state = ManuallyDrop::new(unsafe { Arc::from_raw(data.cast::<State>()) });
    state.woken.fetch_add(1, Ordering::Relaxed);
    perform(state.deeds.wake);
}

unsafe fn end(data: *const ()) {
    // SAFETY: by the caller.
    let state = unsafe { Arc::from_raw(data.cast::<State>()) };
    let deed = state.deeds.drop;
    drop(state);
    perform(deed);
}
