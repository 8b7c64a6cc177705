//! Who may look at a channel's statistics: whoever has an end of it.

/// Gives an end its observer. `$meter` is the channel's.
macro_rules! impl_observer {
    ($end:ident, $([$bound:lifetime],)? |$this:ident| $meter:expr) => {
        #[cfg(feature = "statistics")]
        impl<T $(: $bound)?> $end<T> {
            /// One who looks at what goes through this channel, from any thread, also when its ends are gone: see
            /// [`statistics`](crate::statistics). Wait-free. With the feature `statistics` only.
            #[must_use]
            pub fn observer(&self) -> $crate::statistics::Observer {
                let $this = self;
                $meter.observer()
            }
        }
    };
}

pub(super) use impl_observer;
