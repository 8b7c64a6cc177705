//! Ends in event loops of others. An end is one descriptor, which becomes readable when there is something to be done,
//! after [`arm`](crate::Receiver::arm) has found nothing.

#[cfg(feature = "tokio")]
mod async_end;

#[cfg(feature = "tokio")]
pub use self::async_end::Async;

/// The descriptor of an end as a source of events for mio, of interest for reading only.
#[cfg(feature = "mio")]
macro_rules! source {
    ($($end:ident $(<$($message:ident $(: $bound:path)?),+>)?),+) => {
        $(
            #[cfg_attr(docsrs, doc(cfg(feature = "mio")))]
            impl $(<$($message $(: $bound)?),+>)? mio::event::Source for crate::$end $(<$($message),+>)? {
                fn register(&mut self, registry: &mio::Registry, token: mio::Token, interests: mio::Interest) -> std::io::Result<()> {
                    mio::unix::SourceFd(&raw(self)).register(registry, token, interests)
                }

                fn reregister(&mut self, registry: &mio::Registry, token: mio::Token, interests: mio::Interest) -> std::io::Result<()> {
                    mio::unix::SourceFd(&raw(self)).reregister(registry, token, interests)
                }

                fn deregister(&mut self, registry: &mio::Registry) -> std::io::Result<()> {
                    mio::unix::SourceFd(&raw(self)).deregister(registry)
                }
            }
        )+
    };
}

#[cfg(feature = "mio")]
source!(
    Sender<T>,
    Receiver<T>,
    BytesSender,
    BytesReceiver,
    Funnel<T: crate::Carried>,
    Listener,
    WatchReceiver<T>,
    WatchSender<T>,
    BytesWatchSender,
    BroadcastReceiver<T: crate::Copied>,
    BroadcastSender<T: crate::Copied>,
    BytesBroadcastSender,
    WorkReceiver<T: crate::Copied>,
    WorkSender<T: crate::Copied>,
    BytesWorkSender,
    LoanReceiver,
    LoanSender,
    Caller<Q: crate::Copied, A: crate::Copied>,
    BytesCaller<A: crate::Copied>
);

fn raw(end: &impl std::os::fd::AsFd) -> std::os::fd::RawFd {
    std::os::fd::AsRawFd::as_raw_fd(&end.as_fd())
}
