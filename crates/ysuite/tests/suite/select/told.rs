//! A handle whose other side is gone: a `ReadySet` names it until it has said so, and a set for as long as it is attached.

use ysuite::signal::{ReadySet, Wait, YPollset};
use ysuite::{broadcast, mailbox, mpmc, mpsc, oneshot, spsc, watch};

/// `$asked`: whether the handle `$it` says that the other side is gone.
macro_rules! told_once {
    ($other:expr, $handle:expr, $it:ident => $asked:expr) => {{
        let (mut select, mut handle) = (ReadySet::new(), $handle);
        macro_rules! ask {
            () => {{
                let $it = &mut handle;
                $asked
            }};
        }
        let id = select.add(&mut handle).unwrap();
        assert!(!ask!());
        assert_eq!(select.try_wait(), None);
        drop($other);
        // As long as nobody asks.
        assert_eq!([select.try_wait(), select.try_wait()], [Some(id); 2]);
        for _ in 0..3 {
            assert!(ask!());
            assert_eq!(select.try_wait(), None);
        }
        assert_eq!(select.remove(&mut handle), Some(id));
        assert_eq!((select.remove(&mut handle), select.try_wait()), (None, None));

        let mut set = YPollset::new();
        set.attach(&mut handle, 4).unwrap();
        assert!(ask!() && set.check().eq([4]));
    }};
}

#[test]
fn a_receiver_that_has_told_the_end_is_named_no_more() {
    macro_rules! receiving {
        ($($made:expr),*) => {$({
            let (sender, receiver) = $made;
            told_once!(sender, receiver, it => ended(it.try_recv().unwrap_err()));
            let (sender, receiver) = $made;
            told_once!(sender, receiver, it => ended(it.try_recv_batch(&mut Vec::new(), 3).unwrap_err()));
        })*};
    }
    fn ended(error: ysuite::TryRecvError) -> bool {
        error.is_disconnected()
    }
    receiving!(spsc::unbounded::<u8>(), spsc::bounded::<u8>(1), spsc::bounded::<u8>(0));
    receiving!(mpsc::unbounded::<u8>(), mpsc::bounded::<u8>(1), mpsc::bounded::<u8>(0));
    receiving!(mpmc::unbounded::<u8>(), mpmc::bounded::<u8>(1), mpmc::bounded::<u8>(0));
    let (sender, receiver) = oneshot::channel::<u8>();
    told_once!(sender, receiver, it => ended(it.try_recv().unwrap_err()));
    let (sender, mut receiver) = watch::channel(0);
    receiver.mark_unchanged();
    told_once!(sender, receiver, it => it.has_changed().is_err());
    let gone = |error: broadcast::TryRecvError| error == broadcast::TryRecvError::Disconnected;
    let (sender, receiver) = broadcast::bounded::<u8>(1);
    told_once!(sender, receiver, it => gone(it.try_recv().unwrap_err()));
    let (sender, receiver) = broadcast::lossy::<u8>(1);
    told_once!(sender, receiver, it => gone(it.try_recv_batch(&mut Vec::new(), 3).unwrap_err()));
}

/// A channel without room.
macro_rules! filled {
    ($kind:ident) => {{
        let (mut sender, receiver) = $kind::bounded(1);
        let _ = &mut sender;
        sender.send(7).unwrap();
        (sender, receiver)
    }};
}

#[test]
fn a_sender_that_has_told_the_end_is_named_no_more() {
    macro_rules! sending {
        ($($made:expr),*) => {$({
            let (sender, receiver) = $made;
            told_once!(receiver, sender, it => it.try_send(7).is_err_and(|error| error.is_disconnected()));
        })*};
    }
    macro_rules! full {
        ($($kind:ident),*) => {$({
            let (sender, receiver) = filled!($kind);
            told_once!(receiver, sender, it => it.try_reserve().unwrap_err().is_disconnected());
        })*};
    }
    sending!(filled!(spsc), filled!(mpsc), filled!(mpmc), spsc::bounded(0), mpsc::bounded(0), mpmc::bounded(0));
    full!(spsc, mpsc, mpmc);
}

/// Its id is up before as well: there is room always, or never any to reserve.
#[test]
fn a_reservation_tells_the_end_where_none_is_refused_for_room() {
    macro_rules! reserving {
        ($($made:expr),*) => {$({
            let (mut select, (mut sender, receiver)) = (ReadySet::new(), $made);
            let id = select.add(&mut sender).unwrap();
            drop(receiver);
            assert_eq!(select.try_wait(), Some(id));
            assert!(sender.try_reserve().unwrap_err().is_disconnected());
            assert_eq!(select.try_wait(), None);
        })*};
    }
    reserving!(spsc::unbounded::<u8>(), mpsc::unbounded::<u8>(), mpmc::unbounded::<u8>());
    reserving!(spsc::bounded::<u8>(0), mpsc::bounded::<u8>(0), mpmc::bounded::<u8>(0));
}

#[test]
fn what_is_left_is_named_before_the_end() {
    let (mut select, (mut sender, mut receiver)) = (ReadySet::new(), spsc::unbounded());
    let id = select.add(&mut receiver).unwrap();
    sender.send(1).unwrap();
    drop(sender);
    assert_eq!((select.wait(), receiver.try_recv()), (id, Ok(1)));
    assert_eq!(select.wait(), id);
    assert!(receiver.try_recv().is_err() && select.try_wait().is_none());

    let (sender, mut receiver) = oneshot::channel();
    let id = select.add(&mut receiver).unwrap();
    sender.send(1).unwrap();
    assert_eq!((select.wait(), receiver.try_recv()), (id, Ok(1)));
    assert_eq!(select.wait(), id);
    assert!(receiver.try_recv().is_err() && select.try_wait().is_none());
}

/// Which handle of it says so, and whether any does, the select does not see.
#[test]
fn a_side_that_was_added_by_shared_reference_is_named_once_after_its_end() {
    for bound in [Some(1), Some(0), None] {
        let (sender, receiver) = bound.map_or_else(mpmc::unbounded, mpmc::bounded::<u8>);
        let (other, mut open) = spsc::unbounded::<u8>();
        let mut select = ReadySet::new();
        let id = select.add_shared(&receiver).unwrap();
        assert_eq!(select.try_wait(), None);
        if bound == Some(1) {
            sender.send(7).unwrap();
        }
        drop(sender);
        if bound == Some(1) {
            assert_eq!([select.try_wait(), select.try_wait()], [Some(id); 2]);
            assert_eq!(receiver.try_recv(), Ok(7));
        }
        assert_eq!([select.wait_timeout(std::time::Duration::MAX), select.try_wait()], [Some(id), None]);
        // It keeps none of the others back.
        let open_id = select.add(&mut open).unwrap();
        assert_eq!((select.wait(), open.try_recv().is_err(), select.try_wait()), (open_id, true, None));
        drop(other);
        assert_eq!(select.wait(), open_id);
        assert_eq!(select.remove_shared(&receiver), Some(id));

        let (sender, receiver) = mpmc::bounded::<u8>(1);
        sender.send(7).unwrap();
        let mut select = ReadySet::new();
        let id = select.add_shared(&sender).unwrap();
        assert_eq!(select.try_wait(), None);
        drop(receiver);
        assert_eq!([select.try_wait(), select.try_wait()], [Some(id), None]);
    }
}

/// Its next address makes it receive again.
#[test]
fn a_mailbox_that_nobody_can_reach_is_named_on() {
    let (mut select, mut mailbox) = (ReadySet::new(), mailbox::Mailbox::new());
    let id = select.add(&mut mailbox).unwrap();
    for _ in 0..3 {
        assert!(mailbox.receive_timeout::<u8>(std::time::Duration::ZERO).is_err());
        assert_eq!(select.try_wait(), Some(id));
    }
    mailbox.address().send(7_u8).unwrap();
    assert_eq!((select.wait(), mailbox.receive()), (id, Ok(7_u8)));
}
