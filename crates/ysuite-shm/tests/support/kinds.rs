//! The kinds of channels, by one set of verbs: what is tested of one is tested of all. A message is a number.

#[path = "trades.rs"]
pub(crate) mod trades;

use std::marker::PhantomData;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use trades::Trade;
use ysuite_shm::{
    BytesReceiver, BytesSender, CallError, Error, Event, Funnel, Job, Options, Question, Receiver, RecvTimeoutError,
    SendTimeoutError, Sender, TryRecvError, TrySendError, WorkReceiver, connect, pipe, pipe_bytes,
};

/// Why a call has not done what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Time,
    Ended(Error),
}

/// By what a process makes its handle.
pub(crate) enum Place {
    Socket(OwnedFd),
    Name(String),
    /// Of a sender that others join.
    Host(String),
}

impl Place {
    fn socket(self) -> Result<OwnedFd, Error> {
        match self {
            Self::Socket(socket) => Ok(socket),
            Self::Name(name) => connect(&name),
            Self::Host(_) => unreachable!("it listens"),
        }
    }
}

/// A sender at this place, as soon as somebody listens there; `None`: nobody has until it was over.
pub(crate) fn join<K: Kind>(place: Place, is_over: impl Fn() -> bool) -> Option<Result<K::Sender, Error>> {
    let Place::Name(name) = place else { return Some(K::sender(place)) };
    loop {
        match connect(&name) {
            Ok(socket) => return Some(K::sender(Place::Socket(socket))),
            Err(_) if is_over() => return None,
            Err(_) => std::thread::sleep(Duration::from_micros(200)),
        }
    }
}

pub(crate) trait Kind {
    const NAME: &'static str;
    type Sender: AsFd + Send + 'static;
    type Receiver: AsFd + Send + 'static;

    /// The places of a sender and of a receiver in two processes.
    fn places() -> (Place, Place);
    fn sender(place: Place) -> Result<Self::Sender, Error>;
    fn receiver(place: Place) -> Result<Self::Receiver, Error>;
    /// A receiver in this process, and the place of its sender.
    fn hosted() -> (Place, Self::Receiver) {
        let (sender, receiver) = Self::places();
        (sender, Self::receiver(receiver).unwrap())
    }

    fn set_spin(sender: &mut Self::Sender, polls: u32);
    fn set_receiver_spin(receiver: &mut Self::Receiver, polls: u32);
    /// False: there is no room.
    fn try_send(sender: &mut Self::Sender, message: u64) -> bool;
    fn send(sender: &mut Self::Sender, message: u64, limit: Duration) -> Result<(), Stop>;
    fn recv(receiver: &mut Self::Receiver, limit: Duration) -> Result<u64, Stop>;
    /// `None`: there is no message.
    fn try_recv(receiver: &mut Self::Receiver) -> Result<Option<u64>, Error>;
    fn arm(sender: &mut Self::Sender, message: u64) -> bool;
    fn arm_receiver(receiver: &mut Self::Receiver) -> bool;
    fn is_disconnected(sender: &mut Self::Sender) -> bool;
    fn unread(sender: Self::Sender) -> Option<Vec<u64>>;
}

fn sent<R, T>(outcome: Result<R, SendTimeoutError<T>>) -> Result<R, Stop> {
    outcome.map_err(|error| match error {
        SendTimeoutError::Timeout(_) => Stop::Time,
        SendTimeoutError::Ended(_, error) => Stop::Ended(error),
    })
}

fn received<T>(outcome: Result<T, RecvTimeoutError>) -> Result<T, Stop> {
    outcome.map_err(|error| match error {
        RecvTimeoutError::Timeout => Stop::Time,
        RecvTimeoutError::Ended(error) => Stop::Ended(error),
    })
}

fn polled<T>(outcome: Result<T, TryRecvError>) -> Result<Option<T>, Error> {
    match outcome {
        Ok(message) => Ok(Some(message)),
        Err(TryRecvError::Empty) => Ok(None),
        Err(TryRecvError::Ended(error)) => Err(error),
    }
}

/// Messages that have room, but in `Bytes`.
pub(crate) const CAPACITY: usize = 8;

/// What the kinds whose sender is a [`Sender`] have in common.
macro_rules! sends_numbers {
    ($options:expr) => {
        fn sender(place: Place) -> Result<Self::Sender, Error> {
            $options.sender(place.socket()?, CAPACITY)
        }

        fn set_spin(sender: &mut Self::Sender, polls: u32) {
            sender.set_spin(polls);
        }

        fn try_send(sender: &mut Self::Sender, message: u64) -> bool {
            !matches!(sender.try_send(message), Err(TrySendError::Full(_)))
        }

        fn send(sender: &mut Self::Sender, message: u64, limit: Duration) -> Result<(), Stop> {
            sent(sender.send_timeout(message, limit))
        }

        fn arm(sender: &mut Self::Sender, _message: u64) -> bool {
            sender.arm()
        }

        fn is_disconnected(sender: &mut Self::Sender) -> bool {
            sender.is_disconnected()
        }

        fn unread(sender: Self::Sender) -> Option<Vec<u64>> {
            sender.into_unread().ok()
        }
    };
}

macro_rules! pipe_of_numbers {
    ($kind:ident, $name:literal, $options:expr) => {
        pub(crate) struct $kind;

        impl Kind for $kind {
            const NAME: &'static str = $name;
            type Sender = Sender<u64>;
            type Receiver = Receiver<u64>;

            fn places() -> (Place, Place) {
                let (sender, receiver) = pipe::<u64>(CAPACITY).unwrap();
                (Place::Socket(sender.into_fd().unwrap()), Place::Socket(receiver.into_fd().unwrap()))
            }

            sends_numbers!($options);

            fn receiver(place: Place) -> Result<Self::Receiver, Error> {
                $options.receiver(place.socket()?)
            }

            fn set_receiver_spin(receiver: &mut Self::Receiver, polls: u32) {
                receiver.set_spin(polls);
            }

            fn recv(receiver: &mut Self::Receiver, limit: Duration) -> Result<u64, Stop> {
                received(receiver.recv_timeout(limit))
            }

            fn try_recv(receiver: &mut Self::Receiver) -> Result<Option<u64>, Error> {
                polled(receiver.try_recv())
            }

            fn arm_receiver(receiver: &mut Self::Receiver) -> bool {
                receiver.arm()
            }
        }
    };
}

pipe_of_numbers!(Pipe, "pipe", Options::new());
pipe_of_numbers!(Careful, "careful pipe", Options::new().careful());

pub(crate) struct Bytes;

/// Of changing length, so that records go round the ring in all ways.
fn record(message: u64) -> Vec<u8> {
    let mut record = message.to_le_bytes().to_vec();
    record.extend((0..message * 7 % 30).map(|at| (message + at) as u8));
    record
}

fn number(bytes: &[u8]) -> u64 {
    let message = u64::from_le_bytes(bytes[..8].try_into().expect("a record"));
    assert_eq!(bytes, record(message), "a record is whole");
    message
}

impl Kind for Bytes {
    const NAME: &'static str = "bytes";
    type Sender = BytesSender;
    type Receiver = BytesReceiver;

    fn places() -> (Place, Place) {
        let (sender, receiver) = pipe_bytes(160).unwrap();
        (Place::Socket(sender.into_fd().unwrap()), Place::Socket(receiver.into_fd().unwrap()))
    }

    fn sender(place: Place) -> Result<BytesSender, Error> {
        BytesSender::from_fd(place.socket()?, 160)
    }

    fn receiver(place: Place) -> Result<BytesReceiver, Error> {
        BytesReceiver::from_fd(place.socket()?)
    }

    fn set_spin(sender: &mut BytesSender, polls: u32) {
        sender.set_spin(polls);
    }

    fn set_receiver_spin(receiver: &mut BytesReceiver, polls: u32) {
        receiver.set_spin(polls);
    }

    fn try_send(sender: &mut BytesSender, message: u64) -> bool {
        !matches!(sender.try_send(&record(message)), Err(TrySendError::Full(())))
    }

    fn send(sender: &mut BytesSender, message: u64, limit: Duration) -> Result<(), Stop> {
        sent(sender.send_timeout(&record(message), limit))
    }

    fn recv(receiver: &mut BytesReceiver, limit: Duration) -> Result<u64, Stop> {
        received(receiver.recv_timeout(limit)).map(|bytes| number(&bytes))
    }

    fn try_recv(receiver: &mut BytesReceiver) -> Result<Option<u64>, Error> {
        polled(receiver.try_recv()).map(|found| found.map(|bytes| number(&bytes)))
    }

    fn arm_receiver(receiver: &mut BytesReceiver) -> bool {
        receiver.arm()
    }

    fn arm(sender: &mut BytesSender, message: u64) -> bool {
        sender.arm(record(message).len())
    }

    fn is_disconnected(sender: &mut BytesSender) -> bool {
        sender.is_disconnected()
    }

    fn unread(sender: BytesSender) -> Option<Vec<u64>> {
        sender.into_unread().ok().map(|records| records.iter().map(|record| number(record)).collect())
    }
}

fn name() -> String {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    // ORDERING: Relaxed; the number guards nothing.
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("kills-{}-{number}", std::process::id())
}

/// A funnel with one sender.
pub(crate) struct Single;

impl Kind for Single {
    const NAME: &'static str = "funnel";
    type Sender = Sender<u64>;
    type Receiver = Funnel<u64>;

    fn places() -> (Place, Place) {
        let name = name();
        (Place::Name(name.clone()), Place::Name(name))
    }

    sends_numbers!(Options::new());

    fn receiver(place: Place) -> Result<Funnel<u64>, Error> {
        match place {
            Place::Name(name) => Funnel::bind(&name),
            _ => Funnel::without_name(),
        }
    }

    fn hosted() -> (Place, Funnel<u64>) {
        let mut funnel = Funnel::without_name().unwrap();
        let (_, seat) = funnel.seat().unwrap();
        (Place::Socket(seat), funnel)
    }

    fn set_receiver_spin(receiver: &mut Funnel<u64>, polls: u32) {
        // It has no value for "for ever".
        receiver.set_spin(polls.min(100_000));
    }

    /// Waits for ever: no call waits for the end of a sender and has a limit.
    fn recv(receiver: &mut Funnel<u64>, _limit: Duration) -> Result<u64, Stop> {
        match receiver.recv_event() {
            Ok(Event::Message(_, message)) => Ok(message),
            Ok(Event::Ended(ended)) => Err(Stop::Ended(ended.error)),
            Err(error) => Err(Stop::Ended(error)),
        }
    }

    fn try_recv(receiver: &mut Funnel<u64>) -> Result<Option<u64>, Error> {
        polled(receiver.try_recv())
    }

    fn arm_receiver(receiver: &mut Funnel<u64>) -> bool {
        receiver.arm()
    }
}

/// A work queue with one worker, which finishes each job at once.
pub(crate) struct Work<T = trades::Numbers>(PhantomData<T>);

impl<T: Trade> Kind for Work<T> {
    const NAME: &'static str = T::WORK;
    type Sender = T::Sender;
    type Receiver = WorkReceiver<T::Carried>;

    fn places() -> (Place, Place) {
        let name = name();
        (Place::Host(name.clone()), Place::Name(name))
    }

    fn sender(place: Place) -> Result<T::Sender, Error> {
        let name = if let Place::Host(name) = &place { Some(name.as_str()) } else { None };
        T::work(&Options::new(), name, CAPACITY)
    }

    /// As soon as the sender listens.
    fn receiver(place: Place) -> Result<Self::Receiver, Error> {
        let Place::Name(name) = place else { return WorkReceiver::from_fd(place.socket()?) };
        loop {
            match connect(&name) {
                Ok(socket) => return WorkReceiver::from_fd(socket),
                Err(_) => std::thread::sleep(Duration::from_micros(200)),
            }
        }
    }

    fn set_spin(sender: &mut T::Sender, polls: u32) {
        T::set_spin(sender, polls);
    }

    fn set_receiver_spin(receiver: &mut Self::Receiver, polls: u32) {
        receiver.set_spin(polls);
    }

    fn try_send(sender: &mut T::Sender, message: u64) -> bool {
        T::try_send(sender, message)
    }

    /// Now and then it waits until all are finished as well.
    fn send(sender: &mut T::Sender, message: u64, limit: Duration) -> Result<(), Stop> {
        T::send_timeout(sender, message, limit)?;
        if message % 5 == 0 {
            T::settle_timeout(sender, limit).map_err(Stop::Ended)?;
        }
        Ok(())
    }

    fn recv(receiver: &mut Self::Receiver, limit: Duration) -> Result<u64, Stop> {
        received(receiver.recv_timeout(limit)).map(done::<T>)
    }

    fn try_recv(receiver: &mut Self::Receiver) -> Result<Option<u64>, Error> {
        polled(receiver.try_recv()).map(|job| job.map(done::<T>))
    }

    fn arm(sender: &mut T::Sender, _message: u64) -> bool {
        T::arm(sender)
    }

    fn arm_receiver(receiver: &mut Self::Receiver) -> bool {
        receiver.arm()
    }

    fn is_disconnected(sender: &mut T::Sender) -> bool {
        T::serve(sender, Duration::ZERO);
        T::counts(sender).2 == 0
    }

    /// Jobs are not taken back, but given to others.
    fn unread(_: T::Sender) -> Option<Vec<u64>> {
        None
    }
}

fn done<T: Trade>(job: Job<'_, T::Carried>) -> u64 {
    let number = T::number(&job);
    job.finish();
    number
}

/// Questions of one caller, which waits for some of the answers, and gives the others up.
pub(crate) struct Call<T = trades::Numbers>(PhantomData<T>);

fn few_calls() -> Options {
    Options::new().calls(CAPACITY)
}

pub(crate) fn answer_to(question: u64) -> u64 {
    question ^ 0x5555
}

/// Answers it.
fn asked<T: Trade>(question: Question<T::Carried, T::Carried>) -> u64 {
    let number = T::number(&question);
    T::answer(question, answer_to(number));
    number
}

impl<T: Trade> Kind for Call<T> {
    const NAME: &'static str = T::CALL;
    type Sender = T::Caller;
    type Receiver = Funnel<Question<T::Carried, T::Carried>>;

    fn places() -> (Place, Place) {
        Single::places()
    }

    fn sender(place: Place) -> Result<T::Caller, Error> {
        T::caller(&few_calls(), place.socket()?)
    }

    fn receiver(place: Place) -> Result<Self::Receiver, Error> {
        match place {
            Place::Name(name) => few_calls().funnel(&name),
            _ => few_calls().funnel_without_name(),
        }
    }

    fn hosted() -> (Place, Self::Receiver) {
        let mut funnel = few_calls().funnel_without_name().unwrap();
        let (_, seat) = funnel.seat().unwrap();
        (Place::Socket(seat), funnel)
    }

    fn set_spin(sender: &mut T::Caller, polls: u32) {
        T::set_caller_spin(sender, polls);
    }

    fn set_receiver_spin(receiver: &mut Self::Receiver, polls: u32) {
        receiver.set_spin(polls.min(100_000));
    }

    fn try_send(sender: &mut T::Caller, message: u64) -> bool {
        T::try_ask(sender, message).is_some()
    }

    fn send(sender: &mut T::Caller, message: u64, limit: Duration) -> Result<(), Stop> {
        let call = T::ask_timeout(sender, message, limit)?;
        match (message % 5 < 2).then(|| T::recv(sender, call)) {
            Some(Err(CallError::Ended(error))) => return Err(Stop::Ended(error)),
            outcome => assert!(outcome.is_none_or(|answer| answer == Ok(answer_to(message)))),
        }
        Ok(())
    }

    /// Waits for ever, as [`Single`].
    fn recv(receiver: &mut Self::Receiver, _limit: Duration) -> Result<u64, Stop> {
        match receiver.recv_event() {
            Ok(Event::Message(_, question)) => Ok(asked::<T>(question)),
            Ok(Event::Ended(ended)) => Err(Stop::Ended(ended.error)),
            Err(error) => Err(Stop::Ended(error)),
        }
    }

    fn try_recv(receiver: &mut Self::Receiver) -> Result<Option<u64>, Error> {
        polled(receiver.try_recv()).map(|found| found.map(asked::<T>))
    }

    fn arm(sender: &mut T::Caller, _message: u64) -> bool {
        T::arm_to_ask(sender)
    }

    fn arm_receiver(receiver: &mut Self::Receiver) -> bool {
        receiver.arm()
    }

    fn is_disconnected(sender: &mut T::Caller) -> bool {
        T::is_disconnected(sender)
    }

    /// Questions are not taken back.
    fn unread(_: T::Caller) -> Option<Vec<u64>> {
        None
    }
}
