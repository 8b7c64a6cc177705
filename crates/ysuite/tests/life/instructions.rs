//! The instructions of this process outside the kernel: by the processor's counter, if the kernel and the machine have
//! one; and otherwise by valgrind, with a function call that marks where one part of a run ends.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::FromRawFd;
use std::path::Path;
use std::process::Command;

/// The processor's counter, of this thread and of all threads that it starts from now on.
pub(crate) struct Counter(File);

impl Counter {
    /// None where the kernel has none for us.
    pub(crate) fn open() -> Option<Self> {
        // Of `struct perf_event_attr` what it had first: 64 bytes.
        const SIZE: u32 = 64;
        const HARDWARE: u32 = 0;
        const INSTRUCTIONS: u64 = 1;
        /// `inherit`, `exclude_kernel`, `exclude_hv`.
        const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;
        #[repr(C)]
        struct Attributes {
            kind: u32,
            size: u32,
            config: u64,
            nothing: [u64; 3],
            flags: u64,
            nothing_either: [u64; 2],
        }
        // The C library's, which std links already.
        unsafe extern "C" {
            fn syscall(number: std::ffi::c_long, ...) -> std::ffi::c_long;
        }
        let number: std::ffi::c_long = if cfg!(target_arch = "x86_64") {
            298
        } else if cfg!(target_arch = "aarch64") {
            241
        } else {
            return None;
        };
        let attributes = Attributes {
            kind: HARDWARE,
            size: SIZE,
            config: INSTRUCTIONS,
            nothing: [0; 3],
            flags: FLAGS,
            nothing_either: [0; 2],
        };
        let (this, any_cpu, no_group, close_on_exec) = (0_i32, -1_i32, -1_i32, 8_u64);
        // SAFETY: `perf_event_open` reads as many bytes as `size` says, and returns a descriptor or -1.
        let counter = unsafe { syscall(number, &raw const attributes, this, any_cpu, no_group, close_on_exec) };
        let counter = i32::try_from(counter).ok().filter(|&counter| counter >= 0)?;
        // SAFETY: a new descriptor, which has no other owner.
        Some(Self(unsafe { File::from_raw_fd(counter) }))
    }

    /// So far.
    pub(crate) fn read(&mut self) -> u64 {
        let mut count = [0; 8];
        self.0.read_exact(&mut count).expect("a count");
        u64::from_ne_bytes(count)
    }
}

/// Where a part of a run ends, for callgrind, which dumps what it has counted before it, and begins again.
#[inline(never)]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ysuite_life_part() {
    std::hint::black_box(0);
}

/// Whether valgrind is there.
pub(crate) fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|said| said.status.success())
}

/// `command` under callgrind, which writes into `folder`.
pub(crate) fn counted(command: &Command, folder: &Path) -> Command {
    let mut outer = Command::new("valgrind");
    outer.args(["--tool=callgrind", "--dump-before=ysuite_life_part", "--fair-sched=yes", "--dump-line=no"]);
    outer.arg(format!("--callgrind-out-file={}", folder.join("profile").display()));
    outer.arg(command.get_program()).args(command.get_args());
    outer
}

/// The instructions of each part that has ended.
pub(crate) fn parts(folder: &Path) -> Vec<u64> {
    (1..)
        .map_while(|part| fs::read_to_string(folder.join(format!("profile.{part}"))).ok())
        .map(|profile| {
            let count = profile.lines().find_map(|line| line.strip_prefix("totals: ")).expect("callgrind's format");
            count.trim().parse().expect("a number")
        })
        .collect()
}
