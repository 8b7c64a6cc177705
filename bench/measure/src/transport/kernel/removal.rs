//! System V message queues belong to the system, not to a process: a queue that is not removed stays until the machine
//! restarts. This list of the open ones is removed wherever the process may end.
//!
//! | end | removed by |
//! |---|---|
//! | of the last handle, also in a panic | the drop of [`Removed`] |
//! | of the program, also while threads are stuck, and at the second Ctrl-C | atexit(3) |
//! | by SIGINT, SIGTERM, SIGHUP or SIGQUIT, unless other code handles it | a handler, before the default action |
//!
//! Once the process has begun to end, no queue is opened any more: other threads continue until it is over.
//!
//! Cannot: remove anything when the process is killed with SIGKILL, crashes or aborts, nor a queue during whose
//! creation a signal has interrupted this very thread. `ipcs -q` shows what is left, and `ipcrm -q ID` removes it. Any
//! thread may call.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

/// No queue has this number.
const FREE: i32 = -1;

/// More at once than any scenario opens.
static OPEN: [AtomicI32; 2_048] = [const { AtomicI32::new(FREE) }; 2_048];

static PREPARED: Once = Once::new();

/// That the process ends, and the number of threads that are making a queue that is not in the list yet.
static ENDS: AtomicBool = AtomicBool::new(false);
static MAKING: AtomicU32 = AtomicU32::new(0);

/// A thread that is making a queue, until this is dropped.
struct Making;

impl Making {
    fn begin() -> io::Result<Self> {
        // ORDERING: SeqCst, here and in `remove_all`: either that one sees this thread, or this one sees that the
        // process ends.
        MAKING.fetch_add(1, Ordering::SeqCst);
        let making = Self;
        if ENDS.load(Ordering::SeqCst) {
            return Err(io::Error::other("the process is at its end"));
        }
        Ok(making)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        // ORDERING: Release pairs with the load in `remove_all`: the queue is in the list.
        MAKING.fetch_sub(1, Ordering::Release);
    }
}

/// A queue that is removed when this is dropped, or when the process ends.
pub struct Removed {
    id: libc::c_int,
    place: &'static AtomicI32,
}

impl Removed {
    /// A queue made by `make`, which returns its number.
    pub fn made_by(make: impl FnOnce() -> io::Result<libc::c_int>) -> io::Result<Self> {
        PREPARED.call_once(prepare);
        let _making = Making::begin()?;
        let id = make()?;
        // ORDERING: Relaxed, here and below: there is no other data, and the kernel has the rest.
        let taken = |place: &AtomicI32| place.compare_exchange(FREE, id, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        match OPEN.iter().find(|place| taken(place)) {
            Some(place) => Ok(Self { id, place }),
            None => {
                remove(id);
                Err(io::Error::other(format!("more than {} System V message queues at once", OPEN.len())))
            }
        }
    }

    #[inline(always)]
    pub fn id(&self) -> libc::c_int {
        self.id
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        remove_at(self.place);
    }
}

fn remove_at(place: &AtomicI32) {
    // ORDERING: Relaxed: the code that gets the number removes the queue, and no other does.
    let id = place.swap(FREE, Ordering::Relaxed);
    if id != FREE {
        remove(id);
    }
}

fn remove(id: libc::c_int) {
    // SAFETY: no memory is involved.
    unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) };
}

/// Only atomic words and system calls: a signal handler may call it.
extern "C" fn remove_all() {
    // ORDERING: SeqCst, with that of `Making::begin`.
    ENDS.store(true, Ordering::SeqCst);
    // A thread that is making one needs some microseconds of a CPU. A second at most: it may be the interrupted one.
    for _ in 0..1_000 {
        if MAKING.load(Ordering::SeqCst) == 0 {
            break;
        }
        // SAFETY: no memory is involved.
        unsafe { libc::usleep(1_000) };
    }
    OPEN.iter().for_each(remove_at);
}

extern "C" fn before_the_end(signal: libc::c_int) {
    remove_all();
    // SAFETY: the handler has been replaced by the default action, which the signal triggers when this returns.
    unsafe { libc::raise(signal) };
}

fn prepare() {
    // SAFETY: the function lives as long as the program, and may be called at its end.
    unsafe { libc::atexit(remove_all) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: zeros are a value of this structure: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the structure outlives the call.
        let known = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) } == 0;
        // Code that handles or ignores the signal decides about the process.
        if !known || action.sa_sigaction != libc::SIG_DFL {
            continue;
        }
        action.sa_sigaction = before_the_end as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESETHAND;
        // SAFETY: the structure outlives the call, and the handler calls only what a handler may.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}
