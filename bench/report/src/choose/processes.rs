//! The channel of this project for a need between processes or machines. Follows the crates `ysuite-shm` and `ysuite-zmq`.

use super::wanted::{BY_VALUE_UP_TO, Wanted};

/// The recipe, the transport and the facts of the channel alone.
pub(super) fn channel(wanted: &Wanted) -> (&'static str, Option<&'static str>, &'static str) {
    match () {
        () if wanted.machines => (
            "",
            None,
            "A bridge of the crate ysuite-zmq connects a channel to another machine over libzmq: \
             Bridge::push(rx).connect(\"tcp://there:5555\").start() here, and Bridge::pull().bind(..).start() there. \
             docs/guide/zeromq.md; `--features zeromq` measures it.",
        ),
        () if wanted.answers => (
            "shm-call",
            None,
            "A call: answers come in any order, into memory that the caller reads in place of a queue; a caller is told \
             where nobody answers, and of a death.",
        ),
        () if wanted.newest => (
            "shm-watch",
            None,
            "Only the newest value matters: it is written once for all, the sender waits for nobody, and a receiver copies \
             what is newest.",
        ),
        () if wanted.senders > 1 => (
            "shm-funnel",
            None,
            "Each sender has a lane of its own: none holds up or harms another, and the order is that of each sender. Bytes \
             of any length: Funnel<Bytes>.",
        ),
        () if wanted.receivers > 1 && !wanted.to_all => (
            "shm-work",
            None,
            "Each job goes to one worker, and stays with the sender until it is finished: a worker that dies, or is slow, \
             loses no job. At least once.",
        ),
        () => of_one_sender(wanted),
    }
}

/// Each message of one sender to its only receiver, or to all.
fn of_one_sender(wanted: &Wanted) -> (&'static str, Option<&'static str>, &'static str) {
    match () {
        () if wanted.is_lent() => (
            "shm-loan",
            None,
            "A message this large is filled in place and read in place, by one receiver or many, and copied by nobody; a \
             receiver that dies holds nothing.",
        ),
        () if wanted.to_all => (
            "shm-broadcast",
            None,
            "Every receiver gets every message, which is written once; waits for the slowest, or loses the oldest \
             (Options::lossy). Bytes of any length: BytesBroadcastSender.",
        ),
        () if wanted.bytes > BY_VALUE_UP_TO => (
            "shm-bytes",
            Some("shm-pipe-bytes"),
            "Messages of any length, each copied in and out; no system call but to wake who sleeps.",
        ),
        () => (
            "shm-pipe",
            Some("shm-pipe"),
            "A message is any plain type (derives of zerocopy), copied in and out; no system call but to wake who sleeps.",
        ),
    }
}

/// What to know beside it.
pub(super) fn more(wanted: &Wanted) -> Vec<String> {
    if wanted.machines {
        return Vec::new();
    }
    let said = [
        (true, "Crate ysuite-shm, Linux. A death is noticed at once, no peer is trusted, nothing stays behind."),
        (
            wanted.epoll,
            "An end is a descriptor (AsFd) for epoll: arm() says whether there is something at once, before each wait.",
        ),
        (wanted.tasks, "In a task of tokio: Async::new(end), feature `tokio`; then as the end itself, with `.await`."),
        (wanted.unbounded && !wanted.newest, "All of them have a bound: try_send says that it is reached."),
        (wanted.to_all && wanted.senders > 1, "A broadcast has one sender: let the funnel's receiver send it on."),
    ];
    said.into_iter().filter(|(wanted, _)| *wanted).map(|(_, said)| said.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use ybench_measure::registry;

    use super::super::wanted::tests::ANY;
    use super::super::{advice, recipes};
    use super::*;

    #[test]
    fn each_need_between_processes_has_its_channel_and_its_lines() {
        let there = Wanted { processes: true, ..ANY };
        let cases = [
            (there.clone(), "shm-pipe", &["ysuite_shm::Sender", "ys::shm::sender"][..]),
            (Wanted { bytes: 1_000, ..there.clone() }, "shm-bytes", &["BytesSender", "ys::shm::sender"]),
            (Wanted { senders: 8, ..there.clone() }, "shm-funnel", &["Funnel", "ys::shm::funnel"]),
            (Wanted { to_all: true, receivers: 8, ..there.clone() }, "shm-broadcast", &["lossy", "ys::shm::broadcast"]),
            (Wanted { newest: true, receivers: 8, ..there.clone() }, "shm-watch", &["WatchSender", "ys::shm::watch"]),
            (Wanted { receivers: 8, ..there.clone() }, "shm-work", &["WorkSender", "finish()"]),
            (Wanted { answers: true, senders: 8, ..there.clone() }, "shm-call", &["Caller", "answer(..)"]),
            (Wanted { bytes: 6_220_800, ..there.clone() }, "shm-loan", &["LoanSender", "block.send()"]),
            (Wanted { to_all: true, bytes: 9_000, ..there.clone() }, "shm-loan", &["LoanReceiver"]),
            (
                Wanted { epoll: true, tasks: true, unbounded: true, ..there.clone() },
                "shm-pipe",
                &["AsFd", "Async", "bound"],
            ),
            (Wanted { to_all: true, senders: 2, ..there }, "shm-funnel", &["send it on"]),
        ];
        for (wanted, recipe, words) in cases {
            let (advice, told) = (advice::of(&wanted), advice::of(&wanted).lines().join("\n"));
            assert_eq!(advice.recipe, recipe, "{wanted}");
            assert!(recipes::rust(recipe).is_some() && words.iter().all(|word| told.contains(word)), "{wanted} {told}");
            assert!(told.lines().count() < 20, "{wanted} {told}");
            assert!(advice.transport.is_none_or(|name| registry::named(name).is_some()), "{wanted}");
            assert_eq!(advice.transport.is_some(), wanted.is_measured() || wanted.tasks, "{wanted}");
        }
    }
}
