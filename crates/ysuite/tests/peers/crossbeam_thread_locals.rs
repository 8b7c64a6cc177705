//! Suite: crossbeam-channel tests/thread_locals.rs; upstream 1, carried over here 1, excluded 0.

use std::cell::RefCell;

use crate::ends::{Kind, first_of};
use crate::tools::{SHORT, both, pause};

carried! {
    use_while_exiting => while_a_thread_ends: Exchange Funnel Pipe;
}

/// A thread's local is dropped after those that waiting needs, and waits itself, for as long as it says.
fn while_a_thread_ends(kind: Kind) {
    struct Last(Kind);
    impl Drop for Last {
        fn drop(&mut self) {
            let (_tx, mut rx) = self.0.endless::<()>();
            assert!(rx.recv_timeout(SHORT).is_err());
            assert_eq!(first_of(&mut [&mut rx], SHORT), None);
        }
    }
    thread_local! {
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    let (mut tx, mut rx) = kind.endless();
    both(
        move || {
            // Made before anything that a wait may make, so it is dropped after that.
            LAST.with(|last| last.replace(Some(Last(kind))));
            rx.recv().unwrap();
        },
        || {
            pause();
            tx.send(()).unwrap();
        },
    );
}
