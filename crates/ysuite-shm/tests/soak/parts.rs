//! What homes and members do, until they are told to leave, or are killed.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ysuite_shm::{
    BroadcastError, BroadcastReceiver, BroadcastSender, CallError, Error, Funnel, Listener, Options, Pending, Question,
    RecvTimeoutError, WatchReceiver, WatchSender, WorkReceiver,
};

use crate::board::{Board, Ending, JOBS, Line, Phase, Random, Wish, Word};
use crate::kinds::trades::Trade;
use crate::kinds::{Kind, Place, Stop, answer_to};

/// Jobs that a worker may have.
pub(crate) const CREDIT: usize = 3;
/// Calls that a caller may have under way.
const CALLS: usize = 4;
/// Messages that have room in a broadcast.
const CAPACITY: usize = 20;

/// A process of a round.
pub(crate) struct Part<'a> {
    pub(crate) board: &'a Board,
    pub(crate) name: &'a str,
    pub(crate) line: Line,
    pub(crate) seed: u64,
    pub(crate) is_careful: bool,
}

/// A message of a member: its line, and the number of the message.
fn message(line: Line, number: u64) -> u64 {
    line.number() << 40 | number
}

fn parts_of(message: u64) -> (u64, u64) {
    (message >> 40, message & ((1 << 40) - 1))
}

pub(crate) fn ending(error: Error) -> u64 {
    match error {
        Error::Closed => Ending::Closed as u64,
        Error::Died => Ending::Died as u64,
        Error::Refused(_) => Ending::Refused as u64,
        Error::Broken => panic!("nobody lies"),
    }
}

const LEFT: u64 = Ending::Left as u64;

impl Part<'_> {
    fn options(&self) -> Options {
        if self.is_careful { Options::new().careful() } else { Options::new() }
    }

    fn random(&self) -> Random {
        Random::new(self.seed)
    }

    fn get(&self, word: Word) -> u64 {
        self.board.get(self.line, word)
    }

    fn set(&self, word: Word, value: u64) {
        self.board.set(self.line, word, value);
    }

    /// It has sent or received something.
    fn moved(&self) {
        self.set(Word::Moves, self.get(Word::Moves) + 1);
    }

    pub(crate) fn is_to(&self, wish: Wish) -> bool {
        self.board.wish(self.line) >= wish
    }

    fn reached(&self, phase: Phase) {
        self.set(Word::Noticed, phase as u64);
    }

    /// Who may wait for ever is never told to leave: the wake-ups must do.
    fn limit(&self, random: &mut Random) -> Duration {
        if is_patient(self.line) { Duration::MAX } else { Duration::from_micros(random.below(2_000)) }
    }

    /// A socket of the home, unless that has ended, or this one is told to leave.
    pub(crate) fn connect(&self) -> Option<OwnedFd> {
        loop {
            if self.is_to(Wish::Leave) || self.board.get(Line::HOME, Word::End) != 0 {
                return None;
            }
            match self.options().connect(self.name) {
                Ok(socket) => return Some(socket),
                Err(_) => std::thread::sleep(Duration::from_micros(200)),
            }
        }
    }

    /// The next who connects to this home; `None`: it is told to leave.
    fn accept(&self, listener: &Listener) -> Option<OwnedFd> {
        loop {
            if self.is_to(Wish::Leave) {
                return None;
            }
            if let Some(socket) = listener.try_accept().unwrap() {
                return Some(socket);
            }
            if self.is_to(Wish::Alone) {
                self.reached(Phase::Alone);
            } else if self.is_to(Wish::Calm) {
                self.reached(Phase::Quiet);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// A home without anything to send: what it says, and for how long it may serve. `None`: it goes on sending.
    fn is_calm(&self, is_quiet: bool, members: usize) -> Option<Duration> {
        if !self.is_to(Wish::Calm) {
            return None;
        }
        if self.is_to(Wish::Alone) && members == 0 {
            self.reached(Phase::Alone);
        } else if is_quiet && !self.is_to(Wish::Alone) {
            self.reached(Phase::Quiet);
        }
        Some(Duration::from_millis(1))
    }
}

/// Every other member waits without a limit.
pub(crate) fn is_patient(line: Line) -> bool {
    line.number() % 2 == 0
}

fn looks(random: &mut Random) -> u32 {
    [0, 0, 1, 20, 100, 400][random.below(6) as usize]
}

/// A member that sends. What has not been consumed comes back to it when the home has ended.
pub(crate) fn send_to<K: Kind>(part: &Part, socket: OwnedFd) -> u64 {
    let (mut random, mut sent) = (part.random(), 0);
    let mut sender = K::sender(Place::Socket(socket)).unwrap();
    let error = loop {
        if part.is_to(Wish::Leave) {
            return LEFT;
        }
        K::set_spin(&mut sender, looks(&mut random));
        match K::send(&mut sender, message(part.line, sent), part.limit(&mut random)) {
            Ok(()) => sent += 1,
            Err(Stop::Time) => continue,
            Err(Stop::Ended(error)) => break error,
        }
        part.set(Word::Sent, sent);
        part.moved();
        if random.once_in(4) {
            random.breathe();
        }
    };
    let unread = K::unread(sender).expect("it has ended");
    let first = sent - unread.len() as u64;
    assert!(unread.into_iter().eq((first..sent).map(|number| message(part.line, number))), "what comes back");
    part.set(Word::First, first + 1);
    ending(error)
}

/// Takes notice of a message of a member: in order, each once.
fn receive(part: &Part, received: u64) -> Line {
    let (from, number) = parts_of(received);
    let from = Line::member(from as usize);
    assert_eq!(part.board.get(from, Word::Received), number, "in order, each once");
    part.board.set(from, Word::Received, number + 1);
    part.moved();
    from
}

/// A home that receives of one member after the other.
pub(crate) fn receive_in_turn<K: Kind>(part: &Part) {
    let mut random = part.random();
    let listener = part.options().listen(part.name).unwrap();
    part.reached(Phase::Ready);
    while let Some(socket) = part.accept(&listener) {
        let mut receiver = K::receiver(Place::Socket(socket)).unwrap();
        let mut from = None;
        loop {
            K::set_receiver_spin(&mut receiver, looks(&mut random));
            match K::recv(&mut receiver, Duration::from_micros(random.below(20_000))) {
                Ok(message) => from = Some(receive(part, message)),
                Err(Stop::Time) => {}
                Err(Stop::Ended(error)) => {
                    from.inspect(|from| part.board.set(*from, Word::Noticed, ending(error)));
                    break;
                }
            }
            if part.is_to(Wish::Leave) {
                return;
            }
        }
    }
}

/// A home that sends to one member after the other, each in its turn.
pub(crate) fn send_in_turn<K: Kind>(part: &Part) {
    let (mut random, mut turn) = (part.random(), 0);
    let listener = part.options().listen(part.name).unwrap();
    part.reached(Phase::Ready);
    while let Some(socket) = part.accept(&listener) {
        let (line, mut sent) = (Line::turn(turn), 0);
        turn += 1;
        let mut sender = K::sender(Place::Socket(socket)).unwrap();
        let error = loop {
            if part.is_to(Wish::Leave) {
                return;
            }
            K::set_spin(&mut sender, looks(&mut random));
            match K::send(&mut sender, message(line, sent), Duration::from_micros(random.below(20_000))) {
                Ok(()) => sent += 1,
                Err(Stop::Time) => continue,
                Err(Stop::Ended(error)) => break error,
            }
            part.board.set(line, Word::Sent, sent);
            part.moved();
        };
        let unread = K::unread(sender).expect("it has ended");
        let first = sent - unread.len() as u64;
        assert!(unread.into_iter().eq((first..sent).map(|number| message(line, number))), "what comes back");
        part.board.set(line, Word::First, first + 1);
        part.board.set(line, Word::Noticed, ending(error));
    }
}

/// A member that receives what is sent to it alone.
pub(crate) fn receive_from<K: Kind>(part: &Part, socket: OwnedFd) -> u64 {
    let mut random = part.random();
    let mut receiver = K::receiver(Place::Socket(socket)).unwrap();
    let (mut turn, mut next) = (0, 0);
    loop {
        if part.is_to(Wish::Leave) {
            return LEFT;
        }
        K::set_receiver_spin(&mut receiver, looks(&mut random));
        match K::recv(&mut receiver, part.limit(&mut random)) {
            Ok(message) => {
                let (line, number) = parts_of(message);
                assert!(number == next && (turn == 0 || turn == line), "in order, each once");
                (turn, next) = (line, number + 1);
                // Before the message counts: else it would be that of nobody.
                part.set(Word::Other, turn + 1);
                part.set(Word::Received, next);
                part.moved();
            }
            Err(Stop::Time) => {}
            Err(Stop::Ended(error)) => return ending(error),
        }
        if random.once_in(4) {
            random.breathe();
        }
    }
}

/// A home that receives of all members.
pub(crate) fn funnel(part: &Part) {
    let (mut random, mut senders) = (part.random(), HashMap::new());
    let mut funnel: Funnel<u64> = part.options().funnel(part.name).unwrap();
    part.reached(Phase::Ready);
    while !part.is_to(Wish::Leave) {
        funnel.set_spin(looks(&mut random));
        match funnel.recv_from_timeout(Duration::from_micros(random.below(20_000))) {
            Ok((sender, message)) => _ = senders.insert(sender, receive(part, message)),
            Err(RecvTimeoutError::Timeout) => {
                part.is_calm(true, funnel.senders());
            }
            Err(RecvTimeoutError::Ended(error)) => panic!("{error}"),
        }
        while let Some(ended) = funnel.next_ended() {
            let from = senders.get(&ended.sender);
            from.inspect(|from| part.board.set(**from, Word::Noticed, ending(ended.error)));
        }
    }
}

pub(crate) fn broadcast(part: &Part) {
    send_to_all(part, part.options().broadcast(part.name, CAPACITY).unwrap());
}

pub(crate) fn lossy_broadcast(part: &Part) {
    send_to_all(part, part.options().lossy().broadcast(part.name, CAPACITY).unwrap());
}

fn send_to_all(part: &Part, mut sender: BroadcastSender<u64>) {
    let (mut random, mut next) = (part.random(), 0);
    part.reached(Phase::Ready);
    while !part.is_to(Wish::Leave) {
        if let Some(limit) = part.is_calm(true, sender.receivers()) {
            sender.serve_timeout(limit);
            continue;
        }
        sender.set_spin(looks(&mut random));
        sender.send(next);
        next += 1;
        part.set(Word::Sent, next);
        part.moved();
        if random.once_in(4) {
            random.breathe();
        }
    }
}

/// A member of a broadcast, lossy or not.
pub(crate) fn receive_all(part: &Part, socket: OwnedFd) -> u64 {
    let mut random = part.random();
    let mut receiver: BroadcastReceiver<u64> = part.options().broadcast_receiver(socket).unwrap();
    let mut next = None;
    loop {
        if part.is_to(Wish::Leave) {
            return LEFT;
        }
        receiver.set_spin(looks(&mut random));
        let received = match receiver.recv_timeout(part.limit(&mut random)) {
            Ok(message) => {
                assert!(next.is_none_or(|next| message == next), "{message} behind {next:?}");
                message + 1
            }
            // Those that come before the first are nobody's.
            Err(BroadcastError::Lagged(lost)) => match next {
                Some(next) => next + lost,
                None => continue,
            },
            Err(BroadcastError::Empty) => continue,
            Err(BroadcastError::Ended(error)) => return ending(error),
        };
        part.set(Word::Received, received);
        if next.is_none() {
            part.set(Word::First, received);
        }
        next = Some(received);
        part.moved();
        if random.once_in(8) {
            random.breathe();
        }
    }
}

/// More than a line of a cache.
type Value = [u64; 20];

pub(crate) fn watch(part: &Part) {
    let (mut random, mut value) = (part.random(), 0);
    let mut sender: WatchSender<Value> = part.options().watch(part.name, [0; 20]).unwrap();
    part.reached(Phase::Ready);
    while !part.is_to(Wish::Leave) {
        if let Some(limit) = part.is_calm(true, sender.receivers()) {
            sender.serve_timeout(limit);
            continue;
        }
        value += 1;
        sender.send([value; 20]);
        part.set(Word::Sent, value);
        part.moved();
        if random.once_in(4) {
            random.breathe();
        }
    }
}

/// A member of a watch.
pub(crate) fn receive_newest(part: &Part, socket: OwnedFd) -> u64 {
    let mut random = part.random();
    let mut receiver: WatchReceiver<Value> = part.options().watch_receiver(socket).unwrap();
    let mut last = None;
    loop {
        if part.is_to(Wish::Leave) {
            return LEFT;
        }
        receiver.set_spin(looks(&mut random));
        match receiver.recv_timeout(part.limit(&mut random)) {
            Ok(value) => {
                assert!(value.iter().all(|word| *word == value[0]), "a value is whole: {value:?}");
                assert!(last.is_none_or(|last| value[0] > last), "{} behind {last:?}", value[0]);
                part.set(Word::Received, value[0]);
                if last.is_none() {
                    part.set(Word::First, value[0] + 1);
                }
                last = Some(value[0]);
                part.moved();
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Ended(error)) => return ending(error),
        }
        if random.once_in(8) {
            random.breathe();
        }
    }
}

pub(crate) fn give_work<T: Trade>(part: &Part) {
    let (mut random, mut jobs) = (part.random(), 0);
    let mut sender = T::work(&part.options(), Some(part.name), CREDIT).unwrap();
    part.reached(Phase::Ready);
    while !part.is_to(Wish::Leave) && jobs < JOBS as u64 {
        T::set_spin(&mut sender, looks(&mut random));
        let (_, unfinished, workers) = T::counts(&sender);
        if let Some(limit) = part.is_calm(unfinished == 0, workers) {
            let is_settled = T::settle_timeout(&mut sender, limit).unwrap();
            let (finished, unfinished, _) = T::counts(&sender);
            assert_eq!(is_settled, finished == jobs && unfinished == 0);
            T::serve(&mut sender, limit);
            continue;
        }
        match T::send_timeout(&mut sender, jobs, Duration::from_micros(random.below(20_000))) {
            Ok(()) => jobs += 1,
            Err(Stop::Time) => continue,
            Err(Stop::Ended(error)) => panic!("{error}"),
        }
        part.set(Word::Sent, jobs);
        part.moved();
        if random.once_in(8) {
            random.breathe();
        }
    }
}

/// A worker, which gives some jobs back.
pub(crate) fn do_work<T: Trade>(part: &Part, socket: OwnedFd) -> u64 {
    let mut random = part.random();
    let mut worker: WorkReceiver<T::Carried> = part.options().work_receiver(socket).unwrap();
    loop {
        if part.is_to(Wish::Leave) {
            return LEFT;
        }
        worker.set_spin(looks(&mut random));
        match worker.recv_timeout(part.limit(&mut random)) {
            Ok(job) => {
                // ORDERING: SeqCst; a test.
                part.board.begun(T::number(&job)).fetch_add(1, Ordering::SeqCst);
                if random.once_in(4) {
                    random.breathe();
                }
                part.moved();
                if random.once_in(32) {
                    part.board.add(part.line, Word::Other);
                    drop(job);
                } else {
                    job.finish();
                    part.board.add(part.line, Word::Received);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Ended(error)) => return ending(error),
        }
    }
}

/// Questions that the home drops, and those whose calls the caller gives up, by their numbers.
fn is_dropped(number: u64) -> bool {
    number % 8 == 3
}

fn is_given_up(number: u64) -> bool {
    number % 8 == 5
}

/// A home that answers all members, some later and in another order than they have asked.
pub(crate) fn answer<T: Trade>(part: &Part) {
    let (mut random, mut callers, mut held) = (part.random(), HashMap::new(), Vec::new());
    // It goes before the questions that are held: nobody is told of their drop.
    let mut funnel: Funnel<Question<T::Carried, T::Carried>> = part.options().calls(CALLS).funnel(part.name).unwrap();
    part.reached(Phase::Ready);
    while !part.is_to(Wish::Leave) {
        funnel.set_spin(looks(&mut random));
        let mut most = random.below(4);
        match funnel.recv_from_timeout(Duration::from_micros(random.below(if held.is_empty() { 20_000 } else { 300 })))
        {
            Ok((caller, question)) => {
                callers.insert(caller, receive(part, T::number(&question)));
                held.push(question);
            }
            Err(RecvTimeoutError::Timeout) => most = 0,
            Err(RecvTimeoutError::Ended(error)) => panic!("{error}"),
        }
        while held.len() as u64 > most {
            end_call::<T>(part, held.swap_remove(random.below(held.len() as u64) as usize));
        }
        part.is_calm(held.is_empty(), funnel.senders());
        while let Some(ended) = funnel.next_ended() {
            let from = callers.get(&ended.sender);
            from.inspect(|from| part.board.set(**from, Word::Noticed, ending(ended.error)));
        }
    }
}

fn end_call<T: Trade>(part: &Part, question: Question<T::Carried, T::Carried>) {
    let message = T::number(&question);
    let (from, number) = parts_of(message);
    if is_dropped(number) {
        drop(question)
    } else {
        T::answer(question, answer_to(message))
    }
    if !is_given_up(number) {
        part.board.add(Line::of(from), Word::Other);
    }
}

/// A member that asks, in turn and several times at once; with the home, all calls end that it has not ended.
pub(crate) fn ask<T: Trade>(part: &Part, socket: OwnedFd) -> u64 {
    let (mut random, mut asked, mut pending) = (part.random(), 0, Vec::new());
    let mut caller = T::caller(&part.options().calls(CALLS), socket).unwrap();
    let error = loop {
        if part.is_to(Wish::Leave) {
            return LEFT;
        }
        T::set_caller_spin(&mut caller, looks(&mut random));
        let limit = part.limit(&mut random);
        // Who has all of them under way does not ask: it would wait for itself.
        if pending.len() as u64 > random.below(CALLS as u64) {
            let call = pending.swap_remove(random.below(pending.len() as u64) as usize);
            match see_end::<T>(part, &mut caller, call, limit) {
                Ok(not_yet) => pending.extend(not_yet),
                Err(error) => break error,
            }
        } else {
            match T::ask_timeout(&mut caller, message(part.line, asked), limit) {
                Ok(call) => pending.push((asked, call)),
                Err(Stop::Time) => continue,
                Err(Stop::Ended(error)) => break error,
            }
            asked += 1;
            part.set(Word::Sent, asked);
        }
        if random.once_in(4) {
            random.breathe();
        }
    };
    for call in pending {
        let end = see_end::<T>(part, &mut caller, call, Duration::MAX);
        assert!(end.as_ref().map_or_else(|again| *again == error, Option::is_none), "{error:?}, and then {end:?}");
    }
    ending(error)
}

/// How a call ends, unless it is given up: as the home has ended it, or with the home. The call, if it has not ended yet.
fn see_end<T: Trade>(
    part: &Part,
    caller: &mut T::Caller,
    (number, call): (u64, Pending),
    limit: Duration,
) -> Result<Option<(u64, Pending)>, Error> {
    if is_given_up(number) {
        return Ok(None);
    }
    match T::recv_timeout(caller, call, limit) {
        Ok(answer) => {
            assert!(!is_dropped(number) && answer == answer_to(message(part.line, number)), "{answer} to {number}")
        }
        Err(CallError::Unanswered) => assert!(is_dropped(number), "{number} was not dropped"),
        Err(CallError::NotYet(call)) => return Ok(Some((number, call))),
        Err(CallError::Ended(error)) => return Err(error),
    }
    part.moved();
    Ok(None)
}
