//! Whether a transport puts the messages of several senders in one order: two take turns, and one receiver checks.

use ybench_measure::transport::{Many, Receiver, Sender, Shape, Traits, Transport};

/// A transport, and the messages of two senders that took turns, in the order received.
pub(crate) struct Tried {
    pub(crate) traits: Traits,
    pub(crate) turns: Option<fn() -> Vec<usize>>,
}

pub(crate) const TURNS: usize = 100;

pub(crate) fn of_one<T: Transport>() -> Tried {
    Tried { traits: T::TRAITS, turns: None }
}

pub(crate) fn of_several<T: Many>() -> Tried {
    Tried { traits: T::TRAITS, turns: Some(turns::<T>) }
}

fn turns<T: Many>() -> Vec<usize> {
    let (mut senders, mut receivers) = T::open_many::<usize>(Shape::new(2, 1)).unwrap();
    for number in 0..TURNS {
        senders[number % 2].send(number).unwrap();
    }
    (0..TURNS).map(|_| receivers[0].recv().unwrap()).collect()
}

/// A transport whose traits do not say so may still do it sometimes.
#[test]
fn a_transport_that_says_so_has_one_order() {
    use ybench_measure::transport::{Ends, crossbeam, mpmc, mpsc, std_mpsc, tokio_mpsc};

    let own = [
        of_several::<mpmc::Adaptive>(),
        of_several::<mpmc::Spinning>(),
        of_several::<mpmc::Unbounded>(),
        of_several::<std_mpsc::Channel>(),
        of_several::<std_mpsc::SyncChannel>(),
        of_several::<crossbeam::Unbounded>(),
        of_several::<crossbeam::Bounded>(),
        of_several::<tokio_mpsc::Unbounded>(),
        of_several::<tokio_mpsc::Bounded>(),
    ];
    #[cfg(feature = "facades")]
    let own = own.into_iter().chain(crate::facades::orders());
    let in_turn: Vec<usize> = (0..TURNS).collect();
    for tried in crate::orders().into_iter().chain(own).filter(|tried| tried.traits.one_order) {
        let Some(turns) = tried.turns.filter(|_| tried.traits.senders == Ends::Many) else { continue };
        assert_eq!(turns(), in_turn, "{}", tried.traits.name);
    }
    // A transport with lanes delivers them one after the other.
    assert_ne!(turns::<mpsc::Adaptive>(), in_turn);
}
