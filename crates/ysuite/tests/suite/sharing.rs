//! Whether handles cross threads, are shared and are cloned, checked by the compiler for messages of every kind.
//!
//! Claim: A handle is `Send` or `Sync` only if its message type allows it.

use std::cell::Cell;
use std::rc::Rc;

use ysuite::mailbox::{Address, Envelope, Mailbox};
use ysuite::mpmc;
use ysuite::mpsc;
use ysuite::pool::{Message, Pool, PoolBox};
use ysuite::queue::ypipe::{Reader, Writer};
use ysuite::spsc::{Receiver, Sender};

/// Returns whether `$type` is `$bound`, by which of two functions of the same name is found first.
macro_rules! is {
    ($type:ty: $bound:ident) => {{
        struct Question<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)] // Found only where the answer is no.
        trait Otherwise {
            fn answer(&self) -> bool {
                false
            }
        }
        impl<T> Otherwise for Question<T> {}
        #[allow(dead_code)] // Found only where the answer is yes.
        impl<T: $bound> Question<T> {
            fn answer(&self) -> bool {
                true
            }
        }
        Question::<$type>(std::marker::PhantomData).answer()
    }};
}

#[test]
fn ends_cross_threads_exactly_where_their_messages_do() {
    assert!(is!(Sender<u8>: Send) && is!(Receiver<u8>: Send) && is!(Writer<u8>: Send) && is!(Reader<u8>: Send));
    assert!(is!(Sender<Cell<u8>>: Send) && is!(Receiver<Cell<u8>>: Send));
    assert!(is!(Sender<u8>: Sync) && is!(Receiver<u8>: Sync) && is!(Writer<u8>: Sync) && is!(Reader<u8>: Sync));
    assert!(!is!(Sender<Rc<u8>>: Send) && !is!(Receiver<Rc<u8>>: Send));
    assert!(!is!(Writer<Rc<u8>>: Send) && !is!(Reader<Rc<u8>>: Send));
    assert!(!is!(Sender<Rc<u8>>: Sync) && !is!(Receiver<Rc<u8>>: Sync));
    assert!(!is!(Writer<Rc<u8>>: Sync) && !is!(Reader<Rc<u8>>: Sync));
}

#[test]
fn mpmc_handles_are_shared_exactly_if_their_messages_may_be_sent() {
    assert!(is!(mpmc::Sender<u8>: Send) && is!(mpmc::Receiver<u8>: Send));
    assert!(is!(mpmc::Sender<Cell<u8>>: Sync) && is!(mpmc::Receiver<Cell<u8>>: Sync));
    assert!(!is!(mpmc::Sender<Rc<u8>>: Send) && !is!(mpmc::Receiver<Rc<u8>>: Send));
    assert!(!is!(mpmc::Sender<Rc<u8>>: Sync) && !is!(mpmc::Receiver<Rc<u8>>: Sync));
    assert!(is!(mpmc::Sender<Rc<u8>>: Clone) && is!(mpmc::Receiver<Rc<u8>>: Clone));
}

#[test]
fn ends_of_one_lane_cannot_be_cloned() {
    assert!(!is!(Sender<u8>: Clone) && !is!(Receiver<u8>: Clone));
    assert!(!is!(Writer<u8>: Clone) && !is!(Reader<u8>: Clone));
    assert!(is!(Rc<u8>: Clone), "the question is answered with yes where that is so");
}

#[test]
fn the_funnels_ends() {
    assert!(is!(mpsc::Sender<u8>: Clone) && !is!(mpsc::Receiver<u8>: Clone));
    assert!(is!(mpsc::Sender<Cell<u8>>: Send) && is!(mpsc::Receiver<Cell<u8>>: Send));
    assert!(is!(mpsc::Sender<Cell<u8>>: Sync) && is!(mpsc::Receiver<Cell<u8>>: Sync));
    assert!(!is!(mpsc::Sender<Rc<u8>>: Send) && !is!(mpsc::Receiver<Rc<u8>>: Send));
    assert!(!is!(mpsc::Sender<Rc<u8>>: Sync) && !is!(mpsc::Receiver<Rc<u8>>: Sync));
    assert!(is!(mpsc::Sender<u8>: Unpin) && is!(mpsc::Receiver<u8>: Unpin));
}

#[test]
fn mailboxes_and_addresses() {
    assert!(is!(Address: Send) && is!(Address: Sync) && is!(Address: Clone) && is!(Address: Unpin));
    // One thread at a time; what is in it need not be `Sync`.
    assert!(is!(Mailbox: Send) && !is!(Mailbox: Sync) && !is!(Mailbox: Clone));
    assert!(is!(Envelope: Send) && !is!(Envelope: Sync) && !is!(Envelope: Clone));
}

#[test]
fn what_comes_out_of_a_pool() {
    assert!(is!(Pool: Send) && is!(Pool: Sync) && is!(Pool: Clone));
    assert!(is!(Message: Send) && is!(Message: Sync) && !is!(Message: Clone));
    assert!(is!(PoolBox<u8>: Send) && is!(PoolBox<u8>: Sync) && !is!(PoolBox<u8>: Clone));
    assert!(is!(PoolBox<Cell<u8>>: Send) && !is!(PoolBox<Cell<u8>>: Sync));
    assert!(!is!(PoolBox<Rc<u8>>: Send) && !is!(PoolBox<Rc<u8>>: Sync));
}
