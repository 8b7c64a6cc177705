//! Ends whose process is killed behind an instruction: single-stepped by `ptrace` for a number of instructions, and then
//! killed. Whatever the instruction, the other end gets what was published, all of it and in order, learns of the death,
//! and nothing stays behind.
//!
//! A runner of its own, with one thread, because it forks. In a test run it takes some of the instructions of each case;
//! with `YSUITE_KILLS=1` all of them, with `YSUITE_KILLS=7` each seventh. `cargo test --test kills -- FILTER`.
#![cfg(target_os = "linux")]

mod cases;
mod faults;
mod process;
mod remains;

/// A case: its name, and what it does with each instruction that it is told.
type Case = (&'static str, fn(&mut dyn FnMut() -> u64));

const CASES: &[Case] = &[
    ("a sender dies while its receiver sleeps", |next| cases::sender_dies(next, 0)),
    ("a sender dies while its receiver spins", |next| cases::sender_dies(next, u32::MAX)),
    ("a sender dies in its hello", cases::sender_dies_in_hello),
    ("a sender dies in its drop", cases::sender_dies_in_drop),
    ("a receiver dies while its sender finds the channel full and sleeps", |next| cases::receiver_dies(next, 0)),
    ("a receiver dies while its sender finds the channel full and spins", |next| cases::receiver_dies(next, u32::MAX)),
    ("a receiver dies in its hello", cases::receiver_dies_in_hello),
    ("a sender of bytes dies", cases::bytes_sender_dies),
    ("a sender of a funnel dies", cases::funnel_sender_dies),
    ("both die", cases::both_die),
];

const ONCE: &[(&str, fn())] = &[
    ("a process that executes another program loses its end", cases::executes_another),
    ("ends in namespaces of their own", cases::in_namespaces),
    ("an inherited end", cases::inherited),
    ("a stream makes no system call for each message", cases::stream_without_calls),
    ("nor does a funnel with many idle senders", cases::funnel_without_calls),
    ("a funnel that waits for idle senders makes no calls", cases::idle_without_calls),
    ("two processes exchange messages, asleep and awake", cases::exchange),
    ("calls that the kernel refuses", faults::refused_calls),
    ("descriptors that run out", faults::no_descriptors),
    ("a forked child drops its copy of an end", cases::forked_copy),
    ("a next receiver goes on", cases::next_receiver_goes_on),
];

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let stride = std::env::var("YSUITE_KILLS").ok().and_then(|stride| stride.parse::<u64>().ok());
    process::guard();
    for (name, case) in CASES.iter().filter(|(name, _)| name.contains(&wanted)) {
        let before = remains::count();
        let (mut at, mut points) = (0, 0_u32);
        case(&mut || {
            let step = at;
            points += 1;
            // Without a stride: closely at first, then further and further apart, at places that are no multiples.
            at += stride.unwrap_or(1 + at / 2);
            step
        });
        remains::assert_same(&before, name);
        println!("{name}: killed behind {points} of {at} instructions");
    }
    for (name, test) in ONCE.iter().filter(|(name, _)| name.contains(&wanted)) {
        let before = remains::count();
        test();
        remains::assert_same(&before, name);
        println!("{name}: ok");
    }
}
