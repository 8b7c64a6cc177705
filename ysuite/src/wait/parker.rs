//! A receiving end that many threads may call: the word that says how it sleeps, and its bells, in one place.
//!
//! `call`: any thread, lock-free, and one system call for each way of sleeping. The rest: the end that sleeps. Whoever calls
//! has made something visible before, somewhere else; several queues may share one parker, which looks at all of them.

use super::target::WakeTarget;
use crate::passive::Passive;

pub(crate) struct Parker {
    pub(crate) word: Passive,
    pub(crate) target: WakeTarget,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self { word: Passive::new(), target: WakeTarget::new() }
    }

    /// Wakes the end if it sleeps. True: it did.
    pub(crate) fn call(&self) -> bool {
        let tokens = self.word.called();
        if tokens != 0 {
            self.target.ring(&self.word, tokens);
        }
        tokens != 0
    }
}
