//! The broadcasts that a test runs with: of numbers, and of bytes, among them a number.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::time::Duration;

use ysuite_shm::{BroadcastError, BroadcastReceiver, BroadcastSender, Bytes, BytesBroadcastSender, Error, Options};

/// A broadcast of numbers, one way or another.
pub(crate) trait Cast: 'static {
    const NAME: &'static str;
    type Sender: Send;
    type Receiver: Send;

    /// For about this number of messages.
    fn bind(options: &Options, name: &str, capacity: usize) -> Result<Self::Sender, Error>;
    fn seat(sender: &mut Self::Sender) -> OwnedFd;
    fn serve(sender: &mut Self::Sender, limit: Duration);
    fn receivers(sender: &Self::Sender) -> usize;
    fn set_spin(sender: &mut Self::Sender, looks: u32);
    fn send(sender: &mut Self::Sender, number: u64);
    fn send_batch(sender: &mut Self::Sender, numbers: Range<u64>);

    fn join(socket: OwnedFd) -> Result<Self::Receiver, Error>;
    fn set_receiver_spin(receiver: &mut Self::Receiver, looks: u32);
    fn recv(receiver: &mut Self::Receiver) -> Result<u64, BroadcastError>;
    fn recv_timeout(receiver: &mut Self::Receiver, limit: Duration) -> Result<u64, BroadcastError>;
    fn recv_batch(receiver: &mut Self::Receiver, to: &mut Vec<u64>, most: usize) -> Result<(), BroadcastError>;
}

pub(crate) enum Numbers {}

impl Cast for Numbers {
    const NAME: &'static str = "broadcast";
    type Sender = BroadcastSender<u64>;
    type Receiver = BroadcastReceiver<u64>;

    fn bind(options: &Options, name: &str, capacity: usize) -> Result<Self::Sender, Error> {
        options.broadcast(name, capacity)
    }

    fn seat(sender: &mut Self::Sender) -> OwnedFd {
        sender.seat().unwrap()
    }

    fn serve(sender: &mut Self::Sender, limit: Duration) {
        sender.serve_timeout(limit);
    }

    fn receivers(sender: &Self::Sender) -> usize {
        sender.receivers()
    }

    fn set_spin(sender: &mut Self::Sender, looks: u32) {
        sender.set_spin(looks);
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(number);
    }

    fn send_batch(sender: &mut Self::Sender, numbers: Range<u64>) {
        sender.send_batch(numbers);
    }

    fn join(socket: OwnedFd) -> Result<Self::Receiver, Error> {
        BroadcastReceiver::from_fd(socket)
    }

    fn set_receiver_spin(receiver: &mut Self::Receiver, looks: u32) {
        receiver.set_spin(looks);
    }

    fn recv(receiver: &mut Self::Receiver) -> Result<u64, BroadcastError> {
        receiver.recv()
    }

    fn recv_timeout(receiver: &mut Self::Receiver, limit: Duration) -> Result<u64, BroadcastError> {
        receiver.recv_timeout(limit)
    }

    fn recv_batch(receiver: &mut Self::Receiver, to: &mut Vec<u64>, most: usize) -> Result<(), BroadcastError> {
        receiver.recv_batch(to, most).map(drop)
    }
}

pub(crate) enum OfBytes {}

/// One to three words, each of which is the number.
fn message(number: u64) -> Vec<u8> {
    number.to_ne_bytes().repeat(1 + number as usize % 3)
}

fn number(Bytes(bytes): &Bytes) -> u64 {
    let number = u64::from_ne_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(*bytes, message(number), "whole");
    number
}

impl Cast for OfBytes {
    const NAME: &'static str = "broadcast of bytes";
    type Sender = BytesBroadcastSender;
    type Receiver = BroadcastReceiver<Bytes>;

    fn bind(options: &Options, name: &str, capacity: usize) -> Result<Self::Sender, Error> {
        options.broadcast_bytes(name, capacity * 24)
    }

    fn seat(sender: &mut Self::Sender) -> OwnedFd {
        sender.seat().unwrap()
    }

    fn serve(sender: &mut Self::Sender, limit: Duration) {
        sender.serve_timeout(limit);
    }

    fn receivers(sender: &Self::Sender) -> usize {
        sender.receivers()
    }

    fn set_spin(sender: &mut Self::Sender, looks: u32) {
        sender.set_spin(looks);
    }

    fn send(sender: &mut Self::Sender, number: u64) {
        sender.send(&message(number));
    }

    fn send_batch(sender: &mut Self::Sender, numbers: Range<u64>) {
        sender.send_batch(numbers.map(message));
    }

    fn join(socket: OwnedFd) -> Result<Self::Receiver, Error> {
        BroadcastReceiver::from_fd(socket)
    }

    fn set_receiver_spin(receiver: &mut Self::Receiver, looks: u32) {
        receiver.set_spin(looks);
    }

    fn recv(receiver: &mut Self::Receiver) -> Result<u64, BroadcastError> {
        receiver.recv().map(|message| number(&message))
    }

    fn recv_timeout(receiver: &mut Self::Receiver, limit: Duration) -> Result<u64, BroadcastError> {
        receiver.recv_timeout(limit).map(|message| number(&message))
    }

    fn recv_batch(receiver: &mut Self::Receiver, to: &mut Vec<u64>, most: usize) -> Result<(), BroadcastError> {
        let mut messages = Vec::new();
        receiver.recv_batch(&mut messages, most)?;
        to.extend(messages.iter().map(number));
        Ok(())
    }
}
