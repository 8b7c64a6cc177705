//! `ysuite::mailbox` as a program of several messages uses it: types in turn, one of them urgent, and a receiver with a
//! handler for each. One of the types is that of the article's own code: the sender's address, and the message.
//!
//! ```text
//!   sender thread   (address, 0)   1   urgent 2   (address, 3)   4 ... ----> receive!{ each type }   receiver thread
//! ```
//!
//! Urgent messages overtake all others in the mailbox. A driver requires its messages in order, so messages that were
//! received early wait outside the mailbox, in the order of their receipt. While an urgent one is due, the ordinary
//! messages after it stay in the mailbox, set aside.

use std::collections::VecDeque;
use std::io;

use ysuite::Spin;
use ysuite::mailbox::{Address, Mailbox};
use ysuite::receive;

use super::{Closed, Message, Traits, Transport, Waits};

/// Sleeps as soon as nothing is ready.
pub struct Types;

struct Urgent<M>(M);

/// The type of the message that is due.
#[derive(Clone, Copy)]
enum Turn {
    WithAddress,
    Alone,
    Urgent,
}

impl Turn {
    const FIRST: Self = Self::WithAddress;

    #[inline(always)]
    fn next(&mut self) -> Self {
        let due = *self;
        *self = match due {
            Self::WithAddress => Self::Alone,
            Self::Alone => Self::Urgent,
            Self::Urgent => Self::WithAddress,
        };
        due
    }
}

pub struct Sender {
    to: Address,
    turn: Turn,
    /// The address for a reply, as in the article.
    own: Mailbox,
}

pub struct Receiver<M> {
    mailbox: Mailbox,
    turn: Turn,
    early: VecDeque<M>,
}

impl Transport for Types {
    const TRAITS: Traits = Traits {
        name: "mailbox-types",
        about: "ysuite::mailbox with messages of three types in turn, one of them urgent, whose receiver sleeps at once",
        waits: Waits::Sleeps,
        works_with_epoll: true,
        variant: true,
        ..Traits::COMMON
    };
    type Sender<M: Message> = Sender;
    type Receiver<M: Message> = Receiver<M>;

    fn open<M: Message>() -> io::Result<(Sender, Receiver<M>)> {
        let mut mailbox = Mailbox::new();
        mailbox.set_spin(Spin::None);
        let sender = Sender { to: mailbox.address(), turn: Turn::FIRST, own: Mailbox::new() };
        Ok((sender, Receiver { mailbox, turn: Turn::FIRST, early: VecDeque::new() }))
    }
}

impl<M: Message> super::Sender<M> for Sender {
    #[inline(always)]
    fn send(&mut self, message: M) -> Result<(), Closed> {
        match self.turn.next() {
            Turn::WithAddress => self.to.send((self.own.address(), message)).map_err(|_| Closed),
            Turn::Alone => self.to.send(message).map_err(|_| Closed),
            Turn::Urgent => self.to.send_priority(Urgent(message)).map_err(|_| Closed),
        }
    }
}

impl<M: Message> super::Receiver<M> for Receiver<M> {
    #[inline(always)]
    fn recv(&mut self) -> Result<M, Closed> {
        if let Turn::Urgent = self.turn.next() {
            return match self.early.pop_front() {
                Some(message) => Ok(message),
                None => self.mailbox.receive().map(|Urgent(message)| message).map_err(|_| Closed),
            };
        }
        loop {
            let received = receive!(self.mailbox => {
                (_client, message): (Address, M) => Ok(message),
                message: M => Ok(message),
                early: Urgent<M> => Err(early),
            });
            match received.map_err(|_| Closed)? {
                Ok(message) => return Ok(message),
                Err(Urgent(message)) => self.early.push_back(message),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Receiver as _, Sender as _};
    use super::*;

    #[test]
    fn urgent_messages_overtake_and_everything_comes_in_its_turn() {
        let (mut sender, mut receiver) = Types::open::<usize>().unwrap();
        (0..9).for_each(|number| sender.send(number).unwrap());
        assert_eq!((receiver.recv(), receiver.early.len()), (Ok(0), 3));
        let rest: Vec<_> = (1..9).map(|_| receiver.recv().unwrap()).collect();
        assert_eq!(rest, (1..9).collect::<Vec<_>>());
        drop(sender);
        assert_eq!(receiver.recv(), Err(Closed));
    }

    #[test]
    fn while_an_urgent_one_is_due_the_ordinary_ones_wait() {
        let (mut sender, mut receiver) = Types::open::<usize>().unwrap();
        (0..2).for_each(|number| sender.send(number).unwrap());
        assert_eq!([receiver.recv(), receiver.recv()], [Ok(0), Ok(1)]);
        (2..6).for_each(|number| sender.send(number).unwrap());
        assert_eq!([(); 4].map(|()| receiver.recv()), [Ok(2), Ok(3), Ok(4), Ok(5)]);
    }
}
