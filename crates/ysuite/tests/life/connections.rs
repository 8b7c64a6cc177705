//! A server: each connection makes its handles, has them served with all others, and goes; some are always open.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::life::{Steps, live};
use ysuite::hub::{Hub, Interest};
use ysuite::signal::{Attach, Backend, ReadySet, SignalSet, Wait, YPollset, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, oneshot, spsc, timer, watch};

/// Connections that are open at once.
const OPEN: usize = 32;

/// A handle of every kind that can be attached.
fn ends(number: u64) -> Box<dyn Attach + Send> {
    match number % 8 {
        0 => Box::new(spsc::bounded::<u64>(1).1),
        1 => Box::new(spsc::unbounded::<u64>().0),
        2 => Box::new(mpsc::bounded::<u64>(1).1),
        3 => Box::new(mpsc::unbounded::<u64>().0),
        4 => Box::new(mpmc::bounded::<u64>(1).1),
        5 => Box::new(oneshot::channel::<u64>().1),
        6 => Box::new(broadcast::bounded::<u64>(1).1),
        _ => Box::new(watch::channel(0_u64).1),
    }
}

/// An spsc channel, another handle, and their ids in the set.
type Connection = (spsc::Sender<u64>, spsc::Receiver<u64>, Box<dyn Attach + Send>, [usize; 2]);

/// In any set: an spsc channel for a connection, and a handle of another kind.
fn serve(life: &mut crate::life::Life, mut set: impl SignalSet) {
    let mut open: VecDeque<Connection> = VecDeque::with_capacity(OPEN);
    let mut ids: VecDeque<usize> = (0..2 * OPEN).collect();
    while life.step() {
        let number = life.number();
        if open.len() == OPEN / 2 {
            let (sender, mut receiver, mut other, [id, second]) = open.pop_front().unwrap();
            // Every other one goes as it is.
            if number % 2 == 0 {
                assert_eq!(set.detach(&mut receiver), Some(id));
                assert_eq!(set.detach(&mut *other), Some(second));
            }
            drop((sender, receiver, other));
            ids.extend([id, second]);
            set.check().for_each(drop);
        }
        let (mut sender, mut receiver) = if number % 3 == 0 { spsc::unbounded() } else { spsc::bounded(2) };
        let mut other = ends(number);
        let (id, second) = (ids.pop_front().unwrap(), ids.pop_front().unwrap());
        set.attach(&mut receiver, id).unwrap();
        set.attach(&mut *other, second).unwrap();
        assert!(receiver.try_recv().is_err());
        sender.send(number).unwrap();
        assert!(set.wait().any(|raised| raised == id));
        assert_eq!((receiver.recv(), receiver.try_recv().is_err()), (Ok(number), true));
        open.push_back((sender, receiver, other, [id, second]));
    }
}

#[test]
fn in_a_pollset() {
    live("connections::in_a_pollset", Steps::Calls, |life| serve(life, YPollset::with_capacity(2 * OPEN)));
}

#[test]
fn in_a_socketpair_of_either_backend() {
    live("connections::in_a_socketpair_of_either_backend", Steps::Calls, |life| {
        serve(life, YSocketpair::with_backend(2 * OPEN, Backend::Socketpair).unwrap());
    });
}

#[test]
fn in_a_socketpair() {
    live("connections::in_a_socketpair", Steps::Calls, |life| {
        serve(life, YSocketpair::with_capacity(2 * OPEN).unwrap())
    });
}

#[test]
fn ends_that_detach_themselves() {
    live("connections::ends_that_detach_themselves", Steps::Calls, |life| {
        let (mut pollset, mut socketpair) = (YPollset::new(), YSocketpair::new().unwrap());
        let (stays, mut stays_in) = mpsc::bounded::<u64>(1);
        let (many, many_in) = mpmc::bounded::<u64>(1);
        let (news, _news_in) = broadcast::bounded::<u64>(1);
        let (value, _value_in) = watch::channel(0_u64);
        while life.step() {
            // In one set, and then in the other.
            let (mut sender, mut receiver) = spsc::bounded::<u64>(1);
            let mut lane = stays.clone();
            let (mut many, mut many_in) = (many.clone(), many_in.clone());
            let (mut heard, mut seen) = (news.subscribe(), value.subscribe());
            let (_asked, mut answer) = oneshot::channel::<u64>();
            let (_kept, mut funnel) = mpsc::unbounded::<u64>();
            pollset.attach(&mut receiver, 0).unwrap();
            pollset.attach(&mut sender, 1).unwrap();
            pollset.attach(&mut lane, 2).unwrap();
            pollset.attach(&mut many, 3).unwrap();
            pollset.attach(&mut many_in, 4).unwrap();
            pollset.attach(&mut heard, 5).unwrap();
            pollset.attach(&mut seen, 6).unwrap();
            pollset.attach(&mut answer, 7).unwrap();
            pollset.attach(&mut funnel, 8).unwrap();
            pollset.check().for_each(drop);
            // A receiver that polls now and then, and finds nothing.
            assert!(stays_in.try_recv().is_err());
            assert!(receiver.detach() && sender.detach() && lane.detach() && many.detach() && many_in.detach());
            assert!(heard.detach() && seen.detach() && answer.detach() && funnel.detach());
            socketpair.attach(&mut receiver, 0).unwrap();
            socketpair.attach(&mut lane, 1).unwrap();
            assert!(receiver.try_recv().is_err());
            assert_eq!(socketpair.detach(&mut receiver), Some(0));
            assert_eq!(socketpair.detach(&mut lane), Some(1));
            assert_eq!(pollset.detach(&mut receiver), None);
            socketpair.check().for_each(drop);
        }
    });
}

#[test]
fn in_a_select() {
    live("connections::in_a_select", Steps::Few, |life| {
        let mut select = ReadySet::with_capacity(8);
        let (mut stays, mut stays_in) = spsc::unbounded();
        let stayed = select.add(&mut stays_in).unwrap();
        let (many, _many_in) = mpmc::unbounded::<u64>();
        while life.step() {
            let number = life.number();
            let (mut sender, mut receiver) = mpsc::bounded(1);
            let key = select.add(&mut receiver).unwrap();
            let (out, shared) = mpmc::bounded(1);
            let shared_key = select.add_shared(&shared).unwrap();
            let room = select.add_shared(&out).unwrap();
            let clock = timer::after(Duration::from_secs(3_600));
            let never = timer::never();
            select.add_timer(&clock).unwrap();
            select.add_timer(&never).unwrap();
            // One that always has room, next to others that have nothing yet and are reported until that is seen.
            assert!(receiver.try_recv().is_err() && stays_in.try_recv().is_err());
            assert_eq!(select.wait(), room);
            assert_eq!(select.remove_shared(&out), Some(room));
            sender.send(number).unwrap();
            assert_eq!(select.wait(), key);
            assert!(receiver.try_recv().is_ok() && receiver.try_recv().is_err());
            out.send(number).unwrap();
            assert_eq!(select.try_wait(), Some(shared_key));
            assert!(shared.try_recv().is_ok() && shared.try_recv().is_err());
            stays.send(number).unwrap();
            assert_eq!(select.wait_timeout(Duration::from_secs(60)), Some(stayed));
            assert!(stays_in.try_recv().is_ok() && stays_in.try_recv().is_err());
            // A handle that is added by shared reference stays until it is removed; others may just be dropped.
            assert_eq!(select.remove_shared(&shared), Some(shared_key));
            assert!(select.remove_timer(&clock).is_some());
            assert!(select.remove_timer(&never).is_some());
            if number % 2 == 0 {
                assert_eq!(select.remove(&mut receiver), Some(key));
            } else if number % 4 == 1 {
                // A clone that is added for the time of one wait.
                let clone = many.clone();
                let cloned = select.add_shared(&clone).unwrap();
                assert_eq!(select.try_wait(), Some(cloned));
                assert!(select.remove_shared(&clone).is_some());
            } else {
                let mut again = ReadySet::new();
                assert!(again.add(&mut sender).is_ok() && again.try_wait().is_some());
            }
        }
    });
}

#[test]
fn in_a_hub() {
    live("connections::in_a_hub", Steps::Calls, |life| {
        let mut hub = Hub::with_receivers(2 * OPEN).unwrap();
        let (seen_out, seen) = mpmc::unbounded();
        let mut open = VecDeque::new();
        while life.step() {
            let number = life.number();
            if open.len() == OPEN {
                let (sender, source): (spsc::Sender<u64>, _) = open.pop_front().unwrap();
                // The hub drops the receiver when the sender is gone; or it is removed.
                if number % 2 == 0 {
                    assert!(hub.remove(source));
                } else {
                    drop(sender);
                    while hub.run_once(Duration::ZERO).unwrap() != 0 {}
                    assert!(!hub.remove(source));
                }
            }
            let (mut sender, receiver) = spsc::bounded(2);
            let out = seen_out.clone();
            let source = hub
                .receive(receiver, move |_, message| {
                    if let Ok(message) = message {
                        out.send(message).unwrap();
                    }
                })
                .unwrap();
            sender.send(number).unwrap();
            while seen.is_empty() {
                hub.run_once(Duration::ZERO).unwrap();
            }
            assert_eq!(seen.recv(), Ok(number));
            open.push_back((sender, source));
        }
    });
}

/// A socket for each connection.
#[test]
fn sockets_in_a_hub() {
    live("connections::sockets_in_a_hub", Steps::Calls, |life| {
        let mut hub = Hub::new().unwrap();
        let mut open = VecDeque::new();
        while life.step() {
            if open.len() == OPEN {
                let (near, source): (UnixStream, _) = open.pop_front().unwrap();
                match life.number() % 3 {
                    0 => assert!(hub.remove(source)),
                    1 => drop(hub.take::<UnixStream>(source).unwrap()),
                    // The handler removes it when the peer has gone.
                    _ => {
                        drop(near);
                        while hub.run_once(Duration::ZERO).unwrap() != 0 {}
                        assert!(!hub.remove(source));
                    }
                }
            }
            let (mut near, far) = UnixStream::pair().unwrap();
            far.set_nonblocking(true).unwrap();
            let source = hub
                .watch(far, Interest::READABLE, |hub, socket: &mut UnixStream, ready| {
                    assert!(ready.is_readable());
                    let mut byte = [0];
                    if socket.read(&mut byte).unwrap() == 0 {
                        assert!(hub.remove(hub.current().unwrap()));
                    }
                })
                .unwrap();
            assert!(hub.set_interest(source, Interest::READABLE | Interest::WRITABLE).unwrap());
            assert!(hub.set_interest(source, Interest::READABLE).unwrap());
            near.write_all(&[1]).unwrap();
            assert_eq!(hub.run_once(Duration::from_secs(60)).unwrap(), 1);
            open.push_back((near, source));
        }
    });
}
