//! Memory of mailboxes: what a message takes, and what becomes of the lanes of threads, mailboxes and addresses that are
//! gone.

use std::thread;

use crate::counting::{allocations, held};
use crate::support::{calls, guarded};
use ysuite::mailbox::{Address, Builder, Crowding, Envelope, LinkTerminated, Mailbox, register, unregister};
use ysuite::receive;

/// Claim: A small mailbox message is not allocated.
#[test]
fn a_small_message_is_not_allocated() {
    let mut mailbox = Mailbox::new();
    let addresses = [mailbox.address(), mailbox.address()];
    let mut run = |rounds: usize| {
        for round in 0..rounds {
            for (number, address) in addresses.iter().enumerate() {
                address.send(round).unwrap();
                address.send((round, number, 'x')).unwrap();
                address.send("a word").unwrap();
                address.send([1, 2, round]).unwrap();
                address.send_priority(()).unwrap();
            }
            for _ in 0..10 {
                receive!(mailbox => {
                    _: [usize; 3] => (),
                    _: (usize, usize, char) => (),
                    _: () => (),
                    _: &str => (),
                    number: usize => assert_eq!(number, round),
                })
                .unwrap();
            }
        }
    };
    run(5_000);
    let before = (allocations(), calls());
    run(5_000);
    assert_eq!((allocations(), calls()), before);
}

#[test]
fn what_was_set_aside_leaves_no_room_behind() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    let mut run = |messages: u64| {
        (0..messages).for_each(|number| address.send(number).unwrap());
        address.send("after them").unwrap();
        assert_eq!(mailbox.receive(), Ok("after them"));
        (0..messages).for_each(|number| assert_eq!(mailbox.receive(), Ok(number)));
    };
    run(100);
    let before = held();
    run(100_000);
    let kept = held() - before;
    assert!(kept < 64 * 1024, "{kept} bytes after 100,000 messages were set aside");
}

#[test]
fn a_message_that_is_set_aside_is_not_allocated() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    let mut run = |rounds: u64| {
        for round in 0..rounds {
            (0..10).for_each(|_| address.send(round).unwrap());
            address.send("after them").unwrap();
            assert_eq!(mailbox.receive(), Ok("after them"));
            (0..10).for_each(|_| assert_eq!(mailbox.receive(), Ok(round)));
        }
    };
    run(2_000);
    let before = allocations();
    run(2_000);
    assert_eq!(allocations(), before);
}

#[test]
fn a_bounded_mailbox_allocates_nothing() {
    for crowding in [Crowding::Error, Crowding::DropNewest, Crowding::DropOldest] {
        let mut mailbox = Builder::new().bounded(16, crowding).build();
        let address = mailbox.address();
        let mut run = || {
            for number in 0..1_000 {
                let _ = address.send(number);
                if number % 20 == 19 {
                    (0..16).for_each(|_| assert!(mailbox.receive_only::<i32>().is_ok()));
                }
            }
        };
        run();
        let before = allocations();
        run();
        assert_eq!(allocations(), before, "{crowding:?}");
    }
}

/// Claim: A large mailbox message takes one box.
#[test]
fn a_large_message_takes_one_box() {
    let mut mailbox = Mailbox::new();
    let address = mailbox.address();
    address.send(1_u8).unwrap();
    assert_eq!(mailbox.receive(), Ok(1_u8));
    let (before, bytes) = (allocations(), held());
    address.send([1_u64; 4]).unwrap();
    address.send(u128::MAX).unwrap();
    assert_eq!(allocations(), before + if align_of::<u128>() > align_of::<usize>() { 2 } else { 1 });
    assert_eq!((mailbox.receive(), mailbox.receive()), (Ok([1_u64; 4]), Ok(u128::MAX)));
    assert_eq!(held(), bytes);
}

#[test]
fn lanes_of_mailboxes_that_have_ended_are_given_up() {
    let send_to_many = |rounds: usize| {
        for _ in 0..rounds {
            let mut mailbox = Mailbox::new();
            let address = mailbox.address();
            address.send(1_u64).unwrap();
            address.send_priority(2_u64).unwrap();
            assert_eq!(mailbox.receive(), Ok(2_u64));
        }
    };
    send_to_many(2_000);
    let before = held();
    send_to_many(20_000);
    // How many of them are kept just now depends on where the next sweep is.
    assert!(held() - before < 64 * 4096, "{} bytes are left", held() - before);
}

#[test]
fn a_lane_is_given_up_when_its_mailbox_has_ended_and_is_sent_to() {
    let round = || {
        let addresses: Vec<Address> = (0..40)
            .map(|_| Mailbox::new())
            .map(|mailbox| {
                let address = mailbox.address();
                address.send(1_u8).unwrap();
                address
            })
            .collect();
        addresses.iter().for_each(|address| assert!(address.send(1_u8).is_err()));
    };
    (0..3).for_each(|_| round());
    let before = held();
    (0..50).for_each(|_| round());
    // The thread's table may have grown once more, by the numbers that these mailboxes happen to have: a table of 128 places
    // takes 1,088 bytes more than one of 64. One lane of each round would take more than that.
    assert!(held() - before < 50 * 64, "{} bytes are left", held() - before);
}

/// Claim: Unused mailbox lanes are released.
#[test]
fn lanes_that_are_not_used_are_given_up_in_a_thread_that_sends_to_others() {
    let mut mailboxes: Vec<Mailbox> = (0..4_000).map(|_| Mailbox::new()).collect();
    let addresses: Vec<Address> = mailboxes.iter().map(Mailbox::address).collect();
    let mut each = |from: usize| {
        for at in from..from + 1_000 {
            addresses[at].send(at).unwrap();
            assert_eq!(mailboxes[at].receive_only(), Ok(at));
            // Its lane is armed, and freed when it is closed and checked.
            assert!(mailboxes[at].receive_timeout::<usize>(std::time::Duration::ZERO).is_err());
        }
    };
    let before = held();
    each(0);
    let after_first = held() - before;
    each(1_000);
    each(2_000);
    each(3_000);
    for mailbox in &mut mailboxes {
        assert!(mailbox.receive_timeout::<usize>(std::time::Duration::ZERO).is_err());
    }
    // Without that four times as many lanes would be there.
    assert!(held() - before < 3 * after_first, "{} bytes, and {after_first} after the first", held() - before);
}

#[test]
fn a_lane_that_is_used_is_kept_however_many_come_and_go() {
    let mut mailboxes: Vec<Mailbox> = (0..20).map(|_| Mailbox::new()).collect();
    let addresses: Vec<Address> = mailboxes.iter().map(Mailbox::address).collect();
    let mut run = || {
        let mut taken = 0;
        for _ in 0..40 {
            // Sweeps come with these.
            let others: Vec<Mailbox> = (0..20).map(|_| Mailbox::new()).collect();
            others.iter().for_each(|other| other.address().send(0_u8).unwrap());
            drop(others);
            let before = allocations();
            for (mailbox, address) in mailboxes.iter_mut().zip(&addresses) {
                address.send(1_u8).unwrap();
                assert_eq!(mailbox.receive(), Ok(1_u8));
            }
            taken += allocations() - before;
        }
        taken
    };
    // The first chunks of a lane are small, each four times the one before.
    (0..4).for_each(|_| {
        run();
    });
    assert_eq!(run(), 0);
}

#[test]
fn watchers_that_have_ended_are_forgotten() {
    let watched = Mailbox::new();
    let round = || {
        for _ in 0..100 {
            let mut watching = Mailbox::new();
            watching.link(&watched.address());
        }
    };
    round();
    let before = held();
    (0..10).for_each(|_| round());
    assert_eq!(held(), before);
}

#[test]
fn what_a_mailbox_has_been_told_of_is_forgotten() {
    let mut watching = Mailbox::new();
    let mut round = || {
        for _ in 0..100 {
            let watched = Mailbox::new();
            watching.link(&watched.address());
            drop(watched);
            assert!(watching.receive::<LinkTerminated>().is_ok());
        }
    };
    round();
    let before = held();
    (0..20).for_each(|_| round());
    // The lane's chunks grow a little; each of two thousand that were kept would take a kilobyte.
    assert!(held() - before < 1 << 18, "{} bytes more", held() - before);
}

#[test]
fn names_that_are_taken_away_are_forgotten() {
    let mailbox = Mailbox::new();
    let round = || {
        let names: Vec<String> = (0..100).map(|number| format!("forgotten {number}")).collect();
        let ending = Mailbox::new();
        for (number, name) in names.iter().enumerate() {
            register(name, &if number % 2 == 0 { mailbox.address() } else { ending.address() }).unwrap();
        }
        drop(ending);
        assert_eq!(names.iter().filter(|name| unregister(name).is_some()).count(), 50);
    };
    round();
    let before = held();
    (0..10).for_each(|_| round());
    assert_eq!(held(), before);
}

#[test]
fn threads_that_are_gone_leave_no_lanes() {
    guarded(|| {
        const THREADS: i64 = 300;
        let mut mailbox = Mailbox::new();
        let address = mailbox.address();
        let spawning = thread::spawn(move || {
            for number in 0..THREADS {
                let address = address.clone();
                thread::spawn(move || address.send(number).unwrap()).join().unwrap();
            }
        });
        spawning.join().unwrap();
        let before = held();
        let sum: i64 = (0..THREADS).map(|_| mailbox.receive::<i64>().unwrap()).sum();
        assert_eq!(sum, THREADS * (THREADS - 1) / 2);
        assert!(mailbox.receive::<i64>().is_err());
        // What those threads have allocated is freed here, so this thread's count falls: by a lane for each.
        assert!(held() - before < -256 * THREADS, "{} bytes", held() - before);
    });
}

#[test]
fn a_message_is_four_words_and_an_address_is_one() {
    assert_eq!(size_of::<Envelope>(), 4 * size_of::<usize>());
    assert_eq!(size_of::<Option<Address>>(), size_of::<usize>());
}
