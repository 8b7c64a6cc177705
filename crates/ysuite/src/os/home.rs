//! The identity of this process. A forked child is another process: it has a copy of the memory, and the same
//! descriptors as its parent, which it must leave alone.
//!
//! Any thread, also in a forked child: no lock is held across a fork. On Linux each call is a load, except the very
//! first (two system calls; three where the kernel cannot wipe pages); elsewhere, and on kernels before 4.14, each call
//! is a system call (`getpid`).
//!
//! The load is of a page that the kernel wipes in every forked child (`MADV_WIPEONFORK`). The page holds a number that
//! none of the process's ancestors had.
//!
//! Cannot: distinguish processes that share their memory, such as a child of `vfork` before it calls `exec`.

// REUSED: the descriptor of a set, in a forked child; held by the child, which has the very same; harmless: it touches
//     only those that it has made; test: tests/suite/attached/forked.rs:
//     a_set_that_a_child_drops_while_something_is_up_rings_on, tests/forbidden.rs:
//     madvise_forbidden_by_a_filter_means_asking_which_process_this_is
// REUSED: the number of a process; held by sets of its ancestors, in a child; harmless: a child counts on from the
//     number of its parent; test: tests/suite/attached/forked.rs: a_set_that_is_made_in_a_child_is_the_childs
/// The process in which an object was made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home(u32);

impl Home {
    /// The calling process.
    pub(crate) fn here() -> Self {
        #[cfg(all(not(ysuite_loom), not(miri), any(target_os = "linux", target_os = "android")))]
        if let Some(number) = wiped::current() {
            return Self(number);
        }
        Self(by_id())
    }

    /// Whether the calling process is this one, and not a forked child of it.
    pub(crate) fn is_here(self) -> bool {
        self == Self::here()
    }
}

#[cold]
fn by_id() -> u32 {
    super::count_call();
    std::process::id()
}

#[cfg(all(not(ysuite_loom), not(miri), any(target_os = "linux", target_os = "android")))]
mod wiped {
    use core::alloc::Layout;
    use core::ptr;

    use crate::os::sys::{MADV_WIPEONFORK, advise};
    use crate::os::{count_call, pages};
    use crate::sync::{AtomicPtr, AtomicU32, Ordering};

    /// One page.
    const PAGE: Layout = Layout::new::<[u8; pages::PAGE]>();

    /// The word in the page that is wiped; null before the first call.
    static PAGE_OF_ALL: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

    /// Represents the page where the kernel does not wipe pages.
    static NONE: AtomicU32 = AtomicU32::new(0);

    /// The last number given to a process. A child has a copy, and continues from there.
    static LAST: AtomicU32 = AtomicU32::new(0);

    // MUTANT: Kernels without `MADV_WIPEONFORK` only. Killed only by
    // `madvise_forbidden_by_a_filter_means_asking_which_process_this_is`.
    /// This process's number; `None` where the kernel does not wipe pages.
    #[inline(never)]
    pub(super) fn current() -> Option<u32> {
        // ORDERING: Acquire pairs with the Release of the exchange in `make`: the page is mapped, and will be wiped on
        // fork.
        let word = ptr::NonNull::new(PAGE_OF_ALL.load(Ordering::Acquire)).unwrap_or_else(make);
        if ptr::eq(word.as_ptr(), &raw const NONE) {
            return None;
        }
        // SAFETY: the pointer is to a page that is mapped until the process ends: `NONE` was excluded above.
        let word = unsafe { word.as_ref() };
        // ORDERING: Relaxed; the number guards no other data. Once a thread has seen this process's number, coherence
        // keeps it from seeing 0 again.
        match word.load(Ordering::Relaxed) {
            0 => Some(name(word)),
            number => Some(number),
        }
    }

    /// Gives this process its number, at its first call.
    #[cold]
    fn name(word: &AtomicU32) -> u32 {
        // MUTANT: Numbers of processes only have to differ and to grow.
        // ORDERING: Relaxed; the read-modify-write makes each number unique, and the number guards no other data.
        let fresh = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        // ORDERING: Relaxed twice; of two threads that come here at once one wins the exchange, and both use its
        // number. The other number is left out.
        word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(fresh)
    }

    // MUTANT: In a race: at the first call in a process each late thread leaves one page mapped.
    /// Makes the page, once for this process and all its children.
    #[cold]
    fn make() -> ptr::NonNull<AtomicU32> {
        let mine = map().unwrap_or(ptr::NonNull::from(&NONE));
        // ORDERING: Release pairs with the Acquire in `current` and hands the page over. Acquire on failure pairs with
        // the Release of the thread that has made the page first.
        match PAGE_OF_ALL.compare_exchange(ptr::null_mut(), mine.as_ptr(), Ordering::Release, Ordering::Acquire) {
            Ok(_) => mine,
            Err(first) => {
                if !ptr::eq(mine.as_ptr(), &raw const NONE) {
                    // SAFETY: this thread has mapped the page, and the exchange has failed: no other thread knows it.
                    unsafe { pages::unmap(mine.cast(), PAGE) };
                }
                // SAFETY: the exchange fails only where the pointer is not null.
                unsafe { ptr::NonNull::new_unchecked(first) }
            }
        }
    }

    // MUTANT: Kernels without `MADV_WIPEONFORK` only. Killed only by
    // `madvise_forbidden_by_a_filter_means_asking_which_process_this_is`.
    fn map() -> Option<ptr::NonNull<AtomicU32>> {
        let page = pages::map(PAGE)?;
        count_call();
        // SAFETY: the page was mapped just now, and is not used yet.
        if unsafe { advise(page.as_ptr(), PAGE.size(), MADV_WIPEONFORK) } {
            return Some(page.cast());
        }
        // SAFETY: the page was mapped just now, and is not used.
        unsafe { pages::unmap(page, PAGE) };
        None
    }
}
