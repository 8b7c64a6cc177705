//! The stress test of mailboxes: urgent and ordinary messages of several threads, which are silent after each burst
//! until all of it has arrived. So lanes of one kind are armed while the other kind flows, and all lanes are armed
//! before a sleep. One more stress test is for linked mailboxes that come and go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ysuite::mailbox::{Address, Builder, Crowding, LinkTerminated, Mailbox, ReceiveError};
use ysuite::signal::{Wait, YPollset};
use ysuite::{receive, receive_timeout};

use super::{Account, Entry, Gaps, Limits, Message, Progress, guard, rounds_with_sleeps, wait_until};

const SENDERS: usize = 2;

/// The sender's id, whether the message is urgent, and the message.
type Letter = (u16, bool, Message);

/// One way of receiving all messages; calls the function for each.
type Receive = fn(Mailbox, &mut Gaps, &mut dyn FnMut(Letter));

#[derive(Default)]
struct Arrivals {
    all: Arc<Progress>,
    each: [AtomicU64; SENDERS],
}

fn stress(name: &'static str, bound: Option<usize>, receive: Receive) {
    rounds_with_sleeps(name, Limits::ONE_ROUND, |number, account| round(name, bound, receive, number * 10, account));
}

fn round(name: &'static str, bound: Option<usize>, receive: Receive, seed: u64, account: &Arc<Account>) {
    let arrivals = Arc::new(Arrivals::default());
    guard(name, arrivals.all.clone());
    let builder = Builder::new();
    let mailbox =
        bound.map_or_else(|| builder.clone(), |bound| builder.clone().bounded(bound, Crowding::Block)).build();
    let senders: Vec<_> = (0..SENDERS)
        .map(|id| {
            let (address, arrivals, account) = (mailbox.address(), arrivals.clone(), account.clone());
            thread::spawn(move || send_bursts(id, &address, Gaps::new(seed + id as u64), &arrivals, &account))
        })
        .collect();
    let (counted, account) = (arrivals.clone(), account.clone());
    let thread = thread::spawn(move || {
        let (entry, mut gaps, mut expected) = (Entry::begin(), Gaps::new(seed + 9), [[0; 2]; SENDERS]);
        receive(mailbox, &mut gaps, &mut |(id, urgent, message)| {
            let id = usize::from(id);
            let expected = &mut expected[id][usize::from(urgent)];
            assert!(message.number >= *expected, "of sender {id}: {} after {expected}", message.number);
            *expected = message.number + 1;
            counted.each[id].fetch_add(1, Ordering::Release);
            counted.all.arrived.fetch_add(1, Ordering::Release);
        });
        entry.end(&gaps, &account);
    });
    senders.into_iter().for_each(|sender| assert!(sender.join().is_ok(), "{name}: a sending thread has failed"));
    assert!(thread.join().is_ok(), "{name}: the receiving thread has failed");
    arrivals.all.end();
}

fn send_bursts(id: usize, address: &Address, mut gaps: Gaps, arrivals: &Arrivals, account: &Account) {
    let (entry, mut sent) = (Entry::begin(), 0);
    for _ in 0..300 {
        // A chase has messages of one kind only, and is long enough for the publisher to choose the free barrier.
        let chase = gaps.random.below(2) == 0;
        let burst = 1 + if chase { 70 + gaps.random.below(60) } else { gaps.random.below(60) } as u64;
        let all_urgent = gaps.random.below(3) == 0;
        for number in sent..sent + burst {
            let urgent = if chase { all_urgent } else { gaps.random.below(4) == 0 };
            let letter: Letter = (id as u16, urgent, Message { number, behind: 0 });
            if urgent { address.send_priority(letter) } else { address.send(letter) }.expect("a mailbox");
            if chase { gaps.breathe() } else { gaps.pass() }
        }
        sent += burst;
        wait_until(|| arrivals.each[id].load(Ordering::Acquire) >= sent);
        // Long enough for the mailbox to fall asleep, or almost.
        (0..gaps.random.below(400)).for_each(|_| std::hint::spin_loop());
    }
    entry.end(&gaps, account);
}

fn blocking(mut mailbox: Mailbox, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    while let Ok(letter) = mailbox.receive_only() {
        note(letter);
        gaps.pass();
        mailbox.set_spin(gaps.spin());
    }
}

/// Asks for messages of one kind, and for those that were set aside meanwhile.
fn by_kind(mut mailbox: Mailbox, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    loop {
        let wanted = gaps.random.below(2) == 0;
        let timeout = Duration::from_micros(gaps.random.next() % 60);
        let received = receive_timeout!(mailbox, timeout => {
            letter: Letter where letter.1 == wanted => note(letter),
        });
        match received {
            Ok(()) => gaps.pass(),
            Err(ReceiveError::Timeout) => match receive!(mailbox => { letter: Letter => note(letter), }) {
                Ok(()) => {}
                Err(_) => return,
            },
            Err(_) => {
                // No message of that kind will come: those left are of the other kind.
                while let Ok(letter) = mailbox.receive_only() {
                    note(letter);
                }
                return;
            }
        }
        mailbox.set_spin(gaps.spin());
    }
}

/// Receives in a set, and now and then polls it again before all messages are received.
fn attached(mut mailbox: Mailbox, gaps: &mut Gaps, note: &mut dyn FnMut(Letter)) {
    let mut set = YPollset::new();
    set.attach(&mut mailbox, 3).expect("a free id");
    loop {
        assert!(set.wait().eq([3]));
        for _ in 0..1 + gaps.random.below(30) {
            match mailbox.receive_timeout(Duration::ZERO) {
                Ok(letter) => note(letter),
                Err(ReceiveError::Timeout) => break,
                Err(_) => return,
            }
        }
    }
}

#[test]
fn blocking_receives() {
    stress("mailbox, blocking receives", None, blocking);
}

#[test]
fn one_kind_at_a_time() {
    stress("mailbox, one kind at a time", None, by_kind);
}

#[test]
fn attached_to_a_pollset() {
    stress("mailbox, attached to a pollset", None, attached);
}

#[test]
fn with_a_bound() {
    stress("mailbox, with a bound", Some(5), blocking);
}

#[test]
fn links_that_come_and_go() {
    let progress = Arc::new(Progress::default());
    guard("mailbox, links", progress.clone());
    let mut gaps = Gaps::new(3);
    let mut mailbox = Mailbox::new();
    let start = Instant::now();
    let mut round: u64 = 0;
    while super::goes_on(round, 300, 20_000, start) {
        let back = mailbox.address();
        let mut others: Vec<Mailbox> = (0..1 + gaps.random.below(4)).map(|_| Mailbox::new()).collect();
        for at in 0..others.len() {
            let (to, next) = (others[at].address(), others[(at + 1) % others.len()].address());
            mailbox.link(&to);
            others[at].link(&next);
        }
        let (count, addresses) = (others.len(), others.iter().map(Mailbox::address).collect::<Vec<_>>());
        let thread = thread::spawn(move || {
            for other in others {
                back.send(round).expect("it waits");
                drop(other);
            }
        });
        gaps.pass();
        // Sends into mailboxes that are ending.
        addresses
            .iter()
            .for_each(|address| assert!(address.send(round).map_or_else(|back| back.is_ended(), |()| true)));
        let (mut words, mut ends) = (0, 0);
        while ends < count {
            receive!(mailbox => {
                of: u64 where *of == round => words += u64::from(of == round),
                end: LinkTerminated where addresses.contains(end.address()) => {
                    ends += 1;
                    assert!(end.address().send(round).is_err());
                    assert!(words >= ends as u64, "its messages come before its end");
                },
            })
            .expect("words and ends");
        }
        round += 1;
        progress.arrived.store(round, Ordering::Release);
        assert!(thread.join().is_ok());
    }
    progress.end();
}
