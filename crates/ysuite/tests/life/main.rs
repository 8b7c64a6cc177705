//! Life tests: programs as users write them, which run for as long, make as many channels, and come and go as often as
//! real ones. Nothing that they use may grow with time: the heap, what is mapped, descriptors, threads, and the
//! instructions of a step; and a handle that stays is served within the documented number of messages, however many
//! others come and go meanwhile.
//!
//! Each program is a loop whose steps are all alike, in a process of its own, because what is counted is the process's
//! ([`life`] says what and when). A step makes something, uses it, and gives it back. [`operations`] has every operation of the public
//! interface that makes, joins, leaves or registers something, with the program in which it does.
//!
//! A program takes 100,000 steps, and a tenth of that if each step starts a thread. The long form takes a hundred times
//! as many: `YSUITE_STRESS=long cargo test --profile stress -p ysuite --test life -- --nocapture`, as in `ci/soak`.
//!
//! Instructions are counted by the processor where the kernel lends its counter, and else by valgrind, in another run of fewer
//! steps. Where there is neither, the test says so, and fails where valgrind is demanded (`YBENCH_VALGRIND=required`).
#![cfg(all(target_os = "linux", not(ysuite_loom), not(miri)))]

mod actors;
mod broadcasts;
mod connections;
mod counting;
mod hubs;
mod instructions;
mod life;
mod logger;
mod loops;
mod operations;
mod pools;
mod replies;
mod requests;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
mod watches;
mod work;
