//! The handles of every channel, as the suites see them.

use std::future::Future;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use ysuite::{
    Permit, Permits, RecvError, RecvTimeoutError, ReserveError, SendError, SendTimeoutError, Spin, TryRecvError,
    TryReserveError, TrySendError,
};
use ysuite::{mpmc, mpsc, spsc};

use super::{Boxed, Hiding, Peeking, Piping, Receiving, Sending};

/// Implements the traits of this suite for the types of a channel. Methods are called by their path: a handle whose own
/// take `&self` would otherwise find the trait's, which take `&mut self`, first.
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

/// As `channel_ends!`, for the batch methods of the handles.
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

        impl<T> Piping<T> for $channel::Sender<T>
        where
            $channel::Sender<T>: Send,
        {
            fn close(&mut self) -> bool {
                self.close()
            }
            fn closed(&self) -> Boxed<'_, ()>
            where
                T: Send,
            {
                Box::pin($channel::Sender::closed(self))
            }
            fn wait_closed(&self) {
                self.wait_closed();
            }
            fn wait_closed_timeout(&self, timeout: Duration) -> bool {
                self.wait_closed_timeout(timeout)
            }
            fn reserve(&mut self) -> Result<Permit<'_, Self>, ReserveError> {
                self.reserve()
            }
            fn try_reserve(&mut self) -> Result<Permit<'_, Self>, TryReserveError> {
                self.try_reserve()
            }
            fn reserve_async(&mut self) -> Boxed<'_, Result<Permit<'_, Self>, ReserveError>>
            where
                T: Send,
            {
                Box::pin($channel::Sender::reserve_async(self))
            }
            fn reserve_many(&mut self, places: usize) -> Result<Permits<'_, Self>, ReserveError> {
                self.reserve_many(places)
            }
            fn try_reserve_many(&mut self, places: usize) -> Result<Permits<'_, Self>, TryReserveError> {
                self.try_reserve_many(places)
            }
            fn reserve_many_async(&mut self, places: usize) -> Boxed<'_, Result<Permits<'_, Self>, ReserveError>>
            where
                T: Send,
            {
                Box::pin($channel::Sender::reserve_many_async(self, places))
            }
            fn send_batch_async<'a>(
                &'a mut self,
                messages: &'a mut (impl Iterator<Item = T> + Send),
            ) -> Boxed<'a, Result<usize, SendError<Vec<T>>>>
            where
                T: Send,
            {
                Box::pin($channel::Sender::send_batch_async(self, messages))
            }
            fn send_async_until<'a>(
                &'a mut self,
                message: T,
                stop: impl Future<Output: Send> + Send + 'a,
            ) -> Boxed<'a, Result<(), SendTimeoutError<T>>>
            where
                T: Send + 'a,
            {
                Box::pin($channel::Sender::send_async_until(self, message, stop))
            }
        }

        impl<T> Peeking<T> for $channel::Receiver<T>
        where
            $channel::Receiver<T>: Send,
        {
            fn peek(&mut self) -> Option<&T> {
                self.peek()
            }
            fn close(&mut self) -> bool {
                self.close()
            }
            fn peek_run(&mut self) -> &[T] {
                self.peek_run()
            }
            fn consume(&mut self, messages: usize) {
                self.consume(messages);
            }
            fn recv_batch_async<'a>(&'a mut self, to: &'a mut Vec<T>, max: usize) -> Boxed<'a, Result<usize, RecvError>>
            where
                T: Send,
            {
                Box::pin($channel::Receiver::recv_batch_async(self, to, max))
            }
        }
    };
}

channel_ends!(spsc);
channel_ends!(mpsc);
channel_ends!(mpmc);
batching_ends!(spsc);
batching_ends!(mpsc);
