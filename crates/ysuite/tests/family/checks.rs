//! What the tests of features share with those of `ybench-competitors`, which include this file: how they are listed, and
//! checks that fit many libraries.

// Not every check fits a library of both.
#![allow(unused_macros)]

/// A module for each feature with a test for each kind that has it, guarded against hanging.
macro_rules! tried {
    ($($module:ident $feature:ident { $($test:ident $name:literal $tried:block)+ })+) => {
        pub(crate) const TRIED: &[$crate::Tick] = &[$($(($crate::Feature::$feature, $name),)+)+];

        $(mod $module {
            #[allow(unused_imports)]
            use super::*;

            $(#[test]
            fn $test() {
                $crate::guarded(|| $tried);
            })+
        })+
    };
}

/// Two tasks, of which each has to wait for the other.
macro_rules! between_tasks {
    ($channel:expr, [$($send:tt)+], [$($recv:tt)+]) => {{
        #[allow(unused_mut)]
        let (mut sender, mut receiver) = $channel;
        let received = async { [receiver.$($recv)+().await, receiver.$($recv)+().await].map(|message| message.unwrap()) };
        let sent = async { for number in [1, 2] { sender.$($send)+(number).await.unwrap() } };
        assert_eq!($crate::in_tokio(async { tokio::join!(received, sent) }).0, [1, 2]);
    }};
}

macro_rules! receives_with_a_limit {
    ($channel:expr) => {{
        #[allow(unused_mut)]
        let (mut sender, mut receiver) = $channel;
        assert!(receiver.recv_timeout($crate::SOON).is_err());
        sender.send(1).unwrap();
        assert_eq!(receiver.recv_timeout($crate::SOON).unwrap(), 1);
    }};
}

/// By its receiver. What was sent is still received.
macro_rules! closed {
    ($channel:expr, $send:ident, $recv:ident) => {{
        #[allow(unused_mut)]
        let (mut sender, mut receiver) = $channel;
        sender.$send(1).unwrap();
        assert!(receiver.close());
        assert!(sender.$send(2).is_err());
        assert_eq!(receiver.$recv().unwrap(), 1);
        assert!(receiver.$recv().is_err());
    }};
}

pub(crate) const SOON: std::time::Duration = std::time::Duration::from_millis(1);

/// Runs a future as tokio does, on this thread.
pub(crate) fn in_tokio<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(future)
}
