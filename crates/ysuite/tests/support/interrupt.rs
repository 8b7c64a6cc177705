//! Signal handlers that interrupt another thread's system calls (EINTR), and how often they have run.

#[cfg(unix)]
mod real {
    use std::os::unix::thread::{JoinHandleExt, RawPthread};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    // The only functions of the C library that the tests need; std links it already.
    unsafe extern "C" {
        fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
        fn siginterrupt(number: i32, interrupt: i32) -> i32;
        fn pthread_kill(thread: RawPthread, number: i32) -> i32;
    }

    /// SIGUSR2: 12 on Linux (31 on the BSDs and macOS), unused by the test harness.
    const NUMBER: i32 = if cfg!(any(target_os = "linux", target_os = "android")) { 12 } else { 31 };

    static HANDLED: AtomicU64 = AtomicU64::new(0);

    extern "C" fn handler(_number: i32) {
        HANDLED.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) struct Interruptions(u64);

    impl Interruptions {
        /// System calls end with EINTR.
        pub(crate) fn new() -> Self {
            Self::handled(true)
        }

        /// System calls start over, as far as the kernel can have them do so.
        pub(crate) fn that_restart() -> Self {
            Self::handled(false)
        }

        fn handled(ends_calls: bool) -> Self {
            // SAFETY: the handler only adds to an atomic, which is allowed in a handler; both calls take plain numbers.
            unsafe {
                signal(NUMBER, handler);
                siginterrupt(NUMBER, i32::from(ends_calls));
            }
            Self(HANDLED.load(Ordering::Relaxed))
        }

        /// Interrupts `thread`, which has not been joined.
        pub(crate) fn once<T>(&self, thread: &JoinHandle<T>) {
            // SAFETY: the handle is not joined or dropped, so the thread's identity is valid even if it has ended.
            unsafe { pthread_kill(thread.as_pthread_t(), NUMBER) };
        }

        /// Interrupts `thread`, which has not been joined, `times` times.
        pub(crate) fn pester<T>(&self, thread: &JoinHandle<T>, times: u32) {
            for _ in 0..times {
                self.once(thread);
                thread::sleep(Duration::from_micros(100));
            }
        }

        pub(crate) fn count(&self) -> u64 {
            HANDLED.load(Ordering::Relaxed) - self.0
        }
    }
}

#[cfg(not(unix))]
mod real {
    /// There are no signal handlers here: nothing to interrupt with.
    pub(crate) struct Interruptions;

    impl Interruptions {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn pester<T>(&self, _thread: &std::thread::JoinHandle<T>, _times: u32) {}

        pub(crate) fn count(&self) -> u64 {
            1
        }
    }
}

#[allow(unused_imports)]
pub(crate) use real::Interruptions;
