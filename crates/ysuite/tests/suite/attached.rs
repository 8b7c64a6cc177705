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
use ysuite::mailbox::{Address, Builder, Crowding, Envelope, Mailbox, ReceiveError};
use ysuite::{RecvError, RecvTimeoutError, TryRecvError};

/// A mailbox with a bound, or none.
#[derive(Clone, Copy)]
struct Letters(Option<usize>);

impl Ends for Letters {
    type Sender = Address;
    type Receiver = Mailbox;
    const WAYS: usize = 2;
    fn pair(self) -> (Address, Mailbox) {
        let bounded = |bound| Builder::new().bounded(bound, Crowding::Block).build();
        let mailbox = self.0.map_or_else(Mailbox::new, bounded);
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

impl Blocking for Letters {
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
    ($set:expr $(, $epoll:ident)?) => {
        with_every_receiver!(@each $set, [$($epoll)?]:
            pipe crate::spsc::Pipe(None) => [many batching],
            funnel crate::mpsc::Funnel(None) => [many batching],
            exchange crate::mpmc::Exchange(Some(1024)) => [many],
            open_exchange crate::mpmc::Exchange(None) => [many],
            mailbox crate::attached::Letters(None) => [],
            bounded_mailbox crate::attached::Letters(Some(100)) => []);
        // Small bounds, for the streams only: senders wait for room.
        with_every_receiver!(@streams $set =>
            pipe_of_1 crate::spsc::Pipe(Some(1)),
            pipe_of_2 crate::spsc::Pipe(Some(2)),
            pipe_of_100 crate::spsc::Pipe(Some(100)),
            funnel_of_2 crate::mpsc::Funnel(Some(2)),
            exchange_of_1 crate::mpmc::Exchange(Some(1)),
            exchange_of_2 crate::mpmc::Exchange(Some(2)),
            mailbox_of_2 crate::attached::Letters(Some(2)));
    };
    (@each $set:expr, $epoll:tt: $($name:ident $ends:expr => $more:tt),*) => {
        $(mod $name {
            crate::attached_suite!($set, $ends);
            crate::attached_and_blocking_suite!($set, $ends);
            with_every_receiver!(@more $more $set, $ends);
            with_every_receiver!(@epoll $epoll $set, $ends);
        })*
    };
    // A thread that sends to very many mailboxes drops lanes meanwhile, and each mailbox is notified of that.
    (@more [] $set:expr, $ends:expr) => {};
    (@more [many] $set:expr, $ends:expr) => {
        crate::tests_of!(attached::levels, $set, $ends => every_id_may_have_a_receiver);
    };
    (@more [many batching] $set:expr, $ends:expr) => {
        with_every_receiver!(@more [many] $set, $ends);
        crate::attached_and_batching_suite!($set, $ends);
    };
    (@epoll [] $set:expr, $ends:expr) => {};
    (@epoll [epoll] $set:expr, $ends:expr) => {
        #[cfg(target_os = "linux")]
        crate::attached_through_epoll_suite!($set, $ends);
    };
    (@streams $set:expr => $($name:ident $ends:expr),*) => {
        $(mod $name {
            crate::tests_of!(attached::streams, $set, $ends => streams_of_many_senders_are_received_whole);
            crate::tests_of!(attached::moving, $set, $ends => it_moves_between_sets_under_a_stream);
            crate::tests_of!(attached::waiting, $set, $ends => a_stream_is_received_in_every_way_of_waiting);
        })*
    };
}

mod pollset {
    with_every_receiver!(crate::signal::Pollset(5_000));
}

#[cfg(target_os = "linux")]
mod eventfd {
    with_every_receiver!(crate::signal::descriptors::eventfd(5_000), epoll);
}

#[cfg(unix)]
mod socketpair {
    with_every_receiver!(crate::signal::descriptors::socketpair(5_000), epoll);
}

#[cfg(windows)]
mod event {
    with_every_receiver!(crate::events::Event(5_000));
}

/// Claim: Descriptors are closed with the last handle.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_closed_with_the_last_end() {
    use crate::mpmc::Exchange;
    use crate::spsc::Pipe;
    use crate::support::backends;
    use crate::support::process::{alone, descriptors};
    use ysuite::signal::{Backend, YSocketpair};

    fn closed_by<R: Ends>(ends: R, backend: Backend, sender_first: bool) {
        let (before, (sender, mut receiver)) = (descriptors(), ends.pair());
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
            closed_by(Pipe(None), backend, sender_first);
            closed_by(crate::mpsc::Funnel(None), backend, sender_first);
            closed_by(Exchange(Some(1)), backend, sender_first);
            closed_by(Exchange(None), backend, sender_first);
            closed_by(Letters(None), backend, sender_first);
        }
    }
}
