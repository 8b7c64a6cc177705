//! The features of channels, each under one name: for README.md, docs/guide/feature-matrix.md and
//! `ybench competitors --features`, whose package includes this file.
//!
//! This says which of our kinds and of the libraries in README.md have which feature. The tests beside it try all of that
//! and nothing else; the tests of `ybench-competitors` do so for further libraries. To add a tick, write the test: the
//! list and both tables must follow.

macro_rules! features {
    ($($(#[$about:meta])* $feature:ident $column:literal $row:literal [$($kind:literal),*])+) => {
        /// A feature. Its documentation is the meaning of a tick; docs/guide/feature-matrix.md has that of the others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature {
            $($(#[$about])* $feature),+
        }

        impl Feature {
            /// All of them, in the order of the tables.
            pub const ALL: &[Self] = &[$(Self::$feature),+];

            /// Its words at the head of a column of `ybench competitors --features`, or none: not all competitors were
            /// tried for it.
            pub fn column(self) -> &'static str {
                match self { $(Self::$feature => $column),+ }
            }

            /// What README.md calls its row, or nothing: it is not there.
            pub fn row(self) -> &'static str {
                match self { $(Self::$feature => $row),+ }
            }

            /// Those of ours and of the libraries in README.md that a test beside this file has tried it with.
            pub fn tried(self) -> &'static [&'static str] {
                match self { $(Self::$feature => &[$($kind),*]),+ }
            }
        }
    };
}

features! {
    /// A waiting receiver does not use its CPU.
    Sleeps "sleeps" "" []
    /// A receiver can spin without end.
    Spins "spins" "" []
    /// Tasks wait on it, in any runtime. In README.md threads do so too, at the same channel.
    Tasks "tasks" "threads and tasks at one channel"
        ["ysuite::spsc", "ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc", "flume", "kanal",
         "async-channel"]
    /// An event loop serves its receiver alongside sockets.
    Epoll "epoll" "a descriptor for `epoll`" ["ysuite::spsc", "ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast"]
    SelectWithSends "" "select, sends among its cases"
        ["ysuite::mpmc", "crossbeam-channel", "tokio::sync::mpsc", "flume"]
    /// A thread waits for the first of several channels, however many they are.
    Select "select" "select over a list of receivers"
        ["ysuite::spsc", "ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast", "ysuite::mailbox",
         "crossbeam-channel", "flume"]
    Timers "" "timers as channels" ["ysuite::timer", "crossbeam-channel"]
    /// A sender waits for room.
    Bounded "bounded" "" []
    /// No sender ever waits.
    Unbounded "unbounded" "" []
    Senders "many senders" "" []
    /// Each message goes to one of several receivers. In README.md with a bound and without.
    Receivers "many receivers" "many receivers, with a bound or without"
        ["ysuite::mpmc", "crossbeam-channel", "flume", "kanal", "async-channel"]
    /// A message that one sender sends after another sender's message arrives after it.
    OneOrder "one order" "one order over all senders (`mpmc`)"
        ["ysuite::mpmc", "crossbeam-channel", "std::sync::mpsc", "tokio::sync::mpsc", "flume", "kanal",
         "async-channel"]
    /// Some messages overtake others.
    Priority "priority" "" ["ysuite::mailbox"]
    Rendezvous "" "rendezvous" ["ysuite::mpmc", "crossbeam-channel", "std::sync::mpsc", "flume", "kanal"]
    Oneshot "" "oneshot" ["ysuite::oneshot", "tokio::sync::oneshot"]
    Broadcast "" "broadcast" ["ysuite::broadcast", "tokio::sync::broadcast"]
    Watch "" "watch" ["ysuite::watch", "tokio::sync::watch"]
    /// Several messages are sent by one call.
    Batches "batches sent" "batches sent by one call" ["ysuite::mpmc", "ysuite::broadcast"]
    BatchesReceived "" "batches received by one call"
        ["ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc", "flume", "kanal"]
    /// A message is read in place, before it is received.
    InPlace "in place" "" ["ysuite::spsc", "ysuite::mpsc"]
    /// Room is reserved before the message is made.
    Permits "permits" "permits" ["ysuite::spsc", "ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc"]
    ForceSend "" "`force_send` displaces the oldest (`mpmc`)" ["ysuite::mpmc", "async-channel"]
    /// A thread receives with a time limit.
    Timeouts "time limits" "a thread receives with a time limit"
        ["ysuite::spsc", "ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast", "ysuite::mailbox",
         "crossbeam-channel", "std::sync::mpsc", "flume", "kanal"]
    TaskTimeouts "" "a task sends with a time limit, and has its message back"
        ["ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc"]
    /// Later sends fail, while both handles still exist.
    Close "close" "closed without dropping a handle"
        ["ysuite::spsc", "ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc", "kanal",
         "async-channel"]
    Closed "" "a sender waits for the receivers' end"
        ["ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc", "async-channel"]
    /// Senders that do not keep a channel open.
    Weak "weak senders" "weak senders" ["ysuite::mpsc", "ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc", "flume", "async-channel"]
    SendersCounted "" "senders are counted"
        ["ysuite::mpmc", "ysuite::broadcast", "tokio::sync::mpsc", "flume", "kanal", "async-channel"]
    SameChannel "" "`same_channel`"
        ["ysuite::mpmc", "ysuite::broadcast", "crossbeam-channel", "tokio::sync::mpsc", "flume", "async-channel"]
    Budget "" "counts against tokio's budget" ["ysuite::mpmc", "tokio::sync::mpsc"]
    Statistics "" "statistics, a feature" ["ysuite::mpmc"]
}
