//! Sets of signals and receivers in calloop's event loop.

use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

use ::calloop::channel::Event;
use ::calloop::{EventLoop, EventSource, Poll, PostAction, Readiness, Token, TokenFactory};
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
fn a_receiver_leaves_a_set_that_is_a_source() {
    let mut source = SetSource::new(YSocketpair::new().unwrap());
    let (_sender, mut receiver) = spsc::unbounded::<u8>();
    source.attach(&mut receiver, 7).unwrap();
    assert_eq!((source.detach(&mut receiver), source.detach(&mut receiver)), (Some(7), None));
    source.attach(&mut receiver, 8).unwrap();
}

/// Claim: Under calloop no signal of a set is lost.
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
        // The sources have removed themselves: nothing is reported any more.
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

#[test]
fn a_callback_that_panics_leaves_the_other_ids_up() {
    let mut event_loop = EventLoop::<Log>::try_new().unwrap();
    let set = YSocketpair::new().unwrap();
    let signaler = set.signaler();
    let callback = |id, (): &mut (), log: &mut Log| {
        log.ids.push(id);
        assert_ne!(id, 3, "as the test wants it");
    };
    event_loop.handle().insert_source(SetSource::new(set), callback).unwrap();
    [3, 5, 250].into_iter().for_each(|id| signaler.signal(id));
    let mut log = Log::default();
    let turn = std::panic::AssertUnwindSafe(|| event_loop.dispatch(Some(Duration::ZERO), &mut log));
    assert!(std::panic::catch_unwind(turn).is_err());
    event_loop.dispatch(Some(Duration::ZERO), &mut log).unwrap();
    assert_eq!(log.ids, [3, 5, 250], "each reported once");
}

#[test]
fn a_flood_of_messages_leaves_turns_to_other_sources() {
    const TURN: usize = 128;
    let mut event_loop = EventLoop::<Log>::try_new().unwrap();
    let (mut sender, receiver) = spsc::unbounded();
    let source = ReceiverSource::new(receiver).unwrap();
    let callback = |event, (): &mut (), log: &mut Log| match event {
        Event::Msg(()) => log.received[0] += 1,
        Event::Closed => log.closed += 1,
    };
    event_loop.handle().insert_source(source, callback).unwrap();
    sender.send_batch([(); TURN * 2 + 5]).unwrap();
    let mut log = Log::default();
    for received in [TURN, TURN * 2, TURN * 2 + 5] {
        event_loop.dispatch(Some(Duration::ZERO), &mut log).unwrap();
        assert_eq!(log.received[0], received);
    }
}

#[test]
fn a_callback_that_panics_leaves_the_other_messages() {
    let mut event_loop = EventLoop::<Log>::try_new().unwrap();
    let (mut sender, receiver) = spsc::unbounded();
    let callback = |event, (): &mut (), log: &mut Log| {
        if let Event::Msg(message) = event {
            log.ids.push(message);
            assert_ne!(message, 1, "as the test wants it");
        }
    };
    event_loop.handle().insert_source(ReceiverSource::new(receiver).unwrap(), callback).unwrap();
    sender.send_batch([1, 2, 3]).unwrap();
    let mut log = Log::default();
    let turn = std::panic::AssertUnwindSafe(|| event_loop.dispatch(Some(Duration::ZERO), &mut log));
    assert!(std::panic::catch_unwind(turn).is_err());
    event_loop.dispatch(Some(Duration::ZERO), &mut log).unwrap();
    assert_eq!(log.ids, [1, 2, 3], "each once");
}

/// A source that is never registered, so that a new registration fails.
struct Unregistered<S>(S);

impl<S: EventSource> EventSource for Unregistered<S> {
    type Event = S::Event;
    type Metadata = S::Metadata;
    type Ret = S::Ret;
    type Error = S::Error;

    fn process_events<F>(&mut self, readiness: Readiness, token: Token, callback: F) -> Result<PostAction, S::Error>
    where
        F: FnMut(S::Event, &mut S::Metadata) -> S::Ret,
    {
        self.0.process_events(readiness, token, callback)
    }

    fn register(&mut self, _: &mut Poll, _: &mut TokenFactory) -> ::calloop::Result<()> {
        Ok(())
    }

    fn reregister(&mut self, poll: &mut Poll, tokens: &mut TokenFactory) -> ::calloop::Result<()> {
        self.0.reregister(poll, tokens)
    }

    fn unregister(&mut self, _: &mut Poll) -> ::calloop::Result<()> {
        Ok(())
    }
}

#[test]
fn what_is_registered_anew_is_registered_with_the_loop() {
    let event_loop = EventLoop::<Log>::try_new().unwrap();
    let handle = event_loop.handle();
    let set = SetSource::new(YSocketpair::new().unwrap());
    let token = handle.insert_source(Unregistered(set), |_, (), _| {}).unwrap();
    assert!(handle.update(&token).is_err(), "there is nothing to change");
    let (_sender, receiver) = spsc::unbounded::<u8>();
    let source = ReceiverSource::new(receiver).unwrap();
    let token = handle.insert_source(Unregistered(source), |_, (), _| {}).unwrap();
    assert!(handle.update(&token).is_err(), "there is nothing to change");
    let token = handle.insert_source(SetSource::new(YSocketpair::new().unwrap()), |_, (), _| {}).unwrap();
    handle.update(&token).unwrap();
}
