//! The channel of this project for a need, and the lines that make it. Follows docs/guide/which-channel.md, and needs no
//! measurement: the figures of this machine are added where the need can be measured.

use super::wanted::{BY_VALUE_UP_TO, By, Wanted};
use super::{processes, recipes};

/// The answer to a need.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Advice {
    /// The recipe of the channel.
    pub(super) recipe: &'static str,
    /// Its name among the transports, if it is measured.
    pub(super) transport: Option<&'static str>,
    /// What to know about it.
    facts: Vec<String>,
    /// Recipes that go with it.
    more: Vec<&'static str>,
}

pub(super) fn of(wanted: &Wanted) -> Advice {
    let (recipe, transport, facts) = if wanted.is_local() { channel(wanted) } else { processes::channel(wanted) };
    let mut advice = Advice { recipe, transport, facts: vec![facts.to_owned()], more: Vec::new() };
    if !wanted.is_local() {
        advice.facts.extend(processes::more(wanted));
        return advice;
    }
    let by = wanted.by.unwrap_or(if wanted.bytes <= BY_VALUE_UP_TO { By::Value } else { By::Pool });
    match by {
        By::Value if wanted.bytes > BY_VALUE_UP_TO => {
            advice
                .facts
                .push(format!("By value, {} bytes are copied in and out: a block of a pool is not.", wanted.bytes));
        }
        By::Value => {}
        By::Pool => advice.more.push("pool"),
        By::Pointer => advice.more.push("pointer"),
    }
    if wanted.epoll {
        advice.more.push("epoll");
    }
    if wanted.tasks {
        advice.more.push("tasks");
    }
    if wanted.real_time {
        let fact = "On the thread that must not wait, use only try_send, try_recv and len; waking a receiver that sleeps \
                    is one system call, and one that looks now and then needs none.";
        advice.facts.push(fact.to_owned());
    }
    let rare = wanted.rate.is_some_and(|rate| rate < 1_000.0);
    match wanted.first {
        Some(super::First::Latency | super::First::P99) if !wanted.sleeps && !wanted.epoll && !rare => {
            advice.facts.push("The quickest receiver never sleeps, and takes a whole CPU:".to_owned());
            advice.more.push("forever");
        }
        _ if rare => {
            let fact = "Messages this rare find their receiver asleep: each costs a wake-up, and looking before sleeping \
                        is for nothing.";
            advice.facts.push(fact.to_owned());
            advice.more.push("none");
        }
        _ => {}
    }
    advice
}

/// The recipe, the transport and the facts of the channel alone.
fn channel(wanted: &Wanted) -> (&'static str, Option<&'static str>, &'static str) {
    let bounded = wanted.bounded || wanted.real_time;
    let at = |plain, in_epoll| Some(if wanted.epoll && !bounded { in_epoll } else { plain });
    match () {
        () if wanted.answers => (
            "answers",
            None,
            "A question carries the way back: a oneshot, whose receiver is told where nobody answers. A oneshot is one \
             allocation.",
        ),
        () if wanted.to_all => (
            "broadcast",
            Some("broadcast"),
            "Every receiver gets every message: lock-free, one order, allocates nothing.",
        ),
        () if wanted.newest => {
            ("watch", None, "Only the newest value matters: readers see the last one, and wait for the next.")
        }
        () if wanted.receivers > 1 => match wanted.unbounded {
            true => {
                ("mpmc", Some("mpmc-unbounded"), "Lock-free; one order over all senders; each message to one receiver.")
            }
            false => (
                "mpmc-bounded",
                at("mpmc", "mpmc-eventfd"),
                "Lock-free, allocates nothing; one order over all senders; each message to one receiver.",
            ),
        },
        () if wanted.senders > 1 && bounded => (
            "mpsc-bounded",
            Some("mpsc-bounded"),
            "Wait-free, allocates nothing once a sender has sent; the order of each sender. One order or one bound over all: mpmc.",
        ),
        () if wanted.senders > 1 => {
            ("mpsc", at("mpsc", "mpsc-epoll"), "Wait-free; the order of each sender. One order over all: mpmc.")
        }
        () if bounded => ("spsc-bounded", Some("spsc-bounded"), "Wait-free; allocates nothing once it is made."),
        () => ("spsc", at("spsc", "spsc-epoll"), "Wait-free; allocates a chunk when none can be reused."),
    }
}

impl Advice {
    /// Sentences and lines of code.
    pub(super) fn lines(&self) -> Vec<String> {
        let (name, code) = (self.recipe, recipes::rust(self.recipe));
        let mut told = Vec::new();
        if code.is_some() {
            told.push(format!("Answer: {name}. {}", self.facts.join(" ")));
        } else {
            told.push(format!("Answer: {}", self.facts.join(" ")));
        }
        let all = || std::iter::once(name).chain(self.more.iter().copied());
        let listed = |language: &str, of: fn(&str) -> Option<String>| {
            let code: Vec<String> = all().filter_map(of).collect();
            (!code.is_empty()).then(|| format!("{language}:\n{}", indented(&code.join("\n"))))
        };
        told.extend(listed("Rust", recipes::rust));
        // Half an answer in C++ would be none.
        told.extend(listed("C++", recipes::cpp).filter(|_| recipes::cpp(name).is_some()));
        told
    }
}

fn indented(code: &str) -> String {
    code.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use ybench_measure::registry;

    use super::super::First;
    use super::super::wanted::tests::ANY;
    use super::*;

    fn told(wanted: &Wanted) -> String {
        of(wanted).lines().join("\n")
    }

    #[test]
    fn each_need_has_its_channel_and_its_lines() {
        let cases = [
            (
                "audio",
                Wanted { bounded: true, real_time: true, ..ANY },
                "spsc-bounded",
                &["spsc::bounded", "ys::pipe", "try_send"][..],
            ),
            (
                "logger",
                Wanted { senders: 8, unbounded: true, bytes: 256, ..ANY },
                "mpsc",
                &["mpsc::unbounded", "ys::funnel"],
            ),
            ("work queue", Wanted { receivers: 4, ..ANY }, "mpmc-bounded", &["mpmc::bounded", "ys::exchange"]),
            ("task to thread", Wanted { tasks: true, ..ANY }, "spsc", &["send_async", "recv_async"]),
            ("server", Wanted { senders: 4, epoll: true, ..ANY }, "mpsc", &["YSocketpair", "socketpair_set", "attach"]),
            (
                "server with a bound",
                Wanted { epoll: true, bounded: true, ..ANY },
                "spsc-bounded",
                &["spsc::bounded", "YSocketpair"],
            ),
            ("trading", Wanted { first: Some(First::P99), ..ANY }, "spsc", &["Spin::Forever", "a whole CPU"]),
            (
                "user interface",
                Wanted { senders: 4, sleeps: true, rate: Some(60.0), ..ANY },
                "mpsc",
                &["Spin::None", "wake-up"],
            ),
            ("sensor", Wanted { rate: Some(1.0 / 3_600.0), ..ANY }, "spsc", &["wake-up"]),
            ("video", Wanted { bytes: 6_220_800, rate: Some(60.0), ..ANY }, "spsc", &["Pool::new", "ys::pool"]),
            ("configuration", Wanted { newest: true, ..ANY }, "watch", &["watch::channel", "changed"]),
            ("events to all", Wanted { to_all: true, receivers: 8, ..ANY }, "broadcast", &["broadcast::bounded"]),
            ("questions", Wanted { answers: true, senders: 4, ..ANY }, "answers", &["oneshot::channel", "way back"]),
            ("another machine", Wanted { machines: true, ..ANY }, "", &["ysuite-zmq", "Bridge::push"]),
        ];
        for (need, wanted, recipe, words) in cases {
            let (advice, told) = (of(&wanted), told(&wanted));
            assert_eq!(advice.recipe, recipe, "{need}");
            assert!(words.iter().all(|word| told.contains(word)), "{need}: {told}");
            assert!(told.starts_with("Answer: ") && told.lines().count() < 20, "{need}: {told}");
            assert!(advice.transport.is_none_or(|name| registry::named(name).is_some()), "{need}");
        }
    }

    #[test]
    fn a_large_message_by_value_is_told_what_it_costs() {
        assert!(told(&Wanted { bytes: 4_096, by: Some(By::Value), ..ANY }).contains("copied in and out"));
        assert!(told(&Wanted { bytes: 4_096, by: Some(By::Pointer), ..ANY }).contains("Box<[u8]>"));
    }
}
