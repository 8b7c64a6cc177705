//! Waiting for the first of several receivers, and sets that change at run time.

mod kinds;
mod list;
mod one_shot;
mod ready;
mod senders;
mod told;

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::conformance::attached::Ends;
use crate::support::{Random, guarded};
use ysuite::mailbox::{Mailbox, ReceiveError};
use ysuite::signal::{Attach, AttachError, ReadySet, YPollset};
use ysuite::{mpmc, mpsc, spsc, timer};

#[test]
fn a_or_b_or_a_timeout() {
    let (mut numbers, mut numbers_in) = spsc::unbounded();
    let (mut words, mut words_in) = mpsc::unbounded();
    let mut select = ReadySet::new();
    let (a, b) = (select.add(&mut numbers_in).unwrap(), select.add(&mut words_in).unwrap());
    assert_ne!(a, b);
    let mut log = Vec::new();
    for step in 0..4 {
        match step {
            0 => numbers.send(1).unwrap(),
            1 => words.send("one").unwrap(),
            2 => numbers.send_batch([2, 3]).map(drop).unwrap(),
            _ => {}
        }
        loop {
            match select.wait_timeout(Duration::from_micros(100)) {
                Some(id) if id == a => log.extend(numbers_in.try_iter().map(|number| number.to_string())),
                Some(id) if id == b => log.extend(words_in.try_iter().map(String::from)),
                Some(id) => panic!("nobody has id {id}"),
                None => break log.push("-".into()),
            }
        }
    }
    assert_eq!(log, ["1", "-", "one", "-", "2", "3", "-", "-"]);
}

/// Claim: `ReadySet` returns each ready handle in turn and starves none, also if it is made anew for each wait.
/// Also: suite random::select::a_select_reports_the_right_handles_and_all_in_turn.
#[test]
fn every_handle_has_a_turn() {
    let mut select = ReadySet::with_capacity(100);
    let mut ends: Vec<_> = (0..100).map(|_| spsc::unbounded::<u8>()).collect();
    let ids: Vec<_> = ends.iter_mut().map(|(_, receiver)| select.add(receiver).unwrap()).collect();
    // All are reported at first, and again and again, each in its turn, whatever the lowest does.
    for _ in 0..3 {
        let mut named: Vec<_> = (0..100).map(|_| select.wait()).collect();
        named.sort_unstable();
        let mut all = ids.clone();
        all.sort_unstable();
        assert_eq!(named, all);
    }
    for (_, receiver) in &mut ends {
        assert!(receiver.try_recv().is_err());
    }
    assert_eq!((select.try_wait(), select.wait_deadline(Instant::now())), (None, None));
    for at in [70, 3, 99] {
        ends[at].0.send(1).unwrap();
    }
    let named: Vec<_> = (0..6).map(|_| select.wait()).collect();
    assert_eq!(named[..3], named[3..]);
    assert!([70, 3, 99].iter().all(|&at| named.contains(&ids[at])));
}

#[test]
fn hundreds_of_senders_are_named_when_they_have_room() {
    const SENDERS: usize = 130;
    let mut select = ReadySet::with_capacity(SENDERS);
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..SENDERS).map(|_| spsc::bounded(1)).unzip();
    let ids: Vec<_> = senders.iter_mut().map(|sender| select.add(sender).unwrap()).collect();
    for sender in &mut senders {
        assert!(sender.try_send(0).is_ok() && sender.try_send(1).is_err());
    }
    assert_eq!(select.try_wait(), None);
    // In an order that comes to every word.
    for at in (0..SENDERS).map(|number| number * 77 % SENDERS) {
        assert_eq!(receivers[at].recv(), Ok(0));
        assert_eq!((select.try_wait(), select.try_wait()), (Some(ids[at]), Some(ids[at])));
        assert!(senders[at].try_send(1).is_ok() && senders[at].try_send(2).is_err());
        assert_eq!(select.try_wait(), None);
    }
    drop(receivers);
    let named: HashSet<_> = (0..SENDERS).map(|_| select.wait()).collect();
    assert_eq!(named, ids.into_iter().collect());
}

#[test]
fn hundreds_of_shared_ends_and_timers_are_named_and_removed() {
    const EACH: usize = 130;
    let channels: Vec<_> = (0..EACH).map(|_| (mpmc::bounded::<usize>(1), timer::never())).collect();
    let mut select = ReadySet::with_capacity(3 * EACH);
    let mut ids = HashMap::new();
    for (number, ((sender, receiver), timer)) in channels.iter().enumerate() {
        sender.send(number).unwrap();
        ids.insert(select.add_shared(sender).unwrap(), ("room", number));
        ids.insert(select.add_shared(receiver).unwrap(), ("message", number));
        ids.insert(select.add_timer(timer).unwrap(), ("tick", number));
    }
    assert_eq!(ids.len(), 3 * EACH);
    let mut one_more = spsc::unbounded::<u8>().1;
    assert!(matches!(select.add(&mut one_more), Err(AttachError::IdTaken { .. })));
    let named = |select: &mut ReadySet| {
        let mut named: Vec<_> = (0..EACH).map(|_| ids[&select.wait()]).collect();
        named.sort_unstable();
        named
    };
    // There is no room, there are messages, and nothing is due: each message has its turn.
    let messages: Vec<_> = (0..EACH).map(|number| ("message", number)).collect();
    assert_eq!((named(&mut select), named(&mut select)), (messages.clone(), messages));
    channels.iter().enumerate().for_each(|(number, ((_, receiver), _))| assert_eq!(receiver.recv(), Ok(number)));
    assert_eq!(named(&mut select), (0..EACH).map(|number| ("room", number)).collect::<Vec<_>>());
    channels.iter().for_each(|((sender, _), _)| sender.send(1).unwrap());
    for (number, ((sender, receiver), timer)) in channels.iter().enumerate() {
        // Each by its own number, in the midst of the others.
        assert_eq!(select.remove_shared(receiver).map(|id| ids[&id]), Some(("message", number)));
        assert_eq!(select.remove_timer(timer).map(|id| ids[&id]), Some(("tick", number)));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(select.remove_shared(sender).map(|id| ids[&id]), Some(("room", number)));
    }
    assert_eq!(select.try_wait(), None);
    assert!(select.add(&mut one_more).is_ok());
}

#[test]
fn an_end_is_named_wherever_its_id_lies() {
    // One to four levels.
    for capacity in [31, 100, 5_000, 130_000] {
        let (_sender, mut receiver) = spsc::unbounded::<u8>();
        let mut select = ReadySet::with_capacity(capacity);
        for _ in 0..5_000 {
            let id = select.add(&mut receiver).unwrap();
            assert_eq!(select.try_wait(), Some(id));
            assert_eq!((select.remove(&mut receiver), select.try_wait()), (Some(id), None));
        }
    }
}

#[test]
fn a_select_that_is_made_anew_each_time_starves_no_handle() {
    // Two loops in step, as where a turn of a loop waits twice: a plain alternation would give each its own.
    const ENDS: usize = 3;
    let mut ends: Vec<_> = (0..ENDS).map(|_| spsc::unbounded::<u8>()).collect();
    ends.iter_mut().for_each(|(sender, _)| sender.send(1).unwrap());
    let mut named = [[0; ENDS]; 2];
    for _ in 0..3_000 {
        for named in &mut named {
            let mut select = ReadySet::new();
            let ids: Vec<_> = ends.iter_mut().map(|(_, receiver)| select.add(receiver).unwrap()).collect();
            let chosen = select.wait();
            named[ids.iter().position(|&id| id == chosen).unwrap()] += 1;
            ends.iter_mut().for_each(|(_, receiver)| assert!(select.remove(receiver).is_some()));
        }
    }
    // A thousand each, give or take.
    assert!(named.iter().flatten().all(|&times| (700..1_300).contains(&times)), "{named:?}");
}

#[test]
fn a_wait_until_a_passed_moment_still_reports_ready_handles() {
    let (mut sender, mut receiver) = spsc::unbounded();
    let mut select = ReadySet::new();
    let id = select.add(&mut receiver).unwrap();
    assert_eq!(select.wait_deadline(Instant::now()), Some(id));
    assert!(receiver.try_recv().is_err());
    assert_eq!(select.wait_deadline(Instant::now()), None);
    sender.send(1).unwrap();
    assert_eq!(select.wait_deadline(Instant::now()), Some(id));
}

#[test]
fn refusals_change_nothing() {
    let mut select = ReadySet::with_capacity(2);
    let mut ends: Vec<_> = (0..3).map(|_| spsc::unbounded::<u8>()).collect();
    let first = select.add(&mut ends[0].1).unwrap();
    assert_eq!(select.add(&mut ends[0].1), Err(AttachError::AlreadyAttached));
    select.add(&mut ends[1].1).unwrap();
    assert!(matches!(select.add(&mut ends[2].1), Err(AttachError::IdTaken { .. })));
    // One that has gone by itself makes room; and so does one that is removed.
    drop(ends.remove(0));
    assert_eq!(select.add(&mut ends[1].1), Ok(first));
    assert!(select.remove(&mut ends[0].1).is_some() && select.add(&mut ends[0].1).is_ok());
    // A receiver of another select is not touched.
    let (_sender, mut other) = spsc::unbounded::<u8>();
    let mut set = YPollset::new();
    set.attach(&mut other, 4).unwrap();
    assert_eq!((select.remove(&mut other), set.detach(&mut other), set.detach(&mut other)), (None, Some(4), None));
    let (_sender, mut lone) = spsc::unbounded::<u8>();
    assert!(!lone.detach() && select.remove(&mut lone).is_none());
}

macro_rules! for_every_end {
    ($($test:ident),* $(,)?) => {
        mod pipe { $(#[test] fn $test() { super::$test(crate::spsc::Pipe(None)) })* }
        mod funnel { $(#[test] fn $test() { super::$test(crate::mpsc::Funnel(None)) })* }
        mod exchange { $(#[test] fn $test() { super::$test(crate::mpmc::Exchange(Some(1024))) })* }
        mod open_exchange { $(#[test] fn $test() { super::$test(crate::mpmc::Exchange(None)) })* }
    };
}

for_every_end!(a_receiver_moves_between_sets_under_a_stream, the_set_may_be_gone,);

fn a_receiver_moves_between_sets_under_a_stream<E: Ends>(ends: E) {
    guarded(move || {
        const MESSAGES: usize = 20_000;
        let (mut sender, mut receiver) = ends.pair();
        let thread = thread::spawn(move || {
            let mut random = Random::new(11);
            for message in 0..MESSAGES {
                assert!(E::send(&mut sender, (message, None)));
                random.pause();
            }
            sender
        });
        let mut selects = [ReadySet::new(), ReadySet::new()];
        let (mut random, mut expected, mut at) = (Random::new(12), 0, 0);
        let mut id = selects[at].add(&mut receiver).unwrap();
        while expected < MESSAGES {
            // Waits only while there is something to come: a wake-up that is lost hangs.
            let named = selects[at].wait();
            if named != id {
                // A raise that was under way when the receiver left.
                continue;
            }
            for _ in 0..random.below(30) {
                let Ok((message, _)) = E::try_recv(&mut receiver) else { break };
                assert_eq!(message, expected);
                expected += 1;
            }
            if random.below(3) == 0 {
                assert_eq!(selects[at].remove(&mut receiver), Some(id));
                at = random.below(2);
                id = selects[at].add(&mut receiver).unwrap();
            }
        }
        drop(thread.join().unwrap());
    });
}

fn the_set_may_be_gone<E: Ends>(ends: E) {
    let (mut sender, mut receiver) = ends.pair();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    assert!(E::try_recv(&mut receiver).is_err());
    drop(set);
    assert!(receiver.detach());
    let mut select = ReadySet::new();
    let id = select.add(&mut receiver).unwrap();
    assert!(E::try_recv(&mut receiver).is_err());
    assert!(E::send(&mut sender, (5, None)));
    assert_eq!((select.wait(), E::try_recv(&mut receiver).map(|(message, _)| message)), (id, Ok(5)));
}

#[test]
fn receivers_come_and_go_while_others_are_waited_for() {
    guarded(|| {
        let mut select = ReadySet::with_capacity(64);
        let mut random = Random::new(4);
        // Each says its number so often, and goes.
        let spawn = |number: usize| {
            let (mut sender, receiver) = spsc::unbounded();
            let thread = thread::spawn(move || {
                let mut random = Random::new(number as u64);
                for said in 0..200 {
                    sender.send((number, said)).unwrap();
                    random.pause();
                }
            });
            (receiver, thread)
        };
        let mut there = Vec::new();
        let (mut made, mut heard) = (0, 0);
        while heard < 40 * 200 {
            if made < 40 && (there.len() < 3 || random.below(50) == 0) {
                let (mut receiver, thread) = spawn(made);
                let id = select.add(&mut receiver).unwrap();
                there.push((id, receiver, thread, 0));
                made += 1;
            }
            let named = select.wait();
            let Some(at) = there.iter().position(|(id, ..)| *id == named) else { continue };
            let is_over = loop {
                let (_, receiver, _, next) = &mut there[at];
                match receiver.try_recv() {
                    Ok((_, said)) => {
                        assert_eq!(said, *next);
                        (*next, heard) = (*next + 1, heard + 1);
                    }
                    Err(error) => break error.is_disconnected(),
                }
            };
            if is_over {
                let (id, mut receiver, thread, _) = there.swap_remove(at);
                // One way or the other.
                if random.below(2) == 0 {
                    assert_eq!(select.remove(&mut receiver), Some(id));
                }
                drop(receiver);
                thread.join().unwrap();
            }
        }
    });
}

/// A thread that sends this many, with gaps.
fn paced(seed: u64, messages: u64, mut send: impl FnMut(u64) + Send + 'static) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut random = Random::new(seed);
        (0..messages).for_each(|number| {
            send(number);
            random.pause();
        });
    })
}

#[test]
fn a_mailbox_beside_a_pipe() {
    guarded(|| {
        const EACH: u64 = 3_000;
        let mut mailbox = Mailbox::new();
        let (mut sender, mut receiver) = spsc::unbounded();
        let mut select = ReadySet::new();
        let (letters, numbers) = (select.add(&mut mailbox).unwrap(), select.add(&mut receiver).unwrap());
        assert_ne!(letters, numbers);
        let address = mailbox.address();
        let threads = [
            paced(1, EACH, move |number| {
                if number % 10 == 0 { address.send_priority(()) } else { address.send(()) }.unwrap();
            }),
            paced(2, EACH, move |number| sender.send(number).unwrap()),
        ];
        let (mut received, mut next, mut over) = (0, 0, [false; 2]);
        while over != [true; 2] {
            match select.wait() {
                id if id == letters => {
                    let end = loop {
                        match mailbox.receive_timeout::<()>(Duration::ZERO) {
                            Ok(()) => received += 1,
                            Err(end) => break end,
                        }
                    };
                    if end == ReceiveError::Disconnected {
                        assert_eq!(select.remove(&mut mailbox), Some(letters));
                        over[0] = true;
                    }
                }
                id if id == numbers => {
                    for number in receiver.try_iter() {
                        assert_eq!(number, next);
                        next += 1;
                    }
                    if receiver.is_disconnected() && receiver.is_empty() {
                        assert_eq!(select.remove(&mut receiver), Some(numbers));
                        over[1] = true;
                    }
                }
                id => panic!("nobody has id {id}"),
            }
        }
        assert_eq!((received, next), (EACH, EACH));
        assert_eq!(select.try_wait(), None);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}
