//! The coordinator: four threads, and channels between them.
//!
//! ```text
//! submitters == ZeroMQ ==> bridge -- spsc --> gate -- mailbox --> keeper -- spsc --> floor == shared memory ==> workers
//!            <=============       <----- answers -----------------       <-- mailbox --    <== reports ========
//! ```
//!
//! The *gate* reads requests, the *keeper* knows all open jobs and what becomes of them, the *floor* has the workers.
//! A request to cancel, and that to stop, are urgent: they overtake the jobs that wait in the keeper's mailbox.

mod floor;
mod keeper;

use std::io;
use std::thread;
use std::time::Duration;

use ysuite::mailbox::{self, Address};
use ysuite::{spsc, watch};
use ysuite_zmq::{Bridge, Question};

use self::floor::Floor;
use self::keeper::{Cancel, Keeper, Stop, Submit};
use crate::Outcome;
use crate::protocol::{Answer, Counts, Request};

/// Questions that wait for the gate.
const WAITING: usize = 256;
/// For the last answers to leave.
const FAREWELL: Duration = Duration::from_secs(5);

/// Coordinates until the standard input ends; then it answers what is open, and sends its workers home.
pub(crate) fn coordinate(address: &str, workers: usize, name: &str) -> Outcome<()> {
    let (bridge, questions) = Bridge::answer::<Vec<u8>, Vec<u8>>().bind(address).bounded(WAITING).start()?;
    // As many as there are open jobs, which the keeper bounds.
    let (orders, ordered) = spsc::unbounded();
    let (counts, counted) = watch::channel(Counts::default());
    let keeper = mailbox::Builder::new().name("keeper");
    let (keeper, keeping) = keeper.spawn(|mailbox| Keeper::new(orders, counts).run(mailbox))?;
    let floor = Floor::open(name, workers, keeper.clone(), counted)?;
    let working = thread::Builder::new().name("floor".to_owned()).spawn(|| floor.run(ordered))?;
    let (to_keeper, gate) = (keeper.clone(), thread::Builder::new().name("gate".to_owned()));
    let reading = gate.spawn(move || questions.into_iter().for_each(|question| admit(question, &to_keeper)))?;

    println!("{} {name}", bridge.addresses()[0]);
    io::copy(&mut io::stdin(), &mut io::sink())?;
    // An error: it has ended already, and so will the floor.
    let _ = keeper.send_priority(Stop);
    let counts = keeping.join().map_err(|_| "the keeper has panicked")?;
    working.join().map_err(|_| "the floor has panicked")??;
    let closed = bridge.close(FAREWELL);
    reading.join().map_err(|_| "the gate has panicked")?;
    println!("{counts:?} {closed:?}");
    Ok(())
}

/// Passes a request on, or answers it at once.
fn admit(question: Question<Vec<u8>, Vec<u8>>, keeper: &Address) {
    let Question { message, reply } = question;
    let refused = match Request::decode(&message) {
        Ok(Request::Do { tag, .. }) => {
            keeper.send(Submit { tag, request: message, reply }).err().map(|error| error.into_inner().reply)
        }
        Ok(Request::Cancel { tag }) => {
            keeper.send_priority(Cancel { tag, reply }).err().map(|error| error.into_inner().reply)
        }
        Err(flaw) => return keeper::answer(reply, &Answer::Malformed(flaw.to_string())),
    };
    if let Some(reply) = refused {
        keeper::answer(reply, &Answer::Refused("the coordinator has stopped".to_owned()));
    }
}
