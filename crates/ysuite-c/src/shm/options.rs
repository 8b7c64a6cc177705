//! How an end treats its peer, as callers say it.

use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::slice;

use ysuite_shm::Options;

use super::text;
use crate::code::{YS_EINVAL, ys_code};

/// How an end treats its peer. Begin with YS_SHM_OPTIONS_INIT, which sets the first field, and 0 everywhere else, which is the
/// default. NULL instead of options is all defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ys_shm_options {
    /// sizeof(ys_shm_options) of the caller's header. Shorter and longer ones are valid, as of ys_options.
    pub struct_size: u32,
    /// Not 0: the peer may be hostile. The two wake each other by their socket, and take no descriptors but memory. Sleeping
    /// costs half as much again. It is enough that one end says so; peers of other users are treated so in any case.
    pub careful: u32,
    /// The most bytes of memory that this end accepts of a peer, which count against the address space only. 0: 64 MiB.
    pub largest_region: usize,
    /// What the program calls its messages, such as "quote, version 2", in UTF-8. Both ends must use the same. NULL: "".
    pub messages: *const c_char,
    /// The numbers of the users whose processes may connect to a name, or listen at one. NULL: that of this process alone.
    pub users: *const u32,
    /// How many there are.
    pub user_count: usize,
    /// For a ys_shm_caller and a ys_shm_questions: how many questions of one caller may be without an answer at a time. Each has
    /// memory for as many; of two numbers the smaller one counts. 0: 64.
    pub calls: usize,
    /// For a ys_shm_work: how many times a job is given out at most, before ys_shm_work_next_failed has it. It counts for a job when a
    /// worker gives it back, or goes while it is the first that it has, which it may have begun. 0: as long as workers come.
    pub attempts: usize,
}

impl ys_shm_options {
    /// What lies at `options`, in as many bytes as it says.
    ///
    /// # Safety
    /// NULL, or that many bytes are there, and what they have the addresses of.
    pub(super) unsafe fn read(options: *const Self) -> Result<Options, ys_code> {
        if options.is_null() {
            return Ok(Options::new());
        }
        // SAFETY: by the caller there are at least these four bytes.
        let given = unsafe { options.cast::<u32>().read_unaligned() } as usize;
        if given < size_of::<u32>() {
            return Err(YS_EINVAL);
        }
        let mut copy = MaybeUninit::<Self>::zeroed();
        // SAFETY: by the caller that many bytes are there. All zeros are valid options, and so is any part of a shorter
        // structure.
        let given = unsafe {
            copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(options.cast(), given.min(size_of::<Self>()));
            copy.assume_init()
        };
        let mut options = Options::new();
        if !given.messages.is_null() {
            // SAFETY: by the caller.
            options = options.messages(unsafe { text(given.messages) }?);
        }
        if given.largest_region != 0 {
            options = options.largest_region(given.largest_region);
        }
        if given.calls != 0 {
            options = options.calls(given.calls);
        }
        // More than can be counted are as many as can be.
        options = options.attempts(u32::try_from(given.attempts).unwrap_or(u32::MAX));
        if given.careful != 0 {
            options = options.careful();
        }
        if !given.users.is_null() {
            // MUTANT: `>=`, and one more or less: no memory has room for them.
            if given.user_count > isize::MAX as usize / size_of::<u32>() {
                return Err(YS_EINVAL);
            }
            // SAFETY: by the caller.
            let users = unsafe { slice::from_raw_parts(given.users, given.user_count) }.to_vec();
            options = options.allow(move |user| users.contains(&user));
        } else if given.user_count != 0 {
            return Err(YS_EINVAL);
        }
        Ok(options)
    }
}
