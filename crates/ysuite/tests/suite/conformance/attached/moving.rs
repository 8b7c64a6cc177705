//! The suite of attached receivers: how they come to a set and leave it.

use std::io;

use ysuite::signal::{Attach, AttachError, Signal, SignalSet, Wait};

use super::{Arrivals, Ends, SetKind, assert_up, attached, send, stream, take};
use crate::support::{Random, Tally, calls, guarded};

/// Claim: A refused attachment changes nothing.
/// Also: suite select::refusals_change_nothing.
pub(crate) fn impossible_attachments_change_nothing<K: SetKind, R: Ends>(kind: K, ends: R) {
    let (mut set, mut other_set) = (kind.set(), kind.set());
    let ((mut sender, mut receiver), (_other_sender, mut other)) = (attached(ends, &mut set, 3), ends.pair());
    for id in [kind.capacity(), kind.capacity() + 1, usize::MAX] {
        let error = set.attach(&mut other, id).unwrap_err();
        assert_eq!(error, AttachError::IdOutOfRange { id, capacity: kind.capacity() });
        assert!(error.to_string().contains(&id.to_string()));
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::InvalidInput);
    }
    let taken = AttachError::IdTaken { id: 3 };
    assert_eq!(set.attach(&mut other, 3), Err(taken));
    assert_eq!(set.attach(&mut receiver, 3), Err(taken));
    assert_eq!(set.attach(&mut receiver, 4), Err(AttachError::AlreadyAttached));
    assert_eq!(other_set.attach(&mut receiver, 3), Err(AttachError::AlreadyAttached));
    for error in [taken, AttachError::AlreadyAttached] {
        assert!(!error.to_string().is_empty());
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::AlreadyExists);
    }
    // A handle cannot leave a set that it is not in.
    assert_eq!((other_set.detach(&mut receiver), set.detach(&mut other), other.detach()), (None, None, false));
    // The receiver answers to 3 where it was, and neither 4 nor an id of the other set was kept.
    assert_up(&mut other_set, &[]);
    assert_up(&mut set, &[3]);
    assert_eq!(take::<R>(&mut receiver), None);
    assert_up(&mut set, &[]);
    set.attach(&mut other, 4).unwrap();
    assert_up(&mut set, &[4]);
    assert_eq!(take::<R>(&mut other), None);
    send::<R>(&mut sender, 9);
    assert_up(&mut set, &[3]);
    assert_eq!((take::<R>(&mut receiver), take::<R>(&mut receiver)), (Some(9), None));
    assert_eq!((set.detach(&mut receiver), set.detach(&mut receiver)), (Some(3), None));
    other_set.attach(&mut receiver, 3).unwrap();
    assert_up(&mut other_set, &[3]);
}

pub(crate) fn a_refusal_gives_the_claim_back<K: SetKind, R: Ends>(kind: K, ends: R) {
    let ((mut set, signaler), mut elsewhere) = (kind.pair(), kind.set());
    for is_here in [true, false] {
        let (_sender, mut receiver) = attached(ends, if is_here { &mut set } else { &mut elsewhere }, 0);
        assert_eq!(take::<R>(&mut receiver), None);
        for _ in 0..3 {
            assert_eq!(set.attach(&mut receiver, 5), Err(AttachError::AlreadyAttached));
            signaler.signal(5);
            assert_up(&mut set, &[5]);
            // Raised by hand it is taken, and not reported for ever.
            assert_up(&mut set, &[]);
        }
        drop(attached(ends, &mut set, 5));
    }
}

/// Claim: A receiver whose attachment is refused leaves a manually raised signal of that id.
/// Also: suite attached::eventfd::pipe::readable_still_behind_a_refusal.
pub(crate) fn a_refusal_takes_no_signal_down<K: SetKind, R: Ends>(kind: K, ends: R) {
    let ((mut set, signaler), mut elsewhere) = (kind.pair(), kind.set());
    for is_here in [true, false] {
        let (_sender, mut receiver) = attached(ends, if is_here { &mut set } else { &mut elsewhere }, 0);
        assert_eq!(take::<R>(&mut receiver), None);
        for id in kind.corners().into_iter().filter(|&id| id != 0) {
            signaler.signal(id);
            assert_eq!(set.attach(&mut receiver, id), Err(AttachError::AlreadyAttached));
            assert_up(&mut set, &[id]);
            assert_up(&mut set, &[]);
        }
    }
}

pub(crate) fn a_dropped_receiver_gives_its_id_back<K: SetKind, R: Ends>(kind: K, ends: R) {
    let (mut set, signaler) = kind.pair();
    for id in kind.corners() {
        for is_idle in [false, true] {
            let tally = Tally::of(3);
            let (mut sender, mut receiver) = attached(ends, &mut set, id);
            if is_idle {
                assert_eq!(take::<R>(&mut receiver), None);
            }
            assert!(R::send(&mut sender, (0, Some(tally.next()))));
            R::send_by(&mut sender, 0, (1, Some(tally.next())));
            assert_up(&mut set, &[id]);
            drop(receiver);
            assert_up(&mut set, &[]);
            // A late message notifies nothing.
            assert!(!R::send(&mut sender, (2, Some(tally.next()))));
            drop(sender);
            assert_up(&mut set, &[]);
            tally.assert_all_ended();
            signaler.signal(id);
            assert_up(&mut set, &[id]);
            assert_up(&mut set, &[]);
        }
    }
}

/// Claim: A set can be dropped before its receivers.
/// Also: suite attached::pollset::pipe::a_receiver_whose_set_is_gone_blocks_and_is_woken,
/// suite select::funnel::the_set_may_be_gone.
pub(crate) fn the_set_may_go_first<K: SetKind, R: Ends>(kind: K, ends: R) {
    let (mut set, signaler) = kind.pair();
    let mut pairs = [7, 8].map(|id| attached(ends, &mut set, id));
    // One whose id is down, and one whose id is up.
    assert_eq!(take::<R>(&mut pairs[0].1), None);
    drop(set);
    let mut round = || {
        let before = calls();
        for number in 0..100 {
            signaler.signal(9);
            for (sender, receiver) in &mut pairs {
                send::<R>(sender, number);
                assert_eq!((take::<R>(receiver), take::<R>(receiver)), (Some(number), None));
            }
        }
        calls() - before
    };
    // A queue without a bound may map its second segment in the first round.
    let _ = round();
    assert_eq!(round(), 0, "a signal that nothing can take must not cost a system call");
    // It is attached all the same, until it is detached.
    let mut set = kind.set();
    for (sender, receiver) in &mut pairs {
        assert_eq!(set.attach(receiver, 6), Err(AttachError::AlreadyAttached));
        assert!(receiver.detach());
        set.attach(receiver, 6).unwrap();
        assert_eq!(take::<R>(receiver), None);
        send::<R>(sender, 3);
        assert_up(&mut set, &[6]);
        assert_eq!(set.detach(receiver), Some(6));
    }
}

pub(crate) fn detached_it_is_silent_and_keeps_its_messages<K: SetKind, R: Ends>(kind: K, ends: R) {
    let ((mut one, signaler), mut other) = (kind.pair(), kind.set());
    let (mut sender, mut receiver) = ends.pair();
    let last = kind.capacity() - 1;
    // The queue's second piece of memory is there, so that no message below has to ask the system for it.
    (0..50).for_each(|number| send::<R>(&mut sender, number));
    assert_eq!((0..50).find(|&number| take::<R>(&mut receiver) != Some(number)), None);
    for round in 0..6 {
        one.attach(&mut receiver, 3).unwrap();
        // Left while its id is up, or while it is armed.
        if round % 2 == 0 {
            assert_eq!(take::<R>(&mut receiver), None);
        }
        send::<R>(&mut sender, round);
        // By the set, or by itself.
        if round % 3 == 0 {
            assert!(receiver.detach() && !receiver.detach());
        } else {
            assert_eq!(one.detach(&mut receiver), Some(3));
        }
        assert_up(&mut one, &[]);
        let before = calls();
        send::<R>(&mut sender, round + 1);
        assert_eq!(calls(), before, "a receiver in no set gets no notification");
        assert_up(&mut one, &[]);
        // The id is free: raised by hand it is taken, not reported for ever.
        signaler.signal(3);
        assert_up(&mut one, &[3]);
        assert_up(&mut one, &[]);
        other.attach(&mut receiver, last).unwrap();
        assert_up(&mut other, &[last]);
        let took = [(); 3].map(|()| take::<R>(&mut receiver));
        assert_eq!(took, [Some(round), Some(round + 1), None]);
        assert_up(&mut other, &[]);
        send::<R>(&mut sender, round);
        assert_up(&mut other, &[last]);
        assert_up(&mut one, &[]);
        assert_eq!(other.detach(&mut receiver), Some(last));
        assert_eq!(take::<R>(&mut receiver), Some(round));
    }
}

pub(crate) fn a_message_from_before_the_attachment_is_told_of<K: SetKind, R: Ends>(kind: K, ends: R) {
    let mut set = kind.set();
    let (mut sender, mut receiver) = ends.pair();
    send::<R>(&mut sender, 1);
    set.attach(&mut receiver, 0).unwrap();
    assert!(set.wait().eq([0]));
    assert_eq!((take::<R>(&mut receiver), take::<R>(&mut receiver)), (Some(1), None));
    assert_up(&mut set, &[]);
}

pub(crate) fn it_moves_between_sets_under_a_stream<K: SetKind, R: Ends>(kind: K, ends: R) {
    guarded(move || {
        const EACH: usize = 3_000;
        let mut sets = [kind.set(), kind.set()];
        let (sender, mut receiver) = ends.pair();
        let threads = stream::<R>(sender, EACH, 7, false);
        let mut arrivals = Arrivals::of(threads.len(), EACH, false);
        let (mut random, mut at) = (Random::new(3), 0);
        sets[at].attach(&mut receiver, 11).unwrap();
        while !arrivals.is_whole() {
            // Waits only while there is something to come: a wake-up that is lost hangs.
            drop(sets[at].wait());
            for _ in 0..random.below(30) {
                let Ok((number, _)) = R::try_recv(&mut receiver) else { break };
                arrivals.note(number);
            }
            if random.below(3) == 0 {
                assert_eq!(sets[at].detach(&mut receiver), Some(11));
                at = random.below(2);
                sets[at].attach(&mut receiver, 11).unwrap();
            }
        }
        let _senders: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(take::<R>(&mut receiver), None);
    });
}
