//! Attached receivers: which sets and which receivers wear the suite in `conformance/attached/`, each set with each
//! receiver, and in modules of their own what concerns one kind of receiver only. The smallest receiver, in sets of every
//! size, is tested with the signalers.

#[cfg(target_os = "linux")]
mod exchange;
#[cfg(all(target_os = "linux", not(miri)))]
mod forked;
mod mailbox;

use std::task::{Context, Poll};
use std::time::Duration;

use crate::conformance::attached::{Blocking, Ends, Looked, Message};
use crate::support::Random;
use ysuite::channel::{RecvError, RecvTimeoutError, TryRecvError};
use ysuite::mailbox::{Address, Builder, Crowding, Envelope, Mailbox, ReceiveError};

/// A mailbox with a bound, or none (0).
struct Letters<const BOUND: usize>;

impl<const BOUND: usize> Ends for Letters<BOUND> {
    type Sender = Address;
    type Receiver = Mailbox;
    const WAYS: usize = 2;
    fn pair() -> (Address, Mailbox) {
        let bounded = || Builder::new().bounded(BOUND, Crowding::Block).build();
        let mailbox = if BOUND == 0 { Mailbox::new() } else { bounded() };
        (mailbox.address(), mailbox)
    }
    fn another(address: &Address) -> Option<Address> {
        Some(address.clone())
    }
    fn send(address: &mut Address, message: Message) -> bool {
        Address::send(address, message).is_ok()
    }
    fn send_by(address: &mut Address, way: usize, message: Message) {
        match way {
            0 => address.send_priority(message).unwrap(),
            _ => address.send_envelope(Envelope::new(message)).unwrap(),
        }
    }
    fn try_recv(mailbox: &mut Mailbox) -> Result<Message, TryRecvError> {
        Self::recv_timeout(mailbox, Duration::ZERO).map_err(|error| match error {
            RecvTimeoutError::Timeout => TryRecvError::Empty,
            RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
        })
    }
    fn look(mailbox: &mut Mailbox, random: &mut Random) -> Looked {
        let timeout = Duration::from_nanos(random.next() % 2);
        let taken = usize::from(Self::recv_timeout(mailbox, timeout).is_ok());
        Looked { taken, is_down: taken == 0 && timeout.is_zero() }
    }
}

impl<const BOUND: usize> Blocking for Letters<BOUND> {
    const TELLS_ONE: bool = false;
    fn recv_timeout(mailbox: &mut Mailbox, timeout: Duration) -> Result<Message, RecvTimeoutError> {
        mailbox.receive_timeout(timeout).map_err(|error| match error {
            ReceiveError::Timeout => RecvTimeoutError::Timeout,
            ReceiveError::Disconnected => RecvTimeoutError::Disconnected,
            other => panic!("{other}"),
        })
    }
    fn poll_recv(mailbox: &mut Mailbox, _: &mut Context<'_>) -> Poll<Result<Message, RecvError>> {
        match Self::try_recv(mailbox) {
            Err(TryRecvError::Empty) => Poll::Pending,
            received => Poll::Ready(received.map_err(|_| RecvError)),
        }
    }
}

/// The tests of a set with every receiver; and, with `epoll`, of its descriptor.
macro_rules! with_every_receiver {
    ($set:ty $(, $epoll:ident)?) => {
        with_every_receiver!(@each $set, [$($epoll)?]:
            pipe crate::spsc::Pipe<0>: [many batching], funnel crate::mpsc::Funnel<0>: [many batching],
            exchange crate::mpmc::Exchange<1024>: [many], open_exchange crate::mpmc::Exchange<0>: [many], mailbox crate::attached::Letters<0>: [],
            bounded_mailbox crate::attached::Letters<100>: []);
        // Small bounds, for the streams only: senders wait for room.
        with_every_receiver!(@streams $set:
            pipe_of_1 crate::spsc::Pipe<1>, pipe_of_2 crate::spsc::Pipe<2>, pipe_of_100 crate::spsc::Pipe<100>,
            funnel_of_2 crate::mpsc::Funnel<2>, exchange_of_1 crate::mpmc::Exchange<1>,
            exchange_of_2 crate::mpmc::Exchange<2>, mailbox_of_2 crate::attached::Letters<2>);
    };
    (@each $set:ty, $epoll:tt: $($name:ident $ends:ty: $more:tt),*) => {
        $(mod $name {
            crate::attached_suite!($set, $ends);
            crate::attached_and_blocking_suite!($set, $ends);
            with_every_receiver!(@more $more $set, $ends);
            with_every_receiver!(@epoll $epoll $set, $ends);
        })*
    };
    // A thread that sends to very many mailboxes gives lanes up meanwhile, and each is told of that.
    (@more [] $set:ty, $ends:ty) => {};
    (@more [many] $set:ty, $ends:ty) => {
        crate::tests_of!(attached::levels, $set, $ends: every_id_may_have_a_receiver);
    };
    (@more [many batching] $set:ty, $ends:ty) => {
        with_every_receiver!(@more [many] $set, $ends);
        crate::attached_and_batching_suite!($set, $ends);
    };
    (@epoll [] $set:ty, $ends:ty) => {};
    (@epoll [epoll] $set:ty, $ends:ty) => {
        #[cfg(target_os = "linux")]
        crate::attached_through_epoll_suite!($set, $ends);
    };
    (@streams $set:ty: $($name:ident $ends:ty),*) => {
        $(mod $name {
            crate::tests_of!(attached::streams, $set, $ends: streams_of_many_senders_are_received_whole);
            crate::tests_of!(attached::moving, $set, $ends: it_moves_between_sets_under_a_stream);
            crate::tests_of!(attached::waiting, $set, $ends: a_stream_is_received_in_every_way_of_waiting);
        })*
    };
}

mod pollset {
    with_every_receiver!(crate::signal::Pollset<5_000>);
}

#[cfg(target_os = "linux")]
mod eventfd {
    with_every_receiver!(crate::signal::descriptors::Socketpair<5_000, true>, epoll);
}

#[cfg(unix)]
mod socketpair {
    with_every_receiver!(crate::signal::descriptors::Socketpair<5_000, false>, epoll);
}

#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_closed_with_the_last_end() {
    use crate::mpmc::Exchange;
    use crate::spsc::Pipe;
    use crate::support::backends;
    use crate::support::process::{alone, descriptors};
    use ysuite::signal::{Backend, YSocketpair};

    fn closed_by<R: Ends>(backend: Backend, sender_first: bool) {
        let (before, (sender, mut receiver)) = (descriptors(), R::pair());
        let mut set = YSocketpair::with_backend(64, backend).unwrap();
        set.attach(&mut receiver, 1).unwrap();
        assert_eq!(descriptors() - before, if backend == Backend::Eventfd { 1 } else { 2 });
        drop(set);
        if sender_first {
            drop(sender);
            drop(receiver);
        } else {
            drop(receiver);
            drop(sender);
        }
        assert_eq!(descriptors(), before);
    }

    if !alone("attached::descriptors_are_closed_with_the_last_end") {
        return;
    }
    for backend in backends() {
        for sender_first in [false, true] {
            closed_by::<Pipe<0>>(backend, sender_first);
            closed_by::<crate::mpsc::Funnel<0>>(backend, sender_first);
            closed_by::<Exchange<1>>(backend, sender_first);
            closed_by::<Exchange<0>>(backend, sender_first);
            closed_by::<Letters<0>>(backend, sender_first);
        }
    }
}
