//! What a door to another language needs: windows moved on by their rules, messages written, taken and dropped where they lie.

use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::time::Duration;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, compiler_fence};
use std::task::Context;
use std::thread;

use ysuite::in_place::{RecvInPlace, RecvWindow, SendInPlace, SendWindow, SlotClass, Stop, mpsc_of, spsc_of};
use ysuite::{SendTimeoutError, TryRecvError};
use ysuite::{mpsc, spsc};

use crate::support::executor::Task;
use crate::support::{Random, guarded};

/// A message of `N` words, which has its number in each, and last the address where it was written. Aligned to 8 on
/// every machine, as the messages of other languages are.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(8))]
struct Words<const N: usize>([u64; N]);

/// The same, aligned to 16.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C, align(16))]
struct Aligned<const N: usize>([u64; N]);

trait Numbered: Copy + Send + 'static {
    fn numbered(number: u64) -> Self;
    fn number(&self) -> u64;
}

impl<const N: usize> Numbered for Words<N> {
    fn numbered(number: u64) -> Self {
        Self([number; N])
    }
    fn number(&self) -> u64 {
        assert!(self.0.iter().all(|word| *word == self.0[0]));
        self.0[0]
    }
}

impl<const N: usize> Numbered for Aligned<N> {
    fn numbered(number: u64) -> Self {
        Self([number; N])
    }
    fn number(&self) -> u64 {
        assert!(self.0.iter().all(|word| *word == self.0[0]));
        self.0[0]
    }
}

/// The layout of a group, written again: what another language assumes.
struct Group {
    first: usize,
    slots: usize,
    stride: usize,
    step: usize,
}

impl Group {
    const fn of<T>() -> Self {
        let (step, align) = (size_of::<T>(), if align_of::<T>() > 8 { align_of::<T>() } else { 8 });
        let first = align;
        let (one, two) = (64usize.saturating_sub(first) / step, (128 - first) / step);
        let (long, vast) = ((512 - first) / step, (1024 - first) / step);
        let (slots, stride) = if one > 2 || (one == 2 && two == 4) {
            (one, 64)
        } else if two > 4 {
            (two, 128)
        } else if long > 3 {
            (long, 512)
        } else {
            (vast, 1024)
        };
        Self { first, slots, stride, step }
    }

    fn end(&self) -> usize {
        self.first + self.slots * self.step
    }

    /// The group of an address after its first byte, where some group begins at `end`. Groups of one line or two are found by
    /// a mask; those of other languages all are.
    fn of_byte(&self, at: usize, end: usize) -> usize {
        if self.stride <= 128 { at & !(self.stride - 1) } else { end - (end - at).div_ceil(self.stride) * self.stride }
    }
}

/// Sends by the rules; false: a call is needed.
fn send_by_window<T: Numbered>(window: &mut SendWindow, message: T) -> Option<bool> {
    let group = const { Group::of::<T>() };
    let mut at = window.next;
    if group.stride > 128 && window.end <= at {
        return None;
    }
    if at == window.stop {
        let next = at.wrapping_add(group.stride - group.end());
        if next >= window.end {
            return None;
        }
        at = next.wrapping_add(group.first);
        window.stop = next.wrapping_add(group.end());
    }
    // SAFETY: by the rules the slot is this side's.
    unsafe { at.cast::<T>().write(message) };
    window.next = at.wrapping_add(group.step);
    let state = group.of_byte(at as usize, window.end as usize) as *const AtomicUsize;
    // ORDERING: Release, as the rules say, pairs with the receiver's Acquire: the message is written.
    // SAFETY: the group begins with its state.
    unsafe { &*state }.store((at as usize).wrapping_add(window.lap), Ordering::Release);
    compiler_fence(Ordering::SeqCst);
    // ORDERING: Relaxed, as the rules say.
    // SAFETY: the word lives as long as the sender.
    Some(unsafe { &*window.asleep.cast::<AtomicU32>() }.load(Ordering::Relaxed) != 0)
}

/// Receives by the rules; `None`: a call is needed.
fn recv_by_window<T: Numbered>(window: &mut RecvWindow) -> Option<(T, bool)> {
    if window.end.is_null() {
        return None;
    }
    let group = const { Group::of::<T>() };
    let mut at = window.next as usize;
    if window.next == window.known {
        let mut base = group.of_byte(at - 1, window.end as usize);
        if at == base + group.end() {
            base += group.stride;
            if base == window.end as usize {
                return None;
            }
            at = base + group.first;
        }
        // ORDERING: Acquire, as the rules say, pairs with the sender's Release: the messages are written.
        // SAFETY: the group begins with its state.
        let state = unsafe { &*(base as *const AtomicUsize) }.load(Ordering::Acquire);
        let ahead = state.wrapping_sub(window.lap).wrapping_sub(at);
        if (ahead as isize) < 0 {
            return None;
        }
        window.known = (at + ahead + group.step) as *mut u8;
    }
    // SAFETY: the slot is published, and this side's.
    let message = unsafe { (at as *const T).read() };
    window.next = (at + group.step) as *mut u8;
    // SAFETY: only this side writes the count.
    let taken = unsafe { &*window.taken.cast::<AtomicUsize>() };
    // ORDERING: Release, as the rules say, pairs with the sender's Acquire: the slot has been left.
    taken.store(taken.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    compiler_fence(Ordering::SeqCst);
    // ORDERING: Relaxed, as the rules say.
    // SAFETY: the word lives as long as the receiver.
    Some((message, unsafe { &*window.asleep.cast::<AtomicU32>() }.load(Ordering::Relaxed) != 0))
}

/// Sends by the window where it can, and otherwise by call.
fn send<T: Numbered>(sender: &mut (impl SendInPlace<Message = T> + Sends<T>), message: T) -> bool {
    let mut window = sender.window();
    let sent = if window.is_shut() { None } else { send_by_window(&mut window, message) };
    // SAFETY: the last window, moved on by the rules.
    unsafe { sender.resume(&window) };
    match sent {
        Some(true) => sender.answer(1) == 1,
        Some(false) => true,
        None => sender.send_by_call(message),
    }
}

trait Sends<T> {
    fn send_by_call(&mut self, message: T) -> bool;
}

impl<T> Sends<T> for spsc::Sender<T> {
    fn send_by_call(&mut self, message: T) -> bool {
        self.send(message).is_ok()
    }
}

impl<T> Sends<T> for mpsc::Sender<T> {
    fn send_by_call(&mut self, message: T) -> bool {
        self.send(message).is_ok()
    }
}

/// Receives by the window where it can, and otherwise by a try.
fn receive<T: Numbered>(receiver: &mut spsc::Receiver<T>) -> Option<T> {
    let mut window = receiver.window();
    let received = if window.is_shut() { None } else { recv_by_window(&mut window) };
    // SAFETY: the last window, moved on by the rules.
    unsafe { receiver.resume(&window) };
    match received {
        Some((message, is_asleep)) => {
            if is_asleep {
                receiver.credit();
            }
            Some(message)
        }
        None => receiver.try_recv().ok(),
    }
}

fn pipe<T>(capacity: usize) -> (spsc::Sender<T>, spsc::Receiver<T>) {
    if capacity == 0 { spsc::unbounded() } else { spsc::bounded(capacity) }
}

/// Steps of both sides, by window and by call, at random; one thread.
fn any_steps<T: Numbered>(capacity: usize, steps: usize, seed: u64) {
    let mut random = Random::new(seed);
    let (mut sender, mut receiver) = pipe::<T>(capacity);
    let (mut sent, mut seen, mut hidden) = (0u64, 0u64, 0u64);
    let room = |sent: u64, seen: u64| capacity == 0 || sent - seen < capacity as u64;
    let mut batch = Vec::new();
    for _ in 0..steps {
        match random.below(12) {
            0..=2 if room(sent, seen) => {
                assert!(send(&mut sender, T::numbered(sent)));
                (sent, hidden) = (sent + 1, 0);
            }
            3 if room(sent, seen) => {
                sender.write(T::numbered(sent)).unwrap();
                (sent, hidden) = (sent + 1, hidden + 1);
                assert!(sender.window().is_shut());
            }
            4 => {
                sender.flush();
                hidden = 0;
            }
            5 => {
                let run = sender.free_run();
                assert_eq!(run.is_empty(), !room(sent, seen));
                let count = random.below(run.len() + 1);
                for (slot, number) in run[..count].iter_mut().zip(sent..) {
                    slot.write(T::numbered(number));
                }
                // SAFETY: this many slots of the run have just been filled.
                assert_eq!(unsafe { sender.commit_run(count) }, count);
                (sent, hidden) = (sent + count as u64, 0);
            }
            6 => {
                batch.clear();
                batch.extend((sent..sent + random.below(40) as u64).map(T::numbered));
                let copy = |made: usize, first: NonNull<MaybeUninit<T>>, count| {
                    let from = batch[made..].as_ptr().cast();
                    // SAFETY: this many messages are there, and are plain data.
                    unsafe { first.as_ptr().copy_from_nonoverlapping(from, count) };
                };
                // SAFETY: every slot is filled.
                let (count, is_over) = unsafe { sender.send_made(batch.len(), copy) };
                let fits = if capacity == 0 { usize::MAX } else { capacity - (sent - seen) as usize };
                assert_eq!((count, is_over), (batch.len().min(fits), false));
                (sent, hidden) = (sent + count as u64, 0);
            }
            7 | 8 => {
                let there = sent - hidden - seen;
                let message = receive(&mut receiver);
                assert_eq!(message.map(|message| message.number()), (there != 0).then_some(seen));
                seen += u64::from(message.is_some());
            }
            9 => {
                let run: Vec<_> = receiver.peek_run().iter().map(Numbered::number).collect();
                assert_eq!(run.is_empty(), sent - hidden == seen);
                assert!(run.iter().copied().eq(seen..seen + run.len() as u64));
                let count = random.below(run.len() + 1);
                receiver.release(count);
                seen += count as u64;
            }
            10 => {
                let mut to = [const { MaybeUninit::<T>::uninit() }; 20];
                let most = random.below(21);
                let count = receiver.recv_into(&mut to[..most]).unwrap_or(0);
                assert_eq!(count == 0, most == 0 || sent - hidden == seen);
                for slot in &to[..count] {
                    // SAFETY: this many have been filled.
                    assert_eq!(unsafe { slot.assume_init_ref() }.number(), seen);
                    seen += 1;
                }
            }
            11 => match receiver.take_in_place() {
                Ok(place) => {
                    // SAFETY: the message is this test's, in place.
                    assert_eq!(unsafe { place.as_ref() }.number(), seen);
                    seen += 1;
                }
                Err(_) => assert_eq!(sent - hidden, seen),
            },
            _ => {}
        }
    }
    sender.flush();
    drop(sender);
    let rest: Vec<_> = std::iter::from_fn(|| receive(&mut receiver)).map(|message| message.number()).collect();
    assert!(rest.into_iter().eq(seen..sent));
}

/// Two threads, one way, each by its window.
fn stream<T: Numbered>(capacity: usize, messages: u64) {
    let (mut sender, mut receiver) = pipe::<T>(capacity);
    let thread =
        thread::spawn(move || (0..messages).for_each(|number| assert!(send(&mut sender, T::numbered(number)))));
    let mut next = 0;
    while next < messages {
        match receive(&mut receiver) {
            Some(message) => {
                assert_eq!(message.number(), next);
                next += 1;
            }
            None => drop(receiver.wait_message(None, &Stop::default())),
        }
    }
    thread.join().unwrap();
    assert!(receive(&mut receiver).is_none());
}

macro_rules! of_each_size {
    ($each:ident) => {{
        $each!(Words<1>);
        $each!(Words<2>);
        $each!(Words<3>);
        $each!(Words<4>);
        $each!(Words<6>);
        $each!(Words<8>);
        $each!(Words<12>);
        $each!(Words<16>);
        $each!(Aligned<2>);
        $each!(Aligned<4>);
        $each!(Aligned<6>);
        $each!(Aligned<8>);
        $each!(Aligned<12>);
        $each!(Aligned<16>);
    }};
}

/// Claim: Windows and plain calls share one queue, in any mixture.
/// Also: c inline::windows_and_calls_agree_for_every_class_and_bound.
#[test]
fn windows_and_calls_are_one_queue() {
    macro_rules! steps {
        ($message:ty) => {
            for capacity in [0, 1, 2, 3, 5, 7, 8, 20, 1000] {
                any_steps::<$message>(capacity, if cfg!(miri) { 60 } else { 4_000 }, 7 + capacity as u64);
            }
        };
    }
    guarded(|| of_each_size!(steps));
}

#[test]
fn windows_of_two_threads() {
    macro_rules! streams {
        ($message:ty) => {
            for capacity in [0, 1, 9, 1024] {
                stream::<$message>(capacity, if cfg!(miri) { 30 } else { 5_000 });
            }
        };
    }
    guarded(|| of_each_size!(streams));
}

/// Claim: A window is closed if each message needs more than the window shows, or for an unknown version.
/// Also: c inline::a_version_that_is_not_known_has_no_window.
#[test]
fn a_window_is_shut_where_it_must_be() {
    let (mut sender, mut receiver) = spsc::unbounded::<u64>();
    sender.write(1).unwrap();
    assert!(sender.window().is_shut());
    sender.flush();
    receiver.close();
    assert!(receiver.window().is_shut());
    assert_eq!(receiver.recv(), Ok(1));
    sender.close();
    assert!(sender.window().is_shut());
    // A lane has no chunk before its first message, and whose turn it is the receiver alone knows.
    let (mut sender, mut receiver) = mpsc::unbounded();
    assert!(sender.window().is_shut() && receiver.window().is_shut());
    (0..1000).for_each(|number| assert!(send(&mut sender, Words([number]))));
    // Where the kernel has no barrier for others there are no windows at all.
    let none_opens = spsc::unbounded::<u64>().0.window().is_shut();
    assert_eq!((sender.window().is_shut(), receiver.window().is_shut()), (none_opens, true));
    assert_eq!(receiver.iter().take(1000).map(|message| message.number()).sum::<u64>(), 499_500);
}

/// A message that knows where it was made, and finds out whether it is dropped there.
struct Placed {
    at: usize,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Placed {
    fn drop(&mut self) {
        assert_eq!(self.at, &raw const *self as usize, "a message was moved before it was dropped");
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes up to `count` messages in their slots. How many are sent; those that come back are dropped where they lie.
fn make(sender: &mut impl SendInPlace<Message = Placed>, count: usize, dropped: &Arc<AtomicUsize>) -> usize {
    let (mut made, mut sent) = (0, 0);
    while made < count {
        let run = sender.free_run();
        let (first, fits) = (run.as_mut_ptr().cast::<Placed>(), run.len().min(count - made));
        if fits == 0 {
            break;
        }
        for slot in run.iter_mut().take(fits) {
            let at = slot.as_mut_ptr() as usize;
            slot.write(Placed { at, dropped: dropped.clone() });
        }
        // SAFETY: this many have just been made.
        let went = unsafe { sender.commit_run(fits) };
        // SAFETY: the others have come back, and lie in their slots.
        (went..fits).for_each(|index| unsafe { first.add(index).drop_in_place() });
        (made, sent) = (made + fits, sent + went);
    }
    sent
}

#[test]
fn unreceived_messages_are_dropped_in_place() {
    for order in 0..6 {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (mut sender, mut receiver) = spsc::unbounded();
        assert_eq!(make(&mut sender, 5000, &dropped), 5000);
        for _ in 0..100 {
            // SAFETY: the message is this test's, and is dropped in place.
            unsafe { receiver.take_in_place().unwrap().drop_in_place() };
        }
        assert_eq!(receiver.peek_run().len(), receiver.peek_run().len().max(1));
        match order {
            0 => drop((sender, receiver)),
            1 => drop((receiver, sender)),
            2 => {
                drop(receiver);
                assert_eq!((make(&mut sender, 9, &dropped), dropped.load(Ordering::Relaxed)), (0, 5009));
                drop(sender);
            }
            3 => {
                receiver.close();
                assert_eq!((make(&mut sender, 2, &dropped), dropped.load(Ordering::Relaxed)), (0, 102));
                drop((sender, receiver));
            }
            4 => {
                receiver.close();
                drop(receiver);
                drop(sender);
            }
            _ => {
                assert_eq!(sender.wait_room(Some(Duration::ZERO), &Stop::default()), Ok(()));
                drop(receiver);
                assert!(sender.wait_room(None, &Stop::default()).is_err());
                drop(sender);
            }
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 5000 + [0, 0, 9, 2, 0, 0][order]);
    }
}

#[test]
fn lanes_drop_in_place_as_well() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let (sender, mut receiver) = mpsc::unbounded();
    let mut senders: Vec<_> = (0..5).map(|_| sender.clone()).collect();
    senders.iter_mut().for_each(|sender| assert_eq!(make(sender, 300, &dropped), 300));
    for _ in 0..400 {
        // SAFETY: the message is this test's, and is dropped in place.
        unsafe { receiver.take_in_place().unwrap().drop_in_place() };
    }
    let run = receiver.peek_run();
    let (first, length) = (run.as_ptr().cast_mut(), run.len());
    // SAFETY: the run is received by the call below, and until then nothing else reads it.
    (0..length).for_each(|index| unsafe { first.add(index).drop_in_place() });
    receiver.release(length);
    drop(receiver);
    assert_eq!(dropped.load(Ordering::Relaxed), 1500);
    senders.iter_mut().for_each(|sender| assert_eq!(make(sender, 1, &dropped), 0));
    assert_eq!(dropped.load(Ordering::Relaxed), 1505);
}

#[test]
fn both_ends_race_and_each_message_is_dropped_once() {
    guarded(|| {
        for round in 0..if cfg!(miri) { 5 } else { 400 } {
            let dropped = Arc::new(AtomicUsize::new(0));
            let (mut sender, mut receiver) = spsc::unbounded();
            let theirs = dropped.clone();
            let thread = thread::spawn(move || {
                make(&mut sender, 300, &theirs);
            });
            for _ in 0..round % 50 {
                let Ok(()) = receiver.wait_message(None, &Stop::default()) else { break };
                // SAFETY: the message is this test's, and is dropped in place.
                unsafe { receiver.take_in_place().unwrap().drop_in_place() };
            }
            if round % 3 == 0 {
                receiver.close();
            }
            drop(receiver);
            thread.join().unwrap();
            assert_eq!(dropped.load(Ordering::Relaxed), 300);
        }
    });
}

#[test]
fn waits_take_nothing() {
    guarded(|| {
        let (mut sender, mut receiver) = spsc::bounded::<u64>(1);
        assert!(receiver.wait_message(Some(Duration::ZERO), &Stop::default()).is_err());
        assert!(receiver.wait_message(Some(Duration::from_millis(2)), &Stop::default()).is_err());
        sender.send(0).unwrap();
        assert!(sender.wait_room(Some(Duration::ZERO), &Stop::default()).is_err());
        assert!(sender.wait_room(Some(Duration::from_millis(2)), &Stop::default()).is_err());
        assert_eq!(receiver.recv(), Ok(0));
        let thread = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            sender.send(1).unwrap();
            assert_eq!(sender.wait_room(None, &Stop::default()), Ok(()));
            sender.send(2).unwrap();
        });
        receiver.wait_message(None, &Stop::default()).unwrap();
        assert_eq!((receiver.len(), receiver.recv()), (1, Ok(1)));
        assert_eq!(receiver.recv(), Ok(2));
        thread.join().unwrap();
        assert!(receiver.wait_message(None, &Stop::default()).is_err());
    });
}

#[test]
fn a_waiter_for_room_is_woken_by_every_way_of_taking() {
    let ways: [fn(&mut spsc::Receiver<Words<1>>); 4] = [
        |receiver| assert_eq!(receive(receiver), Some(Words([1]))),
        |receiver| {
            let place = receiver.take_in_place().unwrap();
            // SAFETY: the message is this test's, in place.
            assert_eq!(unsafe { place.read() }, Words([1]));
        },
        |receiver| {
            assert_eq!(receiver.peek_run().len(), 1);
            receiver.release(1);
        },
        |receiver| assert_eq!(receiver.recv_into(&mut [MaybeUninit::uninit()]).ok(), Some(1)),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let (mut sender, mut receiver) = spsc::bounded(1);
        let task = Task::default();
        sender.send(Words([1])).unwrap();
        assert!(sender.poll_ready(&mut Context::from_waker(&task.waker())).is_pending());
        way(&mut receiver);
        assert_eq!(task.woken(), 1, "way {number}");
    }
}

#[test]
fn as_many_are_moved_out_as_there_are_and_as_there_is_room_for() {
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send_batch(0..50_u64).unwrap();
    let mut to = [const { MaybeUninit::<u64>::uninit() }; 20];
    for (first, count) in [(0, 20), (20, 20), (40, 10)] {
        assert_eq!(receiver.recv_into(&mut to).ok(), Some(count));
        for (number, slot) in (first..).zip(&to[..count]) {
            // SAFETY: this many have been filled.
            assert_eq!(unsafe { slot.assume_init() }, number);
        }
    }
    assert!(receiver.recv_into(&mut to).is_err());
}

/// After one message, and after a stream, when a try polls twice.
#[test]
fn a_try_that_finds_nothing_says_why() {
    fn tries_in_vain(receiver: &mut impl RecvInPlace<Message = u64>, why: TryRecvError) {
        let mut to = [MaybeUninit::<u64>::uninit()];
        assert_eq!((receiver.take_in_place(), receiver.recv_into(&mut to)), (Err(why), Err(why)));
        assert_eq!((receiver.recv_into(&mut to), receiver.take_in_place()), (Err(why), Err(why)));
    }
    macro_rules! says_why {
        ($kind:ident) => {{
            let (mut sender, mut receiver) = $kind::unbounded::<u64>();
            tries_in_vain(&mut receiver, TryRecvError::Empty);
            for by_try in [true, false] {
                for messages in [1_u64, 200] {
                    assert_eq!(sender.send_batch(0..messages), Ok(messages as usize));
                    assert!(receiver.iter().take(messages as usize).eq(0..messages));
                    if by_try {
                        assert_eq!(RecvInPlace::take_in_place(&mut receiver), Err(TryRecvError::Empty));
                    } else {
                        let mut to = [MaybeUninit::<u64>::uninit()];
                        assert_eq!(receiver.recv_into(&mut to), Err(TryRecvError::Empty));
                    }
                    tries_in_vain(&mut receiver, TryRecvError::Empty);
                }
            }
            drop(sender);
            tries_in_vain(&mut receiver, TryRecvError::Disconnected);
        }};
    }
    says_why!(spsc);
    says_why!(mpsc);
}

#[test]
#[should_panic(expected = "3 messages of 2 that were shown")]
fn more_than_was_shown_is_refused() {
    let (mut sender, mut receiver) = spsc::unbounded();
    sender.send_batch([1u64, 2]).unwrap();
    assert_eq!(receiver.peek_run().len(), 2);
    receiver.release(3);
}

#[test]
fn what_is_made_for_a_receiver_that_is_gone_is_not_sent() {
    fn made(sender: &mut spsc::Sender<u64>, count: usize) -> (usize, bool) {
        // SAFETY: every slot is written.
        unsafe {
            sender.send_made(count, |made, first, count| {
                (0..count).for_each(|at| first.add(at).cast().write((made + at) as u64));
            })
        }
    }
    let (mut sender, mut receiver) = spsc::bounded(3);
    assert_eq!((made(&mut sender, 5), made(&mut sender, 1)), ((3, false), (0, false)));
    receiver.close();
    assert_eq!(made(&mut sender, 1), (0, true), "there is no room either");
    assert_eq!(receiver.try_recv(), Ok(0));
    assert_eq!(made(&mut sender, 1), (0, true), "there is room");
    assert!(receiver.try_iter().eq([1, 2]));
    // By the rules of the window it is found out in the same way.
    let (mut sender, mut receiver) = spsc::unbounded();
    assert!(send(&mut sender, Words([0])));
    let mut window = sender.window();
    receiver.close();
    if !window.is_shut() {
        assert_eq!(send_by_window(&mut window, Words([1])), Some(true));
        // SAFETY: it was moved on by the rules.
        unsafe { sender.resume(&window) };
        assert_eq!(sender.answer(1), 0);
    }
    assert!(receiver.try_iter().eq([Words([0])]));
}

#[test]
fn what_is_hidden_is_there_before_its_sender_waits_for_room() {
    let (mut sender, mut receiver) = spsc::bounded(1);
    sender.write(1).unwrap();
    assert!(receiver.try_recv().is_err());
    assert_eq!(sender.wait_room(Some(Duration::ZERO), &Stop::default()), Err(SendTimeoutError::Timeout(())));
    assert_eq!(receiver.try_recv(), Ok(1));
}

#[test]
fn nothing_is_always_there_to_be_moved() {
    let (sender, mut receiver) = spsc::unbounded::<u64>();
    assert_eq!(receiver.recv_into(&mut []), Ok(0));
    drop(sender);
    assert_eq!(receiver.recv_into(&mut []), Ok(0));
}

thread_local! {
    /// The first bytes of the messages that were dropped.
    static DROPPED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A message whose size only its channel knows.
#[repr(align(8))]
struct Nothing;

impl Nothing {
    fn bytes<T>(place: NonNull<T>) -> *mut u8 {
        core::ptr::with_exposed_provenance_mut(place.as_ptr().addr())
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        // SAFETY: a message in its slot, which has 8 bytes at least, and begins with its number.
        let number = unsafe { Self::bytes(NonNull::from(self)).cast::<u64>().read() };
        DROPPED.with_borrow_mut(|dropped| dropped.push(number));
    }
}

/// One by one, in runs and in batches, over the ends of groups and chunks, each message as long as its class.
#[test]
fn messages_of_every_class_are_moved_by_their_slots_and_dropped_there() {
    const MOST: u64 = 3_000;
    fn passes(
        mut sender: impl SendInPlace<Message = Nothing>,
        mut receiver: impl RecvInPlace<Message = Nothing>,
        bytes: usize,
        align: usize,
    ) {
        let write = |at: *mut u8, number: u64| {
            assert_eq!(at.addr() % align, 0);
            // SAFETY: by the callers a free slot.
            unsafe {
                at.write_bytes(number as u8, bytes);
                at.cast::<u64>().write(number);
            }
        };
        let check = |at: *mut u8, number: u64| {
            // SAFETY: by the callers a message.
            let message = unsafe { core::slice::from_raw_parts(at, bytes) };
            assert_eq!(message[..8], number.to_ne_bytes(), "{bytes} bytes");
            assert!(message[8..].iter().all(|byte| *byte == number as u8), "{bytes} bytes");
        };
        let (mut sent, mut seen) = (0, 0);
        while sent < MOST {
            // SAFETY: a message is written into the slot.
            let is_sent = unsafe { sender.send_made_here(|to| write(Nothing::bytes(to), sent)) };
            sent += u64::from(is_sent == Some(true));
            let run = sender.free_run();
            let (first, count) = (Nothing::bytes(NonNull::from(&mut *run).cast::<Nothing>()), run.len());
            (0..count).for_each(|at| write(first.wrapping_add(at * bytes), sent + at as u64));
            // SAFETY: the slots have just been filled.
            sent += unsafe { sender.commit_run(count) } as u64;
            let fill = |made: usize, first: NonNull<MaybeUninit<Nothing>>, count: usize| {
                let first = Nothing::bytes(first);
                (0..count).for_each(|at| write(first.wrapping_add(at * bytes), sent + (made + at) as u64));
            };
            // SAFETY: every slot is filled.
            let (count, is_over) = unsafe { sender.send_made(40, fill) };
            assert!(!is_over);
            sent += count as u64;
            // Fewer than were sent, and all of them when there is no room.
            for _ in 0..3 {
                if let Ok(place) = receiver.take_in_place() {
                    check(Nothing::bytes(place), seen);
                    seen += 1;
                }
            }
            let taken = receiver.recv_runs(if count == 40 { 30 } else { 1_000 }, &mut |first, count| {
                let first = Nothing::bytes(first);
                (0..count).for_each(|at| check(first.wrapping_add(at * bytes), seen + at as u64));
                seen += count as u64;
            });
            assert_ne!(taken, Ok(0));
        }
        DROPPED.with_borrow_mut(Vec::clear);
        drop((receiver, sender));
        assert!(DROPPED.take().into_iter().eq(seen..sent), "{bytes} bytes");
    }
    for align in [8, 16] {
        for bytes in [8, 16, 24, 32, 48, 64, 96, 128] {
            let Some(class) = SlotClass::of::<Nothing>(bytes, align) else {
                assert!(align == 16 && bytes % 16 != 0);
                continue;
            };
            for bound in [None, Some(100)] {
                let (sender, receiver) = spsc_of(class, bound);
                passes(sender, receiver, bytes, align);
                let (sender, receiver) = mpsc_of(class, bound, None);
                passes(sender, receiver, bytes, align);
            }
        }
    }
}

#[test]
fn a_type_with_a_size_has_no_other_and_no_class() {
    assert_eq!((SlotClass::of::<u64>(8, 8), SlotClass::of::<()>(8, 8)), (None, None));
    assert_eq!((SlotClass::of::<Nothing>(40, 8), SlotClass::of::<Nothing>(8, 16)), (None, None));
    // By itself it is a type like any other.
    let (mut sender, mut receiver) = spsc::unbounded();
    (0..100).for_each(|_| sender.send([0_u64; 0]).unwrap());
    assert_eq!((receiver.len(), receiver.try_iter().count()), (100, 100));
}
