//! A work queue of bytes between processes: one process gives out jobs, any number of workers each take the next.
//!
//! **A job in the hand of a worker** is not held here: the channel has it until it is finished. To receive again finds it again.

use core::ffi::{c_char, c_int, c_void};
use core::mem;
use core::time::Duration;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use ysuite_shm::{Error, Options, SendTimeoutError, TrySendError, WorkReceiver, WorkSender};

use super::many::{Place, limited, named, seat, tried};
use super::options::ys_shm_options;
use super::sized::{packed, sized, unpacked};
use super::{Kind, bytes, code_of, enter, free, open, open_over};
use crate::code::{Answer, YS_EINVAL, YS_FULL, YS_OK, YS_TIMEOUT, ys_code};
use crate::limit::Limit;

/// The sender of a work queue, whose workers, each a ys_shm_work_rx in a process of its own, take the jobs. One thread at a time;
/// it may move between threads. Freed by ys_shm_work_free.
pub struct ys_shm_work {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_work {
    const FREE: &'static str = "ys_shm_work_free";

    type End = Box<dyn Gives>;
}

/// A worker of a ys_shm_work. One thread at a time; it may move between threads. Freed by ys_shm_work_rx_free.
pub struct ys_shm_work_rx {
    _opaque: [u8; 0],
}

impl Kind for ys_shm_work_rx {
    const FREE: &'static str = "ys_shm_work_rx_free";

    type End = Worker;
}

/// The sender of jobs of any size.
pub(super) trait Gives: AsFd + Send {
    fn send(&mut self, job: &[u8], limit: Limit) -> Result<(), ys_code>;
    fn settle(&mut self, limit: Limit) -> Result<(), ys_code>;
    fn serve(&mut self, limit: Limit);
    fn seat(&mut self) -> Result<OwnedFd, Error>;
    fn finished(&self) -> u64;
    fn unfinished(&self) -> usize;
    fn workers(&self) -> usize;
    fn arm(&mut self) -> bool;
    fn arm_to_settle(&mut self) -> bool;
}

impl<const WORDS: usize> Gives for WorkSender<[u64; WORDS]> {
    fn send(&mut self, job: &[u8], limit: Limit) -> Result<(), ys_code> {
        let job = packed(job)?;
        match limit {
            Limit::Now => self.try_send(job).map_err(|error| match error {
                TrySendError::Full(_) => YS_FULL,
                TrySendError::Ended(_, error) => code_of(error),
            }),
            Limit::Within(time) => self.send_timeout(job, time).map_err(|error| match error {
                SendTimeoutError::Timeout(_) => YS_TIMEOUT,
                SendTimeoutError::Ended(_, error) => code_of(error),
            }),
            Limit::Never => self.send(job).map_err(|error| code_of(error.1)),
        }
    }

    fn settle(&mut self, limit: Limit) -> Result<(), ys_code> {
        // Without a wait nothing else hears of who comes and goes.
        self.serve();
        match limit.timeout().map(|time| self.settle_timeout(time)) {
            None => self.settle().map_err(code_of),
            Some(Ok(true)) => Ok(()),
            Some(Ok(false)) => Err(YS_TIMEOUT),
            Some(Err(error)) => Err(code_of(error)),
        }
    }

    fn serve(&mut self, limit: Limit) {
        match limit {
            Limit::Now => self.serve(),
            Limit::Within(time) => self.serve_timeout(time),
            Limit::Never => self.serve_timeout(Duration::MAX),
        }
    }

    fn seat(&mut self) -> Result<OwnedFd, Error> {
        self.seat()
    }

    fn finished(&self) -> u64 {
        self.finished()
    }

    fn unfinished(&self) -> usize {
        self.unfinished()
    }

    fn workers(&self) -> usize {
        self.workers()
    }

    fn arm(&mut self) -> bool {
        self.arm()
    }

    fn arm_to_settle(&mut self) -> bool {
        self.arm_to_settle()
    }
}

fn sender<const WORDS: usize>(options: &Options, name: Option<&str>, credit: usize) -> Result<Box<dyn Gives>, ys_code> {
    let opened = match name {
        Some(name) => options.work::<[u64; WORDS]>(name, credit),
        None => options.work_without_name(credit),
    };
    Ok(Box::new(opened.map_err(code_of)?))
}

/// The worker's end of jobs of any size.
trait Takes: AsFd + Send {
    /// Shows the next job, which stays the next one.
    fn show(&mut self, limit: Limit, show: &mut dyn FnMut(&[u8])) -> Result<(), ys_code>;
    /// Says what has become of the next job, which is there.
    fn settle(&mut self, is_finished: bool) -> Result<(), ys_code>;
    fn arm(&mut self) -> bool;
}

impl<const WORDS: usize> Takes for WorkReceiver<[u64; WORDS]> {
    fn show(&mut self, limit: Limit, show: &mut dyn FnMut(&[u8])) -> Result<(), ys_code> {
        let job = match limit {
            Limit::Now => tried(self.try_recv()),
            Limit::Within(time) => limited(self.recv_timeout(time)),
            Limit::Never => self.recv().map_err(code_of),
        }?;
        show(unpacked(&job));
        // It is received again.
        mem::forget(job);
        Ok(())
    }

    fn settle(&mut self, is_finished: bool) -> Result<(), ys_code> {
        let job = tried(self.try_recv())?;
        if is_finished {
            job.finish();
        }
        Ok(())
    }

    fn arm(&mut self) -> bool {
        self.arm()
    }
}

fn receiver<const WORDS: usize>(options: &Options, socket: OwnedFd) -> Result<Worker, ys_code> {
    let receiver = options.work_receiver::<[u64; WORDS]>(socket).map_err(code_of)?;
    Ok(Worker { receiver: Box::new(receiver), has_job: false })
}

pub(super) struct Worker {
    receiver: Box<dyn Takes>,
    /// The program has received the next one.
    has_job: bool,
}

impl Worker {
    fn settle(&mut self, is_finished: bool) -> Result<(), ys_code> {
        if !mem::take(&mut self.has_job) {
            return Err(YS_EINVAL);
        }
        self.receiver.settle(is_finished)
    }
}

/// Opens the sender of a work queue, whose workers connect by its name, by ys_shm_connect, or inherit a ys_shm_work_seat. Each job
/// goes to one of them, the one that has the fewest. A worker has at most `credit` jobs at a time, of which it works on one.
///
/// A job is finished once, unless the sender ends before, and given out at least once: once more for each worker that gives it
/// back, or that dies, leaves or breaks the protocol while it has it. The first one that such a worker had may have been done. So
/// a job must be such that it may be done again. What was given back is given out before any new job, by every call that sends
/// or waits.
///
/// @param name the name, as of ys_shm_listener_open; NULL: none
/// @param largest the most bytes of a job, 4088 or less; all workers must say the same
/// @param credit the most jobs that a worker has, 1 to 64
/// @param options how it treats its peers, and who may connect; NULL: the defaults
/// @param work where it is put; NULL is put there after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY, YS_REFUSED_IN_USE, YS_REFUSED_NAME; YS_ESYSTEM with the cause in errno
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
        sized!(largest, sender(&options, name, credit))
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

/// # Safety
/// As of [`handle::enter`](crate::handle::enter); a message, or NULL.
unsafe fn send(work: *mut ys_shm_work, job: *const c_void, length: usize, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(job) = (unsafe { bytes(job, length) }) else { return c_int::from_code(YS_EINVAL) };
    // SAFETY: by the caller.
    unsafe { enter(work, |work| c_int::from_code(work.send(job, limit).err().unwrap_or(YS_OK))) }
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

/// Waits until all jobs that were sent are finished. What workers give back meanwhile, it gives to others.
///
/// @param work the sender
/// @param ns nanoseconds; 0: never waits; less than 0: for ever
/// @return YS_OK: all are; YS_TIMEOUT: some are not; YS_CLOSED: some are not, no worker is there, and none can come
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_settle(work: *mut ys_shm_work, ns: i64) -> c_int {
    let limit = Limit::from_nanoseconds(ns);
    // SAFETY: by the caller.
    unsafe { enter(work, |work| c_int::from_code(work.settle(limit).err().unwrap_or(YS_OK))) }
}

/// Accepts workers that have come, notices those that have gone, and gives out what was given back, for all of this time: what a
/// sender without new jobs does instead of sleeping. It returns before, if no worker is there and none can come.
///
/// @param work the sender
/// @param ns nanoseconds; 0: what there is now; less than 0: for ever
/// @return YS_OK
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_serve(work: *mut ys_shm_work, ns: i64) -> c_int {
    let serve = |work: &mut Box<dyn Gives>| {
        work.serve(Limit::from_nanoseconds(ns));
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
    unsafe { enter(work, |work| work.as_fd().as_raw_fd()) }
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
/// @param largest the most bytes of a job, as the sender has it
/// @param options how it treats its peer; NULL: the defaults
/// @param rx receives the worker; NULL after an error
/// @return YS_OK; YS_EINVAL; YS_REFUSED_CAPACITY: `largest` is more than can be; YS_ESYSTEM with the cause in errno: no such socket, no
///     memory or no descriptors
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_open(
    fd: c_int,
    largest: usize,
    options: *const ys_shm_options,
    rx: *mut *mut ys_shm_work_rx,
) -> c_int {
    let make = |socket| {
        // SAFETY: by the caller.
        let options = unsafe { ys_shm_options::read(options) }?;
        sized!(largest, receiver(&options, socket))
    };
    // SAFETY: by the caller.
    unsafe { open_over(fd, rx, make) }
}

/// # Safety
/// As of [`handle::enter`](crate::handle::enter), and of [`Place::open`].
unsafe fn recv(rx: *mut ys_shm_work_rx, place: Place, limit: Limit) -> c_int {
    // SAFETY: by the caller.
    let Some(mut room) = (unsafe { place.open() }) else { return c_int::from_code(YS_EINVAL) };
    let recv = |worker: &mut Worker| {
        let mut fits = false;
        let shown = worker.receiver.show(limit, &mut |job| fits = room.put(job));
        worker.has_job |= fits;
        let code = if fits { YS_OK } else { ys_code::YS_ETOOLONG };
        c_int::from_code(shown.err().unwrap_or(code))
    };
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

/// Says that the job that was received is done: nobody does it again. Never waits.
///
/// @param rx the worker
/// @return YS_OK; YS_EINVAL: no job was received since the last one was finished or given back; YS_BROKEN, YS_EMPTY: the sender has
///     broken the protocol, and taken it away
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_finish(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| c_int::from_code(worker.settle(true).err().unwrap_or(YS_OK))) }
}

/// Gives the job that was received back, undone: the sender gives it to another worker, or to this one if no other is as free. Never
/// waits.
///
/// @param rx the worker
/// @return as ys_shm_work_finish
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_give_back(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| c_int::from_code(worker.settle(false).err().unwrap_or(YS_OK))) }
}

/// The descriptor of the worker, for poll and epoll, after ys_shm_work_rx_arm. It stays the worker's: never read, written or closed.
///
/// @param rx the worker
/// @return the descriptor
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_fd(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| worker.receiver.as_fd().as_raw_fd()) }
}

/// Says that the worker is about to sleep in an event loop: if there is no job, the descriptor becomes readable when there is, or when
/// the channel ends. Some system calls.
///
/// @param rx the worker
/// @return 1: sleep; 0: do not, there is something to be done now
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ys_shm_work_rx_arm(rx: *mut ys_shm_work_rx) -> c_int {
    // SAFETY: by the caller.
    unsafe { enter(rx, |worker| c_int::from(worker.receiver.arm())) }
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
