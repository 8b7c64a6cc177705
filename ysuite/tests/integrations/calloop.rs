//! Sets of signals and receivers in calloop's event loop.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use ::calloop::EventLoop;
use ::calloop::channel::Event;
use ysuite::integrations::calloop::{ReceiverSource, SetSource};
use ysuite::signal::{Signal, YSocketpair};
use ysuite::{mpmc, mpsc, spsc};

use crate::support::{Random, guarded};

/// What callbacks note.
#[derive(Default)]
struct Log {
    ids: Vec<usize>,
    received: [usize; 3],
    closed: usize,
}

#[test]
fn ids_are_events() {
    let mut event_loop = EventLoop::<Log>::try_new().unwrap();
    let set = YSocketpair::new().unwrap();
    let signaler = set.signaler();
    let mut source = SetSource::new(set);
    let (mut sender, mut receiver) = spsc::unbounded();
    source.attach(&mut receiver, 7).unwrap();
    assert!(receiver.try_recv().is_err());
    event_loop.handle().insert_source(source, |id, (), log| log.ids.push(id)).unwrap();
    let mut log = Log::default();
    signaler.signal(250);
    signaler.signal(3);
    event_loop.dispatch(None, &mut log).unwrap();
    assert_eq!(log.ids, [3, 250]);
    event_loop.dispatch(Some(Duration::ZERO), &mut log).unwrap();
    assert_eq!(log.ids.len(), 2, "taken");
    sender.send(1).unwrap();
    // Level-triggered, until the receiver is found empty.
    event_loop.dispatch(None, &mut log).unwrap();
    event_loop.dispatch(None, &mut log).unwrap();
    assert_eq!(log.ids[2..], [7, 7]);
    assert!(receiver.try_recv().is_ok() && receiver.try_recv().is_err());
    event_loop.dispatch(Some(Duration::ZERO), &mut log).unwrap();
    assert_eq!(log.ids.len(), 4);
}

#[test]
fn messages_are_events_and_so_is_their_end() {
    guarded(|| {
        const MESSAGES: usize = 2_000;
        let mut event_loop = EventLoop::<Log>::try_new().unwrap();
        let (mut pipe, pipe_in) = spsc::bounded(8);
        let (mut lane, funnel_in) = mpsc::unbounded();
        let (exchange, exchange_in) = mpmc::bounded(8);
        macro_rules! serve {
            ($at:literal, $receiver:expr) => {
                let source = ReceiverSource::new($receiver).unwrap();
                event_loop
                    .handle()
                    .insert_source(source, |event, (), log| match event {
                        Event::Msg(message) => {
                            assert_eq!(message, log.received[$at]);
                            log.received[$at] += 1;
                        }
                        Event::Closed => log.closed += 1,
                    })
                    .unwrap();
            };
        }
        serve!(0, pipe_in);
        serve!(1, funnel_in);
        serve!(2, exchange_in);
        let thread = thread::spawn(move || {
            let mut random = Random::new(6);
            for message in 0..MESSAGES {
                pipe.send(message).unwrap();
                lane.send(message).unwrap();
                exchange.send(message).unwrap();
                random.pause();
            }
        });
        let mut log = Log::default();
        while log.closed < 3 {
            event_loop.dispatch(None, &mut log).unwrap();
        }
        thread.join().unwrap();
        assert_eq!(log.received, [MESSAGES; 3]);
        // The sources have removed themselves: nothing is told of any more.
        event_loop.dispatch(Some(Duration::ZERO), &mut log).unwrap();
        assert_eq!(log.closed, 3);
    });
}

#[test]
fn a_receiver_comes_back() {
    let (mut sender, receiver) = spsc::unbounded();
    sender.send(1).unwrap();
    let mut receiver = ReceiverSource::new(receiver).unwrap().into_inner();
    assert_eq!(receiver.try_recv(), Ok(1));
    let mut set = YSocketpair::new().unwrap();
    set.attach(&mut receiver, 1).unwrap();
    assert_eq!(ReceiverSource::new(receiver).unwrap_err().kind(), ErrorKind::AlreadyExists);
}
