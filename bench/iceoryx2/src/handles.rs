//! Handles of iceoryx2: a service for each channel, below a folder and a prefix of its own, which the process that
//! measures removes.

use std::fmt;
use std::hint::spin_loop;
use std::io;

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use ybench_measure::transport::process::files::{Files, folder};
use ybench_measure::transport::process::{COMMON, Channel, Plain, ProcessTransport, Side, room};
use ybench_measure::transport::{self, Closed, Traits, Waits};

/// Whether the receiver sleeps, as a parameter of a type.
pub(crate) struct Iceoryx2<const SLEEPS: bool>;

/// A message in the memory of iceoryx2.
#[repr(transparent)]
pub(crate) struct Sent<W>(W);

// SAFETY: plain words: no address in them, and nothing to drop.
unsafe impl<W: Copy + Send + 'static> ZeroCopySend for Sent<W> {}

impl<W> fmt::Debug for Sent<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent").finish_non_exhaustive()
    }
}

type Service = ipc::Service;

fn failed(cause: impl fmt::Debug) -> io::Error {
    io::Error::other(format!("iceoryx2: {cause:?}"))
}

/// A node for the files of that tag. SIGTERM ends this process, as it does others.
fn node(tag: &str) -> io::Result<Node<Service>> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    config.global.prefix = FileName::new(tag.as_bytes()).map_err(failed)?;
    let root = folder(tag).to_str().map(str::to_owned).ok_or_else(|| failed("a folder that is no text"))?;
    config.global.set_root_path(&Path::new(root.as_bytes()).map_err(failed)?);
    let node = NodeBuilder::new().config(&config).signal_handling_mode(SignalHandlingMode::Disabled);
    node.create::<Service>().map_err(failed)
}

/// The service of the messages.
fn messages<M: Plain>(
    node: &Node<Service>,
) -> io::Result<iceoryx2::service::port_factory::publish_subscribe::PortFactory<Service, Sent<M::Words>, ()>> {
    let name: ServiceName = "messages".try_into().map_err(failed)?;
    let service = node.service_builder(&name).publish_subscribe::<Sent<M::Words>>();
    let service = service.enable_safe_overflow(false).history_size(0).max_publishers(1).max_subscribers(1);
    service.subscriber_max_buffer_size(room(size_of::<M>())).open_or_create().map_err(failed)
}

/// The service of the notifications.
fn notices(node: &Node<Service>) -> io::Result<iceoryx2::service::port_factory::event::PortFactory<Service>> {
    let name: ServiceName = "notices".try_into().map_err(failed)?;
    node.service_builder(&name).event().open_or_create().map_err(failed)
}

pub(crate) struct Publishing<M: Plain> {
    publisher: Publisher<Service, Sent<M::Words>, ()>,
    /// Where the receiver sleeps.
    notifier: Option<Notifier<Service>>,
    _node: Node<Service>,
}

// SAFETY: it stays on the only thread of its process.
unsafe impl<M: Plain> Send for Publishing<M> {}

pub(crate) struct Subscribed<M: Plain> {
    subscriber: Subscriber<Service, Sent<M::Words>, ()>,
    listener: Option<Listener<Service>>,
    _node: Node<Service>,
}

// SAFETY: it stays on the only thread of its process.
unsafe impl<M: Plain> Send for Subscribed<M> {}

impl<const SLEEPS: bool> ProcessTransport for Iceoryx2<SLEEPS> {
    const TRAITS: Traits = Traits {
        name: if SLEEPS { "iceoryx2-event" } else { "iceoryx2" },
        about: if SLEEPS {
            "iceoryx2 between processes, publish-subscribe, a notification after each message and a listener that sleeps"
        } else {
            "iceoryx2 between processes, publish-subscribe, the subscriber polling without a pause"
        },
        waits: if SLEEPS { Waits::Sleeps } else { Waits::Spins },
        ..COMMON
    };
    type Sender<M: Plain> = Publishing<M>;
    type Receiver<M: Plain> = Subscribed<M>;

    fn open<M: Plain>() -> io::Result<Channel> {
        let files = Files::new();
        let side = || Side { word: files.tag().to_owned(), ..Side::default() };
        Ok(Channel { sender: side(), receiver: side(), kept: Box::new(files) })
    }

    fn sender<M: Plain>(side: Side) -> io::Result<Publishing<M>> {
        let node = node(&side.word)?;
        let service = messages::<M>(&node)?;
        let publisher =
            service.publisher_builder().backpressure_strategy(BackpressureStrategy::RetryUntilDelivered).create();
        let notifier = SLEEPS.then(|| notices(&node)?.notifier_builder().create().map_err(failed)).transpose()?;
        Ok(Publishing { publisher: publisher.map_err(failed)?, notifier, _node: node })
    }

    fn receiver<M: Plain>(side: Side) -> io::Result<Subscribed<M>> {
        let node = node(&side.word)?;
        let subscriber = messages::<M>(&node)?.subscriber_builder().create().map_err(failed)?;
        let listener = SLEEPS.then(|| notices(&node)?.listener_builder().create().map_err(failed)).transpose()?;
        Ok(Subscribed { subscriber, listener, _node: node })
    }
}

impl<M: Plain> transport::Sender<M> for Publishing<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let sample = self.publisher.loan_uninit().map_err(|_| Closed)?;
        sample.write_payload(Sent(message.into_words())).send().map_err(|_| Closed)?;
        match &self.notifier {
            Some(notifier) => notifier.notify().map(drop).map_err(|_| Closed),
            None => Ok(()),
        }
    }
}

impl<M: Plain> transport::Receiver<M> for Subscribed<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        loop {
            if let Some(sample) = self.subscriber.receive().map_err(|_| Closed)? {
                return Ok(M::from_words(sample.payload().0));
            }
            match &self.listener {
                Some(listener) => drop(listener.blocking_wait(|_| ()).map_err(|_| Closed)?),
                None => spin_loop(),
            }
        }
    }
}
