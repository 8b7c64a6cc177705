//! The ends of every channel, as the suites see them.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ysuite::channel::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, Spin, TryRecvError, TrySendError};
use ysuite::{mpmc, mpsc, spsc};

use super::{Boxed, Hiding, Peeking, Receiving, Sending};

/// Implements the traits of this suite for the types of a channel. Methods are called by their path: an end whose own take
/// `&self` would otherwise find the trait's, which take `&mut self`, first.
macro_rules! channel_ends {
    ($channel:ident) => {
        impl<T> Sending<T> for $channel::Sender<T>
        where
            $channel::Sender<T>: Send,
        {
            fn send(&mut self, message: T) -> Result<(), SendError<T>> {
                $channel::Sender::send(self, message)
            }
            fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
                $channel::Sender::try_send(self, message)
            }
            fn send_timeout(&mut self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
                $channel::Sender::send_timeout(self, message, timeout)
            }
            fn send_deadline(&mut self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
                $channel::Sender::send_deadline(self, message, deadline)
            }
            fn send_async(&mut self, message: T) -> Boxed<'_, Result<(), SendError<T>>>
            where
                T: Send,
            {
                Box::pin($channel::Sender::send_async(self, message))
            }
            fn send_batch(&mut self, messages: &mut dyn Iterator<Item = T>) -> Result<usize, SendError<Vec<T>>> {
                $channel::Sender::send_batch(self, messages)
            }
            fn set_spin(&mut self, spin: Spin) {
                $channel::Sender::set_spin(self, spin);
            }
            fn len(&self) -> usize {
                $channel::Sender::len(self)
            }
            fn is_empty(&self) -> bool {
                $channel::Sender::is_empty(self)
            }
            fn is_full(&self) -> bool {
                $channel::Sender::is_full(self)
            }
            fn capacity(&self) -> Option<usize> {
                $channel::Sender::capacity(self)
            }
            fn is_disconnected(&self) -> bool {
                $channel::Sender::is_disconnected(self)
            }
        }

        impl<T> Receiving<T> for $channel::Receiver<T>
        where
            $channel::Receiver<T>: Send,
        {
            fn recv(&mut self) -> Result<T, RecvError> {
                $channel::Receiver::recv(self)
            }
            fn try_recv(&mut self) -> Result<T, TryRecvError> {
                $channel::Receiver::try_recv(self)
            }
            fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
                $channel::Receiver::recv_timeout(self, timeout)
            }
            fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
                $channel::Receiver::recv_deadline(self, deadline)
            }
            fn recv_async(&mut self) -> Boxed<'_, Result<T, RecvError>>
            where
                T: Send,
            {
                Box::pin($channel::Receiver::recv_async(self))
            }
            fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
                $channel::Receiver::poll_recv(self, context)
            }
            fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
                $channel::Receiver::recv_batch(self, to, max)
            }
            fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
                $channel::Receiver::try_recv_batch(self, to, max)
            }
            fn iter(&mut self) -> Box<dyn Iterator<Item = T> + '_> {
                Box::new($channel::Receiver::iter(self))
            }
            fn try_iter(&mut self) -> Box<dyn Iterator<Item = T> + '_> {
                Box::new($channel::Receiver::try_iter(self))
            }
            fn set_spin(&mut self, spin: Spin) {
                $channel::Receiver::set_spin(self, spin);
            }
            fn len(&self) -> usize {
                $channel::Receiver::len(self)
            }
            fn is_empty(&self) -> bool {
                $channel::Receiver::is_empty(self)
            }
            fn capacity(&self) -> Option<usize> {
                $channel::Receiver::capacity(self)
            }
            fn is_disconnected(&self) -> bool {
                $channel::Receiver::is_disconnected(self)
            }
        }
    };
}

/// As `channel_ends!`, for the half of the ends that batches.
macro_rules! batching_ends {
    ($channel:ident) => {
        impl<T> Hiding<T> for $channel::Sender<T>
        where
            $channel::Sender<T>: Send,
        {
            fn write(&mut self, message: T) -> Result<(), SendError<T>> {
                self.write(message)
            }
            fn unwrite(&mut self) -> Option<T> {
                self.unwrite()
            }
            fn flush(&mut self) -> bool {
                self.flush()
            }
            fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
                self.poll_ready(context)
            }
        }

        impl<T> Peeking<T> for $channel::Receiver<T>
        where
            $channel::Receiver<T>: Send,
        {
            fn peek(&mut self) -> Option<&T> {
                self.peek()
            }
        }
    };
}

channel_ends!(spsc);
channel_ends!(mpsc);
channel_ends!(mpmc);
batching_ends!(spsc);
batching_ends!(mpsc);
