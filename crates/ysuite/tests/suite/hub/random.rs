//! Operations at random, from outside and from inside handlers, against a model of what must have been called, in which
//! turn at the latest, and how often.
//!
//! One thread does it all, so a seed is one history, except for the clock. For each turn from outside this holds:
//!
//! * functions run in the order in which they were posted, messages come in theirs, each once, and where no handler ran the
//!   hub itself, at most [`TURN`] of each source;
//! * what was there when the turn began is served in it, unless the turn was stopped, or something panicked;
//! * nothing is called that is gone, and what has been captured by what is gone has been dropped, once;
//! * no timer rings early, in the turn that set it, or twice in a turn.
//!
//! `YSUITE_RANDOM` is how many operations there are; what fails says its seed.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ysuite::Spin;
use ysuite::hub::{Handle, Hub, Interest, Ready, Source, TURN, TimerKey};
use ysuite::{mpmc, mpsc, spsc};

use crate::hub::descriptors::pair;
use crate::support::{Random, guarded};

/// Operations from outside on one hub.
const HISTORY: usize = 500;
const OPERATIONS: usize = 40_000;
/// Sources of a kind that there are at a time.
const SOURCES: usize = 8;
/// What every panic carries that is meant.
struct Meant;

/// The reference.
#[derive(Clone)]
struct World(Arc<Mutex<State>>);

struct State {
    random: Random,
    /// Operations done.
    done: usize,
    next: usize,
    /// Turns from outside so far, and how many are under way, one within another.
    turn: usize,
    depth: usize,
    /// In this turn: it was stopped or something panicked, so it may have left what was there; there were turns within it.
    is_cut: bool,
    is_nested: bool,
    posted: VecDeque<usize>,
    run: usize,
    receivers: BTreeMap<usize, Receiving>,
    descriptors: BTreeMap<usize, Watched>,
    timers: BTreeMap<usize, Clock>,
    /// What is captured, and lives.
    captured: BTreeMap<usize, usize>,
    handle: Option<Handle>,
}

enum Sender {
    Pipe(spsc::Sender<usize>),
    Lane(mpsc::Sender<usize>),
    Exchange(mpmc::Sender<usize>),
}

struct Receiving {
    source: Option<Source>,
    sender: Option<Sender>,
    sent: VecDeque<usize>,
    /// In this turn.
    served: usize,
    is_running: bool,
    is_gone: bool,
}

struct Watched {
    source: Option<Source>,
    near: Option<UnixStream>,
    unread: usize,
    served: usize,
    is_running: bool,
    /// Closed without the hub: it may be notified of that, once.
    is_closed: bool,
    is_gone: bool,
}

struct Clock {
    timer: Option<TimerKey>,
    start: Instant,
    period: Option<Duration>,
    /// When it rings at the latest.
    latest: Instant,
    /// Turns in which it was set, inside a handler, and in which it rang.
    set: Option<usize>,
    rang: Option<usize>,
    rung: u32,
    is_running: bool,
}

/// Captured by a handler or a function; its drop is counted, and may panic.
struct Capture {
    id: usize,
    world: World,
    is_explosive: bool,
}

impl Capture {
    /// A function that calls this has captured it whole.
    fn id(&self) -> usize {
        self.id
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let mut state = self.world.state();
        let left = state.captured.get_mut(&self.id).expect("dropped once");
        *left -= 1;
        state.captured.retain(|_, left| *left != 0);
        if self.is_explosive && !std::thread::panicking() {
            state.is_cut = true;
            drop(state);
            panic_any(Meant);
        }
    }
}

/// Whether it panicked as it was meant to. Another panic goes on.
fn explodes(act: impl FnOnce()) -> bool {
    let Err(panic) = catch_unwind(AssertUnwindSafe(act)) else { return false };
    if panic.is::<Meant>() {
        return true;
    }
    resume_unwind(panic)
}

impl World {
    fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            random: Random::new(seed),
            done: 0,
            next: 0,
            turn: 0,
            depth: 0,
            is_cut: false,
            is_nested: false,
            posted: VecDeque::new(),
            run: 0,
            receivers: BTreeMap::new(),
            descriptors: BTreeMap::new(),
            timers: BTreeMap::new(),
            captured: BTreeMap::new(),
            handle: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn below(&self, bound: usize) -> usize {
        self.state().random.below(bound)
    }

    fn capture(&self) -> Capture {
        let mut state = self.state();
        state.next += 1;
        let id = state.next;
        state.captured.insert(id, 1);
        let is_explosive = state.random.below(24) == 0;
        Capture { id, world: self.clone(), is_explosive }
    }

    /// What every handler and function does at last: some operations, and seldom it panics.
    fn behave(&self, hub: &mut Hub) {
        let few = [0, 0, 0, 1, 1, 2][self.below(6)];
        (0..few).for_each(|_| self.operate(hub));
        if self.below(40) == 0 {
            self.state().is_cut = true;
            panic_any(Meant);
        }
    }

    fn operate(&self, hub: &mut Hub) {
        self.state().done += 1;
        match self.below(22) {
            0..=3 => self.post(),
            4 => self.receive(hub),
            5..=7 => self.send(),
            8 => self.state().end_a_sender(),
            9 => self.remove_a_receiver(hub),
            10 => self.watch(hub),
            11..=12 => self.write(),
            13 => self.remove_a_descriptor(hub),
            14 => self.replace(hub),
            15..=16 => self.set(hub),
            17 => self.cancel(hub),
            18 if self.state().depth != 0 && self.below(4) == 0 => {
                self.state().is_cut = true;
                hub.stop();
            }
            19 if (1..4).contains(&self.state().depth) => self.turn_within(hub),
            20 => hub.set_spin([Spin::None, Spin::Adaptive, Spin::Forever][self.below(3)]),
            _ => {}
        }
    }

    fn post(&self) {
        let (capture, world, handle) = (self.capture(), self.clone(), self.state().handle.take());
        let Some(handle) = handle else { return };
        self.state().posted.push_back(capture.id());
        let function = move |hub: &mut Hub| {
            let mut state = world.state();
            assert_eq!(state.posted.pop_front(), Some(capture.id()), "functions in their order, once each");
            state.run += 1;
            drop(state);
            world.behave(hub);
            drop(capture);
        };
        assert!(handle.post(function).is_ok());
        self.state().handle = Some(handle);
    }

    fn receive(&self, hub: &mut Hub) {
        if self.state().receivers.values().filter(|one| !one.is_gone).count() >= SOURCES {
            return;
        }
        let capture = self.capture();
        let (id, kind) = (capture.id(), self.below(3));
        macro_rules! receive {
            ($receiver:expr) => {{
                let world = self.clone();
                hub.receive($receiver, move |hub, message| world.received(hub, capture.id(), message.ok())).unwrap()
            }};
        }
        let (sender, source) = match kind {
            0 => {
                let (sender, receiver) = spsc::unbounded();
                (Sender::Pipe(sender), receive!(receiver))
            }
            1 => {
                let (sender, receiver) = mpsc::unbounded();
                (Sender::Lane(sender), receive!(receiver))
            }
            _ => {
                let (sender, receiver) = mpmc::bounded(300);
                (Sender::Exchange(sender), receive!(receiver))
            }
        };
        let receiving = Receiving {
            source: Some(source),
            sender: Some(sender),
            sent: VecDeque::new(),
            served: 0,
            is_running: false,
            is_gone: false,
        };
        self.state().receivers.insert(id, receiving);
    }

    fn received(&self, hub: &mut Hub, id: usize, message: Option<usize>) {
        let mut state = self.state();
        let one = state.receivers.get_mut(&id).unwrap();
        assert!(!one.is_gone && !one.is_running, "called though gone, or running");
        match message {
            Some(message) => assert_eq!(one.sent.pop_front(), Some(message)),
            None => assert!(one.sender.is_none() && one.sent.is_empty(), "not at its end"),
        }
        one.served += 1;
        one.is_running = true;
        // In any case, it is not called after its drop.
        one.is_gone |= message.is_none();
        drop(state);
        let exploded = catch_unwind(AssertUnwindSafe(|| self.behave(hub)));
        let mut state = self.state();
        let one = state.receivers.get_mut(&id).unwrap();
        one.is_running = false;
        one.is_gone |= exploded.is_err();
        drop(state);
        exploded.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn send(&self) {
        let mut state = self.state();
        let many = [1, 1, 1, 3, TURN + 5][state.random.below(5)];
        let State { random, receivers, next, .. } = &mut *state;
        if receivers.is_empty() {
            return;
        }
        let at = random.below(receivers.len());
        let one = receivers.values_mut().nth(at).unwrap();
        let Some(sender) = &mut one.sender else { return };
        for _ in 0..many {
            *next += 1;
            let sent = match sender {
                Sender::Pipe(sender) => sender.send(*next).is_ok(),
                Sender::Lane(sender) => sender.send(*next).is_ok(),
                Sender::Exchange(sender) => sender.try_send(*next).is_ok(),
            };
            if sent {
                one.sent.push_back(*next);
            }
        }
    }

    fn remove_a_receiver(&self, hub: &mut Hub) {
        let mut state = self.state();
        let Some(id) = state.any(|state| &state.receivers) else { return };
        let one = state.receivers.get_mut(&id).unwrap();
        let (is_gone, source) = (one.is_gone && !one.is_running, one.source.unwrap());
        one.is_gone = true;
        drop(state);
        if !is_gone {
            // If it is running, its presence may have been queried before.
            explodes(|| _ = hub.remove(source));
        } else {
            assert!(!hub.remove(source), "gone already");
        }
    }

    fn watch(&self, hub: &mut Hub) {
        if self.state().descriptors.values().filter(|one| !one.is_gone).count() >= SOURCES {
            return;
        }
        self.watch_one_of(hub, pair());
    }

    fn watch_one_of(&self, hub: &mut Hub, (near, far): (UnixStream, UnixStream)) {
        let (capture, world) = (self.capture(), self.clone());
        let id = capture.id();
        let source =
            hub.watch(far, Interest::READABLE, move |hub, far, ready| world.told(hub, capture.id(), far, ready));
        let watched = Watched {
            source: Some(source.unwrap()),
            near: Some(near),
            unread: 0,
            served: 0,
            is_running: false,
            is_closed: false,
            is_gone: false,
        };
        self.state().descriptors.insert(id, watched);
    }

    fn told(&self, hub: &mut Hub, id: usize, far: &mut UnixStream, ready: Ready) {
        let mut state = self.state();
        let one = state.descriptors.get_mut(&id).unwrap();
        assert!(!one.is_gone && !one.is_running, "called though gone, or running");
        if one.is_closed {
            // What was reported before it was closed may reach it once.
            let had = core::mem::take(&mut one.unread);
            assert!(had != 0 || ready.is_error() && !ready.is_readable(), "called with another one's events");
            one.is_gone = !ready.is_readable();
            return;
        }
        assert!(ready.is_readable() && !ready.is_error());
        let read = far.read(&mut [0; 2]).unwrap_or(0);
        assert!(read > 0, "there was nothing");
        one.unread -= read;
        one.served += 1;
        one.is_running = true;
        drop(state);
        let exploded = catch_unwind(AssertUnwindSafe(|| self.behave(hub)));
        let mut state = self.state();
        let one = state.descriptors.get_mut(&id).unwrap();
        one.is_running = false;
        one.is_gone |= exploded.is_err();
        drop(state);
        exploded.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn write(&self) {
        let mut state = self.state();
        let Some(id) = state.any(|state| &state.descriptors) else { return };
        let one = state.descriptors.get_mut(&id).unwrap();
        if !one.is_gone && !one.is_closed && one.unread < 100 {
            one.near.as_mut().unwrap().write_all(b"xyz").unwrap();
            one.unread += 3;
        }
    }

    fn remove_a_descriptor(&self, hub: &mut Hub) {
        let mut state = self.state();
        let Some(id) = state.any(|state| &state.descriptors) else { return };
        let one = state.descriptors.get_mut(&id).unwrap();
        let (is_gone, source) = (one.is_gone && !one.is_running, one.source.unwrap());
        one.is_gone = true;
        drop(state);
        if !is_gone {
            // If it is running, its presence may have been queried before.
            explodes(|| _ = hub.remove(source));
        } else {
            assert!(!hub.remove(source), "gone already");
        }
    }

    /// Closes what is watched without the hub; the next that is watched has its number.
    fn replace(&self, hub: &mut Hub) {
        let mut state = self.state();
        let Some(id) = state.any(|state| &state.descriptors) else { return };
        let one = state.descriptors.get_mut(&id).unwrap();
        let source = one.source.unwrap();
        if one.is_gone || one.is_running || one.is_closed {
            return;
        }
        one.is_closed = true;
        drop(state);
        let (_near, far) = pair();
        let watched = hub.source_mut::<UnixStream>(source).expect("not running");
        let number = watched.as_raw_fd();
        *watched = far;
        let (one, other) = pair();
        self.watch_one_of(hub, if one.as_raw_fd() == number { (other, one) } else { (one, other) });
    }

    fn set(&self, hub: &mut Hub) {
        if self.state().timers.len() >= SOURCES {
            return;
        }
        let (capture, world) = (self.capture(), self.clone());
        let id = capture.id();
        let times = [Duration::ZERO, Duration::from_nanos(1), Duration::from_micros(30), Duration::from_micros(300)];
        let (time, way, now) = (times[self.below(4)], self.below(3), Instant::now());
        let period = (way == 2).then_some(time);
        let timer = match way {
            0 => hub.after(time, move |hub| world.rung(hub, capture.id())),
            1 => {
                let past = now.checked_sub(time).unwrap_or(now);
                hub.at(past, move |hub| world.rung(hub, capture.id()))
            }
            _ => hub.every(time, move |hub| world.rung(hub, capture.id())),
        };
        let start = if way == 0 { now + time } else { now.checked_sub(time).unwrap_or(now) };
        let start = if way == 2 { now } else { start };
        let mut state = self.state();
        let set = (state.depth != 0).then_some(state.turn);
        let latest = Instant::now() + time;
        let clock = Clock { timer: Some(timer), start, period, latest, set, rang: None, rung: 0, is_running: false };
        state.timers.insert(id, clock);
    }

    fn rung(&self, hub: &mut Hub, id: usize) {
        let mut state = self.state();
        let (turn, is_nested) = (state.turn, state.is_nested);
        let one = state.timers.get_mut(&id).expect("a timer that is not cancelled, and has not rung");
        assert!(!one.is_running);
        one.rung += 1;
        let earliest = one.period.map_or(one.start, |period| one.start + period * one.rung);
        assert!(Instant::now() >= earliest, "early");
        if !is_nested {
            assert_ne!(one.set, Some(turn), "in the turn that set it");
            assert_ne!(one.rang, Some(turn), "twice in a turn");
        }
        one.rang = Some(turn);
        one.is_running = true;
        let is_once = one.period.is_none();
        if is_once {
            state.timers.remove(&id);
        }
        drop(state);
        let exploded = catch_unwind(AssertUnwindSafe(|| self.behave(hub)));
        let mut state = self.state();
        if let Some(one) = state.timers.get_mut(&id) {
            one.is_running = false;
            one.latest = Instant::now() + one.period.unwrap_or_default();
        }
        if exploded.is_err() {
            state.timers.remove(&id);
        }
        drop(state);
        exploded.unwrap_or_else(|panic| resume_unwind(panic));
    }

    fn cancel(&self, hub: &mut Hub) {
        let mut state = self.state();
        let Some(id) = state.any(|state| &state.timers) else { return };
        let timer = state.timers.remove(&id).unwrap().timer.unwrap();
        drop(state);
        explodes(|| assert!(hub.cancel(timer)));
    }

    /// A turn inside a handler or a function.
    fn turn_within(&self, hub: &mut Hub) {
        let mut state = self.state();
        state.depth += 1;
        state.is_nested = true;
        drop(state);
        let stopped = hub.is_stopped();
        explodes(|| _ = hub.run_once(Duration::ZERO).unwrap());
        assert!(hub.is_stopped() || !stopped, "a stop is for the run around it");
        self.state().depth -= 1;
    }

    /// A turn from outside, and what must have come of it.
    fn turn(&self, hub: &mut Hub) {
        let mut state = self.state();
        state.turn += 1;
        state.depth = 1;
        (state.is_cut, state.is_nested, state.run) = (false, false, 0);
        state.receivers.values_mut().for_each(|one| one.served = 0);
        state.descriptors.values_mut().for_each(|one| one.served = 0);
        let now = Instant::now();
        let posted = state.posted.len();
        let sent: Vec<_> = state.receivers.iter().map(|(&id, one)| (id, one.sent.len())).collect();
        let unread: Vec<_> = state.descriptors.iter().filter(|(_, one)| one.unread != 0).map(|(&id, _)| id).collect();
        let due: Vec<_> = state.timers.iter().filter(|(_, one)| one.latest < now).map(|(&id, _)| id).collect();
        let is_there = posted != 0 || !due.is_empty() || state.is_anything_sent() || state.is_anything_unread();
        let way = state.random.below(4);
        drop(state);
        let mut done = 0;
        let exploded = explodes(|| {
            done = match way {
                0 if is_there => hub.run_once(None).unwrap(),
                1 => hub.run_once(Duration::from_micros(20)).unwrap(),
                2 => hub.dispatch().unwrap(),
                _ => hub.run_once(Duration::ZERO).unwrap(),
            }
        });
        let mut state = self.state();
        state.depth = 0;
        assert_eq!(hub.current(), None);
        if exploded || state.is_cut {
            // What was left is served the next time.
            return;
        }
        assert!(done > 0 || way != 0 || !is_there, "zero, though something was there");
        assert!(state.run >= posted.min(TURN), "{} of {posted} functions", state.run);
        assert!(state.is_nested || way == 1 || way == 0 || state.run <= TURN);
        for (id, sent) in sent {
            let one = &state.receivers[&id];
            assert!(one.is_gone || one.served >= sent.min(TURN), "{} of {sent} messages", one.served);
        }
        for id in unread {
            let one = &state.descriptors[&id];
            assert!(one.is_gone || one.is_closed || one.served > 0, "a descriptor was left waiting");
            assert!(state.is_nested || one.served <= 1, "{} calls in a turn", one.served);
        }
        for id in due {
            let is_rung = state.timers.get(&id).is_none_or(|one| one.rang == Some(state.turn));
            assert!(is_rung, "a timer was left waiting");
        }
        state.forget_what_is_gone();
    }

    /// Everything is dropped.
    fn settle(&self, hub: &mut Hub) {
        hub.set_spin([Spin::None, Spin::Adaptive, Spin::Forever][self.below(3)]);
        let timers = core::mem::take(&mut self.state().timers);
        for one in timers.into_values() {
            explodes(|| assert!(hub.cancel(one.timer.unwrap())));
        }
        self.state().receivers.values_mut().for_each(|one| one.sender = None);
        let mut turns = 0;
        loop {
            let state = self.state();
            let is_over = state.posted.is_empty()
                && state.receivers.values().all(|one| one.is_gone)
                && !state.is_anything_unread()
                && state.timers.is_empty();
            drop(state);
            if is_over {
                break;
            }
            turns += 1;
            assert!(turns < 100_000, "it does not end");
            self.turn(hub);
            let mut state = self.state();
            state.receivers.values_mut().for_each(|one| one.sender = None);
        }
    }
}

impl State {
    fn any<T>(&mut self, of: impl Fn(&Self) -> &BTreeMap<usize, T>) -> Option<usize> {
        let many = of(self).len();
        let at = if many == 0 { return None } else { self.random.below(many) };
        of(self).keys().nth(at).copied()
    }

    fn end_a_sender(&mut self) {
        if let Some(id) = self.any(|state| &state.receivers) {
            self.receivers.get_mut(&id).unwrap().sender = None;
        }
    }

    fn is_anything_sent(&self) -> bool {
        self.receivers.values().any(|one| !one.is_gone && (!one.sent.is_empty() || one.sender.is_none()))
    }

    fn is_anything_unread(&self) -> bool {
        self.descriptors.values().any(|one| !one.is_gone && !one.is_closed && one.unread != 0)
    }

    fn forget_what_is_gone(&mut self) {
        let gone = self.receivers.iter().filter(|(_, one)| one.is_gone).map(|(&id, _)| id);
        let gone: Vec<_> =
            gone.chain(self.descriptors.iter().filter(|(_, one)| one.is_gone).map(|(&id, _)| id)).collect();
        for id in gone {
            assert!(!self.captured.contains_key(&id), "gone, and what it captured lives");
            self.receivers.remove(&id);
            self.descriptors.remove(&id);
        }
    }
}

/// One history: how many operations there were.
fn history(seed: u64) -> usize {
    let world = World::new(seed);
    let mut hub = Hub::with_receivers(SOURCES * 2).unwrap();
    world.state().handle = Some(hub.handle());
    for _ in 0..HISTORY {
        if world.below(3) == 0 {
            world.turn(&mut hub);
        } else {
            world.operate(&mut hub);
        }
    }
    world.settle(&mut hub);
    let handle = world.state().handle.take();
    drop(handle);
    explodes(|| drop(hub));
    let state = world.state();
    assert!(state.captured.is_empty(), "captures were left: {:?}", state.captured);
    state.done
}

/// Claim: Random hub operations agree with a reference model.
#[test]
fn operations_at_random_do_what_a_reference_says() {
    let many = std::env::var("YSUITE_RANDOM").ok().and_then(|many| many.parse().ok()).unwrap_or(OPERATIONS);
    let first = std::env::var("YSUITE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    // Intended panics are not printed.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.payload().is::<Meant>() {
            told(panic);
        }
    }));
    let (mut done, mut seed) = (0, first);
    while done < many {
        let outcome = catch_unwind(|| guarded(move || history(seed)));
        done += outcome.unwrap_or_else(|panic| {
            eprintln!("seed {seed} (YSUITE_SEED={seed} begins with it)");
            resume_unwind(panic)
        });
        seed += 1;
    }
}
