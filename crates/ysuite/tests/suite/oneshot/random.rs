//! Random operations on both handles against a simple model: each result, which task is woken, and what is left.

use std::task::{Context, Poll};
use std::time::Duration;

use crate::support::executor::{Task, poll_once};
use crate::support::{Counted, Random, Tally};
use ysuite::oneshot::{self, Receiver, Sender};
use ysuite::signal::{Wait, YPollset};
use ysuite::{RecvTimeoutError, TryRecvError};

/// What a oneshot is, without any concurrency.
struct Reference {
    /// The number of the message that is there.
    message: Option<usize>,
    /// Whether the receiver has returned its message or reported the disconnect, or has closed.
    spent: bool,
    /// The task that polled last, how often it should have been woken, and whether it waits.
    receiving: (usize, bool),
    closing: (usize, bool),
    attached: bool,
}

impl Reference {
    /// The sender has ended, or the receiver is closed.
    fn sender_ends(&mut self) {
        if std::mem::take(&mut self.receiving.1) && !self.spent {
            self.receiving.0 += 1;
        }
    }

    /// The receiver has ended.
    fn receiver_ends(&mut self, sender_is_there: bool) {
        self.receiving.1 = false;
        if std::mem::take(&mut self.closing.1) && sender_is_there {
            self.closing.0 += 1;
        }
    }
}

struct Machine {
    sender: Option<Sender<Counted>>,
    receiver: Option<Receiver<Counted>>,
    receiving: Task,
    closing: Task,
    set: YPollset,
    reference: Reference,
}

impl Machine {
    fn new() -> Self {
        let (sender, receiver) = oneshot::channel();
        let reference =
            Reference { message: None, spent: false, receiving: (0, false), closing: (0, false), attached: false };
        Self {
            sender: Some(sender),
            receiver: Some(receiver),
            receiving: Task::default(),
            closing: Task::default(),
            set: YPollset::new(),
            reference,
        }
    }

    fn send(&mut self, tally: &Tally, hang_up: bool) {
        let Some(sender) = self.sender.take() else { return };
        let wanted = self.receiver.is_some() && !self.reference.spent;
        assert_eq!(sender.is_disconnected(), !wanted);
        if hang_up {
            drop(sender);
        } else {
            let message = tally.next();
            let number = message.number;
            match sender.send(message) {
                Ok(()) => {
                    assert!(wanted);
                    self.reference.message = Some(number);
                }
                Err(error) => assert!(!wanted && error.into_inner().number == number),
            }
        }
        // What waits for the receiver waits no longer.
        self.reference.closing.1 = false;
        self.reference.sender_ends();
    }

    /// What a receive of any kind must return now.
    fn expected(&mut self) -> Result<usize, TryRecvError> {
        if self.reference.spent {
            return Err(TryRecvError::Disconnected);
        }
        if let Some(number) = self.reference.message.take() {
            self.reference.spent = true;
            return Ok(number);
        }
        if self.sender.is_some() {
            return Err(TryRecvError::Empty);
        }
        self.reference.spent = true;
        Err(TryRecvError::Disconnected)
    }

    fn receive(&mut self, way: usize) {
        let Some(mut receiver) = self.receiver.take() else { return };
        assert_eq!(receiver.is_empty(), self.reference.message.is_none());
        assert_eq!(receiver.is_disconnected(), self.reference.spent || self.sender.is_none());
        assert_eq!(receiver.peek().map(|message| message.number), self.reference.message);
        let expected = self.expected();
        let received = match way {
            0 => receiver.try_recv(),
            1 => receiver.recv_timeout(Duration::ZERO).map_err(|error| match error {
                RecvTimeoutError::Timeout => TryRecvError::Empty,
                RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
            }),
            _ => match poll_once(&mut receiver, &self.receiving) {
                Poll::Pending => {
                    self.reference.receiving.1 = true;
                    Err(TryRecvError::Empty)
                }
                Poll::Ready(received) => received.map_err(TryRecvError::from),
            },
        };
        assert_eq!(received.map(|message| message.number), expected);
        self.receiver = Some(receiver);
    }

    fn poll_closed(&mut self) {
        let Some(sender) = &mut self.sender else { return };
        let polled = sender.poll_closed(&mut Context::from_waker(&self.closing.waker()));
        let over = self.receiver.is_none() || self.reference.spent;
        assert_eq!(polled.is_ready(), over);
        self.reference.closing.1 = !over;
    }

    fn close(&mut self) {
        let Some(receiver) = &mut self.receiver else { return };
        let closes = !self.reference.spent && self.sender.is_some();
        assert_eq!(receiver.close(), closes);
        if closes {
            // The closing thread need not be the waiting one.
            self.reference.sender_ends();
            self.reference.spent = true;
            self.reference.receiver_ends(true);
        }
    }

    fn attach_or_detach(&mut self) {
        let Some(receiver) = &mut self.receiver else { return };
        if self.reference.attached {
            assert_eq!(self.set.detach(receiver), Some(1));
        } else {
            self.set.attach(receiver, 1).unwrap();
        }
        self.reference.attached = !self.reference.attached;
    }

    fn drop_receiver(&mut self) {
        if self.receiver.take().is_some() {
            if !self.reference.spent {
                self.reference.receiver_ends(self.sender.is_some());
            }
            (self.reference.message, self.reference.spent, self.reference.attached) = (None, true, false);
        }
    }

    fn check(&mut self) {
        let reference = &self.reference;
        assert_eq!(self.receiving.woken(), reference.receiving.0, "wakes of the receiver's task");
        assert_eq!(self.closing.woken(), reference.closing.0, "wakes of the sender's task");
        let up = self.set.check().count();
        if !reference.attached {
            assert_eq!(up, 0);
        } else if reference.message.is_some() || reference.spent || self.sender.is_none() {
            assert_eq!(up, 1, "the id of a receiver that has news");
        }
    }
}

#[test]
fn operations_at_random_do_what_a_reference_says() {
    let rounds = if cfg!(miri) { 200 } else { 20_000 };
    let tally = Tally::of(rounds);
    let mut random = Random::new(77);
    for _ in 0..rounds {
        let mut machine = Machine::new();
        for _ in 0..random.below(14) {
            match random.below(12) {
                0 => machine.send(&tally, false),
                1 => machine.send(&tally, true),
                2 | 3 => machine.receive(0),
                4 => machine.receive(1),
                5 | 6 => machine.receive(2),
                7 => machine.close(),
                8 => machine.drop_receiver(),
                9 | 10 => machine.attach_or_detach(),
                _ => machine.poll_closed(),
            }
            machine.check();
        }
        let (receiving, closing) = (machine.receiving.clone(), machine.closing.clone());
        drop(machine);
        assert_eq!((receiving.held(), closing.held()), (0, 0), "no waker is left");
    }
    tally.assert_all_ended();
}
