//! Code that the models of both queues share.

use loom::thread;

use crate::runner::model_up_to;
use crate::sync::{Arc, Handed};

/// This thread closes a queue, and another checks it: where it finds the queue closed, it sees what came before.
pub(super) fn the_past_of_a_close<Q: Send + Sync + 'static>(
    open: fn() -> Q,
    close: fn(&Q) -> bool,
    finds: fn(&Q) -> bool,
) {
    model_up_to(2, move || {
        let scene = Arc::new((open(), Handed::default()));
        let other = scene.clone();
        let thread = thread::spawn(move || {
            if finds(&other.0) {
                other.1.read();
            }
        });
        scene.1.written();
        close(&scene.0);
        thread.join().unwrap();
    });
}
