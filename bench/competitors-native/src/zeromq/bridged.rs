//! A channel of `ysuite` that continues in another: through a bridge that pushes, libzmq, and a bridge that pulls.
//!
//! ```text
//!   sender thread ---> spsc ---> bridge ---> PUSH ... PULL ---> bridge ---> spsc ---> receiver thread
//! ```

use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ybench_measure::transport::{self, Closed, Message, Traits, Transport, Waits};
use ysuite::spsc;
use ysuite_zmq::{Bridge, FromWire, Layout, Malformed, Started, ToWire, Wire};

/// The room of the channels on both sides: 64 full frames.
const ROOM: usize = 16_384;

/// The time that a handle allows for messages in flight.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Bridged<const PLACE: usize, const PACK: usize>;

impl<const PLACE: usize, const PACK: usize> Transport for Bridged<PLACE, PACK> {
    const TRAITS: Traits = Traits {
        name: match (PLACE, PACK) {
            (super::TCP, 1) => "bridge-tcp",
            (super::IPC, 1) => "bridge-ipc",
            (super::INPROC, 1) => "bridge-inproc",
            (super::TCP, _) => "bridge-tcp-packed",
            (super::IPC, _) => "bridge-ipc-packed",
            _ => "bridge-inproc-packed",
        },
        about: match PACK {
            1 => {
                "two channels of ysuite with room for 16,384 and the bridges between them over libzmq, one message a frame"
            }
            _ => {
                "two channels of ysuite with room for 16,384 and the bridges between them over libzmq, up to 256 messages a frame"
            }
        },
        waits: Waits::LooksThenSleeps,
        ..super::COMMON
    };
    type Sender<M: Message> = Sender<M>;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender<M>, Receiver<M>)> {
        let pull = Bridge::pull().bounded(ROOM).bind(super::fresh_address(PLACE));
        let (pull, receiver) = pull.start().map_err(io::Error::other)?;
        let (sender, out) = spsc::bounded(ROOM);
        let push = Bridge::push(out).pack(PACK).connect(pull.addresses()[0].clone());
        let push = push.start().map_err(io::Error::other)?;
        let bridges = Arc::new(Bridges { push: Mutex::new(Some(push)), pull: Mutex::new(Some(pull)) });
        Ok((Sender { channel: sender, sent: 0, bridges: bridges.clone() }, Receiver { channel: receiver, bridges }))
    }
}

/// Of both handles: the one that is dropped first ends both.
struct Bridges {
    push: Mutex<Option<Started>>,
    pull: Mutex<Option<Started>>,
}

fn take(bridge: &Mutex<Option<Started>>) -> Option<Started> {
    bridge.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl Bridges {
    /// Whether fewer messages have arrived, and a receiver waits for them.
    fn has_less_than(&self, messages: u64) -> bool {
        let pull = self.pull.lock().unwrap_or_else(PoisonError::into_inner);
        pull.as_ref().is_some_and(|pull| pull.statistics().messages_in < messages)
    }
}

pub(crate) struct Sender<M: Message> {
    channel: spsc::Sender<Record<M>>,
    sent: u64,
    bridges: Arc<Bridges>,
}

pub(crate) struct Receiver<M: Message> {
    channel: spsc::Receiver<Record<M>>,
    bridges: Arc<Bridges>,
}

impl<M: Message> transport::Sender<M> for Sender<M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        self.channel.send(Record(message.into_wire(), PhantomData)).map_err(|_| Closed)?;
        self.sent += 1;
        Ok(())
    }
}

impl<M: Message> transport::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        let record = self.channel.recv().map_err(|_| Closed)?;
        // SAFETY: made of a message of the same type in this process, and received once: nothing else connects here.
        Ok(unsafe { M::from_wire(record.0) })
    }
}

impl<M: Message> Drop for Sender<M> {
    /// PULL does not detect the end of PUSH: the receiver's channel ends when all messages have arrived. PUSH stays
    /// until then: over ipc libzmq loses unread messages of a connection that is closed (libzmq#4660).
    fn drop(&mut self) {
        let begun = Instant::now();
        while self.bridges.has_less_than(self.sent) && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        for bridge in [take(&self.bridges.push), take(&self.bridges.pull)].into_iter().flatten() {
            let _ = bridge.close(PATIENCE);
        }
    }
}

impl<M: Message> Drop for Receiver<M> {
    /// No message is sent without a receiver.
    fn drop(&mut self) {
        drop(take(&self.bridges.pull));
        drop(take(&self.bridges.push));
    }
}

/// A message as it goes over the wire.
struct Record<M: Message>(M::Wire, PhantomData<fn(M)>);

impl<M: Message> Wire for Record<M> {
    const LAYOUT: Layout = Layout::Records(size_of::<M::Wire>());
}

impl<M: Message> ToWire for Record<M> {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(bytemuck::bytes_of(&self.0));
    }
}

impl<M: Message> FromWire for Record<M> {
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let whole = bytemuck::try_pod_read_unaligned(bytes);
        let wire = whole.map_err(|_| Malformed::Length { bytes: bytes.len(), record: size_of::<M::Wire>() })?;
        Ok(Self(wire, PhantomData))
    }
}
