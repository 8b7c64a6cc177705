//! `ysuite::hub` with sources of its own: sockets watched and timers set on the loop that the functions are posted to.
//! The sockets are silent and the timers far away, so that only the messages are ever called.
//!
//! ```text
//!   sender thread   post ----> hub.run_once(): calls them, polls 4 more sockets in epoll, and 4 timers   the hub's thread
//! ```
//!
//! A hub with sources never finds out that nothing can come. So the sender removes the sockets and timers on drop, by a
//! last function.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use ysuite::hub::{Hub, Interest, Source, TimerKey};

use super::{Closed, Message, Traits, Transport, hub};

/// Sleeps as soon as nothing is ready.
pub struct Loaded;

const EACH: u32 = 4;

/// The first timer. Each further one takes this much longer. No run takes so long.
const FAR: Duration = Duration::from_secs(3_600);

pub struct Poster<M> {
    inner: hub::Poster<M>,
    /// Taken once, at the end.
    load: Option<Load>,
}

struct Load {
    sockets: Vec<Source>,
    timers: Vec<TimerKey>,
}

impl Load {
    fn on(hub: &mut Hub) -> io::Result<Self> {
        let socket = |hub: &mut Hub| {
            let (watched, other) = UnixStream::pair()?;
            watched.set_nonblocking(true)?;
            // The handler keeps the other socket open: a socket whose peer is closed is always ready.
            let handler = move |_: &mut Hub, _: &mut UnixStream, _| {
                let _open = &other;
            };
            Ok::<_, io::Error>(hub.watch(watched, Interest::READABLE, handler)?)
        };
        let sockets = (0..EACH).map(|_| socket(hub)).collect::<Result<_, _>>()?;
        let timers = (1..=EACH).map(|number| hub.after(FAR * number, |_| ())).collect();
        Ok(Self { sockets, timers })
    }

    fn off(self, hub: &mut Hub) {
        for socket in self.sockets {
            hub.remove(socket);
        }
        for timer in self.timers {
            hub.cancel(timer);
        }
    }
}

impl Transport for Loaded {
    const TRAITS: Traits = Traits {
        name: "hub-loaded",
        about: "ysuite::hub sleeping at once in epoll, with 4 silent sockets watched and 4 timers set on the same loop",
        senders: super::Ends::One,
        ..hub::Sleeping::TRAITS
    };
    type Sender<M: Message> = Poster<M>;
    type Receiver<M: Message> = hub::Receiver<M>;

    fn open<M: Message>() -> io::Result<(Poster<M>, hub::Receiver<M>)> {
        let mut hub = hub::sleeping()?;
        let load = Load::on(&mut hub)?;
        let (inner, receiver) = hub::posting(hub);
        Ok((Poster { inner, load: Some(load) }, receiver))
    }
}

impl<M: Message> super::Sender<M> for Poster<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.inner.send(message)
    }
}

impl<M> Drop for Poster<M> {
    fn drop(&mut self) {
        if let Some(load) = self.load.take() {
            // A hub that is dropped has removed them.
            let _ = self.inner.handle.post(move |hub: &mut Hub| load.off(hub));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Receiver as _, Sender as _};
    use super::*;

    #[test]
    fn sockets_and_timers_are_alive_until_the_sender_goes() {
        let mut hub = Hub::new().unwrap();
        let load = Load::on(&mut hub).unwrap();
        // A poller would wait for the nearest timer.
        assert!(hub.timeout().is_some_and(|left| left <= FAR));
        assert_eq!((load.sockets.len(), load.timers.len()), (EACH as usize, EACH as usize));
        assert!(hub.source_mut::<UnixStream>(load.sockets[0]).is_some());
        load.off(&mut hub);
        assert_eq!(hub.run_once(None).unwrap(), 0, "nothing can come any more");
    }

    #[test]
    fn a_sender_that_goes_ends_the_stream() {
        let (mut sender, mut receiver) = Loaded::open::<usize>().unwrap();
        sender.send(7).unwrap();
        drop(sender);
        assert_eq!([receiver.recv(), receiver.recv()], [Ok(7), Err(Closed)]);
    }
}
