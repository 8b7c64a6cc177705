//! The system calls of the calling thread, from any code, by `libc` or not.
//!
//! The kernel can pass every call of a thread back to the program, as a signal (`PR_SET_SYSCALL_USER_DISPATCH`, Linux
//! 5.11). The signal's handler counts it, and makes it, from the few instructions whose calls the kernel lets pass:
//!
//! ```text
//!   any code          futex(...) --> kernel --> SIGSYS --> counted, pass: futex(...) --> kernel
//!                     result     <----------------------- sigreturn <--------------------/
//! ```
//!
//! That takes about a microsecond for each call. Cannot: start a thread while calls are counted, which is refused;
//! report anything on processors other than x86-64, or where the kernel refuses.

#[cfg(target_arch = "x86_64")]
pub(super) use self::dispatched::counted;

/// Runs it, and reports nothing.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn counted<A>(work: impl FnOnce() -> A) -> (A, Option<u64>) {
    (work(), None)
}

#[cfg(target_arch = "x86_64")]
mod dispatched {
    use std::arch::global_asm;
    use std::cell::Cell;
    use std::ffi::{c_int, c_long, c_void};
    use std::ptr;
    use std::sync::OnceLock;

    use libc::{siginfo_t, ucontext_t};

    // All calls between the two labels pass. The kernel checks the address after the call.
    global_asm!(
        ".pushsection .text.ybench_pass, \"ax\", @progbits",
        "ybench_pass:",
        "mov rax, rdi",
        "mov r9, [rsi + 40]",
        "mov r8, [rsi + 32]",
        "mov r10, [rsi + 24]",
        "mov rdx, [rsi + 16]",
        "mov rdi, [rsi]",
        "mov rsi, [rsi + 8]",
        "syscall",
        "ret",
        "ybench_pass_return:",
        "mov eax, 15",
        "syscall",
        "ud2",
        "ybench_pass_end:",
        ".globl ybench_pass, ybench_pass_return, ybench_pass_end",
        ".popsection",
    );

    unsafe extern "C" {
        /// Makes the call of that number. Negative: the error.
        fn ybench_pass(number: c_long, arguments: *const i64) -> c_long;
        /// The return address of a signal's handler: the call `rt_sigreturn`.
        fn ybench_pass_return();
        fn ybench_pass_end();
    }

    /// A signal's handling as the kernel takes it, with its own way back.
    #[repr(C)]
    struct Action {
        handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void),
        flags: u64,
        restorer: unsafe extern "C" fn(),
        mask: u64,
    }

    const SA_RESTORER: u64 = 0x0400_0000;
    const PR_SET_SYSCALL_USER_DISPATCH: i64 = 59;

    thread_local! {
        static CALLS: Cell<u64> = const { Cell::new(0) };
    }

    extern "C" fn on_call(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the kernel passes the context of the interrupted code, which no other code has.
        let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
        let of = |register: c_int| registers[register as usize];
        let number = of(libc::REG_RAX);
        CALLS.set(CALLS.get() + 1);
        let arguments =
            [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9].map(of);
        let result = match number {
            // A new thread would begin in the middle of this one's handler.
            libc::SYS_clone | libc::SYS_clone3 | libc::SYS_fork | libc::SYS_vfork => c_long::from(-libc::EAGAIN),
            // SAFETY: the very call, with the very arguments, that the code was about to make.
            _ => unsafe { ybench_pass(number, arguments.as_ptr()) },
        };
        registers[libc::REG_RAX as usize] = result;
    }

    /// Whether there is a handler, from the first question on.
    fn handled() -> bool {
        static HANDLED: OnceLock<bool> = OnceLock::new();
        *HANDLED.get_or_init(|| {
            let flags = SA_RESTORER | libc::SA_SIGINFO as u64;
            let action = Action { handler: on_call, flags, restorer: ybench_pass_return, mask: 0 };
            // SAFETY: the layout is the kernel's; the handler uses only a number of its thread and the context.
            unsafe {
                libc::syscall(libc::SYS_rt_sigaction, libc::SIGSYS, &raw const action, ptr::null::<Action>(), 8) == 0
            }
        })
    }

    /// Starts or stops passing the calls of this thread to the handler.
    fn dispatch(on: bool) -> bool {
        let begin = ybench_pass as *const () as i64;
        let (begin, length) = if on { (begin, ybench_pass_end as *const () as i64 - begin) } else { (0, 0) };
        let arguments = [PR_SET_SYSCALL_USER_DISPATCH, i64::from(on), begin, length, 0, 0];
        // SAFETY: there is a handler, and the range has its calls and its return address; a call from there is not
        // counted.
        unsafe { ybench_pass(libc::SYS_prctl, arguments.as_ptr()) == 0 }
    }

    struct Counting;

    impl Drop for Counting {
        fn drop(&mut self) {
            dispatch(false);
        }
    }

    /// Runs it, and returns the number of system calls of this thread meanwhile. `None` where the kernel does not
    /// support it.
    pub(in super::super) fn counted<A>(work: impl FnOnce() -> A) -> (A, Option<u64>) {
        if !handled() || !dispatch(true) {
            return (work(), None);
        }
        let counting = Counting;
        let before = CALLS.get();
        let value = work();
        let calls = CALLS.get() - before;
        drop(counting);
        (value, Some(calls))
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn every_call_is_made_and_counted() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let (text, calls) = counted(|| {
            near.write_all(b"seen").unwrap();
            let mut text = [0; 4];
            far.read_exact(&mut text).unwrap();
            text
        });
        assert_eq!(&text, b"seen");
        // A kernel that does not have it reports nothing.
        assert!(calls.is_none_or(|calls| calls == 2), "{calls:?}");
        let parent = std::os::unix::process::parent_id();
        let (same, calls) = counted(|| (0..10).all(|_| std::os::unix::process::parent_id() == parent));
        assert!(same && calls.is_none_or(|calls| calls == 10), "{calls:?}");
    }

    #[test]
    fn a_sleep_is_one_call_and_ends_by_a_thread_that_is_not_counted() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let answering = thread::spawn(move || {
            counted(|| {
                let mut byte = [0];
                far.read_exact(&mut byte).unwrap();
                byte
            })
        });
        // So that it normally sleeps. If it does not, its read is the same one call.
        thread::sleep(std::time::Duration::from_millis(5));
        near.write_all(&[7]).unwrap();
        let (received, calls) = answering.join().unwrap();
        assert_eq!(received, [7]);
        assert!(calls.is_none_or(|calls| calls == 1), "{calls:?}");
        thread::spawn(|| ()).join().unwrap();
    }

    #[test]
    fn what_was_counted_may_panic() {
        assert!(std::panic::catch_unwind(|| counted(|| panic!("on purpose"))).is_err());
        thread::spawn(|| ()).join().unwrap();
    }
}
