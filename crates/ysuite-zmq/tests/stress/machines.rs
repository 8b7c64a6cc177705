//! Two machines, as far as one can be two: network namespaces with a cable between them, which is pulled again and again.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use ysuite::spsc;
use ysuite_zmq::Bridge;

use crate::child::{Child, Log, Told};
use crate::support::{address, expect_flushed, send, until};
use crate::{messages, say};

const INSIDE: &str = "YSUITE_ZMQ_INSIDE";

fn ip(words: &str) {
    let done = Command::new("ip").args(words.split(' ')).output().expect("ip");
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
}

/// How a process of ours has a network of its own, if this machine lets it: as root, or as a root of its own.
fn own_network() -> Option<Command> {
    let begin = |rights: &&[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(*rights).arg("-n");
        unshare
    };
    let may = |rights: &&[&str]| {
        let cable = ["ip", "link", "add", "name", "here", "type", "veth", "peer", "name", "there"];
        let tried = begin(rights).args(cable).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    [&[][..], &["-r"]].iter().find(|rights| may(rights)).map(begin)
}

/// In a process that has a network of its own.
#[test]
fn a_cable_that_is_pulled_costs_time_and_nothing_else() {
    if std::env::var_os(INSIDE).is_some() {
        return between_two_machines();
    }
    let Some(mut inside) = own_network() else {
        return say("no network can be made here: no cable is pulled");
    };
    let exe = std::env::current_exe().expect("a path");
    inside.arg(exe).args(["machines::", "--nocapture"]).env(INSIDE, "1");
    let done = inside.status().expect("a process");
    assert!(done.success(), "{done}");
}

fn between_two_machines() {
    let (numbers, seed) = (messages(300_000, 20_000_000), fastrand::u64(..));
    say(format_args!("machines: {numbers}, seed {seed}"));
    let mut random = fastrand::Rng::with_seed(seed);
    // The other machine is there as long as this process of it is.
    let other = Command::new("unshare").args(["-n", "sleep", "100000"]).spawn().expect("a process");
    let other = Sleeper(other);
    let enter = format!("/proc/{}/ns/net", other.0.id());
    let own = std::fs::read_link("/proc/self/ns/net").expect("procfs");
    until("the other machine is another", || std::fs::read_link(&enter).is_ok_and(|theirs| theirs != own));
    ip("link set lo up");
    ip(&format!("link add here type veth peer name there netns {}", other.0.id()));
    ip("address add 10.77.0.1/24 dev here");
    ip("link set here up");
    let there = |words: &str| {
        let done = Command::new("nsenter").arg(format!("--net={enter}")).arg("ip").args(words.split(' ')).status();
        assert!(done.is_ok_and(|status| status.success()), "{words}");
    };
    there("address add 10.77.0.2/24 dev there");
    there("link set there up");

    let (sender, out) = spsc::bounded::<u64>(1_000);
    let duplex = Bridge::duplex::<_, u64>(out).bind("tcp://10.77.0.1:*").pack(64).at_least_once();
    let (duplex, _receiver) = duplex.start().expect("a bridge");
    let log = std::env::temp_dir().join(format!("ysuite-zmq-machines-{}", std::process::id()));
    let told = Told { role: "reader", address: address(&duplex), number: 0, log: log.clone() };
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={enter}")).arg(std::env::current_exe().expect("a path"));
    let mut reader = Child::start_by(command, &told);
    let sending = send(sender, 0..numbers);
    let mut cuts = 0;
    until("something has come", || Log::read(&log).next > 0);
    while !reader.has_ended() {
        ip("link set here down");
        // Now and then for longer than a duplex waits for an answer.
        thread::sleep(Duration::from_millis(if cuts % 4 == 3 { 1_500 } else { random.u64(1..200) }));
        ip("link set here up");
        cuts += 1;
        let before = Log::read(&log);
        // The kernel tries again when it thinks best; then something comes, or all has come.
        until("it goes on", || Log::read(&log) != before || reader.has_ended());
        thread::sleep(Duration::from_millis(random.u64(1..100)));
    }
    reader.end();
    let came = Log::read(&log);
    let _ = std::fs::remove_file(&log);
    assert_eq!(came, Log { first: 0, next: numbers });
    sending.join().expect("all was sent");
    expect_flushed(duplex);
    assert!(cuts > 0);
    say(format_args!("  {cuts} cuts, nothing lost"));
}

struct Sleeper(std::process::Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
