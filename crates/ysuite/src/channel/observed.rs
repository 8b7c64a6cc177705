//! Access to a channel's statistics: each handle of the channel has it.

/// Gives a handle its observer. `$meter` is the channel's.
macro_rules! impl_observer {
    ($end:ident, $([$bound:lifetime],)? |$this:ident| $meter:expr) => {
        #[cfg(feature = "statistics")]
        impl<T $(: $bound)?> $end<T> {
            /// An observer of the messages that go through this channel. It works on any thread, also after all handles
            /// are dropped: see [`statistics`](crate::statistics). With the feature `statistics` only.
            #[doc = cost!(statistics OBSERVER)]
            #[must_use]
            pub fn observer(&self) -> $crate::statistics::Observer {
                let $this = self;
                $meter.observer()
            }
        }
    };
}

pub(super) use impl_observer;
