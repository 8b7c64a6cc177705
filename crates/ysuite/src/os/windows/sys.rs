//! The functions of Windows for which std has no counterpart, by `raw-dylib`: no crate has to be compiled for them, and no
//! import library to be there (decision 026).
//!
//! Any thread. Errors are those that a caller can use. No function here takes the lock of the loader, which a thread has
//! while its thread-locals are dropped: there it may wait for the thread that calls.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};

macro_rules! library {
    ($name:literal { $($declarations:tt)* }) => {
        // On x86 a compiler's name of a function has the size of its arguments, and the library's has not.
        #[cfg_attr(target_arch = "x86", link(name = $name, kind = "raw-dylib", import_name_type = "undecorated"))]
        #[cfg_attr(not(target_arch = "x86"), link(name = $name, kind = "raw-dylib"))]
        unsafe extern "system" {
            $($declarations)*
        }
    };
}

library!("api-ms-win-core-synch-l1-2-0" {
    fn WaitOnAddress(word: *const c_void, compared: *const c_void, bytes: usize, milliseconds: u32) -> i32;
    fn WakeByAddressSingle(word: *const c_void);
    fn WakeByAddressAll(word: *const c_void);
});

library!("kernel32" {
    fn VirtualAlloc(at: *mut c_void, bytes: usize, kind: u32, access: u32) -> *mut c_void;
    fn VirtualFree(at: *mut c_void, bytes: usize, kind: u32) -> i32;
    safe fn FlushProcessWriteBuffers();
    safe fn GetActiveProcessorCount(group: u16) -> u32;
    fn CreateEventW(security: *const c_void, by_hand: i32, set: i32, name: *const u16) -> *mut c_void;
    fn SetEvent(event: *mut c_void) -> i32;
    fn WaitForSingleObject(object: *mut c_void, milliseconds: u32) -> u32;
});

library!("ntdll" {
    fn NtQuerySystemInformation(class: u32, into: *mut c_void, bytes: u32, needed: *mut u32) -> i32;
    // As the documented `KeResetEvent`; `ResetEvent` does not say what there was.
    fn NtResetEvent(event: *mut c_void, before: *mut i32) -> i32;
});

const INFINITE: u32 = u32::MAX;
const MEM_COMMIT: u32 = 0x1000;
const MEM_RESERVE: u32 = 0x2000;
const MEM_RELEASE: u32 = 0x8000;
const MEM_RESET: u32 = 0x8_0000;
const PAGE_READWRITE: u32 = 4;
const ALL_PROCESSOR_GROUPS: u16 = 0xffff;
/// What Wine has added to `NtQuerySystemInformation`, of Wine 7 and later: its version.
const SYSTEM_WINE_VERSION: u32 = 1000;
const STATUS_INVALID_INFO_CLASS: i32 = 0xc000_0003_u32 as i32;

/// Sleeps while the word has that value, for about that time at most. False: nobody has woken the thread.
pub(super) fn wait_on_address(word: &AtomicU32, expected: u32, time: Option<Duration>) -> bool {
    let compared = (&raw const expected).cast();
    // SAFETY: the word and the value live as long as the call.
    unsafe { WaitOnAddress(word.as_ptr().cast(), compared, size_of::<u32>(), milliseconds(time)) != 0 }
}

/// Rounded up, so that no caller waits again for the rest of a millisecond. More is no error: callers wait again.
fn milliseconds(time: Option<Duration>) -> u32 {
    let most = |time: Duration| time.as_nanos().div_ceil(1_000_000).try_into().unwrap_or(INFINITE - 1);
    time.map_or(INFINITE, most)
}

/// An event that is not set, is reset by hand, and is not inherited by processes.
pub(super) fn event() -> io::Result<OwnedHandle> {
    // SAFETY: neither attributes nor a name.
    let event = unsafe { CreateEventW(ptr::null(), 1, 0, ptr::null()) };
    if event.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has made it just now.
    Ok(unsafe { OwnedHandle::from_raw_handle(event) })
}

/// Ends all waits for this event, until it is reset.
pub(super) fn set_event(event: BorrowedHandle<'_>) {
    // SAFETY: the handle is borrowed. It fails for what is no event only.
    unsafe { SetEvent(event.as_raw_handle()) };
}

/// Whether it was set. Of several threads that reset it at once one finds that it was.
pub(super) fn reset_event(event: BorrowedHandle<'_>) -> bool {
    let mut before = 0;
    // SAFETY: the handle is borrowed, and the place lives as long as the call. It fails for what is no event only.
    unsafe { NtResetEvent(event.as_raw_handle(), &raw mut before) };
    before != 0
}

/// Blocks until the event is set, or the time is over. Always true: there are no signal handlers.
pub(super) fn poll_readable(event: BorrowedHandle<'_>, time: Option<Duration>) -> bool {
    // SAFETY: the handle is borrowed. It fails for what cannot be waited for only.
    unsafe { WaitForSingleObject(event.as_raw_handle(), milliseconds(time)) };
    true
}

pub(super) fn wake_one(word: &AtomicU32) {
    // SAFETY: the call does not access the word.
    unsafe { WakeByAddressSingle(word.as_ptr().cast()) };
}

pub(super) fn wake_all(word: &AtomicU32) {
    // SAFETY: the call does not access the word.
    unsafe { WakeByAddressAll(word.as_ptr().cast()) };
}

/// Interrupts each processor that runs a thread of this process.
pub(super) fn flush_process_write_buffers() {
    FlushProcessWriteBuffers();
}

/// The processors that are in use; 0 where that is unknown.
pub(super) fn processors() -> u32 {
    GetActiveProcessorCount(ALL_PROCESSOR_GROUPS)
}

/// Whether this is Wine, of version 7 or later. Not by looking for a function of its `ntdll`, for which a thread takes
/// the lock of the loader.
pub(super) fn is_wine() -> bool {
    let mut version = [0_u8; 8];
    let bytes = version.len() as u32;
    // SAFETY: as many bytes as it says. Where Wine needs more it writes nothing, and says so.
    let status =
        unsafe { NtQuerySystemInformation(SYSTEM_WINE_VERSION, version.as_mut_ptr().cast(), bytes, ptr::null_mut()) };
    status != STATUS_INVALID_INFO_CLASS
}

/// Memory that reads as zeros, at a multiple of 64 KiB; each page is put in place when it is first used. `None`: there
/// is none.
pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: new memory, at an address that the system chooses: no memory in use is affected.
    NonNull::new(unsafe { VirtualAlloc(ptr::null_mut(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) }.cast())
}

/// The system may drop what is in these pages, at any time before they are next written. They can still be accessed.
///
/// # Safety
/// `memory` came from [`map`] with at least as many bytes, and nothing in it is used.
pub(super) unsafe fn reset(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: by the caller. Where the call fails the pages stay as they are.
    unsafe { VirtualAlloc(memory.as_ptr().cast(), bytes, MEM_RESET, PAGE_READWRITE) };
}

/// # Safety
/// `memory` came from [`map`], and no thread uses it any more.
pub(super) unsafe fn unmap(memory: NonNull<u8>) {
    // SAFETY: by the caller; all that was mapped. It fails only for an address that `map` has not returned.
    unsafe { VirtualFree(memory.as_ptr().cast(), 0, MEM_RELEASE) };
}
