#![doc = include_str!("../README.md")]
//!
//! # On two machines
//!
//! ```no_run
//! use std::time::Duration;
//! use ysuite::spsc;
//! use ysuite_zmq::{Bridge, Closed};
//!
//! let (mut jobs, out) = spsc::bounded::<u64>(4_096);
//! let push = Bridge::push(out).connect("tcp://10.0.0.7:5555").pack(256).start()?;
//! jobs.send(7).expect("the bridge receives");
//! match push.close(Duration::from_secs(5)) {
//!     Closed::Flushed => {}
//!     unsent => eprintln!("{unsent:?}"),
//! }
//! // On the other machine:
//! let (_pull, mut work) = Bridge::pull::<u64>().bind("tcp://*:5555").bounded(4_096).start()?;
//! while let Ok(job) = work.recv() {
//!     println!("{job}");
//! }
//! # Ok::<(), ysuite_zmq::Error>(())
//! ```
//!
//! # What is promised
//!
//! | | `push`, `pull` | `publish`, `subscribe` | `duplex` | `ask`, `answer` |
//! |---|---|---|---|---|
//! | a message reaches | one puller, in turn | every subscriber of its topic | the one other side | one that answers, in turn; its answer the one that asked |
//! | order | of one pusher at one puller, as long as their connection lasts | of the publisher, as long as the connection lasts | of each side, always | any |
//! | while all is well | exactly once | once, to those that are there and have room | exactly once | exactly once, unless its time is over before |
//! | across a connection that ends | at most once: what was in transit is lost | at most once | at most once, and what is lost is counted; with [`at_least_once`](Duplex::at_least_once) nothing is lost, nor doubled as long as both bridges live and no more than 16 others come between | the question ends at once where there is one address to connect to, else with its time; with [`retries`](Ask::retries) it is asked again |
//! | the other side is slow | the channel fills, and its senders wait | dropped for that one, or for all and counted, or waited for | no more than its channel's room is in transit; senders wait | askers wait; answers for a slow asker wait or are dropped for that one alone |
//! | the other side's senders are gone | not reported | not reported | the channel is disconnected | not reported |
//! | `close` | says whether all is with the system's network, as far as no connection has ended; not whether it was received | the same | says whether the other side has received it | waits for the answers of all questions, and of `answer` as `push` |
//!
//! The channel into which messages come has room for 1,000 of them by default; see [`bounded`](Pull::bounded) and
//! [`unbounded`](Pull::unbounded). Each frame is limited as well: its bytes by [`largest_frame`](Pull::largest_frame),
//! the memory of its messages by [`memory_of_a_frame`](Pull::memory_of_a_frame), and how deeply their values are nested
//! by [`deepest_message`](Pull::deepest_message). A message that panics where it is written, read or dropped ends its
//! bridge, as a failure of libzmq does; [`Event::Broken`] reports that.
//!
//! A publisher has one topic for all messages, or, where these are [`Published`], one for each, or
//! [none](Publish::without_topic) but how a message begins. A message of several parts
//! is a list: `Vec<Frame>`, or `Vec<Vec<u8>>`.
//!
//! ```no_run
//! use ysuite_zmq::Bridge;
//!
//! let (_bridge, asker) = Bridge::ask::<String, u64>().connect("tcp://10.0.0.7:5556").retries(2).start()?;
//! match asker.ask("how many?".to_owned()) {
//!     Ok(answer) => println!("{answer}"),
//!     Err(unanswered) => eprintln!("{unanswered}"),
//! }
//! // On the other machine:
//! let (_bridge, mut questions) = Bridge::answer::<String, u64>().bind("tcp://*:5556").start()?;
//! while let Ok(question) = questions.recv() {
//!     let length = question.message.len() as u64;
//!     let _ = question.answer(length);
//! }
//! # Ok::<(), ysuite_zmq::Error>(())
//! ```
//!
//! *Received* means that a message is in the channel of the other program. Over `ipc` libzmq itself loses, when a `push`
//! bridge is closed, what a slow reader has not read yet (libzmq#4660); a `duplex` closes when the other side has
//! everything.
//! Over `tcp` the last messages of a peer that is no bridge, with heartbeats (`ZMQ_HEARTBEAT_IVL`) may be lost, when it
//! closes while answers to those wait unread: its kernel then resets the connection. Bridges send no heartbeats, and
//! rely on the system's [keep-alives](Push::keep_alive).
//!
//! # Features
//!
//! `postcard`, off by default: `Postcard<T>`, messages of any type that serde knows.
//!
//! # Costs
//!
//! A bridge is one thread, which sleeps while there is nothing to do, in one call. In addition libzmq has two threads
//! for all bridges of a [`Context`], or one more than [`Context::new`] was given. A server of CURVE or PLAIN adds one
//! for each context, and names that have to be resolved may add one for the bridge. A frame costs about twenty times
//! what a small message in it does, so [`pack`](Push::pack) is what makes small messages quick; a frame never waits for
//! messages that are not there yet.
//!
//! A question alone and its answer wake ten threads, one after the other, where REQ and REP of libzmq wake six: the bridges' own are
//! the other four. So they take at least 1.7 times as long as by libzmq itself, in the time of threads that wake each other. Counted
//! on both sides of tcp, on two CPUs: 17 context switches for libzmq's 8. Questions that are under way at once share them: 1.2 for
//! each of 64.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!("bridges sleep on descriptors, which are Unix's");

mod bridge;
mod context;
mod curve;
mod error;
mod event;
#[allow(non_camel_case_types, reason = "the names are those of zmq.h")]
mod ffi;
mod frame;
mod monitor;
mod names;
mod socket;
mod statistics;
mod topic;
mod wire;
mod zap;

#[doc(hidden)]
pub use bytemuck;

pub use self::bridge::{
    Answer, Ask, Asker, Bridge, Closed, Duplex, Pending, Publish, Pull, Push, Question, Reply, Source, Started,
    Subscribe, Unanswered, WhenFull,
};
pub use self::context::Context;
pub use self::curve::{KeyPair, PublicKey};
pub use self::error::{Error, Failure};
pub use self::event::Event;
pub use self::frame::Frame;
pub use self::statistics::Statistics;
pub use self::topic::{Published, Topic};
#[doc(hidden)]
pub use self::wire::Allowance;
#[cfg(feature = "postcard")]
pub use self::wire::Postcard;
pub use self::wire::{FromWire, Layout, Malformed, ToWire, Wire};

/// Returns the version of the libzmq that this program runs with: major, minor, patch.
#[must_use]
pub fn libzmq_version() -> (i32, i32, i32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the three numbers are there to be written.
    unsafe { ffi::zmq_version(&mut major, &mut minor, &mut patch) };
    (major, minor, patch)
}
