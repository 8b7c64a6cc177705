//! Event loops of others: sets and receivers that are registered and taken out again.

use std::task::Poll;
use std::time::Duration;

use ::calloop::EventLoop;
use ::calloop::channel::Event;
use ::mio::{Events, Interest, Token};

use crate::life::{Steps, live};
use ysuite::integrations::calloop::{ReceiverSource, SetSource};
use ysuite::integrations::tokio::AsyncSocketpair;
use ysuite::signal::{Signal, Wait, YSocketpair};
use ysuite::{broadcast, mpmc, mpsc, spsc, timer};

#[test]
fn in_mio() {
    live("loops::in_mio", Steps::Few, |life| {
        let (mut poll, mut events) = (::mio::Poll::new().unwrap(), Events::with_capacity(8));
        let mut stays = YSocketpair::new().unwrap();
        while life.step() {
            let mut set = YSocketpair::new().unwrap();
            poll.registry().register(&mut set, Token(1), Interest::READABLE).unwrap();
            poll.registry().reregister(&mut set, Token(2), Interest::READABLE).unwrap();
            let (mut sender, mut receiver) = spsc::bounded(1);
            set.attach(&mut receiver, 3).unwrap();
            assert!(receiver.try_recv().is_err());
            sender.send(1).unwrap();
            poll.poll(&mut events, None).unwrap();
            assert!(events.iter().all(|event| event.token() == Token(2)) && set.check().eq([3]));
            poll.registry().deregister(&mut set).unwrap();
            poll.registry().register(&mut stays, Token(0), Interest::READABLE).unwrap();
            poll.registry().deregister(&mut stays).unwrap();
        }
    });
}

#[test]
fn in_calloop() {
    live("loops::in_calloop", Steps::Few, |life| {
        let mut event_loop = EventLoop::<u64>::try_new().unwrap();
        let handle = event_loop.handle();
        let mut seen = 0;
        while life.step() {
            let set = YSocketpair::new().unwrap();
            let signaler = set.signaler();
            let mut source = SetSource::new(set);
            let (_sender, mut receiver) = spsc::unbounded::<u64>();
            source.attach(&mut receiver, 7).unwrap();
            if life.number() % 2 == 0 {
                assert_eq!(source.detach(&mut receiver), Some(7));
            }
            let set = handle.insert_source(source, |_, (), seen| *seen += 1).unwrap();
            handle.disable(&set).unwrap();
            handle.enable(&set).unwrap();
            handle.update(&set).unwrap();
            let (mut sender, receiver) = mpsc::unbounded();
            let source = ReceiverSource::new(receiver).unwrap();
            let counts = |event, _: &mut (), seen: &mut u64| *seen += u64::from(matches!(event, Event::Msg(1_u64)));
            let messages = handle.insert_source(source, counts).unwrap();
            handle.update(&messages).unwrap();
            signaler.signal(9);
            sender.send(1).unwrap();
            let wanted = seen + 2;
            while seen < wanted {
                event_loop.dispatch(Some(Duration::from_secs(60)), &mut seen).unwrap();
            }
            handle.remove(set);
            if life.number() % 2 == 0 {
                handle.remove(messages);
            } else {
                // It goes by itself.
                drop(sender);
                event_loop.dispatch(Some(Duration::ZERO), &mut seen).unwrap();
                event_loop.dispatch(Some(Duration::ZERO), &mut seen).unwrap();
            }
        }
    });
}

#[test]
fn in_tokio() {
    live("loops::in_tokio", Steps::Few, |life| {
        let runtime = ::tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (stays, mut stays_in) = mpsc::bounded(1);
        let (many, many_in) = mpmc::bounded(1);
        while life.step() {
            runtime.block_on(async {
                let mut set = AsyncSocketpair::new(YSocketpair::new().unwrap()).unwrap();
                let (mut sender, mut receiver) = spsc::bounded(1);
                set.attach(&mut receiver, 4).unwrap();
                assert!(receiver.try_recv().is_err());
                // The id is up from the beginning, until it is taken.
                let _ = std::future::poll_fn(|context| Poll::Ready(set.poll_signals(context).is_ready())).await;
                sender.send_async(1).await.unwrap();
                assert!(set.signals().await.unwrap().eq([4]));
                assert_eq!(receiver.recv_async().await, Ok(1));
                if life.number() % 2 == 0 {
                    assert_eq!(set.detach(&mut receiver), Some(4));
                }
                // A task of its own, with a clone.
                let mut own = stays.clone();
                let out = many.clone();
                let task = ::tokio::spawn(async move {
                    own.send_timeout_async(2, Duration::from_secs(60)).await.unwrap();
                    out.send_timeout_async(3, Duration::from_secs(60)).await.unwrap();
                    sender.send_timeout_async(4, Duration::from_secs(60)).await.unwrap();
                });
                let (news, mut news_in) = broadcast::bounded(1);
                news.send_timeout_async(5, Duration::from_secs(60)).await.unwrap();
                // Now and then: a tick of tokio's clock passes, which is a millisecond.
                if life.number() % 64 == 0 {
                    assert!(news.send_timeout_async(6, Duration::from_millis(1)).await.is_err());
                }
                assert_eq!(news_in.try_recv(), Ok(5));
                let in_task = many_in.clone();
                assert_eq!((stays_in.recv_async().await, in_task.recv_async().await), (Ok(2), Ok(3)));
                assert_eq!(receiver.recv_async().await, Ok(4));
                task.await.unwrap();
                // A timer for each; some are cancelled.
                if life.number() % 4 == 0 {
                    timer::after(Duration::ZERO).recv_async().await.unwrap();
                } else {
                    let never = timer::after(Duration::from_secs(3_600));
                    ::tokio::select! {
                        biased;
                        _ = never.recv_async() => unreachable!(),
                        () = std::future::ready(()) => {}
                    }
                }
            });
        }
    });
}
