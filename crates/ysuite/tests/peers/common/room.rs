//! Room that is reserved before there is a message: the senders' permits behind one interface, and the scenarios that
//! hold for every kind.

use ysuite::{ReserveError, TryReserveError};
use ysuite::{mpmc, mpsc, spsc};

use crate::ends::{Kind, Tx};

/// Permits for several messages.
pub(crate) enum Room<'a, T> {
    Exchange(mpmc::Permits<'a, T>),
    Funnel(ysuite::Permits<'a, mpsc::Sender<T>>),
    Pipe(ysuite::Permits<'a, spsc::Sender<T>>),
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// Not now.
    Full,
    TooMany,
    Gone,
}

impl From<ReserveError> for NoRoom {
    fn from(error: ReserveError) -> Self {
        if error.is_too_many() { Self::TooMany } else { Self::Gone }
    }
}

impl From<TryReserveError> for NoRoom {
    fn from(error: TryReserveError) -> Self {
        match error {
            TryReserveError::Full => Self::Full,
            TryReserveError::TooMany => Self::TooMany,
            TryReserveError::Disconnected => Self::Gone,
        }
    }
}

impl<T> Room<'_, T> {
    /// Sends a message; false: the room has been used up, or there is no receiver.
    pub(crate) fn send(&mut self, message: T) -> bool {
        match self {
            Self::Exchange(permits) => permits.send(message).is_ok(),
            Self::Funnel(permits) => permits.send(message).is_ok(),
            Self::Pipe(permits) => permits.send(message).is_ok(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Exchange(permits) => permits.len(),
            Self::Funnel(permits) => permits.len(),
            Self::Pipe(permits) => permits.len(),
        }
    }
}

impl<T> Tx<T> {
    pub(crate) fn try_room(&mut self, places: usize) -> Result<Room<'_, T>, NoRoom> {
        Ok(match self {
            Self::Exchange(end) => Room::Exchange(end.try_reserve_many(places)?),
            Self::Funnel(end) => Room::Funnel(end.try_reserve_many(places)?),
            Self::Pipe(end) => Room::Pipe(end.try_reserve_many(places)?),
        })
    }

    pub(crate) fn room(&mut self, places: usize) -> Result<Room<'_, T>, NoRoom> {
        Ok(match self {
            Self::Exchange(end) => Room::Exchange(end.reserve_many(places)?),
            Self::Funnel(end) => Room::Funnel(end.reserve_many(places)?),
            Self::Pipe(end) => Room::Pipe(end.reserve_many(places)?),
        })
    }

    pub(crate) async fn room_async(&mut self, places: usize) -> Result<Room<'_, T>, NoRoom> {
        Ok(match self {
            Self::Exchange(end) => Room::Exchange(end.reserve_many_async(places).await?),
            Self::Funnel(end) => Room::Funnel(end.reserve_many_async(places).await?),
            Self::Pipe(end) => Room::Pipe(end.reserve_many_async(places).await?),
        })
    }
}

/// More than there can ever be is refused at once, and never waited for.
pub(crate) fn more_than_there_can_be(kind: Kind) {
    let (mut tx, _rx) = kind.open::<()>(Some(1));
    for places in [2, 1 << 30, usize::MAX] {
        assert_eq!(tx.room(places).err(), Some(NoRoom::TooMany));
        assert_eq!(tx.try_room(places).err(), Some(NoRoom::TooMany));
        let waiting = crate::support::executor::block_on(tx.room_async(places));
        assert_eq!(waiting.err(), Some(NoRoom::TooMany));
    }
}

/// Room for nothing is there even where there is no room, and as long as there is a receiver.
pub(crate) fn room_for_nothing(kind: Kind) {
    let (mut tx, rx) = kind.open(Some(1));
    for _ in 0..2 {
        assert_eq!(tx.try_room(0).map(|room| room.len()), Ok(0));
        assert_eq!(tx.room(0).map(|mut room| room.send(())), Ok(false));
        let _ = tx.try_send(());
    }
    drop(rx);
    assert_eq!(tx.try_room(0).err(), Some(NoRoom::Gone));
    assert_eq!(tx.room(0).err(), Some(NoRoom::Gone));
}

/// Room for each number of messages, used message by message, with the receiver taking each.
pub(crate) fn reserved_and_used(kind: Kind, waits: bool) {
    let (mut tx, mut rx) = kind.open(Some(100));
    for messages in 0..100 {
        let mut room = if waits { tx.room(messages) } else { tx.try_room(messages) }.unwrap();
        for message in 0..messages {
            assert!(room.send(message));
            assert_eq!(rx.recv(), Ok(message));
        }
        assert!(!room.send(1_000));
        drop(room);
        assert!(rx.try_recv().is_err());
    }
}

/// All the room is reserved, some of it used, and the rest given back: so much, and no more, can be reserved again.
pub(crate) fn used_in_part(kind: Kind) {
    for bound in (1..100).step_by(7) {
        for used in (0..bound).step_by(5) {
            let (mut tx, mut rx) = kind.open(Some(bound));
            let mut room = tx.try_room(bound).unwrap();
            assert_eq!(room.len(), bound);
            (0..used).for_each(|message| assert!(room.send(message)));
            drop(room);
            assert!(tx.try_room(1).is_ok() && tx.try_room(bound - used).is_ok());
            // Where nothing has been used that is more than there can ever be.
            assert!(matches!(tx.try_room(bound - used + 1).err(), Some(NoRoom::Full | NoRoom::TooMany)));
            assert!((0..used).all(|message| rx.recv() == Ok(message)));
            assert!(tx.try_room(bound).is_ok());
        }
    }
}

/// Nothing can be reserved without a receiver.
pub(crate) fn nobody_receives(kind: Kind) {
    let (mut tx, rx) = kind.open::<usize>(Some(100));
    drop(rx);
    assert_eq!((tx.room(10).err(), tx.try_room(10).err()), (Some(NoRoom::Gone), Some(NoRoom::Gone)));
    assert_eq!(crate::support::executor::block_on(tx.room_async(10)).err(), Some(NoRoom::Gone));
}
