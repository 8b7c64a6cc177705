//! Mailboxes against a model of them: random operations in one thread, each result compared; then many threads, whose
//! histories are checked. A run that fails prints its seed; `YSUITE_RANDOM` says how many operations there are.
//!
//! What the model promises: each thread's messages in order, urgent ones first except for their turn, what is set aside
//! keeps its position, each message dropped once, ends announced once and after what was sent before.

#[path = "random_model.rs"]
mod model;
#[path = "random_threads.rs"]
mod threads;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use self::model::{Answer, Item, Kind, Model};
use crate::support::{Random, guarded};
use ysuite::mailbox::{Address, Builder, Crowding, Envelope, LinkTerminated, Mailbox, OwnerTerminated, ReceiveError};
use ysuite::mailbox::{RegisterError, SendError, locate, register, unregister};
use ysuite::{receive, receive_timeout};

const NOW: Duration = Duration::ZERO;
/// No mailbox gets longer: then the turns that the model does not know never end.
const LONG: usize = 90;

/// How many operations a test does.
pub(super) fn operations() -> usize {
    std::env::var("YSUITE_RANDOM").ok().and_then(|number| number.parse().ok()).unwrap_or(40_000)
}

/// How often each message has been dropped; the follower of message `n` is `n + most`.
pub(super) struct Ledger {
    drops: Box<[AtomicU8]>,
    nothings: AtomicUsize,
    pub(super) most: usize,
}

impl Ledger {
    pub(super) fn of(most: usize) -> Arc<Self> {
        let drops = (0..2 * most).map(|_| AtomicU8::new(0)).collect();
        Arc::new(Self { drops, nothings: AtomicUsize::new(0), most })
    }

    pub(super) fn drops(&self, id: usize) -> u8 {
        self.drops[id].load(Ordering::Relaxed)
    }
}

/// The number of a message, noted when it is dropped.
pub(super) struct Token {
    pub(super) id: usize,
    pub(super) ledger: Arc<Ledger>,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.ledger.drops[self.id].fetch_add(1, Ordering::Relaxed);
    }
}

/// A message of the model.
trait Letter: Send + Sized + 'static {
    const KIND: Kind;
    fn make(token: Token, to: &Address) -> Self;
    fn id(&self) -> usize;
    /// Not to explode in the test's own hands.
    fn disarm(&mut self) {}
}

struct Small(Token);
struct Boxed(Token, [u64; 5]);
struct Huge(Token, [u8; 9_000]);
#[repr(align(64))]
struct Aligned(Token);
struct Nothing;
/// Sends another message to the same mailbox when it is dropped.
struct Echo(Token, Address);
/// Panics when it is dropped.
struct Bomb(Token, bool);

macro_rules! letters {
    ($($name:ident $make:expr;)*) => {
        $(impl Letter for $name {
            const KIND: Kind = Kind::$name;
            fn make(token: Token, to: &Address) -> Self {
                let make: fn(Token, &Address) -> Self = $make;
                make(token, to)
            }
            fn id(&self) -> usize {
                self.0.id
            }
        })*
    };
}

letters! {
    Small |token, _| Self(token);
    Boxed |token, _| { let id = token.id as u64; Self(token, [id; 5]) };
    Huge |token, _| { let id = token.id as u8; Self(token, [id; 9_000]) };
    Aligned |token, _| Self(token);
    Echo |token, to| Self(token, to.clone());
}

/// How many of these have been dropped. One test only has any.
static NOTHINGS: AtomicUsize = AtomicUsize::new(0);

impl Letter for Nothing {
    const KIND: Kind = Kind::Nothing;
    fn make(token: Token, _: &Address) -> Self {
        token.ledger.nothings.fetch_add(1, Ordering::Relaxed);
        Self
    }
    fn id(&self) -> usize {
        0
    }
}

impl Letter for Bomb {
    const KIND: Kind = Kind::Bomb;
    fn make(token: Token, _: &Address) -> Self {
        Self(token, true)
    }
    fn id(&self) -> usize {
        self.0.id
    }
    fn disarm(&mut self) {
        self.1 = false;
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        NOTHINGS.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let token = Token { id: self.0.id + self.0.ledger.most, ledger: self.0.ledger.clone() };
        drop(self.1.send(Small(token)));
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.1 && !thread::panicking() {
            // Without a word.
            resume_unwind(Box::new("a bomb"));
        }
    }
}

impl Drop for Boxed {
    fn drop(&mut self) {
        assert_eq!(self.1, [self.0.id as u64; 5]);
    }
}

impl Drop for Huge {
    fn drop(&mut self) {
        assert!(self.1.iter().all(|byte| *byte == self.0.id as u8));
    }
}

/// `None`: a bomb has exploded.
fn defused<R>(act: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(done) => Some(done),
        Err(panic) if panic.downcast_ref() == Some(&"a bomb") => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// The number in an address's name.
fn number(address: &Address) -> u64 {
    address.to_string().split(' ').nth(1).unwrap().parse().unwrap()
}

fn heard<T: Letter>(answer: Result<T, ReceiveError>) -> Answer {
    match answer {
        Ok(mut letter) => {
            letter.disarm();
            Answer::Message(T::KIND, letter.id())
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &ReceiveError) -> Answer {
    match error {
        ReceiveError::LinkTerminated(end) => Answer::End { owner: false, of: number(end.address()), handled: false },
        ReceiveError::OwnerTerminated(end) => Answer::End { owner: true, of: number(end.address()), handled: false },
        ReceiveError::Disconnected => Answer::Disconnected,
        ReceiveError::Timeout => Answer::Timeout,
        ReceiveError::Mismatch { .. } => Answer::Mismatch,
    }
}

/// The mailboxes, and what the model says of them.
struct World {
    random: Random,
    model: Model,
    /// With the addresses that the test has of each.
    alive: BTreeMap<u64, (Mailbox, Vec<Address>)>,
    /// Some that have ended.
    ended: Vec<Address>,
    ledger: Arc<Ledger>,
    made: usize,
    name: String,
}

impl World {
    fn some(&mut self) -> u64 {
        let at = self.random.below(self.alive.len());
        *self.alive.keys().nth(at).unwrap()
    }

    fn begin(&mut self) {
        let bound = match self.random.below(6) {
            0 => Some(Crowding::Block),
            1 => Some(Crowding::Error),
            2 => Some(Crowding::DropNewest),
            3 => Some(Crowding::DropOldest),
            _ => None,
        };
        let bound = bound.map(|crowding| (1 + self.random.below(6), crowding));
        let mut builder = Builder::new();
        if let Some((capacity, crowding)) = bound {
            builder = builder.bounded(capacity, crowding);
        }
        let owner = (self.random.below(8) == 0 && !self.alive.is_empty()).then(|| self.some());
        let linked = self.random.below(2) == 0;
        let mut mailbox = match owner {
            None => builder.build(),
            Some(owner) => {
                // The thread that is started for it gives it away.
                let (tell, told) = std::sync::mpsc::channel();
                let run = move |mailbox: &mut Mailbox| tell.send(std::mem::take(mailbox)).unwrap();
                let owner = &mut self.alive.get_mut(&owner).unwrap().0;
                let spawn = if linked { Builder::spawn_linked } else { Builder::spawn_owned };
                let (address, thread) = spawn(builder, owner, run).unwrap();
                thread.join().unwrap();
                drop(address);
                told.recv().unwrap()
            }
        };
        let address = mailbox.address();
        let id = number(&address);
        // From here on it is known whose it is.
        assert!(mailbox.receive_timeout::<()>(NOW).is_err());
        self.model.begin(id, bound, owner, linked);
        self.alive.insert(id, (mailbox, vec![address]));
    }

    fn end(&mut self) {
        let id = self.some();
        let (mailbox, mut addresses) = self.alive.remove(&id).unwrap();
        let address = mailbox.address();
        addresses.clear();
        let whole = defused(|| drop(mailbox)).is_some();
        let gone = self.model.end(id);
        if whole {
            assert!(gone.iter().all(|id| self.ledger.drops(*id) == 1), "all is dropped with mailbox {id}");
        }
        if self.ended.len() > 8 {
            let at = self.random.below(8);
            drop(self.ended.swap_remove(at));
        }
        self.ended.push(address);
    }

    /// An address of a mailbox, or of one that has ended.
    fn address(&mut self, of: u64) -> Option<Address> {
        let (mailbox, addresses) = &self.alive[&of];
        match self.random.below(40) {
            0 => self.ended.last().cloned(),
            1 => Some(mailbox.address()),
            _ => addresses.first().cloned(),
        }
    }

    fn send(&mut self, kind: Kind, urgent: bool) {
        let id = self.some();
        let Some(address) = self.address(id) else { return };
        let id = number(&address);
        if self.model.len(id) >= LONG || self.made == self.ledger.most {
            return;
        }
        let token = Token { id: self.made, ledger: self.ledger.clone() };
        self.made += 1;
        let item = Item::Message(kind, token.id, id);
        let sent = match kind {
            Kind::Small => post::<Small>(&address, token, urgent),
            Kind::Boxed => post::<Boxed>(&address, token, urgent),
            Kind::Huge => post::<Huge>(&address, token, urgent),
            Kind::Aligned => post::<Aligned>(&address, token, urgent),
            Kind::Nothing => post::<Nothing>(&address, token, urgent),
            Kind::Echo => post::<Echo>(&address, token, urgent),
            Kind::Bomb => post::<Bomb>(&address, token, urgent),
        };
        drop(address);
        let expected = self.model.send(id, item, urgent);
        assert!(sent.is_none_or(|sent| sent == expected), "sending {kind:?} to {id}: {sent:?}, not {expected:?}");
    }

    fn receive(&mut self) {
        let id = self.some();
        let form = self.random.below(10);
        let kind = Kind::ALL[self.random.below(Kind::ALL.len())];
        let expected = match form {
            0..5 => self.model.receive(id, |item| matches!(item, Item::Message(is, ..) if *is == kind)),
            5 => self.model.receive(id, |item| match item {
                Item::Message(Kind::Small, id, _) => id % 2 == 0,
                Item::Message(Kind::Boxed, id, _) => id % 3 == 0,
                Item::Message(..) => false,
                Item::End { owner, .. } => !owner,
            }),
            6 => self.model.receive(id, |_| true),
            7 => self.model.receive_only(id, kind),
            8 => self.model.receive(id, |item| matches!(item, Item::End { owner: false, .. })),
            _ => self.model.receive(id, |item| matches!(item, Item::End { owner: true, .. })),
        };
        let mailbox = &mut self.alive.get_mut(&id).unwrap().0;
        // Waits where it need not: a wake-up is not what this is about.
        let waits = expected != Answer::Timeout && self.random.below(2) == 0;
        let answer = defused(|| match form {
            0..5 => by_kind(mailbox, kind, waits),
            5 => by_pattern(mailbox, waits),
            6 => match if waits {
                receive!(mailbox => { other => other, })
            } else {
                receive_timeout!(mailbox, NOW => { other => other, })
            } {
                Ok(envelope) => opened(envelope),
                Err(error) => failed(&error),
            },
            7 => match kind {
                _ if expected == Answer::Timeout => by_kind(mailbox, kind, false),
                Kind::Small => heard(mailbox.receive_only::<Small>()),
                Kind::Boxed => heard(mailbox.receive_only::<Boxed>()),
                Kind::Huge => heard(mailbox.receive_only::<Huge>()),
                Kind::Aligned => heard(mailbox.receive_only::<Aligned>()),
                Kind::Nothing => heard(mailbox.receive_only::<Nothing>()),
                Kind::Echo => heard(mailbox.receive_only::<Echo>()),
                Kind::Bomb => heard(mailbox.receive_only::<Bomb>()),
            },
            8 => match mailbox.receive_timeout::<LinkTerminated>(NOW) {
                Ok(end) => Answer::End { owner: false, of: number(end.address()), handled: true },
                Err(error) => failed(&error),
            },
            _ => match mailbox.receive_timeout::<OwnerTerminated>(NOW) {
                Ok(end) => Answer::End { owner: true, of: number(end.address()), handled: true },
                Err(error) => failed(&error),
            },
        });
        // It is dropped here, where it is received.
        if let Answer::Message(kind, message) = expected {
            self.model.drop_received(kind, message);
        }
        let same = |answer: Answer| match (answer, expected) {
            (Answer::Message(Kind::Nothing, _), Answer::Message(Kind::Nothing, _)) => true,
            (answer, expected) => answer == expected,
        };
        assert!(answer.is_none_or(same), "receiving form {form} ({kind:?}) of {id}: {answer:?}, not {expected:?}");
    }

    fn addresses(&mut self) {
        let id = self.some();
        let add = self.random.below(2) == 0;
        let (mailbox, addresses) = self.alive.get_mut(&id).unwrap();
        if add {
            addresses.push(addresses.first().map_or_else(|| mailbox.address(), Address::clone));
        } else {
            addresses.pop();
        }
        self.model.hold(id, addresses.len());
    }

    fn link(&mut self) {
        let (one, two) = (self.some(), self.some());
        let to = match self.random.below(8) {
            0 => self.ended.last().cloned(),
            _ => Some(self.alive[&two].0.address()),
        };
        let Some(to) = to else { return };
        let unlink = self.random.below(3) == 0;
        let mailbox = &mut self.alive.get_mut(&one).unwrap().0;
        if unlink {
            mailbox.unlink(&to);
            self.model.unlink(one, number(&to));
        } else if self.model.len(one) < LONG {
            mailbox.link(&to);
            self.model.link(one, number(&to));
        }
    }

    fn names(&mut self) {
        let name = format!("{} {}", self.name, self.random.below(6));
        let id = self.some();
        match self.random.below(3) {
            0 => {
                let Some(address) = self.address(id) else { return };
                let registered = register(&name, &address);
                let expected = match (self.model.is_alive(number(&address)), self.model.names.get(&name)) {
                    (false, _) => Err(RegisterError::Ended),
                    (true, Some(_)) => Err(RegisterError::Taken),
                    (true, None) => {
                        self.model.names.insert(name, number(&address));
                        Ok(())
                    }
                };
                assert_eq!(registered, expected);
            }
            1 => assert_eq!(locate(&name).map(|at| number(&at)), self.model.names.get(&name).copied()),
            _ => assert_eq!(unregister(&name).map(|at| number(&at)), self.model.names.remove(&name)),
        }
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..45 => {
                let kind = Kind::ALL[self.random.below(Kind::ALL.len())];
                // A bomb or a large one is seldom.
                let kind = if self.random.below(3) == 0 { kind } else { Kind::Small };
                let urgent = self.random.below(4) == 0;
                self.send(kind, urgent);
            }
            45..80 => self.receive(),
            80..87 => self.addresses(),
            87..91 => self.link(),
            91..95 => self.names(),
            95 => (0..40).for_each(|_| {
                self.send(Kind::Small, true);
                self.receive();
            }),
            96 | 97 if self.alive.len() > 2 => self.end(),
            _ if self.alive.len() < 6 => self.begin(),
            _ => self.receive(),
        }
        for (id, (mailbox, _)) in &self.alive {
            assert_eq!(mailbox.set_aside(), self.model.set_aside(*id), "set aside in {id}");
            assert_eq!(mailbox.owner().map(|owner| number(&owner)), self.model.owner(*id), "owner of {id}");
        }
    }
}

fn post<T: Letter>(address: &Address, token: Token, urgent: bool) -> Option<Result<(), bool>> {
    let letter = T::make(token, address);
    defused(|| {
        let sent = if urgent { address.send_priority(letter) } else { address.send(letter) };
        sent.map_err(|error| {
            let is_full = matches!(error, SendError::Full(_));
            error.into_inner().disarm();
            is_full
        })
    })
}

fn by_kind(mailbox: &mut Mailbox, kind: Kind, waits: bool) -> Answer {
    fn one<T: Letter>(mailbox: &mut Mailbox, waits: bool) -> Answer {
        heard(if waits { mailbox.receive::<T>() } else { mailbox.receive_timeout::<T>(NOW) })
    }
    match kind {
        Kind::Small => one::<Small>(mailbox, waits),
        Kind::Boxed => one::<Boxed>(mailbox, waits),
        Kind::Huge => one::<Huge>(mailbox, waits),
        Kind::Aligned => one::<Aligned>(mailbox, waits),
        Kind::Nothing => one::<Nothing>(mailbox, waits),
        Kind::Echo => one::<Echo>(mailbox, waits),
        Kind::Bomb => one::<Bomb>(mailbox, waits),
    }
}

fn by_pattern(mailbox: &mut Mailbox, waits: bool) -> Answer {
    let timeout = if waits { Duration::MAX } else { NOW };
    let answer = receive_timeout!(mailbox, timeout => {
        small: Small where small.0.id % 2 == 0 => heard(Ok(small)),
        boxed: Boxed where boxed.0.id % 3 == 0 => heard(Ok(boxed)),
        end: LinkTerminated => Answer::End { owner: false, of: number(end.address()), handled: true },
    });
    answer.unwrap_or_else(|error| failed(&error))
}

fn opened(envelope: Envelope) -> Answer {
    fn try_open<T: Letter>(envelope: Envelope) -> Result<Answer, Envelope> {
        envelope.downcast::<T>().map(|letter| heard(Ok(letter)))
    }
    let answer = try_open::<Small>(envelope)
        .or_else(try_open::<Boxed>)
        .or_else(try_open::<Huge>)
        .or_else(try_open::<Aligned>)
        .or_else(try_open::<Nothing>)
        .or_else(try_open::<Echo>)
        .or_else(try_open::<Bomb>);
    answer.unwrap_or_else(|envelope| {
        if let Some(end) = envelope.downcast_ref::<LinkTerminated>() {
            return Answer::End { owner: false, of: number(end.address()), handled: true };
        }
        let end = envelope.downcast_ref::<OwnerTerminated>().expect("one of the model's");
        Answer::End { owner: true, of: number(end.address()), handled: true }
    })
}

fn run(seed: u64, steps: usize) {
    let ledger = Ledger::of(steps * 2 + 100);
    let (kept, made) = (ledger.clone(), Arc::new(AtomicUsize::new(0)));
    let all = made.clone();
    // In a thread that ends, and its lanes with it.
    let thread = thread::Builder::new().stack_size(8 << 20).spawn(move || {
        let (random, name) = (Random::new(seed), format!("random {seed}"));
        let model = Model::new(kept.most);
        let mut world = World { random, model, alive: BTreeMap::new(), ended: Vec::new(), ledger: kept, made: 0, name };
        (0..3).for_each(|_| world.begin());
        for step in 0..steps {
            if catch_unwind(AssertUnwindSafe(|| world.step())).is_err() {
                panic!("seed {seed}, step {step}");
            }
        }
        while !world.alive.is_empty() {
            world.end();
        }
        assert_eq!(world.model.names.len(), 0);
        all.store(world.made, Ordering::Relaxed);
    });
    assert!(thread.unwrap().join().is_ok(), "seed {seed}");
    let nothings = NOTHINGS.swap(0, Ordering::Relaxed);
    assert_eq!(nothings, ledger.nothings.load(Ordering::Relaxed), "messages without a size, seed {seed}");
    for id in 0..made.load(Ordering::Relaxed) {
        assert_eq!(ledger.drops(id), 1, "drops of message {id}, seed {seed}");
        assert!(ledger.drops(id + ledger.most) <= 1, "drops of what followed message {id}, seed {seed}");
    }
}

#[test]
fn random_operations_do_what_the_model_does() {
    let all = operations();
    let each = 5_000.min(all);
    (0..all.div_ceil(each)).for_each(|seed| guarded(move || run(seed as u64, each)));
}
