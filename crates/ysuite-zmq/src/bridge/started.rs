//! [`Started`]: the owner's handle of a running bridge.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ysuite::{mpmc, mpsc, oneshot};

use super::close::Closed;
use super::engine::{self, Asked, Engine, Order};
use super::names::Names;
use super::options::{Domain, Met, Options};
use super::sets::Sets;
use super::tools::Tools;
use super::work::Work;
use crate::context::Context;
use crate::curve::PublicKey;
use crate::error::Error;
use crate::event::{self, Event};
use crate::ffi::Kind;
use crate::socket::Socket;
use crate::statistics::{Counters, Statistics};
use crate::topic::Topic;

/// A bridge at work. Any thread may have it.
///
/// Dropped without [`close`](Self::close), the bridge ends by itself, and gives what is in transit a second; no thread
/// waits for that, and the result is not reported.
#[derive(Debug)]
#[must_use = "a bridge ends when this is dropped"]
pub struct Started {
    orders: mpsc::Sender<Order>,
    counters: Arc<Counters>,
    events: mpmc::Receiver<Event>,
    bound: Vec<String>,
    domain: Option<Arc<Domain>>,
    /// Is disconnected with the bridge.
    _names: Option<Names>,
    thread: Option<JoinHandle<()>>,
    /// Is disconnected when the thread has done everything.
    over: oneshot::Receiver<()>,
}

impl Started {
    /// Ends the bridge: what is in the channel is still sent, within `timeout`; nothing more is taken from the network.
    /// Blocks for about that time at most, or a second longer where libzmq does not end its socket.
    ///
    /// A duplex that has nothing more to send, and no connection, waits up to a second of that time for one: the other
    /// side may not know yet what was received here.
    ///
    /// Says what that has achieved, never more than it knows: see [`Closed`].
    pub fn close(mut self, timeout: Duration) -> Closed {
        let closed = self.order_to_close(timeout).and_then(|closed| closed.recv().ok());
        self.join();
        closed.unwrap_or(Closed::Unsent { messages: 0, more: true })
    }

    /// As [`close`](Self::close), of a task: no thread waits, and the time runs whether or not the future is polled.
    /// Dropped after its first poll it does not report the result, and the bridge ends all the same; before that, as if
    /// the bridge had been dropped.
    pub async fn close_async(mut self, timeout: Duration) -> Closed {
        let closed = match self.order_to_close(timeout) {
            Some(closed) => closed.await.ok(),
            None => None,
        };
        let (_, over) = oneshot::channel();
        let _ = core::mem::replace(&mut self.over, over).await;
        // Its last words were said: it ends.
        self.join();
        closed.unwrap_or(Closed::Unsent { messages: 0, more: true })
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Where the result comes, unless the bridge has ended.
    fn order_to_close(&mut self, timeout: Duration) -> Option<oneshot::Receiver<Closed>> {
        let (answer, closed) = oneshot::channel();
        // A time that the clock cannot hold is no limit: a century is none.
        let now = Instant::now();
        // MUTANT: The timeout is a century and some hours.
        let until = now.checked_add(timeout).unwrap_or_else(|| now + Duration::from_secs(100 * 365 * 24 * 3_600));
        self.orders.send(Order::Close { until, answer }).ok().map(|()| closed)
    }

    /// Waits for this number of subscribers that the topic reaches: what is published before a subscriber is there
    /// never reaches it. A subscriber that is no bridge counts once for each beginning that it has asked for and that
    /// reaches. Returns false if they were not there in time. Only a publisher has subscribers.
    pub fn wait_for_subscribers(&mut self, wanted: usize, timeout: Duration) -> bool {
        self.wait_for(None, wanted, timeout)
    }

    /// As [`wait_for_subscribers`](Self::wait_for_subscribers), of those that this topic reaches: of a publisher whose
    /// messages have topics of their own, where any subscription counts otherwise.
    pub fn wait_for_subscribers_of(&mut self, topic: impl Into<Topic>, wanted: usize, timeout: Duration) -> bool {
        self.wait_for(Some(topic.into()), wanted, timeout)
    }

    // MUTANT: A timeout of some thirty years. An order that was not given has no answer.
    fn wait_for(&mut self, topic: Option<Topic>, wanted: usize, timeout: Duration) -> bool {
        let (answer, there) = oneshot::channel();
        let until =
            Instant::now().checked_add(timeout).unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30));
        let asked = Asked { topic, wanted, until, answer };
        self.orders.send(Order::Subscribers(asked)).is_ok() && there.recv().unwrap_or(false)
    }

    /// Makes a subscriber ask for everything whose topic begins so, too. Asking twice is asking once. What is
    /// published before the publisher has heard of it does not come. Blocks for a short time at most.
    ///
    /// # Errors
    /// [`Error::NotSubscriber`] of any other bridge, [`Error::Ended`] of one that has broken.
    pub fn subscribe(&mut self, beginning: impl Into<Topic>) -> Result<(), Error> {
        self.topic(beginning.into(), true)
    }

    /// Makes a subscriber stop asking for this beginning, unless another one that it asks for reaches the same.
    /// What is in the channel stays there; of what is still on its way nothing comes. Blocks for a short time at most.
    ///
    /// # Errors
    /// As [`subscribe`](Self::subscribe). It is no error that it was not asked for.
    pub fn unsubscribe(&mut self, beginning: impl Into<Topic>) -> Result<(), Error> {
        self.topic(beginning.into(), false)
    }

    fn topic(&mut self, topic: Topic, asks: bool) -> Result<(), Error> {
        let (answer, done) = oneshot::channel();
        self.orders.send(Order::Topic { topic, asks, answer }).map_err(|_| Error::Ended)?;
        match done.recv() {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::NotSubscriber),
            Err(_) => Err(Error::Ended),
        }
    }

    /// Returns the counts of what has gone through the bridge so far. Wait-free.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.counters.read()
    }

    /// Returns a receiver of the events of the bridge and its connections, from its start on. Each event reaches one
    /// receiver; the last 1,024 unread ones are kept. Events of connections that come and go do not push out events
    /// that are reported once. Events that strangers can cause without end, such as malformed frames and failed
    /// handshakes, are no longer reported once 512 events wait.
    #[must_use]
    pub fn events(&self) -> mpmc::Receiver<Event> {
        self.events.clone()
    }

    /// Admits only the owners of these keys from now on: for a bridge that was started with
    /// [`curve_server`](crate::Push::curve_server), whose list this replaces. A refused client that connects again by
    /// itself, as bridges do, is admitted then. Connections that are there stay until they end. Blocks for a short time
    /// at most.
    ///
    /// # Errors
    /// [`Error::NotServer`] of any other bridge.
    pub fn admit_keys(&self, allowed: impl IntoIterator<Item = PublicKey>) -> Result<(), Error> {
        let allowed: HashSet<_> = allowed.into_iter().collect();
        self.domain.as_ref().ok_or(Error::NotServer)?.admit_keys(allowed)
    }

    /// As [`admit_keys`](Self::admit_keys), of names with their passwords: of a bridge that was started with
    /// [`plain_server`](crate::Push::plain_server).
    ///
    /// # Errors
    /// [`Error::NotServer`] of any other bridge, [`Error::Password`] where a name or a password is empty or too long.
    pub fn admit_users(&self, users: HashMap<String, String>) -> Result<(), Error> {
        self.domain.as_ref().ok_or(Error::NotServer)?.admit_users(users)
    }

    /// Returns the addresses at which others can connect, one for each that was bound. The system's choice is in it
    /// where the port was `*`.
    #[must_use]
    pub fn addresses(&self) -> &[String] {
        &self.bound
    }
}

/// Opens the socket and starts the thread. The options have been checked.
pub(super) fn start(
    options: &Options,
    kind: Kind,
    prepare: impl FnOnce(&Socket) -> Result<(), Error>,
    sets: Sets,
    work: impl Work,
) -> Result<Started, Error> {
    let context = options.context.clone().map_or_else(Context::of_the_process, Ok)?;
    if !context.is_of_this_process() {
        return Err(Error::Forked);
    }
    let (socket, domain) = options.open(&context, kind)?;
    prepare(&socket)?;
    let domain = domain.map(Arc::new);
    let admitting = domain.clone();
    let counters = Arc::new(Counters::default());
    let (told, events) = event::channel();
    let mut tools = Tools::new(socket, counters.clone(), told)?;
    tools.reconnect_after(options.reconnect);
    let (orders, mut ordered_out) = mpsc::unbounded();
    let (mut ordered, ended) = engine::ordered()?;
    let Met { bound, files, names } = options.meet(&mut tools, &ended)?;
    let (names, found) = Names::look_up(names, options.lookup, orders.downgrade())?;
    found.iter().try_for_each(|(name, is_v6)| tools.reach(&name.address, *is_v6))?;
    ordered.attach(&mut ordered_out, engine::ORDER).map_err(|_| Error::Attached)?;
    let engine = Engine { work, tools, sets, orders: ordered_out, ordered, ended, asked: Vec::new() };
    let (at_last, over) = oneshot::channel();
    let run = move || {
        engine.run();
        // Clients are admitted until the bridge has ended.
        drop(admitting);
        // And the files exist until the listener is gone.
        drop(files);
        drop(at_last);
    };
    let thread = thread::Builder::new().name("ysuite-zmq bridge".to_owned()).spawn(run)?;
    Ok(Started { orders, counters, events, bound, domain, _names: names, thread: Some(thread), over })
}
