//! Threads that send to mailboxes that other threads have: what was received, by which thread, in which order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ysuite::mailbox::{Address, Builder, Crowding, LinkTerminated, Mailbox, ReceiveError};
use ysuite::receive_timeout;

use super::{Ledger, Token, operations};
use crate::support::{Random, guarded};

/// A message: its sender, its rank, and its number among these to this mailbox.
struct Letter<const SIZE: usize> {
    token: Token,
    from: usize,
    urgent: bool,
    number: usize,
    #[allow(dead_code)]
    room: [u64; SIZE],
}

/// What a mailbox has received.
#[derive(Default)]
struct History {
    /// The last number of each sender, rank, type and parity; some are requested by each of these.
    last: HashMap<(usize, bool, usize, usize), usize>,
    received: usize,
    ends: usize,
}

impl History {
    fn note<const SIZE: usize>(&mut self, letter: &Letter<SIZE>) {
        let last =
            self.last.insert((letter.from, letter.urgent, SIZE, letter.number % 2), letter.number + 1).unwrap_or(0);
        assert!(letter.number >= last, "of {}: {} after {last}", letter.from, letter.number);
        assert_eq!(letter.token.ledger.drops(letter.token.id), 0, "it is here");
        self.received += 1;
    }
}

const SENDERS: usize = 3;

fn receiving(mut mailbox: Mailbox, mut random: Random, ends_early: bool) -> History {
    let mut history = History::default();
    loop {
        let timeout = [Duration::ZERO, Duration::from_micros(20), Duration::MAX][random.below(3)];
        let most = 30 + random.below(100);
        let answer = match random.below(4) {
            // By a type, and for as long as there may be some of it at once.
            0 => {
                mailbox.receive_timeout::<Letter<0>>(timeout.min(Duration::from_micros(50))).map(|it| history.note(&it))
            }
            1 => {
                mailbox.receive_timeout::<Letter<9>>(timeout.min(Duration::from_micros(50))).map(|it| history.note(&it))
            }
            2 => receive_timeout!(mailbox, timeout.min(Duration::from_micros(50)) => {
                it: Letter<0> where it.urgent => history.note(&it),
                it: Letter<9> where it.number % 2 == 0 => history.note(&it),
            }),
            _ => receive_timeout!(mailbox, timeout => {
                it: Letter<0> => history.note(&it),
                it: Letter<9> => history.note(&it),
                _: LinkTerminated => history.ends += 1,
            }),
        };
        match answer {
            Ok(()) | Err(ReceiveError::Timeout) => {}
            Err(ReceiveError::LinkTerminated(_)) => history.ends += 1,
            Err(ReceiveError::Disconnected) if mailbox.set_aside() == 0 => break,
            // What is left is of another type.
            Err(ReceiveError::Disconnected) => {}
            Err(error) => panic!("{error}"),
        }
        if ends_early && history.received > most * 3 {
            return history;
        }
        random.pause();
    }
    for _ in 0..3 {
        assert_eq!(mailbox.receive::<()>(), Err(ReceiveError::Disconnected), "it is over for ever");
    }
    history
}

/// Returns how many messages were taken by mailboxes that lose none.
fn sending(
    from: usize,
    to: &[Address],
    ledger: &Arc<Ledger>,
    made: &AtomicUsize,
    letters: usize,
    seed: u64,
) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut clones: Vec<Address> = to.to_vec();
    let (mut numbers, mut sent) = (vec![[[0; 2]; 2]; to.len()], vec![0; to.len()]);
    for _ in 0..letters {
        let at = random.below(to.len());
        let (urgent, large) = (random.below(5) == 0, random.below(3) == 0);
        let number = &mut numbers[at][usize::from(urgent)][usize::from(large)];
        let token = Token { id: made.fetch_add(1, Ordering::Relaxed), ledger: ledger.clone() };
        let went = if large {
            let letter = Letter { token, from, urgent, number: *number, room: [7; 9] };
            if urgent { clones[at].send_priority(letter).is_ok() } else { clones[at].send(letter).is_ok() }
        } else {
            let letter = Letter { token, from, urgent, number: *number, room: [] };
            if urgent { clones[at].send_priority(letter).is_ok() } else { clones[at].send(letter).is_ok() }
        };
        *number += 1;
        sent[at] += usize::from(went);
        if random.below(20) == 0 {
            clones[at] = to[at].clone();
        }
        random.pause();
    }
    sent
}

fn round(seed: u64, letters: usize) {
    let ledger = Ledger::of(letters * SENDERS);
    let made = Arc::new(AtomicUsize::new(0));
    // The last one ends while it is sent to.
    let bounds = [
        None,
        Some(Crowding::Block),
        Some(Crowding::Error),
        Some(Crowding::DropNewest),
        Some(Crowding::DropOldest),
        None,
    ];
    let mut mailboxes: Vec<Mailbox> = bounds
        .iter()
        .map(|bound| bound.map_or_else(Builder::new, |crowding| Builder::new().bounded(4, crowding)).build())
        .collect();
    let addresses: Vec<Address> = mailboxes.iter().map(Mailbox::address).collect();
    // All are notified of its end.
    let last = addresses.len() - 1;
    mailboxes[..last].iter_mut().for_each(|mailbox| mailbox.link(&addresses[last]));
    let receivers: Vec<_> = mailboxes
        .into_iter()
        .enumerate()
        .map(|(at, mailbox)| thread::spawn(move || receiving(mailbox, Random::new(seed * 31 + at as u64), at == last)))
        .collect();
    let senders: Vec<_> = (0..SENDERS)
        .map(|from| {
            let (to, ledger, made) = (addresses.clone(), ledger.clone(), made.clone());
            let seed = seed * 17 + from as u64;
            thread::spawn(move || sending(from, &to, &ledger, &made, letters, seed))
        })
        .collect();
    drop(addresses);
    let mut sent = vec![0; last + 1];
    for sender in senders {
        let of_one = sender.join().unwrap_or_else(|_| panic!("a sender, seed {seed}"));
        sent.iter_mut().zip(of_one).for_each(|(all, some)| *all += some);
    }
    for (at, receiver) in receivers.into_iter().enumerate() {
        let history = receiver.join().unwrap_or_else(|_| panic!("receiver {at}, seed {seed}"));
        match bounds[at] {
            None | Some(Crowding::Block | Crowding::Error) if at != last => {
                assert_eq!(history.received, sent[at], "mailbox {at} loses nothing, seed {seed}");
            }
            _ => assert!(history.received <= sent[at], "mailbox {at}, seed {seed}"),
        }
        assert_eq!(history.ends, usize::from(at != last), "mailbox {at}, seed {seed}");
    }
    for id in 0..made.load(Ordering::Relaxed) {
        assert_eq!(ledger.drops(id), 1, "drops of message {id}, seed {seed}");
    }
}

/// Claim: Messages of one thread to a mailbox arrive in order, through whichever clone of the address.
/// Also: suite mailbox::order::a_threads_messages_arrive_in_order_whichever_clone_it_uses,
/// stress mailbox::blocking_receives.
#[test]
fn histories_of_many_threads_are_in_order_and_whole() {
    let letters = 1_000;
    let rounds = (operations() / (letters * SENDERS * 5)).max(1);
    (0..rounds).for_each(|seed| guarded(move || round(seed as u64, letters)));
}
