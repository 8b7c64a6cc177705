//! [`Closed`]: what a bridge had done when it ended.

use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::sets::Sets;
use super::tools::Tools;
use super::work::Work;
use crate::monitor::{Monitor, Seen};
use crate::socket::Socket;

/// How a bridge has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Closed {
    /// Everything has left: it is in the hands of the system's network. Of a duplex: the other side has said that it has
    /// received everything.
    ///
    /// A bridge other than a duplex cannot report this if a connection has ended since it handed over its first frame,
    /// however long ago and on either side: libzmq discards what waits for a connection that ends, and does not report
    /// whether it had to. A connection that ended just before that frame, and that libzmq reported just after it,
    /// counts as well. A connection whose handshake never succeeded, such as that of another program, has taken
    /// nothing. It does not count if the bridge can distinguish it, which it cannot in a [`Context`](crate::Context) of
    /// several threads. What a publisher has dropped has not left, and does not count here: see
    /// [`dropped`](crate::Statistics::dropped). A program that must know although peers come and go needs their
    /// replies, or a duplex.
    Flushed,
    /// The time was over before that, or a connection was.
    Unsent {
        /// Messages that never left the channel or the bridge. Messages in an `mpmc` channel with other receivers
        /// belong to those, and are not counted.
        messages: usize,
        /// Whether libzmq may have had more frames, which cannot be counted: it was still writing when the time was
        /// over, or a connection has ended since the first frame, and libzmq discards what waits for such a connection.
        /// Also if the other side had received everything and then disconnected.
        more: bool,
    },
}

/// A bridge on its way out, in the hands of its thread.
pub(super) struct Ending<W> {
    pub(super) work: W,
    pub(super) tools: Tools,
    /// Of the channel's handles: dropped after them.
    pub(super) sets: Sets,
}

/// A side that has received everything waits this long for a connection on which to send what the other side waits for:
/// the other side may be gone.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Between two checks while the socket has no room: it may report room that it does not have, and none when it has
/// some.
const PAUSE: Duration = Duration::from_millis(1);

impl<W: Work> Ending<W> {
    /// Moves what is left until that moment, then drops it.
    pub(super) fn by(mut self, until: Instant) -> Closed {
        let mut sound = self.work.listen(&mut self.tools).is_ok() && self.work.close(&mut self.tools).is_ok();
        let mut said = None;
        while sound && self.has_to_go_on(until, &mut said) {
            match self.work.step(&mut self.tools) {
                Ok(0) => sound = self.rest(until),
                Ok(_) => {}
                Err(_) => sound = false,
            }
        }
        // The last word: nothing comes after it that could say the same.
        let _ = self.work.rest(&mut self.tools);
        self.end(until)
    }

    /// After a failure of libzmq: what it has may still leave until that moment, but nothing more is given to it.
    pub(super) fn broken(mut self, until: Instant) -> Closed {
        // The other side can still be notified that this side is gone.
        let _ = self.work.close(&mut self.tools).and_then(|()| self.work.rest(&mut self.tools));
        self.end(until)
    }

    // MUTANT: A socket without messages or connections has nothing that lingers.
    fn end(self, until: Instant) -> Closed {
        let silent = self.tools.counters.frames_out.get() == 0;
        let known = self.work.is_acknowledged() || silent;
        let until = if self.work.lingers() && !silent { until } else { Instant::now() };
        let Self { mut work, tools, sets } = self;
        let Tools { mut inproc, socket, mut monitor, ended_empty, .. } = tools;
        inproc.unbind();
        // The user sees the disconnect when the bridge has done everything.
        let ended = gone(socket, &mut monitor, until);
        // libzmq throws away with a connection what waits for it, and is empty then as well.
        let torn = monitor.ended() + inproc.ended() > ended_empty;
        let more = (ended != Ended::Empty || torn) && !known;
        // Last: until the channel is disconnected messages are accepted there, also while the rest lingers.
        let messages = work.left();
        drop((work, sets, inproc));
        if ended == Ended::Late {
            outlive(monitor);
        }
        if messages > 0 || more { Closed::Unsent { messages, more } } else { Closed::Flushed }
    }
}

impl<W: Work> Ending<W> {
    // MUTANT: The same moment to the nanosecond.
    /// Whether something is left to be done, for which there is time until one moment, or to be said, until another:
    /// that one is known since nothing is left to be done.
    fn has_to_go_on(&mut self, until: Instant, said: &mut Option<Instant>) -> bool {
        let now = Instant::now();
        if !self.work.is_done() {
            *said = None;
            return now < until;
        }
        now < *said.get_or_insert(until.min(now + LAST_WORD)) && !self.work.has_said_all()
    }

    // MUTANT: Speed only: the loop polls again at once.
    /// Until something changes, or for a little.
    fn rest(&mut self, until: Instant) -> bool {
        let listened = self.work.listen(&mut self.tools);
        let rested = listened.and_then(|()| self.work.rest(&mut self.tools));
        pause(&self.tools.socket, until.min(Instant::now() + PAUSE));
        rested.is_ok()
    }
}

// MUTANT: Speed only: the loop polls again at once. libzmq reports the events of every open socket.
/// Until something changes, or that moment.
fn pause(socket: &Socket, until: Instant) {
    if socket.ready().is_err() {
        return;
    }
    if let Ok(descriptor) = socket.descriptor() {
        let _ = poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], timespec(until).as_ref());
    }
}

/// Lingering frames have at least this long, even if no time was given or none is left: in less time the bridge could
/// not find out whether they left.
const LEAST: Duration = Duration::from_millis(5);

/// libzmq counts milliseconds, and may count one too few.
const COARSE: Duration = Duration::from_millis(2);

/// No socket is waited for longer than this after its lingering: the thread of libzmq that must close it may itself
/// wait, for example for the system to resolve a name.
const LATE: Duration = Duration::from_secs(1);

/// What has become of a socket that was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// All that lingered in it has left.
    Empty,
    /// Something had not by that moment, or hardly, and is dropped.
    Full,
    /// It has not ended, long after its lingering has.
    Late,
}

// MUTANT: libzmq sets the linger period of every open socket. The same moment to the nanosecond.
/// Closes the socket and waits until all that lingers in it has left.
fn gone(socket: Socket, monitor: &mut Monitor, until: Instant) -> Ended {
    let left = until.saturating_duration_since(Instant::now()) + LEAST;
    // A longer time than libzmq can count is none.
    let linger = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
    let begun = Instant::now();
    if socket.linger(linger).is_err() {
        return Ended::Full;
    }
    let late = begun.checked_add(left + LATE);
    loop {
        match monitor.look() {
            Ok(Some(Seen::Gone)) if begun.elapsed() + COARSE < left => return Ended::Empty,
            Ok(Some(Seen::Gone)) | Err(_) => return Ended::Full,
            Ok(Some(_)) => {}
            Ok(None) if late.is_some_and(|late| Instant::now() >= late) => return Ended::Late,
            Ok(None) => wait_for_news(monitor, late),
        }
    }
}

// MUTANT: Speed only: the loop polls again, or waits a second at most for the next event.
/// The news that the socket is gone comes when its lingering ends, which has an end.
fn wait_for_news(monitor: &Monitor, late: Option<Instant>) {
    if monitor.socket().ready().is_ok_and(|ready| !ready.receive) {
        let soon = Instant::now() + Duration::from_secs(1);
        pause(monitor.socket(), late.map_or(soon, |late| late.min(soon)));
    }
}

/// A socket that has not ended may still send events: its monitor must exist until then. No thread waits.
fn outlive(mut monitor: Monitor) {
    let wait = move || {
        while let Ok(seen) = monitor.look() {
            match seen {
                Some(Seen::Gone) => return,
                Some(_) => {}
                None => wait_for_news(&monitor, None),
            }
        }
    };
    // Where there is no thread to be had the monitor must stay: what is not run is not dropped.
    let wait = core::mem::ManuallyDrop::new(wait);
    let _ = thread::Builder::new()
        .name("ysuite-zmq end".to_owned())
        .spawn(move || core::mem::ManuallyDrop::into_inner(wait)());
}

fn timespec(until: Instant) -> Option<Timespec> {
    Timespec::try_from(until.saturating_duration_since(Instant::now())).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ysuite::spsc;

    use super::super::work::Wanted;
    use super::*;
    use crate::context::Context;
    use crate::error::Failure;
    use crate::event;
    use crate::ffi::Kind;
    use crate::statistics::Counters;

    /// Is done, has something to do once more, and is done again when the time for the last word would be over if that
    /// had begun the first time. Then it has said all.
    struct Twice {
        steps: usize,
        /// The number of steps after which it was checked whether it has sent everything.
        asked: spsc::Sender<usize>,
    }

    impl Work for Twice {
        fn step(&mut self, _: &mut Tools) -> Result<usize, Failure> {
            self.steps += 1;
            if self.steps == 2 {
                thread::sleep(LAST_WORD);
            }
            Ok(0)
        }

        fn wanted(&mut self) -> Wanted {
            Wanted::default()
        }

        fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
            Ok(())
        }

        fn is_done(&mut self) -> bool {
            self.steps != 1
        }

        fn has_said_all(&mut self) -> bool {
            let _ = self.asked.try_send(self.steps);
            self.steps == 2
        }

        fn left(&mut self) -> usize {
            0
        }
    }

    /// Ends a bridge that does this work.
    fn ending<W: Work>(work: W) -> Ending<W> {
        let socket = Socket::new(&Context::of_the_process().unwrap(), Kind::Push).unwrap();
        let tools = Tools::new(socket, Arc::new(Counters::default()), event::channel().0).unwrap();
        Ending { work, tools, sets: Sets::default() }
    }

    #[test]
    fn the_last_word_is_waited_for_from_when_nothing_is_left_to_be_done() {
        let (asked, mut when) = spsc::bounded::<usize>(4);
        let ending = ending(Twice { steps: 0, asked });
        assert_eq!(ending.by(Instant::now() + Duration::from_secs(60)), Closed::Flushed);
        assert_eq!(when.try_iter().collect::<Vec<_>>(), [0, 2]);
    }

    /// Is never done, and fails where it is configured to. It logs each call.
    struct Failing {
        fails: &'static str,
        said: spsc::Sender<&'static str>,
    }

    impl Failing {
        fn say(&mut self, what: &'static str) -> Result<(), Failure> {
            self.said.try_send(what).expect("it is asked for little more once it has failed");
            if what == self.fails { Err(Failure::of(what, rustix::io::Errno::NOMEM)) } else { Ok(()) }
        }
    }

    impl Work for Failing {
        fn step(&mut self, _: &mut Tools) -> Result<usize, Failure> {
            self.say("step").map(|()| 0)
        }

        fn wanted(&mut self) -> Wanted {
            Wanted::default()
        }

        fn listen(&mut self, _: &mut Tools) -> Result<(), Failure> {
            self.say("listen")
        }

        fn rest(&mut self, _: &mut Tools) -> Result<(), Failure> {
            self.say("rest")
        }

        fn close(&mut self, _: &mut Tools) -> Result<(), Failure> {
            self.say("close")
        }

        fn is_done(&mut self) -> bool {
            false
        }

        fn left(&mut self) -> usize {
            2
        }
    }

    /// Something keeps libzmq from ending a socket: here a name that the test connected it to without the bridge. Then
    /// it ends.
    ///
    /// Claim: A bridge does not wait for a libzmq socket that does not end.
    #[test]
    fn a_socket_that_does_not_end_is_not_waited_for() {
        let name = Context::fresh_name("nobody");
        let (said, _heard) = spsc::bounded::<&str>(16);
        let ending = ending(Failing { fails: "nothing", said });
        ending.tools.socket.connect(&name).unwrap();
        ending.tools.counters.frames_out.add(1);
        let threads = || std::fs::read_dir("/proc/self/task").expect("procfs").map(|thread| thread.expect("a thread"));
        let named = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
        let is_waited_for = || threads().any(|thread| named(thread) == "ysuite-zmq end\n");
        let closed = ending.by(Instant::now());
        assert_eq!(closed, Closed::Unsent { messages: 2, more: true });
        let until = |waited, meanwhile: &dyn Fn()| {
            let begun = Instant::now();
            while is_waited_for() != waited {
                assert!(begun.elapsed() < Duration::from_secs(60), "nothing changes");
                meanwhile();
                thread::sleep(Duration::from_millis(1));
            }
        };
        until(true, &|| {});
        let somebody = Socket::new(&Context::of_the_process().unwrap(), Kind::Pair).unwrap();
        somebody.bind(&name).unwrap();
        // It has its part in how the connection ends.
        until(false, &|| _ = somebody.ready());
    }

    /// However much time there is: only the last word is still tried.
    #[test]
    fn what_fails_is_not_gone_on_with() {
        let cases: [(_, &[_]); 4] = [
            ("listen", &["listen", "rest"]),
            ("close", &["listen", "close", "rest"]),
            ("step", &["listen", "close", "step", "rest"]),
            // While it waits, and once more at last.
            ("rest", &["listen", "close", "step", "listen", "rest", "rest"]),
        ];
        for (fails, expected) in cases {
            let (said, mut heard) = spsc::bounded::<&str>(16);
            let closed = ending(Failing { fails, said }).by(Instant::now() + Duration::from_secs(60));
            assert_eq!(closed, Closed::Unsent { messages: 2, more: false });
            assert_eq!(heard.try_iter().collect::<Vec<_>>(), expected, "{fails}");
        }
        let (said, mut heard) = spsc::bounded::<&str>(16);
        let closed = ending(Failing { fails: "nothing", said }).broken(Instant::now() + Duration::from_secs(60));
        assert_eq!(closed, Closed::Unsent { messages: 2, more: false });
        assert_eq!(heard.try_iter().collect::<Vec<_>>(), ["close", "rest"]);
    }
}
