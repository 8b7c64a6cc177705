//! ØMQ: its own cost, and the additional cost of a bridge of `ysuite-zmq`, over each of its transports. Compared with
//! `tcp-stream` this is the nanosecond article's sentence: ØMQ adds almost nothing to TCP.
//!
//! | file | contents |
//! |---|---|
//! | `raw` | PUSH and PULL as libzmq's own guide uses them |
//! | `between` | the same between processes |
//! | `bridged` | a channel, a bridge, the same sockets, a bridge, a channel |

mod between;
mod bridged;
mod raw;

use std::sync::atomic::{AtomicUsize, Ordering};

use ybench_measure::scenario::cells::drivers::{Drivers, between_two};
use ybench_measure::scenario::process::between_processes;
use ybench_measure::scenario::{Entry, entry};
use ybench_measure::transport::{Traits, Waits};

use self::bridged::Bridged;
use self::raw::Raw;

/// The transport of a socket, as a parameter of a type.
const TCP: usize = 0;
const IPC: usize = 1;
const INPROC: usize = 2;

/// Their common properties. By value and small: messages in flight are lost when both handles are dropped. Left out
/// unless named: they are no competitors between threads.
const COMMON: Traits = Traits {
    bounded: true,
    variant: true,
    few_sizes: true,
    most_bytes: |_| 256,
    waits: Waits::Sleeps,
    ..Traits::COMMON
};

/// Lists of all of them: of their entries in the registry, and of their drivers for the cases.
macro_rules! everybody {
    ($($transport:ty,)+) => {
        pub(crate) fn entries() -> Vec<Entry> {
            vec![$(const { entry::<$transport>() },)+ const { between_processes::<between::Ipc>() }]
        }

        pub(crate) fn drivers() -> Vec<Drivers> {
            vec![$(const { between_two::<$transport>() }),+]
        }
    };
}

everybody! {
    Raw<TCP>,
    Raw<IPC>,
    Raw<INPROC>,
    Bridged<TCP, 1>,
    Bridged<IPC, 1>,
    Bridged<INPROC, 1>,
    Bridged<TCP, 256>,
    Bridged<IPC, 256>,
    Bridged<INPROC, 256>,
}

/// An address to bind: a port of the system's choice, a file, a unique name.
fn fresh_address(place: usize) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    match place {
        TCP => "tcp://127.0.0.1:*".to_owned(),
        IPC => "ipc://*".to_owned(),
        // ORDERING: Relaxed: only the number must differ.
        _ => format!("inproc://ybench.{}", NEXT.fetch_add(1, Ordering::Relaxed)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ybench_measure::place::Place;
    use ybench_measure::scenario::checks;
    use ybench_measure::stage::{Patience, with_patience};

    /// Each of them passes validation before it is timed.
    #[test]
    fn all_deliver_everything_in_order() {
        let place = Place::choose(None).unwrap();
        let patience = Patience { base: Duration::from_secs(10), ..Patience::USUAL };
        for entry in super::entries() {
            let checked = with_patience(patience, || {
                checks::in_order(&entry, place)?;
                checks::large_messages(&entry, place)?;
                checks::on_one_cpu(&entry, place.together())
            });
            assert_eq!(checked, Ok(()), "{}", entry.traits.name);
        }
    }
}
