//! Memory of the mpsc channel: what an idle sender takes, what a stream takes, what is given back.

use std::cell::RefCell;
use std::mem::size_of;
use std::time::Duration;

use crate::counting::{allocations, at_the_next_allocation, held};
use crate::requests;
use crate::support::samples::{Bytes, Sample};
use crate::support::{Random, guarded};
use ysuite::mpsc::{self, Receiver, Sender};
use ysuite::signal::{Wait, YPollset};
use ysuite::spsc;

/// Bytes for each sender beyond the first, its own size included.
fn each<T: Sample>((sender, _receiver): (Sender<T>, Receiver<T>), senders: usize) -> usize {
    let mut all = Vec::with_capacity(senders);
    let before = held();
    (0..senders).for_each(|_| all.push(sender.clone()));
    usize::try_from(held() - before).expect("more than nothing") / senders + size_of::<Sender<T>>()
}

/// What an idle sender may take: with statistics its counts as well.
const IDLE: usize = if cfg!(feature = "statistics") { 512 + 320 } else { 512 };

#[test]
fn an_idle_sender_takes_at_most_512_bytes() {
    fn assert_small<T: Sample>() {
        for senders in [65, 962, 1_000, 1_024, 5_000] {
            for (bound, ends) in
                [(0, mpsc::unbounded::<T>()), (100, mpsc::bounded(100)), (1 << 20, mpsc::bounded(1 << 20))]
            {
                let bytes = each::<T>(ends, senders);
                println!("{bytes} bytes for each of {senders} senders of {} bytes, bound {bound}", size_of::<T>());
                assert!(bytes <= IDLE, "{bytes} bytes for each of {senders} senders, bound {bound}");
            }
        }
    }
    // Lines are longer elsewhere.
    if cfg!(all(target_pointer_width = "64", not(any(target_arch = "aarch64", target_arch = "powerpc64")))) {
        assert_small::<u64>();
        assert_small::<Bytes<1000>>();
    }
}

#[test]
fn what_most_senders_at_once_have_taken_is_kept_and_enough_for_as_many_again() {
    const SENDERS: usize = 4_000;
    for (sender, mut receiver) in [mpsc::unbounded::<u64>(), mpsc::bounded(2)] {
        let mut wave = || {
            let mut senders: Vec<_> = (0..SENDERS).map(|_| sender.clone()).collect();
            // All of them active at once.
            senders.iter_mut().for_each(|sender| sender.send(1).unwrap());
            assert_eq!(receiver.try_iter().count(), SENDERS);
            drop(senders);
            assert!(receiver.try_recv().is_err());
        };
        let before = held();
        wave();
        let kept = held() - before;
        println!("{} bytes are kept for each of {SENDERS} senders that are gone", kept / SENDERS as i64);
        assert!(kept <= 256 * SENDERS as i64, "{kept} bytes for {SENDERS}");
        (0..5).for_each(|_| wave());
        assert!(held() - before <= kept + 4096, "{} bytes more", held() - before - kept);
    }
}

/// Claim: A lane that has ended and is empty uses no memory.
#[test]
fn a_sender_that_is_gone_leaves_nothing_behind() {
    let (sender, mut receiver) = mpsc::unbounded::<u64>();
    let mut before = 0;
    for round in 0..15 {
        let mut senders: Vec<_> = (0..1_000).map(|_| sender.clone()).collect();
        for (number, sender) in senders.iter_mut().enumerate() {
            (0..number % 40).for_each(|_| sender.send(1).unwrap());
        }
        drop(senders);
        assert_eq!(receiver.try_iter().count(), 25 * (39 * 40 / 2));
        // The first round makes the table of lanes.
        if round == 0 {
            before = held();
        }
        assert_eq!(held(), before, "after {round} rounds");
    }
}

/// Claim: A stream of many senders allocates nothing.
#[test]
fn a_steady_stream_of_many_senders_allocates_nothing() {
    let (sender, mut receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..20).map(|_| sender.clone()).collect();
    let (mut batch, mut random) = (Vec::with_capacity(1_000), Random::new(1));
    let mut run = |rounds: usize| {
        for _ in 0..rounds {
            for _ in 0..random.below(10) {
                let sender = &mut senders[random.below(20)];
                if random.below(2) == 0 {
                    (0..50).for_each(|message| sender.send(message).unwrap());
                } else {
                    sender.send_batch(0..50).unwrap();
                }
            }
            let _ = receiver.try_recv_batch(&mut batch, 250);
            batch.clear();
            while receiver.try_recv().is_ok() {}
            // All lanes are armed, and raised again by the next message.
            if random.below(10) == 0 {
                let _ = receiver.recv_timeout(std::time::Duration::ZERO);
            }
        }
    };
    // Chunks grow until they are worth keeping.
    run(5_000);
    let before = allocations();
    run(5_000);
    assert_eq!(allocations(), before);
}

#[test]
fn a_backlog_that_grows_asks_the_system_seldom() {
    let (mut sender, mut receiver) = mpsc::unbounded();
    let mut run = |rounds: u64| {
        for message in 0..rounds * 4 {
            sender.send(message).unwrap();
            if message % 4 != 3 {
                receiver.recv().unwrap();
            }
        }
    };
    run(10_000);
    let asked = || requests().0 + requests().1;
    let before = asked();
    run(250_000);
    // The quarter that stays is 2 MB: some seventy great chunks, where small ones would be two hundred and fifty.
    let asked = asked() - before;
    assert!((50..=100).contains(&asked), "{asked} requests for 250,000 messages that stay");
}

/// Claim: A stream of many senders makes no system call.
#[test]
fn a_stream_makes_no_system_call() {
    let (mut one, mut receiver) = mpsc::unbounded();
    let mut two = one.clone();
    let mut run = |messages: usize| {
        for message in 0..messages {
            one.send(message).unwrap();
            two.send(message).unwrap();
            assert_eq!((receiver.recv(), receiver.recv()), (Ok(message), Ok(message)));
        }
    };
    run(50_000);
    let before = requests();
    run(50_000);
    assert_eq!(requests(), before);
}

#[test]
fn a_bounded_lane_keeps_what_it_has() {
    for capacity in [1, 7, 100, 5_000] {
        let (sender, mut receiver) = mpsc::bounded(capacity);
        let mut senders: Vec<_> = (0..3).map(|_| sender.clone()).collect();
        let mut random = Random::new(7);
        let mut run = || {
            for _ in 0..40 {
                for sender in &mut senders {
                    for message in 0..random.below(capacity + 2) {
                        if sender.try_send(message).is_err() {
                            break;
                        }
                    }
                }
                let taken = random.below(capacity * 3 + 2);
                receiver.try_iter().take(taken).for_each(drop);
            }
        };
        (0..5).for_each(|_| run());
        let before = allocations();
        (0..5).for_each(|_| run());
        assert_eq!(allocations(), before, "a bound of {capacity}");
    }
}

#[test]
fn waiting_allocates_nothing() {
    let (sender, mut receiver) = mpsc::bounded(4);
    let mut senders: Vec<_> = (0..300).map(|_| sender.clone()).collect();
    let mut set = YPollset::new();
    set.attach(&mut receiver, 0).unwrap();
    let mut run = || {
        for message in 0..3_000 {
            assert!(receiver.try_recv().is_err());
            assert!(set.check().is_empty());
            assert!(receiver.recv_timeout(std::time::Duration::ZERO).is_err());
            senders[message % 300].send(message).unwrap();
            assert!(set.wait().eq([0]));
            assert_eq!(receiver.recv(), Ok(message));
        }
    };
    (0..10).for_each(|_| run());
    let before = allocations();
    run();
    assert_eq!(allocations(), before);
}

#[test]
fn a_burst_is_given_back() {
    guarded(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let mut senders: Vec<_> = (0..3).map(|_| sender.clone()).collect();
        let before = held();
        for round in 0..3 {
            senders.iter_mut().for_each(|sender| assert_eq!(sender.send_batch(0..300_000_u64), Ok(300_000)));
            assert!(held() - before <= 3 * 300_000 * 10, "{} bytes are held", held() - before);
            assert_eq!(receiver.try_iter().count(), 900_000);
            assert!(held() - before <= 3 * 64 * 1024, "{} bytes are left after {round} rounds", held() - before);
        }
    });
}

#[test]
fn a_thread_keeps_its_lanes_of_a_few_shared_senders() {
    let mut channels: Vec<_> = (0..10)
        .map(|_| {
            let (sender, receiver) = mpsc::unbounded();
            (sender.share(), receiver)
        })
        .collect();
    let mut run = || {
        for (shared, receiver) in &mut channels {
            shared.send(1_u64).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
        }
    };
    run();
    let before = allocations();
    run();
    run();
    assert_eq!(allocations(), before);
}

#[test]
fn a_thread_keeps_few_lanes_of_shared_senders_that_it_uses_no_more() {
    let run = |channels: usize| {
        for _ in 0..channels {
            let (sender, mut receiver) = mpsc::unbounded();
            sender.share().send(1_u64).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
        }
    };
    let before = held();
    // Fewer than makes a thread search them.
    run(60);
    let few = held() - before;
    run(3_000);
    assert!(held() - before <= 4 * few, "{} bytes, where sixty lanes take {few}", held() - before);
}

#[test]
fn a_lane_goes_at_the_first_send_that_finds_no_receiver() {
    let run = || {
        let (sender, receiver) = mpsc::unbounded();
        let shared = sender.share();
        shared.send(1_u64).unwrap();
        drop((sender, receiver));
        assert!(shared.send(2).is_err());
    };
    // The thread's table is made the first time.
    (0..3).for_each(|_| run());
    let before = held();
    (0..20).for_each(|_| run());
    assert_eq!(held(), before);
}

#[test]
fn a_list_of_waiters_for_the_disconnect_is_freed_with_the_channel() {
    let run = || {
        let ((one, one_in), (other, other_in)) = (spsc::bounded::<u64>(1), mpsc::bounded::<u64>(1));
        let soon = std::time::Duration::from_nanos(1);
        assert!(!one.wait_closed_timeout(soon) && !other.wait_closed_timeout(soon));
        drop((one, one_in, other, other_in));
    };
    (0..3).for_each(|_| run());
    let before = held();
    (0..20).for_each(|_| run());
    assert_eq!(held(), before);
}

/// While the first sender that waits makes the list, the allocator lets another wait: then there are two lists, and one is
/// too many.
#[test]
fn a_list_that_another_was_quicker_to_make_goes_at_once() {
    thread_local! {
        static OTHER: RefCell<Option<Sender<u64>>> = const { RefCell::new(None) };
    }
    // A wait that is over at once needs no list.
    const LIMIT: Duration = Duration::from_millis(1);
    let run = || {
        let (one, receiver) = mpsc::unbounded();
        OTHER.with(|place| *place.borrow_mut() = Some(one.clone()));
        let before = allocations();
        at_the_next_allocation(|| {
            OTHER.with(|place| place.borrow().iter().for_each(|other| _ = other.wait_closed_timeout(LIMIT)));
        });
        assert!(!one.wait_closed_timeout(LIMIT));
        assert_eq!(allocations() - before, 3, "a list for each, and a slot of the one that stays");
        let other = OTHER.with(|place| place.borrow_mut().take());
        drop((one, other, receiver));
    };
    (0..3).for_each(|_| run());
    let before = held();
    (0..20).for_each(|_| run());
    assert_eq!(held(), before);
}

/// Ways to make a sender, and to drop it without having sent anything.
fn come_and_go_in_vain(sender: &Sender<u64>, number: u64) {
    let mut clone = match number % 4 {
        0 => sender.clone(),
        1 => sender.try_clone().expect("there are few"),
        2 => sender.downgrade().upgrade().expect("there is one"),
        _ => sender.share().sender().expect("there are few"),
    };
    if number % 3 == 0 {
        clone.write(number).unwrap();
        assert_eq!(clone.unwrite(), Some(number));
    }
}

#[test]
fn senders_that_come_and_go_in_vain_take_one_lane_while_the_receiver_never_looks() {
    guarded(|| {
        for (sender, mut receiver) in [mpsc::unbounded(), mpsc::bounded(2), mpsc::bounded_for(2, 2)] {
            (0..12).for_each(|number| come_and_go_in_vain(&sender, number));
            let (bytes, calls) = (held(), allocations());
            for _ in 0..300_000 {
                drop(sender.clone());
            }
            assert_eq!((held(), allocations()), (bytes, calls), "bytes and allocations");
            let weak = sender.downgrade();
            for _ in 0..300_000 {
                drop(weak.upgrade().expect("there is one"));
            }
            assert_eq!((held(), allocations()), (bytes, calls), "bytes and allocations of upgrades");
            (0..12_000).for_each(|number| come_and_go_in_vain(&sender, number));
            assert_eq!(held(), bytes);
            // The lane is as good as a new one.
            let mut last = sender.clone();
            last.send(7).unwrap();
            drop((last, sender));
            assert_eq!((receiver.recv(), receiver.recv().is_err()), (Ok(7), true));
        }
    });
}

/// As many at once as there are slots for their lanes, again and again, on several threads.
#[test]
fn crowds_that_come_and_go_in_vain_take_no_more_than_the_first_while_the_receiver_never_looks() {
    guarded(|| {
        let (sender, receiver) = mpsc::unbounded::<u64>();
        let crowd = || (0..60).map(|_| sender.clone()).collect::<Vec<_>>();
        drop(crowd());
        let bytes = held();
        for _ in 0..1_000 {
            drop(crowd());
        }
        assert_eq!(held(), bytes);
        // What a thread has made another may have freed: the sum counts.
        let threads: i64 = std::thread::scope(|scope| {
            let spawn = |_| {
                let sender = sender.clone();
                scope.spawn(move || {
                    let before = held();
                    (0..20_000).for_each(|number| come_and_go_in_vain(&sender, number));
                    drop(sender);
                    held() - before
                })
            };
            let threads: Vec<_> = (0..3).map(spawn).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let more = held() + threads - bytes;
        assert!(more <= 64 << 10, "{more} bytes more");
        drop(receiver);
    });
}
