//! The rendezvous under the model checker, without the handles, whose lanes hand over what their threads did.

use loom::thread;

use super::meeting::Meeting;
use crate::runner::model_up_to;
use crate::statistics::Meter;
use crate::sync::{Arc, Handed};

/// A thread that finds the rendezvous closed sees what each sender did before it was dropped.
#[test]
fn the_past_of_the_senders_that_were_counted() {
    model_up_to(2, || {
        let scene = Arc::new((Meeting::new(&Meter::default()), [Handed::default(), Handed::default()]));
        (0..2).for_each(|_| scene.0.count_sender());
        let going = [0, 1].map(|at| {
            let scene = scene.clone();
            thread::spawn(move || {
                scene.1[at].written();
                scene.0.uncount_sender();
            })
        });
        if scene.0.is_closed() {
            scene.1.iter().for_each(Handed::read);
        }
        going.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
