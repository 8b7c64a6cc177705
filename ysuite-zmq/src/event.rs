//! [`Event`]: what happens to a bridge and its connections, as messages of a channel.

use ysuite::mpmc;

use crate::error::Failure;
use crate::wire::Malformed;

/// What has happened. Addresses are spelled as libzmq spells them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Others can connect to this address; its port is the one that the system chose, where that was left to it.
    Listening(String),
    /// A connection is there, and both sides have agreed on how to speak. Of `inproc` only the side that connects is told.
    Connected(String),
    /// A connection has ended, or one that never came about. Whoever had connected tries again.
    Disconnected(String),
    /// Nobody answers at this address, or a connection has ended; the next try comes by itself. After a mistake of the other
    /// side, such as a key that is refused or another security, it is made now.
    Retrying(String),
    /// A connection could not be accepted, for want of descriptors most often.
    NotAccepted(String),
    /// The other side did not speak as it must: another program, another security, or none at all.
    HandshakeFailed(String),
    /// The other side's key or password is not among those that are allowed, or ours not among theirs. Whoever had connected tries
    /// again after 0.5 to 5 seconds: it may be [allowed](crate::Started::admit_keys) by then.
    Refused(String),
    /// A frame that is none of ours; it is dropped, and the bridge lives on.
    Malformed(Malformed),
    /// So many messages were under way when a connection ended, or the other side did: none of them will come, or nobody is left
    /// who could say whether they came. Of a duplex without [`at_least_once`](crate::Duplex::at_least_once).
    ///
    /// That is what is known at that moment. Where another bridge takes the place of the other side's, and that one
    /// comes back, it may say what it had all the same: [`Closed`](crate::Closed) counts it as received then. It cannot
    /// tell what was lost on its way from what was sent to the other meanwhile, and tells both.
    Lost {
        /// Of those that were sent, or came, over this bridge.
        messages: u64,
    },
    /// A third wanted to take part in a duplex. It is not heard until the second is gone.
    Ignored,
    /// Another bridge has taken the place of the other side of a duplex, which is gone.
    Replaced,
    /// libzmq refused what it should not. The bridge has ended, and the channels end, within about a second.
    Broken(Failure),
}

/// So many events wait for whoever reads them; then the oldest give way.
const KEPT: usize = 1_024;

/// The bridge's end of its events.
pub(crate) type Told = mpmc::Sender<Event>;

pub(crate) fn channel() -> (Told, mpmc::Receiver<Event>) {
    mpmc::bounded(KEPT)
}
