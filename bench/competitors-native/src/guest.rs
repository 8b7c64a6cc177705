//! The shared part of all competitors in C or C++: streams, batches and ping-pong by the loops in their own language,
//! everything else by calls from the loops in Rust.

use ybench_measure::error::Fault;
use ybench_measure::place::Place;
use ybench_measure::record::{Parameter, Quantity};
use ybench_measure::scenario::cells::drivers::{self, Drivers};
use ybench_measure::scenario::{self, Entry, carried, many, ping_pong, throughput};
use ybench_measure::stage::Timed;
use ybench_measure::transport::Shape;

use crate::ends::{Foreign, Guest};
use crate::loops::{self, brought};

/// Types by the names of their functions in the other language: for each a name, a description, and its traits in
/// addition to some common ones. Then lists of all of them. A file has one such list.
macro_rules! everybody {
    ($($kind:ident: $made:ident, $symbol:ident, $name:literal, $about:literal, { $($traits:tt)* } of $common:ident;)+) => {
        $(
            unsafe extern "C" {
                fn $symbol() -> *const [crate::table::Table; 4];
            }

            struct $kind;

            impl crate::ends::Foreign for $kind {
                const TRAITS: ybench_measure::transport::Traits =
                    ybench_measure::transport::Traits { name: $name, about: $about, $($traits)* ..$common };
                const TABLES: crate::table::Tables = $symbol;
            }
        )+

        fn listed() -> Vec<ybench_measure::scenario::Entry> {
            vec![$(crate::guest::$made::<$kind>()),+]
        }

        fn driven() -> Vec<ybench_measure::scenario::cells::drivers::Drivers> {
            vec![$(crate::guest::driven::<$kind>()),+]
        }

        #[cfg(test)]
        pub(crate) fn tried() -> Vec<crate::tests::Tried> {
            vec![$(crate::tests::tried::<$kind>()),+]
        }
    };
}
pub(crate) use everybody;

/// One sender, one receiver.
pub(crate) const fn entry<F: Foreign>() -> Entry {
    Entry {
        ping_pong: |place, bounces, until| match until {
            // Its context switches are not counted in there.
            None => Ok(loops::ping_pong::<F, 0>(place, bounces)?.into()),
            // The loop in the other language polls no flag.
            Some(_) => ping_pong::counted::<Guest<F>, usize>(place, bounces, until),
        },
        throughput: |place, messages| throughput::timed(place, messages, loops::stream::<F, 0>(messages as usize)?),
        batches: |place, messages, batch| {
            throughput::timed(place, messages, loops::batches::<F, 0>(messages as usize, batch)?)
        },
        ..scenario::entry::<Guest<F>>()
    }
}

/// Several handles on one side, or on both.
pub(crate) const fn shared<F: Foreign>() -> Entry {
    let Entry { ping_pong, throughput, batches, .. } = entry::<F>();
    Entry { ping_pong, throughput, batches, many: Some(between_many::<F>), ..scenario::shared::<Guest<F>>() }
}

/// By value in the loops of the other language, where there are some of that size. All else uses calls, in the loops of
/// Rust, where several receivers need one order of all messages.
fn between_many<F: Foreign>(place: Place, shape: Shape, parameter: Parameter, messages: u64) -> Result<Timed, Fault> {
    let size = loops::size(parameter.value).filter(|_| parameter.quantity == Quantity::BytesByValue);
    let opened = match size {
        Some(0) => loops::ends::<F, 0>,
        Some(1) => loops::ends::<F, 1>,
        Some(2) => loops::ends::<F, 2>,
        Some(3) => loops::ends::<F, 3>,
        _ if F::TRAITS.one_order || shape.receivers == 1 => {
            return many::run::<Guest<F>>(place, shape, parameter, messages);
        }
        _ => {
            let cause = "for many receivers it has loops in its own language only: 8, 24, 64 or 256 bytes by value";
            return Err(Fault::System(std::io::Error::other(cause)));
        }
    };
    let stream = &mut |messages| many::play(place, shape, opened(shape)?, messages);
    carried::in_streams(parameter, messages, stream)
}

/// Its drivers for the cases.
pub(crate) const fn driven<F: Foreign>() -> Drivers {
    drivers::between_two::<Guest<F>>().with([
        brought::<F, 0>(),
        brought::<F, 1>(),
        brought::<F, 2>(),
        brought::<F, 3>(),
    ])
}
