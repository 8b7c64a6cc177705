//! The competitors of `ybench competitors`: the loops for messages of each size, of the competitors here and of those in
//! `ybench-measure`. They are compiled here, so that a build of the instrument without competitors does not pay for them.

use ybench_measure::scenario::cells::drivers::{Drivers, between_many, between_two};
use ybench_measure::transport::spinning::Spinning;
use ybench_measure::transport::{Many, Transport, crossbeam, mpmc, mpsc, rtrb, spsc, std_mpsc, tokio_mpsc};

use crate::{disruptor, gil, nexus_queue, ringbuf, yring};

/// A competitor that differs from another variant only in its room has no drivers here: they would take minutes to
/// compile.
pub(crate) const fn of_two<T: Transport>() -> Option<Drivers> {
    if T::TRAITS.variant { None } else { Some(between_two::<T>()) }
}

pub(crate) const fn of_many<T: Many>() -> Option<Drivers> {
    if T::TRAITS.variant { None } else { Some(between_many::<T>()) }
}

/// All of them.
pub fn drivers() -> Vec<Drivers> {
    let mut all = crate::of_competitors();
    // Constants: code that their conditions exclude is not compiled.
    all.extend(
        const {
            [
                between_two::<spsc::Adaptive>(),
                between_two::<spsc::Sleeping>(),
                between_two::<spsc::Spinning>(),
                between_two::<spsc::Bounded>(),
                between_two::<spsc::SpinningBounded>(),
                between_two::<spsc::Roomy>(),
                between_two::<spsc::SpinningRoomy>(),
                between_two::<spsc::Batched>(),
                between_two::<spsc::BatchedBounded>(),
                between_two::<spsc::BatchedRoomy>(),
                between_many::<mpsc::Adaptive>(),
                between_many::<mpsc::Spinning>(),
                between_many::<mpsc::Bounded>(),
                between_many::<mpsc::SpinningBounded>(),
                between_many::<mpmc::Adaptive>(),
                between_many::<mpmc::Roomy>(),
                between_many::<mpmc::Spinning>(),
                between_many::<mpmc::Unbounded>(),
                between_many::<mpmc::SpinningUnbounded>(),
                between_many::<std_mpsc::Channel>(),
                between_many::<std_mpsc::SyncChannel>(),
                between_many::<crossbeam::Unbounded>(),
                between_many::<crossbeam::Bounded>(),
                between_many::<tokio_mpsc::Unbounded>(),
                between_many::<tokio_mpsc::Bounded>(),
                between_two::<Spinning<rtrb::Ring<65_536>, true>>(),
                between_two::<Spinning<rtrb::Ring<65_536>, false>>(),
                between_two::<Spinning<rtrb::Ring<1_024>, true>>(),
                between_two::<Spinning<rtrb::Ring<1_024>, false>>(),
                // Between two polls of a one-to-one ring neither way is better for all of them.
                between_two::<Spinning<gil::Ring<65_536>, false>>(),
                between_two::<Spinning<ringbuf::Ring<65_536>, false>>(),
                between_two::<Spinning<nexus_queue::Ring<65_536>, false>>(),
                between_two::<Spinning<yring::Ring<65_536>, false>>(),
                between_two::<Spinning<disruptor::Single<65_536>, false>>(),
            ]
        },
    );
    #[cfg(feature = "facades")]
    all.extend(crate::facades::drivers());
    all.extend(crate::tasks::drivers());
    all
}
