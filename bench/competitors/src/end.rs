//! One handle of a third-party channel, and transports that consist of two of them.

/// The traits of the instrument can be implemented here for types of this package only.
#[derive(Clone)]
pub struct End<E>(pub(crate) E);

/// Transports: for each a name, a description, traits in addition to the file's `COMMON`, the types of both handles for
/// messages `M`, and the expression that makes them.
macro_rules! channels {
    ($($transport:ident: $name:literal, $about:literal, { $($traits:tt)* }, $sender:ty, $receiver:ty, $open:expr;)+) => { $(
        pub struct $transport;

        impl ybench_measure::transport::Transport for $transport {
            const TRAITS: ybench_measure::transport::Traits =
                ybench_measure::transport::Traits { name: $name, about: $about, $($traits)* ..COMMON };
            type Sender<M: ybench_measure::transport::Message> = $crate::end::End<$sender>;
            type Receiver<M: ybench_measure::transport::Message> = $crate::end::End<$receiver>;

            fn open<M: ybench_measure::transport::Message>() -> std::io::Result<(Self::Sender<M>, Self::Receiver<M>)> {
                let (sender, receiver) = $open;
                Ok(($crate::end::End(sender), $crate::end::End(receiver)))
            }
        }
    )+ };
}

/// Handles whose `send` and `recv` wait and fail with an error, and move the message itself.
macro_rules! blocking {
    (send: $($sender:ty),+; recv: $($receiver:ty),+) => {
        $(
            impl<M: ybench_measure::transport::Message> ybench_measure::transport::Sender<M> for $crate::end::End<$sender> {
                #[inline(always)]
                fn send(&mut self, message: M) -> Result<(), ybench_measure::transport::Closed> {
                    self.0.send(message).map_err(|_| ybench_measure::transport::Closed)
                }
            }
        )+
        $(
            impl<M: ybench_measure::transport::Message> ybench_measure::transport::Receiver<M> for $crate::end::End<$receiver> {
                #[inline(always)]
                fn recv(&mut self) -> Result<M, ybench_measure::transport::Closed> {
                    self.0.recv().map_err(|_| ybench_measure::transport::Closed)
                }
            }
        )+
    };
}

pub(crate) use {blocking, channels};
