//! Loans: memory that the sender fills in place, and that all receivers read in place.

use std::io::Read;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ysuite_shm::{
    Borrowed, Error, LoanError, LoanReceiver, LoanSender, Options, RecvTimeoutError, TryRecvError, Why, connect,
};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::LONG;

const SLOTS: usize = 4;
const BYTES: usize = 1_000;

fn name(test: &str) -> String {
    format!("test-{}-loan-{test}", std::process::id())
}

fn channel(slots: usize, receivers: usize) -> (LoanSender, Vec<LoanReceiver>) {
    let mut sender = LoanSender::without_name(slots, BYTES).unwrap();
    let receivers = (0..receivers).map(|_| LoanReceiver::from_fd(sender.seat().unwrap()).unwrap()).collect::<Vec<_>>();
    sender.serve();
    assert_eq!(sender.receivers(), receivers.len());
    (sender, receivers)
}

/// Lends a message of this length, of bytes that follow from the number; false: the pool is dry.
fn try_lend(sender: &mut LoanSender, number: u64, length: usize) -> bool {
    match sender.try_loan(length) {
        Ok(mut loan) => {
            loan.iter_mut().enumerate().for_each(|(at, byte)| *byte = byte_of(number, at));
            loan.send().unwrap();
            true
        }
        Err(error) => {
            assert_eq!(error, LoanError::Dry);
            false
        }
    }
}

fn byte_of(number: u64, at: usize) -> u8 {
    (number as usize * 31 + at * 7) as u8
}

fn is_of(borrowed: &Borrowed, number: u64, length: usize) -> bool {
    borrowed.len() == length && borrowed.to_vec().iter().enumerate().all(|(at, byte)| *byte == byte_of(number, at))
}

fn is_readable(end: &impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
    poll(&mut [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)], Some(&limit)).unwrap() == 1
}

/// Claim: What is lent arrives whole, for each length and from each place on.
#[test]
fn messages_of_all_lengths_are_read_in_all_ways() {
    let (mut sender, mut receivers) = channel(SLOTS, 1);
    let receiver = &mut receivers[0];
    for length in (0..100).chain([BYTES - 1, BYTES]) {
        assert!(try_lend(&mut sender, length as u64, length));
        let borrowed = receiver.recv().unwrap();
        assert!(is_of(&borrowed, length as u64, length) && borrowed.is_empty() == (length == 0));
        assert_eq!((borrowed.as_slice(), borrowed.as_ptr() as usize % 64), (None, 0));
        let whole = borrowed.to_vec();
        for at in 0..length + 3 {
            for room in [0, 1, 7, 8, 9, length] {
                let mut to = vec![0xee; room];
                let copied = borrowed.copy_to(at, &mut to);
                assert_eq!(copied, room.min(length.saturating_sub(at)));
                assert_eq!(to[..copied], whole[at.min(length)..][..copied], "{room} from {at} of {length}");
                assert!(to[copied..].iter().all(|byte| *byte == 0xee));
            }
            let value = whole.get(at..at + 4).map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()));
            assert_eq!(borrowed.read::<u32>(at), value);
        }
        assert_eq!(borrowed.read::<[u8; 3]>(usize::MAX), None);
        let mut reader = borrowed.reader();
        let (first, mut rest) = (reader.value::<[u8; 5]>(), Vec::new());
        assert_eq!(first.is_some(), length >= 5);
        let skipped = reader.skip(2);
        assert_eq!(reader.remaining(), length - if first.is_some() { 5 } else { 0 } - skipped);
        reader.read_to_end(&mut rest).unwrap();
        assert_eq!((rest.as_slice(), reader.remaining()), (&whole[length - rest.len()..], 0));
    }
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Head {
    number: u64,
    width: u32,
    height: u32,
}

#[test]
fn values_are_written_and_read() {
    let (mut sender, mut receivers) = channel(SLOTS, 1);
    let head = Head { number: 7, width: 640, height: 480 };
    let mut loan = sender.loan(BYTES).unwrap();
    loan.write(0, &head);
    loan.write(size_of::<Head>() + 1, &[1_u16, 2, 3]);
    loan.write(size_of::<Head>() + 7, b"text".as_slice());
    loan.truncate(size_of::<Head>() + 11);
    loan.truncate(BYTES);
    loan.send().unwrap();
    let borrowed = receivers[0].recv().unwrap();
    let mut reader = borrowed.reader();
    assert_eq!((reader.value(), reader.skip(1)), (Some(head), 1));
    assert_eq!(reader.value(), Some([1_u16, 2, 3]));
    assert_eq!((reader.value(), reader.value::<u8>()), (Some(*b"text"), None));
    let outside = std::panic::AssertUnwindSafe(|| sender.loan(8).unwrap().write(1, &7_u64));
    assert!(std::panic::catch_unwind(outside).is_err());
    // It was given back.
    assert_eq!((sender.free(), sender.held()), (SLOTS - 1, 1));
}

#[test]
fn loans_go_to_other_threads() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<Borrowed>();
    sent::<LoanSender>();
    sent::<LoanReceiver>();
}

#[test]
#[should_panic(expected = "a message of more bytes than a slot has")]
fn a_message_that_has_no_room_panics() {
    let _ = channel(SLOTS, 1).0.try_loan(BYTES + 1);
}

/// Claim: Both receivers read the same slot; it is free when the second one has dropped it too.
#[test]
fn a_slot_is_free_when_all_have_given_it_back() {
    let (mut sender, mut receivers) = channel(SLOTS, 2);
    let mut second = receivers.pop().unwrap();
    let first = &mut receivers[0];
    for number in 0..100 {
        assert!(try_lend(&mut sender, number, BYTES));
        assert_eq!((sender.free(), sender.held()), (SLOTS - 1, 0));
        let one = first.recv().unwrap();
        assert_eq!((sender.free(), sender.held()), (SLOTS - 1, 1));
        drop(one);
        assert_eq!((sender.free(), sender.held()), (SLOTS - 1, 0));
        let other = second.recv().unwrap();
        assert!(is_of(&other, number, BYTES));
        assert_eq!((sender.free(), sender.held()), (SLOTS - 1, 1));
        drop(other);
        assert_eq!((sender.free(), sender.held()), (SLOTS, 0));
    }
}

/// Claim: A receiver may hold all slots, and give them back in any order; none of them changes until then.
#[test]
fn all_slots_may_be_held() {
    for slots in [1, 2, 64, 65, 200] {
        let (mut sender, mut receivers) = channel(slots, 1);
        assert_eq!((sender.capacity(), sender.free(), sender.largest()), (slots, slots, BYTES));
        let mut held: Vec<(u64, Borrowed)> = Vec::new();
        for number in 0..3 * slots as u64 {
            if held.len() == slots {
                assert!(!try_lend(&mut sender, number, 8));
                // From the middle, so that slots come back in another order.
                let (number, borrowed) = held.swap_remove(slots / 2);
                assert!(is_of(&borrowed, number, 100));
            }
            assert!(try_lend(&mut sender, number, 100));
            held.push((number, receivers[0].recv().unwrap()));
            assert_eq!((sender.held(), sender.free()), (held.len(), slots - held.len()));
        }
        assert!(held.iter().all(|(number, borrowed)| is_of(borrowed, *number, 100)));
    }
}

/// Claim: A dry pool says so, at once or at the deadline, until a receiver gives something back or is dropped.
#[test]
fn a_dry_pool_says_so() {
    let (mut sender, mut receivers) = channel(SLOTS, 1);
    // Not received, received, and held.
    (0..SLOTS as u64).for_each(|number| assert!(try_lend(&mut sender, number, 8)));
    assert_eq!(sender.try_loan(0).unwrap_err(), LoanError::Dry);
    let held = receivers[0].recv().unwrap();
    assert_eq!(sender.loan_timeout(0, Duration::from_millis(3)).unwrap_err(), LoanError::Dry);
    assert_eq!(sender.loan_deadline(0, Instant::now()).unwrap_err(), LoanError::Dry);
    drop(held);
    drop(sender.try_loan(8).unwrap());
    assert!(try_lend(&mut sender, 9, 8) && !try_lend(&mut sender, 10, 8));
    // The one that is held outlives its receiver, and is alone not free.
    let held = receivers[0].recv().unwrap();
    receivers.clear();
    assert_eq!((sender.free(), sender.held(), sender.receivers()), (SLOTS - 1, 1, 1));
    (10..30).for_each(|number| assert!(try_lend(&mut sender, number, 8)));
    assert!(is_of(&held, 1, 8));
    drop(held);
    sender.serve();
    assert_eq!((sender.free(), sender.receivers()), (SLOTS, 0));
    // Nobody is there, and nobody can come.
    assert_eq!(sender.loan(8).unwrap_err(), LoanError::Ended(Error::Closed));
    assert_eq!(sender.try_large(8).unwrap_err(), LoanError::Ended(Error::Closed));
    let mut next = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    assert!(try_lend(&mut sender, 30, 8) && is_of(&next.recv().unwrap(), 30, 8));
}

/// One receiver does not go on: the pool is dry for all, until it is gone.
#[test]
fn who_keeps_the_pool_dry_is_named() {
    let mut sender = LoanSender::without_name(4, 64).unwrap();
    let ((first, seat), (second, other)) = (sender.numbered_seat().unwrap(), sender.numbered_seat().unwrap());
    let [mut quick, mut stopped] = [seat, other].map(|seat| LoanReceiver::from_fd(seat).unwrap());
    sender.serve();
    assert_eq!(sender.slowest(), None);
    assert!(try_lend(&mut sender, 0, 64));
    let held = stopped.recv().unwrap();
    assert_eq!(sender.slowest().map(|(_, kept)| kept), Some(1));
    let borrowed = quick.recv().unwrap();
    drop(borrowed);
    assert_eq!(sender.slowest(), Some((second, 1)));
    for number in 1..4 {
        assert!(try_lend(&mut sender, number, 64));
        drop(quick.recv().unwrap());
    }
    assert!(!try_lend(&mut sender, 4, 64));
    assert_eq!(sender.slowest(), Some((second, 4)));
    drop((held, stopped));
    while sender.slowest().is_some() {
        sender.serve();
    }
    assert!(try_lend(&mut sender, 4, 64));
    assert_eq!(sender.slowest(), Some((first, 1)));
    sender.serve();
    assert_eq!(sender.next_ended().map(|ended| ended.sender), Some(second));
}

/// Claim: A sender that waits for a slot is woken by who gives one back, in whatever thread, and by the end of who held it.
#[test]
fn a_sender_that_waits_is_woken() {
    for round in 0..60 {
        let options = if round % 4 < 2 { Options::new() } else { Options::new().careful() };
        let mut sender = options.loans_without_name(1, BYTES).unwrap();
        let mut receiver = options.loan_receiver(sender.seat().unwrap()).unwrap();
        sender.serve();
        sender.set_spin(0);
        assert!(try_lend(&mut sender, 1, 8));
        let held = receiver.recv().unwrap();
        let waiting = thread::spawn(move || sender.loan(8).map(drop));
        thread::sleep(Duration::from_micros(30 * round));
        // Before or behind its receiver.
        if round % 2 == 0 {
            drop((held, receiver));
            assert!(matches!(waiting.join().unwrap(), Ok(()) | Err(LoanError::Ended(Error::Closed))));
        } else {
            thread::spawn(move || drop(held)).join().unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(()));
        }
    }
}

/// Claim: A receiver that is dropped while it holds one slot gives back at once what it had not received.
#[test]
fn a_sender_that_waits_is_woken_by_who_leaves() {
    for round in 0..40 {
        let (mut sender, mut receivers) = channel(2, 1);
        sender.set_spin(0);
        (0..2).for_each(|number| assert!(try_lend(&mut sender, number, 8)));
        let held = receivers[0].recv().unwrap();
        let waiting = thread::spawn(move || {
            drop(sender.loan(8).unwrap());
            assert!(try_lend(&mut sender, 2, 8) && try_lend(&mut sender, 3, 8));
            (sender.free(), sender.held())
        });
        thread::sleep(Duration::from_micros(30 * round));
        receivers.clear();
        assert_eq!(waiting.join().unwrap(), (1, 1));
        assert!(is_of(&held, 0, 8));
    }
}

/// Claim: Receivers and their sender sleep for each other, and all messages arrive whole; slow receivers keep some.
#[test]
fn all_receive_all() {
    for (messages, spin) in [(20_000, 100), (2_000, 0)] {
        let (mut sender, receivers) = channel(SLOTS, 3);
        sender.set_spin(spin);
        let receiving: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(keeps, mut receiver)| {
                receiver.set_spin(spin);
                thread::spawn(move || {
                    let mut held = std::collections::VecDeque::new();
                    for number in 0..messages {
                        held.push_back((number, receiver.recv().unwrap()));
                        if held.len() > keeps {
                            let (number, borrowed) = held.pop_front().unwrap();
                            assert!(is_of(&borrowed, number, number as usize % 100));
                        }
                    }
                    receiver.recv().unwrap_err()
                })
            })
            .collect();
        for number in 0..messages {
            let mut loan = sender.loan(number as usize % 100).unwrap();
            loan.iter_mut().enumerate().for_each(|(at, byte)| *byte = byte_of(number, at));
            loan.send().unwrap();
        }
        drop(sender);
        assert!(receiving.into_iter().all(|receiver| receiver.join().unwrap() == Error::Closed));
    }
}

/// Claim: What was lent stays when the sender is dropped, and what was sent before is received.
#[test]
fn loans_outlive_their_sender() {
    let (mut sender, mut receivers) = channel(SLOTS, 1);
    (0..3).for_each(|number| assert!(try_lend(&mut sender, number, BYTES)));
    let first = receivers[0].recv().unwrap();
    drop(sender);
    let rest: Vec<_> = receivers[0].iter().collect();
    assert_eq!(receivers[0].try_recv().unwrap_err(), TryRecvError::Ended(Error::Closed));
    receivers.clear();
    assert!([first].iter().chain(&rest).zip(0..3).all(|(borrowed, number)| is_of(borrowed, number, BYTES)));
    assert_eq!(rest.len(), 2);
}

/// Claim: Who joins later receives what is sent from then on, by a name too; who is not there yet holds nothing up.
#[test]
fn receivers_come_and_go() {
    let name = name("come");
    let mut sender = LoanSender::bind(&name, SLOTS, BYTES).unwrap();
    let (_unused, socket) = (sender.seat().unwrap(), connect(&name).unwrap());
    (0..20).for_each(|number| assert!(try_lend(&mut sender, number, 8)));
    let mut receiver = LoanReceiver::from_fd(socket).unwrap();
    assert_eq!(receiver.try_recv().unwrap_err(), TryRecvError::Empty);
    sender.serve();
    assert_eq!((receiver.meet_timeout(LONG), sender.receivers()), (Ok(true), 1));
    (20..24).for_each(|number| assert!(try_lend(&mut sender, number, 8)));
    assert!(!try_lend(&mut sender, 24, 8) && is_of(&receiver.recv().unwrap(), 20, 8));
    let mut late = LoanReceiver::from_fd(connect(&name).unwrap()).unwrap();
    assert_eq!(late.recv_timeout(Duration::from_millis(1)).unwrap_err(), RecvTimeoutError::Timeout);
    assert!(try_lend(&mut sender, 25, 8));
    sender.serve();
    drop(receiver);
    assert!(try_lend(&mut sender, 26, 8));
    assert!(is_of(&late.recv_timeout(LONG).unwrap(), 26, 8));
}

/// Claim: A message in memory of its own is a slice for each receiver, for as long as any of them has it.
#[test]
fn a_large_message_is_a_slice() {
    for options in [Options::new(), Options::new().careful()] {
        let mut sender = options.loans_without_name(1, 8).unwrap();
        let mut receivers = [0; 2].map(|_| options.loan_receiver(sender.seat().unwrap()).unwrap());
        sender.serve();
        let mut all = Vec::new();
        for (number, length) in [0, 1, 4_095, 4_096, 4_097, 1_000_000].into_iter().enumerate() {
            // Between others, of which each is received in its turn.
            assert!(try_lend(&mut sender, 7, 8));
            let mut loan = sender.large(length + 1).unwrap();
            assert!(loan.len() == length + 1 && loan.iter().all(|byte| *byte == 0));
            loan.iter_mut().enumerate().for_each(|(at, byte)| *byte = byte_of(number as u64, at));
            loan.truncate(length);
            loan.send().unwrap();
            for receiver in &mut receivers {
                assert!(is_of(&receiver.recv().unwrap(), 7, 8));
                let borrowed = receiver.recv().unwrap();
                let slice = borrowed.as_slice().unwrap();
                assert!(is_of(&borrowed, number as u64, length) && slice == borrowed.to_vec());
                assert_eq!(borrowed.read::<u64>(0).is_some(), length >= 8);
                all.push((number as u64, length, borrowed));
            }
            assert_eq!(sender.free(), 1, "it has no slot");
        }
        drop((sender, receivers));
        assert!(all.iter().all(|(number, length, borrowed)| is_of(borrowed, *number, *length)));
    }
}

/// Claim: Of large messages sixteen may be on their way; the sender waits for who is slow, and is woken.
#[test]
fn large_messages_are_bounded() {
    let send = |sender: &mut LoanSender, number: u64| {
        let mut loan = sender.large(9)?;
        loan.write(1, &number);
        loan.send().map_err(LoanError::Ended)
    };
    for options in [Options::new(), Options::new().careful()] {
        let mut sender = options.loans_without_name(1, 8).unwrap();
        let mut receiver = options.loan_receiver(sender.seat().unwrap()).unwrap();
        sender.serve();
        sender.set_spin(0);
        (0..16).for_each(|number| send(&mut sender, number).unwrap());
        assert_eq!(sender.try_large(1).unwrap_err(), LoanError::Dry);
        assert_eq!(sender.large_timeout(1, Duration::from_millis(2)).unwrap_err(), LoanError::Dry);
        // Slots are others.
        assert!(try_lend(&mut sender, 0, 8));
        let sending = thread::spawn(move || {
            (16..60).for_each(|number| send(&mut sender, number).unwrap());
            sender.loan(8).map(drop)
        });
        let mut next = 0;
        receiver.set_spin(0);
        while next < 60 {
            let borrowed = receiver.recv().unwrap();
            if let Some(slice) = borrowed.as_slice() {
                assert_eq!(slice[1..], u64::to_ne_bytes(next));
                next += 1;
            }
        }
        assert_eq!(sending.join().unwrap(), Ok(()));
    }
}

/// Claim: A receiver that accepts less memory than a message has is told so, and holds up nobody.
#[test]
fn memory_that_is_too_large_is_refused() {
    let small = Options::new().largest_region(1 << 16);
    let mut sender = LoanSender::without_name(2, 8).unwrap();
    let mut receiver = small.loan_receiver(sender.seat().unwrap()).unwrap();
    sender.serve();
    assert!(try_lend(&mut sender, 1, 8));
    let held = receiver.recv().unwrap();
    sender.large(1 << 17).unwrap().send().unwrap();
    assert!(try_lend(&mut sender, 2, 8));
    for _ in 0..2 {
        assert_eq!(receiver.recv().unwrap_err(), Error::Refused(Why::Size));
    }
    drop(receiver);
    assert!(is_of(&held, 1, 8) && sender.free() == 1);
    drop(held);
    // A pool that is too large.
    let mut sender = LoanSender::without_name(2, 1 << 16).unwrap();
    let mut receiver = small.loan_receiver(sender.seat().unwrap()).unwrap();
    sender.serve();
    assert_eq!(receiver.recv().unwrap_err(), Error::Refused(Why::Size));
    for (slots, bytes) in [(0, 8), (8, 0), (32_769, 8), (32_768, usize::MAX), (1, usize::MAX - 100)] {
        assert_eq!(LoanSender::without_name(slots, bytes).unwrap_err(), Error::Refused(Why::Capacity));
    }
    let capacity = LoanSender::without_name(32_768, 8).unwrap().free();
    assert_eq!(capacity, 32_768);
}

/// Claim: A large slot that was given back is filled again before another, which is not in the caches.
#[test]
fn a_large_slot_is_used_again() {
    let mut sender = LoanSender::without_name(SLOTS, 64 << 10).unwrap();
    let mut receiver = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
    sender.serve();
    let mut lend = || {
        sender.loan(8).unwrap().send().unwrap();
        receiver.recv().unwrap()
    };
    let (first, second) = (lend(), lend());
    let places = [first.as_ptr(), second.as_ptr()];
    assert_ne!(places[0], places[1]);
    drop((first, second));
    let first = lend();
    assert_eq!(first.as_ptr(), places[0]);
    for _ in 0..10 * SLOTS {
        assert_eq!(lend().as_ptr(), places[1]);
    }
}

/// Claim: An event loop is told of a message, of a slot that is free again, and of the end.
#[test]
fn event_loops_are_told() {
    let (mut sender, mut receivers) = channel(1, 1);
    let mut receiver = receivers.pop().unwrap();
    while !receiver.arm() {
        assert!(receiver.try_recv().is_err());
    }
    assert!(!is_readable(&receiver, Duration::ZERO));
    assert!(try_lend(&mut sender, 1, 8));
    assert!(is_readable(&receiver, LONG));
    let held = receiver.try_recv().unwrap();
    while !sender.arm() {
        assert_eq!(sender.try_loan(8).unwrap_err(), LoanError::Dry);
    }
    assert!(!is_readable(&sender, Duration::ZERO));
    drop(held);
    assert!(is_readable(&sender, LONG) && !sender.arm());
    assert!(try_lend(&mut sender, 2, 8));
    (0..16).for_each(|_| sender.large(1).unwrap().send().unwrap());
    while !sender.arm_large() {
        assert_eq!(sender.try_large(8).unwrap_err(), LoanError::Dry);
    }
    assert!(!is_readable(&sender, Duration::ZERO));
    assert!(is_of(&receiver.recv().unwrap(), 2, 8) && receiver.recv().unwrap().as_slice().is_some());
    assert!(is_readable(&sender, LONG) && !sender.arm_large());
    while !sender.arm_to_serve() {
        sender.serve();
    }
    assert!(!is_readable(&sender, Duration::ZERO) && sender.free() == 1);
    let other = LoanReceiver::from_fd(sender.seat().unwrap()).unwrap();
    assert!(is_readable(&sender, LONG));
    drop((sender, other));
    assert!(receiver.iter().count() == 15 && receiver.is_disconnected());
}
