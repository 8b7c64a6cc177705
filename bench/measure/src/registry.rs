//! Every transport by name: the only place that has them all. Adding one means adding a line here.
//!
//! Transports of other packages are third-party competitors. A program that has some adds their entries before anything
//! else. From then on they are treated like those from here, and follow them in every list.

use std::sync::OnceLock;

use crate::error::Error;
use crate::scenario::process::between_processes;
use crate::scenario::{Entry, entry, of_tasks, shared};
use crate::spelling::hint;
use crate::transport::kernel::{packets, pipe, posix_mq, sysv_mq};
use crate::transport::process::{kernel, shm};
use crate::transport::spinning::Spinning;
use crate::transport::{
    Family, Traits, attached, broadcast, crossbeam, crossbeam_select, empty, hub, hub_loaded, in_epoll, mailbox,
    mailbox_types, mpmc, mpsc, mutex_condvar, mutex_condvar_any, mutex_eventfd_loop, mutex_spin, oneshot, rtrb, slowed,
    spsc, std_eventfds, std_mpsc, tasks, tcp_stream, tokio_mpsc, unix_stream, ypipe_spin, ypipe_woken,
};
use crate::warnings::Warning;

/// The transports of this crate, grouped by origin and in the order of display.
///
/// Not a static: everything that a static points to is compiled wherever its crate is, even if unused. The unit tests
/// of this crate do not use it, and are spared every loop of every transport. Each caller of this function gets those
/// loops, so it is never inlined.
#[inline(never)]
fn by_family() -> [(Family, &'static [Entry]); 5] {
    const {
        [
            (
                Family::Ours,
                &[
                    entry::<spsc::Adaptive>(),
                    entry::<spsc::Sleeping>(),
                    entry::<spsc::Spinning>(),
                    entry::<spsc::Bounded>(),
                    entry::<spsc::SpinningBounded>(),
                    entry::<spsc::Roomy>(),
                    entry::<spsc::SpinningRoomy>(),
                    entry::<spsc::Batched>(),
                    entry::<spsc::BatchedBounded>(),
                    entry::<spsc::BatchedRoomy>(),
                    entry::<in_epoll::Spsc>(),
                    shared::<mpsc::Adaptive>(),
                    shared::<mpsc::Sleeping>(),
                    shared::<mpsc::Spinning>(),
                    shared::<mpsc::Bounded>(),
                    shared::<mpsc::SpinningBounded>(),
                    shared::<in_epoll::Mpsc>(),
                    shared::<mpmc::Adaptive>(),
                    shared::<mpmc::Roomy>(),
                    shared::<mpmc::Sleeping>(),
                    shared::<mpmc::Spinning>(),
                    shared::<mpmc::Unbounded>(),
                    shared::<mpmc::SpinningUnbounded>(),
                    entry::<mpmc::Rendezvous>(),
                    shared::<in_epoll::Mpmc>(),
                    shared::<broadcast::Bounded>(),
                    shared::<mailbox::Adaptive>(),
                    shared::<mailbox::Sleeping>(),
                    shared::<mailbox::Bounded>(),
                    entry::<mailbox_types::Types>(),
                    shared::<hub::Adaptive>(),
                    shared::<hub::Sleeping>(),
                    entry::<hub_loaded::Loaded>(),
                    entry::<hub::Spsc>(),
                    shared::<attached::InPollset>(),
                    shared::<attached::InEpoll>(),
                    entry::<ypipe_woken::BySemaphore>(),
                    entry::<ypipe_woken::ByPollset>(),
                    entry::<ypipe_woken::BySocketpair>(),
                    entry::<ypipe_spin::YpipeSpin>(),
                    of_tasks::<tasks::ours::Spsc>(),
                    of_tasks::<tasks::ours::SpscBounded>(),
                    of_tasks::<tasks::ours::Mpsc>(),
                    of_tasks::<tasks::ours::MpscBounded>(),
                    of_tasks::<tasks::ours::Mpmc>(),
                    of_tasks::<tasks::ours::MpmcUnbounded>(),
                    between_processes::<shm::Pipe<shm::Adaptive>>(),
                    between_processes::<shm::Pipe<shm::Sleeping>>(),
                    between_processes::<shm::Pipe<shm::Spinning>>(),
                    between_processes::<shm::Bytes>(),
                    entry::<empty::Empty>(),
                    entry::<slowed::Slowed>(),
                ],
            ),
            (
                Family::Std,
                &[shared::<std_mpsc::Channel>(), shared::<std_mpsc::SyncChannel>(), shared::<std_eventfds::Eventfds>()],
            ),
            (
                Family::Crates,
                &[
                    entry::<oneshot::Oneshot>(),
                    shared::<crossbeam::Unbounded>(),
                    shared::<crossbeam::Bounded>(),
                    shared::<crossbeam_select::Selected>(),
                    shared::<tokio_mpsc::Unbounded>(),
                    shared::<tokio_mpsc::Bounded>(),
                    entry::<Spinning<rtrb::Ring<65_536>, true>>(),
                    entry::<Spinning<rtrb::Ring<65_536>, false>>(),
                    entry::<Spinning<rtrb::Ring<1_024>, true>>(),
                    entry::<Spinning<rtrb::Ring<1_024>, false>>(),
                    of_tasks::<tasks::tokio_mpsc::Unbounded>(),
                    of_tasks::<tasks::tokio_mpsc::Bounded>(),
                ],
            ),
            (
                Family::Kernel,
                &[
                    shared::<unix_stream::Waitall>(),
                    entry::<unix_stream::Polled>(),
                    shared::<packets::Datagrams>(),
                    shared::<packets::Seqpackets>(),
                    shared::<pipe::Pipe>(),
                    shared::<posix_mq::PosixMq>(),
                    shared::<sysv_mq::SysvMq>(),
                    entry::<tcp_stream::TcpLoopback>(),
                    between_processes::<kernel::Pipe>(),
                    between_processes::<kernel::Stream>(),
                    between_processes::<kernel::Seqpackets>(),
                    between_processes::<kernel::PosixMq>(),
                    between_processes::<kernel::SysvMq>(),
                ],
            ),
            (
                Family::Mutex,
                &[
                    shared::<mutex_condvar::Always>(),
                    shared::<mutex_condvar::IfAsleep>(),
                    shared::<mutex_condvar_any::Always>(),
                    shared::<mutex_condvar_any::IfAsleep>(),
                    shared::<mutex_eventfd_loop::Plain>(),
                    shared::<mutex_spin::Looking<mutex_spin::Pause>>(),
                    shared::<mutex_spin::Looking<mutex_spin::Yield>>(),
                    shared::<mutex_spin::Looking<mutex_spin::Usleep>>(),
                ],
            ),
        ]
    }
}

/// The transports of this crate, then the third-party ones. Fixed by the first look-up.
static ALL: OnceLock<Vec<Entry>> = OnceLock::new();

fn own() -> Vec<Entry> {
    let of = |(family, entries): (Family, &'static [Entry])| {
        entries.iter().map(move |entry| Entry { traits: Traits { family, ..entry.traits }, ..*entry })
    };
    by_family().into_iter().flat_map(of).collect()
}

/// Adds the transports of other packages, made by [`entry()`] and [`shared`]. Once, and before the first look-up.
///
/// # Errors
///
/// Refuses a name that is taken, and transports that are added too late.
pub fn welcome(guests: Vec<Entry>) -> Result<(), Error> {
    let mut all = own();
    for mut guest in guests {
        guest.traits.guest = true;
        let name = guest.traits.name;
        if all.iter().any(|entry| entry.traits.name == name) {
            return Err(Error::Refused(format!("There is a transport called '{name}' already.")));
        }
        all.push(guest);
    }
    let late = || Error::Refused("Transports can be added only once, and before the first is looked up.".to_owned());
    ALL.set(all).map_err(|_| late())
}

pub fn all() -> &'static [Entry] {
    ALL.get_or_init(own)
}

/// The transports that this machine has.
pub fn here() -> impl Iterator<Item = &'static Entry> {
    all().iter().filter(|entry| (entry.traits.available)().is_ok())
}

/// The entry of that name. For names written in the instrument itself. A test looks up each of them.
pub fn named(name: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.traits.name == name)
}

/// The transports of these names, in the order of the registry. Without names, all except the hidden ones.
///
/// # Errors
///
/// Refuses unknown names, and a choice of which this machine has none. Otherwise a transport that this machine does not
/// have is left out of each plan, with a warning.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Entry>, Error> {
    for name in names {
        if named(name).is_none() {
            return Err(Error::Refused(format!(
                "There is no transport called '{name}';{} `ybench list` names them all.",
                hint(name, all().iter().map(|entry| entry.traits.name))
            )));
        }
    }
    let wanted = |entry: &&Entry| match names {
        [] => !entry.traits.hidden,
        names => names.iter().any(|name| name == entry.traits.name),
    };
    let chosen: Vec<&Entry> = all().iter().filter(wanted).collect();
    let missing: Vec<Warning> = chosen.iter().filter_map(|entry| unavailable(entry)).collect();
    match missing.first() {
        Some(warning) if missing.len() == chosen.len() => Err(Error::Refused(warning.to_string())),
        _ => Ok(chosen),
    }
}

/// The reason why this machine does not have it.
pub fn unavailable(entry: &Entry) -> Option<Warning> {
    let cause = (entry.traits.available)().err()?;
    Some(Warning::Unavailable { name: entry.traits.name.to_owned(), cause })
}
