//! Random operations against a model: which blocks are out, how long each message is and what it holds, and how many are
//! free in each class. Several threads are at work, one at a time, so the model knows what each operation must return.
//! Then several at once, with counts that must balance.
//!
//! `YSUITE_RANDOM` is the number of operations, 40,000 where it is not set.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ysuite::pool::{Message, Pool, PoolBox};

use super::late::late;
use super::{all, guarded};
use crate::support::Random;

fn operations() -> u64 {
    std::env::var("YSUITE_RANDOM").ok().map_or(40_000, |number| number.parse().expect("a number of operations"))
}

/// Sizes and numbers of blocks: of single slots, of a few, of a hundred magazines.
const CLASSES: [(usize, usize); 4] = [(16, 5), (40, 37), (64, 700), (300, 130)];

fn class_for(len: usize) -> usize {
    CLASSES.iter().position(|class| class.0 >= len).expect("short enough")
}

/// A message that is out, and what is in it.
struct Out {
    message: Message,
    len: usize,
    seed: u8,
}

impl Out {
    fn new(mut message: Message, seed: u8) -> Self {
        message.fill(seed);
        Self { len: message.len(), message, seed }
    }

    fn check(&self) {
        assert_eq!(self.message.len(), self.len);
        assert_eq!(self.message.capacity(), CLASSES[class_for(self.message.capacity())].0);
        assert!(self.message.iter().all(|byte| *byte == self.seed), "somebody has written into this block");
    }
}

/// A value that does things when it is dropped.
struct Foreign {
    pool: Pool,
    inner: Option<Message>,
    panics: bool,
    enters: bool,
    ended: std::sync::Arc<AtomicUsize>,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        if self.enters {
            // Its own block is still out, whatever it does.
            drop(self.pool.try_take(9));
            drop(self.inner.take());
            drop(self.pool.try_take(200));
        }
        assert!(!self.panics, "on purpose");
    }
}

/// Another thread, which does one thing after the other and keeps what it has at hand.
struct Helper {
    acts: Option<SyncSender<Box<dyn FnOnce() + Send>>>,
    done: Receiver<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    fn new() -> Self {
        let (acts, to_do) = sync_channel::<Box<dyn FnOnce() + Send>>(1);
        let (told, done) = sync_channel(1);
        let thread = thread::spawn(move || {
            to_do.iter().for_each(|act| {
                let well = catch_unwind(AssertUnwindSafe(act)).is_ok();
                told.send(well).unwrap();
            });
        });
        Self { acts: Some(acts), done, thread: Some(thread) }
    }

    fn run<R: Send + 'static>(&self, act: impl FnOnce() -> R + Send + 'static) -> R {
        let (give, result) = sync_channel(1);
        self.acts.as_ref().unwrap().send(Box::new(move || give.send(act()).unwrap())).unwrap();
        assert!(self.done.recv().unwrap(), "the helper has failed");
        result.recv().unwrap()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.acts = None;
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))));
    }
}

/// A pool, and what must be true of it.
struct Model {
    random: Random,
    zeroed: bool,
    handles: Vec<Pool>,
    out: Vec<Out>,
    boxes: Vec<(PoolBox<Foreign>, bool)>,
    made: usize,
    ended: std::sync::Arc<AtomicUsize>,
    free: [usize; 4],
    helpers: Vec<Helper>,
}

impl Model {
    fn new(seed: u64) -> Self {
        let zeroed = seed % 3 == 0;
        let pool = if zeroed { Pool::zeroed(&CLASSES) } else { Pool::new(&CLASSES) }.unwrap();
        Self {
            random: Random::new(seed),
            zeroed,
            handles: vec![pool],
            out: Vec::new(),
            boxes: Vec::new(),
            made: 0,
            ended: std::sync::Arc::default(),
            free: CLASSES.map(|class| class.1),
            helpers: (0..3).map(|_| Helper::new()).collect(),
        }
    }

    fn handle(&mut self) -> Pool {
        let at = self.random.below(self.handles.len());
        self.handles[at].clone()
    }

    /// A length; each class is asked for about as often.
    fn len(&mut self) -> usize {
        let class = self.random.below(4);
        let above = if class == 0 { 0 } else { CLASSES[class - 1].0 + 1 };
        above + self.random.below(CLASSES[class].0 + 1 - above)
    }

    /// Takes in some way, in some thread.
    fn take(&mut self) {
        let (pool, len) = (self.handle(), self.len());
        let (class, way, seed) = (class_for(len), self.random.below(5), self.random.next() as u8);
        let is_free = self.free[class] > 0;
        let act = move || match way {
            0 if is_free => Some(pool.take(len)),
            1 => pool.take_timeout(len, Duration::ZERO),
            _ => pool.try_take(len),
        };
        let who = self.random.below(4 * self.helpers.len());
        let taken = if who < self.helpers.len() { self.helpers[who].run(act) } else { act() };
        assert_eq!(taken.is_some(), is_free, "{} blocks of {:?} are free", self.free[class], CLASSES[class]);
        if let Some(message) = taken {
            self.free[class] -= 1;
            assert_eq!((message.len(), message.capacity()), (len, CLASSES[class].0));
            assert!(!self.zeroed || message.iter().all(|byte| *byte == 0));
            self.out.push(Out::new(message, seed));
        }
    }

    /// Drops one or many, in some thread.
    fn give_back(&mut self, most: usize) {
        let number = 1 + self.random.below(most);
        let mut back = Vec::new();
        while back.len() < number && !self.out.is_empty() {
            let at = self.random.below(self.out.len());
            let out = self.out.swap_remove(at);
            out.check();
            self.free[class_for(out.message.capacity())] += 1;
            back.push(out.message);
        }
        match self.random.below(40) {
            0 => late(move || move || drop(back)),
            1 => thread::spawn(move || drop(back)).join().unwrap(),
            who if who < 12 => {
                let who = who % self.helpers.len();
                self.helpers[who].run(move || drop(back));
            }
            _ => drop(back),
        }
    }

    fn make_a_value(&mut self) {
        let class = class_for(size_of::<Foreign>());
        let (pool, inner) = (self.handle(), self.handle().try_take(7));
        let value = Foreign {
            pool: self.handle(),
            panics: self.random.below(3) == 0,
            enters: self.random.below(2) == 0,
            inner,
            ended: self.ended.clone(),
        };
        if value.inner.is_some() {
            self.free[0] -= 1;
        }
        let had_inner = value.inner.is_some();
        self.made += 1;
        let is_free = self.free[class] > 0;
        match pool.try_boxed(value) {
            Ok(boxed) => {
                assert!(is_free);
                self.free[class] -= 1;
                self.boxes.push((boxed, had_inner));
            }
            Err(mut back) => {
                assert!(!is_free);
                back.panics = false;
                drop(back);
                self.free[0] += usize::from(had_inner);
            }
        }
    }

    fn end_a_value(&mut self) {
        if self.boxes.is_empty() {
            return;
        }
        let at = self.random.below(self.boxes.len());
        let (boxed, had_inner) = self.boxes.swap_remove(at);
        let panics = boxed.panics;
        match self.random.below(3) {
            0 => {
                let mut value = boxed.into_inner();
                value.panics = false;
            }
            1 => {
                let raw = boxed.into_raw();
                // SAFETY: the address of that box.
                let boxed = unsafe { PoolBox::<Foreign>::from_raw(raw) };
                assert_eq!(catch_unwind(AssertUnwindSafe(|| drop(boxed))).is_err(), panics);
            }
            _ => assert_eq!(catch_unwind(AssertUnwindSafe(|| drop(boxed))).is_err(), panics),
        }
        self.free[0] += usize::from(had_inner);
        self.free[class_for(size_of::<Foreign>())] += 1;
    }

    fn change_a_message(&mut self) {
        if self.out.is_empty() {
            return;
        }
        let at = self.random.below(self.out.len());
        let (out, len) = (&mut self.out[at], self.random.below(310));
        out.check();
        if self.random.below(2) == 0 {
            out.message.truncate(len);
            out.len = out.len.min(len);
        } else if out.message.resize(len, out.seed).is_ok() {
            out.len = len;
        } else {
            assert!(len > out.message.capacity());
        }
        out.check();
    }

    fn count(&mut self) {
        let stats = self.handles[0].stats();
        for ((class, free), stats) in CLASSES.iter().zip(self.free).zip(stats) {
            assert_eq!((stats.block_bytes, stats.blocks, stats.in_use), (class.0, class.1, class.1 - free));
        }
        assert_eq!(self.ended.load(Ordering::Relaxed), self.made - self.boxes.len());
    }

    /// One operation.
    fn step(&mut self) {
        match self.random.below(1_000) {
            0..=449 => self.take(),
            450..=849 => self.give_back(1),
            850..=869 => self.give_back(60),
            870..=899 => self.make_a_value(),
            900..=924 => self.end_a_value(),
            925..=974 => self.change_a_message(),
            975..=984 => {
                let handle = self.handle();
                self.handles.push(handle);
            }
            985..=993 if self.handles.len() > 1 => drop(self.handles.pop()),
            994 => {
                // Leaves what it has at hand to all.
                let who = self.random.below(self.helpers.len());
                self.helpers[who] = Helper::new();
            }
            995 => self.count(),
            _ => {
                // A flood, until nothing is left of a class.
                for _ in 0..100 {
                    self.take();
                }
            }
        }
    }

    /// Everything is dropped, in some order.
    fn end(mut self) {
        self.count();
        while !self.boxes.is_empty() {
            self.end_a_value();
        }
        if self.random.below(2) == 0 {
            self.handles.clear();
        }
        while !self.out.is_empty() {
            self.give_back(50);
        }
        assert_eq!(self.free, CLASSES.map(|class| class.1));
        if let Some(pool) = self.handles.pop() {
            assert_eq!(CLASSES.map(|class| all(&pool, class.0).len()), self.free);
        }
    }
}

#[test]
fn random_operations_answer_as_the_model_says() {
    // Values panic on purpose: no need to see each.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<&str>().is_none_or(|text| *text != "on purpose") {
            usual(info);
        }
    }));
    const ROUND: u64 = 10_000;
    for seed in 1..=operations().div_ceil(ROUND) {
        let round = catch_unwind(|| {
            guarded(move || {
                let mut model = Model::new(seed);
                (0..ROUND).for_each(|_| model.step());
                model.end();
            });
        });
        if let Err(panic) = round {
            eprintln!("seed {seed}");
            resume_unwind(panic);
        }
    }
}

/// Takes and gives back whole floods, in some thread.
fn floods(seed: u64, rounds: u64) {
    const BLOCKS: usize = 140_000;
    let (pool, mut random) = (Pool::new(&[(8, BLOCKS)]).unwrap(), Random::new(seed));
    let (helper, mut out) = (Helper::new(), Vec::new());
    for _ in 0..rounds {
        let number = [1, 1_000, BLOCKS, random.below(BLOCKS)][random.below(4)];
        if random.below(2) == 0 {
            let before = out.len();
            out.extend(std::iter::from_fn(|| pool.try_take(8)).take(number));
            assert_eq!(out.len(), BLOCKS.min(before + number));
        } else {
            let back = out.split_off(out.len() - out.len().min(number));
            match random.below(4) {
                0 => drop(back),
                1 => helper.run(move || drop(back)),
                _ => late(move || move || drop(back)),
            }
        }
        assert_eq!(pool.stats()[0].in_use, out.len());
    }
    // All of them at once by a thread that exits, and the next in the ordinary way.
    out.extend(all(&pool, 8));
    let last = out.pop();
    late(move || move || drop(out));
    drop(last);
    assert_eq!(all(&pool, 8).len(), BLOCKS);
}

#[test]
fn random_floods_leave_all_blocks_where_they_can_be_taken() {
    const ROUNDS: u64 = 11;
    let rounds = 6 + operations() / 20_000;
    (0..rounds.div_ceil(ROUNDS)).for_each(|seed| guarded(move || floods(7 + seed, ROUNDS)));
}

/// A number at the start and the end of a message; no other thread has it.
fn write(message: &mut Message, number: u64) {
    let end = message.len() - 8;
    message[..8].copy_from_slice(&number.to_ne_bytes());
    message[end..].copy_from_slice(&number.to_ne_bytes());
}

fn read(message: &Message) -> u64 {
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
    let (first, last) = (number(&message[..8]), number(&message[message.len() - 8..]));
    assert_eq!(first, last, "a block with two owners");
    first
}

/// What threads exchange, and how many each class has out at least: counted after taking and before giving back.
struct Account {
    numbers: AtomicU64,
    out: [AtomicUsize; 4],
    shared: Mutex<Vec<(u64, Message)>>,
}

impl Account {
    fn give_back(&self, (number, message): (u64, Message)) -> Message {
        assert_eq!(read(&message), number);
        self.out[class_for(message.capacity())].fetch_sub(1, Ordering::SeqCst);
        message
    }

    fn turn(&self, pool: &Pool, random: &mut Random, mine: &mut Vec<(u64, Message)>) {
        match random.below(100) {
            0..=49 => {
                let len = 16 + random.below(285);
                if let Some(mut message) = pool.try_take(len) {
                    let class = class_for(len);
                    let out = self.out[class].fetch_add(1, Ordering::SeqCst) + 1;
                    assert!(out <= CLASSES[class].1, "{out} of {:?}", CLASSES[class]);
                    let number = self.numbers.fetch_add(1, Ordering::Relaxed);
                    write(&mut message, number);
                    mine.push((number, message));
                }
            }
            50..=59 => self.shared.lock().unwrap().append(mine),
            60..=69 => {
                let mut shared = self.shared.lock().unwrap();
                let from = shared.len() / 2;
                mine.extend(shared.drain(from..));
            }
            70..=73 => mine.drain(..).for_each(|one| drop(self.give_back(one))),
            _ => drop(mine.pop().map(|one| self.give_back(one))),
        }
    }
}

#[test]
fn random_operations_of_several_threads_come_out_even() {
    const ROUND: u64 = 10_000;
    for seed in 1..=operations().div_ceil(ROUND) {
        guarded(move || {
            let pool = Pool::new(&CLASSES).unwrap();
            let account = std::sync::Arc::new(Account {
                numbers: AtomicU64::new(1),
                out: Default::default(),
                shared: Mutex::default(),
            });
            let threads: Vec<_> = (0..4)
                .map(|who| {
                    let (pool, account) = (pool.clone(), account.clone());
                    thread::spawn(move || {
                        // Each exits now and then, and drops what it has after its thread-locals.
                        for stretch in 0..5 {
                            let (pool, account) = (pool.clone(), account.clone());
                            late(move || {
                                let mut random = Random::new(seed * 100 + who * 10 + stretch);
                                let mut mine = Vec::new();
                                (0..ROUND / 20).for_each(|_| account.turn(&pool, &mut random, &mut mine));
                                move || mine.drain(..).for_each(|one| drop(account.give_back(one)))
                            });
                        }
                    })
                })
                .collect();
            // Every other time the messages are all that keeps the pool.
            let pool = (seed % 2 == 0).then_some(pool);
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            account.shared.lock().unwrap().drain(..).for_each(|one| drop(account.give_back(one)));
            assert!(account.out.iter().all(|out| out.load(Ordering::SeqCst) == 0));
            if let Some(pool) = pool {
                assert_eq!(CLASSES.map(|class| all(&pool, class.0).len()), CLASSES.map(|class| class.1));
            }
        });
    }
}
