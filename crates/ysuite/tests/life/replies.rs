//! A request brings the channel for its answer along.

use std::thread;
use std::time::Duration;

use crate::life::{Steps, live};
use crate::support::executor::block_on;
use ysuite::Spin;
use ysuite::queue::ypipe;
use ysuite::{mpmc, mpsc, oneshot, spsc};

#[test]
fn a_oneshot_for_each_request() {
    live("replies::a_oneshot_for_each_request", Steps::Calls, |life| {
        let (requests, requests_in) = mpmc::bounded::<oneshot::Sender<u64>>(4);
        while life.step() {
            let (reply, mut answer) = oneshot::channel();
            requests.send(reply).unwrap();
            let mut reply = requests_in.recv().unwrap();
            match life.number() % 5 {
                0 => {
                    reply.send(1).unwrap();
                    assert_eq!(answer.recv(), Ok(1));
                }
                1 => {
                    reply.send(1).unwrap();
                    assert_eq!(answer.try_recv(), Ok(1));
                }
                2 => {
                    reply.send(1).unwrap();
                    assert_eq!(block_on(answer), Ok(1));
                }
                // No answer.
                3 => drop(reply),
                // No thread waits for the answer.
                _ => {
                    assert!(!reply.wait_closed_timeout(Duration::ZERO));
                    assert!(answer.close());
                    reply.wait_closed();
                    assert!(reply.send(1).is_err());
                }
            }
        }
    });
}

#[test]
fn a_pipe_for_each_request() {
    live("replies::a_pipe_for_each_request", Steps::Calls, |life| {
        while life.step() {
            let ends = if life.number() % 2 == 0 { spsc::bounded(1) } else { spsc::unbounded() };
            let (mut reply, mut answer) = ends;
            assert!(answer.recv_timeout(Duration::ZERO).is_err());
            assert!(!reply.wait_closed_timeout(Duration::ZERO));
            match life.number() % 7 {
                0 => drop(reply.try_reserve().unwrap()),
                1 => drop(reply.reserve().unwrap()),
                2 => drop(reply.try_reserve_many(1).unwrap()),
                3 => drop(reply.reserve_many(1).unwrap()),
                4 => {
                    assert!(answer.close());
                    reply.wait_closed();
                    assert!(reply.send(1).is_err());
                    continue;
                }
                _ => {}
            }
            reply.send(1).unwrap();
            match life.number() % 5 {
                0 => assert!(reply.close()),
                1 => drop(reply),
                _ => {}
            }
            match life.number() % 3 {
                0 => assert_eq!(answer.iter().next(), Some(1)),
                1 => assert_eq!(answer.try_iter().next(), Some(1)),
                _ => assert_eq!(answer.into_iter().next(), Some(1)),
            }
        }
    });
}

/// The spsc queue by itself, for a program that has its own way of sleeping.
#[test]
fn a_queue_without_waiting() {
    live("replies::a_queue_without_waiting", Steps::Calls, |life| {
        while life.step() {
            let (mut writer, mut reader) = if life.number() % 2 == 0 { ypipe::bounded(1) } else { ypipe::unbounded() };
            assert!(reader.arm());
            writer.write(1).unwrap();
            // False: the reader sleeps, and is to be woken.
            assert!(!writer.flush());
            match life.number() % 3 {
                0 => assert_eq!(reader.read(), Some(1)),
                1 => drop(reader),
                _ => drop(writer),
            }
        }
    });
}

#[test]
fn an_mpsc_channel_for_each_request() {
    live("replies::an_mpsc_channel_for_each_request", Steps::Calls, |life| {
        while life.step() {
            let (mut reply, mut answer) = match life.number() % 3 {
                0 => mpsc::bounded(1),
                1 => mpsc::unbounded(),
                _ => mpsc::bounded_for(1, 2),
            };
            let mut other = reply.clone();
            assert!(!other.wait_closed_timeout(Duration::ZERO));
            reply.send(1).unwrap();
            other.send(1).unwrap();
            match life.number() % 5 {
                0 => assert!(reply.close()),
                1 => drop(other),
                2 => {
                    assert!(answer.close());
                    reply.wait_closed();
                }
                _ => {}
            }
            match life.number() % 3 {
                0 => assert_eq!(answer.try_iter().take(2).count(), 2),
                1 => assert_eq!(answer.iter().take(2).count(), 2),
                _ => assert_eq!(answer.into_iter().take(2).count(), 2),
            }
        }
    });
}

#[test]
fn an_mpmc_channel_for_each_request() {
    live("replies::an_mpmc_channel_for_each_request", Steps::Calls, |life| {
        while life.step() {
            let (reply, answer) = if life.number() % 2 == 0 { mpmc::bounded(1) } else { mpmc::unbounded() };
            assert!(answer.recv_timeout(Duration::ZERO).is_err());
            reply.send(1).unwrap();
            match life.number() % 5 {
                0 => assert!(reply.close()),
                1 => drop(reply),
                2 => {
                    assert!(!reply.wait_closed_timeout(Duration::ZERO));
                    assert!(answer.close());
                    reply.wait_closed();
                }
                _ => {}
            }
            match life.number() % 3 {
                0 => assert_eq!(answer.try_iter().count(), 1),
                1 => assert_eq!(answer.iter().next(), Some(1)),
                _ => assert_eq!(answer.into_iter().next(), Some(1)),
            }
        }
    });
}

/// A channel of capacity 0, by which a thread that stays hands the answer over; and one without a partner.
#[test]
fn a_rendezvous_for_each_request() {
    /// The destination of the answer.
    enum Reply {
        Spsc(spsc::Sender<u64>),
        Mpsc(mpsc::Sender<u64>),
        Mpmc(mpmc::Sender<u64>),
    }
    live("replies::a_rendezvous_for_each_request", Steps::Few, |life| {
        let (mut requests, mut requests_in) = spsc::unbounded::<Reply>();
        requests_in.set_spin(Spin::None);
        let server = thread::spawn(move || {
            for reply in requests_in.iter() {
                match reply {
                    Reply::Spsc(mut reply) => reply.send(1).unwrap(),
                    Reply::Mpsc(mut reply) => reply.send(1).unwrap(),
                    Reply::Mpmc(reply) => reply.send(1).unwrap(),
                }
            }
        });
        while life.step() {
            match life.number() % 3 {
                0 => {
                    let (mut reply, mut answer) = spsc::bounded(0);
                    reply.set_spin(Spin::None);
                    answer.set_spin(Spin::None);
                    assert!(reply.try_send(0).is_err() && answer.recv_timeout(Duration::ZERO).is_err());
                    requests.send(Reply::Spsc(reply)).unwrap();
                    assert_eq!(answer.recv(), Ok(1));
                }
                1 => {
                    let (mut reply, mut answer) = mpsc::bounded(0);
                    reply.set_spin(Spin::None);
                    answer.set_spin(Spin::None);
                    assert!(reply.send_timeout(0, Duration::ZERO).is_err() && answer.try_recv().is_err());
                    requests.send(Reply::Mpsc(reply)).unwrap();
                    assert_eq!(answer.recv(), Ok(1));
                }
                _ => {
                    let (reply, answer) = mpmc::bounded(0);
                    reply.set_spin(Spin::None);
                    assert!(reply.try_send(0).is_err() && answer.recv_timeout(Duration::ZERO).is_err());
                    requests.send(Reply::Mpmc(reply)).unwrap();
                    assert_eq!(answer.recv(), Ok(1));
                }
            }
        }
        drop(requests);
        server.join().unwrap();
    });
}

/// A rendezvous that stays, with handles that come and go.
#[test]
fn clones_of_the_ends_of_a_rendezvous() {
    live("replies::clones_of_the_ends_of_a_rendezvous", Steps::Threads, |life| {
        let (sender, receiver) = mpmc::bounded(0);
        let (stays, mut funnel) = mpsc::bounded(0);
        while life.step() {
            let (out, own) = (sender.clone(), receiver.clone());
            let mut lane = stays.clone();
            let thread = thread::spawn(move || {
                out.send(1).unwrap();
                lane.send(2).unwrap();
            });
            assert_eq!((own.recv(), funnel.recv()), (Ok(1), Ok(2)));
            thread.join().unwrap();
            let (mut gone, weak) = (stays.clone(), sender.downgrade());
            assert!(gone.send_timeout(0, Duration::ZERO).is_err() && weak.upgrade().is_some());
        }
    });
}
