//! A broadcast's handles in a `select()` with others.

use std::thread;
use std::time::Duration;

use ysuite::broadcast::{self, RecvError};
use ysuite::{mpmc, select, spsc};

use crate::support::guarded;

const SHORT: Duration = Duration::from_micros(200);

#[test]
fn a_select_receives_from_a_broadcast_and_from_others() {
    let (sender, mut receiver) = broadcast::bounded(2);
    let (mut pipe, mut pipe_in) = spsc::unbounded();
    let mut log = Vec::new();
    for step in 0..3 {
        match step {
            0 => sender.send(1).unwrap(),
            1 => pipe.send("two").unwrap(),
            _ => {}
        }
        log.push(
            select()
                .recv(&mut receiver, |number: Result<i32, RecvError>| format!("{number:?}"))
                .recv(&mut pipe_in, |word: Result<&str, _>| format!("{word:?}"))
                .after(SHORT, || "-".to_owned())
                .wait(),
        );
    }
    assert_eq!(log, ["Ok(1)", "Ok(\"two\")", "-"]);
    drop(sender);
    let end = select().recv(&mut receiver, |end| end).recv(&mut pipe_in, |_| Ok(7)).wait();
    assert_eq!(end, Err(RecvError::Disconnected));
}

#[test]
fn a_select_is_told_what_a_lossy_broadcast_has_lost() {
    let (sender, mut receiver) = broadcast::lossy(2);
    sender.send_batch(0..5).unwrap();
    let mut next = || select().recv(&mut receiver, |number| number).try_now();
    assert_eq!((next(), next(), next(), next()), (Some(Err(RecvError::Lagged(3))), Some(Ok(3)), Some(Ok(4)), None));
}

#[test]
fn a_select_sends_to_whichever_broadcast_has_room() {
    let (full, mut full_in) = broadcast::bounded(1);
    let (free, mut free_in) = broadcast::bounded(1);
    full.send(1).unwrap();
    assert_eq!(select().send(&full, 2, |_| "full").send(&free, 3, |_| "free").wait(), "free");
    assert_eq!(free_in.recv(), Ok(3));
    let mut kept = Some(4);
    assert_eq!(select().send_from(&full, &mut kept, |_| ()).wait_timeout(SHORT), None);
    assert_eq!((kept, full_in.recv()), (Some(4), Ok(1)));
    drop(full_in);
    assert_eq!(select().send_from(&full, &mut kept, |sent| sent.map_err(|error| error.0)).wait(), Err(4));
}

/// Each waits for the other, and for one that never comes.
#[test]
fn a_select_sleeps_until_a_broadcast_has_a_message_or_room() {
    guarded(|| {
        const ROUNDS: u32 = 2_000;
        let (sender, mut receiver) = broadcast::bounded(1);
        let (_never, silent) = mpmc::bounded::<u32>(1);
        let silence = silent.clone();
        let sending = thread::spawn(move || {
            for number in 0..ROUNDS {
                select().send(&sender, number, |sent| sent.unwrap()).recv(&silence, |_| panic!("nobody sends")).wait();
            }
        });
        for number in 0..ROUNDS {
            let got = select().recv(&silent, |_| panic!("nobody sends")).recv(&mut receiver, |got| got.unwrap()).wait();
            assert_eq!(got, number);
        }
        sending.join().unwrap();
    });
}

/// A select that leaves passes on what it was told of.
#[test]
fn a_select_that_has_chosen_another_wakes_the_sender_behind_it() {
    guarded(|| {
        for _ in 0..200 {
            let (sender, mut receiver) = broadcast::bounded(1);
            let (mut word, mut word_in) = spsc::unbounded();
            sender.send(0).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| {
                    let chosen = select().send(&sender, 1, |sent| sent.is_ok()).recv(&mut word_in, |_| false).wait();
                    if !chosen {
                        sender.send(1).unwrap();
                    }
                });
                scope.spawn(|| sender.send(1).unwrap());
                scope.spawn(move || word.send(()).unwrap());
                for number in [0, 1, 1] {
                    assert_eq!(receiver.recv(), Ok(number));
                }
            });
        }
    });
}
