//! Addresses of bridges: errors in an address are reported, no listener is displaced, and names are found.
//!
//! Claim: Wrong addresses are reported. A socket file in use is not taken over, one bridge of many owns it, and it is
//! removed with its bridge.

use std::fs;
use std::net::{TcpListener, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process;

use ysuite::spsc;
use ysuite_zmq::{Bridge, Error, Event, Pull};

use crate::support::{GUARD, address, expect, expect_flushed, wait_for};

fn pull() -> Pull<u64> {
    Bridge::pull()
}

/// A directory of a test's own, which goes with it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ysuite-zmq-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A file in it, and its address.
    fn file(&self, name: &str) -> (PathBuf, String) {
        let path = self.0.join(name);
        let address = format!("ipc://{}", path.display());
        (path, address)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One message goes over there.
fn expect_reached(there: &str, work: &mut spsc::Receiver<u64>) {
    let (mut jobs, out) = spsc::bounded::<u64>(4);
    let push = Bridge::push(out).connect(there).start().unwrap();
    jobs.send(7).unwrap();
    expect(work, 7..8);
    expect_flushed(push);
}

/// libzmq takes what it can read of a number for the port.
#[test]
fn what_is_wrong_with_an_address_is_said() {
    let cases = [
        ("tcp://127.0.0.1:99999", "its port is"),
        ("tcp://127.0.0.1:65536", "its port is"),
        ("tcp://127.0.0.1:80x", "its port is"),
        ("tcp://127.0.0.1:x", "its port is"),
        ("tcp://127.0.0.1:-1", "its port is"),
        ("tcp://127.0.0.1", "it has no port"),
        ("tcp://:80", "it has no host"),
        ("tcp://::1:80", "an IPv6 address must be in brackets"),
        ("ipc://", "it has no path"),
        ("inproc://", "it has no name"),
        ("/run/jobs", "it begins with tcp://, ipc:// or inproc://"),
    ];
    for (wrong, why) in cases {
        for started in [pull().bind(wrong).start(), pull().connect(wrong).start()] {
            let error = started.map(drop).unwrap_err();
            assert!(matches!(&error, Error::Address { address, .. } if address == wrong), "{error:?}");
            let said = error.to_string();
            assert!(said.starts_with(wrong) && said.contains(why), "{said}");
        }
    }
    let long = format!("ipc:///tmp/{}", "x".repeat(200));
    for started in [pull().bind(&long).start(), pull().connect(&long).start()] {
        let said = started.map(drop).unwrap_err().to_string();
        assert!(said.contains("its path has more than 10"), "{said}");
    }
}

/// Of this program or of another, with or without libzmq.
#[test]
fn a_file_with_a_listener_is_not_taken() {
    let directory = Directory::new("taken");
    let (_, there) = directory.file("bridge");
    let (first, mut work) = pull().bind(&there).start().unwrap();
    for _ in 0..3 {
        let second = pull().bind(&there).start().map(drop);
        assert!(matches!(&second, Err(Error::InUse { address }) if *address == there), "{second:?}");
    }
    expect_reached(&there, &mut work);
    drop(first);

    let (path, there) = directory.file("other");
    let other = UnixListener::bind(&path).unwrap();
    assert!(matches!(pull().bind(&there).start().map(drop), Err(Error::InUse { .. })));
    // Without a listener, it is replaced.
    drop(other);
    assert!(path.exists());
    let (_pull, mut work) = pull().bind(&there).start().unwrap();
    expect_reached(&there, &mut work);

    // A file that is no socket is not touched.
    let (path, there) = directory.file("text");
    fs::write(&path, "dear diary").unwrap();
    let said = pull().bind(&there).start().map(drop).unwrap_err().to_string();
    assert!(said.contains("a file that is no socket is there"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary");
}

/// Two at the same time: one of them has it.
#[test]
fn of_many_that_bind_a_file_at_once_one_has_it() {
    let directory = Directory::new("many");
    let (path, there) = directory.file("jobs");
    for _ in 0..10 {
        drop(UnixListener::bind(&path).unwrap());
        let started: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| pull().bind(&there).start())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (mut those, others): (Vec<_>, Vec<_>) = started.into_iter().partition(Result::is_ok);
        assert_eq!((those.len(), others.len()), (1, 3));
        assert!(others.iter().all(|other| matches!(other, Err(Error::InUse { .. }))));
        let (bridge, mut work) = those.remove(0).unwrap();
        expect_reached(&there, &mut work);
        expect_flushed(bridge);
    }
}

#[test]
fn a_file_is_gone_with_its_bridge() {
    let directory = Directory::new("gone");
    let (path, there) = directory.file("jobs");
    let (first, mut work) = pull().bind(&there).start().unwrap();
    assert!(fs::metadata(&path).unwrap().file_type().is_socket());
    expect_reached(&there, &mut work);
    expect_flushed(first);
    assert!(!path.exists());
    // One of a bridge that did not come to be as well.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let used = format!("tcp://{}", other.local_addr().unwrap());
    assert!(pull().bind(&there).bind(used).start().is_err());
    assert!(!path.exists());
    // A file that another process has put in its place is not touched.
    let (second, _work) = pull().bind(&there).start().unwrap();
    fs::remove_file(&path).unwrap();
    let theirs = UnixListener::bind(&path).unwrap();
    expect_flushed(second);
    assert!(path.exists());
    drop(theirs);
}

/// What only belongs to an IPv6 address here, if there is such a name.
fn name_of_v6() -> Option<&'static str> {
    TcpListener::bind("[::1]:0").ok()?;
    let only_v6 = |name: &&str| {
        let mut all = (*name, 1).to_socket_addrs().into_iter().flatten().peekable();
        all.peek().is_some() && all.all(|address| address.is_ipv6() && address.ip().is_loopback())
    };
    ["ip6-localhost", "ip6-loopback", "localhost6"].into_iter().find(only_v6)
}

#[test]
fn names_are_found_by_either_family() {
    let (bridge, mut work) = pull().bind("tcp://127.0.0.1:*").start().unwrap();
    expect_reached(&address(&bridge).replace("127.0.0.1", "localhost"), &mut work);
    let Some(name) = name_of_v6() else { return };
    let (bridge, mut work) = pull().bind("tcp://[::1]:*").start().unwrap();
    expect_reached(&address(&bridge).replace("[::1]", name), &mut work);
}

/// Each address is used as it is spelled, whatever the others are.
#[test]
fn addresses_of_both_families_go_together() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let (bridge, mut work) = pull().bind("tcp://127.0.0.1:*").bind("tcp://[::1]:*").start().unwrap();
    let there = bridge.addresses();
    assert!(there[0].starts_with("tcp://127.0.0.1:") && there[1].starts_with("tcp://[::1]:"), "{there:?}");
    there.iter().for_each(|there| expect_reached(there, &mut work));
}

/// A part of a name has at most 63 bytes: no server need be asked for that one.
#[test]
fn an_unknown_name_is_reported() {
    let nobody = format!("tcp://{}:5555", "x".repeat(64));
    let (_jobs, out) = spsc::bounded::<u64>(4);
    let push = Bridge::push(out).connect(&nobody).start().unwrap();
    let events = push.events();
    for _ in 0..2 {
        let event = wait_for(&events, |event| matches!(event, Event::Unresolved(_) | Event::Retrying(_)));
        assert_eq!(event, Event::Unresolved(nobody.clone()));
    }
    // No thread waits for the next try.
    expect_flushed(push);
    assert!(events.recv_timeout(GUARD).is_err_and(|error| error.is_disconnected()));
}
