//! What a channel's receiver shows of its face, written once for all channels with one reading end: its public methods,
//! its iterators, how it is attached, and what each of them promises. What they do is the face's: see `receive`.
//!
//! One thread at a time. `recv`, `recv_timeout`, `recv_deadline`, `recv_batch` and `iter` block; all else is wait-free but
//! for the descriptor of a set.

/// Gives a channel's receiver its public methods. `$receiver` has a field `face: Receiving<_>` with messages `T`, and
/// is `Side`-less itself.
macro_rules! wear_receiving_face {
    ($receiver:ident) => {
        impl<T> $receiver<T> {
            /// Receives a message; waits for one as long as it takes.
            ///
            /// Wait-free while messages are there, and then without a system call. Otherwise looks for a while (see
            /// [`set_spin`](Self::set_spin)) and sleeps in the kernel.
            ///
            /// # Errors
            /// When the channel is empty and its sender is gone.
            #[inline(always)]
            pub fn recv(&mut self) -> Result<T, RecvError> {
                self.face.recv()
            }

            /// Receives a message if there is one. Wait-free; on an unattached receiver without any system call or
            /// fence. An attached receiver that finds nothing takes its id down (at most two system calls, then none
            /// until it is raised again).
            ///
            /// # Errors
            /// When the channel is empty, and when it is empty and its sender is gone.
            #[inline]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                self.face.try_recv()
            }

            /// Receives a message; waits no longer than `timeout`. `Duration::MAX` is for ever.
            ///
            /// # Errors
            /// When the time is up, and when the channel is empty and its sender is gone.
            pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
                self.face.recv_timeout(timeout)
            }

            /// Receives a message; waits no longer than until `deadline`. A message that is there is received even
            /// after it.
            ///
            /// # Errors
            /// When the time is up, and when the channel is empty and its sender is gone.
            pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
                self.face.recv_deadline($crate::os::Deadline::At(deadline))
            }

            /// Appends messages to `to`: waits for the first, then takes what is there, `max` at most. Returns how many
            /// (at least 1, unless `max` is 0). Allocates only in `to`.
            ///
            /// # Errors
            /// When the channel is empty and its sender is gone.
            #[inline]
            pub fn recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
                self.face.recv_batch(to, max)
            }

            /// Appends the messages that are there to `to`, `max` at most, and returns how many. Never blocks.
            ///
            /// # Errors
            /// When the channel is empty, and when it is empty and its sender is gone.
            pub fn try_recv_batch(&mut self, to: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
                self.face.try_recv_batch(to, max)
            }

            /// The next message where it lies, if there is one. Never blocks; costs what
            /// [`try_recv`](Self::try_recv) costs.
            pub fn peek(&mut self) -> Option<&T> {
                self.face.peek()
            }

            /// Receives a message, or has the task woken when there may be one.
            ///
            /// Wait-free. Only the last task to ask is woken, and its waker is kept until it is woken, another asks, or
            /// this end goes.
            ///
            /// # Errors
            /// When the channel is empty and its sender is gone.
            #[inline]
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
                self.face.poll_recv(context)
            }

            /// Receives a message; the task waits for one as long as it takes. Needs no particular runtime.
            ///
            /// Cancel-safe: a future dropped before it is ready has taken nothing.
            ///
            /// # Errors
            /// When the channel is empty and its sender is gone.
            pub async fn recv_async(&mut self) -> Result<T, RecvError> {
                self.face.recv_async().await
            }

            /// The messages, one by one; waits for each, and ends when the sender is gone.
            pub fn iter(&mut self) -> Iter<'_, Self> {
                Iter::new(self)
            }

            /// The messages that are there, one by one; never waits.
            pub fn try_iter(&mut self) -> TryIter<'_, Self> {
                TryIter::new(self)
            }

            /// What to do before sleeping, from the next wait on. The default is [`Spin::Adaptive`].
            pub fn set_spin(&mut self, spin: Spin) {
                self.face.set_spin(spin);
            }

            /// Takes this receiver out of the set it is attached to: its id is down, and free. False: it was in none.
            /// Its messages stay, and it can be attached again, to any set. Wait-free but for the descriptor of the set
            /// (one system call at most).
            ///
            /// Whoever was about to raise the id may still do so once: whoever has it next must take that for a spurious
            /// signal.
            pub fn detach(&mut self) -> bool {
                self.face.detach()
            }
        }

        impl<T> Receive for $receiver<T> {
            type Message = T;

            #[inline]
            fn next_waiting(&mut self) -> Option<T> {
                self.recv().ok()
            }

            #[inline]
            fn next_at_once(&mut self) -> Option<T> {
                self.try_recv().ok()
            }

            #[inline]
            fn look(&mut self) -> Option<T> {
                self.face.look()
            }

            fn has_message(&mut self) -> bool {
                self.face.has_message()
            }

            #[inline]
            fn try_next(&mut self) -> Result<T, TryRecvError> {
                self.try_recv()
            }
        }

        impl<T> IntoIterator for $receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<Self>;

            fn into_iter(self) -> IntoIter<Self> {
                IntoIter::new(self)
            }
        }

        impl<'a, T> IntoIterator for &'a mut $receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, $receiver<T>>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl<T> Attach for $receiver<T> {
            fn attach_registration(&mut self, registration: Registration) -> Result<(), AttachError> {
                self.face.attach(registration)
            }

            fn with_registration(&self, look: &mut dyn FnMut(&Registration)) {
                self.face.registration().inspect(|registration| look(registration));
            }

            fn detach(&mut self) -> bool {
                self.face.detach()
            }
        }

        #[cfg(feature = "stream")]
        impl<T> futures_core::Stream for $receiver<T> {
            type Item = T;

            fn poll_next(self: core::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
                self.get_mut().poll_recv(context).map(Result::ok)
            }

            /// At least the messages that are there, and exactly those once the sender is gone. Costs what
            /// [`len`](Self::len) costs.
            fn size_hint(&self) -> (usize, Option<usize>) {
                // Asked first: what was sent before the sender went is counted then.
                let is_over = self.is_disconnected();
                let there = self.len();
                (there, is_over.then_some(there))
            }
        }

        // No message is ever pinned in place.
        impl<T> Unpin for $receiver<T> {}
    };
}

pub(super) use wear_receiving_face;
