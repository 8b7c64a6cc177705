//! Processes that are forked, stepped and killed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is tried just now: a case's name, where it is, and how long it is.
static NOW: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Remembers what is tried now, for the guard to say. The name lives as long as the program.
pub(crate) fn now(name: &'static str, at: u64) {
    // ORDERING: Relaxed; read by a handler in the same thread, or by one that ends the program.
    for (word, value) in NOW.iter().zip([name.as_ptr() as u64, name.len() as u64, at]) {
        word.store(value, Ordering::Relaxed);
    }
}

/// Says where the program stands still, and ends it.
extern "C" fn stands_still(_signal: libc::c_int) {
    // ORDERING: Relaxed; see `now`.
    let [start, length, at] = [&NOW[0], &NOW[1], &NOW[2]].map(|word| word.load(Ordering::Relaxed));
    let mut digits = [b' '; 24];
    let (mut rest, mut from) = (at, digits.len() - 1);
    digits[from] = b'\n';
    while from > 1 {
        from -= 1;
        digits[from] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let parts = [(c"it stands still: ".as_ptr().cast(), 17), (start as *const libc::c_void, length as usize)];
    // SAFETY: calls that a handler may make; each part is a text of this length that lives as long as the program.
    unsafe {
        parts.into_iter().for_each(|(text, bytes)| _ = libc::write(2, text, bytes));
        libc::write(2, digits[from - 1..].as_ptr().cast(), digits.len() + 1 - from);
        libc::_exit(1);
    }
}

/// Ends this program, and with it the test, if one case takes too long.
pub(crate) fn guard(seconds: u32) {
    // SAFETY: an alarm, whose handler makes no calls but those that it may.
    unsafe {
        libc::signal(libc::SIGALRM, stands_still as extern "C" fn(libc::c_int) as libc::sighandler_t);
        libc::alarm(seconds);
    }
}

/// A point counts changes of shared memory, where it would count instructions: see [`Child::step`].
static BY_CHANGES: AtomicBool = AtomicBool::new(false);

/// From now on points count changes of shared memory.
pub(crate) fn count_changes() {
    // ORDERING: Relaxed; read by the same thread.
    BY_CHANGES.store(true, Ordering::Relaxed);
}

/// More instructions than there are between two system calls, except where a child waits for its peer without one.
const MOST_STEPS: u32 = 100_000;

/// A point in the run of a child: behind this number of its system calls, and behind this number of instructions after
/// them. All instructions are behind some call, and few behind each: a child that were stepped from its first one would
/// take thousands of steps to most of them.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Point {
    pub(crate) calls: u64,
    pub(crate) instructions: u64,
}

/// Where a child has come to on its way to a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reached {
    /// It is there.
    Inside,
    /// There are fewer instructions before the next system call.
    NextCall,
    /// There are fewer calls or instructions before its end, or its next place.
    End,
}

/// A child, which is killed when this is dropped.
pub(crate) struct Child(libc::pid_t);

impl Child {
    /// Runs `body` in a child, which ends with it.
    pub(crate) fn run(body: impl FnOnce()) -> Self {
        // SAFETY: no other thread of this program runs now; those of a case have been joined.
        let id = unsafe { libc::fork() };
        assert!(id >= 0);
        if id == 0 {
            // SAFETY: it dies with its parent.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
            // SAFETY: ends here, without what belongs to the parent.
            unsafe { libc::_exit(i32::from(outcome.is_err())) };
        }
        Self(id)
    }

    /// As [`run`](Self::run), but it stops where it calls [`here`].
    pub(crate) fn traced(body: impl FnOnce()) -> Self {
        Self::run(|| {
            // SAFETY: asks to be traced by the parent.
            unsafe { libc::ptrace(libc::PTRACE_TRACEME) };
            body();
        })
    }

    /// Waits until it is at its first place.
    pub(crate) fn stopped(self) -> Self {
        assert!(libc::WIFSTOPPED(self.wait()), "it has reached the place");
        self
    }

    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: waits for this child.
        assert_eq!(unsafe { libc::waitpid(self.0, &mut status, 0) }, self.0);
        status
    }

    /// Runs this far, unless it ends before. By changes it is stepped as well, and stops behind an instruction that has
    /// changed what it shares. Nobody else can tell apart two instructions between which it has neither done that nor
    /// called the kernel: whether it dies behind the one or the other is the same.
    pub(crate) fn step(&self, point: Point) -> Reached {
        // ORDERING: Relaxed; as in `count_changes`.
        if BY_CHANGES.load(Ordering::Relaxed) { self.step_to_change(point) } else { self.step_each(point) }
    }

    /// The same, always by instructions: for what it reads.
    pub(crate) fn step_each(&self, point: Point) -> Reached {
        if self.to_call(point.calls) { self.step_until_counted(point.instructions, || true) } else { Reached::End }
    }

    /// The same, by changes of what it shares.
    fn step_to_change(&self, point: Point) -> Reached {
        if !self.to_call(point.calls) {
            return Reached::End;
        }
        let areas = self.shared_areas();
        let mut before = self.read(&areas);
        self.step_until_counted(point.instructions, || {
            let after = self.read(&areas);
            let has_changed = after != before;
            before = after;
            has_changed
        })
    }

    /// Runs behind this number of system calls. False: it has ended before.
    fn to_call(&self, calls: u64) -> bool {
        (0..2 * calls).all(|_| self.to_next_call())
    }

    /// Steps until this number of instructions have counted.
    fn step_until_counted(&self, wanted: u64, mut counts: impl FnMut() -> bool) -> Reached {
        let (mut counted, mut in_vain) = (0, 0);
        while counted < wanted {
            if self.is_at_call() || in_vain == MOST_STEPS {
                return Reached::NextCall;
            }
            // SAFETY: the child is stopped.
            assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, self.0, 0, 0) }, 0);
            if !self.is_trapped() {
                return Reached::End;
            }
            if counts() { counted += 1 } else { in_vain += 1 }
        }
        Reached::Inside
    }

    /// What it shares with others and can write: addresses and lengths.
    fn shared_areas(&self) -> Vec<libc::iovec> {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.0)).expect("a mounted /proc");
        let area = |line: &str| {
            let (addresses, rest) = line.split_once(' ')?;
            let (from, to) = addresses.split_once('-')?;
            let [from, to] = [from, to].map(|address| usize::from_str_radix(address, 16).expect("an address"));
            let area = libc::iovec { iov_base: from as *mut libc::c_void, iov_len: to - from };
            rest.starts_with("rw-s").then_some(area)
        };
        maps.lines().filter_map(area).collect()
    }

    /// What is in its memory there.
    fn read(&self, areas: &[libc::iovec]) -> Vec<u8> {
        let mut bytes = vec![0; areas.iter().map(|area| area.iov_len).sum()];
        let to = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: the child is stopped; as many bytes as there is room for.
        let read = unsafe { libc::process_vm_readv(self.0, &to, 1, areas.as_ptr(), areas.len() as libc::c_ulong, 0) };
        assert_eq!(read, bytes.len() as isize, "its memory can be read");
        bytes
    }

    /// Its next instruction is a system call.
    #[cfg(target_arch = "x86_64")]
    fn is_at_call(&self) -> bool {
        let at = self.registers().rip;
        // SAFETY: the child is stopped; the word that it is about to execute can be read.
        let word = unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, self.0, at, 0) };
        word as u16 == u16::from_le_bytes([0x0f, 0x05])
    }

    /// Not known: all of its instructions count as those behind no call.
    #[cfg(not(target_arch = "x86_64"))]
    fn is_at_call(&self) -> bool {
        false
    }

    /// Waits until it stops. False: it has ended, or reached the next place.
    fn is_trapped(&self) -> bool {
        let status = self.wait();
        assert!(libc::WIFSTOPPED(status) || status == 0, "it has failed: {status:#x}");
        libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP
    }

    /// Runs to its end, or to the next place; how many system calls it makes.
    pub(crate) fn count_calls(&self) -> u64 {
        let mut stops = 0;
        loop {
            // SAFETY: the child is stopped.
            assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SYSCALL, self.0, 0, 0) }, 0);
            let status = self.wait();
            assert!(libc::WIFSTOPPED(status), "it has failed: {status:#x}");
            if libc::WSTOPSIG(status) != libc::SIGTRAP {
                // Each call stops it twice.
                return stops / 2;
            }
            stops += 1;
        }
    }

    /// Runs to the next entry into a system call, or out of one. False: it has ended before, or reached the next place.
    pub(crate) fn to_next_call(&self) -> bool {
        // SAFETY: the child is stopped.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SYSCALL, self.0, 0, 0) }, 0);
        self.is_trapped()
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn registers(&self) -> libc::user_regs_struct {
        let mut registers = core::mem::MaybeUninit::uninit();
        // SAFETY: the child is stopped; the call writes all of them.
        unsafe {
            assert_eq!(libc::ptrace(libc::PTRACE_GETREGS, self.0, 0, registers.as_mut_ptr()), 0);
            registers.assume_init()
        }
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn set_registers(&self, registers: &libc::user_regs_struct) {
        // SAFETY: the child is stopped, and a test.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SETREGS, self.0, 0, core::ptr::from_ref(registers)) }, 0);
    }

    /// Does something with it, and kills it.
    pub(crate) fn tap_kill<R>(self, f: impl FnOnce(&Self) -> R) -> R {
        f(&self)
    }

    pub(crate) fn id(&self) -> libc::pid_t {
        self.0
    }

    /// Whether it has ended: it can still be waited for.
    pub(crate) fn has_ended(&self) -> bool {
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let mut facts = core::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: waits for this child, whose facts the call writes; zeros are facts as well.
        unsafe {
            assert_eq!(libc::waitid(libc::P_PID, self.0 as libc::id_t, facts.as_mut_ptr(), flags), 0);
            facts.assume_init().si_pid() != 0
        }
    }

    /// Waits until it sleeps in a system call.
    pub(crate) fn until_asleep(&self) {
        let is_asleep = || {
            let facts = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).expect("a mounted /proc");
            facts.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" S"))
        };
        while !is_asleep() {
            std::thread::yield_now();
        }
    }

    /// Runs on, until a signal stops it.
    pub(crate) fn go_on(&self) {
        // SAFETY: the child is stopped.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_CONT, self.0, 0, 0) }, 0);
    }

    pub(crate) fn kill(self) {
        drop(self);
    }

    /// Neither learns of the other's death.
    pub(crate) fn kill_both(one: Self, other: Self) {
        // SAFETY: kills two children, which have not been waited for.
        unsafe {
            libc::kill(one.0, libc::SIGKILL);
            libc::kill(other.0, libc::SIGKILL);
        }
        drop((one, other));
    }

    /// Waits for an orderly end.
    pub(crate) fn join(self) {
        assert_eq!(self.wait(), 0);
        core::mem::forget(self);
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: kills this child, which has not been waited for, or is no more.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, core::ptr::null_mut(), 0);
        }
    }
}

/// From now on the kernel answers this call with this error.
pub(crate) fn forbid(call: libc::c_long, error: i32) {
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    // Load the call's number; if it is this one, return the error, else allow it.
    let program = [
        step(0x20, 0, 0, 0),
        step(0x15, 0, 1, call as u32),
        step(0x06, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        step(0x06, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: restricts this process alone; the program is read by the call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter), 0);
    }
}

/// A place from which on a child is stepped.
pub(crate) fn here() {
    // SAFETY: stops this process, which is traced.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// A word that a child and its parent share, besides any channel.
pub(crate) struct Shared(*mut AtomicU64);

// SAFETY: an atomic in a mapping that lives as long as this.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    pub(crate) fn new() -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let word = unsafe { libc::mmap(core::ptr::null_mut(), 4096, access, flags, -1, 0) };
        assert_ne!(word, libc::MAP_FAILED);
        Self(word.cast())
    }

    pub(crate) fn set(&self, value: u64) {
        // SAFETY: mapped, see above.
        // ORDERING: SeqCst; a test.
        unsafe { (*self.0).store(value, Ordering::SeqCst) };
    }

    pub(crate) fn get(&self) -> u64 {
        // SAFETY: mapped, see above.
        // ORDERING: SeqCst; a test.
        unsafe { (*self.0).load(Ordering::SeqCst) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: what `new` has mapped.
        unsafe { libc::munmap(self.0.cast(), 4096) };
    }
}
