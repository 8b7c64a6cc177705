//! What a channel is to be like, as callers say it.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use crate::disposal::Disposal;
use crate::message::Class;
use crate::window::YS_WINDOW_VERSION;

/// What a channel is to be like. Begin with YS_OPTIONS_INIT, which sets the first two fields, and 0 everywhere else.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ys_options {
    /// sizeof(ys_options) of the caller's header. An older, shorter one is valid: what it does not have counts as 0. A newer one
    /// is valid too: what this library does not know is ignored.
    pub struct_size: u32,
    /// YS_WINDOW_VERSION of the caller's header, or 0: there is to be no inline path. One that is unknown to the library is as 0.
    pub window: u32,
    /// How many bytes a message has: 1 to 128. A larger message goes by its address, for example one of a ys_pool.
    pub size: usize,
    /// What messages are aligned to, in bytes: a power of two, at most 16. 0 is 8.
    pub align: usize,
    /// How many messages can be in the channel; in an mpsc channel, of each sender. 0: no bound. More than PTRDIFF_MAX,
    /// as a number less than 0 becomes, is YS_EINVAL.
    pub capacity: usize,
    /// Only in a bounded mpsc channel: how many senders there can be at a time. 0: no limit. More than 262,080 is YS_EINVAL.
    pub senders: usize,
    /// Called once for each message that is never received, on the thread that finds it, with its address and the
    /// context. In an spsc or mpsc channel that is the slot in which it was written; mpmc channels and oneshots move
    /// messages. May be NULL.
    ///
    /// It must not use the handle whose call has led to it; it may use others. An exception of C++ that leaves it ends
    /// the process. A panic of Rust that leaves it is caught: the call returns YS_EPANIC, as do all later ones with
    /// that handle. Whether a message that such a call was given is in the channel, has been dropped, or neither, is
    /// not known: it must not be used any more.
    pub drop: Option<unsafe extern "C-unwind" fn(message: *mut c_void, context: *mut c_void)>,
    /// For the callbacks. Must stay valid until all handles of the channel are freed; any thread may use it.
    pub context: *mut c_void,
    /// In a broadcast and a watch, whose receivers get copies: called to make one, with room for it, the address of the
    /// message and the context; on any thread, also on several at once for one message. NULL: its bytes are copied, and
    /// `drop` must be NULL too. It must not use handles of this channel; otherwise as `drop`.
    pub clone: Option<unsafe extern "C-unwind" fn(to: *mut c_void, from: *const c_void, context: *mut c_void)>,
}

/// What a channel is to be like, checked as far as it is the same for all kinds.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) class: Class,
    pub(crate) size: usize,
    pub(crate) align: usize,
    pub(crate) capacity: usize,
    pub(crate) senders: usize,
    pub(crate) disposal: Option<Disposal>,
    /// Whether the inline path is asked for, and known.
    pub(crate) has_window: bool,
}

impl ys_options {
    // MUTANT: A structure that short has no message size and is refused for that.
    /// What lies at `options`, in as many bytes as it says.
    ///
    /// # Safety
    /// NULL, or that many bytes are there.
    pub(crate) unsafe fn read(options: *const Self) -> Option<Wanted> {
        let first_two = 2 * size_of::<u32>();
        if options.is_null() {
            return None;
        }
        // SAFETY: by the caller there are at least these four bytes.
        let given = unsafe { options.cast::<u32>().read_unaligned() } as usize;
        if given < first_two {
            return None;
        }
        let mut copy = MaybeUninit::<Self>::zeroed();
        // SAFETY: by the caller that many bytes are there. All zeros are valid options, and so is any part of a shorter
        // structure.
        let options = unsafe {
            copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(options.cast(), given.min(size_of::<Self>()));
            copy.assume_init()
        };
        if options.capacity > isize::MAX as usize {
            return None;
        }
        Some(Wanted {
            class: Class::of(options.size, options.align)?,
            size: options.size,
            align: if options.align == 0 { 8 } else { options.align },
            capacity: options.capacity,
            senders: options.senders,
            disposal: (options.drop.is_some() || options.clone.is_some()).then_some(Disposal {
                drop: options.drop,
                clone: options.clone,
                context: options.context,
            }),
            has_window: options.window == YS_WINDOW_VERSION,
        })
    }
}
