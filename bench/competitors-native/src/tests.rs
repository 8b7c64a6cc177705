//! The loops in C and C++ deliver every message, and detect failures: they replace the instrument's own.

use ybench_measure::error::Fault;
use ybench_measure::place::Place;
use ybench_measure::scenario::cells::drivers::BYTES;
use ybench_measure::scenario::many::{self, Seen};
use ybench_measure::scenario::throughput;
use ybench_measure::stage::Timed;
use ybench_measure::transport::{Shape, Traits};

use crate::ends::{Foreign, Held, open};
use crate::loops;

type Streamed = Result<throughput::Stream, Fault>;
type Bounced = Result<Timed, Fault>;
type Opened = std::io::Result<(Vec<Held>, Vec<Held>)>;

/// One queue of C or C++, with its loops at each size.
pub(crate) struct Tried {
    traits: Traits,
    stream: [fn(usize) -> Streamed; 4],
    batches: [fn(usize, usize) -> Streamed; 4],
    ping_pong: [fn(Place, u64) -> Bounced; 4],
    ends: [fn(Shape) -> Result<many::Ends, Fault>; 4],
    open: fn(usize, Shape) -> Opened,
}

pub(crate) fn tried<F: Foreign>() -> Tried {
    Tried {
        traits: F::TRAITS,
        stream: [loops::stream::<F, 0>, loops::stream::<F, 1>, loops::stream::<F, 2>, loops::stream::<F, 3>],
        batches: [loops::batches::<F, 0>, loops::batches::<F, 1>, loops::batches::<F, 2>, loops::batches::<F, 3>],
        ping_pong: [
            loops::ping_pong::<F, 0>,
            loops::ping_pong::<F, 1>,
            loops::ping_pong::<F, 2>,
            loops::ping_pong::<F, 3>,
        ],
        ends: [loops::ends::<F, 0>, loops::ends::<F, 1>, loops::ends::<F, 2>, loops::ends::<F, 3>],
        open: open::<F>,
    }
}

fn all() -> Vec<Tried> {
    [
        #[cfg(feature = "cpp")]
        crate::cpp::tried(),
        #[cfg(feature = "native")]
        crate::native::tried(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Each with every size that it supports.
fn everybody(check: impl Fn(&Tried, usize) -> Result<(), Fault>) {
    for tried in all() {
        let fits = |size: &usize| BYTES[*size] as usize <= (tried.traits.most_bytes)(Shape::ONE_TO_ONE);
        for size in (0..4).filter(fits) {
            check(&tried, size).unwrap_or_else(|fault| panic!("{} at size {size} {fault}", tried.traits.name));
        }
    }
}

#[test]
fn everything_that_is_streamed_or_bounced_arrives_in_order() {
    let place = Place::choose(None).unwrap();
    everybody(|tried, size| {
        throughput::timed(place, 3_000, (tried.stream[size])(3_000)?)?;
        (tried.ping_pong[size])(place, 20)?;
        if tried.traits.batches {
            // No multiple of the batch, so that the end comes both in the same batch as the last ones, and alone.
            for messages in [1_000, 1_024] {
                throughput::timed(place, messages, (tried.batches[size])(messages as usize, 64)?)?;
            }
        }
        Ok(())
    });
}

#[test]
fn everything_arrives_once_between_many() {
    let place = Place::choose(None).unwrap();
    everybody(|tried, size| {
        let traits = &tried.traits;
        let shapes = [Shape::new(3, 1), Shape::square(2), Shape::square(3), Shape::new(1, 4)];
        for shape in shapes.into_iter().filter(|shape| shape.fits(traits.senders, traits.receivers)) {
            let timed = many::play(place, shape, (tried.ends[size])(shape)?, 1_500)?;
            assert_eq!(timed.units, 1_500, "{} {shape}", traits.name);
        }
        Ok(())
    });
}

/// The sender's messages, from a first number on, with or without an end after them.
fn poured(tried: &Tried, size: usize, first: usize, count: usize, ended: bool) -> (Held, Held) {
    let (mut senders, mut receivers) = (tried.open)(size, Shape::ONE_TO_ONE).unwrap();
    let (mut sender, receiver) = (senders.pop().unwrap(), receivers.pop().unwrap());
    let (end, table) = sender.parts();
    // SAFETY: a sender of this table, which only this thread has.
    assert!(unsafe { (table.pour)(end, first, count) && (!ended || (table.finish)(end)) });
    (sender, receiver)
}

#[test]
fn what_is_lost_doubled_or_too_much_is_found() {
    everybody(|tried, size| {
        let drained = |(_sender, mut receiver): (Held, Held), count: usize| {
            let (end, table) = receiver.parts();
            // SAFETY: a receiver of this table, which only this thread has.
            let drained = unsafe { (table.drain)(end, count) }.judged();
            // SAFETY: as above.
            drained.and_then(|()| unsafe { (table.expect_end)(end) }.judged())
        };
        let name = tried.traits.name;
        drained(poured(tried, size, 0, 5, true), 5)?;
        let wrong = drained(poured(tried, size, 1, 5, true), 5);
        assert!(matches!(wrong, Err(Fault::OutOfOrder { expected: 0, received: 1 })), "{name} {wrong:?}");
        let lost = drained(poured(tried, size, 0, 4, true), 5);
        assert!(matches!(lost, Err(Fault::Lost { expected: 4 })), "{name} {lost:?}");
        let more = drained(poured(tried, size, 0, 6, true), 5);
        assert!(matches!(more, Err(Fault::TooMany { received: 5 })), "{name} {more:?}");
        Ok(())
    });
}

#[test]
fn what_is_wrong_in_batches_and_between_many_is_found() {
    everybody(|tried, size| {
        let name = tried.traits.name;
        let (_sender, mut receiver) = poured(tried, size, 2, 5, true);
        let mut seen = Seen::new(Shape::new(2, 1));
        let (end, table) = receiver.parts();
        let mut rows = crate::table::Seen::of(seen.rows());
        // SAFETY: a receiver of this table, which only this thread has; the rows are borrowed for as long.
        let gap = unsafe { (table.drain_rows)(end, &raw mut rows) }.judged();
        assert!(matches!(gap, Err(Fault::OutOfOrder { expected: 0, received: 2 })), "{name} {gap:?}");

        let (_sender, mut receiver) = poured(tried, size, 0, 4, true);
        let (end, table) = receiver.parts();
        if let Some(drain_batches) = table.drain_batches {
            let mut ended = false;
            // SAFETY: a receiver of this table, which only this thread has; it writes one truth value.
            let lost = unsafe { drain_batches(end, 5, &raw mut ended) }.judged();
            assert!(matches!(lost, Err(Fault::Lost { expected: 4 })), "{name} {lost:?}");
        }
        assert_eq!(table.drain_batches.is_some(), tried.traits.batches, "{name}");
        Ok(())
    });
}

/// Whether it is one of ours.
fn is_told(traits: &Traits) -> bool {
    traits.name.starts_with("ysuite-")
}

/// A spinning handle polls for its peer, and ours are disconnected. A sleeping one in a library without disconnection
/// would sleep on.
#[test]
fn a_handle_that_spins_or_is_disconnected_sees_that_its_peer_is_gone() {
    for tried in all().iter().filter(|tried| !tried.traits.waits.sleeps() || is_told(&tried.traits)) {
        let (sender, mut receiver) = poured(tried, 0, 0, 2, false);
        drop(sender);
        let (end, table) = receiver.parts();
        // SAFETY: a receiver of this table, which only this thread has.
        let alone = unsafe { (table.drain)(end, 3) }.judged();
        assert!(matches!(alone, Err(Fault::Disconnected { expected: 2 })), "{} {alone:?}", tried.traits.name);

        if tried.traits.bounded || is_told(&tried.traits) {
            let (mut sender, receiver) = poured(tried, 0, 0, 0, false);
            drop(receiver);
            let (end, table) = sender.parts();
            // SAFETY: a sender of this table, which only this thread has.
            assert!(!unsafe { (table.pour)(end, 0, 1_000_000) }, "{}", tried.traits.name);
        }
    }
}

/// An unsupported size is not opened, and the attempt leaves nothing behind.
#[cfg(feature = "native")]
#[test]
fn what_is_too_long_for_ours_is_refused() {
    let place = Place::choose(None).unwrap();
    for tried in crate::native::tried() {
        assert!((tried.open)(3, Shape::ONE_TO_ONE).is_err(), "{}", tried.traits.name);
        assert!((tried.stream[3])(1).is_err() && (tried.ping_pong[3])(place, 1).is_err(), "{}", tried.traits.name);
    }
}
