//! The kernel's limits for this process's use of its mechanisms, and the part that is used.
//!
//! A limit that an ordinary process may raise is raised: a pipe to `fs.pipe-max-size`, a socket's buffer to
//! `net.core.wmem_max`, the messages of a POSIX queue to `fs.mqueue.msg_max`, `RLIMIT_MSGQUEUE` to its hard limit. Only
//! a privileged process can raise the bytes of a System V queue beyond `kernel.msgmnb`, and they are raised where that
//! is permitted. The used part is not the request, but the size that the kernel reports of a queue that was opened with
//! it.

use std::fmt::Write as _;
use std::fs;
use std::io;

use rustix::net::SocketType;
use rustix::process::{Resource, getrlimit};

use super::{packets, pipe, posix_mq, sysv_mq};
use crate::env::{Allowed, KernelLimits as Limits};
use crate::figures::grouped;

/// A limit that is a file.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    name: &'static str,
    path: &'static str,
}

impl Setting {
    /// Nothing if there is no such limit, or no /proc.
    pub fn read(self) -> Option<u64> {
        fs::read_to_string(self.path).ok()?.trim().parse().ok()
    }
}

pub static MESSAGES: Setting = Setting { name: "fs.mqueue.msg_max", path: "/proc/sys/fs/mqueue/msg_max" };
pub static MESSAGE_BYTES: Setting = Setting { name: "fs.mqueue.msgsize_max", path: "/proc/sys/fs/mqueue/msgsize_max" };
static QUEUES: Setting = Setting { name: "fs.mqueue.queues_max", path: "/proc/sys/fs/mqueue/queues_max" };
static QUEUE_BYTES: Setting = Setting { name: "kernel.msgmnb", path: "/proc/sys/kernel/msgmnb" };
static LETTER_BYTES: Setting = Setting { name: "kernel.msgmax", path: "/proc/sys/kernel/msgmax" };
static SYSV_QUEUES: Setting = Setting { name: "kernel.msgmni", path: "/proc/sys/kernel/msgmni" };
pub static PIPE: Setting = Setting { name: "fs.pipe-max-size", path: "/proc/sys/fs/pipe-max-size" };
pub static SEND_BUFFER: Setting = Setting { name: "net.core.wmem_max", path: "/proc/sys/net/core/wmem_max" };
static DATAGRAMS: Setting = Setting { name: "net.unix.max_dgram_qlen", path: "/proc/sys/net/unix/max_dgram_qlen" };
const QUEUE_MEMORY: &str = "RLIMIT_MSGQUEUE";
const TOGETHER: &str = "PIPE_BUF";

/// The subject of each limit.
const ABOUT: &[(&str, &str)] = &[
    (MESSAGES.name, "messages in a POSIX queue"),
    (MESSAGE_BYTES.name, "bytes in a message of a POSIX queue"),
    (QUEUES.name, "POSIX queues at once"),
    (QUEUE_MEMORY, "bytes in all POSIX queues of a user"),
    (QUEUE_BYTES.name, "bytes in a System V queue"),
    (LETTER_BYTES.name, "bytes in a message of a System V queue"),
    (SYSV_QUEUES.name, "System V queues at once"),
    (PIPE.name, "bytes in a pipe"),
    (TOGETHER, "bytes that a pipe keeps together between several threads"),
    (SEND_BUFFER.name, "bytes in the send buffer of a socket"),
    (DATAGRAMS.name, "datagrams waiting at a socket that is not connected back to the sender; ours are"),
];

/// Reads all of them, and opens one of each mechanism to see its actual size.
pub fn limits() -> Limits {
    let mut limits = Limits::new();
    let mut keep = |name: &str, allowed: Option<u64>, used: Option<u64>| {
        limits.extend(allowed.map(|allowed| (name.to_owned(), Allowed { allowed, used })));
    };
    let messages = posix_mq::Queue::open(size_of::<usize>()).and_then(|queue| queue.messages()).ok();
    keep(MESSAGES.name, MESSAGES.read(), messages);
    keep(QUEUE_MEMORY, getrlimit(Resource::Msgqueue).current, None);
    keep(QUEUE_BYTES.name, QUEUE_BYTES.read(), sysv_mq::Queue::open().and_then(|queue| queue.bytes()).ok());
    keep(PIPE.name, PIPE.read(), pipe::Both::open().and_then(|pipe| pipe.bytes()).ok());
    keep(TOGETHER, Some(pipe::WHOLE as u64), None);
    let buffer = packets::Pair::open(SocketType::DGRAM).and_then(|pair| pair.send_buffer()).ok();
    keep(SEND_BUFFER.name, SEND_BUFFER.read(), buffer);
    for bound in [MESSAGE_BYTES, QUEUES, LETTER_BYTES, SYSV_QUEUES, DATAGRAMS] {
        keep(bound.name, bound.read(), None);
    }
    limits
}

/// The current limits, one line each.
pub fn report() -> String {
    in_words(&limits())
}

/// These limits, one line each, without a line end after the last. Also for those of a kept result.
pub fn in_words(limits: &Limits) -> String {
    let mut text = String::new();
    for (name, about) in ABOUT {
        let Some(limit) = limits.get(*name) else { continue };
        let used = match limit.used {
            Some(used) if used > limit.allowed => format!("; used {}, by privilege", grouped(used as f64)),
            Some(used) => format!("; used {}", grouped(used as f64)),
            None => String::new(),
        };
        let line = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{line}{name:<24} {:>12}  {about}{used}", grouped(limit.allowed as f64));
    }
    text
}

/// The most bytes in a message of a System V queue: it must fit into a message, and into the queue of an ordinary user.
pub(in crate::transport) fn longest_letter() -> usize {
    let least = [LETTER_BYTES, QUEUE_BYTES].into_iter().filter_map(Setting::read).min();
    least.map_or(usize::MAX, |least| least as usize)
}

/// The most bytes in a packet: the kernel doubles the size set for a buffer, and keeps 32 bytes of it.
pub(in crate::transport) fn longest_packet() -> usize {
    SEND_BUFFER.read().map_or(usize::MAX, |most| (2 * most).saturating_sub(32) as usize)
}

/// The reason why a mechanism is missing, without the full stop.
pub(in crate::transport) fn missing(what: &str, cause: &io::Error) -> String {
    match cause.raw_os_error() {
        Some(libc::ENOSYS) => format!("this kernel has no {what}, or hides them ({cause})"),
        Some(libc::EPERM | libc::EACCES) => format!("this process may not use {what} ({cause})"),
        _ => format!("{what} cannot be opened ({cause})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_is_all_that_an_ordinary_process_may() {
        let limits = limits();
        let used = |name: &str| limits.get(name).and_then(|limit| Some((limit.allowed, limit.used?)));
        // A kernel without queues has nothing to use.
        if let Some((most, messages)) = used(MESSAGES.name) {
            assert_eq!(most, messages);
        }
        let (most, buffer) = used(SEND_BUFFER.name).unwrap();
        assert_eq!(most, buffer);
        let (most, pipe) = used(PIPE.name).unwrap();
        // With many pipes open a user gets less.
        assert!((4_096..=most).contains(&pipe), "{pipe}");
        if let Some((usual, queue)) = used(QUEUE_BYTES.name) {
            assert!(queue == usual || queue == 1 << 20, "{queue}");
        }
    }

    #[test]
    fn every_limit_is_said_with_what_it_is_about() {
        let limits = limits();
        for name in limits.keys() {
            assert!(ABOUT.iter().any(|(about, _)| about == name), "{name}");
        }
        let text = in_words(&limits);
        assert_eq!(text.lines().count(), limits.len());
        let raised = Limits::from([(QUEUE_BYTES.name.to_owned(), Allowed { allowed: 16_384, used: Some(1 << 20) })]);
        assert!(in_words(&raised).ends_with("16,384  bytes in a System V queue; used 1,048,576, by privilege"));
    }

    #[test]
    fn a_missing_mechanism_is_reported_in_words() {
        let because = |number| missing("pipes", &io::Error::from_raw_os_error(number));
        assert!(because(libc::ENOSYS).starts_with("this kernel has no pipes"));
        assert!(because(libc::EPERM).starts_with("this process may not use pipes"));
        assert!(because(libc::EMFILE).starts_with("pipes cannot be opened"));
    }
}
