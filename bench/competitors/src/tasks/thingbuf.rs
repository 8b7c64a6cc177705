//! `thingbuf` between tasks: its `mpsc` channel, which always has a bound.
//!
//! As between threads a task works in a slot by reference (`send_ref`, `recv_ref`), as the documentation recommends,
//! and the content of a slot stays there after the receipt: it is a message's plain bytes.

use ::thingbuf::mpsc::{Receiver, Sender, with_recycle};
use ybench_measure::transport::Closed;
use ybench_measure::transport::tasks::PLACES;
use ybench_measure::transport::{Ends, Traits};
use ybench_measure::{task_ends, task_transports};

use super::cloned;
use crate::end::End;

use crate::thingbuf::Left;

const COMMON: Traits = Traits { bounded: true, senders: Ends::Many, ..ybench_measure::transport::tasks::COMMON };

task_transports! {
    Bounded: "thingbuf-tasks", "thingbuf's mpsc with room for 1,024 messages, between tasks", {},
        End<Sender<M::Wire, Left>>, End<Receiver<M::Wire, Left>>, cloned(with_recycle(PLACES, Left));
}
task_ends! {
    send(end, message) async move {
        *end.0.send_ref().await.map_err(|_| Closed)? = message.into_wire();
        Ok::<(), Closed>(())
    } => End<Sender<M::Wire, Left>>;
    recv(end) async move {
        let wire = *end.0.recv_ref().await?;
        // SAFETY: `send` has written it into a slot of its own, which is received once.
        Some(unsafe { M::from_wire(wire) })
    } => End<Receiver<M::Wire, Left>>;
}
