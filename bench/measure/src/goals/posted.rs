//! The targets of messages of any type, compared with a plain implementation. And those of a sleeping mailbox and a
//! sleeping hub, compared with the cheapest way to wake a thread. Streams of functions are those of `functions`.

use super::targets::{Ratio, least_of, most};
use super::those;
use crate::frame::Frame;
use crate::limits;
use crate::rounds::{Contender, Plan};
use crate::scenario::{ping_pong, throughput};

const STREAMING: &str = "targets: streams of any message";
const BOUNCING: &str = "targets: a sleeping mailbox and a sleeping hub";

const STREAMS: [&str; 3] = ["spsc", "mailbox", "mutex-condvar-any"];
const BOUNCED: [&str; 2] = ["mailbox-none", "hub-none"];

pub(super) static RATIOS: [Ratio; 4] = [
    most("mailbox, ping-pong, Spin::None: times raw futex", BOUNCING, &["mailbox-none"], limits::FUTEX.name, 1.2),
    most("mailbox, one by one: times spsc", STREAMING, &["mailbox"], "spsc", 25.0),
    least_of(
        "mailbox, one by one: times faster than Box<dyn Any> behind mutex and condition variable",
        STREAMING,
        &["mutex-condvar-any"],
        "mailbox",
        10.0,
    ),
    most(
        "hub, ping-pong of posted functions, Spin::None: times raw eventfd + epoll",
        BOUNCING,
        &["hub-none"],
        limits::EPOLL.name,
        1.2,
    ),
];

pub(super) fn plans(frame: Frame) -> [Plan; 2] {
    let mut streams: Vec<Contender> = those(&STREAMS).map(|entry| throughput::contender(entry, None, frame)).collect();
    streams.push(frame.limit(&limits::HAND_OVER));
    let mut bounces: Vec<Contender> = those(&BOUNCED).map(|entry| ping_pong::contender(entry, None, frame)).collect();
    bounces.extend([frame.limit(&limits::FUTEX), frame.limit(&limits::EPOLL)]);
    let plan = |scenario, about, limit, contenders| crate::plan::plan(scenario, about, None, frame, limit, contenders);
    [
        plan(STREAMING, "Messages of any type, one by one", &limits::HAND_OVER, streams),
        plan(BOUNCING, "One message, or one function, bounced", &limits::TWO_LINE_FLOOR, bounces),
    ]
}
