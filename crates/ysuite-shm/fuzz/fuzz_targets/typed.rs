//! A sender that lies in its ring of messages of one type, and in its page: to the receiver of a pipe, a funnel, a worker.
#![no_main]

use std::os::fd::OwnedFd;

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{Error, Funnel, Receiver, TryRecvError, WorkReceiver};
use ysuite_shm_fuzz::{Input, Kind, Liar, Message, RING, Role, Trial, attempt, pair, publish, ring_bytes};

enum End<T: Message> {
    Pipe(Receiver<T>),
    Funnel(Funnel<T>),
    Work(WorkReceiver<T>),
}

impl<T: Message> End<T> {
    fn new(which: usize) -> (Self, OwnedFd) {
        let (one, other) = pair();
        match which {
            0 => (Self::Pipe(Receiver::from_fd(one).unwrap()), other),
            1 => (Self::Work(WorkReceiver::from_fd(one).unwrap()), other),
            _ => {
                let mut funnel = Funnel::without_name().unwrap();
                let seat = funnel.seat().unwrap().1;
                (Self::Funnel(funnel), seat)
            }
        }
    }

    /// `Err(None)`: there is no message.
    fn take(&mut self, input: &mut Input) -> Result<T, Option<Error>> {
        let taken = match self {
            Self::Pipe(end) if input.flip() => {
                let message = end.peek();
                // It is one load, so what is peeked is what is consumed.
                message.filter(|_| end.consume()).map_or_else(|| end.try_recv(), Ok)
            }
            Self::Pipe(end) => end.try_recv(),
            Self::Work(end) => end.try_recv().map(|job| {
                let message = *job;
                if input.flip() {
                    job.finish();
                }
                message
            }),
            Self::Funnel(end) => {
                let taken = end.try_recv();
                match end.next_ended() {
                    Some(ended) if taken.is_err() => Err(TryRecvError::Ended(ended.error)),
                    _ => taken,
                }
            }
        };
        taken.map_err(|error| match error {
            TryRecvError::Empty => None,
            TryRecvError::Ended(error) => Some(error),
        })
    }

    fn arm(&mut self) -> bool {
        match self {
            Self::Pipe(end) => end.arm(),
            Self::Work(end) => end.arm(),
            Self::Funnel(end) => end.arm(),
        }
    }
}

fn run<T: Message>(input: &mut Input) {
    let (capacity, which) = (1 + input.below(24), input.below(3));
    let (mut end, socket) = End::<T>::new(which);
    let kind = if which == 1 { Kind::Work } else { Kind::Typed };
    let (shape, ring) = ((size_of::<T>(), align_of::<T>()), ring_bytes::<T>(capacity));
    let liar = Liar::new(socket, kind, Role::Sender, shape, capacity, ring);
    liar.hello(input.flip());
    // A funnel has a lane parked, or its end told, in more than one call.
    let (mut trial, mut published, mut received) = (Trial::new(8), 0_u64, 0_u64);
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0..=2 if !trial.is_honest() || published - received < capacity as u64 => {
                publish::<T>(&liar.page, capacity, published);
                published += 1;
                if which == 2 {
                    liar.wake();
                }
            }
            3 => {
                let at = RING + 8 * input.below(ring.div_ceil(8).min(256));
                liar.page.set(at, input.lie(&[liar.page.get(at), published, received]));
                trial.lies += 1;
            }
            4 => _ = liar.lie_in_page(input, &[published, received]),
            5 => assert!(!end.arm() || !trial.is_honest() || received == published, "it would sleep"),
            _ => match end.take(input) {
                Ok(message) => {
                    trial.received_some();
                    assert!(!trial.is_honest() || message == T::of(received), "in order, each once");
                    received += 1;
                    // One word says no more than that a group is full.
                    let most = if trial.is_honest() { published } else { (published + trial.lies) * T::SLOTS as u64 };
                    assert!(received <= most, "{received}");
                }
                Err(error) => trial.received_none(error, received == published, which == 2),
            },
        }
    }
}

fuzz_target!(|data: &[u8]| attempt(data, |input| match input.below(6) {
    0 => run::<u64>(input),
    1 => run::<[u64; 3]>(input),
    2 => run::<[u64; 25]>(input),
    3 => run::<[u64; 8]>(input),
    4 => run::<[u64; 16]>(input),
    _ => run::<[u8; 3]>(input),
}));
