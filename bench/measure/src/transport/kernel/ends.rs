//! The handles of a kernel mechanism, cloned for each thread, and its disconnection.
//!
//! ```text
//!   senders    put  ---->  Mechanism  ---->  take   receivers        all of them hold the one `Shared`
//! ```
//!
//! The kernel's queues do not report that a side is gone while their descriptors are open, and some cannot at all. So
//! the handles are counted. Senders check the count of receivers before each message: a load of a word that is written
//! only when handles are cloned and dropped. The last receiver empties the mechanism, so that a sender that waits for
//! room continues and checks again. The last sender notifies the receivers ([`Mechanism::no_senders`]).
//!
//! Messages that are still in the kernel when both sides are gone are received and dropped: a message by pointer is not
//! leaked.

use std::marker::PhantomData;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Mechanism;
use crate::transport::{self, Closed, Message};

struct Shared<Q> {
    mechanism: Q,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    /// Held by the thread that takes out messages that no receiver will take.
    emptying: Mutex<()>,
}

impl<Q: Mechanism> Shared<Q> {
    fn no_senders(&self) -> bool {
        // ORDERING: Acquire pairs with the fetch_sub in the sender's drop: its messages are in the mechanism by then.
        self.senders.load(Ordering::Acquire) == 0
    }

    fn no_receivers(&self) -> bool {
        // ORDERING: Acquire pairs with the fetch_sub in the receiver's drop.
        self.receivers.load(Ordering::Acquire) == 0
    }

    fn empty<M: Message>(&self) {
        let _alone = self.emptying.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(wire) = self.mechanism.leftover::<M::Wire>() {
            // SAFETY: `send` has put it in, and it is taken out once.
            drop(unsafe { M::from_wire(wire) });
        }
    }
}

/// Clones share the descriptor.
pub struct Sender<Q: Mechanism, M: Message>(Arc<Shared<Q>>, PhantomData<fn(M)>);
/// Clones share the descriptor.
pub struct Receiver<Q: Mechanism, M: Message>(Arc<Shared<Q>>, PhantomData<fn() -> M>);

/// The two handles of a mechanism that carries nothing else.
pub fn ends<M: Message, Q: Mechanism>(mechanism: Q) -> (Sender<Q, M>, Receiver<Q, M>) {
    let shared = Arc::new(Shared {
        mechanism,
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
        emptying: Mutex::new(()),
    });
    (Sender(shared.clone(), PhantomData), Receiver(shared, PhantomData))
}

impl<Q: Mechanism, M: Message> Sender<Q, M> {
    #[cold]
    fn refused(&self, wire: M::Wire) -> Result<(), Closed> {
        // SAFETY: this message was not sent.
        drop(unsafe { M::from_wire(wire) });
        // Another sender may wait for room since the last receiver has checked.
        if self.0.no_receivers() {
            self.0.empty::<M>();
        }
        Err(Closed)
    }
}

impl<Q: Mechanism, M: Message> transport::Sender<M> for Sender<Q, M> {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        let wire = message.into_wire();
        if self.0.no_receivers() || self.0.mechanism.put(&wire).is_err() {
            return self.refused(wire);
        }
        Ok(())
    }
}

impl<Q: Mechanism, M: Message> Receiver<Q, M> {
    pub fn mechanism(&self) -> &Q {
        &self.0.mechanism
    }

    /// There may have been no room for a mark when the last sender left. Then there were messages: a receiver that
    /// finds none any more has taken the last one, or comes after the one that has, and sees that the senders are gone.
    #[cold]
    fn rest(&self) -> Result<M, Closed> {
        let alone = self.0.emptying.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wire) = self.0.mechanism.leftover::<M::Wire>() {
            // SAFETY: `send` has put it in, and it is taken out once.
            return Ok(unsafe { M::from_wire(wire) });
        }
        drop(alone);
        self.ended()
    }

    #[cold]
    fn ended(&self) -> Result<M, Closed> {
        if !Q::TELLS_THE_END && self.0.no_senders() {
            self.0.mechanism.no_senders();
        }
        Err(Closed)
    }
}

impl<Q: Mechanism + AsFd, M: Message> AsFd for Receiver<Q, M> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.mechanism.as_fd()
    }
}

impl<Q: Mechanism, M: Message> transport::Receiver<M> for Receiver<Q, M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        if !Q::TELLS_THE_END && self.0.no_senders() {
            return self.rest();
        }
        match self.0.mechanism.take::<M::Wire>() {
            // SAFETY: `send` has put it in, and it is taken out once: the kernel gives each message to one receiver.
            Ok(wire) => Ok(unsafe { M::from_wire(wire) }),
            Err(Closed) => self.ended(),
        }
    }
}

impl<Q: Mechanism, M: Message> Clone for Sender<Q, M> {
    fn clone(&self) -> Self {
        // ORDERING: Relaxed: the cloning handle is counted already; the clone reaches its thread by other means.
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone(), PhantomData)
    }
}

impl<Q: Mechanism, M: Message> Clone for Receiver<Q, M> {
    fn clone(&self) -> Self {
        // ORDERING: Relaxed, as for senders.
        self.0.receivers.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone(), PhantomData)
    }
}

impl<Q: Mechanism, M: Message> Drop for Sender<Q, M> {
    fn drop(&mut self) {
        // ORDERING: AcqRel pairs with the load in `Shared::no_senders` and with the same line of the other senders.
        if self.0.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.mechanism.no_senders();
        }
        if self.0.no_receivers() {
            self.0.empty::<M>();
        }
    }
}

impl<Q: Mechanism, M: Message> Drop for Receiver<Q, M> {
    fn drop(&mut self) {
        // ORDERING: AcqRel pairs with the load in `Shared::no_receivers` and with the same line of the other receivers.
        if self.0.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.empty::<M>();
        } else if !Q::TELLS_THE_END && self.0.no_senders() {
            // It may have taken the last message without a further receive.
            self.0.mechanism.no_senders();
        }
    }
}
