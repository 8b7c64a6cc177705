//! What a handle can do by its window alone: most sends and receives, in a few instructions and without the
//! channel's own code, which would load and store the handle's state. The header's inline functions do the same in
//! the caller's.
//!
//! One thread at a time. Wait-free. The rules and the layout are those of `ysuite::in_place`: groups of slots with a state in
//! front. If the window does not suffice, the result is that a call is needed.

use core::ffi::{c_int, c_void};
use core::ptr::copy_nonoverlapping;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};

use ysuite::in_place::{RecvWindow, SendWindow, SlotClass};

use crate::code::YS_OK;
use crate::message::{Message, copy_in, copy_out};
use crate::rx::{self, ys_rx};
use crate::side;
use crate::tx::{self, ys_tx};

/// How a step went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Done,
    /// It is done, and the other side must be notified.
    Tell,
    /// Nothing has been done: only the channel can.
    Call,
}

/// The jump table of a sender's calls. They go to the channel themselves if the window does not suffice.
#[derive(Clone, Copy)]
pub(crate) struct TxCalls {
    /// As of `ys_send`, with pointers that are not NULL.
    pub(crate) send: unsafe extern "C" fn(*mut ys_tx, *const c_void) -> c_int,
    /// As of `ys_reserve`, with pointers that are not NULL.
    pub(crate) reserve: unsafe extern "C" fn(*mut ys_tx, *mut *mut c_void) -> isize,
    /// As of `ys_commit`, with a pointer that is not NULL.
    pub(crate) commit: unsafe extern "C" fn(*mut ys_tx, usize) -> isize,
}

/// The steps of a sender.
pub(crate) struct TxSteps {
    /// For a handle whose caller sees the window, and for one that keeps it private.
    pub(crate) shown: TxCalls,
    pub(crate) own: TxCalls,
    /// Sends a copy of the message of `size` bytes.
    ///
    /// # Safety
    /// The window belongs to the handle; a message is there.
    pub(crate) send: unsafe fn(&mut SendWindow, *const u8, usize) -> Step,
}

/// The jump table of a receiver's calls. They go to the channel themselves if the window does not suffice.
#[derive(Clone, Copy)]
pub(crate) struct RxCalls {
    /// As of `ys_recv`, with pointers that are not NULL.
    pub(crate) recv: unsafe extern "C" fn(*mut ys_rx, *mut c_void) -> c_int,
    /// As of `ys_peek`, with pointers that are not NULL.
    pub(crate) peek: unsafe extern "C" fn(*mut ys_rx, *mut *mut c_void) -> isize,
    /// As of `ys_consume`, with a pointer that is not NULL.
    pub(crate) consume: unsafe extern "C" fn(*mut ys_rx, usize) -> c_int,
}

/// The steps of a receiver.
pub(crate) struct RxSteps {
    /// For a handle whose caller sees the window, and for one that keeps it private.
    pub(crate) shown: RxCalls,
    pub(crate) own: RxCalls,
    /// Moves a message of `size` bytes out.
    ///
    /// # Safety
    /// The window belongs to the handle; there is room for a message.
    pub(crate) recv: unsafe fn(&mut RecvWindow, *mut u8, usize) -> Step,
    /// The next message, taken in place: null if there is none.
    ///
    /// # Safety
    /// The window belongs to the handle.
    pub(crate) take: unsafe fn(&mut RecvWindow) -> (*mut u8, Step),
}

const LINE: usize = 64;

/// Where things are within a group, for messages of one class; in bytes unless said otherwise.
struct Layout<M>(core::marker::PhantomData<M>);

impl<M> Layout<M> {
    /// From one slot to the next.
    const STEP: usize = size_of::<M>();
    /// From the group to its first slot.
    const FIRST: usize = if align_of::<M>() > 8 { align_of::<M>() } else { 8 };
    /// How many slots a group has, and from one group to the next.
    const SHAPE: (usize, usize) = SlotClass::group(Self::STEP, Self::FIRST);
    const STRIDE: usize = Self::SHAPE.1;
    /// From the group to one past its last slot.
    const END: usize = Self::FIRST + Self::SHAPE.0 * Self::STEP;

    /// The group of a slot.
    #[inline(always)]
    fn group_of_slot(at: *mut u8) -> *mut u8 {
        at.wrapping_sub(at.addr() % Self::STRIDE)
    }
}

// MUTANT: Speed only: the call does what the window would have done; which byte of a read group is written.
/// The next slot to write, and one past the last of its group that may be written.
#[inline(always)]
fn free_slot<M>(window: &SendWindow) -> Option<(*mut u8, *mut u8)> {
    if window.next != window.stop {
        return Some((window.next, window.stop));
    }
    let group = window.next.wrapping_add(Layout::<M>::STRIDE - Layout::<M>::END);
    let is_open = group.addr() < window.end.addr();
    is_open.then(|| (group.wrapping_add(Layout::<M>::FIRST), group.wrapping_add(Layout::<M>::END)))
}

/// Publishes all up to the message at `newest`.
///
/// # Safety
/// It is in a slot of the window's chunk, and so are all before it in its group.
#[inline(always)]
unsafe fn publish<M>(window: &SendWindow, newest: *mut u8) -> Step {
    let state = Layout::<M>::group_of_slot(newest).cast::<usize>();
    // ORDERING: Release pairs with the Acquire of the receiver's load of the group: the messages are written.
    // SAFETY: by the caller the group is there; it begins with its state, which this thread alone writes.
    unsafe { AtomicUsize::from_ptr(state) }.store(newest.addr().wrapping_add(window.lap), Ordering::Release);
    tell(window.asleep)
}

// MUTANT: Speed only: the other side is notified without a reason. A compiler barrier that this build does not need.
/// After a publication: whether the other side is to be told.
#[inline(always)]
fn tell(asleep: *const u32) -> Step {
    // ORDERING: pairs with the barrier that the thread that arms the word has all threads pass before a second check
    // of what was published here: so the compiler alone must keep the order. In a process without that barrier no
    // window is open.
    compiler_fence(Ordering::SeqCst);
    if is_told(asleep) { Step::Tell } else { Step::Done }
}

// MUTANT: Speed only: the other side is notified without a reason.
/// Whether the other side is told of each publication.
#[inline(always)]
fn is_told(asleep: *const u32) -> bool {
    // ORDERING: Relaxed, by the fence in `tell`; without it this is a guess.
    // SAFETY: the word lives as long as the handle.
    unsafe { AtomicU32::from_ptr(asleep.cast_mut()) }.load(Ordering::Relaxed) != 0
}

/// With a size that the compiler knows a copy is an instruction or two, without a call.
#[inline(always)]
unsafe fn put<M: Message>(window: &mut SendWindow, message: *const u8, size: usize) -> Step {
    if window.next == window.stop {
        let Some((first, stop)) = free_slot::<M>(window) else { return Step::Call };
        window.next = first;
        window.stop = stop;
    }
    let at = window.next;
    // SAFETY: by the caller; the slot is free, aligned for a message, and as long.
    unsafe { at.cast::<M>().write(copy_in(message, size, copy_nonoverlapping)) };
    window.next = at.wrapping_add(Layout::<M>::STEP);
    // SAFETY: the message was written just now.
    unsafe { publish::<M>(window, at) }
}

unsafe fn send<M: Message>(window: &mut SendWindow, message: *const u8, size: usize) -> Step {
    // SAFETY: by the caller.
    unsafe { put::<M>(window, message, size) }
}

// MUTANT: Speed only: the call does what the window would have done.
/// `ys_send`. With `FULL`, for messages as long as their class.
unsafe extern "C" fn call_send<M: Message, const SHOWN: bool, const FULL: bool>(
    tx: *mut ys_tx,
    message: *const c_void,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        let end = side::content(tx);
        let size = if FULL { size_of::<M>() } else { end.size };
        match put::<M>(end.window_as::<SHOWN>(), message.cast(), size) {
            Step::Done => YS_OK as c_int,
            Step::Call => tx::send(tx, message),
            Step::Tell => tx::answered(tx),
        }
    }
}

/// `ys_reserve`.
unsafe extern "C" fn call_reserve<M: Message, const SHOWN: bool>(tx: *mut ys_tx, at: *mut *mut c_void) -> isize {
    // SAFETY: by the caller.
    unsafe {
        let end = side::content(tx);
        let window = end.window_as::<SHOWN>();
        let Some((first, stop)) = free_slot::<M>(window) else { return tx::reserve(tx, at) };
        // MUTANT: A whole number of slots and one byte give the same number of slots.
        let (next, count) = (window.next, (stop.addr() - first.addr()) / Layout::<M>::STEP);
        end.slots.by_window(count, first, next);
        *at = first.cast();
        count as isize
    }
}

/// `ys_commit`.
unsafe extern "C" fn call_commit<M: Message, const SHOWN: bool>(tx: *mut ys_tx, count: usize) -> isize {
    // SAFETY: by the caller. What is reserved by the window is as it was.
    unsafe {
        let end = side::content(tx);
        let next = end.window_as::<SHOWN>().next;
        if !end.slots.has_by_window(count, next) {
            return tx::commit(tx, count);
        }
        let window = end.window_as::<SHOWN>();
        let Some((first, stop)) = free_slot::<M>(window) else { return tx::commit(tx, count) };
        let newest = first.wrapping_add((count - 1) * Layout::<M>::STEP);
        window.next = newest.wrapping_add(Layout::<M>::STEP);
        window.stop = stop;
        match publish::<M>(window, newest) {
            Step::Tell => tx::run_answered(tx, count),
            _ => count as isize,
        }
    }
}

// MUTANT: Speed only: the call does what the window would have done; how a read line goes back to the sender.
/// The next message, if there is one that the window shows: then `known` is behind it.
#[inline(always)]
fn known_slot<M>(window: &mut RecvWindow) -> Option<*mut u8> {
    if window.end.is_null() {
        return None;
    }
    let mut at = window.next;
    if at == window.known {
        // At the end of the last group that was read, or where nothing more is known in it.
        let mut group = Layout::<M>::group_of_slot(at.wrapping_sub(1));
        let is_spent = at == group.wrapping_add(Layout::<M>::END);
        if is_spent {
            group = group.wrapping_add(Layout::<M>::STRIDE);
            if group == window.end {
                return None;
            }
            at = group.wrapping_add(Layout::<M>::FIRST);
        }
        // ORDERING: Acquire pairs with the Release by which messages are published: those up to the newest are written.
        // SAFETY: the group is before the chunk's end, so it is there, and begins with its state.
        let newest = unsafe { AtomicUsize::from_ptr(group.cast()) }.load(Ordering::Acquire).wrapping_sub(window.lap);
        let ahead = newest.wrapping_sub(at.addr()) as isize;
        if ahead < 0 {
            return None;
        }
        if is_spent && window.marks != 0 {
            let spent = group.wrapping_sub(Layout::<M>::STRIDE);
            for line in (Layout::<M>::FIRST..Layout::<M>::END).step_by(LINE) {
                // SAFETY: the group before this one has been read and is in the same chunk, so its slots are empty, and this
                // thread's alone until the chunk is left. A volatile write, as nothing here reads it.
                unsafe { spent.wrapping_add(line).write_volatile(0) };
            }
        }
        window.known = at.wrapping_add(ahead as usize + Layout::<M>::STEP);
        window.next = at;
    }
    Some(at)
}

#[inline(always)]
unsafe fn get<M: Message>(window: &mut RecvWindow, to: *mut u8, size: usize) -> Step {
    let Some(at) = known_slot::<M>(window) else { return Step::Call };
    // SAFETY: by the caller there is room; the message is there, and is read once, as the window moves on.
    unsafe {
        copy_out(at.cast::<M>().read(), to, size, copy_nonoverlapping);
        consume::<M>(window, 1)
    }
}

unsafe fn recv<M: Message>(window: &mut RecvWindow, to: *mut u8, size: usize) -> Step {
    // SAFETY: by the caller.
    unsafe { get::<M>(window, to, size) }
}

// MUTANT: Speed only: the call does what the window would have done.
/// `ys_recv`. With `FULL`, for messages as long as their class.
unsafe extern "C" fn call_recv<M: Message, const SHOWN: bool, const FULL: bool>(
    rx: *mut ys_rx,
    to: *mut c_void,
) -> c_int {
    // SAFETY: by the caller.
    unsafe {
        let end = side::content(rx);
        let size = if FULL { size_of::<M>() } else { end.size };
        match get::<M>(end.window_as::<SHOWN>(), to.cast(), size) {
            Step::Done => YS_OK as c_int,
            Step::Call => rx::recv(rx, to),
            Step::Tell => rx::credited(rx),
        }
    }
}

/// `ys_peek`.
unsafe extern "C" fn call_peek<M: Message, const SHOWN: bool>(rx: *mut ys_rx, at: *mut *mut c_void) -> isize {
    // SAFETY: by the caller.
    unsafe {
        let end = side::content(rx);
        let window = end.window_as::<SHOWN>();
        let Some(first) = known_slot::<M>(window) else { return rx::peek(rx, at) };
        // MUTANT: A whole number of slots and one byte give the same number of slots.
        let count = (window.known.addr() - first.addr()) / Layout::<M>::STEP;
        end.slots.by_window(count, first, first);
        *at = first.cast();
        count as isize
    }
}

// MUTANT: Speed only: the call does what the window would have done.
/// `ys_consume`.
unsafe extern "C" fn call_consume<M: Message, const SHOWN: bool>(rx: *mut ys_rx, count: usize) -> c_int {
    // SAFETY: by the caller. What the window has shown is as it was.
    unsafe {
        let end = side::content(rx);
        let next = end.window_as::<SHOWN>().next;
        if !end.slots.has_by_window(count, next) {
            return rx::consume(rx, count);
        }
        let window = end.window_as::<SHOWN>();
        let step = consume::<M>(window, count);
        let next = window.next;
        end.slots.leave_by_window(count, next);
        if step == Step::Tell { rx::credited(rx) } else { YS_OK as c_int }
    }
}

unsafe fn take<M: Message>(window: &mut RecvWindow) -> (*mut u8, Step) {
    match known_slot::<M>(window) {
        // SAFETY: by the caller. There is a message.
        Some(at) => (at, unsafe { consume::<M>(window, 1) }),
        None => (core::ptr::null_mut(), Step::Call),
    }
}

#[inline(always)]
unsafe fn consume<M: Message>(window: &mut RecvWindow, count: usize) -> Step {
    window.next = window.next.wrapping_add(count * Layout::<M>::STEP);
    // SAFETY: the count lives as long as the handle, and this thread alone writes it.
    let taken = unsafe { AtomicUsize::from_ptr(window.taken) };
    // ORDERING: Release pairs with the sender's Acquire when it checks for room: the messages have been read.
    taken.store(taken.load(Ordering::Relaxed).wrapping_add(count), Ordering::Release);
    tell(window.asleep)
}

const fn tx_calls<M: Message, const SHOWN: bool, const FULL: bool>() -> TxCalls {
    TxCalls { send: call_send::<M, SHOWN, FULL>, reserve: call_reserve::<M, SHOWN>, commit: call_commit::<M, SHOWN> }
}

const fn rx_calls<M: Message, const SHOWN: bool, const FULL: bool>() -> RxCalls {
    RxCalls { recv: call_recv::<M, SHOWN, FULL>, peek: call_peek::<M, SHOWN>, consume: call_consume::<M, SHOWN> }
}

// MUTANT: Speed only: the call does what the window would have done.
/// The steps for messages of this size.
pub(crate) fn tx_steps<M: Message>(size: usize) -> &'static TxSteps {
    if size == size_of::<M>() {
        const { &TxSteps { shown: tx_calls::<M, true, true>(), own: tx_calls::<M, false, true>(), send: send::<M> } }
    } else {
        const { &TxSteps { shown: tx_calls::<M, true, false>(), own: tx_calls::<M, false, false>(), send: send::<M> } }
    }
}

// MUTANT: Speed only: the call does what the window would have done.
/// The steps for messages of this size.
pub(crate) fn rx_steps<M: Message>(size: usize) -> &'static RxSteps {
    if size == size_of::<M>() {
        const {
            &RxSteps {
                shown: rx_calls::<M, true, true>(),
                own: rx_calls::<M, false, true>(),
                recv: recv::<M>,
                take: take::<M>,
            }
        }
    } else {
        const {
            &RxSteps {
                shown: rx_calls::<M, true, false>(),
                own: rx_calls::<M, false, false>(),
                recv: recv::<M>,
                take: take::<M>,
            }
        }
    }
}
