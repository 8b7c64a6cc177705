//! Loans between processes: memory that one sender fills in place, and that all its receivers read in place.
//!
//! **A message that is being filled has its sender borrowed**, as in Rust. The next call for the sender gives it back, so nothing
//! else has the sender at the same time.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::{self, NonNull};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use ysuite_shm::{Borrowed, Loan, LoanError, LoanReceiver, LoanSender};

use super::many::{limited, named, next_ended, numbered_seat, seat, serve, tried};
use super::options::ys_shm_options;
use super::{Kind, code_of, enter, fd, free, open, open_over};
use crate::code::{Answer, YS_EINVAL, YS_FULL, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

/// The sender of loans: a pool of slots, which it fills in place, and lends to all its receivers, each a ys_shm_loan_rx in a
/// process of its own. One thread at a time; it may move between threads. Freed by ys_shm_loan_free.
pub struct ys_shm_loan {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_loan {
    const FREE: &'static str = "ys_shm_loan_free";

    type End = Lender;
}

/// A receiver of a ys_shm_loan. One thread at a time; it may move between threads. Freed by ys_shm_loan_rx_free.
pub struct ys_shm_loan_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_loan_rx {
    const FREE: &'static str = "ys_shm_loan_rx_free";

    type End = LoanReceiver;
}

/// A message that this process was lent, in the memory where its sender has filled it. It may outlive its receiver and its
/// sender. One thread at a time; it may move between threads. Freed by ys_shm_borrowed_free, which gives it back.
pub struct ys_shm_borrowed {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_borrowed {
    const FREE: &'static str = "ys_shm_borrowed_free";

    type End = Borrowed;
}

pub(crate) struct Lender {
    /// Of a box. What is in it is borrowed by `lent`, if that is there.
    sender: NonNull<LoanSender>,
    lent: Option<Loan<'static>>,
    largest: usize,
    descriptor: RawFd,
}

// SAFETY: it owns the sender, and both that and a loan may be given to another thread.
unsafe impl Send for Lender {}

impl AsFd for Lender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: that of the sender, which has the same one until it is dropped, with `self`.
        unsafe { BorrowedFd::borrow_raw(self.descriptor) }
    }
}

impl Drop for Lender {
    fn drop(&mut self) {
        // MUTANT: It would use memory behind its end, in code that no sanitizer sees.
        self.lent = None;
        // SAFETY: it is of a box, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.sender.as_ptr()) });
    }
}

/// Whether a message is in a slot of the pool, or in memory of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    Slot,
    Own,
}

impl Lender {
    fn new(sender: LoanSender) -> Self {
        let (largest, descriptor) = (sender.largest(), sender.as_fd().as_raw_fd());
        Self { sender: NonNull::from(Box::leak(Box::new(sender))), lent: None, largest, descriptor }
    }

    /// The sender. A message that is being filled is given back.
    fn sender(&mut self) -> &mut LoanSender {
        self.lent = None;
        // SAFETY: it lives until `self` is dropped, and nothing else borrows it.
        unsafe { self.sender.as_mut() }
    }

    /// Begins a message: the address of its first byte.
    fn reserve(&mut self, length: usize, memory: Memory, limit: Limit) -> Result<*mut c_void, ys_code> {
        self.lent = None;
        if memory == Memory::Slot && length > self.largest {
            return Err(ys_code::YS_ETOOLONG);
        }
        // SAFETY: it lives until `self` is dropped, which drops the loan before; nothing else borrows it.
        let sender = unsafe { &mut *self.sender.as_ptr() };
        let lent = match (memory, limit) {
            (Memory::Slot, Limit::Now) => sender.try_loan(length),
            (Memory::Slot, Limit::Within(time)) => sender.loan_timeout(length, time),
            (Memory::Slot, Limit::Never) => sender.loan(length),
            (Memory::Own, Limit::Now) => sender.try_large(length),
            (Memory::Own, Limit::Within(time)) => sender.large_timeout(length, time),
            (Memory::Own, Limit::Never) => sender.large(length),
        };
        let lent = lent.map_err(|error| match error {
            LoanError::Ended(error) => code_of(error),
            LoanError::Dry if limit.is_now() => YS_FULL,
            LoanError::Dry => YS_TIMEOUT,
        })?;
        Ok(self.lent.insert(lent).as_mut_ptr().cast())
    }

    /// Sends the message that is being filled.
    fn commit(&mut self, length: usize) -> Result<(), ys_code> {
        let lent = self.lent.as_ref().ok_or(YS_EINVAL)?;
        if length > lent.len() {
            return Err(ys_code::YS_ETOOLONG);
        }
        let mut lent = self.lent.take().ok_or(YS_EINVAL)?;
        lent.truncate(length);
        lent.send().map_err(code_of)
    }
}

/// Opens the sender of loans, with a pool of slots, whose receivers connect by its name, by ys_shm_connect, or inherit a
/// ys_shm_loan_seat. A slot is free again when each receiver has received what was in it, and has given it back, or is gone: one
/// that dies holds nothing. A receiver that is slow or stopped, or keeps what it has, holds the sender up. All receivers can read
/// the whole pool, also what was lent before they came.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param slots how many slots there are, 1 to 32768; all their memory is taken at once
/// @param largest the most bytes of a message in a slot
/// @param options how it treats its peers, and who may connect; NULL: the defaults
/// @param loan where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY, YS_REFUSED_IN_USE, YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the
///     cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_open(
    name: *const c_char,
    slots: usize,
    largest: usize,
    options: *const ys_shm_options,
    loan: *mut *mut ys_shm_loan,
) -> c_int {
    let make = || {
        // SAFETY: by the caller.
        let (options, name) = unsafe { (ys_shm_options::read(options)?, named(name)?) };
        let opened = match name {
            Some(name) => options.loans(name, slots, largest),
            None => options.loans_without_name(slots, largest),
        };
        opened.map(Lender::new).map_err(code_of)
    };
    // SAFETY: by the caller.
    unsafe { open(loan, make) }
}

/// A place for one more receiver: a socket for ys_shm_loan_rx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC
/// is inherited: clear it in the child. Until it is used each message costs a system call.
///
/// @param loan the sender
/// @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_seat(loan: *mut ys_shm_loan) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| seat(lender.sender().seat())) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a place, or NULL.
unsafe fn reserve(loan: *mut ys_shm_loan, length: usize, memory: Memory, to: *mut *mut c_void, limit: Limit) -> c_int {
    if to.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *to = ptr::null_mut() };
    let reserve = |lender: &mut Lender| match lender.reserve(length, memory, limit) {
        Ok(start) => {
            // SAFETY: by the caller.
            unsafe { *to = start };
            c_int::from_code(YS_OK)
        }
        Err(code) => c_int::from_code(code),
    };
    // SAFETY: by the caller.
    unsafe { enter(loan, reserve) }
}

/// Gives the caller a free slot to write a message into; waits while the pool has none. The slot has the bytes of an earlier
/// message, and is aligned to 64. It belongs to the caller until ys_shm_loan_commit sends it; any other call for this sender but
/// ys_shm_loan_fd and ys_shm_loan_largest gives it back unsent.
///
/// @param loan the sender
/// @param length how many bytes the message has at most
/// @param to receives the address of the slot; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: longer than ys_shm_loan_largest; or no receiver is there, and none can come: why the
///     last one has gone, YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_reserve(loan: *mut ys_shm_loan, length: usize, to: *mut *mut c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { reserve(loan, length, Memory::Slot, to, Limit::Never) }
}

/// Gives the caller a slot if one is free. Never waits.
///
/// @param loan the sender
/// @param length how many bytes the message has at most
/// @param to receives the address of the slot; NULL after an error
/// @return YS_OK; YS_FULL: no slot is free; otherwise as ys_shm_loan_reserve
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_try_reserve(loan: *mut ys_shm_loan, length: usize, to: *mut *mut c_void) -> c_int {
    // SAFETY: by the caller.
    unsafe { reserve(loan, length, Memory::Slot, to, Limit::Now) }
}

/// Gives the caller a slot; waits for so long at most.
///
/// @param loan the sender
/// @param length how many bytes the message has at most
/// @param to receives the address of the slot; NULL after an error
/// @param ns nanoseconds; 0: as ys_shm_loan_try_reserve; less than 0: for ever
/// @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: no slot was free; otherwise as ys_shm_loan_reserve
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_reserve_for(
    loan: *mut ys_shm_loan,
    length: usize,
    to: *mut *mut c_void,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { reserve(loan, length, Memory::Slot, to, Limit::from_nanoseconds(ns)) }
}

/// Gives the caller memory of its own for a message of any length, all zero; otherwise as ys_shm_loan_reserve_for. Nobody can
/// write it once it is sent, so that receivers need not copy it: ys_shm_borrowed_sealed. It takes some twenty system calls, and pays
/// from about a megabyte on. Waits while 16 such messages have not been received by all.
///
/// @param loan the sender
/// @param length how many bytes the message has at most
/// @param to receives the address of the memory; NULL after an error
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: 16 were on their way; YS_ESYSTEM with the cause in errno: no memory; otherwise
///     as ys_shm_loan_reserve
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_reserve_large(
    loan: *mut ys_shm_loan,
    length: usize,
    to: *mut *mut c_void,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { reserve(loan, length, Memory::Own, to, Limit::from_nanoseconds(ns)) }
}

/// Sends the message that was reserved last to all receivers that have joined; to nobody, if there are none. Never waits. From then on
/// the caller must not touch its memory.
///
/// @param loan the sender
/// @param length how many bytes it has
/// @return YS_OK; YS_EINVAL: nothing is reserved; YS_ETOOLONG: more bytes than were reserved, which stay so; YS_ESYSTEM with the
///     cause in errno: the system has not passed on memory of its own, and nobody has it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_commit(loan: *mut ys_shm_loan, length: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| c_int::from_code(lender.commit(length).err().unwrap_or(YS_OK))) }
}

/// The most bytes that a slot has.
///
/// @param loan the sender
/// @return how many; 0 after an error, with EINVAL in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_largest(loan: *mut ys_shm_loan) -> usize {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| lender.largest) }
}

/// How many slots nobody has now. Looks at all receivers. Never waits.
///
/// @param loan the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_unused(loan: *mut ys_shm_loan) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| lender.sender().free() as isize) }
}

/// How many slots receivers hold now. Those that are neither unused nor held have not been received by some. Never waits.
///
/// @param loan the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_held(loan: *mut ys_shm_loan) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| lender.sender().held() as isize) }
}

/// As ys_shm_broadcast_serve.
///
/// @param loan the sender
/// @param ns nanoseconds; 0: what there is now; less than 0: for ever
/// @return YS_OK
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_serve(loan: *mut ys_shm_loan, ns: i64) -> c_int {
    let serve = |lender: &mut Lender| {
        let sender = lender.sender();
        serve(Limit::from_nanoseconds(ns), |limit| sender.serve_timeout(limit))
    };
    // SAFETY: by the caller.
    unsafe { enter(loan, serve) }
}

/// How many receivers have joined: what is sent now is for all of them. One joins when it has said hello, and this end has
/// noticed it.
///
/// @param loan the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_receivers(loan: *mut ys_shm_loan) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| lender.sender().receivers() as isize) }
}

/// The descriptor of the sender, for poll and epoll, after ys_shm_loan_arm. It stays the sender's: never read, written or closed.
///
/// @param loan the sender
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_fd(loan: *mut ys_shm_loan) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(loan) }
}

/// As ys_shm_loan_seat, with the receiver's number, by which ys_shm_loan_slowest and ys_shm_loan_next_ended name it.
///
/// @param loan the sender
/// @param receiver receives the number of that receiver
/// @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_numbered_seat(loan: *mut ys_shm_loan, receiver: *mut u64) -> c_int {
    if receiver.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| numbered_seat(lender.sender().numbered_seat(), receiver)) }
}

/// Finds the receiver that keeps the most from the sender: messages that it has not received, and slots that it holds. One that is stopped
/// keeps the pool dry for all, until its process is gone, which a program can end that knows it. Looks at all receivers. Never waits.
///
/// @param loan the sender
/// @param receiver receives its number; NULL: it is not asked for
/// @return how much that is; 0: no receiver keeps anything; or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_slowest(loan: *mut ys_shm_loan, receiver: *mut u64) -> isize {
    let slowest = |lender: &mut Lender| {
        let (number, kept) = lender.sender().slowest().unwrap_or((0, 0));
        if !receiver.is_null() {
            // SAFETY: by the caller.
            unsafe { *receiver = number };
        }
        kept as isize
    };
    // SAFETY: by the caller.
    unsafe { enter(loan, slowest) }
}

/// Finds the next receiver that has ended since this was called last, in order. The last few hundred are remembered. What sends, waits or
/// serves notices an end. Never waits.
///
/// @param loan the sender
/// @param receiver receives its number
/// @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
/// @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_next_ended(loan: *mut ys_shm_loan, receiver: *mut u64, why: *mut c_int) -> c_int {
    if receiver.is_null() || why.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| next_ended(lender.sender().next_ended(), receiver, why)) }
}

/// Says that the sender is about to sleep in an event loop: if no slot is free, the descriptor becomes readable when one may be, or
/// when a receiver comes or goes. Some system calls.
///
/// @param loan the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_arm(loan: *mut ys_shm_loan) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| c_int::from(lender.sender().arm())) }
}

/// As ys_shm_loan_arm, for ys_shm_loan_reserve_large.
///
/// @param loan the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_arm_large(loan: *mut ys_shm_loan) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| c_int::from(lender.sender().arm_large())) }
}

/// As ys_shm_loan_arm, for a sender that waits for receivers, and not for a slot.
///
/// @param loan the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_arm_to_serve(loan: *mut ys_shm_loan) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(loan, |lender| c_int::from(lender.sender().arm_to_serve())) }
}

/// Frees a sender, and takes its name away. Its receivers receive what was sent, and then YS_CLOSED; what they have borrowed stays.
/// Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param loan the sender, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_free(loan: *mut ys_shm_loan) {
    // SAFETY: by the caller.
    unsafe { free(loan) }
}

/// Makes a receiver of loans over a socket: of ys_shm_connect or ys_shm_loan_seat. It says hello at once, and receives from when the
/// sender has noticed that on. A pool of more bytes than the options allow is refused. Never blocks.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect returns: that error is returned
/// @param options how it treats its peer; NULL: the defaults
/// @param rx receives the receiver; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
///     descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_rx_open(
    fd: c_int,
    options: *const ys_shm_options,
    rx: *mut *mut ys_shm_loan_rx,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { open_over(fd, rx, |socket| ys_shm_options::read(options)?.loan_receiver(socket).map_err(code_of)) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a place for a handle, or NULL.
unsafe fn recv(rx: *mut ys_shm_loan_rx, borrowed: *mut *mut ys_shm_borrowed, limit: Limit) -> c_int {
    if borrowed.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { *borrowed = ptr::null_mut() };
    let recv = |receiver: &mut LoanReceiver| {
        let next = || match limit {
            Limit::Now => tried(receiver.try_recv()),
            Limit::Within(time) => limited(receiver.recv_timeout(time)),
            Limit::Never => receiver.recv().map_err(code_of),
        };
        // SAFETY: by the caller.
        unsafe { open(borrowed, next) }
    };
    // SAFETY: by the caller.
    unsafe { enter(rx, recv) }
}

/// Receives a message, in the memory where its sender has filled it; waits while there is none. Any number may be borrowed at a
/// time; each is a slot that the sender does not have.
///
/// @param rx the receiver
/// @param borrowed receives the message; NULL after an error
/// @return YS_OK; YS_EINVAL; or there is none, and the channel has ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED
///     and the codes behind it, also of memory of its own that is larger than the options allow
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_recv(rx: *mut ys_shm_loan_rx, borrowed: *mut *mut ys_shm_borrowed) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, borrowed, Limit::Never) }
}

/// Receives a message if there is one. Never waits.
///
/// @param rx the receiver
/// @param borrowed receives the message; NULL after an error
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_loan_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_try_recv(rx: *mut ys_shm_loan_rx, borrowed: *mut *mut ys_shm_borrowed) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, borrowed, Limit::Now) }
}

/// Receives a message; waits for so long at most.
///
/// @param rx the receiver
/// @param borrowed receives the message; NULL after an error
/// @param ns nanoseconds; 0: as ys_shm_loan_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_loan_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_recv_for(
    rx: *mut ys_shm_loan_rx,
    borrowed: *mut *mut ys_shm_borrowed,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, borrowed, Limit::from_nanoseconds(ns)) }
}

/// The descriptor of the receiver, for poll and epoll, after ys_shm_loan_rx_arm. It stays the receiver's: never read, written or
/// closed.
///
/// @param rx the receiver
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_rx_fd(rx: *mut ys_shm_loan_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(rx) }
}

/// Says that the receiver is about to sleep in an event loop: if there is no message, the descriptor becomes readable when there
/// is, or when the channel ends. Some system calls.
///
/// @param rx the receiver
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_rx_arm(rx: *mut ys_shm_loan_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |receiver| c_int::from(receiver.arm())) }
}

/// Frees a receiver. What it has borrowed stays, and counts as a receiver's until it is freed. Also in a forked child, for a handle of
/// its parent: there it closes descriptors only.
///
/// @param rx the receiver, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_loan_rx_free(rx: *mut ys_shm_loan_rx) {
    // SAFETY: by the caller.
    unsafe { free(rx) }
}

/// How many bytes a message has.
///
/// @param borrowed the message
/// @return how many; 0 after an error, with EINVAL in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_borrowed_length(borrowed: *mut ys_shm_borrowed) -> usize {
    // SAFETY: by the caller.
    unsafe { enter(borrowed, |borrowed| borrowed.len()) }
}

/// Copies bytes of a message to a buffer, as many as there are and have room, within its bounds whatever its sender does meanwhile.
/// What a program checks must be its copy.
///
/// @param borrowed the message
/// @param at how many bytes from its start
/// @param to where the bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @return how many were copied, or an error: YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_borrowed_copy(
    borrowed: *mut ys_shm_borrowed,
    at: usize,
    to: *mut c_void,
    room: usize,
) -> isize {
    // SAFETY: by the caller.
    let Some(to) = (unsafe { super::buffer(to, room) }) else { return isize::from_code(YS_EINVAL) };
    // SAFETY: by the caller.
    unsafe { enter(borrowed, |borrowed| borrowed.copy_to_uninit(at, to) as isize) }
}

/// The bytes of a message that nobody can write any more: of ys_shm_loan_reserve_large. They stay until it is freed.
///
/// @param borrowed the message
/// @return the address of its first byte; NULL if its sender could still write it, and after an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_borrowed_sealed(borrowed: *mut ys_shm_borrowed) -> *const c_void {
    let sealed = |borrowed: &mut Borrowed| borrowed.as_slice().map_or(ptr::null(), <[u8]>::as_ptr).cast::<c_void>();
    // SAFETY: by the caller.
    unsafe { enter(borrowed, sealed) }
}

/// The bytes of any message where they are, aligned to 64, for who trusts the sender: it keeps off what it has lent, but a hostile
/// one could write them at any time, so that of two reads each may find something else. For reading only. They stay until the
/// message is freed.
///
/// @param borrowed the message
/// @return the address of its first byte; NULL after an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_borrowed_untrusted(borrowed: *mut ys_shm_borrowed) -> *const c_void {
    // SAFETY: by the caller.
    unsafe { enter(borrowed, |borrowed| borrowed.as_ptr().cast::<c_void>()) }
}

/// Gives a message back, and frees its handle: its sender, if it waits for a slot, is woken. Never waits. Also in a forked child, for a
/// handle of its parent: there it gives nothing back.
///
/// @param borrowed the message, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_borrowed_free(borrowed: *mut ys_shm_borrowed) {
    // SAFETY: by the caller.
    unsafe { free(borrowed) }
}
