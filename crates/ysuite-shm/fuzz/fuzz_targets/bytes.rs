//! A sender that lies in its ring of bytes: in lengths, and in how much it has published.
#![no_main]

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use libfuzzer_sys::fuzz_target;
use ysuite_shm::{Bytes, BytesReceiver, Error, Funnel, TryRecvError};
use ysuite_shm_fuzz::{Input, Kind, Liar, PUBLISHED, RING, Role, Trial, attempt, pair};

enum End {
    Pipe(BytesReceiver),
    Funnel(Funnel<Bytes>),
}

impl End {
    fn new(is_funnel: bool) -> (Self, OwnedFd) {
        if is_funnel {
            let mut funnel = Funnel::without_name().unwrap();
            let seat = funnel.seat().unwrap().1;
            return (Self::Funnel(funnel), seat);
        }
        let (one, other) = pair();
        (Self::Pipe(BytesReceiver::from_fd(one).unwrap()), other)
    }

    fn take(&mut self, input: &mut Input) -> Result<Vec<u8>, Option<Error>> {
        let taken = match self {
            Self::Pipe(end) if input.flip() => {
                let mut to = vec![MaybeUninit::uninit(); input.below(200)];
                match end.try_recv_slice(&mut to) {
                    // A longer one stays.
                    Ok(length) if length > to.len() => end.try_recv(),
                    Ok(length) => {
                        to.truncate(length);
                        // SAFETY: this many bytes were written.
                        Ok(to.into_iter().map(|byte| unsafe { byte.assume_init() }).collect())
                    }
                    Err(error) => Err(error),
                }
            }
            Self::Pipe(end) => end.try_recv(),
            Self::Funnel(end) => {
                let taken = end.try_recv().map(|bytes| bytes.0);
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
            Self::Funnel(end) => end.arm(),
        }
    }
}

/// The bytes of the message with this number.
fn record(number: u64) -> Vec<u8> {
    (0..number * 11 % 61).map(|at| (number + at) as u8).collect()
}

fn taken_by(length: usize) -> u64 {
    (length.next_multiple_of(8) + 8) as u64
}

/// Publishes a message as an honest sender does.
fn publish(liar: &Liar, capacity: usize, position: u64, message: &[u8]) {
    let place = |by: u64| RING + ((position + by) % capacity as u64) as usize;
    liar.page.set(place(0), message.len() as u64);
    for (at, part) in message.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        liar.page.set(place(8 + 8 * at as u64), u64::from_ne_bytes(word));
    }
    liar.page.set(PUBLISHED, position + taken_by(message.len()));
}

fn run(input: &mut Input) {
    let (capacity, is_funnel) = (72 + 8 * input.below(60), input.flip());
    let (mut end, socket) = End::new(is_funnel);
    let liar = Liar::new(socket, Kind::Bytes, Role::Sender, (1, 1), capacity, capacity);
    liar.hello(input.flip());
    let (mut trial, mut published, mut received) = (Trial::new(8), 0_u64, 0_u64);
    // In bytes.
    let (mut position, mut consumed) = (0_u64, 0_u64);
    while let Some(next) = trial.next(input, &liar) {
        match next {
            0..=2 => {
                let message = record(published);
                let end = position + taken_by(message.len());
                if !trial.is_honest() || end - consumed <= capacity as u64 {
                    publish(&liar, capacity, position, &message);
                    (published, position) = (published + 1, end);
                    if is_funnel {
                        liar.wake();
                    }
                }
            }
            3 => {
                let at = if input.flip() { PUBLISHED } else { RING + 8 * input.below(capacity / 8) };
                liar.page.set(at, input.lie(&[liar.page.get(at), position, consumed, capacity as u64]));
                trial.lies += 1;
            }
            4 => trial.lies += u64::from(liar.lie_in_page(input, &[position, consumed]) == PUBLISHED),
            5 => assert!(!end.arm() || !trial.is_honest() || received == published, "it would sleep"),
            _ => match end.take(input) {
                Ok(message) => {
                    trial.received_some();
                    assert!(!trial.is_honest() || message == record(received), "in order, each once, whole");
                    (received, consumed) = (received + 1, consumed + taken_by(message.len()));
                    // Each publication shows the receiver a ring full at most.
                    assert!(message.len() <= capacity - 8 && consumed <= (published + trial.lies) * capacity as u64);
                }
                Err(error) => trial.received_none(error, received == published, is_funnel),
            },
        }
    }
}

fuzz_target!(|data: &[u8]| attempt(data, run));
