//! Sets of signals and their ids, choices made for each message, timers, and observers.

use std::time::{Duration, Instant};

use crate::life::{Steps, live};
use ysuite::select::list::{self, Selectable, first};
use ysuite::signal::{ReadySet, Signal, SignalSet, Wait, YPollset, YSemaphore, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, oneshot, select, spsc, timer, watch};

#[test]
fn signalers_and_ids() {
    live("signals::signalers_and_ids", Steps::Calls, |life| {
        let (mut pollset, mut socketpair, mut semaphore) =
            (YPollset::new(), YSocketpair::new().unwrap(), YSemaphore::new());
        while life.step() {
            let id = life.number() as usize % 30;
            let (one, other, third) = (pollset.signaler().clone(), socketpair.signaler(), semaphore.signaler().clone());
            one.signal(id);
            other.signal(id);
            third.signal(0);
            assert!(pollset.check().eq([id]) && socketpair.wait().eq([id]) && semaphore.wait().eq([0]));
            let (_sender, mut receiver) = spsc::unbounded::<u64>();
            pollset.attach(&mut receiver, id).unwrap();
            // Taken, until it is given back.
            let (_other, mut second) = spsc::unbounded::<u64>();
            let _ = pollset.attach(&mut second, id);
            let _ = pollset.detach(&mut second);
            assert_eq!(pollset.detach(&mut receiver), Some(id));
            pollset.check().for_each(drop);
        }
    });
}

#[test]
fn a_set_for_each_task() {
    live("signals::a_set_for_each_task", Steps::Calls, |life| {
        let (mut stays, mut receiver) = mpsc::unbounded();
        while life.step() {
            let number = life.number();
            match number % 7 {
                0 => wait_once(YPollset::new(), &mut receiver, &mut stays),
                1 => wait_once(YPollset::with_capacity(40), &mut receiver, &mut stays),
                2 => wait_once(YPollset::default(), &mut receiver, &mut stays),
                3 => wait_once(YSocketpair::new().unwrap(), &mut receiver, &mut stays),
                4 => wait_once(YSocketpair::with_capacity(3).unwrap(), &mut receiver, &mut stays),
                5 => {
                    let mut semaphore = if number % 2 == 0 { YSemaphore::new() } else { YSemaphore::default() };
                    let signaler = semaphore.signaler();
                    signaler.signal(0);
                    assert!(semaphore.wait().eq([0]));
                }
                _ => {
                    let mut one = match number % 3 {
                        0 => ReadySet::new(),
                        1 => ReadySet::default(),
                        _ => ReadySet::with_capacity(2),
                    };
                    let key = one.add(&mut receiver).unwrap();
                    stays.send(number).unwrap();
                    assert_eq!(one.wait(), key);
                    assert_eq!(receiver.try_recv(), Ok(number));
                    // A dropped set leaves its handles attached.
                    if number % 2 == 0 {
                        assert_eq!(one.remove(&mut receiver), Some(key));
                    } else {
                        drop(one);
                        assert!(receiver.detach());
                    }
                }
            }
        }
    });
}

/// In a set that goes.
fn wait_once(mut set: impl SignalSet, receiver: &mut mpsc::Receiver<u64>, sender: &mut mpsc::Sender<u64>) {
    set.attach(receiver, 1).unwrap();
    assert!(receiver.try_recv().is_err());
    sender.send(1).unwrap();
    assert!(set.wait().eq([1]));
    assert_eq!((receiver.try_recv(), receiver.try_recv().is_err()), (Ok(1), true));
    assert_eq!(set.detach(receiver), Some(1));
}

/// Operations of several kinds, which wait, give up, and are performed; one end is there for this message alone.
#[test]
fn a_list_for_each_message() {
    live("signals::a_list_for_each_message", Steps::Calls, |life| {
        let (sender, receiver) = mpmc::bounded(1);
        let (news, mut news_in) = broadcast::bounded(1);
        let (value, mut value_in) = watch::channel(0);
        let never = timer::never();
        while life.step() {
            let number = life.number();
            let (reply, mut answer) = oneshot::channel();
            let mut ticks = list::recv(&never);
            let (mut one, mut two) = (list::recv(&receiver), list::recv(&mut news_in));
            let (mut three, mut four) = (list::recv(&mut value_in), list::recv(&mut answer));
            let mut all: [&mut dyn Selectable; 5] = [&mut one, &mut two, &mut three, &mut four, &mut ticks];
            assert_eq!(first(&mut all).try_now(), None);
            assert_eq!(first(&mut all).wait_timeout(Duration::from_nanos(1)), None);
            match number % 4 {
                0 => sender.send(number).unwrap(),
                1 => news.send(number).unwrap(),
                2 => value.send(number).unwrap(),
                _ => {
                    reply.send(number).unwrap();
                    assert_eq!(first(&mut all).biased().wait(), 3);
                    assert_eq!(four.result(), Some(Ok(number)));
                    continue;
                }
            }
            assert_eq!(first(&mut all).wait(), number as usize % 4);
            let got = (one.result(), two.result(), three.result());
            assert!(got.0.is_some() || got.1.is_some() || got.2.is_some());
            // There is room for one of them.
            let (mut kept, mut other) = (list::send(&sender, 1), list::send(&sender, 2));
            let sent = first(&mut [&mut kept, &mut other]).wait();
            assert_eq!(receiver.recv(), Ok(1 + sent as u64));
            assert!(kept.into_message().is_some() || sent == 0);
            // There is room for one of them, and for no message then.
            let (mut room, mut more) = (list::reserve(&sender), list::reserve(&sender));
            let (mut readable, mut writable) = (list::readable(&receiver), list::writable(&sender));
            let mut due = list::due(&never);
            let reserved = first(&mut [&mut room, &mut more]).wait();
            let permit = if reserved == 0 { room.result() } else { more.result() }.unwrap().unwrap();
            assert_eq!(first(&mut [&mut readable, &mut due]).wait_timeout(Duration::from_nanos(1)), None);
            assert_eq!(first(&mut [&mut room, &mut more, &mut writable]).wait_timeout(Duration::from_nanos(1)), None);
            permit.send(number).unwrap();
            assert_eq!(first(&mut [&mut readable, &mut room]).wait(), 0);
            assert_eq!(receiver.recv(), Ok(number));
            assert_eq!(first(&mut [&mut writable]).wait(), 0);
        }
    });
}

#[test]
fn a_select_for_each_message() {
    live("signals::a_select_for_each_message", Steps::Calls, |life| {
        let (mut one, mut one_in) = spsc::bounded(1);
        let (mut two, mut two_in) = mpsc::bounded(1);
        let (three, three_in) = mpmc::bounded(1);
        let ((_first, first_in), (_second, second_in)) = (mpsc::unbounded::<u64>(), mpsc::unbounded());
        let mut many = [first_in, second_in];
        let mut waiting = Some(3);
        while life.step() {
            let number = life.number();
            // One of them is there for this message alone.
            let (mut reply, mut answer) = spsc::bounded(1);
            match number % 5 {
                0 => one.send(number).unwrap(),
                1 => two.send(number).unwrap(),
                2 => three.send(number).unwrap(),
                3 => reply.send(number).unwrap(),
                _ => {
                    // There is nothing: it waits, and gives up; the room of another is at once.
                    let waited = select::<bool>()
                        .recv(&mut one_in, |_| false)
                        .recv(&mut two_in, |_| false)
                        .recv(&three_in, |_| false)
                        .recv(&mut answer, |_| false)
                        .recv_any(&mut many, |_, _| false)
                        .after(Duration::ZERO, || true);
                    if number % 2 == 0 {
                        assert!(waited.wait());
                    } else {
                        assert!(
                            waited.deadline(Instant::now(), || true).wait_timeout(Duration::from_secs(60)).unwrap()
                        );
                    }
                    let sent = select().send(&three, number, |sent| sent.is_ok()).wait();
                    assert!(sent && three_in.try_recv() == Ok(number));
                    let sent = select().send_from(&mut two, &mut waiting, |sent| sent.is_ok()).try_now();
                    assert!(sent == Some(true) && two_in.try_recv() == Ok(3));
                    waiting = Some(3);
                    continue;
                }
            }
            let mut again = one_in.len() + two_in.len() + three_in.len();
            again += usize::from(number % 5 == 3);
            assert_eq!(again, 1);
            let received = select()
                .recv(&mut one_in, |message| message.unwrap())
                .recv(&mut two_in, |message| message.unwrap())
                .recv(&three_in, |message| message.unwrap());
            let received = if number % 5 == 3 {
                received.recv(&mut answer, |message| message.unwrap()).wait()
            } else {
                received.wait_deadline(Instant::now() + Duration::from_secs(60)).unwrap()
            };
            assert_eq!(received, number);
        }
    });
}

#[test]
fn timers() {
    live("signals::timers", Steps::Calls, |life| {
        let mut select_one = ReadySet::new();
        while life.step() {
            let due = match life.number() % 3 {
                0 => timer::after(Duration::ZERO),
                1 => timer::at(Instant::now()),
                _ => timer::tick(Duration::from_nanos(1)),
            };
            let (hour, never, other) = (timer::after(Duration::from_secs(3_600)), timer::never(), due.clone());
            assert!(hour.try_recv().is_err() && never.recv_timeout(Duration::ZERO).is_err());
            match life.number() % 4 {
                0 => assert!(due.recv().is_ok()),
                1 => assert!(due.iter().next().is_some()),
                2 => assert!(other.try_iter().next().is_some()),
                _ => assert!(due.into_iter().next().is_some()),
            }
            let key = select_one.add_timer(&hour).unwrap();
            assert_eq!(select_one.try_wait(), None);
            if life.number() % 2 == 0 {
                assert_eq!(select_one.remove_timer(&hour), Some(key));
            }
            if life.number() % 16 == 0 {
                select_one = ReadySet::new();
            }
        }
    });
}

#[cfg(feature = "statistics")]
#[test]
fn observers() {
    live("signals::observers", Steps::Calls, |life| {
        let (pipe, pipe_in) = spsc::bounded::<u64>(1);
        let (mut funnel, mut funnel_in) = mpsc::unbounded::<u64>();
        let (exchange, exchange_in) = mpmc::bounded::<u64>(1);
        let shared = funnel.share();
        while life.step() {
            let all = [
                pipe.observer(),
                pipe_in.observer(),
                funnel.observer(),
                funnel_in.observer(),
                exchange.observer(),
                exchange_in.observer(),
                shared.observer(),
            ];
            funnel.send(1).unwrap();
            let mut other = funnel.clone();
            other.send(1).unwrap();
            drop(other);
            assert_eq!((funnel_in.recv(), funnel_in.recv()), (Ok(1), Ok(1)));
            let copies = all.clone();
            assert_eq!(copies[2].statistics().sent, 2 * life.number());
            // An observer may outlive its channel.
            let (gone, gone_in) = mpsc::unbounded::<u64>();
            let observer = gone.observer();
            drop((gone, gone_in));
            assert_eq!(observer.statistics().sent, 0);
        }
    });
}
