//! Which process this is. A forked child is another one: it has a copy of the memory, and the very descriptors of its
//! parent, which it must leave alone.
//!
//! Any thread, also in a forked child: no lock is held across a fork. On Linux a load, once the process has asked for the
//! first time (three system calls); elsewhere, and on kernels before 4.14, a system call (`getpid`) each time.
//!
//! The load is of a page that the kernel wipes in every forked child (`MADV_WIPEONFORK`). It holds a number that no other
//! process had which this one descends from.
//!
//! Cannot: tell processes apart that share their memory, as those of `vfork` do until they call `exec`.

/// The process where something was made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home(u32);

impl Home {
    /// The calling process.
    pub(crate) fn here() -> Self {
        Self(current())
    }

    /// Whether the calling process is that one, and not a forked child of it.
    pub(crate) fn is_here(self) -> bool {
        self == Self::here()
    }
}

/// A model has one process.
#[cfg(ysuite_loom)]
fn current() -> u32 {
    0
}

#[cfg(all(not(ysuite_loom), any(miri, not(any(target_os = "linux", target_os = "android")))))]
fn current() -> u32 {
    by_id()
}

#[cfg(all(not(ysuite_loom), not(miri), any(target_os = "linux", target_os = "android")))]
fn current() -> u32 {
    wiped::current().unwrap_or_else(by_id)
}

#[cfg(not(ysuite_loom))]
#[cold]
fn by_id() -> u32 {
    super::count_call();
    std::process::id()
}

#[cfg(all(not(ysuite_loom), not(miri), any(target_os = "linux", target_os = "android")))]
mod wiped {
    use core::ptr;
    use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

    use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

    use crate::os::count_call;

    /// The smallest page of any system: what is mapped is rounded up to one.
    const PAGE: usize = 4096;

    /// The word in the page that is wiped; null before anybody has asked.
    static PAGE_OF_ALL: AtomicPtr<AtomicU32> = AtomicPtr::new(ptr::null_mut());

    /// What stands for the page where there cannot be one.
    static NONE: AtomicU32 = AtomicU32::new(0);

    /// The last number that was given to a process. A child goes on from there.
    static LAST: AtomicU32 = AtomicU32::new(0);

    /// This process's number; nothing where the kernel does not wipe pages.
    pub(super) fn current() -> Option<u32> {
        // ORDERING: Acquire pairs with the Release in `make`: the page is all zeros or has been named.
        let word = match ptr::NonNull::new(PAGE_OF_ALL.load(Ordering::Acquire)) {
            Some(word) => word,
            None => make(),
        };
        if ptr::eq(word.as_ptr(), &raw const NONE) {
            return None;
        }
        // SAFETY: a page that is never given back, or the static.
        let word = unsafe { word.as_ref() };
        // ORDERING: Relaxed; the number stands for itself. Whoever compares it was given it, or made what it compares, before.
        match word.load(Ordering::Relaxed) {
            0 => Some(name(word)),
            number => Some(number),
        }
    }

    /// The first question of this process.
    #[cold]
    fn name(word: &AtomicU32) -> u32 {
        // ORDERING: Relaxed twice; two threads that ask at once agree by the exchange, and a number may be left out.
        let fresh = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1).max(1);
        match word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(number) => number,
        }
    }

    /// Makes the page, once for this process and all its children.
    #[cold]
    fn make() -> ptr::NonNull<AtomicU32> {
        let mine = map().unwrap_or(ptr::NonNull::from(&NONE));
        // ORDERING: Release hands the page over; Acquire on failure takes over another thread's.
        match PAGE_OF_ALL.compare_exchange(ptr::null_mut(), mine.as_ptr(), Ordering::Release, Ordering::Acquire) {
            Ok(_) => mine,
            Err(first) => {
                if !ptr::eq(mine.as_ptr(), &raw const NONE) {
                    // SAFETY: mapped just now, and shown to nobody.
                    unsafe { unmap(mine) };
                }
                // SAFETY: the exchange fails only where it is not null.
                unsafe { ptr::NonNull::new_unchecked(first) }
            }
        }
    }

    fn map() -> Option<ptr::NonNull<AtomicU32>> {
        count_call();
        // SAFETY: a new mapping, at an address of the kernel's choice.
        let page =
            unsafe { mmap_anonymous(ptr::null_mut(), PAGE, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
        let page = ptr::NonNull::new(page.ok()?)?;
        count_call();
        // SAFETY: the page just mapped, of which nothing is used so far.
        if unsafe { madvise(page.as_ptr(), PAGE, Advice::LinuxWipeOnFork) }.is_ok() {
            return Some(page.cast());
        }
        // SAFETY: as above.
        unsafe { unmap(page.cast()) };
        None
    }

    /// # Safety
    /// `page` came from [`map`], and nobody uses it.
    unsafe fn unmap(page: ptr::NonNull<AtomicU32>) {
        count_call();
        // SAFETY: by the caller. Should it fail, a page is left over.
        let _ = unsafe { munmap(page.as_ptr().cast(), PAGE) };
    }
}
