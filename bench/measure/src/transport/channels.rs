//! What transports have in common that consist of two handles of a library.

/// Transports: for each a name, a description, its other traits, the types of both handles for messages `M`, and the
/// expression that makes them, where `?` may be used. The handles `of` a module are its `Sender<M>` and `Receiver<M>`.
#[macro_export]
macro_rules! channels {
    (of $kind:ident: $(
        $(#[$doc:meta])* $transport:ident: $name:literal, $about:literal, { $($traits:tt)* }, $open:expr;
    )+) => {
        $crate::channels! { $(
            $(#[$doc])* $transport: $name, $about, { $($traits)* }, $kind::Sender<M>, $kind::Receiver<M>, $open;
        )+ }
    };
    ($(
        $(#[$doc:meta])* $transport:ident: $name:literal, $about:literal, { $($traits:tt)* },
            $sender:ty, $receiver:ty, $open:expr;
    )+) => { $(
        $(#[$doc])*
        pub struct $transport;

        impl $crate::transport::Transport for $transport {
            const TRAITS: $crate::transport::Traits =
                $crate::transport::Traits { name: $name, about: $about, $($traits)* };
            type Sender<M: $crate::transport::Message> = $sender;
            type Receiver<M: $crate::transport::Message> = $receiver;

            fn open<M: $crate::transport::Message>() -> std::io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
                Ok($open)
            }
        }
    )+ };
}

/// Handles whose `send` and `recv` wait and fail with an error, and move the message itself.
macro_rules! blocking {
    (send: $($sender:ty),+; recv: $receiver:ty) => {
        $(
            impl<M: $crate::transport::Message> $crate::transport::Sender<M> for $sender {
                #[inline(always)]
                fn send(&mut self, message: M) -> Result<(), $crate::transport::Closed> {
                    <$sender>::send(self, message).map_err(|_| $crate::transport::Closed)
                }
            }
        )+

        impl<M: $crate::transport::Message> $crate::transport::Receiver<M> for $receiver {
            #[inline(always)]
            fn recv(&mut self) -> Result<M, $crate::transport::Closed> {
                <$receiver>::recv(self).map_err(|_| $crate::transport::Closed)
            }
        }
    };
}

/// The same for the handles of one of `ysuite`'s modules, which also have batches.
macro_rules! blocking_in_batches {
    ($kind:ident) => {
        impl<M: $crate::transport::Message> $crate::transport::Sender<M> for $kind::Sender<M> {
            #[inline(always)]
            fn send(&mut self, message: M) -> Result<(), $crate::transport::Closed> {
                $kind::Sender::send(self, message).map_err(|_| $crate::transport::Closed)
            }

            #[inline(always)]
            fn send_batch(&mut self, first: usize, count: usize) -> Result<(), $crate::transport::Closed> {
                let messages = (first..first + count).map(M::numbered);
                $kind::Sender::send_batch(self, messages).map(|_| ()).map_err(|_| $crate::transport::Closed)
            }
        }

        impl<M: $crate::transport::Message> $crate::transport::Receiver<M> for $kind::Receiver<M> {
            #[inline(always)]
            fn recv(&mut self) -> Result<M, $crate::transport::Closed> {
                $kind::Receiver::recv(self).map_err(|_| $crate::transport::Closed)
            }

            #[inline(always)]
            fn recv_batch(&mut self, into: &mut Vec<M>, max: usize) -> Result<(), $crate::transport::Closed> {
                $kind::Receiver::recv_batch(self, into, max).map(|_| ()).map_err(|_| $crate::transport::Closed)
            }
        }
    };
}

pub use channels;
pub(super) use {blocking, blocking_in_batches};
