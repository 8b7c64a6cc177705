//! A peer in another language: pyzmq, for every pattern, both ways, with CURVE and without.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Event, KeyPair, Published, WhenFull};

use crate::support::{GUARD, address, expect_end, expect_flushed, expect_left, until};

/// As the peer has it: `struct.Struct('<Qd')`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Job {
    number: u64,
    half: f64,
}

// SAFETY: two words without padding, of which every pattern of bits is one.
unsafe impl ysuite_zmq::bytemuck::Zeroable for Job {}
// SAFETY: as above.
unsafe impl ysuite_zmq::bytemuck::Pod for Job {}
ysuite_zmq::record!(Job);

const JOBS: u64 = 10_000;

fn job(number: u64) -> Job {
    Job { number, half: number as f64 / 2.0 }
}

/// A Python that has pyzmq, if this machine has one.
fn python() -> Option<&'static str> {
    static FOUND: OnceLock<Option<&str>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let has = |python: &&str| {
            let asked = Command::new(python).args(["-c", "import zmq"]).stderr(Stdio::null()).status();
            asked.is_ok_and(|status| status.success())
        };
        let found = ["python3", "/usr/bin/python3"].into_iter().find(has);
        if found.is_none() {
            eprintln!("no Python here has pyzmq: peers in Python are not tested");
        }
        found
    })
}

/// A peer at work. Killed if it has not ended.
struct Peer {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Peer {
    fn start(role: &str, address: &str, keys: &[String]) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bridges/peer.py");
        let mut command = Command::new(python()?);
        command.args([script, role, address, &JOBS.to_string()]).args(keys);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process");
        let said = BufReader::new(child.stdout.take().expect("its output"));
        Some(Self { child, said })
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).expect("its output");
        line.trim_end().to_owned()
    }

    /// It may end, if that is what it waits for, and prints these words until then.
    fn expect(mut self, words: &str) {
        drop(self.child.stdin.take());
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("its output");
        let ended = self.child.wait().expect("its end");
        assert!(ended.success() && said.trim_end() == words, "{ended}: {said:?}");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// For each of: the bridge binds, or the peer; without security, or the binding side is the server of CURVE.
struct Case {
    bridge_binds: bool,
    keys: Option<[KeyPair; 2]>,
}

fn cases() -> Vec<Case> {
    let keys = || [(); 2].map(|()| KeyPair::generate().unwrap());
    let both = [true, false].into_iter();
    both.flat_map(|bridge_binds| [None, Some(keys())].map(|keys| Case { bridge_binds, keys })).collect()
}

impl Case {
    /// The keys that the peer is given: the server's, then both halves of its own.
    fn for_peer(&self) -> Vec<String> {
        let Some([bridge, peer]) = &self.keys else { return Vec::new() };
        let server = if self.bridge_binds { bridge } else { peer };
        vec![server.public().to_string(), peer.public().to_string(), peer.secret()]
    }
}

/// The builder as the case wants it, started, with the peer in that role.
macro_rules! meet {
    ($case:expr, $role:literal, $builder:expr) => {{
        let (case, mut builder): (&Case, _) = ($case, $builder);
        if let Some([own, other]) = &case.keys {
            builder = match case.bridge_binds {
                true => builder.curve_server(own.clone(), [other.public()]),
                false => builder.curve(own.clone(), other.public()),
            };
        }
        if case.bridge_binds {
            let started = builder.bind("tcp://127.0.0.1:*").start().unwrap();
            let Some(peer) = Peer::start($role, &address(bridge_of(&started)), &case.for_peer()) else { return };
            (started, peer)
        } else {
            let Some(mut peer) = Peer::start($role, "bind:tcp://127.0.0.1:*", &case.for_peer()) else { return };
            let there = peer.line();
            (builder.connect(there).start().unwrap(), peer)
        }
    }};
}

/// `start` returns a bridge, or a bridge and a handle of a channel.
trait HasBridge {
    fn bridge(&self) -> &ysuite_zmq::Started;
}

impl HasBridge for ysuite_zmq::Started {
    fn bridge(&self) -> &ysuite_zmq::Started {
        self
    }
}

impl<T> HasBridge for (ysuite_zmq::Started, spsc::Receiver<T>) {
    fn bridge(&self) -> &ysuite_zmq::Started {
        &self.0
    }
}

fn bridge_of(started: &impl HasBridge) -> &ysuite_zmq::Started {
    started.bridge()
}

fn send(mut jobs: spsc::Sender<Job>) -> thread::JoinHandle<()> {
    thread::spawn(move || (0..JOBS).for_each(|number| jobs.send(job(number)).unwrap()))
}

fn expect_jobs(work: &mut spsc::Receiver<Job>) {
    (0..JOBS).for_each(|number| assert_eq!(work.recv_timeout(GUARD), Ok(job(number))));
}

#[test]
fn a_peer_pulls() {
    for case in &cases() {
        let (jobs, out) = spsc::bounded(64);
        let (push, peer) = meet!(case, "pull", Bridge::push(out).pack(100));
        send(jobs).join().unwrap();
        expect_left(push);
        peer.expect(&format!("received {JOBS}"));
    }
}

#[test]
fn a_peer_pushes() {
    for case in &cases() {
        let ((_pull, mut work), peer) = meet!(case, "push", Bridge::pull::<Job>().bounded(64));
        expect_jobs(&mut work);
        peer.expect("");
    }
}

#[test]
fn a_peer_subscribes() {
    for case in &cases() {
        let (jobs, out) = spsc::bounded(64);
        let (mut publish, peer) = meet!(case, "sub", Bridge::publish(out).pack(100).when_full(WhenFull::Wait));
        assert!(publish.wait_for_subscribers(1, GUARD));
        send(jobs).join().unwrap();
        expect_left(publish);
        peer.expect(&format!("received {JOBS}"));
    }
}

#[test]
fn a_peer_publishes() {
    for case in &cases() {
        let ((_subscribe, mut news), peer) = meet!(case, "pub", Bridge::subscribe::<Job>());
        expect_jobs(&mut news);
        peer.expect("");
    }
}

/// A message as a text, after its topic: in a part of its own, or in the same.
#[test]
fn a_peer_is_told_topics() {
    for joined in [false, true] {
        let (mut news, out) = spsc::bounded::<Published<String>>(64);
        let publish = Bridge::publish(out).bind("tcp://127.0.0.1:*").when_full(WhenFull::Wait);
        let mut publish = if joined { publish.joined_by(b' ') } else { publish }.start().unwrap();
        let role = if joined { "joined sub" } else { "topics sub" };
        let Some(peer) = Peer::start(role, &address(&publish), &[]) else { return };
        assert!(publish.wait_for_subscribers_of("b", 1, GUARD));
        for number in 0..JOBS {
            news.send(Published::new(if number % 2 == 0 { "a" } else { "b" }, format!("number {number}"))).unwrap();
        }
        expect_left(publish);
        peer.expect(&format!("received {}", JOBS / 2));
    }
}

#[test]
fn a_peer_tells_topics() {
    for joined in [false, true] {
        let subscribe = Bridge::subscribe::<Published<String>>().topic("b").bind("tcp://127.0.0.1:*");
        let subscribe = if joined { subscribe.joined_by(b' ') } else { subscribe };
        let (subscribe, mut received) = subscribe.start().unwrap();
        let role = if joined { "joined pub" } else { "topics pub" };
        let Some(peer) = Peer::start(role, &address(&subscribe), &[]) else { return };
        for number in (1..JOBS).step_by(2) {
            assert_eq!(received.recv_timeout(GUARD), Ok(Published::new("b", format!("number {number}"))));
        }
        peer.expect("");
    }
}

/// REP one after the other, and a ROUTER that sends back the envelope.
#[test]
fn a_peer_answers() {
    for (case, role) in cases().iter().flat_map(|case| [(case, "rep"), (case, "router")]) {
        let mut ask = Bridge::ask::<Job, Job>();
        if let Some([own, other]) = &case.keys {
            ask = match case.bridge_binds {
                true => ask.curve_server(own.clone(), [other.public()]),
                false => ask.curve(own.clone(), other.public()),
            };
        }
        let there = "bind:tcp://127.0.0.1:*";
        let (asks, asker, peer) = if case.bridge_binds {
            let (asks, asker) = ask.bind("tcp://127.0.0.1:*").start().unwrap();
            let Some(peer) = Peer::start(role, &address(&asks), &case.for_peer()) else { return };
            (asks, asker, peer)
        } else {
            let Some(mut peer) = Peer::start(role, there, &case.for_peer()) else { return };
            let (asks, asker) = ask.connect(peer.line()).start().unwrap();
            (asks, asker, peer)
        };
        let pending: Vec<_> = (0..JOBS).map(|number| asker.begin(job(number))).map(Result::unwrap).collect();
        for (number, pending) in (0..).zip(pending) {
            let answer = pending.wait();
            assert_eq!(answer.map(|answer| (answer.number, answer.half)), Ok((number, number as f64)));
        }
        expect_flushed(asks);
        peer.expect(&format!("answered {JOBS}"));
    }
}

/// REQ, with numbers of its own and without, and a DEALER, with an envelope and without.
#[test]
fn a_peer_asks() {
    for role in ["req", "correlated req", "dealer", "bare dealer"] {
        let (answers, mut questions) = Bridge::answer::<Job, Job>().bind("tcp://127.0.0.1:*").start().unwrap();
        let Some(peer) = Peer::start(role, &address(&answers), &[]) else { return };
        let worker = thread::spawn(move || {
            for question in questions.iter() {
                let answer = Job { half: question.message.half * 2.0, ..question.message };
                question.answer(answer).unwrap();
            }
        });
        peer.expect(&format!("received {JOBS}"));
        expect_left(answers);
        worker.join().unwrap();
    }
}

#[test]
fn a_peer_converses() {
    for case in &cases() {
        let (jobs, out) = spsc::bounded(64);
        let ((duplex, mut work), peer) = meet!(case, "duplex", Bridge::duplex::<_, Job>(out).pack(100).bounded(500));
        let sender = send(jobs);
        expect_jobs(&mut work);
        sender.join().unwrap();
        expect_end(&mut work);
        expect_flushed(duplex);
        peer.expect(&format!("received {JOBS}"));
    }
}

/// Heartbeats of libzmq end a process that is made to wait (libzmq#3937). A bridge has none; a peer may have some, and be made to
/// wait: the bridge answers them, and both continue.
#[test]
fn a_peer_that_beats_is_made_to_wait() {
    let pull = Bridge::pull::<Job>().bind("tcp://127.0.0.1:*").bounded(1).high_water_marks(1, 1);
    let (pull, mut work) = pull.start().unwrap();
    let Some(peer) = Peer::start("beats", &address(&pull), &[]) else { return };
    for number in 0..JOBS {
        // Many beats long.
        if number % 500 == 0 {
            thread::sleep(std::time::Duration::from_millis(50));
        }
        assert_eq!(work.recv_timeout(GUARD), Ok(job(number)));
    }
    peer.expect("");
    expect_flushed(pull);
}

/// Bytes that are no frame of a duplex are counted and reported; bytes that only resemble one do no harm.
#[test]
fn a_peer_talks_garbage() {
    let (_jobs, out) = spsc::bounded::<Job>(64);
    let (duplex, mut work) = Bridge::duplex::<_, Job>(out).bind("tcp://127.0.0.1:*").start().unwrap();
    let Some(peer) = Peer::start("garbage", &address(&duplex), &[]) else { return };
    peer.expect("sent garbage");
    // Eight that are none, and two that say more than they may.
    until("all of it has been refused", || duplex.statistics().malformed >= 10);
    assert_eq!(duplex.statistics().malformed, 10);
    assert_eq!(work.try_recv(), Ok(job(0)), "the one frame that was as it must be");
    assert!(work.try_recv().is_err());
    // A number beyond the largest is invalid, and gives no information on what was lost before it.
    assert!(!duplex.events().try_iter().any(|event| matches!(event, Event::Lost { .. })));
}
