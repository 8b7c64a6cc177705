//! The work queues and the calls that a test runs with: of numbers, and of bytes, among them a number.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use ysuite_shm::{
    BytesCaller, BytesWorkSender, CallError, Caller, Copied, Error, Options, Pending, Question, TrySendError,
    WorkSender,
};

use super::{Stop, number, record, sent};

/// Jobs, questions and answers, each a number, one way or another.
pub(crate) trait Trade: 'static {
    const WORK: &'static str;
    const CALL: &'static str;
    type Carried: Copied;
    type Sender: AsFd + Send + 'static;
    type Caller: AsFd + Send + 'static;

    fn number(carried: &Self::Carried) -> u64;

    fn work(options: &Options, name: Option<&str>, credit: usize) -> Result<Self::Sender, Error>;
    fn set_spin(sender: &mut Self::Sender, looks: u32);
    fn seat(sender: &mut Self::Sender) -> OwnedFd;
    fn send(sender: &mut Self::Sender, job: u64) -> Result<(), Error>;
    fn send_timeout(sender: &mut Self::Sender, job: u64, limit: Duration) -> Result<(), Stop>;
    /// False: no worker may have one more.
    fn try_send(sender: &mut Self::Sender, job: u64) -> bool;
    fn arm(sender: &mut Self::Sender) -> bool;
    fn serve(sender: &mut Self::Sender, limit: Duration);
    fn settle(sender: &mut Self::Sender) -> Result<(), Error>;
    fn settle_timeout(sender: &mut Self::Sender, limit: Duration) -> Result<bool, Error>;
    /// Jobs that are finished and that are not, and workers.
    fn counts(sender: &Self::Sender) -> (u64, usize, usize);

    fn caller(options: &Options, socket: OwnedFd) -> Result<Self::Caller, Error>;
    fn set_caller_spin(caller: &mut Self::Caller, looks: u32);
    fn ask(caller: &mut Self::Caller, question: u64) -> Result<Pending, Error>;
    fn ask_timeout(caller: &mut Self::Caller, question: u64, limit: Duration) -> Result<Pending, Stop>;
    /// `None`: as many as may be are under way.
    fn try_ask(caller: &mut Self::Caller, question: u64) -> Option<Result<Pending, Error>>;
    fn arm_to_ask(caller: &mut Self::Caller) -> bool;
    fn call(caller: &mut Self::Caller, question: u64) -> Result<u64, CallError>;
    fn recv(caller: &mut Self::Caller, call: Pending) -> Result<u64, CallError>;
    fn try_recv(caller: &mut Self::Caller, call: Pending) -> Result<u64, CallError<Pending>>;
    fn recv_timeout(caller: &mut Self::Caller, call: Pending, limit: Duration) -> Result<u64, CallError<Pending>>;
    fn is_disconnected(caller: &mut Self::Caller) -> bool;
    fn answer(question: Question<Self::Carried, Self::Carried>, answer: u64);
}

pub(crate) enum Numbers {}

pub(crate) enum OfBytes {}

/// The most bytes of a record.
const LARGEST: usize = 37;

macro_rules! trade {
    (
        $trade:ident, $work:literal, $call:literal, $carried:ty, $sender:ty, $caller:ty, $number:expr,
        |$options:ident, $name:ident, $credit:ident| $bind:expr, |$seat:ident| $join:expr, |$message:ident| $made:expr
    ) => {
        impl Trade for $trade {
            const WORK: &'static str = $work;
            const CALL: &'static str = $call;
            type Carried = $carried;
            type Sender = $sender;
            type Caller = $caller;

            fn number(carried: &Self::Carried) -> u64 {
                $number(carried)
            }

            fn work($options: &Options, $name: Option<&str>, $credit: usize) -> Result<Self::Sender, Error> {
                $bind
            }

            fn set_spin(sender: &mut Self::Sender, looks: u32) {
                sender.set_spin(looks);
            }

            fn seat(sender: &mut Self::Sender) -> OwnedFd {
                sender.seat().unwrap()
            }

            fn send(sender: &mut Self::Sender, $message: u64) -> Result<(), Error> {
                sender.send($made).map_err(|error| error.1)
            }

            fn send_timeout(sender: &mut Self::Sender, $message: u64, limit: Duration) -> Result<(), Stop> {
                sent(sender.send_timeout($made, limit))
            }

            fn try_send(sender: &mut Self::Sender, $message: u64) -> bool {
                !matches!(sender.try_send($made), Err(TrySendError::Full(_)))
            }

            fn arm(sender: &mut Self::Sender) -> bool {
                sender.arm()
            }

            fn serve(sender: &mut Self::Sender, limit: Duration) {
                if limit.is_zero() { sender.serve() } else { sender.serve_timeout(limit) }
            }

            fn settle(sender: &mut Self::Sender) -> Result<(), Error> {
                sender.settle()
            }

            fn settle_timeout(sender: &mut Self::Sender, limit: Duration) -> Result<bool, Error> {
                sender.settle_timeout(limit)
            }

            fn counts(sender: &Self::Sender) -> (u64, usize, usize) {
                (sender.finished(), sender.unfinished(), sender.workers())
            }

            fn caller($options: &Options, $seat: OwnedFd) -> Result<Self::Caller, Error> {
                $join
            }

            fn set_caller_spin(caller: &mut Self::Caller, looks: u32) {
                caller.set_spin(looks);
            }

            fn ask(caller: &mut Self::Caller, $message: u64) -> Result<Pending, Error> {
                caller.ask($made).map_err(|error| error.1)
            }

            fn ask_timeout(caller: &mut Self::Caller, $message: u64, limit: Duration) -> Result<Pending, Stop> {
                sent(caller.ask_timeout($made, limit))
            }

            fn try_ask(caller: &mut Self::Caller, $message: u64) -> Option<Result<Pending, Error>> {
                match caller.try_ask($made) {
                    Ok(call) => Some(Ok(call)),
                    Err(TrySendError::Full(_)) => None,
                    Err(TrySendError::Ended(_, error)) => Some(Err(error)),
                }
            }

            fn arm_to_ask(caller: &mut Self::Caller) -> bool {
                caller.arm_to_ask()
            }

            fn call(caller: &mut Self::Caller, $message: u64) -> Result<u64, CallError> {
                caller.call($made).map(|answer| Self::number(&answer))
            }

            fn recv(caller: &mut Self::Caller, call: Pending) -> Result<u64, CallError> {
                caller.recv(call).map(|answer| Self::number(&answer))
            }

            fn try_recv(caller: &mut Self::Caller, call: Pending) -> Result<u64, CallError<Pending>> {
                caller.try_recv(call).map(|answer| Self::number(&answer))
            }

            fn recv_timeout(
                caller: &mut Self::Caller,
                call: Pending,
                limit: Duration,
            ) -> Result<u64, CallError<Pending>> {
                caller.recv_timeout(call, limit).map(|answer| Self::number(&answer))
            }

            fn is_disconnected(caller: &mut Self::Caller) -> bool {
                caller.is_disconnected()
            }

            fn answer(question: Question<Self::Carried, Self::Carried>, $message: u64) {
                question.answer($made);
            }
        }
    };
}

trade!(
    Numbers,
    "work",
    "call",
    u64,
    WorkSender<u64>,
    Caller<u64, u64>,
    |number: &u64| *number,
    |options, name, credit| name
        .map_or_else(|| options.work_without_name(credit), |name| options.work(name, credit)),
    |socket| options.caller(socket),
    |message| message
);

trade!(
    OfBytes,
    "work of bytes",
    "call of bytes",
    ysuite_shm::Bytes,
    BytesWorkSender,
    BytesCaller,
    |bytes: &ysuite_shm::Bytes| number(&bytes.0),
    |options, name, credit| match name {
        Some(name) => options.work_bytes(name, credit, LARGEST),
        None => options.work_bytes_without_name(credit, LARGEST),
    },
    |socket| options.bytes_caller(socket, LARGEST),
    |message| &record(message)
);
