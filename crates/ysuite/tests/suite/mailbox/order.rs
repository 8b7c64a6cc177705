//! Order: of one thread's messages, of urgent ones, and how long they may keep the others waiting.

use std::thread;
use std::time::Duration;

use ysuite::mailbox::{Address, Mailbox, ReceiveError, URGENT_TURN};
use ysuite::mpsc::TURN;
use ysuite::receive;

use crate::support::{Random, guarded};

#[test]
fn a_threads_messages_arrive_in_order_whichever_clone_it_uses() {
    guarded(|| {
        const EACH: usize = 3_000;
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let threads: Vec<_> = (0..4_usize)
            .map(|id| {
                let mut clones = vec![address.clone()];
                thread::spawn(move || {
                    let mut random = Random::new(id as u64);
                    for number in 0..EACH {
                        let clone = &clones[random.below(clones.len())];
                        if random.below(4) == 0 {
                            clone.send_priority((id, true, number)).unwrap();
                        } else {
                            clone.send((id, false, number)).unwrap();
                        }
                        match random.below(50) {
                            0 => clones.push(clones[0].clone()),
                            1 if clones.len() > 1 => drop(clones.swap_remove(0)),
                            2 => random.pause(),
                            _ => {}
                        }
                    }
                })
            })
            .collect();
        drop(address);
        let (mut next, mut received) = ([[0; 2]; 4], 0);
        while let Ok((id, urgent, number)) = mailbox.receive_only::<(usize, bool, usize)>() {
            let next = &mut next[id][usize::from(urgent)];
            assert!(number >= *next, "of thread {id}: {number} after {next}");
            *next = number + 1;
            received += 1;
        }
        assert_eq!(received, 4 * EACH);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn urgent_messages_overtake_and_keep_their_own_order() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    for round in 0..3 {
        for number in 0..10 {
            address.send(number).unwrap();
            address.send_priority(100 + number).unwrap();
        }
        // In the second round some have been checked before, of both kinds.
        if round == 1 {
            assert_eq!(mailbox.receive_timeout::<char>(Duration::ZERO), Err(ReceiveError::Timeout));
        }
        address.send_priority(110).unwrap();
        let all: Vec<i32> = (0..21).map(|_| mailbox.receive().unwrap()).collect();
        assert!(all.into_iter().eq((100..=110).chain(0..10)), "round {round}");
    }
}

/// Claim: Urgent and ordinary messages do not starve each other, including those that no receive matches.
#[test]
fn urgent_messages_cannot_keep_an_ordinary_one_waiting() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    (0..50).for_each(|number| address.send(number).unwrap());
    let (mut ordinary, mut in_a_row, mut longest) = (Vec::new(), 0, 0);
    while ordinary.len() < 50 {
        // There is always an urgent one.
        address.send_priority("urgent").unwrap();
        receive!(mailbox => {
            _: &str => in_a_row += 1,
            number: i32 => { ordinary.push(number); in_a_row = 0 },
        })
        .unwrap();
        longest = longest.max(in_a_row);
    }
    assert_eq!(longest, URGENT_TURN);
    assert!(ordinary.into_iter().eq(0..50));
}

#[test]
fn neither_can_unrequested_ones() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    address.send('a').unwrap();
    (0..1_000).for_each(|number| address.send(number).unwrap());
    // The turn of the ordinary ones is for those that are requested; what it checks stays in order.
    for _ in 0..5 * URGENT_TURN {
        address.send_priority("urgent").unwrap();
        assert_eq!(mailbox.receive(), Ok("urgent"));
    }
    assert_eq!(mailbox.receive(), Ok('a'));
    (0..1_000).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
}

#[test]
fn neither_can_those_that_were_looked_at_before() {
    const MANY: u32 = 2 * URGENT_TURN + 6;
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    (0..2_u32).for_each(|number| address.send(number).unwrap());
    (100..100 + MANY).for_each(|number| address.send_priority(number).unwrap());
    assert_eq!(mailbox.receive_timeout::<char>(Duration::ZERO), Err(ReceiveError::Timeout));
    assert_eq!(mailbox.set_aside(), 2 + MANY as usize);
    let all: Vec<u32> = (0..2 + MANY).map(|_| mailbox.receive().unwrap()).collect();
    let (second, third) = (100 + URGENT_TURN, 100 + 2 * URGENT_TURN);
    assert!(
        all.iter().copied().eq((100..second).chain([0]).chain(second..third).chain([1]).chain(third..100 + MANY)),
        "{all:?}"
    );
}

#[test]
fn an_ordinary_message_begins_the_urgent_ones_turn_anew_however_it_is_received() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    address.send(0_u32).unwrap();
    assert_eq!(mailbox.receive(), Ok(0_u32));
    for number in 1..URGENT_TURN {
        address.send_priority(number).unwrap();
        assert_eq!(mailbox.receive(), Ok(number));
    }
    // After a search that has found no urgent message the next ordinary one is received without any search.
    assert_eq!(mailbox.receive_timeout::<char>(Duration::ZERO), Err(ReceiveError::Timeout));
    address.send(100_u32).unwrap();
    assert_eq!(mailbox.receive(), Ok(100_u32));
    address.send(200_u32).unwrap();
    (300..302_u32).for_each(|number| address.send_priority(number).unwrap());
    let all: [u32; 3] = std::array::from_fn(|_| mailbox.receive().unwrap());
    assert_eq!(all, [300, 301, 200]);
}

#[test]
fn threads_with_many_messages_have_their_turns() {
    const EACH: usize = 5 * TURN + 7;
    let mut mailbox = Mailbox::new();
    for id in 0..3_usize {
        let address = mailbox.address();
        thread::spawn(move || (0..EACH).for_each(|number| address.send((id, number)).unwrap())).join().unwrap();
    }
    let (mut next, mut in_a_row, mut last) = ([0; 3], 0, usize::MAX);
    for _ in 0..3 * EACH {
        let (id, number) = mailbox.receive::<(usize, usize)>().unwrap();
        assert_eq!(number, next[id]);
        next[id] += 1;
        in_a_row = if id == last { in_a_row + 1 } else { 1 };
        last = id;
        let others_wait = next.iter().enumerate().any(|(other, &received)| other != id && received < EACH);
        assert!(in_a_row <= TURN || !others_wait, "{in_a_row} of one thread in a row");
    }
    assert_eq!(next, [EACH; 3]);
}

#[test]
fn thousands_of_addresses_in_one_thread() {
    guarded(|| {
        let mut mailboxes: Vec<Mailbox> = (0..3_000).map(|_| Mailbox::new()).collect();
        let addresses: Vec<Address> = mailboxes.iter().map(Mailbox::address).collect();
        let mut random = Random::new(5);
        let mut sent = vec![0_usize; addresses.len()];
        let mut received = sent.clone();
        for _ in 0..60_000 {
            let at = random.below(addresses.len());
            addresses[at].send(sent[at]).unwrap();
            sent[at] += 1;
            // Lanes come and go meanwhile; none overtakes the one before it.
            let at = random.below(addresses.len());
            if received[at] < sent[at] {
                assert_eq!(mailboxes[at].receive_only(), Ok(received[at]));
                received[at] += 1;
            }
        }
        for (at, mailbox) in mailboxes.iter_mut().enumerate() {
            (received[at]..sent[at]).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
        }
    });
}

#[test]
fn unhandled_urgent_messages_do_not_keep_the_others_waiting() {
    for aside in [false, true] {
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        address.send('a').unwrap();
        if aside {
            assert_eq!(mailbox.receive_timeout::<u8>(Duration::ZERO), Err(ReceiveError::Timeout));
        }
        (0..1_000).for_each(|number| address.send_priority(number).unwrap());
        assert_eq!(mailbox.receive(), Ok('a'));
        assert_eq!(mailbox.set_aside(), 128, "no more than its turn was checked");
        // And if there is nothing else they are all checked.
        assert_eq!(mailbox.receive_timeout::<u8>(Duration::ZERO), Err(ReceiveError::Timeout));
        assert_eq!(mailbox.set_aside(), 1_000);
        (0..1_000).for_each(|number| assert_eq!(mailbox.receive(), Ok(number)));
    }
}

#[test]
fn after_an_unrequested_ordinary_message_urgent_ones_have_their_turn_again() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    address.send("nobody asks for this").unwrap();
    address.send('o').unwrap();
    // Their turn ends with the last of these.
    (0..128).for_each(|number| address.send_priority(number).unwrap());
    address.send_priority('u').unwrap();
    assert_eq!((mailbox.receive(), mailbox.receive()), (Ok('u'), Ok('o')));
}

/// Claim: A selective receive during a flood of messages ends at its deadline.
#[test]
fn a_search_in_a_flood_ends_when_its_deadline_has_passed() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    (0..10_000).for_each(|number| address.send(number).unwrap());
    for looked in [4_096, 8_192] {
        let timed_out = mailbox.receive_timeout::<char>(Duration::from_nanos(1));
        assert_eq!((timed_out, mailbox.set_aside()), (Err(ReceiveError::Timeout), looked));
    }
    // Without a deadline it checks all of them.
    address.send('a').unwrap();
    assert_eq!((mailbox.receive(), mailbox.set_aside()), (Ok('a'), 10_000));
}

/// Claim: A mailbox lane that contains a message is kept.
#[test]
fn a_lane_with_a_message_in_it_is_kept_however_long_it_is_not_used() {
    let mut mailboxes: Vec<Mailbox> = (0..20).map(|_| Mailbox::new()).collect();
    let addresses: Vec<Address> = mailboxes.iter().map(Mailbox::address).collect();
    addresses.iter().for_each(|address| address.send(1).unwrap());
    // Sweeps enough for each lane to be found unused.
    for _ in 0..4 {
        let others: Vec<Mailbox> = (0..300).map(|_| Mailbox::new()).collect();
        others.iter().for_each(|other| other.address().send(0).unwrap());
    }
    addresses.iter().for_each(|address| address.send(2).unwrap());
    for mailbox in &mut mailboxes {
        assert_eq!((mailbox.receive(), mailbox.receive()), (Ok(1), Ok(2)));
    }
}

#[test]
fn a_search_in_a_flood_ends_when_the_time_is_up() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    (0..10_000).for_each(|number| address.send(number).unwrap());
    address.send('a').unwrap();
    for looked in [4_096, 8_192] {
        assert_eq!(mailbox.receive_timeout::<char>(Duration::ZERO), Err(ReceiveError::Timeout));
        assert_eq!(mailbox.set_aside(), looked);
    }
    assert_eq!(mailbox.receive_timeout(Duration::from_nanos(1)), Ok('a'));
    assert_eq!(mailbox.set_aside(), 10_000);
    (0..10_000).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
}

#[test]
fn a_message_is_found_after_thousands_of_unrequested_ones_which_keep_their_order() {
    // Around what a search passes over before it checks its deadline.
    for others in [4_095, 4_096, 4_097, 10_000] {
        for urgent in [false, true] {
            let mut mailbox = Mailbox::new();
            let address = mailbox.address();
            for number in 0..others {
                if urgent {
                    address.send_priority(number).unwrap();
                } else {
                    address.send(number).unwrap();
                }
            }
            if urgent {
                address.send_priority('u').unwrap();
            } else {
                address.send('u').unwrap();
            }
            assert_eq!((mailbox.receive(), mailbox.set_aside()), (Ok('u'), others));
            // From the midst of those set aside, too.
            address.send('v').unwrap();
            assert_eq!((mailbox.receive(), mailbox.set_aside()), (Ok('v'), others));
            (0..others).for_each(|number| assert_eq!(mailbox.receive_only(), Ok(number)));
            assert_eq!(mailbox.set_aside(), 0);
        }
    }
}

#[test]
fn hundreds_of_threads_have_their_turns_and_their_order() {
    const THREADS: usize = 130;
    let mut mailbox = Mailbox::new();
    let threads: Vec<_> = (0..THREADS)
        .map(|id| {
            let address = mailbox.address();
            thread::spawn(move || {
                for number in 0..20 {
                    address.send((id, number)).unwrap();
                    address.send_priority((id, 100 + number)).unwrap();
                }
            })
        })
        .collect();
    let mut next = [[0, 100]; THREADS];
    while let Ok((id, number)) = mailbox.receive_only::<(usize, i32)>() {
        let next = &mut next[id][usize::from(number >= 100)];
        assert_eq!(number, *next);
        *next += 1;
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(next, [[20, 120]; THREADS]);
}
