//! What the handles of a pipe do that may have to wait: of spsc and mpsc, whose sender and receiver have a queue of
//! their own. One thread or one task at a time for each handle.
//!
//! [`operations`] says what a send, a reservation and a receive are by a queue, [`flavour`] when they are those of a
//! [rendezvous](super::rendezvous) instead, [`future`] what their futures consist of.

mod flavour;
mod future;
mod operations;

pub(super) use self::future::{PipeBatch, PipeReserving, ReceiveTask, SendTask};
pub(super) use self::operations::{
    Hidden, IntakeMany, OneByOne, PipeArrival, PipeReceive, PipeReserve, PipeSend, PipeSupply, QueueReceive, QueueSend,
};
