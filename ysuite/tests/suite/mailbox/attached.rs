//! A mailbox attached to a set of signals: its id is up while there may be a message that nobody has looked at, of
//! whichever kind, and it can leave a set and join another without losing any.

use std::io;
use std::thread;
use std::time::Duration;

use ysuite::mailbox::{Address, Builder, Crowding, Envelope, LinkTerminated, Mailbox, ReceiveError};
use ysuite::os::calls;
use ysuite::signal::{AttachError, Signal, Signaler, Wait, YPollset};

use crate::support::{Random, Tally};

const NOW: Duration = Duration::ZERO;

/// A kind of set that mailboxes can be attached to.
trait Set: Wait + Sized + 'static {
    fn make() -> Self;
    fn attach(&mut self, mailbox: &mut Mailbox, id: usize) -> Result<(), AttachError>;
    fn detach(&mut self, mailbox: &mut Mailbox) -> Option<usize>;
    fn signaler(&self) -> Signaler;

    #[track_caller]
    fn assert_up(&mut self, ids: &[usize]) {
        assert_eq!(self.check().collect::<Vec<_>>(), ids);
    }
}

macro_rules! set {
    ($set:ty, $make:expr) => {
        impl Set for $set {
            fn make() -> Self {
                $make
            }
            fn attach(&mut self, mailbox: &mut Mailbox, id: usize) -> Result<(), AttachError> {
                self.attach(mailbox, id)
            }
            fn detach(&mut self, mailbox: &mut Mailbox) -> Option<usize> {
                self.detach(mailbox)
            }
            fn signaler(&self) -> Signaler {
                self.signaler()
            }
        }
    };
}

set!(YPollset, YPollset::with_capacity(64));
#[cfg(unix)]
set!(ysuite::signal::YSocketpair, ysuite::signal::YSocketpair::with_capacity(64).unwrap());

macro_rules! for_every_set {
    ($($test:ident),* $(,)?) => {
        mod pollset { $(#[test] fn $test() { crate::support::guarded(super::$test::<ysuite::signal::YPollset>) })* }
        #[cfg(unix)]
        mod socketpair { $(#[test] fn $test() { crate::support::guarded(super::$test::<ysuite::signal::YSocketpair>) })* }
    };
}

for_every_set!(
    its_id_is_up_from_a_message_until_none_is_found,
    a_mailbox_read_half_way_is_reported_again,
    what_was_set_aside_does_not_count,
    a_search_that_has_not_seen_all_leaves_the_id_up,
    the_ends_of_others_count,
    nobody_left_to_send_is_told_until_somebody_is_there_again,
    impossible_attachments_change_nothing,
    a_dropped_mailbox_gives_its_id_back,
    detached_it_is_silent_and_keeps_its_messages,
    the_set_may_go_first,
    blocking_receives_leave_it_attached,
    nothing_is_signalled_while_it_is_read,
    it_moves_between_sets_under_a_stream,
);

/// Without a bound, and with one.
fn mailboxes() -> [Mailbox; 2] {
    [Mailbox::new(), Builder::new().bounded(100, Crowding::Block).build()]
}

/// A mailbox that has found itself empty.
#[track_caller]
fn rest(mailbox: &mut Mailbox) {
    assert_eq!(mailbox.receive_timeout::<u64>(NOW), Err(ReceiveError::Timeout));
}

fn its_id_is_up_from_a_message_until_none_is_found<S: Set>() {
    let ways: [fn(&Address, u64); 3] = [
        |address, number| address.send(number).unwrap(),
        |address, number| address.send_priority(number).unwrap(),
        |address, number| address.send_envelope(Envelope::new(number)).unwrap(),
    ];
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 3).unwrap();
        // At first too: there may be messages already.
        set.assert_up(&[3]);
        for (number, send) in (0..).zip(ways.into_iter().cycle().take(9)) {
            rest(&mut mailbox);
            set.assert_up(&[]);
            assert!(set.poll_timeout(Duration::from_micros(1)).is_empty());
            // From here, by a lane that is known, and from a thread that has none yet.
            send(&address, number);
            for _ in 0..3 {
                assert!(set.poll().eq([3]), "message {number}");
            }
            assert_eq!(mailbox.receive_timeout(NOW), Ok(number));
            rest(&mut mailbox);
            set.assert_up(&[]);
            let other = address.clone();
            thread::spawn(move || send(&other, number)).join().unwrap();
            assert!(set.poll().eq([3]));
            assert_eq!(mailbox.receive_timeout(NOW), Ok(number));
            // It does not know that it is empty before it has looked.
            set.assert_up(&[3]);
        }
    }
}

fn a_mailbox_read_half_way_is_reported_again<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 63).unwrap();
        rest(&mut mailbox);
        for number in 0..20_u64 {
            address.send_priority(number).unwrap();
            address.send(20 + number).unwrap();
        }
        for expected in 0..40_u64 {
            assert!(set.poll().eq([63]));
            assert_eq!(mailbox.receive_timeout(NOW), Ok(expected));
        }
        rest(&mut mailbox);
        set.assert_up(&[]);
    }
}

fn what_was_set_aside_does_not_count<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 0).unwrap();
        address.send("ordinary").unwrap();
        address.send_priority("urgent").unwrap();
        rest(&mut mailbox);
        set.assert_up(&[]);
        assert_eq!(mailbox.set_aside(), 2);
        // The next one is told of, and what is aside is there for whoever asks.
        address.send(1_u64).unwrap();
        set.assert_up(&[0]);
        assert_eq!(mailbox.receive_timeout(NOW), Ok("urgent"));
        assert_eq!(mailbox.receive_timeout(NOW), Ok(1_u64));
        assert_eq!(mailbox.receive_timeout(NOW), Ok("ordinary"));
        rest(&mut mailbox);
        set.assert_up(&[]);
    }
}

fn a_search_that_has_not_seen_all_leaves_the_id_up<S: Set>() {
    let (mut set, mut mailbox) = (S::make(), Mailbox::new());
    let address = mailbox.address();
    set.attach(&mut mailbox, 1).unwrap();
    (0..5_000).for_each(|number: i32| address.send(number).unwrap());
    rest(&mut mailbox);
    assert!(mailbox.set_aside() < 5_000);
    set.assert_up(&[1]);
    rest(&mut mailbox);
    assert_eq!(mailbox.set_aside(), 5_000);
    set.assert_up(&[]);
}

fn the_ends_of_others_count<S: Set>() {
    for mut mailbox in mailboxes() {
        let mut set = S::make();
        set.attach(&mut mailbox, 7).unwrap();
        let (linked, owned) = (Mailbox::new(), mailbox.spawn_linked(|mailbox| mailbox.receive::<()>().is_ok()));
        mailbox.link(&linked.address());
        rest(&mut mailbox);
        set.assert_up(&[]);
        let address = linked.address();
        thread::spawn(move || drop(linked)).join().unwrap();
        assert!(set.poll().eq([7]));
        let end: LinkTerminated = mailbox.receive_timeout(NOW).unwrap();
        assert_eq!(end.address(), &address);
        rest(&mut mailbox);
        set.assert_up(&[]);
        owned.send(()).unwrap();
        assert!(set.poll().eq([7]));
        let end: LinkTerminated = mailbox.receive_timeout(NOW).unwrap();
        assert_eq!(end.address(), &owned);
    }
}

fn nobody_left_to_send_is_told_until_somebody_is_there_again<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 2).unwrap();
        rest(&mut mailbox);
        thread::spawn(move || drop(address)).join().unwrap();
        // As a socket that is at its end stays readable.
        for _ in 0..3 {
            assert!(set.poll().eq([2]));
            assert_eq!(mailbox.receive_timeout::<u64>(NOW), Err(ReceiveError::Disconnected));
        }
        let address = mailbox.address();
        rest(&mut mailbox);
        set.assert_up(&[]);
        address.send(1_u64).unwrap();
        set.assert_up(&[2]);
    }
}

fn impossible_attachments_change_nothing<S: Set>() {
    let (mut set, mut other_set) = (S::make(), S::make());
    let [mut mailbox, mut other] = mailboxes();
    let (address, _other_address) = (mailbox.address(), other.address());
    set.attach(&mut mailbox, 3).unwrap();
    assert_eq!(set.attach(&mut mailbox, 4), Err(AttachError::AlreadyAttached));
    assert_eq!(set.attach(&mut mailbox, 3), Err(AttachError::IdTaken { id: 3 }));
    assert_eq!(other_set.attach(&mut mailbox, 4), Err(AttachError::AlreadyAttached));
    assert_eq!(set.attach(&mut other, 3), Err(AttachError::IdTaken { id: 3 }));
    let error = set.attach(&mut other, 64).unwrap_err();
    assert_eq!(error, AttachError::IdOutOfRange { id: 64, capacity: 64 });
    assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    assert_eq!((other_set.detach(&mut mailbox), set.detach(&mut other), other.detach()), (None, None, false));
    // Id 4 was not kept, and the mailbox answers to 3.
    other_set.assert_up(&[]);
    rest(&mut mailbox);
    set.assert_up(&[]);
    set.attach(&mut other, 4).unwrap();
    rest(&mut other);
    address.send(1_u64).unwrap();
    set.assert_up(&[3]);
}

fn a_dropped_mailbox_gives_its_id_back<S: Set>() {
    let mut set = S::make();
    for round in 0..4 {
        let tally = Tally::of(3);
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        set.attach(&mut mailbox, 9).unwrap();
        if round % 2 == 0 {
            rest(&mut mailbox);
        }
        address.send(tally.next()).unwrap();
        address.send_priority(tally.next()).unwrap();
        set.assert_up(&[9]);
        drop(mailbox);
        set.assert_up(&[]);
        assert!(address.send(tally.next()).is_err());
        set.assert_up(&[]);
        tally.assert_all_ended();
    }
}

fn detached_it_is_silent_and_keeps_its_messages<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut one, mut other, address) = (S::make(), S::make(), mailbox.address());
        for round in 0..6_u64 {
            one.attach(&mut mailbox, 3).unwrap();
            // Left while its id is up, or while it is armed.
            if round % 2 == 0 {
                rest(&mut mailbox);
            }
            address.send(round).unwrap();
            // By the set, or by itself.
            if round % 3 == 0 {
                assert!(mailbox.detach() && !mailbox.detach());
            } else {
                assert_eq!(one.detach(&mut mailbox), Some(3));
            }
            one.assert_up(&[]);
            let before = calls();
            address.send(round + 1).unwrap();
            address.send_priority(round + 2).unwrap();
            assert_eq!(calls(), before, "it is nobody's business");
            // The id is anybody's: raised by hand it is taken, not reported for ever.
            one.signaler().signal(3);
            one.assert_up(&[3]);
            one.assert_up(&[]);
            other.attach(&mut mailbox, 60).unwrap();
            other.assert_up(&[60]);
            for number in [round + 2, round, round + 1] {
                assert_eq!(mailbox.receive_timeout(NOW), Ok(number));
            }
            rest(&mut mailbox);
            other.assert_up(&[]);
            address.send(round).unwrap();
            other.assert_up(&[60]);
            one.assert_up(&[]);
            assert_eq!(other.detach(&mut mailbox), Some(60));
            assert_eq!(mailbox.receive_timeout(NOW), Ok(round));
        }
    }
}

fn the_set_may_go_first<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 5).unwrap();
        rest(&mut mailbox);
        drop(set);
        // It receives like any other, and blocks, and is woken.
        address.send(1_u64).unwrap();
        assert_eq!(mailbox.receive::<u64>(), Ok(1));
        let other = address.clone();
        let thread = thread::spawn(move || other.send_priority(2_u64).unwrap());
        assert_eq!(mailbox.receive::<u64>(), Ok(2));
        thread.join().unwrap();
        // And can be had by another set.
        let mut set = S::make();
        assert_eq!(set.attach(&mut mailbox, 6), Err(AttachError::AlreadyAttached));
        assert!(mailbox.detach());
        set.attach(&mut mailbox, 6).unwrap();
        rest(&mut mailbox);
        address.send(3_u64).unwrap();
        set.assert_up(&[6]);
    }
}

fn blocking_receives_leave_it_attached<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 8).unwrap();
        for number in 0..200_u64 {
            // The message is found on the way to sleep, or ends the sleep.
            let other = address.clone();
            let thread = thread::spawn(move || {
                Random::new(number).pause();
                if number % 2 == 0 { other.send(number) } else { other.send_priority(number) }.unwrap();
            });
            if number % 3 == 0 {
                let timed_out = mailbox.receive_timeout::<char>(Duration::from_micros(20));
                assert_eq!(timed_out, Err(ReceiveError::Timeout));
            }
            assert_eq!(mailbox.receive(), Ok(number));
            thread.join().unwrap();
            rest(&mut mailbox);
            set.assert_up(&[]);
            // Nothing comes, and it stays armed for the set.
            let timed_out = mailbox.receive_timeout::<u64>(Duration::from_micros(1));
            assert_eq!(timed_out, Err(ReceiveError::Timeout));
            address.send(number).unwrap();
            set.assert_up(&[8]);
            assert_eq!(mailbox.receive(), Ok(number));
        }
    }
}

fn nothing_is_signalled_while_it_is_read<S: Set>() {
    for mut mailbox in mailboxes() {
        let (mut set, address) = (S::make(), mailbox.address());
        set.attach(&mut mailbox, 4).unwrap();
        rest(&mut mailbox);
        let before = calls();
        address.send(0_u64).unwrap();
        assert!(calls() - before <= 1, "one wake-up");
        let before = calls();
        for number in 1..2_000_u64 {
            address.send(number).unwrap();
            set.assert_up(&[4]);
            assert_eq!(mailbox.receive_timeout(NOW), Ok(number - 1));
        }
        assert_eq!(calls(), before);
    }
}

fn it_moves_between_sets_under_a_stream<S: Set>() {
    const EACH: u64 = 5_000;
    for mut mailbox in mailboxes() {
        let threads: Vec<_> = (0..2)
            .map(|sender: usize| {
                let address = mailbox.address();
                thread::spawn(move || {
                    let mut random = Random::new(sender as u64);
                    for number in 0..EACH {
                        let (urgent, message) = (random.below(8) == 0, (sender, number));
                        if urgent { address.send_priority(message) } else { address.send(message) }.unwrap();
                        random.pause();
                    }
                    address
                })
            })
            .collect();
        let mut sets = [S::make(), S::make()];
        let mut seen = [vec![false; EACH as usize], vec![false; EACH as usize]];
        let (mut random, mut received, mut at) = (Random::new(3), 0, 0);
        sets[at].attach(&mut mailbox, 11).unwrap();
        while received < 2 * EACH {
            // Waits only while there is something to come: a wake-up that is lost hangs.
            drop(sets[at].poll());
            for _ in 0..random.below(30) {
                let Ok((sender, number)) = mailbox.receive_timeout::<(usize, u64)>(NOW) else { break };
                assert!(!std::mem::replace(&mut seen[sender][number as usize], true), "{number} came twice");
                received += 1;
            }
            if random.below(3) == 0 {
                assert_eq!(sets[at].detach(&mut mailbox), Some(11));
                at = random.below(2);
                sets[at].attach(&mut mailbox, 11).unwrap();
            }
        }
        threads.into_iter().for_each(|thread| drop(thread.join().unwrap()));
        assert_eq!(mailbox.receive_timeout::<(usize, u64)>(NOW), Err(ReceiveError::Disconnected));
    }
}
