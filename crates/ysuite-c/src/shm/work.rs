//! A work queue of bytes between processes: one process gives out jobs, any number of workers each take the next.

use core::ffi::{c_char, c_int, c_void};
use core::mem;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use ysuite_shm::{Bytes, BytesWorkSender, Job, SendTimeoutError, TrySendError, WorkReceiver};

use super::many::{Place, Room, limited, named, next_ended, numbered_seat, seat, tried};
use super::options::ys_shm_options;
use super::{Kind, bytes, code_of, enter, fd, free, open, open_over};
use crate::code::{Answer, YS_CLOSED, YS_EINVAL, YS_EMPTY, YS_FULL, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

/// The sender of a work queue, whose workers, each a ys_shm_work_rx in a process of its own, take the jobs. One thread at a time;
/// it may move between threads. Freed by ys_shm_work_free.
pub struct ys_shm_work {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_work {
    const FREE: &'static str = "ys_shm_work_free";

    type End = Giving;
}

/// A sender, and a job that has failed, and did not fit.
pub(crate) struct Giving {
    sender: BytesWorkSender,
    failed: Option<Bytes>,
}

impl Deref for Giving {
    type Target = BytesWorkSender;

    fn deref(&self) -> &BytesWorkSender {
        &self.sender
    }
}

impl DerefMut for Giving {
    fn deref_mut(&mut self) -> &mut BytesWorkSender {
        &mut self.sender
    }
}

impl AsFd for Giving {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.sender.as_fd()
    }
}

/// A worker of a ys_shm_work. One thread at a time; it may move between threads. Freed by ys_shm_work_rx_free.
pub struct ys_shm_work_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_work_rx {
    const FREE: &'static str = "ys_shm_work_rx_free";

    type End = Worker;
}

fn give(sender: &mut BytesWorkSender, job: &[u8], limit: Limit) -> Result<(), ys_code> {
    if job.len() > sender.largest() {
        return Err(ys_code::YS_ETOOLONG);
    }
    match limit {
        Limit::Now => sender.try_send(job).map_err(|error| match error {
            TrySendError::Full(()) => YS_FULL,
            TrySendError::Ended((), error) => code_of(error),
        }),
        Limit::Within(time) => sender.send_timeout(job, time).map_err(|error| match error {
            SendTimeoutError::Timeout(()) => YS_TIMEOUT,
            SendTimeoutError::Ended((), error) => code_of(error),
        }),
        Limit::Never => sender.send(job).map_err(|error| code_of(error.1)),
    }
}

fn settle(sender: &mut BytesWorkSender, limit: Limit) -> Result<(), ys_code> {
    // Without a wait nothing else hears of who comes and goes.
    sender.serve();
    match limit.timeout().map(|time| sender.settle_timeout(time)) {
        None => sender.settle().map_err(code_of),
        Some(Ok(true)) => Ok(()),
        Some(Ok(false)) => Err(YS_TIMEOUT),
        Some(Err(error)) => Err(code_of(error)),
    }
}

/// A worker, and its next job, which is received again until it is finished or given back.
pub(crate) struct Worker {
    /// Borrows the receiver, which nothing else uses as long as it is there.
    job: Option<Job<'static, Bytes>>,
    /// The program has received it.
    has_job: bool,
    /// Of a box of its own.
    receiver: NonNull<WorkReceiver<Bytes>>,
    fd: c_int,
}

// SAFETY: it owns the receiver, which may be sent, as the job may.
unsafe impl Send for Worker where WorkReceiver<Bytes>: Send {}

impl Worker {
    fn new(receiver: WorkReceiver<Bytes>) -> Self {
        let fd = receiver.as_fd().as_raw_fd();
        Self { job: None, has_job: false, receiver: NonNull::from(Box::leak(Box::new(receiver))), fd }
    }

    /// # Safety
    /// There is no job, and the result is used no more behind the worker's end.
    unsafe fn receiver<'a>(&mut self) -> &'a mut WorkReceiver<Bytes> {
        // SAFETY: by the caller; `drop` alone frees it.
        unsafe { self.receiver.as_mut() }
    }

    fn recv(&mut self, room: &mut Room<'_>, limit: Limit) -> Result<(), ys_code> {
        let job = match self.job.take() {
            Some(job) => job,
            None => {
                // SAFETY: there is none, and `drop` frees the receiver behind the job.
                let receiver = unsafe { self.receiver() };
                match limit {
                    Limit::Now => tried(receiver.try_recv()),
                    Limit::Within(time) => limited(receiver.recv_timeout(time)),
                    Limit::Never => receiver.recv().map_err(code_of),
                }?
            }
        };
        let fits = room.put(&self.job.insert(job).0);
        self.has_job |= fits;
        if fits { Ok(()) } else { Err(ys_code::YS_ETOOLONG) }
    }

    /// The job that the program has received, no more the next one.
    fn take(&mut self) -> Option<Job<'static, Bytes>> {
        if mem::take(&mut self.has_job) { self.job.take() } else { None }
    }

    fn arm(&mut self) -> bool {
        // MUTANT: The receiver says of a job in hand that it is there; but the job borrows the receiver.
        // SAFETY: there is no job; the reference ends here.
        self.job.is_none() && unsafe { self.receiver() }.arm()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.job = None;
        // SAFETY: of `new`, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.receiver.as_ptr()) });
    }
}

/// Opens the sender of a work queue, whose workers connect by its name, by ys_shm_connect, or inherit a ys_shm_work_seat. Each job
/// goes to one of them, the one that has the fewest. A worker has at most `credit` jobs at a time, of which it works on one.
///
/// A job is finished once, unless the sender ends before, and given out at least once: once more for each worker that gives it
/// back, or that dies, leaves or breaks the protocol while it has it. The first one that such a worker had may have been done. So
/// a job must be such that it may be done again; the option `attempts` limits how often. What was given back is given out before any new job, by every call that sends
/// or waits.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param largest the most bytes of a job, rounded up to 8; there is memory for `credit` of these for each worker, which that accepts
///     by its `largest_region`
/// @param credit the most jobs that a worker has, 1 to 64
/// @param options how it treats its peers, and who may connect; NULL: the defaults
/// @param work where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest` or `credit` that cannot be, such as 0; YS_REFUSED_IN_USE,
///     YS_REFUSED_NAME, YS_REFUSED_TIME; YS_ESYSTEM with the cause in errno
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_open(
    name: *const c_char,
    largest: usize,
    credit: usize,
    options: *const ys_shm_options,
    work: *mut *mut ys_shm_work,
) -> c_int {
    let make = || {
        // SAFETY: by the caller.
        let (options, name) = unsafe { (ys_shm_options::read(options)?, named(name)?) };
        let opened = match name {
            Some(name) => options.work_bytes(name, credit, largest),
            None => options.work_bytes_without_name(credit, largest),
        };
        opened.map(|sender| Giving { sender, failed: None }).map_err(code_of)
    };
    // SAFETY: by the caller.
    unsafe { open(work, make) }
}

/// A place for one more worker: a socket for ys_shm_work_rx_open, for a child to inherit. Only a descriptor without FD_CLOEXEC is
/// inherited: clear it in the child. Until it is used each job costs a system call.
///
/// @param work the sender
/// @return a descriptor, which is the caller's; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_seat(work: *mut ys_shm_work) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(work, |work| seat(work.seat())) }
}

/// As ys_shm_work_seat, with the worker's number, by which ys_shm_work_next_ended names it.
///
/// @param work the sender
/// @param worker receives the number of that worker
/// @return a descriptor, which is the caller's; YS_EINVAL; YS_ESYSTEM with the cause in errno: no memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_numbered_seat(work: *mut ys_shm_work, worker: *mut u64) -> c_int {
    if worker.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(work, |work| numbered_seat(work.numbered_seat(), worker)) }
}

/// Finds the next worker that has ended since this was called last, in order. The last few hundred are remembered. What sends or waits
/// notices an end. Never waits.
///
/// @param work the sender
/// @param worker receives its number
/// @param why receives YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED or one of the codes behind it
/// @return YS_OK; YS_EMPTY: none has ended; YS_EINVAL
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_next_ended(work: *mut ys_shm_work, worker: *mut u64, why: *mut c_int) -> c_int {
    if worker.is_null() || why.is_null() {
        return c_int::from_code(YS_EINVAL);
    }
    // SAFETY: by the caller.
    unsafe { enter(work, |work| next_ended(work.next_ended(), worker, why)) }
}

/// Takes the next job that was given out as many times as the option `attempts` allows, and was not finished. Nobody gets it any more, and
/// it does not count as unfinished. Never waits.
///
/// @param work the sender
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EINVAL; YS_EMPTY: none has failed; YS_ETOOLONG: it does not fit, and is the next one again
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_next_failed(
    work: *mut ys_shm_work,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    let place = Place { to, room, length };
    // SAFETY: by the caller.
    let Some(mut room) = (unsafe { place.open() }) else { return c_int::from_code(YS_EINVAL) };
    let take = |work: &mut Giving| {
        let Some(job) = work.failed.take().or_else(|| work.next_failed()) else { return c_int::from_code(YS_EMPTY) };
        if room.put(&job.0) {
            return c_int::from_code(YS_OK);
        }
        work.failed = Some(job);
        c_int::from_code(ys_code::YS_ETOOLONG)
    };
    // SAFETY: by the caller.
    unsafe { enter(work, take) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a message, or NULL.
unsafe fn send(work: *mut ys_shm_work, job: *const c_void, length: usize, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(job) = (unsafe { bytes(job, length) }) else { return c_int::from_code(YS_EINVAL) };
    // SAFETY: by the caller.
    unsafe { enter(work, |work| c_int::from_code(give(work, job, limit).err().unwrap_or(YS_OK))) }
}

/// Gives out a job; waits while no worker may have one more, or none is there.
///
/// @param work the sender
/// @param job its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG; YS_CLOSED: no worker is there, and none can come
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_send(work: *mut ys_shm_work, job: *const c_void, length: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(work, job, length, Limit::Never) }
}

/// Gives out a job if a worker may have one more. Never waits.
///
/// @param work the sender
/// @param job its bytes; NULL if there are none
/// @param length how many
/// @return YS_OK; YS_FULL; otherwise as ys_shm_work_send
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_try_send(work: *mut ys_shm_work, job: *const c_void, length: usize) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(work, job, length, Limit::Now) }
}

/// Gives out a job; waits for so long at most.
///
/// @param work the sender
/// @param job its bytes; NULL if there are none
/// @param length how many
/// @param ns nanoseconds; 0: as ys_shm_work_try_send; less than 0: for ever
/// @return YS_OK; YS_FULL (where ns is 0), YS_TIMEOUT: no worker could have it; otherwise as ys_shm_work_send
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_send_for(
    work: *mut ys_shm_work,
    job: *const c_void,
    length: usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { send(work, job, length, Limit::from_nanoseconds(ns)) }
}

/// Waits until all jobs that were sent are finished, or have failed. What workers give back meanwhile, it gives to others.
///
/// @param work the sender
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: all are; YS_TIMEOUT: some are not; YS_CLOSED: some are not, no worker is there, and none can come
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_settle(work: *mut ys_shm_work, ns: i64) -> c_int {
    let limit = Limit::from_nanoseconds(ns);
    // SAFETY: by the caller.
    unsafe { enter(work, |work| c_int::from_code(settle(work, limit).err().unwrap_or(YS_OK))) }
}

/// Accepts workers that have come, notices those that have gone, and gives out what was given back, for all of this time: what a
/// sender without new jobs does instead of sleeping. It returns before, if no worker is there and none can come.
///
/// @param work the sender
/// @param ns nanoseconds; 0: what there is now; less than 0: for ever
/// @return YS_OK
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_serve(work: *mut ys_shm_work, ns: i64) -> c_int {
    let serve = |work: &mut Giving| {
        match Limit::from_nanoseconds(ns) {
            Limit::Now => work.serve(),
            Limit::Within(time) => work.serve_timeout(time),
            Limit::Never => work.serve_timeout(Duration::MAX),
        }
        c_int::from_code(YS_OK)
    };
    // SAFETY: by the caller.
    unsafe { enter(work, serve) }
}

/// How many jobs workers have finished, as far as was noticed. Each is counted once.
///
/// @param work the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_finished(work: *mut ys_shm_work) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(work, |work| work.finished() as isize) }
}

/// How many jobs that were sent are not finished, as far as was noticed.
///
/// @param work the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_unfinished(work: *mut ys_shm_work) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(work, |work| work.unfinished() as isize) }
}

/// How many workers there are, with those that have connected and have not said yet what they are.
///
/// @param work the sender
/// @return how many, or an error
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_workers(work: *mut ys_shm_work) -> isize {
    // SAFETY: by the caller.
    unsafe { enter(work, |work| work.workers() as isize) }
}

/// The descriptor of the sender, for poll and epoll, after ys_shm_work_arm. It stays the sender's: never read, written or closed.
///
/// @param work the sender
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_fd(work: *mut ys_shm_work) -> c_int {
    // SAFETY: by the caller.
    unsafe { fd(work) }
}

/// Says that the sender is about to sleep in an event loop: if no worker may have one more job, the descriptor becomes readable when
/// one may, or when a worker comes or goes. Some system calls.
///
/// @param work the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_arm(work: *mut ys_shm_work) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(work, |work| c_int::from(work.arm())) }
}

/// As ys_shm_work_arm, for a sender that has no job to send, and waits until ys_shm_work_settle returns YS_OK at once.
///
/// @param work the sender
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_arm_to_settle(work: *mut ys_shm_work) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(work, |work| c_int::from(work.arm_to_settle())) }
}

/// As ys_shm_work_arm, for a sender that has no job to send, and waits for workers and for what they give back, as ys_shm_work_serve does.
///
/// @param work the sender
/// @return 1: sleep; 0: do not, there is something to be done now; YS_CLOSED: no worker is there, and none can come
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_arm_to_serve(work: *mut ys_shm_work) -> c_int {
    let arm = |work: &mut Giving| {
        let is_armed = work.arm_to_serve();
        // Nothing would ever be there to be done.
        if work.is_disconnected() { c_int::from_code(YS_CLOSED) } else { c_int::from(is_armed) }
    };
    // SAFETY: by the caller.
    unsafe { enter(work, arm) }
}

/// Frees a sender, and takes its name away. Its workers receive the jobs that they were given, and then YS_CLOSED; nobody gets those
/// that they give back. Also in a forked child, for a handle of its parent: there it closes descriptors only.
///
/// @param work the sender, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_free(work: *mut ys_shm_work) {
    // SAFETY: by the caller.
    unsafe { free(work) }
}

/// Makes a worker over a socket: of ys_shm_connect or ys_shm_work_seat. It says hello at once, and may be given jobs from then on.
/// Never blocks.
///
/// @param fd the socket, which is the handle's from now on, and no child inherits; after any error it is closed. Less than
///     0, as ys_shm_connect returns: that error is returned
/// @param options how it treats its peer; NULL: the defaults
/// @param rx receives the worker; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_PACKET: no such socket; YS_ESYSTEM with the cause in errno: EBADF, no memory or no
///     descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_open(
    fd: c_int,
    options: *const ys_shm_options,
    rx: *mut *mut ys_shm_work_rx,
) -> c_int {
    let make = |socket| {
        // SAFETY: by the caller.
        let options = unsafe { ys_shm_options::read(options) }?;
        options.work_receiver(socket).map(Worker::new).map_err(code_of)
    };
    // SAFETY: by the caller.
    unsafe { open_over(fd, rx, make) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter), and of [`Place::open`].
unsafe fn recv(rx: *mut ys_shm_work_rx, place: Place, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(mut room) = (unsafe { place.open() }) else { return c_int::from_code(YS_EINVAL) };
    let recv = |worker: &mut Worker| c_int::from_code(worker.recv(&mut room, limit).err().unwrap_or(YS_OK));
    // SAFETY: by the caller.
    unsafe { enter(rx, recv) }
}

/// Receives a job; waits while there is none. Who has done it says so by ys_shm_work_finish; until then, or ys_shm_work_give_back,
/// it is the next one again. A worker that is freed, or whose process dies, gives back what it has not finished.
///
/// @param rx the worker
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EINVAL; YS_ETOOLONG: the job does not fit, and is the next one again; or there is none, and the channel has
///     ended: YS_CLOSED, YS_DIED, YS_BROKEN, YS_ESYSTEM, or YS_REFUSED and the codes behind it
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_recv(
    rx: *mut ys_shm_work_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, Place { to, room, length }, Limit::Never) }
}

/// Receives a job if there is one. Never waits.
///
/// @param rx the worker
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @return YS_OK; YS_EMPTY; otherwise as ys_shm_work_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_try_recv(
    rx: *mut ys_shm_work_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, Place { to, room, length }, Limit::Now) }
}

/// Receives a job; waits for so long at most.
///
/// @param rx the worker
/// @param to where its bytes are put; NULL if there is no room
/// @param room how many bytes there is room for
/// @param length receives how many bytes it has; 0 after any other error than YS_ETOOLONG
/// @param ns nanoseconds; 0: as ys_shm_work_try_recv; less than 0: for ever
/// @return YS_OK; YS_EMPTY (where ns is 0), YS_TIMEOUT: there was none; otherwise as ys_shm_work_recv
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_recv_for(
    rx: *mut ys_shm_work_rx,
    to: *mut c_void,
    room: usize,
    length: *mut usize,
    ns: i64,
) -> c_int {
    // SAFETY: by the caller.
    unsafe { recv(rx, Place { to, room, length }, Limit::from_nanoseconds(ns)) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter).
unsafe fn settled(rx: *mut ys_shm_work_rx, settle: impl FnOnce(Job<'static, Bytes>)) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| c_int::from_code(worker.take().map(settle).map_or(YS_EINVAL, |()| YS_OK))) }
}

/// Says that the job that was received is done: nobody does it again. Never waits.
///
/// @param rx the worker
/// @return YS_OK; YS_EINVAL: no job was received since the last one was finished or given back
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_finish(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { settled(rx, Job::finish) }
}

/// Gives the job that was received back, undone: the sender gives it to another worker, or to this one if no other is as free. Never
/// waits.
///
/// @param rx the worker
/// @return as ys_shm_work_finish
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_give_back(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { settled(rx, drop) }
}

/// The descriptor of the worker, for poll and epoll, after ys_shm_work_rx_arm. It stays the worker's: never read, written or closed.
///
/// @param rx the worker
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_fd(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| worker.fd) }
}

/// Says that the worker is about to sleep in an event loop: if there is no job, the descriptor becomes readable when there is, or when
/// the channel ends. Some system calls.
///
/// @param rx the worker
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_arm(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| c_int::from(worker.arm())) }
}

/// Frees a worker: what it has not finished is given to others. Also in a forked child, for a handle of its parent: there it closes
/// descriptors only.
///
/// @param rx the worker, which is not to be used any more; NULL: nothing is done
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_free(rx: *mut ys_shm_work_rx) {
    // SAFETY: by the caller.
    unsafe { free(rx) }
}
